//! Finds the clusters' folders.
//!
//! ```text
//! clusters/<name>/**                                        our own layout
//! <dir>/{cluster-scoped-resources,namespaces}/**            must-gather, `oc adm inspect`, `hypershift dump`
//! <dir>/<image>/{cluster-scoped-resources,namespaces}/**    must-gather with the folder of its image
//! <dir>/hostedcluster-<name>/{…}/**                         the guest inside a `hypershift dump`
//! ```
//!
//! Invariants: of a gathered tree only the folders with objects are read; its logs and reports contain other JSON, which
//! would look like broken objects.

use std::path::{Path, PathBuf};

use super::source::Source;

/// Folders of a gathered tree.
const GATHERED: [&str; 2] = ["cluster-scoped-resources", "namespaces"];
/// How `hypershift dump cluster --dump-guest-cluster` names the guest's folder.
/// <https://github.com/openshift/hypershift/blob/003130d41fa8385e55108934562b8abdacf9c59b/cmd/cluster/core/dump.go>
const GUEST: &str = "hostedcluster-";

/// A cluster's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub name: String,
    pub tree: Tree,
    pub folder: PathBuf,
    /// Files and folders to read.
    pub parts: Vec<PathBuf>,
    /// For the guest of a dump: the cluster whose folder contains it.
    pub guest_of: Option<String>,
}

impl Place {
    /// A cluster that only the fleet file lists.
    pub fn without_folder(name: &str) -> Self {
        Self { name: name.to_owned(), tree: Tree::Own, folder: PathBuf::new(), parts: Vec::new(), guest_of: None }
    }
}

/// The origin of a tree, which decides whether it can be complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tree {
    /// Written for trueup: a fleet file may declare it complete.
    Own,
    /// Gathered by a tool that omits kinds: never complete.
    Gathered,
}

/// The folders found, and misplaced files.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub places: Vec<Place>,
    pub faults: Vec<(PathBuf, String)>,
}

/// Returns the clusters of a folder, sorted by name.
///
/// # Errors
/// The folder, or its `clusters/`, cannot be listed.
pub(super) fn of(source: &Source, dir: &Path, real_name: &str) -> std::io::Result<Layout> {
    let clusters = dir.join("clusters");
    let mut layout = Layout::default();
    if !source.is_dir(&clusters) {
        let inside: Vec<PathBuf> = entries(source, dir)?.into_iter().filter(|path| !is_ours(dir, path)).collect();
        // With a fleet file alone, only its clusters exist; the folder itself is not a cluster.
        if !inside.is_empty() {
            layout.cluster(source, real_name.to_owned(), dir, inside);
        }
        return Ok(layout);
    }
    for path in entries(source, &clusters)? {
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        match name {
            None => layout.faults.push((path, "has a name that is not UTF-8: rename it".to_owned())),
            Some(name) if source.is_dir(&path) => {
                // A folder that cannot be listed is a part; reading it reports the error.
                let inside = entries(source, &path).unwrap_or_else(|_| vec![path.clone()]);
                layout.cluster(source, name, &path, inside);
            }
            Some(_) if super::walk::holds_objects(&path) => {
                layout.faults.push((path, "belongs to no cluster: move it to clusters/<name>/".to_owned()));
            }
            Some(_) => {}
        }
    }
    layout.resolve_duplicate_names();
    Ok(layout)
}

impl Layout {
    fn cluster(&mut self, source: &Source, name: String, folder: &Path, inside: Vec<PathBuf>) {
        let (guests, rest): (Vec<PathBuf>, Vec<PathBuf>) = inside.into_iter().partition(|path| is_guest(source, path));
        let here = gathered_parts(source, folder);
        let gathered =
            if here.is_empty() { rest.iter().flat_map(|path| gathered_parts(source, path)).collect() } else { here };
        let (tree, parts) = if gathered.is_empty() {
            (Tree::Own, rest)
        } else {
            // Files next to the gathered folders were added by a user and are read.
            let beside = rest.into_iter().filter(|path| source.is_file(path));
            (Tree::Gathered, gathered.into_iter().chain(beside).collect())
        };
        for guest in guests {
            let file_name = guest.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            self.places.push(Place {
                name: file_name.trim_start_matches(GUEST).to_owned(),
                tree: Tree::Gathered,
                parts: gathered_parts(source, &guest),
                folder: guest,
                guest_of: Some(name.clone()),
            });
        }
        self.places.push(Place { name, tree, folder: folder.to_owned(), parts, guest_of: None });
    }

    /// Sorts by name; of two folders with one name, a folder of its own wins over a guest's inside a dump.
    fn resolve_duplicate_names(&mut self) {
        self.places.sort_by(|one, other| (&one.name, &one.guest_of).cmp(&(&other.name, &other.guest_of)));
        let mut kept: Vec<Place> = Vec::new();
        for place in std::mem::take(&mut self.places) {
            match kept.last() {
                Some(last) if last.name == place.name => {
                    let message = format!("holds a second cluster named {}, which is not read: rename one", place.name);
                    self.faults.extend(place.parts.into_iter().next().map(|part| (part, message)));
                }
                Some(_) | None => kept.push(place),
            }
        }
        self.places = kept;
    }
}

fn gathered_parts(source: &Source, folder: &Path) -> Vec<PathBuf> {
    GATHERED.iter().map(|name| folder.join(name)).filter(|path| source.is_dir(path)).collect()
}

fn is_guest(source: &Source, path: &Path) -> bool {
    let named = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.strip_prefix(GUEST).is_some_and(|guest| !guest.is_empty()));
    named && !gathered_parts(source, path).is_empty()
}

/// Whether a path at the top of a folder is the fleet file or the cloud accounts.
fn is_ours(dir: &Path, path: &Path) -> bool {
    path == dir.join("fleet.yaml") || path == dir.join("clouds")
}

fn entries(source: &Source, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    source.entries(folder, usize::MAX)
}
