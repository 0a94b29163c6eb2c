//! Observing a fleet: wait until every list has arrived, list again where deletes are proposed, report what is missing.
//!
//! Invariants: a cluster that is late or cannot be read is reported and unknown; it delays no other cluster's result.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::error::OperateError;
use crate::event::{Event, Notice};
use crate::fleet::Fleet;
use crate::session::Session;
use trueup_checks::judgements::remedied;
use trueup_core::engine::vault::check_possible;
use trueup_core::engine::{BackupCheck, Conditions, InputReading, Judged, OwnLogin, Verb};
use trueup_core::world::{ClockSkew, ClusterName, Gap, Link, View};
use trueup_fleet::connect::TlsTrust;
use trueup_fleet::live::{AskAfter, Command, Live, Settled};

/// How long lists may take: 100,000 objects of 7 kB take 28 s over 200 Mbit/s. What is missing then is unknown.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(60);
/// Progress is shown after this time, at these intervals.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// How completely a fleet was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    pub reading: InputReading,
    /// Clusters whose lists had not all arrived.
    pub late: Vec<ClusterName>,
}

/// The names a scope can be chosen from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownNames {
    pub checks: BTreeSet<String>,
    pub clusters: BTreeSet<String>,
    pub namespaces: BTreeSet<String>,
}

impl Fleet {
    /// Waits until everything has been listed once. Returns the clusters that are late.
    ///
    /// # Errors
    /// The loop has ended.
    pub async fn wait_listed(&self) -> Result<Vec<ClusterName>, OperateError> {
        self.wait_with_progress(AskAfter::Settled).await
    }

    /// Lists everything again. Returns the clusters that are late.
    ///
    /// # Errors
    /// The loop has ended.
    pub async fn resync(&self) -> Result<Vec<ClusterName>, OperateError> {
        Ok(late(self.wait(AskAfter::Resync, LIST_TIMEOUT).await?))
    }

    /// Waits for the lists; where a delete is proposed, waits for `settle` and lists everything again, as a verdict must
    /// hold over two observations. Reports what could not be read.
    ///
    /// # Errors
    /// The loop has ended.
    pub async fn observe(&self, settle: Duration) -> Result<Observed, OperateError> {
        if let Some(recording) = self.recording() {
            return Ok(Observed { reading: recording.reading, late: Vec::new() });
        }
        let mut late = self.wait_listed().await?;
        if !settle.is_zero() && self.ask(|live| with_remedy(live).iter().any(proposes_delete)).await? {
            // What changes meanwhile starts the wait of its verdict again.
            self.send(Command::StartWatches).await;
            tokio::time::sleep(settle).await;
            late = self.wait_with_progress(AskAfter::Resync).await?;
        }
        let waiting = late.clone();
        let notices = self.ask(move |live| notices(live, &waiting)).await?;
        let reading = if notices.is_empty() { InputReading::Whole } else { InputReading::Gaps };
        notices.into_iter().for_each(|notice| self.session().events.notice(notice));
        let clocks = self.ask(excessive_skews).await?;
        if !clocks.is_empty() {
            self.session().events.notice(Notice::Clocks(clocks));
        }
        Ok(Observed { reading, late })
    }

    async fn wait_with_progress(&self, after: AskAfter) -> Result<Vec<ClusterName>, OperateError> {
        let deadline = Instant::now() + LIST_TIMEOUT;
        let mut settled = self.wait(after, PROGRESS_AFTER).await?;
        let mut reported = false;
        while settled != Settled::Yes {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.session().events.send(Event::Reading(self.peek(being_read).await?));
            reported = true;
            settled = self.wait(AskAfter::Settled, left.min(PROGRESS_EVERY)).await?;
        }
        if reported {
            self.session().events.send(Event::Reading(Vec::new()));
        }
        Ok(late(settled))
    }

    /// The names of checks, clusters and namespaces.
    ///
    /// # Errors
    /// The loop has ended.
    pub async fn known_names(&self) -> Result<KnownNames, OperateError> {
        let mut names = self.ask(known_names).await?;
        names
            .namespaces
            .extend(self.recording().into_iter().flat_map(|recording| recording.namespaces.iter().cloned()));
        Ok(names)
    }
}

