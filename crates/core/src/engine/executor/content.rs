//! What stands under the keys of a Secret or ConfigMap, and the words in which a change of it is sent.
//!
//! Invariants:
//! - bytes are wiped when they are dropped, those of a request as well;
//! - `Debug` tells lengths and never a byte;
//! - a change names only what it changes, so that everything else of the object stays.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

use super::ports::Seen;
use crate::engine::change::{METADATA, OWNER_REFERENCES};
use crate::engine::{ObjectRef, OwnerReference, has_fields};

/// The kind whose content is written in base64.
const SECRET: &str = "Secret";

/// Bytes that are wiped when they are dropped.
pub type Bytes = Zeroizing<Vec<u8>>;

/// Desired labels or annotations; one without a value is removed.
pub(super) type MetadataChanges = BTreeMap<String, Option<String>>;

/// The bytes under each key of an object's `data`.
pub(super) struct Content(BTreeMap<String, Bytes>);

impl Content {
    /// Reads the content of an object of this kind.
    ///
    /// # Errors
    /// One sentence without a word of it.
    pub fn of(kind: &str, json: &[u8]) -> Result<Self, String> {
        let unreadable = |_| "its content cannot be read".to_owned();
        let keys = if kind == SECRET {
            let object: Object<Decoded> = serde_json::from_slice(json).map_err(unreadable)?;
            object.data.unwrap_or_default().into_iter().map(|(key, value)| (key, value.0)).collect()
        } else {
            let object: Object<Plain> = serde_json::from_slice(json).map_err(unreadable)?;
            object.data.unwrap_or_default().into_iter().map(|(key, value)| (key, value.0)).collect()
        };
        Ok(Self(keys))
    }

    pub fn get(&self, key: &str) -> Option<&Bytes> {
        self.0.get(key)
    }
}

/// A change of parts of an object. What it does not name stays as it is.
#[derive(Default)]
pub struct Patch {
    pub(super) labels: MetadataChanges,
    pub(super) annotations: MetadataChanges,
    /// A key without bytes goes.
    pub(super) data: BTreeMap<String, Option<Bytes>>,
    /// Other fields, none of them secret, as a JSON merge patch.
    pub(super) fields: serde_json::Map<String, serde_json::Value>,
}

/// How an object that is written is addressed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Addressed<'a> {
    /// By its path: the body binds the object by uid and version.
    ByPath { uid: &'a str, resource_version: &'a str },
    /// In the body, with the uid and version it is bound to; none when it is not there yet.
    InBody { target: &'a ObjectRef, bound: Option<(&'a str, &'a str)> },
}

/// What a new object has besides its content.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NewObject<'a> {
    pub content_type: Option<&'a str>,
    pub owner: Option<&'a OwnerReference>,
}

impl Patch {
    /// Changes labels alone.
    pub fn labels(set: BTreeMap<String, String>, remove: Vec<String>) -> Self {
        Self { labels: marks(set, remove), ..Self::default() }
    }

    /// Changes annotations alone.
    pub fn annotations(set: BTreeMap<String, String>, remove: Vec<String>) -> Self {
        Self { annotations: marks(set, remove), ..Self::default() }
    }

    /// Changes fields that are no secret.
    pub fn fields(patch: serde_json::Map<String, serde_json::Value>) -> Self {
        Self { fields: patch, ..Self::default() }
    }

    /// The fields it changes, as the patch that is sent; nothing when it changes none.
    pub(super) fn field_patch(&self) -> Option<serde_json::Value> {
        (!self.fields.is_empty()).then(|| serde_json::Value::Object(self.fields.clone()))
    }

    /// Changes a cloud resource's tags, which are read as labels without values.
    pub(super) fn tags(set: Vec<String>, remove: Vec<String>) -> Self {
        Self::labels(set.into_iter().map(|tag| (tag, String::new())).collect(), remove)
    }

    /// The tags to set and the tags to remove.
    pub fn tag_names(&self) -> (Vec<String>, Vec<String>) {
        let names = |is_set: bool| {
            let wanted = self.labels.iter().filter(move |(_, value)| value.is_some() == is_set);
            wanted.map(|(name, _)| name.clone()).collect()
        };
        (names(true), names(false))
    }

