//! Who hosts whom: guests known by the fleet file, by their topology, and the names HyperShift gives.

use serde_json::json;

use super::*;

#[test]
fn a_guest_known_by_topology_belongs_to_the_hosted_cluster_with_its_infra_id() {
    let marked = || given().has(secret("s").oidc());
    let second = |infra: &str| {
        let mut other = hosted_cluster("clusters", "guest-z");
        other["spec"]["infraID"] = json!(infra);
        other
    };
    let cases = [
        ("matched", marked().known_by_topology("guest-a", "guest-a-infra"), CERTAIN),
        (
            "matched among others",
            marked().known_by_topology("guest-a", "guest-a-infra").object("mgmt", second("z")),
            CERTAIN,
        ),
        ("no match", marked().known_by_topology("guest-a", "other"), INCOMPLETE),
        ("no id of its own", marked().known_by_topology("guest-a", ""), INCOMPLETE),
        (
            "neither has an id",
            marked().known_by_topology("guest-a", "").set("mgmt", "HostedCluster", "spec.infraID", json!("")),
            INCOMPLETE,
        ),
        (
            "ambiguous in one cluster",
            marked().known_by_topology("guest-a", "guest-a-infra").object("mgmt", second("guest-a-infra")),
            INCOMPLETE,
        ),
        (
            "ambiguous across clusters",
            marked()
                .known_by_topology("guest-a", "guest-a-infra")
                .cluster("mgmt-2")
                .object("mgmt-2", second("guest-a-infra")),
            INCOMPLETE,
        ),
        (
            "no management cluster at all",
            marked().known_by_topology("guest-a", "guest-a-infra").forget_cluster("mgmt"),
            INCOMPLETE,
        ),
        (
            "matched in a list cut short",
            marked()
                .known_by_topology("guest-a", "guest-a-infra")
                .incomplete("mgmt", "hypershift.openshift.io/v1beta1/hostedclusters"),
            INCOMPLETE,
        ),
    ];
    each("Secret/s", cases);
    let foreign = given().has(secret("s")).known_by_topology("guest-a", "other");
    assert_eq!(foreign.about("Secret/s"), "foreign", "what is no candidate stays foreign");
    let named = given().guest_authentication(oidc("", &[("console", "s")])).known_by_topology("guest-a", "other");
    assert_eq!(named.has(secret("s").oidc()).about("Secret/s"), "pending guest-still-refers");
}

#[test]
fn a_cluster_nobody_hosts_has_no_findings() {
    let mut own = config("Infrastructure");
    own["status"] = json!({ "controlPlaneTopology": "HighlyAvailable", "infrastructureName": "guest-a-infra" });
    let standalone = |given: super::Given| {
        given.cluster("alone").object("alone", secret("s").oidc().in_namespace("openshift-config"))
    };
    let cases = [
        ("own control plane", standalone(given()).object("alone", own)),
        ("topology not known", standalone(given())),
        ("no status", standalone(given()).object("alone", config("Infrastructure"))),
    ];
    for (case, given) in cases {
        assert_eq!(given.judged().objects(), Vec::<String>::new(), "case: {case}");
    }
}

#[test]
fn dots_in_the_hosted_clusters_name_become_dashes_in_the_namespace() {
    let given = given()
        .cluster("dotted")
        .hosted("dotted", "mgmt", "clusters", "guest.b")
        .object("mgmt", hosted_cluster("clusters", "guest.b"))
        .object("mgmt", {
            let mut plane = control_plane("clusters", "guest.b", "clusters-guest-b");
            plane["metadata"]["annotations"] = json!(null);
            plane["spec"]["configuration"]["authentication"] = oidc("", &[("console", "s")]);
            plane
        })
        .object("mgmt", secret("s").in_namespace("clusters-guest-b"))
        .object("dotted", secret("s").in_namespace("openshift-config"))
        .object("dotted", secret("t").oidc().in_namespace("openshift-config"));
    let judged = given.judged();
    assert_eq!(judged.about("dotted/Secret/openshift-config/s"), "referenced");
    assert_eq!(judged.about("dotted/Secret/openshift-config/t"), CERTAIN);
}

#[test]
fn a_control_plane_is_found_by_its_annotation_in_any_namespace() {
    let expecting = given()
        .authentication(oidc("", &[("console", "s")]))
        .set("mgmt", "HostedControlPlane", "metadata.namespace", json!("elsewhere"))
        .object("mgmt", secret("s").in_namespace("elsewhere"))
        .has(secret("s"));
    assert_eq!(expecting.about("Secret/s"), "referenced");
}

#[test]
fn a_control_plane_that_belongs_to_another_hosted_cluster_is_not_this_guests() {
    let key = "hypershift.openshift.io/cluster";
    let other =
        given().annotate("mgmt", "HostedControlPlane", key, "a/b").authentication(oidc("", &[("console", "s")]));
    assert_eq!(other.has(secret("s").oidc()).guest_authentication(json!({})).about("Secret/s"), "unknown");
}

#[test]
fn two_guests_of_one_management_cluster_do_not_mix() {
    let given = given()
        .authentication(oidc("", &[("console", "s")]))
        .source(secret("s"))
        .has(secret("s"))
        .cluster("guest-b")
        .hosted("guest-b", "mgmt", "clusters", "guest-b")
        .object("mgmt", hosted_cluster("clusters", "guest-b"))
        .object("mgmt", control_plane("clusters", "guest-b", "clusters-guest-b"))
        .object("guest-b", secret("s").oidc().in_namespace("openshift-config"))
        .object("guest-b", config_map("s").oidc().in_namespace("elsewhere"));
    let all = given.judged().objects();
    assert_eq!(
        all,
        ["guest-a/Secret/openshift-config/s: referenced", &format!("guest-b/Secret/openshift-config/s: {CERTAIN}")]
    );
}

#[test]
fn a_guest_that_is_known_under_two_names_is_judged_under_both() {
    let twin = given()
        .has(secret("s").oidc())
        .source(secret("s"))
        .cluster("a-context")
        .hosted("a-context", "mgmt", "clusters", "guest-a")
        .unreachable("a-context");
    let judged = twin.judged();
    assert_eq!(judged.about("Secret/s"), CERTAIN);
    assert_eq!(
        judged.about("mgmt/Secret/clusters-guest-a/s"),
        "leftover → delete offered no-referrer proofs=1",
        "what is known through either name counts"
    );
    assert_eq!(judged.about("a-context/Secret/openshift-config/*"), "unknown");
}
