//! Each gate, alone: a plan where nothing else speaks against the action. Taking the gate out makes its row fail.

use std::time::Duration;

use jiff::SignedDuration;

use super::*;
use crate::engine::testing::{
    Given, NAMESPACE, cluster_name, complete, delete, finding, finding_in, given, glob, label, now, secrets_of, subject,
};
use crate::engine::{Action, Dependency, Plan, Reason, Stake, State};
use crate::world::{ClockSkew, ClusterIdentity, Gap, GapCause, ManagedBy, Provider};

fn one_delete() -> Given {
    given().finding(finding("x").deletes())
}

fn one_label() -> Given {
    given().finding(finding("x").draft(label("guest-a", "x")))
}

fn snapshot(given: Given) -> Given {
    given.cluster(|cluster| cluster.source = ClusterSource::Snapshot)
}

/// `gate: reason` of the first action.
fn shut(plan: &Plan) -> Vec<(&'static str, String)> {
    plan.actions[0].blocked_by.iter().map(|blocked| (blocked.gate.as_str(), blocked.why.clone())).collect()
}

fn rule(effect: PolicyEffect) -> PolicyRule {
    PolicyRule { cluster: None, class: None, namespace: None, kind: None, verb: None, effect }
}

fn delete_question(verb: &'static str) -> AccessQuestion {
    AccessQuestion {
        cluster: cluster_name("guest-a"),
        verb,
        group: "",
        resource: "secrets",
        namespace: Some(NAMESPACE.to_owned()),
        name: None,
    }
}

fn gap() -> Gap {
    Gap::new(GapCause::Forbidden, "listing secrets is forbidden")
}

#[test]
fn the_dull_world_has_every_gate_open() {
    assert_eq!(shut(&one_delete().plan()), []);
    assert_eq!(shut(&one_label().plan()), []);
    assert_eq!(shut(&snapshot(one_delete()).plan()), []);
}

#[test]
fn a_delete_whose_backup_could_not_be_made_is_not_offered() {
    let full = |given: Given| {
        given.conditions(|c| c.backup = BackupCheck::Impossible { why: "the disk is full".to_owned() }).plan()
    };
    let why = "no backup could be made: the disk is full".to_owned();
    assert_eq!(shut(&full(one_delete())), [("backup", why)]);
    assert_eq!(shut(&full(one_label())), [], "what needs no backup");
    assert_eq!(shut(&full(snapshot(one_delete()))), [], "a recording is not written to");
    assert_eq!(shut(&one_delete().conditions(|c| c.backup = BackupCheck::Possible).plan()), []);
}

#[test]
fn a_switch_shuts_for_every_action() {
    let weekend = FreezeWindow::parse("Mon 09:00 - Mon 11:00 UTC").unwrap();
    type Change = Box<dyn Fn(&mut Conditions)>;
    let cases: [(&str, Change, &str, &str); 4] = [
        ("flag", Box::new(|c| c.read_only = ReadOnly::ByFlag), "read-only", "--read-only"),
        ("config", Box::new(|c| c.read_only = ReadOnly::ByConfig), "read-only", "read_only = true"),
        (
            "kill switch",
            Box::new(|c| c.kill_switch = Some(KillSwitch::Set { file: "stop.file".to_owned() })),
            "kill-switch",
            "stop.file",
        ),
        ("freeze", Box::new(move |c| c.freeze = vec![weekend.clone()]), "freeze", "Mon 09:00 - Mon 11:00 UTC"),
    ];
    for (case, change, gate, message) in &cases {
        for given in [one_delete(), one_label(), snapshot(one_delete())] {
            let shut = shut(&given.conditions(change).plan());
            assert_eq!(shut.len(), 1, "case: {case}: {shut:?}");
            assert_eq!(shut[0].0, *gate, "case: {case}");
            assert!(shut[0].1.contains(message), "case: {case}: {}", shut[0].1);
        }
    }
}

