//! Judging again before a wave: list what its actions rest on, judge their subjects, build the plan they would be in now.
//!
//! Invariants:
//! - the collections are those the subjects rest on now; what the plan file says about them is not used;
//! - an undo is derived again from this machine's journal;
//! - a cluster that is late blocks the actions that rest on it, and no others.
//!
//! Elsewhere: comparing an action with the fresh plan (`core::engine::recheck`), listing and asking (`fresh`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::fresh::{FreshWorld, WorldNow};
use crate::plan::{PlanRequest, with_input};
use crate::tombstones;
use trueup_core::engine::executor::{Recheck, ReferenceScan};
use trueup_core::engine::{
    AccessAnswers, AccessQuestion, Action, Blocked, Current, Difference, Explanation, FreshPlan, GateName, Judged,
    ObjectRef, Observed, Origin, Plan, PlanScope, RecheckResult, SubjectId, Tombstone, UndoPlan, Unexplained,
    access_questions, build_fresh, recheck, scan_reference,
};
use trueup_core::world::{ClusterIdentity, ClusterName, CollectionId, Completeness, Gap, GapCause, Scope};

/// How often the fresh lists may lead to further collections. A reference to a reference takes two rounds.
const ROUNDS_MAX: usize = 4;
/// How old the lists of a reference scan may be to serve the next wave: only the cluster's identity is read between
/// them, which takes two requests.
const LISTS_AGE_MAX: Duration = Duration::from_millis(500);

/// Judges actions again by the plan they would be in now.
pub struct Rechecker<W> {
    world: W,
    plan: Plan,
    /// The live cluster behind each name of the plan.
    names: BTreeMap<String, ClusterName>,
    /// How long a verdict must hold: zero for a plan made here, which has settled when it was made.
    settle: Duration,
    /// What each action judged in this run rests on, for the reference scan once its object is gone.
    rested_on: BTreeMap<String, BTreeSet<CollectionId>>,
    /// What the last reference scan listed, when it found nothing.
    recent: Option<(Instant, BTreeSet<CollectionId>)>,
}

/// What actions are judged by again.
pub(crate) struct Now {
    pub fresh: FreshPlan,
    pub undo: Vec<UndoPlan>,
    /// The collections that were not listed in time.
    late: BTreeSet<CollectionId>,
    by_action: BTreeMap<String, BTreeSet<CollectionId>>,
}

/// What the subjects of actions rest on.
#[derive(Default)]
struct Known {
    subjects: BTreeSet<SubjectId>,
    by_action: BTreeMap<String, BTreeSet<CollectionId>>,
    access: BTreeSet<AccessQuestion>,
}

/// An action as far as its subject is searched for.
#[derive(Clone)]
struct Wanted {
    action: String,
    /// The id of its finding, with the name of the live cluster.
    finding: String,
    /// The cluster and check of the finding.
    group: (ClusterName, String),
    target_cluster: ClusterName,
    target: ObjectRef,
}

impl<W: FreshWorld> Rechecker<W> {
    pub fn new(world: W, names: BTreeMap<String, ClusterName>, plan: Plan) -> Self {
        Self { world, plan, names, settle: Duration::ZERO, rested_on: BTreeMap::new(), recent: None }
    }

