//! The one error of this client: who said what to which operation, and what to do about it.
//!
//! Invariant: texts from outside are fit to be printed, and hold neither key nor token.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::endpoints::IbmService;
use trueup_core::engine::text::{Charset, printable};
use trueup_net::http::HttpError;

/// What went wrong with one operation of one service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{service}: {operation}: {problem}{}", self.tail())]
pub struct CloudError {
    pub service: IbmService,
    /// What was being done, as a verb and an object.
    pub operation: &'static str,
    pub problem: Problem,
    /// What IBM's support asks for.
    pub request_id: Option<String>,
}

/// Why an operation did not give what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("{0}")]
    NoAnswer(Box<HttpError>),
    #[error("{status}{}", said(code, message))]
    Refused { status: u16, code: String, message: String, retry_after: Option<Duration> },
    /// A `200` whose inner result is an error.
    #[error("rejected inside a successful response{}", said("", message))]
    ItemRefused { message: String },
    #[error("the response cannot be parsed ({0})")]
    NotUnderstood(String),
    #[error("the pages lead in a circle")]
    PageLoop,
    #[error("more than {0} pages")]
    TooManyPages(usize),
    #[error("the resource belongs to account {resource}, and the key to {key}")]
    OtherAccount { key: String, resource: String },
    /// Nothing was sent.
    #[error("the resource cannot be addressed without {0}")]
    Unaddressed(String),
    #[error("the index does not know them yet, or the key may not see them there")]
    NotIndexed,
}

fn said(code: &str, message: &str) -> String {
    match (code, message) {
        ("", "") => String::new(),
        ("", message) => format!(" ({message})"),
        (code, "") => format!(" ({code})"),
        (code, message) => format!(" ({code}: {message})"),
    }
}

impl CloudError {
    pub(super) fn new(service: IbmService, operation: &'static str, problem: Problem) -> Self {
        Self { service, operation, problem, request_id: None }
    }

    /// The status, when the service answered with a refusal.
    pub fn status(&self) -> Option<u16> {
        match &self.problem {
            Problem::Refused { status, .. } => Some(*status),
            Problem::NoAnswer(_)
            | Problem::ItemRefused { .. }
            | Problem::NotUnderstood(_)
            | Problem::PageLoop
            | Problem::TooManyPages(_)
            | Problem::OtherAccount { .. }
            | Problem::Unaddressed(_)
            | Problem::NotIndexed => None,
        }
    }

    /// How long the service asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        if let Problem::Refused { retry_after, .. } = &self.problem { *retry_after } else { None }
    }

    /// Whether the service says that the one thing asked for is not there (any more).
    pub fn is_absence(&self) -> bool {
        matches!(self.status(), Some(404 | 410))
    }

    /// Whether a write may have been done although this is what came back.
    pub fn may_have_arrived(&self) -> bool {
        match &self.problem {
            Problem::NoAnswer(error) => arrived(error),
            // A gateway that gave up on the service behind it, or a service that broke half-way.
            Problem::Refused { status, .. } => *status >= 500,
            Problem::NotUnderstood(_) => true,
            Problem::ItemRefused { .. }
            | Problem::PageLoop
            | Problem::TooManyPages(_)
            | Problem::OtherAccount { .. }
            | Problem::Unaddressed(_)
            | Problem::NotIndexed => false,
        }
    }

    /// What a person can do about it.
    pub fn remedy(&self) -> String {
        let service = self.service;
        match &self.problem {
            Problem::NoAnswer(error) if matches!(**error, HttpError::NotReached(_)) => format!(
                "check the network, HTTPS_PROXY and the endpoint of {service} ([clouds.ibm.<alias>.endpoints] {})",
                service.as_str()
            ),
            Problem::NoAnswer(_) => "try again; IBM Cloud's status page says whether the service is healthy".to_owned(),
            Problem::Refused { status: 400 | 401, .. } if service == IbmService::Iam => {
                "check the API key that api_key_file or api_key_env names; make a new one with ibmcloud iam api-key-create"
                    .to_owned()
            }
            Problem::Refused { status: 401, .. } => {
                "the token is not accepted: check that the endpoint belongs to the same IBM Cloud as the key".to_owned()
            }
            Problem::Refused { status: 403, .. } => {
                format!("give the key's owner a role on {service} (Viewer to look, Editor and tag rights to act)")
            }
            Problem::Refused { status: 429, .. } => "wait a minute; others use up the account's rate limit".to_owned(),
            Problem::Refused { status: 409, .. } => "something still uses it; the message names it".to_owned(),
            Problem::Refused { .. } => "look the request id up with IBM Cloud's support".to_owned(),
            Problem::ItemRefused { .. } => "check the tag against IBM Cloud's rules, and the right to tag it".to_owned(),
            Problem::NotUnderstood(_) | Problem::PageLoop | Problem::TooManyPages(_) => {
                format!("check that the endpoint of {service} is IBM Cloud and not a proxy's page")
            }
            Problem::OtherAccount { .. } => "use the key of the account that holds the resource".to_owned(),
            Problem::Unaddressed(_) => "plan again".to_owned(),
            Problem::NotIndexed => "wait a minute for the index, or give the key's owner Viewer on all services".to_owned(),
        }
    }

    fn tail(&self) -> String {
        self.request_id.as_ref().map_or(String::new(), |id| format!(" [request {id}]"))
    }
}

