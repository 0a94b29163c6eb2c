//! Terminal modes: sets them and restores them.
//!
//! ```text
//!  enter ─► raw ─► alternate screen ─► title ─► cursor ─► paste ─► focus ─► mouse
//!  leave ◄─ raw ◄─ alternate screen ◄─ title ◄─ cursor ◄─ paste ◄─ focus ◄─ mouse
//! ```
//!
//! Invariants:
//! - a mode is recorded before it is set, so that a partially set mode is undone too;
//! - leaving undoes the modes in reverse, ends an unfinished frame first, and is idempotent;
//! - exit, error, panic, suspend and running another program use the same code;
//! - a panic on another thread does not change the terminal.
//!
//! Elsewhere: signals (the loop handles them and drops or suspends the guard).

use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::panic;
use super::sink::{RawMode, Sink};

/// A terminal mode that must be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Unbuffered keys without echo.
    Raw,
    AlternateScreen,
    /// The window's title, saved.
    Title,
    CursorHidden,
    /// Pasted text is marked as such.
    BracketedPaste,
    /// Focus events.
    FocusEvents,
    /// Clicks, wheel and drags; no plain movement, which would wake the program needlessly.
    Mouse,
    /// Kitty keyboard protocol: distinguishes escape from alt, tab from ctrl-i. Only for terminals that announced it.
    Keyboard,
}

/// The console's modes, in this order.
pub const MODES: [Mode; 7] = [
    Mode::Raw,
    Mode::AlternateScreen,
    Mode::Title,
    Mode::CursorHidden,
    Mode::BracketedPaste,
    Mode::FocusEvents,
    Mode::Mouse,
];

/// Ends an unfinished frame and resets attributes.
const FRAME_END: &[u8] = b"\x1b[?2026l\x1b[0m";

/// A terminal with modes set.
///
/// Stays on its thread: a panic there, and only there, restores the terminal.
pub struct Guard {
    held: Arc<Mutex<TerminalState>>,
    _stays_on_its_thread: PhantomData<*const ()>,
}

/// State shared by the guard and the panic hook.
pub(super) struct TerminalState {
    sink: Box<dyn Sink>,
    /// Active modes, the last one last.
    modes: Vec<Mode>,
    hold: Hold,
}

enum Hold {
    Ours,
    /// The terminal is released to a shell or another program. These modes are set again on return.
    Aside {
        modes: Vec<Mode>,
    },
}

impl Guard {
    /// Opens the terminal and sets the modes, in this order.
    ///
    /// # Errors
    /// The terminal closed, or there is none; then nothing stays set.
    pub fn enter(sink: Box<dyn Sink>, modes: &[Mode]) -> io::Result<Self> {
        let held = TerminalState { sink, modes: Vec::new(), hold: Hold::Ours };
        let guard = Self { held: Arc::new(Mutex::new(held)), _stays_on_its_thread: PhantomData };
        panic::own(&guard.held);
        guard.lock().set(modes)?;
        Ok(guard)
    }

    /// Sets one more mode; idempotent.
    ///
    /// # Errors
    /// The terminal closed.
    pub fn set(&mut self, mode: Mode) -> io::Result<()> {
        let mut held = self.lock();
        match &mut held.hold {
            Hold::Ours => held.set(&[mode]),
            Hold::Aside { modes } => {
                if !modes.contains(&mode) {
                    modes.push(mode);
                }
                Ok(())
            }
        }
    }

    /// Undoes one mode.
    ///
    /// # Errors
    /// The terminal closed.
    pub fn unset(&mut self, mode: Mode) -> io::Result<()> {
        let mut held = self.lock();
        match &mut held.hold {
            Hold::Ours => {
                let is_set = held.modes.contains(&mode);
                held.modes.retain(|set| *set != mode);
                if is_set { held.undo(&[mode]) } else { Ok(()) }
            }
            Hold::Aside { modes } => {
                modes.retain(|set| *set != mode);
                Ok(())
            }
        }
    }

