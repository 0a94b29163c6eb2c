//! `trueup demo` as a shell sees it.

#![expect(
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.env_clear().env("TMPDIR", folder).arg("demo").args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success(), "{name} was sent");
}

#[test]
fn a_headless_demo_prints_its_kubeconfig_path_and_cleans_up() {
    for name in ["TERM", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = start(folder.path(), &["--headless", "--clusters", "1", "--objects", "10"]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let path = lines.next().unwrap().unwrap();
        let kubeconfig = std::fs::read_to_string(&path).unwrap();
        assert!(kubeconfig.contains("current-context: mgmt-eu"), "{kubeconfig}");
        assert!(kubeconfig.contains("guest-001"), "{kubeconfig}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let server = kubeconfig.lines().find_map(|line| line.trim().strip_prefix("server: http://")).unwrap();
        std::net::TcpStream::connect(server).unwrap();
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{name}");
        let account = lines.next().unwrap().unwrap();
        assert!(account.starts_with("IBM Cloud account: http://127.0.0.1:"), "{account}");
        assert_eq!(lines.count(), 0, "nothing but the two places is printed");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn a_demo_shows_its_embedded_fleet_and_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), &[]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let orphan = lines.find(|line| line.contains("openshift-config/ext-auth-console")).unwrap();
    assert!(orphan.contains("orphan-certain"), "{orphan}");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains("guest-old: ") && errors.contains("connection refused"), "{errors}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_served_demo_removes_its_kubeconfig_when_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), &["--listen", "127.0.0.1:0"]);
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let path = errors.find_map(|line| line.strip_prefix("kubeconfig: ").map(str::to_owned)).unwrap();
    assert!(Path::new(&path).exists(), "{path}");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_demo_account_is_read_and_its_key_is_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(folder.path(), &["--headless", "--listen", "127.0.0.1:0"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let (kubeconfig, account) = (lines.next().unwrap(), lines.next().unwrap());
    let (url, key) = account.strip_prefix("IBM Cloud account: ").unwrap().split_once(" (API key ").unwrap();
    let services = ["iam", "tagging", "search", "resource-controller", "vpc", "transit", "power"];
    let endpoints: String = services.iter().map(|service| format!("{service} = \"{url}\"\n")).collect();
    let config = folder.path().join("config.toml");
    let text = format!("[clouds.ibm.try]\napi_key_env = \"TRY_KEY\"\n[clouds.ibm.try.endpoints]\n{endpoints}");
    std::fs::write(&config, text).unwrap();
    let run = |arguments: &[&str], key: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("HOME", folder.path()).env("TRY_KEY", key).args(arguments);
        let ran = command.args(["--kubeconfig", &kubeconfig, "--config"]).arg(&config).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
    };
    let fit = run(&["doctor"], key.trim_end_matches(')'));
    assert!(fit.contains("try is account 7f4c1d0be5a34a0c9d2e6b8f01a3c5d7: 48 resources in "), "{fit}");
    let unfit = run(&["doctor"], "canary-key");
    assert!(unfit.contains("BXNIM0415E: Provided API key could not be found.") && !unfit.contains("canary"), "{unfit}");
    let plan = run(&["plan", "--domain", "powervs-tags", "-o", "json", "--settle", "0s"], key.trim_end_matches(')'));
    assert!(plan.contains("powervs-tags/ibm:7f4c1d0be5a34a0c9d2e6b8f01a3c5d7/vpc/r006-quarry-vpc@-"), "{plan}");
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
