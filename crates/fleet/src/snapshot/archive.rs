//! A snapshot packed as one file: `.tar`, `.tar.gz` or `.tar.zst`, read once from beginning to end.
//!
//! Invariants:
//! - nothing is written to a disk: the archive may hold Secrets;
//! - only regular files count; no link, device, absolute path or `..` is followed;
//! - an archive that was not read to its end, or holds an entry outside of it, says so in `faults`: no cluster of it is
//!   complete.
//!
//! Elsewhere: compression and the limit of unpacked bytes (`unpack`), the parts of a snapshot (`layout`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tar::{Entry, EntryType};
use zeroize::Zeroizing;

use super::file::{FILE_BYTES_MAX, Parsed, TextFault, parse_objects, text_of, too_large};
use super::limits::{Aliases, Limits};
use super::load::{LoadError, SMALL_FILE_BYTES_MAX, THREADS_MAX};
use super::unpack::{Compression, Meter, Metered, Stop, unpacked};
use super::walk::{Found, holds_objects, why};

/// Everything in an archive begins at a multiple of this.
const BLOCK_BYTES: u64 = 512;
/// Bytes of all paths: they are kept, with their folders.
const PATH_BYTES_MAX: usize = 256 << 20;
/// Folders above a cluster's: one that contains everything, `clusters`, and the cluster's own.
const FOLDERS_ABOVE: usize = 3;
/// Folders that are parts of a snapshot: the only folder of an archive with such a name does not contain the snapshot.
const PARTS: [&str; 4] = ["clusters", "clouds", "cluster-scoped-resources", "namespaces"];

/// What an archive contains. Paths begin with the archive's own.
#[derive(Default)]
pub(super) struct Archive {
    nodes: BTreeMap<PathBuf, Node>,
    parsed: Vec<Option<Parsed>>,
    /// Why parts of it are not known, as messages about the archive.
    pub faults: Vec<String>,
}

enum Node {
    Folder,
    /// Objects, by their number in `parsed`.
    Objects(usize),
    /// The fleet file or an account: it is needed as text.
    Text(Option<Result<Zeroizing<String>, TextFault>>),
    /// An entry that is not read.
    Refused(String),
}

/// A file to parse, and its number.
type Job = (usize, PathBuf, Zeroizing<Vec<u8>>);

