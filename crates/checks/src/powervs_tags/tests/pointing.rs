//! Which resources a cluster points at: by id, else by a given name, else by the names the provider gives.

use serde_json::json;

use super::*;

/// A cluster that holds no id yet.
fn young(spec: serde_json::Value) -> Given {
    let mut cluster = older_cluster("demo", UID);
    (cluster["spec"], cluster["status"]) = (spec, json!({}));
    empty().cluster_object(cluster)
}

/// The resources `clusters/demo` points at, of these names.
fn pointed(given: Given, resources: &[(&str, &str)]) -> Vec<String> {
    let mut given = given;
    for (kind, name) in resources {
        let mut one = resource(kind, &format!("id-{name}"));
        one["name"] = json!(name);
        given = given.has(one);
    }
    let name = |answer: &Answer| answer.subject.name.trim_start_matches("id-").to_owned();
    given.judged().answers.values().filter(|answer| answer.subject.cloud.is_some()).map(name).collect()
}

#[test]
fn without_an_id_the_names_of_both_generations_are_looked_for() {
    let all = [
        ("workspace", "demo-serviceInstance"),
        ("workspace", "demo-workspace"),
        ("vpc", "demo-vpc"),
        ("vpc", "demo-vpc-2"),
        ("subnet", "demo-vpcsubnet-us-south-2"),
        ("subnet", "demo-subnet-us-south-3"),
        ("subnet", "demo-subnet-eu-de-1"),
        ("security-group", "demo-sg"),
        ("load-balancer", "demo-loadbalancer"),
        ("load-balancer", "demo-loadbalancer-public"),
        ("load-balancer", "demo-loadbalancer-private"),
        ("transit-gateway", "demo-transitgateway"),
        ("tg-connection", "demo-transitgateway-vpc-con"),
        ("tg-connection", "demo-transitgateway-pvs-con"),
        ("dhcp-server", "demo"),
        ("dhcp-server", "demo-dhcp"),
        ("network", "DHCPSERVERdemo_Private"),
        ("network", "DHCPSERVERdemo-dhcp_Private"),
        ("cos-instance", "demo-cosinstance"),
        ("cos-instance", "demo-cos"),
        ("vpc", "another"),
    ];
    let mut found = pointed(young(json!({ "vpc": { "region": "us-south" } })), &all);
    let mut expected: Vec<&str> = all.iter().map(|(_, name)| *name).collect();
    expected
        .retain(|name| !["demo-vpc-2", "demo-subnet-eu-de-1", "demo-loadbalancer-private", "another"].contains(name));
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn a_dhcp_server_has_no_name_and_is_found_by_that_of_its_network() {
    let server = |network: &str| {
        let given = young(json!({})).has(resource("network", "net")).of("net", "name", json!(network));
        given.has(json!({ "kind": "dhcp-server", "id": "dhcp", "state": "ACTIVE", "network": "net" }))
    };
    let cases = [
        ("of the older provider", "DHCPSERVERdemo_Private", "name-taken"),
        ("of the newer one", "DHCPSERVERdemo-dhcp_Private", "name-taken"),
        ("of somebody else", "DHCPSERVERtheirs_Private", "no subject"),
    ];
    for (case, network, expected) in cases {
        assert_eq!(server(network).about("dhcp-server/dhcp@clusters/demo"), expected, "case: {case}");
    }
}

#[test]
fn a_given_name_takes_the_place_of_the_usual_ones() {
    let names = [
        ("vpc", "demo-vpc"),
        ("vpc", "mine"),
        ("network", "DHCPSERVERd1_Private"),
        ("dhcp-server", "d1"),
        ("dhcp-server", "demo"),
    ];
    let cases = [
        (
            "older",
            json!({ "vpc": { "name": "mine" }, "dhcpServer": { "name": "d1" } }),
            vec!["mine", "DHCPSERVERd1_Private", "d1"],
        ),
        (
            "older, by the network's name",
            json!({ "vpc": { "name": "mine" }, "network": { "name": "d1" } }),
            vec!["mine", "DHCPSERVERd1_Private", "d1"],
        ),
        (
            "newer",
            json!({ "vpc": { "type": "Provision", "provision": { "name": "mine" } },
                "network": { "type": "Provision", "provision": { "dhcpServer": { "name": "d1" } } } }),
            vec!["mine", "DHCPSERVERd1_Private", "d1"],
        ),
    ];
    for (case, spec, mut expected) in cases {
        let mut found = pointed(young(spec), &names);
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "case: {case}");
    }
}

