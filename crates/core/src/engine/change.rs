//! What an action writes, one variant per verb.
//!
//! | verb | `change` in the plan file |
//! | --- | --- |
//! | `delete` | `{}` |
//! | `label`, `annotate` | `set`: a map; `remove`: a sorted list |
//! | `create` | `copy`, `labels`, `type`, `owner`; or `backup`, `owners` |
//! | `update` | `copy`, `labels`; or `backup`, `keys`, `labels` |
//! | `apply` | `data` (what is not secret) and `copy`, at least one of them, `labels`; or `backup`, `keys`, `labels` |
//! | `patch` | `patch`, `export` |
//! | `tag`, `untag`, `re-own` | `set` and `remove`: sorted lists; `remember` |
//!
//! Invariants: neither a secret nor its digest is in a change. A copy names its source by object and key and is bound by the
//! action's `preconditions.source`; the executor reads the bytes. A change that does not fit its verb does not exist:
//! [`Change::read`] is the only way from JSON, and unknown keys are errors.
//! Elsewhere: what a copy and a patch look like in JSON (`action`).

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::action::Verb;
use super::reference::ObjectRef;

/// The write of one action.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Delete,
    Label(MetadataChange),
    Annotate(MetadataChange),
    /// A new object whose content is copied from another one.
    Create(CreateChange),
    Update(UpdateChange),
    /// Fields that become ours (server-side apply).
    Apply(ApplyChange),
    /// A deleted object, from its backup.
    CreateFromBackup(ObjectBackup),
    /// Earlier content, from its backup.
    UpdateFromBackup(ContentBackup),
    ApplyFromBackup(ContentBackup),
    Patch(FieldChange),
    Tag(TagChange),
    Untag(TagChange),
    ReOwn(TagChange),
}

/// Why JSON is not a change of its verb.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("change does not fit verb {}: {source}", .verb.as_str())]
    Shape { verb: Verb, source: serde_json::Error },
    #[error("change of verb {} {why}", .verb.as_str())]
    Content { verb: Verb, why: String },
}

/// Labels of an object after a write. A label without a value is removed.
pub type Labels = BTreeMap<String, Option<String>>;

/// A change of labels or annotations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetadataChange {
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    #[serde(default)]
    pub remove: Vec<String>,
}

/// A new object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateChange {
    pub copy: Copying,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: Labels,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerReference>,
}

/// New content of an existing object. Other labels, keys, owners and the type stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateChange {
    pub copy: Copying,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: Labels,
}

/// Content that is applied to an object, existing or new.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<Copying>,
    /// The exact new content of keys that are not secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: Labels,
}

/// A sealed object, and the owners that are restored with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectBackup {
    /// The name of the sealed file.
    pub backup: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<ObjectRef>,
}

/// Keys of a sealed object that are written back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentBackup {
    /// The name of the sealed file.
    pub backup: String,
    #[serde(default)]
    pub keys: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: Labels,
}

/// Which keys are taken from which object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copying {
    pub source: CopySource,
    /// The key of the target, and the key of the source it is taken from.
    pub keys: BTreeMap<String, String>,
    /// Keys of the target that contradict the copied ones.
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

/// A change of fields that are not secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// The JSON merge patch that is sent.
    pub patch: Map<String, Value>,
    /// Kinds whose objects are all sealed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub export: Vec<ExportedKind>,
}

/// A kind whose objects are all sealed before a change that removes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedKind {
    pub api_version: String,
    pub kind: String,
}

/// Fields that have verbs of their own, or that only the server writes. Of the metadata, owner references alone are
/// patched.
const NOT_PATCHED: [&str; 6] = ["apiVersion", "kind", "status", "data", "stringData", "binaryData"];
pub(super) const METADATA: &str = "metadata";
pub(super) const OWNER_REFERENCES: &str = "ownerReferences";

/// A change of a cloud resource's tags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagChange {
    #[serde(default)]
    pub set: Vec<String>,
    #[serde(default)]
    pub remove: Vec<String>,
    /// Where these tags are remembered as attached by us; absent for tags that say whose a resource is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<Remember>,
}

/// The object whose annotation remembers the tags that were attached, resource by resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// As the plan names it.
    pub cluster: String,
    pub object: ObjectRef,
    pub annotation: String,
    /// What the annotation holds afterwards for the resource of this action.
    pub tags: BTreeMap<String, Vec<String>>,
    /// What the other resources keep where the annotation still has its older form, one list for all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub converted: BTreeMap<String, Vec<String>>,
}

