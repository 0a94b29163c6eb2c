//! Adoption is not ownership: what was there before the cluster, or what others have marked, is never ticked.

use serde_json::json;

use super::*;

const VPC: &str = "vpc/vpc@clusters/demo";
const TAG: &str = "tag selected not-tagged +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo";
const OFFER: &str = "tag offered not-tagged +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo";
const TAKE: &str = "tag offered take-over +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo";
const BEFORE: &str = "2026-10-31T23:49:59Z";

fn bare(given: Given) -> Given {
    given.tags::<&str>("vpc", &[])
}

fn restored(given: Given) -> Given {
    given.set("metadata.labels", json!({ "velero.io/restore-name": "r1" }))
}

#[test]
fn what_the_newer_shape_creates_is_tagged_unless_it_was_there_before() {
    let installer = "kubernetes.io-cluster-other-x:owned";
    let with = |given: Given, tags: &[&str]| given.tags("vpc", tags);
    let marks =
        Settings { owner_tags: vec![trueup_core::world::Glob::parse("costcenter:*").unwrap()], ..Settings::default() };
    let moved = bare(newer()).tags("ws", &[owner("demo"), uuid(DEAD)]).of("vpc", "created_at", json!(BEFORE));
    each(
        VPC,
        [
            ("made after the cluster", bare(newer()), &format!("untagged → {TAG}")),
            (
                "ten minutes before",
                bare(newer()).of("vpc", "created_at", json!("2026-10-31T23:50:00Z")),
                &format!("untagged → {TAG}"),
            ),
            (
                "more than ten minutes before",
                bare(newer()).of("vpc", "created_at", json!(BEFORE)),
                &format!("adopted created-before → {TAKE}"),
            ),
            (
                "before, and the object was restored",
                restored(bare(newer())).of("vpc", "created_at", json!(BEFORE)),
                &format!("untagged moved → {OFFER}"),
            ),
            ("before, and the object was moved", moved.clone(), &format!("untagged moved → {OFFER}")),
            ("before, and whether it was moved is not known", moved.clusters_cut_short(), "unknown fleet-incomplete"),
            (
                "its creation is not known",
                bare(newer()).of("vpc", "created_at", json!(null)),
                &format!("untagged creation-unknown → {OFFER}"),
            ),
            (
                "the cluster's creation is not known",
                bare(newer()).set("metadata.creationTimestamp", json!(null)),
                &format!("untagged creation-unknown → {OFFER}"),
            ),
            (
                "an installer's mark",
                with(newer(), &[installer]),
                &format!("adopted owner-mark → {TAKE} blocked:ownership"),
            ),
            (
                "a mark of the settings",
                with(newer(), &["costcenter:7"]).settings(marks.clone()),
                &format!("adopted owner-mark → {TAKE} blocked:ownership"),
            ),
            ("tags of others", with(newer(), &["team:a"]), &format!("untagged tagged-by-others → {OFFER}")),
            (
                "the user's own tag",
                with(newer(), &["team:a"]).set("spec.tags", json!([{ "key": "team", "value": "a" }])),
                &format!("untagged → {TAG}"),
            ),
            (
                "a remembered tag",
                with(newer(), &["team:a"]).annotate("trueup/attached-tags", r#"{"vpc":["team:a"]}"#),
                &format!("untagged → {TAG}"),
            ),
            (
                "adopted, and the cluster goes",
                bare(newer()).of("vpc", "created_at", json!(BEFORE)).going(),
                "adopted created-before",
            ),
            (
                "the older shape's flag is believed",
                bare(older()).of("vpc", "created_at", json!(BEFORE)),
                &format!("untagged → {TAG}"),
            ),
        ],
    );
}

#[test]
fn an_adopted_resource_says_when_the_provider_would_delete_it() {
    let evidence = bare(newer()).of("vpc", "created_at", json!(BEFORE)).judged();
    let lines = &evidence.find(VPC).unwrap().explanation.evidence;
    assert!(lines.iter().any(|line| line.message.contains("deletes this resource with the cluster")), "{lines:?}");
}

#[test]
fn a_half_tagged_resource_of_doubtful_origin_is_not_ticked() {
    let half = |given: Given| given.tags("vpc", &[owner("demo")]);
    each(
        VPC,
        [
            ("made after the cluster", half(newer()), &*format!("half-tagged → {TAG}")),
            (
                "made before",
                half(newer()).of("vpc", "created_at", json!(BEFORE)),
                &format!("half-tagged created-before → {OFFER}"),
            ),
            (
                "the uid alone is no doubt",
                newer().tags("vpc", &[uuid(UID)]).of("vpc", "created_at", json!(BEFORE)),
                &format!("half-tagged → {TAG}"),
            ),
            ("the older shape", half(older()).of("vpc", "created_at", json!(BEFORE)), &format!("half-tagged → {TAG}")),
        ],
    );
}

#[test]
fn a_network_is_as_old_as_its_workspace_is_ours() {
    let network = "network/net@clusters/demo";
    let untagged = || newer().tags::<&str>("net", &[]).of("net", "created_at", json!(BEFORE));
    let old = untagged().tags::<&str>("ws", &[]).of("ws", "created_at", json!(BEFORE));
    each(
        network,
        [
            ("in our workspace", untagged(), &*format!("untagged → {TAG}")),
            ("in one that is about to be", untagged().tags::<&str>("ws", &[]), &format!("untagged → {TAG}")),
            ("in one that was there before", old, &format!("untagged creation-unknown → {OFFER}")),
        ],
    );
}

#[test]
fn an_older_object_that_found_a_resource_by_its_default_name_adopted_it() {
    let plain = |given: Given| bare(given).set("status.vpc", json!({ "id": "vpc" }));
    each(
        VPC,
        [
            ("by a default name", plain(older()), &*format!("adopted adopted-by-name → {TAKE}")),
            ("by a default name, restored", restored(plain(older())), &format!("untagged moved → {OFFER}")),
            (
                "by the name the spec gives",
                plain(older()).set("spec.vpc.name", json!("demo-vpc")),
                "foreign adopted-by-name",
            ),
        ],
    );
}

#[test]
fn a_name_that_others_have_is_an_error_before_the_provider_adopts_it() {
    let by_name = |given: Given| bare(given).set("status.vpc", json!(null));
    let before = |given: Given| by_name(given).of("vpc", "created_at", json!(BEFORE));
    each(
        VPC,
        [
            ("made after the cluster", by_name(newer()), "foreign not-held-yet"),
            ("made before", before(newer()), "name-taken created-before"),
            ("made before, moved", restored(before(newer())), "foreign moved"),
            (
                "its creation is not known",
                by_name(newer()).of("vpc", "created_at", json!(null)),
                "name-taken creation-unknown",
            ),
            (
                "marked by an installer",
                by_name(newer()).tags("vpc", &["kubernetes.io-cluster-a:shared"]),
                "name-taken owner-mark",
            ),
            ("infrastructure is not managed", before(newer()).set("spec.topology", json!("VirtualIP")), "foreign"),
            ("the cluster goes", before(newer()).going(), "foreign"),
            ("the older spec gives the name", before(older()).set("spec.vpc.name", json!("demo-vpc")), "foreign"),
            ("the older shape, a default name", before(older()), "name-taken created-before"),
        ],
    );
}

#[test]
fn a_connection_that_was_there_before_is_adopted_too() {
    let foreign = newer().set("spec.transitGateway.type", json!("Reference")).tags::<&str>("tg", &[]);
    let tag = "on tg +~tgconn:11111111-1111-1111-1111-111111111111.vpc";
    each(
        "tg-connection/con-v@clusters/demo",
        [
            ("made after the cluster", foreign.clone(), &*format!("untagged → tag selected not-tagged {tag}")),
            (
                "made before",
                foreign.of("con-v", "created_at", json!(BEFORE)),
                &format!("adopted created-before → tag offered take-over {tag}"),
            ),
        ],
    );
}
