//! Keys, mouse, pastes, focus and resizes.
//!
//! Invariants:
//! - the terminal is read only while this is polled, without a thread: after [`Input::stop`] nothing reads, so that another
//!   program gets every key;
//! - waiting on a stopped input never returns, so that the loop needs no special case;
//! - a single escape is the key when nothing followed within [`ESCAPE_WAIT`];
//! - a paste ends with its end mark, after [`PASTE_SILENCE`], at its size limit or with ctrl-c: no input leaves the keyboard
//!   without effect.
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
use tokio::time::Instant;

use super::decode::{PASTE_END, Step, decode, give_up, is_paste, rest_of_paste};

/// The user's input.
pub struct Input {
    tty: Option<AsyncFd<File>>,
    resized: Signal,
    bytes: Vec<u8>,
    /// When bytes arrived last.
    last_read: Instant,
    /// The rest of a paste that was cut is skipped.
    skips_paste: bool,
}

/// How long the rest of a sequence may take: longer than the gap between packets of one write, shorter than between two
/// keys.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);

/// How long a paste may be silent before it ends without its end mark. Terminals send it in one go.
const PASTE_SILENCE: Duration = Duration::from_secs(2);

const CTRL_C: u8 = 0x03;

/// More than a user types or scrolls between two frames.
const READ_BYTES: usize = 4096;

impl Input {
    /// Starts reading. The terminal must be in raw mode, and the runtime needs IO and time.
    ///
    /// # Errors
    /// There is no terminal.
    pub fn start() -> io::Result<Self> {
        let resized = signal(SignalKind::window_change())?;
        Ok(Self { tty: Some(open()?), resized, bytes: Vec::new(), last_read: Instant::now(), skips_paste: false })
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
            let patience = self.patience();
            let deadline = self.last_read + patience.unwrap_or_default();
            tokio::select! {
                biased;
                _ = self.resized.recv() => {
                    let (columns, rows) = crossterm::terminal::size()?;
                    return Ok(Event::Resize(columns, rows));
                }
                ready = tty.readable() => drop(ready?),
                () = tokio::time::sleep_until(deadline), if patience.is_some() => {
                    if let Some(event) = self.give_up() {
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
            let step = if self.skips_paste { rest_of_paste(&self.bytes) } else { decode(&self.bytes) };
            match step {
                Step::Incomplete => {
                    if self.read()? == 0 {
                        return Ok(None);
                    }
                }
                step @ (Step::Event(..) | Step::Skip(_)) => {
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
        self.skips_paste = false;
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

    fn is_in_paste(&self) -> bool {
        self.skips_paste || is_paste(&self.bytes)
    }

    /// How long the rest of an incomplete sequence may take; nothing when there is none.
    fn patience(&self) -> Option<Duration> {
        match (self.is_in_paste(), self.bytes.is_empty()) {
            (true, _) => Some(PASTE_SILENCE),
            (false, false) => Some(ESCAPE_WAIT),
            (false, true) => None,
        }
    }

    /// Ends a sequence whose rest did not come in time.
    fn give_up(&mut self) -> Option<Event> {
        if self.skips_paste {
            self.bytes.clear();
            self.skips_paste = false;
            return None;
        }
        let event = self.take(give_up(&self.bytes));
        self.skips_paste = false;
        event
    }

    /// Removes a step's bytes.
    fn take(&mut self, step: Step) -> Option<Event> {
        let (event, used) = match step {
            Step::Event(event, used) => (Some(event), used),
            Step::Skip(used) => (None, used),
            Step::Incomplete => return None,
        };
        let ended = self.bytes[..used].ends_with(PASTE_END);
        let is_paste = self.skips_paste || matches!(event, Some(Event::Paste(_)));
        self.skips_paste = is_paste && !ended;
        self.bytes.drain(..used);
        event
    }

    /// Reads without blocking. Returns the number of bytes.
    fn read(&mut self) -> io::Result<usize> {
        let Some(tty) = &self.tty else { return Ok(0) };
        let mut space = [0; READ_BYTES];
        match tty.try_io(Interest::READABLE, |mut file| file.read(&mut space)) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                // Alone in its read, it was pressed and not pasted.
                if space[..count] == [CTRL_C] && self.is_in_paste() {
                    self.bytes.clear();
                    self.skips_paste = false;
                }
                self.last_read = Instant::now();
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
