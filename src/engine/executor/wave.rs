//! The way of a wave's actions: judged again, read, sealed, journalled, sent, looked after.
//!
//! Always true: requests go out in small groups, and between two groups a stop is noticed.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use zeroize::Zeroizing;

use super::in_flight::{InFlight, journal_intents};
use super::owners::lost_owner;
use super::ports::{Again, ClusterPort, ExecutorClock, Progress, Reading, Reply, Seen, VaultPort, Write};
use super::report::{End, Halt};
use super::run::Run;
use super::verdict::{MAY_ARRIVE, Next, difference, in_doubt, next};
use crate::engine::journal::{Answer, LabelChange, Record, VerifiedState};
use crate::engine::vault::Sealed;
use crate::engine::{Action, ObjectRef, Verb, short_id};

/// Requests under way at once in a cluster: enough to hide a slow line, few enough that a stop leaves little undone.
const AT_ONCE_MAX: usize = 16;

/// How long one action may take, waits included. A server that asks for more is not fit for writes now.
const ACTION_TIME: SignedDuration = SignedDuration::from_secs(60);

/// How often a request may go out at all. Waits are bounded by time as well.
const TRIES_MAX: u32 = 5;
/// How often nobody may know what came of it: one more gated try after the first, as things may just have hung.
const UNSURE_MAX: u32 = 2;

/// The wait when the server asks for one without saying how long.
const WAIT_DEFAULT: Duration = Duration::from_secs(1);

/// How often a target is read when reads fail, with this pause between.
const READS_MAX: u32 = 3;
const READ_PAUSE: Duration = Duration::from_secs(1);

/// Why an action that was sent is not sent again.
const STOPPED_BETWEEN: &str = "the cluster did not take it, and the run was stopped before the next attempt";

/// What an action wants of the cluster.
pub(super) enum Wish {
    Delete {
        uid: String,
        resource_version: String,
    },
    Label {
        uid: String,
        resource_version: String,
        set: BTreeMap<String, String>,
        remove: Vec<String>,
        /// What these labels are before; known once the object was read.
        before: BTreeMap<String, Option<String>>,
    },
    Create {
        object: Zeroizing<Vec<u8>>,
        mark: String,
    },
}

/// An action that may be sent.
pub(super) struct Ready<'a> {
    pub action: &'a Action,
    pub wish: Wish,
    /// The number the journal knows the attempt by, from 1 for an action's first.
    attempt: u32,
    /// How often it was sent.
    tries: u32,
    /// How often nobody knew what came of it.
    unsure: u32,
    deadline: Timestamp,
}

impl<'a> Ready<'a> {
    pub fn new(action: &'a Action, wish: Wish, now: Timestamp) -> Self {
        let deadline = now.checked_add(ACTION_TIME).unwrap_or(Timestamp::MAX);
        Self { action, wish, attempt: 0, tries: 0, unsure: 0, deadline }
    }

    fn write(&self) -> Write<'_> {
        let target = &self.action.target;
        match &self.wish {
            Wish::Delete { uid, resource_version } => Write::Delete { target, uid, resource_version },
            Wish::Label { uid, resource_version, set, remove, before: _ } => {
                Write::Label { target, uid, resource_version, set, remove }
            }
            Wish::Create { object, mark: _ } => Write::Create { target, object },
        }
    }

    /// Whether a request of it may have been carried out, or may still be, as far as answers tell.
    pub fn is_in_doubt(&self) -> bool {
        self.unsure > 0
    }

    fn verb(&self) -> Verb {
        match self.wish {
            Wish::Delete { .. } => Verb::Delete,
            Wish::Label { .. } => Verb::Label,
            Wish::Create { .. } => Verb::Create,
        }
    }

    /// How it ends when it is not sent again and the object is as it was.
    fn given_up(&self, why: String) -> End {
        if self.is_in_doubt() { End::Unknown { why: format!("{why}; {MAY_ARRIVE}") } } else { End::failed(why) }
    }

    /// Why it may not be sent, seeing what is there; nothing when it may.
    fn hindrance(&self, reading: &Reading) -> Option<String> {
        match (&self.wish, reading) {
            (Wish::Delete { uid, resource_version } | Wish::Label { uid, resource_version, .. }, reading) => {
                difference(uid, resource_version, reading)
            }
            (Wish::Create { .. }, Reading::Absent) => None,
            (Wish::Create { .. }, Reading::Present(_)) => Some("another object has the name".to_owned()),
            (Wish::Create { .. }, Reading::Unknown(why)) => Some(format!("whether the name is free is unknown: {why}")),
        }
    }

    /// What the labels were and will be, for undo.
    fn label_change(&self) -> Option<LabelChange> {
        match &self.wish {
            Wish::Label { set, remove, before, .. } => {
                let mut after: BTreeMap<String, Option<String>> =
                    set.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
                after.extend(remove.iter().map(|key| (key.clone(), None)));
                Some(LabelChange { before: before.clone(), after })
            }
            Wish::Delete { .. } | Wish::Create { .. } => None,
        }
    }

    /// Notes what the labels that will change are now.
    fn remember_labels(&mut self, seen: &Seen) {
        if let Wish::Label { set, remove, before, .. } = &mut self.wish {
            let keys = set.keys().chain(remove.iter());
            *before = keys.map(|key| (key.clone(), seen.labels.get(key).cloned())).collect();
        }
    }

    fn intent(&self, plan: &str, at: Timestamp) -> Record {
        let (uid, resource_version) = match &self.wish {
            Wish::Delete { uid, resource_version } | Wish::Label { uid, resource_version, .. } => {
                (Some(uid.clone()), Some(resource_version.clone()))
            }
            Wish::Create { .. } => (None, None),
        };
        Record::Intent {
            plan: plan.to_owned(),
            action: self.action.id.clone(),
            attempt: self.attempt,
            cluster: self.action.cluster.clone(),
            target: self.action.target.clone(),
            uid,
            resource_version,
            verb: self.verb(),
            labels: self.label_change(),
            deadline: self.deadline,
            at,
        }
    }
}