/// The content a change writes, whatever its verb.
#[derive(Debug, Clone, Copy)]
pub struct WrittenContent<'c> {
    pub copy: Option<&'c Copying>,
    /// Keys that are not secret; nothing where the verb has none.
    pub data: Option<&'c BTreeMap<String, String>>,
    pub labels: &'c Labels,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

impl Change {
    /// Reads the change of a verb.
    ///
    /// # Errors
    /// It has the shape of another verb, an unknown key, or nothing to write.
    pub fn read(verb: Verb, change: Value) -> Result<Self, ChangeError> {
        let is_backup = change.get("backup").is_some();
        let read = match verb {
            Verb::Delete => shape::<Empty>(verb, change).map(|Empty {}| Self::Delete),
            Verb::Label => shape(verb, change).map(Self::Label),
            Verb::Annotate => shape(verb, change).map(Self::Annotate),
            Verb::Create if is_backup => shape(verb, change).map(Self::CreateFromBackup),
            Verb::Create => shape(verb, change).map(Self::Create),
            Verb::Update if is_backup => shape(verb, change).map(Self::UpdateFromBackup),
            Verb::Update => shape(verb, change).map(Self::Update),
            Verb::Apply if is_backup => shape(verb, change).map(Self::ApplyFromBackup),
            Verb::Apply => shape(verb, change).map(Self::Apply),
            Verb::Patch => shape(verb, change).map(Self::Patch),
            Verb::Tag => shape(verb, change).map(Self::Tag),
            Verb::Untag => shape(verb, change).map(Self::Untag),
            Verb::ReOwn => shape(verb, change).map(Self::ReOwn),
        }?;
        match read.fault() {
            Some(why) => Err(ChangeError::Content { verb, why }),
            None => Ok(read),
        }
    }

    pub fn verb(&self) -> Verb {
        match self {
            Self::Delete => Verb::Delete,
            Self::Label(_) => Verb::Label,
            Self::Annotate(_) => Verb::Annotate,
            Self::Create(_) | Self::CreateFromBackup(_) => Verb::Create,
            Self::Update(_) | Self::UpdateFromBackup(_) => Verb::Update,
            Self::Apply(_) | Self::ApplyFromBackup(_) => Verb::Apply,
            Self::Patch(_) => Verb::Patch,
            Self::Tag(_) => Verb::Tag,
            Self::Untag(_) => Verb::Untag,
            Self::ReOwn(_) => Verb::ReOwn,
        }
    }

    /// Returns the change without the lists of the tags it remembers, which earlier actions of the same plan move.
    pub(super) fn without_memory_lists(&self) -> Self {
        let mut change = self.clone();
        match &mut change {
            Self::Tag(TagChange { remember: Some(remember), .. })
            | Self::Untag(TagChange { remember: Some(remember), .. })
            | Self::ReOwn(TagChange { remember: Some(remember), .. }) => {
                remember.tags.values_mut().for_each(Vec::clear);
                remember.converted.clear();
            }
            Self::Tag(_)
            | Self::Untag(_)
            | Self::ReOwn(_)
            | Self::Delete
            | Self::Label(_)
            | Self::Annotate(_)
            | Self::Create(_)
            | Self::Update(_)
            | Self::Apply(_)
            | Self::CreateFromBackup(_)
            | Self::UpdateFromBackup(_)
            | Self::ApplyFromBackup(_)
            | Self::Patch(_) => {}
        }
        change
    }

