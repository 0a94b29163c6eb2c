//! The terminal as the loop sees it: a hold, a writer, and what is on it.
//!
//! Invariants: what is remembered as shown is what the terminal shows. When that is not sure (a resize, a stop, another
//! program, a failed write), the next frame is painted whole.

use std::io;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::color::ColorDepth;
use super::guard::{Guard, MODES, Mode};
use super::sink::{Sink, Tty};
use super::writer::{Cursor, Writer};

/// A held terminal to paint on.
pub struct Screen {
    guard: Guard,
    writer: Writer,
    shown: Buffer,
    /// Kept from frame to frame for its memory.
    next: Buffer,
    trust: Trust,
}

/// Whether the terminal shows what we remember.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    Sure,
    Unsure,
}

impl Screen {
    /// Takes the terminal this process belongs to.
    ///
    /// # Errors
    /// There is none, or it can't be set.
    pub fn open(depth: ColorDepth) -> io::Result<Self> {
        Self::enter(Box::new(Tty::open()?), &MODES, depth)
    }

    /// Takes a terminal and sets the modes.
    ///
    /// # Errors
    /// The terminal is gone, or was none.
    pub fn enter(sink: Box<dyn Sink>, modes: &[Mode], depth: ColorDepth) -> io::Result<Self> {
        let guard = Guard::enter(sink, modes)?;
        let (columns, rows) = guard.size();
        let blank = Buffer::empty(Rect::new(0, 0, columns, rows));
        Ok(Self { guard, writer: Writer::new(depth), shown: blank.clone(), next: blank, trust: Trust::Unsure })
    }

    pub fn area(&self) -> Rect {
        self.next.area
    }

    /// What is on the screen.
    pub fn shown(&self) -> &Buffer {
        &self.shown
    }

    /// Takes on another size. The last of a storm is enough.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let area = Rect::new(0, 0, columns, rows);
        if area != self.next.area {
            self.next = Buffer::empty(area);
            self.trust = Trust::Unsure;
        }
    }

    /// Has the next frame painted whole.
    pub fn distrust(&mut self) {
        self.trust = Trust::Unsure;
    }

    /// Paints a frame on a blank buffer and shows it: one write, or none when nothing changed. Says how many bytes.
    ///
    /// # Errors
    /// The terminal is gone, or handed over.
    pub fn draw(&mut self, paint: impl FnOnce(&mut Buffer) -> Cursor) -> io::Result<usize> {
        self.next.reset();
        let cursor = paint(&mut self.next);
        let bytes = match self.trust {
            Trust::Sure => self.writer.frame(&self.shown, &self.next, cursor),
            Trust::Unsure => self.writer.repaint(&self.next, cursor),
        };
        if !bytes.is_empty() {
            self.trust = Trust::Unsure;
            self.guard.write(bytes)?;
        }
        self.trust = Trust::Sure;
        let count = bytes.len();
        std::mem::swap(&mut self.shown, &mut self.next);
        if self.next.area != self.shown.area {
            self.next = Buffer::empty(self.shown.area);
        }
        Ok(count)
    }

    /// Says something besides the frame: a title, a copy. It must not move the cursor or change the pen.
    ///
    /// # Errors
    /// The terminal is gone, or handed over.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.guard.write(bytes)
    }

    /// Sets one more mode, as the mouse.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take(&mut self, mode: Mode) -> io::Result<()> {
        self.guard.set(mode)
    }

    /// Undoes one mode, so that the terminal has the mouse to itself.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn release(&mut self, mode: Mode) -> io::Result<()> {
        self.guard.unset(mode)
    }

    /// Hands the terminal over as it was found.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.trust = Trust::Unsure;
        self.guard.suspend()
    }

    /// Takes the terminal back, whatever its size is now.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn resume(&mut self) -> io::Result<()> {
        self.guard.resume()?;
        let (columns, rows) = self.guard.size();
        self.resize(columns, rows);
        self.trust = Trust::Unsure;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
