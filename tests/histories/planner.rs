//! Making a plan the way the program does: lists, a verdict for each object, gates, an id.
//!
//! Always true: which gates are shut is known here apart from the plan, so that a gate that fails to shut is noticed when
//! something is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};
use trueup_core::engine::{
    AccessAnswer, ActionDraft, Admission, Answers, ApprovedPlan, Blocked, Change, CheckName, Chosen, Conditions,
    Dependency, Explanation, FreezeWindow, GateName, Glob, Judged, Judgement, MetadataChange, Observed, Plan,
    PlanInput, PlanScope, PolicyEffect, PolicyRule, ReadOnly, Reason, SourceBinding, Stake, State, SubjectId,
    Target as DraftTarget, Undo, Verb, access_questions, approve, build,
};
use trueup_core::world::{
    Cluster, ClusterIdentity, ClusterName, ClusterSource, CollectionId, Completeness, Gap, GapCause, Link, Resource,
    ResourceVersion, RiskClass, Served, Uid,
};

use super::judge::{target_of, wanted};
use super::kind::Kind;
use super::lists::{Item, ItemMeta, Lister, Unread};
use super::standing::{Approved, Meant};
use super::world::{APPS, CONFIG, COPIED, MARK, SOURCE, SOURCES, Site, Target, World};

const DOMAIN: CheckName = CheckName("histories");
const SECRETS: Resource = Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
const CONFIG_MAPS: Resource =
    Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

/// What was read for a plan.
pub struct Sight {
    identities: Vec<ClusterIdentity>,
    candidates: Vec<Result<Vec<(Target, Item)>, Unread>>,
    references: Vec<Result<BTreeSet<Target>, Unread>>,
    /// What copies are made of, by cluster.
    sources: Vec<Option<Item>>,
}

/// A plan, and what is true about it.
pub struct Made {
    pub plan: Plan,
    shown: BTreeMap<Target, Value>,
    /// What each copy shall hold.
    copied: BTreeMap<Target, Value>,
    forbidden: BTreeMap<Target, &'static str>,
}

/// Reads everything a plan rests on.
pub async fn look(lister: &mut Lister, sites: usize) -> Sight {
    let (candidates, references) = (Vec::new(), Vec::new());
    let mut sight = Sight { identities: Vec::new(), candidates, references, sources: Vec::new() };
    for site in 0..sites {
        sight.identities.push(lister.identity(site).await);
        sight.candidates.push(lister.candidates(site).await);
        sight.references.push(lister.references(site).await);
        sight.sources.push(lister.source(site).await);
    }
    sight
}

impl Made {
    /// Everything that is ticked.
    pub fn chosen(&self) -> Chosen {
        Chosen::Selected
    }

    /// Every action that may run, each alone.
    pub fn one_by_one(&self) -> Vec<Chosen> {
        let runs = self.plan.actions.iter().filter(|action| action.blocked_by.is_empty());
        runs.map(|action| Chosen::Only([action.id.clone()].into())).collect()
    }

    /// What would be deleted: which object, its uid and version, and its content as shown.
    pub fn deletions(&self) -> Vec<(Target, String, String, Value)> {
        let deletes =
            |action: &&trueup_core::engine::Action| action.verb() == Verb::Delete && action.blocked_by.is_empty();
        let shown = |action: &trueup_core::engine::Action| {
            let target = target_of(action);
            let uid = action.preconditions.uid.clone().unwrap_or_default();
            let version = action.preconditions.resource_version.clone().unwrap_or_default();
            let content = self.shown.get(&target).cloned().unwrap_or_default();
            (target, uid, version, content)
        };
        self.plan.actions.iter().filter(deletes).map(shown).collect()
    }