    /// Lists what these actions rest on and builds what they are judged by.
    pub(crate) async fn now(&mut self, actions: &[&Action]) -> Result<Now, String> {
        // The age of a list counts from before it was read: a slow one must not make those before it look recent.
        let began = Instant::now();
        let wanted: Vec<Wanted> = actions.iter().filter_map(|action| self.wanted(action)).collect();
        let rested: BTreeSet<CollectionId> =
            actions.iter().filter_map(|action| self.rested_on.get(&action.id)).flatten().cloned().collect();
        let (mut listed, mut late) = (self.take_recent(), BTreeSet::new());
        let mut rounds = 0;
        let stones = tombstones::read(self.world.session(), jiff::Timestamp::now());
        let known = loop {
            let (asked, stones) = (wanted.clone(), stones.clone());
            let known = self.world.ask(move |now| known(now, &asked, &stones)).await.map_err(|error| error.cause())?;
            let needed = known.by_action.values().flatten().chain(&rested);
            let missing: BTreeSet<CollectionId> = needed.filter(|id| !listed.contains(*id)).cloned().collect();
            if missing.is_empty() || rounds == ROUNDS_MAX {
                late.extend(missing);
                break known;
            }
            late.extend(self.world.refresh(missing.clone()).await.map_err(|error| error.cause())?);
            listed.extend(missing);
            rounds += 1;
        };
        self.recent = Some((began, listed));
        let Known { subjects, by_action, access } = known;
        let access = self.world.ask_access(access).await;
        let fresh = self.fresh_plan(&wanted, subjects, (access, stones), late.clone()).await?;
        Ok(Now { fresh, undo: self.derive_undo(actions).await?, late, by_action })
    }

    async fn fresh_plan(
        &mut self,
        wanted: &[Wanted],
        subjects: BTreeSet<SubjectId>,
        (access, stones): (AccessAnswers, Vec<Tombstone>),
        late: BTreeSet<CollectionId>,
    ) -> Result<FreshPlan, String> {
        let (session, accepted) = (self.world.session().clone(), self.world.accepted());
        let groups: BTreeSet<(ClusterName, String)> = wanted.iter().map(|wanted| wanted.group.clone()).collect();
        let scope = PlanScope { subjects: Some(subjects), ..PlanScope::default() };
        let request = PlanRequest { scope, settle: self.settle, ..PlanRequest::default() };
        let built = move |now: &WorldNow<'_>| {
            let judged = judged(now, &groups, &request.scope, &stones);
            let mut found = now.conditions.clone();
            found.access = access;
            let gap = Gap::new(GapCause::Silent, "not listed again in time");
            let unknown = Completeness::Unknown { gap };
            let judged = (judged.as_slice(), Unexplained::NONE);
            with_input(&session, &request, &accepted, judged, now.view, found, |input| {
                let mut input = trueup_core::engine::PlanInput {
                    observed: input.observed.clone(),
                    clusters: input.clusters.clone(),
                    ..*input
                };
                for observed in input.observed.iter_mut().filter(|observed| late.contains(observed.id)) {
                    *observed = Observed { id: observed.id, completeness: &unknown };
                }
                build_fresh(&input)
            })
        };
        self.world.ask(built).await.map_err(|error| error.cause())?.map_err(|error| error.to_string())
    }

    /// Derives the undo of every journal entry these actions name.
    async fn derive_undo(&mut self, actions: &[&Action]) -> Result<Vec<UndoPlan>, String> {
        let mut entries: BTreeSet<(String, String)> = BTreeSet::new();
        for action in actions {
            match &action.origin {
                Origin::Undo { plan, action } => entries.insert((plan.clone(), action.clone())),
                Origin::Finding(_) | Origin::Restore { .. } => false,
            };
        }
        let mut derived = Vec::new();
        for (plan, action) in entries {
            derived.push(self.world.derive_undo(&plan, &action).await.map_err(|error| error.cause())?);
        }
        Ok(derived)
    }

    fn take_recent(&mut self) -> BTreeSet<CollectionId> {
        match self.recent.take() {
            Some((at, listed)) if at.elapsed() <= LISTS_AGE_MAX => listed,
            Some(_) | None => BTreeSet::new(),
        }
    }

    fn wanted(&self, action: &Action) -> Option<Wanted> {
        let target_cluster = self.names.get(&action.cluster)?.clone();
        let finding = self.plan.findings.iter().find(|finding| Some(finding.id.as_str()) == action.finding());
        let (id, group) = match finding {
            Some(finding) => {
                let cluster = self.names.get(&finding.cluster).cloned();
                let cluster = cluster.unwrap_or_else(|| ClusterName::new(finding.cluster.as_str()));
                let prefix = format!("{}/{}/", finding.domain, finding.cluster);
                let id = match finding.id.strip_prefix(&prefix) {
                    Some(rest) => format!("{}/{cluster}/{rest}", finding.domain),
                    // The finding of a cloud resource names the account.
                    None => finding.id.clone(),
                };
                (id, (cluster, finding.domain.clone()))
            }
            None => {
                let ObjectRef { kind, namespace, name, .. } = &action.target;
                let namespace = namespace.as_deref().unwrap_or("_");
                let id = format!("{}/{target_cluster}/{kind}/{namespace}/{name}", action.domain);
                (id, (target_cluster.clone(), action.domain.clone()))
            }
        };
        let (action, target) = (action.id.clone(), action.target.clone());
        Some(Wanted { action, finding: id, group, target_cluster, target })
    }
}

