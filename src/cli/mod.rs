//! The commands, one file each, and what they tell the shell.
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
mod demo;
mod doctor;
mod doctor_live;
mod error;
mod explain;
mod fleet;
mod history;
mod keys;
mod log;
mod man;
mod oidc;
mod out_file;
mod output;
mod plan;
mod run_plan;
mod show;
mod terminal;
mod themes;
mod token;
mod undo;
mod usage;
mod watch;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use tokio::signal::unix::{SignalKind, signal};

use args::{Cli, Command, PlanArgs};
use context::Context;
use error::CliError;

use trueup_fleet::connect::Env;

/// What a shell expects of a program that was interrupted: 128 and the signal's number.
const INTERRUPTED: u8 = 130;
/// The same for a program that was told to end.
const TERMINATED: u8 = 143;
/// How long an interrupted command may take to let go of what it holds.
const GOODBYE: Duration = Duration::from_secs(1);

/// Reads the command line, runs the command and says how it went.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage::answer(&error)),
    };
    let mut context = Context::new(cli.globals, Env::new(std::env::vars_os()));
    let terminal = context.terminal;
    // The demo touches nothing outside the process, and whoever pipes a table away looks at no log.
    if cli.command.is_none() && console::is_possible() {
        let state = context.state_path();
        log::name_own(&mut context.globals, state);
    }
    let code = log::start(&context.globals).and_then(|_guard| run_until_interrupted(context, cli.command));
    ExitCode::from(code.unwrap_or_else(|error: CliError| {
        for line in error.to_string().lines() {
            terminal::write_stderr(&terminal.safe(line));
        }
        error.code()
    }))
}

/// Runs a command, unless somebody interrupts it first. What it made for the time it runs goes with it.
fn run_until_interrupted(context: Context, command: Option<Command>) -> Result<u8, CliError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| {
            CliError::failed("starting", format!("no threads can be made ({error})"), "free some memory and try again")
        })?;
    // A run finishes the action that is under way, and says what was done.
    let ends_itself = match &command {
        Some(Command::Demo(args)) => args.headless,
        Some(Command::Apply(_) | Command::Undo(_)) => true,
        Some(
            Command::Plan(_)
            | Command::Explain(_)
            | Command::Show(_)
            | Command::History(_)
            | Command::Doctor
            | Command::Oidc(_)
            | Command::Keys(_)
            | Command::Themes(_)
            | Command::Token(_)
            | Command::Completions { .. }
            | Command::Man,
        )
        | None => false,
    };
    let code = runtime.block_on(async {
        // The console keeps to this thread, which holds the terminal, and answers signals itself.
        let (context, command) = match opens_console(context, command) {
            Opens::Console(context, open, instead) => return console::run(context, open, instead).await,
            Opens::Nothing(context, command) => (context, command),
        };
        let mut task = tokio::spawn(dispatch(context, command));
        tokio::select! {
            biased;
            code = interrupted(), if !ends_itself => {
                task.abort();
                // A command that is stuck in the middle of something has had its chance.
                let _ended = tokio::time::timeout(GOODBYE, task).await;
                code
            }
            code = &mut task => code.expect("a command returns and does not panic"),
        }
    });
    // A folder that is still being read would hold the process up for nothing.
    runtime.shutdown_background();
    code
}

/// What a command line leads to.
enum Opens {
    Console(Context, console::OpenFleet, console::Instead),
    Nothing(Context, Option<Command>),
}

fn opens_console(context: Context, command: Option<Command>) -> Opens {
    if !console::is_possible() {
        return Opens::Nothing(context, command);
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
        command => Opens::Nothing(context, command),
    }
}

/// Waits for a signal that ends programs; answers with what the shell expects then.
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
        Some(Command::Oidc(args)) => oidc::run(&context, &args).await,
        Some(Command::Demo(args)) => demo::run(&context, &args).await,
        Some(Command::Keys(args)) => keys::run(&context, &args),
        Some(Command::Themes(args)) => themes::run(&context, &args),
        Some(Command::Token(args)) => token::run(&context, &args),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Man) => man::run(),
    }
}
