//! `trueup` on a terminal, `trueup --from DIR` there, and `trueup demo`: the console.
//!
//! Invariants: the first frame is drawn before config, kubeconfig or network are touched.
//!
//! Exit codes: 0 when the user quits; 1 when the terminal cannot be used.

#![expect(clippy::disallowed_methods, reason = "the console is given the clock")]

mod accepting;
mod background;
mod bundling;
pub mod console_settings;
mod live_services;
mod login;
mod memory;
mod objects;
mod recorder;
mod references;
mod reload;
mod replaying;
mod saving;
mod tasks;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

use super::context::{Context, Notices};
use super::error::CliError;
use super::fleet::{self, CheckFilter, Source};
use crate::cli::terminal::write_stderr;
use crate::config::{ACCEPTED_FILE, Config, ConsoleSettings};
use crate::console::ReplySender;
use crate::console::run::{OpenRecording, Opening, Started, run as run_console};
use crate::console::task::{ReadOnly, Start};
use live_services::LiveServices;
use recorder::RecordingFile;
pub use replaying::run as run_replay;
use trueup_core::engine::executor::REFERENCE_SCAN_AFTER;
use trueup_fleet::live::Live;
use trueup_operate::{Fleet, MakeLive, OperateError, Session, follow_kubeconfig};

/// A fleet for the console, before it is connected.
pub struct ConsoleFleet {
    pub session: Arc<Session>,
    pub make: MakeLive,
    pub settings: ConsoleSettings,
    pub kind: FleetKind,
    /// How long after the last delete references are scanned once more.
    pub reference_scan_after: Duration,
    /// Dropped when the console exits.
    pub keeps: Box<dyn Send>,
}

/// Where the fleet comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetKind {
    Demo,
    /// These contexts of the kubeconfig, and their guests.
    Kubeconfig {
        contexts: Vec<String>,
    },
    Folder(PathBuf),
}

impl FleetKind {
    /// Name of the fleet in the title.
    fn name(&self) -> String {
        match self {
            Self::Demo => "demo".to_owned(),
            Self::Kubeconfig { .. } => "kubeconfig".to_owned(),
            Self::Folder(path) => path.display().to_string(),
        }
    }

    /// Key of the saved view state. The demo has none.
    fn memory_key(&self) -> Option<String> {
        match self {
            Self::Demo => None,
            Self::Kubeconfig { contexts } => Some(format!("contexts {}", contexts.join(" "))),
            Self::Folder(path) => {
                let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                Some(format!("folder {}", whole.display()))
            }
        }
    }
}

/// Reads the configuration and prepares the fleet, once the first frame is drawn.
pub type OpenFleet = Box<dyn FnOnce(&Context) -> Result<ConsoleFleet, CliError> + Send>;

/// Advice when no fleet can be opened, one line each.
pub type Instead = &'static [&'static str];

pub const INSTEAD_OF_CLUSTERS: Instead =
    &["Try it without a cluster: trueup demo", "Read a folder instead: trueup plan --from DIR"];
pub const INSTEAD_OF_FOLDER: Instead = &["Try it without a folder: trueup demo"];
pub const INSTEAD_OF_DEMO: Instead = &["Read a folder instead: trueup plan --from DIR"];

/// Whether stdin and stdout are terminals.
pub fn is_possible() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// The console on the user's clusters.
pub fn on_kubeconfig() -> OpenFleet {
    Box::new(|context| {
        let mut config = context.config()?;
        let session = Arc::new(context.session(config.settings.clone()));
        let selected = session.read_kubeconfig().and_then(|kubeconfig| kubeconfig.select(&session.contexts.selection));
        let mut contexts = selected.map_err(|error| CliError::operate("", &error.into()))?;
        // The same contexts in another order are the same fleet.
        contexts.sort();
        let make = fleet::make(context, &session, &mut config, Source::Contexts, CheckFilter::All);
        Ok(opened(session, make, config, FleetKind::Kubeconfig { contexts }))
    })
}

/// The console on a folder: everything can be shown and planned, nothing can be sent.
pub fn on_folder(folder: PathBuf) -> OpenFleet {
    Box::new(move |context| {
        let mut config = context.config()?;
        let session = Arc::new(context.session(config.settings.clone()));
        let make = fleet::make(context, &session, &mut config, Source::Folder(folder.clone()), CheckFilter::All);
        Ok(opened(session, make, config, FleetKind::Folder(folder)))
    })
}

fn opened(session: Arc<Session>, make: MakeLive, config: Config, kind: FleetKind) -> ConsoleFleet {
    let (settings, keeps) = (config.console, Box::new(()));
    ConsoleFleet { session, make, settings, kind, reference_scan_after: REFERENCE_SCAN_AFTER, keeps }
}

