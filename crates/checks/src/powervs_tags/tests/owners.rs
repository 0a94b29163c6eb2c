//! The rules, one after another, about a VPC unless only another kind can say it.

use serde_json::json;

use super::*;

const VPC: &str = "vpc/vpc@clusters/demo";

#[test]
fn the_dull_fleets_are_owned_throughout() {
    for given in [older(), newer()] {
        let all = given.judged().short();
        assert_eq!(all.len(), 11, "{all:#?}");
        assert!(all.iter().all(|line| line.ends_with("@clusters/demo: owned")), "{all:#?}");
    }
}

#[test]
fn what_is_on_its_way_out_is_said_before_whose_it_is() {
    let cases = [
        ("pending_reclamation", "reclaiming"),
        ("deleting", "deleting"),
        ("delete_pending", "deleting"),
        ("detaching", "deleting"),
        ("pending_removal", "deleting"),
        ("available", "owned"),
        ("failed", "owned"),
        ("update_pending", "owned"),
        ("something new", "owned"),
    ];
    for (state, expected) in cases {
        assert_eq!(newer().of("vpc", "state", json!(state)).about(VPC), expected, "{state}");
    }
}

#[test]
fn an_id_of_the_status_that_a_complete_listing_lacks_is_gone() {
    each(
        VPC,
        [
            ("listed completely", newer().lacks("vpc"), "gone"),
            ("cut short", newer().lacks("vpc").cut_short(), "unknown"),
            ("of the older shape", older().lacks("vpc"), "gone"),
        ],
    );
    // A user's id that is not there is nobody's resource to judge.
    let given = newer().lacks("vpc").set("spec.vpc", json!({ "type": "Reference", "reference": { "id": "vpc" } }));
    assert_eq!(given.set("status.vpc", json!(null)).about(VPC), "no subject");
}

#[test]
fn two_different_uids_are_two_owners() {
    each(
        VPC,
        [
            ("ours and an unknown one", newer().tags("vpc", &[owner("demo"), uuid(UID), uuid(DEAD)]), "two-owners"),
            ("two unknown ones", newer().tags("vpc", &[uuid(DEAD), uuid(OTHER)]), "two-owners"),
            (
                "the same twice, in capitals",
                newer().tags("vpc", &[owner("demo"), uuid(UID), uuid(UID).to_uppercase()]),
                "owned",
            ),
            (
                "before it is somebody else's making",
                newer().set("spec.vpc.type", json!("Reference")).tags("vpc", &[uuid(DEAD), uuid(OTHER)]),
                "two-owners",
            ),
        ],
    );
}

#[test]
fn what_the_spec_says_is_the_users_is_a_reference() {
    let untagged = |given: Given| given.tags::<&str>("vpc", &[]);
    let given_by_id = |created: serde_json::Value| {
        untagged(older())
            .set("spec.vpc", json!({ "id": "vpc" }))
            .set("status.vpc", json!({ "id": "vpc", "controllerCreated": created }))
    };
    each(
        VPC,
        [
            ("type Reference", untagged(newer().set("spec.vpc.type", json!("Reference"))), "reference"),
            ("Reference with our tags", newer().set("spec.vpc.type", json!("Reference")), "reference tagged-reference"),
            (
                "Reference with our name alone",
                newer().set("spec.vpc.type", json!("Reference")).tags("vpc", &[owner("demo")]),
                "reference tagged-reference",
            ),
            (
                "Reference with another's tags",
                newer().set("spec.vpc.type", json!("Reference")).tags("vpc", &dead()),
                "reference",
            ),
            (
                "Reference by name, before there is a status",
                untagged(newer())
                    .set("spec.vpc", json!({ "type": "Reference", "reference": { "name": "demo-vpc" } }))
                    .set("status.vpc", json!(null)),
                "reference",
            ),
            ("given by id", given_by_id(json!(false)), "reference"),
            ("given by id, no flag", given_by_id(json!(null)), "reference"),
            (
                "given by id and yet made by the controller",
                given_by_id(json!(true)),
                "untagged → tag selected not-tagged +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo",
            ),
            (
                "given by id, and the controller made another",
                given_by_id(json!(true)).set("status.vpc.id", json!("vpc-2")),
                "reference",
            ),
        ],
    );
    let workspace =
        || older().set("status.serviceInstance", json!({ "id": "ws" })).set("spec.serviceInstanceID", json!("ws"));
    each(
        "workspace/ws@clusters/demo",
        [
            ("the older of two fields", workspace().tags::<&str>("ws", &[]), "reference"),
            (
                "beside a name in the newer one",
                workspace().set("spec.serviceInstance", json!({ "name": "x" })).tags::<&str>("ws", &[]),
                "reference",
            ),
            (
                "empty, as its schema wants it",
                workspace().set("spec.serviceInstanceID", json!("")).tags::<&str>("ws", &[]),
                "adopted adopted-by-name → tag offered take-over \
                 +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo",
            ),
        ],
    );
}

