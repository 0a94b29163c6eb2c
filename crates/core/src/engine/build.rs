//! Findings become a plan.
//!
//! Invariants:
//! - the same input gives the same bytes, in whatever order it came;
//! - what the user asked to see narrows the file, never the counts the brake rests on;
//! - an accepted finding is shown and has no actions.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::accept::AcceptRule;
use super::action::{ActionDraft, Dependency, Restores, Target};
use super::canonical::NotCanonical;
use super::finding::{Explanation, Judgement, State, SubjectId};
use super::gate::{BrakeMode, Candidate, Conditions, GateInputs, Gated, Group, Need, judge};
use super::glob::Glob;
use super::origin::Origin;
use super::plan::{
    Action, ObservationRecord, PLAN_SCHEMA, Plan, Preconditions, SourcePrecondition, Summary, TargetRecord,
    TargetSource,
};
use super::reference::ObjectRef;
use super::rests_on::CollectionRef;
use super::selector::{FieldSelector, ObjectPattern};
use super::streamed::{Findings, Row, StreamedPlan, Unexplained, uid_text};
use crate::world::{
    Cluster, ClusterIdentity, ClusterName, CollectionId, CollectionParts, Completeness, Content, Gap, GapCause, Scope,
    View,
};

/// Everything a plan is made of.
pub struct PlanInput<'a> {
    /// Subjects that have been explained: at least those with a remedy.
    pub judged: &'a [Judged],
    /// The others. With `judged` these are the subjects of every domain, matches included, whatever the scope: the brake
    /// needs to know them all.
    pub unexplained: Unexplained<'a>,
    pub clusters: Vec<&'a Cluster>,
    pub observed: Vec<Observed<'a>>,
    /// The first rule that covers a finding counts.
    pub accepted: &'a [AcceptRule],
    pub scope: &'a PlanScope,
    pub conditions: &'a Conditions,
}

/// A subject with both answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub subject: SubjectId,
    pub judgement: Judgement,
    pub explanation: Explanation,
}

/// How well one collection is known.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    pub id: &'a CollectionId,
    pub completeness: &'a Completeness,
}

/// What the user wants to see. Empty lists mean everything.
#[derive(Debug, Clone, Default)]
pub struct PlanScope {
    pub changes_only: bool,
    /// Leaves out only those matches for which there is nothing to do: a cluster that goes takes with it what is as it should
    /// be.
    pub acts_only: bool,
    pub domains: Vec<Glob>,
    pub clusters: Vec<Glob>,
    /// Kinds without namespaces are in none of them, and are left out when any is named.
    pub namespaces: Vec<Glob>,
    /// Only these, when the user chose them.
    pub subjects: Option<BTreeSet<SubjectId>>,
    /// Any of these.
    pub objects: Vec<ObjectPattern>,
    pub fields: FieldSelector,
    /// Verdicts whose actions are selected, beside those that their check selects.
    pub selected_verdicts: Vec<Glob>,
}

/// Builds the plan.
///
/// # Guarantees
/// Every gate that can be judged without writing has been asked; the id covers everything in the plan.
///
/// # Errors
/// An expected or actual tree, or a change, holds a number that is no integer.
pub fn build(input: &PlanInput<'_>) -> Result<Plan, NotCanonical> {
    build_with(input, BrakeMode::On).map(|built| built.plan)
}

/// Builds the same plan for writing: its findings are made when they are written, once for the id and once for each text.
///
/// # Guarantees
/// As [`build`].
///
/// # Errors
/// As [`build`].
pub fn build_streamed<'a>(input: &PlanInput<'a>) -> Result<StreamedPlan<'a>, NotCanonical> {
    let mut plan = outline(input, BrakeMode::On).plan;
    plan.id = plan.id_with(|list| plan.findings.digest(list))?;
    Ok(plan)
}

/// A plan with what it takes to count the brake again.
pub(super) struct Built<P = Plan> {
    pub plan: P,
    /// The group of each action, by its id.
    pub groups: BTreeMap<String, Group>,
    pub managed: BTreeMap<Group, u64>,
}

pub(super) fn build_with(input: &PlanInput<'_>, brake: BrakeMode) -> Result<Built, NotCanonical> {
    let Built { plan, groups, managed } = outline(input, brake);
    let mut plan = plan.with_findings(|findings| findings.made());
    plan.id = plan.computed_id()?;
    Ok(Built { plan, groups, managed })
}

