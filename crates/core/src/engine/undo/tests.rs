//! Which actions are reversed, and which are left as they are.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]

use serde_json::json;

use super::*;
use crate::engine::journal::{ApprovalWay, ApprovedCluster, FieldRecord, LabelChange, Record, VerifiedState, entries};
use crate::engine::testing::{SECRETS, cluster, now};
use crate::engine::{
    AccessAnswer, GateName, Glob, KillSwitch, PLAN_TTL, PolicyEffect, PolicyRule, ReadOnly, Tier, Verb,
    undo_access_questions,
};
use crate::world::ClusterIdentity;

fn secret(uid: Option<&str>) -> ObjectRef {
    ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: Some("openshift-config".to_owned()),
        name: "old".to_owned(),
        uid: uid.map(ToOwned::to_owned),
        cloud: None,
    }
}

fn entry(verb: Verb, state: VerifiedState, backup: bool) -> Entry {
    let (plan, action) = ("sha256:aa".to_owned(), "a1".to_owned());
    let identity =
        ClusterIdentity { kube_system_uid: "k".to_owned(), ca_sha256: "c".to_owned(), ..ClusterIdentity::default() };
    let clusters = vec![ApprovedCluster::new("guest-a", identity)];
    let mut records = vec![Record::PlanApproved {
        plan: plan.clone(),
        who: "anna".to_owned(),
        host: "laptop".to_owned(),
        how: ApprovalWay::Typed,
        at: now(),
        clusters,
        undoes: None,
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
        labels: [Verb::Label, Verb::Update].contains(&verb).then(|| labels.clone()),
        annotations: (verb == Verb::Annotate).then_some(labels),
        fields: (verb == Verb::Patch).then(|| {
            Box::new(FieldRecord {
                before: json!({ "spec": { "type": "IntegratedOAuth", "webhook": { "name": "w" } } }),
                after: json!({ "spec": { "type": "OIDC", "webhook": null } }),
            })
        }),
        keys: if [Verb::Update, Verb::Apply].contains(&verb) { vec!["value".to_owned()] } else { Vec::new() },
        deadline: now(),
        at: now(),
    });
    records.push(Record::Verified {
        plan,
        action,
        state,
        why: String::new(),
        version: Some("9".to_owned()),
        at: now(),
    });
    entries(&records).remove(0)
}

fn look(object: ObjectNow) -> Look {
    let backup = BackupSeen::Opens { lost: vec!["its uid"] };
    Look { object, backup, owners: OwnersSeen::default() }
}

fn present(uid: &str, labels: &[(&str, &str)]) -> ObjectNow {
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let annotations = BTreeMap::new();
    let fields = serde_json::Value::Null;
    ObjectNow::Present { uid: uid.to_owned(), resource_version: "9".to_owned(), labels, annotations, fields }
}

fn undone(entry: &Entry, look: Look) -> UndoPlan {
    undo(entry, None, &[("a1".to_owned(), look)].into(), now(), PLAN_TTL).unwrap()
}

#[test]
fn only_what_is_gone_and_has_a_backup_comes_back() {
    let cases = [
        ("deleted", Verb::Delete, VerifiedState::Gone, true, true),
        ("being deleted", Verb::Delete, VerifiedState::Terminating, true, true),
        ("restored already", Verb::Delete, VerifiedState::Restored, true, false),
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
        (action.verb(), &action.target.uid, action.change.backup(), action.tier),
        (Verb::Create, &None, Some("f.age"), Tier::T1)
    );
    assert_eq!(undo.plan.targets[0].identity.kube_system_uid, "k");
}

#[test]
fn what_can_not_come_back_is_left_out_with_a_sentence() {
    let spoiled = Look { backup: BackupSeen::Spoiled("its key is not there".to_owned()), ..look(ObjectNow::Absent) };
    let cases = [
        ("the name is taken", look(present("other", &[])), "another object has the name Secret openshift-config/old"),
        ("it is still there", look(present("u", &[])), "still there"),
        ("no key", spoiled, "backup: its key is not there"),
    ];
    for (case, look, expected) in cases {
        let undo = undone(&entry(Verb::Delete, VerifiedState::Gone, true), look);
        assert!(undo.plan.actions.is_empty(), "case: {case}: {undo:?}");
        assert!(undo.left_out[0].contains(expected), "case: {case}: {undo:?}");
    }
    let unseen =
        undo(&entry(Verb::Delete, VerifiedState::Gone, true), None, &BTreeMap::new(), now(), PLAN_TTL).unwrap();
    assert!(unseen.plan.actions.is_empty(), "not read");
}

