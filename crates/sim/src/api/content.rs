//! Decoding a request body into the stored form of an object.
//!
//! Invariants:
//! - the result is a JSON object with apiVersion, kind and metadata;
//! - metadata holds known fields only, and no empty ones;
//! - a Secret's `stringData` is folded into `data`, and nothing else of a Secret is interpreted.
//!
//! Elsewhere: whether the values are valid (`validate`).

#![expect(clippy::wildcard_enum_match_arm, reason = "JSON has six types and a match needs one or two")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::builtin;
use super::field_error::quoted;
use super::kinds::{Content, ResourceKind};
use super::media::ACCEPTED;
use super::meta;
use super::proto;
use super::request::Request;
use super::status::{Refused, Status};

const METADATA_FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Reads the body of a create or update.
pub fn decode(kind: &ResourceKind, request: &Request) -> Result<Value, Refused> {
    let mut object = parse(kind, request)?;
    let Some(map) = object.as_object_mut() else {
        return Err(unrecognized(
            kind,
            request,
            &format!(
                "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
                go_type(&object)
            ),
            "couldn't get version/kind; json parse error: ",
        ));
    };
    let text = |map: &Map<String, Value>, field: &str| map.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
    let (api_version, name) = (text(map, "apiVersion"), text(map, "kind"));
    if kind.rules.custom && name.is_empty() {
        let body = String::from_utf8_lossy(&request.body);
        return Err(unrecognized(kind, request, &format!("Object 'Kind' is missing in '{body}'"), ""));
    }
    if api_version.is_empty() && !kind.rules.custom {
        map.insert("apiVersion".into(), kind.api_version().into());
    }
    if name.is_empty() {
        map.insert("kind".into(), (&*kind.kind).into());
    }
    check_type(kind, &api_version, &name)?;
    drop_forbidden_nulls(kind, &mut object);
    settle(kind, &mut object).map_err(|why| {
        Status::bad_request(format!(
            "{0} in version {1} cannot be handled as a {0}: {why}",
            kind.kind,
            quoted(&kind.version)
        ))
    })?;
    Ok(object)
}

fn check_type(kind: &ResourceKind, api_version: &str, name: &str) -> Result<(), Refused> {
    let expected = kind.api_version();
    if kind.rules.custom {
        // A custom resource of the wrong kind passes here and fails validation, as on the real server.
        let message =
            format!("the API version in the data ({api_version}) does not match the expected API version ({expected})");
        return if api_version == expected { Ok(()) } else { Err(Status::bad_request(message)) };
    }
    let api_version = if api_version.is_empty() { &expected } else { api_version };
    let name = if name.is_empty() { &*kind.kind } else { name };
    if api_version == expected && *name == *kind.kind {
        return Ok(());
    }
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    let why = if builtin::kinds().iter().any(|known| known.api_version() == *api_version && *known.kind == *name) {
        let package = kind.of.group.split('.').next().filter(|package| !package.is_empty()).unwrap_or("core");
        format!("converting ({version}.{name}) to ({package}.{}): unknown conversion", kind.kind)
    } else {
        let (name, version) = (quoted(name), quoted(api_version));
        format!("no kind {name} is registered for version {version} in scheme \"pkg/runtime/scheme.go:111\"")
    };
    let message = format!("{name} in version {} cannot be handled as a {}: {why}", quoted(version), kind.kind);
    Err(Status::bad_request(message))
}

fn parse(kind: &ResourceKind, request: &Request) -> Result<Value, Refused> {
    let media = request.content_type.split(';').next().unwrap_or("").trim();
    match media {
        "" | "application/json" => serde_json::from_slice(&request.body).map_err(|error| {
            unrecognized(
                kind,
                request,
                &go_json_error(&error, &request.body),
                "couldn't get version/kind; json parse error: ",
            )
        }),
        proto::MEDIA if !kind.rules.custom => proto::decode(&request.body)
            .ok_or_else(|| unrecognized(kind, request, "the protobuf body can't be read", "")),
        "application/yaml" => parse_yaml(&request.body).map_err(|why| unrecognized(kind, request, &why, "")),
        _ => Err(Status::unsupported_media_type(&ACCEPTED)),
    }
}

