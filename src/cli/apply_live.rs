//! Carrying out an approved plan on live clusters: connect, settle what a crash left open, run, tell.
//!
//! Always true:
//! - a plan's cluster is the live one with the same identity, or nothing is sent;
//! - an interrupt before the run ends the command; during it, the action under way is finished first.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::args::{ApplyFormat, ConsentArgs, NewReference};
use super::context::Context;
use super::error::CliError;
use super::history::journal_error;
use super::look_live;
use super::output::{count, padded, place};
use super::recheck::{OwnFleet, Rechecker};
use super::settle::{holder, host, is_same, left_open, ports_of, settle, who};
use super::terminal::print;
use crate::config::Config;
use trueup_core::engine::executor::{
    ActionResult, Clusters, ExecutorClock, Halt, OnNewReference, Ports, Progress, REFERENCE_SCAN_AFTER, Report,
    RunSettings, Switches, resume,
};
use trueup_core::engine::journal::{Entry, Journal, Opened, Record, StateFolder, entries};
use trueup_core::engine::vault::Vault;
use trueup_core::engine::{
    Action, ApprovedPlan, Blocked, FreezeWindow, GateName, Plan, TOMBSTONE_TIME, TargetRecord, TargetSource, short_id,
};
use trueup_core::world::{Cluster, ClusterName};
use trueup_fleet::live::Live;

const DOING: &str = "apply";

/// The longest word an action ends with, and a gap.
const WORD_COLUMNS: usize = 13;

/// Carries out a plan and says what came of it.
///
/// # Errors
/// The state folder, journal or vault can't be used, or a cluster is not the one the plan was made for.
pub async fn run(context: &Context, approved: ApprovedPlan, args: &ConsentArgs) -> Result<u8, CliError> {
    let mut config = context.config()?;
    let opened = open_state(context, &config)?;
    let State { mut journal, records, vault } = opened;
    let connected = async {
        let (live, _) = look_live::connect(context, &mut config).await?;
        let names = live_names(&live, approved.reached())?;
        let left = left_open(&live, &records);
        let resolved = settle_open(context, &mut journal, left).await?;
        Ok((live, names, resolved))
    };
    let (live, names, resolved) = tokio::select! {
        biased;
        code = super::interrupted() => return code,
        connected = connected => connected?,
    };
    let clusters = ports_of(&live, &names);
    let records = [records, resolved].concat();
    let earlier = entries(&records);
    drop_old(context, &mut journal, records, &vault, config.safety.keep)?;
    let plan = approved.plan().clone();
    let planner = OwnFleet { context, config: &config, live: Some(live) };
    let mut recheck = Rechecker::new(planner, names, &plan);
    let stop = Arc::new(AtomicBool::new(false));
    let watcher = tokio::spawn(stop_when_interrupted(stop.clone()));
    let format = args.format;
    let mut waits = Waits::default();
    let ports = Ports {
        clusters: &clusters,
        recheck: &mut recheck,
        journal: &mut journal,
        vault: &vault,
        clock: &WallTime,
        switches: &SafetySwitches::new(context, &config),
        stop: &stop,
        progress: &mut |action, progress| match progress {
            Progress::Ended(end) => tell(context, format, action, end),
            Progress::Waiting { so_far, why } => {
                if let Some(minutes) = waits.due(&action.id, so_far) {
                    tell_wait(context, format, action, minutes, why);
                }
            }
            Progress::Intended | Progress::Sent | Progress::Answered => {}
        },
    };
    let report = resume(approved, settings(context, args), ports, &earlier).await;
    watcher.abort();
    show(context, format, &plan, &report)?;
    Ok(report.code())
}

/// What a run writes to, and what stands there already.
pub struct State {
    pub journal: Journal,
    pub records: Vec<Record>,
    pub vault: Vault,
}

