//! Kubeconfig files, or the ServiceAccount of a pod: find, read, merge, and pick what a connection needs out of them.
//!
//! Invariants:
//! - secrets are held in [`super::SecretText`]; no error quotes the file's content;
//! - a kubeconfig that came out of a Secret names no command to run and no file to read: such fields are refused;
//! - merging is kubectl's: per name the first file wins, and so does the first current-context that is set.
//!
//! Elsewhere: running exec plugins (`exec`), opening connections (`transport`).

mod access;
mod error;
mod file;
mod flat;
mod in_cluster;
mod merge;

pub use access::{Access, Bearer, ExecSpec, ExecVersion, Impersonation, NeedsTerminal};
pub use error::{KubeconfigError, Part};
pub use in_cluster::{IN_CLUSTER, PodAccount};
pub use merge::{Kubeconfig, Places, Selection, Trust};

#[cfg(test)]
mod tests;
