//! Which deletes are remembered, and what a finding gains by one.

use super::*;
use crate::engine::journal::{ApprovalWay, ApprovedCluster, Found, Record, entries};
use crate::engine::testing::{NAMESPACE, SECRETS, cluster, finding, given, intent, now};
use crate::engine::{Plan, Tier};

fn identity() -> ClusterIdentity {
    ClusterIdentity {
        kube_system_uid: "uid-of-kube-system".to_owned(),
        ca_sha256: "c0ffee".to_owned(),
        ..ClusterIdentity::default()
    }
}

/// So long before now.
fn hours_ago(hours: i64) -> Timestamp {
    now() - SignedDuration::from_hours(hours)
}

/// The records of a plan that did one thing to the Secret `x`.
fn run(plan: &str, verb: Verb, end: Record, at: Timestamp) -> Vec<Record> {
    let (plan, action) = (plan.to_owned(), "a1".to_owned());
    let clusters = vec![ApprovedCluster::new("guest-a", identity())];
    let (who, host, how) = ("anna".to_owned(), "laptop".to_owned(), ApprovalWay::Typed);
    let approved = Record::PlanApproved { plan: plan.clone(), who, host, how, at, clusters, undoes: None };
    let target = ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: Some(NAMESPACE.to_owned()),
        name: "x".to_owned(),
        uid: None,
        cloud: None,
    };
    let mut records = vec![approved];
    if verb == Verb::Delete {
        let (file, digest) = ("00ff.age".to_owned(), "sha256:0".to_owned());
        records.push(Record::Backup { plan: plan.clone(), action: action.clone(), file, digest });
    }
    records.push(intent(&plan, &action, verb, target, at));
    records.push(end);
    records
}

fn verified(plan: &str, state: VerifiedState) -> Record {
    let (plan, action) = (plan.to_owned(), "a1".to_owned());
    Record::Verified { plan, action, state, why: String::new(), version: None, at: now() }
}

fn deleted(at: Timestamp) -> Vec<Record> {
    run("sha256:1a2b3c4d00", Verb::Delete, verified("sha256:1a2b3c4d00", VerifiedState::Gone), at)
}

fn stones_of(records: &[Record]) -> Vec<Tombstone> {
    tombstones(&entries(records), now())
}

#[test]
fn what_was_deleted_of_late_and_not_brought_back_has_a_tombstone() {
    let resolved = |found| Record::Resolved { plan: "p".to_owned(), action: "a1".to_owned(), found, at: now() };
    let one = |verb, end| run("p", verb, end, hours_ago(1));
    let restored = run("q", Verb::Create, verified("q", VerifiedState::Restored), hours_ago(1));
    let cases = [
        ("deleted", deleted(hours_ago(1)), 1),
        ("on the last hour", deleted(hours_ago(7 * 24 - 1)), 1),
        ("a week ago", deleted(hours_ago(7 * 24)), 0),
        ("found gone after a crash", one(Verb::Delete, resolved(Found::Gone)), 1),
        ("found unchanged after a crash", one(Verb::Delete, resolved(Found::Unchanged)), 0),
        ("failed", one(Verb::Delete, verified("p", VerifiedState::Failed)), 0),
        ("restored by the same plan", one(Verb::Delete, verified("p", VerifiedState::Restored)), 0),
        ("a label", one(Verb::Label, verified("p", VerifiedState::Changed)), 0),
        ("brought back by an undo", [deleted(hours_ago(2)), restored.clone()].concat(), 0),
        ("deleted again since", [restored, deleted(hours_ago(0))].concat(), 1),
        (
            "an undo that came to nothing",
            [deleted(hours_ago(2)), run("q", Verb::Create, verified("q", VerifiedState::Failed), hours_ago(1))]
                .concat(),
            1,
        ),
    ];
    for (case, records, expected) in cases {
        assert_eq!(stones_of(&records).len(), expected, "case: {case}");
    }
}

fn missing() -> crate::engine::testing::FindingGiven {
    let mut given = finding("x").state(State::Missing);
    given.0.explanation.uid = None;
    given
}

/// The plan of a world with this finding, after these records.
fn raised(given: crate::engine::testing::FindingGiven, records: &[Record]) -> Plan {
    let mut all = self::given().finding(given);
    let clusters = [cluster("guest-a")];
    raise(&mut all.judged, &stones_of(records), &clusters.iter().collect::<Vec<_>>(), &[SECRETS]);
    all.plan()
}

#[test]
fn a_reference_to_what_we_deleted_says_so_and_offers_to_bring_it_back() {
    let plan = raised(missing(), &deleted(hours_ago(1)));
    let finding = &plan.findings[0];
    assert_eq!(finding.codes, [DELETED_BY_TRUEUP]);
    assert!(finding.summary.ends_with("trueup deleted it at 2026-11-16T09:00:00Z, plan 1a2b3c4d/a1"), "{finding:?}");
    assert_eq!(finding.evidence[0].object, "journal 1a2b3c4d/a1");
    let [action] = &plan.actions[..] else { panic!("{plan:?}") };
    assert_eq!((action.verb(), action.tier, action.selected), (Verb::Create, Tier::T1, false));
    assert_eq!((action.change.backup(), &action.blocked_by), (Some("00ff.age"), &Vec::new()));
    assert_eq!(finding.actions, [action.id.as_str()]);
}

#[test]
fn nothing_else_gains_by_a_tombstone() {
    let mut elsewhere = deleted(hours_ago(1));
    if let Record::PlanApproved { clusters, .. } = &mut elsewhere[0] {
        clusters[0].identity.kube_system_uid = "another".to_owned();
    }
    let mut other_name = missing();
    other_name.0.subject.name = "y".to_owned();
    let cases = [
        ("the object is there again", finding("x").state(State::Drift), deleted(hours_ago(1))),
        ("nobody wants it", missing().state(State::Match), deleted(hours_ago(1))),
        ("whether it is there is not known", missing().state(State::Unknown), deleted(hours_ago(1))),
        ("another cluster under the name", missing(), elsewhere),
        ("another object", other_name, deleted(hours_ago(1))),
        ("too long ago", missing(), deleted(hours_ago(200))),
    ];
    for (case, given, records) in cases {
        let plan = raised(given, &records);
        assert!(plan.findings[0].codes.is_empty() && plan.actions.is_empty(), "case: {case}: {plan:?}");
    }
}
