//! Loading a folder: find the clusters, read files in parallel, assemble them in a fixed order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use zeroize::Zeroizing;

use super::assemble::{Assembled, assemble, hosts_of_dumped_guests};
use super::file::{Parsed, read_objects, read_text};
use super::fleet_file::{self, FleetFile};
use super::layout::{self, Place};
use super::problem::Problem;
use super::walk::{Found, object_files, why};
use super::{Snapshot, SnapshotCluster, account, yaml};
use trueup_core::world::Provider;

/// More threads only wait for the disk and for each other.
const THREADS_MAX: usize = 8;

/// The folder cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{} is not a folder", dir.display())]
    NoFolder { dir: PathBuf },
    #[error("cannot read {} ({why})", dir.display())]
    Unreadable { dir: PathBuf, why: String },
}

/// Result of reading the fleet file.
pub(super) enum FleetReading {
    Absent,
    Whole(FleetFile),
    /// It exists and is invalid: nothing is complete.
    Broken,
}

/// A cluster's folder with its parsed files.
pub(super) struct ReadPlace {
    pub place: Place,
    /// Sorted by path.
    pub files: Vec<(PathBuf, Parsed)>,
    /// Unreadable paths and their errors.
    pub faults: Vec<(PathBuf, String)>,
}

/// Reads a snapshot folder.
///
/// # Guarantees
/// The same files give the same snapshot. Unreadable files are in `problems`, and their cluster is not complete.
///
/// # Errors
/// The folder does not exist, or cannot be listed.
pub fn load(dir: &Path) -> Result<Snapshot, LoadError> {
    let cant = |error: std::io::Error| LoadError::Unreadable { dir: dir.to_owned(), why: why(&error) };
    let root = fs::canonicalize(dir).map_err(cant)?;
    if !root.is_dir() {
        return Err(LoadError::NoFolder { dir: dir.to_owned() });
    }
    let folder_name =
        root.file_name().map_or_else(|| "snapshot".to_owned(), |name| name.to_string_lossy().into_owned());
    let layout = layout::of(dir, &folder_name).map_err(cant)?;
    let mut problems: Vec<Problem> =
        layout.faults.iter().map(|(path, message)| Problem::new(path, None, message.as_str())).collect();
    let fleet = read_fleet_file(dir, &root, &mut problems);
    problems.extend(unlisted_folder(dir, &layout.places, &fleet));
    let mut assembled: Vec<Assembled> = read_places(with_listed(layout.places, &fleet), &root)
        .into_iter()
        .map(|read| assemble(dir, read, &fleet, &mut problems))
        .collect();
    hosts_of_dumped_guests(&mut assembled);
    let mut accounts = read_accounts(dir, &root, &mut problems);
    if matches!(fleet, FleetReading::Whole(_)) {
        accounts.iter_mut().for_each(account::declare_folder);
    }
    if matches!(fleet, FleetReading::Absent) && accounts.is_empty() && assembled.iter().all(|one| one.objects == 0) {
        problems.push(Problem::new(
            dir,
            None,
            "holds no objects: point --from at a folder with clusters/<name>/*.yaml",
        ));
    }
    problems.sort();
    let (now, environment) = match fleet {
        FleetReading::Whole(fleet) => (fleet.now, fleet.environment),
        FleetReading::Absent | FleetReading::Broken => (None, None),
    };
    let mut clusters: Vec<SnapshotCluster> = assembled.into_iter().map(|one| one.cluster).collect();
    if let Some(environment) = environment {
        clusters.iter_mut().for_each(|cluster| account::add_environment(cluster, &environment));
    }
    clusters.extend(accounts);
    Ok(Snapshot { now, clusters, problems })
}

fn read_fleet_file(dir: &Path, root: &Path, problems: &mut Vec<Problem>) -> FleetReading {
    let path = dir.join("fleet.yaml");
    match fs::symlink_metadata(&path) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return FleetReading::Absent,
        Err(error) => {
            problems.push(Problem::new(&path, None, format!("cannot be read ({}): check its mode", why(&error))));
            return FleetReading::Broken;
        }
    }
    let read = read_inside(&path, root).and_then(|text| fleet_file::parse(&path, &text));
    match read {
        Ok(mut fleet) => {
            problems.append(&mut fleet.problems);
            FleetReading::Whole(fleet)
        }
        Err(problem) => {
            problems.push(problem);
            FleetReading::Broken
        }
    }
}