    /// Returns the change as plan files hold it.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a change is made of texts and JSON values")
    }

    /// Returns the copied keys; nothing where nothing is copied.
    pub fn copying(&self) -> Option<&Copying> {
        self.content().and_then(|content| content.copy)
    }

    /// Returns the sealed file that is restored; nothing where none is.
    pub fn backup(&self) -> Option<&str> {
        match self {
            Self::CreateFromBackup(ObjectBackup { backup, .. }) => Some(backup),
            Self::UpdateFromBackup(ContentBackup { backup, .. })
            | Self::ApplyFromBackup(ContentBackup { backup, .. }) => Some(backup),
            Self::Delete
            | Self::Label(_)
            | Self::Annotate(_)
            | Self::Create(_)
            | Self::Update(_)
            | Self::Apply(_)
            | Self::Patch(_)
            | Self::Tag(_)
            | Self::Untag(_)
            | Self::ReOwn(_) => None,
        }
    }

    /// Returns the written content of a create, update or apply that does not come from a backup.
    pub fn content(&self) -> Option<WrittenContent<'_>> {
        match self {
            Self::Create(CreateChange { copy, labels, content_type: _, owner: _ })
            | Self::Update(UpdateChange { copy, labels }) => {
                Some(WrittenContent { copy: Some(copy), data: None, labels })
            }
            Self::Apply(ApplyChange { copy, data, labels }) => {
                Some(WrittenContent { copy: copy.as_ref(), data: Some(data), labels })
            }
            Self::Delete
            | Self::Label(_)
            | Self::Annotate(_)
            | Self::CreateFromBackup(_)
            | Self::UpdateFromBackup(_)
            | Self::ApplyFromBackup(_)
            | Self::Patch(_)
            | Self::Tag(_)
            | Self::Untag(_)
            | Self::ReOwn(_) => None,
        }
    }

    /// Whether it is a write to a cloud resource. A delete can be of either.
    pub(super) fn fits(&self, is_cloud: bool) -> bool {
        match self {
            Self::Delete => true,
            Self::Tag(_) | Self::Untag(_) | Self::ReOwn(_) => is_cloud,
            Self::Label(_)
            | Self::Annotate(_)
            | Self::Create(_)
            | Self::Update(_)
            | Self::Apply(_)
            | Self::CreateFromBackup(_)
            | Self::UpdateFromBackup(_)
            | Self::ApplyFromBackup(_)
            | Self::Patch(_) => !is_cloud,
        }
    }

    /// Returns why the change cannot be sent although its shape is right.
    fn fault(&self) -> Option<String> {
        let nothing = |is_empty: bool| is_empty.then(|| "writes nothing".to_owned());
        match self {
            Self::Delete | Self::CreateFromBackup(_) => None,
            Self::Label(MetadataChange { set, remove }) | Self::Annotate(MetadataChange { set, remove }) => {
                nothing(set.is_empty() && remove.is_empty())
            }
            Self::Create(CreateChange { copy, .. }) | Self::Update(UpdateChange { copy, .. }) => {
                nothing(copy.keys.is_empty())
            }
            Self::Apply(ApplyChange { copy, data, labels: _ }) => {
                nothing(data.is_empty() && copy.as_ref().is_none_or(|copy| copy.keys.is_empty()))
            }
            Self::UpdateFromBackup(ContentBackup { keys, labels, .. })
            | Self::ApplyFromBackup(ContentBackup { keys, labels, .. }) => {
                nothing(keys.is_empty() && labels.is_empty())
            }
            Self::Patch(FieldChange { patch, export: _ }) => {
                let refused = patch.iter().find(|(name, value)| !is_patched(name, value));
                let refused = refused.map(|(name, _)| format!("names {name}, which is not patched"));
                refused.or_else(|| nothing(patch.is_empty()))
            }
            Self::Tag(TagChange { set, remove, remember: _ })
            | Self::Untag(TagChange { set, remove, remember: _ })
            | Self::ReOwn(TagChange { set, remove, remember: _ }) => nothing(set.is_empty() && remove.is_empty()),
        }
    }
}

/// Whether a patch may name this field with this value.
fn is_patched(name: &str, value: &Value) -> bool {
    if name != METADATA {
        return !NOT_PATCHED.contains(&name);
    }
    let Value::Object(metadata) = value else { return false };
    let is_owners =
        |(name, value): (&String, &Value)| name == OWNER_REFERENCES && (value.is_array() || value.is_null());
    !metadata.is_empty() && metadata.iter().all(is_owners)
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Delete => serializer.serialize_map(Some(0))?.end(),
            Self::Label(change) | Self::Annotate(change) => change.serialize(serializer),
            Self::Create(change) => change.serialize(serializer),
            Self::Update(change) => change.serialize(serializer),
            Self::Apply(change) => change.serialize(serializer),
            Self::CreateFromBackup(change) => change.serialize(serializer),
            Self::UpdateFromBackup(change) | Self::ApplyFromBackup(change) => change.serialize(serializer),
            Self::Patch(change) => change.serialize(serializer),
            Self::Tag(change) | Self::Untag(change) | Self::ReOwn(change) => change.serialize(serializer),
        }
    }
}

