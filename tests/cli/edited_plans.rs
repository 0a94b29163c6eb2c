//! Edited plan files: whatever field is changed, nothing is sent.
//!
//! Every row edits a genuine plan, gives it the id of its new content, and applies it. Fields that decide something must
//! be refused with every flag and confirmation given; fields that only describe make the plan foreign, which needs T4.

use serde_json::{Value, json};
use trueup_core::engine::{Plan, canonical_digest};

use super::apply::{planned, planned_with, text, trueup};
use super::live::{Fleet, fleet};

/// One edit: a name, the field as a JSON pointer, and its new value. `Null` removes the field.
struct Edit {
    name: &'static str,
    field: &'static str,
    value: Value,
    /// Whether the field decides something: then the plan is refused even with `--foreign-plan` and every confirmation.
    decides: bool,
}

fn edits() -> Vec<Edit> {
    let edit = |name, field, value, decides| Edit { name, field, value, decides };
    let soon = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1)).to_string();
    let later = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 30)).to_string();
    vec![
        edit("schema", "/schema", json!("trueup/plan/v9"), true),
        edit("created in the future", "/created_at", json!(soon), true),
        edit("valid for a month", "/expires_at", json!(later), true),
        edit("engine", "/engine", json!("0.0.1"), true),
        edit("no targets", "/targets", json!([]), true),
        edit("target class", "/targets/0/class", json!("dev"), false),
        edit("target identity", "/targets/0/identity/kube_system_uid", json!("another"), true),
        edit("observations", "/observations", json!([]), false),
        edit("no findings", "/findings", json!([]), true),
        edit("verdict", "/findings/1/verdict", json!("referenced"), true),
        edit("summary of a finding", "/findings/1/summary", json!("harmless"), false),
        edit("summary", "/summary", json!({"findings": {}, "actions": {}, "blocked": 0}), false),
        edit("origin undo", "/actions/0/origin", json!({"undo": "sha256:00/a1"}), true),
        edit("origin restore", "/actions/0/origin", json!({"restore": "sha256:00/a1"}), true),
        edit("no origin", "/actions/0/origin", Value::Null, true),
        edit("finding empty", "/actions/0/finding", json!(""), true),
        edit("domain", "/actions/0/domain", json!("kubeconfig"), true),
        edit("cluster", "/actions/0/cluster", json!("mgmt"), true),
        edit("verb", "/actions/0/verb", json!("label"), true),
        edit("target name", "/actions/0/target/name", json!("client"), true),
        edit("target namespace", "/actions/0/target/namespace", json!("kube-system"), true),
        edit("target kind", "/actions/0/target/kind", json!("ConfigMap"), true),
        edit("target uid", "/actions/0/target/uid", json!("another"), true),
        edit("precondition uid", "/actions/0/preconditions/uid", json!("another"), true),
        edit("precondition version", "/actions/0/preconditions/resourceVersion", json!("1"), true),
        edit("no preconditions", "/actions/0/preconditions", json!({}), true),
        edit("rests on nothing", "/actions/0/rests_on", json!([]), true),
        edit("not selected", "/actions/0/selected", json!(false), false),
        edit("reason", "/actions/0/reason", json!("stale"), true),
        edit("ownership", "/actions/0/ownership", json!([]), true),
        edit("tier", "/actions/0/tier", json!(1), true),
        edit("diff", "/actions/0/diff", json!("nothing"), true),
        edit("change", "/actions/0/change", json!({"backup": "00.age"}), true),
        edit("undo", "/actions/0/undo", json!("none"), true),
        edit("dependency", "/actions/0/depends_on", json!(["a9"]), true),
        edit("gate", "/actions/0/blocked_by", json!([{"gate": "policy", "why": "x"}]), false),
    ]
}

/// The plan with these edits and the id of its new content.
fn edited(genuine: &Value, edits: &[&Edit]) -> Value {
    let mut plan = genuine.clone();
    for Edit { field, value, .. } in edits {
        let (parent, key) = field.rsplit_once('/').unwrap();
        let parent = match parent {
            "" => &mut plan,
            parent => match plan.pointer_mut(parent) {
                Some(parent) => parent,
                // An earlier edit removed it.
                None => continue,
            },
        };
        match value {
            Value::Null => drop(parent.as_object_mut().unwrap().remove(key)),
            value => parent[key] = value.clone(),
        }
    }
    with_own_id(plan)
}

