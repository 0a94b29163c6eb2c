//! The commands, one file each, and what they tell the shell.
//!
//! Always true:
//! - results go to stdout, everything else to stderr, one sentence each;
//! - wrong usage exits with 1, an interrupt with 130; the rest is in each command's file;
//! - text from clusters and files is escaped before it is printed ([`escape`]).

mod access;
mod args;
mod completions;
mod context;
mod demo;
mod doctor;
mod doctor_live;
mod error;
mod escape;
mod explain;
mod log;
mod look;
mod look_live;
mod man;
mod members;
mod out_file;
mod output;
mod plan;
mod terminal;
mod usage;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command, PlanArgs};
use context::Context;
use error::CliError;

use crate::fleet::Env;

/// What a shell expects of a program that was interrupted: 128 and the signal's number.
const INTERRUPTED: u8 = 130;

/// Reads the command line, runs the command and says how it went.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage::answer(&error)),
    };
    let context = Context::new(cli.globals, Env::new(std::env::vars_os()));
    let terminal = context.terminal;
    let code = log::start(&context.globals).and_then(|_guard| run_until_interrupted(context, cli.command));
    ExitCode::from(code.unwrap_or_else(|error: CliError| {
        for line in error.to_string().lines() {
            terminal::write_stderr(&terminal.safe(line));
        }
        error.code()
    }))
}

/// Runs a command, unless the user interrupts it first.
fn run_until_interrupted(context: Context, command: Option<Command>) -> Result<u8, CliError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| {
            CliError::failed("starting", format!("no threads can be made ({error})"), "free some memory and try again")
        })?;
    let code = runtime.block_on(async {
        tokio::select! {
            biased;
            interrupt = tokio::signal::ctrl_c() => match interrupt {
                Ok(()) => Ok(INTERRUPTED),
                Err(error) => Err(CliError::failed("waiting for signals", error.to_string(), "")),
            },
            code = tokio::spawn(dispatch(context, command)) => code.expect("a command returns and does not panic"),
        }
    });
    // A folder that is still being read would hold the process up for nothing.
    runtime.shutdown_background();
    code
}

async fn dispatch(context: Context, command: Option<Command>) -> Result<u8, CliError> {
    match command {
        None => plan::run(&context, PlanArgs::default()).await,
        Some(Command::Plan(args)) => plan::run(&context, args).await,
        Some(Command::Explain(args)) => explain::run(&context, &args).await,
        Some(Command::Doctor) => doctor::run(&context).await,
        Some(Command::Demo(args)) => demo::run(&context, &args).await,
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Man) => man::run(),
    }
}
