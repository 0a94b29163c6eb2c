//! Making a plan with the product's builder, and what is true about it whatever it says.
//!
//! Invariants: which gates are shut is known here apart from the plan, so that a gate that fails to shut is noticed when
//! something is sent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use trueup_core::engine::{Action, ApprovedPlan, Chosen, GateName, Plan, Provenance, Verb};
use trueup_core::world::ClusterIdentity;
use trueup_operate::{FreshWorld as _, build_plan};

use super::configuration::{Approval, Configuration, mark_key};
use super::edit::{Edited, Marked};
use super::fresh_world::HistoryWorld;
use super::kind::Kind;
use super::lists::{KeepsObjects, SeenObjects};
use super::ports::Hold;
use super::standing::{Approved, Meant};
use super::truth::{MANAGED_MIN, content};
use super::undo::Undone;
use super::world::{COPIED, MADE_BY, MARK, OURS, OWNER_LABEL, Site, Target, WANTS, World};

/// A plan, and what is true about it.
#[derive(Clone)]
pub struct Made {
    /// As it was made and marked.
    pub plan: Plan,
    pub operator: usize,
    pub configuration: Configuration,
    pub basis: Basis,
}

/// What a plan was made of.
#[derive(Clone)]
pub enum Basis {
    Findings {
        seen: SeenObjects,
        /// Clusters whose identity was read.
        known: BTreeSet<usize>,
    },
    /// What an applied plan did, by action.
    Applied(BTreeMap<String, Undone>),
}

/// The file that is applied: the plan as it was made, or an edited one.
#[derive(Clone)]
pub struct PlanFile {
    pub text: String,
    /// What was edited, and who marked the file then.
    pub edited: Option<(Edited, Marked)>,
}

/// How the operator asks for an apply.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What a valid mark would say, known apart from it.
    pub provenance: Provenance,
    /// `--foreign-plan`.
    pub accepts_foreign: bool,
    pub approval: Approval,
    /// What the process is configured with.
    pub configuration: Configuration,
}

/// Reads everything, judges it and builds the plan, as a new process does.
pub async fn make(hold: Hold, operator: usize, configuration: Configuration) -> Made {
    let mut world = HistoryWorld::connect(hold, configuration.clone(), KeepsObjects::Yes).await;
    let questions = world.lock().await.access_questions();
    let access = world.ask_access(questions).await;
    let judged = world.lock().await.judged();
    let (session, request) = (world.session().clone(), configuration.request());
    let built = world.ask(move |now| {
        let mut found = now.conditions.clone();
        found.access = access;
        build_plan(&session, &request, &[], &judged, now.view, found)
    });
    let plan = built.await.expect("there is a world").expect("nothing in it is a broken number");
    let read = world.lock().await;
    let known = read.clusters().filter(|cluster| cluster.identity != ClusterIdentity::default());
    let known = known.filter(|cluster| cluster.identity.is_known()).map(|cluster| Site::of(cluster.name.as_str()));
    let known = known.collect();
    let seen = read.lister.seen.clone().unwrap_or_default();
    let mut shared = read.lister.hold.shared.lock();
    for site in &mut shared.sites {
        site.planned_version = site.server.version();
    }
    let basis = Basis::Findings { seen, known };
    let made = Made { plan: plan.marked(mark_key(operator)), operator, configuration, basis };
    made.fire_shut(&mut shared);
    made.check_calm(&mut shared);
    drop(shared);
    made
}

impl Made {
    pub fn file(&self) -> PlanFile {
        let text = serde_json::to_string(&self.plan).expect("a plan is JSON");
        PlanFile { text, edited: None }
    }

    /// Every action that may run, each alone.
    pub fn one_by_one(&self) -> Vec<Chosen> {
        let runs = self.plan.actions.iter().filter(|action| action.blocked_by.is_empty());
        runs.map(|action| Chosen::Only([action.id.clone()].into())).collect()
    }

    /// What would be deleted: which object, its uid and version, and its content as shown.
    pub fn deletions(&self) -> Vec<(Target, String, String, Value)> {
        let deletes = self.plan.actions.iter().filter(|action| action.is_delete() && action.blocked_by.is_empty());
        let shown = |action: &Action| {
            let target = target_of(action);
            let content = self.shown(&target);
            let (uid, version) = bound(action);
            (target, uid, version, content)
        };
        deletes.map(shown).collect()
    }

