//! A request to a served kind, with everything its handler needs.
//!
//! Invariants: a call is immutable.
//!
//! Elsewhere: handling it (`crud`, `update`, `patch`, `delete`, `list`, `watch`).

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::field_error::{FieldError, quoted};
use super::fields::FieldSet;
use super::kinds::{CollectionId, Content, GroupResource, ResourceKind};
use super::managed::Writer;
use super::media::{self, Form};
use super::meta;
use super::request::{Request, Target};
use super::status::{Refused, Status};
use super::store::{self, Stored};
use super::{Reply, in_version, table};

/// A request to a served kind.
#[derive(Debug)]
pub struct Call<'a> {
    pub now: Timestamp,
    pub request: &'a Request,
    pub target: &'a Target,
    pub kind: Arc<ResourceKind>,
    pub collection: CollectionId,
    /// How many writes behind the newest state reads are served.
    pub lag: u64,
}

impl Call<'_> {
    /// The namespace of the call's objects; empty for a cluster-scoped kind, whatever the path says.
    pub fn namespace(&self) -> &str {
        if self.kind.namespaced() { &self.target.namespace } else { "" }
    }

    pub fn key(&self) -> String {
        store::key(self.namespace(), &self.target.name)
    }

    pub fn form(&self) -> Result<Form, Refused> {
        media::form(self.request, self.kind.rules.custom)
    }

    pub fn is_status(&self) -> bool {
        self.target.subresource == "status"
    }

    pub fn writer(&self) -> Writer {
        Writer {
            manager: self.request.manager(),
            api_version: self.kind.api_version(),
            subresource: self.target.subresource.clone(),
            time: meta::api_time(self.now),
        }
    }

    /// Fields that this endpoint resets, and that a writer therefore never owns.
    pub fn reset_fields(&self) -> FieldSet {
        let mut set = FieldSet::default();
        let fields: &[&str] = match (self.is_status(), self.kind.status) {
            (true, _) => &["metadata", "spec"],
            (false, true) if self.kind.rules.content == Content::Namespace => &["spec", "status"],
            (false, true) => &["status"],
            (false, false) => &[],
        };
        fields.iter().for_each(|field| set.insert(&[field]));
        set
    }

    pub fn not_found(&self) -> Refused {
        Status::not_found(&self.kind.of, &self.target.name)
    }

    /// A failed storage precondition, worded as by etcd's client code.
    pub fn storage_conflict(&self, name: &str, why: &str) -> Refused {
        let root = if self.request.is_dry_run() { "" } else { "/registry" };
        let key = self.kind.storage_key(self.namespace(), name);
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {root}{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {why}"
        );
        Status::conflict(&self.kind.of, name, &why)
    }

    pub fn check_options(&self, of: &str) -> Result<(), Refused> {
        let mut errors = Vec::new();
        let dry_run = self.request.query.all("dryRun");
        if dry_run.iter().any(|value| *value != "All") {
            errors.push(FieldError::not_supported("dryRun", &Value::from(dry_run).to_string(), &["All"]));
        }
        let validation = self.request.query.get("fieldValidation").unwrap_or("");
        if !matches!(validation, "" | "Ignore" | "Warn" | "Strict") {
            let supported = ["", "Ignore", "Strict", "Warn"];
            errors.push(FieldError::not_supported("fieldValidation", &quoted(validation), &supported));
        }
        refuse_if_any(&GroupResource::new("meta.k8s.io", of), "", &errors)
    }

    pub fn reply(&self, status: u16, object: &Stored) -> Result<Reply, Refused> {
        match (self.form()?, in_version(&object.value, &self.kind.api_version())) {
            (Form::Object, None) => Ok(Reply::json(status, object.json().clone())),
            (_, other) => self.reply_value(status, other.as_ref().unwrap_or(&object.value)),
        }
    }

    /// Replies with an object that is not stored in this form.
    pub fn reply_value(&self, status: u16, object: &Value) -> Result<Reply, Refused> {
        let body = match self.form()? {
            Form::Object => store::to_bytes(object),
            Form::Metadata => store::to_bytes(&media::metadata_only(object)),
            Form::Table(include) => table::of_one(&self.kind, object, include, self.now),
        };
        Ok(Reply::json(status, body))
    }
}

/// The namespace in the body must equal the one in the path, or be absent.
pub fn match_namespace(call: &Call<'_>, object: &mut Value) -> Result<(), Refused> {
    let expected = call.namespace();
    let found = meta::namespace(object);
    if found == expected {
        return Ok(());
    }
    if found.is_empty() || expected.is_empty() {
        meta::set_text(object, "namespace", expected);
        return Ok(());
    }
    let message = "the namespace of the provided object does not match the namespace sent on the request";
    Err(Status::bad_request(message))
}

pub fn match_name(call: &Call<'_>, object: &Value) -> Result<(), Refused> {
    let (asked, found) = (&call.target.name, meta::name(object));
    if found.is_empty() {
        let message =
            format!("the name of the object ({asked} based on URL) was undeterminable: name must be provided");
        return Err(Status::bad_request(message));
    }
    if found != asked {
        let message = format!("the name of the object ({found}) does not match the name on the URL ({asked})");
        return Err(Status::bad_request(message));
    }
    Ok(())
}

/// The kind an error names. For a custom resource it is the one in the object, right or wrong.
pub fn kind_of(call: &Call<'_>, object: &Value) -> GroupResource {
    match object.get("kind").and_then(Value::as_str) {
        Some(kind) if call.kind.rules.custom => GroupResource::new(&call.kind.of.group, kind),
        Some(_) | None => call.kind.group_kind(),
    }
}

pub fn refuse_if_any(kind: &GroupResource, name: &str, errors: &[FieldError]) -> Result<(), Refused> {
    if errors.is_empty() { Ok(()) } else { Err(Status::invalid(kind, name, errors)) }
}
