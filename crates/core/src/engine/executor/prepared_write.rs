//! The request of an action, with everything it needs.
//!
//! Invariants: a change or delete is bound to the uid and version of the object; a create needs a free name.

use std::collections::BTreeMap;

use super::content::{Addressed, Bytes, Content, MetadataChanges, NewObject, Patch};
use super::ports::{Reading, Seen, VaultPort, Write};
use super::report::ActionResult;
use super::verdict::difference;
use crate::engine::journal::{FieldRecord, LabelChange};
use crate::engine::vault::RESTORED_FROM;
use crate::engine::{
    Action, Change, ContentBackup, CreateChange, FieldChange, JudgedFields, Labels, MetadataChange, NotCanonical,
    ObjectBackup, ObjectRef, Preconditions, TagChange, WrittenContent, canonical_text, cloud_version, fields_at,
    short_id,
};

/// The exact object of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    pub uid: String,
    /// The version in the request.
    pub resource_version: String,
    /// The judged state, where controllers change the version: the last read version is used.
    pub judged: Option<JudgedFields>,
}

impl Bound {
    /// Why an object is not the one a plan was made for; nothing when it is.
    pub fn difference(&self, reading: &Reading) -> Option<String> {
        match (&self.judged, reading) {
            (Some(judged), Reading::Present(seen)) => {
                let changed = || Some("what was judged of it changed since the plan was made".to_owned());
                let other = difference(&self.uid, &seen.resource_version, reading);
                other.or_else(|| if judged.are_in(&seen.json) { None } else { changed() })
            }
            (Some(_) | None, reading) => difference(&self.uid, &self.resource_version, reading),
        }
    }
}

/// The write of an action.
pub(super) enum PreparedWrite {
    Delete {
        bound: Bound,
    },
    Change {
        bound: Bound,
        patch: Patch,
    },
    /// Unbound when the object does not exist.
    Apply {
        bound: Option<Bound>,
        patch: Patch,
    },
    Create {
        object: Bytes,
        proof: Proof,
    },
}

/// How an existing object is recognized as the result of the create.
pub(super) enum Proof {
    /// By its restore annotation.
    Mark(String),
    /// By this content.
    Content(Patch),
}

impl PreparedWrite {
    /// The write of an action of a plan. `source` is the copied content.
    ///
    /// # Errors
    /// The result of an action that lacks required fields.
    pub fn of(
        action: &Action,
        plan: &str,
        source: Option<&Content>,
        vault: &dyn VaultPort,
    ) -> Result<Self, ActionResult> {
        let bound =
            || bound_of(action).ok_or_else(|| ActionResult::gated("identity: the plan does not bind the object"));
        match &action.change {
            Change::Delete => Ok(Self::Delete { bound: bound()? }),
            Change::Label(MetadataChange { set, remove }) => {
                Ok(Self::Change { bound: bound()?, patch: Patch::labels(set.clone(), remove.clone()) })
            }
            Change::Annotate(MetadataChange { set, remove }) => {
                Ok(Self::Change { bound: bound()?, patch: Patch::annotations(set.clone(), remove.clone()) })
            }
            Change::Update(_) => Ok(Self::Change { bound: bound()?, patch: written(action, source)? }),
            Change::Apply(_) => Ok(Self::Apply { bound: bound_of(action), patch: written(action, source)? }),
            Change::Create(change) => create(action, change, source),
            Change::UpdateFromBackup(change) => {
                Ok(Self::Change { bound: bound()?, patch: written_back(action, change, vault)? })
            }
            Change::ApplyFromBackup(change) => {
                Ok(Self::Apply { bound: bound_of(action), patch: written_back(action, change, vault)? })
            }
            Change::CreateFromBackup(change) => restore(action, change, plan, vault),
            Change::Patch(FieldChange { patch, export: _ }) => {
                Ok(Self::Change { bound: bound()?, patch: Patch::fields(patch.clone()) })
            }
            Change::Tag(TagChange { set, remove, remember: _ })
            | Change::Untag(TagChange { set, remove, remember: _ })
            | Change::ReOwn(TagChange { set, remove, remember: _ }) => {
                Ok(Self::Change { bound: bound()?, patch: Patch::tags(set.clone(), remove.clone()) })
            }
        }
    }

