//! More clusters from what is known: the guests of HostedClusters. Pure.
//!
//! A guest is called as its HostedCluster is called. When that name is taken (by a context of the kubeconfig, or by
//! another HostedCluster of the same name), it is called `<management>/<namespace>/<name>`. A name once given is kept,
//! so that a second guest of the same name does not rename the first.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::world::{
    Cluster, ClusterName, ClusterSource, CollectionId, Fact, HostedBy, Interest, Interner, Life, Misfit, Namespace,
    ObjectName, RawObject, Resource, View,
};

pub const HOSTED_CLUSTERS: Resource = Resource {
    group: "hypershift.openshift.io",
    version: "v1beta1",
    kind: "HostedCluster",
    plural: "hostedclusters",
    namespaced: true,
};

/// What reaching a guest takes of its HostedCluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedClusterLink {
    /// `.status.kubeconfig.name`: there once the control plane has one.
    pub kubeconfig_secret: Option<Box<str>>,
    /// `.status.customKubeconfig.name`.
    pub custom_kubeconfig_secret: Option<Box<str>>,
    pub life: Life,
}

/// A guest somebody could connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub name: ClusterName,
    pub hosted_by: HostedBy,
    pub link: HostedClusterLink,
}

impl Guest {
    pub fn is_living(&self) -> bool {
        self.link.life == Life::Living
    }
}

