//! What other processes ask of us by signal, in the two words the loop knows: end, or rest.
//!
//! Invariants:
//! - once somebody asked for the end, every question is answered with it;
//! - what was asked while another program had the terminal was meant for that program: ctrl-c and ctrl-z go to all.

use std::io;

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// SIGTERM, SIGHUP, SIGINT: leave, as a quit would. In raw mode ctrl-c is a key and not among these.
    End,
    /// SIGTSTP: stop until continued. In raw mode ctrl-z is a key and not among these.
    Rest,
}

/// The signals a program with a terminal answers to.
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
    /// Starts to listen. From now on none of these ends or stops the process by itself.
    ///
    /// # Errors
    /// The system does not let us.
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

    /// The next thing asked for. Nothing is lost when the wait is given up.
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

    /// What is asked of us and not of the program that has the terminal.
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

    /// Drops the ctrl-c and the ctrl-z that were meant for a program that has just ended.
    ///
    /// Such a signal may have been sent to us and not have come up through the runtime yet. One that we send ourselves
    /// comes after it: the system hands out the lower number first, and the runtime passes on all that it has.
    pub(super) async fn forget_what_was_meant_for_others(&mut self) -> io::Result<()> {
        self.go_on = signal(kind(Signal::CONT))?;
        kill_process(getpid(), Signal::CONT)?;
        self.continued().await;
        self.forget()
    }

    /// Drops what has been heard of ctrl-c, stops and continues so far.
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