    /// The request.
    pub fn write<'w>(&'w self, target: &'w ObjectRef) -> Write<'w> {
        match self {
            Self::Delete { bound: Bound { uid, resource_version, .. } } => {
                Write::Delete { target, uid, resource_version }
            }
            Self::Change { bound: Bound { uid, resource_version, .. }, patch } => {
                Write::Change { target, uid, resource_version, patch }
            }
            Self::Apply { bound, patch } => {
                let bound = bound.as_ref().map(|bound| (bound.uid.as_str(), bound.resource_version.as_str()));
                Write::Apply { target, bound, patch }
            }
            Self::Create { object, proof: _ } => Write::Create { target, object },
        }
    }

    /// The existing object that it changes or deletes.
    pub fn bound(&self) -> Option<&Bound> {
        match self {
            Self::Delete { bound } | Self::Change { bound, .. } => Some(bound),
            Self::Apply { bound, .. } => bound.as_ref(),
            Self::Create { .. } => None,
        }
    }

    /// Binds the request to the version that was just read, where the plan binds the judged state.
    ///
    /// # Assumes
    /// `early_result` is `None` for the same reading.
    pub fn bind_again(&mut self, reading: &Reading) {
        let bound = match self {
            Self::Delete { bound } | Self::Change { bound, .. } => Some(bound),
            Self::Apply { bound, .. } => bound.as_mut(),
            Self::Create { .. } => None,
        };
        if let (Some(bound), Reading::Present(seen)) = (bound, reading)
            && bound.judged.is_some()
        {
            bound.resource_version = seen.resource_version.clone();
        }
    }

    /// Changed or created content; `None` for a delete and for a restore.
    pub fn patch(&self) -> Option<&Patch> {
        match self {
            Self::Delete { .. } | Self::Create { proof: Proof::Mark(_), .. } => None,
            Self::Change { patch, .. } | Self::Apply { patch, .. } => Some(patch),
            Self::Create { proof: Proof::Content(patch), .. } => Some(patch),
        }
    }

    /// Whether the object must be sealed before the request, because the journal alone cannot restore it.
    pub fn needs_backup(&self) -> bool {
        match self {
            Self::Delete { .. } => true,
            Self::Change { patch, .. } => !patch.data.is_empty() || !patch.fields.is_empty(),
            Self::Apply { bound, .. } => bound.is_some(),
            Self::Create { .. } => false,
        }
    }

    /// Why it must not be sent, given the reading; `None` if it may.
    pub fn conflict(&self, reading: &Reading) -> Option<String> {
        match (self.bound(), reading) {
            (Some(bound), reading) => bound.difference(reading),
            (None, Reading::Absent) => None,
            (None, Reading::Present(_)) => Some("another object has the name".to_owned()),
            (None, Reading::Unknown(why)) => Some(format!("whether the name is free is unknown: {why}")),
        }
    }

    /// The result without a request, given the reading; `None` if it may be sent.
    pub fn early_result(&self, kind: &str, reading: &Reading) -> Option<ActionResult> {
        if self.is_fulfilled(kind, reading) {
            return Some(ActionResult::Already);
        }
        let Some(why) = self.conflict(reading) else { return self.unrecordable(reading) };
        Some(match reading {
            Reading::Unknown(_) => ActionResult::gated(format!("not-complete: {why}")),
            Reading::Present(_) | Reading::Absent => ActionResult::stale(why),
        })
    }

    /// The refusal of a change whose old fields the journal cannot hold, so that no undo could restore them.
    fn unrecordable(&self, reading: &Reading) -> Option<ActionResult> {
        let Reading::Present(seen) = reading else { return None };
        let FieldRecord { before, after: _ } = self.field_record(seen)?;
        let NotCanonical { place, number } = canonical_text(&before).err()?;
        Some(ActionResult::gated(format!("backup: field {place} is {number}, and the journal holds integers only")))
    }

