//! Plan files that were edited: the fields that belong together, one field, or two, with the id computed again.
//!
//! Invariants: an edit knows the clusters as well as any reader of them; the mark is the editor's own, the old one, or none.
//! Elsewhere: one field at a time (`edit_field`).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use trueup_core::engine::{Plan, canonical_digest};

use super::configuration::mark_key;
use super::edit_field::{FIELDS, check_complete, edit_field};
use super::kind::Kind;
use super::planner::{Made, PlanFile};
use super::seeded_rng::SeededRng;
use super::world::{CONFIG, MARK, SOURCES, Site, Target, World};

/// Who marks an edited file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// The operator who applies it: the mark is valid.
    ByOperator,
    /// The mark of the plan before it was edited.
    Before,
    Not,
}

/// What was edited in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// Fields that belong together.
    Together(Kind),
    /// One field, by its place in [`FIELDS`].
    One(usize),
    /// Two fields, the first one first.
    Two(usize, usize),
}

/// An edited file that was given to an apply, for the counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditSeen {
    pub edited: Edited,
    pub marked: Marked,
    /// `--foreign-plan`.
    pub accepts_foreign: bool,
    /// The plan is an undo.
    pub is_undo: bool,
    /// Something of the file was approved.
    pub is_approved: bool,
}

const MARKS: [Marked; 4] = [Marked::ByOperator, Marked::ByOperator, Marked::Before, Marked::Not];
/// How often a field is edited again where an edit left it as it was.
const TRIES_MAX: usize = 8;

impl Marked {
    pub const ALL: [Self; 3] = [Self::ByOperator, Self::Before, Self::Not];
}

/// Edits a plan file. Nothing where the edit does not apply to this plan.
pub fn edit(world: &mut World, made: &Made, kind: Kind) -> Option<PlanFile> {
    let marked = *world.rng.pick(&MARKS);
    let before = serde_json::to_value(&made.plan).expect("a plan is JSON");
    check_complete(&before);
    let mut plan = before.clone();
    let edited = match kind {
        Kind::EditField => Edited::One(world.rng.below(FIELDS.len())),
        Kind::EditPair => {
            let (one, other) = (world.rng.below(FIELDS.len()), world.rng.below(FIELDS.len() - 1));
            let other = if other >= one { other + 1 } else { other };
            Edited::Two(one.min(other), one.max(other))
        }
        _ => Edited::Together(kind),
    };
    let is_edited = match edited {
        Edited::Together(kind) => {
            edit_together(world, made, kind, &mut plan);
            plan != before
        }
        Edited::One(field) => edit_until_changed(world, &mut plan, field),
        Edited::Two(one, other) => {
            edit_until_changed(world, &mut plan, one) && edit_until_changed(world, &mut plan, other)
        }
    };
    // The second edit may undo the first.
    if !is_edited || plan == before {
        return None;
    }
    world.fire(kind);
    world.tell("editor", || match edited {
        Edited::Together(kind) => format!("{}, {marked:?}", kind.as_str()),
        Edited::One(field) => format!("{}, {marked:?}", FIELDS[field].as_str()),
        Edited::Two(one, other) => format!("{} and {}, {marked:?}", FIELDS[one].as_str(), FIELDS[other].as_str()),
    });
    Some(PlanFile { text: signed(plan, marked), edited: Some((edited, marked)) })
}

fn edit_until_changed(world: &mut World, plan: &mut Value, field: usize) -> bool {
    (0..TRIES_MAX).any(|_| edit_field(&mut world.rng, plan, FIELDS[field]))
}

fn edit_together(world: &mut World, made: &Made, kind: Kind, plan: &mut Value) {
    let actions = plan["actions"].as_array().map_or(0, Vec::len);
    let place = world.rng.below(actions);
    match kind {
        Kind::EditTier => for_all(plan, |action| action["tier"] = json!(1)),
        Kind::EditGates => for_all(plan, |action| {
            (action["blocked_by"], action["selected"]) = (json!([]), json!(true));
        }),
        Kind::EditTarget => edit_target(world, &mut plan["actions"][place]),
        Kind::EditChange => edit_change(&mut world.rng, &mut plan["actions"][place]),
        Kind::EditOrigin => edit_origin(&mut world.rng, plan, place),
        Kind::EditBinding => edit_binding(world, &mut plan["actions"][place]),
        Kind::EditEvidence => edit_evidence(plan),
        Kind::EditTimes => edit_times(&mut world.rng, plan, made.plan.created_at),
        _ => edit_place(&mut world.rng, plan, place),
    }
}

/// The file with the id of its content, and a mark.
fn signed(mut plan: Value, marked: Marked) -> String {
    let keys = plan.as_object_mut().expect("a plan is an object");
    let (_, before) = (keys.remove("id"), keys.remove("mark"));
    // A number that has no canonical form has no id either: such a file is not read.
    let id = canonical_digest(&plan).unwrap_or_default();
    plan["id"] = id.into();
    if let (Marked::Before, Some(mark)) = (marked, before) {
        plan["mark"] = mark;
    }
    let text = plan.to_string();
    match (marked, serde_json::from_str::<Plan>(&text)) {
        (Marked::ByOperator, Ok(read)) => {
            plan["mark"] = read.marked(mark_key(0)).mark.into();
            plan.to_string()
        }
        (Marked::ByOperator | Marked::Before | Marked::Not, _) => text,
    }
}

fn for_all(plan: &mut Value, mut change: impl FnMut(&mut Value)) {
    plan["actions"].as_array_mut().into_iter().flatten().for_each(&mut change);
}