/// The plan without an id, its findings as rows.
fn outline<'a>(input: &PlanInput<'a>, brake: BrakeMode) -> Built<StreamedPlan<'a>> {
    let mut rows = rows(input);
    let candidates = candidates(&rows, input.scope);
    let around = gate_inputs(input);
    let gated = judge(&candidates, &around, brake);
    let groups = candidates.iter().map(|candidate| (candidate.id.clone(), candidate.group())).collect();
    let mut actions: Vec<Action> =
        candidates.iter().zip(gated).map(|(candidate, gated)| action(candidate, gated, &candidates)).collect();
    // By the subject and not by the finding's id, which kinds of the same name in two API groups share.
    let mut actions_of: BTreeMap<&SubjectId, Vec<String>> = BTreeMap::new();
    for (candidate, action) in candidates.iter().zip(&actions) {
        actions_of.entry(candidate.subject).or_default().push(action.id.clone());
    }
    for row in rows.iter_mut().filter(|row| !row.drafts().is_empty()) {
        row.actions = actions_of.remove(row.subject).unwrap_or_default();
    }
    actions.sort_by(|a, b| a.id.cmp(&b.id));
    let created_at = whole_second(input.conditions.now);
    let plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        id: String::new(),
        mark: None,
        created_at,
        expires_at: created_at.saturating_add(input.conditions.valid_for).expect("a duration has no calendar units"),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        targets: targets(&input.clusters, &actions),
        observations: observations(&input.observed),
        summary: Summary::of(rows.iter().map(Row::state), &actions),
        findings: Findings { rows, explain: input.unexplained.explain },
        actions,
    };
    Built { plan, groups, managed: around.managed }
}

impl Observed<'_> {
    /// Everything the view has looked at.
    pub fn all<'a>(view: View<'a>) -> Vec<Observed<'a>> {
        view.observations().map(|(id, completeness, _)| Observed { id, completeness }).collect()
    }
}

impl PlanScope {
    /// Whether the user wants to see it.
    pub fn covers(&self, subject: &SubjectId) -> bool {
        let covers = |globs: &[Glob], text: &str| globs.is_empty() || globs.iter().any(|glob| glob.matches(text));
        let in_namespace =
            self.namespaces.is_empty() || subject.home_namespace().is_some_and(|name| covers(&self.namespaces, name));
        let in_cluster = covers(&self.clusters, subject.cluster.as_str())
            || (subject.cloud.is_some() && covers(&self.clusters, subject.home()));
        let pointed_at = self.subjects.as_ref().is_none_or(|subjects| subjects.contains(subject));
        let is_named = self.objects.is_empty() || self.objects.iter().any(|pattern| pattern.matches_subject(subject));
        let is_selected = is_named && self.fields.covers_subject(subject);
        pointed_at && in_namespace && covers(&self.domains, subject.domain.0) && in_cluster && is_selected
    }

    fn selects(&self, verdict: &str) -> bool {
        self.selected_verdicts.iter().any(|glob| glob.matches(verdict))
    }
}

/// The findings the user wants to see, sorted by id.
fn rows<'a>(input: &PlanInput<'a>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = subjects(input)
        .filter(|(subject, ..)| input.scope.covers(subject))
        .map(|(subject, judgement, explanation)| {
            let id = subject.to_string().into_boxed_str();
            let accepted = input.accepted.iter().find(|rule| rule.covers(&id, input.conditions.now));
            Row { id, subject, judgement, explanation, accepted, actions: Vec::new() }
        })
        .filter(|row| !input.scope.changes_only || row.state() != State::Match)
        .filter(|row| input.scope.fields.covers_ruling(row.state(), row.judgement.verdict))
        .filter(|row| !input.scope.acts_only || row.state() != State::Match || !row.drafts().is_empty())
        .collect();
    rows.sort_unstable_by(|a, b| (&a.id, a.subject).cmp(&(&b.id, b.subject)));
    rows
}

