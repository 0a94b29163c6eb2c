use serde_json::{Value, json};

use super::*;
use crate::decode::{DataSort, Digester, Reader};
use crate::world::{AnyCollection, Collection, Delta, Fact, FactKind, Interner, Misfit, RawObject, ResourceVersion};

/// A fact that tracks a list, a text, and an entry of data.
#[derive(Debug, PartialEq)]
struct Watched(String);

impl Fact for Watched {
    const TRACKED: &'static [TrackedField] = &[
        TrackedField { name: "providers", path: &["spec", "auth", "providers"] },
        TrackedField { name: "type", path: &["spec", "auth", "type"] },
    ];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self(raw.meta.resource_version.to_string()))
    }
}

const AUTH: &str = r#"{"f:spec":{"f:auth":{"f:providers":{},"f:type":{}}}}"#;

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A field manager that owns both fields, and wrote at this second.
fn writer(manager: &str, second: i64) -> Value {
    let fields: Value = serde_json::from_str(AUTH).unwrap();
    json!({ "manager": manager, "operation": "Update", "time": time(second).to_string(), "fieldsV1": fields })
}

fn object(name: &str, version: u32, auth: Value, managed: Value) -> Value {
    json!({
        "metadata": { "name": name, "namespace": "n", "resourceVersion": version.to_string(), "managedFields": managed },
        "spec": { "auth": auth },
    })
}

fn batch(objects: &[Value]) -> Box<dyn crate::world::FactBatch> {
    let digester = Digester::new(&[0; 32]);
    let reader = Reader {
        digester: &digester,
        sort: DataSort::Other,
        digested: &[],
        reduced: &[],
        api_version: "v1",
        kind: "Toy",
    };
    let mut batch = FactKind::of::<Watched>().new_batch();
    for object in objects {
        let text = object.to_string();
        batch.push(&reader.object(&text).unwrap(), &mut Interner::default()).unwrap();
    }
    batch
}

fn listed(objects: &[Value], version: u64) -> Delta {
    Delta::Listed { facts: batch(objects), version: ResourceVersion::Number(version), at: time(1), gap: None }
}

fn changed(objects: &[Value], removed: &[&str], version: u64) -> Delta {
    let removed = removed.iter().map(|name| Key::new(Some("n"), name)).collect();
    Delta::Changed { facts: batch(objects), removed, version: ResourceVersion::Number(version), at: time(2) }
}

/// The edits that these reports bring, each in one line.
fn edits(deltas: Vec<Delta>) -> Vec<String> {
    let mut collection = Collection::<Watched>::default();
    let mut all = Vec::new();
    for delta in deltas {
        collection.apply(delta);
        all.extend(collection.take_edits());
    }
    let line = |edit: KeyedEdit| {
        let edit = edit.placed(&ClusterName::new("a"), "Toy", time(99));
        let by = edit.by.as_deref().unwrap_or("-");
        format!("{} {} at {} by {by}", edit.key.name, edit.describe("→"), edit.at.as_second())
    };
    all.into_iter().map(line).collect()
}

fn auth(providers: &[&str], kind: &str) -> Value {
    json!({ "providers": providers, "type": kind })
}

fn first() -> Value {
    object("x", 1, auth(&["a", "b", "c"], "OIDC"), json!([writer("cli", 10)]))
}

/// The first listing, and one change of its object.
fn edited(spec: Value, managers: Value) -> Vec<Delta> {
    vec![listed(&[first()], 1), changed(&[object("x", 2, spec, managers)], &[], 2)]
}

#[test]
fn an_edit_names_field_values_time_and_field_manager() {
    let status = json!({
        "manager": "operator", "subresource": "status", "time": time(30).to_string(), "fieldsV1": { "f:status": {} },
    });
    let cases: [(&str, Vec<Delta>, &[&str]); 10] = [
        ("the first listing", vec![listed(&[first()], 1)], &[]),
        (
            "fewer providers",
            edited(auth(&["a"], "OIDC"), json!([writer("cli", 20), status])),
            &["x providers 3 → 1 at 20 by cli"],
        ),
        (
            "seen by the next list",
            vec![
                listed(&[first()], 1),
                listed(&[object("x", 2, auth(&["a", "b", "c"], "None"), json!([writer("web", 20)]))], 2),
            ],
            &["x type OIDC → None at 20 by web"],
        ),
        (
            "as many, others",
            edited(auth(&["a", "b", "d"], "OIDC"), json!([writer("cli", 20)])),
            &["x providers edited at 20 by cli"],
        ),
        (
            "a field that is removed has no owner: the latest writer removed it",
            edited(
                json!({ "type": "OIDC" }),
                json!([{ "manager": "cli", "time": time(25).to_string(), "fieldsV1": {"f:spec":{"f:auth":{"f:type":{}}}} }]),
            ),
            &["x providers 3 → unset at 25 by cli"],
        ),
        (
            "no manager wrote at that time",
            edited(auth(&["a"], "OIDC"), json!([writer("cli", 10)])),
            &["x providers 3 → 1 at 99 by -"],
        ),
        ("no managedFields", edited(auth(&["a"], "OIDC"), Value::Null), &["x providers 3 → 1 at 99 by -"]),
        ("another field", edited(auth(&["a", "b", "c"], "OIDC"), json!([writer("cli", 20)])), &[]),
        (
            "created and deleted",
            vec![
                listed(&[first()], 1),
                changed(&[object("y", 2, auth(&[], ""), json!([writer("cli", 20)]))], &["x"], 2),
            ],
            &["y created at 20 by cli", "x deleted at 99 by -"],
        ),
        (
            "a list that was lost says nothing of what appears in the next",
            vec![
                listed(&[first()], 1),
                Delta::Lost { gap: crate::world::Gap::new(crate::world::GapCause::Silent, "silent") },
                listed(&[first(), object("y", 2, auth(&[], ""), json!([writer("cli", 20)]))], 2),
            ],
            &[],
        ),
    ];
    for (case, deltas, expected) in cases {
        assert_eq!(edits(deltas), expected, "case: {case}");
    }
}

#[test]
fn an_object_says_who_wrote_a_tracked_field_last() {
    let mut collection = Collection::<Watched>::default();
    let both = json!([writer("first", 10), writer("second", 40), writer("third", 20)]);
    collection.apply(listed(&[object("x", 1, json!({ "type": "OIDC" }), both)], 1));
    let found = collection.writer(&Key::new(Some("n"), "x"), "type").unwrap();
    assert_eq!((found.manager.as_ref(), found.at()), ("second", Some(time(40))));
    assert_eq!(collection.writer(&Key::new(Some("n"), "x"), "no such field"), None);
    assert_eq!(collection.writer(&Key::new(Some("n"), "y"), "type"), None);
}
