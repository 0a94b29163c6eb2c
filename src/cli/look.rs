//! Looking at the clusters: a folder or a fleet becomes a world with judgements.
//!
//! Always true: what could not be read is said on stderr and remembered for the exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use std::time::Duration;

use jiff::Timestamp;

use super::context::Context;
use super::error::CliError;
use crate::config::Config;
use crate::domains::Domain;
use crate::engine::{Conditions, InputReading, Judged, SubjectId};
use crate::fleet::snapshot::{self, Snapshot, SnapshotCluster};
use crate::live::{Judgements, recorded};
use crate::observe::Digester;
use crate::world::{Cluster, ClusterName, ClusterSource, Link, Served, View, World};

/// What was seen and judged.
pub struct Seen {
    pub world: World,
    pub judgements: Judgements,
    pub domains: Vec<Box<dyn Domain>>,
    pub now: Timestamp,
    pub reading: InputReading,
    /// Namespaces that are known to exist, judged or not.
    pub namespaces: BTreeSet<String>,
    /// What the clusters add to the gates: permissions, TLS, how long verdicts have held.
    pub conditions: Conditions,
}

impl Seen {
    pub fn view(&self) -> View<'_> {
        self.world.view(self.now)
    }

    /// Every subject with both answers.
    pub fn judged(&self) -> Vec<Judged> {
        let view = self.view();
        let judged = self.judgements.iter().filter_map(|(subject, held)| {
            let explanation = self.domain_of(subject)?.explain(subject, view)?;
            Some(Judged { subject: subject.clone(), judgement: held.judgement.clone(), explanation })
        });
        judged.collect()
    }

    fn domain_of(&self, subject: &SubjectId) -> Option<&dyn Domain> {
        self.domains.iter().find(|domain| domain.name() == subject.domain).map(AsRef::as_ref)
    }
}

/// Looks where the command line says: at a folder, or at live clusters.
///
/// # Errors
/// The place to look at can't be used at all. A cluster that can't be reached is no error: it is unknown.
pub async fn look(context: &Context, config: Config, settle: Duration) -> Result<(Seen, Config), CliError> {
    let wall = Timestamp::now();
    match context.globals.from.clone() {
        Some(dir) => look_at_folder(context, config, &dir, wall),
        None => look_at_fleet(context, config, settle, wall).await,
    }
}

/// Reads a snapshot folder and judges it.
///
/// # Errors
/// There is no such folder.
fn look_at_folder(context: &Context, config: Config, dir: &Path, wall: Timestamp) -> Result<(Seen, Config), CliError> {
    let snapshot = snapshot::load(dir).map_err(|error| {
        CliError::failed("--from", error.to_string(), "name a folder with clusters/<name>/*.yaml, or a must-gather")
    })?;
    for problem in &snapshot.problems {
        context.note(&problem.to_string());
    }
    let Snapshot { now, clusters, problems, environment: _, clouds: _ } = snapshot;
    let now = now.unwrap_or(wall);
    let known = clusters.iter().map(|cluster| known_cluster(cluster, &config)).collect();
    let namespaces = clusters.iter().flat_map(|cluster| cluster.recorded.namespaces()).collect();
    let unreachable = clusters.iter().any(|cluster| cluster.recorded.coverage.unreachable.is_some());
    let recordings = clusters.into_iter().map(|cluster| (cluster.name, cluster.recorded)).collect::<BTreeMap<_, _>>();
    let mut config = config;
    let domains = std::mem::take(&mut config.domains.0);
    let (world, judgements) = recorded(&domains, known, &recordings, &digester()?, now);
    let reading = if problems.is_empty() && !unreachable { InputReading::Whole } else { InputReading::Gaps };
    let seen = Seen { world, judgements, domains, now, reading, namespaces, conditions: Conditions::at(now) };
    Ok((seen, config))
}

/// Connects to the chosen contexts, watches until everything has settled, and judges.
async fn look_at_fleet(_: &Context, _: Config, _: Duration, _: Timestamp) -> Result<(Seen, Config), CliError> {
    Err(CliError::failed("live clusters", "are not in this build", "use --from with a snapshot folder"))
}

/// What the world is told of a recorded cluster.
fn known_cluster(cluster: &SnapshotCluster, config: &Config) -> Cluster {
    let host: Option<&ClusterName> = cluster.hosted_by.as_ref().map(|by| &by.cluster);
    Cluster {
        name: cluster.name.clone(),
        class: cluster.class.unwrap_or_else(|| config.clusters.class_of(&cluster.name, host)),
        source: ClusterSource::Snapshot,
        hosted_by: cluster.hosted_by.clone(),
        link: Link::Recorded,
        identity: cluster.identity.clone(),
        served: Served::Recorded(cluster.recorded.groups()),
    }
}

/// A digester with a key of this run.
pub fn digester() -> Result<Digester, CliError> {
    let mut key = zeroize::Zeroizing::new([0; 32]);
    rustls::crypto::ring::default_provider().secure_random.fill(&mut *key).map_err(|_| {
        CliError::failed("", "the system gives no random numbers", "check that /dev/urandom can be read")
    })?;
    Ok(Digester::new(&key))
}