pub fn parse_yaml(body: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

/// The message of Go's JSON decoder, for the common errors.
pub fn go_json_error(error: &serde_json::Error, body: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".into();
    }
    let line_start = body.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len);
    let at = line_start.sum::<usize>() + error.column().saturating_sub(1);
    match body.get(at).map(|byte| char::from(*byte)) {
        Some(c) if error.to_string().starts_with("expected value") => {
            format!("invalid character '{c}' looking for beginning of value")
        }
        Some(_) | None => error.to_string(),
    }
}

fn unrecognized(kind: &ResourceKind, request: &Request, why: &str, prefix: &str) -> Refused {
    /// Bytes of a body that an error quotes; the same limit as in kube-apiserver.
    const SUMMARY_BYTES_MAX: usize = 30;
    let head = &request.body[..request.body.len().min(SUMMARY_BYTES_MAX)];
    let summary = match request.body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(head).into_owned(),
        Some(_) => head.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let more = if request.body.len() > SUMMARY_BYTES_MAX { " ..." } else { "" };
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {prefix}{why} ({summary}{more})",
        kind.kind
    ))
}

/// Converts an object to its stored form. The error is the message of Go's JSON decoder.
pub fn settle(kind: &ResourceKind, object: &mut Value) -> Result<(), String> {
    settle_metadata(object, if kind.rules.custom { "ObjectMeta" } else { "ObjectMeta.metadata" })?;
    match kind.rules.content {
        Content::ConfigMap => {
            string_map(object, "data", "ConfigMap")?;
            base64_map(object, "binaryData", "ConfigMap")?;
            flag(object, "immutable", "ConfigMap")?;
            let fields = ["apiVersion", "kind", "metadata", "data", "binaryData", "immutable"];
            keep_only(object, &fields);
            Ok(())
        }
        Content::Secret => {
            base64_map(object, "data", "Secret")?;
            string_map(object, "stringData", "Secret")?;
            flag(object, "immutable", "Secret")?;
            let fields = ["apiVersion", "kind", "metadata", "data", "stringData", "immutable", "type"];
            keep_only(object, &fields);
            fold_string_data(object);
            Ok(())
        }
        Content::Plain | Content::Namespace | Content::Pod | Content::Definition => Ok(()),
    }
}

/// Sets the server-side defaults of a new object.
pub fn fill_defaults(kind: &ResourceKind, object: &mut Value) {
    match kind.rules.content {
        Content::Secret => {
            if object.get("type").and_then(Value::as_str).unwrap_or("").is_empty() {
                object["type"] = "Opaque".into();
            }
        }
        Content::Namespace => {
            let name = meta::name(object).to_owned();
            let metadata = meta::of_mut(object);
            let labels = metadata.entry("labels").or_insert_with(|| json!({}));
            labels["kubernetes.io/metadata.name"] = name.into();
            object["spec"] = json!({ "finalizers": ["kubernetes"] });
            object["status"] = json!({ "phase": "Active" });
        }
        Content::Plain | Content::ConfigMap | Content::Pod | Content::Definition => {}
    }
}

/// Removes nulls where a custom resource's schema knows the field and it is not nullable. The result of an apply is not
/// read from a body, and keeps them.
pub fn drop_forbidden_nulls(kind: &ResourceKind, object: &mut Value) {
    if let Some(schema) = &kind.schema {
        drop_nulls(schema, object);
    }
}

fn drop_nulls(schema: &Value, value: &mut Value) {
    let (Some(properties), Some(fields)) = (schema.get("properties"), value.as_object_mut()) else { return };
    let nullable = |name: &str| properties.get(name).is_none_or(|property| property["nullable"] == true);
    fields.retain(|name, field| !field.is_null() || nullable(name));
    for (name, field) in fields {
        properties.get(name).into_iter().for_each(|property| drop_nulls(property, field));
    }
}

