//! Bad input, one test a row: nothing is written, the good Secret stays, and the words name the Secret and the key.

use serde_json::json;

use super::*;

/// A good target beside a source with this value: it is left alone.
fn stays(case: &str, value: &str, expected: &str) {
    let given = given().has(source("demo", &config()).key("kubeconfig", value));
    assert_eq!(given.about(DEMO), expected, "case: {case}, as a source");
    let judged = given.judged();
    let summary = &judged.find(DEMO).unwrap().explanation.summary;
    assert!(summary.contains("default/demo-outputs-kubeconfig") && summary.contains("kubeconfig"), "{case}: {summary}");
}

/// A target with this value.
fn target_is(value: &str) -> String {
    let given = given().without("Secret", "demo-outputs-kubeconfig").without("CAPTControlPlane", "demo");
    let given = given.set("Cluster", "demo", "spec.controlPlaneRef", json!({ "kind": "Other", "name": "demo" }));
    given.has(unowned_target("team-a", "demo", &config()).key("value", value)).about(DEMO)
}

fn yaml() -> String {
    let Config(value) = config();
    let cluster = &value["clusters"][0]["cluster"];
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: demo\nclusters:\n- name: demo\n  cluster:\n    server: {}\n    \
         certificate-authority-data: {}\ncontexts:\n- name: demo\n  context:\n    cluster: demo\n    user: admin\nusers:\n\
         - name: admin\n  user:\n    token: {}\n",
        cluster["server"].as_str().unwrap(),
        cluster["certificate-authority-data"].as_str().unwrap(),
        eks(minutes(-1))
    )
}

#[test]
fn an_absent_secret_is_missing() {
    assert_eq!(
        given().without("Secret", "demo-kubeconfig").about(DEMO),
        "missing behind-source → create selected missing"
    );
}

#[test]
fn an_empty_value_is_no_kubeconfig() {
    assert_eq!(target_is(""), "contract key");
    stays("empty", "", "source-invalid key");
}

#[test]
fn yaml_is_read_as_it_is_usually_written() {
    assert_eq!(target_is(&yaml()), "fresh");
    assert_eq!(target_is(&yaml().replace('\n', "\r\n")), "fresh", "with line ends of Windows");
}

#[test]
fn a_byte_order_mark_does_not_matter() {
    assert_eq!(target_is(&format!("\u{feff}{}", yaml())), "fresh");
}

#[test]
fn json_is_read_with_tabs_too() {
    assert_eq!(target_is(&serde_json::to_string_pretty(&config().0).unwrap().replace("  ", "\t")), "fresh");
}

#[test]
fn yaml_indented_with_tabs_is_unreadable() {
    assert_eq!(target_is(&yaml().replace("    ", "\t")), "unreadable");
    stays("tabs", &yaml().replace("    ", "\t"), "source-invalid unparseable");
}

#[test]
fn several_documents_are_no_kubeconfig() {
    let two = format!("{}---\n{}", yaml(), yaml());
    assert_eq!(target_is(&two), "unreadable");
    stays("two documents", &two, "source-invalid unparseable");
}

#[test]
fn base64_once_more_is_unreadable_and_never_copied() {
    let packed = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, yaml());
    assert_eq!(target_is(&packed), "unreadable base64-twice");
    stays("packed twice", &packed, "source-invalid unparseable");
}

#[test]
fn bytes_that_are_no_text_are_unreadable() {
    let given = given().of_target("data", json!({ "value": "/////w==" }));
    assert_eq!(given.about(DEMO), "unreadable behind-source → update selected stale");
    let given = super::given().of_target("data", json!({ "value": "not base64!" }));
    assert_eq!(given.about(DEMO), "unreadable behind-source → update selected stale");
}

#[test]
fn of_several_contexts_the_current_one_counts() {
    let several = |current: &str| {
        let mut config = config();
        config.0["contexts"] = json!([
            { "name": "old", "context": { "cluster": "demo", "user": "old" } },
            { "name": "demo", "context": { "cluster": "demo", "user": "admin" } }
        ]);
        config.0["users"] = json!([
            { "name": "old", "user": { "token": eks(minutes(-60)) } },
            { "name": "admin", "user": { "token": eks(minutes(-1)) } }
        ]);
        config.with("current-context", json!(current)).text()
    };
    assert_eq!(target_is(&several("demo")), "fresh");
    assert_eq!(target_is(&several("old")), "expired");
    assert_eq!(target_is(&several("")), "contract context");
}

#[test]
fn a_context_with_a_missing_user_leads_nowhere() {
    let config = config().with("users", json!([{ "name": "other", "user": {} }]));
    assert_eq!(target_is(&config.text()), "contract context");
    stays("no user", &config.text(), "source-invalid unparseable");
}

#[test]
fn two_users_of_one_name_are_no_kubeconfig() {
    let user = json!({ "name": "admin", "user": { "token": "x" } });
    assert_eq!(target_is(&config().with("users", json!([user, user])).text()), "unreadable");
}

#[test]
fn a_token_with_a_line_end_is_malformed() {
    for token in [format!("{}\n", eks(minutes(-1))), "opaque\n".to_owned(), "two words".to_owned()] {
        assert_eq!(target_is(&config().token(&token).text()), "unreadable token-malformed", "{token:?}");
    }
    stays("a line end", &config().token(&format!("{}\n", eks(minutes(-1)))).text(), "source-invalid unparseable");
}

#[test]
fn a_token_in_both_places_is_refused() {
    let user = json!({ "token": eks(minutes(-1)), "tokenFile": "/t" });
    assert_eq!(target_is(&config().user(user.clone()).text()), "exec-refused");
    stays("both", &config().user(user).text(), "source-invalid exec");
}

