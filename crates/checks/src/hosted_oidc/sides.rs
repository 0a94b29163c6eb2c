//! Expected and actual of a copy: what its verdict compared, field by field.
//!
//! Invariants: values are lengths; a copy of another value of the same length says that it differs.

#![expect(clippy::wildcard_enum_match_arm, reason = "few verdicts rest on another object than the copy")]

use serde_json::{Map, Value, json};

use super::context::CheckContext;
use super::facts::{Copy, SecretType};
use super::names::CopyKind;
use super::ruling::Ruling;
use super::verdict::{Code, Verdict};

/// Both sides. Nothing is expected where the control plane wants no copy.
pub fn sides(
    context: &CheckContext<'_>,
    kind: CopyKind,
    name: &str,
    copy: Option<&Copy>,
    ruling: &Ruling,
) -> (Value, Value) {
    let mut expected = expected(context, kind, name);
    let mut actual = copy.map_or_else(Map::new, |copy| actual(kind, copy, ruling));
    let elsewhere = match ruling.verdict {
        Verdict::SourceMissing => {
            let source = context
                .source_namespace()
                .map(|(cluster, namespace)| format!("{cluster} {} {namespace}/{name}", kind.resource().kind));
            Some(("source", json!(source.unwrap_or_default()), Value::Null))
        }
        Verdict::Pending if ruling.has(Code::GuestStillRefers) => {
            Some(("Authentication/cluster: spec.oidcProviders", Value::Null, json!("names it")))
        }
        Verdict::Pending if ruling.has(Code::NotPropagated) => {
            Some(("HostedControlPlane: spec.configuration.authentication", json!("names it"), Value::Null))
        }
        Verdict::Pending => Some(("Authentication/cluster: status.oidcClients", Value::Null, json!("uses its client"))),
        _ => None,
    };
    if let Some((field, wanted, held)) = elsewhere {
        actual.entry("exists").or_insert(json!(false));
        if ruling.verdict == Verdict::Pending {
            expected.remove("exists");
        }
        expected.insert(field.to_owned(), wanted);
        actual.insert(field.to_owned(), held);
    }
    (Value::Object(expected), Value::Object(actual))
}

/// What the control plane wants to be there; empty when it wants nothing.
fn expected(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Map<String, Value> {
    let mut expected = Map::new();
    let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
    if !wanted.is_some_and(|wanted| wanted.expects(kind, name)) {
        return expected;
    }
    if let Some(source) = context.source_content(kind, name).present() {
        let length = source.value.map_or(0, |value| value.length);
        expected.insert("data".into(), json!({ kind.copied_key(): format!("<{length} bytes>") }));
    }
    expected.insert("exists".into(), json!(true));
    expected
}

fn actual(kind: CopyKind, copy: &Copy, ruling: &Ruling) -> Map<String, Value> {
    let differs = |key: &str| ruling.verdict == Verdict::StaleCopy && key == kind.copied_key();
    let data: Map<String, Value> = copy
        .keys
        .iter()
        .map(|(key, length)| {
            let suffix = if differs(key) { ", different" } else { "" };
            (key.to_string(), json!(format!("<{length} bytes{suffix}>")))
        })
        .collect();
    let labels: Map<String, Value> =
        copy.meta.shown_labels(kind.resource().kind).map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let mut actual = Map::new();
    actual.insert("exists".into(), json!(true));
    actual.insert("data".into(), Value::Object(data));
    actual.insert("labels".into(), Value::Object(labels));
    if let (CopyKind::Secret, secret_type) = (kind, copy.keys.secret_type()) {
        let word = match secret_type {
            SecretType::Opaque => "Opaque",
            SecretType::Other(other) => other,
        };
        actual.insert("type".into(), json!(word));
    }
    actual
}
