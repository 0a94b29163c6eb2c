//! What is wrong in a cluster, as its row in the fleet's list says it, and the order of these rows.
//!
//! Invariants: a summary is built from what changed in its own cluster, never from the fleet. "As expected" needs a complete
//! reading: what could not be read is never counted as such.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::findings::{StateCounts, WORST_FIRST};
use trueup_core::engine::{LinkState, State};
use trueup_core::world::{ClusterName, RiskClass};

/// A column that the fleet's list can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FleetColumn {
    #[default]
    Worst,
    Cluster,
    Class,
    Link,
    Since,
    What,
}

/// What is wrong in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetSummary {
    pub counts: StateCounts,
    pub link: LinkState,
    pub class: RiskClass,
    pub group: FleetGroup,
    /// The cluster that hosts it, where that is in the fleet.
    pub host: Option<ClusterName>,
    /// When the worst of it began; none where that is not known.
    pub since: Option<Timestamp>,
    /// The largest cause in one sentence; empty where nothing is wrong, or where the link says it.
    pub what: Box<str>,
}

/// Sections of the list of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FleetGroup {
    Cluster,
    Account,
    /// Local kubeconfig files.
    Local,
}

/// Sort value of a row; equal ones sort by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FleetKey {
    Worst(u8, Reverse<u32>, Reverse<RiskClass>, Timestamp),
    /// Guests are below their cluster.
    Tree(FleetGroup, ClusterName, Option<ClusterName>),
    Class(Reverse<RiskClass>),
    Link(LinkState),
    Since(Timestamp),
    What(Box<str>),
}

/// Ranks after those of the states.
const WAITS: u8 = 20;
const EXPECTED: u8 = 30;

impl FleetColumn {
    pub const ALL: [Self; 6] = [Self::Worst, Self::Cluster, Self::Class, Self::Link, Self::Since, Self::What];

    pub fn title(self) -> &'static str {
        match self {
            Self::Worst => "WORST",
            Self::Cluster => "CLUSTER",
            Self::Class => "CLASS",
            Self::Link => "LINK",
            Self::Since => "SINCE",
            Self::What => "WHAT",
        }
    }

    /// The order in a word or two, for the title of the list.
    pub fn order(self) -> &'static str {
        match self {
            Self::Worst => "worst first",
            Self::Cluster => "by cluster",
            Self::Class => "by class",
            Self::Link => "by link",
            Self::Since => "oldest first",
            Self::What => "by cause",
        }
    }
}

impl FleetSummary {
    /// Whether the cluster was read and nothing differs.
    pub fn is_expected(&self) -> bool {
        self.rank().0 == EXPECTED
    }

    /// Whether there is no data, or not all of it.
    pub fn lacks_data(&self) -> bool {
        match self.link {
            LinkState::Down | LinkState::Retrying | LinkState::Partial => true,
            LinkState::Connecting | LinkState::Idle | LinkState::Recorded | LinkState::Live => false,
        }
    }

    /// The states that the cluster has findings in, for the filter.
    pub fn states(&self) -> Vec<State> {
        WORST_FIRST.into_iter().filter(|state| self.counts.of(*state) > 0).collect()
    }

    pub fn key(&self, name: &ClusterName, sort: FleetColumn) -> FleetKey {
        match sort {
            FleetColumn::Worst => {
                let (rank, count) = self.rank();
                FleetKey::Worst(rank, Reverse(count), Reverse(self.class), self.since.unwrap_or(Timestamp::MAX))
            }
            FleetColumn::Cluster => match &self.host {
                Some(host) => FleetKey::Tree(self.group, host.clone(), Some(name.clone())),
                None => FleetKey::Tree(self.group, name.clone(), None),
            },
            FleetColumn::Class => FleetKey::Class(Reverse(self.class)),
            FleetColumn::Link => FleetKey::Link(self.link),
            FleetColumn::Since => FleetKey::Since(self.since.unwrap_or(Timestamp::MAX)),
            FleetColumn::What => FleetKey::What(self.what.clone()),
        }
    }

    /// Errors first, then clusters without data, then the other differences, each with its count.
    fn rank(&self) -> (u8, u32) {
        let worst = self.counts.worst().next();
        match (worst, self.lacks_data(), self.link) {
            (Some((State::Error, count)), _, _) => (0, count),
            (_, true, _) => (1, self.counts.of(State::Unknown)),
            (Some((state, count)), false, _) => {
                let place = WORST_FIRST.iter().position(|one| *one == state).unwrap_or(WORST_FIRST.len());
                (2 + u8::try_from(place).unwrap_or(WAITS), count)
            }
            (None, false, LinkState::Connecting) => (WAITS, 0),
            (None, false, LinkState::Idle) => (WAITS + 1, 0),
            (None, false, _) => (EXPECTED, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::testing::{ago, now};

    fn summary(link: LinkState, counts: &[(State, u32)]) -> FleetSummary {
        let counts = StateCounts::of_states(counts);
        let (group, class) = (FleetGroup::Cluster, RiskClass::Dev);
        FleetSummary { counts, link, class, group, host: None, since: None, what: "".into() }
    }

    #[test]
    fn the_worst_state_comes_first_then_its_count_then_prod_then_the_oldest() {
        let live = |counts: &[(State, u32)]| summary(LinkState::Live, counts);
        let rows = [
            ("ten errors", live(&[(State::Error, 10)])),
            ("an error in prod", FleetSummary { class: RiskClass::Prod, ..live(&[(State::Error, 1)]) }),
            ("an old error", FleetSummary { since: Some(ago(90)), ..live(&[(State::Error, 1), (State::Drift, 90)]) }),
            ("a new error", FleetSummary { since: Some(now()), ..live(&[(State::Error, 1)]) }),
            ("an error of unknown age", live(&[(State::Error, 1)])),
            ("lists forbidden", summary(LinkState::Partial, &[(State::Unknown, 8), (State::Drift, 2)])),
            ("no link", summary(LinkState::Retrying, &[(State::Unknown, 4)])),
            ("drift", live(&[(State::Drift, 1), (State::Extra, 50)])),
            ("missing", live(&[(State::Missing, 1)])),
            ("extra", live(&[(State::Extra, 12)])),
            ("stale", live(&[(State::Stale, 1)])),
            ("unknown", live(&[(State::Unknown, 1)])),
            ("blocked", live(&[(State::Blocked, 1)])),
            ("being read", summary(LinkState::Connecting, &[])),
            ("idle", summary(LinkState::Idle, &[])),
            ("as expected", live(&[(State::Match, 9)])),
        ];
        let key = |summary: &FleetSummary| summary.key(&ClusterName::new("a"), FleetColumn::Worst);
        for pair in rows.windows(2) {
            assert!(key(&pair[0].1) < key(&pair[1].1), "{} before {}", pair[0].0, pair[1].0);
        }
        let expected: Vec<&str> = rows.iter().filter(|(_, one)| one.is_expected()).map(|(name, _)| *name).collect();
        assert_eq!(expected, ["as expected"]);
    }
}
