//! `trueup run` on real servers: the hub is the management cluster, with the shipped CRDs and admission policies.
//!
//! Always true:
//! - the controller runs as ServiceAccount `trueup` of a namespace of its own, which may do everything but approve;
//! - each test has its own pair of servers, because a controller acts for all of a fleet.
//!
//! Not here: what is decided (the unit tests of `trueup_controller`).

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::desk::{Acting, Desk, EGRESS};
use super::fleet::{create, inline_kubeconfig};
use crate::support::http::Request;
use crate::support::real::{Connection, User};

const NAMESPACE: &str = "trueup";
/// How long a machine that is busy with something else may take for what takes seconds.
const PATIENCE: Duration = Duration::from_secs(180);
const POLL: Duration = Duration::from_millis(500);

/// A controller process. It gets SIGKILL when the test ends.
struct Controller(Child);

impl Controller {
    fn start(desk: &Desk, pod: &str) -> Self {
        let log = std::fs::File::create(desk.path(&format!("{pod}.log"))).unwrap();
        let mut command: Command = desk.command(&[
            "run",
            "--kubeconfig",
            "$TMP/hub",
            "--namespace",
            NAMESPACE,
            "--listen",
            "127.0.0.1:0",
            "-v",
        ]);
        command.env("POD_NAME", pod).env("XDG_STATE_HOME", desk.path(pod)).stderr(Stdio::from(log));
        Self(command.spawn().unwrap())
    }

    /// SIGTERM, and the exit code.
    async fn stop(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        for _ in 0..PATIENCE.as_secs() * 2 {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            tokio::time::sleep(POLL).await;
        }
        None
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The hub with everything a controller needs, and a desk with its kubeconfig.
async fn hub(acting: &Acting, controller: &str) -> (Connection, Desk) {
    let at = acting.mgmt.connect(User::Admin);
    create(&at, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})).await;
    let metadata = json!({"name": "trueup", "namespace": NAMESPACE});
    create(&at, json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})).await;
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "trueup"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "trueup", "namespace": NAMESPACE}]});
    create(&at, binding).await;
    let asked = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/trueup/token");
    let issued = at.send(&Request::post(path, asked)).await.unwrap();
    for file in ["crds/proposals.trueup.dev.yaml", "crds/approvals.trueup.dev.yaml", "base/admission.yaml"] {
        for object in documents(file) {
            install(&at, object).await;
        }
    }
    for plural in ["proposals", "approvals"] {
        let list = Request::get(format!("/apis/trueup.dev/v1alpha1/{plural}"));
        until("the kind is served", async || (at.send(&list).await.unwrap().status == 200).then_some(())).await;
    }
    let desk = Desk::new(acting);
    desk.configure(&format!("{EGRESS}\n[safety]\nsettle = \"1s\"\n{controller}"));
    let mut kubeconfig: Value = serde_json::from_str(&inline_kubeconfig(&acting.mgmt, "mgmt", "admin")).unwrap();
    kubeconfig["users"][0]["user"] = json!({"token": issued.body["status"]["token"]});
    std::fs::write(desk.path("hub"), kubeconfig.to_string()).unwrap();
    (at, desk)
}

/// The documents of a shipped file.
fn documents(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let parts = text.split("\n---\n").map(|part| serde_saphyr::from_str::<Value>(part).unwrap());
    parts.filter(|object| object.is_object()).collect()
}

async fn install(at: &Connection, object: Value) {
    let (root, plural) = match object["kind"].as_str().unwrap() {
        "CustomResourceDefinition" => ("apiextensions.k8s.io/v1", "customresourcedefinitions"),
        "ValidatingAdmissionPolicy" => ("admissionregistration.k8s.io/v1", "validatingadmissionpolicies"),
        "ValidatingAdmissionPolicyBinding" => ("admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings"),
        other => panic!("{other} is not installed here"),
    };
    let answer = at.send(&Request::post(format!("/apis/{root}/{plural}"), object)).await.unwrap();
    assert_eq!(answer.status, 201, "{}", answer.body);
}

/// Waits until something is there.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("in vain: {what}"))
}

async fn proposals(at: &Connection) -> Vec<Value> {
    let path = format!("/apis/trueup.dev/v1alpha1/namespaces/{NAMESPACE}/proposals");
    let answer = at.send(&Request::get(path)).await.unwrap();
    answer.body["items"].as_array().cloned().unwrap_or_default()
}

/// The Proposal in this phase whose plan deletes this Secret.
async fn proposal(at: &Connection, secret: &str, phase: &str) -> Value {
    let name = format!("\"name\":\"{secret}\"");
    until(&format!("a Proposal about {secret} that is {phase}"), async || {
        let all = proposals(at).await;
        all.into_iter().find(|one| {
            one["status"]["phase"] == phase && one["spec"]["plan"].as_str().is_some_and(|plan| plan.contains(&name))
        })
    })
    .await
}

