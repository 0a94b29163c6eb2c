//! A cloud account in a folder, beside the clusters that own what is in it, as a shell sees them.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use trueup_core::engine::Plan;

use super::fixture::{add, folder, run, transcript};

const UID: &str = "11111111-1111-1111-1111-111111111111";

const FLEET: &str = "now: 2026-11-16T10:00:00Z\nclusters: { mgmt: { class: prod } }\n";

/// One cluster that stays and half of whose things are tagged, one that is being deleted.
const CLUSTERS: &str = r#"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: IBMPowerVSCluster
metadata:
  name: demo
  namespace: clusters
  uid: 11111111-1111-1111-1111-111111111111
  annotations: { powervs.cluster.x-k8s.io/create-infra: "true", trueup/user-tags: '{"Env":"prod","bad":"a/b"}' }
  ownerReferences: [ { apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, name: demo, uid: c-1 } ]
spec: {}
status:
  serviceInstance: { id: ws-1, controllerCreated: true }
  vpc: { id: r006-1, controllerCreated: true }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta3
kind: IBMPowerVSCluster
metadata:
  name: bye
  namespace: clusters
  uid: 22222222-2222-2222-2222-222222222222
  deletionTimestamp: 2026-11-16T09:50:00Z
  ownerReferences: [ { apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: bye, uid: c-2 } ]
spec: { topology: LoadBalancer, vpc: { type: Provision } }
status: { vpc: { id: r006-2 }, vpcSubnets: [ { id: 0717-2, name: bye-subnet-us-south-1 } ] }
"#;

const ACCOUNT: &str = r#"
account: 0123456789abcdef0123456789abcdef
resources:
- { kind: workspace, id: ws-1, crn: "crn:v1:bluemix:public:power-iaas:dal10:a/0123456789abcdef0123456789abcdef:ws-1::", name: demo-serviceInstance, state: active, tags: [ "powervs.cluster.x-k8s.io-owner:demo", "powervs.cluster.x-k8s.io-cluster-uuid:11111111-1111-1111-1111-111111111111" ] }
- { kind: vpc, id: r006-1, crn: "crn:v1:bluemix:public:is:us-south:a/0123456789abcdef0123456789abcdef::vpc:r006-1", name: demo-vpc, state: available, created_at: 2026-11-01T00:00:00Z, tags: [] }
- { kind: vpc, id: r006-2, crn: "crn:v1:bluemix:public:is:us-south:a/0123456789abcdef0123456789abcdef::vpc:r006-2", name: bye-vpc, state: available, tags: [ "powervs.cluster.x-k8s.io-owner:bye", "powervs.cluster.x-k8s.io-cluster-uuid:22222222-2222-2222-2222-222222222222" ] }
- { kind: subnet, id: 0717-2, crn: "crn:v1:bluemix:public:is:us-south-1:a/0123456789abcdef0123456789abcdef::subnet:0717-2", name: bye-subnet-us-south-1, state: available, parent: r006-2, tags: [ "powervs.cluster.x-k8s.io-owner:bye", "powervs.cluster.x-k8s.io-cluster-uuid:22222222-2222-2222-2222-222222222222" ] }
- { kind: cos-instance, id: cos-9, crn: "crn:v1:bluemix:public:cloud-object-storage:global:a/0123456789abcdef0123456789abcdef:cos-9::", name: old-cos, state: active, tags: [ "powervs.cluster.x-k8s.io-owner:old", "powervs.cluster.x-k8s.io-cluster-uuid:99999999-9999-9999-9999-999999999999" ] }
- { kind: vpc, id: r006-7, crn: "crn:v1:bluemix:public:is:us-south:a/0123456789abcdef0123456789abcdef::vpc:r006-7", name: half-dead, state: available, tags: [ "powervs.cluster.x-k8s.io-cluster-uuid:99999999-9999-9999-9999-999999999999" ] }
- { kind: vpc, id: r006-8, name: somebodys, state: available, tags: [ "env:prod" ] }
"#;

fn fleet() -> TempDir {
    folder(&[("fleet.yaml", FLEET), ("clusters/mgmt/clusters.yaml", CLUSTERS), ("clouds/ibm/main.yaml", ACCOUNT)])
}

