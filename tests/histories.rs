//! Simulated histories: the invariants hold in all of them, and everything that can go wrong did in some.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

#[path = "histories/mod.rs"]
mod histories;

use std::process::Command;
use std::sync::Mutex;

use histories::{Count, EditSeen, Edited, FIELDS, HistoryResult, Kind, Marked, PlanLife, Tracing, Way, hostile, play};

/// As many as a debug build plays in some 30 seconds on two cores.
const SEEDS: usize = 1_500;
const THREADS: usize = 2;

#[test]
fn no_invariant_is_violated_in_any_history_and_every_fault_occurs() {
    let seen = Mutex::new(Seen { fired: vec![0; Kind::ALL.len()], edits: Vec::new() });
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let seen = &seen;
            scope.spawn(move || (first..SEEDS).step_by(THREADS).for_each(|seed| hold(seed as u64, seen)));
        }
    });
    let Seen { fired, edits } = seen.into_inner().unwrap();
    let never: Vec<&str> =
        fired.iter().zip(Kind::ALL).filter(|(count, _)| **count == 0).map(|(_, kind)| kind.as_str()).collect();
    assert!(never.is_empty(), "in none of {SEEDS} histories: {never:?}");
    let is_edited = |place: usize| edits.iter().any(|seen| seen.edited == Edited::One(place));
    let never: Vec<String> =
        FIELDS.iter().enumerate().filter(|(place, _)| !is_edited(*place)).map(|(_, field)| field.as_str()).collect();
    assert!(never.is_empty(), "edited in none of {SEEDS} histories: {never:?}");
    for (marked, accepts_foreign) in Marked::ALL.into_iter().flat_map(|marked| [(marked, false), (marked, true)]) {
        let is_such = |seen: &EditSeen| seen.marked == marked && seen.accepts_foreign == accepts_foreign;
        assert!(edits.iter().any(is_such), "no edited file: {marked:?}, --foreign-plan {accepts_foreign}");
    }
    assert!(edits.iter().any(|seen| seen.is_undo), "no undo was edited");
    assert!(edits.iter().any(|seen| seen.is_approved), "every edited file was refused");
}

/// What occurred in the histories that were played.
struct Seen {
    fired: Vec<u64>,
    edits: Vec<EditSeen>,
}

/// Plays one history; one that violates an invariant is printed from its beginning.
fn hold(seed: u64, seen: &Mutex<Seen>) {
    let result = play(seed, PlanLife::Minutes, false);
    if let Some(broken) = result.broken {
        let HistoryResult { trace, .. } = play(seed, PlanLife::Minutes, true);
        panic!("seed {seed}: {broken}\n{}", trace.join("\n"));
    }
    assert!(result.requests > 0, "seed {seed} sent no request");
    let mut seen = seen.lock().unwrap();
    for (count, kind) in seen.fired.iter_mut().zip(Kind::ALL) {
        *count += u64::from(result.fired.has(*kind));
    }
    seen.edits.extend(result.edits);
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in [1, 17, 99, 1_234] {
        assert_eq!(play(seed, PlanLife::Minutes, true).trace, play(seed, PlanLife::Minutes, true).trace, "seed {seed}");
    }
}

#[test]
fn in_hostile_worlds_trueup_deletes_nothing_wrong_and_others_do() {
    let count = |way: Way| {
        let mut count = Count::default();
        (0..60).for_each(|seed| count.add(hostile(seed, way, PlanLife::Minutes, Tracing::No).0));
        assert!(count.deletes > 30, "{}: {count:?}", way.as_str());
        count
    };
    for way in Way::ALL {
        let wrong = count(way).wrong();
        match way {
            Way::ByName | Way::ByUid | Way::ByUidAndVersion => assert!(wrong > 0, "{}: nothing wrong", way.as_str()),
            Way::TrueupNoRereads | Way::TrueupPerWave | Way::TrueupPerDelete => {
                assert_eq!(wrong, 0, "{}", way.as_str());
            }
        }
    }
}

/// What makes a plan of days safe is that everything is judged again when it is applied.
#[test]
fn a_plan_that_waits_for_days_deletes_nothing_wrong() {
    let mut deletes = 0;
    let mut requests = 0;
    for seed in 0..600 {
        let result = play(seed, PlanLife::Days, false);
        if let Some(broken) = result.broken {
            let HistoryResult { trace, .. } = play(seed, PlanLife::Days, true);
            panic!("seed {seed}: {broken}\n{}", trace.join("\n"));
        }
        requests += result.requests;
    }
    assert!(requests > 0, "nothing was sent");
    for seed in 0..120 {
        let (count, _) = hostile(seed, Way::TrueupPerWave, PlanLife::Days, Tracing::No);
        assert_eq!(count.wrong(), 0, "seed {seed}: {count:?}");
        deletes += count.deletes;
    }
    assert!(deletes > 30, "{deletes} deletes in 120 worlds");
}

#[test]
fn every_mutation_still_changes_exactly_one_text() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/histories/mutations.py");
    let checked = Command::new("python3").arg(script).arg("--check").output();
    let Ok(checked) = checked else {
        eprintln!("skipped: python3 is not installed");
        return;
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
