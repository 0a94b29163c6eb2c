//! What the rules come to for one machine set.

use std::collections::BTreeSet;

use super::catalogue::Failure;
use super::compare::Line;
use super::credentials::Credentials;
use super::expected::Expected;
use super::facts::Pausing;
use super::machine::{Fault, Machine};
use super::verdict::{Code, Verdict};
use trueup_core::world::{ClusterName, Gap, Key};

/// A verdict with what it rests on.
#[derive(Debug)]
pub struct Ruling<'a> {
    pub verdict: Verdict,
    pub codes: BTreeSet<Code>,
    /// Why it is this verdict, where the rest does not say.
    pub why: Why,
    pub machine: Option<Machine<'a>>,
    pub credentials: Credentials,
    /// The account that offers the type, or says that it does not.
    pub asked: Option<&'a ClusterName>,
    /// Who AWS says is asking, and the account that knows it.
    pub identity: Option<(&'a ClusterName, &'a str)>,
    /// The region to offer in place of one that is none.
    pub offered_region: Option<String>,
    /// What the annotations are by an answer of another login, where this one's does not come about.
    pub from_catalogue: Option<Verdict>,
    pub expected: Option<Expected>,
    pub lines: Vec<Line<'a>>,
}

/// The reason of a verdict that ends the rules early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The verdict and what is compared say it all.
    Nothing,
    Gap(Gap),
    Deleting,
    Paused(PausedBy),
    Authority(String),
    Platform(String),
    Fault(Fault),
    Failure(Failure),
}

impl Why {
    /// What is wrong with the spec, where that is the reason.
    pub fn fault(&self) -> Option<&Fault> {
        if let Self::Fault(fault) = self { Some(fault) } else { None }
    }

    /// What failed on the way to AWS, where that is the reason.
    pub fn failure(&self) -> Option<&Failure> {
        if let Self::Failure(failure) = self { Some(failure) } else { None }
    }
}

/// What pauses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PausedBy {
    MachineSet(Pausing),
    Cluster(Key),
}

impl<'a> Ruling<'a> {
    pub fn new() -> Self {
        Self {
            verdict: Verdict::Match,
            codes: BTreeSet::new(),
            why: Why::Nothing,
            machine: None,
            credentials: Credentials::NotJudged { keys: None },
            asked: None,
            identity: None,
            offered_region: None,
            from_catalogue: None,
            expected: None,
            lines: Vec::new(),
        }
    }

    pub fn end(mut self, verdict: Verdict, code: Option<Code>, why: Why) -> Self {
        self.verdict = verdict;
        self.codes.extend(code);
        self.why = why;
        self
    }

    /// A collection that is not known completely.
    pub fn of_collection(gap: Gap) -> Self {
        Self::new().end(Verdict::Unknown, None, Why::Gap(gap))
    }

    /// The codes as plans spell them, sorted.
    pub fn codes(&self) -> Vec<&'static str> {
        self.codes.iter().map(|code| code.as_str()).collect()
    }
}
