//! Undo: the plan that takes back what a plan did. Pure.
//!
//! Always true:
//! - an undo is a plan like any other: shown, named by its id, approved, journalled;
//! - it creates what was deleted, from its backup, and never overwrites what has the name now;
//! - what it can't bring back is said, with the reason.
//!
//! # Limits
//! Labels that were added are not taken off again: the journal holds no content of a change.

use jiff::Timestamp;
use serde_json::json;

use super::action::{Reason, Undo, Verb};
use super::canonical::NotCanonical;
use super::journal::{ActionEntry, ActionStanding, Answer, Entry, Found, Sent, VerifiedState};
use super::plan::{Action, ObjectRef, PLAN_SCHEMA, PLAN_TTL, Plan, Preconditions, Summary, TargetRecord};
use super::tier::Tier;
use crate::world::RiskClass;

/// An undo, and what is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct UndoPlan {
    pub plan: Plan,
    /// One sentence for each action that can't be taken back.
    pub left_out: Vec<String>,
}

/// Plans the inverse of what an entry of the journal did; of one action of it, when `only` names it.
///
/// # Errors
/// Never for what a journal holds: its records have no numbers that are no integers.
pub fn undo(entry: &Entry, only: Option<&str>, now: Timestamp) -> Result<UndoPlan, NotCanonical> {
    let mut left_out = Vec::new();
    let mut actions = Vec::new();
    for done in entry.actions.iter().filter(|action| only.is_none_or(|only| only == action.id)) {
        match inverse(done) {
            Ok(action) => actions.push(action),
            Err(why) => left_out.push(format!("{}: {why}", done.id)),
        }
    }
    actions.sort_by(|one, other| one.id.cmp(&other.id));
    let created_at = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let mut plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        id: String::new(),
        created_at,
        expires_at: created_at.saturating_add(PLAN_TTL).unwrap_or(created_at),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        targets: targets(entry, &actions),
        observations: Vec::new(),
        findings: Vec::new(),
        summary: Summary::of(&[], &actions),
        actions,
    };
    plan.id = plan.computed_id()?;
    Ok(UndoPlan { plan, left_out })
}

fn inverse(done: &ActionEntry) -> Result<Action, String> {
    let sent = done.sent.as_ref().ok_or("nothing was sent")?;
    match sent.verb {
        // A create after a delete is a restore that was tried; when it came to nothing, the object is still gone.
        Verb::Delete | Verb::Create if is_gone(sent.verb, &done.standing) => {}
        Verb::Delete => return Err("it was not deleted".to_owned()),
        Verb::Create
        | Verb::Apply
        | Verb::Update
        | Verb::Label
        | Verb::Annotate
        | Verb::Patch
        | Verb::Tag
        | Verb::Untag
        | Verb::ReOwn => return Err(format!("a `{}` can't be taken back yet", sent.verb.word())),
    }
    let backup = done.backup.as_ref().ok_or("it has no backup")?;
    Ok(restore(&done.id, sent, backup))
}

/// Whether the object is gone, as far as the journal knows.
fn is_gone(verb: Verb, standing: &ActionStanding) -> bool {
    match standing {
        ActionStanding::Prepared | ActionStanding::Open => false,
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
            VerifiedState::Changed | VerifiedState::Restored | VerifiedState::Unknown => false,
        },
        ActionStanding::Resolved(found) => match found {
            Found::Gone | Found::Terminating | Found::Replaced => true,
            Found::Unchanged | Found::Changed => false,
        },
    }
}

fn restore(id: &str, sent: &Sent, backup: &str) -> Action {
    let ObjectRef { api_version, kind, namespace, name, uid: _ } = sent.target.clone();
    let place = namespace.as_deref().map_or_else(|| name.clone(), |namespace| format!("{namespace}/{name}"));
    Action {
        id: id.to_owned(),
        finding: String::new(),
        domain: String::new(),
        cluster: sent.cluster.clone(),
        verb: Verb::Create,
        diff: format!("+ {kind} {place}, from its backup\n"),
        target: ObjectRef { api_version, kind, namespace, name, uid: None },
        preconditions: Preconditions { uid: None, resource_version: None, source: None },
        selected: true,
        reason: Reason::Missing,
        ownership: Vec::new(),
        tier: Tier::T1,
        change: json!({ "backup": backup }),
        undo: Undo::DeleteWhatWasCreated,
        depends_on: Vec::new(),
        blocked_by: Vec::new(),
    }
}

