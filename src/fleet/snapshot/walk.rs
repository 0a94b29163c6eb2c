//! Finding the files of a folder.
//!
//! Always true:
//! - no folder and no file is read twice, so a loop of links ends and a linked file is no duplicate;
//! - a link that leaves the snapshot is not followed: a recording can't pull other files of the machine in;
//! - the result is sorted, and real files come before links to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a tree, and what of it could not be looked at.
#[derive(Default)]
pub(super) struct Found {
    pub files: Vec<PathBuf>,
    /// Where, and what is wrong.
    pub faults: Vec<(PathBuf, String)>,
}

/// Lists the objects' files in and below these parts of a folder; `root` is the canonical folder that links must not
/// leave.
pub(super) fn object_files(folder: &Path, parts: &[PathBuf], root: &Path) -> Found {
    // The folder itself counts as seen: a link back to it would lead to parts that were left out.
    let seen = fs::canonicalize(folder).into_iter().collect();
    let mut walk = Walk { root, seen, found: Found::default() };
    walk.places(parts.to_vec());
    walk.found.files.sort();
    walk.found.faults.sort();
    walk.found
}

/// Whether a file's name says that it holds objects.
pub(super) fn holds_objects(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    matches!(ending.as_deref(), Some("yaml" | "yml" | "json"))
}

struct Walk<'r> {
    root: &'r Path,
    seen: BTreeSet<PathBuf>,
    found: Found,
}

impl Walk<'_> {
    /// Takes a file or folder, following it if it is a link that stays inside.
    fn place(&mut self, path: PathBuf) {
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            // Where a broken link led to nobody knows: only its name can say that it was of no interest.
            Err(_) if path.extension().is_some() && !holds_objects(&path) => return,
            Err(error) => return self.fault(path, format!("can't be followed ({}): remove the link", why(&error))),
        };
        if !real.starts_with(self.root) {
            if real.is_dir() || holds_objects(&path) {
                self.fault(path, "is a link out of the snapshot, which is not followed: copy what it points to".into());
            }
            return;
        }
        let kind = match fs::metadata(&real) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return self.fault(path, format!("can't be looked at ({}): check its mode", why(&error))),
        };
        if kind.is_dir() {
            if self.seen.insert(real) {
                self.folder(&path);
            }
        } else if !kind.is_file() {
            if holds_objects(&path) {
                self.fault(path, "is no regular file: replace it by one".into());
            }
        } else if holds_objects(&path) && self.seen.insert(real) {
            self.found.files.push(path);
        }
    }

    /// Takes entries of a folder: real ones first, so that they and not links to them name what is found.
    fn places(&mut self, paths: Vec<PathBuf>) {
        let mut paths: Vec<(bool, PathBuf)> = paths.into_iter().map(|path| (path.is_symlink(), path)).collect();
        paths.sort();
        for (_, path) in paths {
            self.place(path);
        }
    }

    fn folder(&mut self, path: &Path) {
        match fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Ok(entries) => self.places(entries.into_iter().map(|entry| entry.path()).collect()),
            Err(error) => self.fault(path.to_owned(), format!("can't be listed ({}): check its mode", why(&error))),
        }
    }

    fn fault(&mut self, path: PathBuf, says: String) {
        self.found.faults.push((path, says));
    }
}

/// The system's reason, without the number it adds.
pub(super) fn why(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
