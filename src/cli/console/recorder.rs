//! The file of a session recording.
//!
//! Invariants:
//! - an existing file is not replaced, and only the user can read the file (mode 600);
//! - the console hands pieces over and never waits; a thread turns them into lines and writes what is ready at once;
//! - a recording that cannot be written ends with a message, and the session continues.

#![expect(clippy::disallowed_methods, reason = "an offset is that of a moment")]

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cli::error::CliError;
use crate::console::ReplySender;
use crate::console::recording::{Piece, RecordingSink};
use crate::console::task::TaskReply;

/// Bytes written at once: many keys, and most changes of a fleet.
const BATCH_BYTES: usize = 256 << 10;
/// Pieces that may wait for a slow disk: minutes of the busiest session.
const WAITING_MAX: usize = 100_000;

/// A new file for a recording.
#[derive(Debug)]
pub struct RecordingFile {
    path: PathBuf,
    file: File,
    /// Bytes written so far.
    size: Arc<AtomicU64>,
}

/// Path and size of a recording, known after the session.
#[derive(Debug, Clone)]
pub struct RecordingSize {
    path: PathBuf,
    size: Arc<AtomicU64>,
}

impl RecordingFile {
    /// Creates the file.
    ///
    /// # Errors
    /// It exists, or cannot be created.
    pub fn create(path: &Path) -> Result<Self, CliError> {
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = created.map_err(|error| {
            let advice = if error.kind() == io::ErrorKind::AlreadyExists {
                "name another file; recordings are not replaced"
            } else {
                "name a file that you can create"
            };
            CliError::failed("--record", format!("{}: {error}", path.display()), advice)
        })?;
        Ok(Self { path: path.to_owned(), file, size: Arc::default() })
    }

    pub fn size(&self) -> RecordingSize {
        RecordingSize { path: self.path.clone(), size: self.size.clone() }
    }

    /// Starts the thread that writes.
    pub fn open(self, replies: ReplySender) -> Box<dyn RecordingSink> {
        let (pieces, waiting) = channel();
        let backlog = Arc::new(AtomicUsize::new(0));
        let message = format!("Recording this session to {}.", self.path.display());
        replies.send(TaskReply::Notice { message });
        let (errors, taken) = (replies.clone(), backlog.clone());
        let writer = thread::spawn(move || {
            let path = self.path.clone();
            if let Err(error) = write(self, &waiting, &taken) {
                let message = format!("Recording stopped: cannot write {}: {error}", path.display());
                errors.send(TaskReply::Notice { message });
            }
        });
        Box::new(WriterThread { pieces: Some(pieces), backlog, writer: Some(writer), replies })
    }
}

impl RecordingSize {
    /// One sentence: the file and its size.
    pub fn message(&self) -> String {
        let bytes = self.size.load(Ordering::SeqCst);
        let size = match bytes {
            0..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
            _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
        };
        let path = self.path.display();
        format!("recorded the session to {path} ({size}); replay it: trueup replay {path}")
    }
}

/// The time zone as a recording can name it: one without a name is recorded with its offset of now.
pub fn named_zone(zone: TimeZone) -> TimeZone {
    if zone.iana_name().is_some() { zone } else { TimeZone::fixed(zone.to_offset(Timestamp::now())) }
}

struct WriterThread {
    /// None after the recording stopped.
    pieces: Option<Sender<Piece>>,
    backlog: Arc<AtomicUsize>,
    writer: Option<JoinHandle<()>>,
    replies: ReplySender,
}

impl RecordingSink for WriterThread {
    fn put(&mut self, piece: Piece) {
        let Some(pieces) = &self.pieces else { return };
        if self.backlog.fetch_add(1, Ordering::SeqCst) >= WAITING_MAX {
            self.pieces = None;
            let message = "Recording stopped: the disk is too slow.".to_owned();
            self.replies.send(TaskReply::Notice { message });
        } else if pieces.send(piece).is_err() {
            // The thread reported why it ended.
            self.pieces = None;
        }
    }
}

impl Drop for WriterThread {
    /// Waits until everything is written.
    fn drop(&mut self) {
        self.pieces = None;
        if let Some(writer) = self.writer.take() {
            // A panic was reported by the hook.
            let _panicked = writer.join();
        }
    }
}

/// Writes pieces until the session ends. Whatever is ready goes out in one write.
fn write(recording: RecordingFile, waiting: &Receiver<Piece>, backlog: &AtomicUsize) -> io::Result<()> {
    let RecordingFile { path: _, mut file, size } = recording;
    let mut batch = Vec::with_capacity(BATCH_BYTES);
    while let Ok(piece) = waiting.recv() {
        batch.clear();
        let mut next = Some(piece);
        while let Some(piece) = next {
            backlog.fetch_sub(1, Ordering::SeqCst);
            batch.extend(piece.into_bytes());
            next = if batch.len() < BATCH_BYTES { waiting.try_recv().ok() } else { None };
        }
        file.write_all(&batch)?;
        size.fetch_add(u64::try_from(batch.len()).unwrap_or_default(), Ordering::SeqCst);
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_recording_is_private_whole_and_never_replaces_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session");
        let recording = RecordingFile::create(&path).unwrap();
        let size = recording.size();
        let mut sink = recording.open(ReplySender::new().0);
        for number in 0..10_000 {
            sink.put(Piece::Line(format!("{number}\n").into_bytes()));
        }
        drop(sink);
        let lines: String = (0..10_000).map(|number| format!("{number}\n")).collect();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(size.message().contains("(48 KiB)"), "{}", size.message());
        let refused = RecordingFile::create(&path).unwrap_err().to_string();
        assert!(refused.contains("recordings are not replaced"), "{refused}");
    }
}