/// Whether a request without a response may have been carried out. A failure to connect means it was not sent.
fn arrived(error: &HttpError) -> bool {
    match error {
        HttpError::NotAllowed(_) => false,
        HttpError::NotReached(why) => why.may_have_arrived(),
        HttpError::TimedOut { .. } | HttpError::BrokeOff | HttpError::TooLarge { .. } => true,
    }
}

/// What an error body says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub code: String,
    pub message: String,
    pub trace: Option<String>,
}

/// Reads an error body of any of the services, in the order IBM's own client looks.
pub(super) fn read_body(body: &[u8]) -> Said {
    #[derive(Deserialize, Default)]
    #[serde(default, rename_all = "camelCase")]
    struct Body {
        errors: Vec<Inner>,
        error: Value,
        message: Value,
        error_message: Value,
        error_code: Value,
        description: Value,
        code: Value,
        trace: Value,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Inner {
        code: Value,
        message: Value,
    }
    let Ok(body) = serde_json::from_slice::<Body>(body) else {
        let what = if looks_like_a_page(body) { "an HTML page" } else { "" };
        return Said { message: what.to_owned(), ..Said::default() };
    };
    let first = body.errors.into_iter().next().unwrap_or_default();
    // PowerVS says the useful part in `description`; the others have none.
    let messages = [first.message, body.description, body.error, body.message, body.error_message];
    let codes = [first.code, body.error_code, body.code];
    Said {
        message: messages.iter().map(text).find(|text| !text.is_empty()).unwrap_or_default(),
        code: codes.iter().map(text).find(|text| !text.is_empty()).unwrap_or_default(),
        trace: Some(text(&body.trace)).filter(|trace| !trace.is_empty()),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text.trim(), Charset::Unicode),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// Whether a body is a web page: a proxy's or a login's, and nothing IBM Cloud says.
pub(super) fn looks_like_a_page(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_error_body_gives_its_message_and_code() {
        let said = |code: &str, message: &str| Said { code: code.into(), message: message.into(), trace: None };
        let cases = [
            (
                "VPC",
                r#"{"errors":[{"code":"not_found","message":"no vpc"}],"trace":"t1"}"#,
                Said { trace: Some("t1".into()), ..said("not_found", "no vpc") },
            ),
            ("a string", r#"{"error":"Forbidden"}"#, said("", "Forbidden")),
            ("a message", r#"{"message":"gone","code":410}"#, said("410", "gone")),
            (
                "IAM",
                r#"{"errorCode":"BXNIM0415E","errorMessage":"Provided API key could not be found."}"#,
                said("BXNIM0415E", "Provided API key could not be found."),
            ),
            (
                "PowerVS",
                r#"{"code":400,"description":"network n still attached","error":"Bad Request","message":""}"#,
                said("400", "network n still attached"),
            ),
            ("a page", "\n<!DOCTYPE html><html>", said("", "an HTML page")),
            ("nonsense", "{{{", said("", "")),
            ("nothing", "", said("", "")),
            ("an escape sequence", r#"{"message":"\u001b[2J"}"#, said("", "\\u{1b}[2J")),
        ];
        for (case, body, expected) in cases {
            assert_eq!(read_body(body.as_bytes()), expected, "case: {case}");
        }
    }

    #[test]
    fn the_sentence_names_service_operation_and_request() {
        let problem = Problem::Refused { status: 403, code: "c".into(), message: "m".into(), retry_after: None };
        let error = CloudError {
            request_id: Some("r-1".into()),
            ..CloudError::new(IbmService::Transit, "list gateways", problem)
        };
        assert_eq!(error.to_string(), "Transit Gateway: list gateways: 403 (c: m) [request r-1]");
        assert!(error.remedy().contains("Transit Gateway"));
    }
}
