//! What the rules come to for one kubeconfig: everything that holds, and the worst of it as the verdict.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::expected::{CaComparison, EndpointComparison, Expected};
use super::facts::Holder;
use super::freshness::Assessment;
use super::owner::Ownership;
use super::source::Source;
use super::stages::Stages;
use super::verdict::{Code, Verdict};
use trueup_core::world::Gap;

/// A verdict with what it rests on.
pub struct Ruling<'a> {
    pub holds: BTreeSet<Verdict>,
    pub codes: BTreeSet<Code>,
    /// What is not known, for `unknown`.
    pub gap: Option<Gap>,
    pub until: Option<Timestamp>,
    /// What was looked at, for the explanation.
    pub target: Option<&'a Holder>,
    pub expected: Expected<'a>,
    pub endpoint: EndpointComparison,
    pub ca: CaComparison,
    pub time: Option<Assessment>,
    pub source: Source<'a>,
    pub ownership: Ownership,
    pub stages: Stages,
}

impl<'a> Ruling<'a> {
    pub fn new(expected: Expected<'a>) -> Self {
        Self {
            holds: BTreeSet::new(),
            codes: BTreeSet::new(),
            gap: None,
            until: None,
            target: None,
            expected,
            endpoint: EndpointComparison::NotJudged,
            ca: CaComparison::NotJudged,
            time: None,
            source: Source::None,
            ownership: Ownership::Fine,
            stages: Stages::default(),
        }
    }

    /// A collection that is not known completely.
    pub fn of_collection(gap: Gap) -> Self {
        let mut ruling = Self::new(Expected::nothing());
        ruling.unknown(Some(gap));
        ruling
    }

    pub fn verdict(&self) -> Verdict {
        self.holds.first().copied().unwrap_or(Verdict::Fresh)
    }

    /// The codes, and every lower-ranking verdict that holds too; sorted, as plans spell them.
    pub fn codes(&self) -> Vec<&'static str> {
        let mut words: Vec<&'static str> = self.codes.iter().map(|code| code.as_str()).collect();
        words.extend(self.holds.iter().skip(1).map(|verdict| verdict.as_str()));
        words.sort_unstable();
        words
    }

    pub fn has(&self, verdict: Verdict) -> bool {
        self.holds.contains(&verdict)
    }

    pub fn unknown(&mut self, gap: Option<Gap>) {
        if let Some(gap) = gap {
            self.holds.insert(Verdict::Unknown);
            self.gap.get_or_insert(gap);
        }
    }

    pub fn contract(&mut self, code: Code) {
        self.holds.insert(Verdict::Contract);
        self.codes.insert(code);
    }

    pub fn wake_at(&mut self, at: Option<Timestamp>) {
        self.until = [self.until, at].into_iter().flatten().min();
    }
}