    /// Whether an object is as the change wants it.
    pub(super) fn is_in(&self, kind: &str, seen: &Seen) -> bool {
        let same = |wanted: &MetadataChanges, found: &BTreeMap<String, String>| {
            wanted.iter().all(|(key, value)| found.get(key) == value.as_ref())
        };
        let holds = || Content::of(kind, &seen.json).is_ok_and(|content| self.is_content(&content));
        let has = |patch: serde_json::Value| {
            serde_json::from_slice(&seen.json).is_ok_and(|object: serde_json::Value| has_fields(&object, &patch))
        };
        same(&self.labels, &seen.labels)
            && same(&self.annotations, &seen.annotations)
            && (self.data.is_empty() || holds())
            && self.field_patch().is_none_or(has)
    }

    fn is_content(&self, content: &Content) -> bool {
        self.data.iter().all(|(key, bytes)| content.get(key) == bytes.as_ref())
    }

    /// The owner references it writes; nothing where it leaves them alone.
    fn owner_references(&self) -> Option<OwnerList<'_>> {
        self.fields.get(METADATA).and_then(|metadata| metadata.get(OWNER_REFERENCES)).map(OwnerList::Patched)
    }

    /// The body of a merge patch, bound to the object's uid and version.
    pub fn merge_patch(&self, kind: &str, uid: &str, resource_version: &str) -> Bytes {
        self.body(kind, Addressed::ByPath { uid, resource_version }, NewObject::default())
    }

    /// The body of a server-side apply, bound to uid and version when the object exists.
    pub fn apply_patch(&self, target: &ObjectRef, bound: Option<(&str, &str)>) -> Bytes {
        self.body(&target.kind, Addressed::InBody { target, bound }, NewObject::default())
    }

    /// The change in the words of a request.
    pub(super) fn body(&self, kind: &str, addressed: Addressed<'_>, new: NewObject<'_>) -> Bytes {
        let (target, bound) = match addressed {
            Addressed::ByPath { uid, resource_version } => (None, Some((uid, resource_version))),
            Addressed::InBody { target, bound } => (Some(target), bound),
        };
        let is_secret = kind == SECRET;
        // A whole object, or what is applied, has no word for what goes: it leaves it out.
        let is_said = |value: bool| value || target.is_none();
        fn said(marks: &MetadataChanges, is_said: impl Fn(bool) -> bool) -> BTreeMap<&str, Option<&str>> {
            let pairs = marks.iter().filter(|(_, value)| is_said(value.is_some()));
            pairs.map(|(key, value)| (key.as_str(), value.as_deref())).collect()
        }
        let data = self.data.iter().filter(|(_, bytes)| is_said(bytes.is_some()));
        let body = Body {
            api_version: target.map(|target| target.api_version.as_str()),
            kind: target.map(|target| target.kind.as_str()),
            metadata: Metadata {
                name: target.map(|target| target.name.as_str()),
                namespace: target.and_then(|target| target.namespace.as_deref()),
                uid: bound.map(|(uid, _)| uid),
                resource_version: bound.map(|(_, version)| version),
                labels: said(&self.labels, is_said),
                annotations: said(&self.annotations, is_said),
                owner_references: self.owner_references().or_else(|| new.owner.map(OwnerList::One)),
            },
            content_type: new.content_type,
            data: data.map(|(key, bytes)| (key.as_str(), Value::of(is_secret, bytes.as_ref()))).collect(),
            fields: self.fields.iter().filter(|(name, _)| name.as_str() != METADATA).collect(),
        };
        // Capacity for all of it: a vector that grows leaves copies behind. What is not a secret may be copied.
        let length: usize =
            self.data.iter().map(|(key, value)| key.len() + value.as_ref().map_or(4, |v| v.len())).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(BODY_CAPACITY + 2 * length));
        serde_json::to_writer(&mut *bytes, &body).expect("texts and bytes can always be put into words");
        bytes
    }
}

