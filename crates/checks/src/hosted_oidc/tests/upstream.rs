//! The cases upstream tests, and the edge cases that are easily missed, as worlds.
//!
//! The facts' section 7 by number, and where each is tried; the rest can't be said of one world at rest.
//!
//! | case | where |
//! | --- | --- |
//! | 1 gate inversion, 2 other type with providers, 3 no providers, 4 block removed | here |
//! | 5 changed but not propagated | `referrers` |
//! | 6 entries always exist, 27 null entries | `candidates` |
//! | 7 rename | here |
//! | 8 shared names | here |
//! | 9 same name, two kinds | `expected` |
//! | 10 source missing, 14 day 2 | `expected` |
//! | 11 adopted object, 12 label with another value | `ownership`, `candidates` |
//! | 13 label stripped | here |
//! | 15 empty and null names | here, `referrers`, `shapes` |
//! | 16 exact names | here |
//! | 17 dots in names | `fleet` |
//! | 18 unreachable, 19 partial lists | `unknowns` |
//! | 20 namespace missing | here; that it is Terminating is no fact this check reads |
//! | 21 restored | `candidates` |
//! | 22 copies elsewhere | `leftovers` |
//! | 23 no secret values | `secrecy` |
//! | 24 somebody else deletes first, 28 two observations | a matter of acting and of time: engine and live |
//! | 25 version skew | nothing here depends on a version |
//! | 26 guest Authentication is write-protected | here |

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use serde_json::{Value, json};

use super::*;

const MISSING: &str = "missing-copy → apply selected missing proofs=0 blocked:operator-owned";

/// What is missing in an empty guest is what upstream would copy, and what it can't copy is an error here too.
#[test]
fn an_empty_guest_lacks_exactly_what_upstream_copies() {
    let aro = json!({ "type": "Azure", "azure": { "azureAuthenticationConfig": { "azureAuthenticationConfigType": "ManagedIdentities" } } });
    let two = json!({ "type": "OIDC", "oidcProviders": [
        provider("one", "ca-1", &[("console", "s-1")]), provider("two", "ca-2", &[("cli", "s-2")])
    ] });
    let only_oauth =
        json!({ "oauth": { "identityProviders": [{ "name": "x", "type": "Google", "google": { "clientID": "c" } }] } });
    let console_cli: &[_] = &[("console", "console-client-secret"), ("cli", "cli-client-secret")];
    let missing = |names: &[&str]| names.iter().map(|name| format!("{name}: {MISSING}")).collect::<Vec<_>>();
    let cases = [
        ("1 only OAuth", given().set("mgmt", "HostedControlPlane", "spec.configuration", only_oauth), missing(&[])),
        ("2 no providers", given(), missing(&[])),
        (
            "3 a CA",
            given().authentication(oidc("oidc-ca-bundle", &[])).source(config_map("oidc-ca-bundle")),
            missing(&["ConfigMap/oidc-ca-bundle"]),
        ),
        (
            "4 two secrets",
            given()
                .authentication(oidc("", console_cli))
                .source(secret("console-client-secret"))
                .source(secret("cli-client-secret")),
            missing(&["Secret/cli-client-secret", "Secret/console-client-secret"]),
        ),
        (
            "5 CA and secret",
            given().authentication(oidc("ca", &[("console", "s")])).source(config_map("ca")).source(secret("s")),
            missing(&["ConfigMap/ca", "Secret/s"]),
        ),
        (
            "6 a public client",
            given().authentication(oidc("", &[("console", "s"), ("cli", "")])).source(secret("s")),
            missing(&["Secret/s"]),
        ),
        (
            "7 day 2",
            given()
                .authentication(oidc("", &[("console", "s")]))
                .set("mgmt", "HostedControlPlane", "spec.platform", aro)
                .source(secret("s").stub()),
            vec!["Secret/s: missing-copy user-provided".to_owned()],
        ),
        (
            "8 annotated, not ARO",
            given().authentication(oidc("", &[("console", "s")])).source(secret("s").stub().key("clientSecret", "x")),
            missing(&["Secret/s"]),
        ),
        (
            "9 CA without source",
            given().authentication(oidc("missing-ca-bundle", &[])),
            vec!["ConfigMap/missing-ca-bundle: source-missing".to_owned()],
        ),
        (
            "10 secret without source",
            given().authentication(oidc("", &[("console", "missing-client-secret")])),
            vec!["Secret/missing-client-secret: source-missing".to_owned()],
        ),
        (
            // The config operator copies the first provider's; the API server's generator uses all, so all are expected.
            "11 two providers",
            given()
                .authentication(two)
                .source(config_map("ca-1"))
                .source(config_map("ca-2"))
                .source(secret("s-1"))
                .source(secret("s-2")),
            missing(&["ConfigMap/ca-1", "ConfigMap/ca-2", "Secret/s-1", "Secret/s-2"]),
        ),
    ];
    for (case, given, expected) in cases {
        let all: Vec<String> = given
            .judged()
            .objects()
            .iter()
            .map(|line| line.replace("guest-a/", "").replace("openshift-config/", ""))
            .collect();
        assert_eq!(all, expected, "case: {case}");
    }
}

