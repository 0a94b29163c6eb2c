//! The action that reverses one action, or why there is none.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::tags::{no_way_back, put_tags_back};
use super::{BackupSeen, Look, ObjectNow};
use crate::engine::JudgedFields;
use crate::engine::action::{Reason, Undo, Verb};
use crate::engine::change::{Change, ContentBackup, FieldChange, MetadataChange, ObjectBackup};
use crate::engine::fields::{fields_diff, has_fields};
use crate::engine::journal::{
    ActionEntry, ActionStanding, Answer, Entry, FieldRecord, Found, LabelChange, Sent, VerifiedState,
};
use crate::engine::origin::Origin;
use crate::engine::plan::{Action, Preconditions};
use crate::engine::reference::ObjectRef;
use crate::engine::tier::Tier;

/// An action that reverses another one, and what it does not restore.
#[derive(Debug)]
pub(super) struct Inverse {
    pub action: Action,
    pub not_restored: Vec<String>,
}

/// An applied action: what the journal holds of it.
#[derive(Clone, Copy)]
pub(super) struct Applied<'e> {
    pub entry: &'e Entry,
    pub done: &'e ActionEntry,
    pub sent: &'e Sent,
}

/// How an action is reversed.
#[derive(Debug, Clone, Copy)]
enum WayBack {
    Restore,
    Delete,
    Metadata(MetadataKind),
    Content,
    Fields,
    Tags,
}

/// Returns the action that reverses an action of an entry.
///
/// # Errors
/// One sentence: why there is none.
pub(super) fn inverse(entry: &Entry, done: &ActionEntry, look: Option<&Look>) -> Result<Inverse, String> {
    let sent = done.sent.as_ref().ok_or(NOTHING_SENT)?;
    let way = way_back(done, sent)?;
    let look = look.ok_or("the object was not read")?;
    let applied = Applied { entry, done, sent };
    match way {
        WayBack::Restore => restore(applied, look),
        WayBack::Delete => unmake(applied, look),
        WayBack::Metadata(kind) => put_metadata_back(applied, look, kind),
        WayBack::Content => put_content_back(applied, look),
        WayBack::Fields => put_fields_back(applied, look),
        WayBack::Tags => put_tags_back(applied, look),
    }
}

/// Whether an action can be undone, as far as the journal knows; what the cluster holds now may still prevent it.
///
/// # Errors
/// One sentence: why not.
pub fn can_undo(done: &ActionEntry) -> Result<(), String> {
    let sent = done.sent.as_ref().ok_or(NOTHING_SENT)?;
    way_back(done, sent).map(|_| ())
}

const NOTHING_SENT: &str = "nothing was sent";
const NO_BACKUP: &str = "it has no backup";

fn way_back(done: &ActionEntry, sent: &Sent) -> Result<WayBack, String> {
    let standing = &done.standing;
    let refused = |why: &str| Err(why.to_owned());
    match sent.verb {
        Verb::Delete if is_gone(sent.verb, standing) => match &sent.target.cloud {
            Some(cloud) => Err(no_way_back(cloud)),
            None if done.backup.is_none() => refused(NO_BACKUP),
            None => Ok(WayBack::Restore),
        },
        Verb::Delete => refused("it was not deleted"),
        // A create after a delete is a restore that was tried; when it came to nothing, the object is still gone.
        Verb::Create if done.backup.is_some() && is_gone(sent.verb, standing) => Ok(WayBack::Restore),
        Verb::Create if done.backup.is_some() && is_restored(standing) => {
            refused("it was restored after its delete, because something refers to it")
        }
        Verb::Create if is_made(standing) || is_restored(standing) => Ok(WayBack::Delete),
        Verb::Create => refused("it was not created by this plan, or it is not known that it was"),
        Verb::Label if may_be_done(standing) => Ok(WayBack::Metadata(MetadataKind::Label)),
        Verb::Label => refused("it was not labelled"),
        Verb::Annotate if may_be_done(standing) => Ok(WayBack::Metadata(MetadataKind::Annotation)),
        Verb::Annotate => refused("it was not annotated"),
        Verb::Apply if is_made(standing) => Ok(WayBack::Delete),
        Verb::Update | Verb::Apply if may_be_done(standing) => Ok(WayBack::Content),
        Verb::Patch if may_be_done(standing) => Ok(WayBack::Fields),
        Verb::Update | Verb::Apply | Verb::Patch => refused("it was not changed"),
        Verb::Tag | Verb::Untag | Verb::ReOwn if may_be_done(standing) => Ok(WayBack::Tags),
        Verb::Tag | Verb::Untag | Verb::ReOwn => refused("its tags were not changed"),
    }
}

