//! A request as the core receives it.

use bytes::Bytes;
use http::Method;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// One request.
#[derive(Debug, Clone)]
pub struct IbmRequest {
    pub method: Method,
    /// Scheme and host of the request, for links to the next page.
    pub base: String,
    /// The path as sent, still escaped.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub authorization: String,
    /// PowerVS sends the workspace in a header.
    pub crn: String,
    pub body: Bytes,
}

impl IbmRequest {
    /// The path segments, unescaped: one may be a CRN.
    pub(super) fn segments(&self) -> Vec<String> {
        let parts = self.path.split('/').filter(|part| !part.is_empty());
        parts.map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned()).collect()
    }

    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.query(name) == Some("true")
    }

    /// The body as JSON; null when it is not JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// A link to the next page of the same list.
    pub(super) fn link(&self, start: &str) -> String {
        let rest: Vec<String> = self
            .query
            .iter()
            .filter(|(name, _)| name != "start")
            .map(|(name, value)| format!("{name}={value}"))
            .chain([format!("start={start}")])
            .collect();
        format!("{}{}?{}", self.base, self.path, rest.join("&"))
    }
}

/// The pairs of a query or form.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let unescaped = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (unescaped(name), unescaped(value)))
        .collect()
}
