//! `trueup oidc render` and `trueup oidc login`, as a shell sees them.

use tempfile::TempDir;
use trueup_core::engine::{Action, Plan};

use super::fixture::{add, folder, guest_with_an_orphan, run, transcript};

const FLEET: &str = "now: 2026-11-16T10:00:00Z\nclusters:\n  ocp: { class: stage }\n";

/// A cluster whose Authentication has this spec.
fn cluster(spec: &str) -> TempDir {
    folder(&[
        ("fleet.yaml", FLEET),
        ("clusters/ocp/all.yaml", &objects(spec)),
        ("claims.json", r#"{"sub":"jane","groups":["dev"]}"#),
    ])
}

fn objects(spec: &str) -> String {
    format!(
        "apiVersion: config.openshift.io/v1\nkind: Authentication\nmetadata: {{ name: cluster, uid: a, resourceVersion: \"1\" }}\nspec: {spec}\n\
         ---\napiVersion: operator.openshift.io/v1\nkind: KubeAPIServer\nmetadata: {{ name: cluster, uid: k, resourceVersion: \"2\" }}\n\
         ---\napiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {{ name: version, uid: v, resourceVersion: \"3\" }}\n\
         status: {{ desired: {{ version: 4.20.3 }} }}\n"
    )
}

const VALID: &str = r#"{ type: OIDC, oidcProviders: [ { name: idp, issuer: { issuerURL: "https://idp.example.com", audiences: [app] }, claimMappings: { username: { claim: sub }, groups: { claim: groups, prefix: "g:" } } } ] }"#;

const RENDER: [&str; 4] = ["oidc", "render", "--from", "$TMP"];
const LOGIN: [&str; 8] = ["oidc", "login", "--from", "$TMP", "--claims", "$TMP/claims.json", "-o", "json"];

#[test]
fn a_valid_authentication_is_printed_byte_for_byte() {
    let output = run(&cluster(VALID), &RENDER);
    let expected = r#"{"kind":"AuthenticationConfiguration","apiVersion":"apiserver.config.k8s.io/v1beta1","jwt":[{"issuer":{"url":"https://idp.example.com","audiences":["app"],"audienceMatchPolicy":"MatchAny"},"claimMappings":{"username":{"claim":"sub","prefix":"https://idp.example.com#"},"groups":{"claim":"groups","prefix":"g:"},"uid":{"claim":"sub"}}}]}"#;
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!((String::from_utf8_lossy(&output.stderr).as_ref(), output.status.code()), ("", Some(0)));
}

#[test]
fn problems_are_listed_and_decide_the_exit_code() {
    let lockout = "{ type: OIDC }";
    let twice = VALID.replace(
        "claimMappings",
        "claimValidationRules: [ { type: RequiredClaim, requiredClaim: { claim: hd, requiredValue: x } }, { type: RequiredClaim, requiredClaim: { claim: hd, requiredValue: y } } ], claimMappings",
    );
    let invalid = VALID.replace("https://idp.example.com", "http://idp.example.com").replace("[app]", "[]");
    let missing = VALID.replace("audiences", "issuerCertificateAuthority: { name: ca }, audiences");
    let cases = [
        ("lockout", lockout.to_owned(), true, &["no-providers: spec.oidcProviders"][..]),
        (
            "kube-apiserver would refuse it",
            twice,
            true,
            &["claim-rule-duplicate: spec.oidcProviders[0].claimValidationRules[1].requiredClaim.claim"],
        ),
        (
            "invalid",
            invalid,
            false,
            &[
                "issuer-url-invalid: spec.oidcProviders[0].issuer.issuerURL",
                "audiences-empty: spec.oidcProviders[0].issuer.audiences",
            ],
        ),
        (
            "no bundle",
            missing,
            false,
            &["ca-configmap-missing: spec.oidcProviders[0].issuer.issuerCertificateAuthority.name"],
        ),
    ];
    for (case, spec, printed, problems) in cases {
        let output = run(&cluster(&spec), &RENDER);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), !output.stdout.is_empty()), (Some(3), printed), "case: {case}: {said}");
        for problem in problems {
            assert!(said.contains(&format!("problem: {problem}")), "case: {case}: {said}");
        }
        assert_eq!(said.matches("problem: ").count(), problems.len(), "case: {case}: {said}");
    }
}

