//! The task of one collection: list, watch, and list again when the watch cannot continue.
//!
//! Invariants:
//! - a collection reported as lost is complete again only after a new list;
//! - a list older than one already reported is rejected, and no watch starts from it;
//! - a collection read namespace by namespace, for lack of rights, is never complete.
//!
//! ```text
//!            ┌────────────── wait ◄─────────────┐
//!            ▼                                  │ lost (refused, unreachable, silent)
//!   ──►    list ──► watch ──► watch ──► … ──────┤
//!            ▲                                  │ expired (410), a new kind of fact, an undecodable object
//!            └──────────────────────────────────┘
//! ```
//!
//! Cancel-safe at every wait: reports are complete before each.

use std::time::Duration;

use futures::future::select_all;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::api_client::{FailedRead, Failure, Operation};
use super::collection_task::{CollectionRequest, CollectionTask};
use super::list::{self, Early, Listed};
use super::request::Part;
use super::watch::{End, Position, watch as watch_once};
use crate::budgets::{Budget, Charge};
use trueup_core::decode::projection::{ProjectedFacts, Projection};
use trueup_core::world::{Delta, FactKind, Gap, GapCause, Namespace, ResourceVersion, Scope};

/// Failed connections in a row before the collection is reported lost. A single dropped connection is common; with the
/// backoff between, three take about two seconds.
const WATCH_FAILURES_MAX: u32 = 3;
/// Shortest requested watch timeout, and the largest jitter added to it, so that the watches of a fleet do not end
/// together. The API server's default is 30 to 60 minutes, which hides dead connections for too long.
const WATCH_SECONDS: u64 = 240;
const WATCH_SECONDS_SPREAD: u64 = 60;
/// A connection that ends sooner and without an event counts as failed, so that no server causes a busy loop.
const CONNECTION_SHORTEST: Duration = Duration::from_secs(1);

/// A connection that lasted this long resets the failure count.
const CONNECTION_STABLE: Duration = Duration::from_secs(10);

/// Keeps one collection listed and watched.
pub(super) struct Watcher {
    pub task: CollectionTask,
    pub requested: watch::Receiver<CollectionRequest>,
    /// Namespaces to list when a cluster-wide list is forbidden.
    pub fallback_namespaces: Vec<Namespace>,
}

/// A part of the collection with its own watch.
struct WatchPart {
    namespace: Option<Namespace>,
    position: Position,
}

/// Why a watch cannot continue.
enum Ending {
    /// List again; nothing was lost.
    Relist,
    Lost(FailedRead),
}

/// What follows a watch.
enum Next {
    List,
    /// List because of a resync or a new kind of fact: not a failure, however soon it happens.
    ListAsWished,
    /// List after a backoff.
    WaitAndList(FailedRead),
    Stop,
}

impl Watcher {
    /// Runs until the collection is no longer needed.
    pub async fn run(mut self) {
        let mut failures = 0;
        let mut early = Early::FirstPage;
        loop {
            let CollectionRequest { facts, resyncs, .. } = self.requested.borrow_and_update().clone();
            // Boxed, as what reads is in every task: a task that waits keeps no space for it.
            let listed = Box::pin(self.list(&facts, early)).await;
            early = Early::Nothing;
            let next = match listed {
                Ok(parts) => {
                    let began = Instant::now();
                    let next = match self.wait_for_gate(facts, resyncs).await {
                        Ok(facts) => Box::pin(self.follow(parts, facts, resyncs)).await,
                        Err(next) => next,
                    };
                    if began.elapsed() > CONNECTION_SHORTEST {
                        failures = 0;
                    }
                    next
                }
                Err(failed) => {
                    self.task.lose(&facts, &failed.gap);
                    Next::WaitAndList(failed)
                }
            };
            let failed = match next {
                Next::Stop => return,
                Next::ListAsWished => continue,
                Next::List if failures == 0 => {
                    failures = 1;
                    continue;
                }
                Next::List => {
                    FailedRead { gap: Gap::new(GapCause::CutShort, "watches end immediately"), retry_after: None }
                }
                Next::WaitAndList(failed) => failed,
            };
            failures += 1;
            if self.pause(failures, &failed).await.is_err() {
                return;
            }
        }
    }

    /// Waits before the next list, or until the request changes.
    async fn pause(&mut self, failures: u32, failed: &FailedRead) -> Result<(), watch::error::RecvError> {
        let wait = self.task.wait(failures, failed);
        tokio::select! {
            () = sleep(wait) => Ok(()),
            changed = self.requested.changed() => changed,
        }
    }

