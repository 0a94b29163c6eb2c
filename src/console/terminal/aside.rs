//! Stepping aside: a stop until somebody continues us, and another program on the terminal.
//!
//! Invariants:
//! - whoever gets the terminal gets it as we found it, and every key from then on;
//! - we take it back only when it is ours again: continued, or the other program ended;
//! - ctrl-z in the other program stops us with it, so that the shell sees its whole job stopped.

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, getpid, kill_current_process_group, kill_process};
use tokio::process::Command;

use super::input::Input;
use super::screen::Screen;
use super::signals::{Asked, Signals};

/// Who stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Everything the shell started with us, as its own ctrl-z does: in raw mode that is a key like others.
    Job,
    /// This process alone: somebody sent it SIGTSTP, and may have sent it to others.
    Process,
}

/// Gives the terminal to the shell and stops until somebody continues us. The next frame is painted whole.
///
/// # Errors
/// The terminal is gone, or the system does not let us stop.
pub async fn rest(screen: &mut Screen, input: &mut Input, signals: &mut Signals, who: Stop) -> io::Result<()> {
    input.stop();
    screen.suspend()?;
    stop(signals, who).await?;
    screen.resume()?;
    input.restart()?;
    Ok(())
}

/// Gives the terminal to another program, an editor or a login, until it ends. The next frame is painted whole.
///
/// When somebody wants us to end meanwhile, the program is asked to end, too, and [`Signals::next`] tells of it after.
///
/// # Errors
/// The program can't be started (the terminal is ours again), or the terminal is gone.
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
                    // One that ended in this moment is not there to be asked.
                    let _ = id.map(|id| kill_process(id, Signal::TERM));
                    return child.wait().await;
                }
            },
        }
    }
}

/// Stops, and comes back when continued: the system may let us run on for a moment before it stops us.
async fn stop(signals: &mut Signals, who: Stop) -> io::Result<()> {
    signals.forget()?;
    // SIGSTOP, because SIGTSTP would come back as the signal that is just being answered.
    match who {
        Stop::Job => kill_current_process_group(Signal::STOP)?,
        Stop::Process => kill_process(getpid(), Signal::STOP)?,
    }
    signals.continued().await;
    Ok(())
}