impl Archive {
    /// Reads an archive.
    ///
    /// # Errors
    /// It is not an archive, or nothing of it can be read.
    pub fn read(path: &Path, file: File, limits: &Limits, aliases: &Aliases) -> Result<Self, LoadError> {
        let cant = |error: io::Error| LoadError::Unreadable { dir: path.to_owned(), why: why(&error) };
        let meter = Meter::new(limits.unpacked_bytes_max);
        let (inner, compression) = unpacked(file).map_err(cant)?;
        let archive = tar::Archive::new(Metered { inner, meter: &meter });
        let (jobs, waiting) = sync_channel::<Job>(THREADS_MAX);
        let waiting = Mutex::new(waiting);
        let mut reader = Reader {
            path,
            limits,
            meter: &meter,
            jobs,
            entries: 0,
            files: 0,
            bytes: 0,
            path_bytes: 0,
            read: Self::default(),
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let (mut read, mut parsed) = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| parse_all(&waiting, aliases))).collect();
            let end = reader.entries(archive);
            let Reader { jobs, mut read, files, .. } = reader;
            drop(jobs);
            read.faults.extend(end.err());
            read.parsed.resize_with(files, || None);
            let parsed: Vec<(usize, Parsed)> =
                workers.into_iter().flat_map(|worker| worker.join().expect("reading a file does not panic")).collect();
            (read, parsed)
        });
        parsed.drain(..).for_each(|(number, parsed)| read.parsed[number] = Some(parsed));
        match read.faults.as_slice() {
            [_, ..] if read.nodes.is_empty() && compression == Compression::None => {
                Err(LoadError::NoFolder { dir: path.to_owned() })
            }
            [fault, ..] if read.nodes.is_empty() => {
                Err(LoadError::NoArchive { file: path.to_owned(), why: fault.clone() })
            }
            _ => {
                read.nodes.insert(path.to_owned(), Node::Folder);
                Ok(read)
            }
        }
    }

    /// The folder of the snapshot inside the archive, and its name: an archive often has one folder that contains all.
    pub fn top(&self, path: &Path) -> (PathBuf, String) {
        let own_name = path.file_name().map_or_else(|| "snapshot".into(), |name| name.to_string_lossy());
        let own = (path.to_owned(), stem(&own_name).to_owned());
        match self.entries(path).as_slice() {
            [only] if self.is_dir(only) => match only.file_name().and_then(|name| name.to_str()) {
                Some(name) if !PARTS.contains(&name) => (only.clone(), name.to_owned()),
                Some(_) | None => own,
            },
            _ => own,
        }
    }

    /// Adds to the faults the links that could be clusters or accounts of their own.
    pub fn note_linked_parts(&mut self, top: &Path) {
        let parts = ["clusters", "clouds"].map(|part| top.join(part));
        let inside: Vec<PathBuf> = parts.iter().flat_map(|part| self.entries(part)).collect();
        for path in parts.into_iter().chain(inside).filter(|path| !holds_objects(path)) {
            if let Some(Node::Refused(message)) = self.nodes.get(&path) {
                self.faults.push(format!("has {}, which {message}", path.display()));
            }
        }
    }

    pub fn is_dir(&self, path: &Path) -> bool {
        matches!(self.nodes.get(path), Some(Node::Folder))
    }

    pub fn is_file(&self, path: &Path) -> bool {
        self.nodes.contains_key(path) && !self.is_dir(path)
    }

    /// What is directly in a folder, sorted.
    pub fn entries(&self, folder: &Path) -> Vec<PathBuf> {
        self.below(folder).map(|(path, _)| path).filter(|path| path.parent() == Some(folder)).cloned().collect()
    }

    /// The object files in these parts.
    pub fn object_files(&self, parts: &[PathBuf]) -> Found {
        let mut found = Found::default();
        for part in parts {
            let own = self.nodes.get_key_value(part).into_iter();
            for (path, node) in own.chain(self.below(part)) {
                match node {
                    Node::Folder => {}
                    Node::Refused(message) => found.faults.push((path.clone(), message.clone())),
                    Node::Objects(_) | Node::Text(_) => found.files.push(path.clone()),
                }
            }
        }
        found.files.sort();
        found.faults.sort();
        found
    }

    /// Returns the objects of a file, once.
    pub fn objects(&mut self, path: &Path, aliases: &Aliases) -> Parsed {
        match self.nodes.get_mut(path) {
            Some(Node::Objects(number)) => self.parsed[*number].take().unwrap_or_default(),
            Some(Node::Text(text)) => text.take().map(|text| parse_objects(path, text, aliases)).unwrap_or_default(),
            Some(Node::Folder | Node::Refused(_)) | None => Parsed::default(),
        }
    }

    /// Returns the text of a fleet file or an account, once; nothing if there is none.
    pub fn text(&mut self, path: &Path) -> Option<Result<Zeroizing<String>, TextFault>> {
        match self.nodes.get_mut(path)? {
            Node::Text(text) => text.take(),
            Node::Refused(message) => Some(Err((None, message.clone()))),
            Node::Folder | Node::Objects(_) => Some(Err((None, "is not a regular file: replace it".to_owned()))),
        }
    }

    fn below<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = (&'a PathBuf, &'a Node)> {
        let behind = (Bound::Excluded(folder), Bound::Unbounded);
        self.nodes.range::<Path, _>(behind).take_while(move |(path, _)| path.starts_with(folder))
    }
}

/// An archive's name without its extensions.
fn stem(name: &str) -> &str {
    let endings = [".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst"];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    if stem.is_empty() { name } else { stem }
}

