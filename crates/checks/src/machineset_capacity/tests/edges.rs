//! Edge cases by their number in the reference (`docs/facts/irsa-machineset.md` section 15, counted from the start), and the
//! tests that hold them. Those no other test names are here.
//!
//! | number | case | test |
//! | --- | --- | --- |
//! | 1 | set-but-empty variables | `rules::half_a_pair_of_variables_is_an_error_before_any_other_source`, `annotator::logins_are_judged_by_the_pods_that_the_config_names`, `cloud::aws::tests::finding::credentials_are_looked_for_in_a_fixed_order` |
//! | 2 | relative token path | `cloud::aws::tests::tokens::an_unusable_token_path_is_reported_with_its_remedy` |
//! | 3 | token file a link that is swapped | `cloud::aws::tests::tokens::a_token_is_read_again_for_each_exchange_over_the_link_the_kubelet_swaps` |
//! | 4 | token with a line break, or something behind it | `cloud::aws::tests::tokens::a_file_without_a_token_is_reported_and_nothing_is_sent` |
//! | 5 | role of another partition than the region | `upstream::a_role_of_another_partition_is_shown_beside_the_region`, `cloud::aws::tests::tokens::a_role_of_another_partition_is_refused_before_anything_is_sent` |
//! | 6 | session name longer than 64 | `cloud::aws::tests::tokens::a_session_name_is_made_fit` |
//! | 7 | Secret in another namespace | `rules::a_secret_is_there_and_holds_a_login_or_is_said_not_to` |
//! | 8 | Secret deleted in between | `edge_8_a_secret_that_is_deleted_is_missed_and_one_that_comes_back_is_read_again` |
//! | 9 | ini with CRLF, tabs, another profile | `facts::login::tests::the_default_profile_of_a_shared_file_says_what_sort_of_login_it_is`, `cloud::aws::tests::finding::a_secret_is_keys_a_web_identity_or_of_no_use` |
//! | 10 | Infrastructure absent or forbidden | `rules::machines_of_another_cloud_are_not_judged`, `fleet::account::tests::a_failed_lookup_is_reported_by_class_and_never_as_an_empty_list` |
//! | 11, 12, 13 | endpoints twice, with a path, over http | `cloud::aws::tests::finding::endpoints_are_the_clusters_then_the_environments_then_awss`, `cloud::aws::tests::finding::an_endpoint_that_cannot_be_used_is_an_error_and_no_detour` |
//! | 14 | CA bundle that is empty | `fleet::account::tests::an_empty_bundle_is_none` |
//! | 15 | region empty | `rules::a_type_and_a_region_are_needed` |
//! | 16 | type newer than what is known | `cloud::aws::tests::caching::a_miss_is_asked_for_once_and_then_waits`, `live::tests::accounts::a_type_that_comes_up_later_is_asked_for_alone` |
//! | 17 | type offered, and not in this region | `edge_17_a_type_that_another_region_offers_is_not_offered_here` |
//! | 18 | annotation that is not a number | `annotations::values_are_compared_and_not_spellings` |
//! | 19 | somebody else's annotation | `upstream::foreign_annotations_are_neither_judged_nor_touched` |
//! | 20 | copies of both APIs | `cluster_api::copies_of_both_apis_are_judged_each_by_its_own_rules` |
//! | 21 | paused between read and write | `edge_21_a_set_that_is_paused_meanwhile_is_another_than_was_judged`, `machinesets::machine_sets_are_annotated_and_undone_while_their_status_changes` on a real API server |
//! | 22 | two writers of the labels | `edge_22_of_two_writers_of_the_labels_the_second_is_not_overwritten` |
//!
//! Bad input beyond that list: a CA bundle that is not PEM and a region nobody has
//! (`fleet::account::tests`, `cloud::aws::tests::caching::an_unknown_region_is_distinguished_from_a_network_failure`), XML
//! bombs (`cloud::aws::tests::failing`), a whole catalogue in one answer (`tests/real/moto`), Azure's specs (`rules`).

use serde_json::json;

use super::*;