    /// Approves what is chosen of the plan.
    pub fn approve(&self, world: &World, chosen: &Chosen) -> Option<(ApprovedPlan, Approved)> {
        let confirmed = (0..world.sites.len()).map(Site::name);
        let answers = Answers::flags(Some(self.plan.id.clone()), confirmed);
        let approved = approve(
            Admission::as_planned(self.plan.clone(), chosen, world.engine_now()).ok()?,
            &answers,
            world.engine_now(),
        )
        .ok()?;
        let meant = |action: &trueup_core::engine::Action| {
            let target = target_of(action);
            let meant = Meant {
                verb: action.verb(),
                uid: action.preconditions.uid.clone().unwrap_or_default(),
                resource_version: action.preconditions.resource_version.clone().unwrap_or_default(),
                shown: self.shown.get(&target).cloned().unwrap_or_default(),
                copied: self.copied.get(&target).cloned().unwrap_or_default(),
                forbidden: self.forbidden.get(&target).copied(),
                target,
            };
            (action.id.clone(), meant)
        };
        let actions = approved.actions().map(meant).collect();
        let truth = Approved { id: self.plan.id.clone(), expires_at: self.plan.expires_at, actions };
        Some((approved, truth))
    }
}

/// Makes the plan of what was read. `gate` is the gate that is shut on purpose.
pub fn make(world: &mut World, sight: Sight, gate: Option<Kind>) -> Made {
    let now = world.engine_now();
    let Sight { identities, candidates, references, sources } = sight;
    let mut conditions = Conditions::at(now);
    let mut identities = identities;
    let mut shut = Shut::new(gate);
    shut.set_conditions(&mut conditions, &mut identities);
    let all_references: BTreeSet<Target> = references.iter().flatten().flatten().cloned().collect();
    let empty = references.iter().any(|read| matches!(read, Err(Unread::Empty(_))));
    let unread = references.iter().any(|read| matches!(read, Err(Unread::Failed(_))));
    let sites = candidates.len();
    let mut judged = Vec::new();
    let (mut shown, mut copied, mut forbidden) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (target, item) in candidates.iter().flatten().flatten() {
        let source = sources[target.site].as_ref();
        let Some(verb) = wanted(target, item, &all_references, source) else { continue };
        let mut draft = draft(target, item, verb, sites);
        if let (Verb::Update, Some(source)) = (verb, source) {
            draft.source = Some(binding(source));
            copied.insert(target.clone(), source.data[COPIED].clone());
        }
        if empty && verb == Verb::Delete {
            world.fire(Kind::GateEmptySet);
            draft.blocked_by.push(Blocked { gate: GateName::EmptySet, why: "no referrer came back".to_owned() });
        }
        let known = identities[target.site].is_known();
        if let Some((kind, word)) = shut.forbids(target, item, verb, known, empty || unread) {
            world.fire(kind);
            forbidden.insert(target.clone(), word);
        }
        if shut.is_for_dependency(target) {
            draft
                .depends_on
                .push(Dependency { finding: subject(&Target { name: "nobody".into(), ..target.clone() }), order: 0 });
        }
        for question in access_questions(&draft) {
            let denied = gate == Some(Kind::GateAccess) && target.site == 0;
            let answer = if denied { AccessAnswer::Denied { says: String::new() } } else { AccessAnswer::Allowed };
            conditions.access.insert(question, answer);
        }
        shown.insert(
            target.clone(),
            json!({ "labels": item.metadata.labels, "annotations": item.metadata.annotations, "data": item.data }),
        );
        judged.push(finding(target, item, draft));
    }
    let clusters: Vec<Cluster> = identities.into_iter().enumerate().map(|(place, one)| cluster(place, one)).collect();
    let observed = observed(&candidates, &references, &conditions, gate);
    let input = PlanInput {
        judged: &judged,
        clusters: clusters.iter().collect(),
        observed: observed.iter().map(|(id, completeness)| Observed { id, completeness }).collect(),
        accepted: &[],
        scope: &PlanScope::default(),
        conditions: &conditions,
    };
    let plan = build(&input).expect("nothing in it is a broken number");
    for site in &mut world.sites {
        site.planned_version = site.server.version();
    }
    Made { plan, shown, copied, forbidden }
}

/// The gate that is shut on purpose, and what it must keep back.
struct Shut {
    gate: Option<Kind>,
    /// The one target that waits for something nobody plans.
    waits: Option<Target>,
}

