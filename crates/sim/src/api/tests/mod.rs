//! Rules of the simulated API, each against the message or behaviour of kube-apiserver 1.36.
//!
//! The expected messages were taken from a real server; `tests/real/conformance.rs` compares the two at random.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]

mod deletes;
mod faults;
mod lists;
mod ownership;
mod refusals;
mod watches;

use bytes::Bytes;
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Answer, Reply, Request, ResourceKind, Server};

pub const APPLY: &str = "application/apply-patch+yaml";
pub const MERGE: &str = "application/merge-patch+json";
pub const JSON_PATCH: &str = "application/json-patch+json";
pub const MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// A cluster at a fixed time, with one custom kind.
pub struct World {
    pub server: Server,
    pub now: Timestamp,
}

pub fn world() -> World {
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().expect("a fixed time parses");
    let mut server = Server::new(7, now);
    server.register(ResourceKind::custom("example.com/v1", "Widget", "widgets").with_status());
    World { server, now }
}

impl World {
    pub fn send(&mut self, request: &Request) -> (u16, Value) {
        let reply = self.reply(request);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Value::Null))
    }

    pub fn reply(&mut self, request: &Request) -> Reply {
        match self.server.handle(self.now, request) {
            Answer::Reply(reply) => reply,
            other => panic!("expected a reply, got {other:?}"),
        }
    }

    pub fn get(&mut self, target: &str) -> (u16, Value) {
        self.send(&Request::get(target))
    }

    pub fn post(&mut self, target: &str, body: &Value) -> (u16, Value) {
        self.send(&Request::new(Method::POST, target, bytes_of(body)))
    }

    pub fn put(&mut self, target: &str, body: &Value) -> (u16, Value) {
        self.send(&Request::new(Method::PUT, target, bytes_of(body)))
    }

    pub fn patch(&mut self, target: &str, media: &str, body: &Value) -> (u16, Value) {
        self.send(&Request::new(Method::PATCH, target, bytes_of(body)).with_content_type(media))
    }

    pub fn delete(&mut self, target: &str, options: &Value) -> (u16, Value) {
        let body = if options.is_null() { Bytes::new() } else { bytes_of(options) };
        self.send(&Request::new(Method::DELETE, target, body))
    }

    pub fn created(&mut self, target: &str, body: &Value) -> Value {
        let (code, object) = self.post(target, body);
        assert_eq!(code, 201, "{object}");
        object
    }
}

pub fn bytes_of(value: &Value) -> Bytes {
    value.to_string().into()
}

pub fn map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } })
}

pub fn map_with(name: &str, data: Value) -> Value {
    let mut object = map(name);
    object["data"] = data;
    object
}

pub fn widget(name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": name }, "spec": spec })
}

pub fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().expect("a stored object has a version")
}

pub fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().expect("a stored object has a uid")
}

pub fn message(status: &Value) -> &str {
    status["message"].as_str().unwrap_or("")
}