#[test]
fn a_locked_resource_is_locked_only_when_it_would_have_to_go() {
    let locked = || newer().of("ws", "locked", json!(true));
    each(
        "workspace/ws@clusters/demo",
        [
            ("a cluster that stays", locked(), "owned"),
            ("a cluster that goes", locked().going(), "locked"),
            ("one that goes and is paused", locked().going().annotate("cluster.x-k8s.io/paused", ""), "owned"),
        ],
    );
}

#[test]
fn tags_of_another_owner_are_judged_by_whether_that_owner_exists() {
    let other = older_cluster("other", OTHER);
    let living = |given: Given| {
        let mut other = other.clone();
        other["status"] = json!({});
        given.cluster_object(other)
    };
    let by_name = |given: Given| given.set("status.vpc", json!(null));
    each(
        VPC,
        [
            ("the uid of a living cluster", living(newer()).tags("vpc", &[owner("other"), uuid(OTHER)]), "other-owner"),
            ("a living uid under our name", living(newer()).tags("vpc", &[owner("demo"), uuid(OTHER)]), "other-owner"),
            ("another name and no uid", newer().tags("vpc", &[owner("other")]), "other-owner"),
            ("our uid under another name", newer().tags("vpc", &[owner("other"), uuid(UID)]), "other-owner"),
            ("a dead uid, and we hold the id", newer().tags("vpc", &dead()), "other-owner"),
            (
                "a dead uid under our name",
                newer().tags("vpc", &[owner("demo"), uuid(DEAD)]),
                "stale-owner → re-own offered moved +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo \
                 -~cluster-uuid:99999999-9999-9999-9999-999999999999",
            ),
            (
                "a dead uid under our name, by name alone",
                by_name(newer()).tags("vpc", &[owner("demo"), uuid(DEAD)]),
                "stale-owner name-taken",
            ),
            (
                "a dead uid, by name alone",
                by_name(newer()).tags("vpc", &dead()),
                "orphan → delete offered no-owner blocked:dependency",
            ),
            (
                "a dead uid, the fleet not known",
                newer().tags("vpc", &dead()).clusters_cut_short(),
                "unknown fleet-incomplete",
            ),
            (
                "a living uid, the fleet not known",
                living(newer()).tags("vpc", &[owner("other"), uuid(OTHER)]).clusters_cut_short(),
                "other-owner",
            ),
            ("no uid, the fleet not known", newer().tags("vpc", &[owner("other")]).clusters_cut_short(), "other-owner"),
        ],
    );
}

#[test]
fn one_tag_of_two_is_half_tagged_and_completed_only_where_the_status_holds_the_id() {
    let tag = "half-tagged → tag selected not-tagged +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo";
    let by_name = newer().set("status.vpc", json!(null));
    each(
        VPC,
        [
            ("the name", newer().tags("vpc", &[owner("demo")]), tag),
            ("the uid", newer().tags("vpc", &[uuid(UID)]), tag),
            ("the name, by name alone", by_name.clone().tags("vpc", &[owner("demo")]), "half-tagged"),
            ("the name, while it goes", newer().going().tags("vpc", &[owner("demo")]), "half-tagged"),
        ],
    );
}

