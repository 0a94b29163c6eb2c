//! Secrets end at the edge of the console, too: screen, pager, clipboard, title, exports, plan file, log and state folder
//! hold no value of a Secret and no metadata that may be a copy of one.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::json;
use trueup_sim::{Listening, SimCluster, listen};

use super::canaries::Canaries;
use super::fixture::{GUEST_CONFIG, HOSTED, folder};
use super::live::sim;
use super::pty::{Program, Pty, keys};

const LABELS: [&str; 2] = ["hypershift.openshift.io/managed", "hypershift.openshift.io/oidc-provider-managed"];
/// Shown when a user asks for it, and not before.
const ON_PURPOSE: &str = "shown-on-purpose-only";

/// A guest with a canary in every place of a Secret, and a ConfigMap with a password.
fn guest(canaries: &mut Canaries) -> SimCluster {
    let guest = sim("guest-a", 2, &[GUEST_CONFIG]);
    for name in ["client", "old-client"] {
        let labels = json!({LABELS[0]: "true", LABELS[1]: "true", "team": canaries.next()});
        let annotations = json!({
            "kubectl.kubernetes.io/last-applied-configuration": canaries.next_base64(),
            "openshift.io/token-secret.value": canaries.next(),
            "kapp.k14s.io/original": canaries.next(),
            "objectset.rio.cattle.io/applied": canaries.next_base64(),
        });
        let metadata =
            json!({"name": name, "namespace": "openshift-config", "labels": labels, "annotations": annotations});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata,
            "data": {"clientSecret": canaries.next_base64()}});
        guest.seed(secret).unwrap();
    }
    let metadata =
        json!({"name": "old-ca", "namespace": "openshift-config", "labels": {LABELS[0]: "true", LABELS[1]: "true"}});
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"db-password": ON_PURPOSE}});
    guest.seed(map).unwrap();
    guest
}

/// The two clusters on ports, and a folder with the kubeconfig of the first.
async fn served(canaries: &mut Canaries) -> (tempfile::TempDir, [Listening; 2]) {
    let address = "127.0.0.1:0".parse().unwrap();
    let guest = listen(address, vec![("guest-a".to_owned(), guest(canaries))]).await.unwrap();
    let mgmt = sim("mgmt", 1, &[HOSTED]);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"kubeconfig": STANDARD.encode(guest.kubeconfig())},
        "metadata": {"name": "guest-a-admin-kubeconfig", "namespace": "clusters"}});
    mgmt.seed(secret).unwrap();
    let mgmt = listen(address, vec![("mgmt".to_owned(), mgmt)]).await.unwrap();
    let dir = folder(&[("kubeconfig", &mgmt.kubeconfig()), ("config.toml", "[safety]\nsettle = \"0s\"\n")]);
    (dir, [mgmt, guest])
}

fn console(dir: &Path) -> Pty {
    Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&[
            "--kubeconfig",
            "kubeconfig",
            "--config",
            "config.toml",
            "--log",
            "log",
            "-v",
            "--utc",
            "--record",
            "session",
        ])
        .env("HOME", dir)
        .env("XDG_STATE_HOME", dir.join("state"))
        .env("PAGER", "cat > paged; echo the pager waits; read line < /dev/tty")
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .folder(dir)
        .size(120, 40)
        .start()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Shows the Secret in every way the console has.
fn look_at_the_secret(pty: &mut Pty) {
    pty.send("1/name~old-client\r");
    pty.wait_for_text("orphan-certain");
    pty.wait_for_text("EVIDENCE");
    pty.send("yK");
    pty.wait_for_text("copied: kubectl");
    pty.send("v");
    pty.wait_for_text("openshift.io/token-secret.value: <22 bytes>");
    pty.wait_for_text("team: <22 bytes>");
    pty.wait_for_text("hypershift.openshift.io/managed");
    pty.send("yS");
    pty.wait_for_text("wrote trueup-screen-");
    pty.send("|");
    pty.wait_for_text("the pager waits");
    pty.send(keys::ENTER);
    pty.wait_for_text("YAML, masked");
    pty.send("1Ecsv\r");
    pty.wait_for_text(".csv");
    pty.send("Emark\r");
    pty.wait_for_text(".md");
    pty.send("r");
    pty.wait_for_text("[Plan]");
    pty.wait_for_text("team: \"<22 bytes>\"");
    pty.send("w");
    pty.wait_for_text("trueup-plan-");
    pty.send("B");
    pty.wait_for_text("wrote incident-");
    pty.send("gl");
    pty.wait_for_text("Log");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_secret_leaves_the_console() {
    let mut canaries = Canaries::default();
    let (dir, _ports) = served(&mut canaries).await;
    tokio::task::block_in_place(|| {
        let mut pty = console(dir.path());
        pty.wait_for_text("guest-a");
        #[cfg(target_os = "linux")]
        {
            let limits = std::fs::read_to_string(format!("/proc/{}/limits", pty.pid().as_raw_nonzero())).unwrap();
            let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
            assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
        }
        look_at_the_secret(&mut pty);
        pty.send("\x03");
        assert!(pty.expect_clean_exit().success());
        canaries.assert_absent("the terminal", pty.transcript());
        canaries.assert_absent("the title", pty.title().as_bytes());
        canaries.assert_absent("the clipboard", &STANDARD.decode(pty.clipboard()).unwrap());
    });
    let written: Vec<PathBuf> = files(dir.path()).into_iter().filter(|path| !path.ends_with("kubeconfig")).collect();
    let has = |end: &str| written.iter().any(|path| path.to_string_lossy().ends_with(end));
    for end in ["paged", "log", ".csv", ".md", ".svg", ".txt", ".json", "session", ".tar.gz"] {
        assert!(has(end), "no {end} in {written:?}");
    }
    for path in written {
        let mut bytes = std::fs::read(&path).unwrap();
        if path.to_string_lossy().ends_with(".tar.gz") {
            let packed = std::mem::take(&mut bytes);
            GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for part in
                ["summary.md", "Incident bundle", "orphan-certain", "openshift.io/token-secret.value: <22 bytes>"]
            {
                assert!(text.contains(part), "no {part} in the bundle");
            }
        }
        canaries.assert_absent(&path.display().to_string(), &bytes);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_in_a_config_map_is_shown_on_purpose_only() {
    let mut canaries = Canaries::default();
    let (dir, _ports) = served(&mut canaries).await;
    tokio::task::block_in_place(|| {
        let mut pty = console(dir.path());
        pty.wait_for_text("guest-a");
        pty.send("1/name~old-ca\r");
        pty.wait_for_text("EVIDENCE");
        pty.send("v");
        pty.wait_for_text("db-password: <21 bytes, looks like a password>");
        let seen = |pty: &Pty| String::from_utf8_lossy(pty.transcript()).contains(ON_PURPOSE);
        assert!(!seen(&pty));
        pty.send("x");
        pty.wait_for_text(ON_PURPOSE);
        pty.wait_for_text("credentials shown");
        pty.send("x");
        pty.wait_for_text("looks like a password");
        assert!(!pty.text().contains(ON_PURPOSE), "{}", pty.picture());
        pty.send("\x03");
        assert!(pty.expect_clean_exit().success());
        let recorded = std::fs::read_to_string(dir.path().join("session")).unwrap();
        assert!(recorded.contains("db-password") && !recorded.contains(ON_PURPOSE));
    });
}
