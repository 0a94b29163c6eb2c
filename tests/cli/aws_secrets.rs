//! No key, session or token with which AWS is asked is in anything that is written, whatever AWS answers.
//!
//! Always true: the values are new in every run, and looked for in every form they could be written in.

use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use trueup_core::engine::Plan;
use trueup_sim::aws::{AwsFault, AwsFaultKind, SimAws};
use trueup_sim::{Listening, LocalServer, ResourceKind, listen};

use super::canaries::Canaries;
use super::fixture::folder;
use super::live::sim;

const NAMESPACE: &str = "openshift-machine-api";
const FINDING: &str = "machineset-capacity/shop/MachineSet/openshift-machine-api/workers";
const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
const STS: &str = "AssumeRoleWithWebIdentity";
const IDENTITY: &str = "GetCallerIdentity";
const EC2: &str = "DescribeInstanceTypes";
/// What a failure of the user's own login is, whichever it was.
const OWN: &str = "unknown own-login-failed";

/// Which way AWS is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Login {
    /// The user's own: a role in the environment.
    Role,
    /// Those of the MachineSet's Secret.
    Keys,
    /// The user's own: keys in a file.
    Profile,
    /// The user's own: keys in the environment.
    Environment,
    /// The user's own: keys that a command prints.
    Process,
}