#[test]
fn without_tags_it_counts_whether_it_was_ours_to_create() {
    let untagged = |given: Given| given.tags::<&str>("vpc", &[]);
    let tag = "untagged → tag selected not-tagged +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo";
    let adopted = "adopted adopted-by-name → tag offered take-over \
                   +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo";
    let plain = |given: Given| given.set("status.vpc", json!({ "id": "vpc" }));
    each(
        VPC,
        [
            ("the older shape's flag", untagged(older()), tag),
            ("the newer shape's type", untagged(newer()), tag),
            ("the newer shape, and the spec lists none", untagged(newer()).set("spec.vpc", json!(null)), tag),
            ("the older shape without the flag", plain(untagged(older())), adopted),
            (
                "the flag is false",
                untagged(older()).set("status.vpc", json!({ "id": "vpc", "controllerCreated": false })),
                adopted,
            ),
            (
                "found by its given name",
                plain(untagged(older())).set("spec.vpc.name", json!("demo-vpc")),
                "foreign adopted-by-name",
            ),
            ("matched by name alone", untagged(older()).set("status.vpc", json!(null)), "foreign not-held-yet"),
            ("not while it goes", untagged(newer()).going(), "untagged"),
        ],
    );
}

#[test]
fn a_subnet_that_a_list_of_others_does_not_name_is_no_making_of_ours() {
    let subnet = "subnet/sub@clusters/demo";
    let given = || newer().tags::<&str>("sub", &[]);
    let listed = |names: serde_json::Value| given().set("spec.subnets", names);
    let tag = "untagged → tag selected not-tagged +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo";
    each(
        subnet,
        [
            ("none is listed", given(), tag),
            (
                "it is listed by its name",
                listed(json!([{ "type": "Provision", "provision": { "name": "demo-subnet-us-south-1" } }])),
                tag,
            ),
            ("it is listed by its zone", listed(json!([{ "type": "Provision", "zone": "us-south-1" }])), tag),
            (
                "it is listed as the user's",
                listed(json!([{ "type": "Reference", "reference": { "id": "sub" } }])),
                "reference",
            ),
            (
                "another is listed",
                listed(json!([{ "type": "Provision", "provision": { "name": "x" } }])),
                "foreign adopted-by-name",
            ),
        ],
    );
}

#[test]
fn a_connection_is_judged_by_its_gateway_and_by_where_it_leads() {
    let foreign = |given: Given| given.set("spec.transitGateway.type", json!("Reference")).tags::<&str>("tg", &[]);
    let tagged = |given: Given, side: &str| given.tags("tg", &[connects(UID, side)]);
    let tag = "untagged → tag selected not-tagged on tg +~tgconn:11111111-1111-1111-1111-111111111111.vpc";
    let elsewhere = |given: Given| given.of("con-v", "network_id", json!(crn("vpc", "vpc-of-others")));
    each(
        "tg-connection/con-v@clusters/demo",
        [
            ("on our gateway", newer(), "owned"),
            ("on another's, with our tag", tagged(foreign(newer()), "vpc"), "owned"),
            ("on another's, with our tag of the other side", tagged(foreign(newer()), "powervs"), tag),
            ("on another's, without a tag", foreign(newer()), tag),
            ("leading elsewhere on our gateway", elsewhere(newer()), "foreign"),
            (
                "leading elsewhere on another's gateway with our tag",
                tagged(elsewhere(foreign(newer())), "vpc"),
                "foreign",
            ),
            ("leading elsewhere on another's gateway", elsewhere(foreign(newer())), tag),
            ("on our gateway, which is not tagged yet", newer().tags::<&str>("tg", &[]), "untagged"),
            (
                "on a gateway whose owner is gone",
                newer().tags("tg", &[owner("demo"), uuid(DEAD)]),
                "untagged moved → tag offered not-tagged on tg +~tgconn:11111111-1111-1111-1111-111111111111.vpc",
            ),
            (
                "on a gateway whose owner is gone, with our tag",
                newer().tags("tg", &[owner("demo"), uuid(DEAD), connects(UID, "vpc")]),
                "owned",
            ),
            ("on a gateway nobody listed", newer().lacks("tg"), "foreign"),
            ("of another type", newer().of("con-v", "network_type", json!("classic")), "foreign"),
            (
                "the user's, on another's gateway",
                foreign(newer()).set("spec.transitGateway.vpcConnection.type", json!("Reference")),
                "foreign",
            ),
            (
                "called controllerCreated",
                older().set("spec.transitGateway", json!({ "id": "tg" })).tags::<&str>("tg", &[]),
                "owned",
            ),
            (
                "without that word",
                older()
                    .set("spec.transitGateway", json!({ "id": "tg" }))
                    .set("status.transitGateway.vpcConnection", json!({ "id": "con-v" }))
                    .tags::<&str>("tg", &[]),
                "foreign",
            ),
            ("controllerCreated, of another type", older().of("con-v", "network_type", json!("classic")), "foreign"),
            (
                "controllerCreated, and where it leads is not said",
                older().of("con-v", "network_id", json!(null)),
                "owned",
            ),
            ("not while it goes", foreign(newer()).going(), "untagged"),
            ("to a VPC that only its tags prove ours", newer().set("status.vpc", json!(null)), "owned"),
            (
                "to a VPC that only has the name",
                newer().set("status.vpc", json!(null)).tags::<&str>("vpc", &[]),
                "foreign",
            ),
            (
                "on a gateway of who knows whose account",
                newer().of("tg", "crn", json!(crn("transit-gateway", "tg").replace("a/acc", "a/another"))),
                "unknown account-mismatch",
            ),
        ],
    );
}

