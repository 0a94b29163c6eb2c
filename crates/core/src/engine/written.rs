//! The fields of an object that a change writes, to be compared with those another field manager owns.

use super::change::{
    ApplyChange, Change, ContentBackup, Copying, CreateChange, FieldChange, Labels, MetadataChange, UpdateChange,
};
use crate::world::{FieldPath, patched_paths};

impl Change {
    /// The fields of an existing object that it writes. A delete, a create and a change of tags write none.
    pub fn written_fields(&self) -> Vec<FieldPath> {
        match self {
            Self::Label(change) => metadata("labels", change),
            Self::Annotate(change) => metadata("annotations", change),
            Self::Create(CreateChange { copy, labels, content_type: _, owner: _ })
            | Self::Update(UpdateChange { copy, labels }) => [copied(copy), labelled(labels)].concat(),
            Self::Apply(ApplyChange { copy, data, labels }) => {
                let copied = copy.as_ref().map(copied).unwrap_or_default();
                [copied, keys(data.keys()), labelled(labels)].concat()
            }
            Self::UpdateFromBackup(ContentBackup { backup: _, keys: written, labels })
            | Self::ApplyFromBackup(ContentBackup { backup: _, keys: written, labels }) => {
                [keys(written), labelled(labels)].concat()
            }
            Self::Patch(FieldChange { patch, export: _ }) => patched_paths(patch),
            Self::Delete | Self::CreateFromBackup(_) | Self::Tag(_) | Self::Untag(_) | Self::ReOwn(_) => Vec::new(),
        }
    }
}

fn metadata(field: &str, change: &MetadataChange) -> Vec<FieldPath> {
    below(&["metadata", field], change.set.keys().chain(&change.remove))
}

fn labelled(labels: &Labels) -> Vec<FieldPath> {
    below(&["metadata", "labels"], labels.keys())
}

fn copied(copy: &Copying) -> Vec<FieldPath> {
    keys(copy.keys.keys().chain(&copy.remove))
}

fn keys<'k>(keys: impl IntoIterator<Item = &'k String>) -> Vec<FieldPath> {
    below(&["data"], keys)
}

fn below<'k>(parents: &[&str], names: impl IntoIterator<Item = &'k String>) -> Vec<FieldPath> {
    let path = |name: &String| parents.iter().map(|parent| (*parent).to_owned()).chain([name.clone()]).collect();
    names.into_iter().map(path).collect()
}
