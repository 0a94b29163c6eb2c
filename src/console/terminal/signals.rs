//! Signals, reduced to two requests: end or suspend.
//!
//! Invariants:
//! - once the end was requested, every later call returns it;
//! - signals sent while another program had the terminal were meant for that program: ctrl-c and ctrl-z reach the group.

use std::io;

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};

/// Request of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// SIGTERM, SIGHUP, SIGINT: quit. In raw mode ctrl-c is a key and not among these.
    End,
    /// SIGTSTP: stop until continued. In raw mode ctrl-z is a key and not among these.
    Rest,
}

/// Signals of a terminal program.
pub struct Signals {
    hang_up: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    stop: tokio::signal::unix::Signal,
    go_on: tokio::signal::unix::Signal,
    ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Asked,
    NotAsked,
}

impl Signals {
    /// Installs the handlers. From now on none of these ends or stops the process directly.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(kind(Signal::TSTP))?,
            go_on: signal(kind(Signal::CONT))?,
            ending: Ending::NotAsked,
        })
    }

    /// Returns the next request. Cancel-safe.
    pub async fn next(&mut self) -> Asked {
        if self.ending == Ending::Asked {
            return Asked::End;
        }
        tokio::select! {
            biased;
            _ = self.hang_up.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.stop.recv() => return Asked::Rest,
        }
        self.ending = Ending::Asked;
        Asked::End
    }

    /// Returns requests for us and not for the program that has the terminal.
    pub(super) async fn next_while_aside(&mut self) -> Asked {
        tokio::select! {
            biased;
            _ = self.hang_up.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.stop.recv() => return Asked::Rest,
        }
        self.ending = Ending::Asked;
        Asked::End
    }

    /// Waits for SIGCONT.
    pub(super) async fn continued(&mut self) {
        self.go_on.recv().await;
    }

    /// Drops the ctrl-c and ctrl-z signals meant for a program that has just exited.
    ///
    /// Such a signal may be delivered to us and not yet be reported by the runtime. One that we send ourselves arrives after
    /// it: the system delivers the lower number first, and the runtime reports all of them.
    pub(super) async fn forget_what_was_meant_for_others(&mut self) -> io::Result<()> {
        self.go_on = signal(kind(Signal::CONT))?;
        kill_process(getpid(), Signal::CONT)?;
        self.continued().await;
        self.forget()
    }

    /// Drops reported ctrl-c, stop and continue signals.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.interrupt = signal(SignalKind::interrupt())?;
        self.stop = signal(kind(Signal::TSTP))?;
        self.go_on = signal(kind(Signal::CONT))?;
        Ok(())
    }
}

fn kind(signal: Signal) -> SignalKind {
    SignalKind::from_raw(signal.as_raw())
}
