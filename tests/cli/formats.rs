//! Every output format of `plan` and `show`, over the same small fleet.

use serde_json::Value;

use super::fixture::{guest_with_an_orphan, run, run_with_state, transcript};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn yaml_is_the_tree_of_the_json_with_id_and_mark() {
    let dir = guest_with_an_orphan();
    let [json, yaml] = ["json", "yaml"].map(|format| {
        let output = run_with_state(&dir, &["plan", "--from", "$TMP", "-o", format]);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stdout)
    });
    let json: Value = serde_json::from_str(&json).unwrap();
    let read: Value = serde_saphyr::from_str(&yaml).unwrap();
    assert_eq!(read, json);
    assert!(json["mark"].is_string());
    assert!(yaml.starts_with("schema: trueup/plan/v1\nid: sha256:"), "{yaml}");
}

#[test]
fn names_can_be_passed_to_kubectl() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "-o", "name"]), @r##"
secret/old-client
----- stderr
----- exit 2
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "-o", "name", "-v"]), @r##"
secret/client
secret/old-client
hostedcluster.hypershift.openshift.io/guest-a
----- stderr
----- exit 2
"##);
}

#[test]
fn a_wide_table_has_check_codes_and_actions() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc", "-o", "wide", "-v"]), @r##"
plan $ID  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

guest-a  prod  snapshot
  = ok      Secret         openshift-config/client      referenced     41d  hosted-oidc                             in use by an OIDC provider
  - extra   Secret         openshift-config/old-client  orphan-certain 41d  hosted-oidc                         a1  no OIDC provider references it; labelled as an OIDC copy

  [x] a1 T3 delete   Secret openshift-config/old-client  no-referrer, undo: restore-from-backup, uid: s-2, finding: hosted-oidc/guest-a/Secret/openshift-config/old-client

mgmt  prod  snapshot
  = ok      HostedCluster  clusters/guest-a             valid               hosted-oidc  client-secret-missing      type OIDC, with warnings: client-secret-missing

2 clusters; 3 findings: 2 ok, 1 extra; 1 action: 1 delete
----- stderr
----- exit 2
"##);
}

#[test]
fn junit_has_a_suite_per_check_and_a_failure_per_difference() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "-o", "junit"]), @r##"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite id="0" package="trueup" name="hosted-oidc" hostname="localhost" timestamp="2026-11-16T10:00:00" tests="3" failures="1" errors="0" skipped="0" time="0">
    <properties>
      <property name="plan" value="sha256:$ID"/>
      <property name="trueup" value="0.1.0"/>
    </properties>
    <testcase classname="hosted-oidc.guest-a" name="Secret openshift-config/client" time="0"/>
    <testcase classname="hosted-oidc.guest-a" name="Secret openshift-config/old-client" time="0">
      <failure type="orphan-certain" message="extra: no OIDC provider references it; labelled as an OIDC copy">finding: hosted-oidc/guest-a/Secret/openshift-config/old-client
evidence: authentication type is OIDC (mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.type)
evidence: no provider names it (mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.oidcProviders)
evidence: Authentication/cluster does not reference it (guest-a Authentication cluster spec.oidcProviders)
evidence: no component uses a client that HostedControlPlane does not list (guest-a Authentication cluster status.oidcClients)
evidence: no APIServer, OAuth config refers to it (guest-a config.openshift.io/v1)
evidence: label hypershift.openshift.io/oidc-provider-managed=true; label hypershift.openshift.io/managed=true; fingerprint: exactly the key clientSecret, no owner (guest-a Secret openshift-config/old-client metadata.labels)
action: a1 T3 delete Secret openshift-config/old-client</failure>
    </testcase>
    <testcase classname="hosted-oidc.mgmt" name="HostedCluster clusters/guest-a" time="0"/>
    <system-out/>
    <system-err/>
  </testsuite>
</testsuites>
----- stderr
----- exit 2
"##);
}

