//! Undo: the plan that takes back what a plan did. Pure.
//!
//! Always true:
//! - an undo is a plan like any other: shown, named by its id, approved, journalled;
//! - it creates what was deleted, from its backup, and never overwrites what has the name now;
//! - it puts labels back to what they were, when they still are what the plan made them;
//! - what it can't bring back is said, with the reason.
//!
//! Not here: reading backups, objects and owners. What was seen of them is in [`Look`].

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::action::{Reason, Undo, Verb};
use super::canonical::NotCanonical;
use super::gate::{PolicyRule, PolicySubject, judge_policy};
use super::journal::{ActionEntry, ActionStanding, Answer, Entry, Found, LabelChange, Sent, VerifiedState};
use super::plan::{Action, ObjectRef, PLAN_SCHEMA, PLAN_TTL, Plan, Preconditions, Summary, TargetRecord};
use super::tier::Tier;
use crate::world::RiskClass;

/// An undo, and what is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct UndoPlan {
    pub plan: Plan,
    /// One sentence for each action that can't be taken back.
    pub left_out: Vec<String>,
    /// One sentence for each thing that does not come back with what does.
    pub not_restored: Vec<String>,
}

/// What was seen, right before an undo is planned, of what one action was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    pub object: ObjectNow,
    pub backup: BackupSeen,
    pub owners: OwnersSeen,
}

/// What has the name now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectNow {
    Absent,
    Present {
        uid: String,
        resource_version: String,
        labels: BTreeMap<String, String>,
    },
    /// It could not be read, and why.
    Unknown(String),
}

/// What a backup is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupSeen {
    /// It opens. The names of what a restored object does not have from before.
    Opens { lost: Vec<&'static str> },
    /// It can't be opened, and why.
    Spoiled(String),
    /// The action had none.
    None,
}

/// Which owners of an object live.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnersSeen {
    pub living: Vec<ObjectRef>,
    /// A sentence for each that is gone or could not be read.
    pub dropped: Vec<String>,
}

/// Plans the inverse of what an entry of the journal did; of one action of it, when `only` names it. `looks` holds what
/// was seen, by action; an action nobody looked at is not taken back.
///
/// # Errors
/// Never for what a journal holds: its records have no numbers that are no integers.
pub fn undo(
    entry: &Entry,
    only: Option<&str>,
    looks: &BTreeMap<String, Look>,
    now: Timestamp,
) -> Result<UndoPlan, NotCanonical> {
    let mut left_out = Vec::new();
    let mut not_restored = Vec::new();
    let mut actions = Vec::new();
    for done in entry.actions.iter().filter(|action| only.is_none_or(|only| only == action.id)) {
        match inverse(done, looks.get(&done.id)) {
            Ok(inverse) => {
                not_restored.extend(inverse.not_restored.iter().map(|what| format!("{}: {what}", done.id)));
                actions.push(inverse.action);
            }
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
    Ok(UndoPlan { plan, left_out, not_restored })
}

impl UndoPlan {
    /// Holds the plan against the policy: what a rule denies is blocked, and tiers rise. `classes` are those of the
    /// clusters that are known; any other is prod.
    ///
    /// # Errors
    /// Never for what a journal holds: its records have no numbers that are no integers.
    pub fn under_policy(
        mut self,
        rules: &[PolicyRule],
        classes: &BTreeMap<String, RiskClass>,
    ) -> Result<Self, NotCanonical> {
        let class_of = |cluster: &str| classes.get(cluster).copied().unwrap_or(RiskClass::Prod);
        for target in &mut self.plan.targets {
            target.class = class_of(&target.cluster);
        }
        let actions = self.plan.actions.iter();
        let subjects: Vec<PolicySubject<'_>> =
            actions.map(|action| policy_subject(action, class_of(&action.cluster))).collect();
        let judged = judge_policy(rules, &subjects);
        for (action, (blocked_by, tier)) in self.plan.actions.iter_mut().zip(judged) {
            action.tier = action.tier.max(tier);
            action.blocked_by = blocked_by;
        }
        self.plan.summary = Summary::of(&[], &self.plan.actions);
        self.plan.id = self.plan.computed_id()?;
        Ok(self)
    }
}

fn policy_subject(action: &Action, class: RiskClass) -> PolicySubject<'_> {
    PolicySubject {
        cluster: &action.cluster,
        class,
        namespace: action.target.namespace.as_deref().unwrap_or_default(),
        kind: &action.target.kind,
        verb: action.verb,
    }
}

/// An action that takes back, and what it can't.
struct Inverse {
    action: Action,
    not_restored: Vec<String>,
}

fn inverse(done: &ActionEntry, look: Option<&Look>) -> Result<Inverse, String> {
    let sent = done.sent.as_ref().ok_or("nothing was sent")?;
    let look = look.ok_or("nobody looked at it");
    match sent.verb {
        // A create after a delete is a restore that was tried; when it came to nothing, the object is still gone.
        Verb::Delete | Verb::Create if is_gone(sent.verb, &done.standing) => restore(done, sent, look?),
        Verb::Delete => Err("it was not deleted".to_owned()),
        Verb::Label if may_be_done(&done.standing) => put_back(&done.id, sent, look?),
        Verb::Label => Err("it was not labelled".to_owned()),
        Verb::Create
        | Verb::Apply
        | Verb::Update
        | Verb::Annotate
        | Verb::Patch
        | Verb::Tag
        | Verb::Untag
        | Verb::ReOwn => Err(format!("a `{}` can't be taken back yet", sent.verb.word())),
    }
}

/// Whether the object is gone, as far as the journal knows.
pub(super) fn is_gone(verb: Verb, standing: &ActionStanding) -> bool {
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
            VerifiedState::Changed | VerifiedState::Restored | VerifiedState::Unknown => false,
        },
        ActionStanding::Resolved(found) => match found {
            Found::Gone | Found::Terminating | Found::Replaced => true,
            Found::Unchanged | Found::Changed => false,
        },
    }
}

