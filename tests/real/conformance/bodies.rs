//! Objects and patches of the three kinds: the same operation in the words of each.
//!
//! Always true: the same change means the same in an update, a merge patch and a JSON patch.
//!
//! Not here: versions and uids, which depend on the server (`requests`).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::ops::{Change, Fields, Finalizers, Kind, Label, Name, Selector, Text, Wrong};

impl Name {
    pub fn as_str(self) -> &'static str {
        match self {
            Name::A => "a",
            Name::B => "b",
            Name::C => "c",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Name::A, Name::B, Name::C].into_iter().find(|name| name.as_str() == text)
    }
}

impl Text {
    pub fn as_str(self) -> &'static str {
        match self {
            Text::X => "x",
            Text::Y => "y",
        }
    }
}

impl Label {
    fn as_str(self) -> &'static str {
        match self {
            Label::Red => "red",
            Label::Blue => "blue",
        }
    }
}

/// The kind and the name, and nothing else.
pub fn bare(kind: Kind, name: Name) -> Value {
    named(kind, name.as_str())
}

pub fn create(kind: Kind, name: Name, label: Option<Label>, finalizers: Finalizers, fields: Fields) -> Value {
    let mut object = bare(kind, name);
    // Secrets are created from plain text, as people do; all later writes use the encoded form.
    let (section, values) = match kind {
        Kind::Secret => ("stringData", plain(fields)),
        Kind::ConfigMap | Kind::Widget => (payload(kind), encoded(kind, fields)),
    };
    set_section(&mut object, section, values);
    if let Some(label) = label {
        object["metadata"]["labels"] = json!({"app": label.as_str()});
    }
    if finalizers != Finalizers::None {
        object["metadata"]["finalizers"] = finalizer_names(finalizers);
    }
    object
}

pub fn apply(kind: Kind, name: Name, fields: Fields, label: Option<Label>, finalizers: Option<Finalizers>) -> Value {
    let mut object = bare(kind, name);
    if let Some(finalizers) = finalizers {
        object["metadata"]["finalizers"] = finalizer_names(finalizers);
    }
    set_section(&mut object, payload(kind), encoded(kind, fields));
    if let Some(label) = label {
        object["metadata"]["labels"] = json!({"app": label.as_str()});
    }
    object
}

/// An object that no server takes. `version` is any resourceVersion.
pub fn wrong(kind: Kind, wrong: Wrong, version: &str) -> Value {
    let mut object = bare(kind, Name::A);
    match wrong {
        Wrong::Name => object["metadata"]["name"] = json!("Not_A_Name"),
        Wrong::NoName => object["metadata"] = json!({}),
        Wrong::Namespace => object["metadata"]["namespace"] = json!("elsewhere"),
        Wrong::Kind => object["kind"] = json!("Gadget"),
        Wrong::LabelValue => object["metadata"]["labels"] = json!({"app": "not a value"}),
        Wrong::HasVersion => object["metadata"]["resourceVersion"] = json!(version),
    }
    object
}

/// An object that `selector` selects.
pub fn marker(kind: Kind, name: &str, selector: Option<Selector>) -> Value {
    let mut object = named(kind, name);
    match selector {
        None | Some(Selector::NotRed | Selector::NoApp) => {}
        Some(Selector::Red | Selector::AnyApp | Selector::InRedOrBlue) => {
            object["metadata"]["labels"] = json!({"app": "red"});
        }
    }
    object
}

/// Makes a change the way an update does: in the whole object.
pub fn change_object(kind: Kind, object: &mut Value, change: Change, wrong_uid: &str) {
    let section = payload(kind);
    match change {
        Change::Nothing => {}
        Change::SetK1(text) => object[section]["k1"] = value(kind, text),
        Change::SetK2(text) => object[section]["k2"] = value(kind, text),
        Change::DropK1 => drop(object[section].as_object_mut().map(|fields| fields.remove("k1"))),
        Change::SetLabel(label) => object["metadata"]["labels"] = json!({"app": label.as_str()}),
        Change::DropLabels => drop(object["metadata"].as_object_mut().map(|fields| fields.remove("labels"))),
        Change::SetFinalizers(finalizers) => object["metadata"]["finalizers"] = finalizer_names(finalizers),
        Change::ClaimUid => object["metadata"]["uid"] = json!(wrong_uid),
        Change::SetStatus(text) => object["status"] = json!({"phase": text.as_str()}),
    }
}

