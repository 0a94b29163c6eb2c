//! Current judgements, with counts.
//!
//! Invariants: the counts match the findings, whatever the order of changes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::console::kind::short_kind;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{CheckName, State, SubjectId};
use trueup_core::world::ClusterName;

#[derive(Debug, Default)]
pub struct Findings {
    held: BTreeMap<Arc<SubjectId>, Arc<CurrentJudgement>>,
    counts: BTreeMap<(ClusterName, CheckName), StateCounts>,
    /// The counts of each check over all clusters.
    by_check: BTreeMap<CheckName, StateCounts>,
}

/// The states of findings, the worst first.
pub const WORST_FIRST: [State; State::ALL.len()] = [
    State::Error,
    State::Drift,
    State::Missing,
    State::Extra,
    State::Stale,
    State::Unknown,
    State::Blocked,
    State::Match,
];

/// Number of findings per state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateCounts([u32; State::ALL.len()]);

impl StateCounts {
    pub fn of(&self, state: State) -> u32 {
        self.0[state as usize]
    }

    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Everything except matches.
    pub fn differences(&self) -> u32 {
        self.total() - self.of(State::Match)
    }

    /// The counts of everything except matches, the worst state first.
    pub fn worst(&self) -> impl Iterator<Item = (State, u32)> {
        let counted = WORST_FIRST.into_iter().map(|state| (state, self.of(state)));
        counted.filter(|(state, count)| *state != State::Match && *count > 0)
    }

    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }

    #[cfg(test)]
    pub fn of_states(counts: &[(State, u32)]) -> Self {
        let mut all = Self::default();
        counts.iter().for_each(|(state, count)| all.0[*state as usize] = *count);
        all
    }

    fn count(&mut self, state: State) {
        self.0[state as usize] += 1;
    }

    fn discount(&mut self, state: State) {
        self.0[state as usize] -= 1;
    }
}

impl Findings {
    pub fn get(&self, subject: &SubjectId) -> Option<&CurrentJudgement> {
        self.held.get(subject).map(Arc::as_ref)
    }

    /// The judgement of a subject, to be held elsewhere too.
    pub fn shared(&self, subject: &SubjectId) -> Option<Arc<CurrentJudgement>> {
        self.held.get(subject).cloned()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<SubjectId>, &Arc<CurrentJudgement>)> {
        self.held.iter()
    }

    /// The findings of one check in one cluster, without visiting the others.
    pub fn of(
        &self,
        check: CheckName,
        cluster: &ClusterName,
    ) -> impl Iterator<Item = (&Arc<SubjectId>, &CurrentJudgement)> {
        let held = self.held.range(Arc::new(first_of(check, cluster))..).map(|(subject, held)| (subject, &**held));
        held.take_while(move |(subject, _)| subject.domain == check && subject.cluster == *cluster)
    }

    /// The findings of one check, without visiting the others.
    pub fn of_check(&self, check: CheckName) -> impl Iterator<Item = (&Arc<SubjectId>, &CurrentJudgement)> {
        let first = first_of(check, &ClusterName::new(""));
        let held = self.held.range(Arc::new(first)..).map(|(subject, held)| (subject, &**held));
        held.take_while(move |(subject, _)| subject.domain == check)
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub fn counts(&self, cluster: &ClusterName, domain: CheckName) -> Option<&StateCounts> {
        self.counts.get(&(cluster.clone(), domain))
    }

    /// The counts of a check over all clusters.
    pub fn counts_of(&self, domain: CheckName) -> StateCounts {
        self.by_check.get(&domain).copied().unwrap_or_default()
    }

    /// The counts of a cluster over all checks.
    pub fn counts_in(&self, cluster: &ClusterName) -> StateCounts {
        let mut all = StateCounts::default();
        self.checks_of(cluster).for_each(|(_, counts)| all.add(counts));
        all
    }

    /// The counts of a cluster for each check.
    pub fn checks_of(&self, cluster: &ClusterName) -> impl Iterator<Item = (CheckName, &StateCounts)> {
        let from = (cluster.clone(), CheckName(""));
        let own = self.counts.range(from..).take_while(move |((name, _), _)| name == cluster);
        own.map(|((_, check), counts)| (*check, counts))
    }

    /// Stores a judgement; returns the shared id of the subject and the previous judgement.
    pub fn put(
        &mut self,
        subject: Arc<SubjectId>,
        held: Arc<CurrentJudgement>,
    ) -> (Arc<SubjectId>, Option<Arc<CurrentJudgement>>) {
        let counts = self.counts.entry((subject.cluster.clone(), subject.domain)).or_default();
        let all = self.by_check.entry(subject.domain).or_default();
        counts.count(held.judgement.state);
        all.count(held.judgement.state);
        let known = self.held.get_key_value(&subject).map(|(known, _)| known.clone());
        let id = known.unwrap_or(subject);
        let before = self.held.insert(id.clone(), held);
        if let Some(before) = &before {
            counts.discount(before.judgement.state);
            all.discount(before.judgement.state);
        }
        (id, before)
    }

    /// Removes a subject; returns its judgement.
    pub fn remove(&mut self, subject: &SubjectId) -> Option<(Arc<SubjectId>, Arc<CurrentJudgement>)> {
        let (id, held) = self.held.remove_entry(subject)?;
        if let Some(counts) = self.counts.get_mut(&(subject.cluster.clone(), subject.domain)) {
            counts.discount(held.judgement.state);
        }
        if let Some(all) = self.by_check.get_mut(&subject.domain) {
            all.discount(held.judgement.state);
        }
        Some((id, held))
    }
}

/// The name of a subject in a list. A cloud resource has its kind before it: nothing else tells its kind. `*` stands for
/// objects that could not be listed: `secrets in openshift-config`.
pub fn listed_name(subject: &SubjectId) -> Cow<'_, str> {
    if subject.cloud.is_some() {
        return Cow::Owned(format!("{} {}", short_kind(subject.kind), subject.called()));
    }
    if subject.name != "*" {
        return Cow::Borrowed(subject.called());
    }
    let kind = subject.kind.to_ascii_lowercase();
    match subject.home_namespace() {
        Some(namespace) => Cow::Owned(format!("{kind}s in {namespace}")),
        None => Cow::Owned(format!("{kind}s")),
    }
}

/// The namespace of a subject in a list; a cloud resource has none.
pub fn listed_namespace(subject: &SubjectId) -> &str {
    if subject.cloud.is_some() { "" } else { subject.home_namespace().unwrap_or_default() }
}

/// What sorts before every subject of a check in a cluster.
fn first_of(check: CheckName, cluster: &ClusterName) -> SubjectId {
    let (name, cluster) = (String::new(), cluster.clone());
    SubjectId { domain: check, cluster, api_version: "", kind: "", namespace: None, name, cloud: None }
}

/// The name of a subject as shown; `*` stands for objects that could not be listed.
pub fn shown_name(subject: &SubjectId) -> &str {
    if subject.name == "*" { "(list incomplete)" } else { subject.called() }
}
