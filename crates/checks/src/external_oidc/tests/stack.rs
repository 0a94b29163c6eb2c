//! The OAuth stack, resource by resource and mode by mode; and the definition of RoleBindingRestrictions.

use serde_json::json;

use super::super::CrdRemoval;
use super::super::stack::{Fate, PARTS, Part, Turn};
use super::super::subjects::ResolvedSubject;
use super::*;
use trueup_core::world::ClusterName;

const LEFTOVER: &str = "leftover → delete selected oidc-available blocked:operator-owned";
const DEFINITION: &str = "CustomResourceDefinition/_/rolebindingrestrictions.authorization.openshift.io";

fn subject(part: &'static Part) -> String {
    let id = ResolvedSubject::Part(part).subject(&ClusterName::new("ocp")).to_string();
    id.strip_prefix("external-oidc/ocp/").unwrap().to_owned()
}

/// The new architecture, with OIDC available.
fn claims() -> Given {
    given().claims_gate().file("openshift-oauth-apiserver", "auth-config", "{}")
}

fn rolling_out() -> Given {
    given().nodes(&[(7, 0), (6, 7)])
}

#[test]
fn every_part_is_judged_by_mode_and_presence() {
    // Mode, its cluster, and the verdicts: present and absent for what goes, what is kept for claims, what is optional.
    type Verdicts = [(Fate, &'static str, &'static str); 3];
    let all = |present, absent| [Fate::Goes, Fate::KeptForClaims, Fate::Optional].map(|fate| (fate, present, absent));
    let modes: [(&str, Given, Verdicts); 6] = [
        ("OIDC available", given(), all("leftover", "match")),
        ("OIDC on its way", rolling_out(), all("match", "match")),
        ("availability not known", given().nodes(&[(0, 7)]), all("unknown", "unknown")),
        (
            "OAuth wanted",
            integrated(),
            [
                (Fate::Goes, "match", "missing"),
                (Fate::KeptForClaims, "match", "missing"),
                (Fate::Optional, "match", "match"),
            ],
        ),
        (
            "external claims",
            claims(),
            [
                (Fate::Goes, "leftover", "match"),
                (Fate::KeptForClaims, "match", "missing"),
                (Fate::Optional, "leftover", "match"),
            ],
        ),
        (
            "external claims, on its way",
            given().claims_gate(),
            [
                (Fate::Goes, "match", "match"),
                (Fate::KeptForClaims, "match", "missing"),
                (Fate::Optional, "match", "match"),
            ],
        ),
    ];
    for (mode, given, verdicts) in modes {
        let bare = PARTS.iter().fold(given, |given, part| match part.namespace {
            Some(namespace) => given.without_in(namespace, part.name),
            None => given.without(part.resource.kind, part.name),
        });
        let (with, without) = (bare.clone().with_parts().judged(), bare.judged());
        for part in &PARTS {
            let (_, present, absent) = verdicts.iter().find(|(fate, ..)| *fate == part.fate).unwrap();
            let id = subject(part);
            for (judged, expected) in [(&with, present), (&without, absent)] {
                assert_eq!(judged.find(&id).unwrap().judgement.verdict, *expected, "{mode}: {id}");
            }
        }
    }
}

#[test]
fn a_list_that_is_not_complete_condemns_nothing() {
    let part = "Secret/openshift-authentication/v4-0-config-system-session";
    let list = "v1/secrets@openshift-authentication";
    each(
        part,
        [
            ("complete", given().with_parts(), LEFTOVER),
            ("seen in a list that is not complete", given().with_parts().incomplete(list), "unknown"),
            ("not seen in a list that is not complete", given().incomplete(list), "unknown"),
            ("wanted and seen", integrated().incomplete(list), "match"),
            (
                "wanted and not seen",
                integrated().without("Secret", "v4-0-config-system-session").incomplete(list),
                "unknown",
            ),
            ("either way", rolling_out().incomplete(list), "match"),
        ],
    );
}

#[test]
fn what_upstream_keeps_is_no_subject() {
    let kept = given()
        .secret("openshift-authentication", "v4-0-config-system-router-certs", json!({}))
        .config_map("openshift-authentication", "audit", json!({}))
        .secret("openshift-oauth-apiserver", "openshift-authenticator-certs", json!({}))
        .object("v1", "Namespace", None, "openshift-etcd", json!({}));
    assert_eq!(kept.judged().answers.len(), given().judged().answers.len());
}

#[test]
fn the_table_is_the_one_of_the_facts() {
    let count = |fate| PARTS.iter().filter(|part| part.fate == fate).count();
    assert_eq!((count(Fate::Goes), count(Fate::KeptForClaims), count(Fate::Optional)), (19, 5, 1));
    assert_eq!(
        PARTS.iter().filter(|part| part.turn == Turn::ContextAccess).count(),
        3,
        "a route and two API registrations"
    );
    let mut ids: Vec<String> = PARTS.iter().map(subject).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), PARTS.len(), "no resource stands there twice");
}

#[test]
fn the_definition_of_restrictions_is_kept_until_oidc_is_there_and_nobody_has_any() {
    let offered = |mut given: Given| {
        given.settings.crd_removal = CrdRemoval::Offered;
        given
    };
    let list = "authorization.openshift.io/v1/rolebindingrestrictions";
    let definitions = "apiextensions.k8s.io/v1/customresourcedefinitions";
    let name = "rolebindingrestrictions.authorization.openshift.io";
    each(
        DEFINITION,
        [
            ("OAuth wanted", integrated(), "keep"),
            ("OAuth wanted, some exist", integrated().restriction("a", "b"), "keep"),
            ("OAuth wanted, list not complete", integrated().incomplete(list), "keep"),
            ("None wanted", given().spec(json!({ "type": "None" })), "keep"),
            ("OIDC on its way, none", rolling_out(), "keep"),
            ("OIDC on its way, some", rolling_out().restriction("a", "b"), "blocks-oidc"),
            ("OIDC there, some", given().restriction("a", "b"), "blocks-oidc"),
            ("OIDC there, none", given(), "removable"),
            ("OIDC there, handed over", given().managed(), "removable"),
            ("removal offered, not handed over", offered(given()), "removable"),
            ("both", offered(given().managed()), "removable → delete offered oidc-available"),
            ("OAuth wanted, no definition", integrated().without("CustomResourceDefinition", name), "missing"),
            (
                "None wanted, no definition",
                given().spec(json!({ "type": "None" })).without("CustomResourceDefinition", name),
                "match",
            ),
            ("OIDC there, list not complete", given().incomplete(list), "unknown"),
            ("availability not known, none", given().nodes(&[]), "unknown"),
            ("no definition", given().without("CustomResourceDefinition", name), "match"),
            (
                "definition not known",
                given().without("CustomResourceDefinition", name).incomplete(definitions),
                "unknown",
            ),
            ("definition seen in part", given().incomplete(definitions), "unknown"),
        ],
    );
}

#[test]
fn restrictions_that_nobody_enforces_are_named() {
    let given = (0..10).fold(given(), |given, number| given.restriction("team", &format!("r{number}")));
    let judged = given.judged();
    let summary = &judged.find(DEFINITION).unwrap().explanation.summary;
    assert!(summary.contains("team/r0, team/r1") && summary.contains("and 2 more;"), "{summary}");
}