pub fn merge_patch(kind: Kind, change: Change, wrong_uid: &str) -> Value {
    let section = payload(kind);
    match change {
        Change::Nothing => json!({}),
        Change::SetK1(text) => json!({section: {"k1": value(kind, text)}}),
        Change::SetK2(text) => json!({section: {"k2": value(kind, text)}}),
        Change::DropK1 => json!({section: {"k1": null}}),
        Change::SetLabel(label) => json!({"metadata": {"labels": {"app": label.as_str()}}}),
        Change::DropLabels => json!({"metadata": {"labels": null}}),
        Change::SetFinalizers(finalizers) => {
            json!({"metadata": {"finalizers": finalizer_names(finalizers)}})
        }
        Change::ClaimUid => json!({"metadata": {"uid": wrong_uid}}),
        Change::SetStatus(text) => json!({"status": {"phase": text.as_str()}}),
    }
}

pub fn json_patch(kind: Kind, change: Change, wrong_uid: &str) -> Option<Value> {
    let section = payload(kind);
    let add = |path: String, value: Value| Some(json!({"op": "add", "path": path, "value": value}));
    let remove = |path: String| Some(json!({"op": "remove", "path": path}));
    match change {
        Change::Nothing => None,
        Change::SetK1(text) => add(format!("/{section}/k1"), value(kind, text)),
        Change::SetK2(text) => add(format!("/{section}/k2"), value(kind, text)),
        Change::DropK1 => remove(format!("/{section}/k1")),
        Change::SetLabel(label) => add("/metadata/labels".to_owned(), json!({"app": label.as_str()})),
        Change::DropLabels => remove("/metadata/labels".to_owned()),
        Change::SetFinalizers(finalizers) => add("/metadata/finalizers".to_owned(), finalizer_names(finalizers)),
        Change::ClaimUid => add("/metadata/uid".to_owned(), json!(wrong_uid)),
        Change::SetStatus(text) => add("/status".to_owned(), json!({"phase": text.as_str()})),
    }
}

fn named(kind: Kind, name: &str) -> Value {
    let (version, kind) = match kind {
        Kind::ConfigMap => ("v1", "ConfigMap"),
        Kind::Secret => ("v1", "Secret"),
        Kind::Widget => ("conformance.trueup.dev/v1", "Widget"),
    };
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}})
}

/// Where the fields of a kind are.
fn payload(kind: Kind) -> &'static str {
    match kind {
        Kind::ConfigMap | Kind::Secret => "data",
        Kind::Widget => "spec",
    }
}

fn value(kind: Kind, text: Text) -> Value {
    match kind {
        Kind::ConfigMap | Kind::Widget => json!(text.as_str()),
        Kind::Secret => json!(BASE64_STANDARD.encode(text.as_str())),
    }
}

fn encoded(kind: Kind, fields: Fields) -> Map<String, Value> {
    given(fields).map(|(key, text)| (key.to_owned(), value(kind, text))).collect()
}

fn plain(fields: Fields) -> Map<String, Value> {
    given(fields).map(|(key, text)| (key.to_owned(), json!(text.as_str()))).collect()
}

fn given(fields: Fields) -> impl Iterator<Item = (&'static str, Text)> {
    let Fields { k1, k2 } = fields;
    [("k1", k1), ("k2", k2)].into_iter().filter_map(|(key, text)| Some((key, text?)))
}

fn set_section(object: &mut Value, section: &str, values: Map<String, Value>) {
    if !values.is_empty() {
        object[section] = Value::Object(values);
    }
}

fn finalizer_names(finalizers: Finalizers) -> Value {
    match finalizers {
        Finalizers::None => json!([]),
        Finalizers::One => json!(["trueup.dev/one"]),
        Finalizers::Two => json!(["trueup.dev/one", "trueup.dev/two"]),
        Finalizers::Collector => json!(["foregroundDeletion", "trueup.dev/one"]),
    }
}