/// Whether the object is gone, as far as the journal knows.
pub(in crate::engine) fn is_gone(verb: Verb, standing: &ActionStanding) -> bool {
    match standing {
        ActionStanding::Prepared | ActionStanding::Open | ActionStanding::Skipped { .. } => false,
        ActionStanding::Answered(answer) => match answer {
            Answer::Done | Answer::Gone => verb == Verb::Delete,
            // A restore that was not taken: what was deleted is still deleted.
            Answer::Conflict | Answer::Refused | Answer::Throttled => verb == Verb::Create,
            Answer::Ambiguous => false,
        },
        ActionStanding::Verified { state, .. } => match state {
            VerifiedState::Gone | VerifiedState::Terminating => true,
            // A restore that came to nothing, and a crash before that was set right.
            VerifiedState::Skipped | VerifiedState::Failed => verb == Verb::Create,
            VerifiedState::Changed | VerifiedState::Created | VerifiedState::Restored | VerifiedState::Unknown => false,
        },
        ActionStanding::Resolved(found) => match found {
            Found::Gone | Found::Terminating | Found::Replaced => true,
            Found::Unchanged | Found::Changed => false,
        },
    }
}

/// Whether a change may have been made. Whether it was, what is read tells.
pub(super) fn may_be_done(standing: &ActionStanding) -> bool {
    match standing {
        ActionStanding::Prepared | ActionStanding::Open | ActionStanding::Skipped { .. } => false,
        ActionStanding::Answered(answer) => *answer == Answer::Done,
        ActionStanding::Verified { state, .. } => *state == VerifiedState::Changed,
        ActionStanding::Resolved(found) => *found == Found::Changed,
    }
}

/// Whether the object was seen to be there, and to be made by this action.
fn is_made(standing: &ActionStanding) -> bool {
    match standing {
        ActionStanding::Verified { state, .. } => *state == VerifiedState::Created,
        ActionStanding::Prepared
        | ActionStanding::Open
        | ActionStanding::Skipped { .. }
        | ActionStanding::Answered(_)
        | ActionStanding::Resolved(_) => false,
    }
}

/// Whether the object was seen to be back, from its backup.
fn is_restored(standing: &ActionStanding) -> bool {
    match standing {
        ActionStanding::Verified { state, .. } => *state == VerifiedState::Restored,
        ActionStanding::Prepared
        | ActionStanding::Open
        | ActionStanding::Skipped { .. }
        | ActionStanding::Answered(_)
        | ActionStanding::Resolved(_) => false,
    }
}

