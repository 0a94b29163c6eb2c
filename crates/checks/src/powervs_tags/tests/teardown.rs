//! A cluster that is being deleted: what goes, in which order, and what keeps it.

use serde_json::{Value, json};

use super::*;

const ORDER: [&str; 9] = ["con-p", "con-v", "tg", "lb", "sg", "sub", "vpc", "ws", "cos"];

fn capi_cluster(paused: bool) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
        "metadata": { "namespace": "clusters", "name": "demo", "uid": "c" }, "spec": { "paused": paused }
    })
}

#[test]
fn everything_goes_in_the_order_the_provider_takes() {
    for given in [older(), newer()] {
        let judged = given.going().judged();
        assert_eq!(judged.in_order(), ORDER);
        for id in ["network/net", "dhcp-server/dhcp"] {
            assert_eq!(judged.about(&format!("{id}@clusters/demo")), "owned", "it goes with its workspace");
        }
        let deletes =
            judged.short().into_iter().filter(|line| line.ends_with("owned → delete selected cluster-deleted"));
        assert_eq!(deletes.count(), 9);
    }
}

/// Edge case 35.
#[test]
fn what_the_provider_would_not_do_is_not_done_or_is_blocked() {
    let vpc = "vpc/vpc@clusters/demo";
    let delete = "owned → delete selected cluster-deleted";
    let blocked = "owned → delete selected cluster-deleted blocked:infra-not-managed";
    each(
        vpc,
        [
            ("it stays", newer(), "owned"),
            ("it goes", newer().going(), delete),
            ("its Cluster is there", newer().going().cluster_object(capi_cluster(false)), delete),
            ("its Cluster is paused", newer().going().cluster_object(capi_cluster(true)), "owned"),
            ("itself is paused", newer().going().annotate("cluster.x-k8s.io/paused", ""), "owned"),
            ("it has no owner", newer().going().set("metadata.ownerReferences", json!([])), "owned"),
            (
                "its owner is no Cluster",
                newer().going().set(
                    "metadata.ownerReferences",
                    json!([{ "apiVersion": "v1", "kind": "Cluster", "name": "demo", "uid": "c" }]),
                ),
                "owned",
            ),
            ("VirtualIP", newer().going().set("spec.topology", json!("VirtualIP")), blocked),
            ("no annotation", older().going().set("metadata.annotations", json!({})), blocked),
            (
                "the annotation in the newer shape",
                newer()
                    .going()
                    .set("spec.topology", json!("VirtualIP"))
                    .annotate("powervs.cluster.x-k8s.io/create-infra", "true"),
                delete,
            ),
        ],
    );
}

/// Edge case 34: the union rule, for objects of the older shape alone.
#[test]
fn what_was_made_before_there_were_tags_goes_by_the_older_flag_alone() {
    let vpc = "vpc/vpc@clusters/demo";
    let untagged = |given: Given| given.going().tags::<&str>("vpc", &[]);
    each(
        vpc,
        [
            ("the flag, no tags", untagged(older()), "untagged → delete selected cluster-deleted"),
            (
                "the flag, one tag",
                older().going().tags("vpc", &[uuid(UID)]),
                "half-tagged → delete selected cluster-deleted",
            ),
            ("no flag", untagged(older()).set("status.vpc", json!({ "id": "vpc" })), "adopted adopted-by-name"),
            ("the newer shape", untagged(newer()), "untagged"),
            (
                "the newer shape with the older flag",
                untagged(newer()).set("status.vpc", json!({ "id": "vpc", "controllerCreated": true })),
                "untagged",
            ),
            ("another's tags beside the flag", older().going().tags("vpc", &dead()), "other-owner"),
        ],
    );
    let two_proofs = untagged(older()).judged().find(vpc).unwrap().explanation.remedy[0].ownership.clone();
    assert_eq!(two_proofs.len(), 2, "{two_proofs:?}");
}

