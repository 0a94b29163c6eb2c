//! Kubeconfigs of workload clusters on a real API server: found behind, brought up to date, and never for the worse.
//!
//! Every test has a namespace and cluster names of its own. Tokens are unsigned; they hold canaries where a real one
//! has its signature.

use std::process::Output;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures::future::BoxFuture;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use trueup_core::engine::{Action, Finding, Plan};

use super::desk::Desk;
use super::fleet::{create, furnish_management, inline_kubeconfig};
use crate::support::canaries::Canaries;
use crate::support::crds::install_crds_in;
use crate::support::front::{Front, FrontBody, Upstream, Which};
use crate::support::http::Request;
use crate::support::killed::said;
use crate::support::real::{Connection, RealServer, User};

const LABEL: &str = "cluster.x-k8s.io/cluster-name";
const CAPT: &str = "controlplane.cluster.x-k8s.io/v1beta1";
const MERGE: &str = "application/merge-patch+json";

/// A writer that changes a Secret before every change of another client.
struct Meddler(Connection);

/// The Secret that is never left alone.
const MEDDLED: &str = "/namespaces/storm/secrets/demo-storm-kubeconfig";

impl Upstream for Meddler {
    fn forward(&self, request: http::Request<Bytes>) -> BoxFuture<'_, anyhow::Result<http::Response<FrontBody>>> {
        Box::pin(async move {
            if *request.method() == Method::PATCH && request.uri().path().ends_with(MEDDLED) {
                merge(&self.0, request.uri().path(), json!({"stringData": {"value": "somebody else's"}})).await;
            }
            Upstream::forward(&self.0, request).await
        })
    }
}

/// A management cluster that knows Cluster API and CAPT, behind a front that counts and meddles.
pub struct Workloads {
    pub server: RealServer,
    front: Front,
}

impl Workloads {
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<Workloads>> = OnceCell::const_new();
        SHARED.get_or_init(Self::stand_up).await.as_ref()
    }

    async fn stand_up() -> Option<Self> {
        let server = tokio::task::spawn_blocking(RealServer::start).await.unwrap()?;
        let at = server.connect(User::Admin);
        furnish_management(&at, &server).await;
        install_crds_in(&at, "tests/real/crds/cluster-api").await;
        let front = Front::start(Meddler(server.connect(User::Admin)));
        Some(Self { server, front })
    }

    pub fn at(&self) -> Connection {
        self.server.connect(User::Admin)
    }

    /// A user whose kubeconfig connects to the cluster.
    pub fn desk(&self) -> Desk {
        Desk::with(&inline_kubeconfig(&self.server, "mgmt", "admin"))
    }

    /// A user whose requests pass the front.
    fn desk_behind_front(&self) -> Desk {
        let text = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "mgmt",
            "clusters": [{"name": "c", "cluster": {"server": self.front.url()}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "mgmt", "context": {"cluster": "c", "user": "u"}}],
        });
        Desk::with(&text.to_string())
    }
}

/// A workload cluster: where it is, and who vouches for it.
pub struct Workload {
    namespace: &'static str,
    name: &'static str,
    server: String,
    authority: String,
}

