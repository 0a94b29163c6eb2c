#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::engine::KillSwitch;
use crate::engine::testing::{
    FindingGiven, Given, cluster, delete, finding, finding_in, given, glob, label, secrets_of,
};
use crate::engine::{
    AcceptRule, ActionDraft, Blocked, Change, FreezeWindow, GateName, MetadataChange, Plan, PlanReadError, ReadOnly,
    SourceBinding, State, Undo, Verb, canonical_digest,
};
use crate::world::{ClusterSource, Completeness, Content, Gap, GapCause, ResourceVersion, Uid};

fn as_json(plan: &Plan) -> Value {
    serde_json::to_value(plan).unwrap()
}

#[test]
fn a_plan_has_the_shape_the_contract_shows() {
    let plan = given()
        .cluster(|cluster| cluster.source = ClusterSource::Snapshot)
        .finding(finding("old-secret").deletes())
        .with(|given| given.observed.truncate(1))
        .conditions(|c| c.now = "2026-11-16T10:00:00.987Z".parse().unwrap())
        .plan();
    let finding = "hosted-oidc/guest-a/Secret/openshift-config/old-secret";
    let object = json!({
        "apiVersion": "v1", "kind": "Secret", "namespace": "openshift-config", "name": "old-secret", "uid": "uid-of-it",
    });
    let expected = json!({
        "schema": "trueup/plan/v1",
        "id": plan.id,
        "created_at": "2026-11-16T10:00:00Z", "expires_at": "2026-11-16T10:15:00Z", "engine": env!("CARGO_PKG_VERSION"),
        "targets": [{
            "cluster": "guest-a", "source": "snapshot", "class": "prod",
            "identity": { "kube_system_uid": "uid-of-kube-system", "ca_sha256": "c0ffee" },
        }],
        "observations": [{
            "cluster": "guest-a", "resource": "v1/secrets", "namespace": "openshift-config",
            "state": "complete", "resource_version": "812", "at": "2026-11-16T10:00:00Z",
        }],
        "findings": [{
            "id": finding, "domain": "hosted-oidc", "cluster": "guest-a", "subject": object,
            "state": "extra", "verdict": "orphan-certain", "codes": [], "summary": "nothing refers to it",
            "evidence": [], "expected": null, "actual": { "clientSecret": "<40 bytes>" }, "actions": ["a1"],
        }],
        "actions": [{
            "id": "a1", "finding": finding, "domain": "hosted-oidc", "cluster": "guest-a", "verb": "delete",
            "target": object, "preconditions": { "uid": "uid-of-it", "resourceVersion": "7" },
            "origin": { "finding": finding }, "rests_on": ["guest-a v1/secrets@openshift-config"],
            "selected": true, "reason": "no-referrer", "ownership": ["the oidc label", "the managed label"],
            "tier": 3, "diff": "- Secret", "change": {}, "undo": "restore-from-backup", "depends_on": [], "blocked_by": [],
        }],
        "summary": { "findings": { "extra": 1 }, "actions": { "delete": 1 }, "blocked": 0 },
    });
    assert_eq!(as_json(&plan), expected);
    assert!(plan.id.starts_with("sha256:") && plan.id.len() == "sha256:".len() + 64, "{}", plan.id);
}

/// Kinds of the same name in two API groups: their findings share an id, and each keeps its own actions.
#[test]
fn findings_with_one_id_keep_their_own_actions() {
    let of_group = |api_version: &'static str, change: fn(MetadataChange) -> Change| {
        let set = MetadataChange { set: [("a".to_owned(), "b".to_owned())].into(), remove: Vec::new() };
        let mut finding = finding("same").draft(ActionDraft { change: change(set), ..label("guest-a", "same") });
        finding.0.subject.api_version = api_version;
        finding
    };
    let plan = given()
        .finding(of_group("a.example.com/v1", Change::Label))
        .finding(of_group("b.example.com/v1", Change::Annotate))
        .plan();
    let actions = plan.findings.iter().map(|one| (one.subject.api_version.as_str(), one.actions.concat()));
    assert_eq!(
        actions.collect::<Vec<_>>(),
        [("a.example.com/v1", "a1".to_owned()), ("b.example.com/v1", "a2".to_owned())]
    );
}

