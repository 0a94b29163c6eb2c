//! One history: a seed becomes a world, a plan, a run, perhaps a crash, and rest.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use jiff::Timestamp;
use trueup_core::engine::executor::{Ports, Report, RunSettings, resolve, resume};
use trueup_core::engine::journal::{Journal, Opened, Record, entries, open_intents};
use trueup_core::engine::{
    Action, Answers, ApplyRequest, Chosen, ForeignPlan, Plan, PlanLimits, Provenance, TargetRecord, approve,
    check_whole, short_id,
};
use trueup_core::world::{Cluster, ClusterIdentity, ClusterName};
use trueup_fleet::connect::identity;
use trueup_operate::{Rechecker, admit_in, sent_earlier};

use super::configuration::{Approval, Configuration, mark_key};
use super::disk::Left;
use super::edit::{EditSeen, Marked, edit};
use super::fault_profile::{FaultProfile, PlanLife};
use super::fresh_world::{HistoryWorld, ReadWorld};
use super::kind::{Fired, Kind};
use super::lists::KeepsObjects;
use super::planner::{self, Asked, Basis, Made, PlanFile, target_of};
use super::ports::{Hold, NotedJournal};
use super::seeded_rng::SeededRng;
use super::standing::{Approved, Phase, Standing};
use super::tap;
use super::undo;
use super::watched_recheck::{Rereads, WatchedRecheck};
use super::world::{Shared, Site, World};

/// Edited files that are tried one after another until one is carried out: most are refused before anything is read.
const EDITED_FILES: usize = 6;

/// The result of a history.
pub struct HistoryResult {
    pub fired: Fired,
    pub edits: Vec<EditSeen>,
    pub broken: Option<String>,
    pub trace: Vec<String>,
    pub requests: u64,
}

/// Plays the history of a seed.
pub fn play(seed: u64, plan_life: PlanLife, traced: bool) -> HistoryResult {
    // A runtime of its own: nothing of another history can come in between.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let shared = runtime.expect("a runtime needs no more than memory").block_on(async {
        let mut rng = SeededRng::new(seed);
        let faults = FaultProfile { plan_life, ..FaultProfile::draw(&mut rng) };
        let start = Timestamp::from_second(1_794_823_200).expect("a Monday");
        let shared = Shared::new(World::new(rng, faults, start, traced));
        whole(&shared).await;
        shared
    });
    let mut world = shared.lock();
    let trace = world.trace.take().unwrap_or_default();
    let edits = std::mem::take(&mut world.edits);
    HistoryResult { fired: world.fired, edits, broken: world.broken.take(), trace, requests: world.requests }
}

async fn whole(shared: &Shared) {
    seed_clusters(&mut shared.lock());
    let Some(made) = plan(shared, 0).await else { return };
    let file = change_after_plan(&mut shared.lock(), &made);
    let life = shared.lock().faults.plan_life;
    read_it(shared, life).await;
    let second = shared.lock().faults.second_engine;
    let reports = match second {
        None => carry_through(shared, &made, file).await,
        Some(kind) => with_second_engine(shared, kind, &made, &file).await,
    };
    rest(shared, &reports).await;
    if shared.lock().faults.undo.is_some() {
        undo_it(shared).await;
    }
}

/// What the first engine applied is undone, through the same path.
async fn undo_it(shared: &Shared) {
    shared.lock().wake();
    let hold = Hold { shared: shared.clone(), who: 0 };
    let configuration = shared.lock().engines[0].configuration.clone();
    let Some(made) = undo::make(hold, configuration).await else { return };
    let file = {
        let mut world = shared.lock();
        let crash_at = world.faults.undo.as_ref().and_then(|undo| undo.crash_at);
        let standing = &mut world.engines[0];
        (standing.crash_at, standing.steps) = (crash_at.map(|step| step + 1), 0);
        standing.deeds.clear();
        change_after_plan(&mut world, &made)
    };
    // The plan of an undo has the default life.
    read_it(shared, PlanLife::Minutes).await;
    let reports = carry_through(shared, &made, file).await;
    rest(shared, &reports).await;
}

async fn with_second_engine(shared: &Shared, kind: Kind, made: &Made, file: &PlanFile) -> Vec<(usize, Report)> {
    let theirs = match kind {
        Kind::SamePlanTwice => None,
        _ => plan(shared, 1).await,
    };
    shared.lock().fire(kind);
    let own = theirs.as_ref().map(Made::file);
    let (theirs, other) = (theirs.as_ref().unwrap_or(made), own.as_ref().unwrap_or(file));
    let (one, other) = tokio::join!(carry_out(shared, 0, made, file), carry_out(shared, 1, theirs, other));
    let mut reports: Vec<(usize, Report)> = one.map(|one| (0, one)).into_iter().collect();
    reports.extend(other.map(|other| (1, other)));
    reports.extend(after_crash(shared, made, file).await.map(|report| (0, report)));
    reports
}