/// Every subject with its judgement, and its explanation where that has been made.
fn subjects<'a>(
    input: &PlanInput<'a>,
) -> impl Iterator<Item = (&'a SubjectId, &'a Judgement, Option<&'a Explanation>)> + use<'a> {
    let explained =
        input.judged.iter().map(|Judged { subject, judgement, explanation }| (subject, judgement, Some(explanation)));
    explained.chain(input.unexplained.subjects.iter().map(|(subject, judgement)| (*subject, *judgement, None)))
}

/// Numbers the actions in the order of their findings.
fn candidates<'a>(rows: &[Row<'a>], scope: &PlanScope) -> Vec<Candidate<'a>> {
    let drafts = || rows.iter().flat_map(|row| row.drafts().iter().enumerate().map(move |draft| (row, draft)));
    let depended_on: BTreeSet<(&SubjectId, usize)> = drafts()
        .flat_map(|(_, (_, draft))| &draft.depends_on)
        .map(|dependency| (&dependency.finding, dependency.order))
        .collect();
    let places: BTreeMap<(&SubjectId, usize), usize> = drafts()
        .enumerate()
        .map(|(place, (row, (order, _)))| ((row.subject, order), place))
        .filter(|(draft, _)| depended_on.contains(draft))
        .collect();
    let need = |dependency: &Dependency| match places.get(&(&dependency.finding, dependency.order)) {
        Some(place) => Need::Candidate(*place),
        None => Need::NotPlanned { finding: dependency.finding.to_string() },
    };
    drafts()
        .enumerate()
        .map(|(place, (row, (_, draft)))| Candidate {
            id: format!("a{}", place + 1),
            subject: row.subject,
            draft,
            selected: draft.selected || scope.selects(row.judgement.verdict),
            needs: draft.depends_on.iter().map(need).collect(),
        })
        .collect()
}

fn gate_inputs<'a>(input: &PlanInput<'a>) -> GateInputs<'a> {
    let mut managed: BTreeMap<Group, u64> = BTreeMap::new();
    for (subject, judgement, _) in subjects(input) {
        if judgement.ownership_proofs >= 1 {
            *managed.entry((subject.cluster.clone(), subject.domain)).or_default() += 1;
        }
    }
    GateInputs {
        conditions: input.conditions,
        clusters: input.clusters.iter().map(|cluster| (&cluster.name, *cluster)).collect(),
        observed: input.observed.iter().map(|observed| (observed.id, observed.completeness)).collect(),
        managed,
    }
}

fn target_of(target: &Target) -> ObjectRef {
    let Target { cluster: _, resource, namespace, name, uid, version: _, cloud } = target;
    match cloud.as_deref() {
        Some(cloud) => ObjectRef::from(cloud.reference.clone()),
        None => ObjectRef {
            api_version: resource.api_version(),
            kind: resource.kind.to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
            uid: uid_text(uid.as_ref()),
            cloud: None,
        },
    }
}

fn action(candidate: &Candidate<'_>, gated: Gated, candidates: &[Candidate<'_>]) -> Action {
    // Every field matters here: one that is forgotten would not be covered by the id.
    let ActionDraft {
        domain,
        restores,
        target,
        judged,
        source,
        selected: _,
        reason,
        ownership,
        stake: _,
        diff,
        change,
        undo,
        depends_on: _,
        rests_on,
        blocked_by: _,
        group,
        memory: _,
        managed_by: _,
    } = candidate.draft;
    let origin = match restores.clone() {
        None => Origin::Finding(candidate.subject.to_string()),
        Some(Restores { plan, action }) => Origin::Restore { plan, action },
    };
    let rests_on: BTreeSet<CollectionRef> = rests_on.iter().map(CollectionRef::from).collect();
    let source = source
        .as_ref()
        .map(|source| SourcePrecondition { uid: source.uid.to_string(), resource_version: source.version.to_string() });
    let needed = |need: &Need| match need {
        Need::Candidate(place) => Some(candidates[*place].id.clone()),
        Need::NotPlanned { .. } => None,
    };
    Action {
        id: candidate.id.clone(),
        origin,
        domain: domain.0.to_owned(),
        cluster: target.cluster.to_string(),
        change: change.clone(),
        target: target_of(target),
        preconditions: Preconditions {
            uid: uid_text(target.uid.as_ref()),
            resource_version: target.version.as_ref().map(ToString::to_string).filter(|text| !text.is_empty()),
            judged: judged.clone(),
            source,
            tags: target.cloud.as_ref().map(|cloud| cloud.tags.clone()),
            state: target.cloud.as_ref().map(|cloud| cloud.state.clone()).filter(|state| !state.is_empty()),
        },
        rests_on: rests_on.into_iter().collect(),
        selected: candidate.selected,
        reason: *reason,
        ownership: ownership.clone(),
        tier: gated.tier,
        diff: diff.clone(),
        undo: *undo,
        depends_on: candidate.needs.iter().filter_map(needed).collect(),
        blocked_by: gated.blocked_by,
        group: group.clone(),
    }
}

