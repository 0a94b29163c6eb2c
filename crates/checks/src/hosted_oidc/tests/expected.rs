//! Rules 1 to 3: what is going, what the platform owns, what the control plane expects.

use serde_json::{Value, json};

use super::*;

const REFERENCED: &str = "referenced unlabelled → label offered not-labelled proofs=2";
const MISSING: &str = "missing-copy → apply selected missing proofs=0 blocked:operator-owned";
const STALE: &str = "stale-copy → apply selected differs proofs=0 blocked:operator-owned";

/// The control plane expects Secret `s`; its source is there.
fn expects_secret() -> Given {
    given().authentication(oidc("", &[("console", "s")])).source(secret("s"))
}

/// The control plane expects ConfigMap `ca`; its source is there.
fn expects_ca() -> Given {
    given().authentication(oidc("ca", &[])).source(config_map("ca"))
}

#[test]
fn what_is_being_deleted_is_terminating_whatever_else_it_is() {
    let cases = [
        ("a certain orphan", given().has(secret("s").oidc().terminating()), "terminating"),
        ("expected", expects_secret().has(secret("s").managed().terminating()), "terminating"),
        ("foreign", given().has(secret("s").terminating()), "terminating"),
        (
            "a null timestamp is none",
            given().has(secret("s").set("metadata.deletionTimestamp", Value::Null)),
            "foreign",
        ),
    ];
    each("Secret/s", cases);
    let given = given().has(secret("pull-secret").terminating());
    assert_eq!(given.about("Secret/pull-secret"), "terminating");
}

#[test]
fn names_the_platform_owns_are_protected_for_their_own_kind_alone() {
    for name in ["openshift-install", "user-ca-bundle", "cloud-provider-config"] {
        let given = given().has(config_map(name).oidc().managed()).has(secret(name).oidc());
        assert_eq!(given.about(&format!("ConfigMap/{name}")), "protected");
        assert_eq!(given.about(&format!("Secret/{name}")), super::CERTAIN, "{name} is no Secret of the platform");
    }
    let given = given().has(secret("pull-secret").oidc().managed()).has(config_map("pull-secret").oidc());
    assert_eq!(given.about("Secret/pull-secret"), "protected");
    assert_eq!(given.about("ConfigMap/pull-secret"), super::CERTAIN);
}

#[test]
fn a_protected_name_that_the_provider_names_says_so() {
    let named = |kind: &str| {
        given().authentication(oidc("user-ca-bundle", &[("console", "pull-secret")])).without("guest-a", kind)
    };
    let given = named("none").has(config_map("user-ca-bundle").managed()).has(secret("pull-secret"));
    assert_eq!(given.about("ConfigMap/user-ca-bundle"), "protected named-by-oidc");
    assert_eq!(given.about("Secret/pull-secret"), "protected named-by-oidc");
    let not_oidc = given.plane_authentication(json!({
        "type": "IntegratedOAuth", "oidcProviders": [provider("idp", "user-ca-bundle", &[])]
    }));
    assert_eq!(not_oidc.about("ConfigMap/user-ca-bundle"), "protected", "nothing is expected with another type");
    let absent = named("none").source(config_map("user-ca-bundle"));
    assert_eq!(absent.about("ConfigMap/user-ca-bundle"), MISSING, "only a present object is protected by its name");
    assert_eq!(absent.about("Secret/pull-secret"), "source-missing");
    let by_claims = super::given().authentication(claims("user-ca-bundle", "pull-secret", ""));
    let by_claims = by_claims.has(config_map("user-ca-bundle")).has(secret("pull-secret"));
    assert_eq!(by_claims.about("ConfigMap/user-ca-bundle"), "protected named-by-oidc");
    assert_eq!(by_claims.about("Secret/pull-secret"), "protected named-by-oidc");
}

