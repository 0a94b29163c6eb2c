//! The manifests as the real tools render them, given to a real server as a trial.
//!
//! Not here: what the policies in them refuse (`approvals`).

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::approvals::{create, documents, file};
use crate::support::crds::install_crd;
use crate::support::real::{RealServer, User, folder};
use serde_json::{Value, json};

const HOW_TO_GET_HELM: &str = "build it with tests/real/helm/install.sh and set TRUEUP_REAL_DIR";

/// The program `helm`, or a line that says which test was skipped.
fn helm() -> Option<PathBuf> {
    let program = folder().join("helm");
    if program.exists() {
        return Some(program);
    }
    let required = std::env::var("TRUEUP_REAL").is_ok_and(|value| value == "required");
    assert!(!required, "no helm at {}, but TRUEUP_REAL=required; {HOW_TO_GET_HELM}", program.display());
    let line = format!("skipped {}: no helm; {HOW_TO_GET_HELM}\n", std::thread::current().name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    None
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(program: &Path, args: &[&str], input: &str) -> String {
    let mut command = Command::new(program);
    command.args(args).current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _read = writing.join().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {args:?}: {stderr}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

/// `Kind/name` of every object.
fn names(text: &str) -> Vec<String> {
    let name = |object: &Value| {
        format!("{}/{}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap())
    };
    let mut names: Vec<String> = documents(text).iter().filter(|object| !object.is_null()).map(name).collect();
    names.sort();
    names
}

/// A server that has the namespace and the kinds, and the kubeconfig of its administrator.
async fn server() -> Option<RealServer> {
    let server = RealServer::start()?;
    let at = server.connect(User::Admin);
    for kind in ["approvals", "proposals"] {
        install_crd(&at, &file(&format!("deploy/crds/{kind}.trueup.dev.yaml"))).await;
    }
    create(&at, json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "trueup" } })).await;
    Some(server)
}

fn apply(server: &RealServer, manifests: &str) -> usize {
    let kubeconfig = server.kubeconfig().display().to_string();
    let args = ["--kubeconfig", &kubeconfig, "apply", "--server-side", "--dry-run=server", "-f", "-"];
    let applied = run(Path::new("kubectl"), &args, manifests);
    applied.lines().filter(|line| line.contains("(server dry run)")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_takes_the_kustomize_base_and_its_overlay() {
    let Some(server) = server().await else { return };
    for folder in ["deploy/base", "deploy/openshift"] {
        let manifests = run(Path::new("kubectl"), &["kustomize", folder], "");
        assert_eq!(apply(&server, &manifests), names(&manifests).len(), "{folder}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chart_passes_lint_and_renders_what_the_base_has() {
    let Some(helm) = helm() else { return };
    let linted = run(&helm, &["lint", "--strict", "deploy/helm/trueup"], "");
    assert!(linted.contains("0 chart(s) failed"), "{linted}");
    let render = |more: &[&str]| {
        let args =
            [&["template", "trueup", "deploy/helm/trueup", "--namespace", "trueup", "--kube-version", "1.36.0"], more]
                .concat();
        run(&helm, &args, "")
    };
    let plain = render(&[]);
    let base = names(&run(Path::new("kubectl"), &["kustomize", "deploy/base"], ""));
    let without_namespace: Vec<String> = base.into_iter().filter(|name| name != "Namespace/trueup").collect();
    assert_eq!(names(&plain), without_namespace);

    let rule = r#"rules=[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]"#;
    let changed = render(&[
        "--set",
        "openshift=true,image.tag=9,replicas=2,crds.install=false,storage.className=fast",
        "--set-json",
        rule,
    ]);
    let objects = documents(&changed);
    let set = objects.iter().find(|object| object["kind"] == "StatefulSet").unwrap();
    assert_eq!(
        (&set["spec"]["replicas"], &set["spec"]["template"]["spec"]["containers"][0]["image"]),
        (&json!(2), &json!("trueup:9"))
    );
    assert_eq!(set["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"], "fast");
    let security = &set["spec"]["template"]["spec"]["securityContext"];
    assert_eq!((&security["runAsNonRoot"], &security["fsGroup"]), (&json!(true), &Value::Null));
    assert!(names(&changed).contains(&"ClusterRole/trueup-fleet".to_owned()));
    assert!(!names(&changed).iter().any(|name| name.starts_with("CustomResourceDefinition/")));

    if let Some(server) = server().await {
        assert_eq!(apply(&server, &plain), names(&plain).len());
        assert_eq!(apply(&server, &changed), names(&changed).len());
    }
}
