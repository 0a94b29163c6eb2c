//! A fleet of recorded members, and a world that has answered every interest of a check.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::Check;
use crate::permissions::ClusterScope;
use trueup_core::decode::Digester;
use trueup_core::decode::recorded::{Coverage, RecordedCluster, RecordedObject, fill};
use trueup_core::decode::recording::{Incomplete, KindCoverage};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, HostedBy, Link, Namespace, ObjectName, RiskClass,
    Scope, Served, View, World,
};

/// The largest fleet whose interests are compared with the permissions of the check.
const PERMITTED_MAX: usize = 64;

/// Clusters and accounts by name.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    pub members: BTreeMap<String, Member>,
}

/// One cluster or account.
#[derive(Debug, Clone)]
pub struct Member {
    pub source: ClusterSource,
    pub link: Link,
    pub hosted_by: Option<HostedBy>,
    pub objects: Vec<Value>,
    pub coverage: Coverage,
    /// What discovery answers; the groups of the recording when nothing is set.
    pub served: Option<Served>,
    /// What makes it itself; not known when nothing is set.
    pub identity: Option<String>,
}

impl Fleet {
    /// Adds an empty cluster whose recording covers every kind.
    pub fn add_cluster(&mut self, name: &str) {
        self.add(name, ClusterSource::Snapshot);
    }

    pub fn add(&mut self, name: &str, source: ClusterSource) {
        self.members.insert(name.to_owned(), Member::new(source));
    }

    pub fn member(&mut self, name: &str) -> &mut Member {
        self.members.get_mut(name).unwrap_or_else(|| panic!("the fleet has no {name}"))
    }

    /// Brings the world to this fleet and returns what changed. Answers interests until the check asks for no more.
    pub fn fill(&self, check: &dyn Check, world: &mut World, now: Timestamp) -> ChangeSet {
        let mut changes = ChangeSet::default();
        let known: Vec<ClusterName> = world.view(now).clusters().map(|cluster| cluster.name.clone()).collect();
        for name in known.iter().filter(|name| !self.members.contains_key(name.as_str())) {
            changes.extend(world.remove_cluster(name));
        }
        let mut recordings = BTreeMap::new();
        for (name, member) in &self.members {
            let name = ClusterName::new(name.as_str());
            changes.extend(world.put_cluster(member.cluster(name.clone())));
            recordings.insert(name, member.recorded());
        }
        changes.extend(answer_all(check, world, &recordings, now));
        // What scale is measured with has no other interests than the small fleets.
        if self.members.len() <= PERMITTED_MAX {
            assert_permitted(check, world.view(now));
        }
        changes
    }
}

/// Asserts that roles for the check cover everything it reads: in every world of every test of it.
fn assert_permitted(check: &dyn Check, view: View<'_>) {
    let permissions = check.permissions();
    for interest in check.interests(view) {
        let id = &interest.id;
        let cluster = view.cluster(&id.cluster);
        if id.resource.group.ends_with(".trueup") || cluster.is_none_or(|cluster| cluster.source.is_account()) {
            continue;
        }
        let (verb, name) = match &id.scope {
            Scope::Object { name, .. } => ("get", Some(name.as_str())),
            Scope::All | Scope::Namespace(_) => ("list", id.selector.fields.strip_prefix("metadata.name=")),
        };
        let namespace = id.namespace().map(Namespace::as_str);
        let scopes: &[ClusterScope] = match cluster.and_then(|cluster| cluster.hosted_by.as_ref()) {
            Some(_) => &[ClusterScope::Guest],
            // A guest may be known by its topology alone.
            None => &[ClusterScope::Own, ClusterScope::Guest],
        };
        let covers = |scope: &ClusterScope| {
            permissions.iter().any(|one| one.covers(*scope, &id.resource, namespace, name, verb))
        };
        // The toy checks of tests declare none.
        let is_covered = permissions.is_empty() || scopes.iter().any(covers);
        assert!(is_covered, "{}: no permission covers {verb} {id:?}", check.name().0);
    }
}

impl Member {
    pub fn new(source: ClusterSource) -> Self {
        let coverage = Coverage { kinds: KindCoverage::All, ..Coverage::default() };
        Self {
            source,
            link: Link::Recorded,
            hosted_by: None,
            objects: Vec::new(),
            coverage,
            served: None,
            identity: None,
        }
    }

    /// Puts an object in, in place of one of its group, kind, namespace and name.
    pub fn put(&mut self, object: Value) {
        self.objects.retain(|held| !is_same(held, &object));
        self.objects.push(object);
    }

