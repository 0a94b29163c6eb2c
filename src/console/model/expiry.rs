//! Credentials and certificates of the fleet by when they end.
//!
//! Invariants: the soonest first; what never ends comes after, and what is not known last, never left out. A change costs
//! the rows of its subject.

use std::sync::Arc;

use jiff::Timestamp;

use super::findings::Findings;
use crate::console::table::{ListState, Membership, Order};
use trueup_checks::judgements::CurrentJudgement;
use trueup_checks::{End, Expiry};
use trueup_core::engine::SubjectId;

#[derive(Debug, Default)]
pub struct ExpirySheet {
    pub order: Order<ExpiryPlace, ExpiryId>,
    pub list: ListState<ExpiryId, ExpiryPlace>,
}

/// One credential or certificate: the subject, and which of its ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpiryId {
    pub subject: Arc<SubjectId>,
    pub number: usize,
}

/// Where it stands in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpiryPlace {
    Ends(Timestamp),
    Never,
    NotKnown,
}

/// How an end stands at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runway {
    Ended,
    EndsSoon,
    Valid,
}

impl ExpiryPlace {
    fn of(end: &End) -> Self {
        match end {
            End::At { until, .. } => Self::Ends(*until),
            End::Never(_) => Self::Never,
            End::NotKnown(_) => Self::NotKnown,
        }
    }
}

impl Runway {
    pub fn at(now: Timestamp, until: Timestamp, warn_from: Timestamp) -> Self {
        if now >= until {
            Self::Ended
        } else if now >= warn_from {
            Self::EndsSoon
        } else {
            Self::Valid
        }
    }
}

impl ExpirySheet {
    /// Takes in the ends of a subject in place of those before.
    pub fn put(&mut self, subject: &Arc<SubjectId>, before: Option<&CurrentJudgement>, now: Option<&CurrentJudgement>) {
        let (before, now) = (before.map_or(&[][..], ends), now.map_or(&[][..], ends));
        if before == now && !before.is_empty() && self.order.contains(&id(subject, 0)) {
            return;
        }
        for (number, expiry) in now.iter().enumerate() {
            self.order.upsert(&id(subject, number), ExpiryPlace::of(&expiry.end), Membership::Shown);
        }
        for number in now.len()..before.len() {
            self.order.remove(&id(subject, number));
        }
    }

    /// What a row shows.
    pub fn expiry<'f>(&self, id: &ExpiryId, findings: &'f Findings) -> Option<&'f Expiry> {
        ends(findings.get(&id.subject)?).get(id.number)
    }
}

fn id(subject: &Arc<SubjectId>, number: usize) -> ExpiryId {
    ExpiryId { subject: subject.clone(), number }
}

fn ends(held: &CurrentJudgement) -> &[Expiry] {
    held.outline.as_ref().map_or(&[], |outline| &outline.expiries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_checks::Outline;
    use trueup_core::engine::{CheckName, Judgement, State};
    use trueup_core::world::ClusterName;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    fn subject(name: &str) -> Arc<SubjectId> {
        Arc::new(SubjectId {
            domain: CheckName("toy"),
            cluster: ClusterName::new("a"),
            api_version: "v1",
            kind: "Secret",
            namespace: None,
            name: name.to_owned(),
            cloud: None,
        })
    }

    fn held(ends: impl IntoIterator<Item = End>) -> CurrentJudgement {
        let (state, verdict) = (State::Match, "toy");
        let judgement = Judgement { state, verdict, codes: Vec::new(), ownership_proofs: 0, until: None };
        let expiries = ends.into_iter().map(|end| Expiry { what: "".into(), end });
        let outline = Some(Arc::new(Outline::default().with_expiries(expiries)));
        CurrentJudgement { outline, ..CurrentJudgement::new(judgement, at(0)) }
    }

    fn until(minute: i64) -> End {
        End::At { until: at(minute), warn_from: at(minute - 5) }
    }

    fn rows(sheet: &ExpirySheet) -> Vec<String> {
        let shown = 0..sheet.order.shown();
        let row = |index| sheet.order.get(index).map(|id| format!("{} {}", id.subject.name, id.number));
        shown.filter_map(row).collect()
    }

    #[test]
    fn the_soonest_comes_first_and_what_is_not_known_last() {
        let mut sheet = ExpirySheet::default();
        let unknown = || End::NotKnown("forbidden".into());
        for (name, ends) in [
            ("unknown", vec![unknown()]),
            ("late", vec![until(90)]),
            ("never", vec![End::Never("no expiry")]),
            ("two", vec![until(30), until(100)]),
            ("past", vec![until(-5)]),
        ] {
            sheet.put(&subject(name), None, Some(&held(ends)));
        }
        assert_eq!(rows(&sheet), ["past 0", "two 0", "late 0", "two 1", "never 0", "unknown 0"]);
        sheet.put(&subject("two"), Some(&held([until(30), until(100)])), Some(&held([until(200)])));
        sheet.put(&subject("late"), Some(&held([until(90)])), None);
        assert_eq!(rows(&sheet), ["past 0", "two 0", "never 0", "unknown 0"]);
    }

    #[test]
    fn an_end_is_near_from_when_its_check_warns() {
        let cases = [(54, Runway::Valid), (55, Runway::EndsSoon), (59, Runway::EndsSoon), (60, Runway::Ended)];
        for (minute, expected) in cases {
            assert_eq!(Runway::at(at(minute), at(60), at(55)), expected, "minute {minute}");
        }
    }
}
