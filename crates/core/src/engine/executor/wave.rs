//! The actions of one wave: judged again, read, sealed, journalled, sent, verified.
//!
//! Invariants: requests are sent in small groups, and a stop takes effect between two groups.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;

use super::content::Content;
use super::export::{Exported, read_export, together};
use super::in_flight::{InFlight, journal_intents};
use super::owners::lost_owner;
use super::ports::{ClusterPort, Progress, Reading, Reply};
use super::prepared_write::{PreparedWrite, owners_shown};
use super::read::read;
use super::ready::Ready;
use super::report::{ActionResult, Halt};
use super::run::Run;
use super::source::read_source;
use super::verdict::{Next, in_doubt, next};
use crate::engine::journal::{Answer, Record, VerifiedState};
use crate::engine::vault::Sealed;
use crate::engine::{Action, Difference, RecheckResult};

/// Concurrent requests per cluster: enough to hide latency, few enough that a stop takes effect soon.
const AT_ONCE_MAX: usize = 16;

/// Attempts with an unknown result: one more after the first, behind the same gates.
const UNSURE_MAX: u32 = 2;

/// The wait when the server asks for one without saying how long.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);

/// Why an action that was sent is not sent again.
const STOPPED_BETWEEN: &str = "the cluster did not take it, and the run was stopped before the next attempt";

