//! Loading a folder or an archive: find the clusters, read files in parallel, assemble them in a fixed order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::assemble::{Assembled, assemble, hosts_of_dumped_guests};
use super::file::Parsed;
use super::fleet_file::{self, FleetFile};
use super::layout::{self, Place};
use super::limits::{Aliases, Limits};
use super::problem::Problem;
use super::source::{Opened, Source};
use super::walk::{holds_objects, why};
use super::{Snapshot, SnapshotCluster, account, yaml};
use trueup_core::world::Provider;

/// More threads only wait for the disk and for each other.
pub(super) const THREADS_MAX: usize = 8;
/// The fleet file, and a cloud account: they are read as a whole, and written by hand or for one account.
pub(super) const SMALL_FILE_BYTES_MAX: u64 = 16 << 20;
/// Accounts of one provider.
const ACCOUNT_FILES_MAX: usize = 10_000;

/// The folder cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{} is not a folder or an archive", dir.display())]
    NoFolder { dir: PathBuf },
    #[error("{} {why}", file.display())]
    NoArchive { file: PathBuf, why: String },
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

/// Reads a snapshot: a folder, or an archive of one.
///
/// # Guarantees
/// The same files give the same snapshot. Unreadable files are in `problems`, and their cluster is not complete.
///
/// # Errors
/// The folder or archive does not exist, or nothing of it can be read.
pub fn load(dir: &Path) -> Result<Snapshot, LoadError> {
    load_within(dir, &Limits::default())
}

/// The same within other limits.
pub(super) fn load_within(dir: &Path, limits: &Limits) -> Result<Snapshot, LoadError> {
    let aliases = Aliases::new(limits.alias_bytes_max);
    let given = dir;
    let cant = |error: std::io::Error| LoadError::Unreadable { dir: given.to_owned(), why: why(&error) };
    let Opened { mut source, dir, name } = Source::open(given, limits, &aliases)?;
    let dir = dir.as_path();
    let layout = layout::of(&source, dir, &name).map_err(cant)?;
    let mut problems: Vec<Problem> =
        layout.faults.iter().map(|(path, message)| Problem::new(path, None, message.as_str())).collect();
    problems.extend(source.faults().iter().map(|fault| Problem::new(given, None, fault.as_str())));
    let fleet = read_fleet_file(&mut source, dir, &mut problems);
    problems.extend(unlisted_folder(dir, &layout.places, &fleet));
    let mut assembled: Vec<Assembled> = read_places(with_listed(layout.places, &fleet), &mut source, limits, &aliases)
        .into_iter()
        .map(|read| assemble(dir, read, &fleet, &mut problems))
        .collect();
    hosts_of_dumped_guests(&mut assembled);
    let mut accounts = read_accounts(&mut source, dir, &aliases, &mut problems);
    match source.faults() {
        [] if matches!(fleet, FleetReading::Whole(_)) => accounts.iter_mut().for_each(account::declare_folder),
        [] => {}
        _ => {
            // What was not read may belong to any of them.
            let members = assembled.iter_mut().map(|one| &mut one.cluster).chain(&mut accounts);
            members.for_each(|member| member.recorded.coverage.unreadable.push(name_of(given)));
        }
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

fn read_fleet_file(source: &mut Source, dir: &Path, problems: &mut Vec<Problem>) -> FleetReading {
    let path = dir.join("fleet.yaml");
    let read = match source.small_text(&path) {
        Ok(None) => return FleetReading::Absent,
        Ok(Some(text)) => fleet_file::parse(&path, &text),
        Err(problem) => Err(problem),
    };
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

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
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
fn read_places(places: Vec<Place>, source: &mut Source, limits: &Limits, aliases: &Aliases) -> Vec<ReadPlace> {
    let found = source.object_files(&places, limits);
    let jobs: Vec<&PathBuf> = found.iter().flat_map(|found| &found.files).collect();
    let mut parsed = source.read_all(&jobs, aliases).into_iter();
    let mut read = Vec::new();
    for (place, found) in places.into_iter().zip(found) {
        let files = found.files.into_iter().zip(parsed.by_ref()).collect();
        read.push(ReadPlace { place, files, faults: found.faults });
    }
    read
}

fn read_accounts(
    source: &mut Source,
    dir: &Path,
    aliases: &Aliases,
    problems: &mut Vec<Problem>,
) -> Vec<SnapshotCluster> {
    let mut accounts = Vec::new();
    for provider in Provider::ALL {
        let folder = dir.join("clouds").join(provider.as_str());
        let paths = account_files(source, &folder).unwrap_or_else(|problem| {
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
            let content = read_cloud(source, &path, aliases).map_err(|problem| problems.push(problem)).ok();
            let member = account::member(provider, &alias, &path, content, problems);
            accounts.push((path, member));
        }
    }
    account::report_duplicates(&mut accounts, problems);
    accounts.into_iter().map(|(_, member)| member).collect()
}

/// The files of one provider's folder, sorted. A folder that is not there has none.
fn account_files(source: &Source, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut paths = source.small_entries(folder, ACCOUNT_FILES_MAX)?;
    if paths.len() > ACCOUNT_FILES_MAX {
        let message = format!("has more than {ACCOUNT_FILES_MAX} files and was not read: split it");
        return Err(Problem::new(folder, None, message));
    }
    paths.retain(|path| holds_objects(path));
    Ok(paths)
}

fn read_cloud(source: &mut Source, path: &Path, aliases: &Aliases) -> Result<account::Content, Problem> {
    // A file that is gone by now is as unreadable as any other.
    let text = source.small_text(path)?.ok_or_else(|| Problem::new(path, None, "cannot be read: it was removed"))?;
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