/// The plan with the id of its content. What is not a plan any more gets the digest of its text.
fn with_own_id(mut plan: Value) -> Value {
    if let Ok(mut read) = serde_json::from_value::<Plan>(plan.clone()) {
        read.id = read.computed_id().unwrap();
        return serde_json::to_value(read).unwrap();
    }
    let mut content = plan.clone();
    let fields = content.as_object_mut().unwrap();
    fields.remove("id");
    fields.remove("mark");
    plan["id"] = json!(canonical_digest(&content).unwrap());
    plan
}

/// Requests that change something.
fn writes(fleet: &Fleet) -> Vec<String> {
    let logs = [fleet.guest.request_log(), fleet.mgmt.request_log()];
    let changes = logs.into_iter().flatten().filter(|logged| logged.method != "GET");
    let asked = |path: &str| path.contains("selfsubjectaccessreviews");
    changes
        .filter(|logged| !asked(&logged.target))
        .map(|logged| format!("{} {}", logged.method, logged.target))
        .collect()
}

/// Applies a plan with these flags; checks the code and that nothing was sent.
fn refused(fleet: &Fleet, case: &str, plan: &Value, flags: &[&str], codes: &[i32]) {
    std::fs::write(fleet.dir.path().join("plan.json"), plan.to_string()).unwrap();
    let id = plan["id"].as_str().unwrap();
    let args =
        ["apply", "$TMP/plan.json", "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml", "--expect", id];
    let output = trueup(fleet.dir.path(), &[&args[..], flags].concat());
    let said = text(&output);
    let code = output.status.code().unwrap();
    assert!(codes.contains(&code), "case: {case} {flags:?}: exit {code}, expected {codes:?}\n{said}");
    assert_eq!(writes(fleet), Vec::<String>::new(), "case: {case} {flags:?}: {said}");
}

fn genuine(fleet: &Fleet) -> Value {
    std::fs::write(fleet.dir.path().join("config.toml"), "[safety]\nsettle = \"0s\"\n").unwrap();
    planned(fleet);
    serde_json::from_str(&std::fs::read_to_string(fleet.dir.path().join("plan.json")).unwrap()).unwrap()
}

const CONFIRMED: [&str; 5] = ["--foreign-plan", "--confirm-cluster", "guest-a", "--confirm-cluster", "mgmt"];

