//! The task of one collection: list, watch, and list again when the watch can't go on.
//!
//! Always true:
//! - what was reported lost is whole again only after a new list;
//! - a list older than one already shown is refused, and no watch begins from it;
//! - a collection read namespace by namespace, for want of rights over all of them, is never called complete.
//!
//! ```text
//!            ┌────────────── wait ◄─────────────┐
//!            ▼                                  │ lost (refused, unreachable, silent)
//!   ──►    list ──► watch ──► watch ──► … ──────┤
//!            ▲                                  │ expired (410), a new kind of fact, an object that can't be read
//!            └──────────────────────────────────┘
//! ```
//!
//! Cancellation may strike at any wait: reports are whole before each.

use std::time::Duration;

use futures::future::select_all;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::ask::{Doing, Failure, Lack};
use super::collection_task::{CollectionTask, Wanted};
use super::list::{self, Early, Listed};
use super::request::Part;
use super::watch::{End, Position, watch as watch_once};
use trueup_core::decode::projection::{ProjectedFacts, Projection};
use trueup_core::world::{Delta, FactKind, Gap, GapCause, Namespace, ResourceVersion, Scope};

/// Connections in a row that may fail without a sign of life before what is held counts as lost. One dropped
/// connection is everyday; with the waits between, three take about two seconds.
const WATCH_FAILURES_MAX: u32 = 3;
/// The shortest time a server is asked to keep a watch open, and how much longer by chance, so that a fleet's watches
/// don't end together. The API server's own default is 30 to 60 minutes, which hides dead connections for too long.
const WATCH_SECONDS: u64 = 240;
const WATCH_SECONDS_SPREAD: u64 = 60;
/// A connection that ends sooner and without a sign counts as failed, so that no server makes this a busy loop.
const CONNECTION_SHORTEST: Duration = Duration::from_secs(1);

/// A connection that lived this long was a good one.
const CONNECTION_STABLE: Duration = Duration::from_secs(10);

/// Keeps one collection listed and watched.
pub(super) struct Watcher {
    pub task: CollectionTask,
    pub wanted: watch::Receiver<Wanted>,
    /// Where to look when looking everywhere is forbidden.
    pub fallback_namespaces: Vec<Namespace>,
}

/// A part of the collection that is watched by itself.
struct Spot {
    namespace: Option<Namespace>,
    position: Position,
}

/// Why a watch can't go on from where it is.
enum Ending {
    /// List again; nothing was lost so far.
    Relist,
    Lost(Lack),
}

/// What follows a watch.
enum Next {
    List,
    /// List because somebody asked for a new look or another fact: nothing failed, however soon it comes.
    ListAsWished,
    /// List after a wait.
    WaitAndList(Lack),
    Stop,
}

impl Watcher {
    /// Runs until nobody wants the collection any more.
    pub async fn run(mut self) {
        let mut failures = 0;
        let mut early = Early::FirstPage;
        loop {
            let Wanted { facts, looks, .. } = self.wanted.borrow_and_update().clone();
            let listed = self.list(&facts, early).await;
            early = Early::Nothing;
            let next = match listed {
                Ok(spots) => {
                    let began = Instant::now();
                    let next = self.follow(spots, facts, looks).await;
                    if began.elapsed() > CONNECTION_SHORTEST {
                        failures = 0;
                    }
                    next
                }
                Err(lack) => {
                    self.task.lose(&facts, &lack.gap);
                    Next::WaitAndList(lack)
                }
            };
            let lack = match next {
                Next::Stop => return,
                Next::ListAsWished => continue,
                Next::List if failures == 0 => {
                    failures = 1;
                    continue;
                }
                Next::List => Lack { gap: Gap::new(GapCause::CutShort, "watches end at once"), retry_after: None },
                Next::WaitAndList(lack) => lack,
            };
            failures += 1;
            if self.pause(failures, &lack).await.is_err() {
                return;
            }
        }
    }

    /// Waits before the next list, but no longer than until somebody wants something else.
    async fn pause(&mut self, failures: u32, lack: &Lack) -> Result<(), watch::error::RecvError> {
        let wait = self.task.wait(failures, lack);
        tokio::select! {
            () = sleep(wait) => Ok(()),
            changed = self.wanted.changed() => changed,
        }
    }

    async fn list(&self, facts: &[FactKind], early: Early) -> Result<Vec<Spot>, Lack> {
        let projection = self.task.projection(facts);
        match self.list_part(None, &projection, early).await {
            Ok(listed) => {
                let version = listed.version.clone();
                self.report_listed(listed);
                Ok(vec![self.spot(None, version)])
            }
            Err(lack) if self.may_narrow(&lack.gap) => self.list_narrowed(&projection, lack).await,
            Err(lost) => Err(lost),
        }
    }

    fn may_narrow(&self, gap: &Gap) -> bool {
        let everywhere = self.task.id.scope == Scope::All && self.task.id.resource.namespaced;
        everywhere && gap.cause == GapCause::Forbidden && !self.fallback_namespaces.is_empty()
    }

