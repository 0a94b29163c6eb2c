//! The judgements, kept current: only what a change or the clock touches is judged again.
//!
//! Invariants:
//! - what is held is what judging everything would give;
//! - `since` is the first moment of an unbroken row of equal verdicts.

mod explain;

pub use explain::{Explainer, Remedied, explained, remedied};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::{Cell, Check, Outline, Pass, Touched, TouchedNamespace};
use trueup_core::engine::{CheckName, Judgement, State, SubjectId};
use trueup_core::world::{ChangeSet, ClusterName, Completeness, View};

/// A judgement, and since when it has been the same.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CurrentJudgement {
    pub judgement: Judgement,
    pub since: Timestamp,
    /// What stands in the check's own columns.
    pub cells: Vec<Cell>,
    /// What it hangs under.
    pub parent: Option<Arc<SubjectId>>,
    pub began: Began,
    /// What is wrong and what it follows from; nothing for most matches.
    pub outline: Option<Arc<Outline>>,
}

/// When what a verdict says began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Began {
    /// By the objects themselves: a condition, an expiry, the last write of the field that decides.
    Recorded(Timestamp),
    /// It was seen to change in this session.
    Seen(Timestamp),
    /// It was so when it was first looked at.
    NotKnown,
}

impl Began {
    pub fn at(self) -> Option<Timestamp> {
        match self {
            Self::Recorded(at) | Self::Seen(at) => Some(at),
            Self::NotKnown => None,
        }
    }

    /// What follows from what the objects say, and from the judgement before.
    fn of(recorded: Option<Timestamp>, before: Option<&CurrentJudgement>, now: &Judgement, at: Timestamp) -> Self {
        match (recorded, before) {
            (Some(recorded), _) => Self::Recorded(recorded),
            (None, Some(before)) if same_verdict(&before.judgement, now) => before.began,
            // A verdict that replaces an unknown one may be older than this list.
            (None, Some(before)) if before.judgement.state == State::Unknown => Self::NotKnown,
            (None, Some(_)) => Self::Seen(at),
            (None, None) => Self::NotKnown,
        }
    }
}

impl CurrentJudgement {
    /// A judgement with nothing beside it.
    pub fn new(judgement: Judgement, since: Timestamp) -> Self {
        Self { judgement, since, cells: Vec::new(), parent: None, began: Began::NotKnown, outline: None }
    }
}

/// What a check says of one subject.
struct Judged {
    judgement: Judgement,
    cells: Vec<Cell>,
    parent: Option<SubjectId>,
    outline: Outline,
    began: Option<Timestamp>,
}

impl Judged {
    /// A judgement with nothing beside it.
    fn verdict(judgement: Judgement) -> Self {
        Self { judgement, cells: Vec::new(), parent: None, outline: Outline::default(), began: None }
    }
}

/// What judging changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingChange {
    /// New, or different from before.
    Judged { subject: Arc<SubjectId>, held: Arc<CurrentJudgement> },
    /// No subject any more.
    Gone { subject: Arc<SubjectId> },
}

/// The judgements of all domains. Each is shared with its readers: there are tens of thousands, and one copy is enough.
#[derive(Debug, Default)]
pub struct Judgements {
    held: BTreeMap<Arc<SubjectId>, Arc<CurrentJudgement>>,
    /// When judgements may change by time alone.
    deadlines: BTreeSet<(Timestamp, Arc<SubjectId>)>,
    kept: Kept,
}

/// What is made and held of each judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kept {
    /// Everything a list on the screen shows of it.
    #[default]
    Rows,
    /// The judgement alone: a third of the memory.
    Verdicts,
}

impl Judgements {
    /// Judgements without cells, outlines and parents, for commands that show no list.
    pub fn of_verdicts() -> Self {
        Self { kept: Kept::Verdicts, ..Self::default() }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&SubjectId, &CurrentJudgement)> {
        self.held.iter().map(|(subject, held)| (&**subject, &**held))
    }

    /// The same, to be held elsewhere too.
    pub fn shared(&self) -> impl Iterator<Item = (&Arc<SubjectId>, &Arc<CurrentJudgement>)> {
        self.held.iter()
    }