/// Opens the journal and the vault.
///
/// # Errors
/// The folder, the journal or the vault can't be used.
pub fn open_state(context: &Context, config: &Config) -> Result<State, CliError> {
    let path = context.state_path();
    let path = path.ok_or_else(|| CliError::failed(DOING, "neither XDG_STATE_HOME nor HOME is set", "set HOME"))?;
    let folder = StateFolder::prepare(&path).map_err(|error| journal_error(DOING, &error.into()))?;
    let Opened { journal, records, recovered } =
        Journal::open(&folder, &holder(context, DOING)).map_err(|error| journal_error(DOING, &error))?;
    if let Some(tail) = recovered {
        context.note(&format!("the journal ended in an unfinished record at byte {}, which was cut off", tail.offset));
    }
    let vault = Vault::prepare(&folder, &config.safety.recipients)
        .map_err(|error| CliError::failed(DOING, chain(&error), "mend it, or no backup can be made"))?;
    Ok(State { journal, records, vault })
}

/// The live cluster behind each cluster the plan writes to or copies from.
///
/// # Errors
/// One of them is not connected, or is another cluster by now.
pub fn live_names<'t>(
    live: &Live,
    targets: impl IntoIterator<Item = &'t TargetRecord>,
) -> Result<BTreeMap<String, ClusterName>, CliError> {
    let mut names = BTreeMap::new();
    for target in targets {
        let found = live.view().clusters().find(|cluster| is_target(cluster, target)).map(|cluster| &cluster.name);
        let Some(name) = found else { return Err(nowhere(target)) };
        names.insert(target.cluster.clone(), name.clone());
    }
    Ok(names)
}

fn nowhere(target: &TargetRecord) -> CliError {
    let TargetRecord { cluster, identity, .. } = target;
    if identity.account.is_empty() {
        let cause = format!("identity: no connected cluster is the {cluster} the plan was made for");
        return CliError::refused(DOING, cause, "name its context with --context, or plan again");
    }
    let cause = format!("identity: no API key of the config is for {cluster}, account {}", identity.account);
    CliError::refused(DOING, cause, "check the key in the config with trueup doctor, or plan again")
}

fn is_target(cluster: &Cluster, target: &TargetRecord) -> bool {
    // What was recorded may have had another name; what was live may not have changed its own.
    let named = target.source == TargetSource::Snapshot || cluster.name.as_str() == target.cluster;
    named && is_same(cluster, &target.identity)
}

/// Settles what an earlier run left open, by reading and never by sending. What was found is the answer.
///
/// # Errors
/// What was found can't be written down.
pub async fn settle_open(
    context: &Context,
    journal: &mut Journal,
    left: Vec<(Entry, Clusters)>,
) -> Result<Vec<Record>, CliError> {
    let (resolved, open) = settle(context, journal, left).await.map_err(|error| journal_error(DOING, &error))?;
    for ((plan, action), why) in &open {
        let entry = format!("{}/{action}", short_id(plan));
        context.note(&format!("an earlier run was broken off: what came of {entry} is not known yet, {why}"));
    }
    Ok(resolved)
}

/// Drops plans past their time. A cluster has proven who it is by now, so the clock can't be far off.
fn drop_old(
    context: &Context,
    journal: &mut Journal,
    records: Vec<Record>,
    vault: &Vault,
    keep: Duration,
) -> Result<(), CliError> {
    let now = Timestamp::now();
    let keep = SignedDuration::try_from(keep).unwrap_or(SignedDuration::MAX).max(TOMBSTONE_TIME);
    let before = now.checked_sub(keep).unwrap_or(Timestamp::MIN);
    let dropped = journal
        .drop_old(&records, before, now, &mut |file| vault.forget(file))
        .map_err(|error| journal_error(DOING, &error))?;
    if let Some(dropped) = dropped {
        let days = keep.as_hours() / 24;
        let plans = count(dropped.plans, "plan");
        context.note(&format!("{plans} older than {days} days dropped from the journal, with their backups"));
    }
    Ok(())
}

async fn stop_when_interrupted(stop: Arc<AtomicBool>) {
    if super::interrupted().await.is_ok() {
        stop.store(true, Ordering::SeqCst);
    }
}

fn settings(context: &Context, args: &ConsentArgs) -> RunSettings {
    RunSettings {
        who: who(context),
        host: host(context),
        on_new_reference: match args.on_new_reference {
            NewReference::Restore => OnNewReference::Restore,
            NewReference::Report => OnNewReference::Report,
        },
        reference_scan_after: args.scan_references.unwrap_or(REFERENCE_SCAN_AFTER),
    }
}

/// The machine's time.
pub struct WallTime;

impl ExecutorClock for WallTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(span).boxed()
    }
}

