//! Reading the protobuf bodies kubectl sends for built-in kinds.
//!
//! Invariants: only request bodies are read; responses are JSON, which every client accepts. Unknown fields are dropped.
//!
//! Elsewhere: kinds without a `kubectl create` command. Field numbers are those of the `generated.proto` files in
//! `k8s.io/api` v0.36.3.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::meta;

pub const MEDIA: &str = "application/vnd.kubernetes.protobuf";
/// Every Kubernetes protobuf body starts with this.
const MAGIC: &[u8] = b"k8s\0";

/// Type of a field.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Flag,
    Number,
    Time,
    Texts,
    TextMap,
    BytesMap,
    One(&'static [Field]),
    Many(&'static [Field]),
}

type Field = (u64, &'static str, Type);

use Type::{BytesMap, Flag, Many, Number, One, Text, TextMap, Texts, Time};

const OWNER: &[Field] = &[
    (1, "kind", Text),
    (3, "name", Text),
    (4, "uid", Text),
    (5, "apiVersion", Text),
    (6, "controller", Flag),
    (7, "blockOwnerDeletion", Flag),
];
const METADATA: &[Field] = &[
    (1, "name", Text),
    (2, "generateName", Text),
    (3, "namespace", Text),
    (5, "uid", Text),
    (6, "resourceVersion", Text),
    (7, "generation", Number),
    (8, "creationTimestamp", Time),
    (9, "deletionTimestamp", Time),
    (10, "deletionGracePeriodSeconds", Number),
    (11, "labels", TextMap),
    (12, "annotations", TextMap),
    (13, "ownerReferences", Many(OWNER)),
    (14, "finalizers", Texts),
];
const CONFIG_MAP: &[Field] =
    &[(1, "metadata", One(METADATA)), (2, "data", TextMap), (3, "binaryData", BytesMap), (4, "immutable", Flag)];
const SECRET: &[Field] = &[
    (1, "metadata", One(METADATA)),
    (2, "data", BytesMap),
    (3, "type", Text),
    (4, "stringData", TextMap),
    (5, "immutable", Flag),
];
const METADATA_ONLY: &[Field] = &[(1, "metadata", One(METADATA))];
const ACCESS: &[Field] = &[
    (1, "namespace", Text),
    (2, "verb", Text),
    (3, "group", Text),
    (4, "version", Text),
    (5, "resource", Text),
    (6, "subresource", Text),
    (7, "name", Text),
];
const PATH_ACCESS: &[Field] = &[(1, "path", Text), (2, "verb", Text)];
const ACCESS_SPEC: &[Field] = &[(1, "resourceAttributes", One(ACCESS)), (2, "nonResourceAttributes", One(PATH_ACCESS))];
const ACCESS_REVIEW: &[Field] = &[(1, "metadata", One(METADATA)), (2, "spec", One(ACCESS_SPEC))];
const RULES_REVIEW: &[Field] = &[(1, "metadata", One(METADATA)), (2, "spec", One(&[(1, "namespace", Text)]))];
const RULE: &[Field] = &[
    (1, "verbs", Texts),
    (2, "apiGroups", Texts),
    (3, "resources", Texts),
    (4, "resourceNames", Texts),
    (5, "nonResourceURLs", Texts),
];
const ROLE: &[Field] = &[(1, "metadata", One(METADATA)), (2, "rules", Many(RULE))];
const SUBJECT: &[Field] = &[(1, "kind", Text), (2, "apiGroup", Text), (3, "name", Text), (4, "namespace", Text)];
const ROLE_REF: &[Field] = &[(1, "apiGroup", Text), (2, "kind", Text), (3, "name", Text)];
const BINDING: &[Field] =
    &[(1, "metadata", One(METADATA)), (2, "subjects", Many(SUBJECT)), (3, "roleRef", One(ROLE_REF))];
const CONTAINER: &[Field] = &[(1, "name", Text), (2, "image", Text), (3, "command", Texts), (4, "args", Texts)];
const POD: &[Field] = &[(2, "containers", Many(CONTAINER)), (3, "restartPolicy", Text)];
const TEMPLATE: &[Field] = &[(1, "metadata", One(METADATA)), (2, "spec", One(POD))];
const SELECTOR: &[Field] = &[(1, "matchLabels", TextMap)];
const DEPLOYMENT_SPEC: &[Field] =
    &[(1, "replicas", Number), (2, "selector", One(SELECTOR)), (3, "template", One(TEMPLATE))];
const DEPLOYMENT: &[Field] = &[(1, "metadata", One(METADATA)), (2, "spec", One(DEPLOYMENT_SPEC))];
const UID_AND_VERSION: &[Field] = &[(1, "uid", Text), (2, "resourceVersion", Text)];
const DELETE_OPTIONS: &[Field] = &[
    (1, "gracePeriodSeconds", Number),
    (2, "preconditions", One(UID_AND_VERSION)),
    (3, "orphanDependents", Flag),
    (4, "propagationPolicy", Text),
    (5, "dryRun", Texts),
];

fn message(kind: &str) -> Option<&'static [Field]> {
    match kind {
        "ConfigMap" => Some(CONFIG_MAP),
        "Secret" => Some(SECRET),
        "Namespace" | "ServiceAccount" | "SelfSubjectReview" => Some(METADATA_ONLY),
        "SelfSubjectAccessReview" => Some(ACCESS_REVIEW),
        "SelfSubjectRulesReview" => Some(RULES_REVIEW),
        "Role" | "ClusterRole" => Some(ROLE),
        "RoleBinding" | "ClusterRoleBinding" => Some(BINDING),
        "Deployment" => Some(DEPLOYMENT),
        "DeleteOptions" => Some(DELETE_OPTIONS),
        _ => None,
    }
}

/// Reads a whole body: the envelope with its type, and the object in it. Returns none for any other body.
pub fn decode(body: &[u8]) -> Option<Value> {
    let envelope: &[Field] = &[(1, "type", One(&[(1, "apiVersion", Text), (2, "kind", Text)]))];
    let rest = body.strip_prefix(MAGIC)?;
    let mut type_of = read(rest, envelope)?;
    let raw = parts(rest)?.into_iter().find_map(|(number, part)| match (number, part) {
        (2, Part::Bytes(bytes)) => Some(bytes),
        _ => None,
    })?;
    let type_of = type_of.remove("type")?;
    let kind = type_of["kind"].as_str()?;
    let mut object = read(raw, message(kind)?)?;
    object.insert("kind".into(), kind.into());
    object.insert("apiVersion".into(), type_of["apiVersion"].clone());
    Some(Value::Object(object))
}

enum Part<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
}