/// The action of a Proposal that deletes this Secret.
fn action_of(proposal: &Value, secret: &str) -> String {
    let plan: Value = serde_json::from_str(proposal["spec"]["plan"].as_str().unwrap()).unwrap();
    let actions = plan["actions"].as_array().unwrap().iter();
    let found = actions.clone().find(|action| action["target"]["name"] == secret && action["verb"] == "delete");
    found.unwrap_or_else(|| panic!("no delete of {secret}: {plan}"))["id"].as_str().unwrap().to_owned()
}

/// Creates an Approval as this user. Returns the status code and the answer.
async fn approve(at: &Connection, user: &str, name: &str, spec: Value) -> (u16, Value) {
    let object = json!({"apiVersion": "trueup.dev/v1alpha1", "kind": "Approval",
        "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec});
    let path = format!("/apis/trueup.dev/v1alpha1/namespaces/{NAMESPACE}/approvals");
    let request =
        Request::post(path, object).header("impersonate-user", user).header("impersonate-group", "system:masters");
    let answer = at.send(&request).await.unwrap();
    (answer.status, answer.body)
}

fn yes(proposal: &Value, who: &str, actions: &[String]) -> Value {
    json!({"proposal": proposal["metadata"]["name"], "planID": proposal["spec"]["planID"],
        "tier": proposal["spec"]["tier"], "approver": who, "words": "guest-a", "decision": "approve", "actions": actions})
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_people_approve_is_deleted_once_and_status_and_journal_say_so() {
    let Some(acting) = Acting::stand_up().await else {
        return;
    };
    let acting = &acting;
    let name = "approved-by-two";
    acting.orphan(name).await;
    let (at, desk) = hub(acting, "[controller]\nsettle = \"1s\"\nshards = 2\n").await;
    let controller = Controller::start(&desk, "trueup-0");
    let open = proposal(&at, name, "Proposed").await;
    assert_eq!((&open["spec"]["check"], &open["spec"]["cluster"]["name"]), (&json!("hosted-oidc"), &json!("guest-a")));
    assert_eq!(open["spec"]["tier"], 3, "guest-a is prod");
    let only = [action_of(&open, name)];

    let (status, answer) = approve(&at, "ann", "for-bob", yes(&open, "bob", &only)).await;
    assert_eq!(status, 403, "the API server refuses an approval in another name: {answer}");
    let mut other_plan = yes(&open, "eve", &only);
    other_plan["planID"] = json!(format!("sha256:{}", "0".repeat(64)));
    let mut other_words = yes(&open, "mallory", &only);
    other_words["words"] = json!("guest-b");
    for (name, user, spec) in [
        ("other-plan", "eve", other_plan),
        ("other-words", "mallory", other_words),
        ("ann-1", "ann", yes(&open, "ann", &only)),
        ("ann-2", "ann", yes(&open, "ann", &only)),
    ] {
        let (status, answer) = approve(&at, user, name, spec).await;
        assert_eq!(status, 201, "{name}: {answer}");
    }
    let counted = until("one approval counts", async || {
        let open = proposal(&at, name, "Proposed").await;
        open["status"]["approvals"].as_array().filter(|all| !all.is_empty()).cloned()
    })
    .await;
    let names: Vec<&str> = counted.iter().filter_map(|one| one["approver"].as_str()).collect();
    assert_eq!(names, ["ann"], "neither another plan, nor other words, nor ann twice");
    assert_eq!(acting.deletes(name), 0);

    let path = format!(
        "/apis/trueup.dev/v1alpha1/namespaces/{NAMESPACE}/proposals/{}",
        open["metadata"]["name"].as_str().unwrap()
    );
    let edit = json!({"spec": {"tier": 1}});
    let request = Request::new(Method::PATCH, &path).json("application/merge-patch+json", edit);
    let edited = at.send(&request).await.unwrap();
    assert!([403, 422].contains(&edited.status), "a Proposal is immutable: {}", edited.body);

    let (status, answer) = approve(&at, "bob", "bob-1", yes(&open, "bob", &only)).await;
    assert_eq!(status, 201, "{answer}");
    let applied = proposal(&at, name, "Applied").await;
    assert_eq!((acting.deletes(name), acting.look(name).await), (1, None), "{applied}");
    let ended = &applied["status"]["actions"];
    assert_eq!((&ended[0]["id"], &ended[0]["outcome"]), (&json!(only[0]), &json!("gone")), "{applied}");
    let journal = &applied["status"]["journal"];
    assert_eq!(journal["entry"], open["spec"]["planID"].as_str().unwrap()[7..15], "{applied}");
    assert_eq!(controller.stop().await, Some(0));

    let history = desk.command(&["history", "export"]).env("XDG_STATE_HOME", desk.path("trueup-0")).output().unwrap();
    let text = String::from_utf8_lossy(&history.stdout).into_owned();
    assert!(text.contains("ann, bob") && text.contains("\"objects\""), "the journal names both: {text}");
    let leases = at.send(&Request::get(format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"))).await;
    for lease in leases.unwrap().body["items"].as_array().unwrap() {
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        assert_eq!(holder, "", "{} is released", lease["metadata"]["name"]);
    }
}
