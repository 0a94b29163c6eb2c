//! WATCH: a cursor over the log of a collection.
//!
//! Invariants:
//! - a watch holds a position, never a queue: a slow reader costs nothing, and one older than the history receives a 410
//!   and is closed;
//! - an object that leaves the selection is DELETED, one that enters it is ADDED;
//! - a bookmark's version is one up to which every event was sent.
//!
//! Elsewhere: waiting for the next event (`sim::service`).

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::call::{Call, refuse_if_any};
use super::faults::{Matcher, WatchFault};
use super::field_error::{FieldError, quoted};
use super::kinds::{CollectionId, GroupResource, ResourceKind};
use super::list::Selection;
use super::media::{self, Form};
use super::meta;
use super::request::Target;
use super::status::{Refused, Status};
use super::store::{Change, Stored};
use super::{Server, in_version, store, table};

/// Time between bookmarks of an idle watch; about the same as in kube-apiserver.
const BOOKMARK_EVERY: SignedDuration = SignedDuration::from_secs(60);
/// A last bookmark is sent this long before the stream ends; the same as in kube-apiserver.
const BOOKMARK_BEFORE_END: SignedDuration = SignedDuration::from_secs(2);
/// A stream without timeoutSeconds lasts between this and twice this; kube-apiserver's `--min-request-timeout`.
const TIMEOUT_SECONDS_MIN: u64 = 1800;

/// Id of an open watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(u64);

/// Pending events of a watch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WatchPoll {
    /// Whole lines, each one event.
    pub lines: Vec<Bytes>,
    /// The stream has ended.
    pub ended: bool,
}

#[derive(Debug, Default)]
pub struct Watches {
    next: u64,
    open: BTreeMap<WatchId, Watch>,
}

#[derive(Debug)]
struct Watch {
    target: Target,
    kind: std::sync::Arc<ResourceKind>,
    collection: CollectionId,
    selection: Selection,
    form: Form,
    start: Start,
    cursor: u64,
    bookmarks: bool,
    bookmark_at: Timestamp,
    ends_at: Timestamp,
    /// Time of the last poll; ages in tables are relative to it.
    polled_at: Timestamp,
    last_bookmark_sent: bool,
    fault: Option<WatchFault>,
    lag: u64,
    sent: usize,
}

/// How a watch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The present state as ADDED events, then changes.
    State { end_mark: bool },
    /// Changes only.
    Changes,
}

impl Server {
    pub(super) fn watch(&mut self, call: &Call<'_>) -> Result<WatchId, Refused> {
        let form = call.form()?;
        check_options(call)?;
        let selection = Selection::of(call)?;
        let query = &call.request.query;
        let asked = query.get("resourceVersion").unwrap_or("");
        let asked: u64 = if asked.is_empty() { 0 } else { parse_version(asked)? };
        let bookmarks = query.is_set("allowWatchBookmarks");
        let start = match (query.get("sendInitialEvents").is_some(), query.is_set("sendInitialEvents"), asked) {
            (true, true, _) => Start::State { end_mark: bookmarks },
            (false, _, 0) => Start::State { end_mark: false },
            (true, false, _) | (false, _, _) => Start::Changes,
        };
        let cursor = if asked == 0 { self.store.version() } else { asked };
        let seconds = query.get("timeoutSeconds").and_then(|text| text.parse::<u64>().ok()).filter(|s| *s > 0);
        let seconds = seconds.unwrap_or_else(|| TIMEOUT_SECONDS_MIN + self.minter.next() % TIMEOUT_SECONDS_MIN);
        let life = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
        let ends_at = call.now.checked_add(life).unwrap_or(Timestamp::MAX);
        let watch = Watch {
            target: call.target.clone(),
            kind: call.kind.clone(),
            collection: call.collection,
            selection,
            form,
            start,
            cursor,
            bookmarks,
            bookmark_at: call.now + BOOKMARK_EVERY,
            ends_at,
            polled_at: call.now,
            last_bookmark_sent: false,
            fault: None,
            lag: call.lag,
            sent: 0,
        };
        self.watches.next += 1;
        let id = WatchId(self.watches.next);
        self.watches.open.insert(id, watch);
        Ok(id)
    }

