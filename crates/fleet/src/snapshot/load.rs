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
use super::limits::{Aliases, Limits};
use super::problem::Problem;
use super::walk::{Found, LEAVES, holds_objects, object_files, why};
use super::{Snapshot, SnapshotCluster, account, yaml};
use trueup_core::world::Provider;

/// More threads only wait for the disk and for each other.
const THREADS_MAX: usize = 8;
/// The fleet file, and a cloud account: they are read as a whole, and written by hand or for one account.
const SMALL_FILE_BYTES_MAX: u64 = 16 << 20;
/// Accounts of one provider.
const ACCOUNT_FILES_MAX: usize = 10_000;

/// The folder cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{} is not a folder", dir.display())]
    NoFolder { dir: PathBuf },
    #[error("cannot read {} ({why})", dir.display())]
    Unreadable { dir: PathBuf, why: String },
    #[error("{} has YAML aliases that expand to more than {bytes_max} bytes; write the values out", dir.display())]
    TooManyAliases { dir: PathBuf, bytes_max: u64 },
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
    load_within(dir, &Limits::default())
}

/// The same within other limits.
pub(super) fn load_within(dir: &Path, limits: &Limits) -> Result<Snapshot, LoadError> {
    let aliases = Aliases::new(limits.alias_bytes_max);
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
    let mut assembled: Vec<Assembled> = read_places(with_listed(layout.places, &fleet), &root, limits, &aliases)
        .into_iter()
        .map(|read| assemble(dir, read, &fleet, &mut problems))
        .collect();
    hosts_of_dumped_guests(&mut assembled);
    let mut accounts = read_accounts(dir, &root, &aliases, &mut problems);
    if matches!(fleet, FleetReading::Whole(_)) {
        accounts.iter_mut().for_each(account::declare_folder);
    }
    if aliases.is_over() {
        return Err(LoadError::TooManyAliases { dir: dir.to_owned(), bytes_max: limits.alias_bytes_max });
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

/// Reads a small file unless it is a link that leaves the folder.
fn read_inside(path: &Path, root: &Path) -> Result<Zeroizing<String>, Problem> {
    let leaves = fs::canonicalize(path).is_ok_and(|real| !real.starts_with(root));
    if leaves {
        return Err(Problem::new(path, None, LEAVES));
    }
    read_text(path, SMALL_FILE_BYTES_MAX).map_err(|(line, message)| Problem::new(path, line, message))
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
fn read_places(places: Vec<Place>, root: &Path, limits: &Limits, aliases: &Aliases) -> Vec<ReadPlace> {
    let mut found: Vec<Found> =
        places.iter().map(|place| object_files(&place.folder, &place.parts, root, limits)).collect();
    leave_out_excess(&mut found, limits);
    let jobs: Vec<&PathBuf> = found.iter().flat_map(|found| &found.files).collect();
    let mut parsed = read_all(&jobs, aliases).into_iter();
    let mut read = Vec::new();
    for (place, found) in places.into_iter().zip(found) {
        let files = found.files.into_iter().zip(parsed.by_ref()).collect();
        read.push(ReadPlace { place, files, faults: found.faults });
    }
    read
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

fn read_accounts(dir: &Path, root: &Path, aliases: &Aliases, problems: &mut Vec<Problem>) -> Vec<SnapshotCluster> {
    let mut accounts = Vec::new();
    for provider in Provider::ALL {
        let folder = dir.join("clouds").join(provider.as_str());
        let paths = account_files(&folder, root).unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        });
        let mut names = BTreeSet::new();
        for path in paths {
            let alias = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            if !names.insert(alias.clone()) {
                problems.push(Problem::new(
                    &path,
                    None,
                    "has the same name as another file and is not read: rename one",
                ));
                continue;
            }
            let content = read_cloud(&path, root, aliases).map_err(|problem| problems.push(problem)).ok();
            let member = account::member(provider, &alias, &path, content, problems);
            accounts.push((path, member));
        }
    }
    account::report_duplicates(&mut accounts, problems);
    accounts.into_iter().map(|(_, member)| member).collect()
}

/// The files of one provider's folder, sorted. A folder that is not there has none.
fn account_files(folder: &Path, root: &Path) -> Result<Vec<PathBuf>, Problem> {
    let problem = |message: String| Problem::new(folder, None, message);
    let real = match fs::canonicalize(folder) {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(problem(format!("cannot be read ({}): check its mode", why(&error)))),
    };
    if !real.starts_with(root) {
        return Err(problem(LEAVES.to_owned()));
    }
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.take(ACCOUNT_FILES_MAX + 1).map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    let mut paths = entries.map_err(|error| problem(format!("cannot be listed ({}): check its mode", why(&error))))?;
    if paths.len() > ACCOUNT_FILES_MAX {
        return Err(problem(format!("has more than {ACCOUNT_FILES_MAX} files and was not read: split it")));
    }
    paths.retain(|path| holds_objects(path));
    paths.sort();
    Ok(paths)
}

fn read_cloud(path: &Path, root: &Path, aliases: &Aliases) -> Result<account::Content, Problem> {
    let text = read_inside(path, root)?;
    let mut documents = Vec::new();
    yaml::documents(&text, aliases, |document| documents.push((document.line, document.json.to_owned())))
        .map_err(|fault| Problem::new(path, Some(fault.line), fault.message))?;
    match documents.as_slice() {
        [(line, json)] => serde_json::from_str(json)
            .map(|value| account::Content { value, text })
            .map_err(|_| Problem::new(path, Some(*line), "is nested too deeply for a cloud account: write it flat")),
        [] => Err(Problem::new(path, None, "is empty: write the account, or remove the file")),
        [_, (line, _), ..] => Err(Problem::new(path, Some(*line), "has a second document: write one account per file")),
    }
}
