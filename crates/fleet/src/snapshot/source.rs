//! Where the files of a snapshot are: in a folder, or in an archive.
//!
//! Invariants: both give the same snapshot for the same files, apart from links, which only a folder follows.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::OFlags;
use zeroize::Zeroizing;

use super::archive::Archive;
use super::file::{Parsed, read_objects, read_text};
use super::layout::Place;
use super::limits::{Aliases, Limits};
use super::load::{LoadError, SMALL_FILE_BYTES_MAX, THREADS_MAX};
use super::problem::Problem;
use super::walk::{Found, LEAVES, object_files, why};

/// The files of a snapshot.
pub(super) enum Source {
    /// A folder, by its canonical path, which links must not leave.
    Folder(PathBuf),
    Archive(Box<Archive>),
}

/// A snapshot that was opened: its files, the path they begin with, and the name of a cluster that has none of its own.
pub(super) struct Opened {
    pub source: Source,
    pub dir: PathBuf,
    pub name: String,
}

impl Source {
    /// Opens a folder, or reads an archive.
    ///
    /// # Errors
    /// It is neither, or cannot be read.
    pub fn open(path: &Path, limits: &Limits, aliases: &Aliases) -> Result<Opened, LoadError> {
        let cant = |error: std::io::Error| LoadError::Unreadable { dir: path.to_owned(), why: why(&error) };
        let root = fs::canonicalize(path).map_err(cant)?;
        if root.is_dir() {
            let name = root.file_name().map_or_else(|| "snapshot".into(), |name| name.to_string_lossy());
            let name = name.into_owned();
            return Ok(Opened { source: Self::Folder(root), dir: path.to_owned(), name });
        }
        // Opening a pipe without this flag waits for its writer.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = File::options().read(true).custom_flags(flags).open(path).map_err(cant)?;
        if !file.metadata().map_err(cant)?.is_file() {
            return Err(LoadError::NoFolder { dir: path.to_owned() });
        }
        let mut archive = Archive::read(path, file, limits, aliases)?;
        let (dir, name) = archive.top(path);
        archive.note_linked_parts(&dir);
        Ok(Opened { source: Self::Archive(Box::new(archive)), dir, name })
    }

    /// Why parts of the whole snapshot are not known.
    pub fn faults(&self) -> &[String] {
        match self {
            Self::Folder(_) => &[],
            Self::Archive(archive) => &archive.faults,
        }
    }

    pub fn is_dir(&self, path: &Path) -> bool {
        match self {
            Self::Folder(_) => path.is_dir(),
            Self::Archive(archive) => archive.is_dir(path),
        }
    }

    pub fn is_file(&self, path: &Path) -> bool {
        match self {
            Self::Folder(_) => path.is_file(),
            Self::Archive(archive) => archive.is_file(path),
        }
    }

    /// What is directly in a folder, sorted; one more than `entries_max` at most.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn entries(&self, folder: &Path, entries_max: usize) -> std::io::Result<Vec<PathBuf>> {
        match self {
            Self::Folder(_) => {
                let entries = fs::read_dir(folder)?.take(entries_max.saturating_add(1));
                let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
                paths.sort();
                Ok(paths)
            }
            Self::Archive(archive) if archive.is_dir(folder) => Ok(archive.entries(folder)),
            Self::Archive(_) => Err(std::io::ErrorKind::NotFound.into()),
        }
    }

    /// Reads the fleet file or an account; nothing if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is a link that leaves the folder.
    pub fn small_text(&mut self, path: &Path) -> Result<Option<Zeroizing<String>>, Problem> {
        let problem = |(line, message): (Option<u64>, String)| Problem::new(path, line, message);
        match self {
            Self::Folder(root) => {
                match fs::symlink_metadata(path) {
                    Ok(_) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                    Err(error) => {
                        return Err(problem((None, format!("cannot be read ({}): check its mode", why(&error)))));
                    }
                }
                if fs::canonicalize(path).is_ok_and(|real| !real.starts_with(root)) {
                    return Err(Problem::new(path, None, LEAVES));
                }
                read_text(path, SMALL_FILE_BYTES_MAX).map(Some).map_err(problem)
            }
            Self::Archive(archive) => archive.text(path).transpose().map_err(problem),
        }
    }

    /// Lists a folder of accounts, sorted; nothing if there is none.
    ///
    /// # Errors
    /// It cannot be listed, or is a link that leaves the snapshot.
    pub fn small_entries(&self, folder: &Path, entries_max: usize) -> Result<Vec<PathBuf>, Problem> {
        let cant = |what: &str, error: &std::io::Error| {
            Problem::new(folder, None, format!("cannot be {what} ({}): check its mode", why(error)))
        };
        if let Self::Folder(root) = self {
            match fs::canonicalize(folder) {
                Ok(real) if real.starts_with(root) => {}
                Ok(_) => return Err(Problem::new(folder, None, LEAVES)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(cant("read", &error)),
            }
        }
        match self.entries(folder, entries_max) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(|error| cant("listed", &error)),
        }
    }

    /// Lists the object files of each place.
    pub fn object_files(&self, places: &[Place], limits: &Limits) -> Vec<Found> {
        match self {
            Self::Folder(root) => {
                let files = |place: &Place| object_files(&place.folder, &place.parts, root, limits);
                let mut found = places.iter().map(files).collect::<Vec<_>>();
                leave_out_excess(&mut found, limits);
                found
            }
            Self::Archive(archive) => places.iter().map(|place| archive.object_files(&place.parts)).collect(),
        }
    }

    /// Reads object files; the results are in the order of the paths.
    pub fn read_all(&mut self, paths: &[&PathBuf], aliases: &Aliases) -> Vec<Parsed> {
        match self {
            Self::Folder(_) => read_all(paths, aliases),
            Self::Archive(archive) => paths.iter().map(|path| archive.objects(path, aliases)).collect(),
        }
    }
}

/// Leaves out the files over the limits of the whole folder, the last ones in their order.
fn leave_out_excess(found: &mut [Found], limits: &Limits) {
    let (mut files, mut bytes) = (0, 0);
    for found in found {
        let fits = found.files.iter().take_while(|path| {
            files += 1;
            bytes += fs::metadata(path).map_or(0, |metadata| metadata.len());
            files <= limits.files_max && bytes <= limits.bytes_max
        });
        let fits = fits.count();
        if fits < found.files.len() {
            let left_out = found.files.split_off(fits);
            let (files_max, limit) = (limits.files_max, trueup_net::limit(limits.bytes_max as usize));
            let message = format!(
                "and {} more were not read: the snapshot has more than {files_max} files or {limit} of objects; split it",
                left_out.len() - 1
            );
            found.faults.extend(left_out.into_iter().next().map(|path| (path, message)));
        }
    }
}

/// Reads files in parallel; the results are in the order of the paths.
fn read_all(paths: &[&PathBuf], aliases: &Aliases) -> Vec<Parsed> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX).min(paths.len());
    let work = || {
        let mut done = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*path, read_objects(path, aliases)));
        }
        done
    };
    let mut all: Vec<(&PathBuf, Parsed)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("reading a file does not panic")).collect()
    });
    let order: std::collections::HashMap<&PathBuf, usize> =
        paths.iter().enumerate().map(|(index, path)| (*path, index)).collect();
    all.sort_by_key(|(path, _)| order[path]);
    all.into_iter().map(|(_, parsed)| parsed).collect()
}
