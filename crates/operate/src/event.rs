//! What happens beside a result: notices and progress, for the front end to show.
//!
//! Invariants: no text here holds a secret; a front end escapes it before it is shown.

use std::fmt;
use std::sync::Arc;

use trueup_core::world::{ClockSkew, ClusterName};

/// How many clocks a notice names.
const CLOCKS_NAMED_MAX: usize = 3;

/// Where events go. Cheap to clone.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(Event) + Send + Sync>);

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A line for people.
    Notice(Notice),
    /// The clusters that are still being read, with the objects listed so far. Empty: reading has ended.
    Reading(Vec<(ClusterName, Option<u64>)>),
    /// The fleet is no longer watched, and why.
    WatchEnded(String),
}

/// A line for people, by what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A file of a snapshot that cannot be used.
    Snapshot(String),
    /// An account of the configuration that cannot be used.
    Account(String),
    /// Clusters that were still being read when the time was up.
    Late { clusters: Vec<ClusterName>, seconds: u64 },
    /// A cluster, or a collection of it, that could not be read.
    Cluster { cluster: ClusterName, why: String },
    /// The clocks of these clusters and of this machine differ too much for deletes.
    Clocks(Vec<(ClusterName, ClockSkew)>),
    /// The last record of the journal was incomplete and was removed.
    JournalTruncated { offset: u64 },
    /// The journal cannot be read for tombstones.
    NoTombstones { why: String },
    /// An intent of an interrupted run was resolved by reading.
    Resolved { entry: String, found: String },
    /// An intent of an interrupted run is still unresolved.
    StillOpen { entry: String, why: String },
    /// No cluster could be read to resolve open intents.
    NoClusters { why: String },
    /// Plans past `[safety] keep` were dropped from the journal.
    Compacted { plans: usize, days: i64 },
    /// The journal's last hash was not published.
    NotPublished { target: String, why: String },
    /// The kubeconfig changed and cannot be used.
    Kubeconfig { why: String },
    /// Snapshots cannot be probed.
    ProbeOfSnapshot,
    /// The approval of a credential plugin counts for this process alone.
    PluginNotKept { why: String },
}

impl Events {
    pub fn new(send: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    pub fn send(&self, event: Event) {
        (self.0)(event);
    }

    pub fn notice(&self, notice: Notice) {
        self.send(Event::Notice(notice));
    }
}

/// Names in one line; a fleet may have tens of thousands.
const NAMES_MAX: usize = 20;

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(message) | Self::Account(message) => f.write_str(message),
            Self::Late { clusters, seconds } => {
                let names: Vec<&str> = clusters.iter().map(ClusterName::as_str).take(NAMES_MAX).collect();
                write!(f, "not listed completely after {seconds} s: {}", names.join(", "))?;
                match clusters.len().saturating_sub(NAMES_MAX) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::Cluster { cluster, why } => write!(f, "cluster {cluster}: {why}"),
            Self::Clocks(clocks) => f.write_str(&clock_message(clocks)),
            Self::JournalTruncated { offset } => {
                write!(f, "the journal ended in an incomplete record at byte {offset}, which was removed")
            }
            Self::NoTombstones { why } => write!(f, "recent deletes are unknown: {why}"),
            Self::Resolved { entry, found } => write!(f, "interrupted run: {entry} was found {found}"),
            Self::StillOpen { entry, why } => write!(f, "interrupted run: the outcome of {entry} is unknown: {why}"),
            Self::NoClusters { why } => write!(f, "open requests cannot be resolved: {why}"),
            Self::Compacted { plans, days } => {
                let plural = if *plans == 1 { "" } else { "s" };
                write!(f, "dropped {plans} plan{plural} older than {days} days from the journal, with their backups")
            }
            Self::NotPublished { target, why } => {
                write!(f, "the journal's last hash was not published to {target}: {why}")
            }
            Self::Kubeconfig { why } => write!(f, "the kubeconfig changed and is ignored: {why}"),
            Self::PluginNotKept { why } => write!(f, "the credential plugin is asked about again next time: {why}"),
            Self::ProbeOfSnapshot => f.write_str("--probe: a snapshot cannot be probed"),
        }
    }
}

fn clock_message(clocks: &[(ClusterName, ClockSkew)]) -> String {
    let named = clocks.iter().take(CLOCKS_NAMED_MAX);
    let mut named: Vec<String> = named.map(|(cluster, skew)| format!("the clock of {cluster} is {skew}")).collect();
    if clocks.len() > CLOCKS_NAMED_MAX {
        named.push(format!("{} more clusters differ", clocks.len() - CLOCKS_NAMED_MAX));
    }
    format!("{}; deletes there are blocked until the wrong clock is corrected", named.join(", "))
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Mutex;

    use super::*;

    /// Events that keep what was sent.
    pub fn recorded() -> (Events, Arc<Mutex<Vec<Event>>>) {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let kept = sent.clone();
        (Events::new(move |event| kept.lock().unwrap().push(event)), sent)
    }
}
