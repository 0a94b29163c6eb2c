//! Looking at the clusters: a folder or a fleet becomes a world with judgements.
//!
//! Always true: what could not be read is said on stderr and remembered for the exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use super::context::Context;
use super::error::CliError;
use super::look_live;
use super::plan::Wishes;
use super::probe::{self, Tried};
use super::tombstones;
use crate::config::{CloudAccount, Config};
use trueup_checks::Check;
use trueup_checks::judgements::{Judgements, explained};
use trueup_core::decode::Digester;
use trueup_core::engine::{Conditions, Glob, InputReading, Judged, Tombstone};
use trueup_core::world::{Cluster, ClusterName, ClusterSource, Link, Served, View, World};
use trueup_fleet::live::{Live, recorded};
use trueup_fleet::snapshot::{self, Snapshot, SnapshotCluster};

/// What was seen and judged.
pub struct Seen {
    pub sight: ObservedFleet,
    pub now: Timestamp,
    pub reading: InputReading,
    /// Namespaces that are known to exist, judged or not.
    pub namespaces: BTreeSet<String>,
    /// What the clusters add to the gates: permissions, TLS, how long verdicts have held.
    pub conditions: Conditions,
    /// What was deleted from here of late.
    pub tombstones: Vec<Tombstone>,
    /// What was found out by trying, when somebody asked for it.
    pub tried: Tried,
}

impl Seen {
    /// Every subject with both answers, and what is known of those that were deleted from here.
    pub fn judged(&self) -> Vec<Judged> {
        let mut judged = self.sight.judged(self.now);
        tombstones::add(&mut judged, &self.tombstones, self.sight.view(self.now));
        probe::add(&mut judged, &self.tried);
        judged
    }
}

/// What is looked at.
pub enum ObservedFleet {
    Folder { world: World, judgements: Judgements, domains: Vec<Box<dyn Check>> },
    Fleet(Box<Live>),
}

impl ObservedFleet {
    pub fn judgements(&self) -> &Judgements {
        match self {
            Self::Folder { judgements, .. } => judgements,
            Self::Fleet(live) => live.judgements(),
        }
    }

    pub fn domains(&self) -> &[Box<dyn Check>] {
        match self {
            Self::Folder { domains, .. } => domains,
            Self::Fleet(live) => live.domains(),
        }
    }

    pub fn view(&self, now: Timestamp) -> View<'_> {
        match self {
            Self::Folder { world, .. } => world.view(now),
            Self::Fleet(live) => live.view(),
        }
    }

    /// Every subject with both answers.
    pub fn judged(&self, now: Timestamp) -> Vec<Judged> {
        explained(self.judgements(), self.domains(), self.view(now))
    }
}

/// Looks where the command line says: at a folder, or at live clusters. The config's checks move into what is seen.
///
/// # Errors
/// The place to look at can't be used at all. A cluster that can't be reached is no error: it is unknown.
pub async fn look(context: &Context, config: &mut Config, wishes: &Wishes) -> Result<Seen, CliError> {
    match &context.globals.from {
        Some(dir) => look_at_folder(context, config, dir, Timestamp::now()),
        None => look_live::look(context, config, wishes).await,
    }
}

/// Reads a snapshot folder and judges it.
///
/// # Errors
/// The folder can't be read at all.
pub fn look_at_folder(context: &Context, config: &mut Config, dir: &Path, wall: Timestamp) -> Result<Seen, CliError> {
    let snapshot = snapshot::load(dir).map_err(|error| {
        CliError::failed("--from", error.to_string(), "name a folder with clusters/<name>/*.yaml, or a must-gather")
    })?;
    for problem in &snapshot.problems {
        context.note(&problem.to_string());
    }
    let Snapshot { now, clusters, problems } = snapshot;
    tracing::info!(clusters = clusters.len(), problems = problems.len(), "read a snapshot folder");
    let now = now.unwrap_or(wall);
    let known = clusters.iter().map(|cluster| known_cluster(cluster, config)).collect();
    let namespaces = clusters.iter().flat_map(|cluster| cluster.recorded.namespaces()).collect();
    let unreachable = clusters.iter().any(|cluster| cluster.recorded.coverage.unreachable.is_some());
    let recordings = clusters.into_iter().map(|cluster| (cluster.name, cluster.recorded)).collect::<BTreeMap<_, _>>();
    let domains = std::mem::take(&mut config.domains.0);
    let (world, judgements) = recorded(&domains, known, &recordings, &digester()?, now);
    let reading = if problems.is_empty() && !unreachable { InputReading::Whole } else { InputReading::Gaps };
    let sight = ObservedFleet::Folder { world, judgements, domains };
    let (conditions, tombstones) = (Conditions::at(now), Vec::new());
    Ok(Seen { sight, now, reading, namespaces, conditions, tombstones, tried: Tried::new() })
}

/// What the world is told of a recorded cluster.
fn known_cluster(cluster: &SnapshotCluster, config: &Config) -> Cluster {
    let host: Option<&ClusterName> = cluster.hosted_by.as_ref().map(|by| &by.cluster);
    Cluster {
        name: cluster.name.clone(),
        class: cluster.class.unwrap_or_else(|| config.clusters.class_of(&cluster.name, host)),
        source: used_from(cluster, config),
        hosted_by: cluster.hosted_by.clone(),
        link: Link::Recorded,
        identity: cluster.identity.clone(),
        served: Served::Recorded(cluster.served.clone()),
    }
}

/// Where it comes from; of a recorded account, the config says from where it is used.
fn used_from(cluster: &SnapshotCluster, config: &Config) -> ClusterSource {
    let ClusterSource::Cloud { provider, account, .. } = &cluster.source else { return cluster.source.clone() };
    let is_meant = |named: &&CloudAccount| {
        named.provider == *provider && cluster.name.as_str() == format!("{}:{}", provider.as_str(), named.alias)
    };
    let named = config.clouds.iter().find(is_meant);
    let patterns = named.into_iter().flat_map(|named| &named.management_clusters).map(Glob::to_string);
    ClusterSource::Cloud { provider: *provider, account: account.clone(), used_from: patterns.collect() }
}

/// A digester with a key of this run.
pub fn digester() -> Result<Digester, CliError> {
    let mut key = zeroize::Zeroizing::new([0; 32]);
    let provider = rustls::crypto::ring::default_provider();
    provider.secure_random.fill(&mut *key).map_err(|_| {
        CliError::failed("", "the system gives no random numbers", "check that /dev/urandom can be read")
    })?;
    Ok(Digester::new(&key))
}