    /// Reads the namespaces the configuration names, one by one.
    async fn list_narrowed(&self, projection: &Projection, refused: Lack) -> Result<Vec<Spot>, Lack> {
        let mut gathered = projection.new_facts();
        let mut spots = Vec::new();
        let mut unread = Vec::new();
        for namespace in &self.fallback_namespaces {
            match self.list_part(Some(namespace), projection, Early::Nothing).await {
                Ok(listed) => {
                    gathered.append(listed.facts);
                    spots.push(self.spot(Some(namespace.clone()), listed.version));
                }
                Err(lack) if lack.gap.cause == GapCause::Forbidden => unread.push(namespace.as_str()),
                Err(lost) => return Err(lost),
            }
        }
        if spots.is_empty() {
            return Err(refused);
        }
        let read: Vec<&str> = spots.iter().filter_map(|spot| spot.namespace.as_ref().map(Namespace::as_str)).collect();
        let mut says = format!("{}; read only in {}", refused.gap, read.join(", "));
        if !unread.is_empty() {
            says.push_str(&format!(", forbidden too in {}", unread.join(", ")));
        }
        self.report_seen(gathered, &Gap::new(GapCause::Forbidden, says));
        Ok(spots)
    }

    async fn list_part(
        &self,
        namespace: Option<&Namespace>,
        projection: &Projection,
        early: Early,
    ) -> Result<Listed, Lack> {
        let task = &self.task;
        let part = task.part(namespace);
        let _turn_here = task.lists_at_once.acquire().await.expect("the semaphore is never closed");
        let _turn = task.ports.lists_at_once.acquire().await.expect("the semaphore is never closed");
        let listed = list::list(task, &part, projection, early).await?;
        if let Some(seen) = task.marks.newer_than(&task.id, &listed.version) {
            let offered = &listed.version;
            tracing::warn!(cluster = %task.id.cluster, what = part.describe(), %offered, %seen, "older list refused");
            let why = format!("the answer is of version {offered}, older than {seen} seen before");
            let failure = Failure::because(GapCause::CutShort, &part, Doing::Listing, &why);
            return Err(failure.into_lack(&part, Doing::Listing));
        }
        task.marks.raise(&task.id, &listed.version);
        Ok(listed)
    }

    fn report_listed(&self, listed: Listed) {
        let Listed { facts, version, at } = listed;
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

    fn spot(&self, namespace: Option<Namespace>, version: ResourceVersion) -> Spot {
        Spot { namespace, position: Position { version, last_sign: Instant::now(), failures: 0, spoilt: false } }
    }

    /// Watches every spot until one can't go on.
    async fn follow(&mut self, mut spots: Vec<Spot>, mut facts: Vec<FactKind>, looks: u64) -> Next {
        loop {
            let projection = self.task.projection(&facts);
            let task = &self.task;
            let follows = spots.iter_mut().map(|spot| Box::pin(follow_spot(task, &projection, spot)));
            let ending = tokio::select! {
                (ending, _, _) = select_all(follows) => ending,
                changed = self.wanted.changed() => {
                    if changed.is_err() {
                        return Next::Stop;
                    }
                    let wanted = self.wanted.borrow_and_update().clone();
                    if wanted.looks != looks || wanted.facts.iter().any(|fact| !facts.contains(fact)) {
                        return Next::ListAsWished;
                    }
                    facts = wanted.facts;
                    continue;
                }
            };
            return match ending {
                Ending::Relist => Next::List,
                Ending::Lost(lack) => {
                    self.task.lose(&facts, &lack.gap);
                    Next::WaitAndList(lack)
                }
            };
        }
    }
}

/// Watches one spot over as many connections as it takes.
async fn follow_spot(task: &CollectionTask, projection: &Projection, spot: &mut Spot) -> Ending {
    let Spot { namespace, position } = spot;
    let part = task.part(namespace.as_ref());
    loop {
        let spread = (task.ports.jitter.fraction() * WATCH_SECONDS_SPREAD as f64) as u64;
        let timeout = Duration::from_secs(WATCH_SECONDS + spread);
        let began = Instant::now();
        let end = watch_once(&task.asker, &part, projection, position, timeout, task).await;
        let silent = position.last_sign.elapsed() >= 2 * timeout;
        let failure = match end {
            End::Refused(Failure::Expired) | End::Broke(Failure::Expired) => return Ending::Relist,
            End::Silent => return Ending::Lost(silence(&part, 2 * timeout)),
            End::Clean | End::Refused(_) | End::Broke(_) if silent => {
                return Ending::Lost(silence(&part, 2 * timeout));
            }
            End::Clean if position.spoilt => return Ending::Relist,
            End::Clean if position.last_sign >= began || began.elapsed() >= CONNECTION_SHORTEST => continue,
            End::Clean => Failure::because(GapCause::Unreachable, &part, Doing::Watching, "the server ends it at once"),
            End::Broke(failure) => {
                // What lived for a while and is cut (a balancer's idle limit) resumes without a hole, however often.
                if began.elapsed() >= CONNECTION_STABLE {
                    position.failures = 0;
                }
                failure
            }
            End::Refused(failure) => failure,
        };
        let lack = failure.into_lack(&part, Doing::Watching);
        position.failures += 1;
        let refused = matches!(lack.gap.cause, GapCause::Forbidden | GapCause::Unauthorized | GapCause::Discovery);
        if refused || position.failures >= WATCH_FAILURES_MAX {
            return Ending::Lost(lack);
        }
        tracing::info!(cluster = %task.id.cluster, gap = %lack.gap, "watch broke, resumed");
        sleep(task.wait(position.failures, &lack)).await;
    }
}

fn silence(part: &Part<'_>, span: Duration) -> Lack {
    let why = format!("no event and no bookmark for {} s", span.as_secs());
    Failure::because(GapCause::Silent, part, Doing::Watching, &why).into_lack(part, Doing::Watching)
}
