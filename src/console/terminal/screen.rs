//! The terminal as the loop sees it: guard, writer, and the shown buffer.
//!
//! Invariants: the stored buffer equals what the terminal shows. When that is uncertain (a resize, a suspend, another
//! program, a failed write), the next frame is painted in full.

use std::io;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::color::ColorDepth;
use super::dialect::Dialect;
use super::guard::{Guard, MODES, Mode};
use super::sink::{Sink, Tty};
use super::writer::{Cursor, Writer};

/// An open terminal.
pub struct Screen {
    guard: Guard,
    writer: Writer,
    shown: Buffer,
    /// Reused between frames.
    next: Buffer,
    trust: Trust,
}

/// Whether the terminal shows the stored buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    Sure,
    Unsure,
}

impl Screen {
    /// Opens the controlling terminal.
    ///
    /// # Errors
    /// There is none, or it cannot be configured.
    pub fn open(depth: ColorDepth, dialect: Dialect) -> io::Result<Self> {
        Self::enter(Box::new(Tty::open()?), &MODES, depth, dialect)
    }

    /// Opens a terminal and sets the modes.
    ///
    /// # Errors
    /// The terminal closed, or there is none.
    pub fn enter(sink: Box<dyn Sink>, modes: &[Mode], depth: ColorDepth, dialect: Dialect) -> io::Result<Self> {
        let guard = Guard::enter(sink, modes)?;
        let (columns, rows) = guard.size();
        let blank = Buffer::empty(Rect::new(0, 0, columns, rows));
        Ok(Self { guard, writer: Writer::new(depth, dialect), shown: blank.clone(), next: blank, trust: Trust::Unsure })
    }

    pub fn area(&self) -> Rect {
        self.next.area
    }

    /// The shown buffer.
    pub fn shown(&self) -> &Buffer {
        &self.shown
    }

    /// Applies another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let area = Rect::new(0, 0, columns, rows);
        if area != self.next.area {
            self.next = Buffer::empty(area);
            self.trust = Trust::Unsure;
        }
    }

    /// Paints the next frame in full.
    pub fn distrust(&mut self) {
        self.trust = Trust::Unsure;
    }

    /// Draws a frame on a blank buffer and writes it: one write, or none when nothing changed. Returns the number of bytes.
    ///
    /// # Errors
    /// The terminal closed, or is released.
    pub fn draw(&mut self, paint: impl FnOnce(&mut Buffer) -> Cursor) -> io::Result<usize> {
        self.next.reset();
        let cursor = paint(&mut self.next);
        let bytes = match self.trust {
            Trust::Sure => self.writer.frame(&mut self.shown, &self.next, cursor),
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

    /// Writes a sequence outside the frame: a title, a copy. It must not move the cursor or change attributes.
    ///
    /// # Errors
    /// The terminal closed, or is released.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.guard.write(bytes)
    }

    /// Sets one more mode, such as the mouse.
    ///
    /// # Errors
    /// The terminal closed.
    pub fn take(&mut self, mode: Mode) -> io::Result<()> {
        self.guard.set(mode)
    }

    /// Undoes one mode, so that the terminal handles the mouse itself.
    ///
    /// # Errors
    /// The terminal closed.
    pub fn release(&mut self, mode: Mode) -> io::Result<()> {
        self.guard.unset(mode)
    }

    /// Releases the terminal in its original modes.
    ///
    /// # Errors
    /// The terminal closed.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.trust = Trust::Unsure;
        self.guard.suspend()
    }

    /// Takes the terminal back, whatever its size.
    ///
    /// # Errors
    /// The terminal closed.
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
