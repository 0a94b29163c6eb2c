//! Dry runs: the reads, the comparison and the body of the real write, sent with `dryRun=All`.
//!
//! Invariants:
//! - nothing is changed, sealed or journalled;
//! - copied content is read as for the real write, and neither it nor the server's answer is kept;
//! - a write that the real run would not send is not sent.

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
    /// The answer of the server.
    Answered(Reply),
    /// The result before anything is sent.
    NotSent(ActionResult),
}

/// What a dry run reads from. `clusters` has every cluster of a source.
pub struct DryRunPorts<'p> {
    pub clusters: &'p Clusters,
    pub vault: &'p dyn VaultPort,
    pub clock: &'p dyn ExecutorClock,
}

/// Sends a dry run of one action to its cluster.
pub async fn dry_run(cluster: &dyn DryRunPort, plan: &str, action: &Action, ports: DryRunPorts<'_>) -> DryRunResult {
    let DryRunPorts { clusters, vault, clock } = ports;
    let prepared = async {
        let source = read_source(clusters, clock, action).await?;
        let mut write = PreparedWrite::of(action, plan, source.as_ref(), vault)?;
        let reading: Reading = read(cluster, clock, &action.target).await;
        if let Some(end) = write.early_result(&action.target.kind, &reading) {
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

/// Existing backups, for callers that seal none. `None`: there are no backups.
pub struct BackupsThere(pub Option<Backups>);

impl VaultPort for BackupsThere {
    fn seal(&self, _: &Zeroizing<Vec<u8>>) -> Result<Sealed, String> {
        Err("a dry run seals nothing".to_owned())
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
        serde_json::from_slice(&self.open(file)?).map_err(|_| "the backup is not an object".to_owned())
    }
}