#[test]
fn an_expected_secret_is_compared_with_its_source_by_the_copied_key_alone() {
    let same = secret("s").managed();
    let cases = [
        ("same value", expects_secret().has(same.clone()), REFERENCED),
        ("same value, labelled", expects_secret().has(same.clone().oidc()), "referenced"),
        ("same value, opted out", expects_secret().has(same.clone().label(OIDC, "false")), "referenced"),
        ("same value, not managed", expects_secret().has(secret("s")), "referenced"),
        ("managed says no", expects_secret().has(secret("s").label(MANAGED, "false")), "referenced"),
        ("another key beside it", expects_secret().has(same.clone().key("more", "x")), "referenced"),
        ("an owner", expects_secret().has(same.clone().owned()), "referenced"),
        ("another type", expects_secret().has(same.clone().set("type", json!("kubernetes.io/tls"))), "referenced"),
        ("another value", expects_secret().has(same.clone().key("clientSecret", "other")), STALE),
        ("same length, other value", expects_secret().has(same.clone().key("clientSecret", "hunter3")), STALE),
        ("key absent", expects_secret().has(same.clone().without_keys()), STALE),
        ("empty value", expects_secret().has(same.clone().key("clientSecret", "")), STALE),
        ("absent", expects_secret(), MISSING),
        ("no source, present", expects_secret().without("mgmt", "Secret").has(same.clone()), "source-missing"),
        ("no source, absent", expects_secret().without("mgmt", "Secret"), "source-missing"),
        ("sources not complete", expects_secret().incomplete("mgmt", SECRETS).has(same.clone()), "unknown"),
        ("sources not complete, absent", expects_secret().incomplete("mgmt", SECRETS), "unknown"),
        (
            "the other kind's sources not complete",
            expects_secret().incomplete("mgmt", CONFIG_MAPS).has(same),
            REFERENCED,
        ),
    ];
    each("Secret/s", cases);
}

#[test]
fn an_expected_ca_is_compared_with_its_source_by_the_copied_key_alone() {
    let same = config_map("ca").managed();
    let cases = [
        ("same value", expects_ca().has(same.clone()), REFERENCED),
        ("same value, labelled", expects_ca().has(same.clone().oidc()), "referenced"),
        ("another key beside it", expects_ca().has(same.clone().key("more", "x")), "referenced"),
        (
            "a binary key beside it",
            expects_ca().has(same.clone().set("binaryData", json!({"b": "AAAA"}))),
            "referenced",
        ),
        ("another value", expects_ca().has(same.clone().key("ca-bundle.crt", "PEM2\n")), STALE),
        ("key absent", expects_ca().has(same.clone().without_keys()), STALE),
        ("absent", expects_ca(), MISSING),
        ("no source", expects_ca().without("mgmt", "ConfigMap").has(same.clone()), "source-missing"),
        ("sources not complete", expects_ca().incomplete("mgmt", CONFIG_MAPS).has(same.clone()), "unknown"),
        ("the other kind's sources not complete", expects_ca().incomplete("mgmt", SECRETS).has(same), REFERENCED),
    ];
    each("ConfigMap/ca", cases);
}

#[test]
fn a_source_without_the_key_equals_an_absent_or_empty_value() {
    let bare = |copy| {
        let expects = given().authentication(oidc("", &[("console", "s")]));
        expects.source(secret("s").without_keys()).has(copy)
    };
    let null = given().authentication(oidc("", &[("console", "s")])).source(secret("s").set("data", Value::Null));
    let empty = given().authentication(oidc("", &[("console", "s")])).source(secret("s").key("clientSecret", ""));
    let cases = [
        ("copy has an empty value", bare(secret("s").key("clientSecret", "")), "referenced empty-source"),
        ("copy lacks the key", bare(secret("s").without_keys()), "referenced empty-source"),
        ("copy has a null value", bare(secret("s").set("data.clientSecret", Value::Null)), "referenced empty-source"),
        (
            "copy has a value",
            bare(secret("s")),
            "stale-copy empty-source → apply selected differs proofs=0 blocked:operator-owned",
        ),
        (
            "an unlabelled copy",
            bare(secret("s").managed().key("clientSecret", "")),
            "referenced empty-source unlabelled → label offered not-labelled proofs=2",
        ),
        ("source data is null", null.has(secret("s").key("clientSecret", "")), "referenced empty-source"),
        ("source value is empty", empty.has(secret("s").key("clientSecret", "")), "referenced empty-source"),
    ];
    each("Secret/s", cases);
    let ca = given().authentication(oidc("ca", &[])).source(config_map("ca").without_keys());
    each(
        "ConfigMap/ca",
        [
            ("copy is empty", ca.clone().has(config_map("ca").key("ca-bundle.crt", "")), "referenced empty-source"),
            ("copy has another key", ca.has(config_map("ca").without_keys().key("x", "y")), "referenced empty-source"),
        ],
    );
}

#[test]
fn copies_are_written_only_where_the_config_hands_them_over() {
    let managed = expects_secret().copies_managed();
    let stale = managed.clone().has(secret("s").key("clientSecret", "old"));
    let cases = [
        ("absent", managed, "missing-copy → apply selected missing proofs=0"),
        ("stale", stale, "stale-copy → apply selected differs proofs=0"),
    ];
    each("Secret/s", cases);
}

