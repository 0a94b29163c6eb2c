//! Runs a credential plugin of the user's kubeconfig (`client.authentication.k8s.io` v1 and v1beta1).
//!
//! Invariants:
//! - what a plugin prints on stdout is never shown or logged, whatever it is: it may hold the token;
//! - stderr is in no error: it goes to the log alone, without what also stood on stdout and whatever looks like a
//!   credential; on a person's terminal the plugin writes it there itself;
//! - a plugin sees the terminal only when a person asked for that ([`on_terminal`]); otherwise stdin is closed, and it
//!   has a process group of its own;
//! - when the wait ends early (time limit, or the future is dropped), the plugin's whole process group is killed.
//!
//! Elsewhere: which kubeconfigs may run plugins at all (`kubeconfig::Trust`), which plugins may run (`plugins`), keeping the
//! answer (`transport::login`).
//!
//! # Limits
//! A plugin that asks for the cluster's details gets `certificate-authority-data` only when the kubeconfig holds data.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

use super::env::Env;
use super::kubeconfig::{ExecSpec, NeedsTerminal};
use super::plugins::PluginPolicy;
use super::text::printable;
use trueup_core::redact::without_credentials;
use trueup_net::SecretText;

/// How long a plugin may take. Cloud logins answer in one to five seconds, a cold start with a slow identity provider
/// in ten; one that opens a browser and waits for a person would hold up a console that can't say so.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// What is read of stdout. A credential with a certificate chain takes some 10 KiB; past this it is something else.
const STDOUT_MAX: usize = 1 << 20;

/// What is kept of stderr: some forty lines, enough for the reason and too little to flood a screen.
const STDERR_MAX: usize = 4 << 10;

/// How long the pipes may stay open after the plugin ended. Helpers it left running (token caches) may hold them.
const PIPES_AFTER_EXIT: Duration = Duration::from_millis(500);

/// Words of stdout at least this long are removed where stderr repeats them.
const REPEATED_RUN: usize = 12;

/// What a plugin gave.
#[derive(Debug)]
pub struct Credential {
    pub token: Option<SecretText>,
    /// Certificate chain and private key, both PEM.
    pub certificate: Option<(SecretText, SecretText)>,
    pub expires_at: Option<Timestamp>,
}

/// Why a plugin gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    #[error(
        "the credential plugin {command} wants to talk to you (interactiveMode: Always); log in with it in a terminal first"
    )]
    NeedsTerminal { command: String },
    #[error("the credential plugin {command} is not installed{}", hinted(.hint))]
    Missing { command: String, hint: Option<String> },
    #[error("the credential plugin {command} cannot be started ({why})")]
    NotStarted { command: String, why: String },
    #[error("the credential plugin {command} did not respond within {} s and was killed", .after.as_secs())]
    TimedOut { command: String, after: Duration },
    #[error("the credential plugin {command} failed ({how})")]
    Failed { command: String, how: String },
    #[error("the output of the credential plugin {command} cannot be used: {why}")]
    Unusable { command: String, why: &'static str },
    #[error("the credential plugin {command} is not in [exec] allow of the configuration and was not run")]
    NotListed { command: String },
    /// The command with its arguments.
    #[error("the credential plugin is new here and was not run: {command}")]
    NotApproved { command: String },
}

fn hinted(hint: &Option<String>) -> String {
    hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default()
}

