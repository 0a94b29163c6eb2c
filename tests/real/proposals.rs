//! `trueup proposals` against a real hub: lists, shows, approves and rejects what a controller proposed.
//!
//! Not here: what the API server refuses of Approvals that are written by hand (`approvals`).

use std::process::Output;

use http::Method;
use serde_json::{Value, json};
use trueup_controller::api::{Proposal, ProposalSpec, proposal_name};
use trueup_core::engine::{Plan, short_id};

use super::approvals::{CONTROLLER, NAMESPACE, install};
use super::fleet::{Hosted, inline_kubeconfig, run};
use crate::support::http::Request;
use crate::support::real::{Connection, RealServer, User};

const PROPOSALS: &str = "/apis/trueup.dev/v1alpha1/namespaces/trueup/proposals";
const APPROVALS: &str = "/apis/trueup.dev/v1alpha1/namespaces/trueup/approvals";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `trueup proposals` on the hub as a user, in UTC.
fn proposals(hub: &RealServer, user: &str, args: &[&str]) -> Output {
    let user_args = ["--as", user];
    // Impersonated, the administrator would lose the group that makes one.
    let user_args = if user == "admin" { &[][..] } else { &user_args[..] };
    let all = [&["proposals"][..], args, &["--hub", "hub", "--utc"], user_args].concat();
    run(&inline_kubeconfig(hub, "hub", "admin"), &all)
}

/// A plan of a guest with two deletes in a prod-class cluster.
async fn plan() -> Option<Plan> {
    let fleet = Hosted::shared().await?;
    let output = run(&inline_kubeconfig(&fleet.mgmt, "mgmt", "admin"), &["plan", "-o", "json", "--settle", "1s"]);
    Some(Plan::read(&text(&output.stdout)).unwrap())
}