fn planned(dir: &TempDir, more: &[&str]) -> Value {
    let args = [&["plan", "--from", "$TMP", "-o", "json"], more].concat();
    serde_json::from_slice(&run(dir, &args).stdout).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// `id cluster verdict codes`, without the check's name and the account.
fn findings(plan: &Value) -> Vec<String> {
    let line = |finding: &Value| {
        let id = text(&finding["id"]).replace("powervs-tags/ibm:0123456789abcdef0123456789abcdef/", "");
        let codes: Vec<&str> = finding["codes"].as_array().unwrap().iter().map(text).collect();
        format!("{id} in {:?}: {} {}", text(&finding["cluster"]), text(&finding["verdict"]), codes.join(" "))
            .trim_end()
            .to_owned()
    };
    plan["findings"].as_array().unwrap().iter().map(line).collect()
}

/// `id verb target tier ticked waits gates`.
fn actions(plan: &Value) -> Vec<String> {
    let words = |value: &Value, key: &str| -> Vec<String> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|one| text(if key.is_empty() { one } else { &one[key] }).to_owned())
            .collect()
    };
    let line = |action: &Value| {
        format!(
            "{} {} {} T{} {} {} after[{}] gates[{}] undo {}",
            text(&action["id"]),
            text(&action["verb"]),
            text(&action["target"]["id"]),
            action["tier"],
            if action["selected"].as_bool().unwrap() { "selected" } else { "offered" },
            text(&action["reason"]),
            words(&action["depends_on"], "").join(","),
            words(&action["blocked_by"], "gate").join(","),
            text(&action["undo"]),
        )
    };
    plan["actions"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn an_account_is_judged_and_planned_with_its_clusters() {
    let dir = fleet();
    let plan = planned(&dir, &[]);
    assert_eq!(
        findings(&plan),
        [
            "cos-instance/cos-9@- in \"\": orphan",
            "subnet/0717-2@clusters/bye in \"mgmt\": owned",
            "vpc/r006-1@clusters/demo in \"mgmt\": untagged",
            "vpc/r006-2@clusters/bye in \"mgmt\": owned",
            "vpc/r006-7@- in \"\": orphan",
            "workspace/ws-1@clusters/demo in \"mgmt\": owned",
            "powervs-tags/mgmt/IBMPowerVSCluster/clusters/demo#bad:a/b in \"mgmt\": tag-invalid characters",
        ]
    );
    assert_eq!(
        actions(&plan),
        [
            "a1 delete cos-9 T4 offered no-owner after[] gates[] undo none",
            "a2 delete 0717-2 T4 selected cluster-deleted after[] gates[] undo none",
            "a3 tag r006-1 T3 selected not-tagged after[] gates[] undo put-tags-back",
            "a4 delete r006-2 T4 selected cluster-deleted after[a2] gates[] undo none",
            "a5 delete r006-7 T4 offered no-owner after[] gates[ownership] undo none",
            "a6 tag ws-1 T1 selected user-tag after[] gates[] undo put-tags-back",
        ]
    );
    assert_eq!(run(&dir, &["plan", "--from", "$TMP"]).status.code(), Some(2));
}

#[test]
fn targets_changes_and_preconditions_are_printed() {
    let plan = planned(&fleet(), &[]);
    let tag = &plan["actions"][2];
    let crn = "crn:v1:bluemix:public:is:us-south:a/0123456789abcdef0123456789abcdef::vpc:r006-1";
    let vpc = json!({
        "cloud": "ibm", "account": "0123456789abcdef0123456789abcdef", "kind": "vpc", "id": "r006-1", "crn": crn, "name": "demo-vpc"
    });
    assert_eq!(tag["target"], vpc);
    assert_eq!(plan["findings"][2]["subject"], vpc);
    let tags =
        [format!("powervs.cluster.x-k8s.io-cluster-uuid:{UID}"), "powervs.cluster.x-k8s.io-owner:demo".to_owned()];
    assert_eq!(tag["change"], json!({ "set": tags, "remove": [] }));
    assert_eq!(tag["preconditions"], json!({ "tags": [], "state": "available" }));
    assert_eq!((&tag["cluster"], &plan["actions"][0]["cluster"]), (&json!("mgmt"), &json!("ibm:main")));
    let object = json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta3", "kind": "IBMPowerVSCluster", "namespace": "clusters",
        "name": "demo", "uid": UID
    });
    let remember = json!({
        "cluster": "mgmt", "object": object, "annotation": "trueup/attached-tags", "tags": { "ws-1": ["env:prod"] }
    });
    assert_eq!(plan["actions"][5]["change"], json!({ "set": ["env:prod"], "remove": [], "remember": remember }));
    let (account, mgmt) = (&plan["targets"][0], &plan["targets"][1]);
    assert_eq!((text(&account["cluster"]), text(&mgmt["cluster"])), ("ibm:main", "mgmt"));
    let whose = json!({ "kube_system_uid": "", "ca_sha256": "", "account": "0123456789abcdef0123456789abcdef" });
    assert_eq!((&account["identity"], text(&account["source"])), (&whose, "snapshot"));
    assert_eq!(mgmt["identity"], json!({ "kube_system_uid": "", "ca_sha256": "" }), "clusters have no account");
    let claimed = planned(&fleet(), &["--cluster", "mgmt"]);
    assert_eq!(claimed["targets"].as_array().unwrap().len(), 1, "nothing would be done in the account for itself");
    let whole = Plan::read(&plan.to_string()).unwrap();
    assert_eq!(serde_json::to_value(&whole).unwrap(), plan, "it reads back as it was written");
}

