//! `trueup` on a terminal, `trueup --from DIR` there, and `trueup demo`: the console.
//!
//! Always true: the first frame is drawn before config, kubeconfig or network are touched.
//!
//! Exit codes: 0 when the user left; 1 when there is no terminal to draw on.

mod accepting;
mod acting;
mod aside;
pub mod console_settings;
mod live_handle;
mod live_services;
mod login;
mod memory;
mod objects;
mod saving;
mod supervisor;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::context::{Context, Voice};
use super::error::CliError;
use super::look::{self, ObservedFleet};
use super::{accounts, local, look_live, members, settle};
use crate::config::{ACCEPTED_FILE, Config};
use crate::console::ReplySender;
use crate::console::run::{Opening, Started, run as run_console};
use crate::console::task::Start;
use live_handle::LiveHandle;
use live_services::LiveServices;
use supervisor::Supervisor;
use trueup_core::engine::executor::REFERENCE_SCAN_AFTER;
use trueup_fleet::live::Live;

/// How many commands and updates may wait on their way.
const CHANNEL: usize = 64;

/// A fleet before its first step, with what the console needs to know of it.
pub struct Ready {
    pub live: Live,
    pub config: Config,
    pub kind: FleetKind,
    /// Where the journal and the vault are, when it is not the user's own folder.
    pub state: Option<PathBuf>,
    /// How long after a delete it is looked whether something refers to it now.
    pub reference_scan_after: Duration,
    /// What has to live as long as the console.
    pub keeps: Box<dyn Send>,
}

/// What is looked at.
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
    /// What the fleet is called in the title.
    fn name(&self) -> String {
        match self {
            Self::Demo => "demo".to_owned(),
            Self::Kubeconfig { .. } => "kubeconfig".to_owned(),
            Self::Folder(path) => path.display().to_string(),
        }
    }

    /// What it is remembered by. The demo begins anew each time.
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

/// Makes the fleet, once the first frame is drawn, and again when it broke.
pub type MakeFleet = Box<dyn FnMut(&Context) -> Result<Ready, CliError> + Send>;

/// What else could be looked at when there is nothing to look at, a line each.
pub type Instead = &'static [&'static str];

pub const INSTEAD_OF_CLUSTERS: Instead =
    &["Look around without a cluster: trueup demo", "Read a folder instead: trueup plan --from DIR"];
pub const INSTEAD_OF_FOLDER: Instead = &["Look around without a folder: trueup demo"];
pub const INSTEAD_OF_DEMO: Instead = &["Read a folder instead: trueup plan --from DIR"];

/// Whether there is a person at a terminal to draw for.
pub fn is_possible() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// The console on the user's clusters.
pub fn on_kubeconfig() -> MakeFleet {
    Box::new(|context| {
        let mut config = context.config()?;
        let mut members = members::members(context, &config.clusters)?;
        let mut contexts: Vec<String> = members.iter().map(|member| member.name.to_string()).collect();
        // In whatever order they were named, they are the same fleet.
        contexts.sort();
        members.extend(local::member(context, &config, &members));
        // The first frame is drawn by now; an account's id is part of the names of what is found there.
        let accounts = async { accounts::members(context, &config).await };
        let accounts = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(accounts));
        members.extend(accounts);
        let door = look_live::guests(context, &config);
        let live = look_live::make(&mut config, members, door)?;
        Ok(Ready {
            live,
            config,
            kind: FleetKind::Kubeconfig { contexts },
            state: None,
            reference_scan_after: REFERENCE_SCAN_AFTER,
            keeps: Box::new(()),
        })
    })
}

/// The console on a folder: everything can be looked at and planned, nothing can be sent.
pub fn on_folder(folder: PathBuf) -> MakeFleet {
    Box::new(move |context| {
        let mut config = context.config()?;
        let seen = look::look_at_folder(context, &mut config, &folder, Timestamp::now())?;
        let live = match seen.sight {
            ObservedFleet::Folder { world, judgements, domains } => {
                Live::from_snapshot(domains, world, judgements, seen.now, look::digester()?)
            }
            ObservedFleet::Fleet(live) => *live,
        };
        Ok(Ready {
            live,
            config,
            kind: FleetKind::Folder(folder.clone()),
            state: None,
            reference_scan_after: REFERENCE_SCAN_AFTER,
            keeps: Box::new(()),
        })
    })
}