/// Opens the console and runs it until the user leaves.
///
/// # Errors
/// The terminal cannot be used.
pub async fn run(context: Context, open: OpenFleet, instead: Instead) -> Result<u8, CliError> {
    let recording = context.globals.record.as_deref().map(RecordingFile::create).transpose()?;
    let (size, terminal) = (recording.as_ref().map(RecordingFile::size), context.terminal);
    let opening = Opening {
        depth: console_settings::depth(&context),
        dialect: console_settings::dialect(&context),
        signs: console_settings::signs(&context),
        zone: console_settings::zone(&context),
        is_tmux: context.env.raw("TMUX").is_some(),
        instead,
        clock: Box::new(Timestamp::now),
        record: recording.map(|file| -> OpenRecording { Box::new(move |replies| file.open(replies)) }),
        start: Box::new(move |replies| start(context, open, replies)),
    };
    let ended = run_console(opening).await;
    if let Some(size) = size {
        write_stderr(&terminal.safe(&size.message()));
    }
    ended.map(|()| 0).map_err(no_terminal)
}

fn no_terminal(error: std::io::Error) -> CliError {
    CliError::failed("the console", format!("cannot use the terminal ({error})"), "try trueup plan instead")
}

fn start(mut context: Context, open: OpenFleet, replies: ReplySender) -> BoxFuture<'static, Result<Started, String>> {
    async move {
        context.notices = Notices::Console(replies.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let opened = open(&context);
            (context, opened)
        });
        let (context, opened) =
            opened.await.map_err(|_| "internal error at the start; run with --log FILE".to_owned())?;
        let ConsoleFleet { session, make, settings, kind, reference_scan_after, keeps } =
            opened.map_err(|error| error.to_string())?;
        let failed = |error: OperateError| CliError::operate("", &error).to_string();
        let (fleet, updates) = Fleet::start(session.clone(), make).await.map_err(failed)?;
        let (mut remembered, mut notices) = (None, Vec::new());
        let memory = kind.memory_key().zip(session.state.clone());
        if let Some((key, state)) = &memory {
            match memory::recall(state, key) {
                Ok(known) => remembered = known,
                Err(message) => notices.push(message),
            }
        }
        let folder = user_folder(&context, &kind);
        let accepted = &session.settings.accept;
        let (render, mut model_settings) =
            console_settings::build(&context, &settings, accepted, folder.as_deref(), remembered);
        model_settings.notices.extend(notices);
        if context.globals.record.is_some() {
            model_settings.local = recorder::named_zone(model_settings.local);
        }
        let described = |live: &Live| {
            let checks = live.domains().iter();
            checks.map(|check| (check.name(), check.description())).collect()
        };
        let clock = fleet.ask(|live: &Live| live.view().now).await.map_err(failed)?;
        let taken_at = Some(clock).filter(|at| Timestamp::now().duration_since(*at) > RECORDED_AGE_MIN);
        let start = Start {
            checks: fleet.ask(described).await.map_err(failed)?,
            read_only: read_only(&session, &kind, taken_at),
            fleet: kind.name(),
            user: session.user(),
            offers_tour: kind == FleetKind::Demo,
        };
        if let FleetKind::Kubeconfig { .. } = &kind {
            tokio::spawn(follow_kubeconfig(fleet.weak()));
        }
        if let Some(folder) = &folder {
            tokio::spawn(reload::follow_settings(settings, folder.clone(), replies.clone()));
        }
        let log = context.globals.log.clone();
        let accepted_file = folder.map(|folder| folder.join(ACCEPTED_FILE));
        let background = background::BackgroundWork::default();
        let services = LiveServices {
            fleet,
            replies,
            stop: Arc::default(),
            log,
            background,
            kind,
            reference_scan_after,
            memory,
            accepted_file,
            _keeps: keeps,
        };
        let history = Vec::new();
        Ok(Started { render, settings: model_settings, start, services: Box::new(services), history, updates })
    }
    .boxed()
}

/// The folder of the user's keys, themes and accepted findings. The demo uses none.
fn user_folder(context: &Context, kind: &FleetKind) -> Option<PathBuf> {
    match kind {
        FleetKind::Demo if context.globals.config.is_none() => None,
        FleetKind::Demo | FleetKind::Kubeconfig { .. } | FleetKind::Folder(_) => {
            context.config_file().folder().map(PathBuf::from)
        }
    }
}

/// A recording without a time of its own is judged at the time it is opened, which says nothing of its age.
const RECORDED_AGE_MIN: SignedDuration = SignedDuration::from_mins(1);

/// Why writes are disabled, if they are.
fn read_only(session: &Session, kind: &FleetKind, taken_at: Option<Timestamp>) -> Option<ReadOnly> {
    if let FleetKind::Folder(_) = kind {
        return Some(ReadOnly::Recording { taken_at });
    }
    match (session.read_only, session.settings.safety.read_only) {
        (true, _) => Some(ReadOnly::Flag),
        (false, true) => Some(ReadOnly::Config),
        (false, false) => None,
    }
}
