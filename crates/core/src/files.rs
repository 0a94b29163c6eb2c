//! Reads the user's own files: links are followed and pipes are read, within a size and a time.
//!
//! Invariants: a file over its limit is an error and never cut short; a pipe without an end does not hang the program.
//!
//! Elsewhere: untrusted files, where only regular files count (`fleet::snapshot`).

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use zeroize::Zeroizing;

/// How long a pipe may take: a command that decrypts or downloads the content fits.
const PIPE_TIME: Duration = Duration::from_secs(30);

/// The largest token, key or certificate bundle: a system's own bundle has about 200 KiB.
pub const CREDENTIAL_BYTES_MAX: u64 = 1 << 20;

/// Reads a file of at most `bytes_max` bytes.
///
/// # Errors
/// It cannot be read, is larger, or is a pipe that has no end within 30 s.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    read_within(path, bytes_max, PIPE_TIME)
}

/// The same for text in UTF-8.
///
/// # Errors
/// As [`read`], or not UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<Zeroizing<String>> {
    text(read(path, bytes_max)?)
}

/// Reads the last `bytes_max` bytes of a regular file.
///
/// # Errors
/// It cannot be read, or is not a regular file.
pub fn read_tail(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(found.len().saturating_sub(bytes_max)))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads standard input, at most `bytes_max` bytes. A person may type it, so there is no limit of time.
///
/// # Errors
/// As [`read_text`].
pub fn read_stdin(bytes_max: u64) -> io::Result<Zeroizing<String>> {
    text(take(io::stdin().lock(), bytes_max)?)
}

fn read_within(path: &Path, bytes_max: u64, time: Duration) -> io::Result<Zeroizing<Vec<u8>>> {
    let found = std::fs::metadata(path)?;
    if found.is_file() {
        // Some file systems report a length of 0 (/proc), so the content is limited too.
        return if found.len() > bytes_max { Err(too_large(bytes_max)) } else { take(File::open(path)?, bytes_max) };
    }
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // Opening a pipe waits for its writer, and reading for its end: a thread that waits for ever ends with the process.
    let (sender, receiver) = mpsc::sync_channel(1);
    let path = path.to_owned();
    std::thread::spawn(move || sender.send(File::open(path).and_then(|file| take(file, bytes_max))));
    receiver.recv_timeout(time).unwrap_or_else(|_| {
        let message = format!("no end of the pipe within {} s", time.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

/// Reads to the end, or fails when that is further away.
///
/// # Errors
/// The content cannot be read, or is larger.
pub fn take(from: impl Read, bytes_max: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    from.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

fn text(mut bytes: Zeroizing<Vec<u8>>) -> io::Result<Zeroizing<String>> {
    String::from_utf8(std::mem::take(&mut *bytes)).map(Zeroizing::new).map_err(|error| {
        drop(Zeroizing::new(error.into_bytes()));
        io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text")
    })
}

fn too_large(bytes_max: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {bytes_max} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn fifo(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        path
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_never_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("f"), folder.path().join("link"));
        std::fs::write(&path, "0123456789").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(&**read_text(&path, 10).unwrap(), "0123456789");
        assert_eq!(&**read_text(&link, 10).unwrap(), "0123456789", "links are followed");
        assert_eq!(read(&path, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(folder.path(), 9).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(read(Path::new("/dev/zero"), 1 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn the_end_of_a_file_is_read_and_nothing_that_is_not_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_tail(&path, 4).unwrap(), b"6789");
        assert_eq!(read_tail(&path, 40).unwrap(), b"0123456789");
        assert_eq!(read_tail(&fifo(folder.path()), 4).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(read_tail(&folder.path().join("absent"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = fifo(folder.path());
        let writer = std::thread::spawn({
            let path = path.clone();
            move || std::fs::OpenOptions::new().write(true).open(path).unwrap().write_all(b"from a pipe").unwrap()
        });
        assert_eq!(&**read_text(&path, 100).unwrap(), "from a pipe");
        writer.join().unwrap();
    }

    #[test]
    fn a_pipe_without_a_writer_does_not_hang() {
        let folder = tempfile::tempdir().unwrap();
        let error = read_within(&fifo(folder.path()), 100, Duration::from_millis(10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
