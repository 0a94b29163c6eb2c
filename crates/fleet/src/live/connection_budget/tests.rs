use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn guest(name: &str, standing: Standing, needed: u64) -> (ClusterName, Guest) {
    (ClusterName::new(name), Guest { standing, needed, connected_at: at(0), connection: 0 })
}

fn budget(guests: impl IntoIterator<Item = (ClusterName, Guest)>) -> ConnectionBudget {
    let mut budget = ConnectionBudget::default();
    for (name, guest) in guests {
        budget.put(&name, Some(Guest { standing: Standing::Unseen, needed: 7, connected_at: at(9), connection: 5 }));
        budget.put(&name, Some(guest));
    }
    budget
}

fn moves(budget: &ConnectionBudget, live_max: usize, now: Timestamp) -> Vec<String> {
    let sign = |how: Move| match how {
        Move::Release => "-",
        Move::Retire => "--",
        Move::Connect => "+",
        Move::ReadAgain => "++",
    };
    budget.moves(live_max, now).into_iter().map(|(name, how)| format!("{}{name}", sign(how))).collect()
}

#[test]
fn every_guest_is_judged_once_and_those_needed_last_stay() {
    use Standing::{Judged, Resting, Unseen, Working};
    let cases = [
        ("capacity for all", vec![guest("a", Unseen, 0), guest("b", Unseen, 0)], vec!["+a", "+b"]),
        (
            "no capacity while all work",
            vec![guest("a", Working, 0), guest("b", Working, 0), guest("c", Unseen, 0)],
            vec![],
        ),
        (
            "the one needed longest ago is released",
            vec![guest("a", Judged, 5), guest("b", Judged, 3), guest("c", Unseen, 0)],
            vec!["-b", "+c"],
        ),
        (
            "resting guests stay at rest while the others have their turn",
            vec![guest("a", Judged, 0), guest("b", Judged, 0), guest("c", Resting, 0)],
            vec![],
        ),
        ("a free connection is used", vec![guest("a", Judged, 0), guest("b", Resting, 0)], vec!["++b"]),
        (
            "a guest that is looked at comes back",
            vec![guest("a", Judged, 1), guest("b", Judged, 2), guest("c", Resting, 3)],
            vec!["-a", "+c"],
        ),
        (
            "but releases none that is needed more",
            vec![guest("a", Judged, 8), guest("b", Judged, 9), guest("c", Resting, 3)],
            vec![],
        ),
        ("and takes a free slot", vec![guest("a", Judged, 8), guest("c", Resting, 3)], vec!["+c"]),
    ];
    for (case, guests, expected) in cases {
        assert_eq!(moves(&budget(guests), 2, at(59)), expected, "case: {case}");
    }
}

#[test]
fn a_turn_ends_only_for_a_guest_that_waits() {
    use Standing::{Judged, Resting, Unseen, Working};
    let (over, begins) = (at(60), Some(at(60)));
    let cases = [
        ("no guest waits", 2, vec![guest("a", Judged, 0), guest("b", Judged, 0)], vec![], None),
        (
            "one waits",
            2,
            vec![guest("a", Judged, 0), guest("b", Judged, 0), guest("c", Resting, 0)],
            vec!["-a", "++c"],
            begins,
        ),
        (
            "a guest that is being read stays",
            2,
            vec![guest("a", Working, 0), guest("b", Judged, 0), guest("c", Resting, 0), guest("d", Resting, 0)],
            vec!["-b", "++c"],
            begins,
        ),
        (
            "first what was never read",
            2,
            vec![guest("a", Working, 0), guest("b", Working, 0), guest("c", Resting, 0), guest("d", Unseen, 0)],
            vec![],
            None,
        ),
        (
            "those that are needed stay, up to three quarters",
            4,
            vec![
                guest("a", Judged, 1),
                guest("b", Judged, 2),
                guest("c", Judged, 3),
                guest("d", Judged, 4),
                guest("e", Resting, 0),
            ],
            vec!["--a", "++e"],
            begins,
        ),
        ("one connection is kept by need", 1, vec![guest("a", Judged, 1), guest("b", Resting, 0)], vec![], None),
    ];
    for (case, live_max, guests, expected, next) in cases {
        let budget = budget(guests);
        assert_eq!(moves(&budget, live_max, over), expected, "case: {case}");
        assert_eq!(budget.next_turn(live_max), next, "case: {case}");
    }
}

/// 5,000 guests over 64 connections, each read in two seconds.
#[test]
fn every_guest_is_read_again_before_any_is_read_twice() {
    const GUESTS: usize = 5_000;
    const LIVE_MAX: usize = 64;
    let mut budget = budget((0..GUESTS).map(|number| guest(&format!("g{number:04}"), Standing::Unseen, 0)));
    let (mut now, mut given, mut being_read) = (at(0), 0, Vec::new());
    let mut reads = BTreeMap::<ClusterName, usize>::new();
    // All once at first, then in turns.
    let rounds = GUESTS.div_ceil(LIVE_MAX) + 2 * GUESTS.div_ceil(LIVE_MAX) + 2;
    for _ in 0..rounds {
        for (name, how) in budget.moves(LIVE_MAX, now) {
            let guest = match how {
                Move::Release | Move::Retire => Guest { standing: Standing::Resting, ..budget.guests[&name] },
                Move::Connect | Move::ReadAgain => {
                    *reads.entry(name.clone()).or_default() += 1;
                    being_read.push(name.clone());
                    given += 1;
                    Guest { standing: Standing::Working, needed: 0, connected_at: now, connection: given }
                }
            };
            budget.put(&name, Some(guest));
        }
        assert!(budget.holding <= LIVE_MAX, "{} connections", budget.holding);
        let (least, most) = (reads.values().min(), reads.values().max());
        let all_once = reads.len() == GUESTS;
        assert!(!all_once || most.unwrap() - least.unwrap() <= 1, "{least:?} to {most:?} reads");
        for name in being_read.drain(..) {
            let guest = Guest { standing: Standing::Judged, ..budget.guests[&name] };
            budget.put(&name, Some(guest));
        }
        let next = budget.next_turn(LIVE_MAX).unwrap_or(later(now, Duration::from_secs(2)));
        assert!(next > now || budget.moves(LIVE_MAX, now).len() > 1, "a turn that is over is always taken");
        now = now.max(next);
    }
    assert!(reads.values().all(|reads| *reads >= 2), "all are judged again within two rounds");
}
