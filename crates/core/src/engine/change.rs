//! What `change` of an action says, for those who write it and for the one who carries it out.
//!
//! | verb | `change` |
//! | --- | --- |
//! | `label`, `annotate` | `set`: a map; `remove`: a sorted list |
//! | `update` | `copy`, `labels` |
//! | `create` | `copy`, `labels`, `type`, `owner` |
//! | `apply` | `data` (what is not secret) and `copy`, at least one of them; `labels` |
//! | `update`, `apply` of an undo | `backup`, `keys`, `labels` |
//! | `create` of an undo | `backup`, `owners` |
//! | `patch` | `patch`, `export` |
//!
//! What a copy and a patch look like in JSON is in `action`.
//!
//! Always true: neither a secret nor its digest is in a change. What is copied is named by object and key, and bound by
//! the action's `preconditions.source`; its bytes are read when the action is carried out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::action::Verb;
use super::plan::Action;
use super::reference::ObjectRef;

/// A change of content. Other labels, keys, owners and the type of an object that is there stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<Copying>,
    /// The exact new content of keys that are not secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
    /// A label without a value is taken off.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Option<String>>,
    /// Only of what is created: a type can't be changed.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerReference>,
    /// The sealed file whose `keys` are put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

/// Which keys are taken from which object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copying {
    pub source: CopySource,
    /// The key of the target, and the key of the source it is taken from.
    pub keys: BTreeMap<String, String>,
    /// Keys of the target that would disagree with what is copied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
}

/// The object that is copied from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CopySource {
    /// As the plan names it; absent when it is the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    #[serde(default = "core", skip_serializing_if = "is_core")]
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

/// An owner as an object names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnerReference {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// A change of labels or annotations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkChange {
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    #[serde(default)]
    pub remove: Vec<String>,
}

/// A change of fields that are no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// The JSON merge patch that is sent.
    pub patch: serde_json::Map<String, serde_json::Value>,
    /// Kinds of which every object is sealed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub export: Vec<ExportedKind>,
}

/// A kind of which every object is sealed before a change that takes them away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedKind {
    pub api_version: String,
    pub kind: String,
}

/// Fields that have verbs of their own, or that nobody but the server writes.
const NOT_PATCHED: [&str; 7] = ["apiVersion", "kind", "metadata", "status", "data", "stringData", "binaryData"];

/// A change of a cloud resource's tags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagChange {
    #[serde(default)]
    pub set: Vec<String>,
    #[serde(default)]
    pub remove: Vec<String>,
}

impl Action {
    /// What changes of the fields.
    ///
    /// # Errors
    /// The change has another shape, or names a field that is not patched.
    pub fn field_change(&self) -> Result<FieldChange, serde_json::Error> {
        let change = FieldChange::deserialize(&self.change)?;
        match change.patch.keys().find(|name| NOT_PATCHED.contains(&name.as_str())) {
            Some(name) => Err(serde::de::Error::custom(format!("{name} is not patched"))),
            None if change.patch.is_empty() => Err(serde::de::Error::custom("nothing is patched")),
            None => Ok(change),
        }
    }

    /// What changes of the content.
    ///
    /// # Errors
    /// The change has another shape.
    pub fn content_change(&self) -> Result<ContentChange, serde_json::Error> {
        ContentChange::deserialize(&self.change)
    }

    /// What changes of labels or annotations.
    ///
    /// # Errors
    /// The change has another shape.
    pub fn mark_change(&self) -> Result<MarkChange, serde_json::Error> {
        MarkChange::deserialize(&self.change)
    }

    /// What changes of a cloud resource's tags.
    ///
    /// # Errors
    /// The change has another shape.
    pub fn tag_change(&self) -> Result<TagChange, serde_json::Error> {
        TagChange::deserialize(&self.change)
    }

    /// Whether the change says all that is needed to carry the action out.
    pub fn can_be_carried_out(&self) -> bool {
        if self.target.cloud.is_some() {
            let says_tags = || self.tag_change().is_ok_and(|change| change != TagChange::default());
            return match self.verb {
                Verb::Delete => true,
                Verb::Tag | Verb::Untag | Verb::ReOwn => says_tags(),
                Verb::Create | Verb::Apply | Verb::Update | Verb::Label | Verb::Annotate | Verb::Patch => false,
            };
        }
        let content = self.content_change().unwrap_or_default();
        let has_source = content.copy.is_some() || content.backup.is_some();
        match self.verb {
            Verb::Delete => true,
            Verb::Label | Verb::Annotate => self.mark_change().is_ok(),
            Verb::Create | Verb::Update => has_source,
            Verb::Apply => has_source || !content.data.is_empty(),
            Verb::Patch => self.field_change().is_ok(),
            Verb::Tag | Verb::Untag | Verb::ReOwn => false,
        }
    }
}

