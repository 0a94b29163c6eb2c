//! Secrets of what is deleted and brought back end in the vault, sealed: nothing else that apply, undo and history write
//! holds one, whatever goes wrong on the way.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine as _;
use http::Method;
use serde_json::{Value, json};
use trueup_core::engine::Plan;
use trueup_sim::{Listening, SimCluster, listen};

use super::canaries::Canaries;
use super::fixture::{GUEST_CONFIG, HOSTED, folder};
use super::front::{Front, Which};
use super::live::sim;

const LABELS: [&str; 2] = ["hypershift.openshift.io/managed", "hypershift.openshift.io/oidc-provider-managed"];
const ORPHAN: &str = "/namespaces/openshift-config/secrets/old-client";
const SECRETS: &str = "/namespaces/openshift-config/secrets";

/// A guest behind a front that can answer in its place, its management cluster, and a desk.
pub struct Watched {
    dir: tempfile::TempDir,
    guest: SimCluster,
    pub front: Front,
    canaries: Canaries,
    _mgmt: Listening,
}

pub async fn watched() -> Watched {
    let mut canaries = Canaries::default();
    let guest = sim("guest-a", 2, &[GUEST_CONFIG]);
    for name in ["client", "old-client"] {
        let applied = json!({"data": {"clientSecret": canaries.next_base64()}}).to_string();
        let labels = json!({LABELS[0]: "true", LABELS[1]: "true", "team": canaries.next()});
        let annotations = json!({"kubectl.kubernetes.io/last-applied-configuration": applied,
            "openshift.io/token-secret.value": canaries.next(), "kapp.k14s.io/original": canaries.next(),
            "objectset.rio.cattle.io/applied": canaries.next_base64()});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": name, "namespace": "openshift-config", "labels": labels, "annotations": annotations},
            "data": {"clientSecret": canaries.next_base64()}});
        guest.seed(secret).unwrap();
    }
    let front = Front::start(guest.clone());
    let mgmt = sim("mgmt", 1, &[HOSTED]);
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "admin",
        "clusters": [{"name": "c", "cluster": {"server": front.url()}}],
        "users": [{"name": "u", "user": {"token": canaries.next()}}],
        "contexts": [{"name": "admin", "context": {"cluster": "c", "user": "u"}}],
    });
    let encoded = base64::engine::general_purpose::STANDARD.encode(kubeconfig.to_string());
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"kubeconfig": encoded},
        "metadata": {"name": "guest-a-admin-kubeconfig", "namespace": "clusters"}});
    mgmt.seed(secret).unwrap();
    let mgmt = listen("127.0.0.1:0".parse().unwrap(), vec![("mgmt".to_owned(), mgmt)]).await.unwrap();
    let dir = folder(&[("kubeconfig", &mgmt.kubeconfig()), ("config.toml", "[safety]\nsettle = \"0s\"\n")]);
    Watched { dir, guest, front, canaries, _mgmt: mgmt }
}

impl Watched {
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the binary, noisy, and looks for secrets in all it says. `$TMP` stands for the folder.
    fn run(&self, case: &str, code: i32, args: &[&str]) -> String {
        self.run_in(Command::new(env!("CARGO_BIN_EXE_trueup")), case, &[code], args)
    }