/// The clusters it goes to, as the last approval knew them.
fn targets(entry: &Entry, actions: &[Action]) -> Vec<TargetRecord> {
    let named = |name: &str| actions.iter().any(|action| action.cluster == name);
    let clusters = entry.approvals.last().map(|approval| approval.clusters.as_slice()).unwrap_or_default();
    let target = |cluster: &super::journal::ApprovedCluster| TargetRecord {
        cluster: cluster.name.clone(),
        source: "journal".to_owned(),
        class: RiskClass::Prod,
        identity: cluster.identity.clone(),
    };
    clusters.iter().filter(|cluster| named(&cluster.name)).map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::journal::{ApprovalWay, ApprovedCluster, Record, entries};
    use crate::engine::plan::IdentityRecord;
    use crate::engine::testing::now;

    fn entry(verb: Verb, state: VerifiedState, backup: bool) -> Entry {
        let (plan, action) = ("sha256:aa".to_owned(), "a1".to_owned());
        let target = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: Some("openshift-config".to_owned()),
            name: "old".to_owned(),
            uid: Some("u".to_owned()),
        };
        let identity = IdentityRecord { kube_system_uid: "k".to_owned(), ca_sha256: "c".to_owned() };
        let clusters = vec![ApprovedCluster { name: "guest-a".to_owned(), identity }];
        let mut records = vec![Record::PlanApproved {
            plan: plan.clone(),
            who: "anna".to_owned(),
            host: "laptop".to_owned(),
            how: ApprovalWay::Typed,
            at: now(),
            clusters,
        }];
        if backup {
            let (file, digest) = ("f.age".to_owned(), "sha256:0".to_owned());
            records.push(Record::Backup { plan: plan.clone(), action: action.clone(), file, digest });
        }
        records.push(Record::Intent {
            plan: plan.clone(),
            action: action.clone(),
            attempt: 1,
            cluster: "guest-a".to_owned(),
            target,
            uid: None,
            resource_version: None,
            verb,
            deadline: now(),
            at: now(),
        });
        records.push(Record::Verified { plan, action, state, why: String::new(), at: now() });
        entries(&records).remove(0)
    }

    #[test]
    fn only_what_is_gone_and_has_a_backup_comes_back() {
        let cases = [
            ("deleted", Verb::Delete, VerifiedState::Gone, true, true),
            ("being deleted", Verb::Delete, VerifiedState::Terminating, true, true),
            ("taken back already", Verb::Delete, VerifiedState::Restored, true, false),
            ("skipped", Verb::Delete, VerifiedState::Skipped, true, false),
            ("without a backup", Verb::Delete, VerifiedState::Gone, false, false),
            ("a label", Verb::Label, VerifiedState::Changed, false, false),
        ];
        for (case, verb, state, backup, comes_back) in cases {
            let undo = undo(&entry(verb, state, backup), None, now()).unwrap();
            assert_eq!(undo.plan.actions.len(), usize::from(comes_back), "case: {case}");
            assert_eq!(undo.left_out.len(), usize::from(!comes_back), "case: {case}");
            undo.plan.verify_id().unwrap();
        }
    }

    #[test]
    fn an_undo_goes_to_the_cluster_the_delete_went_to_and_names_no_uid() {
        let undo = undo(&entry(Verb::Delete, VerifiedState::Gone, true), Some("a1"), now()).unwrap();
        let [action] = &undo.plan.actions[..] else { panic!("{undo:?}") };
        assert_eq!(
            (action.verb, &action.target.uid, action.change["backup"].as_str()),
            (Verb::Create, &None, Some("f.age"))
        );
        assert_eq!(undo.plan.targets[0].identity.kube_system_uid, "k");
    }
}