impl CopySource {
    /// The object, in its own cluster.
    pub fn object(&self) -> ObjectRef {
        let Self { cluster: _, api_version, kind, namespace, name } = self;
        ObjectRef {
            api_version: api_version.clone(),
            kind: kind.clone(),
            namespace: Some(namespace.clone()),
            name: name.clone(),
            uid: None,
            cloud: None,
        }
    }
}

impl OwnerReference {
    /// The owner, which lives in the namespace of what it owns.
    pub fn object(&self, namespace: Option<&str>) -> ObjectRef {
        let Self { api_version, kind, name, uid, controller: _, block_owner_deletion: _ } = self;
        ObjectRef {
            api_version: api_version.clone(),
            kind: kind.clone(),
            namespace: namespace.map(ToOwned::to_owned),
            name: name.clone(),
            uid: Some(uid.clone()),
            cloud: None,
        }
    }
}

fn core() -> String {
    "v1".to_owned()
}

fn is_core(api_version: &str) -> bool {
    api_version == "v1"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ActionDraft;
    use crate::engine::testing::{finding, given, label};
    use serde_json::{Value, json};

    fn action(verb: Verb, change: Value) -> Action {
        let draft = ActionDraft { verb, change, ..label("guest-a", "x") };
        given().finding(finding("x").draft(draft)).plan().actions.remove(0)
    }

    #[test]
    fn only_a_change_that_says_everything_can_be_carried_out() {
        let copy =
            json!({ "copy": { "source": { "kind": "Secret", "namespace": "n", "name": "s" }, "keys": { "a": "b" } } });
        let half = json!({ "copy": { "source": { "kind": "Secret" }, "keys": {} } });
        let cases = [
            ("a delete", Verb::Delete, json!({}), true),
            ("a label", Verb::Label, json!({ "set": { "a": "b" } }), true),
            ("a label that is none", Verb::Label, json!({ "set": ["a"] }), false),
            ("an annotation", Verb::Annotate, json!({ "set": {}, "remove": ["a"] }), true),
            ("a copy over", Verb::Update, copy.clone(), true),
            ("a copy anew", Verb::Create, copy.clone(), true),
            ("an update of nothing", Verb::Update, json!({ "labels": { "a": "b" } }), false),
            ("a source without a name", Verb::Update, half, false),
            ("a backup", Verb::Create, json!({ "backup": "f.age", "owners": [] }), true),
            ("an applied text", Verb::Apply, json!({ "data": { "a": "b" } }), true),
            ("an applied copy", Verb::Apply, copy.clone(), true),
            ("an applied nothing", Verb::Apply, json!({}), false),
            ("a patch", Verb::Patch, json!({ "patch": { "spec": { "type": "OIDC" } } }), true),
            ("a patch of nothing", Verb::Patch, json!({ "patch": {} }), false),
            ("a patch of a secret", Verb::Patch, json!({ "patch": { "data": { "a": "b" } } }), false),
            ("a patch of what the server writes", Verb::Patch, json!({ "patch": { "metadata": {} } }), false),
            ("a patch and more", Verb::Patch, json!({ "patch": { "spec": {} }, "force": true }), false),
            ("a tag", Verb::Tag, copy, false),
        ];
        for (case, verb, change, expected) in cases {
            assert_eq!(action(verb, change).can_be_carried_out(), expected, "case: {case}");
        }
    }

    #[test]
    fn a_change_reads_back_as_it_was_written() {
        let text = json!({
            "copy": { "source": { "cluster": "mgmt", "kind": "Secret", "namespace": "n", "name": "s" }, "keys": { "value": "kubeconfig" } },
            "labels": { "a": "b", "off": null }, "type": "cluster.x-k8s.io/secret",
            "owner": { "apiVersion": "x/v1", "kind": "Cluster", "name": "demo", "uid": "u", "controller": true },
        });
        let change: ContentChange = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(&change).unwrap(), text);
        assert_eq!(change.copy.unwrap().source.object().api_version, "v1");
    }
}
