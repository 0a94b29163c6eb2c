//! What the rules come to for one subject.

use jiff::Timestamp;

use super::verdict::{Code, Verdict};
use trueup_core::engine::State;
use trueup_core::world::Gap;

/// A verdict with what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    pub verdict: Verdict,
    pub codes: Vec<Code>,
    /// Codes of a HostedCluster's spec and conditions, as the checks of an Authentication spell them.
    pub spec_codes: Vec<&'static str>,
    /// What is not known, for `unknown`.
    pub gap: Option<Gap>,
    pub until: Option<Timestamp>,
}

impl Ruling {
    pub fn new(verdict: Verdict) -> Self {
        Self { verdict, codes: Vec::new(), spec_codes: Vec::new(), gap: None, until: None }
    }

    pub fn with(mut self, code: Code) -> Self {
        self.codes.push(code);
        self.codes.sort();
        self.codes.dedup();
        self
    }

    pub fn has(&self, code: Code) -> bool {
        self.codes.contains(&code)
    }

    /// The verdict's state; an object that only its name points to is listed until it is accepted.
    pub fn state(&self) -> State {
        let is_hinted = self.verdict == Verdict::Foreign && self.has(Code::NamePattern);
        if is_hinted { State::Unknown } else { self.verdict.state() }
    }

    /// All codes as plans spell them, sorted.
    pub fn words(&self) -> Vec<&'static str> {
        let own = self.codes.iter().map(|code| code.as_str());
        let mut words: Vec<&'static str> = own.chain(self.spec_codes.iter().copied()).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    pub fn unknown(gap: Gap) -> Self {
        Self { gap: Some(gap), ..Self::new(Verdict::Unknown) }
    }
}
