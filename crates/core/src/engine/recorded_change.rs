//! What a session recording holds of a drafted write: its verb.
//!
//! Invariants: no content of a write is recorded, and a draft that was read from a recording can be shown and not sent: it
//! writes nothing, or restores from a sealed file without a name.

use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
use serde_json::Map;

use super::action::Verb;
use super::change::{Change, ContentBackup, FieldChange, MetadataChange, ObjectBackup, TagChange};

pub fn serialize<S: Serializer>(change: &Change, serializer: S) -> Result<S::Ok, S::Error> {
    change.verb().serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Change, D::Error> {
    Verb::deserialize(deserializer).map(without_content)
}

fn without_content(verb: Verb) -> Change {
    let content = || ContentBackup { backup: String::new(), keys: Vec::new(), labels: Default::default() };
    match verb {
        Verb::Create => Change::CreateFromBackup(ObjectBackup { backup: String::new(), owners: Vec::new() }),
        Verb::Apply => Change::ApplyFromBackup(content()),
        Verb::Update => Change::UpdateFromBackup(content()),
        Verb::Label => Change::Label(MetadataChange::default()),
        Verb::Annotate => Change::Annotate(MetadataChange::default()),
        Verb::Patch => Change::Patch(FieldChange { patch: Map::new(), export: Vec::new() }),
        Verb::Delete => Change::Delete,
        Verb::Tag => Change::Tag(TagChange::default()),
        Verb::Untag => Change::Untag(TagChange::default()),
        Verb::ReOwn => Change::ReOwn(TagChange::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_draft_keeps_its_verb() {
        for verb in Verb::ALL {
            assert_eq!(without_content(verb).verb(), verb);
        }
    }
}