async fn propose(at: &Connection, name: &str, spec: ProposalSpec) {
    let object = serde_json::to_value(Proposal::new(NAMESPACE, name, spec)).unwrap();
    let made = at.send(&Request::post(PROPOSALS, object).header("impersonate-user", CONTROLLER)).await.unwrap();
    assert_eq!(made.status, 201, "{}", made.body["message"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_the_kinds_has_no_controller() {
    let Some(hub) = RealServer::shared() else { return };
    let output = proposals(hub, "admin", &["list", "-n", "nowhere"]);
    let expected = "trueup: proposals: no controller in this cluster; name its cluster with --hub, or install it\n";
    // Another test of this binary may have installed the kinds on the shared server; none does today.
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), (expected, Some(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_is_listed_shown_approved_and_rejected() {
    let (Some(plan), Some(hub)) = (plan().await, RealServer::start()) else { return };
    let at = hub.connect(User::Admin);
    install(&at).await;
    let empty = proposals(&hub, "eve@example.com", &["list"]);
    assert_eq!(
        (text(&empty.stdout).as_str(), empty.status.code()),
        ("no proposals\n", Some(0)),
        "{}",
        text(&empty.stderr)
    );

    let target = plan.targets.iter().find(|target| target.cluster == "guest-a").unwrap();
    let spec = ProposalSpec::of(&plan, target, "hosted-oidc").unwrap();
    let name = proposal_name("guest-a", "hosted-oidc", &plan.id);
    propose(&at, &name, spec.clone()).await;
    let forged = ProposalSpec { tier: trueup_core::engine::Tier::T2, ..spec };
    propose(&at, "forged", forged).await;

    let listed = text(&proposals(&hub, "eve@example.com", &["list"]).stdout);
    assert!(listed.starts_with("NAME "), "{listed}");
    let row = listed.lines().find(|line| line.starts_with(&name)).unwrap();
    assert!(row.contains("guest-a (prod)  hosted-oidc  T3    3        Proposed"), "{listed}");
    assert!(listed.ends_with("2 proposals, 2 waiting for approval\n"), "{listed}");
    let listed: Value =
        serde_json::from_slice(&proposals(&hub, "eve@example.com", &["list", "-o", "json"]).stdout).unwrap();
    let first = listed["proposals"].as_array().unwrap().iter().find(|one| one["name"] == name.as_str()).unwrap();
    assert_eq!((&first["tier"], &first["plan_id"], &first["phase"]), (&json!(3), &json!(plan.id), &json!("Proposed")));

    let short = short_id(&plan.id);
    let shown = proposals(&hub, "eve@example.com", &["show", &name]);
    assert!(text(&shown.stdout).contains("delete"), "{}", text(&shown.stdout));
    assert!(text(&shown.stderr).contains("mark: checked by the controller"), "{}", text(&shown.stderr));
    let json = proposals(&hub, "eve@example.com", &["show", &name, "-o", "json"]);
    assert_eq!(Plan::read(&text(&json.stdout)).unwrap(), plan, "what is shown is what was proposed");

    let (ann, bob, carl) = ("ann@example.com", "bob@example.com", "carl@example.com");
    let cases: [(&str, &str, Vec<&str>, i32, &str); 10] = [
        ("no answer", ann, vec!["approve", &name], 1, "--expect has to name the plan"),
        ("half the id at T3", ann, vec!["approve", &name, "--expect", short], 3, "asks for the whole id"),
        ("another id", ann, vec!["approve", &name, "--expect", "sha256:00000000"], 4, "--expect names"),
        ("without approve-t4", bob, vec!["approve", &name, "--expect", &plan.id], 3, "needs the verb approve-t4"),
        (
            "without a role",
            "eve@example.com",
            vec!["approve", &name, "--expect", &plan.id],
            3,
            "cannot create resource",
        ),
        ("without reading", carl, vec!["approve", &name, "--expect", &plan.id], 3, "cannot list resource"),
        (
            "no such action",
            ann,
            vec!["approve", &name, "--only", "a99", "--expect", &plan.id],
            1,
            "plan has no action a99",
        ),
        ("a forged tier", ann, vec!["approve", "forged", "--expect", &plan.id], 4, "spec.tier is T2, the plan has T3"),
        ("not there", ann, vec!["approve", "none", "--expect", &plan.id], 1, "no proposal matches"),
        ("two of one id", ann, vec!["show", short], 1, "name one of them"),
    ];
    for (case, user, args, code, expected) in cases {
        let output = proposals(&hub, user, &args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "case: {case}: {stderr}");
        assert!(stderr.contains(expected), "case: {case}: {stderr}");
    }
    let none = at.send(&Request::get(APPROVALS)).await.unwrap().body;
    assert_eq!(none["items"], json!([]), "no refused answer left an Approval");

    let approved = proposals(&hub, ann, &["approve", &name, "--expect", &plan.id]);
    assert_eq!(approved.status.code(), Some(0), "{}", text(&approved.stderr));
    assert!(
        text(&approved.stdout).contains(&format!("proposal/{name} approved by {ann}")),
        "{}",
        text(&approved.stdout)
    );
    let rejected = proposals(&hub, bob, &["reject", &name, "--reason", "after the freeze"]);
    assert_eq!(rejected.status.code(), Some(0), "{}", text(&rejected.stderr));
    let found = at.send(&Request::get(APPROVALS)).await.unwrap().body;
    let mut specs: Vec<Value> = found["items"].as_array().unwrap().iter().map(|one| one["spec"].clone()).collect();
    specs.sort_by_key(|spec| spec["decision"].to_string());
    let common = json!({ "proposal": name, "planID": plan.id, "tier": 3 });
    let with = |more: Value| {
        let mut spec = common.clone();
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    assert_eq!(
        specs,
        [
            with(json!({ "approver": ann, "words": "guest-a", "decision": "approve" })),
            with(json!({ "approver": bob, "decision": "reject", "reason": "after the freeze" })),
        ]
    );

    let path = format!("{PROPOSALS}/{name}/status");
    let status = json!({ "status": { "phase": "Applied" } });
    let patch = Request::new(Method::PATCH, path).json("application/merge-patch+json", status);
    assert_eq!(at.send(&patch.header("impersonate-user", CONTROLLER)).await.unwrap().status, 200);
    let late = proposals(&hub, ann, &["approve", &name, "--expect", &plan.id]);
    assert_eq!(late.status.code(), Some(3));
    assert!(text(&late.stderr).contains(&format!("proposal {name} is Applied")), "{}", text(&late.stderr));
}