/// Reads a file unless it is a link that leaves the folder.
fn read_inside(path: &Path, root: &Path) -> Result<Zeroizing<String>, Problem> {
    let leaves = fs::canonicalize(path).is_ok_and(|real| !real.starts_with(root));
    if leaves {
        let message = "is a link that leaves the snapshot and is not followed: copy its target";
        return Err(Problem::new(path, None, message));
    }
    read_text(path).map_err(|(line, message)| Problem::new(path, line, message))
}

/// Adds the clusters of the fleet file without a folder; sorted by name.
fn with_listed(mut places: Vec<Place>, fleet: &FleetReading) -> Vec<Place> {
    if let FleetReading::Whole(fleet) = fleet {
        let known: Vec<String> = places.iter().map(|place| place.name.clone()).collect();
        let without = fleet.clusters.keys().filter(|name| !known.contains(name));
        places.extend(without.map(|name| Place::without_folder(name)));
    }
    places.sort_by(|one, other| one.name.cmp(&other.name));
    places
}

/// A listed cluster without a folder next to an unlisted folder: one of the names is wrong, and a cluster of which nothing
/// was read would look empty.
fn unlisted_folder(dir: &Path, places: &[Place], fleet: &FleetReading) -> Option<Problem> {
    let FleetReading::Whole(fleet) = fleet else { return None };
    let unlisted = places.iter().find(|place| !fleet.clusters.contains_key(&place.name))?;
    let (name, entry) = fleet
        .clusters
        .iter()
        .find(|(name, entry)| entry.unreachable.is_none() && !places.iter().any(|place| &place.name == *name))?;
    let message = format!(
        "lists cluster {name}, which has no folder, while the folder of {} is not listed: use one name",
        unlisted.name
    );
    Some(Problem::new(&dir.join("fleet.yaml"), Some(entry.line), message))
}

/// Reads every file of every folder in parallel; the result does not depend on timing.
fn read_places(places: Vec<Place>, root: &Path) -> Vec<ReadPlace> {
    let found: Vec<Found> = places.iter().map(|place| object_files(&place.folder, &place.parts, root)).collect();
    let jobs: Vec<&PathBuf> = found.iter().flat_map(|found| &found.files).collect();
    let mut parsed = read_all(&jobs).into_iter();
    let mut read = Vec::new();
    for (place, found) in places.into_iter().zip(found) {
        let files = found.files.into_iter().zip(parsed.by_ref()).collect();
        read.push(ReadPlace { place, files, faults: found.faults });
    }
    read
}

/// Reads files in parallel; the results are in the order of the paths.
fn read_all(paths: &[&PathBuf]) -> Vec<Parsed> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX).min(paths.len());
    let work = || {
        let mut done = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*path, read_objects(path)));
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

fn read_accounts(dir: &Path, root: &Path, problems: &mut Vec<Problem>) -> Vec<SnapshotCluster> {
    let mut accounts = Vec::new();
    for provider in Provider::ALL {
        let folder = dir.join("clouds").join(provider.as_str());
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut aliases = BTreeSet::new();
        for path in paths.into_iter().filter(|path| super::walk::holds_objects(path)) {
            let alias = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            if !aliases.insert(alias.clone()) {
                problems.push(Problem::new(
                    &path,
                    None,
                    "has the same name as another file and is not read: rename one",
                ));
                continue;
            }
            let content = read_cloud(&path, root).map_err(|problem| problems.push(problem)).ok();
            let member = account::member(provider, &alias, &path, content, problems);
            accounts.push((path, member));
        }
    }
    account::report_duplicates(&mut accounts, problems);
    accounts.into_iter().map(|(_, member)| member).collect()
}

fn read_cloud(path: &Path, root: &Path) -> Result<account::Content, Problem> {
    let text = read_inside(path, root)?;
    let mut documents = Vec::new();
    yaml::documents(&text, |document| documents.push((document.line, document.json.to_owned())))
        .map_err(|fault| Problem::new(path, Some(fault.line), fault.message))?;
    match documents.as_slice() {
        [(line, json)] => serde_json::from_str(json)
            .map(|value| account::Content { value, text })
            .map_err(|_| Problem::new(path, Some(*line), "is nested too deeply for a cloud account: write it flat")),
        [] => Err(Problem::new(path, None, "is empty: write the account, or remove the file")),
        [_, (line, _), ..] => Err(Problem::new(path, Some(*line), "has a second document: write one account per file")),
    }
}
