//! Cloud accounts of a folder become members of the fleet: each resource is an object like any other.
//!
//! ```text
//! clouds/ibm/main.yaml   member ibm:main   ibm.cloud.trueup/v1 Resource, named <kind>/<id>, the entry in `resource`
//! clouds/aws/eu.yaml     member aws:eu     aws.cloud.trueup/v1 InstanceType, in the region's namespace, the entry in `type`
//! ```
//!
//! Always true:
//! - an account of which something could not be read, or that says so itself, is not complete;
//! - a slip of the pen in a key or a kind is a problem with its line, never silently passed over: `resurces:` is no empty
//!   account. What is no slip of any known word is somebody else's business, and is not read.
//!
//! Not here: what the entries mean (the domains project them).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::fleet_file::Environment;
use super::odd::{Odd, slip};
use super::problem::Problem;
use super::sheet::{self, Node, Step};
use super::{SnapshotCluster, cloud_resource, instance_type};
use trueup_core::decode::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster, RecordedObject};
use trueup_core::world::{ClusterIdentity, ClusterName, ClusterSource, Provider};

const RESOURCE: &str = "Resource";
const INSTANCE_TYPE: &str = "InstanceType";
const ENVIRONMENT: &str = "Environment";

/// How many entries of a file are named one by one; a file of another sort would name thousands.
const ODD_MAX: usize = 10;

/// What a file about an account holds.
pub(super) struct Content {
    pub value: Value,
    /// It as it was written, for its lines.
    pub text: Zeroizing<String>,
}

/// The keys of an account's file.
struct Shape {
    /// The key that says which account or region it is.
    whose: &'static str,
    list: &'static str,
    /// What an entry of the list can't do without, as it is said and as it is written.
    needed: &'static str,
    entry: &'static str,
}

impl Shape {
    fn of(provider: Provider) -> Self {
        match provider {
            Provider::Ibm => Self {
                whose: "account",
                list: "resources",
                needed: "a kind and an id",
                entry: "- { kind: vpc, id: r006-1 }",
            },
            Provider::Aws => {
                Self { whose: "region", list: "instance_types", needed: "a name", entry: "- { name: m6g.4xlarge }" }
            }
        }
    }
}

/// Makes the member of one file; without content, a member of which nothing is known.
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
    let (account, objects, is_complete) = reader.read(value);
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
        source: ClusterSource::Cloud { provider, account, used_from: Vec::new() },
        class: None,
        hosted_by: None,
        served: BTreeSet::from([provider.group().to_owned()]),
        recorded,
        identity: ClusterIdentity::default(),
    }
}

/// Lays the environment a fleet file gives into a cluster, as an object of it. One that nobody can read is not known to
/// hold nothing.
pub(super) fn lay_environment(cluster: &mut SnapshotCluster, environment: &Environment) {
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

/// An account in two files: nobody knows which of them is right. The first is kept and is not complete.
pub(super) fn told_twice(accounts: &mut Vec<(PathBuf, SnapshotCluster)>, problems: &mut Vec<Problem>) {
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
        let says = format!("is of an account that {} holds too: write both into one file", file_name(kept));
        problems.push(Problem::new(&path, None, says));
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
    /// The file with its lines, read when something is wrong; nothing where it has aliases.
    lines: OnceCell<Option<Node>>,
    problems: &'r mut Vec<Problem>,
    is_whole: bool,
}

impl Reader<'_> {
    /// Whose account it is, what is in it, and whether that is all.
    fn read(&mut self, content: Value) -> (String, Vec<RecordedObject>, bool) {
        let Shape { whose, list, entry, .. } = Shape::of(self.provider);
        let Value::Object(mut keys) = content else {
            if self.is_whole {
                self.fault(&[], format!("is no mapping: write {whose}: and {list}:"));
            }
            return (String::new(), Vec::new(), true);
        };
        let owner = keys.remove(whose).and_then(|owner| text(&owner)).unwrap_or_default();
        if owner.is_empty() {
            self.fault(&[Step::Key(whose)], format!("does not say whose it is: write {whose}:"));
        }
        let is_complete = match keys.remove("complete") {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => {
                let says = "says `complete` with neither true nor false: write one of them";
                self.fault(&[Step::Key("complete")], says.to_owned());
                false
            }
        };
        let objects = match keys.remove(list) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(entries)) => self.entries(&owner, entries),
            Some(_) => {
                let says = format!("has {list} that are no list: write them like `{entry}`");
                self.fault(&[Step::Key(list)], says);
                Vec::new()
            }
        };
        self.misspelt(&[whose, "complete", list], &keys);
        (owner, objects, is_complete)
    }

    fn misspelt(&mut self, known: &[&str], others: &Map<String, Value>) {
        for key in others.keys() {
            if let Some(meant) = slip(key, known) {
                self.fault(&[Step::Key(key)], format!("unknown key `{key}`: did you mean `{meant}`?"));
            }
        }
    }

    fn entries(&mut self, whose: &str, entries: Vec<Value>) -> Vec<RecordedObject> {
        let list = Shape::of(self.provider).list;
        let (mut seen, mut objects, mut odd) = (BTreeSet::new(), Vec::new(), 0);
        for (index, entry) in entries.into_iter().enumerate() {
            match self.entry(whose, &entry, &mut seen) {
                Ok(object) => objects.push(object),
                Err(Odd { place, says }) => {
                    odd += 1;
                    let place = [vec![Step::Key(list), Step::Item(index)], place].concat();
                    if odd <= ODD_MAX {
                        self.fault(&place, format!("entry {} {says}", index + 1));
                    }
                }
            }
        }
        if odd > ODD_MAX {
            let says = format!(
                "has {} more entries that can't be understood: see whether it is what it should be",
                odd - ODD_MAX
            );
            self.fault(&[Step::Key(list)], says);
        }
        objects
    }

    /// The object of an entry, or what is wrong with it.
    fn entry(&self, whose: &str, entry: &Value, seen: &mut BTreeSet<String>) -> Result<RecordedObject, Odd> {
        let (namespace, name) = match self.provider {
            Provider::Ibm => ("", both(field(entry, "kind"), field(entry, "id"))),
            Provider::Aws => (whose, field(entry, "name")),
        };
        let odd = |says: String| Odd { place: Vec::new(), says };
        let needed = Shape::of(self.provider).needed;
        let name = name.ok_or_else(|| odd(format!("lacks {needed}: write it, or remove the entry")))?;
        if !seen.insert(name.clone()) {
            return Err(odd(format!("is {name} once more: remove one of them")));
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

    fn fault(&mut self, place: &[Step<'_>], says: String) {
        self.is_whole = false;
        let lines = self.lines.get_or_init(|| sheet::read(self.text).ok());
        let line = lines.as_ref().map(|root| root.line_of(place));
        self.problems.push(Problem::new(self.path, line, says));
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

/// Text, or a number somebody wrote without quotes.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