#[test]
fn edge_8_a_secret_that_is_deleted_is_missed_and_one_that_comes_back_is_read_again() {
    let there =
        given().environment(json!({})).secret(json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" }));
    let gone = there.clone().without("Secret", "aws-cloud-credentials");
    let recreated = gone.clone().secret(json!({})).set("Secret", "aws-cloud-credentials", "metadata.uid", json!("s-2"));
    let mut world = World::default();
    for (step, given, expected) in [
        ("there", &there, "match"),
        ("deleted", &gone, "secret-missing"),
        ("recreated and empty", &recreated, "secret-invalid"),
    ] {
        given.fill(&mut world);
        assert_eq!(Judged::<Given>::new(&given.check(), &world, now()).about(WORKERS), expected, "step: {step}");
    }
}

#[test]
fn edge_17_a_type_that_another_region_offers_is_not_offered_here() {
    let elsewhere = json!({
        "apiVersion": "aws.cloud.trueup/v1", "kind": "InstanceType",
        "metadata": { "namespace": "eu-west-1", "name": "p5.48xlarge" },
        "type": { "name": "p5.48xlarge", "vcpu": 192, "memory_mib": 2_097_152, "architectures": ["x86_64"] },
    });
    let given = given().live_account().object_in("aws:shop", elsewhere).provider("instanceType", json!("p5.48xlarge"));
    assert_eq!(given.about(WORKERS), "instance-type-unknown");
    let there = given.provider("placement.region", json!("eu-west-1"));
    assert_eq!(there.about(WORKERS), "drift → annotate selected differs");
}

/// An action goes through only while the digest of what was judged is what it was.
fn digest(given: &Given) -> String {
    let judged = given.judged();
    let answer = judged.find(WORKERS).unwrap();
    answer.explanation.remedy[0].judged.as_ref().unwrap().digest.clone()
}

fn digest_of_object(given: &Given) -> String {
    let object = &given.fleet.members["shop"].objects.iter().find(|object| object["kind"] == "MachineSet").unwrap();
    trueup_core::engine::judged_digest(object, super::super::facts::MACHINE_FIELDS)
}

#[test]
fn edge_21_a_set_that_is_paused_meanwhile_is_another_than_was_judged() {
    let before = given().bare();
    assert_eq!(digest(&before), digest_of_object(&before), "what is read again is compared with what was judged");
    for (case, after) in [
        ("annotation", before.clone().with(json!({ "cluster.x-k8s.io/paused": "" }))),
        ("spec", before.clone().workers("spec.paused", json!(true))),
        (
            "condition",
            before.clone().workers("status", json!({ "conditions": [{ "type": "Paused", "status": "True" }] })),
        ),
        ("another API", before.clone().workers("status", json!({ "authoritativeAPI": "Migrating" }))),
        ("deleted", before.clone().workers("metadata.deletionTimestamp", json!("2026-11-16T10:00:00Z"))),
    ] {
        assert_ne!(digest_of_object(&after), digest(&before), "case: {case}");
    }
}

#[test]
fn edge_22_of_two_writers_of_the_labels_the_second_is_not_overwritten() {
    let labels = "capacity.cluster-autoscaler.kubernetes.io/labels";
    let before = given().with(json!({ labels: "team=a,kubernetes.io/arch=arm64" }));
    assert_eq!(before.change(WORKERS)["set"][labels], "kubernetes.io/arch=amd64,team=a", "others' labels are kept");
    let meanwhile = before.clone().with(json!({ labels: "team=b,kubernetes.io/arch=arm64" }));
    assert_ne!(digest_of_object(&meanwhile), digest(&before));
}

/// Files written by hand leave it out; the object is there all the same.
#[test]
fn a_set_without_a_namespace_is_judged_and_named_as_the_contract_says() {
    let loose = |given: Given, kind: &str| {
        let mut given = given;
        let objects = &mut given.shop().objects;
        for object in objects.iter_mut().filter(|object| object["kind"] != "Secret") {
            object["metadata"].as_object_mut().unwrap().remove("namespace");
        }
        assert!(objects.iter().any(|object| object["kind"] == kind));
        given
    };
    let login = json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" });
    for (case, given, subject, expected) in [
        ("of the Machine API", loose(given(), "MachineSet"), "MachineSet/_/workers", "match"),
        (
            "without annotations",
            loose(given().bare(), "MachineSet"),
            "MachineSet/_/workers",
            "missing → annotate selected missing",
        ),
        ("of Cluster API", loose(deployed(), "MachineDeployment"), "MachineDeployment/_/pool", "match"),
        (
            "whose Secret is in an unknown place",
            loose(given().environment(json!({})).secret(login), "MachineSet"),
            "MachineSet/_/workers",
            "unknown",
        ),
    ] {
        assert_eq!(given.about(subject), expected, "case: {case}");
    }
}