/// Parses files until there are no more.
fn parse_all(waiting: &Mutex<Receiver<Job>>, aliases: &Aliases) -> Vec<(usize, Parsed)> {
    let mut done = Vec::new();
    loop {
        let next = waiting.lock().ok().and_then(|waiting| waiting.recv().ok());
        let Some((number, path, bytes)) = next else { return done };
        done.push((number, parse_objects(&path, text_of(bytes), aliases)));
    }
}

/// Reads the entries in their order.
struct Reader<'r> {
    path: &'r Path,
    limits: &'r Limits,
    meter: &'r Meter,
    jobs: SyncSender<Job>,
    entries: usize,
    /// Object files, and their bytes.
    files: usize,
    bytes: u64,
    path_bytes: usize,
    read: Archive,
}

impl Reader<'_> {
    /// Reads every entry and then the rest of the file, so that its checksum is compared.
    ///
    /// # Errors
    /// Why the archive was not read to its end, as a message about it.
    fn entries<R: Read>(&mut self, mut archive: tar::Archive<Metered<'_, R>>) -> Result<(), String> {
        let meter = self.meter;
        let mut entries = archive.entries().map_err(|error| self.broken(&error))?;
        loop {
            // Without the rest of the block that the entry before ends in.
            let before = meter.read().next_multiple_of(BLOCK_BYTES);
            let Some(entry) = meter.head(|| entries.next()) else {
                // An archive ends with a block of zeros; a file that is cut between two entries does not.
                if meter.read() < before + BLOCK_BYTES {
                    return Err(self.broken(&io::ErrorKind::UnexpectedEof.into()));
                }
                break;
            };
            let mut entry = entry.map_err(|error| self.broken(&error))?;
            let begin = meter.read();
            self.entry(&mut entry)?;
            // What was not wanted is read all the same, with the limit of the archive and not that of headers.
            io::copy(&mut entry, &mut io::sink()).map_err(|error| self.broken(&error))?;
            if meter.read() - begin < entry.size() {
                return Err(self.broken(&io::ErrorKind::UnexpectedEof.into()));
            }
        }
        let mut rest = archive.into_inner();
        io::copy(&mut rest, &mut io::sink()).map(drop).map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &io::Error) -> String {
        let behind = match self.files {
            0 => String::new(),
            files => format!(" after {files} object files"),
        };
        match self.meter.stop() {
            Some(Stop::Unpacked) => {
                let limit = self.limits.unpacked_bytes_max >> 20;
                format!("was not read to its end: it unpacks to more than {limit} MiB; unpack it, and split it")
            }
            Some(Stop::Head) => format!("was not read to its end: it has an invalid entry{behind}; pack it again"),
            None if error.kind() == io::ErrorKind::UnexpectedEof => {
                format!("is cut short{behind}: copy it again")
            }
            None => format!("is not a valid archive{behind} ({}): copy or pack it again", why(error)),
        }
    }

    /// Takes one entry.
    ///
    /// # Errors
    /// The archive has more than is read.
    fn entry<R: Read>(&mut self, entry: &mut Entry<'_, R>) -> Result<(), String> {
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            return Ok(());
        }
        if kind.is_gnu_sparse() {
            // A few bytes of it stand for any number of zeros.
            return Err("was not read to its end: it has a sparse file; pack it again without --sparse".to_owned());
        }
        self.entries += 1;
        let path = entry.path().map_err(|error| self.broken(&error))?.into_owned();
        let Some(path) = inside(&path) else {
            let message = format!("has an entry outside of it, {}, which was not read: pack it again", path.display());
            self.read.faults.push(message);
            return Ok(());
        };
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        self.path_bytes += path.as_os_str().len();
        if self.entries > self.limits.entries_max || self.path_bytes > PATH_BYTES_MAX {
            let entries_max = self.limits.entries_max;
            return Err(format!("was not read to its end: it has more than {entries_max} files and folders; split it"));
        }
        match self.node(kind, &path, entry)? {
            Some((place, node)) => self.add(place, node),
            None => Ok(()),
        }
    }

    /// What is kept of an entry, and under which path.
    fn node<R: Read>(
        &mut self,
        kind: EntryType,
        path: &Path,
        entry: &mut Entry<'_, R>,
    ) -> Result<Option<(PathBuf, Node)>, String> {
        let depth = path.components().count();
        if depth > self.limits.depth_max + FOLDERS_ABOVE {
            // The whole path would be a line of its own length.
            let start: PathBuf = path.components().take(FOLDERS_ABOVE + 1).collect();
            let refused = Node::Refused(format!("is {depth} folders deep and was not read: move it up"));
            return Ok(Some((start.join("…"), refused)));
        }
        let node = if kind.is_dir() {
            Node::Folder
        } else if kind.is_file() || kind.is_contiguous() {
            match holds_objects(path) {
                true => self.file(path, entry)?,
                false => return Ok(None),
            }
        } else if kind.is_symlink() || kind.is_hard_link() {
            // What a link stands for is unknown: only its extension can tell that it does not matter.
            match path.extension().is_none() || holds_objects(path) {
                true => {
                    Node::Refused("is a link, which is not followed in an archive: pack its target (tar -h)".to_owned())
                }
                false => return Ok(None),
            }
        } else {
            match holds_objects(path) {
                true => Node::Refused("is not a regular file: replace it".to_owned()),
                false => return Ok(None),
            }
        };
        Ok(Some((path.to_owned(), node)))
    }

    /// Adds an entry and its folders. Of two with one path the later counts, as when unpacking.
    fn add(&mut self, path: PathBuf, node: Node) -> Result<(), String> {
        let path = self.path.join(path);
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != self.path);
        let is_in_file = folders.fold(false, |found, folder| {
            let was = self.read.nodes.entry(folder.to_owned()).or_insert(Node::Folder);
            found || !matches!(was, Node::Folder)
        });
        let is_replaced = match (self.read.nodes.get(&path), &node) {
            (Some(Node::Folder), Node::Folder) => return Ok(()),
            (Some(Node::Folder), _) | (Some(_), Node::Folder) => true,
            (Some(_) | None, _) => false,
        };
        if is_in_file || is_replaced {
            return Err("was not read to its end: it has a file and a folder of one path; pack it again".to_owned());
        }
        self.read.nodes.insert(path, node);
        Ok(())
    }

    /// Reads a file with objects.
    fn file<R: Read>(&mut self, path: &Path, entry: &mut Entry<'_, R>) -> Result<Node, String> {
        let is_small = is_text(path);
        let bytes_max = if is_small { SMALL_FILE_BYTES_MAX } else { FILE_BYTES_MAX };
        let size = entry.size();
        if size > bytes_max {
            return Ok(Node::Refused(too_large(size, bytes_max)));
        }
        self.bytes += size;
        if self.files == self.limits.files_max || self.bytes > self.limits.bytes_max {
            let (files_max, limit) = (self.limits.files_max, trueup_net::limit(self.limits.bytes_max as usize));
            let place = path.display();
            return Err(format!(
                "was read up to {place} only: it has more than {files_max} object files or {limit} of objects; split it"
            ));
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(size as usize + 1));
        entry.by_ref().take(size).read_to_end(&mut bytes).map_err(|error| self.broken(&error))?;
        if is_small {
            return Ok(Node::Text(Some(text_of(bytes))));
        }
        let number = self.files;
        self.files += 1;
        // A parser that stopped was reported by its panic.
        let _ = self.jobs.send((number, path.to_owned(), bytes));
        Ok(Node::Objects(number))
    }
}

/// Whether a file is a fleet file or an account, in the archive or in the folder that contains all of it.
fn is_text(path: &Path) -> bool {
    let names: Vec<&str> = path.iter().filter_map(|name| name.to_str()).collect();
    matches!(names.as_slice(), ["fleet.yaml"] | [_, "fleet.yaml"] | ["clouds", _, _] | [_, "clouds", _, _])
}

/// The path of an entry inside the archive; none if it leads outside.
fn inside(path: &Path) -> Option<PathBuf> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| if let Component::Normal(name) = part { Some(name) } else { None }).collect()
}
