//! A snapshot folder as a fleet that never changes.
//!
//! Invariants: what could not be read is reported as a notice, and counts for the exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use crate::error::OperateError;
use crate::event::Notice;
use crate::fleet::Made;
use crate::session::Session;
use crate::settings::{CloudAccount, Settings};
use trueup_checks::Check;
use trueup_core::decode::Digester;
use trueup_core::engine::InputReading;
use trueup_core::world::{Cluster, ClusterName, ClusterSource, Link, Served};
use trueup_fleet::live::{Live, recorded};
use trueup_fleet::snapshot::{self, Snapshot, SnapshotCluster};

/// What is known of a snapshot besides its objects.
#[derive(Debug, Clone)]
pub struct Recording {
    pub reading: InputReading,
    /// Namespaces that are known to exist, judged or not.
    pub namespaces: BTreeSet<String>,
}

/// Reads a snapshot folder and judges it. Must be called inside a tokio runtime.
///
/// # Errors
/// The folder cannot be read at all.
pub fn read_folder(session: &Session, checks: Vec<Box<dyn Check>>, folder: &Path) -> Result<Made, OperateError> {
    let snapshot = snapshot::load(folder).map_err(|error| OperateError::Snapshot(error.to_string()))?;
    for problem in &snapshot.problems {
        session.events.notice(Notice::Snapshot(problem.to_string()));
    }
    let Snapshot { now, clusters, problems } = snapshot;
    tracing::info!(clusters = clusters.len(), problems = problems.len(), "read a snapshot folder");
    let now = now.unwrap_or_else(Timestamp::now);
    let known = clusters.iter().map(|cluster| known_cluster(cluster, &session.settings)).collect();
    let namespaces = clusters.iter().flat_map(|cluster| cluster.recorded.namespaces()).collect();
    let unreachable = clusters.iter().any(|cluster| cluster.recorded.coverage.unreachable.is_some());
    let recordings = clusters.into_iter().map(|cluster| (cluster.name, cluster.recorded)).collect::<BTreeMap<_, _>>();
    let (world, judgements) = recorded(&checks, known, &recordings, &digester()?, now);
    let reading = if problems.is_empty() && !unreachable { InputReading::Whole } else { InputReading::Gaps };
    let live = Live::from_snapshot(checks, world, judgements, now, digester()?);
    Ok(Made { live, recording: Some(Recording { reading, namespaces }), keeps: Box::new(()) })
}

/// A recorded cluster as the world knows it.
pub(crate) fn known_cluster(cluster: &SnapshotCluster, settings: &Settings) -> Cluster {
    let host: Option<&ClusterName> = cluster.hosted_by.as_ref().map(|by| &by.cluster);
    Cluster {
        name: cluster.name.clone(),
        class: cluster.class.unwrap_or_else(|| settings.clusters.class_of(&cluster.name, host)),
        source: used_from(cluster, settings),
        hosted_by: cluster.hosted_by.clone(),
        link: Link::Recorded,
        identity: cluster.identity.clone(),
        served: Served::Recorded(cluster.served.clone()),
    }
}

/// The source of a cluster. Where the file of an account does not name its management clusters, the configuration may.
fn used_from(cluster: &SnapshotCluster, settings: &Settings) -> ClusterSource {
    let ClusterSource::Cloud { provider, account, used_from } = &cluster.source else { return cluster.source.clone() };
    let is_meant = |named: &&CloudAccount| {
        let is_named =
            named.provider == *provider && cluster.name.as_str() == format!("{}:{}", provider.as_str(), named.alias);
        is_named && !named.management_clusters.is_empty()
    };
    let named = settings.clouds.iter().find(is_meant).filter(|_| used_from.patterns.is_empty());
    let used_from = named.map_or_else(|| used_from.clone(), |named| named.members(Vec::new()));
    ClusterSource::Cloud { provider: *provider, account: account.clone(), used_from }
}

/// A digester with a key of this run.
pub(crate) fn digester() -> Result<Digester, OperateError> {
    let mut key = zeroize::Zeroizing::new([0; 32]);
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut *key).map_err(|_| OperateError::NoRandom)?;
    Ok(Digester::new(&key))
}
