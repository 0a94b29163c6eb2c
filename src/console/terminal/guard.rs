//! The hold on the terminal: every mode that was set, and the way back.
//!
//! ```text
//!  enter ─► raw ─► alternate screen ─► title ─► cursor ─► paste ─► focus ─► mouse
//!  leave ◄─ raw ◄─ alternate screen ◄─ title ◄─ cursor ◄─ paste ◄─ focus ◄─ mouse
//! ```
//!
//! Invariants:
//! - a mode is on the list before it is set, so that one that was set by half is undone, too;
//! - leaving undoes the list in reverse, first of all ends a frame that was cut short, and does nothing the second time;
//! - exit, error, panic, a stop and a hand-over leave by the same way;
//! - who is not the owner's thread can't bring the terminal down by panicking.
//!
//! Elsewhere: signals. The loop hears them, and drops the guard or steps aside.

use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::panic;
use super::sink::{RawMode, Sink};

/// Something about the terminal that has to be set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Keys one by one, unechoed.
    Raw,
    AlternateScreen,
    /// The window's title, put aside.
    Title,
    CursorHidden,
    /// Pasted text comes as such and not as keys.
    BracketedPaste,
    /// Being told when the window is left and come back to.
    FocusEvents,
    /// Clicks, the wheel and drags; no bare movement, which would wake the program for nothing.
    Mouse,
    /// Keys that are told apart: escape from what alt sends, tab from ctrl-i. Only for terminals that said they can.
    Keyboard,
}

/// What the console sets, in this order.
pub const MODES: [Mode; 7] = [
    Mode::Raw,
    Mode::AlternateScreen,
    Mode::Title,
    Mode::CursorHidden,
    Mode::BracketedPaste,
    Mode::FocusEvents,
    Mode::Mouse,
];

/// Ends a frame that was cut short, and takes its colours off.
const FRAME_END: &[u8] = b"\x1b[?2026l\x1b[0m";

/// The terminal, held.
///
/// Stays on the thread that made it: a panic there, and only there, ends the hold.
pub struct Guard {
    held: Arc<Mutex<Held>>,
    _stays_on_its_thread: PhantomData<*const ()>,
}

/// What the guard and the panic hook share.
pub(super) struct Held {
    sink: Box<dyn Sink>,
    /// Set at this moment, the last one last.
    modes: Vec<Mode>,
    hold: Hold,
}

enum Hold {
    Ours,
    /// Somebody else has the terminal: a shell, an editor. These are set again when it is back.
    Aside {
        modes: Vec<Mode>,
    },
}

impl Guard {
    /// Takes the terminal and sets the modes, in this order.
    ///
    /// # Errors
    /// The terminal is gone, or was none; then nothing stays set.
    pub fn enter(sink: Box<dyn Sink>, modes: &[Mode]) -> io::Result<Self> {
        let held = Held { sink, modes: Vec::new(), hold: Hold::Ours };
        let guard = Self { held: Arc::new(Mutex::new(held)), _stays_on_its_thread: PhantomData };
        panic::own(&guard.held);
        guard.lock().set(modes)?;
        Ok(guard)
    }

    /// Sets one more mode; one that is set already stays as it is.
    ///
    /// # Errors
    /// The terminal is gone.
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

    /// Undoes one mode before its time.
    ///
    /// # Errors
    /// The terminal is gone.
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
    /// The terminal is gone, or is somebody else's at the moment.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.lock();
        match held.hold {
            Hold::Ours => held.sink.write(bytes),
            Hold::Aside { .. } => Err(io::Error::other("the terminal is handed over to another program")),
        }
    }

    /// Undoes everything, for a shell or another program. Does nothing the second time.
    ///
    /// # Errors
    /// The terminal is gone. It counts as handed over all the same.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.lock().suspend()
    }

    /// Takes the terminal back and sets what was set. What it shows is not known any more: paint it whole.
    ///
    /// # Errors
    /// The terminal is gone.
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

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        panic::disown(&self.held);
        // After a hang-up there is no terminal to set back, and nobody to tell.
        let _ = self.lock().leave();
    }
}

impl Held {
    /// Undoes everything, and remembers what to set again.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        match self.hold {
            Hold::Ours => {
                self.hold = Hold::Aside { modes: self.modes.clone() };
                self.leave()
            }
            Hold::Aside { .. } => Ok(()),
        }
    }

    /// Undoes every mode, the last one first. The second time there is nothing to undo.
    fn leave(&mut self) -> io::Result<()> {
        if self.modes.is_empty() {
            return Ok(());
        }
        let mut modes = std::mem::take(&mut self.modes);
        modes.reverse();
        let frame = self.sink.write(FRAME_END);
        // A terminal that can't be written to may still be set back from raw.
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
    /// The bytes that set a mode and those that undo it. Raw mode is no sequence.
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
