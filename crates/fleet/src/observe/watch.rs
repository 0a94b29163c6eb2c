//! One watch connection, from a version until it ends.
//!
//! Invariants:
//! - a version is reported only together with everything up to it, so a broken connection resumes without a gap;
//! - several changes of one object in one chunk keep their order;
//! - more events than the budget, or more than the cluster's memory, end the watch; what came before was reported.
//!
//! Cancel-safe while waiting for the next chunk; earlier chunks have been reported by then.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::api_client::{self, ApiClient, Failure, Operation, Stream};
use super::event::{self, Event};
use super::lines::{Lines, TooLong};
use super::request::Part;
use crate::budgets::{Budget, Budgets};
use trueup_core::decode::projection::{ProjectedFacts, Projection, Spoilt};
use trueup_core::world::{FactKind, GapCause, Interner, Key, ResourceVersion};

/// How much longer than announced a server may keep a watch open before the connection counts as dead.
const TIMEOUT_GRACE: Duration = Duration::from_secs(30);

/// Receiver of a watch's reports.
pub(super) trait Sink {
    /// # Errors
    /// The changes were passed on, and the cluster may not take more memory.
    fn changed(
        &self,
        changes: ProjectedFacts,
        removed: Vec<Key>,
        version: &ResourceVersion,
        at: Timestamp,
    ) -> Result<(), Failure>;
    fn confirmed(&self, facts: &[FactKind], version: &ResourceVersion, at: Timestamp);
    fn spoilt(&self, fact: FactKind, spoilt: &Spoilt);
    fn now(&self) -> Timestamp;
    fn budgets(&self) -> Budgets;
}

/// Progress of a watch.
#[derive(Debug, Clone)]
pub(super) struct Position {
    pub version: ResourceVersion,
    /// Time of the last event or bookmark (or the list).
    pub last_sign: Instant,
    /// Connections in a row that ended without an event.
    pub failures: u32,
    /// Whether an object could not be decoded since the list.
    pub spoilt: bool,
    pub rate: EventRate,
}

/// Events of the running second, over all connections of a watch.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventRate {
    since: Instant,
    events: u64,
}

impl EventRate {
    pub fn new(now: Instant) -> Self {
        Self { since: now, events: 0 }
    }

    /// Counts one event and returns how many this second has had.
    fn count(&mut self, now: Instant) -> u64 {
        if now.duration_since(self.since) >= Duration::from_secs(1) {
            *self = Self::new(now);
        }
        self.events += 1;
        self.events
    }
}

impl Position {
    pub fn new(version: ResourceVersion) -> Self {
        let now = Instant::now();
        Self { version, last_sign: now, failures: 0, spoilt: false, rate: EventRate::new(now) }
    }
}

/// Why a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As announced.
    Clean,
    /// No event and no bookmark for too long.
    Silent,
    /// It never opened.
    Refused(Failure),
    /// It opened, and broke.
    Broke(Failure),
}

/// Watches until the connection ends.
pub(super) async fn watch(
    api: &ApiClient,
    part: &Part<'_>,
    projection: &Projection,
    position: &mut Position,
    timeout: Duration,
    sink: &(dyn Sink + Sync),
) -> End {
    let began = Instant::now();
    let uri = part.watch(&position.version, timeout.as_secs());
    let mut stream = match api.open(part, Operation::Watching, &uri, part.accept_object()).await {
        Ok(stream) => stream,
        Err(failure) => return End::Refused(failure),
    };
    let mut pool = Interner::default();
    let mut lines = Lines::default();
    loop {
        let silent_at = position.last_sign + 2 * timeout;
        let piece = match next_piece(&mut stream, part, silent_at, began + timeout + TIMEOUT_GRACE).await {
            Ok(Some(piece)) => piece,
            Ok(None) => return End::Clean,
            Err(end) => return end,
        };
        let mut intake = Intake::new(part, projection, &mut pool, sink, position.version.clone());
        let now = Instant::now();
        let fed = lines.feed(&piece, |line| {
            intake.count(&mut position.rate, now)?;
            intake.line(line)
        });
        let fed = fed.and(intake.report(position));
        api_client::wipe(piece);
        if let Err(Broken(failure)) = fed {
            return End::Broke(
                failure.unwrap_or_else(|| Failure::unreadable(part, Operation::Watching, "an event is too long")),
            );
        }
    }
}

async fn next_piece(
    stream: &mut Stream,
    part: &Part<'_>,
    silent_at: Instant,
    dead_at: Instant,
) -> Result<Option<bytes::Bytes>, End> {
    match timeout_at(silent_at.min(dead_at), stream.next()).await {
        Ok(Ok(piece)) => Ok(piece),
        Ok(Err(error)) => Err(End::Broke(Failure::transport(part, Operation::Watching, &error))),
        Err(_) if silent_at <= dead_at => Err(End::Silent),
        Err(_) => {
            let why = "the server did not close the watch at its timeout";
            Err(End::Broke(Failure::because(GapCause::Unreachable, part, Operation::Watching, why)))
        }
    }
}

