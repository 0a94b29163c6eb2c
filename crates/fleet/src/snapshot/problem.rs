//! Something in a folder that could not be read: where, what is wrong, what to do.
//!
//! Always true: the sentence holds no content of the file, because the file may be a Secret.

use std::fmt;
use std::path::Path;

/// One thing that could not be read. Its text may hold names from files: whoever prints it escapes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file as the user would name it.
    pub file: String,
    pub line: Option<u64>,
    /// One sentence: what is wrong and what to do.
    pub says: String,
}

impl Problem {
    pub fn new(file: &Path, line: Option<u64>, says: impl Into<String>) -> Self {
        Self { file: file.display().to_string(), line, says: says.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.says),
            None => write!(f, "{}: {}", self.file, self.says),
        }
    }
}
