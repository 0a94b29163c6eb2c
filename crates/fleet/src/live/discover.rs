//! More clusters from what is known: the guests of HostedClusters. Pure.
//!
//! And the cloud accounts that clusters point into: each cluster whose machines run at a provider with a footprint has one
//! of its own, called `<provider>:<cluster>`, because its own objects name the credentials and endpoints.
//!
//! A context of the kubeconfig may lead to a guest directly: its Infrastructure says so, and names the same infraID as
//! the HostedCluster. Such a guest is in the fleet already and is not connected to a second time.
//!
//! Invariant: work follows the change; no function here visits the fleet. Elsewhere: what guests are called (`guest_names`).

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::clouds::{Footprint, footprints};
use trueup_checks::{Check, GuestUse};
use trueup_core::world::{
    Change, ChangeSet, Cluster, ClusterName, ClusterSource, CollectionId, DeletionState, Fact, HostedBy, Interest,
    Interner, Key, Misfit, Obj, Provider, RawObject, Resource, Served, View, What,
};

pub const HOSTED_CLUSTERS: Resource = Resource {
    group: "hypershift.openshift.io",
    version: "v1beta1",
    kind: "HostedCluster",
    plural: "hostedclusters",
    namespaced: true,
};

const INFRASTRUCTURES: Resource = Resource {
    group: "config.openshift.io",
    version: "v1",
    kind: "Infrastructure",
    plural: "infrastructures",
    namespaced: false,
};

/// What reaching a guest takes of its HostedCluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedClusterLink {
    /// `.status.kubeconfig.name`: there once the control plane has one.
    pub kubeconfig_secret: Option<Box<str>>,
    /// `.status.customKubeconfig.name`.
    pub custom_kubeconfig_secret: Option<Box<str>>,
    /// `.spec.infraID`: the guest's own Infrastructure has the same.
    pub infra_id: Box<str>,
    pub deletion_state: DeletionState,
}

/// What a cluster's own Infrastructure says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GuestMark {
    /// Its infraID, when its control plane runs elsewhere. Empty for every other cluster.
    infra_id: Box<str>,
    /// The platform its machines run on, or empty.
    platform: Box<str>,
}

impl Fact for GuestMark {
    /// How the HostedCluster of a guest finds out that a context leads to it.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        Some(&*self.infra_id).filter(|id| !id.is_empty()).into_iter().for_each(each);
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<InfrastructureWire> = raw.field("status")?;
        let external = status.control_plane_topology.as_deref() == Some("External");
        let infra_id = status.infrastructure_name.filter(|_| external).unwrap_or_default().into();
        let platform = status.platform_status.and_then(|Obj(platform)| platform.kind);
        Ok(Self { infra_id, platform: platform.unwrap_or_default().into() })
    }
}

/// That a template for machines of a provider exists.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MachineTemplate;

