//! The fleet a command line names: a snapshot folder, or the contexts of the kubeconfig.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use tokio::sync::mpsc;

use super::context::Context;
use super::error::CliError;
use crate::config::Config;
use trueup_checks::Check;
use trueup_core::engine::Glob;
use trueup_core::world::ClusterName;
use trueup_fleet::live::Update;
use trueup_fleet::observe::WatchStart;
use trueup_operate::{Fleet, MakeLive, OperateError, Reach, Session, connect_contexts, read_folder};

/// Where the clusters of a fleet are.
#[derive(Debug, Clone)]
pub enum Source {
    Contexts,
    Folder(PathBuf),
}

impl Source {
    /// The source that the command line names.
    pub fn of(context: &Context) -> Self {
        context.globals.from.clone().map_or(Self::Contexts, Self::Folder)
    }
}

/// The checks a command is about. What the others need is not observed.
#[derive(Debug, Clone)]
pub enum CheckFilter {
    All,
    Named(Vec<Glob>),
}

impl CheckFilter {
    /// The checks that the globs of `--domain` match; no glob means all.
    pub fn of(globs: Vec<Glob>) -> Self {
        if globs.is_empty() { Self::All } else { Self::Named(globs) }
    }

    fn keep(&self, mut checks: Vec<Box<dyn Check>>) -> Vec<Box<dyn Check>> {
        match self {
            Self::All => {}
            Self::Named(globs) => checks.retain(|check| globs.iter().any(|glob| glob.matches(check.name().0))),
        }
        checks
    }
}

/// Makes the live loop of a fleet. Its checks are those of `config` that the filter keeps; after a panic the
/// configuration is read again.
pub fn make(
    context: &Context,
    session: &Arc<Session>,
    config: &mut Config,
    source: Source,
    filter: CheckFilter,
) -> MakeLive {
    let checks = Arc::new(Mutex::new(Some(std::mem::take(&mut config.domains.0))));
    let (context, session) = (context.clone(), session.clone());
    Box::new(move || {
        let (context, session, source, checks) = (context.clone(), session.clone(), source.clone(), checks.clone());
        let filter = filter.clone();
        async move {
            let first = checks.lock().unwrap_or_else(PoisonError::into_inner).take();
            let checks = filter.keep(first.map_or_else(|| checks_again(&context), Ok)?);
            match source {
                Source::Contexts => connect_contexts(&session, checks).await,
                Source::Folder(folder) => {
                    // A large folder takes seconds to read.
                    let read = tokio::task::spawn_blocking(move || read_folder(&session, checks, &folder));
                    read.await.unwrap_or(Err(OperateError::Internal))
                }
            }
        }
        .boxed()
    })
}

fn checks_again(context: &Context) -> Result<Vec<Box<dyn Check>>, OperateError> {
    let config = context.config().map_err(|error| OperateError::Start(error.cause))?;
    Ok(config.domains.0)
}

/// Connects to the source of the command line. The fleet stops when its updates are dropped.
///
/// # Errors
/// The source cannot be used. A cluster that cannot be reached is unknown, which is not an error.
pub async fn start(
    context: &Context,
    mut config: Config,
    filter: CheckFilter,
    watches: WatchStart,
) -> Result<(Fleet, mpsc::Receiver<Update>), CliError> {
    let session = Arc::new(Session { watches, ..context.session(config.settings.clone()) });
    let make = make(context, &session, &mut config, Source::of(context), filter);
    Fleet::start(session, make).await.map_err(|error| CliError::operate("", &error))
}

/// The same, for a command that does not follow updates, with everything listed once.
///
/// # Errors
/// The source cannot be used.
pub async fn connect(context: &Context, mut config: Config) -> Result<(Fleet, Vec<ClusterName>), CliError> {
    let session = Arc::new(context.session(config.settings.clone()));
    let make = make(context, &session, &mut config, Source::of(context), CheckFilter::All);
    let failed = |error: OperateError| CliError::operate("", &error);
    let fleet = Fleet::connect(session, make).await.map_err(failed)?;
    let late = fleet.wait_listed().await.map_err(failed)?;
    Ok((fleet, late))
}

/// The live clusters of the command line, connected when they are first needed.
pub fn reach(context: &Context, mut config: Config) -> (Arc<Session>, Reach) {
    let session = Arc::new(context.session(config.settings.clone()));
    let reach = match Source::of(context) {
        Source::Contexts => {
            let make = make(context, &session, &mut config, Source::Contexts, CheckFilter::All);
            Reach::NotConnected(session.clone(), make)
        }
        Source::Folder(_) => Reach::Failed("a snapshot folder has no live clusters".to_owned()),
    };
    (session, reach)
}