/// The first engine applies a file, or one edited file after another until one is carried out, and starts again after a
/// crash.
async fn carry_through(shared: &Shared, made: &Made, mut file: PlanFile) -> Vec<(usize, Report)> {
    let mut reports = Vec::new();
    for _ in 0..EDITED_FILES {
        let report = carry_out(shared, 0, made, &file).await;
        let is_carried_out = report.is_some();
        let was_killed = !shared.lock().engines[0].alive;
        reports.extend(report.map(|report| (0, report)));
        let again = after_crash(shared, made, &file).await;
        reports.extend(again.map(|report| (0, report)));
        // A process that was killed may have sent something.
        if is_carried_out || was_killed {
            break;
        }
        let mut world = shared.lock();
        let next = world.faults.edit.and_then(|kind| edit(&mut world, made, kind));
        let Some(next) = next else { break };
        file = next;
    }
    reports
}

fn seed_clusters(world: &mut World) {
    let sites = *world.rng.pick(&[1, 1, 1, 1, 2, 2, 3]);
    let many = world.rng.permille(60);
    let per_site = if many { 12 + world.rng.below(4) } else { 1 + world.rng.below(4) };
    world.seed_clusters(if many { 1 } else { sites.max(if world.faults.late { 2 } else { 1 }) }, per_site, true);
    let crash_at = world.faults.crash_at.map(|step| step + 1);
    world
        .engines
        .push(Standing::new("A", crash_at.filter(|_| world.faults.second_engine.is_none() || crash_at.is_some())));
    if world.faults.second_engine.is_some() {
        world.engines.push(Standing::new("B", None));
    }
    let waiting = world.rng.pick(&world.candidates).clone();
    let edits_gates = world.faults.edit.is_some();
    // What a plan was asked for is not asked for again when an edited file is applied.
    let gate = world.faults.gate.filter(|gate| !edits_gates || !matches!(gate, Kind::GateSettling | Kind::GateBrake));
    let first_is_dev = world.faults.config == Some(Kind::ConfigClass);
    let plan_life = world.faults.plan_life;
    world.engines[0].configuration = Configuration { shut: gate, waiting: Some(waiting), first_is_dev, plan_life };
}

/// One engine makes its plan; nothing when there is nothing to do.
async fn plan(shared: &Shared, who: usize) -> Option<Made> {
    let hold = Hold { shared: shared.clone(), who };
    let (crash_at, configuration) = {
        let standing = &mut shared.lock().engines[who];
        (standing.crash_at.take(), standing.configuration.clone())
    };
    let made = planner::make(hold, who, configuration).await;
    let mut world = shared.lock();
    let standing = &mut world.engines[who];
    (standing.crash_at, standing.steps) = (crash_at, 0);
    let name = standing.name;
    world.tell(name, || format!("plans {} actions", made.plan.actions.len()));
    (!made.plan.actions.is_empty()).then_some(made)
}

/// What changes once the plan is made: the configuration of the operator, the file, a cluster that becomes late.
fn change_after_plan(world: &mut World, made: &Made) -> PlanFile {
    let configuration = world.engines[0].configuration.clone();
    let shut = match (world.faults.config, world.faults.edit) {
        (Some(changed), _) => Some(changed),
        // What an edit removes has to be shut when it is applied.
        (None, Some(_)) => configuration.shut,
        (None, None) => configuration.shut.filter(|_| !world.faults.reopened),
    };
    let changed = Configuration { shut, first_is_dev: false, ..configuration };
    let is_hit = |action: &Action| match made.basis {
        Basis::Findings { .. } => changed.forbids(&target_of(action), action.verb()).is_some(),
        Basis::Applied(_) => changed.forbids_undo(&target_of(action)).is_some(),
    };
    if let Some(kind) = world.faults.config.filter(|_| made.plan.actions.iter().any(is_hit)) {
        world.fire(kind);
    }
    world.engines[0].configuration = changed;
    if world.faults.late {
        world.late_site = Some(world.sites.len() - 1).filter(|site| *site > 0);
    }
    let edited = world.faults.edit.and_then(|kind| edit(world, made, kind));
    edited.unwrap_or_else(|| made.file())
}