/// With the old id the content does not fit it; with its own id the mark does not fit, whether it is kept or not.
fn refused_in_every_way(fleet: &Fleet, case: &str, genuine: &Value, edits: &[&Edit]) {
    let plan = edited(genuine, edits);
    let mut old_id = plan.clone();
    old_id["id"] = genuine["id"].clone();
    refused(fleet, case, &old_id, &CONFIRMED, &[1, 4]);
    refused(fleet, case, &plan, &[], &[1, 3, 4]);
    let mut unmarked = plan.clone();
    unmarked.as_object_mut().unwrap().remove("mark");
    refused(fleet, case, &unmarked, &["--confirm-cluster", "guest-a"], &[1, 3, 4]);
    if edits.iter().any(|edit| edit.decides) {
        refused(fleet, case, &unmarked, &CONFIRMED, &[1, 3, 4]);
    } else {
        refused(fleet, case, &unmarked, &["--foreign-plan"], &[0, 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_with_any_one_field_edited_sends_nothing() {
    let fleet = fleet().await;
    let genuine = genuine(&fleet);
    for edit in edits() {
        refused_in_every_way(&fleet, edit.name, &genuine, &[&edit]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_with_any_two_fields_edited_sends_nothing() {
    let fleet = fleet().await;
    let genuine = genuine(&fleet);
    let edits = edits();
    let (all, mut pairs) = (std::env::var_os("TRUEUP_ALL_PAIRS").is_some(), 0);
    // Two that only describe are as one; a pair that decides is tried with every confirmation.
    for (place, one) in edits.iter().enumerate() {
        for other in edits[place + 1..].iter().filter(|other| one.decides || other.decides) {
            let case = format!("{} and {}", one.name, other.name);
            let plan = edited(&genuine, &[one, other]);
            refused(&fleet, &case, &plan, &[], &[1, 3, 4]);
            // Connecting takes a second: every eleventh pair is confirmed, all of them when TRUEUP_ALL_PAIRS is set.
            pairs += 1;
            if pairs % 11 == 0 || all {
                refused(&fleet, &case, &plan, &CONFIRMED, &[0, 1, 3, 4]);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_made_by_hand_is_refused_under_a_policy_that_denies_everything() {
    let fleet = fleet().await;
    let genuine = genuine(&fleet);
    let deny = "[safety]\nsettle = \"0s\"\n[[policy]]\ncluster = \"*\"\ndeny = \"no changes\"\n";
    std::fs::write(fleet.dir.path().join("config.toml"), deny).unwrap();
    let uid = fleet.guest.object("v1", "Secret", "openshift-config/client").unwrap()["metadata"]["uid"].clone();
    let delete = |api: &str, kind: &str, namespace: Option<&str>, name: &str| {
        let mut action = json!({"verb": "delete", "change": {}, "preconditions": {"uid": uid, "resourceVersion": "31"},
            "target": {"apiVersion": api, "kind": kind, "name": name, "uid": uid}});
        if let Some(namespace) = namespace {
            action["target"]["namespace"] = json!(namespace);
        }
        action
    };
    let source = json!({"cluster": "mgmt", "apiVersion": "v1", "kind": "Secret", "namespace": "clusters-guest-a",
        "name": "client"});
    let attacks = [
        ("a Secret of others", delete("v1", "Secret", Some("openshift-config"), "client")),
        ("a Namespace", delete("v1", "Namespace", None, "openshift-config")),
        (
            "a ClusterRoleBinding",
            json!({"verb": "annotate", "change": {"set": {"x": "y"}, "remove": []}, "preconditions": {},
                "target": {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "name": "admins"}}),
        ),
        (
            "a Secret copied into a ConfigMap",
            json!({"verb": "apply", "preconditions": {"source": {"uid": "s-0", "resourceVersion": "12"}},
                "change": {"copy": {"source": source, "keys": {"clientSecret": "clientSecret"}}, "data": {}, "labels": {}},
                "target": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "openshift-config", "name": "stolen"}}),
        ),
    ];
    let origins =
        [json!({"undo": "sha256:00/a1"}), json!({"restore": "sha256:00/a1"}), genuine["actions"][0]["origin"].clone()];
    for (case, attack) in attacks {
        for origin in &origins {
            let mut plan = genuine.clone();
            let action = plan["actions"][0].as_object_mut().unwrap();
            action.extend(attack.as_object().unwrap().clone());
            let finding = origin["finding"].as_str().unwrap_or_default();
            action.insert("finding".to_owned(), json!(finding));
            action.insert("origin".to_owned(), origin.clone());
            let plan = with_own_id(plan);
            refused(&fleet, case, &plan, &[], &[1, 3]);
            refused(&fleet, case, &plan, &CONFIRMED, &[1, 3, 4]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_made_for_a_dev_cluster_is_refused_once_the_cluster_is_prod() {
    let fleet = fleet().await;
    let config = |class: &str| {
        let text = format!("[safety]\nsettle = \"0s\"\n[[clusters]]\nmatch = \"*\"\nclass = \"{class}\"\n");
        std::fs::write(fleet.dir.path().join("config.toml"), text).unwrap();
    };
    config("dev");
    let plan = planned_with(&fleet, &["--config", "$TMP/config.toml"]);
    config("prod");
    let plan: Value = serde_json::to_value(&plan).unwrap();
    let short = plan["id"].as_str().unwrap()[7..15].to_owned();
    let args = [
        "apply",
        "$TMP/plan.json",
        "--kubeconfig",
        "$TMP/kubeconfig",
        "--config",
        "$TMP/config.toml",
        "--expect",
        &short,
    ];
    let output = trueup(fleet.dir.path(), &args);
    let said = text(&output);
    assert_eq!((output.status.code(), writes(&fleet)), (Some(3), vec![]), "{said}");
    assert!(said.contains("T2") && said.contains("T3"), "the difference is shown: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_deletes_stay_blocked_by_the_brake_despite_the_file() {
    let fleet = fleet().await;
    for number in 0..30 {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"clientSecret": "eA=="},
            "metadata": {"name": format!("old-{number}"), "namespace": "openshift-config",
                "labels": {"hypershift.openshift.io/managed": "true", "hypershift.openshift.io/oidc-provider-managed": "true"}}});
        fleet.guest.seed(secret).unwrap();
    }
    std::fs::write(fleet.dir.path().join("config.toml"), "[safety]\nsettle = \"0s\"\n").unwrap();
    let args = ["plan", "--settle", "1s", "--kubeconfig", "$TMP/kubeconfig", "--out", "$TMP/plan.json"];
    let output = trueup(fleet.dir.path(), &args);
    let mut plan: Value =
        serde_json::from_str(&std::fs::read_to_string(fleet.dir.path().join("plan.json")).unwrap()).unwrap();
    let deletes = plan["actions"].as_array_mut().unwrap();
    assert!(deletes.len() > 30 && deletes[0]["blocked_by"][0]["gate"] == "brake", "{}", text(&output));
    for action in deletes {
        action["blocked_by"] = json!([]);
        action["selected"] = json!(true);
    }
    refused(&fleet, "the brake", &with_own_id(plan), &CONFIRMED, &[3]);
}
