//! The files of a gathered snapshot, in the layout that `--from` reads.
//!
//! Invariants: the folder is new or empty; its folders have mode 700 and its files 600; nothing is replaced.
//!
//! Elsewhere: reading it (`trueup_fleet::snapshot`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::read::Gathered;
use trueup_core::world::{Cluster, ClusterName, ClusterSource, Declaration, Provider};

/// Objects of one file: 200 MiB is the most a file may have, and an object has at most 1.5 MiB.
const OBJECTS_PER_FILE: usize = 100;
/// The kind of the variables that an annotating process sees. A fleet file holds them.
const ENVIRONMENT: &str = "Environment";

/// Makes the folder.
///
/// # Errors
/// It exists and holds something, or cannot be made.
pub fn prepare(folder: &Path) -> io::Result<()> {
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is not empty")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)
        }
        Err(error) => Err(error),
    }
}

/// The folder of each cluster: a name of a context may hold what no file name may.
pub struct FolderNames(BTreeMap<ClusterName, String>);

impl FolderNames {
    pub fn of<'c>(clusters: impl Iterator<Item = &'c Cluster>) -> Self {
        let (mut names, mut taken) = (BTreeMap::new(), BTreeSet::new());
        for cluster in clusters {
            let plain = cluster.name.as_str().replace(['/', '\0'], "_");
            let plain = if plain.starts_with('.') || plain.is_empty() { format!("_{plain}") } else { plain };
            let numbered = (2..).map(|number| format!("{plain}-{number}"));
            let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name));
            let name = free.unwrap_or(plain);
            taken.insert(name.clone());
            names.insert(cluster.name.clone(), name);
        }
        Self(names)
    }

    pub fn get<'n>(&'n self, cluster: &'n ClusterName) -> &'n str {
        self.0.get(cluster).map_or(cluster.as_str(), String::as_str)
    }

    /// The clusters that have another name in the snapshot.
    pub fn renamed(&self) -> impl Iterator<Item = (&ClusterName, &str)> {
        let all = self.0.iter().map(|(cluster, name)| (cluster, name.as_str()));
        all.filter(|(cluster, name)| cluster.as_str() != *name)
    }
}

/// Writes the objects of every member. Returns how many there are.
///
/// # Errors
/// A file cannot be written.
pub fn write_objects(folder: &Path, names: &FolderNames, all: &[Gathered]) -> io::Result<usize> {
    for part in ["clusters", "clouds"].map(|part| folder.join(part)) {
        // Written by an earlier round: the folder was empty.
        if part.is_dir() {
            fs::remove_dir_all(part)?;
        }
    }
    let mut regions: BTreeMap<String, Region> = BTreeMap::new();
    let mut count = 0;
    for member in all {
        count += member.objects.len();
        match member.provider() {
            None => write_cluster(&folder.join("clusters").join(names.get(&member.cluster.name)), member)?,
            Some(Provider::Ibm) => write_ibm(folder, names, member)?,
            Some(Provider::Aws) => add_regions(&mut regions, member),
        }
    }
    for (region, Region { types, is_complete }) in regions {
        let types: Vec<&Value> = types.values().collect();
        let account = json!({ "region": region, "complete": is_complete, "instance_types": types });
        write(&folder.join("clouds/aws").join(format!("{region}.yaml")), &account)?;
    }
    Ok(count)
}

fn write_cluster(folder: &Path, member: &Gathered) -> io::Result<()> {
    make(folder)?;
    let mut by_kind: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
    for ((group, kind, ..), object) in &member.objects {
        if group != Provider::Aws.group() {
            by_kind.entry((group, kind)).or_default().push(object);
        }
    }
    for ((group, kind), objects) in by_kind {
        let dot = if group.is_empty() { "" } else { "." };
        for (part, objects) in objects.chunks(OBJECTS_PER_FILE).enumerate() {
            let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
            write(&folder.join(format!("{}{dot}{group}.{part}.json", kind.to_lowercase())), &list)?;
        }
    }
    Ok(())
}