    /// Returns the pending events of a watch. A watch that ended is removed.
    pub fn poll_watch(&mut self, id: WatchId, now: Timestamp) -> WatchPoll {
        let Some(watch) = self.watches.open.get_mut(&id) else {
            return WatchPoll { lines: Vec::new(), ended: true };
        };
        let newest = self.store.version();
        let collection = self.store.collection(watch.collection);
        let poll = watch.poll(collection, newest, now);
        if poll.ended {
            self.watches.open.remove(&id);
        }
        poll
    }

    /// When a watch has an event to send even without a change.
    pub fn watch_wakes_at(&self, id: WatchId) -> Option<Timestamp> {
        self.watches.open.get(&id).map(Watch::wakes_at)
    }

    pub fn close_watch(&mut self, id: WatchId) {
        self.watches.open.remove(&id);
    }

    pub fn open_watches(&self) -> usize {
        self.watches.open.len()
    }

    /// Breaks running watches and returns their number.
    pub fn drop_watches(&mut self, matcher: &Matcher) -> usize {
        self.spoil_watches(matcher, WatchFault::DropAfter { events: 0 })
    }

    /// Stalls running watches: no events, no bookmarks, no end.
    pub fn silence_watches(&mut self, matcher: &Matcher) -> usize {
        self.spoil_watches(matcher, WatchFault::Silent)
    }

    fn spoil_watches(&mut self, matcher: &Matcher, fault: WatchFault) -> usize {
        let hit = self.watches.open.values_mut().filter(|watch| matcher.fits(&watch.target));
        hit.map(|watch| watch.spoil(fault)).count()
    }

    pub(super) fn spoil_watch(&mut self, id: WatchId, fault: WatchFault) {
        if let Some(watch) = self.watches.open.get_mut(&id) {
            watch.spoil(fault);
        }
    }
}

impl Watch {
    fn spoil(&mut self, fault: WatchFault) {
        self.fault = Some(match fault {
            WatchFault::DropAfter { events } => WatchFault::DropAfter { events: self.sent + events },
            WatchFault::Silent | WatchFault::Expired => fault,
        });
    }

    fn poll(&mut self, collection: &store::Collection, newest: u64, now: Timestamp) -> WatchPoll {
        self.polled_at = now;
        match self.fault {
            Some(WatchFault::Silent) => return WatchPoll::default(),
            Some(WatchFault::Expired) => return self.expired(collection.forgotten()),
            Some(WatchFault::DropAfter { .. }) | None => {}
        }
        let mut lines = Vec::new();
        if let Start::State { end_mark } = self.start {
            self.initial(collection, newest, end_mark, &mut lines);
            self.start = Start::Changes;
        } else if self.cursor < collection.forgotten() {
            return self.expired(collection.forgotten());
        }
        let until = newest.saturating_sub(self.lag);
        for change in collection.changes_after(self.cursor).take_while(|change| change.version <= until) {
            lines.extend(self.event(change));
        }
        self.cursor = self.cursor.max(until);
        lines.extend(self.bookmark_if_due(now));
        if let Some(WatchFault::DropAfter { events }) = self.fault {
            let allowed = events.saturating_sub(self.sent);
            if lines.len() >= allowed {
                lines.truncate(allowed);
                return WatchPoll { lines, ended: true };
            }
        }
        self.sent += lines.len();
        WatchPoll { lines, ended: now >= self.ends_at }
    }

    fn initial(&mut self, collection: &store::Collection, newest: u64, end_mark: bool, lines: &mut Vec<Bytes>) {
        for (_, item) in collection.range(&self.selection.prefix) {
            if self.selection.picks(&item.value) {
                lines.push(self.line("ADDED", item));
            }
        }
        self.cursor = newest;
        if end_mark {
            lines.push(self.bookmark(true));
        }
    }

    fn expired(&self, forgotten: u64) -> WatchPoll {
        let status = Status::expired(format!("too old resource version: {} ({forgotten})", self.cursor));
        WatchPoll { lines: vec![line("ERROR", &store::to_bytes(&status.to_json()))], ended: true }
    }