    /// Writes bytes in one call.
    ///
    /// # Errors
    /// The terminal closed, or is released.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.lock();
        match held.hold {
            Hold::Ours => held.sink.write(bytes),
            Hold::Aside { .. } => Err(io::Error::other("the terminal is released to another program")),
        }
    }

    /// Undoes every mode, for a shell or another program. Idempotent.
    ///
    /// # Errors
    /// The terminal closed. It counts as released in any case.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.lock().suspend()
    }

    /// Takes the terminal back and sets the modes again. Its content is unknown: paint in full.
    ///
    /// # Errors
    /// The terminal closed.
    pub fn resume(&mut self) -> io::Result<()> {
        let mut held = self.lock();
        match std::mem::replace(&mut held.hold, Hold::Ours) {
            Hold::Ours => Ok(()),
            Hold::Aside { modes } => held.set(&modes),
        }
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        self.lock().sink.size()
    }

    fn lock(&self) -> MutexGuard<'_, TerminalState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        panic::disown(&self.held);
        // After a hang-up there is no terminal to restore.
        let _ = self.lock().leave();
    }
}

impl TerminalState {
    /// Undoes every mode, and records what to set again.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        match self.hold {
            Hold::Ours => {
                self.hold = Hold::Aside { modes: self.modes.clone() };
                self.leave()
            }
            Hold::Aside { .. } => Ok(()),
        }
    }

    /// Undoes every mode, the last one first. Idempotent.
    fn leave(&mut self) -> io::Result<()> {
        if self.modes.is_empty() {
            return Ok(());
        }
        let mut modes = std::mem::take(&mut self.modes);
        modes.reverse();
        let frame = self.sink.write(FRAME_END);
        // Raw mode can be reset even when writing fails.
        frame.and(self.undo(&modes))
    }

    fn set(&mut self, modes: &[Mode]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for mode in modes {
            if self.modes.contains(mode) {
                continue;
            }
            self.modes.push(*mode);
            match mode.sequences() {
                Some((set, _)) => bytes.extend_from_slice(set),
                None => self.sink.set_raw(RawMode::On)?,
            }
        }
        self.write_some(&bytes)
    }

    fn undo(&mut self, modes: &[Mode]) -> io::Result<()> {
        let mut result = Ok(());
        let mut bytes = Vec::new();
        for mode in modes {
            match mode.sequences() {
                Some((_, unset)) => bytes.extend_from_slice(unset),
                None => {
                    let written = self.write_some(&std::mem::take(&mut bytes));
                    result = result.and(written).and(self.sink.set_raw(RawMode::Off));
                }
            }
        }
        result.and(self.write_some(&bytes))
    }

    fn write_some(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() { Ok(()) } else { self.sink.write(bytes) }
    }
}

impl Mode {
    /// The bytes that set and undo a mode. Raw mode is not a sequence.
    fn sequences(self) -> Option<(&'static [u8], &'static [u8])> {
        match self {
            Self::Raw => None,
            Self::AlternateScreen => Some((b"\x1b[?1049h", b"\x1b[?1049l")),
            Self::Title => Some((b"\x1b[22;0t", b"\x1b[23;0t")),
            Self::CursorHidden => Some((b"\x1b[?25l", b"\x1b[?25h")),
            Self::BracketedPaste => Some((b"\x1b[?2004h", b"\x1b[?2004l")),
            Self::FocusEvents => Some((b"\x1b[?1004h", b"\x1b[?1004l")),
            Self::Mouse => Some((b"\x1b[?1000h\x1b[?1002h\x1b[?1006h", b"\x1b[?1006l\x1b[?1002l\x1b[?1000l")),
            Self::Keyboard => Some((b"\x1b[>1u", b"\x1b[<1u")),
        }
    }
}

#[cfg(test)]
mod tests;