/// The stream is unusable; none inside means that a line was too long.
struct Broken(Option<Failure>);

impl From<TooLong> for Broken {
    fn from(_: TooLong) -> Self {
        Self(None)
    }
}

/// The changes of one chunk, until they are reported.
struct Intake<'i> {
    part: &'i Part<'i>,
    projection: &'i Projection,
    pool: &'i mut Interner,
    sink: &'i (dyn Sink + Sync),
    changes: ProjectedFacts,
    removed: Vec<Key>,
    touched: HashSet<Key>,
    /// The version of the last event: a server that goes back would show objects as they were.
    newest: ResourceVersion,
    /// The newest version not yet reported.
    version: Option<ResourceVersion>,
    spoilt: bool,
}

impl<'i> Intake<'i> {
    fn new(
        part: &'i Part<'i>,
        projection: &'i Projection,
        pool: &'i mut Interner,
        sink: &'i (dyn Sink + Sync),
        newest: ResourceVersion,
    ) -> Self {
        let (changes, removed, touched) = (projection.new_facts(), Vec::new(), HashSet::new());
        Self { part, projection, pool, sink, changes, removed, touched, newest, version: None, spoilt: false }
    }

    fn count(&self, rate: &mut EventRate, now: Instant) -> Result<(), Broken> {
        let budgets = self.sink.budgets();
        if rate.count(now) <= budgets.events_per_second {
            return Ok(());
        }
        let over = budgets.over(Budget::EventsPerSecond);
        Err(Broken(Some(Failure::over_budget(self.part, Operation::Watching, &over))))
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Broken> {
        let event = event::read(line).map_err(|error| self.broken(&error.to_string()))?;
        let (text, removed) = match event {
            Event::Put(text) => (text, false),
            Event::Removed(text) => (text, true),
            Event::Bookmark(text) => {
                let raw = self.projection.reader().object(text).map_err(|error| self.broken(&error.to_string()))?;
                return self.reached(&raw.meta.resource_version);
            }
            Event::Failed { code: 410 } => return Err(Broken(Some(Failure::Expired))),
            Event::Failed { code } => {
                let status = http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
                return Err(Broken(Some(api_client::refusal(self.part, Operation::Watching, status, None, None))));
            }
        };
        let raw = match self.projection.reader().object(text) {
            Ok(raw) => raw,
            Err(error) => {
                self.changes.spoil(&error.to_string());
                return Ok(());
            }
        };
        // A deleted object may have the version of its last change.
        if !removed && ResourceVersion::parse(&raw.meta.resource_version).is_older_than(&self.newest) {
            return Err(self.broken("an event is older than the one before it"));
        }
        if !self.part.is_kind(&raw.kind) {
            return Err(self.broken("an event has an object of another kind"));
        }
        let key = Key::new(Some(&raw.meta.namespace), &raw.meta.name);
        if !self.touched.insert(key.clone()) {
            self.flush()?;
            self.touched.insert(key.clone());
        }
        if removed {
            self.removed.push(key);
        } else {
            self.changes.push(&raw, self.pool);
        }
        self.reached(&raw.meta.resource_version)
    }

    fn reached(&mut self, version: &str) -> Result<(), Broken> {
        if version.is_empty() {
            return Err(self.broken("an event has no resourceVersion"));
        }
        let version = ResourceVersion::parse(version);
        if version.is_older_than(&self.newest) {
            // A deleted object, or a bookmark of a lagging server: the position stays.
            self.version = Some(self.newest.clone());
            return Ok(());
        }
        self.newest = version.clone();
        self.version = Some(version);
        Ok(())
    }

    fn broken(&self, why: &str) -> Broken {
        Broken(Some(Failure::unreadable(self.part, Operation::Watching, why)))
    }

    /// Reports the changes so far.
    fn flush(&mut self) -> Result<(), Broken> {
        let mut changes = std::mem::replace(&mut self.changes, self.projection.new_facts());
        let removed = std::mem::take(&mut self.removed);
        self.touched.clear();
        for row in &mut changes.rows {
            if let Some(spoilt) = row.spoilt.take() {
                self.sink.spoilt(row.kind, &spoilt);
                self.spoilt = true;
            }
        }
        let Some(version) = &self.version else {
            return Ok(());
        };
        let at = self.sink.now();
        let empty = removed.is_empty() && changes.rows.iter().all(|row| row.facts.is_empty());
        if empty {
            self.sink.confirmed(&self.projection.kinds, version, at);
            return Ok(());
        }
        self.sink.changed(changes, removed, version, at).map_err(|failure| Broken(Some(failure)))
    }

    /// Reports all changes of the chunk and advances the position.
    fn report(mut self, position: &mut Position) -> Result<(), Broken> {
        let flushed = self.flush();
        position.spoilt |= self.spoilt;
        if let Some(version) = self.version {
            position.version = version;
            position.last_sign = Instant::now();
            position.failures = 0;
        }
        flushed
    }
}