    fn event(&self, change: &Change) -> Option<Bytes> {
        if !change.key.starts_with(&*self.selection.prefix) {
            return None;
        }
        let before = change.before.as_ref().filter(|object| self.selection.picks(&object.value));
        let after = change.after.as_ref().filter(|object| self.selection.picks(&object.value));
        match (before, after) {
            (None, Some(after)) => Some(self.line("ADDED", after)),
            (Some(_), Some(after)) => Some(self.line("MODIFIED", after)),
            // A deleted object is sent in its last state, at the version of its removal.
            (Some(before), None) => {
                let gone = Stored::new(change.version, before.value.clone(), before.managed.clone());
                Some(self.line("DELETED", &gone))
            }
            (None, None) => None,
        }
    }

    fn line(&self, kind: &str, object: &Stored) -> Bytes {
        let other = in_version(&object.value, &self.kind.api_version());
        match (self.form, &other) {
            (Form::Object, None) => line(kind, object.json()),
            (Form::Object, Some(other)) => line(kind, &store::to_bytes(other)),
            (Form::Metadata, _) => line(kind, &store::to_bytes(&media::metadata_only(&object.value))),
            (Form::Table(include), _) => line(kind, &table::of_one(&self.kind, &object.value, include, self.polled_at)),
        }
    }

    fn bookmark_if_due(&mut self, now: Timestamp) -> Option<Bytes> {
        if !self.bookmarks {
            return None;
        }
        if !self.last_bookmark_sent && now >= self.last_bookmark_at() {
            self.last_bookmark_sent = true;
            return Some(self.bookmark(false));
        }
        if now >= self.bookmark_at {
            self.bookmark_at = now + BOOKMARK_EVERY;
            return Some(self.bookmark(false));
        }
        None
    }

    fn bookmark(&self, end_mark: bool) -> Bytes {
        let mut object = json!({
            "kind": &*self.kind.kind,
            "apiVersion": self.kind.api_version(),
            "metadata": { "resourceVersion": self.cursor.to_string() },
        });
        if end_mark {
            meta::of_mut(&mut object).insert("annotations".into(), json!({ "k8s.io/initial-events-end": "true" }));
        }
        let object = match self.form {
            Form::Object => object,
            Form::Metadata => media::metadata_only(&object),
            Form::Table(_) => table::bookmark(&object),
        };
        line("BOOKMARK", &store::to_bytes(&object))
    }

    fn last_bookmark_at(&self) -> Timestamp {
        self.ends_at.checked_sub(BOOKMARK_BEFORE_END).unwrap_or(self.ends_at)
    }

    fn wakes_at(&self) -> Timestamp {
        match (self.bookmarks, self.last_bookmark_sent, self.fault) {
            (_, _, Some(WatchFault::Silent)) => Timestamp::MAX,
            (false, _, _) => self.ends_at,
            (true, false, _) => self.bookmark_at.min(self.last_bookmark_at()),
            (true, true, _) => self.ends_at.min(self.bookmark_at),
        }
    }
}

fn line(kind: &str, object: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(object.len() + 32);
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
    out.extend_from_slice(object);
    out.extend_from_slice(b"}\n");
    out.into()
}

fn parse_version(asked: &str) -> Result<u64, Refused> {
    asked.parse().map_err(|_| {
        let value = quoted(asked);
        let detail = format!("strconv.ParseUint: parsing {value}: invalid syntax");
        Status::unexpected(FieldError::invalid("resourceVersion", &value, &detail).sentence())
    })
}

fn check_options(call: &Call<'_>) -> Result<(), Refused> {
    let query = &call.request.query;
    let field = "resourceVersionMatch";
    let asked = query.get(field).unwrap_or("");
    let mut errors = Vec::new();
    let initial = query.get("sendInitialEvents").is_some();
    if initial && asked != "NotOlderThan" {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(field, detail));
    }
    if !asked.is_empty() {
        if !initial {
            let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden(field, detail));
        }
        if asked != "NotOlderThan" {
            errors.push(FieldError::not_supported(field, &Value::from(asked).to_string(), &["NotOlderThan"]));
        }
        if !query.get("continue").unwrap_or("").is_empty() {
            let detail = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(field, detail));
        }
    }
    refuse_if_any(&GroupResource::new("meta.k8s.io", "ListOptions"), "", &errors)
}