/// Splits a message into its fields.
fn parts(mut rest: &[u8]) -> Option<Vec<(u64, Part<'_>)>> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        match tag & 7 {
            0 => out.push((tag >> 3, Part::Varint(varint(&mut rest)?))),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                let (bytes, after) = rest.split_at_checked(length)?;
                rest = after;
                out.push((tag >> 3, Part::Bytes(bytes)));
            }
            1 => rest = rest.get(8..)?,
            5 => rest = rest.get(4..)?,
            _ => return None,
        }
    }
    Some(out)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut out = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        out |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(out);
        }
    }
    None
}

fn read(bytes: &[u8], fields: &[Field]) -> Option<Map<String, Value>> {
    let mut out = Map::new();
    for (number, part) in parts(bytes)? {
        let Some((_, name, kind)) = fields.iter().find(|(known, _, _)| *known == number) else {
            continue;
        };
        put(&mut out, name, *kind, part)?;
    }
    Some(out)
}

fn put(out: &mut Map<String, Value>, name: &str, kind: Type, part: Part<'_>) -> Option<()> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    match (kind, part) {
        (Flag, Part::Varint(value)) => {
            out.insert(name.into(), (value != 0).into());
        }
        (Number, Part::Varint(value)) => {
            out.insert(name.into(), (value as i64).into());
        }
        // Go writes empty text for a field that is not set.
        (Text, Part::Bytes([])) => {}
        (Text, Part::Bytes(bytes)) => {
            out.insert(name.into(), text(bytes)?.into());
        }
        (Time, Part::Bytes(bytes)) => {
            let seconds = parts(bytes)?.into_iter().find_map(|(number, part)| match (number, part) {
                (1, Part::Varint(seconds)) => Some(seconds as i64),
                _ => None,
            });
            if let Some(time) = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()) {
                out.insert(name.into(), meta::api_time(time).into());
            }
        }
        (Texts, Part::Bytes(bytes)) => push(out, name, text(bytes)?.into()),
        (Many(fields), Part::Bytes(bytes)) => push(out, name, Value::Object(read(bytes, fields)?)),
        (One(fields), Part::Bytes(bytes)) => {
            out.insert(name.into(), Value::Object(read(bytes, fields)?));
        }
        (TextMap | BytesMap, Part::Bytes(bytes)) => {
            let (mut key, mut value) = (String::new(), &[][..]);
            for (number, part) in parts(bytes)? {
                match (number, part) {
                    (1, Part::Bytes(bytes)) => key = text(bytes)?,
                    (2, Part::Bytes(bytes)) => value = bytes,
                    _ => return None,
                }
            }
            let value = if matches!(kind, BytesMap) { BASE64.encode(value) } else { text(value)? };
            let map = out.entry(name).or_insert_with(|| Value::Object(Map::new()));
            map[key] = value.into();
        }
        (Text | Time | Texts | TextMap | BytesMap | One(_) | Many(_), Part::Varint(_))
        | (Flag | Number, Part::Bytes(_)) => {
            return None;
        }
    }
    Some(())
}

fn push(out: &mut Map<String, Value>, name: &str, value: Value) {
    let list = out.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if let Some(list) = list.as_array_mut() {
        list.push(value);
    }
}