    pub fn get(&self, subject: &SubjectId) -> Option<&CurrentJudgement> {
        self.held.get(subject).map(Arc::as_ref)
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The next moment at which [`Self::wake`] has something to do.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Judges again what these changes touch.
    pub fn follow(&mut self, domains: &[Box<dyn Check>], view: View<'_>, changes: &ChangeSet) -> Vec<FindingChange> {
        let mut news = Vec::new();
        if changes.is_empty() {
            return news;
        }
        for domain in domains {
            self.judge_touched(domain.as_ref(), domain.touched(changes, view), view, &mut news);
        }
        news
    }

    /// Judges again what may have changed by time alone.
    pub fn wake(&mut self, domains: &[Box<dyn Check>], view: View<'_>) -> Vec<FindingChange> {
        let mut news = Vec::new();
        let mut due: BTreeMap<CheckName, Touched> = BTreeMap::new();
        while let Some((_, subject)) = self.deadlines.first().filter(|(at, _)| *at <= view.now).cloned() {
            self.deadlines.pop_first();
            if let Some(domain) = domains.iter().find(|domain| domain.name() == subject.domain) {
                let Touched { subjects, clusters, namespaces } = domain.woken(&subject, view);
                let all = due.entry(subject.domain).or_default();
                all.subjects.extend(subjects);
                all.clusters.extend(clusters);
                all.namespaces.extend(namespaces);
            }
        }
        for domain in domains {
            if let Some(touched) = due.remove(&domain.name()) {
                self.judge_touched(domain.as_ref(), touched, view, &mut news);
            }
        }
        news
    }

    /// How long each verdict has held between two looks at the clusters it rests on: its own, the one that hosts it, and
    /// the one a cloud resource is seen from. Time that passed without a look does not count.
    pub fn held_for(&self, view: View<'_>) -> BTreeMap<SubjectId, Duration> {
        self.held_for_some(view, self.held.keys().map(AsRef::as_ref))
    }

    /// The same for some of them.
    pub fn held_for_some<'s>(
        &self,
        view: View<'_>,
        subjects: impl IntoIterator<Item = &'s SubjectId>,
    ) -> BTreeMap<SubjectId, Duration> {
        let looked = last_looks(view);
        let mut all = BTreeMap::new();
        for (subject, held) in subjects.into_iter().filter_map(|subject| self.held.get_key_value(subject)) {
            let host = view.cluster(&subject.cluster).and_then(|cluster| cluster.hosted_by.as_ref());
            let seen_from = subject.cloud.as_ref().and_then(|place| place.seen_from.as_ref());
            let looks =
                [Some(&subject.cluster), host.map(|host| &host.cluster), seen_from.map(|seen_from| &seen_from.cluster)];
            let last = looks.into_iter().flatten().filter_map(|cluster| looked.get(cluster)).min();
            let span = last.map_or(Duration::ZERO, |last| span(held.since, *last));
            all.insert((**subject).clone(), span);
        }
        all
    }

    fn judge_touched(
        &mut self,
        domain: &dyn Check,
        Touched { mut subjects, clusters, namespaces }: Touched,
        view: View<'_>,
        news: &mut Vec<FindingChange>,
    ) {
        for place in namespaces {
            subjects.extend(self.held_in(domain.name(), place));
        }
        if subjects.is_empty() && clusters.is_empty() {
            return;
        }
        let pass = domain.pass(view);
        for cluster in &clusters {
            self.judge_cluster(domain, &*pass, cluster, view, news);
        }
        let others = subjects.into_iter().filter(|subject| !clusters.contains(&subject.cluster)).collect();
        self.judge_all(domain, &*pass, others, view, news);
    }

    /// The subjects of a kind in a namespace that have a judgement.
    fn held_in(&self, domain: CheckName, place: TouchedNamespace) -> Vec<SubjectId> {
        let TouchedNamespace { cluster, api_version, kind, namespace } = place;
        let first = SubjectId {
            domain,
            cluster,
            api_version,
            kind,
            namespace: Some(namespace),
            name: String::new(),
            cloud: None,
        };
        let is_there = |subject: &Arc<SubjectId>| SubjectId { name: String::new(), cloud: None, ..(**subject).clone() };
        let held = self.held.range(Arc::new(first.clone())..).map(|(subject, _)| subject);
        held.take_while(|subject| is_there(subject) == first).map(|subject| (**subject).clone()).collect()
    }

    fn judge_cluster(
        &mut self,
        domain: &dyn Check,
        pass: &dyn Pass,
        cluster: &ClusterName,
        view: View<'_>,
        news: &mut Vec<FindingChange>,
    ) {
        let subjects = pass.subjects_in(cluster);
        let held = self.held.range(Arc::new(first_of(domain.name(), cluster))..).map(|(subject, _)| subject);
        let held = held.take_while(|subject| subject.domain == domain.name() && subject.cluster == *cluster);
        let gone: Vec<Arc<SubjectId>> = held.filter(|subject| !subjects.contains(&***subject)).cloned().collect();
        for subject in gone {
            self.forget(&subject, news);
        }
        self.judge_all(domain, pass, subjects, view, news);
    }

