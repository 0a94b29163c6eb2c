//! Where the bytes go: the terminal, or a record of it in tests.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

/// Whether keys come one by one and unechoed, or as lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawMode {
    On,
    Off,
}

/// A terminal to write to.
pub trait Sink: Send {
    /// Writes all of the bytes; to a terminal, in one system call.
    ///
    /// # Errors
    /// The terminal is gone.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Turns raw mode on or off.
    ///
    /// # Errors
    /// The terminal is gone, or was none.
    fn set_raw(&mut self, raw: RawMode) -> io::Result<()>;

    /// Columns and rows.
    fn size(&self) -> (u16, u16);
}

/// The terminal this process belongs to.
#[derive(Debug)]
pub struct Tty {
    file: File,
}

/// What a terminal that does not know its size is taken for.
const SIZE_UNKNOWN: (u16, u16) = (80, 24);

impl Tty {
    /// Opens the controlling terminal, or else whatever terminal stdout is.
    ///
    /// Opened anew rather than shared: whether stdout is non-blocking, redirected or locked by somebody does not matter.
    ///
    /// # Errors
    /// There is no terminal.
    pub fn open() -> io::Result<Self> {
        match File::options().write(true).open("/dev/tty") {
            Ok(file) => Ok(Self { file }),
            Err(error) if !io::stdout().is_terminal() => Err(error),
            Err(_) => {
                use std::os::fd::AsFd;
                Ok(Self { file: File::from(io::stdout().as_fd().try_clone_to_owned()?) })
            }
        }
    }
}

impl Sink for Tty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn set_raw(&mut self, raw: RawMode) -> io::Result<()> {
        // Crossterm's own, and not ours beside it: its decoder asks whether it is on.
        match raw {
            RawMode::On => crossterm::terminal::enable_raw_mode(),
            RawMode::Off => crossterm::terminal::disable_raw_mode(),
        }
    }

    fn size(&self) -> (u16, u16) {
        // A terminal that is still being set up says 0 × 0.
        crossterm::terminal::size().ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(SIZE_UNKNOWN)
    }
}