#[test]
fn a_copy_is_bound_to_its_source_and_never_carries_a_secret() {
    let judged = expects_secret().copies_managed().judged();
    let draft = &judged.find("Secret/s").unwrap().explanation.remedy[0];
    let source = draft.source.as_ref().unwrap();
    assert_eq!((source.uid.to_string(), source.version.to_string()), ("uid-s".to_owned(), "100".to_owned()));
    assert_eq!((&draft.target.uid, &draft.target.version), (&None, &None), "it is created");
    let labels = json!({ OIDC: "true", MANAGED: "true" });
    let copy = |kind: &str, name: &str, key: &str| {
        let source = json!({ "cluster": "mgmt", "apiVersion": "v1", "kind": kind, "namespace": "clusters-guest-a", "name": name });
        json!({ "source": source, "keys": { key: key } })
    };
    assert_eq!(draft.change.to_json(), json!({ "labels": labels, "copy": copy("Secret", "s", "clientSecret") }));

    let judged = expects_ca().judged();
    let draft = &judged.find("ConfigMap/ca").unwrap().explanation.remedy[0];
    let data = json!({ "ca-bundle.crt": "PEM\n" });
    assert_eq!(
        draft.change.to_json(),
        json!({ "labels": labels, "data": data, "copy": copy("ConfigMap", "ca", "ca-bundle.crt") })
    );
}

#[test]
fn the_label_action_adds_the_label_alone() {
    let judged = expects_secret().has(secret("s").managed()).judged();
    let draft = &judged.find("Secret/s").unwrap().explanation.remedy[0];
    assert_eq!(draft.change.to_json(), json!({ "set": { OIDC: "true" }, "remove": [] }));
    assert_eq!(draft.target.uid.as_ref().unwrap().to_string(), "uid-s");
}

#[test]
fn the_operators_condition_says_why_it_has_not_copied() {
    let why = |kind: &str, message: &str| {
        let condition = json!({ "type": kind, "status": "False", "reason": "ReconcileError", "message": message });
        let judged = expects_ca().set("mgmt", "HostedCluster", "status.conditions", json!([condition])).judged();
        judged.find("ConfigMap/ca").unwrap().explanation.remedy[0].blocked_by[0].why.clone()
    };
    let (kind, message) = ("ConfigOperatorReconciliationSucceeded", "failed to get issuer CA configmap ca");
    let named = why(kind, message);
    assert!(named.contains(&format!("{kind}=False ReconcileError: {message}")), "{named}");
    for (kind, message) in [("ValidConfiguration", message), (kind, "failed to reconcile DNS")] {
        let silent = why(kind, message);
        assert!(silent.ends_with("no condition says why"), "{silent}");
    }
}

#[test]
fn a_day_2_secret_is_the_users_own_on_aro_and_a_copy_elsewhere() {
    let aro = |given: Given| {
        let config = json!({ "azureAuthenticationConfigType": "ManagedIdentities" });
        let platform = json!({ "type": "Azure", "azure": { "azureAuthenticationConfig": config } });
        given.set("mgmt", "HostedControlPlane", "spec.platform", platform)
    };
    let named = || given().authentication(oidc("", &[("console", "s")]));
    let stub = || named().source(secret("s").stub());
    let workload = json!({ "type": "Azure", "azure": { "azureAuthenticationConfig": { "azureAuthenticationConfigType": "WorkloadIdentities" } } });
    let azure = |platform: Value| stub().set("mgmt", "HostedControlPlane", "spec.platform", platform).has(secret("s"));
    let differs = "stale-copy empty-source → apply selected differs proofs=0 blocked:operator-owned";
    let cases = [
        ("present", aro(stub()).has(secret("s")), "referenced"),
        ("present with any value", aro(stub()).has(secret("s").key("clientSecret", "mine")), "referenced"),
        ("present with nothing", aro(stub()).has(secret("s").without_keys()), "referenced"),
        ("absent", aro(stub()), "missing-copy user-provided"),
        ("absent, copies managed", aro(stub()).copies_managed(), "missing-copy user-provided"),
        ("sources not complete", aro(stub()).incomplete("mgmt", SECRETS).has(secret("s")), "unknown"),
        ("stub gone", aro(named()).has(secret("s")), "source-missing"),
        ("not annotated", aro(named()).source(secret("s")).has(secret("s").key("clientSecret", "x")), STALE),
        ("annotation ignored off ARO", stub().has(secret("s")), differs),
        ("annotation ignored off ARO, absent", stub(), MISSING),
        ("Azure with workload identities", azure(workload), differs),
        ("Azure that says nothing", azure(json!({ "type": "Azure", "azure": null })), differs),
        (
            "another platform with the block",
            azure(
                json!({ "type": "AWS", "azure": { "azureAuthenticationConfig": { "azureAuthenticationConfigType": "ManagedIdentities" } } }),
            ),
            differs,
        ),
        ("reference gone, made by hand", aro(given()).has(secret("s")), "foreign"),
    ];
    each("Secret/s", cases);
    let ca = config_map("ca").annotated("hypershift.openshift.io/hosted-cluster-sourced", "true");
    let ca = aro(given().authentication(oidc("ca", &[]))).source(ca).has(config_map("ca").key("ca-bundle.crt", "x"));
    assert_eq!(ca.about("ConfigMap/ca"), STALE, "the mark counts for client secrets alone");
}