#[test]
fn another_type_renders_nothing_and_reports_it() {
    insta::assert_snapshot!(transcript(&cluster("{ type: IntegratedOAuth }"), &RENDER), @r##"
    ----- stderr
    the type of Authentication/cluster is IntegratedOAuth, so there is no auth-config to render
    ----- exit 0
    "##);
}

#[test]
fn several_clusters_need_a_name() {
    let two = || {
        folder(&[
            ("fleet.yaml", "now: 2026-11-16T10:00:00Z\nclusters:\n  east: {}\n  west: {}\n"),
            ("clusters/east/a.yaml", &objects(VALID)),
            ("clusters/west/a.yaml", &objects("{ type: OIDC }")),
        ])
    };
    insta::assert_snapshot!(transcript(&two(), &RENDER), @"
    ----- stderr
    trueup: oidc: there are 2 clusters; name one of: east, west with --cluster
    ----- exit 1
    ");
    insta::assert_snapshot!(transcript(&two(), &[&RENDER[..], &["--cluster", "north"]].concat()), @"
    ----- stderr
    trueup: --cluster: no cluster is named north; name one of: east, west
    ----- exit 1
    ");
    let west = run(&two(), &[&RENDER[..], &["--cluster", "west"]].concat());
    assert_eq!(west.status.code(), Some(3));
    let expected =
        r#"{"kind":"AuthenticationConfiguration","apiVersion":"apiserver.config.k8s.io/v1beta1","jwt":null}"#;
    assert_eq!(String::from_utf8_lossy(&west.stdout), expected);
}

#[test]
fn a_hosted_guest_is_rendered_from_its_hosted_cluster() {
    let output = run(&guest_with_an_orphan(), &[&RENDER[..], &["--cluster", "guest-a"]].concat());
    let (bytes, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(bytes.starts_with(r#"{"kind":"AuthenticationConfiguration""#) && bytes.contains("https://idp"), "{bytes}");
    assert!(said.contains("HyperShift writes a file of its own"), "{said}");
    assert!(said.contains("client-secret-missing: spec.configuration.authentication.oidcProviders[0]"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// The same cluster with a candidate beside it.
fn beside(spec: &str, file: &str) -> TempDir {
    let folder = cluster(spec);
    std::fs::write(folder.path().join("candidate.yaml"), file).expect("the folder can be written");
    folder
}

fn authentication(spec: &str) -> String {
    format!("apiVersion: config.openshift.io/v1\nkind: Authentication\nmetadata: {{ name: cluster }}\nspec: {spec}\n")
}

#[test]
fn a_candidate_in_a_file_is_judged_instead_of_what_the_cluster_has() {
    const FILE: [&str; 2] = ["-f", "$TMP/candidate.yaml"];
    let integrated = VALID.replace("type: OIDC", "type: IntegratedOAuth");
    let misspelled = VALID.replace("groups:", "group:");
    let own = "{ type: IntegratedOAuth }";
    // Case, the file, the exit code, whether bytes are printed, what is said.
    let cases = [
        ("valid", authentication(VALID), 0, true, ""),
        (
            "another type",
            authentication(&integrated),
            0,
            true,
            "the type in the file is IntegratedOAuth; it is judged as if",
        ),
        ("no provider", authentication("{ type: None }"), 0, false, "there is no auth-config to render"),
        (
            "an unknown field",
            authentication(&misspelled),
            3,
            false,
            "unknown-field: spec.oidcProviders[0].claimMappings.group",
        ),
        ("another kind", "apiVersion: v1\nkind: Secret\n".to_owned(), 1, false, "it holds Secret"),
        ("not YAML", "a: [".to_owned(), 1, false, "-f "),
    ];
    for (case, file, code, printed, what) in cases {
        let output = run(&beside(own, &file), &[&RENDER[..], &FILE].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), !output.stdout.is_empty()), (Some(code), printed), "case: {case}: {said}");
        assert!(said.contains(what), "case: {case}: {said}");
    }
    let login = run(&beside(own, &authentication(VALID)), &[&LOGIN[..], &FILE].concat());
    let answer = String::from_utf8_lossy(&login.stdout);
    assert!(answer.contains(r#""username":"https://idp.example.com#jane""#), "{answer}");
    assert_eq!(login.status.code(), Some(0));
}

#[test]
fn a_hosted_cluster_in_a_file_is_judged_in_its_management_cluster() {
    let hosted = |spec: &str| {
        let folder = guest_with_an_orphan();
        let file = format!(
            "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\n\
             metadata: {{ name: guest-a, namespace: clusters }}\nspec: {{ configuration: {{ authentication: {spec} }} }}\n"
        );
        std::fs::write(folder.path().join("candidate.yaml"), file).expect("the folder can be written");
        folder
    };
    for cluster in ["mgmt", "guest-a"] {
        let of = |spec: &str| {
            run(&hosted(spec), &[&RENDER[..], &["-f", "$TMP/candidate.yaml", "--cluster", cluster]].concat())
        };
        let valid = of(VALID);
        let said = String::from_utf8_lossy(&valid.stderr);
        assert_eq!((valid.status.code(), valid.stdout.is_empty()), (Some(0), false), "{cluster}: {said}");
        let missing = of(&VALID.replace("audiences", "issuerCertificateAuthority: { name: ca }, audiences"));
        let said = String::from_utf8_lossy(&missing.stderr);
        assert!(said.contains("there is no ConfigMap clusters/ca"), "{cluster}: {said}");
        assert_eq!((missing.status.code(), missing.stdout.is_empty()), (Some(3), true), "{cluster}");
        assert_eq!(of("{ oidcProviders: [] }").status.code(), Some(3), "{cluster}: no type");
    }
}

#[test]
fn an_accepted_login_prints_the_identity() {
    insta::assert_snapshot!(transcript(&cluster(VALID), &LOGIN), @r#"
    {"accepted":true,"username":"https://idp.example.com#jane","uid":"jane","groups":["g:dev"],"extra":{},"warnings":[],"assumed":["iss","aud","exp"]}
    ----- stderr
    ----- exit 0
    "#);
    insta::assert_snapshot!(transcript(&cluster(VALID), &LOGIN[..6]), @"
    username  https://idp.example.com#jane
    uid       jane
    groups    g:dev
    assumed   iss, aud, exp (not among the claims)
    ----- stderr
    ----- exit 0
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_to_a_live_guest_is_judged_by_its_hosted_cluster() {
    let fleet = super::live::fleet().await;
    add(fleet.dir.path(), &[("claims.json", r#"{"sub":"jane","email":"jane@example.com","email_verified":true}"#)]);
    let login = |cluster: &str| {
        let args = ["oidc", "login", "--kubeconfig", "$TMP/kubeconfig", "--claims", "$TMP/claims.json", "-o", "json"];
        let output = tokio::task::block_in_place(|| run(&fleet.dir, &[&args[..], &["--cluster", cluster]].concat()));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (answer, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (answer, code, said) = login("guest-a");
    assert_eq!((answer["username"].as_str(), code), (Some("jane@example.com"), Some(0)), "{answer} {said}");
    let (_, code, said) = login("guest-b");
    assert!(code == Some(1) && said.contains("no cluster is named guest-b; name one of: guest-a, mgmt"), "{said}");
    // What the HostedCluster says now is what counts.
    let change = |object: &mut serde_json::Value| {
        let provider = &mut object["spec"]["configuration"]["authentication"]["oidcProviders"][0];
        let rule = serde_json::json!({"claim": "hd", "requiredValue": "x"});
        provider["claimValidationRules"] = serde_json::json!([{"type": "RequiredClaim", "requiredClaim": rule}]);
    };
    fleet.mgmt.edit("hypershift.openshift.io/v1beta1", "HostedCluster", "clusters/guest-a", change).unwrap();
    let (answer, code, said) = login("guest-a");
    assert_eq!((answer["rule"].as_str(), code), (Some("hd = x"), Some(3)), "{answer} {said}");
}

#[test]
fn a_refused_login_names_the_rule() {
    let ruled = VALID.replace("claimMappings", "claimValidationRules: [ { type: RequiredClaim, requiredClaim: { claim: hd, requiredValue: x } } ], claimMappings");
    insta::assert_snapshot!(transcript(&cluster(&ruled), &LOGIN), @r#"
    {"accepted":false,"refused_by":"claim-rule","rule":"hd = x","message":"required claim hd is not in the token"}
    ----- stderr
    ----- exit 3
    "#);
    let output = run(&cluster("{ type: OIDC }"), &LOGIN);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (answer["accepted"].as_bool(), answer["refused_by"].as_str(), output.status.code()),
        (Some(false), Some("issuer"), Some(3))
    );
}

#[test]
fn invalid_claims_are_refused_without_being_printed() {
    let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.";
    let cases = [
        ("a list", "[\"canary\"]", "claims have to be a JSON object"),
        ("broken", "{\"canary\":", "it is not JSON (line 1"),
        ("an unsigned token", unsigned, "nothing unsigned"),
        ("bad base64", "canary!.canary.x", "no base64url"),
        ("nothing", "", "it is empty"),
    ];
    for (case, text, expected) in cases {
        let dir = folder(&[("fleet.yaml", FLEET), ("clusters/ocp/all.yaml", &objects(VALID)), ("claims.json", text)]);
        let output = run(&dir, &LOGIN);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected) && !said.contains("canary"), "case: {case}: {said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "case: {case}");
    }
    let gone = run(&cluster(VALID), &["oidc", "login", "--from", "$TMP", "--claims", "$TMP/gone.json"]);
    assert_eq!(gone.status.code(), Some(1));
}

#[test]
fn an_unknown_result_is_not_accepted() {
    let fleet = "now: 2026-11-16T10:00:00Z\nclusters:\n  ocp: { incomplete: [ \"v1/configmaps@openshift-config\" ] }\n";
    let spec = VALID.replace("audiences", "issuerCertificateAuthority: { name: ca }, audiences");
    let dir = folder(&[("fleet.yaml", fleet), ("clusters/ocp/all.yaml", &objects(&spec))]);
    let output = run(&dir, &RENDER);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("unknown: spec.oidcProviders[0].issuer.issuerCertificateAuthority.name"), "{said}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{said}");
}

#[test]
fn the_switch_is_planned_only_where_the_config_enables_it() {
    let spec = VALID.replace("type: OIDC", "type: IntegratedOAuth");
    let dir = folder(&[
        ("fleet.yaml", FLEET),
        ("clusters/ocp/all.yaml", &objects(&spec)),
        ("manage.toml", "[domains.external-oidc]\nmanage = true\n"),
        ("offer.toml", "[domains.external-oidc]\noffer_switch = true\n"),
        ("both.toml", "[domains.external-oidc]\nmanage = true\noffer_switch = true\n"),
    ]);
    for (config, offered) in [("manage.toml", false), ("offer.toml", false), ("both.toml", true)] {
        let config = format!("$TMP/{config}");
        let args = ["plan", "--from", "$TMP", "-o", "json", "--domain", "external-oidc", "--config", &config];
        let plan = Plan::read(&String::from_utf8(run(&dir, &args).stdout).unwrap()).unwrap();
        let patches: Vec<&Action> = plan.actions.iter().filter(|action| action.verb().as_str() == "patch").collect();
        assert_eq!(patches.len(), usize::from(offered), "{config}: {:?}", plan.actions);
        for patch in patches {
            assert_eq!((patch.selected, u8::from(patch.tier), patch.reason.as_str()), (false, 3, "differs"));
            let gates: Vec<&str> = patch.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
            assert_eq!(gates, ["access", "access"], "no certificates, and no administrator: {:?}", patch.blocked_by);
        }
    }
}
