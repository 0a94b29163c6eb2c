//! Looking at live clusters: connect, wait until everything has settled, look a second time where deletes are at stake.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::access;
use super::accounts;
use super::context::Context;
use super::error::CliError;
use super::local;
use super::look::{ObservedFleet, Seen, digester};
use super::members::{GuestsByKubeconfig, acting_as, members, wall_clock};
use super::plan::Wishes;
use super::probe::Tried;
use super::terminal::Stderr;
use super::tombstones;
use crate::config::Config;
use trueup_checks::judgements::explained;
use trueup_core::engine::vault::check_possible;
use trueup_core::engine::{BackupCheck, Conditions, InputReading, Judged, OwnLogin, Tombstone, Verb};
use trueup_core::world::{ClusterName, Gap, GapCause, Link, View};
use trueup_fleet::account::{AwsCache, AwsWay};
use trueup_fleet::connect::TlsTrust;
use trueup_fleet::live::{GuestResolver, Live, LiveSetup, Member, Settled};
use trueup_fleet::observe::{Ports, ProcessJitter, WallClock};

/// How long clusters may take to be read: 100,000 objects of 7 kB take 28 s over 200 Mbit/s. Whoever is not done then
/// is judged by what is there, and the rest is unknown.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Until then nobody wonders whether anything is happening.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// Checks that need to know what AWS offers. Where none of them is on, AWS is not asked.
const ASKS_AWS: [&str; 1] = ["machineset-capacity"];
/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// Connects, reads, judges, and asks for the permissions the remedies need.
///
/// # Errors
/// There is no usable kubeconfig.
pub async fn look(context: &Context, config: &mut Config, wishes: &Wishes) -> Result<Seen, CliError> {
    let mut members = members(context, &config.clusters)?;
    members.extend(local::member(context, config, &members));
    members.extend(accounts::members(context, config).await);
    let door = guests(context, config);
    let (live, settled) = join(context, config, members, door).await?;
    let stones = tombstones::read(context, Timestamp::now());
    let mut seen = look_twice(context, live, settled, wishes, stones).await;
    seen.conditions.backup = backup_check(context, config);
    Ok(seen)
}

/// Whether what is deleted could be sealed first.
pub fn backup_check(context: &Context, config: &Config) -> BackupCheck {
    let checked = match context.state_path() {
        Some(path) => check_possible(&path, &config.safety.recipients),
        None => Err("neither XDG_STATE_HOME nor HOME is set, so there is no folder for it".to_owned()),
    };
    checked.map_or_else(|why| BackupCheck::Impossible { why }, |()| BackupCheck::Possible)
}

/// Looks a second time where deletes are at stake, and asks for the permissions the remedies need.
pub async fn look_twice(
    context: &Context,
    mut live: Live,
    settled: Settled,
    wishes: &Wishes,
    stones: Vec<Tombstone>,
) -> Seen {
    second_look(context, &mut live, wishes.settle).await;
    for trouble in troubles(&live, &settled) {
        context.note(&trouble);
    }
    seen(live, settled, stones).await
}

/// Connects to the chosen contexts and their guests, and waits until they have been read once.
///
/// # Errors
/// There is no usable kubeconfig.
pub async fn connect(context: &Context, config: &mut Config) -> Result<(Live, Settled), CliError> {
    let mut members = members(context, &config.clusters)?;
    members.extend(accounts::members(context, config).await);
    let door = guests(context, config);
    join(context, config, members, door).await
}

/// The way to the guests of management clusters.
pub fn guests(context: &Context, config: &Config) -> Box<dyn GuestResolver> {
    let (rules, env) = (config.clusters.clone(), context.env.clone());
    let aws = asks_aws(config).then(|| Arc::new(AwsCache::new(AwsWay::Network, &env, wall_clock())));
    Box::new(GuestsByKubeconfig { rules, acting_as: acting_as(context), env, aws })
}

/// Whether a check is on that needs to know what AWS offers.
pub fn asks_aws(config: &Config) -> bool {
    config.domains.0.iter().any(|domain| ASKS_AWS.contains(&domain.name().0))
}

/// Connects to these members and their guests, and waits until they have been read once.
///
/// # Errors
/// The system gives no random numbers.
pub async fn join(
    context: &Context,
    config: &mut Config,
    members: Vec<Member>,
    door: Box<dyn GuestResolver>,
) -> Result<(Live, Settled), CliError> {
    let mut live = make(config, members, door)?;
    let settled = wait(context, &mut live).await;
    Ok((live, settled))
}

/// The fleet of these members and their guests, before its first step.
///
/// # Errors
/// The system gives no random numbers.
pub fn make(config: &mut Config, members: Vec<Member>, door: Box<dyn GuestResolver>) -> Result<Live, CliError> {
    Ok(Live::new(LiveSetup {
        domains: std::mem::take(&mut config.domains.0),
        members,
        door,
        ports: Ports::new(Arc::new(WallClock), Arc::new(ProcessJitter), digester()?),
        live_max: config.safety.live_max,
    }))
}

/// What could not be read, a sentence each.
fn troubles(live: &Live, settled: &Settled) -> Vec<String> {
    let mut troubles = Vec::new();
    if let Settled::TimedOut { waiting } = settled {
        let names: Vec<&str> = waiting.iter().map(|name| name.as_str()).collect();
        let limit = PATIENCE.as_secs();
        troubles.push(format!("still reading after {limit} s, judged by what is there: {}", names.join(", ")));
    }
    for cluster in live.view().clusters() {
        let name = &cluster.name;
        match trouble(&cluster.link) {
            Some(why) => troubles.push(format!("cluster {name}: {why}")),
            None => {
                troubles.extend(unread(live.view(), name).into_iter().map(|gap| format!("cluster {name}: {gap}")));
            }
        }
    }
    troubles
}

