//! `trueup oidc backup`: what is sealed, who can open it, and what is said where something could not be read.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::str::FromStr as _;

use serde_json::{Value, json};
use tempfile::TempDir;
use trueup_sim::{Fault, FaultAction, Listening, Matcher, ResourceKind, SimCluster, SimOptions, listen};

use super::apply::{text, trueup};
use super::fixture::folder;

const CANARY: &str = "canary-8d20c1";
const FILES: [&str; 6] = ["users", "groups", "identities", "oauthclients", "clusterrolebindings", "rolebindings"];

struct Stage {
    dir: TempDir,
    sim: SimCluster,
    _port: Listening,
}

async fn stage() -> Stage {
    let sim = SimCluster::new(SimOptions { name: "ocp".to_owned(), seed: 3, start: jiff::Timestamp::now() });
    for (group, kind, plural) in [
        ("user.openshift.io/v1", "User", "users"),
        ("user.openshift.io/v1", "Group", "groups"),
        ("user.openshift.io/v1", "Identity", "identities"),
        ("oauth.openshift.io/v1", "OAuthClient", "oauthclients"),
    ] {
        sim.register(ResourceKind::custom(group, kind, plural).cluster_scoped());
    }
    let port = listen("127.0.0.1:0".parse().unwrap(), vec![("ocp".to_owned(), sim.clone())]).await.unwrap();
    let dir = folder(&[("kubeconfig", &port.kubeconfig())]);
    Stage { dir, sim, _port: port }
}

impl Stage {
    fn back_up(&self, to: &str) -> (Option<i32>, String) {
        let output = trueup(self.dir.path(), &["oidc", "backup", to, "--kubeconfig", "$TMP/kubeconfig"]);
        (output.status.code(), text(&output))
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        self.dir.path().join(file)
    }

    /// The objects of a sealed file, opened as the guide says: with the vault's key.
    fn opened(&self, file: &Path) -> Vec<Value> {
        let key = std::fs::read_to_string(self.path("state/trueup/vault-key")).unwrap();
        let key = key.lines().find(|line| line.starts_with("AGE-SECRET-KEY")).unwrap();
        let identity = age::x25519::Identity::from_str(key).unwrap();
        let sealed = std::fs::File::open(file).unwrap();
        let mut clear = age::Decryptor::new(sealed).unwrap().decrypt(std::iter::once(&identity as _)).unwrap();
        let mut bytes = Vec::new();
        clear.read_to_end(&mut bytes).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()["items"].as_array().unwrap().clone()
    }
}

fn client(name: &str) -> Value {
    json!({ "apiVersion": "oauth.openshift.io/v1", "kind": "OAuthClient", "metadata": { "name": name },
        "secret": CANARY, "redirectURIs": ["https://console.example"] })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_sealed_can_be_read_back_and_shows_no_secret() {
    let stage = stage().await;
    stage
        .sim
        .seed(json!({ "apiVersion": "user.openshift.io/v1", "kind": "User", "metadata": { "name": "jane" },
        "identities": ["ldap:jane"] }))
        .unwrap();
    stage.sim.seed(client("console")).unwrap();
    let (code, said) = stage.back_up("$TMP/kept");
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains(CANARY), "{said}");
    for file in FILES {
        let path = stage.path(&format!("kept/{file}.json.age"));
        assert!(said.contains(&format!("{file}.json.age")), "{file}: {said}");
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()), "{file} is sealed");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0, "{file} is private");
    }
    let users = stage.opened(&stage.path("kept/users.json.age"));
    assert_eq!((users.len(), &users[0]["identities"]), (1, &json!(["ldap:jane"])));
    let clients = stage.opened(&stage.path("kept/oauthclients.json.age"));
    assert_eq!(clients[0]["secret"], CANARY, "what restores a client is all there");
    // Whole objects, as the server sent them: they can be created again.
    assert_eq!(clients[0]["metadata"]["name"], "console");

    let before = std::fs::read(stage.path("kept/users.json.age")).unwrap();
    let (code, said) = stage.back_up("$TMP/kept");
    assert_eq!(code, Some(3), "an earlier backup is not replaced: {said}");
    assert_eq!(std::fs::read(stage.path("kept/users.json.age")).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_kind_is_sealed_and_one_that_cannot_be_read_is_not() {
    let stage = stage().await;
    let (code, said) = stage.back_up("$TMP/empty");
    assert_eq!(code, Some(0), "no users is an answer: {said}");
    assert_eq!(stage.opened(&stage.path("empty/users.json.age")), Vec::<Value>::new());

    let refuse = FaultAction::Refuse { code: 403, retry_after_seconds: None };
    stage.sim.fault(Fault::always(Matcher::of("identities.user.openshift.io"), refuse));
    let (code, said) = stage.back_up("$TMP/forbidden");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("Identity not sealed: ") && said.contains("403"), "{said}");
    assert!(!stage.path("forbidden/identities.json.age").exists(), "nothing stands for what is not known");
    assert!(stage.path("forbidden/users.json.age").exists(), "the others are kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_is_not_served_and_a_snapshot_have_no_backup() {
    let sim = SimCluster::new(SimOptions { name: "ocp".to_owned(), seed: 3, start: jiff::Timestamp::now() });
    let port = listen("127.0.0.1:0".parse().unwrap(), vec![("ocp".to_owned(), sim)]).await.unwrap();
    let dir = folder(&[("kubeconfig", &port.kubeconfig()), ("fleet.yaml", "clusters: { ocp: {} }\n")]);
    let live = trueup(dir.path(), &["oidc", "backup", "$TMP/kept", "--kubeconfig", "$TMP/kubeconfig"]);
    let said = text(&live);
    assert_eq!(live.status.code(), Some(3), "{said}");
    assert!(said.contains("User not sealed: ") && said.contains("ClusterRoleBinding sealed"), "{said}");
    std::fs::create_dir_all(dir.path().join("clusters/ocp")).unwrap();
    let recorded = trueup(dir.path(), &["oidc", "backup", "$TMP/kept", "--from", "$TMP"]);
    assert_eq!(recorded.status.code(), Some(1), "{}", text(&recorded));
}
