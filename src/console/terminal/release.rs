//! Releasing the terminal: to the shell while suspended, or to another program.
//!
//! Invariants:
//! - the other program gets the terminal in its original modes, and every key;
//! - the terminal is acquired again only after SIGCONT, or when the other program exited;
//! - ctrl-z in the other program suspends us with it, so that the shell sees its whole job stopped.

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, getpid, kill_current_process_group, kill_process};
use tokio::process::Command;

use super::input::Input;
use super::screen::Screen;
use super::signals::{Asked, Signals};

/// Which processes stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The whole process group, like ctrl-z outside raw mode.
    Job,
    /// This process alone: it received SIGTSTP, and others may have too.
    Process,
}

/// Releases the terminal to the shell and stops until SIGCONT. The next frame is painted in full.
///
/// # Errors
/// The terminal closed, or the system refuses to stop.
pub async fn rest(screen: &mut Screen, input: &mut Input, signals: &mut Signals, who: Stop) -> io::Result<()> {
    input.stop();
    screen.suspend()?;
    stop(signals, who).await?;
    screen.resume()?;
    input.restart()?;
    Ok(())
}

/// Runs another program on the terminal, an editor or a login, until it exits. The next frame is painted in full.
///
/// On a termination signal the program is terminated too, and [`Signals::next`] reports the signal afterwards.
///
/// # Errors
/// The program cannot be started (the terminal is acquired again), or the terminal closed.
pub async fn hand_over(
    screen: &mut Screen,
    input: &mut Input,
    signals: &mut Signals,
    command: &mut Command,
) -> io::Result<ExitStatus> {
    input.stop();
    screen.suspend()?;
    let ended = run(signals, command).await;
    signals.forget_what_was_meant_for_others().await?;
    screen.resume()?;
    input.restart()?;
    ended
}

async fn run(signals: &mut Signals, command: &mut Command) -> io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    loop {
        tokio::select! {
            biased;
            status = child.wait() => return status,
            asked = signals.next_while_aside() => match asked {
                Asked::Rest => stop(signals, Stop::Process).await?,
                Asked::End => {
                    let id = child.id().and_then(|id| id.try_into().ok()).and_then(Pid::from_raw);
                    // It may have exited already.
                    let _ = id.map(|id| kill_process(id, Signal::TERM));
                    return child.wait().await;
                }
            },
        }
    }
}

/// Stops, and returns when continued: the system may let us run for a moment before it stops us.
async fn stop(signals: &mut Signals, who: Stop) -> io::Result<()> {
    signals.forget()?;
    // SIGSTOP, because SIGTSTP would be delivered to our own handler.
    match who {
        Stop::Job => kill_current_process_group(Signal::STOP)?,
        Stop::Process => kill_process(getpid(), Signal::STOP)?,
    }
    signals.continued().await;
    Ok(())
}
