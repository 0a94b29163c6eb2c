//! The management clusters of an account, as the configuration, the account's file and the folder name them.

use serde_json::Value;
use tempfile::TempDir;

use super::fixture::{add, folder, run};

const ACCOUNT: &str = r#"
account: 0123456789abcdef0123456789abcdef
resources:
- { kind: load-balancer, id: lb-1, name: living-lb, state: active, tags: [ "powervs.cluster.x-k8s.io-owner:living", "powervs.cluster.x-k8s.io-cluster-uuid:99999999-9999-9999-9999-999999999999" ] }
- { kind: vpc, id: r006-1, name: living-vpc, state: available, tags: [ "powervs.cluster.x-k8s.io-owner:living", "powervs.cluster.x-k8s.io-cluster-uuid:99999999-9999-9999-9999-999999999999" ] }
"#;

const CLUSTER: &str = r#"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: IBMPowerVSCluster
metadata: { name: demo, namespace: clusters, uid: 11111111-1111-1111-1111-111111111111 }
spec: { tags: [ { key: a/b } ] }
status: {}
"#;

const FLEET: &str = "now: 2026-11-16T10:00:00Z\nclusters: { mgmt-b: { class: prod } }\n";

/// A folder of mgmt-b alone, with an account whose resources belong to a cluster that mgmt-b does not have.
fn half_a_fleet(account_keys: &str) -> TempDir {
    let account = ACCOUNT.replacen("resources:", &format!("{account_keys}resources:"), 1);
    folder(&[("fleet.yaml", FLEET), ("clusters/mgmt-b/c.yaml", CLUSTER), ("clouds/ibm/main.yaml", &account)])
}

fn planned(dir: &TempDir, more: &[&str]) -> Value {
    let args = [&["plan", "--from", "$TMP", "-o", "json"], more].concat();
    serde_json::from_slice(&run(dir, &args).stdout).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// `id: verdict codes` of every finding about the account.
fn findings(plan: &Value) -> Vec<String> {
    let line = |finding: &Value| {
        let id = text(&finding["id"]).strip_prefix("powervs-tags/ibm:0123456789abcdef0123456789abcdef/")?;
        let codes: Vec<&str> = finding["codes"].as_array().unwrap().iter().map(text).collect();
        Some(format!("{id}: {} {}", text(&finding["verdict"]), codes.join(" ")).trim_end().to_owned())
    };
    plan["findings"].as_array().unwrap().iter().filter_map(line).collect()
}

/// The gates of each delete.
fn deletes(plan: &Value) -> Vec<String> {
    let actions = plan["actions"].as_array().unwrap().iter().filter(|action| action["verb"] == "delete");
    let gates = |action: &Value| {
        let gates: Vec<&str> = action["blocked_by"].as_array().unwrap().iter().map(|one| text(&one["gate"])).collect();
        gates.join(",")
    };
    actions.map(gates).collect()
}

#[test]
fn a_configured_management_cluster_that_is_not_in_the_run_leaves_no_orphan() {
    let dir = half_a_fleet("");
    let config = "[clouds.ibm.main]\napi_key_env = \"KEY\"\nmanagement_clusters = [\"mgmt-a\", \"mgmt-b\"]\n";
    add(dir.path(), &[("config.toml", config)]);
    let plan = planned(&dir, &["--config", "$TMP/config.toml"]);
    let expected = [
        "load-balancer/lb-1@-: unknown fleet-incomplete",
        "management-clusters/*@-: unknown fleet-incomplete",
        "vpc/r006-1@-: unknown fleet-incomplete",
    ];
    assert_eq!(findings(&plan), expected);
    assert_eq!(deletes(&plan), [""; 0]);
}

#[test]
fn the_file_of_an_account_names_and_declares_its_management_clusters() {
    let orphan = ["load-balancer/lb-1@-: orphan", "vpc/r006-1@-: orphan"].map(str::to_owned).to_vec();
    let undeclared = orphan.iter().map(|line| format!("{line} fleet-not-declared")).collect::<Vec<_>>();
    let incomplete = ["load-balancer/lb-1@-", "management-clusters/*@-", "vpc/r006-1@-"]
        .map(|id| format!("{id}: unknown fleet-incomplete"))
        .to_vec();
    let cases = [
        ("the fleet file declares", "", orphan.clone(), vec!["", ""]),
        ("named", "management_clusters: [ mgmt-b ]\n", undeclared, vec!["fleet", "dependency,fleet"]),
        (
            "named and declared",
            "management_clusters: [ \"mgmt-*\" ]\nmanagement_clusters_complete: true\n",
            orphan,
            vec!["", ""],
        ),
        (
            "one is missing",
            "management_clusters: [ mgmt-a, mgmt-b ]\nmanagement_clusters_complete: true\n",
            incomplete,
            vec![],
        ),
    ];
    for (case, keys, expected, gates) in cases {
        let plan = planned(&half_a_fleet(keys), &[]);
        assert_eq!(findings(&plan), expected, "case: {case}");
        assert_eq!(deletes(&plan), gates, "case: {case}");
    }
}

#[test]
fn a_declaration_without_names_is_an_error() {
    let dir = half_a_fleet("management_clusters_complete: true\n");
    let output = run(&dir, &["plan", "--from", "$TMP"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("management_clusters_complete without management_clusters"), "{errors}");
    add(dir.path(), &[("config.toml", "[clouds.ibm.main]\nmanagement_clusters_complete = true\n")]);
    let output = run(&dir, &["plan", "--from", "$TMP", "--config", "$TMP/config.toml"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("management_clusters_complete without management_clusters"), "{errors}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_leaked_set_is_one_group_and_an_invalid_tag_is_the_objects() {
    let plan = planned(&half_a_fleet(""), &[]);
    let groups: Vec<&str> = plan["actions"].as_array().unwrap().iter().map(|action| text(&action["group"])).collect();
    assert_eq!(groups, ["leaked/99999999-9999-9999-9999-999999999999"; 2]);
    assert_eq!(plan["actions"][1]["depends_on"], serde_json::json!(["a1"]));
    let invalid = plan["findings"].as_array().unwrap().iter().find(|one| one["verdict"] == "tag-invalid").unwrap();
    assert_eq!(invalid["id"], "powervs-tags/mgmt-b/IBMPowerVSCluster/clusters/demo#a/b");
    assert_eq!(invalid["subject"]["name"], "demo");
}

#[test]
fn explain_says_what_to_do_where_no_action_does() {
    let dir = half_a_fleet("management_clusters: [ mgmt-a, mgmt-b ]\n");
    let output = run(&dir, &["explain", "--from", "$TMP", "management-clusters"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("mgmt-a") && shown.contains("not part of this run"), "{shown}");
    let remedy = shown.split("REMEDY").nth(1).unwrap();
    assert!(remedy.contains("every management cluster"), "{remedy}");
}
