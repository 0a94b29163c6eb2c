//! A run: clusters one after another, the highest tier last, each in waves.
//!
//! Invariants:
//! - switches, expiry of the plan and identity of the cluster are checked before every wave, the identity also after it;
//! - an action runs only after everything it depends on is done;
//! - actions that a halted run did not send end as skipped, with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;

use super::own_changes::{OwnChanges, share_a_target};
use super::ports::{Ports, Progress};
use super::reference_scan::References;
use super::report::{ActionResult, Halt, Report};
use crate::engine::journal::{ApprovalWay, ApprovedCluster, Entry, Record, VerifiedState};
use crate::engine::vault::Sealed;
use crate::engine::{Action, ApprovedPlan, Blocked, GateName, How, Origin, TargetRecord, Tier, Verb};

/// Actions that are judged again together. More would extend the time between the read and the last request; fewer
/// would list the same collections more often.
const WAVE_MAX: usize = 64;

/// Default delay of the last reference scan after the last wave: controllers write references within seconds.
pub const REFERENCE_SCAN_AFTER: Duration = Duration::from_secs(30);

/// How often a waiting run checks for a stop.
const STOP_EVERY: Duration = Duration::from_millis(200);

/// Attempts to read the identity of a cluster after a wave, and the pause between them.
const CONFIRMS_MAX: u32 = 3;
const CONFIRM_PAUSE: Duration = Duration::from_secs(1);

/// How long the last reference scan waits for a referenced object with a finalizer: controllers usually remove it within
/// seconds.
const HELD_PATIENCE: Duration = Duration::from_secs(60);

/// What to do about a new reference to a deleted object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnNewReference {
    Restore,
    Report,
}

/// Who runs it, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    pub who: String,
    pub host: String,
    pub on_new_reference: OnNewReference,
    /// Delay of the last reference scan after the last wave.
    pub reference_scan_after: Duration,
}

/// Executes an approved plan.
///
/// # Guarantees
/// Every approved action has an end in the report. What was sent is in the journal, and its intent was there before.
///
/// # Assumes
/// The recheck answers about the same clusters that the cluster ports write to.
///
/// May not be dropped while it runs, unless the process ends: an open intent is resolved at the next start.
pub async fn apply(approved: ApprovedPlan, settings: RunSettings, ports: Ports<'_>) -> Report {
    resume(approved, settings, ports, &[]).await
}

/// The same, with the journal: an interrupted run of this plan is resumed.
pub async fn resume(approved: ApprovedPlan, settings: RunSettings, ports: Ports<'_>, earlier: &[Entry]) -> Report {
    let plan = &approved.plan().id;
    let earlier = earlier.iter().filter(|entry| entry.plan == *plan).flat_map(|entry| &entry.actions);
    let sent_earlier = earlier.filter(|action| action.sent.is_some()).map(|action| action.id.clone()).collect();
    let report = Report { plan: plan.clone(), ..Report::default() };
    let mut run = Run {
        approved: &approved,
        settings,
        ports,
        report,
        backups: BTreeMap::new(),
        attempts: BTreeMap::new(),
        versions: BTreeMap::new(),
        sent: BTreeSet::new(),
        sent_earlier,
        moved: OwnChanges::default(),
    };
    for (action, why) in approved.refused() {
        run.end(action, ActionResult::refused(why));
    }
    let halted = run.whole().await.err();
    if let Some(halt) = &halted {
        for action in approved.actions() {
            if !run.report.ends.contains_key(&action.id) {
                let end = if run.sent.contains(&action.id) { halt.end_of_sent() } else { halt.end() };
                run.end(action, end);
            }
        }
    }
    run.report.halted = halted;
    run.finish();
    run.report
}

