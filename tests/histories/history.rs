//! One history: a seed becomes a world, a plan, a run, perhaps a crash, and rest.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use jiff::Timestamp;
use trueup_core::engine::Chosen;
use trueup_core::engine::executor::{Ports, Report, RunSettings, apply, resolve};
use trueup_core::engine::journal::{Journal, Opened, Record, entries, open_intents};

use super::chance::Chance;
use super::disk::Left;
use super::judge::{Judge, Rereads};
use super::kind::{Fired, Kind};
use super::lists::Lister;
use super::planner::{self, Made};
use super::ports::{Hold, NotedJournal};
use super::standing::{Phase, Standing};
use super::tap;
use super::weather::Weather;
use super::world::{Shared, Site, World};

/// What came of a history.
pub struct Told {
    pub fired: Fired,
    pub broken: Option<String>,
    pub trace: Vec<String>,
    pub requests: u64,
}

/// Plays the history of a seed.
pub fn play(seed: u64, traced: bool) -> Told {
    // A runtime of its own: nothing of another history can come in between.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let shared = runtime.expect("a runtime needs no more than memory").block_on(async {
        let mut chance = Chance::new(seed);
        let weather = Weather::draw(&mut chance);
        let start = Timestamp::from_second(1_794_823_200).expect("a Monday");
        let shared = Shared::new(World::new(chance, weather, start, traced));
        whole(&shared).await;
        shared
    });
    let mut world = shared.lock();
    let trace = world.trace.take().unwrap_or_default();
    Told { fired: world.fired, broken: world.broken.take(), trace, requests: world.requests }
}

async fn whole(shared: &Shared) {
    furnish(&mut shared.lock());
    let Some(made) = plan(shared, 0).await else { return };
    read_it(shared).await;
    let second = shared.lock().weather.second_engine;
    let reports = match second {
        None => vec![(0, carry_out(shared, 0, &made).await)],
        Some(kind) => {
            let theirs = match kind {
                Kind::SamePlanTwice => None,
                _ => plan(shared, 1).await,
            };
            shared.lock().fire(kind);
            let theirs = theirs.as_ref().unwrap_or(&made);
            let (one, other) = tokio::join!(carry_out(shared, 0, &made), carry_out(shared, 1, theirs));
            vec![(0, one), (1, other)]
        }
    };
    let crashed = !shared.lock().engines[0].alive;
    let mut reports: Vec<(usize, Report)> =
        reports.into_iter().filter_map(|(who, report)| report.map(|report| (who, report))).collect();
    if crashed {
        reports.extend(after_crash(shared, &made).await.map(|report| (0, report)));
    }
    rest(shared, &reports).await;
}

fn furnish(world: &mut World) {
    let sites = *world.chance.pick(&[1, 1, 1, 1, 2, 2, 3]);
    let many = world.chance.permille(40);
    let per_site = if many { 10 + world.chance.below(4) } else { 1 + world.chance.below(4) };
    world.furnish(if many { 1 } else { sites }, per_site, true);
    let crash_at = world.weather.crash_at.map(|step| step + 1);
    world
        .engines
        .push(Standing::new("A", crash_at.filter(|_| world.weather.second_engine.is_none() || crash_at.is_some())));
    if world.weather.second_engine.is_some() {
        world.engines.push(Standing::new("B", None));
    }
}

/// One engine makes its plan; nothing when there is nothing to do.
async fn plan(shared: &Shared, who: usize) -> Option<Made> {
    let sites = shared.lock().sites.len();
    let hold = Hold { shared: shared.clone(), who };
    let crash_at = shared.lock().engines[who].crash_at.take();
    let sight = planner::look(&mut Lister::new(hold), sites).await;
    let mut world = shared.lock();
    let gate = world.weather.gate.filter(|_| who == 0);
    let made = planner::make(&mut world, sight, gate);
    let standing = &mut world.engines[who];
    (standing.crash_at, standing.steps) = (crash_at, 0);
    let name = standing.name;
    world.tell(name, || format!("plans {} actions", made.plan.actions.len()));
    (!made.plan.actions.is_empty()).then_some(made)
}

/// Somebody reads the plan, while the world goes on.
async fn read_it(shared: &Shared) {
    let (moves, pause) = {
        let mut world = shared.lock();
        let moves = if world.weather.moves > 0 { world.chance.below(3) } else { 0 };
        let steps = u32::try_from(world.chance.below(40)).expect("a small number");
        world.incident_at = world.weather.incident.map(|_| 1 + steps);
        (moves, Duration::from_secs(world.chance.draw() % 60))
    };
    for _ in 0..moves {
        shared.lock().move_once();
    }
    tokio::time::sleep(pause).await;
}

async fn carry_out(shared: &Shared, who: usize, made: &Made) -> Option<Report> {
    run(shared, who, made, &made.chosen(), Rereads::Asked).await
}