impl Fact for MachineTemplate {
    fn project(_: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self)
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct InfrastructureWire {
    control_plane_topology: Option<String>,
    infrastructure_name: Option<String>,
    platform_status: Option<Obj<PlatformWire>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PlatformWire {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SpecWire {
    #[serde(rename = "infraID")]
    infra_id: Option<String>,
}

/// A guest that can be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub name: ClusterName,
    pub hosted_by: HostedBy,
    pub link: HostedClusterLink,
}

impl Fact for HostedClusterLink {
    fn index(&self, each: &mut dyn FnMut(&str)) {
        Some(&*self.infra_id).filter(|id| !id.is_empty()).into_iter().for_each(each);
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<StatusWire> = raw.field("status")?;
        let Obj(spec): Obj<SpecWire> = raw.field("spec")?;
        let name =
            |named: Option<Named>| named.map(|named| named.name.into_boxed_str()).filter(|name| !name.is_empty());
        Ok(Self {
            kubeconfig_secret: name(status.kubeconfig),
            custom_kubeconfig_secret: name(status.custom_kubeconfig),
            infra_id: spec.infra_id.unwrap_or_default().into(),
            deletion_state: if raw.meta.deletion_timestamp.is_some() {
                DeletionState::Terminating
            } else {
                DeletionState::Active
            },
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

/// What the checks of a run need beyond the clusters of the kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    pub guests: GuestUse,
    providers: BTreeSet<Provider>,
}

impl Needed {
    pub fn by(checks: &[Box<dyn Check>]) -> Self {
        let is_read = checks.iter().any(|check| check.guests() == GuestUse::Read);
        Self {
            guests: if is_read { GuestUse::Read } else { GuestUse::NotRead },
            providers: checks.iter().flat_map(|check| check.clouds().iter().copied()).collect(),
        }
    }

    fn footprints(&self) -> impl Iterator<Item = Footprint> {
        footprints().filter(|footprint| self.providers.contains(&footprint.provider))
    }

    /// An Infrastructure tells whose guest a cluster is, and at which provider its machines are.
    fn marks(&self) -> bool {
        self.guests == GuestUse::Read || self.footprints().next().is_some()
    }
}

/// What discovery wants to see of a cluster: its HostedClusters if it may have some, and what says where its machines are;
/// only where a check needs it.
pub fn interests_of(cluster: &Cluster, needed: &Needed) -> Vec<Interest> {
    let mut wanted = Vec::new();
    if needed.guests == GuestUse::Read && may_host(cluster) {
        wanted.push(hosted_clusters(&cluster.name));
    }
    if needed.marks() && may_be_guest(cluster) {
        wanted.push(guest_mark(&cluster.name));
    }
    let served = needed.footprints().filter(|footprint| may_have_templates(cluster, footprint));
    wanted.extend(served.map(|footprint| templates(&cluster.name, &footprint)));
    wanted
}

/// The account of a cluster at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterAccount {
    pub provider: Provider,
    pub cluster: ClusterName,
    /// The account's name in the fleet.
    pub name: ClusterName,
}

/// The accounts of a cluster whose machines run at a provider with a footprint that a check needs.
pub fn accounts_of(cluster: &Cluster, view: View<'_>, needed: &Needed) -> Vec<ClusterAccount> {
    let uses = |footprint: &Footprint| {
        let on_platform = may_be_guest(cluster)
            && view
                .read::<GuestMark>(&guest_mark(&cluster.name).id)
                .iter()
                .any(|(_, mark)| &*mark.platform == footprint.platform);
        let template = || view.read::<MachineTemplate>(&templates(&cluster.name, footprint).id).iter().next().is_some();
        on_platform || (may_have_templates(cluster, footprint) && template())
    };
    let account = |footprint: Footprint| {
        let (provider, cluster) = (footprint.provider, cluster.name.clone());
        let name = ClusterName::new(format!("{}:{cluster}", provider.as_str()));
        ClusterAccount { provider, cluster, name }
    };
    needed.footprints().filter(uses).map(account).collect()
}

/// The HostedClusters that changes are about: those that changed, those of an infraID that a cluster came to have or
/// ceased to have. Those of a cluster that was connected are added by the caller: it knows which connection they have.
pub fn changed_guests(changes: &ChangeSet, view: View<'_>) -> BTreeSet<HostedBy> {
    let mut changed = BTreeSet::new();
    for change in changes.iter() {
        let Change::Collection { id, what, values } = change else { continue };
        if id.resource != HOSTED_CLUSTERS && id.resource != INFRASTRUCTURES {
            continue;
        }
        for (id, key, _) in values.iter().flat_map(|infra_id| view.indexed::<HostedClusterLink>(infra_id)) {
            changed.extend(hosted_by(&id.cluster, key));
        }
        match what {
            What::Keys(keys) if id.resource == HOSTED_CLUSTERS => {
                changed.extend(keys.iter().filter_map(|key| hosted_by(&id.cluster, key)));
            }
            What::Everything if id.resource == HOSTED_CLUSTERS => changed.extend(guests_of(&id.cluster, view)),
            What::Keys(_) | What::Everything => {}
        }
    }
    changed
}

/// Every HostedCluster of a management cluster, and of every guest that was one.
pub fn guests_of(management: &ClusterName, view: View<'_>) -> BTreeSet<HostedBy> {
    let reading = view.read::<HostedClusterLink>(&hosted_clusters(management).id);
    let listed = reading.iter().filter_map(|(key, _)| hosted_by(management, key));
    let known = view.guests_of(management).filter_map(|guest| view.cluster(guest)?.hosted_by.clone());
    listed.chain(known).collect()
}

fn hosted_by(management: &ClusterName, key: &Key) -> Option<HostedBy> {
    let namespace = key.namespace.clone()?;
    Some(HostedBy { cluster: management.clone(), namespace, name: key.name.clone() })
}

/// What a guest is, as far as its HostedCluster tells. Every HostedCluster is a guest, whether or not it can be reached
/// yet: one that cannot is shown as such, because a guest that is not listed looks like a guest without findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuestState {
    Listed(HostedClusterLink),
    /// In the fleet already, under the name of a context that leads to it.
    HasContext,
    /// Its HostedCluster is proven to be gone.
    Gone,
    NotSeen,
}

pub fn guest_state(view: View<'_>, hosted_by: &HostedBy) -> GuestState {
    let HostedBy { cluster, namespace, name } = hosted_by;
    let key = Key { namespace: Some(namespace.clone()), name: name.clone() };
    let reading = view.read::<HostedClusterLink>(&hosted_clusters(cluster).id);
    let sighting = reading.get(&key);
    if sighting.is_proven_absent() {
        return GuestState::Gone;
    }
    match sighting.present() {
        Some(link) if has_context(view, link) => GuestState::HasContext,
        Some(link) if view.cluster(cluster).is_some_and(may_host) => GuestState::Listed(link.clone()),
        Some(_) | None => GuestState::NotSeen,
    }
}

/// Whether a context of the kubeconfig leads to a guest.
fn has_context(view: View<'_>, link: &HostedClusterLink) -> bool {
    let marks = if link.infra_id.is_empty() { Vec::new() } else { view.indexed::<GuestMark>(&link.infra_id) };
    marks.into_iter().any(|(id, _, _)| view.cluster(&id.cluster).is_some_and(may_be_guest))
}

fn guest_mark(cluster: &ClusterName) -> Interest {
    CollectionId::all(cluster, INFRASTRUCTURES).interest::<GuestMark>()
}

fn may_be_guest(cluster: &Cluster) -> bool {
    matches!(cluster.source, ClusterSource::Kubeconfig { .. }) && !cluster.served.lacks(&INFRASTRUCTURES)
}

fn templates(cluster: &ClusterName, footprint: &Footprint) -> Interest {
    CollectionId::all(cluster, footprint.template).interest::<MachineTemplate>()
}

/// Only where complete discovery has the kind: most clusters do not serve it.
fn may_have_templates(cluster: &Cluster, footprint: &Footprint) -> bool {
    let is_live = match cluster.source {
        ClusterSource::Kubeconfig { .. } => true,
        ClusterSource::Hosted { .. } | ClusterSource::Snapshot | ClusterSource::Cloud { .. } | ClusterSource::Local => {
            false
        }
    };
    is_live && matches!(cluster.served, Served::Complete(_)) && !cluster.served.lacks(&footprint.template)
}

fn hosted_clusters(cluster: &ClusterName) -> Interest {
    CollectionId::all(cluster, HOSTED_CLUSTERS).interest::<HostedClusterLink>()
}

/// Guests host no guests, and a snapshot is read once: its guests are folders, too.
pub fn may_host(cluster: &Cluster) -> bool {
    let reachable = match cluster.source {
        ClusterSource::Kubeconfig { .. } => true,
        ClusterSource::Hosted { .. } | ClusterSource::Snapshot | ClusterSource::Cloud { .. } | ClusterSource::Local => {
            false
        }
    };
    reachable && cluster.hosted_by.is_none() && !cluster.served.lacks(&HOSTED_CLUSTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::guest_names::GuestNames;
    use trueup_core::decode::Digester;
    use trueup_core::decode::{DataSort, Reader};
    use trueup_core::world::{
        ClusterIdentity, Delta, Gap, GapCause, Link, Namespace, ObjectName, ResourceVersion, RiskClass, World,
    };

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

    /// The guests of the fleet, all found together.
    fn guests(view: View<'_>) -> Vec<Guest> {
        let mut names = GuestNames::default();
        let all = view.clusters().flat_map(|cluster| guests_of(&cluster.name, view));
        let listed = |by: HostedBy| match guest_state(view, &by) {
            GuestState::Listed(link) => Some((by, link)),
            GuestState::HasContext | GuestState::Gone | GuestState::NotSeen => None,
        };
        let found: Vec<(HostedBy, HostedClusterLink)> = all.filter_map(listed).collect();
        found.iter().for_each(|(by, _)| names.insert(by));
        let guest = |(by, link)| Guest { name: names.name(&by, view), hosted_by: by, link };
        found.into_iter().map(guest).collect()
    }

    /// Lists these HostedClusters in a management cluster.
    fn list(world: &mut World, management: &str, objects: &[&str]) {
        feed(world, &hosted_clusters(&ClusterName::new(management)), objects);
    }

    fn feed(world: &mut World, interest: &Interest, objects: &[&str]) {
        let digester = Digester::new(&[0; 32]);
        let sort = DataSort::Other;
        let kind = interest.id.resource.kind;
        let reader = Reader { digester: &digester, sort, digested: &[], reduced: &[], api_version: "", kind };
        let mut facts = interest.fact.new_batch();
        for object in objects {
            facts.push(&reader.object(object).unwrap(), &mut Interner::default()).unwrap();
        }
        world.open(interest);
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

    fn everything() -> Needed {
        Needed { guests: GuestUse::Read, providers: BTreeSet::from([Provider::Aws, Provider::Ibm]) }
    }

    #[test]
    fn only_what_a_check_needs_is_asked_of_a_cluster() {
        let mut world = World::default();
        world.put_cluster(cluster("m1", None));
        let (read, not_read) = (GuestUse::Read, GuestUse::NotRead);
        let aws: BTreeSet<Provider> = footprints().map(|footprint| footprint.provider).collect();
        let cases = [
            ("everything", everything(), vec!["hostedclusters", "infrastructures"]),
            ("guests", Needed { guests: read, providers: BTreeSet::new() }, vec!["hostedclusters", "infrastructures"]),
            ("machines", Needed { guests: not_read, providers: aws }, vec!["infrastructures"]),
            ("accounts of the configuration", Needed { guests: not_read, providers: [Provider::Ibm].into() }, vec![]),
            ("nothing", Needed { guests: not_read, providers: BTreeSet::new() }, vec![]),
        ];
        for (case, needed, expected) in cases {
            let view = world.view(jiff::Timestamp::UNIX_EPOCH);
            let wanted = interests_of(view.cluster(&ClusterName::new("m1")).unwrap(), &needed);
            let plurals: Vec<&str> = wanted.iter().map(|interest| interest.id.resource.plural).collect();
            assert_eq!(plurals, expected, "case: {case}");
        }
    }

    #[test]
    fn a_guest_that_a_context_leads_to_is_not_connected_to_twice() {
        let object = r#"{"metadata":{"name":"a","namespace":"clusters"},"spec":{"infraID":"a-x1"},"status":{"kubeconfig":{"name":"k"}}}"#;
        let infrastructure = |topology: &str, name: &str| {
            format!(
                r#"{{"metadata":{{"name":"cluster"}},"status":{{"controlPlaneTopology":"{topology}","infrastructureName":"{name}"}}}}"#
            )
        };
        let cases = [
            ("the same infraID", infrastructure("External", "a-x1"), 0),
            ("another infraID", infrastructure("External", "b-x1"), 1),
            ("its control plane is its own", infrastructure("HighlyAvailable", "a-x1"), 1),
        ];
        for (case, infrastructure, expected) in cases {
            let mut world = World::default();
            world.put_cluster(cluster("m1", None));
            world.put_cluster(cluster("my-context", None));
            list(&mut world, "m1", &[object]);
            feed(&mut world, &guest_mark(&ClusterName::new("my-context")), &[&infrastructure]);
            let view = world.view(jiff::Timestamp::UNIX_EPOCH);
            assert_eq!(guests(view).len(), expected, "case: {case}");
            let has_context = guest_state(view, &by("m1", "a")) == GuestState::HasContext;
            assert_eq!(has_context, expected == 0, "case: {case}");
        }
    }

    #[test]
    fn a_cluster_has_an_account_where_its_machines_run() {
        let platform = |kind: &str| {
            format!(r#"{{"metadata":{{"name":"cluster"}},"status":{{"platformStatus":{{"type":"{kind}"}}}}}}"#)
        };
        let template = r#"{"metadata":{"name":"t","namespace":"n"}}"#;
        let cases: [(&str, String, &[&str], &[&str]); 4] = [
            ("Infrastructure says so", platform("AWS"), &[], &["aws:a"]),
            ("another platform", platform("Azure"), &[], &[]),
            ("another platform, with machines there", platform("None"), &[template], &["aws:a"]),
            ("nothing is said", r#"{"metadata":{"name":"cluster"}}"#.to_owned(), &[], &[]),
        ];
        for (case, infrastructure, objects, expected) in cases {
            let mut world = World::default();
            let pair = |resource: &Resource| (resource.group.to_owned(), resource.plural.to_owned());
            let footprint = footprints().find(|footprint| footprint.provider == Provider::Aws).unwrap();
            let served = Served::Complete([&INFRASTRUCTURES, &footprint.template].map(pair).into_iter().collect());
            world.put_cluster(Cluster { served, ..cluster("a", None) });
            feed(&mut world, &guest_mark(&ClusterName::new("a")), &[&infrastructure]);
            feed(&mut world, &templates(&ClusterName::new("a"), &footprint), objects);
            let view = world.view(jiff::Timestamp::UNIX_EPOCH);
            let accounts = accounts_of(view.cluster(&ClusterName::new("a")).unwrap(), view, &everything());
            let names: Vec<&str> = accounts.iter().map(|account| account.name.as_str()).collect();
            assert_eq!(names, expected, "case: {case}");
        }
    }

    #[test]
    fn every_hosted_cluster_is_a_guest_whether_or_not_it_has_a_kubeconfig_yet() {
        let mut world = World::default();
        world.put_cluster(cluster("m1", None));
        let cases = [
            ("no status", r#"{"metadata":{"name":"a","namespace":"n"}}"#, None),
            ("no name", r#"{"metadata":{"name":"a","namespace":"n"},"status":{"kubeconfig":{}}}"#, None),
            ("named", r#"{"metadata":{"name":"a","namespace":"n"},"status":{"kubeconfig":{"name":"k"}}}"#, Some("k")),
        ];
        for (case, object, secret) in cases {
            list(&mut world, "m1", &[object]);
            let guests = guests(world.view(jiff::Timestamp::UNIX_EPOCH));
            let secrets: Vec<Option<&str>> =
                guests.iter().map(|guest| guest.link.kubeconfig_secret.as_deref()).collect();
            assert_eq!(secrets, [secret], "case: {case}");
        }
        let view = world.view(jiff::Timestamp::UNIX_EPOCH);
        let gone = |by: HostedBy| guest_state(view, &by) == GuestState::Gone;
        assert!(gone(by("m1", "b")) && !gone(by("m2", "b")), "gone needs a complete list");
    }
}
