//! Work per change, counted and not timed: the same in every fleet.

use serde_json::json;

use super::super::touched;
use super::*;
use trueup_core::engine::SubjectId;
use trueup_core::world::{
    Change, ChangeSet, ClusterIdentity, ClusterName, ClusterSource, CollectionId, Gap, GapCause, Key, Kinds, Link,
    Served, Standing, What,
};

/// So many management clusters, each with a cluster of its own, and the user's own files with a context for each.
fn fleet(contexts: usize) -> Given {
    let mut given = empty();
    given.fleet.add("local", ClusterSource::Local);
    for name in names(contexts) {
        let config = config().server(&format!("https://{name}.example"));
        let place = secret("team-a", &format!("{name}-eks-connection"));
        let objects = [
            capi_cluster("team-a", &name),
            place.key("cluster_endpoint", &format!("https://{name}.example")).0,
            source(&name, &config).0,
            target("team-a", &name, &config).0,
        ];
        given = objects.into_iter().fold(given.cluster(&name), |given, object| given.object_in(&name, object));
        let own = json!({
            "apiVersion": "local.trueup/v1", "kind": "Context",
            "metadata": { "name": name, "annotations": { "local.trueup/file": "config" } }
        });
        given = given.object_in("local", own);
    }
    given
}

fn names(contexts: usize) -> impl Iterator<Item = String> {
    (0..contexts).map(|number| format!("m{number}"))
}

/// The clusters and subjects that one change of `m3` touches in a fleet of this size.
fn touched(contexts: usize, change: &dyn Fn(&World) -> Change) -> (Vec<String>, Vec<String>) {
    let mut world = World::default();
    fleet(contexts).fill(&mut world);
    let changes: ChangeSet = [change(&world)].into_iter().collect();
    let touched = touched::find(&changes, world.view(now()));
    let subjects = touched.subjects.iter().map(SubjectId::to_string).collect();
    (touched.clusters.iter().map(ToString::to_string).collect(), subjects)
}

#[test]
fn one_change_of_a_cluster_touches_the_same_owners_in_every_fleet() {
    let m3 = || ClusterName::new("m3");
    let anchor = |_: &World| {
        let id = CollectionId::namespaced(&m3(), super::super::names::SECRET, "team-a").metadata();
        let keys = vec![Key::new(Some("team-a"), "m3-eks-connection")];
        Change::Collection { id, what: What::Keys(keys), values: Vec::new() }
    };
    let cluster = |world: &World| {
        let id = super::super::names::CLUSTER.collection_at(&m3(), world.view(now()));
        let moved = ["https://m5.example:443".into()];
        Change::Collection { id, what: What::Keys(vec![Key::new(Some("team-a"), "m3")]), values: moved.into() }
    };
    let own = || "kubeconfig/local/Context/_/m3".to_owned();
    let elsewhere = || "kubeconfig/m5/Secret/team-a/m5-kubeconfig".to_owned();
    type MakeChange<'a> = &'a dyn Fn(&World) -> Change;
    let cases: [(&str, MakeChange<'_>, Vec<&str>, Vec<String>); 4] = [
        ("link", &|_| Change::Link { cluster: m3(), standing: Standing::Changed }, vec![], vec![own()]),
        ("cluster", &|_| Change::Cluster(m3()), vec!["m3"], vec![own()]),
        ("where it is", &anchor, vec!["m3"], vec!["kubeconfig/m3/Secret/team-a/m3-eks-connection".to_owned()]),
        ("it moved to where another one is", &cluster, vec!["m3"], vec![elsewhere()]),
    ];
    for (case, change, clusters, subjects) in cases {
        for contexts in [10, 100, 1_000] {
            let found = touched(contexts, change);
            assert_eq!(found.0, clusters, "case: {case}, {contexts} clusters");
            assert_eq!(found.1, subjects, "case: {case}, {contexts} clusters");
        }
    }
}

#[test]
fn a_link_that_changes_is_no_change_of_its_cluster() {
    let mut world = World::default();
    let cluster = |link, served| {
        let identity = ClusterIdentity { kube_system_uid: "u".into(), ca_sha256: "c".into(), account: String::new() };
        let source = ClusterSource::Kubeconfig { context: "m".into() };
        let (name, class) = (ClusterName::new("m"), trueup_core::world::RiskClass::Dev);
        trueup_core::world::Cluster { name, class, source, hosted_by: None, link, identity, served }
    };
    let unknown = || Served::Unknown(Gap::new(GapCause::NotObserved, "not asked"));
    let whole = || Served::Complete(Kinds::default());
    let refused = || Link::Failed { gap: Gap::new(GapCause::Unreachable, "connection refused") };
    let link = |standing| vec![Change::Link { cluster: ClusterName::new("m"), standing }];
    let steps = [
        ("it is new", cluster(Link::Idle, unknown()), vec![Change::Cluster(ClusterName::new("m"))]),
        ("nothing changed", cluster(Link::Idle, unknown()), vec![]),
        ("it is not read yet, as before", cluster(Link::Connecting, unknown()), link(Standing::Same)),
        (
            "it is connected",
            cluster(Link::Listing { objects: 0 }, whole()),
            vec![Change::Cluster(ClusterName::new("m"))],
        ),
        ("it counts as read, as before", cluster(Link::Live { since: now() }, whole()), link(Standing::Same)),
        ("it does not count as read", cluster(refused(), whole()), link(Standing::Changed)),
    ];
    for (step, cluster, expected) in steps {
        let changes: Vec<Change> = world.put_cluster(cluster).iter().cloned().collect();
        assert_eq!(changes, expected, "step: {step}");
    }
}