/// What stops all writes, from flags and config; the kill switch is looked for each time.
pub struct SafetySwitches {
    read_only: bool,
    kill_switch: Option<PathBuf>,
    freeze: Vec<FreezeWindow>,
}

impl SafetySwitches {
    pub fn new(context: &Context, config: &Config) -> Self {
        Self {
            read_only: context.globals.read_only || config.safety.read_only,
            kill_switch: config.safety.kill_switch.clone(),
            freeze: config.safety.freeze.clone(),
        }
    }
}

impl Switches for SafetySwitches {
    fn shut(&self, now: Timestamp) -> Option<Blocked> {
        let blocked = |gate, why: String| Some(Blocked { gate, why });
        if self.read_only {
            return blocked(GateName::ReadOnly, "read-only mode is on".to_owned());
        }
        // Whatever stands there stops writes, a broken link as well: a switch must not fail open.
        if let Some(path) = self.kill_switch.as_ref().filter(|path| path.symlink_metadata().is_ok()) {
            return blocked(GateName::KillSwitch, format!("the kill switch {} is there", path.display()));
        }
        let window = self.freeze.iter().find(|window| window.contains(now))?;
        blocked(GateName::Freeze, format!("the freeze window {window} is on"))
    }
}

/// How long each wait was when it was last told: a line a minute is enough to know that something is happening.
#[derive(Default)]
struct Waits(BTreeMap<String, u64>);

impl Waits {
    /// The minutes a wait has taken, when they are to be told.
    fn due(&mut self, action: &str, so_far: Duration) -> Option<u64> {
        let minutes = so_far.as_secs() / 60;
        let told = self.0.insert(action.to_owned(), minutes);
        (minutes > 0 && told != Some(minutes)).then_some(minutes)
    }
}

/// A line for an action that came to its end.
fn tell(context: &Context, format: ApplyFormat, action: &Action, end: &ActionResult) {
    tell_line(context, format, action, end.as_str(), end.why());
}

/// A line for an action that takes its time.
fn tell_wait(context: &Context, format: ApplyFormat, action: &Action, minutes: u64, why: &str) {
    tell_line(context, format, action, "waiting", &format!("for {minutes} min so far, {why}"));
}

/// That nobody reads it any more is no reason to stop in the middle.
fn tell_line(context: &Context, format: ApplyFormat, action: &Action, word: &str, why: &str) {
    if format == ApplyFormat::Table {
        let Action { id, cluster, target, .. } = action;
        let what = format!("{id}  {} {cluster} {} {}", action.verb().as_str(), target.kind, place(target));
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let line = format!("{}{}", padded(word, WORD_COLUMNS), context.terminal.safe(&(what + &why)));
        let _ = print(&(line + "\n"));
    }
}

fn show(context: &Context, format: ApplyFormat, plan: &Plan, report: &Report) -> Result<(), CliError> {
    for notice in &report.notices {
        context.note(notice);
    }
    let text = match format {
        ApplyFormat::Table => {
            let counts: Vec<String> = report.counts().iter().map(|(word, count)| format!("{count} {word}")).collect();
            let halted = report.halted.as_ref().map(|halt| format!("; {}", halt.says())).unwrap_or_default();
            let says = format!("plan {}: {}{halted}", short_id(&plan.id), counts.join(", "));
            context.terminal.safe(&says)
        }
        ApplyFormat::Json => {
            let value = serde_json::to_string_pretty(&report_json(plan, report)).expect("it is made of JSON values");
            trueup_core::engine::text::printable_json(&value)
        }
    };
    print(&(text + "\n"))?;
    Ok(())
}

fn report_json(plan: &Plan, report: &Report) -> Value {
    let action = |action: &Action| {
        let end = report.ends.get(&action.id)?;
        Some(json!({ "id": action.id, "cluster": action.cluster, "verb": action.verb(), "target": action.target,
            "end": end.as_str(), "why": end.why() }))
    };
    let actions: Vec<Value> = plan.actions.iter().filter_map(action).collect();
    let halted = report.halted.as_ref().map(Halt::says);
    json!({ "schema": "trueup/apply/v1", "plan": plan.id, "actions": actions, "summary": report.counts(),
        "notices": report.notices, "halted": halted, "exit": report.code() })
}

/// An error with what caused it.
pub fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    }
}