#[test]
fn a_truncated_list_or_a_partial_fleet_never_plans_a_delete() {
    let dir = fleet();
    let cut = ACCOUNT.replace("resources:", "complete: false\nresources:");
    add(dir.path(), &[("clouds/ibm/main.yaml", &cut)]);
    let plan = planned(&dir, &[]);
    assert!(findings(&plan).contains(&"Resource/*@- in \"\": unknown".to_owned()), "{:#?}", findings(&plan));
    let open = actions(&plan).into_iter().filter(|line| line.contains("delete") && line.contains("gates[]")).count();
    assert_eq!(open, 0, "{:#?}", actions(&plan));
    let dir = fleet();
    let fleet = FLEET.replace("class: prod }", "class: prod }, far: { unreachable: timeout }");
    add(dir.path(), &[("fleet.yaml", &fleet)]);
    fs::create_dir_all(dir.path().join("clusters/far")).unwrap();
    let plan = planned(&dir, &[]);
    assert!(
        findings(&plan).contains(&"cos-instance/cos-9@- in \"\": unknown fleet-incomplete".to_owned()),
        "{:#?}",
        findings(&plan)
    );
    assert!(findings(&plan).contains(&"vpc/r006-2@clusters/bye in \"mgmt\": owned".to_owned()));
}

#[test]
fn a_recorded_account_is_used_by_the_clusters_of_the_config() {
    let dir = fleet();
    let fleet = FLEET.replace("class: prod }", "class: prod }, far: { unreachable: timeout }");
    let config = "[clouds.ibm.main]\napi_key_env = \"KEY\"\nmanagement_clusters = [\"mgm*\"]\n";
    add(dir.path(), &[("fleet.yaml", &fleet), ("config.toml", config)]);
    let known = planned(&dir, &["--config", "$TMP/config.toml"]);
    assert!(
        findings(&known).contains(&"cos-instance/cos-9@- in \"\": orphan fleet-not-declared".to_owned()),
        "{:#?}",
        findings(&known)
    );
}

#[test]
fn filters_apply_to_the_referring_cluster_and_namespace() {
    let dir = fleet();
    assert_eq!(findings(&planned(&dir, &["--cluster", "mgmt"])).len(), 5);
    assert_eq!(findings(&planned(&dir, &["--cluster", "ibm:*"])).len(), 6);
    assert_eq!(findings(&planned(&dir, &["--namespace", "clusters"])).len(), 5);
    assert_eq!(findings(&planned(&dir, &["--changes-only"])).len(), 4);
    assert_eq!(findings(&planned(&dir, &["--domain", "hosted-oidc"])).len(), 0);
}