fn late(settled: Settled) -> Vec<ClusterName> {
    match settled {
        Settled::Yes => Vec::new(),
        Settled::TimedOut { waiting } => waiting,
    }
}

fn known_names(live: &Live) -> KnownNames {
    let namespace = |subject: &trueup_core::engine::SubjectId| subject.home_namespace().map(str::to_owned);
    KnownNames {
        checks: live.domains().iter().map(|check| check.name().0.to_owned()).collect(),
        clusters: live.view().clusters().map(|cluster| cluster.name.to_string()).collect(),
        namespaces: live.judgements().iter().filter_map(|(subject, _)| namespace(subject)).collect(),
    }
}

/// The clusters that are being listed, with the objects so far.
fn being_read(live: &Live) -> Vec<(ClusterName, Option<u64>)> {
    let reading = |link: &Link| match link {
        Link::Listing { objects } => Some(Some(*objects)),
        Link::Connecting => Some(None),
        Link::Idle
        | Link::Live { .. }
        | Link::Degraded { .. }
        | Link::AuthExpired { .. }
        | Link::Failed { .. }
        | Link::Recorded => None,
    };
    let clusters = live.view().clusters();
    clusters.filter_map(|cluster| Some((cluster.name.clone(), reading(&cluster.link)?))).collect()
}

/// What could not be read.
fn notices(live: &Live, late: &[ClusterName]) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !late.is_empty() {
        notices.push(Notice::Late { clusters: late.to_vec(), seconds: LIST_TIMEOUT.as_secs() });
    }
    for cluster in live.view().clusters() {
        let name = &cluster.name;
        let notice = |why: String| Notice::Cluster { cluster: name.clone(), why };
        match link_error(&cluster.link) {
            Some(why) => notices.push(notice(why)),
            None => notices.extend(unread(live.view(), name).into_iter().map(|gap| notice(gap.to_string()))),
        }
    }
    notices
}

/// The clusters whose clock differs too much from the local one.
fn excessive_skews(live: &Live) -> Vec<(ClusterName, ClockSkew)> {
    let names = live.view().clusters().map(|cluster| &cluster.name);
    let skews = names.filter_map(|name| Some((name.clone(), live.clock(name)?)));
    skews.filter(|(_, skew)| skew.is_excessive()).collect()
}

/// What the clusters add to the gates, except permissions, which have to be asked for, and how long verdicts have held.
pub(crate) fn conditions(live: &Live) -> Conditions {
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
        conditions.clocks.extend(live.clock(&cluster.name).map(|skew| (cluster.name.clone(), skew)));
    }
    conditions
}

/// Whether objects could be sealed before a delete.
pub(crate) fn backup_check(session: &Session) -> BackupCheck {
    let checked = match &session.state {
        Some(path) => check_possible(path, &session.settings.safety.recipients),
        None => Err(OperateError::NoStateFolder.to_string()),
    };
    checked.map_or_else(|why| BackupCheck::Impossible { why }, |()| BackupCheck::Possible)
}

/// Why a cluster cannot be read.
pub fn link_error(link: &Link) -> Option<String> {
    match link {
        Link::Idle | Link::Connecting | Link::Listing { .. } | Link::Live { .. } | Link::Recorded => None,
        Link::Degraded { gap, retry_at: _ } | Link::Failed { gap } => Some(gap.message.to_string()),
        Link::AuthExpired { gap, hint } => Some(format!("{}; {hint}", gap.message)),
    }
}

/// The collections of a connected cluster that could not be read. Where nothing could be read there may be no finding to
/// say so, and "all match" would be wrong.
pub fn unread<'v>(view: View<'v>, cluster: &ClusterName) -> Vec<&'v Gap> {
    let here = view.observations_of(cluster).into_iter();
    let mut gaps: Vec<&Gap> = here.filter_map(|(_, known, _)| known.gap()).filter(|gap| gap.cause.is_loss()).collect();
    gaps.sort_by_key(|gap| &gap.message);
    gaps.dedup();
    gaps
}

/// Every subject with a remedy, judged and explained.
pub fn with_remedy(live: &Live) -> Vec<Judged> {
    remedied(live.judgements(), live.domains(), live.view(), |_| false).judged
}

fn proposes_delete(judged: &Judged) -> bool {
    judged.explanation.remedy.iter().any(|draft| draft.verb() == Verb::Delete)
}
