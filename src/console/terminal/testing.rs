//! A recording terminal.

use std::io;
use std::sync::{Arc, Mutex};

use super::sink::{RawMode, Sink};

/// Written bytes with `ESC` spelled out; each write and each change of raw mode is a word.
#[derive(Clone, Default)]
pub struct Recording(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    said: Vec<String>,
    bytes: Vec<u8>,
    writes: usize,
    gone: bool,
    size: Option<(u16, u16)>,
}

impl Recording {
    pub fn sized(columns: u16, rows: u16) -> Self {
        let recording = Self::default();
        recording.0.lock().unwrap().size = Some((columns, rows));
        recording
    }

    /// Everything written since the last call.
    pub fn take(&self) -> String {
        self.0.lock().unwrap().said.drain(..).collect::<Vec<_>>().join(" ")
    }

    /// The bytes since the last call, and the number of writes.
    pub fn take_bytes(&self) -> (Vec<u8>, usize) {
        let mut state = self.0.lock().unwrap();
        state.said.clear();
        (std::mem::take(&mut state.bytes), std::mem::take(&mut state.writes))
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.0.lock().unwrap().size = Some((columns, rows));
    }

    /// Hangs up: every later write fails.
    pub fn hang_up(&self) {
        self.0.lock().unwrap().gone = true;
    }
}

impl Sink for Recording {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.gone {
            return Err(io::Error::other("hung up"));
        }
        state.writes += 1;
        state.bytes.extend_from_slice(bytes);
        state.said.push(String::from_utf8_lossy(bytes).replace('\x1b', "ESC"));
        Ok(())
    }

    fn set_raw(&mut self, raw: RawMode) -> io::Result<()> {
        let word = match raw {
            RawMode::On => "{raw on}",
            RawMode::Off => "{raw off}",
        };
        self.0.lock().unwrap().said.push(word.to_owned());
        Ok(())
    }

    fn size(&self) -> (u16, u16) {
        self.0.lock().unwrap().size.unwrap_or((80, 24))
    }
}