/// Capacity for names, labels and an owner: a name has at most 253 characters, and few labels are ever set.
const BODY_CAPACITY: usize = 4096;

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { labels, annotations, data, fields } = self;
        let lengths: BTreeMap<&String, Option<usize>> =
            data.iter().map(|(key, bytes)| (key, bytes.as_ref().map(|bytes| bytes.len()))).collect();
        let names: Vec<&String> = fields.keys().collect();
        write!(
            f,
            "Patch {{ labels: {labels:?}, annotations: {annotations:?}, lengths: {lengths:?}, fields: {names:?} }}"
        )
    }
}

fn marks(set: BTreeMap<String, String>, remove: Vec<String>) -> MetadataChanges {
    let mut marks: MetadataChanges = set.into_iter().map(|(key, value)| (key, Some(value))).collect();
    marks.extend(remove.into_iter().map(|key| (key, None)));
    marks
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    metadata: Metadata<'a>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    content_type: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    data: BTreeMap<&'a str, Option<Value<'a>>>,
    #[serde(flatten)]
    fields: BTreeMap<&'a String, &'a serde_json::Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<&'a str, Option<&'a str>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'a str, Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_references: Option<OwnerList<'a>>,
}

/// The owners a request writes.
#[derive(Serialize)]
#[serde(untagged)]
enum OwnerList<'a> {
    #[serde(serialize_with = "as_list")]
    One(&'a OwnerReference),
    /// As the patch has them: a list, or null for none.
    Patched(&'a serde_json::Value),
}

fn as_list<S: Serializer>(owner: &OwnerReference, serializer: S) -> Result<S::Ok, S::Error> {
    [owner].serialize(serializer)
}

/// The bytes of a key, written the way the kind has them.
struct Value<'a> {
    is_secret: bool,
    bytes: &'a [u8],
}