impl<W> Rechecker<W> {
    /// The same for a plan made elsewhere: its verdicts must hold for `settle` here.
    pub(crate) fn settling(self, settle: Duration) -> Self {
        Self { settle, ..self }
    }

    pub(crate) fn current<'c>(&'c self, now: &'c Now) -> Current<'c> {
        Current { names: &self.names, fresh: &now.fresh, undo: &now.undo }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    fn judge(&self, action: &Action, now: &Now) -> RecheckResult {
        match now.late_list(action) {
            Some(why) => RecheckResult::Blocked(vec![Blocked { gate: GateName::NotComplete, why }]),
            None => recheck(&self.plan, action, self.current(now)),
        }
    }
}

impl Now {
    /// A collection the action rests on that was not listed in time.
    fn late_list(&self, action: &Action) -> Option<String> {
        let late = self.by_action.get(&action.id)?.intersection(&self.late).next()?;
        let place = late.namespace().map_or(String::new(), |namespace| format!(" in {namespace}"));
        Some(format!("{} {}{place} was not listed again in time", late.cluster, late.resource.path()))
    }
}

/// The subjects of these actions with what their remedies depend on, and the collections all of that rests on.
fn known(now: &WorldNow<'_>, wanted: &[Wanted], stones: &[Tombstone]) -> Known {
    let groups: BTreeSet<(&ClusterName, &str)> =
        wanted.iter().map(|wanted| (&wanted.group.0, wanted.group.1.as_str())).collect();
    let mut by_id: BTreeMap<String, Vec<SubjectId>> = BTreeMap::new();
    let mut known = Known::default();
    for (subject, _) in now.judgements.iter() {
        let is_account = subject.cloud.is_some();
        if is_account || groups.contains(&(&subject.cluster, subject.domain.0)) {
            if subject.is_whole_list() && !is_account {
                known.subjects.insert(subject.clone());
            }
            by_id.entry(subject.to_string()).or_default().push(subject.clone());
        }
    }
    for wanted in wanted {
        let mut rests_on: BTreeSet<CollectionId> = covering(now, &wanted.target_cluster, &wanted.target).collect();
        let mut open: Vec<SubjectId> = by_id.get(&wanted.finding).cloned().unwrap_or_default();
        let mut seen: BTreeSet<SubjectId> = BTreeSet::new();
        while let Some(subject) = open.pop() {
            if !seen.insert(subject.clone()) {
                continue;
            }
            let Some(mut judged) = judged_one(now, &subject) else { continue };
            tombstones::add(std::slice::from_mut(&mut judged), stones, now.view);
            for draft in &judged.explanation.remedy {
                rests_on.extend(draft.rests_on.iter().cloned());
                known.access.extend(access_questions(draft));
                open.extend(draft.depends_on.iter().map(|dependency| dependency.finding.clone()));
            }
        }
        known.subjects.extend(seen);
        known.by_action.insert(wanted.action.clone(), rests_on);
    }
    known
}

/// The collections that hold an object.
fn covering<'n>(
    now: &'n WorldNow<'_>,
    cluster: &'n ClusterName,
    target: &'n ObjectRef,
) -> impl Iterator<Item = CollectionId> + 'n {
    let holds = move |id: &&CollectionId| {
        let in_scope = match &id.scope {
            Scope::All => true,
            Scope::Namespace(namespace) => target.namespace.as_deref() == Some(namespace.as_str()),
            Scope::Object { namespace, name } => {
                let namespace = namespace.as_ref().map(|namespace| namespace.as_str());
                target.namespace.as_deref() == namespace && target.name == name.as_str()
            }
        };
        let same_kind = id.resource.kind == target.kind && id.resource.api_version() == target.api_version;
        id.cluster == *cluster && target.cloud.is_none() && same_kind && in_scope
    };
    now.view.observations().map(|(id, ..)| id).filter(holds).cloned()
}