/// Whether a change may have been made. Whether it was, the labels that are read tell.
fn may_be_done(standing: &ActionStanding) -> bool {
    match standing {
        ActionStanding::Prepared | ActionStanding::Open | ActionStanding::Skipped { .. } => false,
        ActionStanding::Answered(answer) => *answer == Answer::Done,
        ActionStanding::Verified { state, .. } => *state == VerifiedState::Changed,
        ActionStanding::Resolved(found) => *found == Found::Changed,
    }
}

/// Creates what was deleted, from its backup.
fn restore(done: &ActionEntry, sent: &Sent, look: &Look) -> Result<Inverse, String> {
    let file = done.backup.as_ref().ok_or("it has no backup")?;
    let lost = match &look.backup {
        BackupSeen::Opens { lost } => lost,
        BackupSeen::Spoiled(why) => return Err(format!("backup: {why}")),
        BackupSeen::None => return Err("it has no backup".to_owned()),
    };
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
    let change = json!({ "backup": file, "owners": look.owners.living });
    let target = ObjectRef { uid: None, ..sent.target.clone() };
    let preconditions = Preconditions { uid: None, resource_version: None, source: None };
    let action = Action {
        verb: Verb::Create,
        reason: Reason::Missing,
        tier: Tier::T1,
        undo: Undo::DeleteWhatWasCreated,
        ..action(&done.id, sent, target, preconditions, diff, change)
    };
    Ok(Inverse { action, not_restored })
}

/// Puts labels back to what they were.
fn put_back(id: &str, sent: &Sent, look: &Look) -> Result<Inverse, String> {
    let LabelChange { before, after } = sent.labels.as_ref().ok_or("the journal does not hold what the labels were")?;
    let place = place(&sent.target);
    let (resource_version, labels) = match &look.object {
        ObjectNow::Unknown(why) => return Err(format!("{place} can't be read: {why}")),
        ObjectNow::Absent => return Err(format!("{place} is gone")),
        ObjectNow::Present { uid, .. } if Some(uid) != sent.uid.as_ref() => {
            return Err(format!("another object has the name {place} now (uid {uid}); it is left alone"));
        }
        ObjectNow::Present { uid: _, resource_version, labels } => (resource_version, labels),
    };
    if before.iter().all(|(key, value)| labels.get(key) == value.as_ref()) {
        return Err(format!("the labels of {place} are what they were before already"));
    }
    if let Some((key, _)) = after.iter().find(|(key, value)| labels.get(*key) != value.as_ref()) {
        return Err(format!("somebody changed the label {key} of {place} since; look at it"));
    }
    let set: BTreeMap<&String, &String> =
        before.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).collect();
    let remove: Vec<&String> = before.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key).collect();
    let line = |sign: char, (key, value): (&String, &Option<String>)| {
        value.as_ref().map(|value| format!("{sign}     {key}: \"{value}\"\n"))
    };
    let mut diff = "  metadata:\n    labels:\n".to_owned();
    diff.extend(after.iter().filter_map(|one| line('-', one)));
    diff.extend(before.iter().filter_map(|one| line('+', one)));
    let preconditions =
        Preconditions { uid: sent.uid.clone(), resource_version: Some(resource_version.clone()), source: None };
    let action = Action {
        verb: Verb::Label,
        reason: Reason::Differs,
        // Whether a label says who owns the object is not in the journal, so it is taken for one that does.
        tier: Tier::T3,
        undo: Undo::RemoveWhatWasAdded,
        ..action(id, sent, sent.target.clone(), preconditions, diff, json!({ "set": set, "remove": remove }))
    };
    Ok(Inverse { action, not_restored: Vec::new() })
}