impl Workload {
    pub fn new(namespace: &'static str, name: &'static str) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec![format!("{namespace}.{name}.invalid")]).unwrap();
        let authority = params.self_signed(&key).unwrap().pem();
        Self { namespace, name, server: format!("https://{namespace}.{name}.eks.invalid"), authority }
    }

    /// A kubeconfig whose token was signed so long ago.
    pub fn kubeconfig(&self, signed_ago: SignedDuration, canaries: &mut Canaries) -> String {
        self.kubeconfig_of(&format!("token: {}", token(signed_ago, &canaries.next())))
    }

    fn kubeconfig_of(&self, user: &str) -> String {
        let (server, authority) = (&self.server, STANDARD.encode(&self.authority));
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster:\n    server: {server}\n    \
             certificate-authority-data: {authority}\ncontexts:\n- name: c\n  context:\n    cluster: c\n    user: u\n\
             users:\n- name: u\n  user:\n    {user}\n"
        )
    }

    /// Makes everything of the cluster but its kubeconfigs.
    pub async fn make(&self, at: &Connection) {
        let Self { namespace, name, server, authority } = self;
        let made = at
            .send(&Request::post(
                "/api/v1/namespaces",
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
            ))
            .await
            .unwrap();
        assert!([201, 409].contains(&made.status), "{}", made.body);
        let metadata = json!({"namespace": namespace, "name": name});
        let endpoint = json!({"host": server, "port": 443});
        let plane = json!({"apiVersion": CAPT, "kind": "CAPTControlPlane", "metadata": metadata,
            "spec": {"version": "1.33", "workspaceTemplateRef": {"name": "t"},
                "controlPlaneConfig": {"region": "eu-central-1"}, "controlPlaneEndpoint": endpoint}});
        create(at, plane).await;
        let reference = json!({"apiVersion": CAPT, "kind": "CAPTControlPlane", "name": name, "namespace": namespace});
        create(
            at,
            json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": metadata,
            "spec": {"controlPlaneEndpoint": endpoint, "controlPlaneRef": reference}}),
        )
        .await;
        let connection =
            json!({"cluster_endpoint": server, "cluster_certificate_authority_data": STANDARD.encode(authority)});
        create(at, secret(namespace, &format!("{name}-eks-connection"), "Opaque", connection)).await;
    }

    pub async fn make_source(&self, at: &Connection, text: &str) {
        create(at, secret("default", &self.source(), "Opaque", json!({"kubeconfig": text}))).await;
    }

    /// Makes the target with things in it that are none of ours.
    pub async fn make_target(&self, at: &Connection, text: &str) {
        let plane =
            get(at, &format!("/apis/{CAPT}/namespaces/{}/captcontrolplanes/{}", self.namespace, self.name)).await;
        let mut object =
            secret(self.namespace, &self.target(), "cluster.x-k8s.io/secret", json!({"value": text, "theirs": "kept"}));
        object["metadata"]["labels"] = json!({LABEL: self.name, "theirs": "kept"});
        object["metadata"]["ownerReferences"] = json!([{"apiVersion": CAPT, "kind": "CAPTControlPlane", "name": self.name,
            "uid": plane["metadata"]["uid"], "controller": true}]);
        create(at, object).await;
    }

    pub fn source(&self) -> String {
        format!("{}-outputs-kubeconfig", self.name)
    }

    pub fn target(&self) -> String {
        format!("{}-kubeconfig", self.name)
    }

    pub fn source_path(&self) -> String {
        format!("/api/v1/namespaces/default/secrets/{}", self.source())
    }

    pub fn target_path(&self) -> String {
        format!("/api/v1/namespaces/{}/secrets/{}", self.namespace, self.target())
    }
}

fn secret(namespace: &str, name: &str, kind: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "type": kind, "stringData": data,
        "metadata": {"namespace": namespace, "name": name}})
}

fn token(signed_ago: SignedDuration, signature: &str) -> String {
    let signed = Timestamp::now().checked_sub(signed_ago).unwrap();
    let (time, day) = (signed.strftime("%Y%m%dT%H%M%SZ"), signed.strftime("%Y%m%d"));
    let url = format!(
        "https://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15\
         &X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=ASIATESTTESTTESTTEST%2F{day}%2Feu-central-1%2Fsts%2Faws4_request\
         &X-Amz-Date={time}&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature={signature}"
    );
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(url))
}

pub async fn get(at: &Connection, path: &str) -> Value {
    let answer = at.send(&Request::get(path)).await.unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

pub async fn merge(at: &Connection, path: &str, patch: Value) {
    let answer = at.send(&Request::new(Method::PATCH, path).json(MERGE, patch)).await.unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
}

/// Plans the namespace, and answers with the finding about this cluster's kubeconfig.
pub fn plan(desk: &Desk, workload: &Workload) -> (Plan, Finding, Output) {
    let args = ["plan", "--settle", "0s", "--domain", "kubeconfig", "--namespace", workload.namespace];
    let output = desk.run(&[&args[..], &["--kubeconfig", "$TMP/kubeconfig", "--out", "$TMP/plan.json"]].concat());
    let text = std::fs::read_to_string(desk.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
    let plan = Plan::read(&text).unwrap();
    let found = plan.findings.iter().find(|finding| finding.subject.name == workload.target());
    let finding = found.unwrap_or_else(|| panic!("no finding: {}", said(&output))).clone();
    (plan, finding, output)
}

pub fn action<'p>(plan: &'p Plan, workload: &Workload) -> Option<&'p Action> {
    plan.actions.iter().find(|action| action.target.name == workload.target())
}

fn apply(desk: &Desk, plan: &Plan) -> Output {
    desk.run(&["apply", "$TMP/plan.json", "--expect", &plan.id, "--kubeconfig", "$TMP/kubeconfig"])
}

pub fn has(finding: &Finding, word: &str) -> bool {
    finding.verdict == word || finding.codes.iter().any(|code| code == word)
}