#[test]
fn a_live_cluster_has_to_be_known_verified_and_willing() {
    let no_identity = |given: Given| given.cluster(|cluster| cluster.identity = ClusterIdentity::default());
    let no_tls = |given: Given| given.conditions(|c| c.unverified_tls = [cluster_name("guest-a")].into());
    let denied = |given: Given| {
        let answer = AccessAnswer::Denied { message: "no RBAC policy matched".to_owned() };
        given.conditions(|c| c.access = [(delete_question("delete"), answer)].into())
    };
    let undecided = |given: Given| {
        let answer = AccessAnswer::Unknown { why: "the review timed out".to_owned() };
        given.conditions(|c| c.access = [(delete_question("delete"), answer)].into())
    };
    let unasked = |given: Given| given.with(|given| given.access_unasked = true);
    type Change<'a> = &'a dyn Fn(Given) -> Given;
    let cases: [(&str, Change<'_>, &str, &str); 5] = [
        ("identity not known", &no_identity, "identity", "identity of guest-a is unknown"),
        ("TLS not verified", &no_tls, "insecure", "--allow-insecure-writes"),
        ("denied", &denied, "access", "you may not delete secrets in openshift-config of guest-a (no RBAC"),
        ("undecided", &undecided, "access", "the review timed out"),
        ("not asked", &unasked, "access", "was not asked whether you may delete secrets"),
    ];
    for (case, change, gate, message) in cases {
        let live = shut(&change(one_delete()).plan());
        assert_eq!(live.len(), 1, "case: {case}: {live:?}");
        assert!(live[0].0 == gate && live[0].1.contains(message), "case: {case}: {live:?}");
        assert_eq!(shut(&change(snapshot(one_delete())).plan()), [], "case: {case}, in a snapshot");
    }
}

/// A server whose clock is this many seconds ahead of the local one.
fn ahead(seconds: i64) -> ClockSkew {
    ClockSkew::measure(now() + SignedDuration::from_secs(seconds), now(), Duration::ZERO)
}

#[test]
fn a_delete_waits_until_its_servers_and_this_machine_agree_about_the_time() {
    let clock_of =
        |given: Given, name: &str, skew| given.conditions(|c| c.clocks = [(cluster_name(name), skew)].into());
    let cases = [
        ("nine days ahead", 9 * 86_400, vec!["clock"]),
        ("two minutes behind", -120, vec!["clock"]),
        ("half a minute", 30, vec![]),
    ];
    for (case, seconds, expected) in cases {
        let shut = |given: Given| shut(&clock_of(given, "guest-a", ahead(seconds)).plan());
        let gates: Vec<&str> = shut(one_delete()).into_iter().map(|(gate, _)| gate).collect();
        assert_eq!(gates, expected, "case: {case}");
        assert_eq!(shut(one_label()), [], "case: {case}: a change that is no delete");
        assert_eq!(shut(snapshot(one_delete())), [], "case: {case}: a snapshot");
    }
    assert_eq!(shut(&clock_of(one_delete(), "elsewhere", ahead(3600)).plan()), [], "a cluster it does not rest on");
    let why = &shut(&clock_of(one_delete(), "guest-a", ahead(3600 * 5)).plan())[0].1;
    assert_eq!(why, "the clock of guest-a is 5 h ahead of this machine; correct the wrong clock, then plan again");
}

#[test]
fn an_account_is_known_by_its_id_alone() {
    let account = |id: &str| {
        let source = ClusterSource::Cloud {
            provider: Provider::Ibm,
            account: id.to_owned(),
            used_from: crate::world::MemberRule::default(),
        };
        one_delete()
            .cluster(|cluster| (cluster.source, cluster.identity) = (source.clone(), ClusterIdentity::default()))
    };
    assert_eq!(shut(&account("0123").plan()), []);
    let unknown = shut(&account("").plan());
    assert!(unknown[0].0 == "identity" && unknown[0].1.contains("account id of guest-a is unknown"), "{unknown:?}");
}

#[test]
fn a_cluster_nobody_described_is_written_to_by_nobody() {
    let shut = shut(&one_delete().with(|given| given.clusters.clear()).plan());
    assert_eq!(shut[0].0, "identity");
}

#[test]
fn insecure_writes_can_be_allowed() {
    let allowed = one_delete().conditions(|c| {
        c.unverified_tls = [cluster_name("guest-a")].into();
        c.allow_insecure_writes = true;
    });
    assert_eq!(shut(&allowed.plan()), []);
}

#[test]
fn a_delete_needs_complete_and_fresh_lists() {
    let seen = |completeness: Completeness| one_delete().with(|given| given.observed[0].1 = completeness);
    let aged = |seconds: i64| complete(now() - SignedDuration::from_secs(seconds));
    let unread = one_delete().with(|given| given.observed.clear());
    let rests_on_nothing = one_delete().with(|given| given.judged[0].explanation.remedy[0].rests_on.clear());
    let shuts = [
        ("known in part", seen(Completeness::Partial { gap: gap() }), "is incomplete: listing secrets is forbidden"),
        ("not known", seen(Completeness::Unknown { gap: gap() }), "guest-a v1/secrets in openshift-config is unknown"),
        ("91 s old", seen(aged(91)), "last confirmed 91 s ago"),
        ("never read", unread, "was not read"),
        ("nothing named", rests_on_nothing, "no collection proves"),
        ("in part, in a snapshot", snapshot(seen(Completeness::Partial { gap: gap() })), "is incomplete"),
    ];
    for (case, given, message) in shuts {
        let shut = shut(&given.plan());
        assert_eq!(shut.len(), 1, "case: {case}: {shut:?}");
        assert!(shut[0].0 == "not-complete" && shut[0].1.contains(message), "case: {case}: {shut:?}");
    }
    let opens = [
        ("90 s old", seen(aged(90))),
        ("confirmed by a clock ahead of ours", seen(aged(-5))),
        ("an hour old, in a snapshot", snapshot(seen(aged(3600)))),
        ("a label", one_label().with(|given| given.observed.clear())),
    ];
    for (case, given) in opens {
        assert_eq!(shut(&given.plan()), [], "case: {case}");
    }
}

#[test]
fn a_delete_rests_on_lists_of_other_clusters_too() {
    let given = one_delete().with(|given| {
        given.clusters.push(crate::engine::testing::cluster("guest-b"));
        given.judged[0].explanation.remedy[0].rests_on.push(secrets_of("guest-b"));
        given.observed[1].1 = complete(now() - SignedDuration::from_secs(91));
    });
    assert_eq!(shut(&given.plan())[0].0, "not-complete");
}

#[test]
fn a_delete_needs_two_different_proofs() {
    let cases = [
        ("none", vec![], true),
        ("one", vec!["the managed label"], true),
        ("one, said twice", vec!["the managed label", "the managed label"], true),
        ("two", vec!["the managed label", "the fingerprint"], false),
    ];
    for (case, proofs, shuts) in cases {
        let given = one_delete().with(|given| {
            given.judged[0].explanation.remedy[0].ownership = proofs.iter().map(|proof| (*proof).to_owned()).collect();
        });
        let gates: Vec<&str> = shut(&given.plan()).into_iter().map(|(gate, _)| gate).collect();
        assert_eq!(gates, if shuts { vec!["ownership"] } else { vec![] }, "case: {case}");
    }
}

#[test]
fn a_verdict_has_to_hold_before_its_delete_is_offered() {
    let settle = |given: Given, held: Option<u64>| {
        given.conditions(|c| {
            c.settle = Duration::from_secs(30);
            c.held = held.map(|seconds| (subject("guest-a", "x"), Duration::from_secs(seconds))).into_iter().collect();
        })
    };
    let cases = [
        ("seen once", settle(one_delete(), None), true),
        ("held for less", settle(one_delete(), Some(29)), true),
        ("held long enough", settle(one_delete(), Some(30)), false),
        ("a label", settle(one_label(), None), false),
        ("a snapshot", settle(snapshot(one_delete()), None), false),
    ];
    for (case, given, shuts) in cases {
        let gates: Vec<&str> = shut(&given.plan()).into_iter().map(|(gate, _)| gate).collect();
        assert_eq!(gates, if shuts { vec!["settling"] } else { vec![] }, "case: {case}");
    }
}

#[test]
fn an_empty_answer_shuts_the_empty_set_gate() {
    assert_eq!(empty_set(1, "the list of clusters"), None);
    let shut = empty_set(0, "the list of clusters").unwrap();
    assert_eq!(shut.gate, GateName::EmptySet);
    assert!(shut.why.starts_with("the list of clusters is empty"), "{}", shut.why);
}

#[test]
fn a_gate_the_domain_shut_stays_shut() {
    let own = blocked(GateName::OperatorOwned, "the operator does it");
    let given = one_delete().with(|given| given.judged[0].explanation.remedy[0].blocked_by.push(own));
    assert_eq!(shut(&given.plan()), [("operator-owned", "the operator does it".to_owned())]);
}

#[test]
fn a_policy_rule_denies_exactly_what_its_patterns_cover() {
    let deny = || rule(PolicyEffect::Deny("change freeze until Monday".to_owned()));
    let cases = [
        ("no patterns", deny(), true),
        ("cluster", PolicyRule { cluster: Some(glob("guest-*")), ..deny() }, true),
        ("other cluster", PolicyRule { cluster: Some(glob("mgmt-*")), ..deny() }, false),
        ("class", PolicyRule { class: Some(glob("prod")), ..deny() }, true),
        ("other class", PolicyRule { class: Some(glob("dev")), ..deny() }, false),
        ("namespace", PolicyRule { namespace: Some(glob("openshift-*")), ..deny() }, true),
        ("other namespace", PolicyRule { namespace: Some(glob("kube-*")), ..deny() }, false),
        ("kind", PolicyRule { kind: Some(glob("Secret")), ..deny() }, true),
        ("other kind", PolicyRule { kind: Some(glob("ConfigMap")), ..deny() }, false),
        ("verb", PolicyRule { verb: Some(glob("delete")), ..deny() }, true),
        ("other verb", PolicyRule { verb: Some(glob("label")), ..deny() }, false),
        ("all but one", PolicyRule { cluster: Some(glob("*")), verb: Some(glob("tag")), ..deny() }, false),
    ];
    for (case, rule, denies) in cases {
        let shut = shut(&one_delete().conditions(|c| c.policy = vec![rule]).plan());
        let expected = "a [[policy]] rule denies it: change freeze until Monday".to_owned();
        assert_eq!(shut, if denies { vec![("policy", expected)] } else { vec![] }, "case: {case}");
    }
}

#[test]
fn a_cap_blocks_all_it_matches_once_too_many_are_selected() {
    let capped = |cap: u64| {
        given()
            .findings(3, |index| finding(&format!("x{index}")).deletes())
            .with(|given| given.judged[2].explanation.remedy[0].selected = false)
            .conditions(|c| c.policy = vec![rule(PolicyEffect::Cap(cap))])
            .plan()
    };
    let blocked = |plan: Plan| plan.actions.iter().filter(|action| !action.blocked_by.is_empty()).count();
    assert_eq!(blocked(capped(2)), 0, "two selected, two allowed");
    assert_eq!(blocked(capped(1)), 3, "two selected, one allowed: the unselected one is blocked too");
    assert!(shut(&capped(1))[0].1.contains("2 selected actions match"));
}

#[test]
fn a_policy_rule_raises_the_tier_and_never_lowers_it() {
    for (asked, expected) in [(Tier::T4, Tier::T4), (Tier::T1, Tier::T3)] {
        let plan = one_delete().conditions(|c| c.policy = vec![rule(PolicyEffect::Tier(asked))]).plan();
        assert_eq!(plan.actions[0].tier, expected, "asked for {asked}");
    }
}

#[test]
fn an_action_waits_for_what_it_depends_on() {
    let chain = |first_order: usize| {
        let mut second = label("guest-a", "b");
        second.depends_on.push(Dependency { finding: subject("guest-a", "a"), order: first_order });
        given().finding(finding("a").deletes()).finding(finding("b").draft(second))
    };
    let first_draft =
        |change: fn(&mut ActionDraft)| chain(0).with(|given| change(&mut given.judged[0].explanation.remedy[0]));
    let cases = [
        ("open", chain(0), None),
        (
            "unselected",
            first_draft(|draft| draft.selected = false),
            Some("a1 has to be done first and is not selected"),
        ),
        (
            "neither is selected: they can be chosen together",
            first_draft(|draft| draft.selected = false)
                .with(|given| given.judged[1].explanation.remedy[0].selected = false),
            None,
        ),
        ("blocked", first_draft(|draft| draft.ownership.clear()), Some("a1 has to be done first and is blocked")),
        ("not planned", chain(1), Some("is not in this plan")),
    ];
    for (case, given, message) in cases {
        let plan = given.plan();
        let waits = &plan.actions[1].blocked_by;
        match message {
            None => assert_eq!(waits[..], [], "case: {case}"),
            Some(message) => {
                assert_eq!(waits.len(), 1, "case: {case}");
                assert!(
                    waits[0].gate == GateName::Dependency && waits[0].why.contains(message),
                    "case: {case}: {waits:?}"
                );
            }
        }
    }
    assert_eq!(chain(0).plan().actions[1].depends_on, ["a1"]);
}

#[test]
fn actions_that_wait_for_each_other_never_run() {
    let waiting = |name: &str, other: &str| {
        let mut draft = label("guest-a", name);
        draft.depends_on.push(Dependency { finding: subject("guest-a", other), order: 0 });
        finding(name).draft(draft)
    };
    let plan = given().finding(waiting("a", "b")).finding(waiting("b", "a")).plan();
    assert!(plan.actions.iter().all(|action| action.blocked_by[0].gate == GateName::Dependency));
}

fn braked(plan: &Plan) -> Vec<&Action> {
    let is_braked = |action: &&Action| action.blocked_by.iter().any(|blocked| blocked.gate == GateName::Brake);
    plan.actions.iter().filter(is_braked).collect()
}

fn many(deletes: usize) -> Given {
    given()
        .findings(deletes, |index| finding(&format!("x{index}")).deletes())
        // Enough others that the plan stays below half.
        .findings(deletes * 2, |index| finding(&format!("kept{index}")).state(State::Match))
}

#[test]
fn the_brake_pulls_over_25_deletes() {
    assert_eq!(braked(&many(25).plan()).len(), 0);
    let plan = many(26).plan();
    assert_eq!(braked(&plan).len(), 26);
    assert_eq!(shut(&plan).len(), 1);
    assert!(shut(&plan)[0].1.contains("26 objects, more than 25"), "{:?}", shut(&plan));
}

#[test]
fn the_brake_pulls_for_every_cluster_that_contributes_and_for_no_other() {
    let plan = many(25)
        .with(|given| given.clusters.push(crate::engine::testing::cluster("guest-b")))
        .finding(finding_in("guest-b", "one").deletes())
        .finding(finding_in("guest-c", "blocked-otherwise").deletes())
        .plan();
    let clusters: BTreeSet<&str> = braked(&plan).iter().map(|action| action.cluster.as_str()).collect();
    assert_eq!(clusters, ["guest-a", "guest-b"].into());
    assert_eq!(braked(&plan).len(), 26);
}

#[test]
fn the_brake_counts_only_selected_deletes_that_would_run_and_are_not_one_intent() {
    let changed =
        |change: fn(&mut ActionDraft)| many(26).with(|given| change(&mut given.judged[0].explanation.remedy[0])).plan();
    let cases = [
        ("unselected", changed(|draft| draft.selected = false)),
        ("blocked", changed(|draft| draft.ownership.clear())),
        ("one intent", changed(|draft| draft.reason = Reason::OidcAvailable)),
        ("waits for ever", changed(|draft| draft.depends_on.push(Dependency { finding: subject("z", "z"), order: 0 }))),
        ("no delete", changed(|draft| *draft = label("guest-a", "x0"))),
    ];
    for (case, plan) in cases {
        assert_eq!(braked(&plan).len(), 0, "case: {case}");
    }
}

#[test]
fn a_pulled_brake_holds_unselected_deletes_too() {
    let given = many(26).finding(finding("later").draft(ActionDraft { selected: false, ..delete("guest-a", "later") }));
    assert_eq!(braked(&given.plan()).len(), 27);
}

fn part(deletes: usize, managed: usize) -> Given {
    given()
        .findings(deletes, |index| finding(&format!("x{index}")).deletes())
        .findings(managed - deletes, |index| finding(&format!("kept{index}")).state(State::Match))
        .findings(20, |index| finding(&format!("foreign{index}")).state(State::Match).proofs(0))
}

#[test]
fn the_brake_pulls_over_half_of_what_is_managed() {
    let cases = [
        ("half of 12", part(6, 12), 0),
        ("more than half of 12", part(7, 12), 7),
        ("all of 10, too few to say", part(10, 10), 0),
        ("more than half of 11", part(6, 11), 6),
    ];
    for (case, given, expected) in cases {
        assert_eq!(braked(&given.plan()).len(), expected, "case: {case}");
    }
    let said = part(7, 12).plan();
    assert!(shut(&said)[0].1.contains("7 of the 12 objects of hosted-oidc in guest-a"), "{:?}", shut(&said));
}

#[test]
fn what_the_user_asked_to_see_does_not_change_what_the_brake_counts_against() {
    let given = part(6, 12).with(|given| given.scope.changes_only = true);
    let plan = given.plan();
    assert_eq!(plan.findings.len(), 6);
    assert_eq!(braked(&plan).len(), 0, "6 of 12 is half, even when the other six are not shown");
}

#[test]
fn max_deletes_lifts_the_brake_only_when_it_covers_the_count_and_makes_it_tier_4() {
    let allowed = |given: Given, most: u64| given.conditions(|c| c.deletes_max = Some(most)).plan();
    let cases = [
        ("26 of 26", allowed(many(26), 26), 0, Tier::T4),
        ("25 of 26", allowed(many(26), 25), 26, Tier::T3),
        ("half rule", allowed(part(7, 12), 7), 0, Tier::T4),
        ("half rule, not covered", allowed(part(7, 12), 6), 7, Tier::T3),
        ("not needed", allowed(many(3), 100), 0, Tier::T3),
        ("tighter than the brake", allowed(many(3), 2), 3, Tier::T3),
    ];
    for (case, plan, expected, tier) in cases {
        assert_eq!(braked(&plan).len(), expected, "case: {case}");
        assert!(plan.actions.iter().all(|action| action.tier == tier), "case: {case}");
    }
}

#[test]
fn reasons_are_sorted_by_their_gate() {
    let plan = one_delete()
        .conditions(|c| {
            c.read_only = ReadOnly::ByFlag;
            c.kill_switch = Some(KillSwitch::Set { file: "stop".to_owned() });
            c.settle = Duration::from_secs(1);
        })
        .with(|given| given.judged[0].explanation.remedy[0].ownership.clear())
        .plan();
    let gates: Vec<&str> = shut(&plan).into_iter().map(|(gate, _)| gate).collect();
    assert_eq!(gates, ["kill-switch", "ownership", "read-only", "settling"]);
}

#[test]
fn nobody_changes_who_can_log_in_with_a_login_that_may_end() {
    let switch = |login: Option<OwnLogin>| {
        let draft = ActionDraft { stake: Stake::Login, ..label("guest-a", "x") };
        let logins = login.into_iter().map(|login| (cluster_name("guest-a"), login)).collect();
        given().finding(finding("x").draft(draft)).conditions(|c| c.logins = logins)
    };
    let oauth = || Some(OwnLogin::MayEnd("it is a token of the OAuth server".to_owned()));
    let cases = [
        ("a certificate", switch(Some(OwnLogin::Certificate)), None),
        ("a service account", switch(Some(OwnLogin::ServiceAccount)), None),
        ("the demo", switch(Some(OwnLogin::InProcess)), None),
        ("a token that ends", switch(oauth()), Some("a token of the OAuth server")),
        ("nobody looked", switch(None), Some("how you are logged in is not known")),
        ("a recording", snapshot(switch(None)), None),
        (
            "another change",
            one_label().conditions(|c| c.logins.extend(oauth().map(|l| (cluster_name("guest-a"), l)))),
            None,
        ),
    ];
    for (case, given, expected) in cases {
        let shut = shut(&given.plan());
        match expected {
            None => assert_eq!(shut, [], "case: {case}"),
            Some(message) => {
                assert!(
                    shut.len() == 1 && shut[0].0 == "access" && shut[0].1.contains(message),
                    "case: {case}: {shut:?}"
                );
            }
        }
    }
}

#[test]
fn what_another_tool_manages_is_not_deleted_and_its_fields_are_not_written() {
    let mark = |owned: &[&str]| {
        let path = |text: &&str| text.split(' ').map(ToOwned::to_owned).collect();
        ManagedBy::marked_for_tests(owned.iter().map(path).collect())
    };
    let with = |draft: ActionDraft, owned: &[&str]| {
        let draft = ActionDraft { managed_by: Some(mark(owned)), ..draft };
        given().finding(finding("x").draft(draft))
    };
    let deleted = with(delete("guest-a", "x"), &[]);
    let deleted_why = "Argo CD (application shop) manages it and would create it again; remove it there, \
        or set [safety] managed_elsewhere = \"warn\"";
    let written = with(label("guest-a", "x"), &["metadata labels a"]);
    let written_why = "Argo CD (application shop) manages it, and its field manager owns metadata.labels.a; \
        change it in Argo CD, or set [safety] managed_elsewhere = \"warn\"";
    let gate = |why: &str| vec![("managed-elsewhere", why.to_owned())];
    assert_eq!(shut(&deleted.plan()), gate(deleted_why));
    assert_eq!(shut(&snapshot(deleted.clone()).plan()), gate(deleted_why), "in a recording too");
    assert_eq!(shut(&written.plan()), gate(written_why));
    assert_eq!(shut(&with(label("guest-a", "x"), &["metadata labels other"]).plan()), [], "a field of no one else");
    for given in [deleted, written] {
        assert!(given.plan().actions[0].selected, "the selection stays");
        assert_eq!(shut(&given.conditions(|c| c.managed_elsewhere = ManagedElsewhere::Warn).plan()), []);
    }
}
