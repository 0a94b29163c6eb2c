//! Keys, mouse, pastes, focus and resizes, as they come.
//!
//! Invariants:
//! - the terminal is read by whoever polls this and by no thread behind it: after [`Input::stop`] nobody reads, so that a
//!   program it is handed to gets every key;
//! - whoever waits on a stopped input waits for good, so that the loop needs no special case;
//! - a lone escape is the key when nothing has followed for [`ESCAPE_WAIT`].
//!
//! Elsewhere: what the bytes mean (`decode`).

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

/// What the user does.
pub struct Input {
    tty: Option<AsyncFd<File>>,
    resized: Signal,
    bytes: Vec<u8>,
}

/// How long the rest of a sequence may take: longer than networks leave between two packets of one write, shorter than
/// two keys of a person.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);

/// More than a person types or a wheel turns between two frames.
const READ_BYTES: usize = 4096;

impl Input {
    /// Starts to read. The terminal has to be in raw mode, and the runtime to have IO and time.
    ///
    /// # Errors
    /// There is no terminal to read.
    pub fn start() -> io::Result<Self> {
        let resized = signal(SignalKind::window_change())?;
        Ok(Self { tty: Some(open()?), resized, bytes: Vec::new() })
    }

    /// The next event. Nothing is lost when the wait is given up.
    ///
    /// # Errors
    /// The terminal can't be read any more: it hung up.
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

    /// An event that is there already, to drain all before drawing.
    ///
    /// # Errors
    /// The terminal can't be read any more: it hung up.
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

    /// Stops to read. What was typed and not asked for yet is dropped.
    pub fn stop(&mut self) {
        self.tty = None;
        self.bytes.clear();
    }

    /// Reads again.
    ///
    /// # Errors
    /// There is no terminal to read.
    pub fn restart(&mut self) -> io::Result<()> {
        if self.tty.is_none() {
            self.tty = Some(open()?);
        }
        Ok(())
    }

    /// Takes a step's bytes off.
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

    /// Reads what is there, without waiting. Says how many bytes.
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

/// Opens the terminal anew, so that reading without waiting is our affair alone, and by its own name: macOS can't wait on
/// `/dev/tty`.
fn open() -> io::Result<AsyncFd<File>> {
    let name = rustix::termios::ttyname(rustix::stdio::stdin(), Vec::new());
    let path =
        name.ok().and_then(|name| name.into_string().ok()).map_or_else(|| PathBuf::from("/dev/tty"), PathBuf::from);
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = File::options().read(true).custom_flags(flags.cast_signed()).open(path)?;
    #[expect(deprecated, reason = "its successor is unsafe for types that lie about their descriptor; a File does not")]
    let tty = AsyncFd::with_interest(file, Interest::READABLE);
    tty
}
