//! Tombstones: recent deletions by trueup, so that a reference to a deleted object is recognized. Pure.
//!
//! Invariants:
//! - a tombstone is about one object of one cluster, known by its identity and not by its name;
//! - what was brought back, by whichever plan, has none; neither has what was deleted longer ago than
//!   [`TOMBSTONE_TIME`];
//! - a finding only gains by one: a code, a line of evidence, and one action more, which is not ticked.
//!
//! Elsewhere: reading the journal (`cli`), and bringing back what can be compared with the cluster first ([`super::undo()`]).

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::action::{ActionDraft, Reason, Restores, Stake, Target, Undo, Verb};
use super::approve::short_id;
use super::build::Judged;
use super::change::{Change, ObjectBackup};
use super::finding::{Evidence, State, SubjectId};
use super::journal::{ActionEntry, ActionStanding, Entry, Sent, VerifiedState};
use super::reference::ObjectRef;
use super::undo::is_gone;
use crate::world::{Cluster, ClusterIdentity, Resource};

/// How long a delete is remembered this way: what was not missed for a week was not needed.
pub const TOMBSTONE_TIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The code of a finding whose object trueup deleted.
pub const DELETED_BY_TRUEUP: &str = "deleted-by-trueup";

/// An object that trueup deleted, verified gone, and not restored through trueup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    pub plan: String,
    pub action: String,
    /// The cluster's name in the plan.
    pub cluster: String,
    pub identity: ClusterIdentity,
    pub target: ObjectRef,
    pub deleted_at: Timestamp,
    /// The name of the sealed file in the vault.
    pub backup: Option<String>,
}

/// What was deleted within [`TOMBSTONE_TIME`] and not brought back.
pub fn tombstones(entries: &[Entry], now: Timestamp) -> Vec<Tombstone> {
    // The latest of several that stood on one place counts.
    let mut stones: BTreeMap<Place, Tombstone> = BTreeMap::new();
    let mut restored: BTreeMap<Place, Timestamp> = BTreeMap::new();
    for entry in entries {
        for action in &entry.actions {
            let Some((sent, identity)) = sent_to(entry, action) else { continue };
            let place = place(identity, &sent.target);
            if is_restored(&action.standing) {
                restored.insert(place, sent.at);
            } else if let Some(stone) = stone(entry, action, sent, identity, now) {
                stones.insert(place, stone);
            }
        }
    }
    let still_gone = |place: &Place, stone: &Tombstone| restored.get(place).is_none_or(|at| *at < stone.deleted_at);
    stones.into_iter().filter(|(place, stone)| still_gone(place, stone)).map(|(_, stone)| stone).collect()
}

/// Says of every missing object that trueup deleted it, and offers to bring it back. `resources` are the kinds that are
/// looked at; no other kind can be addressed.
pub fn raise(judged: &mut [Judged], stones: &[Tombstone], clusters: &[&Cluster], resources: &[Resource]) {
    if stones.is_empty() {
        return;
    }
    let identities: BTreeMap<&str, ClusterIdentity> = clusters
        .iter()
        .map(|cluster| (cluster.name.as_str(), ClusterIdentity::of(cluster)))
        .filter(|(_, identity)| identity.is_known())
        .collect();
    for one in judged.iter_mut().filter(|one| is_missed(one)) {
        let identity = identities.get(one.subject.cluster.as_str());
        let Some(stone) = stones.iter().find(|stone| Some(&stone.identity) == identity && stone.is_of(&one.subject))
        else {
            continue;
        };
        let resource = resources
            .iter()
            .find(|resource| resource.kind == one.subject.kind && resource.api_version() == one.subject.api_version);
        mark(one, stone, resource);
    }
}

impl Tombstone {
    /// `trueup deleted it at 2026-11-16T10:00:00Z, plan 1a2b3c4d/a1`.
    pub fn message(&self) -> String {
        format!("trueup deleted it at {}, plan {}", whole_second(self.deleted_at), self.entry())
    }

    /// What `trueup undo` takes: `1a2b3c4d/a1`.
    pub fn entry(&self) -> String {
        format!("{}/{}", short_id(&self.plan), self.action)
    }

    /// Whether a subject of its cluster has its name.
    pub fn is_of(&self, subject: &SubjectId) -> bool {
        let ObjectRef { api_version, kind, namespace, name, uid: _, cloud: _ } = &self.target;
        (api_version.as_str(), kind.as_str(), namespace, name)
            == (subject.api_version, subject.kind, &subject.namespace, &subject.name)
    }
}