pub const MINUTE: SignedDuration = SignedDuration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_copy_is_updated_and_nothing_else_is_changed() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, desk, mut canaries) = (workloads.at(), workloads.desk(), Canaries::default());
    let demo = Workload::new("behind", "demo-behind");
    demo.make(&at).await;
    let old = demo.kubeconfig(MINUTE * 8, &mut canaries);
    demo.make_source(&at, &old).await;
    demo.make_target(&at, &old).await;
    let (_, finding, _) = plan(&desk, &demo);
    assert_eq!((finding.verdict.as_str(), finding.codes.as_slice()), ("fresh", &[][..]), "{finding:?}");

    let fresh = demo.kubeconfig(SignedDuration::ZERO, &mut canaries);
    merge(&at, &demo.source_path(), json!({"stringData": {"kubeconfig": fresh}})).await;
    let (planned, finding, output) = plan(&desk, &demo);
    assert!(has(&finding, "behind-source"), "{finding:?}");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let before = get(&at, &demo.target_path()).await;
    let applied = apply(&desk, &planned);
    assert!(applied.status.code() == Some(0) && said(&applied).contains("changed"), "{}", said(&applied));

    let (source, after) = (get(&at, &demo.source_path()).await, get(&at, &demo.target_path()).await);
    assert_eq!(after["data"]["value"], source["data"]["kubeconfig"]);
    assert_eq!(after["data"]["theirs"], before["data"]["theirs"]);
    for field in ["labels", "ownerReferences", "uid"] {
        assert_eq!(after["metadata"][field], before["metadata"][field], "field: {field}");
    }
    assert_eq!(after["type"], before["type"]);
    let (_, finding, _) = plan(&desk, &demo);
    assert_eq!(finding.verdict, "fresh", "{finding:?}");

    let short = &planned.id[7..15];
    let undone = desk.run(&["undo", short, "--out", "$TMP/plan.json", "--kubeconfig", "$TMP/kubeconfig"]);
    assert_eq!(undone.status.code(), Some(0), "{}", said(&undone));
    let undo = Plan::read(&std::fs::read_to_string(desk.path("plan.json")).unwrap()).unwrap();
    let applied = apply(&desk, &undo);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    assert_eq!(get(&at, &demo.target_path()).await["data"], before["data"]);
    for said in [&output, &applied] {
        canaries.assert_absent("what was said", &[said.stdout.as_slice(), &said.stderr].concat());
    }
    desk.state_files().iter().for_each(|(path, bytes)| canaries.assert_absent(&path.display().to_string(), bytes));
    canaries.assert_absent("the plan", &std::fs::read(desk.path("plan.json")).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_without_its_key_leaves_the_target_unchanged() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, desk, mut canaries) = (workloads.at(), workloads.desk(), Canaries::default());
    let demo = Workload::new("keyless", "demo-keyless");
    demo.make(&at).await;
    let (old, fresh) = (demo.kubeconfig(MINUTE * 20, &mut canaries), demo.kubeconfig(MINUTE, &mut canaries));
    demo.make_source(&at, &fresh).await;
    demo.make_target(&at, &old).await;
    let before = get(&at, &demo.target_path()).await;
    let (planned, finding, _) = plan(&desk, &demo);
    assert!(has(&finding, "behind-source"), "{finding:?}");

    merge(&at, &demo.source_path(), json!({"data": {"kubeconfig": null}})).await;
    let applied = apply(&desk, &planned);
    assert_eq!(applied.status.code(), Some(4), "the plan shows another source: {}", said(&applied));
    let (planned, finding, _) = plan(&desk, &demo);
    assert!(has(&finding, "source-invalid") && has(&finding, "key"), "{finding:?}");
    assert!(action(&planned, &demo).is_none(), "nothing is offered");
    assert_eq!(get(&at, &demo.target_path()).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clusters_with_one_name_never_get_each_others_kubeconfig() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, desk, mut canaries) = (workloads.at(), workloads.desk(), Canaries::default());
    let (theirs, ours) = (Workload::new("tenant-a", "demo-shared"), Workload::new("tenant-b", "demo-shared"));
    for workload in [&theirs, &ours] {
        workload.make(&at).await;
        workload.make_target(&at, &workload.kubeconfig(MINUTE * 20, &mut canaries)).await;
    }
    theirs.make_source(&at, &theirs.kubeconfig(MINUTE, &mut canaries)).await;
    let before = get(&at, &ours.target_path()).await;
    let (planned, finding, _) = plan(&desk, &ours);
    assert_eq!(finding.verdict, "wrong-cluster", "{finding:?}");
    assert!(action(&planned, &ours).is_none(), "nothing is offered");
    let (_, finding, _) = plan(&desk, &theirs);
    assert!(has(&finding, "behind-source"), "it is good for the one it belongs to: {finding:?}");
    assert_eq!(get(&at, &ours.target_path()).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_concurrent_writer_is_never_overwritten() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, desk, mut canaries) = (workloads.at(), workloads.desk_behind_front(), Canaries::default());
    let demo = Workload::new("storm", "demo-storm");
    demo.make(&at).await;
    demo.make_source(&at, &demo.kubeconfig(MINUTE, &mut canaries)).await;
    demo.make_target(&at, &demo.kubeconfig(MINUTE * 20, &mut canaries)).await;
    let (planned, _, _) = plan(&desk, &demo);

    let applied = apply(&desk, &planned);
    let text = said(&applied);
    assert!(applied.status.code() == Some(2) && text.contains("changed since the plan was made"), "{text}");
    assert_eq!(workloads.front.through(&Which::new(Method::PATCH, MEDDLED)), 1, "it is not tried again: {text}");
    let after = get(&at, &demo.target_path()).await;
    assert_eq!(after["data"]["value"], STANDARD.encode("somebody else's"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_plugin_never_runs() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, desk, mut canaries) = (workloads.at(), workloads.desk(), Canaries::default());
    let demo = Workload::new("planted", "demo-planted");
    demo.make(&at).await;
    let made = desk.path("made-by-the-plugin");
    let exec = format!(
        "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: touch\n      args: ['{}']\n      \
         interactiveMode: Never",
        made.display()
    );
    demo.make_target(&at, &demo.kubeconfig_of(&exec)).await;
    demo.make_source(&at, &demo.kubeconfig_of(&exec)).await;
    let (planned, finding, _) = plan(&desk, &demo);
    assert_eq!(finding.verdict, "exec-refused", "{finding:?}");
    assert!(has(&finding, "source-invalid") && action(&planned, &demo).is_none(), "{finding:?}");

    merge(&at, &demo.source_path(), json!({"stringData": {"kubeconfig": demo.kubeconfig(MINUTE, &mut canaries)}}))
        .await;
    let (planned, finding, _) = plan(&desk, &demo);
    assert!(has(&finding, "behind-source"), "{finding:?}");
    assert_eq!(apply(&desk, &planned).status.code(), Some(0));
    let (_, finding, _) = plan(&desk, &demo);
    assert_eq!(finding.verdict, "fresh", "{finding:?}");
    assert!(!made.exists(), "the plugin was run");
    // The command creates the file, so the test would see a run.
    assert!(std::process::Command::new("touch").arg(&made).status().unwrap().success() && made.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_is_probed_only_on_request_and_only_at_its_own_server() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, desk) = (workloads.at(), workloads.desk());
    let config: Value = serde_json::from_slice(&std::fs::read(workloads.server.kubeconfig()).unwrap()).unwrap();
    // An address that is not recognizable as this machine's: such ones are not judged, and never tried.
    let server = config["clusters"][0]["cluster"]["server"].as_str().unwrap().replace("127.0.0.1", "0.0.0.0");
    let authority = std::fs::read_to_string(workloads.server.kubeconfig().with_file_name("ca.crt")).unwrap();
    let own = |name| Workload { namespace: "tried", name, server: server.clone(), authority: authority.clone() };
    let another = Workload::new("tried", "demo-moved").authority;
    let (refused, moved) = (own("demo-refused"), Workload { authority: another, ..own("demo-moved") });
    let text = refused.kubeconfig_of("token: nobody-knows-this-token");
    let text = text.replace("    server:", "    tls-server-name: localhost\n    server:");
    for workload in [&refused, &moved] {
        workload.make(&at).await;
        // The second one's kubeconfig leads to the same server, which no object of that cluster names.
        workload.make_target(&at, &text).await;
    }
    let tried = |finding: &Finding| finding.evidence.iter().filter(|line| line.message.contains("tried")).count();
    let (_, finding, _) = plan(&desk, &refused);
    assert!(has(&finding, "opaque") && tried(&finding) == 0, "{finding:?}");

    let args = ["plan", "--probe", "--settle", "0s", "--domain", "kubeconfig", "--namespace", "tried"];
    let output = desk.run(&[&args[..], &["--kubeconfig", "$TMP/kubeconfig", "--out", "$TMP/plan.json"]].concat());
    let plan = Plan::read(&std::fs::read_to_string(desk.path("plan.json")).unwrap()).unwrap();
    let of =
        |workload: &Workload| plan.findings.iter().find(|finding| finding.subject.name == workload.target()).unwrap();
    assert_eq!(tried(of(&refused)), 1, "{}", said(&output));
    assert!(of(&refused).summary.contains("401"), "{:?}", of(&refused));
    assert!(has(of(&moved), "ca-drift") && tried(of(&moved)) == 0, "{:?}", of(&moved));
}
