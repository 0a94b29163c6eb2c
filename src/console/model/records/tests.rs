use super::*;
use trueup_core::engine::{CheckName, Judgement};

fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

fn subject() -> Arc<SubjectId> {
    Arc::new(SubjectId {
        domain: CheckName("toy"),
        cluster: ClusterName::new("a"),
        api_version: "v1",
        kind: "Secret",
        namespace: None,
        name: "x".to_owned(),
        cloud: None,
    })
}

fn held(state: State) -> CurrentJudgement {
    let (codes, verdict) = (Vec::new(), state.as_str());
    CurrentJudgement::new(Judgement { state, verdict, codes, ownership_proofs: 0, until: None }, now())
}

/// What is recorded of these judgements in turn: `match → drift`.
fn recorded(states: &[(State, Arrival)]) -> Vec<String> {
    let (mut records, id) = (Records::default(), subject());
    let mut before: Option<CurrentJudgement> = None;
    for (state, arrival) in states {
        let after = held(*state);
        records.judged(&id, before.as_ref(), &after, *arrival, now());
        before = Some(after);
    }
    let line = |record: &Arc<ChangeRecord>| match &record.change {
        RecordedChange::Finding { from, to, .. } => {
            let word = |one: &Option<RecordedVerdict>| one.map_or("nothing", |one| one.verdict);
            format!("{} → {}", word(from), word(to))
        }
        RecordedChange::Link { from, to, .. } => format!("{} → {}", from.as_str(), to.as_str()),
    };
    records.iter().rev().map(line).collect()
}

#[test]
fn changes_are_recorded_and_first_listings_are_not() {
    use Arrival::{Arriving, Settled};
    use State::{Drift, Extra, Match, Unknown};
    type Case<'a> = (&'a str, &'a [(State, Arrival)], &'a [&'a str]);
    let cases: [Case<'_>; 8] = [
        ("the first listing", &[(Extra, Arriving)], &[]),
        ("known piece by piece", &[(Unknown, Arriving), (Extra, Arriving)], &[]),
        ("the rest of the list came later", &[(Unknown, Arriving), (Extra, Settled)], &[]),
        ("a new difference", &[(Extra, Settled)], &["nothing → extra"]),
        ("a new match", &[(Match, Settled)], &[]),
        (
            "worse and healed",
            &[(Match, Arriving), (Drift, Settled), (Match, Settled)],
            &["match → drift", "drift → match"],
        ),
        (
            "lost and known again as it was",
            &[(Extra, Arriving), (Unknown, Arriving), (Extra, Arriving)],
            &["extra → unknown"],
        ),
        (
            "changed while it was not known",
            &[(Match, Arriving), (Unknown, Arriving), (Extra, Arriving)],
            &["match → unknown", "match → extra"],
        ),
    ];
    for (case, states, expected) in cases {
        assert_eq!(recorded(states), expected, "case: {case}");
    }
}

#[test]
fn a_difference_that_is_gone_is_recorded() {
    let gone = |state: State, arrival: Arrival| {
        let mut records = Records::default();
        records.gone(&subject(), &held(state), arrival, now());
        records.len()
    };
    let cases = [
        ("a difference", State::Extra, Arrival::Settled, 1),
        ("a match", State::Match, Arrival::Settled, 0),
        ("with its cluster", State::Extra, Arrival::Arriving, 0),
    ];
    for (case, state, arrival, expected) in cases {
        assert_eq!(gone(state, arrival), expected, "case: {case}");
    }
}

#[test]
fn the_oldest_records_are_dropped() {
    let (mut records, cluster) = (Records::default(), ClusterName::new("a"));
    for number in 0..=RECORDS_MAX {
        let state = if number % 2 == 0 { LinkState::Live } else { LinkState::Down };
        records.linked(&cluster, state, None, now());
    }
    records.linked(&cluster, LinkState::Down, Some("refused"), now());
    assert_eq!((records.len(), records.dropped()), (RECORDS_MAX, 1));
}