#[test]
fn living_owners_come_along_and_what_is_lost_is_in_the_plan() {
    let owner = ObjectRef { name: "owner".to_owned(), ..secret(Some("alive")) };
    let owners = OwnersSeen { living: vec![owner], dropped: vec!["its owner Pod x: it is gone".to_owned()] };
    let undo = undone(&entry(Verb::Delete, VerifiedState::Gone, true), Look { owners, ..look(ObjectNow::Absent) });
    let action = &undo.plan.actions[0];
    assert_eq!(action.change.to_json()["owners"][0]["uid"], "alive");
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
        let conditions = Conditions { policy: rules, ..Conditions::at(now()) };
        let stage = Cluster { class: RiskClass::Stage, ..cluster("guest-a") };
        let undo = undo.under(&conditions, &[("guest-a".to_owned(), stage)].into(), &[]).unwrap();
        let action = &undo.plan.actions[0];
        assert_eq!((action.blocked_by.len(), action.tier), (blocked, tier), "case: {case}: {action:?}");
        assert_eq!(undo.plan.targets[0].class, RiskClass::Stage, "case: {case}");
        undo.plan.verify_id().unwrap();
    }
}

#[test]
fn an_undo_passes_the_gates_of_the_current_configuration() {
    type Shut = fn(&mut Conditions);
    let cases: [(&str, Shut, &[GateName]); 5] = [
        ("nothing shut", |_| {}, &[]),
        ("read-only", |conditions| conditions.read_only = ReadOnly::ByFlag, &[GateName::ReadOnly]),
        (
            "kill switch",
            |conditions| conditions.kill_switch = Some(KillSwitch::Set { file: "stop".to_owned() }),
            &[GateName::KillSwitch],
        ),
        (
            "unverified TLS",
            |conditions| conditions.unverified_tls = [cluster("guest-a").name].into(),
            &[GateName::Insecure],
        ),
        (
            "denied",
            |conditions| {
                let why = "denied".to_owned();
                conditions
                    .access
                    .values_mut()
                    .for_each(|answer| *answer = AccessAnswer::Denied { message: why.clone() });
            },
            &[GateName::Access],
        ),
    ];
    for (case, shut, expected) in cases {
        let undo = undone(&entry(Verb::Delete, VerifiedState::Gone, true), look(ObjectNow::Absent));
        let questions = undo_access_questions(&undo.plan.actions[0], &cluster("guest-a").name, &[SECRETS]);
        assert_eq!(questions.iter().map(|question| question.verb).collect::<Vec<_>>(), ["create"]);
        let mut conditions = Conditions::at(now());
        conditions.access = questions.into_iter().map(|question| (question, AccessAnswer::Allowed)).collect();
        shut(&mut conditions);
        let undo = undo.under(&conditions, &[("guest-a".to_owned(), cluster("guest-a"))].into(), &[SECRETS]).unwrap();
        let gates: Vec<GateName> = undo.plan.actions[0].blocked_by.iter().map(|blocked| blocked.gate).collect();
        assert_eq!(gates, expected, "case: {case}");
    }
}

#[test]
fn labels_go_back_to_exactly_what_they_were_or_stay() {
    let changed = [("kept", "2"), ("new", "x"), ("other", "y")];
    let cases = [
        ("as the plan made them", present("u", &changed), Ok(())),
        ("back already", present("u", &[("kept", "1"), ("other", "y")]), Err("already as before")),
        (
            "changed by another writer",
            present("u", &[("kept", "3"), ("new", "x")]),
            Err("label kept of Secret openshift-config/old changed after apply"),
        ),
        (
            "removed by another writer",
            present("u", &[("kept", "2")]),
            Err("label new of Secret openshift-config/old changed after apply"),
        ),
        ("another object", present("v", &changed), Err("another object")),
        ("gone", ObjectNow::Absent, Err("is gone")),
        ("not read", ObjectNow::Unknown("forbidden".to_owned()), Err("forbidden")),
    ];
    for (case, object, expected) in cases {
        let undo = undone(&entry(Verb::Label, VerifiedState::Changed, false), look(object));
        match expected {
            Ok(()) => {
                let action = &undo.plan.actions[0];
                assert_eq!(
                    action.change.to_json(),
                    json!({ "set": { "kept": "1" }, "remove": ["new"] }),
                    "case: {case}"
                );
                assert_eq!(action.preconditions.uid.as_deref(), Some("u"), "case: {case}");
                assert_eq!(action.preconditions.resource_version.as_deref(), Some("9"), "case: {case}");
                assert_eq!(action.tier, Tier::T3, "case: {case}");
            }
            Err(why) => assert!(undo.left_out[0].contains(why), "case: {case}: {undo:?}"),
        }
    }
}

#[test]
fn annotations_go_back_to_exactly_what_they_were_or_stay() {
    let annotated = |pairs: &[(&str, &str)]| match present("u", pairs) {
        ObjectNow::Present { uid, resource_version, labels, annotations, fields } => {
            ObjectNow::Present { uid, resource_version, labels: annotations, annotations: labels, fields }
        }
        other => other,
    };
    let cases = [
        ("as the plan made them", annotated(&[("kept", "2"), ("new", "x")]), Ok(())),
        ("back already", annotated(&[("kept", "1")]), Err("already as before")),
        ("changed by another writer", annotated(&[("kept", "3"), ("new", "x")]), Err("annotation kept of")),
    ];
    for (case, object, expected) in cases {
        let undo = undone(&entry(Verb::Annotate, VerifiedState::Changed, false), look(object));
        match expected {
            Ok(()) => {
                let action = &undo.plan.actions[0];
                assert_eq!((action.verb(), action.tier), (Verb::Annotate, Tier::T1), "case: {case}");
                assert_eq!(
                    action.change.to_json(),
                    json!({ "set": { "kept": "1" }, "remove": ["new"] }),
                    "case: {case}"
                );
            }
            Err(why) => assert!(undo.left_out[0].contains(why), "case: {case}: {undo:?}"),
        }
    }
}

