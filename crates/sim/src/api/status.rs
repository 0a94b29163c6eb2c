//! The `Status` object: refusals with the messages of kube-apiserver.
//!
//! Invariants:
//! - every refusal of the simulator is built here, with the message of kube-apiserver;
//! - a refusal never changes the store: a handler that returns one has committed nothing.
//!
//! Elsewhere: deciding to refuse. The messages are those of `k8s.io/apimachinery/pkg/api/errors` v0.36.3.

use serde_json::{Map, Value, json};

use super::field_error::{FieldError, aggregate, quoted};
use super::kinds::GroupResource;

/// A failure `Status`, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub code: u16,
    pub reason: &'static str,
    pub message: String,
    pub details: Option<Details>,
    /// The token with which a client continues an inconsistent list after a 410.
    pub continue_token: Option<String>,
}

/// The object of a `Status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    pub group: String,
    pub kind: String,
    pub name: String,
    pub causes: Vec<Cause>,
    pub retry_after_seconds: Option<u32>,
}

/// One cause among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub reason: &'static str,
    pub message: String,
    pub field: String,
}

/// A refusal. Boxed, since most requests succeed and results should stay small.
pub type Refused = Box<Status>;

impl Status {
    fn new(code: u16, reason: &'static str, message: String, details: Option<Details>) -> Refused {
        Box::new(Self { code, reason, message, details, continue_token: None })
    }

    pub fn not_found(of: &GroupResource, name: &str) -> Refused {
        let message = format!("{of} {} not found", quoted(name));
        Self::new(404, "NotFound", message, Some(Details::about(of, name)))
    }

    pub fn already_exists(of: &GroupResource, name: &str) -> Refused {
        let message = format!("{of} {} already exists", quoted(name));
        Self::new(409, "AlreadyExists", message, Some(Details::about(of, name)))
    }

    pub fn generated_name_taken(of: &GroupResource, name: &str) -> Refused {
        let message = format!(
            "{of} {} already exists, the server was not able to generate a unique name for the object",
            quoted(name)
        );
        let details = Details { retry_after_seconds: Some(1), ..Details::about(of, name) };
        Self::new(409, "AlreadyExists", message, Some(details))
    }

    pub fn conflict(of: &GroupResource, name: &str, why: &str) -> Refused {
        let message = format!("Operation cannot be fulfilled on {of} {}: {why}", quoted(name));
        Self::new(409, "Conflict", message, Some(Details::about(of, name)))
    }

    /// The optimistic lock: another writer changed the object.
    pub fn modified(of: &GroupResource, name: &str) -> Refused {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(of, name, why)
    }

    pub fn apply_conflict(causes: Vec<Cause>, message: String) -> Refused {
        let details = Details { causes, ..Details::default() };
        Self::new(409, "Conflict", message, Some(details))
    }

    pub fn forbidden(of: &GroupResource, name: &str, why: &str) -> Refused {
        let message = match (of.is_empty(), name.is_empty()) {
            (true, _) => format!("forbidden: {why}"),
            (false, true) => format!("{of} is forbidden: {why}"),
            (false, false) => format!("{of} {} is forbidden: {why}", quoted(name)),
        };
        Self::new(403, "Forbidden", message, Some(Details::about(of, name)))
    }

    pub fn unauthorized() -> Refused {
        Self::new(401, "Unauthorized", "Unauthorized".into(), None)
    }

    pub fn bad_request(message: impl Into<String>) -> Refused {
        Self::new(400, "BadRequest", message.into(), None)
    }

    pub fn expired(message: impl Into<String>) -> Refused {
        Self::new(410, "Expired", message.into(), None)
    }

    /// An expired page of a list; `token` continues at the newest state.
    pub fn continue_expired(token: String) -> Refused {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                       a new list without the continue parameter, or use the continue token in this response to \
                       retrieve the remainder of the results. Continuing with the provided token results in an \
                       inconsistent list - objects that were created, modified, or deleted between the time the \
                       first chunk was returned and now may show up in the list.";
        let mut status = Self::expired(message);
        status.continue_token = Some(token);
        status
    }

    pub fn version_too_large(asked: u64, current: u64) -> Refused {
        let cause = Cause {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version".into(),
            field: String::new(),
        };
        let details = Details { causes: vec![cause], retry_after_seconds: Some(1), ..Details::default() };
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        Self::new(504, "Timeout", message, Some(details))
    }

    pub fn method_not_supported(of: &GroupResource, action: &str) -> Refused {
        let message = format!("{action} is not supported on resources of kind {}", quoted(&of.to_string()));
        Self::new(405, "MethodNotAllowed", message, Some(Details::about(of, "")))
    }

