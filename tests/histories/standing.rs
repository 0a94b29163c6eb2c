//! What is true of one engine: what it may do, what it has written down, what it has done.
//!
//! Invariants: deeds are noted where they happen, at the API server, the disk and the vault, never by what the engine says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use serde_json::Value;
use trueup_core::engine::Verb;
use trueup_core::engine::journal::Record;
use trueup_core::world::CollectionId;

use super::configuration::{Approval, Configuration};
use super::disk::MemoryDisk;
use super::undo::Undone;
use super::world::Target;

/// What an engine is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Planning,
    Applying,
    /// Settling by reading what a crash left open.
    Settling,
}

/// An approved plan, as far as truth needs it.
#[derive(Clone)]
pub struct Approved {
    pub id: String,
    pub expires_at: Timestamp,
    /// By action id.
    pub actions: BTreeMap<String, Meant>,
    /// Nothing of it may be sent: foreign and not accepted, or from the future.
    pub is_refused: bool,
    /// It was made elsewhere or edited: T4 throughout.
    pub is_foreign: bool,
    pub approval: Approval,
    /// How many candidates of each cluster carried a proof of ours, the fewest that were counted.
    pub managed: BTreeMap<usize, usize>,
}

/// What was shown and approved of one action.
#[derive(Clone)]
pub struct Meant {
    pub verb: Verb,
    pub target: Target,
    pub uid: String,
    pub resource_version: String,
    /// Labels, annotations and data as they were shown.
    pub shown: Value,
    /// The expected value of the copied key, for a copy.
    pub copied: Value,
    /// The gate that is shut, whatever the plan says.
    pub forbidden: Option<&'static str>,
    pub needs: Approval,
    /// For an undo: what it reverses.
    pub undoes: Option<Undone>,
}

/// What really happened for one action.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deeds {
    pub sent: u32,
    pub sent_in_run: u32,
    /// The object went, or was marked for it, by a request of ours.
    pub deleted: bool,
    pub deleted_in_run: bool,
    pub deleted_at: Option<Timestamp>,
    /// Labelled or copied as planned.
    pub changed: bool,
    pub created_sent: u32,
    pub restored: bool,
}

/// A look at the references, as it could be seen when it began.
#[derive(Debug, Clone, Copy)]
pub struct Looked {
    pub referenced: bool,
    pub changes: u32,
    /// An object has the name and is not being deleted.
    pub present: bool,
    /// Every list of it came from the newest state.
    pub honest: bool,
    pub at: Timestamp,
}

pub struct Standing {
    pub name: &'static str,
    pub alive: bool,
    pub steps: u32,
    pub crash_at: Option<u32>,
    pub phase: Phase,
    pub plan: Option<Approved>,
    pub stop: Arc<AtomicBool>,
    /// Something stopped all writes when the engine last came back from waiting.
    pub shut_before: bool,
    /// It asked another cluster, which came to stand behind the address, who it is.
    pub saw_other: bool,
    pub disk: MemoryDisk,
    /// Everything handed to the journal, with the length of the file after it.
    pub noted: Vec<(usize, Record)>,
    /// Sealed objects; their place is their name.
    pub vault: Vec<Vec<u8>>,
    pub seal_fails: bool,
    pub deeds: BTreeMap<String, Deeds>,
    /// The version in which a change of ours left its object, by action.
    pub left: BTreeMap<String, String>,
    /// What its process is configured with.
    pub configuration: Configuration,
    /// The references as they were when the referrers were last listed.
    pub references: BTreeMap<Target, Looked>,
    /// Every answer since then came from the newest state.
    pub honest: bool,
    pub recheck_began: Timestamp,
    /// What the last recheck or scan could not list in time.
    pub late: BTreeSet<CollectionId>,
    pub judged: BTreeMap<Target, Looked>,
    pub looked_back: BTreeMap<Target, Looked>,
}

impl Standing {
    pub fn new(name: &'static str, crash_at: Option<u32>) -> Self {
        Self {
            name,
            alive: true,
            steps: 0,
            crash_at,
            phase: Phase::Planning,
            plan: None,
            stop: Arc::default(),
            shut_before: false,
            saw_other: false,
            disk: MemoryDisk::default(),
            noted: Vec::new(),
            vault: Vec::new(),
            seal_fails: false,
            deeds: BTreeMap::new(),
            left: BTreeMap::new(),
            configuration: Configuration::default(),
            references: BTreeMap::new(),
            honest: true,
            recheck_began: Timestamp::UNIX_EPOCH,
            late: BTreeSet::new(),
            judged: BTreeMap::new(),
            looked_back: BTreeMap::new(),
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// A new process begins a run.
    pub fn begin(&mut self, plan: Approved) {
        self.phase = Phase::Applying;
        self.plan = Some(plan);
        self.judged.clear();
        self.looked_back.clear();
        for deeds in self.deeds.values_mut() {
            deeds.sent_in_run = 0;
            deeds.deleted_in_run = false;
        }
    }

    /// The approved action on a target.
    pub fn meant(&self, target: &Target) -> Option<(&String, &Meant)> {
        self.plan.as_ref()?.actions.iter().find(|(_, meant)| meant.target == *target)
    }

    /// How many deletes were sent to a cluster in this run.
    pub fn deletes_in_run(&self, site: usize) -> usize {
        let actions = self.plan.iter().flat_map(|plan| &plan.actions);
        let deletes = actions.filter(|(_, meant)| meant.verb == Verb::Delete && meant.target.site == site);
        deletes.filter(|(id, _)| self.deeds.get(*id).is_some_and(|deeds| deeds.sent_in_run > 0)).count()
    }

    /// How many intents of an action are safe on the disk.
    pub fn durable_intents(&self, action: &str, verb: Verb) -> u32 {
        let plan = self.plan.as_ref().map(|plan| plan.id.as_str()).unwrap_or_default();
        let is = |record: &Record| match record {
            Record::Intent { plan: of, action: id, verb: found, .. } => of == plan && id == action && *found == verb,
            Record::PlanApproved { .. }
            | Record::Backup { .. }
            | Record::Outcome { .. }
            | Record::Verified { .. }
            | Record::Resolved { .. }
            | Record::Skipped { .. }
            | Record::Restarted { .. }
            | Record::Finished { .. } => false,
        };
        let synced = self.disk.synced();
        let count = self.noted.iter().filter(|(end, record)| *end <= synced && is(record)).count();
        u32::try_from(count).expect("a handful")
    }

    /// The sealed objects that are on record for an action, safe on the disk.
    pub fn durable_backups(&self, action: &str) -> Vec<Value> {
        let plan = self.plan.as_ref().map(|plan| plan.id.as_str()).unwrap_or_default();
        let synced = self.disk.synced();
        let file = |(end, record): &(usize, Record)| match record {
            Record::Backup { plan: of, action: id, file, .. } if of == plan && id == action && *end <= synced => {
                file.parse::<usize>().ok()
            }
            Record::Backup { .. }
            | Record::Intent { .. }
            | Record::PlanApproved { .. }
            | Record::Outcome { .. }
            | Record::Verified { .. }
            | Record::Resolved { .. }
            | Record::Skipped { .. }
            | Record::Restarted { .. }
            | Record::Finished { .. } => None,
        };
        let sealed = self.noted.iter().filter_map(file).filter_map(|place| self.vault.get(place));
        sealed.filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect()
    }
}