    /// Whether the object is already in the desired state.
    pub fn is_fulfilled(&self, kind: &str, reading: &Reading) -> bool {
        let is_deleting = matches!(reading, Reading::Present(seen) if seen.deleting);
        !is_deleting && self.is_written(kind, reading)
    }

    /// Whether the object holds what was sent, also while the object is being deleted.
    pub fn is_written(&self, kind: &str, reading: &Reading) -> bool {
        let Reading::Present(seen) = reading else { return false };
        let same = self.bound().is_none_or(|bound| bound.uid == seen.uid);
        same && self.patch().is_some_and(|patch| patch.is_in(kind, seen))
    }

    /// Old and new labels and annotations, for undo; `None` without changes.
    pub fn mark_changes(&self, seen: &Seen) -> (Option<LabelChange>, Option<LabelChange>) {
        let Some(patch) = self.patch() else { return (None, None) };
        let change = |after: &MetadataChanges, found: &BTreeMap<String, String>| {
            let before = after.keys().map(|key| (key.clone(), found.get(key).cloned())).collect();
            (!after.is_empty()).then(|| LabelChange { before, after: after.clone() })
        };
        (change(&patch.labels, &seen.labels), change(&patch.annotations, &seen.annotations))
    }

    /// Old and new fields, for undo.
    pub fn field_record(&self, seen: &Seen) -> Option<FieldRecord> {
        let after = self.patch()?.field_patch()?;
        let object: serde_json::Value = serde_json::from_slice(&seen.json).ok()?;
        Some(FieldRecord { before: fields_at(&object, &after), after })
    }

    /// The keys of the content it writes.
    pub fn keys(&self) -> Vec<String> {
        self.patch().map(|patch| patch.data.keys().cloned().collect()).unwrap_or_default()
    }
}

fn bound_of(action: &Action) -> Option<Bound> {
    if let Some(cloud) = &action.target.cloud {
        // A cloud has no versions: the judged tags are the version.
        let tags = action.preconditions.tags.as_deref()?;
        return Some(Bound { uid: cloud.id.clone(), resource_version: cloud_version(tags), judged: None });
    }
    let Preconditions { uid, resource_version, judged, source: _, tags: _, state: _ } = action.preconditions.clone();
    match (uid, resource_version, judged) {
        (Some(uid), Some(resource_version), None) => Some(Bound { uid, resource_version, judged: None }),
        // The version is read right before the request.
        (Some(uid), None, Some(judged)) => Some(Bound { uid, resource_version: String::new(), judged: Some(judged) }),
        (None, ..) | (Some(_), None, None) | (Some(_), Some(_), Some(_)) => None,
    }
}

/// The content a create, update or apply writes. `source` is what it copies.
fn written(action: &Action, source: Option<&Content>) -> Result<Patch, ActionResult> {
    let Some(WrittenContent { copy, data: shown, labels }) = action.change.content() else {
        return Ok(Patch::default());
    };
    let mut data: BTreeMap<String, Option<Bytes>> = BTreeMap::new();
    let shown = shown.into_iter().flatten();
    data.extend(shown.map(|(key, text)| (key.clone(), Some(Bytes::new(text.clone().into_bytes())))));
    if let (Some(copying), Some(source)) = (copy, source) {
        for (key, from) in &copying.keys {
            let bytes = source.get(from).cloned();
            let said = data.insert(key.clone(), bytes.clone());
            if said.is_some() && said != Some(bytes) {
                return Err(ActionResult::stale(format!("its source does not hold what the plan shows for `{key}`")));
            }
        }
        data.extend(copying.remove.iter().map(|key| (key.clone(), None)));
    }
    patch_of(action, data, labels)
}