    async fn list(&self, facts: &[FactKind], early: Early) -> Result<Vec<WatchPart>, FailedRead> {
        let projection = self.task.projection(facts);
        match self.list_part(None, &projection, early).await {
            Ok(listed) => {
                let version = listed.version.clone();
                self.report_listed(listed);
                Ok(vec![self.watch_part(None, version)])
            }
            Err(failed) if self.may_narrow(&failed.gap) => self.list_narrowed(&projection, failed).await,
            Err(lost) => Err(lost),
        }
    }

    fn may_narrow(&self, gap: &Gap) -> bool {
        let everywhere = self.task.id.scope == Scope::All && self.task.id.resource.namespaced;
        everywhere && gap.cause == GapCause::Forbidden && !self.fallback_namespaces.is_empty()
    }

    /// Lists the configured namespaces one by one.
    async fn list_narrowed(&self, projection: &Projection, refused: FailedRead) -> Result<Vec<WatchPart>, FailedRead> {
        let mut gathered = projection.new_facts();
        let mut charges: Vec<Charge> = Vec::new();
        let mut parts = Vec::new();
        let mut unread = Vec::new();
        for namespace in &self.fallback_namespaces {
            match self.list_part(Some(namespace), projection, Early::Nothing).await {
                Ok(listed) => {
                    gathered.append(listed.facts);
                    charges.push(listed.charge);
                    parts.push(self.watch_part(Some(namespace.clone()), listed.version));
                }
                Err(failed) if failed.gap.cause == GapCause::Forbidden => unread.push(namespace.as_str()),
                Err(lost) => return Err(lost),
            }
        }
        if parts.is_empty() {
            return Err(refused);
        }
        let read: Vec<&str> =
            parts.iter().filter_map(|watch_part| watch_part.namespace.as_ref().map(Namespace::as_str)).collect();
        let mut message = format!("{}; read only in {}", refused.gap, read.join(", "));
        if !unread.is_empty() {
            message.push_str(&format!(", forbidden too in {}", unread.join(", ")));
        }
        drop(charges);
        self.report_seen(gathered, &Gap::new(GapCause::Forbidden, message));
        Ok(parts)
    }

    async fn list_part(
        &self,
        namespace: Option<&Namespace>,
        projection: &Projection,
        early: Early,
    ) -> Result<Listed, FailedRead> {
        let task = &self.task;
        let part = task.part(namespace);
        let listed = self.list_in_time(&part, projection, early).await?;
        if let Some(seen) = task.marks.newer_than(&task.id, &listed.version) {
            let offered = &listed.version;
            tracing::warn!(cluster = %task.id.cluster, what = part.describe(), %offered, %seen, "rejected stale list");
            let why = format!("stale list: version {offered} is older than {seen}");
            let failure = Failure::because(GapCause::CutShort, &part, Operation::Listing, &why);
            return Err(failure.into_failed_read(&part, Operation::Listing));
        }
        task.marks.raise(&task.id, &listed.version);
        Ok(listed)
    }

    /// Lists when it is this collection's turn, within the time of the collection and of its cluster.
    async fn list_in_time(&self, part: &Part<'_>, projection: &Projection, early: Early) -> Result<Listed, FailedRead> {
        let task = &self.task;
        let budgets = task.ports.ledger.budgets();
        let running = task.episodes.join(budgets.time_per_cluster);
        let late = |budget| {
            let failure = Failure::over_budget(part, Operation::Listing, &budgets.over(budget));
            failure.into_failed_read(part, Operation::Listing)
        };
        let in_turn = async {
            let _turn_here = task.lists_at_once.acquire().await.expect("the semaphore is never closed");
            let _turn = task.ports.lists_at_once.acquire().await.expect("the semaphore is never closed");
            let deadline = Instant::now() + budgets.time_per_collection;
            let listed = timeout_at(deadline, list::list(task, part, projection, early)).await;
            listed.unwrap_or_else(|_| Err(late(Budget::TimePerCollection)))
        };
        timeout_at(running.deadline, in_turn).await.unwrap_or_else(|_| Err(late(Budget::TimePerCluster)))
    }

    fn report_listed(&self, listed: Listed) {
        let Listed { facts, version, at, charge } = listed;
        // From here on the queue counts them.
        drop(charge);
        let what = self.task.part(None).describe();
        for row in facts.rows {
            let gap = row.spoilt.map(|spoilt| spoilt.gap(&what));
            let delta = Delta::Listed { facts: row.facts, version: version.clone(), at, gap };
            self.task.put(row.kind, delta);
        }
    }

    fn report_seen(&self, gathered: ProjectedFacts, gap: &Gap) {
        for row in gathered.rows {
            self.task.put(row.kind, Delta::Seen { facts: row.facts, gap: gap.clone() });
        }
    }

