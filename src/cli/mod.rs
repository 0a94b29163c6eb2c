//! The commands, one file each, and their exit codes.
//!
//! Invariants:
//! - results go to stdout, everything else to stderr, one sentence each;
//! - wrong usage exits with 1, an interrupt with 130; the rest is in each command's file;
//! - text from clusters and files is escaped before it is printed (`engine::text`).

mod apply;
mod args;
mod ask;
mod clouds;
mod completions;
mod console;
mod context;
pub(crate) mod defaults;
mod demo;
pub mod demo_fleet;
mod diff;
mod doctor;
mod doctor_live;
mod error;
mod explain;
mod fleet;
mod gather;
mod help;
mod history;
mod keys;
mod log;
mod log_json;
mod man;
mod mcp;
mod oidc;
mod out_file;
mod output;
mod plan;
mod process;
mod proposals;
mod rbac;
mod replay;
mod run;
mod run_plan;
mod schema;
mod selection;
mod show;
mod terminal;
mod themes;
mod token;
mod undo;
mod usage;
mod version;
mod watch;
mod within;

use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use args::{Command, PlanArgs, ReplayArgs};
use context::Context;
use error::CliError;

use trueup_fleet::connect::Env;

/// Exit code after SIGINT: 128 and the number of the signal, as shells expect.
const INTERRUPTED: u8 = 130;
/// Exit code after SIGTERM.
const TERMINATED: u8 = 143;
/// Exit code after a panic.
const PANICKED: u8 = 1;
/// How long an interrupted command may take to release its files and locks.
const SHUTDOWN_MAX: Duration = Duration::from_secs(1);

/// Reads the command line, runs the command and returns its exit code.
pub fn run() -> ExitCode {
    process::prepare();
    let cli = match defaults::parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage::answer(&error)),
    };
    let mut context =
        Context::new(cli.globals.clone(), Env::new(std::env::vars_os()).answered_within(cli.globals.request_timeout));
    let terminal = context.terminal;
    // Only the console writes its own log: the demo touches nothing outside the process, a table has no log.
    if cli.command.is_none() && console::is_possible() {
        let state = context.state_path();
        log::set_default(&mut context.globals, state);
    }
    let started = match &cli.command {
        Some(Command::Run(_)) if context.globals.log.is_none() => log::start_json(&context.globals),
        Some(_) | None => log::start(&context.globals),
    };
    let code = started.and_then(|_guard| run_until_interrupted(context, cli.command));
    ExitCode::from(code.unwrap_or_else(|error: CliError| {
        for line in error.to_string().lines() {
            terminal::write_stderr(&terminal.safe(line));
        }
        error.code()
    }))
}

/// Runs a command until it returns or a signal interrupts it.
fn run_until_interrupted(context: Context, command: Option<Command>) -> Result<u8, CliError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| {
            CliError::failed("starting", format!("cannot start threads ({error})"), "free memory and try again")
        })?;
    // These commands handle signals: they finish the action in flight and report what was done.
    let handles_signals = match &command {
        Some(Command::Demo(args)) => args.headless,
        Some(Command::Apply(_) | Command::Undo(_) | Command::Run(_)) => true,
        Some(
            Command::Plan(_)
            | Command::Explain(_)
            | Command::Show(_)
            | Command::History(_)
            | Command::Doctor
            | Command::Rbac(_)
            | Command::Proposals(_)
            | Command::Gather(_)
            | Command::Oidc(_)
            | Command::Keys(_)
            | Command::Themes(_)
            | Command::Token(_)
            | Command::Mcp(_)
            | Command::Replay(_)
            | Command::Schema(_)
            | Command::Version(_)
            | Command::Completions { .. }
            | Command::Man(_),
        )
        | None => false,
    };
    let code = runtime.block_on(async {
        // The console runs on this thread, which holds the terminal, and handles signals.
        let (context, command) = match opens_console(context, command) {
            Opens::Console(context, open, instead) => return console::run(context, open, instead).await,
            Opens::Replay(context, args) => return replay::on_console(context, &args).await,
            Opens::Nothing(context, command) => (context, *command),
        };
        if context.globals.record.is_some() {
            return Err(CliError::usage(
                "--record",
                "only the console is recorded",
                "run trueup or trueup demo on a terminal",
            ));
        }
        let mut task = tokio::spawn(dispatch(context, command));
        tokio::select! {
            biased;
            code = interrupted(), if !handles_signals => {
                task.abort();
                let _ended = tokio::time::timeout(SHUTDOWN_MAX, task).await;
                code
            }
            // The panic was reported when it happened.
            code = &mut task => code.unwrap_or(Ok(PANICKED)),
        }
    });
    // Reading a folder cannot be cancelled; do not wait for it.
    runtime.shutdown_background();
    code
}