fn targets(clusters: &[&Cluster], actions: &[Action]) -> Vec<TargetRecord> {
    // What is done in an account for a cluster is done by that cluster's leave. An account stands for itself only where
    // no cluster points at what would be touched.
    let acting: BTreeSet<&str> = actions.iter().map(|action| action.cluster.as_str()).collect();
    let acts_itself = |member: &Cluster| acting.contains(member.name.as_str());
    let mut targets: Vec<TargetRecord> = clusters
        .iter()
        .filter(|member| !member.source.is_account() || acts_itself(member))
        .map(|member| TargetRecord {
            cluster: member.name.to_string(),
            source: TargetSource::of(member),
            class: member.class,
            identity: ClusterIdentity::of(member),
        })
        .collect();
    targets.sort_by(|a, b| a.cluster.cmp(&b.cluster));
    targets
}

fn observations(observed: &[Observed<'_>]) -> Vec<ObservationRecord> {
    let mut observed = observed.to_vec();
    observed.sort_by_key(|observed| observed.id);
    let mut records: Vec<ObservationRecord> = Vec::new();
    // What a cluster without a connection holds is one record: a fleet may have thousands of such guests.
    let mut unreached: Option<(&ClusterName, &Gap, usize)> = None;
    for one in &observed {
        let gap = gap_of_cluster(one.completeness);
        match (unreached, gap) {
            (Some((cluster, before, at)), Some(gap)) if *cluster == one.id.cluster && before == gap => {
                records[at].more += 1;
                continue;
            }
            (_, Some(gap)) => unreached = Some((&one.id.cluster, gap, records.len())),
            (_, None) => {}
        }
        records.push(observation(one));
    }
    records
}

/// Why a collection is unknown, where that is about the whole cluster and not about this collection.
fn gap_of_cluster(completeness: &Completeness) -> Option<&Gap> {
    let Completeness::Unknown { gap } = completeness else { return None };
    match gap.cause {
        GapCause::NotObserved | GapCause::Unauthorized | GapCause::Unreachable => Some(gap),
        GapCause::Forbidden
        | GapCause::Discovery
        | GapCause::CutShort
        | GapCause::Silent
        | GapCause::Unreadable
        | GapCause::NotRecorded
        | GapCause::OverBudget => None,
    }
}

fn observation(observed: &Observed<'_>) -> ObservationRecord {
    let CollectionParts { cluster, resource, scope, selector, content } = &**observed.id;
    let (resource_version, at, reason) = match observed.completeness {
        Completeness::Complete { version, at } => (Some(version.to_string()), Some(whole_second(*at)), None),
        Completeness::Partial { gap } | Completeness::Unknown { gap } => (None, None, Some(gap.to_string())),
    };
    ObservationRecord {
        cluster: cluster.to_string(),
        resource: resource.path(),
        namespace: observed.id.namespace().map(ToString::to_string),
        name: match scope {
            Scope::Object { name, .. } => Some(name.to_string()),
            Scope::All | Scope::Namespace(_) => None,
        },
        label_selector: selector.labels.clone(),
        field_selector: selector.fields.clone(),
        content: match content {
            Content::Full => None,
            Content::Metadata => Some("metadata".to_owned()),
        },
        state: observed.completeness.as_str().to_owned(),
        resource_version,
        at,
        reason,
        more: 0,
    }
}

/// Fractions are cut off, so that every reader of the plan prints the same instant.
fn whole_second(instant: Timestamp) -> Timestamp {
    Timestamp::from_second(instant.as_second()).expect("a whole second of a timestamp is a timestamp")
}

#[cfg(test)]
pub(super) mod tests;