pub(super) struct Run<'p, 'q> {
    pub approved: &'p ApprovedPlan,
    pub settings: RunSettings,
    pub ports: Ports<'q>,
    pub report: Report,
    /// The backups of deleted and changed objects, by action.
    pub backups: BTreeMap<String, Sealed>,
    /// Number of intents so far, by action.
    pub attempts: BTreeMap<String, u32>,
    /// The version at which each changed object had the desired state, by action.
    pub versions: BTreeMap<String, String>,
    /// The actions whose request was sent.
    pub sent: BTreeSet<String>,
    /// The actions whose request an earlier run of the same plan has sent.
    pub sent_earlier: BTreeSet<String>,
    pub moved: OwnChanges,
}

/// Whether a cluster is the one a plan was made for.
enum Sameness {
    Same,
    Other,
    /// The identity cannot be read.
    Unknown,
}

impl<'p> Run<'p, '_> {
    async fn whole(&mut self) -> Result<(), Halt> {
        self.check_switches()?;
        self.write(&[self.approval()])?;
        for target in self.in_order() {
            let actions: Vec<&'p Action> =
                self.approved.actions().filter(|action| action.cluster == target.cluster).collect();
            self.cluster(&target.cluster, actions).await?;
        }
        let deleted = self.deleted();
        if deleted.is_empty() {
            return Ok(());
        }
        self.wait(self.settings.reference_scan_after).await?;
        let references = self.scan_references(&deleted, HELD_PATIENCE).await?;
        self.report.unreferenced_at = (references == References::None).then(|| self.ports.clock.now());
        Ok(())
    }

    /// The clusters in the order they run: reversible work by name, then what needs more approval, the highest last.
    fn in_order(&self) -> Vec<&'p TargetRecord> {
        let highest = |target: &&TargetRecord| {
            let own = self.approved.actions().filter(|action| action.cluster == target.cluster);
            own.map(|action| self.approved.tier(action)).max().unwrap_or(Tier::T0).max(Tier::T2)
        };
        let mut targets = self.approved.targets();
        // Stable: among equals the order of names stays.
        targets.sort_by_key(highest);
        targets
    }

    async fn cluster(&mut self, cluster: &str, mut left: Vec<&'p Action>) -> Result<(), Halt> {
        let Some(port) = self.ports.clusters.get(cluster).cloned() else {
            let end = ActionResult::gated(format!("identity: {cluster} is not connected"));
            left.into_iter().for_each(|action| self.end(action, end.clone()));
            return Ok(());
        };
        if left.iter().any(|action| self.sent_earlier.contains(&action.id)) {
            self.check_gates(cluster).await?;
            left = self.take_up(port.as_ref(), left).await?;
        }
        while !left.is_empty() {
            let wave = self.take_wave(&mut left);
            if wave.is_empty() {
                break;
            }
            self.check_gates(cluster).await?;
            let came = self.wave(port.as_ref(), &wave).await;
            let confirmed = self.confirm_cluster(cluster, &wave).await;
            came.and(confirmed)?;
            self.wait_until_gone(port.as_ref(), &wave).await?;
            let deleted: Vec<&'p Action> = wave.into_iter().filter(|action| self.is_gone(action)).collect();
            self.scan_references(&deleted, Duration::ZERO).await?;
        }
        Ok(())
    }

    /// Takes the next actions whose dependencies are done; ends those whose dependencies never will be.
    fn take_wave(&mut self, left: &mut Vec<&'p Action>) -> Vec<&'p Action> {
        loop {
            let before = left.len();
            let wave = self.take_ready(left);
            if !wave.is_empty() || left.is_empty() {
                return wave;
            }
            // Where an action ended, those that depend on it end next. Otherwise only circular dependencies are left.
            if left.len() == before {
                for action in std::mem::take(left) {
                    self.end(action, ActionResult::gated("dependency: circular dependency"));
                }
            }
        }
    }

    fn take_ready(&mut self, left: &mut Vec<&'p Action>) -> Vec<&'p Action> {
        let mut wave: Vec<&'p Action> = Vec::new();
        for action in std::mem::take(left) {
            let open = |id: &String| !self.report.ends.contains_key(id) && self.is_approved_for(id, &action.cluster);
            let done = |id: &String| self.report.ends.get(id).is_some_and(ActionResult::is_done);
            let missing = action.depends_on.iter().find(|id| !done(id) && !open(id)).cloned();
            match missing {
                Some(id) => self.end(action, ActionResult::gated(format!("dependency: {id} was not done"))),
                None if wave.len() < WAVE_MAX
                    && action.depends_on.iter().all(done)
                    && !wave.iter().any(|other| share_a_target(other, action)) =>
                {
                    wave.push(action);
                }
                None => left.push(action),
            }
        }
        wave
    }

    fn is_approved_for(&self, id: &str, cluster: &str) -> bool {
        self.approved.actions().any(|action| action.id == id && action.cluster == cluster)
    }

    pub async fn check_gates(&mut self, cluster: &str) -> Result<(), Halt> {
        self.check_switches()?;
        match self.read_sameness(cluster).await {
            Sameness::Same => Ok(()),
            Sameness::Other | Sameness::Unknown => Err(other_cluster(cluster)),
        }
    }

    /// Whether the cluster is the one the plan was made for.
    async fn read_sameness(&mut self, cluster: &str) -> Sameness {
        let expected = self.approved.targets().into_iter().find(|target| target.cluster == cluster);
        let actual = self.ports.recheck.read_identity(cluster).await;
        match expected.zip(actual) {
            Some((_, actual)) if !actual.is_known() => Sameness::Unknown,
            Some((expected, actual)) if expected.identity == actual => Sameness::Same,
            Some(_) => Sameness::Other,
            None => Sameness::Unknown,
        }
    }

    /// Verifies that a wave was read from the plan's cluster: another cluster behind the same address has none of the
    /// objects. If this is uncertain, no action counts as done.
    async fn confirm_cluster(&mut self, cluster: &str, wave: &[&'p Action]) -> Result<(), Halt> {
        let done = |action: &&&'p Action| matches!(self.report.ends.get(&action.id), Some(ActionResult::Done(_)));
        let done: Vec<&'p Action> = wave.iter().filter(done).copied().collect();
        for _ in 0..CONFIRMS_MAX {
            if done.is_empty() {
                return Ok(());
            }
            match self.read_sameness(cluster).await {
                Sameness::Same => return Ok(()),
                Sameness::Other => break,
                Sameness::Unknown => self.ports.clock.sleep(CONFIRM_PAUSE).await,
            }
        }
        let why = format!("sent, not verified: {cluster} may have been another cluster when it was read");
        self.write_ends(done.into_iter().map(|action| (action, ActionResult::Unknown { why: why.clone() })).collect())?;
        Err(other_cluster(cluster))
    }

    /// Checks everything that stops writes.
    pub fn check_switches(&self) -> Result<(), Halt> {
        if self.ports.stop.load(Ordering::SeqCst) {
            return Err(Halt::Stopped);
        }
        let now = self.ports.clock.now();
        if let Some(blocked) = self.ports.switches.shut(now) {
            return Err(Halt::Gate(blocked));
        }
        let until = self.approved.plan().expires_at;
        if now >= until {
            let why = format!("plan expired at {until}; run trueup plan --out FILE");
            return Err(Halt::Gate(Blocked { gate: GateName::ExpiredPlan, why }));
        }
        Ok(())
    }

    /// Waits, or returns early on a stop.
    pub async fn wait(&mut self, span: Duration) -> Result<(), Halt> {
        let mut left = span;
        while !left.is_zero() {
            if self.ports.stop.load(Ordering::SeqCst) {
                return Err(Halt::Stopped);
            }
            let slice = left.min(STOP_EVERY);
            self.ports.clock.sleep(slice).await;
            left -= slice;
        }
        Ok(())
    }

    pub fn write(&mut self, records: &[Record]) -> Result<(), Halt> {
        self.ports.journal.append(records).map_err(Halt::Journal)
    }

    pub fn end(&mut self, action: &Action, end: ActionResult) {
        (self.ports.progress)(action, Progress::Ended(&end));
        self.report.ends.insert(action.id.clone(), end);
    }

    fn is_gone(&self, action: &Action) -> bool {
        let gone = [VerifiedState::Gone, VerifiedState::Terminating];
        let ended = matches!(self.report.ends.get(&action.id), Some(ActionResult::Done(state)) if gone.contains(state));
        // Deleted cloud resources are not restored by a reference scan.
        action.verb() == Verb::Delete && action.target.cloud.is_none() && ended
    }

    fn deleted(&self) -> Vec<&'p Action> {
        self.approved.actions().filter(|action| self.is_gone(action)).collect()
    }

    fn approval(&self) -> Record {
        let cluster = |target: &TargetRecord| ApprovedCluster {
            typed: self.approved.typed(&target.cluster).map(str::to_owned),
            ..ApprovedCluster::new(target.cluster.as_str(), target.identity.clone())
        };
        Record::PlanApproved {
            plan: self.report.plan.clone(),
            who: self.settings.who.clone(),
            host: self.settings.host.clone(),
            how: match self.approved.how() {
                How::Typed => ApprovalWay::Typed,
                How::Flags => ApprovalWay::Expected,
                How::Objects => ApprovalWay::Objects,
                How::Rule => ApprovalWay::Rule,
            },
            at: self.approved.approved_at(),
            clusters: self.approved.targets().into_iter().map(cluster).collect(),
            undoes: undone_plan(self.approved.actions()),
        }
    }

    /// A record for each action without an intent; the others are in the journal already.
    fn skipped(&self, at: Timestamp) -> Vec<Record> {
        let skipped = |action: &Action| {
            let end = self.report.ends.get(&action.id)?;
            let why = match end {
                ActionResult::Skipped { .. } | ActionResult::Already => end.why_of(action.verb()),
                ActionResult::Done(_)
                | ActionResult::Restored { .. }
                | ActionResult::Failed { .. }
                | ActionResult::Unknown { .. } => return None,
            };
            (!self.attempts.contains_key(&action.id)).then(|| Record::Skipped {
                plan: self.report.plan.clone(),
                action: action.id.clone(),
                cluster: action.cluster.clone(),
                target: action.target.clone(),
                verb: action.verb(),
                why: why.to_owned(),
                at,
            })
        };
        let refused = self.approved.refused().map(|(action, _)| action);
        self.approved.actions().chain(refused).filter_map(skipped).collect()
    }

    /// The last records. A failure to write them does not change the results.
    fn finish(&mut self) {
        let (plan, at, counts) = (self.report.plan.clone(), self.ports.clock.now(), self.report.counts());
        let mut records = self.skipped(at);
        records.push(Record::Finished { plan, at, counts });
        if let Err(Halt::Journal(why)) = self.write(&records) {
            self.notice(format!("the end of the run could not be written to the journal: {why}"));
        }
    }
}

/// The plan that all these actions undo; none when they come from elsewhere, too.
fn undone_plan<'a>(actions: impl Iterator<Item = &'a Action>) -> Option<String> {
    let undone = |action: &'a Action| match &action.origin {
        Origin::Undo { plan, action: _ } => Some(plan.as_str()),
        Origin::Finding(_) | Origin::Restore { .. } => None,
    };
    let plans: Vec<Option<&str>> = actions.map(undone).collect();
    let first = plans.first().copied().flatten()?;
    plans.iter().all(|plan| *plan == Some(first)).then(|| first.to_owned())
}

fn other_cluster(cluster: &str) -> Halt {
    let why = format!("{cluster} is not the cluster the plan was made for, or its identity cannot be read");
    Halt::Gate(Blocked { gate: GateName::Identity, why })
}
