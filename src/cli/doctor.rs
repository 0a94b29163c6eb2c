//! `trueup doctor`: checks config, clusters, permissions and terminal.
//!
//! Failures are printed last, then a total.
//!
//! Exit codes: 0 everything passed; 3 something did not.

use std::os::unix::fs::PermissionsExt as _;

use super::context::Context;
use super::doctor_live;
use super::error::CliError;
use super::output::{count, padded};
use super::terminal::{Color, Style, print};
use crate::config::{Config, ConfigError, ConfigFile, parse_config, read_config};
use trueup_checks::registry;
use trueup_core::engine::text::Charset;
use trueup_core::engine::text::Printable;
use trueup_core::world::{Declaration, Provider};
use trueup_fleet::clouds::{AccountSettings, Examination};
use trueup_fleet::connect::ExecSpec;
use trueup_fleet::snapshot;
use trueup_operate::{CloudAccount, Settings, account_settings, known_clouds};

/// Exit code when a check fails.
const UNFIT: u8 = 3;
/// The longest name of a check is `state folder`.
const NAME_WIDTH: usize = 12;

/// One line of the output.
pub struct Check {
    pub name: &'static str,
    pub message: String,
    pub fit: Fit,
}

/// Whether a check passed.
pub enum Fit {
    Yes,
    /// Worth knowing, and no failure.
    Note {
        remedy: String,
    },
    No {
        remedy: String,
    },
}

/// Order of the output: failures last, above the prompt.
const OK: u8 = 0;
const NOTE: u8 = 1;
const FAILED: u8 = 2;

impl Fit {
    fn rank(&self) -> u8 {
        match self {
            Self::Yes => OK,
            Self::Note { .. } => NOTE,
            Self::No { .. } => FAILED,
        }
    }
}

impl Check {
    pub fn fit(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, message: message.into(), fit: Fit::Yes }
    }

    pub fn unfit(name: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, message: message.into(), fit: Fit::No { remedy: remedy.into() } }
    }
}

pub async fn run(context: &Context) -> Result<u8, CliError> {
    let (config_checks, config) = config_checks(context);
    let mut checks = config_checks;
    checks.push(state_folder(context));
    checks.push(terminal(context));
    match &context.globals.from {
        Some(dir) => checks.extend(folder(dir)),
        None => {
            checks.extend(kubeconfig(context));
            checks.extend(plugins(context, config.as_ref()));
            checks.extend(cloud_checks(context, config.as_ref()).await);
            checks.extend(doctor_live::checks(context, config).await);
        }
    }
    checks.sort_by_key(|check| check.fit.rank());
    let lines: String = checks.iter().map(|check| line(context, check)).collect();
    print(&Printable::styled(&format!("{lines}{}\n", total(&checks))))?;
    let unfit = checks.iter().any(|check| matches!(check.fit, Fit::No { .. }));
    Ok(if unfit { UNFIT } else { 0 })
}

/// `14 checks: 12 ok, 1 note, 1 failed`
fn total(checks: &[Check]) -> String {
    let of = |rank: u8| checks.iter().filter(|check| check.fit.rank() == rank).count();
    let (ok, notes, failed) = (of(OK), of(NOTE), of(FAILED));
    let mut parts = vec![format!("{ok} ok")];
    if notes > 0 {
        parts.push(count(notes, "note"));
    }
    parts.push(format!("{failed} failed"));
    format!("{}: {}", count(checks.len(), "check"), parts.join(", "))
}

/// Which credential plugins of the selected contexts may run.
fn plugins(context: &Context, config: Option<&Config>) -> Vec<Check> {
    const NAME: &str = "exec";
    let Some(config) = config else { return Vec::new() };
    let session = context.session(config.settings.clone());
    let Ok(kubeconfig) = session.read_kubeconfig() else { return Vec::new() };
    let names = kubeconfig.select(&session.contexts.selection).unwrap_or_default();
    let specs: Vec<ExecSpec> = names.iter().filter_map(|name| kubeconfig.access(name).ok()?.exec().cloned()).collect();
    if specs.is_empty() {
        return Vec::new();
    }
    let Some(listed) = &config.settings.exec_allow else {
        let message = "[exec] allow is not set: headless commands run every credential plugin, the console asks once";
        return vec![Check::fit(NAME, message)];
    };
    let mut refused: Vec<String> = specs
        .iter()
        .filter_map(|spec| session.plugins.check_listed(spec, &session.env).err().map(|error| error.to_string()))
        .collect();
    refused.sort_unstable();
    refused.dedup();
    if refused.is_empty() {
        return vec![Check::fit(NAME, format!("[exec] allow: {}", listed.join(", ")))];
    }
    refused.into_iter().map(|why| Check::unfit(NAME, why, "add it to [exec] allow to run it")).collect()
}

/// The sections of the cloud providers.
async fn cloud_checks(context: &Context, config: Option<&Config>) -> Vec<Check> {
    let Some(config) = config else { return Vec::new() };
    let session = context.session(config.settings.clone());
    let accounts: Vec<AccountSettings> = config.settings.clouds.iter().map(account_settings).collect();
    let examined = known_clouds(&session, &config.domains.0).examine(&accounts).await;
    let check = |Examination { name, message, remedy }: Examination| match remedy {
        None => Check::fit(name, message),
        Some(remedy) => Check::unfit(name, message, remedy),
    };
    let mut checks: Vec<Check> = examined.into_iter().map(check).collect();
    checks.extend(config.settings.clouds.iter().filter_map(undeclared));
    checks
}

