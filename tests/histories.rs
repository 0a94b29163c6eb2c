//! Some thousand histories: what must hold, held in all of them, and everything that can go wrong did.

#[path = "histories/mod.rs"]
mod histories;

use std::sync::Mutex;

use histories::{Count, Kind, Telling, Told, Way, hostile, play};

/// As many as a debug build plays in some 20 seconds on two cores.
const SEEDS: usize = 3_000;
const THREADS: usize = 2;

#[test]
fn nothing_that_must_hold_breaks_in_any_history_and_everything_that_can_go_wrong_does() {
    let fired: Mutex<Vec<u64>> = Mutex::new(vec![0; Kind::ALL.len()]);
    std::thread::scope(|scope| {
        for first in 0..THREADS {
            let fired = &fired;
            scope.spawn(move || (first..SEEDS).step_by(THREADS).for_each(|seed| hold(seed as u64, fired)));
        }
    });
    for (count, kind) in fired.into_inner().unwrap().iter().zip(Kind::ALL) {
        // One in a thousand, as far as so few histories can tell.
        assert!(*count > 0, "`{}` happened in none of {SEEDS} histories", kind.as_str());
    }
}

/// Plays one history; one that breaks is told from its beginning.
fn hold(seed: u64, fired: &Mutex<Vec<u64>>) {
    let told = play(seed, false);
    if let Some(broken) = told.broken {
        let Told { trace, .. } = play(seed, true);
        panic!("seed {seed}: {broken}\n{}", trace.join("\n"));
    }
    assert!(told.requests > 0, "seed {seed} asked for nothing");
    for (count, kind) in fired.lock().unwrap().iter_mut().zip(Kind::ALL) {
        *count += u64::from(told.fired.has(*kind));
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in [1, 17, 99, 1_234] {
        assert_eq!(play(seed, true).trace, play(seed, true).trace, "seed {seed}");
    }
}

#[test]
fn in_hostile_worlds_trueup_deletes_nothing_wrong_and_others_do() {
    let count = |way: Way| {
        let mut count = Count::default();
        (0..60).for_each(|seed| count.add(hostile(seed, way, Telling::No).0));
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