/// Runs the plugin and reads its credential.
///
/// Cancellation may strike at any await; the plugin's process group is killed then.
///
/// # Errors
/// The plugin may not run, is missing, fails, takes too long, wants a terminal, or answers with something else than a
/// credential.
pub async fn run(
    spec: &ExecSpec,
    env: &Env,
    policy: &PluginPolicy,
    timeout: Duration,
) -> Result<Credential, ExecError> {
    let name = shown(&spec.command);
    match spec.needs_terminal {
        NeedsTerminal::Yes => return Err(ExecError::NeedsTerminal { command: name }),
        NeedsTerminal::No => {}
    }
    let program = installed(spec, env)?;
    policy.check(&program, spec, env)?;
    tracing::info!(plugin = %shown(&program), "running credential plugin");
    let mut child = command(&program, spec, env).spawn().map_err(|error| not_started(&name, &error))?;
    let mut group = Group::of(&child);
    let (mut stdout, mut stderr) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
    let ended = tokio::time::timeout(timeout, converse(&mut child, &mut stdout, &mut stderr)).await;
    let result = match ended {
        Err(_) => Err(ExecError::TimedOut { command: name, after: timeout }),
        Ok(Err(error)) => Err(not_started(&name, &error)),
        Ok(Ok(status)) => {
            group.let_go();
            if status.success() {
                decode(&stdout, spec).map_err(|why| ExecError::Unusable { command: name, why })
            } else {
                Err(ExecError::Failed { command: name, how: status.to_string() })
            }
        }
    };
    if result.is_err() {
        tracing::warn!(plugin = %shown(&program), stderr = loggable(&stderr, &stdout), "credential plugin failed");
    }
    result
}

/// The plugin as a command for a person's terminal. Its stdout is for the caller to take, and for [`read`] alone.
///
/// # Errors
/// The plugin is not installed, or the configuration has a list that lacks it.
pub fn on_terminal(spec: &ExecSpec, env: &Env, policy: &PluginPolicy) -> Result<Command, ExecError> {
    let program = installed(spec, env)?;
    policy.check_list(&program, spec, env)?;
    let mut command = prepared(&program, spec, env, Talk::WithAPerson);
    command.stdin(Stdio::inherit()).stdout(Stdio::null()).stderr(Stdio::inherit());
    Ok(command)
}

/// Reads what a plugin printed on a person's terminal in place of stdout.
///
/// # Errors
/// It is no credential.
pub fn read(spec: &ExecSpec, printed: &[u8]) -> Result<Credential, ExecError> {
    let unusable = |why| ExecError::Unusable { command: shown(&spec.command), why };
    decode(printed, spec).map_err(unusable)
}

fn installed(spec: &ExecSpec, env: &Env) -> Result<PathBuf, ExecError> {
    find(&spec.command, env).ok_or_else(|| ExecError::Missing {
        command: shown(&spec.command),
        hint: spec.install_hint.as_ref().map(|hint| printable(hint, 500)),
    })
}

fn not_started(name: &str, error: &io::Error) -> ExecError {
    ExecError::NotStarted { command: name.to_owned(), why: error.kind().to_string() }
}

/// Looks a bare name up in `PATH`; a path is taken as it is.
pub(super) fn find(command: &Path, env: &Env) -> Option<PathBuf> {
    if command.components().count() > 1 || command.is_absolute() {
        return is_program(command).then(|| command.to_owned());
    }
    let folders = std::env::split_paths(env.raw("PATH").unwrap_or(OsStr::new("")));
    folders.map(|folder| folder.join(command)).find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether a person could answer a plugin's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Talk {
    WithNobody,
    WithAPerson,
}

fn prepared(program: &Path, spec: &ExecSpec, env: &Env, talk: Talk) -> Command {
    let mut command = Command::new(program);
    command.args(spec.args.iter().map(SecretText::expose));
    command.env_clear().envs(env.iter());
    command.envs(spec.env.iter().map(|(name, value)| (name, value.expose())));
    command.env("KUBERNETES_EXEC_INFO", exec_info(spec, talk));
    command
}