impl<'p> Run<'p, '_> {
    /// Carries out the actions of one wave.
    pub(super) async fn wave(&mut self, port: &dyn ClusterPort, wave: &[&'p Action]) -> Result<(), Halt> {
        let clock = self.ports.clock;
        let again = self.ports.recheck.judge_again(wave).await;
        let mut same = Vec::new();
        for (place, action) in wave.iter().enumerate() {
            match again.get(place) {
                Some(Again::Same) => same.push(*action),
                Some(Again::Blocked(why)) => self.end(action, End::gated(why.clone())),
                Some(Again::Differs(why)) => self.end(action, End::stale(format!("judged again: {why}"))),
                None => self.end(action, End::gated("it could not be judged again")),
            }
        }
        self.check_switches()?;
        let mut ready = Vec::new();
        for chunk in same.chunks(AT_ONCE_MAX) {
            let readings = join_all(chunk.iter().map(|action| read(port, clock, action))).await;
            let lost = join_all(chunk.iter().map(|action| lost_owner(port, owners_shown(action)))).await;
            for ((action, reading), lost) in chunk.iter().zip(readings).zip(lost) {
                let prepared = match lost {
                    None => self.prepare(action, &reading),
                    Some(why) => Err(End::stale(why)),
                };
                match prepared {
                    Ok(prepared) => ready.push(prepared),
                    Err(end) => self.end(action, end),
                }
            }
        }
        self.rounds(port, ready).await
    }

    /// Sends, waits and sends again until every action has its end.
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
                let group = in_flight.drain(..in_flight.len().min(AT_ONCE_MAX)).collect();
                pause = pause.max(self.send_group(port, group, &mut again).await?);
            }
            if !again.is_empty() {
                self.wait_again(&again, pause).await?;
            }
            ready = self.read_again(port, again).await?;
        }
        Ok(())
    }

    /// Sends a group, looks after it and ends what has ended. What may be tried again is added to `again`; the longest
    /// wait a server asked for is the answer.
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
        let readings = join_all(group.iter().map(|ready| read(port, clock, ready.action))).await;
        let mut pause = Duration::ZERO;
        let mut verified = Vec::new();
        for ((mut ready, reply), reading) in group.into_iter().zip(replies).zip(readings) {
            ready.unsure += u32::from(reply.answer == Answer::Ambiguous);
            match next(&ready, &reply, &reading) {
                Next::End(end) => verified.push((ready.action, end)),
                Next::Again => match self.may_try_again(&ready, &reply) {
                    Ok(wait) => {
                        pause = pause.max(wait);
                        again.push(ready);
                    }
                    Err(end) => verified.push((ready.action, end)),
                },
            }
        }
        self.write_ends(verified)?;
        Ok(pause)
    }

    /// How long to wait before the next attempt, or why there is none.
    fn may_try_again(&self, ready: &Ready<'_>, reply: &Reply) -> Result<Duration, End> {
        let asked = reply.retry_after;
        let wait = asked.unwrap_or(WAIT_DEFAULT);
        if ready.unsure >= UNSURE_MAX || ready.tries >= TRIES_MAX {
            return Err(ready.given_up(format!("it was sent {} times, and the object is as it was", ready.tries)));
        }
        let then = self.ports.clock.now().checked_add(wait).unwrap_or(Timestamp::MAX);
        if then >= ready.deadline {
            let seconds = ACTION_TIME.as_secs();
            return Err(ready.given_up(format!("the cluster is too busy to take it within {seconds} s")));
        }
        Ok(wait)
    }

    async fn wait_again(&mut self, again: &[Ready<'p>], pause: Duration) -> Result<(), Halt> {
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

    /// Reads the targets again before another attempt: what is not as it was is not sent again.
    async fn read_again(&mut self, port: &dyn ClusterPort, again: Vec<Ready<'p>>) -> Result<Vec<Ready<'p>>, Halt> {
        let mut ready = Vec::new();
        let clock = self.ports.clock;
        let mut ended = Vec::new();
        for one in again {
            let reading = read(port, clock, one.action).await;
            let doubted = if one.is_in_doubt() { in_doubt(&one, &reading) } else { None };
            match (doubted, one.hindrance(&reading)) {
                (Some(end), _) => ended.push((one.action, end)),
                (None, Some(why)) => ended.push((one.action, End::failed(format!("not sent again: {why}")))),
                (None, None) => ready.push(one),
            }
        }
        self.write_ends(ended)?;
        Ok(ready)
    }

    /// Makes an action ready: it is the object the plan shows, and its backup is sealed.
    fn prepare(&mut self, action: &'p Action, reading: &Reading) -> Result<Ready<'p>, End> {
        let mut ready = Ready::new(action, wish(action, &self.report.plan, self.ports.vault)?, self.ports.clock.now());
        if let Some(why) = ready.hindrance(reading) {
            return Err(match reading {
                Reading::Unknown(_) => End::gated(format!("not-complete: {why}")),
                Reading::Present(_) | Reading::Absent => End::stale(why),
            });
        }
        if let Reading::Present(seen) = reading {
            ready.remember_labels(seen);
        }
        if let (Wish::Delete { .. }, Reading::Present(seen)) = (&ready.wish, reading) {
            let sealed = self.ports.vault.seal(&seen.json).map_err(|why| End::gated(format!("backup: {why}")))?;
            self.backups.insert(action.id.clone(), sealed);
        }
        Ok(ready)
    }

    /// Puts the intents on the disk. Each action comes back with the token its request asks for.
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

    /// Ends what has its intent and is not sent. An earlier attempt may have been.
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

    /// Writes how actions ended, then tells.
    pub(super) fn write_ends(&mut self, ends: Vec<(&Action, End)>) -> Result<(), Halt> {
        if ends.is_empty() {
            return Ok(());
        }
        let at = self.ports.clock.now();
        let verified = |(action, end): &(&Action, End)| Record::Verified {
            plan: self.report.plan.clone(),
            action: action.id.clone(),
            state: match end {
                End::Done(state) => *state,
                End::TakenBack { .. } => VerifiedState::Restored,
                End::Skipped { .. } => VerifiedState::Skipped,
                End::Failed { .. } => VerifiedState::Failed,
                End::Unknown { .. } => VerifiedState::Unknown,
            },
            why: end.why().to_owned(),
            at,
        };
        let records: Vec<Record> = ends.iter().map(verified).collect();
        for (action, end) in ends {
            self.end(action, end);
        }
        self.write(&records)
    }
}

/// Reads a target, a few times if reads fail.
pub(super) async fn read(port: &dyn ClusterPort, clock: &dyn ExecutorClock, action: &Action) -> Reading {
    let mut reading = port.read(&action.target).await;
    for _ in 1..READS_MAX {
        match reading {
            Reading::Unknown(_) => {
                clock.sleep(READ_PAUSE).await;
                reading = port.read(&action.target).await;
            }
            Reading::Present(_) | Reading::Absent => break,
        }
    }
    reading
}

/// The owners a restore brings back, as its plan shows them.
fn owners_shown(action: &Action) -> Vec<ObjectRef> {
    serde_json::from_value(action.change["owners"].clone()).unwrap_or_default()
}

/// What an action of a plan wants of the cluster.
fn wish(action: &Action, plan: &str, vault: &dyn VaultPort) -> Result<Wish, End> {
    let bound = || {
        let uid = action.preconditions.uid.clone();
        uid.zip(action.preconditions.resource_version.clone())
            .ok_or_else(|| End::gated("identity: the plan binds no uid and version of the object"))
    };
    match action.verb {
        Verb::Delete => bound().map(|(uid, resource_version)| Wish::Delete { uid, resource_version }),
        Verb::Label => {
            let (uid, resource_version) = bound()?;
            let set = serde_json::from_value(action.change["set"].clone()).unwrap_or_default();
            let remove = serde_json::from_value(action.change["remove"].clone()).unwrap_or_default();
            Ok(Wish::Label { uid, resource_version, set, remove, before: BTreeMap::new() })
        }
        Verb::Create => {
            let file = action.change["backup"].as_str().unwrap_or_default();
            let mark = format!("{}/{}", short_id(plan), action.id);
            let owners = owners_shown(action).into_iter().filter_map(|owner| owner.uid).collect();
            let object = vault.restorable(file, &mark, &owners).map_err(|why| End::gated(format!("backup: {why}")))?;
            Ok(Wish::Create { object, mark })
        }
        Verb::Apply | Verb::Update | Verb::Annotate | Verb::Patch | Verb::Tag | Verb::Untag | Verb::ReOwn => {
            Err(End::gated(format!("`{}` is not supported yet", action.verb.word())))
        }
    }
}