#[test]
fn a_token_in_a_bearer_string_is_malformed() {
    let token = format!("Bearer {}", eks(minutes(-1)));
    assert_eq!(target_is(&config().token(&token).text()), "unreadable token-malformed");
    stays("Bearer", &config().token(&token).text(), "source-invalid unparseable");
}

#[test]
fn sts_hosts_of_every_partition_are_taken() {
    let hosts = [
        "sts.amazonaws.com",
        "sts.cn-north-1.amazonaws.com.cn",
        "sts.us-gov-west-1.amazonaws.com",
        "sts-fips.us-east-1.amazonaws.com",
        "sts.us-iso-east-1.c2s.ic.gov",
        "sts.us-isob-east-1.sc2s.sgov.gov",
        "sts.eu-isoe-west-1.cloud.adc-e.uk",
        "sts.us-isof-south-1.csp.hci.ic.gov",
    ];
    for host in hosts {
        let token = eks_of(&format!("https://{host}/?{}", eks_query("20261116T095900Z")));
        assert_eq!(target_is(&config().token(&token).text()), "fresh", "{host}");
    }
}

#[test]
fn a_token_from_the_future_is_not_valid_yet() {
    assert_eq!(target_is(&config().signed(minutes(30)).text()), "not-yet-valid");
}

#[test]
fn a_chain_whose_intermediate_ends_first_ends_then() {
    let (leaf, intermediate) = (certificate("a", days(-10), days(300)), certificate("i", days(-300), days(-1)));
    let config = config().certified(&format!("{}{}", leaf.pem, intermediate.pem), &leaf.key);
    assert_eq!(target_is(&config.text()), "expired past-half-life");
}

#[test]
fn keys_of_every_kind_are_matched_with_their_certificates() {
    let kinds = [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519];
    for kind in kinds {
        let (one, other) =
            (certificate_with("a", days(-1), days(300), kind), certificate_with("a", days(-1), days(300), kind));
        assert_eq!(target_is(&config().certified(&one.pem, &one.key).text()), "fresh", "{kind:?}");
        assert_eq!(target_is(&config().certified(&one.pem, &other.key).text()), "unreadable", "{kind:?}");
    }
}

#[test]
fn a_key_that_is_not_the_certificate_s_makes_it_unreadable_and_a_source_invalid() {
    let (one, other) = (certificate("a", days(-1), days(300)), certificate("a", days(-1), days(300)));
    stays("another key", &config().certified(&one.pem, &other.key).text(), "source-invalid unparseable");
    let no_key = config().user(json!({ "client-certificate-data": base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &one.pem) }));
    assert_eq!(target_is(&no_key.text()), "unreadable");
}

#[test]
fn a_bundle_with_an_authority_that_ended_is_compared_and_the_end_is_said() {
    let ended = certificate("old", days(-900), days(-10)).pem;
    let bundle = format!("{}{ended}", authority("demo"));
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &bundle);
    let given = given()
        .both(&config().cluster("certificate-authority-data", json!(encoded)))
        .has(connection("team-a", "demo").key("cluster_certificate_authority_data", &encoded));
    assert_eq!(given.about(DEMO), "fresh");
    let judged = given.judged();
    let evidence = &judged.find(DEMO).unwrap().explanation.evidence;
    assert!(evidence.iter().any(|line| line.message.contains("ended at")), "{evidence:?}");
}

#[test]
fn a_server_by_its_address_and_without_a_port_is_compared() {
    let config = config().server("https://10.0.0.1").certificate(days(-1), days(300));
    let given =
        empty().object(plain_cluster("team-b", "k", "10.0.0.1", 443)).has(unowned_target("team-b", "k", &config));
    assert_eq!(given.about("team-b/k-kubeconfig"), "fresh");
}

#[test]
fn a_paused_or_going_cluster_is_judged_and_left_alone() {
    let behind = given().target(&config().signed(minutes(-9)));
    let paused = behind.clone().set("Cluster", "demo", "spec.paused", json!(true));
    assert_eq!(paused.about(DEMO), "behind-source → update selected stale blocked:paused");
    let going = behind.set("Cluster", "demo", "metadata.deletionTimestamp", json!("2026-11-16T09:00:00Z"));
    assert_eq!(going.about(DEMO), "behind-source → update selected stale blocked:deleting");
}

#[test]
fn a_control_plane_of_another_name_is_pointed_at() {
    let given = empty().object(capi_cluster("team-a", "demo")).object(plane("team-a", "demo-cp"));
    let given = given.set("Cluster", "demo", "spec.controlPlaneRef.name", json!("demo-cp"));
    assert_eq!(given.about(DEMO), "missing expectations-disagree plane-name source-missing");
    assert_eq!(given.about("team-a/demo-cp-kubeconfig"), "no subject");
    let judged = given.judged();
    let evidence = &judged.find(DEMO).unwrap().explanation.evidence;
    assert!(evidence.iter().any(|line| line.message.contains("demo-cp")), "{evidence:?}");
}

#[test]
fn an_owner_recreated_after_a_restore_is_dead() {
    let secret = target("team-a", "demo", &config());
    let owned = secret.owned("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane", "demo", "before-the-restore");
    assert_eq!(given().has(owned).about(DEMO), "contract owner → patch selected differs");
}

#[test]
fn a_clock_that_is_off_by_five_minutes_changes_no_verdict() {
    for minutes in [-5, 5] {
        let given = given().both(&config().signed(now())).at(self::minutes(minutes));
        assert_eq!(given.about(DEMO), "fresh", "{minutes}");
    }
}
