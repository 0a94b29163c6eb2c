//! The form of a response: the object, its metadata only, or a table.
//!
//! Invariants: every form is JSON. Protobuf, YAML and CBOR are never chosen, and a client that accepts nothing else
//! receives a 406.
//!
//! Elsewhere: drawing the table (`table`).

use serde_json::{Value, json};

use super::request::Request;
use super::status::{Refused, Status};

pub const JSON: &str = "application/json";
pub const ACCEPTED: [&str; 3] = [JSON, "application/yaml", "application/vnd.kubernetes.protobuf"];

/// How much of the object a table row contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Include {
    None,
    Metadata,
    Object,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Object,
    Metadata,
    Table(Include),
}

/// One media type of an Accept header, with its parameters.
pub struct Clause<'a> {
    pub media: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    pub fn all(accept: &'a str) -> impl Iterator<Item = Self> {
        let accept = if accept.trim().is_empty() { "*/*" } else { accept };
        accept.split(',').map(|clause| {
            let mut parts = clause.split(';').map(str::trim);
            let media = parts.next().unwrap_or("");
            let parameters = parts.map(|part| part.split_once('=').unwrap_or((part, ""))).collect();
            Self { media, parameters }
        })
    }

    pub fn parameter(&self, name: &str) -> &'a str {
        self.parameters.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }

    pub fn is_json(&self) -> bool {
        matches!(self.media, JSON | "*/*" | "application/*")
    }
}

/// Picks the first form that the client accepts and the server supports.
pub fn form(request: &Request, custom: bool) -> Result<Form, Refused> {
    for clause in Clause::all(&request.accept).filter(Clause::is_json) {
        match clause.parameter("as") {
            "" => return Ok(Form::Object),
            "Table" if is_meta(&clause) => return Ok(Form::Table(include(request))),
            "PartialObjectMetadata" | "PartialObjectMetadataList" if is_meta(&clause) => {
                return Ok(Form::Metadata);
            }
            _ => {}
        }
    }
    let known = |clause: &Clause<'_>| clause.is_json() || ACCEPTED.contains(&clause.media);
    let routable = custom || Clause::all(&request.accept).any(|clause| known(&clause));
    Err(match routable {
        true => Status::not_acceptable(&ACCEPTED),
        false => Status::unroutable_accept(&ACCEPTED),
    })
}

fn is_meta(clause: &Clause<'_>) -> bool {
    clause.parameter("g") == "meta.k8s.io" && matches!(clause.parameter("v"), "v1" | "v1beta1")
}

fn include(request: &Request) -> Include {
    match request.query.get("includeObject") {
        Some("None") => Include::None,
        Some("Object") => Include::Object,
        _ => Include::Metadata,
    }
}

/// An object without its content.
pub fn metadata_only(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}
