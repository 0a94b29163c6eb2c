//! A problem in a snapshot folder: path, what is wrong, how to fix it.
//!
//! Invariants: the message contains no file content, because the file may be a Secret.

use std::fmt;
use std::path::Path;

/// One problem. Its text may contain names from files: callers escape it before printing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Path as given by the user.
    pub file: String,
    pub line: Option<u64>,
    /// One sentence: what is wrong and how to fix it.
    pub message: String,
}

impl Problem {
    pub fn new(file: &Path, line: Option<u64>, message: impl Into<String>) -> Self {
        Self { file: file.display().to_string(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}