    fn judge_all(
        &mut self,
        domain: &dyn Check,
        pass: &dyn Pass,
        subjects: BTreeSet<SubjectId>,
        view: View<'_>,
        news: &mut Vec<FindingChange>,
    ) {
        for subject in subjects {
            let judged = pass.rule(&subject).map(|ruled| match self.kept {
                Kept::Rows => Judged {
                    judgement: ruled.judgement(),
                    cells: ruled.cells(),
                    parent: domain.parent(&subject, view),
                    outline: ruled.outline(),
                    began: ruled.began(),
                },
                Kept::Verdicts => Judged::verdict(ruled.judgement()),
            });
            self.take(subject, judged, view, news);
        }
    }

    fn take(&mut self, subject: SubjectId, judged: Option<Judged>, view: View<'_>, news: &mut Vec<FindingChange>) {
        let Some(Judged { judgement, cells, parent, outline, began }) = judged else {
            self.forget(&subject, news);
            return;
        };
        let known = self.held.get_key_value(&subject);
        let before = known.map(|(_, before)| &**before);
        let since =
            before.filter(|before| same_verdict(&before.judgement, &judgement)).map_or(view.now, |held| held.since);
        let parent = parent.map(Arc::new);
        let written = || outline.cause.as_ref().and_then(|cause| cause.written.as_ref()?.at());
        let recorded = began.or_else(|| if judgement.state == State::Match { None } else { written() });
        let began = Began::of(recorded, before, &judgement, view.now);
        let outline = (!outline.is_empty()).then(|| Arc::new(outline));
        let held = CurrentJudgement { judgement, since, cells, parent, began, outline };
        // A deadline that has passed already would wake the loop for ever.
        let until = held.judgement.until.filter(|until| *until > view.now);
        let until_before = before.and_then(|before| before.judgement.until);
        let is_same = before == Some(&held);
        let subject = known.map(|(known, _)| known.clone()).unwrap_or_else(|| Arc::new(subject));
        if let Some(until) = until_before {
            self.deadlines.remove(&(until, subject.clone()));
        }
        if let Some(until) = until {
            self.deadlines.insert((until, subject.clone()));
        }
        if is_same {
            return;
        }
        let held = Arc::new(held);
        self.held.insert(subject.clone(), held.clone());
        news.push(FindingChange::Judged { subject, held });
    }

    fn forget(&mut self, subject: &SubjectId, news: &mut Vec<FindingChange>) {
        if let Some((subject, held)) = self.held.remove_entry(subject) {
            if let Some(until) = held.judgement.until {
                self.deadlines.remove(&(until, subject.clone()));
            }
            news.push(FindingChange::Gone { subject });
        }
    }
}

/// What sorts before every subject of a domain in a cluster.
fn first_of(domain: CheckName, cluster: &ClusterName) -> SubjectId {
    let (name, cluster) = (String::new(), cluster.clone());
    SubjectId { domain, cluster, api_version: "", kind: "", namespace: None, name, cloud: None }
}

/// Whether two judgements say the same of the subject. When the clock will say something else is no part of that.
fn same_verdict(before: &Judgement, after: &Judgement) -> bool {
    let Judgement { state, verdict, codes, ownership_proofs, until: _ } = after;
    before.state == *state
        && before.verdict == *verdict
        && before.codes == *codes
        && before.ownership_proofs == *ownership_proofs
}

/// When every complete collection of a cluster had been looked at, as of the one looked at longest ago.
fn last_looks(view: View<'_>) -> BTreeMap<ClusterName, Timestamp> {
    let mut looks: BTreeMap<ClusterName, Timestamp> = BTreeMap::new();
    for (id, completeness, _) in view.observations() {
        if let Completeness::Complete { at, .. } = completeness {
            let look = looks.entry(id.cluster.clone()).or_insert(*at);
            *look = (*look).min(*at);
        }
    }
    looks
}

fn span(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    fn judgement(state: State) -> Judgement {
        Judgement { state, verdict: state.as_str(), codes: Vec::new(), ownership_proofs: 0, until: None }
    }

    #[test]
    fn a_verdict_began_with_its_event_or_when_it_was_seen_to_change() {
        let before = |state, began| Some(CurrentJudgement { began, ..CurrentJudgement::new(judgement(state), at(0)) });
        let known = Began::NotKnown;
        let cases = [
            ("by the object", Some(at(-9)), before(State::Match, known), Began::Recorded(at(-9))),
            ("seen to change", None, before(State::Match, known), Began::Seen(at(5))),
            ("still the same", None, before(State::Drift, Began::Seen(at(2))), Began::Seen(at(2))),
            ("so at the first look", None, None, Began::NotKnown),
            ("known for the first time", None, before(State::Unknown, known), Began::NotKnown),
        ];
        for (case, recorded, before, expected) in cases {
            let began = Began::of(recorded, before.as_ref(), &judgement(State::Drift), at(5));
            assert_eq!(began, expected, "case: {case}");
        }
    }
}