    pub fn remove(&mut self, kind: &str, name: &str) {
        self.objects.retain(|object| object["kind"] != kind || object["metadata"]["name"] != name);
    }

    /// Removes one object, counted around the list; nothing from an empty one.
    pub fn remove_nth(&mut self, number: usize) {
        if let Some(at) = number.checked_rem(self.objects.len()) {
            self.objects.remove(at);
        }
    }

    /// The first object of a kind.
    pub fn first(&mut self, kind: &str) -> &mut Value {
        let mut objects = self.objects.iter_mut();
        objects.find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
    }

    pub fn object(&mut self, kind: &str, name: &str) -> &mut Value {
        let mut objects = self.objects.iter_mut();
        let object = objects.find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
        object.unwrap_or_else(|| panic!("no {kind} {name}"))
    }

    /// Marks a collection as incomplete: `v1/secrets@openshift-config`, as fleet files write it.
    pub fn incomplete(&mut self, entry: &str) {
        let (path, namespace) = entry.split_once('@').map_or((entry, None), |(path, ns)| (path, Some(ns)));
        let (api_version, plural) = path.rsplit_once('/').expect("version/plural");
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        self.coverage.incomplete.push(Incomplete {
            group: group.to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.map(str::to_owned),
        });
    }

    /// A recording that proves no absence.
    pub fn seen_only(&mut self) {
        self.coverage.kinds = KindCoverage::SeenOnly;
    }

    /// Complete discovery that lists these (group, plural) pairs.
    pub fn serve(&mut self, kinds: &[(&str, &str)]) {
        let all = kinds.iter().map(|(group, plural)| ((*group).to_owned(), (*plural).to_owned())).collect();
        self.served = Some(Served::Complete(all));
    }

    pub fn host(&mut self, [cluster, namespace, name]: [&str; 3]) {
        let (cluster, namespace) = (ClusterName::new(cluster), Namespace::new(namespace));
        self.hosted_by = Some(HostedBy { cluster, namespace, name: ObjectName::new(name) });
    }

    pub fn recorded(&self) -> RecordedCluster {
        recording(&self.coverage, &self.objects)
    }

    pub fn cluster(&self, name: ClusterName) -> Cluster {
        Cluster {
            name,
            class: RiskClass::Prod,
            source: self.source.clone(),
            hosted_by: self.hosted_by.clone(),
            link: self.link.clone(),
            identity: self.identity.as_ref().map_or_else(ClusterIdentity::default, |one| ClusterIdentity {
                kube_system_uid: one.clone(),
                ca_sha256: one.clone(),
                account: String::new(),
            }),
            served: self.served.clone().unwrap_or_else(|| Served::Recorded(self.recorded().groups())),
        }
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    let group = |object: &Value| text(&object["apiVersion"]).rsplit_once('/').map(|(group, _)| group.to_owned());
    group(one) == group(other)
        && one["kind"] == other["kind"]
        && ["namespace", "name"].iter().all(|field| one["metadata"][field] == other["metadata"][field])
}

/// Sets a field (`spec.a.b`) of an object.
pub fn set_field(object: &mut Value, field: &str, value: Value) {
    *field.split('.').fold(object, |place, part| &mut place[part]) = value;
}

/// A cluster that holds these objects.
pub fn recording(coverage: &Coverage, objects: &[Value]) -> RecordedCluster {
    let mut recording = RecordedCluster::new(coverage.clone());
    for object in objects {
        let api_version = text(&object["apiVersion"]);
        recording.push(RecordedObject {
            group: api_version.rsplit_once('/').map_or(String::new(), |(group, _)| group.to_owned()),
            kind: text(&object["kind"]),
            namespace: text(&object["metadata"]["namespace"]),
            name: text(&object["metadata"]["name"]),
            json: Zeroizing::new(object.to_string()),
        });
    }
    recording
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Answers the interests of a check until it asks for no more, and returns what changed.
pub fn answer_all(
    check: &dyn Check,
    world: &mut World,
    recordings: &BTreeMap<ClusterName, RecordedCluster>,
    now: Timestamp,
) -> ChangeSet {
    let (mut changes, mut answered) = (ChangeSet::default(), Vec::new());
    loop {
        let wanted = check.interests(world.view(now));
        if wanted == answered {
            return changes;
        }
        changes.extend(fill(world, recordings, &wanted, &Digester::new(&[7; 32]), now));
        answered = wanted;
    }
}
