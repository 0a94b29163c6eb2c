//! A verdict with what it rests on.

use jiff::Timestamp;

use super::verdict::{Code, Verdict};
use trueup_core::engine::State;
use trueup_core::world::Gap;

/// The short answer for one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    pub verdict: Verdict,
    pub state: State,
    /// Sorted, without repeats.
    pub codes: Vec<&'static str>,
    /// What is not known, for `unknown`.
    pub gap: Option<Gap>,
    pub until: Option<Timestamp>,
}

impl Ruling {
    pub fn new(verdict: Verdict) -> Self {
        Self { verdict, state: verdict.state(), codes: Vec::new(), gap: None, until: None }
    }

    pub fn unknown(gap: Gap) -> Self {
        Self { gap: Some(gap), ..Self::new(Verdict::Unknown) }
    }

    pub fn with(self, code: Code) -> Self {
        self.with_message([code.as_str()])
    }

    pub fn with_message(mut self, words: impl IntoIterator<Item = &'static str>) -> Self {
        self.codes.extend(words);
        self.codes.sort_unstable();
        self.codes.dedup();
        self
    }
}