/// Says that the clusters of an account are not declared to be all there are: its orphans are shown and not deleted.
fn undeclared(account: &CloudAccount) -> Option<Check> {
    if account.provider != Provider::Ibm || account.declaration == Declaration::Declared {
        return None;
    }
    let message = format!("{}: management clusters are not declared, so that no orphan can be deleted", account.alias);
    let remedy = "list all of them in management_clusters and set management_clusters_complete = true".to_owned();
    Some(Check { name: "account", message, fit: Fit::Note { remedy } })
}

fn line(context: &Context, check: &Check) -> String {
    let terminal = &context.terminal;
    let name = padded(check.name, NAME_WIDTH);
    let message = terminal.safe(&check.message);
    match &check.fit {
        Fit::Yes => format!("{} {name} {message}\n", terminal.paint(terminal.pick("✓", "ok"), Style::Ok)),
        Fit::Note { remedy } => {
            let mark = terminal.paint(terminal.pick("·", "--"), Style::Muted);
            format!("{mark} {name} {message}; {}\n", terminal.safe(remedy))
        }
        Fit::No { remedy } if remedy.is_empty() => {
            format!("{} {name} {message}\n", terminal.paint(terminal.pick("✗", "!!"), Style::Danger))
        }
        Fit::No { remedy } => {
            let mark = terminal.paint(terminal.pick("✗", "!!"), Style::Danger);
            format!("{mark} {name} {message}; {}\n", terminal.safe(remedy))
        }
    }
}

/// The config, or the defaults if it is invalid, so that the other checks run.
fn config_checks(context: &Context) -> (Vec<Check>, Option<Config>) {
    let file = context.config_file();
    match read_config(&file, registry::entries()) {
        Ok(config) => {
            let message = match &file {
                ConfigFile::Named(path) => format!("{} is valid", path.display()),
                ConfigFile::Default(path) if path.exists() => format!("{} is valid", path.display()),
                ConfigFile::Default(path) => format!("{} does not exist; using defaults", path.display()),
                ConfigFile::Nowhere => "neither XDG_CONFIG_HOME nor HOME is set; using defaults".to_owned(),
            };
            (vec![Check::fit("config", message)], Some(config))
        }
        Err(error) => {
            let checks = match &error {
                ConfigError::Wrong { path, problems } => problems
                    .iter()
                    .map(|one| Check::unfit("config", format!("{}:{}: {}", path.display(), one.line, one.message), ""))
                    .collect(),
                ConfigError::Missing { .. }
                | ConfigError::WritableByOthers { .. }
                | ConfigError::OwnedByAnother { .. } => {
                    vec![Check::unfit("config", error.to_string(), "")]
                }
                ConfigError::Unreadable { .. } => vec![Check::unfit("config", error.to_string(), "check its mode")],
            };
            let defaults = parse_config("", std::path::Path::new(""), registry::entries()).ok();
            (checks, defaults)
        }
    }
}

/// The state folder. It holds the journal and sealed backups, so only its owner may read it.
fn state_folder(context: &Context) -> Check {
    const NAME: &str = "state folder";
    let Some(folder) = context.state_path() else {
        return Check::unfit(NAME, "neither XDG_STATE_HOME nor HOME is set", "set HOME");
    };
    let shown = folder.display();
    match std::fs::metadata(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::fit(NAME, format!("{shown} does not exist yet"))
        }
        Err(error) => Check::unfit(NAME, format!("cannot read {shown} ({error})"), "check its mode"),
        Ok(found) if !found.is_dir() => Check::unfit(NAME, format!("{shown} is not a folder"), "move it away"),
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            let mode = found.permissions().mode() & 0o777;
            Check::unfit(NAME, format!("{shown} has mode {mode:o}, expected 700"), format!("run chmod 700 {shown}"))
        }
        Ok(_) => Check::fit(NAME, format!("{shown}: permissions ok")),
    }
}

fn terminal(context: &Context) -> Check {
    let terminal = &context.terminal;
    let size = match terminal.width {
        Some(width) => format!("{width} columns"),
        None => "stdout is not a terminal".to_owned(),
    };
    let color = match terminal.color {
        Color::On => "colour",
        Color::Off => "no colour",
    };
    let letters = match terminal.charset {
        Charset::Unicode => "UTF-8",
        Charset::Ascii => "plain ASCII (LANG names no UTF-8 locale)",
    };
    Check::fit("terminal", format!("{size}, {color}, {letters}"))
}

fn folder(dir: &std::path::Path) -> Vec<Check> {
    const NAME: &str = "snapshot";
    match snapshot::load(dir) {
        Err(error) => vec![Check::unfit(NAME, error.to_string(), "name another folder with --from")],
        Ok(snapshot) if snapshot.problems.is_empty() => {
            vec![Check::fit(NAME, format!("{} holds {} clusters", dir.display(), snapshot.clusters.len()))]
        }
        Ok(snapshot) => snapshot.problems.iter().map(|one| Check::unfit(NAME, one.to_string(), "")).collect(),
    }
}

fn kubeconfig(context: &Context) -> Vec<Check> {
    let session = context.session(Settings::default());
    let kubeconfig = match session.read_kubeconfig() {
        Ok(kubeconfig) => kubeconfig,
        Err(error) => return vec![Check::unfit("kubeconfig", error.to_string(), "or use --from")],
    };
    let all = kubeconfig.context_names().count();
    let mut checks =
        vec![Check::fit("kubeconfig", if all == 1 { "1 context".to_owned() } else { format!("{all} contexts") })];
    match kubeconfig.select(&session.contexts.selection) {
        Ok(names) => {
            checks.push(Check::fit("contexts", names.join(", ")));
            let broken = names.iter().filter_map(|name| kubeconfig.access(name).err());
            checks.extend(broken.map(|error| Check::unfit("kubeconfig", error.to_string(), "")));
        }
        Err(error) => checks.push(Check::unfit("contexts", error.to_string(), "choose one with --context")),
    }
    checks
}