#[test]
fn a_cluster_without_a_connection_has_one_record_for_all_its_collections() {
    let unknown = |cause, message: &str| Completeness::Unknown { gap: Gap::new(cause, message) };
    let resting = || unknown(GapCause::NotObserved, "not connected yet");
    let labelled = |cluster: &str, labels: &str| secrets_of(cluster).labelled(labels);
    let plan = given()
        .with(|given| {
            given.observed = vec![
                (labelled("guest-a", "a"), resting()),
                (labelled("guest-a", "b"), unknown(GapCause::Forbidden, "listing is forbidden")),
                (labelled("guest-a", "c"), resting()),
                (labelled("guest-a", "d"), resting()),
                (labelled("guest-b", "a"), resting()),
                (labelled("guest-b", "b"), unknown(GapCause::Unreachable, "connection refused")),
                (labelled("guest-b", "c"), unknown(GapCause::Unreachable, "connection refused")),
            ];
        })
        .plan();
    let records = plan.observations.iter().map(|one| format!("{} {} +{}", one.cluster, one.label_selector, one.more));
    assert_eq!(records.collect::<Vec<_>>(), ["guest-a a +2", "guest-a b +0", "guest-b a +0", "guest-b b +1"]);
    assert_eq!(as_json(&plan)["observations"][0]["more"], 2);
}

#[test]
fn what_is_absent_has_no_key() {
    let mut draft = label("guest-a", "x");
    draft.change = Change::read(Verb::Create, json!({ "backup": "f.age" })).unwrap();
    draft.target.namespace = None;
    draft.target.uid = Some(Uid::parse(""));
    draft.target.version = None;
    draft.source = Some(SourceBinding { uid: Uid::parse("of-the-source"), version: ResourceVersion::parse("9") });
    let gap = Gap::new(GapCause::Forbidden, "listing is forbidden");
    let plan = given()
        .finding(finding("x").draft(draft))
        .with(|given| {
            let metadata = secrets_of("guest-a").metadata().labelled("a=b");
            assert_eq!(metadata.content, Content::Metadata);
            given.observed = vec![(metadata, Completeness::Partial { gap })];
        })
        .plan();
    let json = as_json(&plan);
    assert_eq!(json["actions"][0]["target"], json!({ "apiVersion": "v1", "kind": "Secret", "name": "x" }));
    assert_eq!(
        json["actions"][0]["preconditions"],
        json!({ "source": { "uid": "of-the-source", "resourceVersion": "9" } })
    );
    assert_eq!(
        json["observations"][0],
        json!({
            "cluster": "guest-a", "resource": "v1/secrets", "namespace": "openshift-config", "label_selector": "a=b",
            "content": "metadata", "state": "partial", "reason": "listing is forbidden",
        })
    );
}

