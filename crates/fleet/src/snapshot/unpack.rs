//! Unpacks a compressed archive while it is read.
//!
//! Invariants: a stream without its end, or with a wrong checksum, is an error and never a short archive; what is unpacked
//! is counted, and reading stops at a limit, because a few bytes can stand for terabytes.
//!
//! Elsewhere: the entries of the archive (`archive`).

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Bytes that are read from the file at once.
const BUFFER_BYTES: usize = 256 << 10;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A frame of zstd that holds no data begins with one of 16 numbers, which end so.
const ZSTD_SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];

/// Whether a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
    None,
}

/// Opens an archive, whatever its compression: its first bytes tell.
///
/// # Errors
/// The file cannot be read.
pub(super) fn unpacked<'f, F: Read + Seek + 'f>(mut file: F) -> io::Result<(Box<dyn Read + 'f>, Compression)> {
    let mut start = Vec::new();
    file.by_ref().take(ZSTD.len() as u64).read_to_end(&mut start)?;
    file.seek(SeekFrom::Start(0))?;
    let file = BufReader::with_capacity(BUFFER_BYTES, file);
    Ok(if start.starts_with(&GZIP) {
        (Box::new(MultiGzDecoder::new(file)), Compression::Gzip)
    } else if start == ZSTD || start.get(1..) == Some(&ZSTD_SKIPPED) {
        (Box::new(Zstd { file, frame: FrameDecoder::new(), is_inside: false }), Compression::Zstd)
    } else {
        (Box::new(file), Compression::None)
    })
}

/// The frames of a zstd file, one after another.
struct Zstd<R> {
    file: R,
    frame: FrameDecoder,
    /// Whether a frame was begun and has not ended.
    is_inside: bool,
}

impl<R: BufRead> Zstd<R> {
    /// Begins the next frame with data. Returns false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.file.fill_buf()?.is_empty() {
            match self.frame.init(&mut self.file) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.file.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_inside {
                self.is_inside = self.begin()?;
                if !self.is_inside {
                    return Ok(0);
                }
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.frame.decode_blocks(&mut self.file, one).map_err(io::Error::other)?;
            }
            if self.frame.can_collect() > 0 {
                return self.frame.read(buffer);
            }
            let written = self.frame.get_checksum_from_data();
            if written.is_some() && written != self.frame.get_calculated_checksum() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "wrong checksum"));
            }
            self.is_inside = false;
        }
    }
}

/// How much may still be read.
pub(super) struct Meter {
    /// Of the whole archive.
    left: Cell<u64>,
    /// Until the next entry: names and attributes are read into memory as a whole.
    heads_left: Cell<Option<u64>>,
    read: Cell<u64>,
    stop: Cell<Option<Stop>>,
}

/// The limit at which reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Unpacked,
    Head,
}

/// Bytes of the headers of one entry. A path has at most 4 KiB.
const HEAD_BYTES_MAX: u64 = 1 << 20;

impl Meter {
    pub fn new(unpacked_bytes_max: u64) -> Self {
        Self {
            left: Cell::new(unpacked_bytes_max),
            heads_left: Cell::new(None),
            read: Cell::new(0),
            stop: Cell::new(None),
        }
    }

    /// Bytes read so far.
    pub fn read(&self) -> u64 {
        self.read.get()
    }

    pub fn stop(&self) -> Option<Stop> {
        self.stop.get()
    }

    /// Reads with the limit of headers.
    pub fn head<T>(&self, read: impl FnOnce() -> T) -> T {
        self.heads_left.set(Some(HEAD_BYTES_MAX));
        let done = read();
        self.heads_left.set(None);
        done
    }
}

/// A reader with a meter.
pub(super) struct Metered<'m, R> {
    pub inner: R,
    pub meter: &'m Meter,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let Meter { left, heads_left, read: all, stop } = self.meter;
        let bytes = read as u64;
        all.set(all.get() + bytes);
        match (left.get().checked_sub(bytes), heads_left.get().map(|left| left.checked_sub(bytes))) {
            (None, _) => stop.set(Some(Stop::Unpacked)),
            (Some(_), Some(None)) => stop.set(Some(Stop::Head)),
            (Some(rest), heads) => {
                left.set(rest);
                heads_left.set(heads.flatten());
                return Ok(read);
            }
        }
        Err(io::Error::other("over the limit"))
    }
}