fn shape<T: DeserializeOwned>(verb: Verb, change: Value) -> Result<T, ChangeError> {
    serde_json::from_value(change).map_err(|source| ChangeError::Shape { verb, source })
}

impl MetadataChange {
    /// Sets these and removes none.
    pub fn setting<'t>(pairs: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let set = pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Self { set, remove: Vec::new() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_change_that_fits_its_verb_is_read() {
        let source = json!({ "apiVersion": "v1", "kind": "Secret", "namespace": "n", "name": "s" });
        let copy = json!({ "copy": { "source": source, "keys": { "a": "b" } } });
        let half = json!({ "copy": { "source": { "kind": "Secret" }, "keys": {} } });
        let cases = [
            ("a delete", Verb::Delete, json!({}), true),
            ("a delete with a backup", Verb::Delete, json!({ "backup": "f.age" }), false),
            ("a label", Verb::Label, json!({ "set": { "a": "b" } }), true),
            ("a label without a value", Verb::Label, json!({ "set": ["a"] }), false),
            ("no label", Verb::Label, json!({}), false),
            ("a label from a backup", Verb::Label, json!({ "set": { "a": "b" }, "backup": "f.age" }), false),
            ("an annotation", Verb::Annotate, json!({ "set": {}, "remove": ["a"] }), true),
            ("a copy over an object", Verb::Update, copy.clone(), true),
            ("a copy to a new object", Verb::Create, copy.clone(), true),
            ("an update of labels alone", Verb::Update, json!({ "labels": { "a": "b" } }), false),
            ("a source without a name", Verb::Update, half, false),
            ("a copy and a backup", Verb::Update, json!({ "copy": copy["copy"], "backup": "f.age" }), false),
            ("an object backup", Verb::Create, json!({ "backup": "f.age", "owners": [] }), true),
            ("a content backup", Verb::Update, json!({ "backup": "f.age", "keys": ["a"] }), true),
            ("an applied text", Verb::Apply, json!({ "data": { "a": "b" } }), true),
            ("an applied copy", Verb::Apply, copy.clone(), true),
            ("nothing to apply", Verb::Apply, json!({}), false),
            ("a patch", Verb::Patch, json!({ "patch": { "spec": { "type": "OIDC" } } }), true),
            ("an empty patch", Verb::Patch, json!({ "patch": {} }), false),
            ("a patch of a secret", Verb::Patch, json!({ "patch": { "data": { "a": "b" } } }), false),
            ("a patch of metadata", Verb::Patch, json!({ "patch": { "metadata": {} } }), false),
            ("a patch of labels", Verb::Patch, json!({ "patch": { "metadata": { "labels": { "a": "b" } } } }), false),
            ("a patch of owners", Verb::Patch, json!({ "patch": { "metadata": { "ownerReferences": [] } } }), true),
            (
                "a patch of owners and a finalizer",
                Verb::Patch,
                json!({ "patch": { "metadata": { "ownerReferences": [], "finalizers": [] } } }),
                false,
            ),
            ("a patch with an unknown key", Verb::Patch, json!({ "patch": { "spec": {} }, "force": true }), false),
            ("a tag that is a copy", Verb::Tag, copy, false),
            ("a tag", Verb::Tag, json!({ "set": ["a"], "remove": [] }), true),
        ];
        for (case, verb, change, expected) in cases {
            let read = Change::read(verb, change);
            assert_eq!(read.is_ok(), expected, "case: {case}: {read:?}");
            assert!(read.is_err() || read.is_ok_and(|read| read.verb() == verb), "case: {case}");
        }
    }

    #[test]
    fn a_change_reads_back_as_it_was_written() {
        let text = json!({
            "copy": { "source": { "cluster": "mgmt", "apiVersion": "v1", "kind": "Secret", "namespace": "n", "name": "s" }, "keys": { "value": "kubeconfig" } },
            "labels": { "a": "b", "off": null }, "type": "cluster.x-k8s.io/secret",
            "owner": { "apiVersion": "x/v1", "kind": "Cluster", "name": "demo", "uid": "u", "controller": true },
        });
        let change = Change::read(Verb::Create, text.clone()).unwrap();
        assert_eq!(change.to_json(), text);
        assert_eq!(change.copying().unwrap().source.object().api_version, "v1");
        assert_eq!(Change::Delete.to_json(), json!({}));
    }
}