/// Another object, bound to what it is now.
fn edit_target(world: &mut World, action: &mut Value) {
    let site = Site::of(action["cluster"].as_str().unwrap_or_default());
    let others: Vec<Target> = world.candidates.iter().filter(|target| target.site == site).cloned().collect();
    let other = world.rng.pick(&others).clone();
    let Some(object) = world.look(&other) else { return };
    let before = action["target"]["name"].as_str().unwrap_or_default().to_owned();
    action["target"]["name"] = other.name.clone().into();
    action["target"]["kind"] = other.kind().into();
    if world.rng.permille(700) {
        bind(action, &object);
    }
    if world.rng.permille(700) {
        let named = action["finding"].as_str().unwrap_or_default().replace(&before, &other.name);
        action["origin"] = json!({ "finding": named });
        action["finding"] = named.into();
    }
}

fn bind(action: &mut Value, object: &Value) {
    let metadata = &object["metadata"];
    action["target"]["uid"] = metadata["uid"].clone();
    action["preconditions"]["uid"] = metadata["uid"].clone();
    action["preconditions"]["resourceVersion"] = metadata["resourceVersion"].clone();
}

fn edit_change(rng: &mut SeededRng, action: &mut Value) {
    let copy = |namespace: &str, name: &str| {
        let source = json!({ "apiVersion": "v1", "kind": "Secret", "namespace": namespace, "name": name });
        json!({ "copy": { "source": source, "keys": { "value": "value" } } })
    };
    let (verb, change) = match rng.below(8) {
        0 => ("delete", json!({})),
        1 => ("label", json!({ "set": { MARK: "no" }, "remove": [] })),
        2 => ("label", json!({ "set": { "owner": "other" }, "remove": [] })),
        3 => ("annotate", json!({ "set": { "made-by": "other" }, "remove": [] })),
        4 => ("update", copy(CONFIG, "s-0")),
        5 => ("create", json!({ "backup": "0", "owners": [] })),
        6 => ("update", json!({ "backup": "0", "keys": ["value"], "labels": {} })),
        _ => ("update", copy(SOURCES, "source")),
    };
    (action["verb"], action["change"]) = (verb.into(), change);
    if rng.permille(500) {
        (action["preconditions"]["source"], action["undo"]) = (Value::Null, "restore-from-backup".into());
    }
}

fn edit_origin(rng: &mut SeededRng, plan: &mut Value, place: usize) {
    let entry = format!("{}/{}", plan["id"].as_str().unwrap_or_default(), "a1");
    let findings = plan["findings"].as_array().map_or(0, Vec::len);
    let other = plan["findings"][rng.below(findings)]["id"].clone();
    let action = &mut plan["actions"][place];
    let origin = match rng.below(5) {
        0 => json!({ "undo": entry }),
        1 => json!({ "restore": entry }),
        2 => json!({ "finding": "" }),
        3 => json!({ "finding": "histories/guest-0/Secret/config/absent" }),
        _ => json!({ "finding": other }),
    };
    action["finding"] = origin.get("finding").cloned().unwrap_or_else(|| "".into());
    action["origin"] = origin;
    if rng.permille(300) {
        (action["verb"], action["change"]) = ("create".into(), json!({ "backup": "0", "owners": [] }));
    }
}

fn edit_binding(world: &mut World, action: &mut Value) {
    let site = Site::of(action["cluster"].as_str().unwrap_or_default());
    let target = Target { site, name: action["target"]["name"].as_str().unwrap_or_default().to_owned() };
    match (world.rng.below(4), world.look(&target)) {
        (0, _) => action["preconditions"] = json!({}),
        (1, _) => action["preconditions"]["resourceVersion"] = "1".into(),
        (2, _) => action["preconditions"]["source"] = Value::Null,
        (_, Some(object)) => bind(action, &object),
        (_, None) => {}
    }
}

/// What was observed, judged and owned: everything is said to be well known.
fn edit_evidence(plan: &mut Value) {
    for_all(plan, |action| {
        action["rests_on"] = json!([]);
        (action["depends_on"], action["ownership"]) = (json!([]), json!(["one", "another", "a third"]));
        // The brake does not count what follows from one change of intent.
        action["reason"] = "cluster-deleted".into();
    });
    for observation in plan["observations"].as_array_mut().into_iter().flatten() {
        observation["state"] = "complete".into();
    }
}

fn edit_times(rng: &mut SeededRng, plan: &mut Value, created_at: Timestamp) {
    let after = |span: SignedDuration| json!(created_at.checked_add(span).unwrap_or(created_at).to_string());
    let hours = SignedDuration::from_hours;
    match rng.below(4) {
        0 => plan["expires_at"] = after(hours(6 * 24)),
        1 => plan["expires_at"] = after(hours(60 * 24)),
        2 => (plan["created_at"], plan["expires_at"]) = (after(hours(24)), after(hours(25))),
        _ => (plan["created_at"], plan["expires_at"]) = (after(-hours(1)), after(SignedDuration::from_mins(14))),
    }
}

fn edit_place(rng: &mut SeededRng, plan: &mut Value, place: usize) {
    let targets = plan["targets"].as_array().cloned().unwrap_or_default();
    let other = rng.pick(&targets).clone();
    match rng.below(4) {
        0 => plan["actions"][place]["cluster"] = other["cluster"].clone(),
        1 => plan["targets"][0]["identity"] = other["identity"].clone(),
        2 => plan["targets"][0]["class"] = "dev".into(),
        _ => plan["targets"] = json!([]),
    }
}
