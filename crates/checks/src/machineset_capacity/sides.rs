//! Expected and actual of a set of machines: the step its verdict is about, or its annotations.
//!
//! Invariants: where a step before the annotations fails, that step is the difference; nothing is guessed of the annotations.

use serde_json::{Map, Value, json};

use super::credentials::Credentials;
use super::messages::{credentials, fault_message};
use super::names::ANNOTATIONS;
use super::ruling::Ruling;
use super::subjects::Subject;
use super::verdict::Verdict;

/// Both sides.
pub fn sides(subject: &Subject<'_>, ruling: &Ruling<'_>) -> (Value, Value) {
    let (mut expected, mut actual) = (expected(ruling), actual(subject, ruling));
    if let Some((field, wanted, held)) = failed_step(ruling) {
        expected.insert(field.to_owned(), json!(wanted));
        actual.insert(field.to_owned(), held.map_or(Value::Null, |held| json!(held)));
    }
    (Value::Object(expected), Value::Object(actual))
}

fn expected(ruling: &Ruling<'_>) -> Map<String, Value> {
    let Some(node) = ruling.expected else { return Map::new() };
    // An annotation that should not be there, and is, is expected to be nothing.
    let counts = ruling.lines.iter().filter(|line| line.expected.is_some() || line.actual.is_some());
    let values = counts.map(|line| (line.key.to_owned(), json!(line.expected)));
    let annotations: Map<String, Value> = values.collect();
    Map::from_iter([
        ("annotations".to_owned(), Value::Object(annotations)),
        ("architecture".to_owned(), json!(node.arch.as_str())),
    ])
}

fn actual(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Map<String, Value> {
    let held: Map<String, Value> =
        ANNOTATIONS.iter().filter_map(|key| Some(((*key).to_owned(), json!(subject.pool.annotation(key)?)))).collect();
    let mut actual = Map::from_iter([("annotations".to_owned(), Value::Object(held))]);
    if let Some(node) = ruling.expected {
        actual.insert("architecture".to_owned(), json!(node.arch.as_str()));
    }
    if let Some(machine) = &ruling.machine {
        actual.insert("instanceType".to_owned(), json!(machine.instance_type.value));
        actual.insert("region".to_owned(), json!(machine.region.value));
    }
    actual
}

/// The field of the step that failed, what it should be, and what it is.
fn failed_step(ruling: &Ruling<'_>) -> Option<(&'static str, String, Option<String>)> {
    let failure = || ruling.why.failure().map(|failure| failure.code.clone()).filter(|code| !code.is_empty());
    let machine = ruling.machine.as_ref();
    Some(match ruling.verdict {
        Verdict::InvalidSpec => ("spec", "valid".to_owned(), ruling.why.fault().map(fault_message)),
        Verdict::InstanceTypeEmpty => ("instanceType", "an instance type".to_owned(), None),
        Verdict::RegionInvalid => {
            let offered = ruling.offered_region.clone().unwrap_or_else(|| "an AWS region".to_owned());
            ("region", offered, machine.map(|machine| machine.region.value.to_owned()).filter(|name| !name.is_empty()))
        }
        Verdict::SecretMissing | Verdict::SecretInvalid => {
            if let Credentials::SecretMissing { key } = &ruling.credentials {
                ("credentialsSecret", key.to_string(), None)
            } else {
                ("credentialsSecret", "holds a login".to_owned(), Some("holds none".to_owned()))
            }
        }
        Verdict::CredentialsPartial | Verdict::CredentialsNone => {
            ("login", "a role with its token, or a Secret".to_owned(), Some(credentials(&ruling.credentials)))
        }
        Verdict::TokenUnreadable => {
            let held = failure().unwrap_or_else(|| credentials(&ruling.credentials));
            ("token", "accepted by AWS".to_owned(), Some(held))
        }
        Verdict::Denied => {
            let held = failure().unwrap_or_else(|| "refused".to_owned());
            ("AWS request", "allowed".to_owned(), Some(held))
        }
        Verdict::InstanceTypeUnknown => {
            ("offered in the region", "yes".to_owned(), Some("no, or not described".to_owned()))
        }
        Verdict::Skipped
        | Verdict::NotAws
        | Verdict::Transient
        | Verdict::Missing
        | Verdict::KeysDisagree
        | Verdict::Drift
        | Verdict::Match
        | Verdict::Unknown => return None,
    })
}