#[test]
fn sarif_has_a_rule_per_verdict_and_a_result_per_difference() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "-o", "sarif"]), @r##"
{
  "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
  "version": "2.1.0",
  "runs": [
    {
      "tool": {"driver":{"name":"trueup","rules":[{"id":"hosted-oidc/orphan-certain","name":"orphan-certain","properties":{"check":"hosted-oidc"},"shortDescription":{"text":"orphan-certain (hosted-oidc)"}}],"semanticVersion":"0.1.0","version":"0.1.0"}},
      "automationDetails": {"id":"trueup/sha256:$ID"},
      "invocations": [{"endTimeUtc":"2026-11-16T10:00:00Z","executionSuccessful":true}],
      "results": [
        {"kind":"fail","level":"warning","locations":[{"logicalLocations":[{"fullyQualifiedName":"guest-a/openshift-config/secret/old-client","kind":"object","name":"old-client","properties":{"namespace":"openshift-config"}}]}],"message":{"text":"no OIDC provider references it; labelled as an OIDC copy"},"partialFingerprints":{"finding/v1":"hosted-oidc/guest-a/Secret/openshift-config/old-client"},"properties":{"actions":["a1"],"check":"hosted-oidc","cluster":"guest-a","codes":[],"state":"extra"},"relatedLocations":[{"id":0,"logicalLocations":[{"fullyQualifiedName":"mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.type"}],"message":{"text":"authentication type is OIDC"}},{"id":1,"logicalLocations":[{"fullyQualifiedName":"mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.oidcProviders"}],"message":{"text":"no provider names it"}},{"id":2,"logicalLocations":[{"fullyQualifiedName":"guest-a Authentication cluster spec.oidcProviders"}],"message":{"text":"Authentication/cluster does not reference it"}},{"id":3,"logicalLocations":[{"fullyQualifiedName":"guest-a Authentication cluster status.oidcClients"}],"message":{"text":"no component uses a client that HostedControlPlane does not list"}},{"id":4,"logicalLocations":[{"fullyQualifiedName":"guest-a config.openshift.io/v1"}],"message":{"text":"no APIServer, OAuth config refers to it"}},{"id":5,"logicalLocations":[{"fullyQualifiedName":"guest-a Secret openshift-config/old-client metadata.labels"}],"message":{"text":"label hypershift.openshift.io/oidc-provider-managed=true; label hypershift.openshift.io/managed=true; fingerprint: exactly the key clientSecret, no owner"}}],"ruleId":"hosted-oidc/orphan-certain","ruleIndex":0}
      ]
    }
  ]
}
----- stderr
----- exit 2
"##);
}

#[test]
fn openmetrics_count_findings_and_actions() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "-o", "openmetrics"]), @r##"
# TYPE trueup_findings gauge
# HELP trueup_findings Findings by cluster, check and state.
trueup_findings{cluster="guest-a",check="hosted-oidc",state="match"} 1
trueup_findings{cluster="guest-a",check="hosted-oidc",state="missing"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="extra"} 1
trueup_findings{cluster="guest-a",check="hosted-oidc",state="drift"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="stale"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="unknown"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="error"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="blocked"} 0
trueup_findings{cluster="mgmt",check="hosted-oidc",state="match"} 1
trueup_findings{cluster="mgmt",check="hosted-oidc",state="missing"} 0
trueup_findings{cluster="mgmt",check="hosted-oidc",state="extra"} 0
trueup_findings{cluster="mgmt",check="hosted-oidc",state="drift"} 0
trueup_findings{cluster="mgmt",check="hosted-oidc",state="stale"} 0
trueup_findings{cluster="mgmt",check="hosted-oidc",state="unknown"} 0
trueup_findings{cluster="mgmt",check="hosted-oidc",state="error"} 0
trueup_findings{cluster="mgmt",check="hosted-oidc",state="blocked"} 0
# TYPE trueup_actions gauge
# HELP trueup_actions Planned actions by cluster, check, verb, and whether a gate blocks them.
trueup_actions{cluster="guest-a",check="hosted-oidc",verb="delete",blocked="false"} 1
# TYPE trueup_plan_created_timestamp_seconds gauge
# UNIT trueup_plan_created_timestamp_seconds seconds
trueup_plan_created_timestamp_seconds 1794823200
# TYPE trueup_plan_expires_timestamp_seconds gauge
# UNIT trueup_plan_expires_timestamp_seconds seconds
trueup_plan_expires_timestamp_seconds 1794824100
# TYPE trueup_build info
trueup_build_info{version="0.1.0"} 1
# EOF
----- stderr
----- exit 2
"##);
}

#[test]
fn a_saved_plan_is_shown_in_every_format_as_plan_printed_it() {
    let dir = guest_with_an_orphan();
    let file = dir.path().join("plan.json");
    let file = file.to_str().unwrap();
    run_with_state(&dir, &["plan", "--from", "$TMP", "--out", file]);
    for format in ["json", "yaml", "name", "markdown", "csv", "junit", "sarif", "openmetrics"] {
        // With a file the mark is in both.
        let planned = run_with_state(&dir, &["plan", "--from", "$TMP", "--utc", "-o", format, "--out", file]);
        let shown = run_with_state(&dir, &["show", file, "--from", "$TMP", "--utc", "-o", format]);
        assert_eq!(text(&shown.stdout), text(&planned.stdout), "{format}");
    }
}

#[test]
fn an_empty_plan_is_a_whole_document_in_every_format() {
    let dir = guest_with_an_orphan();
    let plan = |format: &str| {
        let args = ["plan", "--from", "$TMP", "--cluster", "mgmt", "--changes-only", "-o", format];
        let output = run(&dir, &args);
        assert_eq!(output.status.code(), Some(0), "{format}");
        text(&output.stdout)
    };
    assert_eq!(plan("name"), "");
    assert_eq!(plan("junit"), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n</testsuites>\n");
    let sarif: Value = serde_json::from_str(&plan("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
    let yaml: Value = serde_saphyr::from_str(&plan("yaml")).unwrap();
    assert_eq!((&yaml["findings"], &yaml["actions"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(plan("openmetrics").ends_with("\n# EOF\n"));
}

#[test]
fn a_document_cannot_be_watched() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--watch", "-o", "sarif"]), @r##"
----- stderr
trueup: --watch: sarif cannot be continued; use -o table, wide or json
----- exit 1
"##);
}
