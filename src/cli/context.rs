//! What every command stands on: the arguments, the environment, the terminal and the config.

use super::args::Globals;
use super::error::CliError;
use super::terminal::{Terminal, write_stderr};
use crate::config::{Config, ConfigError, ConfigFile, read_config};
use crate::domains::registry;
use crate::fleet::Env;

/// Made once, at the start.
pub struct Context {
    pub globals: Globals,
    pub env: Env,
    pub terminal: Terminal,
}

impl Context {
    pub fn new(globals: Globals, env: Env) -> Self {
        let terminal = Terminal::look(globals.color, &|name| env.raw(name).map(ToOwned::to_owned));
        Self { globals, env, terminal }
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

    /// Says something beside the result, one line.
    pub fn note(&self, text: &str) {
        write_stderr(&self.terminal.safe(text));
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