/// The operator reads the plan, while others write.
async fn read_it(shared: &Shared, life: PlanLife) {
    let (moves, pause, wait) = {
        let mut world = shared.lock();
        let days = life == PlanLife::Days;
        let moves = match (world.faults.moves > 0, days) {
            (false, _) => 0,
            (true, false) => world.rng.below(3),
            (true, true) => 3 + world.rng.below(30),
        };
        // Most of the three days, and never all of them.
        let wait = if days { Duration::from_secs((1 + world.rng.draw() % 70) * 3_600) } else { Duration::ZERO };
        (moves, Duration::from_secs(world.rng.draw() % 60), wait)
    };
    for left in (1..=moves).rev() {
        tokio::time::sleep(wait / u32::try_from(left + 1).expect("a small number") / 2).await;
        shared.lock().move_once();
    }
    tokio::time::sleep(pause + wait / 4).await;
}

async fn carry_out(shared: &Shared, who: usize, made: &Made, file: &PlanFile) -> Option<Report> {
    run(shared, who, made, file, Chosen::Selected, Rereads::Asked).await
}

/// One engine applies a plan file, as a process of its own; nothing when it was refused, or the process ended.
pub async fn run(
    shared: &Shared,
    who: usize,
    made: &Made,
    file: &PlanFile,
    chosen: Chosen,
    rereads: Rereads,
) -> Option<Report> {
    let mut running = pin!(apply_file(shared, who, made, file, chosen, rereads));
    let ended = std::future::poll_fn(|context| {
        let polled = running.as_mut().poll(context);
        if shared.lock().engines[who].alive { polled.map(Some) } else { Poll::Ready(None) }
    })
    .await;
    let mut world = shared.lock();
    if let Some((edited, marked)) = file.edited {
        let is_undo = matches!(made.basis, Basis::Applied(_));
        let (accepts_foreign, is_approved) = (world.faults.accepts_foreign, !matches!(ended, Some(Err(_))));
        world.edits.push(EditSeen { edited, marked, accepts_foreign, is_undo, is_approved });
    }
    match ended? {
        Ok(report) => Some(report),
        Err(why) => {
            let name = world.engines[who].name;
            world.tell(name, || format!("refuses the plan: {why}"));
            world.check_refused(made, file, &why);
            None
        }
    }
}

/// # Errors
/// Why nothing was approved.
async fn apply_file(
    shared: &Shared,
    who: usize,
    made: &Made,
    file: &PlanFile,
    chosen: Chosen,
    rereads: Rereads,
) -> Result<Report, String> {
    let hold = Hold { shared: shared.clone(), who };
    let plan = Plan::read(&file.text).map_err(|error| error.to_string())?;
    let id = plan.id.clone();
    let provenance = plan.provenance(mark_key(who));
    let asked = asked(&mut shared.lock(), who, made, file);
    let foreign = if asked.accepts_foreign { ForeignPlan::Accept } else { ForeignPlan::Refuse };
    let clock = || shared.lock().engine_now();
    let limits = PlanLimits::default();
    check_whole(&plan, provenance, foreign, limits, clock()).map_err(|refused| refused.to_string())?;
    let before = managed(&shared.lock());
    let world = HistoryWorld::connect(hold.clone(), asked.configuration.clone(), KeepsObjects::No).await;
    let names = names(&plan, &*world.lock().await).ok_or("a cluster is not the one the plan was made for")?;
    let journal = open(shared, who).ok_or("the journal cannot be opened")?;
    let earlier = entries(shared.lock().engines[who].noted.iter().map(|(_, record)| record));
    let sent_earlier = sent_earlier(&earlier, &id);
    let request = ApplyRequest { chosen, provenance, foreign, limits, sent_earlier };
    let admitted = admit_in(world.clone(), names.clone(), plan, &request, &clock).await;
    let admission = admitted.map_err(|error| error.cause())?;
    let sites = shared.lock().sites.len();
    let approved = approve(admission, &answers(asked.approval, id, sites), clock());
    let approved = approved.map_err(|refused| refused.to_string())?;
    let settings = {
        let mut world = shared.lock();
        let mut truth = made.truth(&world, file, &approved, asked);
        truth.managed = before.into_iter().map(|(site, count)| (site, count.min(world.managed(site)))).collect();
        world.begin(who, truth);
        world.check_late_admission(made, &approved);
        let FaultProfile { on_new_reference, look_back_seconds, .. } = world.faults;
        let reference_scan_after = Duration::from_secs(look_back_seconds);
        let (who, host) = ("anna".to_owned(), "laptop".to_owned());
        RunSettings { who, host, on_new_reference, reference_scan_after }
    };
    let mut journal = NotedJournal { hold: hold.clone(), journal };
    let rechecker = Rechecker::new(world, names, approved.plan().clone());
    let mut recheck = WatchedRecheck { hold: hold.clone(), rechecker, rereads };
    let clusters = tap::ports(shared, who, 0..sites);
    let stop = shared.lock().engines[who].stop.clone();
    let ports = Ports {
        clusters: &clusters,
        recheck: &mut recheck,
        journal: &mut journal,
        vault: &hold,
        clock: &hold,
        switches: &hold,
        stop: &stop,
        progress: &mut |_, _| {},
    };
    let report = resume(approved, settings, ports, &earlier).await;
    let mut world = shared.lock();
    if world.engines[who].alive {
        let name = world.engines[who].name;
        world.tell(name, || format!("reports {:?} halted {:?} {:?}", report.counts(), report.halted, report.notices));
        world.check_report(who, &report);
    }
    Ok(report)
}

