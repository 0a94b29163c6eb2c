//! What the plan offers: exact contents, a safe order, and who is in charge.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::CrdRemoval;
use super::super::stack::{PARTS, Turn};
use super::*;
use trueup_core::engine::{ActionDraft, Stake, Tier, Undo, Verb, tier};
use trueup_core::world::RiskClass;

fn drafts(given: &Given) -> BTreeMap<String, ActionDraft> {
    let judged = given.judged();
    let drafts = judged.answers.into_iter().flat_map(|(id, answer)| {
        let named = move |draft| (id.strip_prefix("external-oidc/ocp/").unwrap().to_owned(), draft);
        answer.explanation.remedy.into_iter().map(named)
    });
    drafts.collect()
}

#[test]
fn auth_config_is_applied_with_its_exact_bytes() {
    let absent = given().without_in("openshift-config-managed", "auth-config");
    let draft = drafts(&absent.managed()).remove("ConfigMap/openshift-config-managed/auth-config").unwrap();
    assert_eq!(draft.verb(), Verb::Apply);
    assert_eq!(draft.change.to_json(), json!({ "data": { "auth-config.json": RENDERED } }));
    assert_eq!((draft.undo, draft.stake), (Undo::DeleteWhatWasCreated, Stake::Ownership));
    assert_eq!(draft.target.uid, None);
    assert!(draft.diff.contains("+       \"kind\": \"AuthenticationConfiguration\""), "{}", draft.diff);

    let drifted = given().file("openshift-config-managed", "auth-config", r#"{"kind":"AuthenticationConfiguration"}"#);
    let draft = drafts(&drifted.managed()).remove("ConfigMap/openshift-config-managed/auth-config").unwrap();
    assert_eq!(draft.undo, Undo::RestoreFromBackup);
    assert_eq!(draft.target.uid.unwrap().to_string(), "ConfigMap-auth-config");
    assert!(
        draft.diff.contains("        \"kind\": \"AuthenticationConfiguration\""),
        "unchanged lines stay: {}",
        draft.diff
    );
}

#[test]
fn nothing_is_written_that_would_keep_kube_apiserver_from_starting_even_when_handed_over() {
    let lockout = given().spec(json!({ "type": "OIDC" })).managed();
    let draft = drafts(&lockout).remove("ConfigMap/openshift-config-managed/auth-config").unwrap();
    assert!(draft.blocked_by[0].why.contains("no token would be accepted"), "{:?}", draft.blocked_by);
}

#[test]
fn leftovers_go_in_an_order_in_which_nobody_is_sent_to_what_is_gone() {
    let drafts = drafts(&given().with_parts().managed());
    assert_eq!(drafts.values().filter(|draft| draft.selected).count(), PARTS.len());
    let waits = |subject: &str| -> Vec<String> {
        let ids = drafts[subject].depends_on.iter().map(|need| need.finding.to_string());
        ids.map(|id| id.strip_prefix("external-oidc/ocp/").unwrap().to_owned()).collect()
    };
    assert_eq!(waits("Route/openshift-authentication/oauth-openshift"), Vec::<String>::new());
    assert_eq!(
        waits("Deployment/openshift-authentication/oauth-openshift"),
        ["Route/openshift-authentication/oauth-openshift"]
    );
    assert_eq!(
        waits("Service/openshift-authentication/oauth-openshift"),
        ["Deployment/openshift-authentication/oauth-openshift"]
    );
    assert_eq!(
        waits("Deployment/openshift-oauth-apiserver/apiserver"),
        ["APIService/_/v1.oauth.openshift.io", "APIService/_/v1.user.openshift.io"]
    );
    assert_eq!(
        waits("Secret/openshift-config/webhook-authentication-integrated-oauth"),
        ["Deployment/openshift-oauth-apiserver/apiserver"]
    );
}

#[test]
fn what_waits_for_something_that_is_gone_already_waits_for_the_turn_before() {
    let bare = given().with_parts().without("Deployment", "apiserver").without("APIService", "v1.user.openshift.io");
    let left = drafts(&bare);
    let need = &left["Service/openshift-oauth-apiserver/api"].depends_on;
    assert_eq!(need.len(), 1);
    assert_eq!(need[0].finding.name, "v1.oauth.openshift.io");
}

#[test]
fn nothing_waits_in_a_circle() {
    for part in &PARTS {
        let waits = PARTS.iter().any(|other| other.side() == part.side() && other.turn < part.turn);
        assert!(waits || part.turn == Turn::ContextAccess, "{part:?}");
    }
}

#[test]
fn an_operator_that_complains_is_quoted() {
    let condition = json!({ "status": { "conditions": [
        { "type": "ManagementStateDegraded", "status": "False", "reason": "AsExpected" },
        { "type": "ExternalOIDCControllerProgressing", "status": "True", "reason": "Syncing", "message": "…" },
        { "type": "ExternalOIDCControllerDegraded", "status": "True", "reason": "SyncError", "message": "no route to host" },
    ] } });
    let stuck = given().without_in("openshift-config-managed", "auth-config").object(
        "operator.openshift.io/v1",
        "Authentication",
        None,
        "cluster",
        condition,
    );
    let stuck = drafts(&stuck);
    let why = &stuck["ConfigMap/openshift-config-managed/auth-config"].blocked_by[0].why;
    assert!(why.contains("ExternalOIDCControllerDegraded=True SyncError: no route to host"), "{why}");
    let quiet = drafts(&given().without_in("openshift-config-managed", "auth-config"));
    let why = &quiet["ConfigMap/openshift-config-managed/auth-config"].blocked_by[0].why;
    assert!(why.ends_with("no condition says why"), "{why}");
}

#[test]
fn the_definition_is_the_gravest_thing_and_never_ticked() {
    let name = "CustomResourceDefinition/_/rolebindingrestrictions.authorization.openshift.io";
    let mut offered = given().managed();
    offered.settings.crd_removal = CrdRemoval::Offered;
    let draft = drafts(&offered).remove(name).unwrap();
    assert_eq!((draft.stake, draft.selected), (Stake::Irreversible, false));
}

#[test]
fn writing_or_deleting_auth_config_is_tier_3_and_says_how_many_api_servers_restart() {
    let extra = |namespace: &str| integrated().file(namespace, "auth-config", RENDERED);
    let cases = [
        ("write", given().without_in("openshift-config-managed", "auth-config"), "openshift-config-managed"),
        ("copy", given().without_in("openshift-kube-apiserver", "auth-config"), "openshift-kube-apiserver"),
        ("delete", extra("openshift-config-managed"), "openshift-config-managed"),
        ("delete the copy", extra("openshift-kube-apiserver"), "openshift-kube-apiserver"),
    ];
    for (case, given, namespace) in cases {
        let draft = drafts(&given).remove(&format!("ConfigMap/{namespace}/auth-config")).unwrap();
        for class in [RiskClass::Dev, RiskClass::Prod] {
            assert_eq!(tier(&draft, class), Tier::T3, "case: {case}");
        }
        assert!(draft.diff.starts_with("! restarts 3 API servers, one node"), "case: {case}: {}", draft.diff);
    }
    let none = given().without_in("openshift-config-managed", "auth-config").without("KubeAPIServer", "cluster");
    let unknown = drafts(&none).remove("ConfigMap/openshift-config-managed/auth-config");
    let diff = unknown.map(|draft| draft.diff).unwrap_or_default();
    assert!(!diff.contains("restarts 0"), "{diff}");
}

#[test]
fn what_undo_put_back_is_not_ticked_again() {
    let restored = json!({ "metadata": { "annotations": { "trueup/restored-from": "1a2b3c4d/a1" } } });
    let part = given().object("v1", "Service", Some("openshift-authentication"), "oauth-openshift", restored.clone());
    let answer = part.managed().about("Service/openshift-authentication/oauth-openshift");
    assert_eq!(answer, "leftover restored → delete offered oidc-available");
    let mut file = restored;
    file["data"] = json!({ "auth-config.json": "{}" });
    let file = integrated().object("v1", "ConfigMap", Some("openshift-config-managed"), "auth-config", file);
    let answer = file.managed().about("ConfigMap/openshift-config-managed/auth-config");
    assert_eq!(answer, "extra restored → delete offered oidc-not-wanted");
}

#[test]
fn what_is_on_its_way_out_is_not_deleted_again() {
    let body = json!({ "metadata": { "deletionTimestamp": "2026-11-16T09:59:00Z" } });
    let going = given().object("v1", "Service", Some("openshift-authentication"), "oauth-openshift", body).managed();
    let answer = going.about("Service/openshift-authentication/oauth-openshift");
    assert_eq!(answer, "leftover → delete selected oidc-available blocked:deleting");
}

#[test]
fn what_the_operators_must_bring_back_themselves_has_no_action() {
    let reverted = integrated().without("Deployment", "oauth-openshift");
    assert_eq!(reverted.about("Deployment/openshift-authentication/oauth-openshift"), "missing");
}
