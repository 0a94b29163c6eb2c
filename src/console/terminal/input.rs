//! Keys, mouse, pastes, focus and resizes, as they come.
//!
//! Always true:
//! - after [`Input::stop`] nobody reads the terminal, so that a program it is handed to gets every key;
//! - whoever waits on a stopped input waits for good, so that the loop needs no special case.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, EventStream};
use futures::StreamExt as _;

/// What the user does.
pub struct Input {
    stream: Option<EventStream>,
}

impl Input {
    /// Starts to read. The terminal has to be in raw mode.
    pub fn start() -> Self {
        Self { stream: Some(EventStream::new()) }
    }

    /// The next event. Nothing is lost when the wait is given up.
    ///
    /// # Errors
    /// The terminal can't be read any more: it hung up.
    pub async fn next(&mut self) -> io::Result<Event> {
        match &mut self.stream {
            Some(stream) => {
                let closed = || Err(io::Error::from(io::ErrorKind::UnexpectedEof));
                stream.next().await.unwrap_or_else(closed)
            }
            None => std::future::pending().await,
        }
    }

    /// An event that is there already, to drain all before drawing.
    ///
    /// Asked of crossterm and not of the stream: a stream that was polled without a real waker forgets to wake the loop.
    ///
    /// # Errors
    /// The terminal can't be read any more: it hung up.
    pub fn ready(&mut self) -> io::Result<Option<Event>> {
        if self.stream.is_none() || !crossterm::event::poll(Duration::ZERO)? {
            return Ok(None);
        }
        crossterm::event::read().map(Some)
    }

    /// Stops to read, and waits until nobody does.
    pub fn stop(&mut self) {
        if let Some(stream) = self.stream.take() {
            drop(stream);
            // The reading thread was woken and is leaving. It holds crossterm's lock until it has, and making a stream
            // takes the same lock.
            drop(EventStream::new());
        }
    }

    /// Reads again.
    pub fn restart(&mut self) {
        self.stream.get_or_insert_with(EventStream::new);
    }
}