/// How the operator of an engine asks for this file, by what is true of it.
fn asked(world: &mut World, who: usize, made: &Made, file: &PlanFile) -> Asked {
    let key = mark_key(who);
    let is_own = match file.edited {
        // Only the operator's own key makes a valid mark: the first operator marks what they edit themselves.
        Some((_, marked)) => who == 0 && marked == Marked::ByOperator,
        None => made.plan.provenance(key) == Provenance::Here && made.operator == who,
    };
    let provenance = if is_own { Provenance::Here } else { Provenance::Foreign };
    let FaultProfile { accepts_foreign, approval, .. } = world.faults;
    match (provenance, accepts_foreign) {
        (Provenance::Foreign, true) => world.fire(Kind::ForeignAccepted),
        (Provenance::Foreign, false) => world.fire(Kind::ForeignRefused),
        (Provenance::Here, _) => {}
    }
    let configuration = world.engines[who].configuration.clone();
    let tier = |action: &Action| match made.basis {
        Basis::Findings { .. } => configuration.tier(&target_of(action), action.verb()),
        Basis::Applied(_) => configuration.undo_tier(&target_of(action), action.verb()),
    };
    let is_too_little = |action: &Action| Approval::needed(tier(action)) > approval;
    if made.plan.actions.iter().any(is_too_little) {
        world.fire(Kind::ShortApproval);
    }
    Asked { provenance, accepts_foreign, approval, configuration }
}

fn managed(world: &World) -> BTreeMap<usize, usize> {
    (0..world.sites.len()).map(|site| (site, world.managed(site))).collect()
}

/// The live cluster behind each cluster of a plan; nothing when one of them is another now.
fn names(plan: &Plan, world: &ReadWorld) -> Option<BTreeMap<String, ClusterName>> {
    let name = |target: &TargetRecord| {
        let is_same = |cluster: &&Cluster| {
            let identity = ClusterIdentity::of(cluster);
            cluster.name.as_str() == target.cluster && identity.is_known() && identity == target.identity
        };
        Some((target.cluster.clone(), world.clusters().find(is_same)?.name.clone()))
    };
    let named: BTreeSet<&str> = Chosen::Selected.actions(plan).map(|action| action.cluster.as_str()).collect();
    plan.targets.iter().filter(|target| named.contains(target.cluster.as_str())).map(name).collect()
}

fn answers(approval: Approval, id: String, sites: usize) -> Answers {
    match approval {
        Approval::Short => Answers::flags(Some(short_id(&id).to_owned()), []),
        Approval::Whole => Answers::flags(Some(id), []),
        Approval::Confirmed => Answers::flags(Some(id), (0..sites).map(Site::name)),
    }
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

/// A new process starts where a killed one was; nothing when none was killed.
async fn after_crash(shared: &Shared, made: &Made, file: &PlanFile) -> Option<Report> {
    if shared.lock().engines[0].alive {
        return None;
    }
    let again = {
        let mut world = shared.lock();
        if world.rng.permille(500) {
            world.fire(Kind::PowerCut);
            let disk = world.engines[0].disk.clone();
            match disk.cut_power(&mut world.rng) {
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
        world.rng.permille(600)
    };
    settle(shared, 0).await;
    if !again {
        return None;
    }
    shared.lock().fire(Kind::AppliedAgain);
    carry_out(shared, 0, made, file).await
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
    let approved: Vec<_> =
        known.iter().filter_map(|entry| entry.approvals.last()).flat_map(|one| one.clusters.clone()).collect();
    let mut same = Vec::new();
    let sites = shared.lock().sites.len();
    for site in 0..sites {
        let identity = identity::read(&tap::client(shared, who, site)).await.identity;
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

/// Everything ends, and every open intent has to be resolved then.
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

impl World {
    /// An engine's process begins to write.
    fn begin(&mut self, who: usize, truth: Approved) {
        let steps = self.engines[who].steps;
        if who == 0 && self.incident_at.is_none() && self.faults.incident.is_some() {
            let after = u32::try_from(self.rng.below(40)).expect("a small number");
            self.incident_at = Some(steps + 1 + after);
        }
        self.engines[who].begin(truth);
        self.came_back(who);
    }
}