/// One engine carries its plan out; nothing when its process ended, or the plan had.
pub async fn run(shared: &Shared, who: usize, made: &Made, chosen: &Chosen, rereads: Rereads) -> Option<Report> {
    let hold = Hold { shared: shared.clone(), who };
    let (approved, settings, sites) = {
        let mut world = shared.lock();
        let (approved, truth) = made.approve(&world, chosen)?;
        world.engines[who].begin(truth);
        world.came_back(who);
        let Weather { on_new_reference, look_back_seconds, .. } = world.weather;
        let reference_scan_after = Duration::from_secs(look_back_seconds);
        let (who, host) = ("anna".to_owned(), "laptop".to_owned());
        (approved, RunSettings { who, host, on_new_reference, reference_scan_after }, world.sites.len())
    };
    let journal = open(shared, who)?;
    let mut journal = NotedJournal { hold: hold.clone(), journal };
    let mut judge = Judge::new(hold.clone(), sites, rereads);
    let clusters = tap::ports(shared, who, 0..sites);
    let stop = shared.lock().engines[who].stop.clone();
    let ports = Ports {
        clusters: &clusters,
        recheck: &mut judge,
        journal: &mut journal,
        vault: &hold,
        clock: &hold,
        switches: &hold,
        stop: &stop,
        progress: &mut |_, _| {},
    };
    let mut running = pin!(apply(approved, settings, ports));
    let report = std::future::poll_fn(|context| {
        let polled = running.as_mut().poll(context);
        if shared.lock().engines[who].alive { polled.map(Some) } else { Poll::Ready(None) }
    })
    .await?;
    let mut world = shared.lock();
    let name = world.engines[who].name;
    world.tell(name, || format!("reports {:?} halted {:?} {:?}", report.counts(), report.halted, report.notices));
    world.check_report(who, &report);
    Some(report)
}

/// Opens the journal of an engine, and compares what is in it with what has to be.
fn open(shared: &Shared, who: usize) -> Option<Journal> {
    let disk = shared.lock().engines[who].disk.clone();
    let opened = Journal::on_disk(Box::new(disk.clone()));
    let mut world = shared.lock();
    let Opened { journal, records, recovered } = match opened {
        Ok(opened) => opened,
        Err(error) => {
            world.broke(|| format!("the journal can't be opened: {error}"));
            return None;
        }
    };
    if recovered.is_some() {
        world.fire(Kind::TornTail);
    }
    let synced = disk.synced();
    let standing = &mut world.engines[who];
    let whole = standing.noted.iter().filter(|(end, _)| *end <= synced).map(|(_, record)| record);
    let lost =
        whole.zip(records.iter().map(Some).chain(std::iter::repeat(None))).any(|(kept, read)| Some(kept) != read);
    let end = disk.length();
    standing.noted = records.into_iter().map(|record| (end, record)).collect();
    if lost {
        world.broke(|| "a record that was safe on the disk is not there any more".to_owned());
    }
    Some(journal)
}

/// A new process starts where the killed one was.
async fn after_crash(shared: &Shared, made: &Made) -> Option<Report> {
    let again = {
        let mut world = shared.lock();
        if world.chance.permille(500) {
            world.fire(Kind::PowerCut);
            let disk = world.engines[0].disk.clone();
            match disk.cut_power(&mut world.chance) {
                Left::Nothing | Left::Part => world.fire(Kind::UnsyncedLost),
                Left::All => {}
            }
        }
        let standing = &mut world.engines[0];
        (standing.alive, standing.crash_at, standing.phase) = (true, None, Phase::Settling);
        standing.disk.mend();
        // A request outlives its sender by seconds; starting again takes longer.
        world.deliver(|late| late.who == 0);
        world.others_move();
        world.tell("A", || "starts again".to_owned());
        world.chance.permille(600)
    };
    settle(shared, 0).await;
    if !again {
        return None;
    }
    shared.lock().fire(Kind::AppliedAgain);
    carry_out(shared, 0, made).await
}

/// Settles by reading what is open in an engine's journal.
async fn settle(shared: &Shared, who: usize) {
    let hold = Hold { shared: shared.clone(), who };
    shared.lock().engines[who].phase = Phase::Settling;
    let Some(journal) = open(shared, who) else { return };
    let known = entries(shared.lock().engines[who].noted.iter().map(|(_, record)| record));
    if open_intents(&known).is_empty() {
        return;
    }
    let mut lister = Lister::new(hold.clone());
    let approved: Vec<_> =
        known.iter().filter_map(|entry| entry.approvals.last()).flat_map(|one| one.clusters.clone()).collect();
    let mut same = Vec::new();
    let sites = shared.lock().sites.len();
    for site in 0..sites {
        let identity = lister.identity(site).await;
        if approved.iter().any(|cluster| cluster.name == Site::name(site) && cluster.identity == identity) {
            same.push(site);
        }
    }
    let at = shared.lock().engine_now();
    let resolved: Vec<Record> = resolve(&known, &tap::ports(shared, who, same), at).await;
    let mut journal = NotedJournal { hold, journal };
    // That it can't be written now leaves the requests open, for the next time.
    let _ = trueup_core::engine::executor::JournalPort::append(&mut journal, &resolved);
}

/// Everything comes to rest, and has to be settled then.
async fn rest(shared: &Shared, reports: &[(usize, Report)]) {
    let engines = {
        let mut world = shared.lock();
        world.rest();
        world.engines.len()
    };
    for who in 0..engines {
        settle(shared, who).await;
        let mut world = shared.lock();
        world.check_journal_at_rest(who);
        for (_, report) in reports.iter().filter(|(of, _)| *of == who) {
            world.check_report_at_rest(who, report);
        }
    }
}