    /// What is true of an approved file: every action by what the unedited plan says of its target.
    pub fn truth(&self, world: &World, file: &PlanFile, approved: &ApprovedPlan, asked: Asked) -> Approved {
        let now = &asked.configuration;
        let meant = |action: &Action| {
            let target = target_of(action);
            let planned = self.plan.actions.iter().find(|planned| target_of(planned) == target)?;
            let (mut meant, tier) = match &self.basis {
                Basis::Findings { seen, .. } => {
                    (self.meant(planned, seen, file, now), now.tier(&target, planned.verb()))
                }
                Basis::Applied(undone) => {
                    let undone = undone.get(&planned.id)?;
                    (self.meant_undo(planned, undone, file, now), now.undo_tier(&target, planned.verb()))
                }
            };
            meant.needs = Approval::needed(tier);
            // An edited file shows what its editor bound an action to.
            if file.edited.is_some() && bound(action) != bound(planned) {
                (meant.uid, meant.resource_version) = bound(action);
                let is_shown =
                    |object: &Value| object["metadata"]["resourceVersion"] == meant.resource_version.as_str();
                let object = world.look(&target).filter(|object| meant.undoes.is_none() && is_shown(object));
                if let Some(object) = object {
                    meant.shown = content(&object);
                }
            }
            if action.tier < tier {
                meant.forbidden = meant.forbidden.or(Some("tier"));
            }
            Some((action.id.clone(), meant))
        };
        let plan = approved.plan();
        let is_refused = asked.provenance == Provenance::Foreign && !asked.accepts_foreign;
        let longest = match asked.provenance {
            Provenance::Here => trueup_core::engine::PLAN_TTL_MAX,
            Provenance::Foreign => trueup_core::engine::PLAN_TTL,
        };
        let latest = approved.approved_at().checked_add(longest).unwrap_or(plan.expires_at);
        Approved {
            id: plan.id.clone(),
            expires_at: plan.expires_at.min(latest),
            actions: approved.actions().filter_map(meant).collect(),
            is_refused: is_refused || plan.created_at > approved.approved_at(),
            is_foreign: asked.provenance == Provenance::Foreign,
            approval: asked.approval,
            managed: BTreeMap::new(),
        }
    }

    fn meant(&self, planned: &Action, seen: &SeenObjects, file: &PlanFile, now: &Configuration) -> Meant {
        let (target, verb) = (target_of(planned), planned.verb());
        // A higher tier is compared with that of the file, which may have been edited to name it.
        let is_tier = |kind: &Kind| matches!(kind, Kind::ConfigClass | Kind::ConfigTier);
        let at_apply = now.forbids(&target, verb).filter(|kind| !is_of_planning(now) && !is_tier(kind));
        let at_plan = || self.forbids(&target, verb).map(|(_, word)| word);
        // Gates of the plan that are open again when an edited file is applied keep nothing back.
        let evidence = || (!self.is_ours(&target, verb)).then_some("ownership");
        let forbidden = at_apply.map(Kind::as_str);
        let (uid, resource_version) = bound(planned);
        Meant {
            verb,
            uid,
            resource_version,
            shown: self.shown(&target),
            copied: seen.sources.get(&target.site).map(|source| source["data"][COPIED].clone()).unwrap_or_default(),
            forbidden: forbidden.or_else(|| if file.edited.is_some() { evidence() } else { at_plan() }),
            needs: Approval::Confirmed,
            undoes: None,
            target,
        }
    }

    fn meant_undo(&self, planned: &Action, undone: &Undone, file: &PlanFile, now: &Configuration) -> Meant {
        let target = target_of(planned);
        let (uid, resource_version) = bound(planned);
        let at_plan = || self.configuration.forbids_undo(&target).filter(|_| file.edited.is_none());
        Meant {
            verb: planned.verb(),
            uid,
            resource_version,
            shown: undone.shown.clone(),
            copied: Value::Null,
            forbidden: now.forbids_undo(&target).or_else(at_plan).map(Kind::as_str),
            needs: Approval::Confirmed,
            undoes: Some(undone.clone()),
            target,
        }
    }

