//! What the rules come to for one subject.

use jiff::Timestamp;

use super::verdict::{Code, Verdict};
use trueup_core::world::Gap;

/// A verdict with what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    pub verdict: Verdict,
    pub codes: Vec<Code>,
    /// What is not known, for `unknown`.
    pub gap: Option<Gap>,
    pub until: Option<Timestamp>,
}

impl Ruling {
    pub fn new(verdict: Verdict) -> Self {
        Self { verdict, codes: Vec::new(), gap: None, until: None }
    }

    pub fn with(mut self, code: Code) -> Self {
        self.codes.push(code);
        self.codes.sort();
        self.codes.dedup();
        self
    }

    /// What is left of an orphan elsewhere: shown, never acted on.
    pub fn leftover() -> Self {
        Self::new(Verdict::Leftover)
    }

    pub fn unknown(gap: Gap) -> Self {
        Self { gap: Some(gap), ..Self::new(Verdict::Unknown) }
    }
}