impl Shut {
    fn new(gate: Option<Kind>) -> Self {
        Self { gate, waits: None }
    }

    fn set_conditions(&self, conditions: &mut Conditions, identities: &mut [ClusterIdentity]) {
        let rule = |effect| PolicyRule {
            cluster: Some(Glob::parse(&Site::name(0)).expect("a name is a pattern")),
            class: None,
            namespace: None,
            kind: None,
            verb: None,
            effect,
        };
        match self.gate {
            Some(Kind::GateReadOnly) => conditions.read_only = ReadOnly::ByFlag,
            Some(Kind::GateKillSwitch) => conditions.kill_switch = Some("stop".to_owned()),
            Some(Kind::GateFreeze) => {
                let window = FreezeWindow::parse("Mon 00:00 - Sun 23:59 UTC").expect("a window of all week");
                conditions.freeze.push(window);
            }
            Some(Kind::GateIdentity) => identities[0] = ClusterIdentity::default(),
            Some(Kind::GateInsecure) => drop(conditions.unverified_tls.insert(ClusterName::new(Site::name(0)))),
            Some(Kind::GateSettling) => conditions.settle = Duration::from_secs(5),
            Some(Kind::GatePolicy) => conditions.policy.push(rule(PolicyEffect::Deny("not here".to_owned()))),
            Some(Kind::GateCap) => conditions.policy.push(rule(PolicyEffect::Cap(0))),
            Some(Kind::GateBrake) => conditions.deletes_max = Some(0),
            Some(_) | None => {}
        }
    }

    /// Why nothing may be sent to this target; nothing when it may.
    fn forbids(
        &mut self,
        target: &Target,
        item: &Item,
        verb: Verb,
        known: bool,
        blind: bool,
    ) -> Option<(Kind, &'static str)> {
        let delete = verb == Verb::Delete;
        let (first, everywhere) = (target.site == 0, true);
        let hit = match self.gate {
            Some(Kind::GateReadOnly | Kind::GateKillSwitch | Kind::GateFreeze) => everywhere,
            Some(Kind::GateIdentity | Kind::GateInsecure | Kind::GateAccess | Kind::GatePolicy | Kind::GateCap) => {
                first
            }
            Some(Kind::GateSettling | Kind::GateBrake) => delete,
            Some(Kind::GateNotComplete) => delete && first,
            Some(Kind::GateDependency) => {
                let waits = self.waits.get_or_insert_with(|| target.clone());
                waits == target
            }
            Some(_) | None => false,
        };
        match self.gate {
            Some(gate) if hit => Some((gate, gate.as_str())),
            _ if !known => Some((Kind::GateIdentity, "identity")),
            _ if delete && item.proofs().len() < 2 => Some((Kind::GateOwnership, "ownership")),
            _ if delete && blind => Some((Kind::GateNotComplete, "not-complete")),
            _ => None,
        }
    }

    fn is_for_dependency(&self, target: &Target) -> bool {
        self.gate == Some(Kind::GateDependency) && self.waits.as_ref() == Some(target)
    }
}

fn observed(
    candidates: &[Result<Vec<(Target, Item)>, Unread>],
    references: &[Result<BTreeSet<Target>, Unread>],
    conditions: &Conditions,
    gate: Option<Kind>,
) -> Vec<(CollectionId, Completeness)> {
    let mut observed = Vec::new();
    for place in 0..candidates.len() {
        let name = ClusterName::new(Site::name(place));
        let late = gate == Some(Kind::GateNotComplete) && place == 0;
        let age = SignedDuration::from_secs(if late { 91 } else { 0 });
        let at = conditions.now.checked_sub(age).unwrap_or(conditions.now);
        let complete = |unread: Option<&Unread>| match unread {
            None => Completeness::Complete { version: ResourceVersion::parse("1"), at },
            Some(unread) => Completeness::Unknown { gap: Gap::new(GapCause::CutShort, unread.says()) },
        };
        let kept = complete(candidates[place].as_ref().err());
        observed.push((CollectionId::namespaced(&name, SECRETS, CONFIG), kept.clone()));
        observed.push((CollectionId::namespaced(&name, CONFIG_MAPS, CONFIG), kept));
        let named = complete(references[place].as_ref().err());
        observed.push((CollectionId::namespaced(&name, CONFIG_MAPS, APPS), named));
    }
    observed
}

