//! Copies that trueup was handed over, written from the control plane's namespace of one real cluster into another.

use http::Method;
use serde_json::{Value, json};
use trueup_core::engine::{Action, Plan};

use super::desk::Desk;
use super::fleet::{furnish_guest, furnish_management, host, inline_kubeconfig, start_two};
use crate::support::canaries::Canaries;
use crate::support::http::Request;
use crate::support::killed::said;
use crate::support::real::{Connection, User};

const CONFIG: &str = "[domains.hosted-oidc]\ncopies = \"manage\"\n";
const COPY: &str = "/api/v1/namespaces/openshift-config/secrets/client";
const SOURCE: &str = "/api/v1/namespaces/clusters-guest-a/secrets/client";

async fn get(at: &Connection, path: &str) -> Option<Value> {
    let answer = at.send(&Request::get(path)).await.unwrap();
    (answer.status == 200).then_some(answer.body)
}

fn plan(desk: &Desk, name: &str) -> (Plan, Action) {
    let (plan, _, action) = desk.plan(name, &["--config", "$TMP/config.toml"]);
    (plan, action)
}

fn apply(desk: &Desk, file: &str, plan: &Plan, action: &Action) -> (Option<i32>, String) {
    let args = desk.apply_args(file, plan, action);
    let output = desk.run(&[&args[..], &["--config", "$TMP/config.toml"]].concat());
    (output.status.code(), said(&output))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_created_renewed_undone_and_never_taken_from_another_manager() {
    let Some((mgmt, guest)) = start_two().await else { return };
    let mut canaries = Canaries::default();
    let (at_mgmt, at_guest) = (mgmt.connect(User::Admin), guest.connect(User::Admin));
    furnish_guest(&at_guest, &guest, &mut canaries).await;
    furnish_management(&at_mgmt, &mgmt).await;
    host(&at_mgmt, "guest-a", &guest, &mut canaries).await;
    let desk = Desk::with(&inline_kubeconfig(&mgmt, "mgmt", "admin"));
    std::fs::write(desk.path("config.toml"), CONFIG).unwrap();

    at_guest.send(&Request::new(Method::DELETE, COPY)).await.unwrap();
    let (missing, action) = plan(&desk, "client");
    assert_eq!((action.verb().as_str(), action.blocked_by.as_slice()), ("apply", &[][..]));
    let (code, text) = apply(&desk, "$TMP/plan.json", &missing, &action);
    assert!(code == Some(0) && text.contains("created"), "{text}");
    let made = get(&at_guest, COPY).await.expect("the copy was made");
    let source = get(&at_mgmt, SOURCE).await.unwrap();
    assert_eq!(made["data"], source["data"]);
    assert_eq!(made["metadata"]["labels"].as_object().map(serde_json::Map::len), Some(2));
    assert_eq!(made["metadata"]["managedFields"][0]["manager"], "trueup");

    let rotated = json!({"data": {"clientSecret": canaries.next_base64()}});
    let rotate = Request::new(Method::PATCH, SOURCE).json("application/merge-patch+json", rotated.clone());
    assert_eq!(at_mgmt.send(&rotate).await.unwrap().status, 200);
    let (stale, action) = plan(&desk, "client");
    let (code, text) = apply(&desk, "$TMP/plan.json", &stale, &action);
    assert!(code == Some(0) && text.contains("changed"), "{text}");
    assert_eq!(get(&at_guest, COPY).await.unwrap()["data"], rotated["data"]);

    let entry = format!("{}/{}", &stale.id[7..15], action.id);
    let undone = desk.run(&["undo", &entry, "--out", "$TMP/undo.json", "--kubeconfig", "$TMP/kubeconfig"]);
    assert_eq!(undone.status.code(), Some(0), "{}", said(&undone));
    let undo = Plan::read(&std::fs::read_to_string(desk.path("undo.json")).unwrap()).unwrap();
    let (code, text) = apply(&desk, "$TMP/undo.json", &undo, &undo.actions[0]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(get(&at_guest, COPY).await.unwrap()["data"], source["data"], "as it was before");
    let (again, action) = plan(&desk, "client");
    let (code, text) = apply(&desk, "$TMP/plan.json", &again, &action);
    assert!(code == Some(0) && text.contains("changed"), "an undone change can be applied again: {text}");

    let theirs = "/api/v1/namespaces/openshift-config/secrets/stale-client";
    let before = get(&at_guest, theirs).await.unwrap();
    let (plan, action) = plan(&desk, "stale-client");
    let (code, text) = apply(&desk, "$TMP/plan.json", &plan, &action);
    assert!(code == Some(2) && text.contains("manages what would be applied"), "{text}");
    assert_eq!(get(&at_guest, theirs).await.unwrap(), before);

    for (path, bytes) in desk.state_files() {
        canaries.assert_absent(&path.display().to_string(), &bytes);
    }
    canaries.assert_absent("what was said", text.as_bytes());
}
