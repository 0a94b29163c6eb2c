//! Validation of a resource in the file of an IBM Cloud account.
//!
//! Invariants: a value of the wrong type is a fault, never absent: `tags: mine` is not a resource without tags. A key or
//! kind that is not close to a known one is ignored.
//! Elsewhere: the meaning of the values (`trueup_checks::powervs_tags`).

use serde_json::Value;

use super::entry_fault::{EntryFault, misspelling_of};
use super::yaml_tree::Step;
use trueup_core::world::IbmResourceKind;

/// The keys of a resource.
const KEYS: [&str; 12] = [
    "kind",
    "id",
    "crn",
    "name",
    "state",
    "created_at",
    "tags",
    "parent",
    "network_type",
    "network",
    "network_id",
    "locked",
];

/// Validates an entry. Absent keys are not faults.
///
/// # Errors
/// The first invalid value.
pub(super) fn check(entry: &Value) -> Result<(), EntryFault> {
    entry.as_object().into_iter().flatten().try_for_each(|(key, value)| match fault(key, value) {
        Some(message) => {
            Err(EntryFault { place: KEYS.into_iter().filter(|known| known == key).map(Step::Key).collect(), message })
        }
        None => Ok(()),
    })
}

fn fault(key: &str, value: &Value) -> Option<String> {
    if !KEYS.contains(&key) {
        return misspelling_of(key, &KEYS).map(|meant| format!("has the unknown key `{key}`: did you mean `{meant}`?"));
    }
    match (key, value) {
        ("kind", Value::String(kind)) => {
            let meant = misspelling_of(kind, &IbmResourceKind::ALL.map(IbmResourceKind::as_str))?;
            Some(format!("has the unknown kind `{kind}`: did you mean `{meant}`?"))
        }
        (_, Value::Null) => None,
        ("tags", Value::Array(tags)) if tags.iter().all(Value::is_string) => None,
        ("tags", _) => Some("has tags that are not a list of texts: write [ \"key:value\" ]".to_owned()),
        ("locked", Value::Bool(_)) => None,
        ("locked", _) => Some("has an invalid `locked`: write true or false".to_owned()),
        // Kind and id may be numbers, which are read as written.
        ("kind" | "id", _) | (_, Value::String(_)) => None,
        (key, _) => Some(format!("has a `{key}` that is not text: write it in quotes")),
    }
}