/// Creates what was deleted, from its backup.
fn restore(applied: Applied<'_>, look: &Look) -> Result<Inverse, String> {
    let Applied { done, sent, .. } = applied;
    let (file, lost) = opened(done, look)?;
    let place = place(&sent.target);
    match &look.object {
        // The executor reads the name again and refuses one that is taken.
        ObjectNow::Absent | ObjectNow::Unknown(_) => {}
        ObjectNow::Present { uid, .. } if Some(uid) == sent.uid.as_ref() || Some(uid) == sent.target.uid.as_ref() => {
            return Err(format!("{place} is still there, as it was"));
        }
        ObjectNow::Present { uid, .. } => {
            return Err(format!("another object has the name {place} now (uid {uid}); it is not overwritten"));
        }
    }
    let mut not_restored: Vec<String> = lost.iter().map(|what| format!("{place} comes back without {what}")).collect();
    not_restored.extend(look.owners.dropped.iter().map(|why| format!("{place} comes back without {why}")));
    if let ObjectNow::Unknown(why) = &look.object {
        not_restored.push(format!("whether the name {place} is free is not known yet: {why}"));
    }
    let mut diff = format!("+ {place}, from its backup\n");
    diff.extend(look.owners.living.iter().map(|owner| format!("+   owner {}\n", self::place(owner))));
    diff.extend(not_restored.iter().map(|what| format!("  {what}\n")));
    let change = Change::CreateFromBackup(ObjectBackup { backup: file.clone(), owners: look.owners.living.clone() });
    let target = ObjectRef { uid: None, ..sent.target.clone() };
    let preconditions = Preconditions { uid: None, resource_version: None, ..Preconditions::default() };
    let action = Action {
        reason: Reason::Missing,
        tier: Tier::T1,
        undo: Undo::DeleteWhatWasCreated,
        ..action(applied, target, preconditions, diff, change)
    };
    Ok(Inverse { action, not_restored })
}

/// What was put on an object.
#[derive(Debug, Clone, Copy)]
enum MetadataKind {
    Label,
    Annotation,
}

impl MetadataKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Annotation => "annotation",
        }
    }
}

/// Puts labels or annotations back to what they were.
fn put_metadata_back(applied: Applied<'_>, look: &Look, kind: MetadataKind) -> Result<Inverse, String> {
    let sent = applied.sent;
    let change = match kind {
        MetadataKind::Label => &sent.labels,
        MetadataKind::Annotation => &sent.annotations,
    };
    let word = kind.as_str();
    let LabelChange { before, after } =
        change.as_ref().ok_or_else(|| format!("the journal does not hold the earlier {word}s"))?;
    let place = place(&sent.target);
    let Same { resource_version, labels, annotations, uid: _, fields: _ } = same_object(sent, look)?;
    let found = match kind {
        MetadataKind::Label => labels,
        MetadataKind::Annotation => annotations,
    };
    if before.iter().all(|(key, value)| found.get(key) == value.as_ref()) {
        return Err(format!("{word}s of {place} are already as before"));
    }
    if let Some((key, _)) = after.iter().find(|(key, value)| found.get(*key) != value.as_ref()) {
        return Err(format!("{word} {key} of {place} changed after apply; review it"));
    }
    let set = before.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect();
    let remove = before.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key.clone()).collect();
    let change = match kind {
        MetadataKind::Label => Change::Label(MetadataChange { set, remove }),
        MetadataKind::Annotation => Change::Annotate(MetadataChange { set, remove }),
    };
    let preconditions = match kind {
        MetadataKind::Label => Preconditions {
            uid: sent.uid.clone(),
            resource_version: Some(resource_version.to_owned()),
            ..Preconditions::default()
        },
        // Controllers may move the version of an annotated object; only the annotations count here.
        MetadataKind::Annotation => Preconditions {
            uid: sent.uid.clone(),
            resource_version: None,
            judged: Some(annotations_judged(after.keys(), annotations)),
            ..Preconditions::default()
        },
    };
    let diff = format!("  metadata:\n    {word}s:\n{}", metadata_lines(before, after));
    let action = Action {
        reason: Reason::Differs,
        // Whether a label says who owns the object is not in the journal, so it is taken for one that does.
        tier: match kind {
            MetadataKind::Label => Tier::T3,
            MetadataKind::Annotation => Tier::T1,
        },
        undo: Undo::RemoveWhatWasAdded,
        ..action(applied, sent.target.clone(), preconditions, diff, change)
    };
    Ok(Inverse { action, not_restored: Vec::new() })
}

