//! Cloud accounts of a folder become members of the fleet: each resource is an object like any other.
//!
//! ```text
//! clouds/ibm/main.yaml   member ibm:main   ibm.cloud.trueup/v1 Resource, named <kind>/<id>, the entry in `resource`
//! clouds/aws/eu.yaml     member aws:eu     aws.cloud.trueup/v1 InstanceType, in the region's namespace, the entry in `type`
//! ```
//!
//! Always true: an account of which something could not be read, or that says so itself, is not complete.
//! Not here: what the entries mean (the domains project them).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::SnapshotCluster;
use super::problem::Problem;
use crate::fleet::recording::{Coverage, Incomplete, KindCoverage, RecordedCluster, RecordedObject};
use crate::world::{ClusterIdentity, ClusterName, ClusterSource, Provider};

const RESOURCE: &str = "Resource";
const INSTANCE_TYPE: &str = "InstanceType";
const ENVIRONMENT: &str = "Environment";

/// The keys of an account's file.
struct Shape {
    /// The key that says which account or region it is.
    whose: &'static str,
    list: &'static str,
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
    content: Option<Value>,
    problems: &mut Vec<Problem>,
) -> SnapshotCluster {
    let mut reader = Reader { provider, path, problems, is_whole: content.is_some() };
    let (account, objects, is_complete) = reader.read(content.unwrap_or_default());
    let file = || path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let cut_short = Incomplete { group: provider.group().to_owned(), plural: plural(provider), namespace: None };
    let mut recorded = RecordedCluster::new(Coverage {
        kinds: KindCoverage::All,
        incomplete: if is_complete { Vec::new() } else { vec![cut_short] },
        unreachable: None,
        unreadable: if reader.is_whole { Vec::new() } else { vec![file()] },
    });
    objects.into_iter().for_each(|object| recorded.push(object));
    SnapshotCluster {
        name: ClusterName::new(format!("{}:{alias}", provider.word())),
        source: ClusterSource::Cloud { provider, account, used_from: Vec::new() },
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

struct Reader<'r> {
    provider: Provider,
    path: &'r Path,
    problems: &'r mut Vec<Problem>,
    is_whole: bool,
}

impl Reader<'_> {
    /// Whose account it is, what is in it, and whether that is all.
    fn read(&mut self, content: Value) -> (String, Vec<RecordedObject>, bool) {
        let shape = Shape::of(self.provider);
        let Value::Object(mut keys) = content else {
            if self.is_whole {
                self.fault(format!("is no mapping: write {}: and {}:", shape.whose, shape.list));
            }
            return (String::new(), Vec::new(), true);
        };
        let whose = keys.remove(shape.whose).and_then(|whose| text(&whose)).unwrap_or_default();
        if whose.is_empty() {
            self.fault(format!("does not say whose it is: write {}:", shape.whose));
        }
        let is_complete = match keys.remove("complete") {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => {
                self.fault("says `complete` with neither true nor false".to_owned());
                false
            }
        };
        let objects = match keys.remove(shape.list) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(entries)) => self.entries(&whose, entries),
            Some(_) => {
                self.fault(format!("has {} that are no list", shape.list));
                Vec::new()
            }
        };
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
                Provider::Ibm => "a kind and an id",
                Provider::Aws => "a name",
            };
            let item = index + 1;
            match name {
                None => self.fault(format!("entry {item} lacks {needed}")),
                Some(name) if !seen.insert(name.clone()) => {
                    self.fault(format!("entry {item} is {name} once more: remove one of them"));
                }
                Some(name) => objects.push(self.object(namespace, &name, &entry)),
            }
        }
        objects
    }

    fn object(&self, namespace: &str, name: &str, entry: &Value) -> RecordedObject {
        let (kind, field) = match self.provider {
            Provider::Ibm => (RESOURCE, "resource"),
            Provider::Aws => (INSTANCE_TYPE, "type"),
        };
        object(self.provider, kind, namespace, name, field, entry)
    }

    fn fault(&mut self, says: String) {
        self.is_whole = false;
        self.problems.push(Problem::new(self.path, None, says));
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