#[test]
fn content_goes_back_only_when_nobody_touched_it_since() {
    let now = |version: &str| match present("u", &[]) {
        ObjectNow::Present { uid, labels, annotations, fields, .. } => {
            ObjectNow::Present { uid, resource_version: version.to_owned(), labels, annotations, fields }
        }
        other => other,
    };
    let spoiled = Look { backup: BackupSeen::Spoiled("its key is not there".to_owned()), ..look(now("9")) };
    let cases = [
        ("as the plan left it", look(now("9")), Ok(())),
        ("written since", look(now("10")), Err("changed after apply; review it")),
        ("another object", look(present("v", &[])), Err("another object")),
        ("gone", look(ObjectNow::Absent), Err("is gone")),
        ("no key", spoiled, Err("its key is not there")),
    ];
    for (case, look, expected) in cases {
        let undo = undone(&entry(Verb::Update, VerifiedState::Changed, true), look);
        match expected {
            Ok(()) => {
                let action = &undo.plan.actions[0];
                let labels = json!({ "kept": "1", "new": null });
                let change = json!({ "backup": "f.age", "keys": ["value"], "labels": labels });
                assert_eq!(
                    (action.verb(), &action.change.to_json(), action.tier),
                    (Verb::Update, &change, Tier::T3),
                    "case: {case}"
                );
                assert_eq!(action.preconditions.resource_version.as_deref(), Some("9"), "case: {case}");
            }
            Err(why) => assert!(undo.left_out[0].contains(why), "case: {case}: {undo:?}"),
        }
    }
}

#[test]
fn only_what_a_plan_was_seen_to_create_is_deleted_again() {
    let cases = [
        ("created", Verb::Create, VerifiedState::Created, Some(Verb::Delete)),
        ("applied where nothing was", Verb::Apply, VerifiedState::Created, Some(Verb::Delete)),
        ("applied over something", Verb::Apply, VerifiedState::Changed, None),
        ("there, creator unknown", Verb::Create, VerifiedState::Changed, None),
        ("it failed", Verb::Create, VerifiedState::Failed, None),
        ("a restore", Verb::Create, VerifiedState::Restored, Some(Verb::Delete)),
    ];
    for (case, verb, state, expected) in cases {
        let undo = undone(&entry(verb, state, false), look(present("u", &[])));
        assert_eq!(undo.plan.actions.first().map(Action::verb), expected, "case: {case}: {undo:?}");
        if let Some(action) = undo.plan.actions.first() {
            let bound = (action.preconditions.uid.as_deref(), action.preconditions.resource_version.as_deref());
            assert_eq!(bound, (Some("u"), Some("9")), "case: {case}");
        }
    }
}

#[test]
fn patched_fields_go_back_while_they_are_what_the_plan_made_them() {
    let switched = json!({ "spec": { "type": "OIDC", "webhook": null } });
    let before = json!({ "spec": { "type": "IntegratedOAuth", "webhook": { "name": "w" } } });
    let other = json!({ "spec": { "type": "None", "webhook": null } });
    let now = |fields: &serde_json::Value| match present("u", &[]) {
        ObjectNow::Present { uid, labels, annotations, .. } => ObjectNow::Present {
            uid,
            // A status written since then does not block the undo.
            resource_version: "4711".to_owned(),
            labels,
            annotations,
            fields: fields.clone(),
        },
        ObjectNow::Absent | ObjectNow::Unknown(_) => unreachable!(),
    };
    let cases = [
        ("as the plan made it", VerifiedState::Changed, &switched, Ok(())),
        ("as it was before", VerifiedState::Changed, &before, Err("is already as before")),
        ("changed later", VerifiedState::Changed, &other, Err("fields of")),
        ("never done", VerifiedState::Failed, &switched, Err("it was not changed")),
    ];
    for (case, state, fields, expected) in cases {
        let undo = undone(&entry(Verb::Patch, state, true), look(now(fields)));
        match expected {
            Ok(()) => {
                let [action] = undo.plan.actions.as_slice() else { panic!("case: {case}: {undo:?}") };
                assert_eq!((action.verb(), action.tier), (Verb::Patch, Tier::T3), "case: {case}");
                assert_eq!(action.change.to_json(), json!({ "patch": before }), "case: {case}");
                assert_eq!(action.preconditions.resource_version.as_deref(), Some("4711"), "case: {case}");
                assert!(action.diff.contains("+   type: \"IntegratedOAuth\""));
            }
            Err(why) => assert!(undo.left_out[0].contains(why), "case: {case}: {:?}", undo.left_out),
        }
    }
}
