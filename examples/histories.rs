//! Plays simulated histories, each from one seed.
//!
//! `cargo run --release --example histories -- --seeds 100000` plays many and prints histories per second, violations and how
//! often each fault occurred; `--seed S --trace` prints one step by step. Exit code 1: an invariant was violated, or a fault
//! occurred too rarely for the rest to mean much.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example measures with the real clock and prints"
)]
#![expect(clippy::wildcard_enum_match_arm, reason = "the last arm covers what a history does not use")]

#[path = "../tests/histories/mod.rs"]
mod histories;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use histories::{Count, EditSeen, Edited, FIELDS, HistoryResult, Kind, Marked, PlanLife, Tracing, Way, hostile, play};

/// From this many histories on, each kind has to have fired in one of a thousand.
const SHARE_FROM: u64 = 10_000;

/// From this many histories on, each field and each pair of fields has to have been edited so often.
const EDITS_FROM: u64 = 1_000_000;
const EDITS_MIN: u64 = 1_000;

/// How many violations are printed.
const SHOWN_MAX: usize = 10;

#[derive(Parser)]
struct Args {
    /// How many histories to play
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    #[arg(long, default_value_t = 2)]
    threads: u64,
    /// Play this one alone
    #[arg(long)]
    seed: Option<u64>,
    /// Print every step of it
    #[arg(long)]
    trace: bool,
    /// End at the first violation
    #[arg(long)]
    first: bool,
    /// Play for so many seconds at most
    #[arg(long, default_value_t = u64::MAX)]
    seconds: u64,
    /// Plans can be applied for three days, and wait for most of that time
    #[arg(long)]
    days: bool,
    /// Delete in so many hostile worlds, the way others do and the way trueup does, and count the wrong ones
    #[arg(long)]
    compare: Option<u64>,
}

#[derive(Default)]
struct Tally {
    fired: Vec<u64>,
    broken: Vec<(u64, String)>,
    requests: u64,
    edits: EditTally,
}

/// How often each field of a plan file was edited.
#[derive(Default)]
struct EditTally {
    /// By field: alone, by mark, without and with `--foreign-plan`.
    one: BTreeMap<usize, [[u64; 2]; 3]>,
    two: BTreeMap<(usize, usize), u64>,
    /// By field, alone or with another: of which something was approved, and of undo plans.
    approved: BTreeMap<usize, u64>,
    undo: BTreeMap<usize, u64>,
}

