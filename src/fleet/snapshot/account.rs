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

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::SnapshotCluster;
use super::problem::Problem;
use super::sheet::{self, Entry, Node, Sheet};
use crate::fleet::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster, RecordedObject};
use crate::world::{ClusterIdentity, ClusterName, ClusterSource, Provider};

const RESOURCE: &str = "Resource";
const INSTANCE_TYPE: &str = "InstanceType";
const ENVIRONMENT: &str = "Environment";

/// What a resource of IBM Cloud may be.
const IBM_KINDS: [&str; 10] = [
    "workspace",
    "dhcp-server",
    "network",
    "vpc",
    "subnet",
    "security-group",
    "load-balancer",
    "transit-gateway",
    "tg-connection",
    "cos-instance",
];
/// The keys of a resource of IBM Cloud.
const IBM_KEYS: [&str; 12] = [
    "kind",
    "id",
    "crn",
    "name",
    "state",
    "created_at",
    "tags",
    "parent",
    "network_type",
    "network",
    "network_id",
    "locked",
];

/// The keys of an account's file.
struct Shape {
    /// The key that says which account or region it is.
    whose: &'static str,
    list: &'static str,
}

/// What a file holds, as it was written and as it was read.
pub(super) struct Content {
    pub text: Zeroizing<String>,
    pub value: Value,
}

/// Where in a file something is wrong.
enum At {
    Start,
    Key(String),
    /// An entry of the list, counted from 0.
    Entry(usize),
    Field(usize, String),
}

impl Shape {
    fn of(provider: Provider) -> Self {
        match provider {
            Provider::Ibm => Self { whose: "account", list: "resources" },
            Provider::Aws => Self { whose: "region", list: "instance_types" },
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
    let mut reader = Reader { provider, faults: Vec::new() };
    let (mut is_whole, mut whose, mut objects, mut is_complete) = (false, String::new(), Vec::new(), true);
    if let Some(Content { text, value }) = content {
        (whose, objects, is_complete) = reader.read(value);
        is_whole = reader.faults.is_empty();
        problems.extend(reader.told(path, &text));
    }
    let cut_short = Incomplete { group: provider.group().to_owned(), plural: plural(provider), namespace: None };
    let mut recorded = RecordedCluster::new(Coverage {
        kinds: KindCoverage::All,
        incomplete: if is_complete { Vec::new() } else { vec![cut_short] },
        unreachable: None,
        unreadable: if is_whole { Vec::new() } else { vec![file_name(path)] },
    });
    objects.into_iter().for_each(|object| recorded.push(object));
    SnapshotCluster {
        name: ClusterName::new(format!("{}:{alias}", provider.word())),
        source: ClusterSource::Cloud { provider, account: whose, used_from: Vec::new() },
        class: None,
        hosted_by: None,
        served: BTreeSet::from([provider.group().to_owned()]),
        recorded,
        identity: ClusterIdentity::default(),
    }
}

/// Lays the environment a fleet file gives into a cluster, as an object of it.
pub(super) fn lay_environment(cluster: &mut SnapshotCluster, variables: &BTreeMap<String, String>) {
    cluster.recorded.push(object(Provider::Aws, ENVIRONMENT, "", "pod", "variables", &json!(variables)));
    cluster.served.insert(Provider::Aws.group().to_owned());
}

fn plural(provider: Provider) -> String {
    match provider {
        Provider::Ibm => "resources".to_owned(),
        Provider::Aws => "instancetypes".to_owned(),
    }
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

struct Reader {
    provider: Provider,
    faults: Vec<(At, String)>,
}

impl Reader {
    /// Whose account it is, what is in it, and whether that is all.
    fn read(&mut self, content: Value) -> (String, Vec<RecordedObject>, bool) {
        let shape = Shape::of(self.provider);
        let Value::Object(mut keys) = content else {
            self.fault(At::Start, format!("is no mapping: write {}: and {}:", shape.whose, shape.list));
            return (String::new(), Vec::new(), true);
        };
        let whose = keys.remove(shape.whose).and_then(|whose| text(&whose)).unwrap_or_default();
        if whose.is_empty() {
            self.fault(At::Start, format!("does not say whose it is: write {}:", shape.whose));
        }
        let is_complete = match keys.remove("complete") {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => {
                let says = "says `complete` with neither true nor false: write one of them";
                self.fault(At::Key("complete".to_owned()), says.to_owned());
                false
            }
        };
        let objects = match keys.remove(shape.list) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(entries)) => self.entries(&whose, entries),
            Some(_) => {
                let says = format!("has {} that are no list: write `- ` before each", shape.list);
                self.fault(At::Key(shape.list.to_owned()), says);
                Vec::new()
            }
        };
        if self.provider == Provider::Ibm {
            for key in keys.into_iter().map(|(key, _)| key) {
                if let Some(meant) = slip(&key, &[shape.whose, "complete", shape.list]) {
                    self.fault(At::Key(key.clone()), unknown(&key, meant));
                }
            }
        }
        (whose, objects, is_complete)
    }

    fn entries(&mut self, whose: &str, entries: Vec<Value>) -> Vec<RecordedObject> {
        let mut seen = BTreeSet::new();
        let mut objects = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let (namespace, name) = match self.provider {
                Provider::Ibm => ("", both(field(&entry, "kind"), field(&entry, "id"))),
                Provider::Aws => (whose, field(&entry, "name")),
            };
            let needed = match self.provider {
                Provider::Ibm => "a kind or an id: write both",
                Provider::Aws => "a name: write it",
            };
            let item = index + 1;
            match name {
                None => self.fault(At::Entry(index), format!("entry {item} lacks {needed}")),
                Some(name) if !seen.insert(name.clone()) => {
                    let says = format!("entry {item} is {name} once more: remove one of them");
                    self.fault(At::Entry(index), says);
                }
                Some(_) if self.provider == Provider::Ibm && self.is_misshapen(index, &entry) => {}
                Some(name) => objects.push(self.object(namespace, &name, &entry)),
            }
        }
        objects
    }