    /// The same by a shell that lets no file grow beyond so many blocks: a disk that is full.
    fn run_on_small_disk(&self, case: &str, blocks: usize, args: &[&str]) -> String {
        let mut shell = Command::new("/bin/sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_trueup")]);
        self.run_in(shell, case, &[1, 2, 3], args)
    }

    fn run_in(&self, mut command: Command, case: &str, codes: &[i32], args: &[&str]) -> String {
        let tmp = self.dir.path().to_str().unwrap();
        command.env_clear().env("XDG_STATE_HOME", self.path("state")).env("RUST_LOG", "trace").current_dir("/");
        command.args(args.iter().map(|arg| arg.replace("$TMP", tmp)));
        command.args(["-v", "--config", &format!("{tmp}/config.toml"), "--kubeconfig", &format!("{tmp}/kubeconfig")]);
        if !case.contains("small disk") {
            command.args(["--log", &format!("{tmp}/log")]);
        }
        let Output { status, stdout, stderr } = tokio::task::block_in_place(|| command.output().unwrap());
        let said = [stdout.as_slice(), b"----- stderr\n", stderr.as_slice()].concat();
        let text = String::from_utf8_lossy(&said).into_owned();
        assert!(status.code().is_some_and(|code| codes.contains(&code)), "case: {case}: {args:?} {status}: {text}");
        self.canaries.assert_absent(&format!("case: {case}: what {args:?} says"), &said);
        text
    }

    fn plan(&self, case: &str) -> Plan {
        self.run(case, 2, &["plan", "--out", "$TMP/plan.json"]);
        Plan::read(&std::fs::read_to_string(self.path("plan.json")).unwrap()).unwrap()
    }

    /// Looks for secrets in every file there is, and in the names of those in the vault.
    fn assert_files_clean(&self, case: &str) {
        for path in walk(self.dir.path()) {
            // What the test itself put there.
            if path.ends_with("kubeconfig") {
                continue;
            }
            let place = format!("case: {case}: {}", path.display());
            self.canaries.assert_absent(&place, path.to_str().unwrap().as_bytes());
            self.canaries.assert_absent(&place, &std::fs::read(&path).unwrap());
        }
    }

    /// A refusal that repeats the object, as admission hooks and validators do.
    fn refuse(&self, method: Method, path_end: &str, code: u16, reason: &str) {
        let object = self.guest.object("v1", "Secret", "openshift-config/old-client").unwrap_or_default();
        let canary = object["data"].to_string();
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
            "message": format!("admission webhook refused {object}"),
            "details": {"name": canary, "kind": "secrets", "causes": [{"message": canary, "field": canary}]}});
        self.front.answer(Which::new(method, path_end), code, body);
    }

    pub fn is_there(&self) -> bool {
        self.guest.object("v1", "Secret", "openshift-config/old-client").is_ok()
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn apply(file: &str, plan: &Plan) -> Vec<String> {
    ["apply", file, "--look-back", "0s", "--expect", &plan.id].map(str::to_owned).to_vec()
}

fn strs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_and_undo_of_a_delete_write_no_secret() {
    let watched = watched().await;
    let plan = watched.plan("all goes well");
    let short = plan.id[7..15].to_owned();
    let said = watched.run("all goes well", 0, &strs(&apply("$TMP/plan.json", &plan)));
    assert!(said.contains("gone") && !watched.is_there(), "{said}");
    let histories: [&[&str]; 4] =
        [&["history"], &["history", "show", &short], &["history", "verify"], &["history", "export"]];
    for args in histories {
        watched.run("all goes well", 0, args);
    }
    watched.run("all goes well", 0, &["undo", &short, "--out", "$TMP/undo.json"]);
    let undo = Plan::read(&std::fs::read_to_string(watched.path("undo.json")).unwrap()).unwrap();
    let args = [apply("$TMP/undo.json", &undo), vec!["-o".to_owned(), "json".to_owned()]].concat();
    let said = watched.run("all goes well", 0, &strs(&args));
    assert!(said.contains("restored") && watched.is_there(), "{said}");
    for args in histories {
        watched.run("brought back", 0, args);
    }
    watched.assert_files_clean("all goes well");
    assert!(walk(&watched.path("state")).iter().any(|path| path.extension().is_some_and(|ending| ending == "age")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_quotes_the_object_is_not_printed() {
    let watched = watched().await;
    let cases = [
        ("forbidden", Method::DELETE, 403, "Forbidden", 2, "refused it (403 Forbidden)"),
        ("conflict", Method::DELETE, 409, "Conflict", 2, "nothing was done"),
        ("invalid", Method::DELETE, 422, "Invalid", 2, "refused it (422 Invalid)"),
        ("broken", Method::DELETE, 500, "InternalError", 2, "the object is as it was"),
        ("can't be read", Method::GET, 500, "InternalError", 3, "the server answered 500"),
        ("another 404", Method::GET, 404, "NotFound", 3, "the server answered 404"),
    ];
    for (case, method, code, reason, exit, message) in cases {
        let plan = watched.plan(case);
        watched.refuse(method, ORPHAN, code, reason);
        let said = watched.run(case, exit, &strs(&apply("$TMP/plan.json", &plan)));
        watched.front.let_through(ORPHAN);
        assert!(said.contains(message) && watched.is_there(), "case: {case}: {said}");
        watched.run(case, 0, &["history", "show", &plan.id[7..15]]);
        watched.run(case, 0, &["history", "export"]);
        watched.assert_files_clean(case);
    }
    let plan = watched.plan("bringing back is refused");
    watched.refuse(Method::POST, SECRETS, 422, "Invalid");
    watched.run("bringing back is refused", 0, &strs(&apply("$TMP/plan.json", &plan)));
    watched.run("bringing back is refused", 0, &["undo", &plan.id[7..15], "--out", "$TMP/undo.json"]);
    let undo = Plan::read(&std::fs::read_to_string(watched.path("undo.json")).unwrap()).unwrap();
    let said = watched.run("bringing back is refused", 2, &strs(&apply("$TMP/undo.json", &undo)));
    assert!(said.contains("refused it (422 Invalid)"), "{said}");
    watched.assert_files_clean("bringing back is refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_and_a_failing_vault_show_nothing_of_the_object() {
    let watched = watched().await;
    let plan = watched.plan("no vault");
    let vault = watched.path("state/trueup/vault");
    std::fs::create_dir_all(vault.parent().unwrap()).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(vault.parent().unwrap(), private).unwrap();
    std::fs::write(&vault, "no folder").unwrap();
    watched.run("no vault", 1, &strs(&apply("$TMP/plan.json", &plan)));
    std::fs::remove_file(&vault).unwrap();
    assert!(watched.is_there());
    watched.assert_files_clean("no vault");

    let mut halted = 0;
    for blocks in 0..8 {
        let case = format!("small disk: {blocks} blocks");
        let plan: Value = serde_json::from_slice(&std::fs::read(watched.path("plan.json")).unwrap()).unwrap();
        let plan = Plan::read(&plan.to_string()).unwrap();
        let said = watched.run_on_small_disk(&case, blocks, &strs(&apply("$TMP/plan.json", &plan)));
        halted += usize::from(watched.is_there());
        watched.assert_files_clean(&case);
        if !watched.is_there() {
            assert!(said.contains("gone") || said.contains("unknown"), "case: {case}: {said}");
            break;
        }
    }
    assert!(halted > 0, "on a full disk nothing may be deleted");
}
