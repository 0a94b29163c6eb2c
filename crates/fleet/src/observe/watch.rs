//! One watch connection: from a version on, until it ends.
//!
//! Always true:
//! - a version is passed on only together with everything up to it, so a broken connection resumes without a hole;
//! - several changes of one object in one piece keep their order.
//!
//! Cancellation may strike while the next piece is waited for; what came before has been handed on by then.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::ask::{self, Asker, Doing, Failure, Stream};
use super::event::{self, Event};
use super::lines::{Lines, TooLong};
use super::request::Part;
use trueup_core::decode::projection::{ProjectedFacts, Projection, Spoilt};
use trueup_core::world::{FactKind, GapCause, Interner, Key, ResourceVersion};

/// How much longer than it promised a server may keep a watch open before the connection counts as dead.
const OVERTIME: Duration = Duration::from_secs(30);

/// Where reports of a watch go.
pub(super) trait Sink {
    fn changed(&self, changes: ProjectedFacts, removed: Vec<Key>, version: &ResourceVersion, at: Timestamp);
    fn confirmed(&self, facts: &[FactKind], version: &ResourceVersion, at: Timestamp);
    fn spoilt(&self, fact: FactKind, spoilt: &Spoilt);
    fn now(&self) -> Timestamp;
}

/// How far a watch has come.
#[derive(Debug, Clone)]
pub(super) struct Position {
    pub version: ResourceVersion,
    /// The last event or bookmark (or the list).
    pub last_sign: Instant,
    /// Connections in a row that ended without any sign.
    pub failures: u32,
    /// Whether an object could not be read since the list.
    pub spoilt: bool,
}

/// Why a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As announced.
    Clean,
    /// No event and no bookmark for too long.
    Silent,
    /// It never began.
    Refused(Failure),
    /// It began, and broke.
    Broke(Failure),
}

/// Watches until the connection ends.
pub(super) async fn watch(
    asker: &Asker,
    part: &Part<'_>,
    projection: &Projection,
    position: &mut Position,
    timeout: Duration,
    sink: &(dyn Sink + Sync),
) -> End {
    let began = Instant::now();
    let uri = part.watch(&position.version, timeout.as_secs());
    let mut stream = match asker.open(part, Doing::Watching, &uri, part.accept_object()).await {
        Ok(stream) => stream,
        Err(failure) => return End::Refused(failure),
    };
    let mut pool = Interner::default();
    let mut lines = Lines::default();
    loop {
        let silent_at = position.last_sign + 2 * timeout;
        let piece = match next_piece(&mut stream, part, silent_at, began + timeout + OVERTIME).await {
            Ok(Some(piece)) => piece,
            Ok(None) => return End::Clean,
            Err(end) => return end,
        };
        let mut intake = Intake::new(part, projection, &mut pool, sink);
        let fed = lines.feed(&piece, |line| intake.line(line));
        intake.hand_on(position);
        ask::wipe(piece);
        if let Err(Broken(failure)) = fed {
            return End::Broke(
                failure.unwrap_or_else(|| Failure::unreadable(part, Doing::Watching, "an event is too long")),
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
        Ok(Err(error)) => Err(End::Broke(Failure::transport(part, Doing::Watching, &error))),
        Err(_) if silent_at <= dead_at => Err(End::Silent),
        Err(_) => {
            let why = "the server does not end it as it promised";
            Err(End::Broke(Failure::because(GapCause::Unreachable, part, Doing::Watching, why)))
        }
    }
}

/// The stream is of no use any more; nothing inside means a line was too long.
struct Broken(Option<Failure>);

impl From<TooLong> for Broken {
    fn from(_: TooLong) -> Self {
        Self(None)
    }
}

/// The changes of one piece, until they are handed on.
struct Intake<'i> {
    part: &'i Part<'i>,
    projection: &'i Projection,
    pool: &'i mut Interner,
    sink: &'i (dyn Sink + Sync),
    changes: ProjectedFacts,
    removed: Vec<Key>,
    touched: HashSet<Key>,
    /// The newest version met that has not been handed on.
    version: Option<ResourceVersion>,
    spoilt: bool,
}

impl<'i> Intake<'i> {
    fn new(
        part: &'i Part<'i>,
        projection: &'i Projection,
        pool: &'i mut Interner,
        sink: &'i (dyn Sink + Sync),
    ) -> Self {
        let (changes, removed, touched) = (projection.new_facts(), Vec::new(), HashSet::new());
        Self { part, projection, pool, sink, changes, removed, touched, version: None, spoilt: false }
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
                return Err(Broken(Some(ask::refusal(self.part, Doing::Watching, status, None, None))));
            }
        };
        let raw = match self.projection.reader().object(text) {
            Ok(raw) => raw,
            Err(error) => {
                self.changes.spoil(&error.to_string());
                return Ok(());
            }
        };
        let key = Key::new(Some(&raw.meta.namespace), &raw.meta.name);
        if !self.touched.insert(key.clone()) {
            self.flush();
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
            return Err(self.broken("an event carries no version"));
        }
        self.version = Some(ResourceVersion::parse(version));
        Ok(())
    }

    fn broken(&self, why: &str) -> Broken {
        Broken(Some(Failure::unreadable(self.part, Doing::Watching, why)))
    }

    /// Reports what was gathered so far.
    fn flush(&mut self) {
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
            return;
        };
        let at = self.sink.now();
        let empty = removed.is_empty() && changes.rows.iter().all(|row| row.facts.is_empty());
        if empty {
            self.sink.confirmed(&self.projection.kinds, version, at);
        } else {
            self.sink.changed(changes, removed, version, at);
        }
    }

    /// Reports everything of the piece and moves the position there.
    fn hand_on(mut self, position: &mut Position) {
        self.flush();
        position.spoilt |= self.spoilt;
        if let Some(version) = self.version {
            position.version = version;
            position.last_sign = Instant::now();
            position.failures = 0;
        }
    }
}
