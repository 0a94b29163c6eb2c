//! What is not known never condemns: each missing piece alone makes a candidate `unknown`, and nothing else.

use serde_json::json;

use super::*;

/// A labelled object of each kind, and an unlabelled one.
fn marked() -> Given {
    given().has(secret("s").oidc()).has(config_map("c").oidc()).has(secret("mine")).has(config_map("mine"))
}

#[test]
fn each_missing_piece_alone_makes_candidates_unknown_and_foreign_stays_foreign() {
    let config = "config.openshift.io/v1";
    let hypershift = "hypershift.openshift.io/v1beta1";
    let cut = |of: &str, entry: &str| marked().incomplete(of, entry);
    // Piece, given, Secret, ConfigMap.
    let cases = [
        ("nothing is missing", marked(), CERTAIN, CERTAIN),
        ("control planes", cut("mgmt", &format!("{hypershift}/hostedcontrolplanes")), INCOMPLETE, INCOMPLETE),
        ("HostedClusters", cut("mgmt", &format!("{hypershift}/hostedclusters")), INCOMPLETE, INCOMPLETE),
        (
            "HostedClusters of another namespace",
            cut("mgmt", &format!("{hypershift}/hostedclusters@elsewhere")),
            INCOMPLETE,
            INCOMPLETE,
        ),
        ("Authentication", cut("guest-a", &format!("{config}/authentications")), INCOMPLETE, INCOMPLETE),
        ("OAuth", cut("guest-a", &format!("{config}/oauths")), INCOMPLETE, INCOMPLETE),
        ("APIServer", cut("guest-a", &format!("{config}/apiservers")), INCOMPLETE, INCOMPLETE),
        ("Proxy", cut("guest-a", &format!("{config}/proxies")), CERTAIN, INCOMPLETE),
        ("Image", cut("guest-a", &format!("{config}/images")), CERTAIN, INCOMPLETE),
        ("Infrastructure", cut("guest-a", &format!("{config}/infrastructures")), CERTAIN, CERTAIN),
        ("the guest's Secrets", cut("guest-a", "v1/secrets@openshift-config"), "unknown", CERTAIN),
        ("all the guest's Secrets", cut("guest-a", "v1/secrets"), "unknown", CERTAIN),
        ("other Secrets of the guest", cut("guest-a", "v1/secrets@elsewhere"), CERTAIN, CERTAIN),
        ("the guest's ConfigMaps", cut("guest-a", "v1/configmaps@openshift-config"), CERTAIN, "unknown"),
        ("the console's ConfigMaps", cut("guest-a", "v1/configmaps@openshift-console"), CERTAIN, CERTAIN),
        ("the sources", cut("mgmt", "v1/secrets").incomplete("mgmt", "v1/configmaps"), INCOMPLETE, CERTAIN),
        (
            "the control plane while its HostedCluster exists",
            marked().without("mgmt", "HostedControlPlane"),
            "unknown",
            "unknown",
        ),
        ("the management cluster", marked().unreachable("mgmt"), INCOMPLETE, INCOMPLETE),
        ("the management cluster altogether", marked().forget_cluster("mgmt"), INCOMPLETE, INCOMPLETE),
        ("the guest", marked().unreachable("guest-a"), "unknown", "unknown"),
        ("a file of the guest", marked().unreadable_file("guest-a"), "unknown", "unknown"),
        ("a file of the management cluster", marked().unreadable_file("mgmt"), INCOMPLETE, INCOMPLETE),
    ];
    for (case, given, secret, config_map) in cases {
        let judged = given.judged();
        assert_eq!(judged.about("Secret/s"), secret, "case: {case}");
        assert_eq!(judged.about("ConfigMap/c"), config_map, "case: {case}");
        assert_eq!(judged.about("Secret/mine"), "foreign", "case: {case}");
        assert_eq!(judged.about("ConfigMap/mine"), "foreign", "case: {case}");
    }
}

#[test]
fn evidence_names_each_member_that_was_not_read() {
    let hypershift = "hypershift.openshift.io/v1beta1";
    let both = marked()
        .incomplete("mgmt", &format!("{hypershift}/hostedcontrolplanes"))
        .incomplete("guest-a", "config.openshift.io/v1/oauths");
    let cases = [
        ("both", both, vec!["guest-a", "mgmt"]),
        ("the management cluster is not part of the run", marked().forget_cluster("mgmt"), vec!["mgmt"]),
        ("which it is, is not known", marked().known_by_topology("guest-a", "other"), vec!["management cluster"]),
    ];
    for (case, given, expected) in cases {
        let judged = given.judged();
        assert_eq!(judged.about("Secret/s"), INCOMPLETE, "case: {case}");
        let evidence = &judged.find("Secret/s").unwrap().explanation.evidence;
        let named: Vec<&str> = evidence.iter().take(expected.len()).map(|line| line.object.as_str()).collect();
        assert_eq!(named, expected, "case: {case}: {evidence:?}");
    }
}

#[test]
fn a_config_that_is_proven_absent_is_known() {
    for kind in ["Authentication", "Proxy", "Image", "APIServer", "OAuth"] {
        let judged = marked().without("guest-a", kind).judged();
        assert_eq!((judged.about("Secret/s"), judged.about("ConfigMap/c")), (CERTAIN.into(), CERTAIN.into()), "{kind}");
    }
}

