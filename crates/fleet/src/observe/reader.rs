//! The task of one object that is read by name.
//!
//! Always true: a read proves presence and never absence; a lone 404 leaves the object unknown.
//!
//! When an interest names a version (a metadata watch shows it), the object is read again for each newer one. An
//! interest that names none gets a read a minute.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use super::ask::{Doing, Failure, Lack};
use super::collection_task::{CollectionTask, Wanted};
use crate::connect::classify;
use trueup_core::world::{Delta, FactKind, Gap, GapCause, Interner, ResourceVersion};

/// How long a read holds when nothing tells of newer versions.
const READ_HOLDS: Duration = Duration::from_secs(60);

/// Keeps one object read.
pub(super) struct ObjectReader {
    pub task: CollectionTask,
    pub wanted: watch::Receiver<Wanted>,
}

/// What a read found.
enum Found {
    Object(ResourceVersion),
    Nothing,
}

impl ObjectReader {
    /// Runs until nobody wants the object any more.
    pub async fn run(mut self) {
        let mut failures = 0;
        loop {
            let wanted = self.wanted.borrow_and_update().clone();
            let wait = match self.read(&wanted.facts).await {
                Ok(found) if found.satisfies(&wanted) => {
                    failures = 0;
                    wanted.read_at_least.is_none().then(|| spread(READ_HOLDS, self.task.ports.jitter.fraction()))
                }
                // A watch has shown a version that this read did not: the answer came from a replica that lags.
                Ok(_) => {
                    failures += 1;
                    Some(self.task.wait(failures, &lagging()))
                }
                Err(lack) => {
                    failures += 1;
                    self.task.lose(&wanted.facts, &lack.gap);
                    Some(self.task.wait(failures, &lack))
                }
            };
            if self.pause(wait).await.is_err() {
                return;
            }
        }
    }

    /// Waits for the next read: this long, or until somebody wants another version or fact.
    async fn pause(&mut self, wait: Option<Duration>) -> Result<(), watch::error::RecvError> {
        let Some(wait) = wait else {
            return self.wanted.changed().await;
        };
        tokio::select! {
            () = sleep(wait) => Ok(()),
            changed = self.wanted.changed() => changed,
        }
    }

    async fn read(&self, facts: &[FactKind]) -> Result<Found, Lack> {
        let task = &self.task;
        let part = task.part(None);
        let projection = task.projection(facts);
        let at = task.ports.clock.now();
        let body = match task.asker.read(&part, Doing::Reading, &part.get(), part.accept_object()).await {
            Ok(body) => body,
            Err(Failure::NotFound(_)) => {
                let says =
                    format!("{} was not found at {at}; one answer alone does not prove it absent", part.describe());
                self.report(projection.new_facts().rows, &Gap::new(GapCause::NotObserved, says));
                return Ok(Found::Nothing);
            }
            Err(failure) => return Err(failure.into_lack(&part, Doing::Reading)),
        };
        let text = std::str::from_utf8(&body).unwrap_or_default();
        let raw = projection
            .reader()
            .object(text)
            .map_err(|_| Lack { gap: classify::undecodable(&body, &Doing::Reading.what(&part)), retry_after: None })?;
        let mut facts = projection.new_facts();
        facts.push(&raw, &mut Interner::default());
        let version = ResourceVersion::parse(&raw.meta.resource_version);
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
    fn satisfies(&self, wanted: &Wanted) -> bool {
        match (self, &wanted.read_at_least) {
            (_, None) => true,
            (Self::Object(read), Some(least)) => !read.is_older_than(least),
            (Self::Nothing, Some(_)) => false,
        }
    }
}

fn lagging() -> Lack {
    let gap = Gap::new(GapCause::CutShort, "the object was read in an older version than was seen");
    Lack { gap, retry_after: None }
}

fn spread(span: Duration, fraction: f64) -> Duration {
    span.mul_f64(0.9 + 0.2 * fraction)
}
