//! What a crash left open, settled by reading.
//!
//! Invariants: nothing is sent here.

use jiff::Timestamp;

use super::ports::Clusters;
use super::verdict::found;
use crate::engine::journal::{Entry, Found, Record, open_intents};

/// Reads the target of every request without a known result, and returns what was found.
///
/// A request to a cluster that is not in `clusters`, or that can't be read, stays open.
pub async fn resolve(entries: &[Entry], clusters: &Clusters, at: Timestamp) -> Vec<Record> {
    let mut resolved = Vec::new();
    for (plan, action) in open_intents(entries) {
        let Some(sent) = &action.sent else { continue };
        let Some(port) = clusters.get(&sent.cluster) else { continue };
        let look = || async {
            let reading = port.read(&sent.target).await;
            found(sent.uid.as_deref(), sent.resource_version.as_deref(), &reading)
        };
        let mut found = look().await;
        // A server that lags shows what was there before. Once more, before a delete is said to have come to nothing.
        if found == Some(Found::Unchanged) {
            found = look().await;
        }
        if let Some(found) = found {
            resolved.push(Record::Resolved { plan: plan.to_owned(), action: action.id.clone(), found, at });
        }
    }
    resolved
}
