//! What every command starts from: arguments, environment, terminal and configuration.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::args::Globals;
use super::error::CliError;
use super::terminal::{ProgressLine, Terminal, write_stderr};
use crate::config::{Config, ConfigError, ConfigFile, read_config};
use crate::console::ReplySender;
use crate::console::task::TaskReply;
use trueup_checks::registry;
use trueup_fleet::connect::{Env, Impersonation, PluginPolicy, Selection};
use trueup_fleet::observe::WatchStart;
use trueup_operate::{Contexts, Event, Events, KeptApprovals, Session, Settings};

/// Created once, at the start.
#[derive(Clone)]
pub struct Context {
    pub globals: Globals,
    pub env: Env,
    pub terminal: Terminal,
    pub notices: Notices,
}

/// Where notices are shown.
#[derive(Clone)]
pub enum Notices {
    Stderr,
    /// On stderr, each once: a server would repeat what it cannot read at every request.
    Once(Arc<Mutex<BTreeSet<String>>>),
    /// The console has the screen, and shows them.
    Console(ReplySender),
}

/// Different notices of one run that are shown: a server that runs for weeks keeps no more.
const KNOWN_MAX: usize = 1_000;

impl Context {
    pub fn new(globals: Globals, env: Env) -> Self {
        let terminal = Terminal::detect(globals.color, &|name| env.raw(name).map(ToOwned::to_owned));
        Self { globals, env, terminal, notices: Notices::Stderr }
    }

    /// The path of the config file, which may not exist.
    pub fn config_file(&self) -> ConfigFile {
        ConfigFile::locate(self.globals.config.clone(), |name| self.env.raw(name).map(ToOwned::to_owned))
    }

    /// Reads the config.
    ///
    /// # Errors
    /// A named file is missing, or the file has problems.
    pub fn config(&self) -> Result<Config, CliError> {
        read_config(&self.config_file(), registry::entries()).map_err(config_error)
    }

    /// The path of the state folder, if the environment names a home.
    pub fn state_path(&self) -> Option<PathBuf> {
        // XDG Base Directory Specification: relative paths must be ignored.
        let absolute = |name: &str| self.env.raw(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        base.map(|base| base.join("trueup"))
    }

    /// The time zone of the output.
    pub fn zone(&self) -> TimeZone {
        if self.globals.utc { TimeZone::UTC } else { TimeZone::system() }
    }

    /// `2026-11-16 10:00:00 UTC`, in the time zone of the output.
    pub fn time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// Shows a notice.
    pub fn note(&self, text: &str) {
        match &self.notices {
            Notices::Stderr => write_stderr(&self.terminal.safe(text)),
            Notices::Once(known) => {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                if known.len() < KNOWN_MAX && known.insert(text.to_owned()) {
                    write_stderr(&self.terminal.safe(text));
                }
            }
            Notices::Console(replies) => replies.send(TaskReply::Notice { message: text.to_owned() }),
        }
    }

    /// The session of this process.
    pub fn session(&self, settings: Settings) -> Session {
        let globals = &self.globals;
        let selection = match (globals.all_contexts, globals.contexts.is_empty()) {
            (true, _) => Selection::All,
            (false, true) => Selection::Current,
            (false, false) => Selection::Named(globals.contexts.clone()),
        };
        let (user, groups) = (globals.act_as.clone(), globals.act_as_groups.clone());
        Session {
            plugins: self.plugins(&settings),
            settings,
            env: self.env.clone(),
            contexts: Contexts {
                kubeconfig: globals.kubeconfig.clone(),
                selection,
                impersonation: Impersonation { user, groups, ..Impersonation::default() },
            },
            state: self.state_path(),
            shared_key: None,
            read_only: globals.read_only,
            allow_insecure_writes: globals.allow_insecure_writes,
            watches: WatchStart::default(),
            events: self.events(),
        }
    }

    /// Which credential plugins may run. Without a list, headless commands run all, as kubectl does; the console runs those
    /// the user approved.
    fn plugins(&self, settings: &Settings) -> PluginPolicy {
        match (&settings.exec_allow, &self.notices) {
            (Some(listed), _) => PluginPolicy::Listed(listed.as_slice().into()),
            (None, Notices::Stderr | Notices::Once(_)) => PluginPolicy::Any,
            (None, Notices::Console(_)) => {
                PluginPolicy::Approved(Arc::new(KeptApprovals::read(self.state_path().as_deref())))
            }
        }
    }

    fn events(&self) -> Events {
        let (context, progress) = (self.clone(), ProgressLine::default());
        Events::new(move |event| match (event, &context.notices) {
            (Event::Notice(notice), _) => context.note(&notice.to_string()),
            (Event::Reading(clusters), Notices::Stderr | Notices::Once(_)) => {
                progress.show(&context.terminal, &clusters)
            }
            (Event::WatchEnded(message), Notices::Stderr | Notices::Once(_)) => context.note(&message),
            (Event::Reading(_), Notices::Console(_)) => {}
            (Event::WatchEnded(message), Notices::Console(replies)) => replies.send(TaskReply::NotStarted { message }),
        })
    }
}

/// The error for an invalid config: every problem of the file, one per line.
pub fn config_error(error: ConfigError) -> CliError {
    let hint = match &error {
        ConfigError::Missing { .. } => "",
        ConfigError::Unreadable { .. } => "check its mode",
        ConfigError::WritableByOthers { .. } | ConfigError::OwnedByAnother { .. } | ConfigError::Wrong { .. } => "",
    };
    let cause = match std::error::Error::source(&error) {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    };
    CliError::failed("", cause, hint)
}