fn resource(target: &Target) -> Resource {
    if target.kind() == "Secret" { SECRETS } else { CONFIG_MAPS }
}

fn subject(target: &Target) -> SubjectId {
    SubjectId {
        domain: DOMAIN,
        cluster: ClusterName::new(Site::name(target.site)),
        api_version: "v1",
        kind: target.kind(),
        namespace: Some(CONFIG.to_owned()),
        name: target.name.clone(),
        cloud: None,
    }
}

fn draft(target: &Target, item: &Item, verb: Verb, sites: usize) -> ActionDraft {
    let cluster = ClusterName::new(Site::name(target.site));
    let mut rests_on = vec![CollectionId::namespaced(&cluster, resource(target), CONFIG)];
    let named = |site| CollectionId::namespaced(&ClusterName::new(Site::name(site)), CONFIG_MAPS, APPS);
    rests_on.extend((0..sites).map(named));
    let delete = verb == Verb::Delete;
    ActionDraft {
        domain: DOMAIN,
        restores: None,
        target: DraftTarget {
            cluster,
            resource: resource(target),
            namespace: Some(CONFIG.to_owned()),
            name: target.name.clone(),
            uid: Some(Uid::parse(&item.metadata.uid)),
            version: Some(ResourceVersion::parse(&item.metadata.resource_version)),
            cloud: None,
        },
        judged: None,
        source: None,
        selected: true,
        reason: match verb {
            Verb::Delete => Reason::NoReferrer,
            Verb::Update => Reason::Stale,
            _ => Reason::NotLabelled,
        },
        ownership: item.proofs(),
        stake: if delete { Stake::DeleteWithBackup } else { Stake::Reversible },
        diff: String::new(),
        change: match verb {
            Verb::Delete => Change::Delete,
            Verb::Update => Change::read(verb, copy_change()).expect("it is a copy"),
            _ => Change::Label(MetadataChange::setting([(MARK, "yes")])),
        },
        undo: match verb {
            Verb::Delete | Verb::Update => Undo::RestoreFromBackup,
            _ => Undo::RemoveWhatWasAdded,
        },
        depends_on: Vec::new(),
        rests_on,
        blocked_by: Vec::new(),
    }
}

fn copy_change() -> Value {
    let source = json!({ "apiVersion": "v1", "kind": "Secret", "namespace": SOURCES, "name": SOURCE });
    json!({ "copy": { "source": source, "keys": { COPIED: COPIED } }, "labels": { MARK: "yes" } })
}

fn binding(source: &Item) -> SourceBinding {
    let ItemMeta { uid, resource_version, .. } = &source.metadata;
    SourceBinding { uid: Uid::parse(uid), version: ResourceVersion::parse(resource_version) }
}

fn finding(target: &Target, item: &Item, draft: ActionDraft) -> Judged {
    Judged {
        subject: subject(target),
        judgement: Judgement {
            state: State::Extra,
            verdict: "superfluous",
            codes: Vec::new(),
            ownership_proofs: u8::try_from(item.proofs().len()).expect("at most two"),
            until: None,
        },
        explanation: Explanation {
            uid: Some(Uid::parse(&item.metadata.uid)),
            created: None,
            summary: String::new(),
            expected: Value::Null,
            actual: Value::Null,
            evidence: Vec::new(),
            remedy: vec![draft],
        },
    }
}

fn cluster(place: usize, identity: ClusterIdentity) -> Cluster {
    let name = Site::name(place);
    Cluster {
        name: ClusterName::new(name.as_str()),
        class: if place == 0 { RiskClass::Prod } else { RiskClass::Dev },
        source: ClusterSource::Kubeconfig { context: name },
        hosted_by: None,
        link: Link::Idle,
        identity,
        served: Served::Unknown(Gap::new(GapCause::NotObserved, "not asked")),
    }
}
