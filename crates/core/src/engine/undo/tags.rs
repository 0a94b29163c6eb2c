//! Undo of a tag change, and why a deletion in a cloud cannot be undone.
//!
//! Invariants: tags are put back only where the resource has exactly those the plan left it with; a later change is not
//! overwritten.

use std::collections::{BTreeMap, BTreeSet};

use super::Look;
use super::inverse::{Applied, Inverse, Same, action, may_be_done, place, same_object};
use crate::engine::action::{Reason, Undo};
use crate::engine::change::{Change, Remember, TagChange};
use crate::engine::journal::{ActionEntry, Entry, LabelChange, Sent, memory_of};
use crate::engine::plan::{Action, Preconditions};
use crate::engine::reference::{CloudRef, cloud_tags};
use crate::engine::text::{Charset, printable};
use crate::engine::tier::Tier;

/// How long IBM Cloud keeps what its resource controller has deleted.
const RECLAIMABLE_DAYS: u32 = 7;

/// The kinds whose deletion there takes time to finish.
const RECLAIMABLE_KINDS: [&str; 2] = ["workspace", "cos-instance"];

/// Puts the tags of a resource back to what they were.
pub(super) fn put_tags_back(applied: Applied<'_>, look: &Look) -> Result<Inverse, String> {
    let Applied { entry, done, sent } = applied;
    let LabelChange { before, after: _ } = sent.labels.as_ref().ok_or("the journal does not hold the earlier tags")?;
    let place = place(&sent.target);
    let Same { resource_version, .. } = same_object(sent, look)?;
    let tags = cloud_tags(resource_version);
    let of = |was_there: bool| before.iter().filter(move |(_, value)| value.is_some() == was_there).map(|(tag, _)| tag);
    let set: Vec<String> = of(true).filter(|tag| !tags.contains(*tag)).cloned().collect();
    let remove: Vec<String> = of(false).filter(|tag| tags.contains(*tag)).cloned().collect();
    let change = match (set.is_empty(), remove.is_empty()) {
        (true, true) => return Err(format!("tags of {place} are already as before")),
        (false, true) => Change::Tag,
        (true, false) => Change::Untag,
        (false, false) => Change::ReOwn,
    };
    if !left_with(entry, done).contains(&tags) {
        return Err(format!("tags of {place} changed after apply; review it"));
    }
    let mut diff = format!("  {place}\n");
    let line = |sign: char, tag: &str| format!("{sign}   tag {}\n", printable(tag, Charset::Unicode));
    diff.extend(remove.iter().map(|tag| line('-', tag)));
    diff.extend(set.iter().map(|tag| line('+', tag)));
    let remember = forget(applied, &set, &remove);
    let change = change(TagChange { set, remove, remember });
    let preconditions = Preconditions { tags: Some(tags.into_iter().collect()), ..Preconditions::default() };
    let action = Action {
        reason: Reason::Differs,
        // Whether a tag says whose the resource is, is not in the journal, so it is taken for one that does.
        tier: Tier::T3,
        undo: Undo::PutTagsBack,
        ..action(applied, sent.target.clone(), preconditions, diff, change)
    };
    Ok(Inverse { action, not_restored: Vec::new() })
}

/// What was remembered with the tags, undone with them; nothing where nothing was.
fn forget(applied: Applied<'_>, set: &[String], remove: &[String]) -> Option<Remember> {
    let Applied { entry, done, sent } = applied;
    let memory = entry.actions.iter().find(|one| one.id == memory_of(&done.id) && may_be_done(&one.standing))?;
    let written = memory.sent.as_ref()?;
    let (annotation, after) = written.annotations.as_ref()?.after.iter().next()?;
    let id = sent.target.cloud.as_ref()?.id.clone();
    let held: BTreeMap<String, Vec<String>> = serde_json::from_str(after.as_deref()?).ok()?;
    let mut tags: BTreeSet<String> = held.get(&id).into_iter().flatten().cloned().collect();
    tags.extend(set.iter().cloned());
    tags.retain(|tag| !remove.contains(tag));
    Some(Remember {
        cluster: written.cluster.clone(),
        object: written.target.clone(),
        annotation: annotation.clone(),
        tags: [(id, tags.into_iter().collect())].into(),
        converted: BTreeMap::new(),
    })
}

/// The tags a resource had after an action, and after each action of the same plan that came upon it later.
fn left_with(entry: &Entry, done: &ActionEntry) -> Vec<BTreeSet<String>> {
    let Some(first) = done.sent.as_ref() else { return Vec::new() };
    let mut left: Vec<BTreeSet<String>> = changed(first).into_iter().collect();
    let later = entry.actions.iter().filter(|one| one.id != done.id).filter_map(|one| one.sent.as_ref());
    let mut later: Vec<&Sent> = later.filter(|sent| sent.target == first.target && sent.at >= first.at).collect();
    later.sort_by_key(|sent| sent.at);
    for sent in later {
        let began = sent.resource_version.as_deref().map(cloud_tags);
        if began.is_some() && began.as_ref() == left.last() {
            left.extend(changed(sent));
        }
    }
    left
}

/// The tags of a resource once a request was carried out: those it was bound to, but for what it changed.
fn changed(sent: &Sent) -> Option<BTreeSet<String>> {
    let mut tags = cloud_tags(sent.resource_version.as_deref()?);
    for (tag, value) in &sent.labels.as_ref()?.after {
        match value {
            Some(_) => tags.insert(tag.clone()),
            None => tags.remove(tag),
        };
    }
    Some(tags)
}

/// How many days IBM Cloud keeps a deleted resource of this kind for its reclamations.
pub fn reclaimable_days(cloud: &CloudRef) -> Option<u32> {
    RECLAIMABLE_KINDS.contains(&cloud.kind.as_str()).then_some(RECLAIMABLE_DAYS)
}

/// Why what was deleted in a cloud is not brought back from here.
pub(super) fn no_way_back(cloud: &CloudRef) -> String {
    let kind = &cloud.kind;
    if RECLAIMABLE_KINDS.contains(&kind.as_str()) {
        return format!(
            "trueup cannot restore a {kind}, but IBM Cloud keeps it for up to {RECLAIMABLE_DAYS} days: find {} with `ibmcloud resource reclamations` and restore it with `ibmcloud resource reclamation-restore`",
            cloud.id
        );
    }
    format!("a deleted {kind} of a cloud has no backup; create a new one")
}
