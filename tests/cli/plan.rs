//! `trueup plan` and `trueup explain` as a shell sees them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::fixture::{COPIES, add, folder, guest_with_an_orphan, run, run_with_state, transcript};

const WARN: &str = "[safety]\nmanaged_elsewhere = \"warn\"\n";

#[test]
fn a_plan_shows_findings_actions_and_totals() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc"]), @r##"
plan $ID  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

guest-a  prod  snapshot
  - extra   Secret  openshift-config/old-client  orphan-certain 41d  no OIDC provider references it; labelled as an OIDC copy
  = ok      1

  [x] a1 T3 delete   Secret openshift-config/old-client  no-referrer, undo: restore-from-backup

mgmt  prod  snapshot
  = ok      1

2 clusters; 3 findings: 2 ok, 1 extra; 1 action: 1 delete
----- stderr
----- exit 2
"##);
}

#[test]
fn without_a_command_it_is_the_same_table() {
    let dir = guest_with_an_orphan();
    let plain = transcript(&dir, &["--from", "$TMP", "--utc"]);
    assert_eq!(plain, transcript(&dir, &["plan", "--from", "$TMP", "--utc"]));
}

#[test]
fn verbose_lists_matches_and_colour_can_be_forced() {
    let dir = guest_with_an_orphan();
    let shown =
        transcript(&dir, &["plan", "--from", "$TMP", "--utc", "-v", "--color", "always"]).replace('\x1b', "ESC");
    insta::assert_snapshot!(shown, @r##"
ESC[1mplan $IDESC[0m  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

ESC[1mguest-aESC[0m  prod  snapshot
  ESC[32m= ok     ESC[0m Secret         openshift-config/client      referenced     41d  in use by an OIDC provider
  ESC[35m- extra  ESC[0m Secret         openshift-config/old-client  orphan-certain 41d  no OIDC provider references it; labelled as an OIDC copy

  [x] a1 T3 delete   Secret openshift-config/old-client  no-referrer, undo: restore-from-backup

ESC[1mmgmtESC[0m  prod  snapshot
  ESC[32m= ok     ESC[0m HostedCluster  clusters/guest-a             valid               type OIDC, with warnings: client-secret-missing

2 clusters; 3 findings: 2 ok, 1 extra; 1 action: 1 delete
----- stderr
----- exit 2
"##);
}

#[test]
fn what_argo_cd_manages_is_not_deleted_unless_the_config_only_warns() {
    let dir = guest_with_an_orphan();
    let marked = COPIES.replace("labels: {", "labels: { argocd.argoproj.io/instance: shop,");
    add(dir.path(), &[("clusters/guest-a/openshift-config.yaml", &marked), ("warn.toml", WARN)]);
    let blocked = transcript(&dir, &["plan", "--from", "$TMP", "--utc"]);
    let line = "x managed-elsewhere: Argo CD (application shop) manages it and would create it again; remove it there, \
        or set [safety] managed_elsewhere = \"warn\"";
    assert!(blocked.contains(line) && blocked.ends_with("exit 3\n"), "{blocked}");
    assert!(blocked.contains("[x] a1 T3 delete"), "verdict, tier and selection stay: {blocked}");
    let warned = transcript(&dir, &["plan", "--from", "$TMP", "--utc", "--config", "$TMP/warn.toml"]);
    assert!(!warned.contains("x managed-elsewhere") && warned.ends_with("exit 2\n"), "{warned}");
    let explained = transcript(&dir, &["explain", "secret/old-client", "-n", "openshift-config", "--from", "$TMP"]);
    assert!(explained.contains("Argo CD (application shop) manages it"), "{explained}");
}

#[test]
fn read_only_blocks_every_action() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc", "--read-only"]), @r##"
plan $ID  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

guest-a  prod  snapshot
  - extra   Secret  openshift-config/old-client  orphan-certain 41d  no OIDC provider references it; labelled as an OIDC copy
  = ok      1

  [x] a1 T3 delete   Secret openshift-config/old-client  no-referrer, undo: restore-from-backup
         x read-only: started with --read-only; leave the flag out to write

mgmt  prod  snapshot
  = ok      1

2 clusters; 3 findings: 2 ok, 1 extra; 1 action: 1 delete; 1 blocked
----- stderr
----- exit 3
"##);
}

#[test]
fn markdown_fits_a_change_ticket() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc", "-o", "markdown"]), @r##"
# Plan `sha256:$ID`

Made 2026-11-16 10:00:00 UTC, valid until 2026-11-16 10:15:00 UTC, by trueup 0.1.0.

## Clusters

| cluster | class | source | kube-system uid |
| --- | --- | --- | --- |
| guest-a | prod | snapshot |  |
| mgmt | prod | snapshot |  |

## Actions

|  | id | tier | verb | cluster | target | reason | undo | blocked by |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| x | a1 | T3 | delete | guest-a | Secret openshift-config/old-client | no-referrer | restore-from-backup |  |

## Findings

### extra: Secret openshift-config/old-client

no OIDC provider references it; labelled as an OIDC copy.

- id: hosted-oidc/guest-a/Secret/openshift-config/old-client
- verdict: orphan-certain
- evidence 1: authentication type is OIDC (mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.type)
- evidence 2: no provider names it (mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.oidcProviders)
- evidence 3: Authentication/cluster does not reference it (guest-a Authentication cluster spec.oidcProviders)
- evidence 4: no component uses a client that HostedControlPlane does not list (guest-a Authentication cluster status.oidcClients)
- evidence 5: no APIServer, OAuth config refers to it (guest-a config.openshift.io/v1)
- evidence 6: label hypershift.openshift.io/oidc-provider-managed=true; label hypershift.openshift.io/managed=true; fingerprint: exactly the key clientSecret, no owner (guest-a Secret openshift-config/old-client metadata.labels)

As expected: 2.
----- stderr
----- exit 2
"##);
}

#[test]
fn csv_has_one_row_per_finding() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "-o", "csv"]), @r##"
id,domain,cluster,kind,namespace,name,state,verdict,codes,summary,actions
hosted-oidc/guest-a/Secret/openshift-config/client,hosted-oidc,guest-a,Secret,openshift-config,client,match,referenced,,in use by an OIDC provider,
hosted-oidc/guest-a/Secret/openshift-config/old-client,hosted-oidc,guest-a,Secret,openshift-config,old-client,extra,orphan-certain,,"no OIDC provider references it; labelled as an OIDC copy",a1 delete
hosted-oidc/mgmt/HostedCluster/clusters/guest-a,hosted-oidc,mgmt,HostedCluster,clusters,guest-a,match,valid,client-secret-missing,"type OIDC, with warnings: client-secret-missing",
----- stderr
----- exit 2
"##);
}

#[test]
fn json_is_the_plan_and_its_id_is_right() {
    let dir = guest_with_an_orphan();
    let output = run(&dir, &["plan", "--from", "$TMP", "-o", "json"]);
    let plan = trueup_core::engine::Plan::read(&String::from_utf8(output.stdout).unwrap()).unwrap();
    let states: Vec<&str> = plan.findings.iter().map(|finding| finding.state.as_str()).collect();
    assert_eq!((states, plan.actions.len(), output.status.code()), (vec!["match", "extra", "match"], 1, Some(2)));
}

#[test]
fn changes_only_leaves_matches_out() {
    let dir = guest_with_an_orphan();
    let output = run(&dir, &["plan", "--from", "$TMP", "-o", "json", "--changes-only"]);
    let plan = trueup_core::engine::Plan::read(&String::from_utf8(output.stdout).unwrap()).unwrap();
    assert_eq!(plan.findings.iter().map(|finding| finding.state.as_str()).collect::<Vec<_>>(), ["extra"]);
}

#[test]
fn a_plan_file_has_mode_600_and_the_json_output() {
    let dir = guest_with_an_orphan();
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("plan.json");
    let output = run_with_state(&dir, &["plan", "--from", "$TMP", "-o", "json", "--out", path.to_str().unwrap()]);
    assert_eq!(fs::read(&path).unwrap(), output.stdout);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let plan = trueup_core::engine::Plan::read(&fs::read_to_string(&path).unwrap()).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(&format!("plan {} written to ", plan.id)), "{said}");
}

#[test]
fn a_plan_file_that_is_a_link_is_refused() {
    let dir = guest_with_an_orphan();
    let out = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(dir.path().join("victim"), out.path().join("plan.json")).unwrap();
    let path = out.path().join("plan.json");
    let output = run(&dir, &["plan", "--from", "$TMP", "--out", path.to_str().unwrap()]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), b"".as_slice()));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it is a symbolic link, which is not followed"));
    assert!(!dir.path().join("victim").exists());
}

#[test]
fn filters_narrow_and_a_filter_without_matches_is_an_error() {
    let dir = guest_with_an_orphan();
    let code = |args: &[&str]| run(&dir, &[&["plan", "--from", "$TMP"], args].concat()).status.code();
    let cases: [(&str, &[&str], i32); 6] = [
        ("its cluster", &["--cluster", "guest-*"], 2),
        ("another cluster", &["--cluster", "mgmt"], 0),
        ("its namespace", &["--namespace", "openshift-config"], 2),
        ("a namespace without subjects", &["--namespace", "clusters"], 0),
        ("its domain", &["--domain", "hosted-oidc"], 2),
        ("two clusters", &["--cluster", "mgmt", "--cluster", "guest-a"], 2),
    ];
    for (case, args, expected) in cases {
        assert_eq!(code(args), Some(expected), "case: {case}");
    }
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--cluster", "guest-b"]), @r##"
----- stderr
trueup: --cluster: no match for guest-b; there are: guest-a, mgmt
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--domain", "hosted-odic"]), @r##"
----- stderr
trueup: --domain: no match for hosted-odic; there are: hosted-oidc, external-oidc, kubeconfig, powervs-tags, machineset-capacity
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--namespace", "openshift-confg"]), @r##"
----- stderr
trueup: --namespace: no match for openshift-confg; there are: openshift-config, clusters, clusters-guest-a
----- exit 1
"##);
}

#[test]
fn explain_shows_one_finding_in_full() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["explain", "old-client", "--from", "$TMP", "--utc"]), @r##"
Secret openshift-config/old-client in guest-a
- extra, orphan-certain, created 41d ago
no OIDC provider references it; labelled as an OIDC copy
id: hosted-oidc/guest-a/Secret/openshift-config/old-client

EXPECTED
  nothing

ACTUAL
  data:
    clientSecret: <10 bytes>
  exists: true
  labels:
    hypershift.openshift.io/managed: true
    hypershift.openshift.io/oidc-provider-managed: true
  type: Opaque

EVIDENCE
  1 authentication type is OIDC
    mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.type (version 11)
  2 no provider names it
    mgmt HostedControlPlane clusters-guest-a/guest-a spec.configuration.authentication.oidcProviders (version 11)
  3 Authentication/cluster does not reference it
    guest-a Authentication cluster spec.oidcProviders (version 21)
  4 no component uses a client that HostedControlPlane does not list
    guest-a Authentication cluster status.oidcClients (version 21)
  5 no APIServer, OAuth config refers to it
    guest-a config.openshift.io/v1
  6 label hypershift.openshift.io/oidc-provider-managed=true; label hypershift.openshift.io/managed=true; fingerprint: exactly the key clientSecret, no owner
    guest-a Secret openshift-config/old-client metadata.labels (version 32)

REMEDY
  [x] a1 delete Secret openshift-config/old-client
      tier T3, reason no-referrer, undo: restore-from-backup
      owned: label hypershift.openshift.io/oidc-provider-managed=true
      owned: label hypershift.openshift.io/managed=true
      owned: fingerprint: exactly the key clientSecret, no owner
      - apiVersion: v1
      - kind: Secret
      - metadata:
      -   namespace: openshift-config
      -   name: old-client
      -   labels:
      -     hypershift.openshift.io/managed: "true"
      -     hypershift.openshift.io/oidc-provider-managed: "true"
      - data:
      -   clientSecret: <10 bytes>
----- stderr
----- exit 0
"##);
}

#[test]
fn explain_needs_a_unique_part_of_an_id() {
    let dir = guest_with_an_orphan();
    insta::assert_snapshot!(transcript(&dir, &["explain", "client", "--from", "$TMP"]), @r##"
----- stderr
trueup: explain: 2 findings match "client"; name one of: hosted-oidc/guest-a/Secret/openshift-config/client, hosted-oidc/guest-a/Secret/openshift-config/old-client
----- exit 1
"##);
    insta::assert_snapshot!(transcript(&dir, &["explain", "old-cleint", "--from", "$TMP"]), @r##"
----- stderr
trueup: explain: no finding matches "old-cleint"; similar ids: hosted-oidc/mgmt/HostedCluster/clusters/guest-a, hosted-oidc/guest-a/Secret/openshift-config/client, hosted-oidc/guest-a/Secret/openshift-config/old-client
----- exit 1
"##);
    let exact = "hosted-oidc/guest-a/Secret/openshift-config/client";
    assert_eq!(run(&dir, &["explain", exact, "--from", "$TMP"]).status.code(), Some(0));
}

#[test]
fn explain_as_json_has_the_finding_and_its_actions() {
    let dir = guest_with_an_orphan();
    let output = run(&dir, &["explain", "old-client", "--from", "$TMP", "-o", "json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["finding"]["verdict"], "orphan-certain");
    assert_eq!(answer["actions"][0]["verb"], "delete");
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let (one, other) = (guest_with_an_orphan(), guest_with_an_orphan());
    for format in ["json", "table", "markdown", "csv"] {
        let print = |dir| run(dir, &["plan", "--from", "$TMP", "--utc", "-o", format]).stdout;
        assert_eq!(print(&one), print(&other), "format: {format}");
    }
}

#[test]
fn control_characters_in_names_are_escaped() {
    let dir = guest_with_an_orphan();
    let evil =
        "apiVersion: v1\nkind: Secret\nmetadata: { name: \"x\\e[2J\\u202e|`<b>\", namespace: openshift-config }\n";
    add(dir.path(), &[("clusters/guest-a/evil.yaml", evil), ("clusters/guest-a/b\u{1b}[2J.yaml", "a: [")]);
    for args in [
        &["plan", "-v", "-o", "table"][..],
        &["plan", "-v", "-o", "markdown"],
        &["plan", "-o", "csv"],
        &["plan", "-o", "json"],
        &["explain", "x"],
        &["doctor"],
    ] {
        let output = run(&dir, &[args, &["--from", "$TMP"]].concat());
        for bytes in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let steering = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
            assert!(!text.contains(steering), "args: {args:?}: {text:?}");
        }
    }
}

#[test]
fn a_cluster_without_subjects_is_exit_0() {
    let dir = folder(&[("fleet.yaml", "clusters: { a: {} }\n")]);
    assert_eq!(run(&dir, &["plan", "--from", "$TMP"]).status.code(), Some(0));
}

#[test]
fn explain_takes_what_kubectl_would_and_actions_of_a_saved_plan() {
    let dir = guest_with_an_orphan();
    let id = "id: hosted-oidc/guest-a/Secret/openshift-config/old-client";
    let saved = run(&dir, &["plan", "--from", "$TMP", "--out", "$TMP/plan.json"]);
    assert_eq!(saved.status.code(), Some(2));
    let cases: [&[&str]; 4] = [
        &["secret/old-client", "--from", "$TMP"],
        &["secrets/old-client", "-n", "openshift-config", "--from", "$TMP"],
        &["a1", "--plan", "$TMP/plan.json"],
        &["Secret/openshift-config/old-client", "--plan", "$TMP/plan.json"],
    ];
    for case in cases {
        let shown = transcript(&dir, &[&["explain"], case].concat());
        assert!(shown.contains(id) && shown.contains("exit 0"), "case: {case:?}: {shown}");
    }
    for case in [["secret/old-client", "-n", "other"], ["cm/old-client", "-n", "openshift-config"]] {
        let shown = transcript(&dir, &[&["explain", "--from", "$TMP"], &case[..]].concat());
        assert!(shown.contains("no finding matches") && shown.contains("exit 1"), "case: {case:?}: {shown}");
    }
}

#[test]
fn a_selected_verdict_is_selected_in_table_and_json() {
    let dir = guest_with_an_orphan();
    add(dir.path(), &[("clusters/guest-a/probable.yaml", PROBABLE)]);
    let plan = |extra: &[&str]| {
        let output = run(&dir, &[&["plan", "--from", "$TMP", "-o", "json"], extra].concat());
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let actions = plan["actions"].as_array().unwrap().clone();
        actions.iter().map(|action| action["selected"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(plan(&[]), [true, false]);
    assert_eq!(plan(&["--select", "orphan-probable"]), [true, true]);
    let table = transcript(&dir, &["plan", "--from", "$TMP", "--select", "orphan-*"]);
    assert!(table.contains("[x] a1 T3") && table.contains("[x] a2 T3"), "{table}");
    let misspelt = transcript(&dir, &["plan", "--from", "$TMP", "--select", "orphan-likely"]);
    assert!(misspelt.contains("--select orphan-likely: no finding has this verdict; there are: "), "{misspelt}");
}

const PROBABLE: &str = r#"
apiVersion: v1
kind: Secret
type: Opaque
metadata:
  name: older-client
  namespace: openshift-config
  uid: u-older
  resourceVersion: "77"
  labels: { hypershift.openshift.io/managed: "true" }
data: { clientSecret: c2VjcmV0 }
"#;
