//! Snapshot folders for tests of the binary, and the binary itself with an empty environment.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    add(dir.path(), files);
    dir
}

pub fn add(dir: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A management cluster and a guest with one copy in use and one that nothing refers to.
pub fn guest_with_an_orphan() -> TempDir {
    folder(&[
        ("fleet.yaml", FLEET),
        ("clusters/mgmt/hosted.yaml", HOSTED),
        ("clusters/guest-a/config.yaml", GUEST_CONFIG),
        ("clusters/guest-a/openshift-config.yaml", COPIES),
    ])
}

pub const FLEET: &str = "\
now: 2026-11-16T10:00:00Z
clusters:
  mgmt: { class: prod }
  guest-a:
    hosted_by: { cluster: mgmt, namespace: clusters, name: guest-a }
";

pub const HOSTED: &str = r#"
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: { name: guest-a, namespace: clusters, uid: hc-1, resourceVersion: "10" }
spec:
  configuration: { authentication: { type: OIDC, oidcProviders: [ { name: idp, issuer: { issuerURL: "https://idp", audiences: [a] }, claimMappings: { username: { claim: email } }, oidcClients: [ { componentName: console, componentNamespace: openshift-console, clientID: c, clientSecret: { name: client } } ] } ] } }
status: { kubeconfig: { name: guest-a-admin-kubeconfig } }
---
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedControlPlane
metadata: { name: guest-a, namespace: clusters-guest-a, uid: hcp-1, resourceVersion: "11" }
spec:
  configuration: { authentication: { type: OIDC, oidcProviders: [ { name: idp, issuer: { issuerURL: "https://idp", audiences: [a] }, oidcClients: [ { componentName: console, componentNamespace: openshift-console, clientID: c, clientSecret: { name: client } } ] } ] } }
---
apiVersion: v1
kind: Secret
metadata: { name: client, namespace: clusters-guest-a, uid: s-0, resourceVersion: "12" }
type: Opaque
data: { clientSecret: czNjcmV0 }
"#;

pub const GUEST_CONFIG: &str = r#"
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: { name: cluster, uid: i-1, resourceVersion: "20" }
status: { controlPlaneTopology: External }
---
apiVersion: config.openshift.io/v1
kind: Authentication
metadata: { name: cluster, uid: au-1, resourceVersion: "21" }
spec: { type: OIDC, oidcProviders: [ { name: idp, issuer: { issuerURL: "https://idp", audiences: [a] }, oidcClients: [ { componentName: console, componentNamespace: openshift-console, clientID: c, clientSecret: { name: client } } ] } ] }
status: { oidcClients: [ { componentName: console, componentNamespace: openshift-console, currentOIDCClients: [ { oidcProviderName: idp, issuerURL: "https://idp", clientID: c } ] } ] }
"#;

pub const COPIES: &str = r#"
apiVersion: v1
kind: SecretList
items:
- metadata:
    name: client
    namespace: openshift-config
    uid: s-1
    resourceVersion: "31"
    creationTimestamp: 2026-10-06T09:00:00Z
    labels: { hypershift.openshift.io/managed: "true", hypershift.openshift.io/oidc-provider-managed: "true" }
  type: Opaque
  data: { clientSecret: czNjcmV0 }
- metadata:
    name: old-client
    namespace: openshift-config
    uid: s-2
    resourceVersion: "32"
    creationTimestamp: 2026-10-06T09:00:00Z
    labels: { hypershift.openshift.io/managed: "true", hypershift.openshift.io/oidc-provider-managed: "true" }
  type: Opaque
  data: { clientSecret: b2xkLXMzY3JldA== }
"#;

/// Runs the binary in an empty environment. `$TMP` in the arguments stands for the folder.
pub fn run(dir: &TempDir, args: &[&str]) -> Output {
    let output = command(dir, args).output().unwrap();
    require_valid(dir, args, output)
}

/// The same with a state folder: without one no backup could be made, and no delete of a live object is offered.
pub fn run_with_state(dir: &TempDir, args: &[&str]) -> Output {
    let output = command(dir, args).env("XDG_STATE_HOME", dir.path().join("state")).output().unwrap();
    require_valid(dir, args, output)
}

/// Every plan and history that a test makes is valid by its published schema.
fn require_valid(dir: &TempDir, args: &[&str], output: Output) -> Output {
    let tmp = dir.path().to_str().unwrap();
    let args: Vec<String> = args.iter().map(|arg| arg.replace("$TMP", tmp)).collect();
    super::schema::require_valid_output(&args, &output);
    output
}

/// `TRUEUP_BIN` names another build of the binary, such as the one that is measured.
pub fn command(dir: &TempDir, args: &[&str]) -> Command {
    let tmp = dir.path().to_str().unwrap();
    let args = args.iter().map(|arg| arg.replace("$TMP", tmp));
    let built = std::env::var_os("TRUEUP_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_trueup").into());
    let mut command = Command::new(built);
    command.env_clear().current_dir("/").args(args);
    command
}

/// Everything the shell sees, with `$TMP` for the folder and `$ID` for plan ids, which change with every word in a plan.
pub fn transcript(dir: &TempDir, args: &[&str]) -> String {
    let output = run(dir, args);
    let tmp = dir.path().to_str().unwrap();
    let clean = |bytes: &[u8]| without_ids(String::from_utf8_lossy(bytes).replace(tmp, "$TMP"));
    let (stdout, stderr) = (clean(&output.stdout), clean(&output.stderr));
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    format!("{stdout}----- stderr\n{stderr}----- exit {code}\n")
}

fn without_ids(mut text: String) -> String {
    for (before, length) in [("plan ", 8), ("sha256:", 64)] {
        let mut from = 0;
        while let Some(found) = text[from..].find(before) {
            from += found + before.len();
            let hex = text[from..].chars().take_while(char::is_ascii_hexdigit).count();
            if hex == length {
                text.replace_range(from..from + length, "$ID");
            }
        }
    }
    text
}