fn command(program: &Path, spec: &ExecSpec, env: &Env) -> Command {
    let mut command = prepared(program, spec, env, Talk::WithNobody);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

fn exec_info(spec: &ExecSpec, talk: Talk) -> String {
    let interactive = talk == Talk::WithAPerson;
    let version = spec.version.as_str();
    let cluster = spec.cluster_info.as_ref().map(|json| format!(r#","cluster":{}"#, json.expose())).unwrap_or_default();
    format!(r#"{{"apiVersion":"{version}","kind":"ExecCredential","spec":{{"interactive":{interactive}{cluster}}}}}"#)
}

/// Reads both pipes until the plugin has ended and they are closed, or the time for that is over.
async fn converse(child: &mut Child, stdout: &mut Vec<u8>, stderr: &mut Vec<u8>) -> io::Result<ExitStatus> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let mut pipes =
        std::pin::pin!(async { tokio::join!(drain(out, stdout, STDOUT_MAX), drain(err, stderr, STDERR_MAX)) });
    tokio::select! {
        _ = &mut pipes => child.wait().await,
        status = child.wait() => {
            // What helpers still hold open after that is theirs; all the plugin wrote has been read.
            let _ = tokio::time::timeout(PIPES_AFTER_EXIT, pipes).await;
            status
        }
    }
}

/// Reads to the end, keeping the first `bytes_max`; the rest is read and dropped, so that the writer never blocks.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>, bytes_max: usize) {
    let Some(mut pipe) = pipe else {
        return;
    };
    let mut buffer = Zeroizing::new([0u8; 4096]);
    while let Ok(count @ 1..) = pipe.read(&mut buffer[..]).await {
        let free = bytes_max.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&buffer[..free]);
    }
}

/// The plugin's process group, killed when this is dropped before [`Group::let_go`].
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }

    /// The leader has been waited for, so its process id may soon be reused.
    fn let_go(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // An error means that no process is left.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api_version: Option<String>,
    kind: Option<String>,
    status: Option<AnswerStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerStatus {
    token: Option<SecretText>,
    client_certificate_data: Option<SecretText>,
    client_key_data: Option<SecretText>,
    expiration_timestamp: Option<String>,
}

/// Reads a credential. What is wrong is said without a letter of the answer.
fn decode(stdout: &[u8], spec: &ExecSpec) -> Result<Credential, &'static str> {
    if stdout.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty");
    }
    // JSON is almost YAML, but not quite (tabs); plugins write either.
    let answer: Option<Answer> = serde_json::from_slice(stdout).ok().or_else(|| serde_saphyr::from_slice(stdout).ok());
    let answer = answer.ok_or("it is not an ExecCredential")?;
    if answer.kind.as_deref() != Some("ExecCredential") {
        return Err("it is not an ExecCredential");
    }
    if answer.api_version.as_deref() != Some(spec.version.as_str()) {
        return Err("its apiVersion is not the one the kubeconfig asks for");
    }
    let status = answer.status.ok_or("it has no status")?;
    let filled = |text: Option<SecretText>| text.filter(|text| !text.is_empty());
    let token = filled(status.token);
    let certificate = match (filled(status.client_certificate_data), filled(status.client_key_data)) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            return Err("it has a client certificate without key, or the other way round");
        }
    };
    if token.is_none() && certificate.is_none() {
        return Err("it has neither token nor client certificate");
    }
    let expires_at = status.expiration_timestamp.map(|text| text.parse()).transpose();
    let expires_at = expires_at.map_err(|_| "its expirationTimestamp is not a time")?;
    Ok(Credential { token, certificate, expires_at })
}

/// What of stderr may be logged.
fn loggable(stderr: &[u8], stdout: &[u8]) -> String {
    let mut said = String::from_utf8_lossy(stderr).into_owned();
    let printed = Zeroizing::new(String::from_utf8_lossy(stdout).into_owned());
    let words = printed.split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | ',' | '{' | '}'));
    for word in words.filter(|word| word.len() >= REPEATED_RUN) {
        said = said.replace(word, "…");
    }
    printable(&without_credentials(&said), STDERR_MAX)
}

pub(super) fn shown(command: &Path) -> String {
    printable(&command.to_string_lossy(), 300)
}

#[cfg(test)]
mod tests;