/// Whether a command line opens the console.
enum Opens {
    Console(Context, console::OpenFleet, console::Instead),
    Replay(Context, ReplayArgs),
    Nothing(Context, Box<Option<Command>>),
}

fn opens_console(context: Context, command: Option<Command>) -> Opens {
    if !console::is_possible() {
        return Opens::Nothing(context, Box::new(command));
    }
    match command {
        None if context.globals.from.is_some() => {
            let folder = context.globals.from.clone().unwrap_or_default();
            Opens::Console(context, console::on_folder(folder), console::INSTEAD_OF_FOLDER)
        }
        None => Opens::Console(context, console::on_kubeconfig(), console::INSTEAD_OF_CLUSTERS),
        Some(Command::Demo(args)) if context.globals.from.is_none() && !args.headless && args.listen.is_none() => {
            Opens::Console(context, demo::on_console(args), console::INSTEAD_OF_DEMO)
        }
        Some(Command::Replay(args)) if context.globals.record.is_none() && !args.check && !args.frames => {
            Opens::Replay(context, args)
        }
        command => Opens::Nothing(context, Box::new(command)),
    }
}

/// Waits for SIGINT or SIGTERM and returns the exit code.
async fn interrupted() -> Result<u8, CliError> {
    let no_signals = |error: std::io::Error| CliError::failed("waiting for signals", error.to_string(), "");
    let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
    tokio::select! {
        interrupt = tokio::signal::ctrl_c() => interrupt.map(|()| INTERRUPTED).map_err(no_signals),
        _ = terminate.recv() => Ok(TERMINATED),
    }
}

async fn dispatch(context: Context, command: Option<Command>) -> Result<u8, CliError> {
    match command {
        None => plan::run(&context, PlanArgs::default()).await,
        Some(Command::Plan(args)) => plan::run(&context, args).await,
        Some(Command::Explain(args)) => explain::run(&context, &args).await,
        Some(Command::Show(args)) => show::run(&context, &args).await,
        Some(Command::Apply(args)) => apply::run(&context, &args).await,
        Some(Command::Undo(args)) => undo::run(&context, &args).await,
        Some(Command::History(args)) => history::run(&context, &args).await,
        Some(Command::Doctor) => doctor::run(&context).await,
        Some(Command::Rbac(args)) => rbac::run(&context, &args),
        Some(Command::Proposals(args)) => proposals::run(&context, &args).await,
        Some(Command::Gather(args)) => gather::run(&context, &args).await,
        Some(Command::Oidc(args)) => oidc::run(&context, &args).await,
        Some(Command::Demo(args)) => demo::run(&context, &args).await,
        Some(Command::Run(args)) => run::run(&context, &args).await,
        Some(Command::Keys(args)) => keys::run(&context, &args),
        Some(Command::Themes(args)) => themes::run(&context, &args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Token(args)) => token::run(&context, &args),
        Some(Command::Mcp(args)) => mcp::run(&context, &args).await,
        Some(Command::Schema(args)) => schema::run(&args),
        Some(Command::Version(args)) => version::run(&args),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Man(args)) => man::run(&args),
    }
}
