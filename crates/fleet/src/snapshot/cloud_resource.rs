//! A resource as a file about an IBM Cloud account has it: whether what it says can be believed.
//!
//! Always true: a value of another sort than its key promises is a fault, never nothing: `tags: mine` is no resource without
//! tags. A key or kind that is no slip of a known one is let be.
//! Not here: what the values mean (`domains::powervs_tags`).

use serde_json::Value;

use super::odd::{Odd, slip};
use super::sheet::Step;
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

/// Whether an entry can be believed. What it does not say is no fault.
///
/// # Errors
/// The first thing that can't be understood.
pub(super) fn check(entry: &Value) -> Result<(), Odd> {
    entry.as_object().into_iter().flatten().try_for_each(|(key, value)| match fault(key, value) {
        Some(says) => Err(Odd { place: KEYS.into_iter().filter(|known| known == key).map(Step::Key).collect(), says }),
        None => Ok(()),
    })
}

fn fault(key: &str, value: &Value) -> Option<String> {
    if !KEYS.contains(&key) {
        return slip(key, &KEYS).map(|meant| format!("has the unknown key `{key}`: did you mean `{meant}`?"));
    }
    match (key, value) {
        ("kind", Value::String(kind)) => {
            let meant = slip(kind, &IbmResourceKind::ALL.map(IbmResourceKind::as_str))?;
            Some(format!("is a `{kind}`, which is no kind of resource: did you mean `{meant}`?"))
        }
        (_, Value::Null) => None,
        ("tags", Value::Array(tags)) if tags.iter().all(Value::is_string) => None,
        ("tags", _) => Some("has tags that are no list of texts: write them like [ \"key:value\" ]".to_owned()),
        ("locked", Value::Bool(_)) => None,
        ("locked", _) => Some("says `locked` with neither true nor false: write one of them".to_owned()),
        // Those of kind and id may be numbers, which are read as they are written.
        ("kind" | "id", _) | (_, Value::String(_)) => None,
        (key, _) => Some(format!("says `{key}` with no text: write it in quotes")),
    }
}