    /// The router's response, before any resource is involved.
    pub fn method_not_allowed() -> Refused {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message.into(), Some(Details::default()))
    }

    /// The router's response to an unknown resource in a served version.
    pub fn no_such_resource() -> Refused {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message.into(), Some(Details::default()))
    }

    /// The router's response to an unsupported body.
    pub fn unroutable_media_type() -> Refused {
        let message = "415: Unsupported Media Type";
        Self::new(415, "UnsupportedMediaType", message.into(), Some(Details::default()))
    }

    /// The router's response when no accepted media type is supported.
    pub fn unroutable_accept(accepted: &[&str]) -> Refused {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {}", accepted.join(", "));
        Self::new(406, "NotAcceptable", message, Some(Details::default()))
    }

    pub fn not_acceptable(accepted: &[&str]) -> Refused {
        let message = format!("only the following media types are accepted: {}", accepted.join(", "));
        Self::new(406, "NotAcceptable", message, None)
    }

    pub fn unsupported_media_type(accepted: &[&str]) -> Refused {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message, None)
    }

    /// A JSON patch that cannot be applied, `test` operations included.
    pub fn patch_does_not_fit() -> Refused {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, "Invalid", message.into(), Some(Details::default()))
    }

    pub fn invalid(kind: &GroupResource, name: &str, errors: &[FieldError]) -> Refused {
        let causes = errors.iter().map(FieldError::cause).collect();
        let details = Details { causes, ..Details::about(kind, name) };
        let message = format!("{kind} {} is invalid: {}", quoted(name), aggregate(errors));
        Self::new(422, "Invalid", message, Some(details))
    }

    pub fn internal(why: &str) -> Refused {
        let cause = Cause { reason: "", message: why.into(), field: String::new() };
        let details = Details { causes: vec![cause], ..Details::default() };
        Self::new(500, "InternalError", format!("Internal error occurred: {why}"), Some(details))
    }

    /// An unexpected error, sent without a reason.
    pub fn unexpected(message: impl Into<String>) -> Refused {
        Self::new(500, "", message.into(), None)
    }

    /// A fault with a code chosen by the test, with the server's message for it.
    pub fn of_code(code: u16, retry_after_seconds: Option<u32>) -> Refused {
        let (reason, message) = match code {
            401 => ("Unauthorized", "Unauthorized"),
            403 => ("Forbidden", "forbidden: access revoked"),
            404 => ("NotFound", "the server could not find the requested resource"),
            408 => {
                ("Timeout", "Timeout: request did not complete within requested timeout - context deadline exceeded")
            }
            409 => ("Conflict", "the server reported a conflict"),
            410 => ("Expired", "The resourceVersion for the provided list is too old."),
            422 => ("Invalid", "the server rejected our request due to an error in our request"),
            429 => ("TooManyRequests", "Too many requests, please try again later."),
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => {
                ("Timeout", "Timeout: request did not complete within requested timeout - context deadline exceeded")
            }
            _ => ("InternalError", "Internal error occurred: etcdserver: request timed out"),
        };
        let details = retry_after_seconds.map(|_| Details { retry_after_seconds, ..Details::default() });
        Self::new(code, reason, message.into(), details)
    }

    pub fn to_json(&self) -> Value {
        let Self { code, reason, message, details, continue_token } = self;
        let metadata = match continue_token {
            Some(token) => json!({ "continue": token }),
            None => json!({}),
        };
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": message,
            "code": code,
        });
        if !reason.is_empty() {
            status["reason"] = (*reason).into();
        }
        if let Some(details) = details {
            status["details"] = details.to_json();
        }
        status
    }
}

impl Details {
    fn about(of: &GroupResource, name: &str) -> Self {
        Self { group: of.group.to_string(), kind: of.resource.to_string(), name: name.into(), ..Self::default() }
    }

    fn to_json(&self) -> Value {
        let Self { group, kind, name, causes, retry_after_seconds } = self;
        let mut out = Map::new();
        for (key, text) in [("name", name), ("group", group), ("kind", kind)] {
            if !text.is_empty() {
                out.insert(key.into(), text.clone().into());
            }
        }
        if !causes.is_empty() {
            out.insert("causes".into(), causes.iter().map(Cause::to_json).collect());
        }
        if let Some(seconds) = retry_after_seconds {
            out.insert("retryAfterSeconds".into(), (*seconds).into());
        }
        Value::Object(out)
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        let Self { reason, message, field } = self;
        let mut out = Map::new();
        for (key, text) in [("reason", *reason), ("message", message), ("field", field)] {
            if !text.is_empty() {
                out.insert(key.into(), text.into());
            }
        }
        Value::Object(out)
    }
}