/// Edge cases 15, 17, 20: what is not ours keeps what holds it; what is leaving is waited for.
#[test]
fn a_holder_of_foreign_things_stays_and_names_them() {
    let held = |kind: &str, parent: &str| {
        let mut one = resource(kind, "theirs");
        (one["parent"], one["name"]) = (json!(parent), json!("theirs-1"));
        one
    };
    let delete = "owned → delete selected cluster-deleted";
    let blocked = "owned → delete selected cluster-deleted blocked:dependency";
    let cases = [
        ("a subnet in our VPC", "vpc/vpc", held("subnet", "vpc"), blocked),
        ("a group in our VPC", "vpc/vpc", held("security-group", "vpc"), blocked),
        ("a network in our workspace", "workspace/ws", held("network", "ws"), blocked),
        (
            "a connection on our gateway",
            "transit-gateway/tg",
            connection("theirs", "tg", "vpc", &crn("vpc", "x")),
            blocked,
        ),
        ("a subnet in another VPC", "vpc/vpc", held("subnet", "another"), delete),
    ];
    for (case, holder, foreign, expected) in cases {
        let given = newer().going().has(foreign);
        assert_eq!(given.about(&format!("{holder}@clusters/demo")), expected, "case: {case}");
        let leaving = given.of("theirs", "state", json!("deleting"));
        assert_eq!(leaving.about(&format!("{holder}@clusters/demo")), delete, "case: {case}, on its way out");
    }
    let judged = newer().going().has(held("subnet", "vpc")).judged();
    let why = &judged.find("vpc/vpc@clusters/demo").unwrap().explanation.remedy[0].blocked_by[0].why;
    assert!(why.contains("subnet theirs-1 (theirs)"), "{why}");
}

#[test]
fn unblocked_deletes_proceed_without_blocked_ones() {
    let given = newer().going().has(connection("theirs", "tg", "vpc", &crn("vpc", "x")));
    let judged = given.judged();
    assert_eq!(judged.about("load-balancer/lb@clusters/demo"), "owned → delete selected cluster-deleted");
    let waits_for = |id: &str| -> Vec<String> {
        let drafts = &judged.find(id).unwrap().explanation.remedy;
        drafts[0].depends_on.iter().map(|before| before.finding.name.clone()).collect()
    };
    assert_eq!(waits_for("load-balancer/lb@clusters/demo"), ["con-v"], "not for the gateway, which stays");
    assert_eq!(waits_for("transit-gateway/tg@clusters/demo"), ["con-p", "con-v"]);
}

#[test]
fn a_subnet_that_would_stay_keeps_its_vpc() {
    let given = newer().going().tags::<&str>("sub", &[]);
    assert_eq!(given.about("subnet/sub@clusters/demo"), "untagged");
    assert_eq!(given.about("vpc/vpc@clusters/demo"), "owned → delete selected cluster-deleted blocked:dependency");
}

/// Edge case 18: the workspace stays, the network goes after the server that serves it.
#[test]
fn in_a_workspace_of_others_our_network_goes_after_its_server() {
    let given = newer().going().set("spec.workspace.type", json!("Reference")).tags::<&str>("ws", &[]);
    let judged = given.judged();
    assert_eq!(judged.in_order(), ["con-p", "con-v", "tg", "lb", "sg", "sub", "vpc", "dhcp", "net", "cos"]);
    assert_eq!(judged.about("workspace/ws@clusters/demo"), "reference");
    let unnamed = given.set("status.network.dhcpServer", json!(null));
    assert_eq!(
        unnamed.about("dhcp-server/dhcp@clusters/demo"),
        "owned → delete selected cluster-deleted",
        "it is found by the network it serves"
    );
}

/// Edge case 14: of a gateway that isn't ours go our connections, then our tags; the gateway stays.
#[test]
fn a_gateway_of_others_loses_our_connections_and_then_our_tags() {
    let both = [connects(UID, "vpc"), connects(UID, "powervs"), connects(OTHER, "vpc")];
    let reference = newer().going().set("spec.transitGateway.type", json!("Reference")).tags("tg", &both);
    let judged = reference.judged();
    assert_eq!(
        judged.about("transit-gateway/tg@clusters/demo"),
        "reference → untag selected cluster-deleted -~tgconn:11111111-1111-1111-1111-111111111111.powervs \
         -~tgconn:11111111-1111-1111-1111-111111111111.vpc"
    );
    let after: Vec<&str> = judged.find("transit-gateway/tg@clusters/demo").unwrap().explanation.remedy[0]
        .depends_on
        .iter()
        .map(|before| before.finding.name.as_str())
        .collect();
    assert_eq!(after, ["con-p", "con-v"]);
    assert_eq!(judged.about("tg-connection/con-v@clusters/demo"), "owned → delete selected cluster-deleted");
    let adopted = older().going().set("status.transitGateway.controllerCreated", json!(false)).tags("tg", &both);
    assert_eq!(adopted.about("transit-gateway/tg@clusters/demo"), "adopted adopted-by-name");
    assert_eq!(
        adopted.about("tg-connection/con-v@clusters/demo"),
        "owned → delete selected cluster-deleted; untag selected cluster-deleted on tg \
         -~tgconn:11111111-1111-1111-1111-111111111111.vpc"
    );
}