    /// Where nothing stands in the way, everything that is to do has to be planned, and unblocked.
    fn check_calm(&self, world: &mut World) {
        if !world.faults.calm {
            return;
        }
        for target in world.candidates.clone() {
            let Some(verb) = to_do(world, &target) else { continue };
            let planned = self.plan.actions.iter().find(|action| target_of(action) == target && action.verb() == verb);
            let braked = verb == Verb::Delete && world.managed(target.site) > MANAGED_MIN;
            let blocked_by = planned.map(|action| action.blocked_by.clone());
            let is_fine = match &blocked_by {
                None => false,
                Some(blocked_by) => blocked_by.iter().all(|blocked| braked && blocked.gate == GateName::Brake),
            };
            if !is_fine {
                let (name, verb) = (&target.name, verb.as_str());
                world.broke(|| format!("nothing stands in the way of {verb} {name}, and the plan has {blocked_by:?}"));
            }
        }
    }

    /// Why nothing may be sent to a target by this plan; nothing when it may.
    fn forbids(&self, target: &Target, verb: Verb) -> Option<(Kind, &'static str)> {
        let is_delete = verb == Verb::Delete;
        let Basis::Findings { seen, known } = &self.basis else { return None };
        let SeenObjects { unread_referrers, empty_referrers, .. } = seen;
        let kind = match self.configuration.forbids(target, verb) {
            Some(shut) => shut,
            None if !known.contains(&target.site) => Kind::GateIdentity,
            None if !self.is_ours(target, verb) => Kind::GateOwnership,
            None if is_delete && !empty_referrers.is_empty() => Kind::GateEmptySet,
            None if is_delete && !unread_referrers.is_empty() => Kind::GateNotComplete,
            None => return None,
        };
        Some((kind, kind.as_str()))
    }

    /// A delete needs both proofs.
    fn is_ours(&self, target: &Target, verb: Verb) -> bool {
        verb != Verb::Delete || self.listed(target).is_some_and(|object| proofs(object) >= 2)
    }

    fn shown(&self, target: &Target) -> Value {
        self.listed(target).map(content).unwrap_or_default()
    }

    /// The object as it was listed for the plan.
    fn listed(&self, target: &Target) -> Option<&Value> {
        match &self.basis {
            Basis::Findings { seen, .. } => seen.candidates.get(target),
            Basis::Applied(_) => None,
        }
    }

    fn fire_shut(&self, world: &mut World) {
        for action in &self.plan.actions {
            if let Some((kind, _)) = self.forbids(&target_of(action), action.verb()) {
                world.fire(kind);
            } else if action.blocked_by.iter().any(|blocked| blocked.gate == GateName::Brake) {
                world.fire(Kind::BrakeReached);
            }
        }
    }
}

/// Whether a gate is shut by how the plan is asked for, which an apply does not repeat.
fn is_of_planning(configuration: &Configuration) -> bool {
    matches!(configuration.shut, Some(Kind::GateSettling | Kind::GateBrake))
}

/// What has to be done about a candidate as it really is, a delete only with both proofs; nothing when it may stay.
fn to_do(world: &World, target: &Target) -> Option<Verb> {
    let object = world.look(target)?;
    let metadata = &object["metadata"];
    if !metadata["deletionTimestamp"].is_null() || proofs(&object) == 0 {
        return None;
    }
    match metadata["labels"][WANTS].as_str() {
        Some("copy") => (object["data"][COPIED] != world.source_value(target.site)).then_some(Verb::Update),
        Some("mark") => metadata["labels"][MARK].is_null().then_some(Verb::Label),
        Some(_) | None => (proofs(&object) == 2 && !world.is_referenced(target)).then_some(Verb::Delete),
    }
}

/// How many independent proofs say that an object is ours.
pub fn proofs(object: &Value) -> usize {
    let metadata = &object["metadata"];
    usize::from(metadata["labels"][OWNER_LABEL] == OURS) + usize::from(metadata["annotations"][MADE_BY] == OURS)
}

pub fn bound(action: &Action) -> (String, String) {
    let preconditions = &action.preconditions;
    let text = |bound: &Option<String>| bound.clone().unwrap_or_default();
    (text(&preconditions.uid), text(&preconditions.resource_version))
}

pub fn target_of(action: &Action) -> Target {
    Target { site: Site::of(&action.cluster), name: action.target.name.clone() }
}
