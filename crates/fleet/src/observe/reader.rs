//! The task of one object read by name.
//!
//! Invariants: a read proves presence and never absence; a single 404 leaves the object unknown.
//!
//! When an interest has a version (from a metadata watch), the object is read again for each newer one; otherwise once a
//! minute.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use super::api_client::{FailedRead, Failure, Operation};
use super::collection_task::{CollectionRequest, CollectionTask};
use crate::connect::classify;
use trueup_core::world::{Delta, FactKind, Gap, GapCause, Interner, ResourceVersion};

/// How long a read is valid without a newer version.
const READ_HOLDS: Duration = Duration::from_secs(60);

/// Keeps one object up to date by reading it.
pub(super) struct ObjectReader {
    pub task: CollectionTask,
    pub requested: watch::Receiver<CollectionRequest>,
}

/// Result of a read.
enum Found {
    Object(ResourceVersion),
    Nothing,
}

impl ObjectReader {
    /// Runs until the object is no longer needed.
    pub async fn run(mut self) {
        let mut failures = 0;
        loop {
            let requested = self.requested.borrow_and_update().clone();
            // Boxed, as what reads is in every task: a task that waits keeps no space for it.
            let wait = match Box::pin(self.read(&requested.facts)).await {
                Ok(found) if found.satisfies(&requested) => {
                    failures = 0;
                    requested.read_at_least.is_none().then(|| spread(READ_HOLDS, self.task.ports.jitter.fraction()))
                }
                // A watch has shown a newer version than this read: the response came from a lagging replica.
                Ok(_) => {
                    failures += 1;
                    Some(self.task.wait(failures, &lagging()))
                }
                Err(failed) => {
                    failures += 1;
                    self.task.lose(&requested.facts, &failed.gap);
                    Some(self.task.wait(failures, &failed))
                }
            };
            if self.pause(wait).await.is_err() {
                return;
            }
        }
    }

    /// Waits for the next read: this long, or until the request changes.
    async fn pause(&mut self, wait: Option<Duration>) -> Result<(), watch::error::RecvError> {
        let Some(wait) = wait else {
            return self.requested.changed().await;
        };
        tokio::select! {
            () = sleep(wait) => Ok(()),
            changed = self.requested.changed() => changed,
        }
    }

    async fn read(&self, facts: &[FactKind]) -> Result<Found, FailedRead> {
        let task = &self.task;
        let part = task.part(None);
        let projection = task.projection(facts);
        let at = task.ports.clock.now();
        let body = match task.api.read(&part, Operation::Reading, &part.get(), part.accept_object()).await {
            Ok(body) => body,
            Err(Failure::NotFound(_)) => {
                let message =
                    format!("{}: not found at {at}; one 404 does not prove that it is absent", part.describe());
                self.report(projection.new_facts().rows, &Gap::new(GapCause::NotObserved, message));
                return Ok(Found::Nothing);
            }
            Err(failure) => return Err(failure.into_failed_read(&part, Operation::Reading)),
        };
        let text = std::str::from_utf8(&body).unwrap_or_default();
        let raw = projection.reader().object(text).map_err(|_| FailedRead {
            gap: classify::undecodable(&body, &Operation::Reading.what(&part)),
            retry_after: None,
        })?;
        if !part.is_kind(&raw.kind) {
            let failure = Failure::unreadable(&part, Operation::Reading, "the server sent an object of another kind");
            return Err(failure.into_failed_read(&part, Operation::Reading));
        }
        let mut facts = projection.new_facts();
        facts.push(&raw, &mut Interner::default());
        let version = ResourceVersion::parse(&raw.meta.resource_version);
        let mut charge = task.charge();
        charge.set(facts.bytes());
        task.within_budget()
            .map_err(|over| Failure::over_budget(&part, Operation::Reading, &over))
            .map_err(|failure| failure.into_failed_read(&part, Operation::Reading))?;
        drop(charge);
        for row in facts.rows {
            let gap = row.spoilt.map(|spoilt| spoilt.gap(&part.describe()));
            self.task.put(row.kind, Delta::Listed { facts: row.facts, version: version.clone(), at, gap });
        }
        Ok(Found::Object(version))
    }

    fn report(&self, rows: Vec<trueup_core::decode::projection::Row>, gap: &Gap) {
        let what = self.task.part(None).describe();
        for row in rows {
            let gap = row.spoilt.map_or_else(|| gap.clone(), |spoilt| spoilt.gap(&what));
            self.task.put(row.kind, Delta::Seen { facts: row.facts, gap });
        }
    }
}

impl Found {
    fn satisfies(&self, requested: &CollectionRequest) -> bool {
        match (self, &requested.read_at_least) {
            (_, None) => true,
            (Self::Object(read), Some(least)) => !read.is_older_than(least),
            (Self::Nothing, Some(_)) => false,
        }
    }
}

fn lagging() -> FailedRead {
    let gap = Gap::new(GapCause::CutShort, "the object was read in an older version than already seen");
    FailedRead { gap, retry_after: None }
}

fn spread(span: Duration, fraction: f64) -> Duration {
    span.mul_f64(0.9 + 0.2 * fraction)
}
