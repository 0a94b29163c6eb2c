//! Undoing what a history applied: the plan that ships, and what must hold when it is sent.
//!
//! Invariants: what an undo may do follows from what was shown, approved and left behind when the plan was applied, never
//! from the journal: an object comes back as it was shown, labels and content become what they were, and only where the
//! object is the same and no other writer changed it since.

use std::collections::BTreeMap;

use serde_json::Value;
use trueup_core::engine::executor::ActionResult;
use trueup_core::engine::journal::{Entry, VerifiedState, entries};
use trueup_core::engine::{UndoPlan, Verb};
use trueup_core::world::ClusterIdentity;
use trueup_operate::{OperateError, derive_in};
use zeroize::Zeroizing;

use super::configuration::{Configuration, mark_key};
use super::fresh_world::HistoryWorld;
use super::kind::Kind;
use super::lists::KeepsObjects;
use super::planner::{Basis, Made};
use super::ports::Hold;
use super::standing::{Deeds, Meant, Phase};
use super::tap;
use super::truth::content;
use super::world::{COPIED, MARK, Site, World};

/// What an undo reverses: one action, as it was shown and as it left its object.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    pub verb: Verb,
    pub uid: String,
    /// Labels, annotations and data as they were before.
    pub shown: Value,
    /// The value a copy was given.
    pub copied: Value,
    /// The version in which the object was left; nothing when no request of this engine changed it.
    pub left: Option<String>,
    /// Its intent reached the disk: a request was sent, or may have been.
    pub is_sent: bool,
}

/// Plans the undo of what an engine applied, as a new process does; nothing when there is nothing to undo.
pub async fn make(hold: Hold, configuration: Configuration) -> Option<Made> {
    let (applied, basis, deeds) = {
        let world = hold.shared.lock();
        let standing = &world.engines[hold.who];
        let plan = standing.plan.as_ref()?;
        let undone = |(id, meant): (&String, &Meant)| {
            let undone = Undone {
                verb: meant.verb,
                uid: meant.uid.clone(),
                shown: meant.shown.clone(),
                copied: meant.copied.clone(),
                left: standing.left.get(id).cloned(),
                // After a crash, an intent on the disk may have been sent: the journal cannot know.
                is_sent: standing.deeds.get(id).is_some_and(|deeds| deeds.sent > 0)
                    || standing.durable_intents(id, meant.verb) > 0,
            };
            (id.clone(), undone)
        };
        (plan.id.clone(), plan.actions.iter().map(undone).collect::<BTreeMap<_, _>>(), standing.deeds.clone())
    };
    let mut world = HistoryWorld::connect(hold.clone(), configuration.clone(), KeepsObjects::No).await;
    let UndoPlan { plan, left_out, not_restored: _ } = derive(&mut world, &applied, None).await.ok()?;
    let mut shared = hold.shared.lock();
    for site in &mut shared.sites {
        site.planned_version = site.server.version();
    }
    if !left_out.is_empty() {
        shared.fire(Kind::UndoLeftOut);
    }
    let name = shared.engines[hold.who].name;
    shared.tell(name, || format!("plans to undo {} actions, not {left_out:?}", plan.actions.len()));
    let made =
        Made { plan: plan.marked(mark_key(hold.who)), operator: hold.who, configuration, basis: Basis::Applied(basis) };
    made.check_undo_is_complete(&mut shared, hold.who, &deeds);
    (!made.plan.actions.is_empty()).then_some(made)
}

/// Derives the undo of a journal entry, with the code that ships.
pub async fn derive(world: &mut HistoryWorld, plan: &str, only: Option<&str>) -> Result<UndoPlan, OperateError> {
    let (hold, same, entry) = {
        let read = world.lock().await;
        let hold = read.lister.hold.clone();
        let all = entries(hold.shared.lock().engines[hold.who].noted.iter().map(|(_, record)| record));
        let entry = all.into_iter().find(|entry: &Entry| entry.plan == plan);
        let cause = format!("the journal has no plan {plan}");
        let entry = entry.ok_or(OperateError::NoEntry { cause, advice: String::new() })?;
        let approved = entry.approvals.last().map(|approval| approval.clusters.clone()).unwrap_or_default();
        let is_same = |identity: &ClusterIdentity, name: &str| {
            approved.iter().any(|cluster| cluster.name == name && cluster.identity == *identity && identity.is_known())
        };
        let same = read.clusters().filter(|cluster| is_same(&ClusterIdentity::of(cluster), cluster.name.as_str()));
        let same: Vec<usize> = same.map(|cluster| Site::of(cluster.name.as_str())).collect();
        (hold, same, entry)
    };
    let clusters = tap::ports(&hold.shared, hold.who, same);
    let open = |file: &str| {
        let world = hold.shared.lock();
        let sealed = file.parse().ok().and_then(|place: usize| world.engines[hold.who].vault.get(place).cloned());
        sealed.map(Zeroizing::new).ok_or_else(|| "there is no such backup".to_owned())
    };
    let now = hold.shared.lock().engine_now();
    derive_in(world, &entry, only, &clusters, &open, now).await
}

impl Made {
    /// Where nothing stands in the way, everything that was done and can be reversed is in the undo.
    fn check_undo_is_complete(&self, world: &mut World, who: usize, deeds: &BTreeMap<String, Deeds>) {
        if !world.faults.calm {
            return;
        }
        let Some(plan) = world.engines[who].plan.clone() else { return };
        for (id, meant) in &plan.actions {
            let deeds = deeds.get(id).copied().unwrap_or_default();
            let is_reversible = deeds.changed || deeds.deleted && world.look(&meant.target).is_none();
            let undo = self.plan.actions.iter().find(|action| action.id == *id);
            let is_open = undo.is_some_and(|action| action.blocked_by.is_empty());
            if is_reversible && !is_open {
                let name = &meant.target.name;
                world.broke(|| format!("nothing stands in the way of undoing {name}, and the plan has {undo:?}"));
            }
        }
    }
}