/// What all inverses have in common. Verb, reason, tier and undo are the caller's.
fn action(
    id: &str,
    sent: &Sent,
    target: ObjectRef,
    preconditions: Preconditions,
    diff: String,
    change: Value,
) -> Action {
    Action {
        id: id.to_owned(),
        finding: String::new(),
        domain: String::new(),
        cluster: sent.cluster.clone(),
        verb: sent.verb,
        target,
        preconditions,
        selected: true,
        reason: Reason::Differs,
        ownership: Vec::new(),
        tier: Tier::T4,
        diff,
        change,
        undo: Undo::None,
        depends_on: Vec::new(),
        blocked_by: Vec::new(),
    }
}

/// `Secret openshift-config/old`.
fn place(object: &ObjectRef) -> String {
    let ObjectRef { api_version: _, kind, namespace, name, uid: _ } = object;
    namespace.as_deref().map_or_else(|| format!("{kind} {name}"), |namespace| format!("{kind} {namespace}/{name}"))
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
    use crate::engine::{Glob, PolicyEffect};

    fn secret(uid: Option<&str>) -> ObjectRef {
        ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: Some("openshift-config".to_owned()),
            name: "old".to_owned(),
            uid: uid.map(ToOwned::to_owned),
        }
    }

    fn entry(verb: Verb, state: VerifiedState, backup: bool) -> Entry {
        let (plan, action) = ("sha256:aa".to_owned(), "a1".to_owned());
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
        let labels = LabelChange {
            before: [("kept".to_owned(), Some("1".to_owned())), ("new".to_owned(), None)].into(),
            after: [("kept".to_owned(), Some("2".to_owned())), ("new".to_owned(), Some("x".to_owned()))].into(),
        };
        records.push(Record::Intent {
            plan: plan.clone(),
            action: action.clone(),
            attempt: 1,
            cluster: "guest-a".to_owned(),
            target: secret(Some("u")),
            uid: Some("u".to_owned()),
            resource_version: None,
            verb,
            labels: (verb == Verb::Label).then_some(labels),
            deadline: now(),
            at: now(),
        });
        records.push(Record::Verified { plan, action, state, why: String::new(), at: now() });
        entries(&records).remove(0)
    }

    fn look(object: ObjectNow) -> Look {
        let backup = BackupSeen::Opens { lost: vec!["its uid"] };
        Look { object, backup, owners: OwnersSeen::default() }
    }

    fn present(uid: &str, labels: &[(&str, &str)]) -> ObjectNow {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        ObjectNow::Present { uid: uid.to_owned(), resource_version: "9".to_owned(), labels }
    }

    fn undone(entry: &Entry, look: Look) -> UndoPlan {
        undo(entry, None, &[("a1".to_owned(), look)].into(), now()).unwrap()
    }

    #[test]
    fn only_what_is_gone_and_has_a_backup_comes_back() {
        let cases = [
            ("deleted", Verb::Delete, VerifiedState::Gone, true, true),
            ("being deleted", Verb::Delete, VerifiedState::Terminating, true, true),
            ("taken back already", Verb::Delete, VerifiedState::Restored, true, false),
            ("skipped", Verb::Delete, VerifiedState::Skipped, true, false),
            ("without a backup", Verb::Delete, VerifiedState::Gone, false, false),
            ("a create", Verb::Create, VerifiedState::Restored, false, false),
        ];
        for (case, verb, state, backup, comes_back) in cases {
            let undo = undone(&entry(verb, state, backup), look(ObjectNow::Absent));
            assert_eq!(undo.plan.actions.len(), usize::from(comes_back), "case: {case}");
            assert_eq!(undo.left_out.len(), usize::from(!comes_back), "case: {case}");
            undo.plan.verify_id().unwrap();
        }
    }

    #[test]
    fn an_undo_goes_to_the_cluster_the_delete_went_to_and_names_no_uid() {
        let undo = undone(&entry(Verb::Delete, VerifiedState::Gone, true), look(ObjectNow::Absent));
        let [action] = &undo.plan.actions[..] else { panic!("{undo:?}") };
        assert_eq!(
            (action.verb, &action.target.uid, action.change["backup"].as_str(), action.tier),
            (Verb::Create, &None, Some("f.age"), Tier::T1)
        );
        assert_eq!(undo.plan.targets[0].identity.kube_system_uid, "k");
    }

    #[test]
    fn what_can_not_come_back_is_left_out_with_a_sentence() {
        let spoiled =
            Look { backup: BackupSeen::Spoiled("its key is not there".to_owned()), ..look(ObjectNow::Absent) };
        let cases = [
            (
                "the name is taken",
                look(present("other", &[])),
                "another object has the name Secret openshift-config/old",
            ),
            ("it is still there", look(present("u", &[])), "still there"),
            ("no key", spoiled, "backup: its key is not there"),
        ];
        for (case, look, expected) in cases {
            let undo = undone(&entry(Verb::Delete, VerifiedState::Gone, true), look);
            assert!(undo.plan.actions.is_empty(), "case: {case}: {undo:?}");
            assert!(undo.left_out[0].contains(expected), "case: {case}: {undo:?}");
        }
        let unseen = undo(&entry(Verb::Delete, VerifiedState::Gone, true), None, &BTreeMap::new(), now()).unwrap();
        assert!(unseen.plan.actions.is_empty(), "nobody looked");
    }

    #[test]
    fn living_owners_come_along_and_what_is_lost_is_in_the_plan() {
        let owner = ObjectRef { name: "owner".to_owned(), ..secret(Some("alive")) };
        let owners = OwnersSeen { living: vec![owner], dropped: vec!["its owner Pod x: it is gone".to_owned()] };
        let undo = undone(&entry(Verb::Delete, VerifiedState::Gone, true), Look { owners, ..look(ObjectNow::Absent) });
        let action = &undo.plan.actions[0];
        assert_eq!(action.change["owners"][0]["uid"], "alive");
        for said in ["without its uid", "without its owner Pod x: it is gone"] {
            assert!(action.diff.contains(said), "{}", action.diff);
            assert!(undo.not_restored.iter().any(|what| what.contains(said)), "{undo:?}");
        }
    }

    #[test]
    fn the_policy_holds_for_an_undo_as_well() {
        let rule = |class: Option<&str>, effect| PolicyRule {
            cluster: None,
            class: class.map(|class| Glob::parse(class).unwrap()),
            namespace: None,
            kind: None,
            verb: Some(Glob::parse("create").unwrap()),
            effect,
        };
        let cases = [
            ("no rule", vec![], 0, Tier::T1),
            ("denied", vec![rule(None, PolicyEffect::Deny("frozen".to_owned()))], 1, Tier::T1),
            ("denied for another class", vec![rule(Some("dev"), PolicyEffect::Deny("frozen".to_owned()))], 0, Tier::T1),
            ("capped", vec![rule(Some("stage"), PolicyEffect::Cap(0))], 1, Tier::T1),
            ("raised", vec![rule(None, PolicyEffect::Tier(Tier::T4))], 0, Tier::T4),
        ];
        for (case, rules, blocked, tier) in cases {
            let undo = undone(&entry(Verb::Delete, VerifiedState::Gone, true), look(ObjectNow::Absent));
            let undo = undo.under_policy(&rules, &[("guest-a".to_owned(), RiskClass::Stage)].into()).unwrap();
            let action = &undo.plan.actions[0];
            assert_eq!((action.blocked_by.len(), action.tier), (blocked, tier), "case: {case}: {action:?}");
            assert_eq!(undo.plan.targets[0].class, RiskClass::Stage, "case: {case}");
            undo.plan.verify_id().unwrap();
        }
    }

    #[test]
    fn labels_go_back_to_exactly_what_they_were_or_stay() {
        let changed = [("kept", "2"), ("new", "x"), ("other", "y")];
        let cases = [
            ("as the plan made them", present("u", &changed), Ok(())),
            ("back already", present("u", &[("kept", "1"), ("other", "y")]), Err("before already")),
            (
                "changed by somebody",
                present("u", &[("kept", "3"), ("new", "x")]),
                Err("somebody changed the label kept"),
            ),
            ("taken off by somebody", present("u", &[("kept", "2")]), Err("somebody changed the label new")),
            ("another object", present("v", &changed), Err("another object")),
            ("gone", ObjectNow::Absent, Err("is gone")),
            ("not read", ObjectNow::Unknown("forbidden".to_owned()), Err("forbidden")),
        ];
        for (case, object, expected) in cases {
            let undo = undone(&entry(Verb::Label, VerifiedState::Changed, false), look(object));
            match expected {
                Ok(()) => {
                    let action = &undo.plan.actions[0];
                    assert_eq!(action.change, json!({ "set": { "kept": "1" }, "remove": ["new"] }), "case: {case}");
                    assert_eq!(action.preconditions.uid.as_deref(), Some("u"), "case: {case}");
                    assert_eq!(action.preconditions.resource_version.as_deref(), Some("9"), "case: {case}");
                    assert_eq!(action.tier, Tier::T3, "case: {case}");
                }
                Err(why) => assert!(undo.left_out[0].contains(why), "case: {case}: {undo:?}"),
            }
        }
    }
}
