//! Cloud accounts of a snapshot as members of the fleet: each resource is an object like any other.
//!
//! ```text
//! clouds/ibm/main.yaml   member ibm:main   ibm.cloud.trueup/v1 Resource, named <kind>/<id>, the entry in `resource`
//! clouds/aws/eu.yaml     member aws:eu     aws.cloud.trueup/v1 InstanceType, in the region's namespace, the entry in `type`
//! ```
//!
//! Invariants:
//! - an account with unreadable entries, or marked incomplete, is not complete;
//! - a misspelt key or kind is a problem with its line, never skipped: `resurces:` is not an empty account. A key that is
//!   not close to a known word is ignored.
//!
//! Elsewhere: the meaning of the entries (the checks project them).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::entry_fault::{EntryFault, misspelling_of};
use super::fleet_file::Environment;
use super::problem::Problem;
use super::yaml_tree::{self, Node, Step};
use super::{SnapshotCluster, cloud_resource, instance_type};
use trueup_core::decode::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster, RecordedObject};
use trueup_core::world::{ClusterIdentity, ClusterName, ClusterSource, Declaration, Glob, MemberRule, Provider};

const MANAGEMENT_CLUSTERS: &str = "management_clusters";
const ALL_LISTED: &str = "management_clusters_complete";
const RESOURCE: &str = "Resource";
const INSTANCE_TYPE: &str = "InstanceType";
const ENVIRONMENT: &str = "Environment";

/// How many invalid entries of a file are listed; a file of another kind would list thousands.
const FAULTS_LISTED_MAX: usize = 10;

/// Content of an account's file.
pub(super) struct Content {
    pub value: Value,
    /// The text, for line numbers.
    pub text: Zeroizing<String>,
}

/// The keys of an account's file.
struct Shape {
    /// The key of the account or region.
    whose: &'static str,
    list: &'static str,
    /// What an entry must have, as text and as an example.
    needed: &'static str,
    entry: &'static str,
}

impl Shape {
    fn of(provider: Provider) -> Self {
        match provider {
            Provider::Ibm => Self {
                whose: "account",
                list: "resources",
                needed: "kind and id",
                entry: "- { kind: vpc, id: r006-1 }",
            },
            Provider::Aws => {
                Self { whose: "region", list: "instance_types", needed: "name", entry: "- { name: m6g.4xlarge }" }
            }
        }
    }
}

/// Builds the member of one file; without content, a member without any data.
pub(super) fn member(
    provider: Provider,
    alias: &str,
    path: &Path,
    content: Option<Content>,
    problems: &mut Vec<Problem>,
) -> SnapshotCluster {
    let is_whole = content.is_some();
    let Content { value, text } = content.unwrap_or(Content { value: Value::Null, text: Zeroizing::default() });
    let mut reader = Reader { provider, path, text: &text, lines: OnceCell::new(), problems, is_whole };
    let Read { account, objects, is_complete, used_from } = reader.read(value);
    let cut_short = Incomplete { group: provider.group().to_owned(), plural: plural(provider), namespace: None };
    let mut recorded = RecordedCluster::new(Coverage {
        kinds: KindCoverage::All,
        incomplete: if is_complete { Vec::new() } else { vec![cut_short] },
        unreachable: None,
        unreadable: if reader.is_whole { Vec::new() } else { vec![file_name(path)] },
    });
    objects.into_iter().for_each(|object| recorded.push(object));
    SnapshotCluster {
        name: ClusterName::new(format!("{}:{alias}", provider.as_str())),
        source: ClusterSource::Cloud { provider, account, used_from },
        class: None,
        hosted_by: None,
        served: BTreeSet::from([provider.group().to_owned()]),
        recorded,
        identity: ClusterIdentity::default(),
    }
}

/// Adds the environment of a fleet file to a cluster, as an object. An unreadable environment is not an empty one.
pub(super) fn add_environment(cluster: &mut SnapshotCluster, environment: &Environment) {
    let group = Provider::Aws.group().to_owned();
    match environment {
        Environment::Variables(variables) => {
            cluster.recorded.push(object(Provider::Aws, ENVIRONMENT, "", "pod", "variables", &json!(variables)));
        }
        Environment::Unreadable => {
            let unknown = Incomplete { group: group.clone(), plural: "environments".to_owned(), namespace: None };
            cluster.recorded.coverage.incomplete.push(unknown);
        }
    }
    cluster.served.insert(group);
}