#[test]
fn actions_are_numbered_by_finding_and_sorted_as_text() {
    let two = |name: &str| finding(name).deletes().draft(label("guest-a", name));
    let plan = given().findings(6, |index| two(&format!("x{}", 5 - index))).plan();
    let ids: Vec<&str> = plan.actions.iter().map(|action| action.id.as_str()).collect();
    assert_eq!(ids, ["a1", "a10", "a11", "a12", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"]);
    assert_eq!(plan.findings[0].actions, ["a1", "a2"]);
    assert_eq!(plan.findings[5].actions, ["a11", "a12"]);
    assert_eq!(plan.actions[1].finding(), Some(plan.findings[4].id.as_str()));
}

#[test]
fn an_accepted_finding_counts_as_match_and_has_no_actions() {
    let accepted = |until: &str| {
        let rule = AcceptRule {
            finding: glob("hosted-oidc/guest-a/*"),
            reason: "kept for the audit".to_owned(),
            until: until.parse().unwrap(),
        };
        given().finding(finding("x").deletes()).with(|given| given.accepted = vec![rule]).plan()
    };
    let plan = accepted("2026-12-31");
    assert_eq!(plan.findings[0].state, State::Match);
    assert_eq!(plan.findings[0].verdict, "orphan-certain");
    assert!(plan.findings[0].actions.is_empty() && plan.actions.is_empty());
    assert_eq!(
        as_json(&plan)["findings"][0]["accepted"],
        json!({ "reason": "kept for the audit", "until": "2026-12-31", "state": "extra" })
    );
    let expired = accepted("2026-11-15");
    assert_eq!((expired.findings[0].state, expired.actions.len()), (State::Extra, 1));
}

#[test]
fn a_match_with_something_to_do_is_among_what_can_be_done() {
    let all =
        || given().finding(finding("goes").state(State::Match).deletes()).finding(finding("fine").state(State::Match));
    let names = |given: Given| -> Vec<String> {
        given.plan().findings.iter().map(|finding| finding.subject.name.clone()).collect()
    };
    assert_eq!(names(all().with(|given| given.scope.acts_only = true)), ["goes"]);
    assert_eq!(names(all().with(|given| given.scope.changes_only = true)), Vec::<String>::new());
}

#[test]
fn a_scope_narrows_what_is_in_the_file() {
    let all = || {
        given()
            .with(|given| given.clusters.push(cluster("guest-b")))
            .finding(finding("extra").deletes())
            .finding(finding("fine").state(State::Match))
            .finding(finding_in("guest-b", "other").state(State::Unknown))
            .finding({
                let FindingGiven(mut judged) = finding("cluster-wide").state(State::Error);
                judged.subject.namespace = None;
                FindingGiven(judged)
            })
    };
    let cases: [(&str, Given, &[&str]); 7] = [
        ("everything", all(), &["cluster-wide", "extra", "fine", "other"]),
        ("changes", all().with(|given| given.scope.changes_only = true), &["cluster-wide", "extra", "other"]),
        ("what can be done", all().with(|given| given.scope.acts_only = true), &["cluster-wide", "extra", "other"]),
        ("cluster", all().with(|given| given.scope.clusters = vec![glob("guest-b")]), &["other"]),
        (
            "namespace",
            all().with(|given| given.scope.namespaces = vec![glob("openshift-*")]),
            &["extra", "fine", "other"],
        ),
        ("domain", all().with(|given| given.scope.domains = vec![glob("kubeconfig")]), &[]),
        (
            "both",
            all().with(|given| {
                given.scope.changes_only = true;
                given.scope.clusters = vec![glob("guest-a")];
            }),
            &["cluster-wide", "extra"],
        ),
    ];
    for (case, given, expected) in cases {
        let plan = given.plan();
        let names: Vec<&str> = plan.findings.iter().map(|finding| finding.subject.name.as_str()).collect();
        assert_eq!(names, expected, "case: {case}");
        assert_eq!(plan.targets.len(), 2, "case: {case}: every judged cluster is a target");
    }
}

#[test]
fn the_summary_counts_states_verbs_and_blocked() {
    let plan = given()
        .finding(finding("a").deletes())
        .finding(finding("b").draft(ActionDraft { ownership: Vec::new(), ..delete("guest-a", "b") }))
        .finding(finding("c").state(State::Match).draft(label("guest-a", "c")))
        .plan();
    assert_eq!(
        as_json(&plan)["summary"],
        json!({ "findings": { "extra": 2, "match": 1 }, "actions": { "delete": 2, "label": 1 }, "blocked": 1 })
    );
}

#[test]
fn a_plan_read_back_is_the_plan_that_was_written() {
    let plan = given().finding(finding("a").deletes()).plan();
    plan.verify_id().unwrap();
    assert_eq!(Plan::read(&serde_json::to_string_pretty(&plan).unwrap()).unwrap(), plan);
}

#[test]
fn a_plan_that_was_touched_is_refused() {
    let plan = given().finding(finding("a").deletes()).plan();
    let changed = |change: fn(&mut Value)| {
        let mut json = as_json(&plan);
        change(&mut json);
        Plan::read(&json.to_string())
    };
    let cases = [
        ("another selection", changed(|json| json["actions"][0]["selected"] = false.into())),
        ("another target", changed(|json| json["actions"][0]["target"]["name"] = "b".into())),
        ("a gate opened", changed(|json| json["actions"][0]["tier"] = 1.into())),
        ("a key added", changed(|json| json["note"] = "hello".into())),
        ("another id", changed(|json| json["id"] = "sha256:00".into())),
    ];
    for (case, read) in cases {
        assert!(matches!(read, Err(PlanReadError::OtherId { .. })), "case: {case}: {read:?}");
    }
    assert!(matches!(changed(|json| json["schema"] = "trueup/plan/v9".into()), Err(PlanReadError::Schema { .. })));
    assert!(matches!(changed(|json| json["note"] = 1.5.into()), Err(PlanReadError::Number(_))));
    assert!(matches!(Plan::read("{}"), Err(PlanReadError::Shape(_))));
}

#[test]
fn a_plan_with_a_cluster_or_a_write_twice_is_refused() {
    let repeated = |change: fn(&mut Value)| {
        let mut json = as_json(&given().finding(finding("a").deletes()).plan());
        change(&mut json);
        let Err(PlanReadError::OtherId { computed, .. }) = Plan::read(&json.to_string()) else {
            panic!("the id fits: {json}");
        };
        json["id"] = computed.into();
        Plan::read(&json.to_string())
    };
    let cluster = repeated(|json| {
        let first = json["targets"][0].clone();
        json["targets"].as_array_mut().unwrap().push(first);
    });
    assert!(matches!(cluster, Err(PlanReadError::RepeatedTarget { .. })), "{cluster:?}");
    let write = repeated(|json| {
        let mut first = json["actions"][0].clone();
        first["id"] = "a2".into();
        json["actions"].as_array_mut().unwrap().push(first);
    });
    let Err(PlanReadError::Action(error)) = write else { panic!("{write:?}") };
    assert_eq!(error.to_string(), "action a2: another action makes the same change; run trueup plan again");
}

#[test]
fn a_key_of_a_newer_version_is_covered_by_the_id_and_read_over() {
    let mut json = as_json(&given().finding(finding("a").deletes()).plan());
    json["added_later"] = json!({ "x": 1 });
    json["id"] = Plan::read(&json.to_string())
        .map_err(|error| match error {
            PlanReadError::OtherId { computed, .. } => computed,
            other => panic!("{other}"),
        })
        .unwrap_err()
        .into();
    assert_eq!(Plan::read(&json.to_string()).unwrap().actions.len(), 1);
}

/// Findings of two clusters with every sort of draft.
pub fn any_given() -> impl Strategy<Value = Given> {
    let one = (0..40u8, any::<bool>(), any::<bool>(), 0..3u8, 0..8usize, any::<bool>());
    let findings = prop::collection::btree_map((any::<bool>(), 0..30u8), one, 0..40);
    (findings, any::<bool>()).prop_map(|(findings, live)| {
        let mut given = given().with(|given| given.clusters.push(cluster("guest-b")));
        if !live {
            given = given.cluster(|cluster| cluster.source = ClusterSource::Snapshot);
        }
        for ((first, name), (code, deletes, selected, proofs, state, undo)) in findings {
            let (home, name) = (if first { "guest-a" } else { "guest-b" }, format!("x{name}"));
            let mut draft = if deletes { delete(home, &name) } else { label(home, &name) };
            draft.selected = selected;
            draft.ownership = (0..proofs).map(|proof| format!("proof {proof}")).collect();
            draft.undo = if undo { draft.undo } else { Undo::None };
            let finding = finding_in(home, &name).state(State::ALL[state]).proofs(proofs);
            given = given.finding(if code < 30 { finding.draft(draft) } else { finding });
        }
        given
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_id_ignores_the_order_of_the_input(given in any_given(), seed in any::<u64>()) {
        let mut shuffled = given.clone();
        let turn = |length: usize| if length == 0 { 0 } else { usize::try_from(seed % 97).unwrap() % length };
        shuffled.judged.reverse();
        let by = turn(shuffled.judged.len());
        shuffled.judged.rotate_left(by);
        shuffled.clusters.reverse();
        shuffled.observed.reverse();
        prop_assert_eq!(serde_json::to_string(&given.plan()).unwrap(), serde_json::to_string(&shuffled.plan()).unwrap());
    }

    #[test]
    fn the_id_is_the_digest_of_the_plans_json_without_it(given in any_given()) {
        let plan = given.plan();
        let mut json = as_json(&plan);
        json.as_object_mut().unwrap().remove("id");
        prop_assert_eq!(canonical_digest(&json).unwrap(), plan.id);
    }

    #[test]
    fn toggling_a_selection_makes_another_id(given in any_given(), pick in any::<prop::sample::Index>()) {
        let mut plan = given.plan();
        prop_assume!(!plan.actions.is_empty());
        let index = pick.index(plan.actions.len());
        plan.actions[index].selected ^= true;
        prop_assert_ne!(plan.computed_id().unwrap(), plan.id.clone());
        prop_assert!(plan.verify_id().is_err());
    }

    #[test]
    fn a_blocked_action_stays_blocked_when_a_gate_shuts_for_all(given in any_given(), which in 0..3u8) {
        let before = given.plan();
        let after = given.conditions(|c| match which {
            0 => c.read_only = ReadOnly::ByConfig,
            1 => c.kill_switch = Some(KillSwitch::Set { file: "stop".to_owned() }),
            _ => c.freeze = vec![FreezeWindow::parse("Mon 09:00 - Mon 11:00 UTC").unwrap()],
        }).plan();
        for (before, after) in before.actions.iter().zip(&after.actions) {
            prop_assert_eq!(&before.id, &after.id);
            prop_assert!(before.blocked_by.is_empty() || !after.blocked_by.is_empty(), "{} opened", before.id);
            prop_assert!(after.blocked_by.len() > before.blocked_by.iter().filter(|b| b.gate != GateName::Brake).count());
        }
    }

    #[test]
    fn a_gate_that_shuts_on_an_action_keeps_every_reason_but_the_brakes(
        given in any_given(), pick in any::<prop::sample::Index>(),
    ) {
        let before = given.plan();
        prop_assume!(!before.actions.is_empty());
        let picked = &before.actions[pick.index(before.actions.len())];
        let closed = Blocked { gate: GateName::Paused, why: "paused".to_owned() };
        let mut shut = given.clone();
        for judged in shut.judged.iter_mut().filter(|judged| Some(judged.subject.to_string().as_str()) == picked.finding()) {
            judged.explanation.remedy[0].blocked_by.push(closed.clone());
        }
        let after = shut.plan();
        let after = after.actions.iter().find(|action| action.id == picked.id).unwrap();
        prop_assert!(after.blocked_by.contains(&closed));
        // The brake counts what would run, so it may let go when fewer would.
        for blocked in picked.blocked_by.iter().filter(|blocked| blocked.gate != GateName::Brake) {
            prop_assert!(after.blocked_by.contains(blocked), "{blocked:?} was lost");
        }
    }
}

#[test]
fn a_selected_verdict_selects_its_actions_and_counts_for_the_brake() {
    let unselected = |index: usize| {
        let name = format!("x{index:02}");
        finding(&name).draft(ActionDraft { selected: false, ..delete("guest-a", &name) })
    };
    let selecting = |count: usize, verdict: &str| {
        let world = given().findings(count, unselected);
        world.with(|given| given.scope.selected_verdicts = vec![glob(verdict)]).plan()
    };
    let verdict = given().findings(1, unselected).plan().findings[0].verdict.clone();
    let selected = |plan: &Plan| plan.actions.iter().filter(|action| action.selected).count();
    assert_eq!(selected(&selecting(3, "other")), 0);
    assert_eq!(selected(&selecting(3, &verdict)), 3);
    let many = selecting(26, &verdict);
    assert!(many.actions.iter().all(|action| action.blocked_by[0].gate == GateName::Brake));
    assert!(selecting(26, "other").actions.iter().all(|action| action.blocked_by.is_empty()));
}