fn metadata_lines(before: &BTreeMap<String, Option<String>>, after: &BTreeMap<String, Option<String>>) -> String {
    let line = |sign: char, (key, value): (&String, &Option<String>)| {
        value.as_ref().map(|value| format!("{sign}     {key}: \"{value}\"\n"))
    };
    let taken = after.iter().filter_map(|one| line('-', one));
    taken.chain(before.iter().filter_map(|one| line('+', one))).collect()
}

/// These annotations, as they are now.
fn annotations_judged<'k>(
    keys: impl Iterator<Item = &'k String>,
    annotations: &BTreeMap<String, String>,
) -> JudgedFields {
    let field = |key: &String| format!("/metadata/annotations/{}", key.replace('~', "~0").replace('/', "~1"));
    let fields: Vec<String> = keys.map(field).collect();
    JudgedFields::of(&json!({ "metadata": { "annotations": annotations } }), &fields)
}

/// Puts patched fields back to what they were.
fn put_fields_back(applied: Applied<'_>, look: &Look) -> Result<Inverse, String> {
    let sent = applied.sent;
    let record = sent.fields.as_ref().ok_or("the journal does not hold the earlier fields")?;
    let FieldRecord { before, after } = record;
    let place = place(&sent.target);
    let Same { uid, resource_version, fields, .. } = same_object(sent, look)?;
    if has_fields(fields, before) {
        return Err(format!("{place} is already as before"));
    }
    if !has_fields(fields, after) {
        return Err(format!("fields of {place} changed after apply; review it"));
    }
    let Value::Object(patch) = before.clone() else {
        return Err(format!("the journal does not hold the earlier fields of {place}"));
    };
    let action = Action {
        reason: Reason::Differs,
        // What the fields decide is not in the journal, so they are taken for what matters most.
        tier: Tier::T3,
        undo: Undo::RestoreFromBackup,
        ..action(
            applied,
            sent.target.clone(),
            bound_to(uid, resource_version),
            fields_diff(after, before),
            Change::Patch(FieldChange { patch, export: Vec::new() }),
        )
    };
    Ok(Inverse { action, not_restored: Vec::new() })
}

/// Puts content and labels back to what they were, from the backup.
fn put_content_back(applied: Applied<'_>, look: &Look) -> Result<Inverse, String> {
    let Applied { done, sent, .. } = applied;
    let (file, _) = opened(done, look)?;
    let Same { uid, resource_version, .. } = same_object(sent, look)?;
    check_untouched(done, sent, resource_version)?;
    let labels = sent.labels.as_ref();
    let mut diff = labels.map_or_else(String::new, |LabelChange { before, after }| {
        format!("  metadata:\n    labels:\n{}", metadata_lines(before, after))
    });
    diff.push_str("  data:\n");
    diff.extend(sent.keys.iter().map(|key| format!("-   {key}: <as it was changed>\n+   {key}: <as in its backup>\n")));
    let before = labels.map(|change| change.before.clone()).unwrap_or_default();
    let content = ContentBackup { backup: file.clone(), keys: sent.keys.clone(), labels: before };
    // Applied content stays ours: an update would give it to a field manager of another name.
    let change = match sent.verb {
        Verb::Apply => Change::ApplyFromBackup(content),
        Verb::Create
        | Verb::Update
        | Verb::Label
        | Verb::Annotate
        | Verb::Patch
        | Verb::Delete
        | Verb::Tag
        | Verb::Untag
        | Verb::ReOwn => Change::UpdateFromBackup(content),
    };
    let preconditions = bound_to(uid, resource_version);
    let action = Action {
        reason: Reason::Differs,
        tier: if labels.is_some() { Tier::T3 } else { Tier::T1 },
        undo: Undo::RestoreFromBackup,
        ..action(applied, sent.target.clone(), preconditions, diff, change)
    };
    Ok(Inverse { action, not_restored: Vec::new() })
}