impl<'p> Run<'p, '_> {
    /// Executes the actions of one wave.
    pub(super) async fn wave(&mut self, port: &dyn ClusterPort, wave: &[&'p Action]) -> Result<(), Halt> {
        let clock = self.ports.clock;
        let now: Vec<Cow<'p, Action>> = wave.iter().map(|action| self.moved.rebound(action)).collect();
        let now: Vec<&Action> = now.iter().map(AsRef::as_ref).collect();
        let again = self.ports.recheck.judge_again(&now).await;
        let mut same = Vec::new();
        for (place, action) in wave.iter().enumerate() {
            match again.get(place) {
                Some(RecheckResult::Same) => same.push(*action),
                // A network goes with its DHCP server: what is gone with an earlier delete of this run is done.
                Some(RecheckResult::Differs(Difference::FindingGone))
                    if action.is_delete()
                        && self.follows_a_done_one(action)
                        && matches!(read(port, clock, &action.target).await, Reading::Absent) =>
                {
                    self.end(action, ActionResult::Already);
                }
                Some(refused) => self.end(action, ActionResult::refused(refused)),
                None => self.end(action, ActionResult::gated("it could not be judged again")),
            }
        }
        self.check_switches()?;
        let mut ready = Vec::new();
        for chunk in same.chunks(AT_ONCE_MAX) {
            let readings = join_all(chunk.iter().map(|action| read(port, clock, &action.target))).await;
            let lost = join_all(chunk.iter().map(|action| lost_owner(port, owners_shown(action)))).await;
            let clusters = self.ports.clusters;
            let sources = join_all(chunk.iter().map(|action| read_source(clusters, clock, action))).await;
            let exports = join_all(chunk.iter().map(|action| read_export(port, action))).await;
            let brought = sources.into_iter().zip(exports);
            for (((action, reading), lost), (source, export)) in chunk.iter().zip(readings).zip(lost).zip(brought) {
                let prepare = |source: Option<Content>| {
                    export.and_then(|export| self.prepare(action, &reading, source.as_ref(), export.as_ref()))
                };
                let prepared = match lost {
                    None => source.and_then(prepare),
                    Some(why) => Err(ActionResult::stale(why)),
                };
                match prepared {
                    Ok(prepared) => ready.push(prepared),
                    Err(end) => self.end(action, end),
                }
            }
        }
        self.rounds(port, ready).await
    }

    /// Whether an action depends on one that this run carried out.
    fn follows_a_done_one(&self, action: &Action) -> bool {
        action.depends_on.iter().any(|id| matches!(self.report.ends.get(id), Some(ActionResult::Done(_))))
    }

    /// Sends, waits and retries until every action has a result.
    pub(super) async fn rounds(&mut self, port: &dyn ClusterPort, mut ready: Vec<Ready<'p>>) -> Result<(), Halt> {
        while !ready.is_empty() {
            self.check_switches()?;
            let mut in_flight: VecDeque<(Ready<'p>, InFlight)> = self.write_intents(ready)?.into();
            let mut again = Vec::new();
            let mut pause = Duration::ZERO;
            while !in_flight.is_empty() {
                if let Err(halt) = self.check_switches() {
                    self.leave_unsent(in_flight.iter().map(|(one, _)| one), &halt)?;
                    return Err(halt);
                }
                // A cloud has no preconditions: one request at a time, each verified before the next.
                let is_cloud = in_flight.iter().any(|(one, _)| one.action.target.cloud.is_some());
                let at_once = if is_cloud { 1 } else { AT_ONCE_MAX };
                let group = in_flight.drain(..in_flight.len().min(at_once)).collect();
                pause = pause.max(self.send_group(port, group, &mut again).await?);
            }
            if !again.is_empty() {
                self.wait_again(&again, pause).await?;
            }
            ready = self.read_again(port, again).await?;
        }
        Ok(())
    }

    /// Sends a group, verifies it and records results. Actions to retry are added to `again`; returns the longest wait that
    /// a server asked for.
    async fn send_group(
        &mut self,
        port: &dyn ClusterPort,
        group: Vec<(Ready<'p>, InFlight)>,
        again: &mut Vec<Ready<'p>>,
    ) -> Result<Duration, Halt> {
        self.sent.extend(group.iter().map(|(ready, _)| ready.action.id.clone()));
        self.tell(group.iter().map(|(ready, _)| ready), Progress::Sent);
        let replies = join_all(group.iter().map(|(ready, token)| port.send(token, ready.write()))).await;
        let group: Vec<Ready<'p>> = group.into_iter().map(|(ready, _)| ready).collect();
        let clock = self.ports.clock;
        let at = clock.now();
        let outcome = |(ready, reply): (&Ready<'_>, &Reply)| Record::Outcome {
            plan: self.report.plan.clone(),
            action: ready.action.id.clone(),
            attempt: ready.attempt,
            http: reply.http,
            what: reply.answer,
            at,
        };
        let outcomes: Vec<Record> = group.iter().zip(&replies).map(outcome).collect();
        self.write(&outcomes)?;
        self.tell(group.iter(), Progress::Answered);
        let readings = join_all(group.iter().map(|ready| read(port, clock, &ready.action.target))).await;
        let mut pause = Duration::ZERO;
        let mut verified = Vec::new();
        for ((mut ready, reply), reading) in group.into_iter().zip(replies).zip(readings) {
            ready.unsure += u32::from(reply.answer == Answer::Ambiguous);
            ready.waits_for.clone_from(&reply.reason);
            ready.left_at.clone_from(&reply.version);
            match next(&ready, &reply, &reading) {
                Next::End(end) => {
                    self.remember_version(&ready, &end, &reading);
                    verified.push((ready.action, end));
                }
                Next::Again => match self.may_try_again(&ready, &reply) {
                    Ok(wait) => {
                        pause = pause.max(wait);
                        again.push(ready);
                    }
                    Err(end) => verified.push((ready.action, end)),
                },
            }
        }
        let done: Vec<(&Action, ActionResult)> = verified.clone();
        self.write_ends(verified)?;
        for (action, end) in &done {
            self.remember_tags(action, end).await?;
        }
        Ok(pause)
    }

    /// Records the version at which this run left an object, so that undo detects later changes: by the answer where it says so,
    /// because another writer may have been faster than the read that verifies.
    fn remember_version(&mut self, ready: &Ready<'_>, end: &ActionResult, reading: &Reading) {
        if let (ActionResult::Done(_), false, Reading::Present(seen)) = (end, ready.action.is_delete(), reading) {
            if ready.write.patch().is_some() {
                self.moved.note(ready.action, seen);
            }
            let left_at = ready.left_at.as_ref().unwrap_or(&seen.resource_version);
            self.versions.insert(ready.action.id.clone(), left_at.clone());
        }
    }

    /// How long to wait before the next attempt, or why there is none.
    fn may_try_again(&self, ready: &Ready<'_>, reply: &Reply) -> Result<Duration, ActionResult> {
        let asked = reply.retry_after;
        let wait = asked.unwrap_or(WAIT_DEFAULT);
        if ready.unsure >= UNSURE_MAX || ready.tries >= ready.tries_max() {
            return Err(ready.given_up(format!("it was sent {} times, and the object is as it was", ready.tries)));
        }
        let then = self.ports.clock.now().checked_add(wait).unwrap_or(Timestamp::MAX);
        if then >= ready.deadline {
            return Err(ready.given_up(ready.not_taken()));
        }
        Ok(wait)
    }

    async fn wait_again(&mut self, again: &[Ready<'p>], pause: Duration) -> Result<(), Halt> {
        let now = self.ports.clock.now();
        for ready in again {
            let so_far = Duration::try_from(now.duration_since(ready.began)).unwrap_or_default();
            (self.ports.progress)(ready.action, Progress::Waiting { so_far, why: &ready.waits_for });
        }
        let halted = match self.wait(pause).await {
            Ok(()) => self.check_switches().err(),
            Err(halt) => Some(halt),
        };
        let Some(halt) = halted else { return Ok(()) };
        for ready in again {
            self.write_ends(vec![(ready.action, ready.given_up(STOPPED_BETWEEN.to_owned()))])?;
        }
        Err(halt)
    }

    /// Reads targets and sources again before another attempt: changed objects are not sent again.
    async fn read_again(&mut self, port: &dyn ClusterPort, again: Vec<Ready<'p>>) -> Result<Vec<Ready<'p>>, Halt> {
        let mut ready = Vec::new();
        let clock = self.ports.clock;
        let mut ended = Vec::new();
        for mut one in again {
            let reading = read(port, clock, &one.action.target).await;
            let source = read_source(self.ports.clusters, clock, one.action).await.err();
            let doubted = if one.is_in_doubt() || is_leaving(&one, &reading) { in_doubt(&one, &reading) } else { None };
            match (doubted, one.write.conflict(&reading), source) {
                (Some(end), _, _) => {
                    self.remember_version(&one, &end, &reading);
                    ended.push((one.action, end));
                }
                (None, Some(why), _) => {
                    ended.push((one.action, ActionResult::failed(format!("not sent again: {why}"))))
                }
                (None, None, Some(end)) => {
                    ended.push((one.action, one.given_up(format!("not sent again: {}", end.why()))));
                }
                (None, None, None) => {
                    one.write.bind_again(&reading);
                    ready.push(one);
                }
            }
        }
        self.write_ends(ended)?;
        Ok(ready)
    }

    /// Prepares an action: compares target and source with the plan, and seals the backup. An action whose target is already
    /// in the desired state is not sent.
    fn prepare(
        &mut self,
        action: &'p Action,
        reading: &Reading,
        source: Option<&Content>,
        export: Option<&Exported>,
    ) -> Result<Ready<'p>, ActionResult> {
        let mut write = PreparedWrite::of(&self.moved.rebound(action), &self.report.plan, source, self.ports.vault)?;
        if let Some(end) = write.early_result(&action.target.kind, reading) {
            return Err(end);
        }
        write.bind_again(reading);
        let mut ready = Ready::new(action, write, self.ports.clock.now());
        if let Reading::Present(seen) = reading {
            ready.remember_before(seen);
            // Cloud resources cannot be sealed; their tier accounts for it.
            if ready.write.needs_backup() && action.target.cloud.is_none() {
                let whole = export.map(|export| together(&seen.json, export));
                let sealed = self.ports.vault.seal(whole.as_ref().unwrap_or(&seen.json));
                let sealed = sealed.map_err(|why| ActionResult::gated(format!("backup: {why}")))?;
                self.backups.insert(action.id.clone(), sealed);
            }
        }
        Ok(ready)
    }

    /// Writes the intents to the disk. Returns each action with the token of its request.
    fn write_intents(&mut self, mut ready: Vec<Ready<'p>>) -> Result<Vec<(Ready<'p>, InFlight)>, Halt> {
        let at = self.ports.clock.now();
        let mut records = Vec::new();
        for one in &mut ready {
            let (plan, action) = (self.report.plan.clone(), one.action.id.clone());
            let attempts = self.attempts.entry(action.clone()).or_default();
            *attempts += 1;
            one.attempt = *attempts;
            one.tries += 1;
            if let (1, Some(Sealed { file, digest })) = (one.attempt, self.backups.get(&action)) {
                let (file, digest) = (file.clone(), digest.clone());
                records.push(Record::Backup { plan: plan.clone(), action, file, digest });
            }
            records.push(one.intent(&plan, at));
        }
        let tokens = journal_intents(self.ports.journal, &records).map_err(Halt::Journal)?;
        self.tell(ready.iter(), Progress::Intended);
        Ok(ready.into_iter().zip(tokens).collect())
    }

    fn tell<'r>(&mut self, group: impl Iterator<Item = &'r Ready<'p>>, progress: Progress<'_>)
    where
        'p: 'r,
    {
        group.for_each(|ready| (self.ports.progress)(ready.action, progress));
    }

    /// Ends actions that have an intent and are not sent. An earlier attempt may have been sent.
    fn leave_unsent<'r>(&mut self, left: impl Iterator<Item = &'r Ready<'p>>, halt: &Halt) -> Result<(), Halt>
    where
        'p: 'r,
    {
        let end = |one: &Ready<'p>| match one.tries {
            0 | 1 => halt.end(),
            _ => one.given_up(STOPPED_BETWEEN.to_owned()),
        };
        self.write_ends(left.map(|one| (one.action, end(one))).collect())
    }

    /// Journals the results of actions, then reports them.
    pub(super) fn write_ends(&mut self, ends: Vec<(&Action, ActionResult)>) -> Result<(), Halt> {
        if ends.is_empty() {
            return Ok(());
        }
        let at = self.ports.clock.now();
        let verified = |(action, end): &(&Action, ActionResult)| Record::Verified {
            plan: self.report.plan.clone(),
            action: action.id.clone(),
            state: match end {
                ActionResult::Done(state) => *state,
                ActionResult::Restored { .. } => VerifiedState::Restored,
                ActionResult::Already | ActionResult::Skipped { .. } => VerifiedState::Skipped,
                ActionResult::Failed { .. } => VerifiedState::Failed,
                ActionResult::Unknown { .. } => VerifiedState::Unknown,
            },
            why: end.why_of(action.verb()).to_owned(),
            version: self.versions.get(&action.id).filter(|_| matches!(end, ActionResult::Done(_))).cloned(),
            at,
        };
        let records: Vec<Record> = ends.iter().map(verified).collect();
        for (action, end) in ends {
            self.end(action, end);
        }
        self.write(&records)
    }
}

/// Whether another process deleted the cloud resource between two attempts.
fn is_leaving(ready: &Ready<'_>, reading: &Reading) -> bool {
    let is_gone = match reading {
        Reading::Absent => true,
        Reading::Present(seen) => seen.deleting,
        Reading::Unknown(_) => false,
    };
    is_gone && ready.action.target.cloud.is_some() && matches!(ready.write, PreparedWrite::Delete { .. })
}
