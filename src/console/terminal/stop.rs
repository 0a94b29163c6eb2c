//! Stopping, as a shell's job control knows it.

use std::io;

use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};

/// Who stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Everything the shell started with us, as its own ctrl-z does: in raw mode that is a key like others.
    Job,
    /// This process alone: somebody sent it SIGTSTP, and may have sent it to others.
    Process,
}

/// Stops until somebody sends SIGCONT.
///
/// The terminal has to be handed over before. This may return a moment before the stop happens, so the caller waits for
/// the signal that continues it and only then takes the terminal back.
///
/// # Errors
/// The system does not let us.
pub fn stop(who: Stop) -> io::Result<()> {
    // SIGSTOP, because SIGTSTP would come back to the loop as the signal it is just answering.
    match who {
        Stop::Job => kill_current_process_group(Signal::STOP)?,
        Stop::Process => kill_process(getpid(), Signal::STOP)?,
    }
    Ok(())
}