impl Fact for HostedClusterLink {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let status: StatusWire = raw.field("status")?;
        let name =
            |named: Option<Named>| named.map(|named| named.name.into_boxed_str()).filter(|name| !name.is_empty());
        Ok(Self {
            kubeconfig_secret: name(status.kubeconfig),
            custom_kubeconfig_secret: name(status.custom_kubeconfig),
            life: if raw.meta.deletion_timestamp.is_some() { Life::Terminating } else { Life::Living },
        })
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct StatusWire {
    kubeconfig: Option<Named>,
    custom_kubeconfig: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

/// What discovery wants to see: the HostedClusters of every cluster that may have some.
pub fn interests(view: View<'_>) -> Vec<Interest> {
    view.clusters().filter(|cluster| may_host(cluster)).map(|cluster| hosted_clusters(&cluster.name)).collect()
}

/// The guests of the fleet that can be connected to, or are being taken down.
///
/// A HostedCluster without a kubeconfig yet is no guest yet.
pub fn guests(view: View<'_>) -> Vec<Guest> {
    let mut found: BTreeMap<HostedBy, HostedClusterLink> = BTreeMap::new();
    for cluster in view.clusters().filter(|cluster| may_host(cluster)) {
        let reading = view.read::<HostedClusterLink>(&hosted_clusters(&cluster.name).id);
        for (key, link) in reading.iter().filter(|(_, link)| link.kubeconfig_secret.is_some()) {
            let Some(namespace) = key.namespace.clone() else { continue };
            let hosted_by = HostedBy { cluster: cluster.name.clone(), namespace, name: key.name.clone() };
            found.insert(hosted_by, link.clone());
        }
    }
    let names = names(view, found.keys());
    let named =
        |(hosted_by, link): (HostedBy, HostedClusterLink)| Guest { name: names[&hosted_by].clone(), hosted_by, link };
    found.into_iter().map(named).collect()
}

/// Whether the HostedCluster of a guest is proven to be gone.
pub fn is_gone(view: View<'_>, hosted_by: &HostedBy) -> bool {
    let HostedBy { cluster, namespace, name } = hosted_by;
    let key = crate::world::Key { namespace: Some(namespace.clone()), name: name.clone() };
    view.read::<HostedClusterLink>(&hosted_clusters(cluster).id).get(&key).is_proven_absent()
}

fn hosted_clusters(cluster: &ClusterName) -> Interest {
    CollectionId::all(cluster, HOSTED_CLUSTERS).interest::<HostedClusterLink>()
}

/// Guests host nobody, and a folder is read once: its guests are folders, too.
fn may_host(cluster: &Cluster) -> bool {
    let reachable = match cluster.source {
        ClusterSource::Kubeconfig { .. } => true,
        ClusterSource::Hosted { .. } | ClusterSource::Snapshot => false,
    };
    reachable && cluster.hosted_by.is_none() && !cluster.served.lacks(&HOSTED_CLUSTERS)
}

fn names<'g>(view: View<'_>, guests: impl Iterator<Item = &'g HostedBy> + Clone) -> BTreeMap<HostedBy, ClusterName> {
    let known: BTreeMap<&HostedBy, &ClusterName> =
        view.clusters().filter_map(|cluster| Some((cluster.hosted_by.as_ref()?, &cluster.name))).collect();
    let taken: BTreeSet<&str> = view.clusters().map(|cluster| cluster.name.as_str()).collect();
    let mut wanted: BTreeMap<&str, usize> = BTreeMap::new();
    for guest in guests.clone().filter(|guest| !known.contains_key(guest)) {
        *wanted.entry(guest.name.as_str()).or_default() += 1;
    }
    let name = |guest: &HostedBy| {
        if let Some(&kept) = known.get(guest) {
            return kept.clone();
        }
        let short = guest.name.as_str();
        if taken.contains(short) || wanted[short] > 1 { long_name(guest) } else { ClusterName::new(short) }
    };
    guests.map(|guest| (guest.clone(), name(guest))).collect()
}

fn long_name(guest: &HostedBy) -> ClusterName {
    let HostedBy { cluster, namespace, name }: &HostedBy = guest;
    let (namespace, name): (&Namespace, &ObjectName) = (namespace, name);
    ClusterName::new(format!("{cluster}/{namespace}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Digester;
    use crate::observe::decode::{DataSort, Reader};
    use crate::world::{ClusterIdentity, Delta, Gap, GapCause, Link, ResourceVersion, RiskClass, Served, World};

    fn cluster(name: &str, hosted_by: Option<HostedBy>) -> Cluster {
        let source = match &hosted_by {
            Some(by) => ClusterSource::Hosted { by: by.cluster.clone() },
            None => ClusterSource::Kubeconfig { context: name.to_owned() },
        };
        Cluster {
            name: ClusterName::new(name),
            class: RiskClass::Dev,
            source,
            hosted_by,
            link: Link::Idle,
            identity: ClusterIdentity::default(),
            served: Served::Unknown(Gap::new(GapCause::NotObserved, "not asked")),
        }
    }

    fn by(cluster: &str, name: &str) -> HostedBy {
        let (cluster, namespace) = (ClusterName::new(cluster), Namespace::new("clusters"));
        HostedBy { cluster, namespace, name: ObjectName::new(name) }
    }

    /// Lists these HostedClusters in a management cluster.
    fn list(world: &mut World, management: &str, objects: &[&str]) {
        let interest = hosted_clusters(&ClusterName::new(management));
        let digester = Digester::new(&[0; 32]);
        let sort = DataSort::Other;
        let reader = Reader { digester: &digester, sort, digested: &[], api_version: "", kind: "HostedCluster" };
        let mut facts = interest.fact.new_batch();
        for object in objects {
            facts.push(&reader.object(object).unwrap(), &mut Interner::default()).unwrap();
        }
        world.open(&interest);
        let (version, at) = (ResourceVersion::Number(1), jiff::Timestamp::UNIX_EPOCH);
        world.apply(&interest.id, interest.fact, Delta::Listed { facts, version, at, gap: None });
    }

    fn hosted(name: &str) -> String {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"clusters"}},"status":{{"kubeconfig":{{"name":"k"}}}}}}"#)
    }

    #[test]
    fn guests_are_called_like_their_hosted_cluster_unless_that_name_is_taken() {
        let (a, shared) = (hosted("a"), hosted("shared"));
        let cases: [(&str, Vec<Cluster>, &[&str]); 4] = [
            ("free", vec![], &["a", "m1/clusters/shared", "m2/clusters/shared"]),
            (
                "taken by a context",
                vec![cluster("a", None)],
                &["m1/clusters/a", "m1/clusters/shared", "m2/clusters/shared"],
            ),
            (
                "a name once given is kept",
                vec![cluster("shared", Some(by("m1", "shared")))],
                &["a", "shared", "m2/clusters/shared"],
            ),
            ("whatever it is", vec![cluster("mine", Some(by("m2", "shared")))], &["a", "shared", "mine"]),
        ];
        for (case, known, expected) in cases {
            let mut world = World::default();
            for cluster in known.into_iter().chain([cluster("m1", None), cluster("m2", None)]) {
                world.put_cluster(cluster);
            }
            list(&mut world, "m1", &[&a, &shared]);
            list(&mut world, "m2", &[&shared]);
            let guests = guests(world.view(jiff::Timestamp::UNIX_EPOCH));
            let names: Vec<&str> = guests.iter().map(|guest| guest.name.as_str()).collect();
            assert_eq!(names, expected, "case: {case}");
        }
    }

    #[test]
    fn a_hosted_cluster_without_a_kubeconfig_is_no_guest_yet() {
        let mut world = World::default();
        world.put_cluster(cluster("m1", None));
        let cases = [
            ("no status", r#"{"metadata":{"name":"a","namespace":"n"}}"#, 0),
            ("no name", r#"{"metadata":{"name":"a","namespace":"n"},"status":{"kubeconfig":{}}}"#, 0),
            ("named", r#"{"metadata":{"name":"a","namespace":"n"},"status":{"kubeconfig":{"name":"k"}}}"#, 1),
        ];
        for (case, object, expected) in cases {
            list(&mut world, "m1", &[object]);
            assert_eq!(guests(world.view(jiff::Timestamp::UNIX_EPOCH)).len(), expected, "case: {case}");
        }
        let view = world.view(jiff::Timestamp::UNIX_EPOCH);
        assert!(is_gone(view, &by("m1", "b")) && !is_gone(view, &by("m2", "b")), "gone needs a complete list");
    }
}
