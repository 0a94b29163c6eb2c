//! Keys, mouse, pastes, focus and resizes.
//!
//! Invariants:
//! - the terminal is read only while this is polled, without a thread: after [`Input::stop`] nothing reads, so that another
//!   program gets every key;
//! - waiting on a stopped input never returns, so that the loop needs no special case;
//! - a single escape is the key when nothing followed within [`ESCAPE_WAIT`].
//!
//! Elsewhere: decoding (`decode`).

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crossterm::event::Event;
use rustix::fs::OFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::decode::{Step, decode, give_up};

/// The user's input.
pub struct Input {
    tty: Option<AsyncFd<File>>,
    resized: Signal,
    bytes: Vec<u8>,
}

/// How long the rest of a sequence may take: longer than the gap between packets of one write, shorter than between two
/// keys.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);

/// More than a user types or scrolls between two frames.
const READ_BYTES: usize = 4096;

impl Input {
    /// Starts reading. The terminal must be in raw mode, and the runtime needs IO and time.
    ///
    /// # Errors
    /// There is no terminal.
    pub fn start() -> io::Result<Self> {
        let resized = signal(SignalKind::window_change())?;
        Ok(Self { tty: Some(open()?), resized, bytes: Vec::new() })
    }

    /// Returns the next event. Cancel-safe.
    ///
    /// # Errors
    /// The terminal closed.
    pub async fn next(&mut self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.ready()? {
                return Ok(event);
            }
            let Some(tty) = &self.tty else { return std::future::pending().await };
            let is_beginning = give_up(&self.bytes) != Step::Incomplete;
            tokio::select! {
                biased;
                _ = self.resized.recv() => {
                    let (columns, rows) = crossterm::terminal::size()?;
                    return Ok(Event::Resize(columns, rows));
                }
                ready = tty.readable() => drop(ready?),
                () = tokio::time::sleep(ESCAPE_WAIT), if is_beginning => {
                    if let Some(event) = self.take(give_up(&self.bytes)) {
                        return Ok(event);
                    }
                }
            }
        }
    }

    /// Returns a ready event, to handle all before drawing.
    ///
    /// # Errors
    /// The terminal closed.
    pub fn ready(&mut self) -> io::Result<Option<Event>> {
        loop {
            match decode(&self.bytes) {
                Step::Incomplete => {
                    if self.read()? == 0 {
                        return Ok(None);
                    }
                }
                step => {
                    if let Some(event) = self.take(step) {
                        return Ok(Some(event));
                    }
                }
            }
        }
    }

    /// Stops reading. Unread input is dropped.
    pub fn stop(&mut self) {
        self.tty = None;
        self.bytes.clear();
    }

    /// Resumes reading.
    ///
    /// # Errors
    /// There is no terminal.
    pub fn restart(&mut self) -> io::Result<()> {
        if self.tty.is_none() {
            self.tty = Some(open()?);
        }
        Ok(())
    }

    /// Removes a step's bytes.
    fn take(&mut self, step: Step) -> Option<Event> {
        match step {
            Step::Event(event, used) => {
                self.bytes.drain(..used);
                Some(event)
            }
            Step::Skip(used) => {
                self.bytes.drain(..used);
                None
            }
            Step::Incomplete => None,
        }
    }

    /// Reads without blocking. Returns the number of bytes.
    fn read(&mut self) -> io::Result<usize> {
        let Some(tty) = &self.tty else { return Ok(0) };
        let mut space = [0; READ_BYTES];
        match tty.try_io(Interest::READABLE, |mut file| file.read(&mut space)) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.bytes.extend_from_slice(&space[..count]);
                Ok(count)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(0),
            Err(error) => Err(error),
        }
    }
}

/// Opens the terminal again, so that non-blocking reads affect only this descriptor, and by its own name: macOS cannot poll
/// `/dev/tty`.
fn open() -> io::Result<AsyncFd<File>> {
    let name = rustix::termios::ttyname(rustix::stdio::stdin(), Vec::new());
    let path =
        name.ok().and_then(|name| name.into_string().ok()).map_or_else(|| PathBuf::from("/dev/tty"), PathBuf::from);
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = File::options().read(true).custom_flags(flags.cast_signed()).open(path)?;
    #[expect(deprecated, reason = "its successor is unsafe for types without a stable descriptor; a File has one")]
    let tty = AsyncFd::with_interest(file, Interest::READABLE);
    tty
}
