//! The updates the loop sends, and the commands it takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::cluster_session::Member;
use super::lists::UnreadLists;
use super::session::Live;
use trueup_checks::judgements::{CurrentJudgement, FindingChange};
use trueup_core::engine::SubjectId;
use trueup_core::world::{ClockSkew, Cluster, ClusterName, CollectionId, ObjectEdit};

/// What changed since the last one. The latest of each subject and cluster; nothing means it is gone.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Update {
    #[serde(with = "pairs")]
    pub findings: BTreeMap<Arc<SubjectId>, Option<Arc<CurrentJudgement>>>,
    pub clusters: BTreeMap<ClusterName, Option<Cluster>>,
    /// Clocks that differ too much from the local one; nothing means that they agree again.
    pub clocks: BTreeMap<ClusterName, Option<ClockSkew>>,
    /// Lists of live clusters that could not be read; nothing means that all were.
    pub lists: BTreeMap<ClusterName, Option<UnreadLists>>,
    /// What of tracked fields changed, the latest last.
    #[serde(default)]
    pub edits: Vec<Arc<ObjectEdit>>,
    /// Clusters with a list that became complete: findings there may be older than this update.
    #[serde(default)]
    pub arrived: BTreeSet<ClusterName>,
}

/// Edits kept for a slow reader: causes are looked for among the latest.
const EDITS_MAX: usize = 1_000;

/// Findings as a list of pairs: a subject is no text, and only texts are keys in JSON.
mod pairs {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serializer};
    use trueup_checks::judgements::CurrentJudgement;
    use trueup_core::engine::SubjectId;

    type Findings = BTreeMap<Arc<SubjectId>, Option<Arc<CurrentJudgement>>>;

    pub fn serialize<S: Serializer>(findings: &Findings, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(findings)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Findings, D::Error> {
        Vec::deserialize(deserializer).map(|pairs: Vec<_>| pairs.into_iter().collect())
    }
}

/// What the loop can be asked to do.
pub enum Command {
    /// A user looks at this cluster: keep it live, and connect if it is not.
    Need(ClusterName),
    /// Reconnect: new credentials, or a user who does not want to wait.
    Reconnect(ClusterName),
    /// The kubeconfig changed: reach this cluster the new way from now on.
    Renew(Box<Member>),
    /// The wall clock jumped, as after sleep: connections that look open are dead.
    ClockJumped,
    /// Read everything again.
    Resync,
    /// Watch what has been listed, where watches were held back.
    StartWatches,
    /// Answer a question from what is known.
    Ask(Question),
    /// Answer a question about links and lists at once; judgements may be older than what is known.
    Peek(Question),
    /// Answers such a question once something has been read, or from what is known when that takes longer.
    AskAfter(AskAfter, Duration, Question),
}

/// What has to be read before a question is answered.
pub enum AskAfter {
    /// Everything has been listed once, or is known to be missing.
    Settled,
    /// Everything is listed again.
    Resync,
    /// These collections are listed again, and no others.
    Collections(Vec<CollectionId>),
}

/// A question, with the way its answer goes inside it.
pub type Question = Box<dyn FnOnce(&Live) + Send>;

impl Update {
    /// These findings alone.
    #[cfg(any(test, feature = "testing"))]
    pub fn of(findings: impl IntoIterator<Item = (trueup_core::engine::SubjectId, Option<CurrentJudgement>)>) -> Self {
        let shared = findings.into_iter().map(|(id, held)| (Arc::new(id), held.map(Arc::new)));
        Self { findings: shared.collect(), ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        let Self { findings, clusters, clocks, lists, edits, arrived: _ } = self;
        findings.is_empty() && clusters.is_empty() && clocks.is_empty() && lists.is_empty() && edits.is_empty()
    }

    /// Adds a later update.
    pub fn merge(&mut self, later: Self) {
        let Self { findings, clusters, clocks, lists, edits, arrived } = later;
        self.findings.extend(findings);
        self.clusters.extend(clusters);
        self.clocks.extend(clocks);
        self.lists.extend(lists);
        self.edits.extend(edits);
        let dropped = self.edits.len().saturating_sub(EDITS_MAX);
        self.edits.drain(..dropped);
        self.arrived.extend(arrived);
    }

    pub(super) fn note(&mut self, changes: Vec<FindingChange>) {
        for change in changes {
            match change {
                FindingChange::Judged { subject, held } => self.findings.insert(subject, Some(held)),
                FindingChange::Gone { subject } => self.findings.insert(subject, None),
            };
        }
    }
}