#[test]
fn silence_of_a_recording_without_claims_proves_nothing() {
    let silent = marked().seen_only("guest-a").seen_only("mgmt");
    assert_eq!(silent.about("Secret/s"), INCOMPLETE, "a must-gather has no Secrets, and a day-2 stub could be one");
    let full = silent.source(secret("other"));
    assert_eq!(full.about("Secret/s"), CERTAIN, "kinds that hold an object are complete");
    for kind in ["Authentication", "APIServer", "OAuth"] {
        assert_eq!(full.clone().without("guest-a", kind).about("Secret/s"), INCOMPLETE, "{kind}");
    }
    for kind in ["HostedCluster", "HostedControlPlane"] {
        assert_eq!(full.clone().without("mgmt", kind).about("Secret/s"), INCOMPLETE, "{kind}");
    }
    assert_eq!(full.clone().without("guest-a", "Proxy").about("Secret/s"), CERTAIN, "a Proxy names no Secret");
    assert_eq!(full.without("guest-a", "Proxy").about("ConfigMap/c"), INCOMPLETE);
}

#[test]
fn a_collection_that_is_not_complete_is_one_finding_of_its_own() {
    let cases = [
        ("Secrets", "v1/secrets@openshift-config", "unknown", "no subject"),
        ("ConfigMaps", "v1/configmaps", "no subject", "unknown"),
        ("another namespace", "v1/secrets@elsewhere", "no subject", "no subject"),
    ];
    for (case, entry, secrets, config_maps) in cases {
        let judged = given().incomplete("guest-a", entry).judged();
        assert_eq!(judged.about("Secret/*"), secrets, "case: {case}");
        assert_eq!(judged.about("ConfigMap/*"), config_maps, "case: {case}");
    }
    let unreachable = given().unreachable("guest-a").judged().objects();
    let both = ["guest-a/ConfigMap/openshift-config/*: unknown", "guest-a/Secret/openshift-config/*: unknown"];
    assert_eq!(unreachable, both);
}

#[test]
fn objects_seen_in_an_incomplete_collection_are_judged_too() {
    let expecting = given()
        .authentication(oidc("", &[("a", "seen"), ("b", "stale"), ("c", "unseen"), ("d", "sourceless")]))
        .source(secret("seen"))
        .source(secret("stale"))
        .source(secret("unseen"))
        .has(secret("seen"))
        .has(secret("stale").key("clientSecret", "x"))
        .has(secret("pull-secret"))
        .has(secret("going").terminating())
        .has(secret("mine"))
        .has(secret("marked").oidc())
        .has(secret("tls"))
        .set("guest-a", "OAuth", "spec", json!({ "templates": { "login": { "name": "tls" } } }))
        .incomplete("guest-a", "v1/secrets@openshift-config");
    let expected = [
        "*: unknown",
        "going: terminating",
        "marked: unknown",
        "mine: foreign",
        "pull-secret: protected",
        "seen: referenced",
        "sourceless: unknown",
        "stale: stale-copy → apply selected differs proofs=0 blocked:operator-owned",
        "tls: protected",
        "unseen: unknown",
    ];
    let all: Vec<String> = expecting.judged().objects();
    let short: Vec<&str> =
        all.iter().map(|line| line.strip_prefix("guest-a/Secret/openshift-config/").unwrap()).collect();
    assert_eq!(short, expected);
}

#[test]
fn an_expected_name_not_seen_in_an_incomplete_collection_is_unknown_even_for_the_users_own() {
    let mut one = super::provider("idp", "", &[]);
    one["externalClaimsSources"] = json!([{ "tls": { "certificateAuthority": { "name": "claims" } } }]);
    let given = given()
        .authentication(json!({ "type": "OIDC", "oidcProviders": [one] }))
        .incomplete("guest-a", "v1/configmaps@openshift-config");
    assert_eq!(given.about("ConfigMap/claims"), "unknown");
}

#[test]
fn what_is_seen_in_an_incomplete_list_still_keeps_an_object() {
    let hypershift = "hypershift.openshift.io/v1beta1";
    let named = || oidc("", &[("console", "s")]);
    let s = || secret("s").oidc();
    let cases = [
        (
            "expected by a control plane of a list cut short",
            given()
                .authentication(named())
                .source(secret("s"))
                .incomplete("mgmt", &format!("{hypershift}/hostedcontrolplanes"))
                .has(s()),
            "referenced",
        ),
        (
            "named by the guest, control plane not known",
            given().guest_authentication(named()).unreachable("mgmt").has(s()),
            "pending guest-still-refers",
        ),
        (
            "named by the guest, Authentication list cut short",
            given()
                .guest_authentication(named())
                .incomplete("guest-a", "config.openshift.io/v1/authentications")
                .has(s()),
            "pending guest-still-refers",
        ),
        (
            "named by OAuth, list cut short",
            given()
                .set("guest-a", "OAuth", "spec", json!({ "templates": { "login": { "name": "s" } } }))
                .incomplete("guest-a", "config.openshift.io/v1/oauths")
                .has(s()),
            "protected",
        ),
        (
            "not propagated, HostedClusters cut short",
            given()
                .cluster_authentication(named())
                .incomplete("mgmt", &format!("{hypershift}/hostedclusters"))
                .has(s()),
            "pending not-propagated",
        ),
    ];
    each("Secret/s", cases);
}

#[test]
fn a_control_plane_that_is_absent_while_its_hosted_cluster_exists_is_not_known() {
    let named = given().cluster_authentication(oidc("", &[("console", "s")])).without("mgmt", "HostedControlPlane");
    let cases = [
        ("candidate the HostedCluster names", named.clone().has(secret("s").oidc()), "unknown"),
        ("foreign the HostedCluster names", named.has(secret("s")), "foreign"),
        (
            "HostedCluster being deleted",
            given()
                .without("mgmt", "HostedControlPlane")
                .set("mgmt", "HostedCluster", "metadata.deletionTimestamp", json!("2026-11-16T09:00:00Z"))
                .has(secret("s").oidc()),
            "unknown",
        ),
    ];
    each("Secret/s", cases);
}
