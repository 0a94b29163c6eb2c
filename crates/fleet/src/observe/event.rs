//! One event of a watch.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use trueup_core::decode::Undecodable;

/// An event, its object still as text.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// The object exists, in this form.
    Put(&'a str),
    /// The object was deleted, or no longer matches the selector.
    Removed(&'a str),
    /// A bookmark: no other events up to this version.
    Bookmark(&'a str),
    /// The watch ends with this status code.
    Failed { code: u16 },
}

/// Parses an event's envelope.
///
/// # Errors
/// Not JSON, or not an event. The error has the position, never the content.
pub(super) fn read(line: &[u8]) -> Result<Event<'_>, Undecodable> {
    let wire: Wire<'_> = serde_json::from_slice(line)?;
    let object = wire.object.get();
    match wire.kind.as_ref() {
        "ADDED" | "MODIFIED" => Ok(Event::Put(object)),
        "DELETED" => Ok(Event::Removed(object)),
        "BOOKMARK" => Ok(Event::Bookmark(object)),
        "ERROR" => Ok(Event::Failed { code: serde_json::from_str::<StatusWire>(object)?.code }),
        _ => Err(Undecodable { line: 1, column: 1 }),
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct StatusWire {
    #[serde(default)]
    code: u16,
}
