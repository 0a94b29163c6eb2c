//! `trueup run`: the controller, in a cluster.
//!
//! Exit codes: 0 after SIGTERM or SIGINT, once the action in flight has ended and the Leases are released; 1 otherwise.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;

use super::args::RunArgs;
use super::context::Context;
use super::error::CliError;
use super::fleet::{self, CheckFilter, Source};
use crate::config::CONFIG_BYTES_MAX;
use trueup_controller::kube_api::KubeApi;
use trueup_controller::lease::ReplicaId;
use trueup_controller::metrics::Metrics;
use trueup_controller::run::{JournalPlace, Setup, Stop, run as run_controller};
use trueup_controller::serve::Server;
use trueup_controller::settings::{ClusterScope, config_digest};
use trueup_core::engine::journal::StateFolder;
use trueup_core::files;
use trueup_operate::{Event, Events, Fleet, OperateError, Session, connect_context, follow_kubeconfig};

const DOING: &str = "run";

pub async fn run(context: &Context, args: &RunArgs) -> Result<u8, CliError> {
    let failed = |error: OperateError| CliError::operate(DOING, &error);
    if context.globals.from.is_some() {
        return Err(CliError::usage(DOING, "a snapshot folder has no cluster to run in", "leave --from out"));
    }
    let mut config = context.config()?;
    let settings = config.controller.clone();
    let session = Session {
        state: durable_state(context).map(|base| base.join("trueup")),
        events: events(),
        ..context.session(config.settings.clone())
    };
    let kubeconfig = session.read_kubeconfig().map_err(|error| failed(error.into()))?;
    let names = kubeconfig.select(&session.contexts.selection).map_err(|error| failed(error.into()))?;
    let Some(hub_context) = names.first() else {
        return Err(CliError::usage(
            DOING,
            "no context is selected",
            "name the controller's own cluster with --context",
        ));
    };
    let (client, namespace) = connect_context(&session, hub_context).await.map_err(failed)?;
    let (namespace, pod) = (args.namespace.clone().unwrap_or(namespace), pod(context, &session));
    let hub = KubeApi { client, namespace, pod };
    let key = hub.shared_key().await.map_err(|error| {
        CliError::failed(DOING, error.to_string(), "grant get and update on it; see deploy/base/rbac.yaml")
    })?;
    let session = Arc::new(Session { shared_key: Some(key.clone()), ..session });
    let journal = journal_place(&session);
    note_settings(&journal, &settings.clusters);
    let make = fleet::make(context, &session, &mut config, Source::Contexts, CheckFilter::All);
    let (fleet, updates) = Fleet::start(session, make).await.map_err(failed)?;
    tokio::spawn(follow_kubeconfig(fleet.weak()));

    let metrics = Arc::new(Metrics::default());
    let server = Server::bind(args.listen, metrics.clone()).await.map_err(|error| {
        CliError::failed(DOING, format!("cannot listen on {} ({error})", args.listen), "name another with --listen")
    })?;
    let served = tokio::spawn(server.run());
    let stop = Arc::new(Stop::default());
    let signalled = stop.clone();
    tokio::spawn(async move {
        if super::interrupted().await.is_ok() {
            tracing::info!("stopping after the action in flight");
            signalled.stop();
        }
    });
    let replica = ReplicaId::new(format!("{}_{:016x}", hub.pod, RandomState::new().build_hasher().finish()));
    tracing::info!(replica = replica.as_str(), namespace = hub.namespace, shards = settings.shards, "started");
    let config_hash = config_hash(context);
    let setup = Setup { fleet, updates, hub, settings, key, journal, config_hash, replica, metrics, stop };
    let result = run_controller(setup).await.map_err(failed);
    served.abort();
    result.map(|()| 0)
}

/// The folder that the environment names for state. A home folder does not count: in a pod it ends with the container.
fn durable_state(context: &Context) -> Option<std::path::PathBuf> {
    context.env.raw("XDG_STATE_HOME").map(std::path::PathBuf::from).filter(|path| path.is_absolute())
}

/// Whether there is a place for the journal.
fn journal_place(session: &Session) -> JournalPlace {
    let missing = |why: String| JournalPlace::Missing { why };
    match &session.state {
        None => missing("there is no durable journal; set XDG_STATE_HOME to a folder on a volume".to_owned()),
        Some(path) => match StateFolder::prepare(path) {
            Ok(_) => JournalPlace::Durable,
            Err(error) => missing(format!("{error}; {}", error.remedy())),
        },
    }
}

fn note_settings(journal: &JournalPlace, clusters: &std::collections::BTreeSet<ClusterScope>) {
    if let JournalPlace::Missing { why } = journal {
        tracing::warn!(why, "nothing is applied");
    }
    for scope in [ClusterScope::Workloads, ClusterScope::Profiles] {
        if clusters.contains(&scope) {
            tracing::warn!(source = scope.as_str(), "[controller] clusters names a source this version does not read");
        }
    }
}

/// What happens beside results goes into the log.
fn events() -> Events {
    Events::new(|event| match event {
        Event::Notice(notice) => tracing::info!(notice = %notice, "notice"),
        Event::Reading(_) => {}
        Event::WatchEnded(why) => tracing::error!(why, "the fleet is no longer watched"),
    })
}

/// The name of the pod, as the manifests pass it.
fn pod(context: &Context, session: &Session) -> String {
    let named = context.env.raw("POD_NAME").map(|name| name.to_string_lossy().into_owned());
    let name = named.unwrap_or_else(|| session.host());
    // Part of the name of an object.
    let allowed = |letter: char| match letter.to_ascii_lowercase() {
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    };
    name.chars().map(allowed).collect::<String>().trim_matches('-').to_owned()
}

/// The hash of the configuration file, which the journal names beside a rule.
fn config_hash(context: &Context) -> String {
    let file = context.config_file();
    let path = match &file {
        crate::config::ConfigFile::Named(path) | crate::config::ConfigFile::Default(path) => path.as_path(),
        crate::config::ConfigFile::Nowhere => Path::new(""),
    };
    let text = files::read_text(path, CONFIG_BYTES_MAX).map(|text| text.to_string()).unwrap_or_default();
    config_digest(text.as_bytes())
}