/// The content a backup writes back.
fn written_back(action: &Action, change: &ContentBackup, vault: &dyn VaultPort) -> Result<Patch, ActionResult> {
    let ContentBackup { backup, keys, labels } = change;
    let sealed = vault.open(backup).map_err(|why| ActionResult::gated(format!("backup: {why}")))?;
    let before = Content::of(&action.target.kind, &sealed)
        .map_err(|why| ActionResult::gated(format!("backup: of it, {why}")))?;
    patch_of(action, keys.iter().map(|key| (key.clone(), before.get(key).cloned())).collect(), labels)
}

fn patch_of(action: &Action, data: BTreeMap<String, Option<Bytes>>, labels: &Labels) -> Result<Patch, ActionResult> {
    let is_text = |bytes: &Option<Bytes>| bytes.as_ref().is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
    if action.target.kind != "Secret" && !data.values().all(is_text) {
        return Err(ActionResult::gated(format!("a {} holds text, and its source does not", action.target.kind)));
    }
    Ok(Patch { labels: labels.clone(), data, ..Patch::default() })
}

fn restore(
    action: &Action,
    change: &ObjectBackup,
    plan: &str,
    vault: &dyn VaultPort,
) -> Result<PreparedWrite, ActionResult> {
    let mark = format!("{}/{}", short_id(plan), action.id);
    let owners = change.owners.iter().filter_map(|owner| owner.uid.clone()).collect();
    let object = vault
        .restorable(&change.backup, &mark, &owners)
        .map_err(|why| ActionResult::gated(format!("backup: {why}")))?;
    Ok(PreparedWrite::Create { object, proof: Proof::Mark(mark) })
}

fn create(action: &Action, change: &CreateChange, source: Option<&Content>) -> Result<PreparedWrite, ActionResult> {
    let patch = written(action, source)?;
    let new = NewObject { content_type: change.content_type.as_deref(), owner: change.owner.as_ref() };
    let addressed = Addressed::InBody { target: &action.target, bound: None };
    let object = patch.body(&action.target.kind, addressed, new);
    Ok(PreparedWrite::Create { object, proof: Proof::Content(patch) })
}

/// The owners of a new object, as its plan shows them.
pub(super) fn owners_shown(action: &Action) -> Vec<ObjectRef> {
    match &action.change {
        Change::CreateFromBackup(ObjectBackup { owners, .. }) => owners.clone(),
        Change::Create(CreateChange { owner, .. }) => {
            owner.iter().map(|owner| owner.object(action.target.namespace.as_deref())).collect()
        }
        Change::Delete
        | Change::Label(_)
        | Change::Annotate(_)
        | Change::Update(_)
        | Change::Apply(_)
        | Change::UpdateFromBackup(_)
        | Change::ApplyFromBackup(_)
        | Change::Patch(_)
        | Change::Tag(_)
        | Change::Untag(_)
        | Change::ReOwn(_) => Vec::new(),
    }
}

/// Whether the restore annotation of an object names this action.
pub(super) fn is_marked(seen: &Seen, mark: &str) -> bool {
    seen.annotations.get(RESTORED_FROM).is_some_and(|found| found == mark)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use zeroize::Zeroizing;

    use super::*;

    fn seen(spec: &Value) -> Reading {
        Reading::Present(Box::new(Seen {
            uid: "u".to_owned(),
            resource_version: "7".to_owned(),
            deleting: false,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            json: Zeroizing::new(json!({ "spec": spec }).to_string().into_bytes()),
        }))
    }

    #[test]
    fn a_patch_of_a_field_that_holds_a_fraction_is_refused_before_anything_is_recorded() {
        let Value::Object(fields) = json!({ "spec": { "a": 1 } }) else { panic!("an object") };
        let bound = Bound { uid: "u".to_owned(), resource_version: "7".to_owned(), judged: None };
        let write = PreparedWrite::Change { bound, patch: Patch::fields(fields) };
        let refused = write.early_result("Thing", &seen(&json!({ "a": 0.5, "b": 0.25 })));
        let why = "backup: field /spec/a is 0.5, and the journal holds integers only";
        assert_eq!(refused, Some(ActionResult::gated(why)));
        assert_eq!(write.early_result("Thing", &seen(&json!({ "a": 2, "b": 0.25 }))), None, "a field that stays");
    }
}