#[test]
fn a_reference_loses_what_we_attached_and_nothing_of_others() {
    let reference = || newer().going().set("spec.vpc.type", json!("Reference"));
    let tags = |more: &[String]| {
        reference().tags("vpc", more).annotate("trueup/attached-tags", r#"{"vpc":["env:prod"],"ws":["team:a"]}"#)
    };
    let env = "env:prod".to_owned();
    each(
        "vpc/vpc@clusters/demo",
        [
            ("nothing of ours", tags(&["team:a".to_owned()]), "reference"),
            (
                "a user tag",
                tags(&[env.clone(), "team:a".to_owned()]),
                "reference → untag selected cluster-deleted -env:prod",
            ),
            (
                "our marks",
                tags(&ours()),
                "reference tagged-reference → untag selected cluster-deleted \
                 -~cluster-uuid:11111111-1111-1111-1111-111111111111 -~owner:demo",
            ),
            (
                "our name under another's uid",
                tags(&[owner("demo"), uuid(OTHER), env]),
                "reference tagged-reference → untag selected cluster-deleted -env:prod",
            ),
        ],
    );
}

#[test]
fn orphans_are_offered_and_wait_for_their_content() {
    let orphan = |kind: &str, id: &str, parent: &str| {
        let mut one = resource(kind, id);
        (one["tags"], one["parent"], one["name"]) = (json!(dead()), json!(parent), json!(format!("old-{id}")));
        one
    };
    let living = || {
        let mut cluster = newer_cluster("demo", UID);
        cluster["status"] = json!({});
        empty().cluster_object(cluster)
    };
    let given = living().has(orphan("vpc", "v", "")).has(orphan("subnet", "s", "v"));
    let judged = given.judged();
    assert_eq!(
        judged.short(),
        ["subnet/s@-: orphan → delete offered no-owner", "vpc/v@-: orphan → delete offered no-owner"]
    );
    assert_eq!(judged.in_order(), ["s", "v"]);
    let mixed = given.clone().has(resource("subnet", "theirs")).of("theirs", "parent", json!("v"));
    assert_eq!(mixed.about("vpc/v@-"), "orphan → delete offered no-owner blocked:dependency");
    let locked = living().has(orphan("workspace", "w", "")).of("w", "locked", json!(true));
    assert_eq!(locked.about("workspace/w@-"), "orphan → delete offered no-owner blocked:immutable");
}

#[test]
fn a_fleet_without_a_single_cluster_makes_no_orphan_deletable() {
    let orphan = |given: Given| given.has(resource("vpc", "v")).tags("v", &dead()).about("vpc/v@-");
    assert_eq!(orphan(empty()), "orphan → delete offered no-owner blocked:empty-set");
    let mut nobody = empty();
    nobody.fleet.members.remove("mgmt");
    assert_eq!(orphan(nobody), "unknown fleet-incomplete", "no cluster was asked");
}

/// The step of each resource that has one, by id.
fn steps(given: &Given) -> Vec<(String, String)> {
    let step = |answer: &crate::testing::Answer| {
        let crate::Cell::Text(text) = &answer.cells[0] else { return None };
        Some((answer.subject.name.clone(), text.to_string()))
    };
    given.judged().answers.values().filter_map(step).collect()
}

#[test]
fn the_list_numbers_the_steps_of_a_teardown_and_says_what_blocks_one() {
    let of = |given: &Given, id: &str| {
        steps(given).into_iter().find(|(name, _)| name == id).map_or_else(String::new, |(_, step)| step)
    };
    let going = newer().going();
    assert!(steps(&newer()).is_empty(), "no step without a teardown");
    for (id, expected) in [("con-p", "1"), ("con-v", "2, after 1"), ("net", "with 8"), ("dhcp", "with 8")] {
        assert_eq!(of(&going, id), expected, "{id}");
    }
    assert!(of(&going, "vpc").starts_with("7, after "), "{}", of(&going, "vpc"));
    assert_eq!(of(&going.tags::<&str>("sg", &[]), "sg"), "blocks 6 (vpc)", "nothing proves that it is the cluster's");
}

#[test]
fn a_locked_instance_names_the_command_that_unlocks_it() {
    let judged = newer().going().of("ws", "locked", json!(true)).judged();
    let answer = judged.find("workspace/ws@clusters/demo").unwrap();
    let advice = answer.explanation.evidence.iter().find(|line| line.is_advice()).unwrap();
    let command = "unlock it, then plan again: ibmcloud resource service-instance-unlock ";
    assert!(advice.message.starts_with(command), "{}", advice.message);
}
