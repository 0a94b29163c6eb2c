//! What the executor touches, one trait each, so that tests can let every one of them fail.
//!
//! Invariants: nothing behind these ports decides. They read, write and say what they saw.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;
use zeroize::Zeroizing;

use super::content::Patch;
use super::in_flight::InFlight;
use super::report::ActionResult;
use crate::engine::journal::{Answer, Journal, Record};
use crate::engine::vault::{Sealed, Vault, owners, restorable};
use crate::engine::{Action, Blocked, ObjectRef, RecheckResult, cloud_version};
use crate::world::ClusterIdentity;

/// The clusters of a run, by the names the plan uses.
pub type Clusters = BTreeMap<String, Arc<dyn ClusterPort>>;

/// One cluster's API.
pub trait ClusterPort: Send + Sync {
    fn read<'a>(&'a self, target: &'a ObjectRef) -> BoxFuture<'a, Reading>;

    /// Sends one request, once: the one whose intent the token stands for.
    fn send<'a>(&'a self, token: &'a InFlight, write: Write<'a>) -> BoxFuture<'a, Reply>;

    /// Every object of a kind in all namespaces, as one list in JSON. A port that can't list says so.
    fn list<'a>(&'a self, _api_version: &'a str, _kind: &'a str) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, String>> {
        Box::pin(std::future::ready(Err("nothing can be listed here".to_owned())))
    }
}

/// A cluster whose server can check a write without making it.
pub trait DryRunPort: ClusterPort {
    /// Sends a request as a dry run: the server checks everything and changes nothing.
    fn dry_run<'a>(&'a self, write: Write<'a>) -> BoxFuture<'a, Reply>;
}

/// What a read of one object gave.
#[derive(Debug)]
pub enum Reading {
    Present(Box<Seen>),
    /// The server says that this very object does not exist.
    Absent,
    /// Anything else, in a sentence without a word of the body.
    Unknown(String),
}

/// An object that was read. Its bytes may be secret.
pub struct Seen {
    pub uid: String,
    pub resource_version: String,
    /// Whether its deletion was requested.
    pub deleting: bool,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub json: Zeroizing<Vec<u8>>,
}

impl Seen {
    /// A cloud resource as it was read. Its tags are its version: clouds have no other.
    pub fn cloud(id: &str, tags: &[String], deleting: bool, json: Vec<u8>) -> Self {
        Self {
            uid: id.to_owned(),
            resource_version: cloud_version(tags),
            deleting,
            labels: tags.iter().map(|tag| (tag.to_lowercase(), String::new())).collect(),
            annotations: BTreeMap::new(),
            json: Zeroizing::new(json),
        }
    }
}

/// A request that changes something.
pub enum Write<'a> {
    Delete {
        target: &'a ObjectRef,
        uid: &'a str,
        resource_version: &'a str,
    },
    /// Parts of an object that is there.
    Change {
        target: &'a ObjectRef,
        uid: &'a str,
        resource_version: &'a str,
        patch: &'a Patch,
    },
    /// Fields of an object that become ours, unless another manager owns them. Bound to uid and version when it is there.
    Apply {
        target: &'a ObjectRef,
        bound: Option<(&'a str, &'a str)>,
        patch: &'a Patch,
    },
    Create {
        target: &'a ObjectRef,
        object: &'a [u8],
    },
}

/// What came back for a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Absent when no answer came.
    pub http: Option<u16>,
    pub answer: Answer,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// The server's reason, when it is one plain word.
    pub reason: String,
    /// Who else manages the fields that were to be applied.
    pub managers: Vec<String>,
    /// The version at which the write left the object, where the server says it.
    pub version: Option<String>,
}

/// Judging again, with fresh and consistent lists.
pub trait Recheck: Send {
    /// Reads the cluster's identity; nothing when it cannot be read.
    fn read_identity<'a>(&'a mut self, cluster: &'a str) -> BoxFuture<'a, Option<ClusterIdentity>>;

    /// Lists everything these actions rest on again and judges. One answer an action, in their order.
    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>>;

