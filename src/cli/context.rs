//! What every command stands on: the arguments, the environment, the terminal and the config.

use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::args::Globals;
use super::error::CliError;
use super::terminal::{Terminal, write_stderr};
use crate::config::{Config, ConfigError, ConfigFile, read_config};
use crate::console::ReplySender;
use crate::console::task::TaskReply;
use trueup_checks::registry;
use trueup_fleet::connect::Env;

/// Made once, at the start.
pub struct Context {
    pub globals: Globals,
    pub env: Env,
    pub terminal: Terminal,
    /// Where the journal and the vault are, when it is not the user's own folder.
    pub state: Option<PathBuf>,
    pub voice: Voice,
}

/// Where things are said that stand beside the result.
pub enum Voice {
    Stderr,
    /// The console has the screen, and shows them there.
    Console(ReplySender),
}

impl Context {
    pub fn new(globals: Globals, env: Env) -> Self {
        let terminal = Terminal::look(globals.color, &|name| env.raw(name).map(ToOwned::to_owned));
        Self { globals, env, terminal, state: None, voice: Voice::Stderr }
    }

    /// Where the config is or would be.
    pub fn config_file(&self) -> ConfigFile {
        ConfigFile::locate(self.globals.config.clone(), |name| self.env.raw(name).map(ToOwned::to_owned))
    }

    /// Reads the config.
    ///
    /// # Errors
    /// It is named and missing, or something in it can't be meant as it stands.
    pub fn config(&self) -> Result<Config, CliError> {
        read_config(&self.config_file(), registry::entries()).map_err(config_error)
    }

    /// Where the state folder is or would be; nowhere when the environment names no home.
    pub fn state_path(&self) -> Option<PathBuf> {
        if self.state.is_some() {
            return self.state.clone();
        }
        // The XDG specification: a relative path there is to be ignored.
        let absolute = |name: &str| self.env.raw(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        base.map(|base| base.join("trueup"))
    }

    /// The zone the user wants times in.
    pub fn zone(&self) -> TimeZone {
        if self.globals.utc { TimeZone::UTC } else { TimeZone::system() }
    }

    /// `2026-11-16 10:00:00 UTC`, in the zone the user wants.
    pub fn time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// Says something beside the result, one line.
    pub fn note(&self, text: &str) {
        match &self.voice {
            Voice::Stderr => write_stderr(&self.terminal.safe(text)),
            Voice::Console(teller) => teller.tell(TaskReply::Notice { says: text.to_owned() }),
        }
    }
}

/// The error for a config that can't be used: every problem of the file, one a line.
pub fn config_error(error: ConfigError) -> CliError {
    let hint = match &error {
        ConfigError::Missing { .. } => "",
        ConfigError::Unreadable { .. } => "check its mode",
        ConfigError::Wrong { .. } => "",
    };
    let cause = match std::error::Error::source(&error) {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    };
    CliError::failed("", cause, hint)
}
