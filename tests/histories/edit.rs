//! Plan files that were edited: one field, or the fields that belong together, with the id computed again.
//!
//! Invariants: an edit knows the clusters as well as anybody who can read them; the mark is the editor's own, the old one,
//! or none.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use trueup_core::engine::{Plan, canonical_digest};

use super::configuration::mark_key;
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

/// Edits a plan file. Nothing where the edit does not apply to this plan.
pub fn edit(world: &mut World, made: &Made, kind: Kind, marked: Marked) -> Option<PlanFile> {
    let before = serde_json::to_value(&made.plan).expect("a plan is JSON");
    let mut plan = before.clone();
    let actions = plan["actions"].as_array().map_or(0, Vec::len);
    let place = world.rng.below(actions);
    match kind {
        Kind::EditTier => for_all(&mut plan, |action| action["tier"] = json!(1)),
        Kind::EditGates => for_all(&mut plan, |action| {
            (action["blocked_by"], action["selected"]) = (json!([]), json!(true));
        }),
        Kind::EditTarget => edit_target(world, &mut plan["actions"][place]),
        Kind::EditChange => edit_change(&mut world.rng, &mut plan["actions"][place]),
        Kind::EditOrigin => edit_origin(&mut world.rng, &mut plan, place),
        Kind::EditBinding => edit_binding(world, &mut plan["actions"][place]),
        Kind::EditEvidence => edit_evidence(&mut plan),
        Kind::EditTimes => edit_times(&mut world.rng, &mut plan, made.plan.created_at),
        Kind::EditPlace => edit_place(&mut world.rng, &mut plan, place),
        _ => edit_any(&mut world.rng, &mut plan),
    }
    if plan == before {
        return None;
    }
    world.fire(kind);
    world.tell("editor", || format!("{}, {marked:?}", kind.as_str()));
    Some(PlanFile { text: signed(plan, marked), is_edited: true })
}

/// The file with the id of its content, and a mark.
fn signed(mut plan: Value, marked: Marked) -> String {
    let keys = plan.as_object_mut().expect("a plan is an object");
    let (_, before) = (keys.remove("id"), keys.remove("mark"));
    // A number that has no canonical form has no id either: such a file is not read.
    let id = canonical_digest(&Value::Object(keys.clone())).unwrap_or_default();
    keys.insert("id".to_owned(), id.into());
    if let (Marked::Before, Some(mark)) = (marked, before) {
        keys.insert("mark".to_owned(), mark);
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
    action["preconditions"]["resource_version"] = metadata["resourceVersion"].clone();
}

fn edit_change(rng: &mut SeededRng, action: &mut Value) {
    let copy = |namespace: &str, name: &str| {
        let source = json!({ "apiVersion": "v1", "kind": "Secret", "namespace": namespace, "name": name });
        json!({ "copy": { "source": source, "keys": { "value": "value" } } })
    };
    let (verb, change) = match rng.below(6) {
        0 => ("delete", json!({})),
        1 => ("label", json!({ "set": { MARK: "no" }, "remove": [] })),
        2 => ("label", json!({ "set": { "owner": "other" }, "remove": [] })),
        3 => ("annotate", json!({ "set": { "made-by": "other" }, "remove": [] })),
        4 => ("update", copy(CONFIG, "s-0")),
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
        (1, _) => action["preconditions"]["resource_version"] = "1".into(),
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

/// Any value of the file becomes another.
fn edit_any(rng: &mut SeededRng, plan: &mut Value) {
    let mut leaves = Vec::new();
    collect(plan, &mut String::new(), &mut leaves);
    let (one, other) = (rng.pick(&leaves).clone(), rng.pick(&leaves).clone());
    let value = plan.pointer(&other).cloned().unwrap_or_default();
    let Some(leaf) = plan.pointer_mut(&one) else { return };
    *leaf = match (rng.below(3), &*leaf) {
        (0, Value::Bool(was)) => json!(!was),
        (0, Value::Number(_)) => json!(1),
        (0, Value::Array(_)) => json!([]),
        (0, Value::Object(_)) => json!({}),
        (0, _) => json!(""),
        (1, _) => Value::Null,
        _ => value,
    };
}

/// The pointers to every value below this one.
fn collect(value: &Value, path: &mut String, leaves: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let length = path.len();
        path.push('/');
        path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        leaves.push(path.clone());
        collect(value, path, leaves);
        path.truncate(length);
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(place, item)| below(&place.to_string(), item)),
        Value::Object(keys) => keys.iter().for_each(|(name, item)| below(name, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