    /// Whether a resource of IBM Cloud has something in it that nobody can understand, which is told.
    fn is_misshapen(&mut self, index: usize, entry: &Value) -> bool {
        let before = self.faults.len();
        let item = index + 1;
        for (key, value) in entry.as_object().into_iter().flatten() {
            let says = match (key.as_str(), value) {
                (key, _) if !IBM_KEYS.contains(&key) => match slip(key, &IBM_KEYS) {
                    Some(meant) => unknown(key, meant),
                    None => continue,
                },
                ("kind", Value::String(kind)) => match slip(kind, &IBM_KINDS) {
                    Some(meant) => format!("`{kind}` is no kind of resource: did you mean `{meant}`?"),
                    None => continue,
                },
                (_, Value::Null) => continue,
                ("tags", Value::Array(tags)) if tags.iter().all(Value::is_string) => continue,
                ("tags", _) => "tags are a list of texts: write it like [ \"key:value\" ]".to_owned(),
                ("locked", Value::Bool(_)) => continue,
                ("locked", _) => "`locked` is neither true nor false: write one of them".to_owned(),
                ("kind" | "id", _) | (_, Value::String(_)) => continue,
                (key, _) => format!("`{key}` is no text: write it in quotes"),
            };
            self.fault(At::Field(index, key.clone()), format!("entry {item}: {says}"));
        }
        self.faults.len() > before
    }

    fn object(&self, namespace: &str, name: &str, entry: &Value) -> RecordedObject {
        let (kind, field) = match self.provider {
            Provider::Ibm => (RESOURCE, "resource"),
            Provider::Aws => (INSTANCE_TYPE, "type"),
        };
        object(self.provider, kind, namespace, name, field, entry)
    }

    fn fault(&mut self, at: At, says: String) {
        self.faults.push((at, says));
    }

    /// The faults with their lines.
    fn told(self, path: &Path, text: &str) -> Vec<Problem> {
        let list = Shape::of(self.provider).list;
        // Read again only now: most files are as they should be, and large.
        let root = if self.faults.is_empty() { None } else { sheet::read(text).ok() };
        let line = |at: &At| root.as_ref().and_then(|root| line_of(root, list, at));
        self.faults.into_iter().map(|(at, says)| Problem::new(path, line(&at), says)).collect()
    }
}

fn unknown(key: &str, meant: &str) -> String {
    format!("unknown key `{key}`: did you mean `{meant}`?")
}

/// The known word that another, which is none of them, was most likely meant to be.
fn slip<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&word) {
        return None;
    }
    let edits = |known: &str| strsim::levenshtein(&word.to_lowercase(), known);
    let nearest = known.iter().min_by_key(|known| edits(known))?;
    (edits(nearest) <= (nearest.len() / 3).clamp(1, 2)).then_some(*nearest)
}

/// The line of a place in a file whose entries are in `list`.
fn line_of(root: &Node, list: &str, at: &At) -> Option<u64> {
    match at {
        At::Start => Some(root.line),
        At::Key(key) => entry_of(root, key).map(|entry| entry.line),
        At::Entry(index) => item_of(root, list, *index).map(|node| node.line),
        At::Field(index, key) => entry_of(item_of(root, list, *index)?, key).map(|entry| entry.line),
    }
}

fn entry_of<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    match &node.value {
        Sheet::Map(entries) => entries.iter().find(|entry| entry.key == key),
        Sheet::Empty | Sheet::Text(_) | Sheet::Seq(_) => None,
    }
}

fn item_of<'n>(root: &'n Node, list: &str, index: usize) -> Option<&'n Node> {
    match &entry_of(root, list)?.value.value {
        Sheet::Seq(items) => items.get(index),
        Sheet::Empty | Sheet::Text(_) | Sheet::Map(_) => None,
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
