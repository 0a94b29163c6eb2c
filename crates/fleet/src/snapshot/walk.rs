//! Lists the files of a folder.
//!
//! Invariants:
//! - no folder and no file is read twice, so a cycle of links ends and a linked file is not a duplicate;
//! - a link that leaves the snapshot is not followed, nor is a folder behind one: a recording cannot include other files
//!   of the machine;
//! - the result is sorted, and real files come before links to them.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::limits::Limits;

/// The files of a tree, and its unreadable paths.
#[derive(Default)]
pub(super) struct Found {
    pub files: Vec<PathBuf>,
    /// Path and problem.
    pub faults: Vec<(PathBuf, String)>,
}

/// Lists the object files in these parts of a folder; `root` is the canonical folder that links must not leave.
pub(super) fn object_files(folder: &Path, parts: &[PathBuf], root: &Path, limits: &Limits) -> Found {
    // The folder itself counts as seen: a link back to it would lead to parts that were left out.
    let seen = fs::canonicalize(folder).into_iter().collect();
    let mut walk = Walk { root, limits, seen, found: Found::default(), entries: 0, depth: 0 };
    let mut by_parent: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
    for part in parts {
        by_parent.entry(part.parent().unwrap_or(Path::new("."))).or_default().push(part.clone());
    }
    for (parent, parts) in by_parent {
        match fs::canonicalize(parent) {
            Ok(real) if !real.starts_with(root) => walk.fault(parent.to_owned(), LEAVES.to_owned()),
            Ok(real) => walk.places(parts, &real),
            Err(error) => walk.fault(parent.to_owned(), format!("cannot be read ({}): check its mode", why(&error))),
        }
    }
    walk.found.files.sort();
    walk.found.faults.sort();
    walk.found
}

/// Whether a file's extension is one of object files.
pub(super) fn holds_objects(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// The message for a link out of the folder.
pub(super) const LEAVES: &str = "is a link that leaves the snapshot and is not followed: copy its target";

struct Walk<'r> {
    root: &'r Path,
    limits: &'r Limits,
    /// Canonical paths.
    seen: HashSet<PathBuf>,
    found: Found,
    /// Entries of all folders so far.
    entries: usize,
    /// Folders that this one is inside of.
    depth: usize,
}

impl Walk<'_> {
    /// Takes the entries of a folder: real ones first, so that paths are those of files and not of links to them.
    fn places(&mut self, paths: Vec<PathBuf>, real_folder: &Path) {
        let (mut links, mut others) = (Vec::new(), Vec::new());
        for path in paths {
            match fs::symlink_metadata(&path).map(|found| found.file_type()) {
                Ok(kind) if kind.is_symlink() => links.push(path),
                Ok(kind) => others.push((path, kind)),
                Err(error) => self.fault(path, format!("cannot be read ({}): check its mode", why(&error))),
            }
        }
        others.sort_by(|one, other| one.0.cmp(&other.0));
        links.sort();
        for (path, kind) in others {
            let real = real_folder.join(path.file_name().unwrap_or_default());
            self.take(path, real, kind);
        }
        for path in links {
            self.link(path);
        }
    }

    /// Follows a link that stays inside the folder.
    fn link(&mut self, path: PathBuf) {
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            // The target of a broken link is unknown: only its extension can tell that it does not matter.
            Err(_) if path.extension().is_some() && !holds_objects(&path) => return,
            Err(error) => return self.fault(path, format!("cannot be followed ({}): remove the link", why(&error))),
        };
        if !real.starts_with(self.root) {
            if real.is_dir() || holds_objects(&path) {
                self.fault(path, LEAVES.into());
            }
            return;
        }
        match fs::metadata(&real) {
            Ok(found) => self.take(path, real, found.file_type()),
            Err(error) => self.fault(path, format!("cannot be read ({}): check its mode", why(&error))),
        }
    }

    fn take(&mut self, path: PathBuf, real: PathBuf, kind: FileType) {
        if kind.is_dir() {
            if self.seen.insert(real.clone()) {
                self.folder(&path, &real);
            }
            return;
        }
        match (holds_objects(&path), kind.is_file()) {
            (false, _) => {}
            (true, false) => self.fault(path, "is not a regular file: replace it".into()),
            (true, true) if self.seen.insert(real) => self.found.files.push(path),
            (true, true) => {}
        }
    }

    fn folder(&mut self, path: &Path, real: &Path) {
        if self.depth == self.limits.depth_max {
            let message = format!("is {} folders deep and was not read: move it up", self.depth + 1);
            return self.fault(path.to_owned(), message);
        }
        let left = self.limits.entries_max.saturating_sub(self.entries);
        let listed = fs::read_dir(path).and_then(|entries| entries.take(left + 1).collect::<Result<Vec<_>, _>>());
        match listed {
            Ok(entries) if entries.len() > left => {
                let message = format!(
                    "was not read: the snapshot has more than {} files and folders; split it",
                    self.limits.entries_max
                );
                self.fault(path.to_owned(), message);
            }
            Ok(entries) => {
                self.entries += entries.len();
                self.depth += 1;
                self.places(entries.into_iter().map(|entry| entry.path()).collect(), real);
                self.depth -= 1;
            }
            Err(error) => self.fault(path.to_owned(), format!("cannot be listed ({}): check its mode", why(&error))),
        }
    }

    fn fault(&mut self, path: PathBuf, message: String) {
        self.found.faults.push((path, message));
    }
}

/// The system's reason, without its number.
pub(super) fn why(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