#[test]
fn the_table_shows_cloud_resources_by_name_and_id() {
    insta::assert_snapshot!(transcript(&fleet(), &["plan", "--from", "$TMP", "--utc"]), @r##"
plan $ID  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

ibm:main  prod  snapshot
  - extra   cos-instance       old-cos (cos-9)     orphan           its owner is gone, and no cluster points at it
  - extra   vpc                half-dead (r006-7)  orphan           its owner is gone, and no cluster points at it

  [ ] a1 T4 delete   cos-instance old-cos (cos-9)  no-owner, undo: none
  [ ] a5 T4 delete   vpc half-dead (r006-7)  no-owner, undo: none
         x ownership: only one proof (the tag powervs.cluster.x-k8s.io-cluster-uuid:99999999-9999-9999-9999-999999999999) says that the platform made this object, and a delete needs two; review it and delete it manually

mgmt  prod  snapshot
  + missing vpc                demo-vpc (r006-1)   untagged    15d  made for clusters/demo, and not tagged
  ! error   IBMPowerVSCluster  clusters/demo       tag-invalid      the tag bad:a/b is never sent: IBM Cloud takes letters, digits, spaces and _ - . : alone, and no colon in a key
  = ok      3

  [x] a2 T4 delete   subnet bye-subnet-us-south-1 (0717-2)  cluster-deleted, undo: none
  [x] a3 T3 tag      vpc demo-vpc (r006-1)  not-tagged, undo: put-tags-back
  [x] a4 T4 delete   vpc bye-vpc (r006-2)  cluster-deleted, undo: none
  [x] a6 T1 tag      workspace demo-serviceInstance (ws-1)  user-tag, undo: put-tags-back

1 cluster; 1 account; 7 findings: 3 ok, 1 missing, 2 extra, 1 error; 6 actions: 4 delete, 2 tag; 1 blocked
----- stderr
----- exit 2
"##);
}

#[test]
fn a_finding_about_a_cloud_resource_is_explained() {
    insta::assert_snapshot!(transcript(&fleet(), &["explain", "vpc/r006-2@clusters/bye", "--from", "$TMP", "--utc"]), @r##"
vpc bye-vpc (r006-2) in mgmt
= ok, owned
clusters/bye's own, and the cluster is being deleted
id: powervs-tags/ibm:0123456789abcdef0123456789abcdef/vpc/r006-2@clusters/bye

EXPECTED
  exists: false

ACTUAL
  crn: crn:v1:bluemix:public:is:us-south:a/0123456789abcdef0123456789abcdef::vpc:r006-2
  id: r006-2
  name: bye-vpc
  state: available
  tags:
    - powervs.cluster.x-k8s.io-cluster-uuid:22222222-2222-2222-2222-222222222222
    - powervs.cluster.x-k8s.io-owner:bye

EVIDENCE
  1 carries powervs.cluster.x-k8s.io-cluster-uuid:22222222-2222-2222-2222-222222222222, powervs.cluster.x-k8s.io-owner:bye
    ibm:main vpc r006-2 tags
  2 is available
    ibm:main vpc r006-2 state
  3 holds the id r006-2
    mgmt IBMPowerVSCluster clusters/bye status.vpc.id
  4 is being deleted
    mgmt IBMPowerVSCluster clusters/bye metadata.deletionTimestamp

REMEDY
  [x] a4 delete vpc bye-vpc (r006-2)
      tier T4, reason cluster-deleted, undo: none
      owned: the tag powervs.cluster.x-k8s.io-owner:bye
      owned: the tag powervs.cluster.x-k8s.io-cluster-uuid:22222222-2222-2222-2222-222222222222
      - vpc bye-vpc (r006-2)
      -   tag powervs.cluster.x-k8s.io-cluster-uuid:22222222-2222-2222-2222-222222222222
      -   tag powervs.cluster.x-k8s.io-owner:bye
----- stderr
----- exit 0
"##);
}

#[test]
fn csv_and_markdown_have_cloud_resources() {
    let dir = fleet();
    let csv = String::from_utf8(run(&dir, &["plan", "--from", "$TMP", "-o", "csv"]).stdout).unwrap();
    assert!(csv.contains(",,vpc,,half-dead,extra,orphan,"), "{csv}");
    let markdown = String::from_utf8(run(&dir, &["plan", "--from", "$TMP", "-o", "markdown"]).stdout).unwrap();
    assert!(markdown.contains("| vpc demo-vpc (r006-1) |"), "{markdown}");
}

#[test]
fn an_accepted_cloud_finding_has_no_actions() {
    let dir = fleet();
    let config =
        "[[accept]]\nfinding = \"powervs-tags/ibm:*/cos-instance/*@-\"\nreason = \"kept\"\nuntil = 2026-12-31\n";
    add(dir.path(), &[("config.toml", config)]);
    let plan = planned(&dir, &["--config", "$TMP/config.toml"]);
    assert_eq!(text(&plan["findings"][0]["state"]), "match");
    assert!(actions(&plan).iter().all(|line| !line.contains("cos-9")), "{:#?}", actions(&plan));
}

#[test]
fn references_are_skipped_where_the_config_disables_them() {
    let dir = fleet();
    let clusters = CLUSTERS
        .replace("spec: {}", "spec: { vpc: { id: r006-1 } }")
        .replace("id: r006-1, controllerCreated: true", "id: r006-1");
    add(
        dir.path(),
        &[
            ("clusters/mgmt/clusters.yaml", &clusters),
            ("config.toml", "[domains.powervs-tags]\ntag_references = false\n"),
        ],
    );
    let tagged = |plan: &Value| actions(plan).iter().any(|line| line.contains(" tag r006-1 "));
    assert!(tagged(&planned(&dir, &[])));
    assert!(!tagged(&planned(&dir, &["--config", "$TMP/config.toml"])));
}