/// Where a login of the user's own is written, and what.
fn home_file(login: Login, id: &str, key: &str) -> (&'static str, String) {
    let keys = json!({ "Version": 1, "AccessKeyId": id, "SecretAccessKey": key });
    match login {
        Login::Profile => {
            ("home/.aws/credentials", format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = {key}\n"))
        }
        // What it prints beside the keys is not to be shown, either.
        Login::Process => {
            ("home/.aws/config", format!("[default]\ncredential_process = echo {key} >&2; echo '{keys}'\n"))
        }
        Login::Role | Login::Keys | Login::Environment => ("home/unused", String::new()),
    }
}

/// A cluster with one MachineSet, an AWS, and a desk.
struct Desk {
    dir: TempDir,
    aws: SimAws,
    login: Login,
    canaries: Canaries,
    /// The access key, and its secret.
    key: (String, String),
    /// All of them in one text, as a server that echoes them would say it.
    echo: &'static str,
    at: (Listening, LocalServer),
}

async fn desk(login: Login) -> Desk {
    let mut canaries = Canaries::default();
    let (id, key) = (format!("AKIA{}", canaries.next()), canaries.next());
    let aws = SimAws::new(Timestamp::now);
    aws.trust(ROLE, "https://issuer", "openshift", "me");
    aws.add_user("ann", &id, &key);
    let until = Timestamp::now().checked_add(SignedDuration::from_hours(24)).unwrap();
    let token = aws.mint_token("https://issuer", "openshift", "me", until);
    token.split('.').skip(1).for_each(|part| canaries.guard(part));
    // What the sessions of the simulated AWS begin with.
    ["sim-secret-canary", "sim-session-canary", "ASIASIM00"].into_iter().for_each(|value| canaries.guard(value));

    let shop = sim("shop", 3, &[]);
    shop.register(ResourceKind::custom("machine.openshift.io/v1beta1", "MachineSet", "machinesets").with_status());
    let status = json!({ "platformStatus": { "type": "AWS" } });
    let named = |namespace: Option<&str>, name: &str| json!({ "namespace": namespace, "name": name });
    let secret = match login {
        // Its token is in the pods: the user's own login takes its place.
        Login::Role | Login::Profile | Login::Environment | Login::Process => {
            let profile = format!("[default]\nrole_arn = {ROLE}\nweb_identity_token_file = /nowhere/token\n");
            json!({ "credentials": profile })
        }
        Login::Keys => json!({ "aws_access_key_id": id, "aws_secret_access_key": key }),
    };
    let spec = json!({
        "kind": "AWSMachineProviderConfig", "instanceType": "m5.large", "placement": { "region": "us-east-1" },
        "credentialsSecret": { "name": "aws" },
    });
    for object in [
        json!({ "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": named(None, "cluster"), "status": status }),
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": named(None, NAMESPACE) }),
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": named(Some(NAMESPACE), "aws"), "stringData": secret }),
        json!({
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "metadata": named(Some(NAMESPACE), "workers"),
            "spec": { "template": { "spec": { "providerSpec": { "value": spec } } } },
        }),
    ] {
        shop.seed(object).unwrap();
    }
    let anywhere = "127.0.0.1:0".parse().unwrap();
    let cluster = listen(anywhere, vec![("shop".to_owned(), shop)]).await.unwrap();
    let listening = aws.listen(anywhere).await.unwrap();
    let (home, profile) = home_file(login, &id, &key);
    let dir = folder(&[
        ("kubeconfig", &cluster.kubeconfig()),
        ("config.toml", "[safety]\nsettle = \"0s\"\n"),
        ("token", &token),
        (home, &profile),
    ]);
    // Every command logs in: a session for each that may run.
    let session = |n: u64| format!("sim-secret-canary-{n} sim-session-canary-{n} ASIASIM{n:013}");
    let echo = format!("{id} {key} {token} {}", (1..=9).map(session).collect::<Vec<_>>().join(" "));
    Desk { dir, aws, login, canaries, key: (id, key), echo: Box::leak(echo.into_boxed_str()), at: (cluster, listening) }
}

impl Desk {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the binary, noisy, and looks for what must not be there in all it says.
    fn run(&self, case: &str, args: &[&str]) -> String {
        let tmp = self.dir.path().to_str().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("RUST_LOG", "trace").current_dir("/");
        command.env("XDG_STATE_HOME", self.path("state")).env("HOME", self.path("home"));
        command.env("AWS_ENDPOINT_URL", format!("http://{}", self.at.1.address));
        command.env("AWS_EC2_METADATA_DISABLED", "true");
        match self.login {
            Login::Role => {
                command.env("AWS_ROLE_ARN", ROLE).env("AWS_WEB_IDENTITY_TOKEN_FILE", self.path("token"));
            }
            Login::Environment => {
                command.env("AWS_ACCESS_KEY_ID", &self.key.0).env("AWS_SECRET_ACCESS_KEY", &self.key.1);
            }
            // The shell of the command is found by it.
            Login::Process => {
                command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
            }
            Login::Keys | Login::Profile => {}
        }
        command.args(args.iter().map(|arg| arg.replace("$TMP", tmp)));
        command.args(["-v", "--config", &format!("{tmp}/config.toml"), "--kubeconfig", &format!("{tmp}/kubeconfig")]);
        command.args(["--log", &format!("{tmp}/log")]);
        let output = tokio::task::block_in_place(|| command.output().unwrap());
        let said = [output.stdout.as_slice(), b"----- stderr\n", output.stderr.as_slice()].concat();
        self.canaries.assert_absent(&format!("case: {case}: what {args:?} says"), &said);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Looks in every file there is, and in the names of those of the vault.
    fn assert_files_clean(&self, case: &str) {
        // What the test itself put there.
        let ours = ["kubeconfig", "token", "home/.aws/credentials", "home/.aws/config", "home/unused"]
            .map(|name| self.path(name));
        let mut looked_at = 0;
        for path in walk(self.dir.path()).into_iter().filter(|path| !ours.contains(path)) {
            let place = format!("case: {case}: {}", path.display());
            self.canaries.assert_absent(&place, path.to_str().unwrap().as_bytes());
            self.canaries.assert_absent(&place, &std::fs::read(&path).unwrap());
            looked_at += 1;
        }
        assert!(looked_at > 1, "case: {case}: the log at least");
    }

    /// The verdict, and what became of the user's own login.
    fn verdict(&self, case: &str) -> String {
        let said = self.run(case, &["plan", "-o", "json"]);
        let (json, _) = said.split_once("----- stderr\n").unwrap();
        let plan: Value = serde_json::from_str(json).unwrap_or_else(|_| panic!("case: {case}: {said}"));
        let all = plan["findings"].as_array().unwrap();
        let one = all.iter().find(|finding| finding["id"] == FINDING).unwrap_or_else(|| panic!("case: {case}: {said}"));
        let codes = one["codes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap());
        let own = codes.filter(|code| code.starts_with("own-login"));
        std::iter::once(one["verdict"].as_str().unwrap()).chain(own).collect::<Vec<_>>().join(" ")
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_and_undo_of_annotations_write_no_credential() {
    let logins = [
        ("a role", Login::Role),
        ("a Secret", Login::Keys),
        ("a profile", Login::Profile),
        ("keys of the environment", Login::Environment),
        ("a credential process", Login::Process),
    ];
    for (case, login) in logins {
        let desk = desk(login).await;
        for format in ["table", "json", "markdown", "csv"] {
            let said = desk.run(case, &["plan", "-o", format]);
            assert!(said.contains("workers") && said.contains("missing"), "case: {case}: {said}");
        }
        for args in [&["explain", FINDING][..], &["explain", FINDING, "-o", "json"], &["doctor"]] {
            desk.run(case, args);
        }
        desk.run(case, &["plan", "--out", "$TMP/plan.json"]);
        let plan = Plan::read(&std::fs::read_to_string(desk.path("plan.json")).unwrap()).unwrap();
        let short = &plan.id[7..15];
        let applied = desk.run(case, &["apply", "$TMP/plan.json", "--expect", short, "-o", "json"]);
        assert_eq!(desk.verdict(case), "match", "case: {case}: {applied}");
        let undone = desk.run(case, &["undo", short, "--out", "$TMP/undo.json"]);
        let undo = std::fs::read_to_string(desk.path("undo.json")).unwrap_or_else(|_| panic!("case: {case}: {undone}"));
        let undo = Plan::read(&undo).unwrap();
        desk.run(case, &["apply", "$TMP/undo.json", "--expect", &undo.id[7..15]]);
        for args in [&["history"][..], &["history", "show", short], &["history", "verify"], &["history", "export"]] {
            desk.run(case, args);
        }
        assert_eq!(desk.verdict(case), "missing", "case: {case}: it was undone");
        desk.assert_files_clean(case);
        let log = std::fs::read_to_string(desk.path("log")).unwrap();
        let logged = log.lines().find(|line| line.contains("looked up instance types")).unwrap_or_default();
        assert!(logged.contains("cluster=") && logged.contains("login="), "case: {case}: the login is logged: {log}");
        let calls = desk.aws.calls();
        assert!(calls.iter().any(|call| call.action == EC2), "case: {case}: AWS was asked");
        let is_exchanged = calls.iter().any(|call| call.action == STS);
        assert_eq!(is_exchanged, login == Login::Role, "case: {case}: the login that was meant");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aws_answer_that_quotes_a_credential_is_not_printed() {
    let refuse = |action, status, code| {
        move |desk: &Desk| AwsFault::new(action, u32::MAX, AwsFaultKind::Refuse { status, code, message: desk.echo })
    };
    let code = |action| {
        move |desk: &Desk| {
            // As a code a server may say anything, too.
            let (id, _) = desk.echo.split_once(' ').unwrap();
            AwsFault::new(action, u32::MAX, AwsFaultKind::Refuse { status: 400, code: id, message: "" })
        }
    };
    let page = |action, status| {
        move |desk: &Desk| AwsFault::new(action, u32::MAX, AwsFaultKind::Page { status, body: desk.echo })
    };
    let malformed = |action, body: fn(&str) -> String| {
        move |desk: &Desk| AwsFault::new(action, u32::MAX, AwsFaultKind::Malformed { body: body(desk.echo) })
    };
    type Make = Box<dyn Fn(&Desk) -> AwsFault>;
    let cases: Vec<(&str, Login, Make, &str)> = vec![
        ("STS refuses the role", Login::Role, Box::new(refuse(STS, 403, "AccessDenied")), OWN),
        ("STS refuses the token", Login::Role, Box::new(refuse(STS, 400, "InvalidIdentityToken")), OWN),
        ("STS calls it expired", Login::Role, Box::new(refuse(STS, 400, "ExpiredTokenException")), OWN),
        ("STS answers with a page", Login::Role, Box::new(page(STS, 200)), OWN),
        ("STS answers with tags of its own", Login::Role, Box::new(malformed(STS, |echo| format!("<{echo}/>"))), OWN),
        (
            "STS answers with half of one",
            Login::Role,
            Box::new(malformed(STS, |echo| {
                format!("<AssumeRoleWithWebIdentityResponse><Credentials><SecretAccessKey>{echo}</SecretAccessKey>")
            })),
            OWN,
        ),
        ("EC2 refuses a role's session", Login::Role, Box::new(refuse(EC2, 403, "UnauthorizedOperation")), OWN),
        ("EC2 refuses a key", Login::Keys, Box::new(refuse(EC2, 403, "UnauthorizedOperation")), "denied"),
        ("EC2 answers a key as its code", Login::Keys, Box::new(code(EC2)), "denied"),
        ("EC2 throttles and repeats", Login::Keys, Box::new(refuse(EC2, 503, "RequestLimitExceeded")), "transient"),
        ("EC2 answers with a page", Login::Keys, Box::new(page(EC2, 200)), "transient"),
        (
            "EC2 answers with an entity",
            Login::Keys,
            Box::new(malformed(EC2, |echo| format!("<!DOCTYPE r [<!ENTITY a \"{echo}\">]><r>&a;</r>"))),
            "transient",
        ),
        ("who it is is refused", Login::Keys, Box::new(refuse(IDENTITY, 403, "InvalidClientTokenId")), "denied"),
        ("a profile's key is refused", Login::Profile, Box::new(refuse(EC2, 403, "UnauthorizedOperation")), OWN),
    ];
    for (case, login, make, expected) in cases {
        let desk = desk(login).await;
        desk.aws.inject(make(&desk));
        assert_eq!(desk.verdict(case), expected, "case: {case}");
        desk.run(case, &["explain", FINDING]);
        desk.run(case, &["doctor"]);
        desk.assert_files_clean(case);
    }
}

/// A login that fails is reported without what its command printed or its files hold.
#[tokio::test(flavor = "multi_thread")]
async fn a_failing_login_of_this_machine_is_unknown_and_shows_no_secret() {
    let desk = desk(Login::Process).await;
    let key = &desk.key.1;
    for (case, text) in [
        ("a command that fails", format!("[default]\ncredential_process = echo {key} >&2; echo {key}; exit 3\n")),
        ("a command that prints something else", format!("[default]\ncredential_process = echo {key}\n")),
        ("a file that cannot be parsed", format!("[default]\nregion = us-east-1\n[profile\n{key} = {key}\n")),
        ("half a key", format!("[default]\naws_secret_access_key = {key}\n")),
    ] {
        std::fs::write(desk.path("home/.aws/config"), text).unwrap();
        assert_eq!(desk.verdict(case), OWN, "case: {case}");
        desk.run(case, &["explain", FINDING]);
        desk.run(case, &["doctor"]);
        desk.assert_files_clean(case);
    }
}

/// Files that hold a login and something else are reported without their content.
#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_token_is_reported_without_showing_it() {
    let desk = desk(Login::Role).await;
    let token = std::fs::read_to_string(desk.path("token")).unwrap();
    for (case, text) in [
        ("something behind it", format!("{token}\nI1116 renewed {token}")),
        ("two parts", token.rsplit_once('.').unwrap().0.to_owned()),
        ("no base64", format!("{token}!")),
    ] {
        std::fs::write(desk.path("token"), text).unwrap();
        assert_eq!(desk.verdict(case), OWN, "case: {case}");
        desk.run(case, &["explain", FINDING]);
        desk.run(case, &["doctor"]);
        desk.assert_files_clean(case);
    }
}
