//! What one process operates with: settings, environment, clusters to connect to, state folder, flags, events.
//!
//! Invariants: a session never changes; what a plan file says is not part of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::error::OperateError;
use crate::event::Events;
use crate::settings::Settings;
use trueup_core::engine::MarkKey;
use trueup_core::engine::journal::{Holder, StateFolder};
use trueup_core::files;
use trueup_fleet::connect::{
    Clock, Connection, Connector as _, Env, Impersonation, Kubeconfig, KubeconfigConnector, KubeconfigError, Places,
    PluginPolicy, Selection,
};
use trueup_fleet::observe::WatchStart;

/// Everything an operation needs besides its own request.
pub struct Session {
    pub settings: Settings,
    pub env: Env,
    pub contexts: Contexts,
    /// The state folder with journal, vault and keys. Absent: the environment names no home.
    pub state: Option<PathBuf>,
    /// The key of plan marks that replicas share. Absent: the key of the state folder.
    pub shared_key: Option<Arc<MarkKey>>,
    /// `--read-only`.
    pub read_only: bool,
    /// `--allow-insecure-writes`.
    pub allow_insecure_writes: bool,
    /// Which credential plugins of the kubeconfig may run.
    pub plugins: PluginPolicy,
    /// When lists begin to be watched.
    pub watches: WatchStart,
    pub events: Events,
}

/// The contexts of the kubeconfig to connect to, and as whom.
#[derive(Debug, Clone, Default)]
pub struct Contexts {
    /// Absent: `KUBECONFIG` or the default file.
    pub kubeconfig: Option<PathBuf>,
    pub selection: Selection,
    pub impersonation: Impersonation,
}

impl Session {
    /// The state folder.
    ///
    /// # Errors
    /// The environment names no home.
    pub fn state_path(&self) -> Result<&Path, OperateError> {
        self.state.as_deref().ok_or(OperateError::NoStateFolder)
    }

    /// The state folder, when it exists.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn state_folder(&self) -> Result<Option<StateFolder>, OperateError> {
        Ok(StateFolder::look(self.state_path()?)?)
    }

    /// The key that marks plans: the shared one, or that of the state folder, made on first use.
    ///
    /// # Errors
    /// The state folder or the key cannot be used.
    pub fn mark_key(&self) -> Result<Arc<MarkKey>, OperateError> {
        if let Some(shared) = &self.shared_key {
            return Ok(shared.clone());
        }
        let folder = StateFolder::prepare(self.state_path()?)?;
        Ok(Arc::new(MarkKey::load_or_create(&folder)?))
    }

    /// The files of the kubeconfig.
    pub fn places(&self) -> Places {
        Places::new(self.contexts.kubeconfig.as_deref(), &self.env)
    }

    /// Reads the kubeconfig.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read_kubeconfig(&self) -> Result<Kubeconfig, KubeconfigError> {
        Kubeconfig::read(&self.places())
    }

    /// Connects to a context of the kubeconfig, as the user of the command line.
    ///
    /// # Errors
    /// There is no such context, or it cannot be connected to.
    pub async fn connect(&self, context: &str) -> Result<Connection, ContextError> {
        let failed = |why: String| ContextError(format!("context {context}: {why}"));
        let access = self.read_kubeconfig().and_then(|kubeconfig| kubeconfig.access(context));
        let access = access.map_err(|error| ContextError(error.to_string()))?;
        let (impersonation, env) = (self.contexts.impersonation.clone(), self.env.clone());
        let connector = KubeconfigConnector::new(access, impersonation, env, &self.plugins, wall_clock());
        connector.connect().await.map_err(|error| failed(error.to_string()))
    }

    /// The user who operates.
    pub fn user(&self) -> String {
        let named = ["USER", "LOGNAME"].into_iter().find_map(|name| self.env.raw(name));
        named.map_or_else(|| "unknown user".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The machine this process runs on.
    pub fn host(&self) -> String {
        let named = self.env.raw("HOSTNAME").map(|name| name.to_string_lossy().into_owned());
        let written =
            || files::read_text(Path::new("/etc/hostname"), HOST_NAME_FILE_MAX).ok().map(|text| text.trim().to_owned());
        named.or_else(written).filter(|name| !name.is_empty()).unwrap_or_else(|| "this machine".to_owned())
    }

    /// Who holds the journal, for a second process to read.
    pub(crate) fn holder(&self, operation: &str) -> Holder {
        Holder { name: format!("trueup {operation} by {} on {}", self.user(), self.host()), pid: std::process::id() }
    }
}

/// Why a context of the kubeconfig is not connected: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ContextError(String);

/// The longest host name has 64 characters.
const HOST_NAME_FILE_MAX: u64 = 4096;

/// The clock of this machine.
pub fn wall_clock() -> Clock {
    Arc::new(Timestamp::now)
}
