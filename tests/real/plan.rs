//! `trueup plan` on real clusters: a management cluster and a guest behind the kubeconfig in its Secret.

use trueup_core::engine::{Action, Plan};

use super::fleet::{BLIND, Hosted, READER, furnish_management, host, inline_kubeconfig, run, start_two};
use crate::support::canaries::Canaries;
use crate::support::http::Request;
use crate::support::real::{RealServer, User};

/// What was planned, what was said beside it, and the exit code.
struct Planned {
    plan: Plan,
    stderr: String,
    code: Option<i32>,
}

fn plan(mgmt: &RealServer, user: &str, args: &[&str]) -> Planned {
    let all = [&["plan", "-o", "json"], args].concat();
    let output = run(&inline_kubeconfig(mgmt, "mgmt", user), &all);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    Planned { plan, stderr, code: output.status.code() }
}

impl Planned {
    /// `Kind/name verdict` of every finding in a cluster.
    fn verdicts(&self, cluster: &str) -> Vec<String> {
        let here = self.plan.findings.iter().filter(|finding| finding.cluster == cluster);
        here.map(|finding| format!("{}/{} {}", finding.subject.kind, finding.subject.name, finding.verdict)).collect()
    }

    /// `verb Kind/name` of every action, and the gates that shut it.
    fn actions(&self) -> Vec<(String, Vec<&'static str>)> {
        let named =
            |action: &Action| format!("{} {}/{}", action.verb().as_str(), action.target.kind, action.target.name);
        let gates = |action: &Action| action.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
        let mut all: Vec<_> = self.plan.actions.iter().map(|action| (named(action), gates(action))).collect();
        all.sort();
        all
    }
}

const JUDGED: [&str; 7] = [
    "ConfigMap/idp-ca referenced",
    "ConfigMap/old-ca orphan-certain",
    "ConfigMap/proxy-ca protected",
    "Secret/client referenced",
    "Secret/old-client orphan-certain",
    "Secret/stale-client stale-copy",
    "Secret/users-own foreign",
];

#[tokio::test(flavor = "multi_thread")]
async fn with_all_permissions_the_plan_offers_deletes_of_existing_orphans() {
    let Some(fleet) = Hosted::shared().await else {
        return;
    };
    let planned = plan(&fleet.mgmt, "admin", &["--settle", "1s"]);
    assert_eq!(planned.verdicts("guest-a"), JUDGED, "{}", planned.stderr);
    let expected = [
        ("apply Secret/stale-client".to_owned(), vec!["operator-owned"]),
        ("delete ConfigMap/old-ca".to_owned(), vec![]),
        ("delete Secret/old-client".to_owned(), vec![]),
    ];
    assert_eq!((planned.actions(), planned.code), (expected.to_vec(), Some(2)), "{}", planned.stderr);

    for (cluster, server) in [("guest-a", &fleet.guest), ("mgmt", &fleet.mgmt)] {
        let target = planned.plan.targets.iter().find(|target| target.cluster == cluster).unwrap();
        let answer = server.connect(User::Admin).send(&Request::get("/api/v1/namespaces/kube-system")).await.unwrap();
        assert_eq!(answer.body["metadata"]["uid"], target.identity.kube_system_uid.as_str(), "cluster: {cluster}");
        assert_eq!(target.identity.ca_sha256.len(), 64, "cluster: {cluster}");
    }
    let path = "/api/v1/namespaces/openshift-config/secrets/old-client";
    let there = fleet.guest.connect(User::Admin).send(&Request::get(path)).await.unwrap().body;
    let delete = planned.plan.actions.iter().find(|action| action.target.name == "old-client").unwrap();
    assert_eq!(there["metadata"]["uid"], serde_json::json!(delete.preconditions.uid));
    assert_eq!(there["metadata"]["resourceVersion"], serde_json::json!(delete.preconditions.resource_version));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_delete_permission_the_delete_is_shown_with_the_missing_permission() {
    let Some(fleet) = Hosted::shared().await else {
        return;
    };
    let planned = plan(&fleet.mgmt, "admin", &["--settle", "1s", "--as", READER]);
    assert_eq!(planned.verdicts("guest-a"), JUDGED, "{}", planned.stderr);
    let delete = planned.plan.actions.iter().find(|action| action.target.name == "old-client").unwrap();
    let gates: Vec<&str> = delete.blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
    assert_eq!((gates, planned.code), (vec!["access"], Some(3)));
    let why = &delete.blocked_by[0].why;
    assert!(why.starts_with("you may not delete secrets in openshift-config of guest-a"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_secrets_are_unknown_and_never_deleted() {
    let Some(fleet) = Hosted::shared().await else {
        return;
    };
    let planned = plan(&fleet.mgmt, "admin", &["--settle", "1s", "--as", BLIND]);
    let secrets: Vec<_> =
        planned.verdicts("guest-a").into_iter().filter(|verdict| verdict.starts_with("Secret/")).collect();
    assert_eq!(secrets, ["Secret/* unknown", "Secret/client unknown", "Secret/stale-client unknown"]);
    let expected = [("delete ConfigMap/old-ca".to_owned(), vec![])];
    assert_eq!((planned.actions(), planned.code), (expected.to_vec(), Some(2)), "the rest is judged");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_read_permission_nothing_is_offered() {
    let Some(fleet) = Hosted::shared().await else {
        return;
    };
    let planned = plan(&fleet.mgmt, "nobody", &["--settle", "0s"]);
    assert_eq!((planned.actions(), planned.code), (vec![], Some(3)), "{}", planned.stderr);
    assert!(
        planned.stderr.contains("cluster mgmt: listing hypershift.openshift.io/v1beta1/hostedclusters"),
        "{}",
        planned.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_is_down_is_unknown_and_the_other_is_judged() {
    let (Some(fleet), Some((mgmt, mut down))) = (Hosted::shared().await, start_two().await) else {
        return;
    };
    let admin = mgmt.connect(User::Admin);
    furnish_management(&admin, &mgmt).await;
    let mut canaries = Canaries::default();
    host(&admin, "guest-a", &fleet.guest, &mut canaries).await;
    host(&admin, "guest-b", &down, &mut canaries).await;
    down.stop();

    let planned = plan(&mgmt, "admin", &["--settle", "0s", "--cluster", "guest-b"]);
    assert_eq!(planned.verdicts("guest-b")[..2], ["ConfigMap/* unknown", "ConfigMap/idp-ca unknown"]);
    assert!(planned.plan.findings.iter().all(|finding| finding.state.as_str() == "unknown"), "{}", planned.stderr);
    assert_eq!((planned.actions(), planned.code), (vec![], Some(3)));
    assert!(planned.stderr.contains("cluster guest-b: "), "{}", planned.stderr);

    let planned = plan(&mgmt, "admin", &["--settle", "0s"]);
    let deletes: Vec<_> = planned.actions().into_iter().filter(|(action, _)| action.starts_with("delete")).collect();
    let expected = ["delete ConfigMap/old-ca", "delete Secret/old-client"].map(|action| (action.to_owned(), vec![]));
    assert_eq!((deletes, planned.code), (expected.to_vec(), Some(2)), "guest-a is judged: {}", planned.stderr);
}
