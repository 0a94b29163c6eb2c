//! Reads a session recording line by line.
//!
//! Invariants: a recording may come from an untrusted source: lines have a longest length, and text in them is escaped where
//! it is drawn, as everywhere. A last line without its end was cut off and is dropped.

use std::io::{self, BufRead, Read as _};

use super::line::{FORMAT, Header, Line};

/// The longest line: the first list of a fleet of thousands of clusters.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is not a session recording")]
    NotARecording,
    #[error("it was written by trueup {written}; replay it with that version, this is {}", env!("CARGO_PKG_VERSION"))]
    OtherVersion { written: String },
    #[error("line {line} is damaged ({source})")]
    Damaged { line: usize, source: serde_json::Error },
    #[error("line {line} is longer than {} MiB", LINE_BYTES_MAX >> 20)]
    TooLong { line: usize },
}

/// The lines of a recording after its header.
pub struct Reader<R> {
    source: R,
    pub header: Header,
    line: usize,
}

/// The next line of a recording.
#[derive(Debug)]
pub enum Read {
    Line(Box<Line>),
    End,
    /// The rest of the last line is missing.
    CutOff,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// It is no session recording, or one of another version.
    pub fn open(mut source: R) -> Result<Self, ReadError> {
        let bytes = whole_line(&mut source, 1)?.ok_or(ReadError::NotARecording)?;
        let header: Header = serde_json::from_slice(&bytes).map_err(|_| ReadError::NotARecording)?;
        if (header.format, header.version.as_str()) != (FORMAT, env!("CARGO_PKG_VERSION")) {
            return Err(ReadError::OtherVersion { written: format!("{} (format {})", header.version, header.format) });
        }
        Ok(Self { source, header, line: 1 })
    }

    /// Reads the next line.
    ///
    /// # Errors
    /// The line is damaged or too long, or the file cannot be read.
    pub fn next_line(&mut self) -> Result<Read, ReadError> {
        self.line += 1;
        let line = self.line;
        let Some(bytes) = whole_line(&mut self.source, line)? else { return Ok(Read::End) };
        if bytes.last() != Some(&b'\n') {
            return Ok(Read::CutOff);
        }
        serde_json::from_slice(&bytes).map(Read::Line).map_err(|source| ReadError::Damaged { line, source })
    }
}

fn whole_line(source: &mut impl BufRead, line: usize) -> Result<Option<Vec<u8>>, ReadError> {
    let mut bytes = Vec::new();
    source.take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)?;
    match bytes.len() {
        0 => Ok(None),
        length if u64::try_from(length).is_ok_and(|length| length == LINE_BYTES_MAX) => {
            Err(ReadError::TooLong { line })
        }
        _ => Ok(Some(bytes)),
    }
}