/// Everything that was seen of live clusters, with what the gates need to know.
pub async fn seen(live: Live, settled: Settled, stones: Vec<Tombstone>) -> Seen {
    let reading = if troubles(&live, &settled).is_empty() { InputReading::Whole } else { InputReading::Gaps };
    let mut conditions = conditions(&live);
    let now = conditions.now;
    let mut judged = judged(&live);
    tombstones::add(&mut judged, &stones, live.view());
    let questions = access::questions(&live, &judged);
    conditions.access = access::ask(questions).await;
    let sight = ObservedFleet::Fleet(Box::new(live));
    let (namespaces, tried) = (BTreeSet::new(), Tried::new());
    Seen { now, reading, namespaces, conditions, sight, tombstones: stones, tried }
}

/// What the clusters add to the gates, but for permissions, which have to be asked for.
pub fn conditions(live: &Live) -> Conditions {
    let mut conditions = Conditions::at(Timestamp::now());
    for cluster in live.view().clusters() {
        match live.tls(&cluster.name) {
            Some(TlsTrust::Unverified | TlsTrust::Cleartext) => {
                conditions.unverified_tls.insert(cluster.name.clone());
            }
            Some(TlsTrust::InProcess) => {
                conditions.logins.insert(cluster.name.clone(), OwnLogin::InProcess);
            }
            Some(TlsTrust::Verified | TlsTrust::Loopback) | None => {}
        }
    }
    conditions.held = live.judgements().held_for(live.view());
    conditions
}

/// Why a cluster can't be read, in its own words.
pub fn trouble(link: &Link) -> Option<String> {
    match link {
        Link::Idle | Link::Connecting | Link::Listing { .. } | Link::Live { .. } | Link::Recorded => None,
        Link::Degraded { gap, retry_at: _ } | Link::Failed { gap } => Some(gap.says.clone()),
        Link::AuthExpired { gap, hint } => Some(format!("{}; {hint}", gap.says)),
    }
}

/// What a cluster that answers did not let be read, in its own words. Where nothing could be read there may be no
/// finding to say so, and "all match" would be the wrong answer.
pub fn unread<'v>(view: View<'v>, cluster: &ClusterName) -> Vec<&'v Gap> {
    let here = view.observations().filter(|(id, ..)| id.cluster == *cluster);
    let mut gaps: Vec<&Gap> = here.filter_map(|(_, known, _)| known.gap()).filter(|gap| stands_open(gap)).collect();
    gaps.sort_by_key(|gap| &gap.says);
    gaps.dedup();
    gaps
}

/// Whether there was something to read. A kind that is not served and an object that is not there are no loss.
fn stands_open(gap: &Gap) -> bool {
    match gap.cause {
        GapCause::Forbidden
        | GapCause::Unauthorized
        | GapCause::Unreachable
        | GapCause::CutShort
        | GapCause::Silent
        | GapCause::Unreadable => true,
        GapCause::NotObserved | GapCause::Discovery | GapCause::NotRecorded => false,
    }
}

/// Waits until everything has settled, telling a person how far it is.
async fn wait(context: &Context, live: &mut Live) -> Settled {
    let deadline = Instant::now() + PATIENCE;
    let mut settled = live.wait_settled(PROGRESS_AFTER).await;
    let mut told = 0;
    while let Settled::TimedOut { .. } = settled {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        if context.terminal.stderr == Stderr::Person {
            told = tell(context, live, told);
        }
        settled = live.wait_settled(left.min(PROGRESS_EVERY)).await;
    }
    if told > 0 {
        super::terminal::rewrite_stderr(&" ".repeat(told));
        super::terminal::rewrite_stderr("");
    }
    settled
}

/// Shows what is being read on one line that is written over; returns its length.
fn tell(context: &Context, live: &Live, before: usize) -> usize {
    let reading: Vec<String> = live
        .view()
        .clusters()
        .filter_map(|cluster| match &cluster.link {
            Link::Listing { objects } => Some(format!("{} ({objects} objects)", cluster.name)),
            Link::Connecting => Some(format!("{} (connecting)", cluster.name)),
            Link::Idle
            | Link::Live { .. }
            | Link::Degraded { .. }
            | Link::AuthExpired { .. }
            | Link::Failed { .. }
            | Link::Recorded => None,
        })
        .collect();
    let line: String = context.terminal.safe(&format!("reading {}", reading.join(", "))).chars().take(78).collect();
    let length = line.chars().count();
    let blanks = " ".repeat(before.saturating_sub(length));
    super::terminal::rewrite_stderr(&format!("{line}{blanks}"));
    length
}

/// Where a delete is at stake, waits for the settling time and reads everything again: a verdict counts when it held
/// over two looks.
async fn second_look(context: &Context, live: &mut Live, settle: Duration) {
    if settle.is_zero() || !judged(live).iter().any(plans_a_delete) {
        return;
    }
    let until = Instant::now() + settle;
    while timeout_at(until, live.step()).await.is_ok() {}
    live.resync();
    wait(context, live).await;
}

pub fn judged(live: &Live) -> Vec<Judged> {
    explained(live.judgements(), live.domains(), live.view())
}

fn plans_a_delete(judged: &Judged) -> bool {
    judged.explanation.remedy.iter().any(|draft| draft.verb() == Verb::Delete)
}