/// Cluster, kind and name.
type Place = (ClusterIdentity, String, String, Option<String>, String);

fn place(identity: &ClusterIdentity, target: &ObjectRef) -> Place {
    let ObjectRef { api_version, kind, namespace, name, uid: _, cloud: _ } = target.clone();
    (identity.clone(), api_version, kind, namespace, name)
}

fn sent_to<'e>(entry: &'e Entry, action: &'e ActionEntry) -> Option<(&'e Sent, &'e ClusterIdentity)> {
    let sent = action.sent.as_ref()?;
    let mut clusters = entry.approvals.iter().rev().flat_map(|approval| &approval.clusters);
    let cluster = clusters.find(|cluster| cluster.name == sent.cluster)?;
    Some((sent, &cluster.identity))
}

fn stone(
    entry: &Entry,
    action: &ActionEntry,
    sent: &Sent,
    identity: &ClusterIdentity,
    now: Timestamp,
) -> Option<Tombstone> {
    // An undo that came to nothing is a create without a backup of its own; the delete it was for has the tombstone.
    let was_deleted = sent.verb == Verb::Delete || (sent.verb == Verb::Create && action.backup.is_some());
    let recent = now.duration_since(sent.at) < TOMBSTONE_TIME;
    (was_deleted && recent && is_gone(sent.verb, &action.standing)).then(|| Tombstone {
        plan: entry.plan.clone(),
        action: action.id.clone(),
        cluster: sent.cluster.clone(),
        identity: identity.clone(),
        target: sent.target.clone(),
        deleted_at: sent.at,
        backup: action.backup.clone(),
    })
}

fn is_restored(standing: &ActionStanding) -> bool {
    match standing {
        ActionStanding::Verified { state, .. } => *state == VerifiedState::Restored,
        ActionStanding::Prepared
        | ActionStanding::Open
        | ActionStanding::Answered(_)
        | ActionStanding::Resolved(_)
        | ActionStanding::Skipped { .. } => false,
    }
}

/// Whether something wants the subject and it is not there.
fn is_missed(one: &Judged) -> bool {
    let wanted = match one.judgement.state {
        State::Missing | State::Drift | State::Stale | State::Error | State::Blocked => true,
        State::Match | State::Extra | State::Unknown => false,
    };
    wanted && one.explanation.uid.is_none()
}

fn mark(one: &mut Judged, stone: &Tombstone, resource: Option<&Resource>) {
    one.judgement.codes.push(DELETED_BY_TRUEUP);
    one.judgement.codes.sort_unstable();
    one.explanation.summary = format!("{}; {}", one.explanation.summary, stone.message());
    one.explanation.evidence.push(Evidence {
        message: format!("{} ({}), and it was seen gone", stone.message(), stone.plan),
        object: format!("journal {}", stone.entry()),
        field: "verified".to_owned(),
        resource_version: String::new(),
    });
    if let (Some(backup), Some(resource)) = (&stone.backup, resource) {
        one.explanation.remedy.push(restore(&one.subject, *resource, backup, stone));
    }
}

/// The one step that brings it back. Its owners stay away: only `trueup undo` reads which of them live.
fn restore(subject: &SubjectId, resource: Resource, backup: &str, stone: &Tombstone) -> ActionDraft {
    let name = subject.namespace.as_ref().map_or_else(
        || format!("{} {}", subject.kind, subject.name),
        |namespace| format!("{} {namespace}/{}", subject.kind, subject.name),
    );
    ActionDraft {
        domain: subject.domain,
        restores: Some(Restores { plan: stone.plan.clone(), action: stone.action.clone() }),
        target: Target {
            cluster: subject.cluster.clone(),
            resource,
            namespace: subject.namespace.clone(),
            name: subject.name.clone(),
            uid: None,
            version: None,
            cloud: None,
        },
        judged: None,
        source: None,
        // Somebody chose to delete it; that it comes back is a choice as well.
        selected: false,
        reason: Reason::Missing,
        ownership: vec![stone.message()],
        stake: Stake::Reversible,
        diff: format!("+ {name}, from its backup\n  without its uid, creation time, status and owners\n"),
        change: Change::CreateFromBackup(ObjectBackup { backup: backup.to_owned(), owners: Vec::new() }),
        undo: Undo::DeleteWhatWasCreated,
        depends_on: Vec::new(),
        rests_on: Vec::new(),
        blocked_by: Vec::new(),
        group: None,
        memory: None,
        managed_by: None,
    }
}

fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

#[cfg(test)]
mod tests;
