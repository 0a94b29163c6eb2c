use super::*;
use crate::outline::Outline;
use trueup_core::engine::{CheckName, Judgement};
use trueup_core::world::{ClusterName, EditedPart, FieldValue, Key, Writer};

const CHECK: CheckName = CheckName("toy");

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn object(name: &str) -> CauseObject {
    let (cluster, key) = (ClusterName::new("mgmt"), Key::new(Some("clusters"), name));
    CauseObject { check: CHECK, cluster, kind: "HostedCluster", key }
}

fn cause(name: &str, effect: &'static str) -> Cause {
    Cause {
        object: object(name),
        effect,
        reason: "no provider uses them".into(),
        written: None,
        form: CauseForm::Effect,
    }
}

fn finding(name: &str, state: State, cause: Option<Cause>) -> (Arc<SubjectId>, CurrentJudgement) {
    let id = SubjectId {
        domain: CHECK,
        cluster: ClusterName::new("guest"),
        api_version: "v1",
        kind: "Secret",
        namespace: None,
        name: name.to_owned(),
        cloud: None,
    };
    let judgement = Judgement { state, verdict: state.as_str(), codes: Vec::new(), ownership_proofs: 0, until: None };
    let outline = Some(Arc::new(Outline::default().with_cause(cause)));
    (Arc::new(id), CurrentJudgement { outline, ..CurrentJudgement::new(judgement, at("2026-11-16T10:00:00Z")) })
}

fn words() -> GroupWords<'static> {
    GroupWords { arrow: "→", zone: TimeZone::UTC, now: at("2026-11-16T19:40:00Z") }
}

fn edit(time: &str) -> Arc<ObjectEdit> {
    let CauseObject { cluster, kind, key, .. } = object("checkout");
    let value = |count| FieldValue::Entries { count, hash: u64::from(count) };
    let change = EditedPart::Field { name: "oidcProviders", from: value(3), to: value(1) };
    Arc::new(ObjectEdit { cluster, kind, key, change, at: at(time), by: Some("hypershift-cli".into()) })
}

fn groups(findings: &[(Arc<SubjectId>, CurrentJudgement)], edits: &Edits) -> Vec<(State, usize, String)> {
    let found = cause_groups(findings.iter().map(|(id, held)| (id, held)), edits);
    found.into_iter().map(|group| (group.state, group.members.len(), group.sentence(&words()))).collect()
}

#[test]
fn findings_with_one_cause_are_one_group_and_the_worst_comes_first() {
    let orphan = |name| finding(name, State::Extra, Some(cause("checkout", "orphans")));
    let broken = |name, state| finding(name, state, Some(cause("payments", "copies wait")));
    let findings = [
        orphan("a"),
        orphan("b"),
        orphan("c"),
        broken("d", State::Stale),
        broken("e", State::Error),
        finding("alone", State::Extra, Some(cause("mail", "orphans"))),
        finding("no cause", State::Extra, None),
        finding("other effect", State::Extra, Some(cause("checkout", "copies wait"))),
    ];
    let found = groups(&findings, &Edits::default());
    let expected = [
        (State::Error, 2, "2 copies wait: no provider uses them".to_owned()),
        (State::Extra, 3, "3 orphans: no provider uses them".to_owned()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_group_names_the_edit_its_time_and_the_field_manager() {
    let seen = |time: &str| {
        let mut edits = Edits::default();
        edits.put(edit(time), words().now);
        edits
    };
    let writer = |time: &str| Some(Writer::new("web".into(), Some(at(time))));
    let written = |time: &str| Cause { written: writer(time), ..cause("checkout", "orphans") };
    let cases = [
        (
            "seen today",
            seen("2026-11-16T19:34:02Z"),
            cause("checkout", "orphans"),
            "2 orphans: HostedCluster checkout edited 19:34:02 by hypershift-cli, oidcProviders 3 → 1",
        ),
        (
            "seen, and the write of it",
            seen("2026-11-16T19:34:02Z"),
            written("2026-11-16T19:34:02Z"),
            "2 orphans: HostedCluster checkout edited 19:34:02 by hypershift-cli, oidcProviders 3 → 1",
        ),
        (
            "before this session",
            Edits::default(),
            written("2026-11-12T08:00:00Z"),
            "2 orphans: HostedCluster checkout, no provider uses them; edited 12 Nov 08:00 by web (before this session)",
        ),
        ("no author is known", Edits::default(), cause("checkout", "orphans"), "2 orphans: no provider uses them"),
    ];
    for (case, edits, cause, expected) in cases {
        let findings = ["a", "b"].map(|name| finding(name, State::Extra, Some(cause.clone())));
        assert_eq!(groups(&findings, &edits), [(State::Extra, 2, expected.to_owned())], "case: {case}");
    }
}
