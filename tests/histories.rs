//! Some thousand histories: what must hold, held in all of them, and everything that can go wrong did.

#[path = "histories/mod.rs"]
mod histories;

use histories::{Count, Kind, Told, Way, hostile, play};

/// As many as a debug build plays in some 20 seconds of one core.
const SEEDS: u64 = 3_000;

#[test]
fn nothing_that_must_hold_breaks_in_any_history_and_everything_that_can_go_wrong_does() {
    let mut fired = vec![0_u64; Kind::ALL.len()];
    for seed in 0..SEEDS {
        let told = play(seed, false);
        if let Some(broken) = told.broken {
            let Told { trace, .. } = play(seed, true);
            panic!("seed {seed}: {broken}\n{}", trace.join("\n"));
        }
        for (count, kind) in fired.iter_mut().zip(Kind::ALL) {
            *count += u64::from(told.fired.has(*kind));
        }
    }
    for (count, kind) in fired.iter().zip(Kind::ALL) {
        assert!(*count > 0, "`{}` happened in none of {SEEDS} histories", kind.word());
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
        (0..60).for_each(|seed| count.add(hostile(seed, way)));
        assert!(count.deletes > 30, "{}: {count:?}", way.word());
        count
    };
    for way in Way::ALL {
        let wrong = count(way).wrong();
        match way {
            Way::ByName | Way::ByUid | Way::ByUidAndVersion => assert!(wrong > 0, "{}: nothing wrong", way.word()),
            Way::TrueupNoRereads | Way::TrueupPerWave | Way::TrueupPerDelete => {
                assert_eq!(wrong, 0, "{}", way.word());
            }
        }
    }
}