/// `place` is the decoder's name for the metadata field of this kind.
fn settle_metadata(object: &mut Value, place: &str) -> Result<(), String> {
    if let Some(metadata) = object.get("metadata").filter(|metadata| !metadata.is_object() && !metadata.is_null()) {
        return Err(format!(
            "json: cannot unmarshal {} into Go struct field .metadata of type v1.ObjectMeta",
            go_type(metadata)
        ));
    }
    let metadata = meta::of_mut(object);
    metadata.retain(|field, value| {
        let known = METADATA_FIELDS.contains(&field.as_str());
        // An empty managedFields list resets it, so it must survive until the write handles it.
        known && (field == "managedFields" && value.is_array() || !is_empty(value))
    });
    for field in ["labels", "annotations"] {
        if let Some(value) = metadata.get(field) {
            check_strings(value, &format!("{place}.{field}"))?;
        }
    }
    for field in ["name", "generateName", "namespace", "uid", "resourceVersion"] {
        if let Some(value) = metadata.get(field).filter(|value| !value.is_string()) {
            let place = format!("{place}.{field}");
            return Err(format!(
                "json: cannot unmarshal {} into Go struct field {place} of type string",
                go_type(value)
            ));
        }
    }
    Ok(())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn keep_only(object: &mut Value, fields: &[&str]) {
    if let Some(map) = object.as_object_mut() {
        map.retain(|field, value| fields.contains(&field.as_str()) && (field == "metadata" || !is_empty(value)));
    }
}

fn string_map(object: &Value, field: &str, of: &str) -> Result<(), String> {
    object
        .get(field)
        .filter(|value| !value.is_null())
        .map_or(Ok(()), |value| check_strings(value, &format!("{of}.{field}")))
}

fn check_strings(value: &Value, place: &str) -> Result<(), String> {
    let Some(map) = value.as_object() else {
        let found = go_type(value);
        return Err(format!("json: cannot unmarshal {found} into Go struct field {place} of type map[string]string"));
    };
    match map.values().find(|value| !value.is_string() && !value.is_null()) {
        Some(wrong) => {
            let found = go_type(wrong);
            Err(format!("json: cannot unmarshal {found} into Go struct field {place} of type string"))
        }
        None => Ok(()),
    }
}

fn base64_map(object: &Value, field: &str, of: &str) -> Result<(), String> {
    let Some(value) = object.get(field).filter(|value| !value.is_null()) else {
        return Ok(());
    };
    let place = format!("{of}.{field}");
    let Some(map) = value.as_object() else {
        let found = go_type(value);
        return Err(format!("json: cannot unmarshal {found} into Go struct field {place} of type map[string][]uint8"));
    };
    for value in map.values() {
        match value {
            Value::Null => {}
            Value::String(text) => {
                if let Err(error) = BASE64.decode(text) {
                    return Err(format!("illegal base64 data at input byte {}", corrupt_at(text, &error)));
                }
            }
            wrong => {
                let found = go_type(wrong);
                return Err(format!("json: cannot unmarshal {found} into Go struct field {place} of type []uint8"));
            }
        }
    }
    Ok(())
}

/// The byte at which Go's decoder stops.
fn corrupt_at(text: &str, error: &base64::DecodeError) -> usize {
    match error {
        base64::DecodeError::InvalidByte(offset, _) | base64::DecodeError::InvalidLastSymbol(offset, _) => *offset,
        base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => text.len() / 4 * 4,
    }
}

fn flag(object: &Value, field: &str, of: &str) -> Result<(), String> {
    match object.get(field) {
        Some(value) if !value.is_boolean() && !value.is_null() => {
            Err(format!("json: cannot unmarshal {} into Go struct field {of}.{field} of type bool", go_type(value)))
        }
        Some(_) | None => Ok(()),
    }
}

fn fold_string_data(object: &mut Value) {
    let Some(Value::Object(plain)) = object.as_object_mut().and_then(|map| map.remove("stringData")) else {
        return;
    };
    let data = &mut object["data"];
    if !data.is_object() {
        *data = json!({});
    }
    for (key, value) in plain {
        data[key] = BASE64.encode(value.as_str().unwrap_or("")).into();
    }
}

/// The name of a value's type in Go's decoder.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
