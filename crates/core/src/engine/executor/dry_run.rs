//! Trying an action without doing it: the reads, the comparison and the body of the real write, sent as a dry run.
//!
//! Invariants:
//! - nothing is changed, sealed or written down: a dry run leaves no trace but requests;
//! - what is copied is read as for the real write, and neither it nor what the server answers is kept;
//! - what would not be sent by the real write is not sent here.

use std::collections::BTreeSet;

use zeroize::Zeroizing;

use super::ports::{Clusters, DryRunPort, ExecutorClock, Reading, Reply, VaultPort, sentence};
use super::prepared_write::PreparedWrite;
use super::read::read;
use super::report::ActionResult;
use super::source::read_source;
use crate::engine::vault::{Backups, Sealed, owners, restorable};
use crate::engine::{Action, ObjectRef};

/// The result of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DryRunResult {
    /// It was sent as a dry run.
    Answered(Reply),
    /// It would end so before anything is sent.
    NotSent(ActionResult),
}

/// What a dry run reads from. `clusters` holds whatever a source may be in.
pub struct DryRunPorts<'p> {
    pub clusters: &'p Clusters,
    pub vault: &'p dyn VaultPort,
    pub clock: &'p dyn ExecutorClock,
}

/// Tries one action of a plan on the cluster it is for.
pub async fn dry_run(cluster: &dyn DryRunPort, plan: &str, action: &Action, ports: DryRunPorts<'_>) -> DryRunResult {
    let DryRunPorts { clusters, vault, clock } = ports;
    let prepared = async {
        let source = read_source(clusters, clock, action).await?;
        let mut write = PreparedWrite::of(action, plan, source.as_ref(), vault)?;
        let reading: Reading = read(cluster, clock, &action.target).await;
        if let Some(end) = write.hindered(&action.target.kind, &reading) {
            return Err(end);
        }
        write.bind_again(&reading);
        Ok(write)
    };
    match prepared.await {
        Ok(write) => DryRunResult::Answered(cluster.dry_run(write.write(&action.target)).await),
        Err(end) => DryRunResult::NotSent(end),
    }
}

/// Existing backups, for callers that make none. Without any, nothing can come back from one.
pub struct BackupsThere(pub Option<Backups>);

impl VaultPort for BackupsThere {
    fn seal(&self, _: &Zeroizing<Vec<u8>>) -> Result<Sealed, String> {
        Err("nothing is sealed here".to_owned())
    }

    fn open(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        let backups = self.0.as_ref().ok_or("there are no backups")?;
        backups.open(file).map_err(|error| sentence(&error))
    }

    fn restorable(&self, file: &str, mark: &str, living: &BTreeSet<String>) -> Result<Zeroizing<Vec<u8>>, String> {
        Ok(Zeroizing::new(restorable(self.object(file)?, living, mark).to_string().into_bytes()))
    }

    fn owners(&self, file: &str) -> Result<Vec<ObjectRef>, String> {
        self.object(file).map(|object| owners(&object))
    }
}

impl BackupsThere {
    fn object(&self, file: &str) -> Result<serde_json::Value, String> {
        serde_json::from_slice(&self.open(file)?).map_err(|_| "the backup is no object".to_owned())
    }
}