/// Without names of its own an account is used from all clusters of the folder, and a fleet file says that these are all.
pub(super) fn declare_folder(account: &mut SnapshotCluster) {
    if let ClusterSource::Cloud { provider: Provider::Ibm, used_from, .. } = &mut account.source
        && used_from.patterns.is_empty()
    {
        used_from.declaration = Declaration::Declared;
    }
}

/// Reports an account with two files: it is unknown which is right. The first is kept and is not complete.
pub(super) fn report_duplicates(accounts: &mut Vec<(PathBuf, SnapshotCluster)>, problems: &mut Vec<Problem>) {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut again: Vec<(usize, usize)> = Vec::new();
    for (place, (_, member)) in accounts.iter().enumerate() {
        let ClusterSource::Cloud { provider: Provider::Ibm, account, .. } = &member.source else { continue };
        match first.get(account).filter(|_| !account.is_empty()) {
            Some(held) => again.push((*held, place)),
            None => drop(first.insert(account.clone(), place)),
        }
    }
    for (held, place) in again.into_iter().rev() {
        let (path, _) = accounts.remove(place);
        let (kept, member) = &mut accounts[held];
        let message = format!("describes the same account as {}: merge the files", file_name(kept));
        problems.push(Problem::new(&path, None, message));
        member.recorded.coverage.unreadable.push(file_name(&path));
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn plural(provider: Provider) -> String {
    match provider {
        Provider::Ibm => "resources".to_owned(),
        Provider::Aws => "instancetypes".to_owned(),
    }
}

struct Reader<'r> {
    provider: Provider,
    path: &'r Path,
    text: &'r str,
    /// The file with its lines, read when there is a problem; none if it has aliases.
    lines: OnceCell<Option<Node>>,
    problems: &'r mut Vec<Problem>,
    is_whole: bool,
}

/// What a file says.
#[derive(Default)]
struct Read {
    account: String,
    objects: Vec<RecordedObject>,
    is_complete: bool,
    used_from: MemberRule,
}

impl Reader<'_> {
    fn read(&mut self, content: Value) -> Read {
        let Shape { whose, list, entry, .. } = Shape::of(self.provider);
        let Value::Object(mut keys) = content else {
            if self.is_whole {
                self.fault(&[], format!("is not a mapping: write {whose}: and {list}:"));
            }
            return Read { is_complete: true, ..Read::default() };
        };
        let owner = keys.remove(whose).and_then(|owner| text(&owner)).unwrap_or_default();
        if owner.is_empty() {
            self.fault(&[Step::Key(whose)], format!("has no {whose}: add {whose}:"));
        }
        let is_complete = self.flag(&mut keys, "complete").unwrap_or(true);
        let used_from = match self.provider {
            Provider::Ibm => self.used_from(&mut keys),
            Provider::Aws => MemberRule::default(),
        };
        let objects = match keys.remove(list) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(entries)) => self.entries(&owner, entries),
            Some(_) => {
                let message = format!("has {list} that are not a list: write `{entry}`");
                self.fault(&[Step::Key(list)], message);
                Vec::new()
            }
        };
        match self.provider {
            Provider::Ibm => self.misspelt(&[whose, "complete", list, MANAGEMENT_CLUSTERS, ALL_LISTED], &keys),
            Provider::Aws => self.misspelt(&[whose, "complete", list], &keys),
        }
        Read { account: owner, objects, is_complete, used_from }
    }

    /// A key that is true or false; anything else is a fault and counts as false.
    fn flag(&mut self, keys: &mut Map<String, Value>, key: &str) -> Option<bool> {
        match keys.remove(key)? {
            Value::Bool(flag) => Some(flag),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                self.fault(&[Step::Key(key)], format!("has an invalid `{key}`: write true or false"));
                Some(false)
            }
        }
    }

    /// The management clusters, as the configuration names them. What cannot be read declares nothing.
    fn used_from(&mut self, keys: &mut Map<String, Value>) -> MemberRule {
        let is_given = keys.get(MANAGEMENT_CLUSTERS).is_some_and(|given| !given.is_null());
        let is_complete = self.flag(keys, ALL_LISTED).unwrap_or(false);
        let patterns: Vec<Glob> = match keys.remove(MANAGEMENT_CLUSTERS) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(names)) => {
                let read: Vec<Option<Glob>> =
                    names.iter().map(|name| text(name).and_then(|name| Glob::parse(&name).ok())).collect();
                let valid: Option<Vec<Glob>> = read.into_iter().collect();
                valid.filter(|all| !all.is_empty()).unwrap_or_else(|| self.bad_clusters())
            }
            Some(_) => self.bad_clusters(),
        };
        if is_complete && !is_given {
            let message = format!("has {ALL_LISTED} without {MANAGEMENT_CLUSTERS}: list all of them");
            self.fault(&[Step::Key(ALL_LISTED)], message);
        }
        let is_declared = is_complete && !patterns.is_empty();
        let declaration = if is_declared { Declaration::Declared } else { Declaration::NotDeclared };
        MemberRule { patterns, declaration, not_opened: Vec::new() }
    }

    fn bad_clusters(&mut self) -> Vec<Glob> {
        let message = format!("has invalid {MANAGEMENT_CLUSTERS}: write a list of names, as [mgmt-eu]");
        self.fault(&[Step::Key(MANAGEMENT_CLUSTERS)], message);
        Vec::new()
    }

    fn misspelt(&mut self, known: &[&str], others: &Map<String, Value>) {
        for key in others.keys() {
            if let Some(meant) = misspelling_of(key, known) {
                self.fault(&[Step::Key(key)], format!("unknown key `{key}`: did you mean `{meant}`?"));
            }
        }
    }

    fn entries(&mut self, whose: &str, entries: Vec<Value>) -> Vec<RecordedObject> {
        let list = Shape::of(self.provider).list;
        let (mut seen, mut objects, mut faults) = (BTreeSet::new(), Vec::new(), 0);
        for (index, entry) in entries.into_iter().enumerate() {
            match self.entry(whose, &entry, &mut seen) {
                Ok(object) => objects.push(object),
                Err(EntryFault { place, message }) => {
                    faults += 1;
                    let place = [vec![Step::Key(list), Step::Item(index)], place].concat();
                    if faults <= FAULTS_LISTED_MAX {
                        self.fault(&place, format!("entry {} {message}", index + 1));
                    }
                }
            }
        }
        if faults > FAULTS_LISTED_MAX {
            let message = format!("has {} more invalid entries: check the file", faults - FAULTS_LISTED_MAX);
            self.fault(&[Step::Key(list)], message);
        }
        objects
    }

    /// Returns the object of an entry, or its fault.
    fn entry(&self, whose: &str, entry: &Value, seen: &mut BTreeSet<String>) -> Result<RecordedObject, EntryFault> {
        let (namespace, name) = match self.provider {
            Provider::Ibm => ("", both(field(entry, "kind"), field(entry, "id"))),
            Provider::Aws => (whose, field(entry, "name")),
        };
        let fault_of = |message: String| EntryFault { place: Vec::new(), message };
        let needed = Shape::of(self.provider).needed;
        let name = name.ok_or_else(|| fault_of(format!("has no {needed}: add it, or remove the entry")))?;
        if !seen.insert(name.clone()) {
            return Err(fault_of(format!("repeats {name}: remove one of them")));
        }
        match self.provider {
            Provider::Ibm => cloud_resource::check(entry)?,
            Provider::Aws => instance_type::check(entry)?,
        }
        Ok(self.object(namespace, &name, entry))
    }

    fn object(&self, namespace: &str, name: &str, entry: &Value) -> RecordedObject {
        let (kind, field) = match self.provider {
            Provider::Ibm => (RESOURCE, "resource"),
            Provider::Aws => (INSTANCE_TYPE, "type"),
        };
        object(self.provider, kind, namespace, name, field, entry)
    }

    fn fault(&mut self, place: &[Step<'_>], message: String) {
        self.is_whole = false;
        let lines = self.lines.get_or_init(|| yaml_tree::read(self.text).ok());
        let line = lines.as_ref().map(|root| root.line_of(place));
        self.problems.push(Problem::new(self.path, line, message));
    }
}

fn object(provider: Provider, kind: &str, namespace: &str, name: &str, field: &str, content: &Value) -> RecordedObject {
    let group = provider.group();
    let json = json!({
        "apiVersion": format!("{group}/v1"),
        "kind": kind,
        "metadata": { "name": name, "namespace": namespace },
        field: content,
    });
    RecordedObject {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        json: Zeroizing::new(json.to_string()),
    }
}

fn both(kind: Option<String>, id: Option<String>) -> Option<String> {
    Some(format!("{}/{}", kind?, id?))
}

fn field(entry: &Value, key: &str) -> Option<String> {
    entry.get(key).and_then(text).filter(|text| !text.is_empty())
}

/// Text, or an unquoted number.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