/// The subjects in scope, judged and explained; of the others of their checks and clusters the judgement alone, which the
/// brake counts.
fn judged(
    now: &WorldNow<'_>,
    groups: &BTreeSet<(ClusterName, String)>,
    scope: &PlanScope,
    stones: &[Tombstone],
) -> Vec<Judged> {
    let judged = |subject: &SubjectId| match scope.covers(subject) {
        true => judged_one(now, subject),
        false => {
            let judgement = now.judgements.get(subject)?.judgement.clone();
            Some(Judged { subject: subject.clone(), judgement, explanation: not_explained() })
        }
    };
    let of_groups = now.judgements.iter().map(|(subject, _)| subject).filter(|subject| {
        scope.covers(subject) || groups.contains(&(subject.cluster.clone(), subject.domain.0.to_owned()))
    });
    let mut judged: Vec<Judged> = of_groups.filter_map(judged).collect();
    tombstones::add(&mut judged, stones, now.view);
    judged
}

fn judged_one(now: &WorldNow<'_>, subject: &SubjectId) -> Option<Judged> {
    let judgement = now.judgements.get(subject)?.judgement.clone();
    let explanation = now.checks.iter().find(|check| check.name() == subject.domain)?.explain(subject, now.view)?;
    Some(Judged { subject: subject.clone(), judgement, explanation })
}

/// The explanation of a subject that only counts.
fn not_explained() -> Explanation {
    let (expected, actual) = (serde_json::Value::Null, serde_json::Value::Null);
    let (evidence, remedy) = (Vec::new(), Vec::new());
    Explanation { uid: None, created: None, summary: String::new(), expected, actual, evidence, remedy }
}

impl<W: FreshWorld> Recheck for Rechecker<W> {
    fn read_identity<'a>(&'a mut self, cluster: &'a str) -> BoxFuture<'a, Option<ClusterIdentity>> {
        async move {
            let name = self.names.get(cluster)?.clone();
            self.world.read_identity(&name).await
        }
        .boxed()
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>> {
        async move {
            let now = self.now(actions).await;
            // What is sent now changes the lists.
            self.recent = None;
            match now {
                Ok(now) => {
                    let results = actions.iter().map(|action| self.judge(action, &now)).collect();
                    self.rested_on.extend(now.by_action);
                    results
                }
                Err(why) => vec![RecheckResult::Differs(Difference::NotRead(why)); actions.len()],
            }
        }
        .boxed()
    }

    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>> {
        async move {
            self.recent = None;
            let now = match self.now(deleted).await {
                Ok(now) => now,
                Err(why) => return vec![ReferenceScan::Unknown(why); deleted.len()],
            };
            let scan = |action: &&Action| match now.late_list(action) {
                Some(why) => ReferenceScan::Unknown(why),
                None => scan_reference(action, self.current(&now)),
            };
            let found: Vec<ReferenceScan> = deleted.iter().map(scan).collect();
            // Where a reference is found, an object may be restored, which changes the lists.
            if found.iter().any(|found| *found != ReferenceScan::Nothing) {
                self.recent = None;
            }
            found
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
