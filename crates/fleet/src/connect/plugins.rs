//! Which credential plugins may run: those of `[exec] allow`, those the user approved, or all.
//!
//! Invariants:
//! - with a list, nothing else runs, in the console or headless;
//! - an approval is for one program with its arguments: another path or another argument is asked about again;
//! - an approval is kept as a digest, because arguments may hold secrets.
//!
//! Elsewhere: running plugins (`exec`), keeping approvals (`operate::plugins`).

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::env::Env;
use super::exec::{ExecError, find, shown};
use super::kubeconfig::ExecSpec;
use super::text::printable;
use trueup_core::redact::without_credentials;
use trueup_net::SecretText;

/// How much of a plugin's command is shown.
const COMMAND_CHARS_MAX: usize = 400;

/// What an argument's name holds when the next argument is a secret.
const SECRET_FLAGS: [&str; 5] = ["secret", "password", "token", "key", "credential"];

/// Which plugins may run.
#[derive(Clone)]
pub enum PluginPolicy {
    /// Every plugin, as kubectl does by default: headless commands without a list.
    Any,
    /// `[exec] allow`: names to look up in `PATH`, and full paths.
    Listed(Arc<[String]>),
    /// Those the user approved: the console without a list.
    Approved(Arc<dyn PluginApprovals>),
}

/// A plugin with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginId(String);

/// A plugin as the user is asked about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct PluginQuestion {
    /// The full path of the program.
    pub command: String,
    /// What may be a secret is left out.
    pub arguments: String,
}

/// What the user approved.
pub trait PluginApprovals: Send + Sync {
    fn is_approved(&self, plugin: &PluginId) -> bool;

    /// Remembers an approval.
    ///
    /// # Errors
    /// It counts for this process and could not be kept.
    fn approve(&self, plugin: PluginId) -> Result<(), String>;
}

impl PluginId {
    /// The id of a program with its arguments.
    fn of(program: &Path, spec: &ExecSpec) -> Self {
        let mut digest = Sha256::new();
        let mut add = |bytes: &[u8]| {
            digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(bytes);
        };
        add(program.as_os_str().as_encoded_bytes());
        spec.args.iter().map(SecretText::expose).for_each(|argument| add(argument.as_bytes()));
        Self(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Takes over an id that was kept.
    pub fn kept(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PluginPolicy {
    /// No plugin runs: a kubeconfig out of a Secret.
    pub(super) fn none() -> Self {
        Self::Listed([].into())
    }

    /// Checks whether a plugin may run without a question.
    ///
    /// # Errors
    /// The list lacks it, or the user has not approved it.
    pub(super) fn check(&self, program: &Path, spec: &ExecSpec, env: &Env) -> Result<(), ExecError> {
        match self {
            Self::Any => Ok(()),
            Self::Listed(_) => self.check_list(program, spec, env),
            Self::Approved(approvals) if approvals.is_approved(&PluginId::of(program, spec)) => Ok(()),
            Self::Approved(_) => Err(ExecError::NotApproved { command: command_line(program, spec) }),
        }
    }

    /// Checks the list alone: the user asks for the plugin right now.
    ///
    /// # Errors
    /// The list lacks it.
    pub(super) fn check_list(&self, program: &Path, spec: &ExecSpec, env: &Env) -> Result<(), ExecError> {
        let is_listed = match self {
            Self::Any | Self::Approved(_) => true,
            Self::Listed(entries) => entries.iter().any(|entry| names(entry, program, env)),
        };
        if is_listed { Ok(()) } else { Err(ExecError::NotListed { command: shown(&spec.command) }) }
    }

    /// Checks the list alone, for a plugin as the kubeconfig names it. One that is not installed is not refused.
    ///
    /// # Errors
    /// The list lacks it.
    pub fn check_listed(&self, spec: &ExecSpec, env: &Env) -> Result<(), ExecError> {
        find(&spec.command, env).map_or(Ok(()), |program| self.check_list(&program, spec, env))
    }

    /// The question that a plugin needs before it may run; nothing where it may run, may not, or is not installed.
    pub fn question(&self, spec: &ExecSpec, env: &Env) -> Option<PluginQuestion> {
        let program = find(&spec.command, env)?;
        match self {
            Self::Approved(approvals) if !approvals.is_approved(&PluginId::of(&program, spec)) => {
                let arguments = printable(&shown_arguments(spec).join(" "), COMMAND_CHARS_MAX);
                Some(PluginQuestion { command: shown(&program), arguments })
            }
            Self::Any | Self::Listed(_) | Self::Approved(_) => None,
        }
    }

    /// Remembers that the user runs a plugin. Without a question there is nothing to remember.
    ///
    /// # Errors
    /// The approval could not be kept.
    pub fn approve(&self, spec: &ExecSpec, env: &Env) -> Result<(), String> {
        match (self, find(&spec.command, env)) {
            (Self::Approved(approvals), Some(program)) => approvals.approve(PluginId::of(&program, spec)),
            (Self::Approved(_), None) | (Self::Any | Self::Listed(_), _) => Ok(()),
        }
    }
}

impl fmt::Debug for PluginPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "Any",
            Self::Listed(_) => "Listed",
            Self::Approved(_) => "Approved",
        })
    }
}

/// Whether an entry of the list names a program: a path by being it, a name by leading to it through `PATH`. So a program
/// of the same name in another folder is not meant.
fn names(entry: &str, program: &Path, env: &Env) -> bool {
    if entry.contains('/') {
        return Path::new(entry) == program;
    }
    find(Path::new(entry), env).is_some_and(|found| found == program)
}

/// A plugin with its arguments, for a question to the user: what may be a secret is left out.
fn command_line(program: &Path, spec: &ExecSpec) -> String {
    let words: Vec<String> = [shown(program)].into_iter().chain(shown_arguments(spec)).collect();
    printable(&words.join(" "), COMMAND_CHARS_MAX)
}

fn shown_arguments(spec: &ExecSpec) -> Vec<String> {
    let (mut hides_next, mut words) = (false, Vec::new());
    for argument in spec.args.iter().map(SecretText::expose) {
        words.push(if hides_next { "…".to_owned() } else { without_credentials(argument) });
        let name = argument.to_ascii_lowercase();
        let is_flag = name.starts_with('-') && !name.contains('=');
        hides_next = is_flag && SECRET_FLAGS.iter().any(|word| name.contains(word));
    }
    words
}

#[cfg(test)]
mod tests;