fn write_ibm(folder: &Path, names: &FolderNames, member: &Gathered) -> io::Result<()> {
    let ClusterSource::Cloud { account, used_from, .. } = &member.cluster.source else { return Ok(()) };
    let resources: Vec<&Value> = member.objects.values().filter_map(|object| object.get("resource")).collect();
    let is_complete = member.incomplete.is_empty() && member.unreachable.is_none();
    let mut file = json!({ "account": account, "complete": is_complete, "resources": resources });
    if !used_from.patterns.is_empty() {
        let patterns = used_from.patterns.iter().map(|pattern| pattern.as_str());
        // A name of a context is the name of a folder here.
        let patterns: Vec<String> = patterns.map(|text| names.get(&ClusterName::new(text)).to_owned()).collect();
        file["management_clusters"] = patterns.into();
        let is_declared = used_from.declaration == Declaration::Declared && used_from.not_opened.is_empty();
        file["management_clusters_complete"] = is_declared.into();
    }
    let name = names.get(&member.cluster.name);
    let alias = name.split_once(':').map_or(name, |(_, alias)| alias);
    write(&folder.join("clouds/ibm").join(format!("{alias}.yaml")), &file)
}

/// What accounts were asked about a region.
struct Region {
    types: BTreeMap<String, Value>,
    is_complete: bool,
}

fn add_regions(regions: &mut BTreeMap<String, Region>, member: &Gathered) {
    let is_complete = member.incomplete.is_empty() && member.unreachable.is_none();
    for ((_, kind, region, name), object) in &member.objects {
        if let Some(content) = object.get("type").filter(|_| kind == "InstanceType") {
            let region =
                regions.entry(region.clone()).or_insert_with(|| Region { types: BTreeMap::new(), is_complete: true });
            region.types.insert(name.clone(), content.clone());
            region.is_complete &= is_complete;
        }
    }
}

/// Writes the fleet file.
///
/// # Errors
/// It cannot be written.
pub fn write_fleet(folder: &Path, names: &FolderNames, all: &[Gathered], now: Timestamp) -> io::Result<()> {
    let mut text = format!("now: {now}\nclusters:\n");
    for member in all.iter().filter(|member| member.provider().is_none()) {
        let Cluster { name, class, hosted_by, .. } = &member.cluster;
        let mut entry = Map::new();
        entry.insert("class".to_owned(), class.as_str().into());
        if let Some(by) = hosted_by {
            let host = names.get(&by.cluster);
            let by = json!({ "cluster": host, "namespace": by.namespace.as_str(), "name": by.name.as_str() });
            entry.insert("hosted_by".to_owned(), by);
        }
        if !member.incomplete.is_empty() {
            let incomplete: Vec<&String> = member.incomplete.keys().collect();
            entry.insert("incomplete".to_owned(), json!(incomplete));
        }
        if let Some(why) = &member.unreachable {
            entry.insert("unreachable".to_owned(), why.as_str().into());
        }
        // JSON is YAML, and leaves no doubt about what is text.
        text += &format!("  {}: {}\n", json!(names.get(name)), Value::Object(entry));
    }
    if let Some(environment) = all.iter().find_map(environment) {
        text += &format!("environment: {environment}\n");
    }
    let path = folder.join("fleet.yaml");
    if path.exists() {
        fs::remove_file(&path)?;
    }
    write_text(&path, &text)
}

/// The variables of the annotating process, as a snapshot that was read had them.
fn environment(member: &Gathered) -> Option<&Value> {
    let object = member.objects.iter().find(|((_, kind, ..), _)| kind == ENVIRONMENT);
    object.and_then(|(_, object)| object.get("variables"))
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn write(path: &Path, content: &Value) -> io::Result<()> {
    path.parent().map_or(Ok(()), make)?;
    let text = serde_json::to_string_pretty(content)?;
    write_text(path, &(text + "\n"))
}

fn write_text(path: &Path, text: &str) -> io::Result<()> {
    let file: File = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    let mut file = BufWriter::new(file);
    file.write_all(text.as_bytes())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_that_holds_something_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let new = dir.path().join("deep/new");
        prepare(&new).unwrap();
        assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(prepare(&new).is_ok(), "it is empty");
        write_text(&new.join("x"), "y").unwrap();
        assert_eq!(fs::metadata(new.join("x")).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(prepare(&new).is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists));
        assert!(prepare(&new.join("x")).is_err());
    }
}