/// The upstream attempt's own table: what it deletes is an orphan here, what it keeps is not.
#[test]
fn the_upstream_cleanup_table_holds() {
    let ca = || config_map("oidc-ca").oidc();
    let client = |name: &str| secret(name).oidc();
    let named = |ca: &str, secrets: &[(&str, &str)]| {
        given()
            .authentication(oidc(ca, secrets))
            .source(config_map("oidc-ca"))
            .source(secret("oidc-client-secret-1"))
            .source(secret("oidc-client-secret"))
    };
    let cases = [
        (
            "provider removed",
            given().has(ca()).has(client("oidc-client-secret")),
            vec![("ConfigMap/oidc-ca", CERTAIN), ("Secret/oidc-client-secret", CERTAIN)],
        ),
        (
            "CA reference removed",
            named("", &[("console", "oidc-client-secret")]).has(ca()).has(client("oidc-client-secret")),
            vec![
                ("ConfigMap/oidc-ca", "orphan-certain → delete selected no-referrer proofs=2"),
                ("Secret/oidc-client-secret", "referenced"),
            ],
        ),
        (
            "client removed",
            named("oidc-ca", &[("console", "oidc-client-secret-1")])
                .has(ca())
                .has(client("oidc-client-secret-1"))
                .has(client("oidc-client-secret-2")),
            vec![
                ("ConfigMap/oidc-ca", "referenced"),
                ("Secret/oidc-client-secret-1", "referenced"),
                ("Secret/oidc-client-secret-2", CERTAIN),
            ],
        ),
        (
            "unlabelled",
            given().has(ca()).has(client("s")).has(config_map("unmanaged")).has(secret("unmanaged")),
            vec![
                ("ConfigMap/oidc-ca", CERTAIN),
                ("Secret/s", CERTAIN),
                ("ConfigMap/unmanaged", "foreign"),
                ("Secret/unmanaged", "foreign"),
            ],
        ),
        (
            "all referenced",
            named("oidc-ca", &[("console", "oidc-client-secret")]).has(ca()).has(client("oidc-client-secret")),
            vec![("ConfigMap/oidc-ca", "referenced"), ("Secret/oidc-client-secret", "referenced")],
        ),
    ];
    for (case, given, expected) in cases {
        let judged = given.judged();
        for (subject, answer) in expected {
            assert_eq!(judged.about(subject), answer, "case: {case}: {subject}");
        }
    }
}

#[test]
fn the_upstream_status_guard_holds_for_clients_in_use_and_not_for_bare_entries() {
    let labelled = || given().has(config_map("oidc-ca").oidc()).has(secret("s").oidc());
    let partial = |entries: Value| {
        let listing = given().authentication(oidc("", &[("console", "new")])).source(secret("new"));
        listing.has(config_map("oidc-ca").oidc()).has(secret("s").oidc()).clients_in_use(entries)
    };
    let pending = "pending client-still-current";
    let cases = [
        ("a current client", labelled().clients_in_use(json!([uses("console", &["id"])])), pending),
        ("no entries", labelled().clients_in_use(json!([])), CERTAIN),
        (
            "Authentication can't be read",
            labelled()
                .incomplete("guest-a", "config.openshift.io/v1/authentications")
                .without("guest-a", "Authentication"),
            INCOMPLETE,
        ),
        ("Authentication is absent", labelled().without("guest-a", "Authentication"), CERTAIN),
        (
            "an entry without current clients",
            labelled().clients_in_use(json!([uses("console", &[]), uses("cli", &[])])),
            CERTAIN,
        ),
        ("partial removal, the other client active", partial(json!([uses("console", &["console-id"])])), CERTAIN),
        ("partial removal, the removed client active", partial(json!([uses("cli", &["cli-id"])])), pending),
    ];
    for (case, given, expected) in cases {
        let judged = given.judged();
        assert_eq!(judged.about("ConfigMap/oidc-ca"), expected, "case: {case}");
        assert_eq!(judged.about("Secret/s"), expected, "case: {case}");
    }
}

/// On today's releases removing the block leaves the guest's spec as it was: the copies stay in use.
#[test]
fn removing_the_block_keeps_the_copies_until_the_guest_lets_go() {
    let labelled = || given().has(secret("s").oidc()).guest_authentication(oidc("", &[("console", "s")]));
    let removed = |given: Given, field: &str, value: Value| {
        given.set("mgmt", "HostedCluster", field, value.clone()).set("mgmt", "HostedControlPlane", field, value)
    };
    let still = "pending guest-still-refers";
    let explicit = json!({ "type": "IntegratedOAuth" });
    let cases = [
        ("configuration is null", removed(labelled(), "spec.configuration", Value::Null), still),
        ("authentication is null", removed(labelled(), "spec.configuration.authentication", Value::Null), still),
        ("authentication is absent", removed(labelled(), "spec.configuration", json!({})), still),
        (
            "the guest was reset",
            removed(labelled(), "spec.configuration", Value::Null).guest_authentication(explicit.clone()),
            CERTAIN,
        ),
        ("explicit type everywhere", labelled().authentication(explicit), CERTAIN),
        (
            "explicit type, leftover providers",
            labelled().authentication(json!({ "type": "IntegratedOAuth", "oidcProviders": [] })),
            CERTAIN,
        ),
        ("no providers left", labelled().authentication(json!({ "type": "OIDC", "oidcProviders": null })), CERTAIN),
    ];
    each("Secret/s", cases);
}