#[test]
fn entries_of_a_list_are_named_by_their_place() {
    let names = [
        ("subnet", "demo-vpcsubnet-0"),
        ("subnet", "demo-subnet-1"),
        ("subnet", "demo-subnet-2"),
        ("load-balancer", "demo-loadbalancer-0"),
        ("load-balancer", "demo-loadbalancer-private-1"),
        ("load-balancer", "demo-loadbalancer-public"),
    ];
    let spec = json!({
        "vpcSubnets": [{ "zone": "us-south-1" }, { "zone": "us-south-2" }],
        "loadBalancers": [{ "public": true }, { "public": false }]
    });
    let mut found = pointed(young(spec), &names);
    found.sort();
    let mut expected = vec![
        "demo-vpcsubnet-0",
        "demo-subnet-1",
        "demo-loadbalancer-0",
        "demo-loadbalancer-private-1",
        "demo-loadbalancer-public",
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn an_id_beats_a_name() {
    // Edge case 27: the id is gone, and somebody took the name.
    let given = newer().lacks("vpc").has(resource("vpc", "taken")).of("taken", "name", json!("demo-vpc"));
    let judged = given.judged();
    assert_eq!(judged.about("vpc/vpc@clusters/demo"), "gone");
    assert_eq!(judged.about("vpc/taken@clusters/demo"), "no subject");
}

#[test]
fn both_tags_of_a_living_cluster_are_that_cluster_pointing() {
    let stray =
        |tags: &[String]| newer().has(resource("vpc", "stray")).of("stray", "name", json!("x")).tags("stray", tags);
    assert_eq!(stray(&ours()).about("vpc/stray@clusters/demo"), "owned");
    assert_eq!(stray(&[uuid(UID)]).about("vpc/stray@-"), "other-owner", "one tag alone does not");
    assert_eq!(stray(&[owner("demo")]).about("vpc/stray@-"), "other-owner");
    assert_eq!(stray(&dead()).about("vpc/stray@-"), "orphan → delete offered no-owner");
    assert_eq!(stray(&["env:prod".to_owned()]).about("vpc/stray@-"), "no subject");
    assert_eq!(stray(&[connects(DEAD, "vpc")]).about("vpc/stray@-"), "foreign", "a connection tag says nothing of it");
}

#[test]
fn tags_in_an_account_the_clusters_ids_do_not_lie_in_are_not_its_pointing() {
    // Edge case 32: the same uid in the wrong account must not be touched.
    let mut twin = resource("vpc", "twin");
    (twin["tags"], twin["crn"]) = (json!(ours()), json!(crn("vpc", "twin").replace("a/acc", "a/acc2")));
    let given = newer().going().account("second", "acc2").has_in("second", twin);
    assert_eq!(given.about("ibm:acc2/vpc/twin@-"), "other-owner");
    assert!(given.about("vpc/vpc@clusters/demo").starts_with("owned → delete"));
}

#[test]
fn a_cluster_without_ids_looks_in_the_account_it_may_use_when_that_is_one() {
    let young = || newer().set("status", json!({})).account("second", "acc2");
    let cases = [
        ("nobody says which of two", young(), "no subject"),
        ("the other is used from elsewhere", young().used_from("second", "edge-*"), "owned"),
        ("both are said to be its", young().used_from("main", "mg*").used_from("second", "mgmt"), "no subject"),
        ("this one is used from elsewhere", young().used_from("main", "edge-*"), "no subject"),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.about("ibm:acc/vpc/vpc@clusters/demo"), expected, "case: {case}");
    }
    let ids = newer().account("second", "acc2").used_from("main", "edge-*");
    assert_eq!(ids.about("ibm:acc/vpc/vpc@-"), "other-owner", "ids count only where its objects may point");
}

#[test]
fn a_cluster_whose_ids_are_in_no_account_is_not_known() {
    let given = newer().account("second", "acc2");
    let nothing = ["ws", "net", "dhcp", "vpc", "sub", "sg", "lb", "tg", "con-v", "con-p", "cos"];
    let given = nothing.iter().fold(given, |given, id| given.lacks(id));
    assert_eq!(given.judged().short(), ["mgmt/IBMPowerVSCluster/clusters/demo: unknown"]);
    let mut alone = newer();
    alone.fleet.members.remove("ibm:main");
    assert_eq!(alone.judged().short(), ["mgmt/IBMPowerVSCluster/clusters/demo: unknown"]);
}

#[test]
fn a_crn_as_an_id_means_the_same_resource() {
    let given = newer().set("status.cosInstance.id", json!(crn("cos-instance", "cos")));
    assert_eq!(given.about("cos-instance/cos@clusters/demo"), "owned");
    assert_eq!(
        given.of("cos", "crn", json!(null)).about("cos-instance/cos@clusters/demo"),
        "owned",
        "listed without one"
    );
    let elsewhere = crn("cos-instance", "cos").replace("a/acc", "a/another");
    let given = newer().set("status.cosInstance.id", json!(elsewhere));
    assert_eq!(given.about("vpc/vpc@clusters/demo"), "unknown account-mismatch");
}

#[test]
fn what_is_not_known_as_a_whole_is_said_once() {
    let judged = newer().cut_short().clusters_cut_short().judged();
    assert_eq!(judged.about("Resource/*@-"), "unknown");
    assert_eq!(judged.about("mgmt/IBMPowerVSCluster/_/*"), "unknown");
    assert_eq!(judged.about("vpc/vpc@clusters/demo"), "owned");
}

#[test]
fn an_object_of_a_shape_nobody_knows_is_not_read_as_pointing_at_nothing() {
    let judged = newer().set("status.vpc", json!(["vpc"])).judged();
    assert_eq!(judged.about("mgmt/IBMPowerVSCluster/_/*"), "unknown");
    assert_eq!(judged.about("vpc/vpc@-"), "unknown fleet-incomplete", "its owner was not read");
}