impl World {
    /// Everything moves again, for the undo of what the first engine applied.
    pub fn wake(&mut self) {
        let Some(undo) = self.faults.undo.clone() else { return };
        let faults = &mut self.faults;
        (faults.config, faults.reopened, faults.edit) = (undo.config, undo.reopened, undo.edit);
        (self.resting, self.incident_at) = (false, None);
        self.restored.clear();
        let gate = undo.gate.filter(|gate| {
            // Nothing of an undo is a delete, waits for a finding or is counted.
            !matches!(gate, Kind::GateSettling | Kind::GateBrake | Kind::GateNotComplete | Kind::GateDependency)
        });
        let standing = &mut self.engines[0];
        (standing.alive, standing.phase, standing.steps) = (true, Phase::Planning, 0);
        (standing.saw_other, standing.shut_before) = (false, false);
        standing.configuration = Configuration { shut: gate, ..Configuration::default() };
        self.tell("world", || "moves again".to_owned());
    }

    /// Looks at what a request of an undo did.
    pub fn after_undo(
        &mut self,
        who: usize,
        action: &str,
        meant: &Meant,
        undone: &Undone,
        (before, after): (Option<Value>, Option<Value>),
    ) {
        if let Some(why) = wrong_undo(meant, undone, before.as_ref(), after.as_ref()) {
            let name = &meant.target.name;
            self.broke(|| format!("undo of {name}: {why}"));
        }
        self.fire(match meant.verb {
            Verb::Create => Kind::UndoRestored,
            Verb::Label => Kind::UndoLabels,
            _ => Kind::UndoContent,
        });
        self.engines[who].deeds.entry(action.to_owned()).or_default().changed = true;
        if meant.verb == Verb::Create {
            self.restored.insert(meant.target.clone());
        }
    }

    /// Why the end of an undo is not what happened; nothing when it is.
    pub fn untrue_undo(
        &self,
        meant: &Meant,
        undone: &Undone,
        deeds: Deeds,
        end: &ActionResult,
    ) -> Option<&'static str> {
        let object = self.look(&meant.target);
        let is_back = |object: &Value| {
            object["metadata"]["labels"][MARK] == undone.shown["labels"][MARK]
                && (meant.verb != Verb::Update || object["data"] == undone.shown["data"])
        };
        let changed = deeds.changed || object.as_ref().is_some_and(is_back);
        match (end, meant.verb) {
            (ActionResult::Done(VerifiedState::Created | VerifiedState::Restored), Verb::Create) => {
                (!deeds.changed).then_some("it was not created")
            }
            (ActionResult::Done(VerifiedState::Changed), Verb::Label | Verb::Update) => {
                (!changed).then_some("it never was")
            }
            (ActionResult::Done(_) | ActionResult::Restored { .. }, _) => Some("no undo ends so"),
            (ActionResult::Already | ActionResult::Skipped { .. }, _) => {
                (deeds.sent_in_run > 0).then_some("a request was sent")
            }
            (ActionResult::Failed { .. }, _) => self.happened(meant, deeds).filter(|_| deeds.sent_in_run > 0),
            (ActionResult::Unknown { .. }, _) => (deeds.sent_in_run == 0).then_some("nothing was sent"),
        }
    }
}

/// Why an undo may not have done what it did; nothing when it may.
fn wrong_undo(meant: &Meant, undone: &Undone, before: Option<&Value>, after: Option<&Value>) -> Option<&'static str> {
    if !undone.is_sent {
        return Some("nothing was sent for what it reverses");
    }
    let Some(after) = after else { return Some("the object is gone") };
    let Some(before) = before else {
        return match (meant.verb, undone.verb) {
            (Verb::Create, Verb::Delete) => (!is_restored(after, undone)).then_some("it came back, and not as it was"),
            _ => Some("it was created, and had not been deleted"),
        };
    };
    let field = |name: &str| before["metadata"][name].as_str().unwrap_or_default();
    if meant.verb == Verb::Create {
        return Some("an object that has the name was overwritten");
    }
    if field("uid") != undone.uid {
        return Some("it is another object than the one that was changed");
    }
    if field("resourceVersion") != meant.resource_version {
        return Some("it had changed since the undo was planned");
    }
    match (meant.verb, undone.verb) {
        (Verb::Label, Verb::Label) => {
            let mut expected = content(before);
            let was = expected["labels"].as_object_mut().and_then(|labels| labels.remove(MARK));
            (was != Some("yes".into()) || content(after) != expected)
                .then_some("other labels than those of the plan changed")
        }
        (Verb::Update, Verb::Update) => {
            let mut copied = undone.shown.clone();
            (copied["labels"][MARK], copied["data"][COPIED]) = ("yes".into(), undone.copied.clone());
            if undone.left.as_deref().is_some_and(|left| left != field("resourceVersion")) || content(before) != copied
            {
                return Some("it had changed since it was copied");
            }
            (content(after) != undone.shown).then_some("it did not become what it was")
        }
        _ => Some("it is not the reverse of what was applied"),
    }
}

/// Whether an object is the one that was deleted, but for what a restore adds.
fn is_restored(after: &Value, undone: &Undone) -> bool {
    let now = content(after);
    let annotations = |value: &Value| value["annotations"].as_object().cloned().unwrap_or_default();
    let kept = annotations(&undone.shown).iter().all(|(key, value)| now["annotations"].get(key) == Some(value));
    now["labels"] == undone.shown["labels"] && now["data"] == undone.shown["data"] && kept
}