/// Opens the console and runs it until the user leaves.
///
/// # Errors
/// There is no terminal, or it is gone.
pub async fn run(context: Context, make: MakeFleet, instead: Instead) -> Result<u8, CliError> {
    let opening = Opening {
        depth: console_settings::depth(&context),
        signs: console_settings::signs(&context),
        zone: console_settings::zone(&context),
        is_tmux: context.env.raw("TMUX").is_some(),
        instead,
        start: Box::new(move |teller| start(context, make, teller)),
    };
    run_console(opening).await.map(|()| 0).map_err(|error| {
        CliError::failed("the console", format!("the terminal can't be used ({error})"), "try trueup plan instead")
    })
}

fn start(mut context: Context, mut make: MakeFleet, tell: ReplySender) -> BoxFuture<'static, Result<Started, String>> {
    async move {
        context.voice = Voice::Console(tell.clone());
        // Aside: a large folder takes seconds to read, and keys are answered meanwhile.
        let made = tokio::task::spawn_blocking(move || {
            let ready = make(&context);
            (context, make, ready)
        });
        let (mut context, make, ready) = made.await.map_err(|_| "starting broke; run with --log FILE".to_owned())?;
        let Ready { live, config, kind, state, reference_scan_after, keeps } =
            ready.map_err(|error| error.to_string())?;
        context.state = state.or(context.state);
        let (mut remembered, mut notices) = (None, Vec::new());
        let memory = kind.memory_key().zip(context.state_path());
        if let Some((key, state)) = &memory {
            match memory::recall(state, key) {
                Ok(known) => remembered = known,
                Err(says) => notices.push(says),
            }
        }
        let folder = companions(&context, &kind);
        let (looks, mut furnishing) = console_settings::furnish(&context, &config, folder.as_deref(), remembered);
        furnishing.notices.extend(notices);
        let start = Start {
            checks: live.domains().iter().map(|domain| (domain.name(), domain.description())).collect(),
            read_only: read_only(&context, &config, &kind),
            fleet: kind.name(),
            user: settle::who(&context),
        };
        let (context, config) = (Arc::new(context), Arc::new(config));
        let (commands, inbox) = mpsc::channel(CHANNEL);
        let (outbox, updates) = mpsc::channel(CHANNEL);
        let keeper = Supervisor { context: context.clone(), make, tell: tell.clone() };
        tokio::spawn(keeper.keep(live, inbox, outbox));
        let fleet = LiveHandle { context, config, commands, reference_scan_after, accepted: Arc::default() };
        if let FleetKind::Kubeconfig { .. } = &kind {
            tokio::spawn(supervisor::follow_ways(fleet.weak()));
        }
        if let Some(folder) = &folder {
            let settings = fleet.config.console.clone();
            tokio::spawn(supervisor::follow_decoration(settings, folder.clone(), tell.clone()));
        }
        let log = fleet.context.globals.log.clone();
        let accepted_file = folder.map(|folder| folder.join(ACCEPTED_FILE));
        let asides = aside::Asides::default();
        let crew =
            LiveServices { fleet, tell, stop: Arc::default(), log, asides, kind, memory, accepted_file, _keeps: keeps };
        Ok(Started { render: looks, settings: furnishing, start, services: Box::new(crew), updates })
    }
    .boxed()
}

/// Where the user's keys, themes and accepted findings are. The demo looks the same everywhere.
fn companions(context: &Context, kind: &FleetKind) -> Option<PathBuf> {
    match kind {
        FleetKind::Demo if context.globals.config.is_none() => None,
        FleetKind::Demo | FleetKind::Kubeconfig { .. } | FleetKind::Folder(_) => {
            context.config_file().folder().map(PathBuf::from)
        }
    }
}

/// Why nothing may be written, when that is so.
fn read_only(context: &Context, config: &Config, kind: &FleetKind) -> Option<String> {
    if let FleetKind::Folder(_) = kind {
        return Some("this is a recording; w writes the plan for trueup apply".to_owned());
    }
    match (context.globals.read_only, config.safety.read_only) {
        (true, _) => Some("started with --read-only".to_owned()),
        (false, true) => Some("the config says so".to_owned()),
        (false, false) => None,
    }
}