/// Three references of an external claims source: CA, client secret, the client's own CA.
fn claims(ca: &str, secret: &str, client_ca: &str) -> Value {
    let mut one = provider("idp", "", &[]);
    one["externalClaimsSources"] = json!([{
        "tls": { "certificateAuthority": { "name": ca } },
        "authentication": { "clientCredential": {
            "clientSecret": { "name": secret }, "tls": { "certificateAuthority": { "name": client_ca } }
        } }
    }]);
    json!({ "type": "OIDC", "oidcProviders": [one] })
}

#[test]
fn external_claims_sources_are_the_users_and_need_no_source() {
    let named = || given().authentication(claims("claims-ca", "claims-secret", "client-ca"));
    let there = named().has(config_map("claims-ca")).has(config_map("client-ca")).has(secret("claims-secret"));
    let unseen = |given: Given| given.incomplete("mgmt", SECRETS).incomplete("mgmt", CONFIG_MAPS);
    for name in ["ConfigMap/claims-ca", "ConfigMap/client-ca", "Secret/claims-secret"] {
        assert_eq!(named().about(name), "missing-copy user-provided", "{name}");
        assert_eq!(named().copies_managed().about(name), "missing-copy user-provided", "{name}");
        assert_eq!(there.about(name), "referenced", "{name}");
        assert_eq!(unseen(there.clone()).about(name), "referenced", "{name} needs no source");
        assert_eq!(unseen(named()).about(name), "missing-copy user-provided", "{name} needs no source");
    }
    let not_oidc = |mut block: Value| {
        block["type"] = json!("IntegratedOAuth");
        block
    };
    let off = given().authentication(not_oidc(claims("claims-ca", "claims-secret", "client-ca")));
    assert_eq!(off.judged().objects(), Vec::<String>::new(), "with another type nothing is expected");
}

#[test]
fn a_name_that_a_provider_and_a_claims_source_share_is_compared() {
    let mut both = claims("shared", "", "");
    both["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"]["name"] = json!("shared");
    let given =
        given().authentication(both).source(config_map("shared")).has(config_map("shared").key("ca-bundle.crt", "x"));
    assert_eq!(given.about("ConfigMap/shared"), STALE);
}

#[test]
fn the_two_kinds_are_two_sets() {
    let given = given()
        .authentication(oidc("shared", &[]))
        .source(config_map("shared"))
        .has(config_map("shared").managed())
        .has(secret("shared").managed());
    assert_eq!(given.about("ConfigMap/shared"), REFERENCED);
    assert_eq!(given.about("Secret/shared"), super::PROBABLE);
}

#[test]
fn a_source_of_the_other_kind_or_another_namespace_is_no_source() {
    let elsewhere = expects_secret().without("mgmt", "Secret").object("mgmt", secret("s").in_namespace("clusters"));
    let cases = [
        ("other kind", expects_secret().without("mgmt", "Secret").source(config_map("s")), "source-missing"),
        ("the HostedCluster's namespace", elsewhere, "source-missing"),
    ];
    each("Secret/s", cases);
}

const OIDC: &str = "hypershift.openshift.io/oidc-provider-managed";
const MANAGED: &str = "hypershift.openshift.io/managed";
const SECRETS: &str = "v1/secrets@clusters-guest-a";
const CONFIG_MAPS: &str = "v1/configmaps@clusters-guest-a";
