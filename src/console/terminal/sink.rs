//! Output of terminal bytes: the terminal, or a recording in tests.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

/// Whether keys are unbuffered and not echoed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawMode {
    On,
    Off,
}

/// A terminal to write to.
pub trait Sink: Send {
    /// Writes all bytes; to a terminal, in one system call.
    ///
    /// # Errors
    /// The terminal closed.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Turns raw mode on or off.
    ///
    /// # Errors
    /// The terminal closed, or there is none.
    fn set_raw(&mut self, raw: RawMode) -> io::Result<()>;

    /// Columns and rows.
    fn size(&self) -> (u16, u16);
}

/// The controlling terminal.
#[derive(Debug)]
pub struct Tty {
    file: File,
}

/// Size of a terminal that does not report one.
const SIZE_UNKNOWN: (u16, u16) = (80, 24);

impl Tty {
    /// Opens the controlling terminal, or else the terminal of stdout.
    ///
    /// Opened separately: it does not matter whether stdout is non-blocking, redirected or locked.
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
        // crossterm's own function, because its decoder checks its state.
        match raw {
            RawMode::On => crossterm::terminal::enable_raw_mode(),
            RawMode::Off => crossterm::terminal::disable_raw_mode(),
        }
    }

    fn size(&self) -> (u16, u16) {
        // A terminal that is still starting reports 0 × 0.
        crossterm::terminal::size().ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(SIZE_UNKNOWN)
    }
}