/// Deletes what was created.
fn unmake(applied: Applied<'_>, look: &Look) -> Result<Inverse, String> {
    let Applied { done, sent, .. } = applied;
    let place = place(&sent.target);
    let Same { uid, resource_version, .. } = same_object(sent, look)?;
    check_untouched(done, sent, resource_version)?;
    let target = ObjectRef { uid: Some(uid.to_owned()), ..sent.target.clone() };
    let action = Action {
        reason: Reason::Differs,
        // The class of the cluster is not in the journal, so it is taken for prod.
        tier: Tier::T3,
        undo: Undo::RestoreFromBackup,
        ..action(applied, target, bound_to(uid, resource_version), format!("- {place}\n"), Change::Delete)
    };
    Ok(Inverse { action, not_restored: Vec::new() })
}

/// The object an action was about, as it is now.
pub(super) struct Same<'l> {
    pub uid: &'l str,
    pub resource_version: &'l str,
    pub labels: &'l BTreeMap<String, String>,
    pub annotations: &'l BTreeMap<String, String>,
    pub fields: &'l Value,
}

/// What has the name, when it is the object the request was for.
pub(super) fn same_object<'l>(sent: &Sent, look: &'l Look) -> Result<Same<'l>, String> {
    let place = place(&sent.target);
    match &look.object {
        ObjectNow::Unknown(why) => Err(format!("{place} cannot be read: {why}")),
        ObjectNow::Absent => Err(format!("{place} is gone")),
        ObjectNow::Present { uid, .. } if sent.uid.as_ref().is_some_and(|of| of != uid) => {
            Err(format!("another object has the name {place} now (uid {uid}); it is left alone"))
        }
        ObjectNow::Present { uid, resource_version, labels, annotations, fields } => {
            Ok(Same { uid, resource_version, labels, annotations, fields })
        }
    }
}

/// Verifies that the object did not change after apply. No digest of content is kept, so the version has to tell.
fn check_untouched(done: &ActionEntry, sent: &Sent, resource_version: &str) -> Result<(), String> {
    let place = place(&sent.target);
    match done.version.as_deref() {
        Some(version) if version == resource_version => Ok(()),
        Some(_) => Err(format!("{place} changed after apply; review it")),
        None => Err(format!("{place} was not read after it was changed; its content is unknown")),
    }
}

/// The sealed file of an action, and what does not come back with it.
fn opened<'d>(done: &'d ActionEntry, look: &'d Look) -> Result<(&'d String, &'d [&'static str]), String> {
    let file = done.backup.as_ref().ok_or(NO_BACKUP)?;
    match &look.backup {
        BackupSeen::Opens { lost } => Ok((file, lost)),
        BackupSeen::Spoiled(why) => Err(format!("backup: {why}")),
        BackupSeen::None => Err(NO_BACKUP.to_owned()),
    }
}

fn bound_to(uid: &str, resource_version: &str) -> Preconditions {
    Preconditions {
        uid: Some(uid.to_owned()),
        resource_version: Some(resource_version.to_owned()),
        ..Preconditions::default()
    }
}

/// What all inverses have in common. Reason, tier and undo are the caller's.
pub(super) fn action(
    Applied { entry, done, sent }: Applied<'_>,
    target: ObjectRef,
    preconditions: Preconditions,
    diff: String,
    change: Change,
) -> Action {
    Action {
        id: done.id.clone(),
        origin: Origin::Undo { plan: entry.plan.clone(), action: done.id.clone() },
        domain: String::new(),
        cluster: sent.cluster.clone(),
        change,
        target,
        preconditions,
        rests_on: Vec::new(),
        selected: true,
        reason: Reason::Differs,
        ownership: Vec::new(),
        tier: Tier::T4,
        diff,
        undo: Undo::None,
        depends_on: Vec::new(),
        blocked_by: Vec::new(),
        group: None,
    }
}

/// `Secret openshift-config/old`.
pub(super) fn place(object: &ObjectRef) -> String {
    format!("{} {}", object.kind, object.place())
}