impl<'a> Value<'a> {
    fn of(is_secret: bool, bytes: Option<&'a Bytes>) -> Option<Self> {
        bytes.map(|bytes| Self { is_secret, bytes })
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_secret {
            return serializer.collect_str(&Base64Display::new(self.bytes, &STANDARD));
        }
        let text = std::str::from_utf8(self.bytes).map_err(|_| serde::ser::Error::custom("a text is not text"))?;
        serializer.serialize_str(text)
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct Object<T> {
    data: Option<BTreeMap<String, T>>,
}

/// A value of a Secret.
struct Decoded(Bytes);

/// A value of any other kind.
struct Plain(Bytes);

impl<'de> Deserialize<'de> for Decoded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Decoded;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("base64")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Decoded, E> {
                let decoded = STANDARD.decode(text).map_err(|_| E::custom("it is no base64"))?;
                Ok(Decoded(Zeroizing::new(decoded)))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Plain;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Plain, E> {
                Ok(Plain(Zeroizing::new(text.as_bytes().to_vec())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bytes(text: &str) -> Option<Bytes> {
        Some(Zeroizing::new(text.as_bytes().to_vec()))
    }

    fn patch() -> Patch {
        Patch {
            labels: [("new".to_owned(), Some("x".to_owned())), ("old".to_owned(), None)].into(),
            annotations: MetadataChanges::new(),
            data: [("value".to_owned(), bytes("s3cret\n")), ("gone".to_owned(), None)].into(),
            fields: serde_json::Map::new(),
        }
    }

    fn json_of(body: &Bytes) -> serde_json::Value {
        serde_json::from_slice(body).unwrap()
    }

    #[test]
    fn a_patch_of_owners_goes_into_the_metadata_that_binds_the_object() {
        let owners = serde_json::json!([{ "kind": "Cluster", "name": "demo", "uid": "u" }]);
        for (case, owners) in [("a list", owners), ("none", serde_json::Value::Null)] {
            let fields = serde_json::json!({ "metadata": { "ownerReferences": owners }, "spec": { "a": 1 } });
            let patch = Patch::fields(fields.as_object().unwrap().clone());
            let body: serde_json::Value = serde_json::from_slice(&patch.merge_patch("Secret", "uid-1", "7")).unwrap();
            let metadata = serde_json::json!({ "uid": "uid-1", "resourceVersion": "7", "ownerReferences": owners });
            assert_eq!(body, serde_json::json!({ "metadata": metadata, "spec": { "a": 1 } }), "case: {case}");
        }
    }

    #[test]
    fn a_request_names_what_changes_and_what_it_is_bound_to() {
        let bound = Addressed::ByPath { uid: "u", resource_version: "7" };
        let metadata = json!({ "uid": "u", "resourceVersion": "7", "labels": { "new": "x", "old": null } });
        let of = |kind| json_of(&patch().body(kind, bound, NewObject::default()));
        assert_eq!(of("Secret"), json!({ "metadata": metadata, "data": { "value": "czNjcmV0Cg==", "gone": null } }));
        assert_eq!(of("ConfigMap"), json!({ "metadata": metadata, "data": { "value": "s3cret\n", "gone": null } }));
    }

    #[test]
    fn fields_are_sent_as_the_plan_has_them_and_nothing_else() {
        let serde_json::Value::Object(fields) = json!({ "spec": { "type": "OIDC", "webhook": null } }) else {
            panic!()
        };
        let patch = Patch::fields(fields);
        let bound = Addressed::ByPath { uid: "u", resource_version: "7" };
        assert_eq!(
            json_of(&patch.body("Authentication", bound, NewObject::default())),
            json!({ "metadata": { "uid": "u", "resourceVersion": "7" }, "spec": { "type": "OIDC", "webhook": null } })
        );
        let seen = |spec: serde_json::Value| Seen {
            uid: "u".to_owned(),
            resource_version: "7".to_owned(),
            deleting: false,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            json: Zeroizing::new(json!({ "spec": spec }).to_string().into_bytes()),
        };
        assert!(patch.is_in("Authentication", &seen(json!({ "type": "OIDC", "other": 1 }))));
        assert!(!patch.is_in("Authentication", &seen(json!({ "type": "OIDC", "webhook": {} }))));
        assert!(!patch.is_in("Authentication", &seen(json!({}))));
    }

    #[test]
    fn what_is_applied_leaves_out_what_goes() {
        let target = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: Some("n".to_owned()),
            name: "x".to_owned(),
            uid: None,
            cloud: None,
        };
        let addressed = Addressed::InBody { target: &target, bound: None };
        let metadata = json!({ "name": "x", "namespace": "n", "labels": { "new": "x" } });
        assert_eq!(
            json_of(&patch().body("Secret", addressed, NewObject::default())),
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": { "value": "czNjcmV0Cg==" } })
        );
    }

    #[test]
    fn bytes_are_found_again_in_what_was_sent() {
        for kind in ["Secret", "ConfigMap"] {
            let sent = patch().body(kind, Addressed::ByPath { uid: "u", resource_version: "7" }, NewObject::default());
            let mut object = json_of(&sent);
            object["data"].as_object_mut().unwrap().remove("gone");
            let content = Content::of(kind, object.to_string().as_bytes()).unwrap();
            assert!(patch().is_content(&content), "{kind}");
            object["data"]["value"] = json!("b3RoZXI=");
            let other = Content::of(kind, object.to_string().as_bytes()).unwrap();
            assert!(!patch().is_content(&other), "{kind}: other bytes");
        }
    }

    #[test]
    fn what_is_secret_is_in_no_debug_and_no_error() {
        assert!(!format!("{:?}", patch()).contains("s3cret"), "{:?}", patch());
        let odd = Content::of("Secret", br#"{"data":{"value":"s3cret, and no base64"}}"#).map(|_| ());
        assert_eq!(odd, Err("its content cannot be read".to_owned()));
    }

    #[test]
    fn a_body_never_outgrows_its_capacity() {
        let large = Patch { data: [("value".to_owned(), bytes(&"x".repeat(300_000)))].into(), ..Patch::default() };
        let bound = Addressed::ByPath { uid: "u", resource_version: "7" };
        let body = large.body("Secret", bound, NewObject::default());
        assert!(body.len() > 300_000 && body.capacity() == BODY_CAPACITY + 2 * (5 + 300_000), "it was moved");
    }
}
