//! Replies, and the error bodies of each service.

use bytes::Bytes;
use serde_json::{Value, json};

/// Result of a request.
#[derive(Debug)]
pub enum IbmAnswer {
    Reply(IbmReply),
    /// The connection breaks.
    Lost,
    /// No response follows.
    Silence,
}

/// A response with a status.
#[derive(Debug, Clone)]
pub struct IbmReply {
    pub status: u16,
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

impl IbmReply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(super) fn empty(status: u16) -> Self {
        Self::new(status, "application/json", String::new())
    }

    pub(super) fn new(status: u16, content_type: &'static str, body: String) -> Self {
        Self { status, content_type, headers: Vec::new(), body: Bytes::from(body) }
    }

    pub(super) fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// An error of VPC, transit and tagging.
    pub(super) fn errors(status: u16, code: &str, message: &str) -> Self {
        let body = json!({ "errors": [{ "code": code, "message": message }], "trace": "sim-trace" });
        Self::json(status, &body).with("x-request-id", "sim-request".to_owned())
    }

    /// An error of the resource controller.
    pub(super) fn message(status: u16, code: &str, message: &str) -> Self {
        let body =
            json!({ "message": message, "status_code": status, "error_code": code, "transaction_id": "sim-request" });
        Self::json(status, &body).with("transaction-id", "sim-request".to_owned())
    }

    /// An error of PowerVS.
    pub(super) fn description(status: u16, error: &str, description: &str) -> Self {
        Self::json(status, &json!({ "code": status, "description": description, "error": error, "message": "" }))
    }
}