impl Args {
    fn plan_life(&self) -> PlanLife {
        if self.days { PlanLife::Days } else { PlanLife::Minutes }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    match (args.seed, args.compare) {
        (Some(seed), _) => one(seed, args.plan_life(), args.trace),
        (None, Some(worlds)) => compare(worlds, args.from, args.plan_life()),
        (None, None) => many(&args),
    }
}

/// Exit code 1: trueup deleted something wrong.
fn compare(worlds: u64, from: u64, plan_life: PlanLife) -> ExitCode {
    println!(
        "| {worlds} hostile worlds | deletes | another object | changed since | races | left dangling | wrong | % |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut as_it_is = Count::default();
    for way in Way::ALL {
        let mut count = Count::default();
        for seed in from..from + worlds {
            let (here, _) = hostile(seed, way, plan_life, Tracing::No);
            if way == Way::TrueupPerWave && here.wrong() > 0 {
                let (_, trace) = hostile(seed, way, plan_life, Tracing::Yes);
                eprintln!("seed {seed}: {here:?}\n{}", trace.join("\n"));
            }
            count.add(here);
        }
        let Count { deletes, another, changed, races, dangling } = count;
        let (wrong, word) = (count.wrong(), way.as_str());
        let share = wrong as f64 * 100.0 / deletes.max(1) as f64;
        println!("| {word} | {deletes} | {another} | {changed} | {races} | {dangling} | {wrong} | {share:.2} |");
        if way == Way::TrueupPerWave {
            as_it_is = count;
        }
    }
    if as_it_is.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one(seed: u64, plan_life: PlanLife, traced: bool) -> ExitCode {
    let HistoryResult { broken, trace, .. } = play(seed, plan_life, traced);
    for line in &trace {
        println!("{line}");
    }
    match broken {
        None => {
            println!("seed {seed}: no violation");
            ExitCode::SUCCESS
        }
        Some(broken) => {
            println!("seed {seed}: {broken}");
            ExitCode::FAILURE
        }
    }
}

fn many(args: &Args) -> ExitCode {
    let tally = Mutex::new(Tally { fired: vec![0; Kind::ALL.len()], ..Tally::default() });
    let (next, ended) = (AtomicU64::new(args.from), AtomicBool::new(false));
    let until = args.from + args.seeds;
    let began = Instant::now();
    let work = || {
        while !ended.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= until {
                break;
            }
            let result = play(seed, args.plan_life(), false);
            let is_over = began.elapsed().as_secs() >= args.seconds;
            ended.fetch_or(args.first && result.broken.is_some() || is_over, Ordering::Relaxed);
            count(&mut tally.lock().expect("no thread panics with it"), seed, result);
        }
    };
    // One thread is the main thread: allocation is cheaper in a process without another.
    match args.threads {
        0 | 1 => work(),
        more => std::thread::scope(|scope| (0..more).for_each(|_| drop(scope.spawn(work)))),
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut tally = tally.into_inner().expect("no thread panics with it");
    tally.broken.sort();
    show(args, &tally, next.load(Ordering::Relaxed).min(until) - args.from, seconds)
}

fn count(tally: &mut Tally, seed: u64, result: HistoryResult) {
    for (count, kind) in tally.fired.iter_mut().zip(Kind::ALL) {
        *count += u64::from(result.fired.has(*kind));
    }
    tally.requests += result.requests;
    result.edits.into_iter().for_each(|seen| tally.edits.add(seen));
    tally.broken.extend(result.broken.map(|broken| (seed, broken)));
}

fn show(args: &Args, tally: &Tally, played: u64, seconds: f64) -> ExitCode {
    let mut rare = 0;
    println!("{:<52} share of histories", "fault");
    for (count, kind) in tally.fired.iter().zip(Kind::ALL) {
        let too_rare = played >= SHARE_FROM && count * 1000 < played;
        rare += u32::from(too_rare);
        let share = *count as f64 * 100.0 / played as f64;
        println!("{:<52} {share:>8.2} %{}", kind.as_str(), if too_rare { "  too rare" } else { "" });
    }
    let few = tally.edits.show();
    let too_few = if played >= EDITS_FROM { few } else { 0 };
    let each = played as f64 / seconds;
    println!(
        "\n{played} histories in {seconds:.1} s on {} threads: {each:.0}/s, {:.0}/s per thread, {:.0} requests/s",
        args.threads,
        each / args.threads as f64,
        tally.requests as f64 / seconds
    );
    println!("{} violations, {rare} kinds too rare, {too_few} edits too rare", tally.broken.len());
    for (seed, broken) in tally.broken.iter().take(SHOWN_MAX) {
        println!("  --seed {seed} --trace   {broken}");
    }
    if tally.broken.is_empty() && rare == 0 && too_few == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl EditTally {
    fn add(&mut self, EditSeen { edited, marked, accepts_foreign, is_undo, is_approved }: EditSeen) {
        let fields = match edited {
            Edited::Together(_) => return,
            Edited::One(field) => {
                let mark = Marked::ALL.iter().position(|one| *one == marked).unwrap_or_default();
                self.one.entry(field).or_default()[mark][usize::from(accepts_foreign)] += 1;
                vec![field]
            }
            Edited::Two(one, other) => {
                *self.two.entry((one, other)).or_default() += 1;
                vec![one, other]
            }
        };
        for field in fields {
            *self.approved.entry(field).or_default() += u64::from(is_approved);
            *self.undo.entry(field).or_default() += u64::from(is_undo);
        }
    }

    /// Prints the counters. Returns how many fields and pairs were edited less often than [`EDITS_MIN`].
    fn show(&self) -> usize {
        println!(
            "\nedited field: alone by mark valid/old/none without and with --foreign-plan; in pairs; in undos; approved"
        );
        let pairs = |field: usize| -> Vec<u64> {
            self.two
                .iter()
                .filter(|((one, other), _)| *one == field || *other == field)
                .map(|(_, count)| *count)
                .collect()
        };
        let mut few = 0;
        for (place, field) in FIELDS.iter().enumerate() {
            let one = self.one.get(&place).copied().unwrap_or_default();
            let alone: u64 = one.iter().flatten().sum();
            let pairs = pairs(place);
            let of = |counts: &BTreeMap<usize, u64>| counts.get(&place).copied().unwrap_or_default();
            let (total, fewest) = (pairs.iter().sum::<u64>(), pairs.iter().min().copied().unwrap_or_default());
            few += usize::from(alone < EDITS_MIN);
            println!(
                "{:<26} {alone:>6} {:>6?}; {} pairs, {total}, each {fewest} or more; {}; {}",
                field.as_str(),
                one,
                pairs.len(),
                of(&self.undo),
                of(&self.approved)
            );
        }
        let all = FIELDS.len() * (FIELDS.len() - 1) / 2;
        let fewest = if self.two.len() < all { 0 } else { self.two.values().min().copied().unwrap_or_default() };
        let seen: u64 = self.two.values().sum();
        println!("{} of {all} pairs of fields, {seen} files, each pair {fewest} times or more", self.two.len());
        few + all - self.two.values().filter(|count| **count >= EDITS_MIN).count()
    }
}