#[test]
fn a_dhcp_server_has_the_verdict_of_its_network_else_of_its_workspace() {
    let dhcp = "dhcp-server/dhcp@clusters/demo";
    let reference = |given: Given| given.set("spec.network.type", json!("Reference"));
    each(
        dhcp,
        [
            ("its network is ours", newer(), "owned"),
            ("its network is not tagged", newer().tags::<&str>("net", &[]), "untagged"),
            ("its network is the user's", reference(newer()), "reference"),
            ("its network is another's", newer().tags("net", &[owner("other")]), "other-owner"),
            ("no network is said", newer().of("dhcp", "network", json!(null)), "owned"),
            (
                "no network is said, the workspace is untagged",
                newer().of("dhcp", "network", json!(null)).tags::<&str>("ws", &[]),
                "untagged",
            ),
            (
                "its network is not listed",
                newer().of("dhcp", "network", json!("x")).tags::<&str>("ws", &[]),
                "untagged",
            ),
            (
                "its network is not listed, in half an account",
                newer().of("dhcp", "network", json!("x")).cut_short(),
                "unknown",
            ),
            ("itself on its way out", newer().of("dhcp", "state", json!("deleting")), "deleting"),
            (
                "its network is a dead owner's, and its own id is held",
                newer().set("status.network", json!({ "dhcpServer": { "id": "dhcp" } })).tags("net", &dead()),
                "other-owner",
            ),
        ],
    );
}

#[test]
fn an_account_that_does_not_fit_leaves_everything_open() {
    let elsewhere = crn("vpc", "vpc").replace("a/acc", "a/another");
    assert_eq!(newer().of("vpc", "crn", json!(elsewhere)).about(VPC), "unknown account-mismatch");
    let orphan = newer().has(resource("vpc", "stray")).tags("stray", &dead()).of("stray", "crn", json!(elsewhere));
    assert_eq!(orphan.about("vpc/stray@-"), "unknown account-mismatch");
    let torn = newer()
        .account("second", "acc2")
        .has_in("second", json!({ "kind": "cos-instance", "id": "cos", "tags": [] }))
        .lacks("cos");
    let all = torn.judged().short();
    assert!(all.iter().all(|line| line.ends_with("unknown account-mismatch")), "{all:#?}");
    assert!(all.contains(&"ibm:acc2/cos-instance/cos@clusters/demo: unknown account-mismatch".to_owned()), "{all:#?}");
}

#[test]
fn what_two_clusters_call_their_own_is_tagged_for_neither_and_deleted_for_neither() {
    let given = newer().cluster_object(newer_cluster("other", OTHER)).tags::<&str>("vpc", &[]);
    for name in ["demo", "other"] {
        let answer = given.about(&format!("vpc/vpc@clusters/{name}"));
        assert!(answer.starts_with("untagged → tag selected") && answer.ends_with("blocked:ownership"), "{answer}");
    }
    let one_goes = older().cluster_object(older_cluster("other", OTHER)).tags::<&str>("cos", &[]).going();
    assert_eq!(one_goes.about("cos-instance/cos@clusters/demo"), "in-use", "nor taken from the other");
}

#[test]
fn a_connection_whose_end_was_not_seen_is_unknown_in_half_an_account() {
    each(
        "tg-connection/con-v@clusters/demo",
        [
            ("its gateway was not seen", newer().lacks("tg").cut_short(), "unknown"),
            ("its VPC was not seen", newer().lacks("vpc").cut_short(), "unknown"),
            ("both were", newer().cut_short(), "owned"),
        ],
    );
}
