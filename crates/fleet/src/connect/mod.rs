//! The fleet: how to reach each cluster.
//!
//! A [`Connector`] makes a [`Connection`]; [`LinkMachine`] says when to make one and when to try again; [`send`] asks
//! for bytes over it and [`classify`] says what it means when none come.
//!
//! Invariants:
//! - credentials live in [`SecretText`] and in nothing that can be shown;
//! - a kubeconfig that came out of a cluster runs no command and reads no file.
//!
//! Elsewhere: lists and watches (`observe`), what is known (`world`).

mod change_watcher;
pub mod classify;
mod connector;
pub mod discovery;
mod env;
mod exec;
mod guest;
pub mod identity;
mod kubeconfig;
mod link;
mod local;
mod permissions;
mod plugins;
mod probe;
pub mod send;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod transport;
mod well_known;

pub use change_watcher::{ChangeEvent, ChangeWatcher};
pub use connector::{Connector, FixedConnector, KubeconfigConnector, LinkError};
pub use env::Env;
pub use exec::{Credential, ExecError, on_terminal as plugin_on_terminal, read as read_credential};
pub(crate) use guest::is_object_name;
pub use guest::{GuestConnector, GuestError, GuestSecrets, GuestSetup, SecretRead};
pub use kubeconfig::{
    Access, Bearer, ExecSpec, ExecVersion, IN_CLUSTER, Impersonation, Kubeconfig, KubeconfigError, NeedsTerminal, Part,
    Places, PodAccount, Selection, Trust,
};
pub use link::{Jitter, LinkEffect, LinkEvent, LinkMachine};
pub use local::LocalConnector;
pub use permissions::permissions;
pub use plugins::{PluginApprovals, PluginId, PluginPolicy, PluginQuestion};
pub use probe::{ProbePlace, Probed, probe};
pub use text::nearest as nearest_names;
pub use transport::{
    BadImpersonation, Clock, Connection, GuestOrigin, IdleConnections, LoginError, OpenError, ServerClock, TlsTrust,
};
pub use well_known::{Fetched, WellKnown, fetch as fetch_well_known};