    /// Looks whether something refers to what these actions deleted. One answer an action, in their order.
    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>>;
}

/// What refers to a deleted object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceScan {
    Nothing,
    Referenced(String),
    Unknown(String),
}

/// The journal. What `append` has returned for is on the disk.
pub trait JournalPort: Send {
    /// # Errors
    /// One sentence; after it nothing may be sent.
    fn append(&mut self, records: &[Record]) -> Result<(), String>;
}

/// Backups.
pub trait VaultPort: Send + Sync {
    /// Seals an object and reads it back.
    ///
    /// # Errors
    /// One sentence without a word of the object.
    fn seal(&self, object: &Zeroizing<Vec<u8>>) -> Result<Sealed, String>;

    /// The object of a backup as it was sealed.
    ///
    /// # Errors
    /// The backup can't be opened.
    fn open(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, String>;

    /// The object of a backup, fit to be created again, with the mark that says where it came from. Of its owners only
    /// those with these uids come along.
    ///
    /// # Errors
    /// The backup can't be opened or is not an object.
    fn restorable(&self, file: &str, mark: &str, owners: &BTreeSet<String>) -> Result<Zeroizing<Vec<u8>>, String>;

    /// The owners the object of a backup names.
    ///
    /// # Errors
    /// The backup can't be opened or is not an object.
    fn owners(&self, file: &str) -> Result<Vec<ObjectRef>, String>;
}

/// Time.
pub trait ExecutorClock: Send + Sync {
    fn now(&self) -> Timestamp;

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()>;
}

/// What stops all writes at once: read-only mode, the kill switch, freeze windows.
pub trait Switches: Send + Sync {
    fn shut(&self, now: Timestamp) -> Option<Blocked>;
}

/// Everything a run touches.
pub struct Ports<'p> {
    pub clusters: &'p Clusters,
    pub recheck: &'p mut dyn Recheck,
    pub journal: &'p mut dyn JournalPort,
    pub vault: &'p dyn VaultPort,
    pub clock: &'p dyn ExecutorClock,
    pub switches: &'p dyn Switches,
    /// Set to stop the run at the next action.
    pub stop: &'p AtomicBool,
    /// Receives the progress of every action.
    pub progress: &'p mut (dyn FnMut(&Action, Progress<'_>) + Send),
}

/// How far an action has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'e> {
    /// What it means to send is on the disk.
    Intended,
    /// The request has left the program.
    Sent,
    /// The server has answered, or the result is unknown; the object is being read.
    Answered,
    /// It takes its time: for how long so far, and why.
    Waiting {
        so_far: Duration,
        why: &'e str,
    },
    Ended(&'e ActionResult),
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { uid, resource_version, deleting, labels: _, annotations: _, json } = self;
        write!(f, "Seen {{ {uid}@{resource_version}, deleting: {deleting}, <{} bytes> }}", json.len())
    }
}

impl JournalPort for Journal {
    fn append(&mut self, records: &[Record]) -> Result<(), String> {
        Self::append(self, records).map_err(|error| sentence(&error))
    }
}

impl VaultPort for Vault {
    fn seal(&self, object: &Zeroizing<Vec<u8>>) -> Result<Sealed, String> {
        Self::seal(self, object).map_err(|error| sentence(&error))
    }

    fn open(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        Self::open(self, file).map_err(|error| sentence(&error))
    }

    fn restorable(&self, file: &str, mark: &str, living: &BTreeSet<String>) -> Result<Zeroizing<Vec<u8>>, String> {
        Ok(Zeroizing::new(restorable(object_of(self, file)?, living, mark).to_string().into_bytes()))
    }

    fn owners(&self, file: &str) -> Result<Vec<ObjectRef>, String> {
        object_of(self, file).map(|object| owners(&object))
    }
}

fn object_of(vault: &Vault, file: &str) -> Result<Value, String> {
    let object = vault.open(file).map_err(|error| sentence(&error))?;
    serde_json::from_slice(&object).map_err(|_| "the backup is not an object".to_owned())
}

/// An error with what caused it.
pub(super) fn sentence(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    }
}