#[test]
fn another_type_with_providers_left_expects_nothing() {
    let left = |kind: Value| {
        let block = json!({ "type": kind, "oidcProviders": [provider("idp", "ca", &[("console", "s")])] });
        given().cluster_authentication(block.clone()).plane_authentication(block)
    };
    for kind in [json!("IntegratedOAuth"), json!("None"), json!(""), Value::Null] {
        let empty = left(kind.clone()).source(secret("s")).source(config_map("ca"));
        assert_eq!(empty.judged().objects(), Vec::<String>::new(), "{kind}");
        let full = empty.has(secret("s").oidc()).has(config_map("ca").oidc()).judged();
        assert_eq!((full.about("Secret/s"), full.about("ConfigMap/ca")), (CERTAIN.into(), CERTAIN.into()), "{kind}");
    }
}

#[test]
fn a_renamed_secret_is_an_orphan_once_the_console_uses_the_new_client() {
    let renamed = || {
        given()
            .authentication(oidc("", &[("console", "new")]))
            .source(secret("new"))
            .has(secret("new"))
            .has(secret("old").oidc())
    };
    assert_eq!(
        renamed().clients_in_use(json!([uses("console", &["old-id"])])).about("Secret/old"),
        "pending client-still-current"
    );
    let settled = renamed().clients_in_use(json!([uses("console", &["console-id"])]));
    assert_eq!(settled.about("Secret/old"), CERTAIN);
    assert_eq!(settled.about("Secret/new"), "referenced");
}

#[test]
fn a_shared_name_stays_while_one_referrer_is_left() {
    let cases = [
        (
            "two clients, one secret",
            given()
                .authentication(oidc("", &[("console", "s"), ("cli", "s")]))
                .source(secret("s"))
                .has(secret("s").oidc()),
            "referenced",
        ),
        (
            "one of them removed",
            given().authentication(oidc("", &[("cli", "s")])).source(secret("s")).has(secret("s").oidc()),
            "referenced",
        ),
    ];
    each("Secret/s", cases);
    let proxy =
        given().set("mgmt", "HostedControlPlane", "spec.configuration.proxy", json!({ "trustedCA": { "name": "ca" } }));
    assert_eq!(proxy.has(config_map("ca").managed()).about("ConfigMap/ca"), "protected");
    let image = given().set("guest-a", "Image", "spec", json!({ "additionalTrustedCA": { "name": "ca" } }));
    assert_eq!(image.has(config_map("ca").managed()).about("ConfigMap/ca"), "protected");
}

#[test]
fn names_are_compared_exactly() {
    let given = given().authentication(oidc("", &[("console", "my-secret")])).source(secret("my-secret"));
    let judged =
        given.has(secret("my-secret2").oidc()).has(secret("my-secre").oidc()).has(secret("My-secret").oidc()).judged();
    for name in ["my-secret2", "my-secre", "My-secret"] {
        assert_eq!(judged.about(&format!("Secret/{name}")), CERTAIN, "{name}");
    }
    assert_eq!(judged.about("Secret/my-secret"), MISSING);
}

#[test]
fn a_copy_that_lost_its_labels_is_foreign_and_still_referenced_while_expected() {
    assert_eq!(given().has(secret("s")).about("Secret/s"), "foreign");
    let expected = given().authentication(oidc("", &[("console", "s")])).source(secret("s")).has(secret("s"));
    assert_eq!(expected.about("Secret/s"), "referenced");
}

#[test]
fn a_guest_without_anything_in_openshift_config_has_only_what_is_missing() {
    assert_eq!(given().judged().objects(), Vec::<String>::new());
    assert_eq!(
        given().authentication(oidc("", &[("c", "s")])).judged().objects(),
        ["guest-a/Secret/openshift-config/s: source-missing"]
    );
}

#[test]
fn the_remedy_for_a_guest_that_still_refers_is_on_the_hosted_cluster() {
    let judged = given().has(secret("s").oidc()).guest_authentication(oidc("", &[("console", "s")])).judged();
    let explanation = &judged.find("Secret/s").unwrap().explanation;
    assert!(explanation.remedy.is_empty(), "the guest's Authentication can't be written");
    assert!(explanation.summary.contains("HostedCluster"), "{}", explanation.summary);
}
