//! `trueup demo`: the embedded fleet, in the console, as a table, or served over HTTP.
//!
//! Invariants:
//! - without `--listen` or `--headless` no socket is opened and no file written;
//! - the user's own config is not read unless it is named: the demo is the same everywhere.
//!
//! Exit codes: 0 when a signal ended `--headless`; as `trueup plan --watch` otherwise.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::fs::DirBuilder;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use jiff::Timestamp;
use tokio::signal::unix::{SignalKind, signal};

use super::args::{DemoArgs, PlanArgs};
use super::clouds;
use super::console::{ConsoleFleet, FleetKind, OpenFleet};
use super::context::Context;
use super::demo_fleet::{CONFIG, DemoGuests, members};
use super::error::CliError;
use super::plan;
use super::terminal::{Reader, print};
use super::watch::Location;
use crate::config::{Config, parse_config};
use trueup_checks::{Check, registry};
use trueup_core::engine::text::Printable;
use trueup_operate::{Fleet, Made, MakeLive, OperateError, Session, connect_members};
use trueup_sim::demo::{Scenario, ScenarioOptions, Served, serve};

/// Address for `--headless` without `--listen`.
const ANY_LOCAL_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Shorter than in a real fleet, because the scenario changes every few seconds.
const REFERENCE_SCAN_AFTER: Duration = Duration::from_secs(3);

pub async fn run(context: &Context, args: &DemoArgs) -> Result<u8, CliError> {
    let mut scenario = scenario(args);
    let address = args.listen.or(args.headless.then_some(ANY_LOCAL_PORT));
    let served = match address {
        Some(address) => Some(listen(&mut scenario, address).await?),
        None => None,
    };
    let running = scenario.runner().run();
    match served {
        Some(served) if args.headless => serve_until_signal(&served, running).await,
        served => {
            if let Some(served) = &served {
                context.note(&format!("kubeconfig: {}", served.kubeconfig.display()));
                context.note(&account_line(served));
                if let Some(line) = config_line(served) {
                    context.note(&line);
                }
            }
            tokio::select! {
                // The scenario does not end.
                () = running => Ok(0),
                code = show(context, scenario) => code,
            }
        }
    }
}

async fn listen(scenario: &mut Scenario, address: SocketAddr) -> Result<Served, CliError> {
    serve(scenario, address, &std::env::temp_dir()).await.map_err(|error| {
        let cause = match std::error::Error::source(&error) {
            Some(source) => format!("{error} ({source})"),
            None => error.to_string(),
        };
        CliError::failed("--listen", cause, "name another address, or port 0 for free ports")
    })
}

/// Address and key of the demo's cloud account.
fn account_line(served: &Served) -> String {
    clouds::demo_account_line(&served.account.url, served.account.api_key)
}

/// The config that a client needs, where the address is not loopback.
fn config_line(served: &Served) -> Option<String> {
    let path = served.config.as_ref()?;
    Some(format!("config: {} (allows the guests plain http on this address; use it with --config)", path.display()))
}

/// Prints the paths of kubeconfig and account, and serves until a signal. Written files are removed then.
async fn serve_until_signal(served: &Served, running: impl Future<Output = ()>) -> Result<u8, CliError> {
    let no_signals = |error: std::io::Error| CliError::failed("waiting for signals", error.to_string(), "");
    let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
    let config = config_line(served).map(|line| line + "\n").unwrap_or_default();
    let lines = format!("{}\n{}\n{config}", served.kubeconfig.display(), account_line(served));
    if print(&Printable::lines(&lines))? == Reader::Closed {
        return Ok(0);
    }
    tokio::select! {
        biased;
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = running => {}
    }
    Ok(0)
}

/// Shows the fleet as `trueup plan --watch` does, until it is interrupted.
async fn show(context: &Context, scenario: Scenario) -> Result<u8, CliError> {
    let mut config = demo_config(context)?;
    let session = Arc::new(Session { state: None, ..context.session(config.settings.clone()) });
    let made = connect_scenario(&session, std::mem::take(&mut config.domains.0), scenario);
    let mut made = Some(made);
    let make: MakeLive =
        Box::new(move || std::future::ready(made.take().unwrap_or(Err(OperateError::Internal))).boxed());
    let (fleet, updates) = Fleet::start(session, make).await.map_err(|error| CliError::operate("demo", &error))?;
    let args = PlanArgs { watch: true, ..PlanArgs::default() };
    let observed = plan::observe_fleet(fleet, updates, &args).await?;
    plan::show(context, &args, observed, Location::Embedded).await
}

fn connect_scenario(session: &Session, checks: Vec<Box<dyn Check>>, scenario: Scenario) -> Result<Made, OperateError> {
    let members = members(&scenario);
    connect_members(session, checks, members, Box::new(DemoGuests::new(scenario)))
}

/// The console on the embedded fleet. Its state folder is temporary.
pub fn on_console(args: DemoArgs) -> OpenFleet {
    Box::new(move |context| {
        let config = demo_config(context)?;
        let scratch = Scratch::new()?;
        let state = Some(scratch.0.clone());
        let session = Arc::new(Session { state, ..context.session(config.settings.clone()) });
        let (context, demo_session) = (context.clone(), session.clone());
        let make: MakeLive = Box::new(move || {
            let made = demo_config(&context).map_err(|error| OperateError::Start(error.cause)).and_then(|config| {
                let scenario = scenario(&args);
                let running = RunningScenario(tokio::spawn(scenario.runner().run()));
                let made = connect_scenario(&demo_session, config.domains.0, scenario)?;
                Ok(Made { keeps: Box::new(running), ..made })
            });
            std::future::ready(made).boxed()
        });
        Ok(ConsoleFleet {
            session,
            make,
            settings: config.console,
            kind: FleetKind::Demo,
            reference_scan_after: REFERENCE_SCAN_AFTER,
            keeps: Box::new(scratch),
        })
    })
}

/// A folder that is removed when the demo ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, CliError> {
        let path = std::env::temp_dir().join(format!("trueup-demo-{}", std::process::id()));
        DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|error| {
            CliError::failed("demo", format!("{}: {error}", path.display()), "set TMPDIR to a folder you can write to")
        })?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failure is ignored: the folder is temporary.
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

/// The running scenario, which ends with the console.
struct RunningScenario(tokio::task::JoinHandle<()>);

impl Drop for RunningScenario {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn scenario(args: &DemoArgs) -> Scenario {
    Scenario::new(&ScenarioOptions {
        seed: args.seed,
        guests_more: args.clusters.unwrap_or(0),
        objects_more: args.objects.unwrap_or(0),
        start: Timestamp::now(),
    })
}

fn demo_config(context: &Context) -> Result<Config, CliError> {
    if context.globals.config.is_some() {
        let mut config = context.config()?;
        // Nothing outside this process is touched.
        config.settings.publish = None;
        return Ok(config);
    }
    let config = parse_config(CONFIG, Path::new("."), registry::entries());
    Ok(config.expect("the demo's config is part of the program and a test reads it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_config_is_one() {
        let config = parse_config(CONFIG, Path::new("."), registry::entries()).unwrap();
        assert_eq!(config.settings.safety.settle, Some(std::time::Duration::from_secs(3)));
    }
}
