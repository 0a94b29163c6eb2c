//! What a living cluster uses is never deleted, whichever cluster is; and what is left of a cluster that goes.

use serde_json::json;

use super::*;

const VPC: &str = "vpc/vpc@clusters/demo";

/// A living cluster that only has this in its spec and status.
fn beside(spec: serde_json::Value, status: serde_json::Value) -> serde_json::Value {
    let mut other = newer_cluster("other", OTHER);
    (other["spec"], other["status"]) = (spec, status);
    other
}

#[test]
fn a_resource_that_a_living_cluster_uses_is_in_use() {
    let reference =
        |by: serde_json::Value| beside(json!({ "vpc": { "type": "Reference", "reference": by } }), json!({}));
    let going = |other: serde_json::Value| newer().going().cluster_object(other);
    let mut leaving = reference(json!({ "id": "vpc" }));
    leaving["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:59:00Z");
    let delete = "owned → delete selected cluster-deleted";
    each(
        VPC,
        [
            ("by id in its spec", going(reference(json!({ "id": "vpc" }))), "in-use"),
            ("by name in its spec", going(reference(json!({ "name": "demo-vpc" }))), "in-use"),
            ("by id in its status", going(beside(json!({}), json!({ "vpc": { "id": "vpc" } }))), "in-use"),
            (
                "by a name of the older shape",
                going(beside(json!({ "vpc": { "name": "demo-vpc" } }), json!({}))),
                "in-use",
            ),
            ("that one is being deleted too", going(leaving), delete),
            ("nothing is deleted", newer().cluster_object(reference(json!({ "id": "vpc" }))), "owned"),
            (
                "the older flag alone",
                older().going().tags::<&str>("vpc", &[]).cluster_object(reference(json!({ "id": "vpc" }))),
                "in-use",
            ),
        ],
    );
    let judged = going(reference(json!({ "id": "vpc" }))).judged();
    assert!(
        judged.about("subnet/sub@clusters/demo").starts_with("owned → delete"),
        "what is in it is judged on its own"
    );
    let lines = &judged.find(VPC).unwrap().explanation.evidence;
    assert!(lines.iter().any(|line| line.object == "mgmt IBMPowerVSCluster clusters/other"), "{lines:?}");
}

#[test]
fn networks_of_a_workspace_in_use_have_steps_of_their_own() {
    let other = beside(json!({ "workspace": { "type": "Reference", "reference": { "id": "ws" } } }), json!({}));
    let judged = newer().going().cluster_object(other).judged();
    assert_eq!(judged.about("workspace/ws@clusters/demo"), "in-use");
    for id in ["network/net", "dhcp-server/dhcp"] {
        assert_eq!(judged.about(&format!("{id}@clusters/demo")), "owned → delete selected cluster-deleted", "{id}");
    }
}

#[test]
fn a_connection_is_held_by_both_of_its_ends() {
    let theirs =
        |kind: &str, network_type: &str, id: &str| connection("theirs", "their-tg", network_type, &crn(kind, id));
    let delete = "owned → delete selected cluster-deleted";
    let cases = [
        ("to our VPC", "vpc/vpc", theirs("vpc", "vpc", "vpc")),
        ("to our workspace", "workspace/ws", theirs("workspace", "power_virtual_server", "ws")),
    ];
    for (case, end, connection) in cases {
        let given = newer().going().has(resource("transit-gateway", "their-tg")).has(connection);
        let id = format!("{end}@clusters/demo");
        assert_eq!(given.about(&id), format!("{delete} blocked:dependency"), "case: {case}");
        assert_eq!(given.of("theirs", "state", json!("deleting")).about(&id), delete, "case: {case}, on its way out");
    }
}

#[test]
fn gone_is_a_match_while_the_cluster_is_being_deleted() {
    let state = |given: Given| given.judged().find(VPC).unwrap().judgement.state.as_str();
    assert_eq!((state(newer().lacks("vpc")), state(newer().lacks("vpc").going())), ("error", "match"));
    let expected = |given: Given| given.judged().find(VPC).unwrap().explanation.expected.clone();
    assert_eq!(expected(newer().lacks("vpc")), json!({ "exists": true }));
    assert_eq!(expected(newer().lacks("vpc").going()), json!({ "exists": false }));
}

#[test]
fn when_nothing_is_left_only_the_finalizer_is_said() {
    let all = ["net", "dhcp", "vpc", "sub", "sg", "lb", "tg", "con-v", "con-p", "cos"];
    let finalizers = json!(["ibmpowervscluster.infrastructure.cluster.x-k8s.io"]);
    let nothing =
        || all.iter().fold(newer().going(), |given, id| given.lacks(id)).set("metadata.finalizers", finalizers.clone());
    let object = "mgmt/IBMPowerVSCluster/clusters/demo";
    each(
        object,
        [
            ("nothing is left", nothing().lacks("ws"), "finalizer-only"),
            (
                "the cloud keeps one for a while",
                nothing().of("ws", "state", json!("pending_reclamation")),
                "finalizer-only",
            ),
            ("one is left", nothing(), "no subject"),
            ("one is being deleted", nothing().of("ws", "state", json!("deleting")), "no subject"),
            ("the account is half read", nothing().lacks("ws").cut_short(), "no subject"),
            (
                "something carries both tags",
                nothing().lacks("ws").has(resource("vpc", "x")).tags("x", &ours()),
                "no subject",
            ),
            ("the status holds nothing", nothing().lacks("ws").set("status", json!({})), "no subject"),
        ],
    );
    let judged = nothing().lacks("ws").judged();
    let answer = judged.find(object).unwrap();
    assert!(answer.explanation.summary.contains("metadata.finalizers"), "{}", answer.explanation.summary);
    assert_eq!(answer.judgement.state.as_str(), "stale");
}

/// `expected` says what the verdict calls right, and nothing else.
#[test]
fn expected_follows_the_verdict() {
    let both = json!({ "cluster": "clusters/demo", "tags": [uuid(UID), owner("demo"), "team:a".to_owned()] });
    let user = |given: Given| given.set("spec.tags", json!([{ "key": "team", "value": "a" }]));
    let other = beside(json!({ "vpc": { "type": "Reference", "reference": { "id": "vpc" } } }), json!({}));
    let reference = || user(newer()).set("spec.vpc.type", json!("Reference"));
    let off = Settings { tag_references: false, ..Settings::default() };
    let none = json!({ "owner": "clusters/demo", "tags_of_this_cluster": [] });
    let absent = json!({ "exists": false });
    let cases = [
        ("owned", user(newer()), both.clone()),
        ("untagged", user(newer()).tags::<&str>("vpc", &[]), both.clone()),
        ("half-tagged", user(newer()).tags("vpc", &[owner("demo")]), both.clone()),
        ("stale-owner that the status holds", user(newer()).tags("vpc", &[owner("demo"), uuid(DEAD)]), both),
        ("reference", reference(), json!({ "tags": ["team:a"] })),
        ("reference, switched off", reference().settings(off), json!({ "tags": [] })),
        ("other-owner", newer().tags("vpc", &[owner("other")]), none.clone()),
        ("two-owners", newer().tags("vpc", &[uuid(DEAD), uuid(OTHER)]), none),
        ("owned, while the cluster goes", newer().going(), absent.clone()),
        ("in-use", newer().going().cluster_object(other), absent.clone()),
        ("locked", newer().going().of("vpc", "locked", json!(true)), absent),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.judged().find(VPC).unwrap().explanation.expected, expected, "case: {case}");
    }
}