    fn watch_part(&self, namespace: Option<Namespace>, version: ResourceVersion) -> WatchPart {
        WatchPart { namespace, position: Position::new(version) }
    }

    /// Waits until what was listed is to be watched. Returns the facts that are requested then, or what comes instead.
    async fn wait_for_gate(&mut self, mut facts: Vec<FactKind>, resyncs: u64) -> Result<Vec<FactKind>, Next> {
        let connection = self.task.connection.clone();
        loop {
            tokio::select! {
                () = connection.watches.opened() => return Ok(facts),
                changed = self.requested.changed() => facts = self.take_request(changed, &facts, resyncs)?,
            }
        }
    }

    /// Takes a changed request. Returns its facts, unless they need another list.
    fn take_request(
        &mut self,
        changed: Result<(), watch::error::RecvError>,
        facts: &[FactKind],
        resyncs: u64,
    ) -> Result<Vec<FactKind>, Next> {
        if changed.is_err() {
            return Err(Next::Stop);
        }
        let requested = self.requested.borrow_and_update().clone();
        if requested.resyncs != resyncs || requested.facts.iter().any(|fact| !facts.contains(fact)) {
            return Err(Next::ListAsWished);
        }
        Ok(requested.facts)
    }

    /// Watches every part until one cannot continue.
    async fn follow(&mut self, mut parts: Vec<WatchPart>, mut facts: Vec<FactKind>, resyncs: u64) -> Next {
        loop {
            let projection = self.task.projection(&facts);
            let task = &self.task;
            let follows = parts.iter_mut().map(|watch_part| Box::pin(follow_part(task, &projection, watch_part)));
            let changed = tokio::select! {
                (ending, _, _) = select_all(follows) => return match ending {
                    Ending::Relist => Next::List,
                    Ending::Lost(failed) => {
                        self.task.lose(&facts, &failed.gap);
                        Next::WaitAndList(failed)
                    }
                },
                changed = self.requested.changed() => changed,
            };
            facts = match self.take_request(changed, &facts, resyncs) {
                Ok(facts) => facts,
                Err(next) => return next,
            };
        }
    }
}

/// Watches one part over as many connections as needed.
async fn follow_part(task: &CollectionTask, projection: &Projection, watch_part: &mut WatchPart) -> Ending {
    let WatchPart { namespace, position } = watch_part;
    let part = task.part(namespace.as_ref());
    loop {
        let spread = (task.ports.jitter.fraction() * WATCH_SECONDS_SPREAD as f64) as u64;
        let timeout = Duration::from_secs(WATCH_SECONDS + spread);
        let began = Instant::now();
        let end = Box::pin(watch_once(&task.api, &part, projection, position, timeout, task)).await;
        let silent = position.last_sign.elapsed() >= 2 * timeout;
        let failure = match end {
            End::Refused(Failure::Expired) | End::Broke(Failure::Expired) => return Ending::Relist,
            End::Silent => return Ending::Lost(silence(&part, 2 * timeout)),
            End::Clean | End::Refused(_) | End::Broke(_) if silent => {
                return Ending::Lost(silence(&part, 2 * timeout));
            }
            End::Clean if position.spoilt => return Ending::Relist,
            End::Clean if position.last_sign >= began || began.elapsed() >= CONNECTION_SHORTEST => continue,
            End::Clean => Failure::because(
                GapCause::Unreachable,
                &part,
                Operation::Watching,
                "the server closes the watch immediately",
            ),
            End::Broke(failure) => {
                // A connection that lasted for a while and is cut (a load balancer's idle timeout) resumes without a gap.
                if began.elapsed() >= CONNECTION_STABLE {
                    position.failures = 0;
                }
                failure
            }
            End::Refused(failure) => failure,
        };
        let failed = failure.into_failed_read(&part, Operation::Watching);
        position.failures += 1;
        let refused = matches!(
            failed.gap.cause,
            GapCause::Forbidden | GapCause::Unauthorized | GapCause::Discovery | GapCause::OverBudget
        );
        if refused || position.failures >= WATCH_FAILURES_MAX {
            return Ending::Lost(failed);
        }
        tracing::info!(cluster = %task.id.cluster, gap = %failed.gap, "resumed watch");
        sleep(task.wait(position.failures, &failed)).await;
    }
}

fn silence(part: &Part<'_>, span: Duration) -> FailedRead {
    let why = format!("no event and no bookmark for {} s", span.as_secs());
    Failure::because(GapCause::Silent, part, Operation::Watching, &why).into_failed_read(part, Operation::Watching)
}
