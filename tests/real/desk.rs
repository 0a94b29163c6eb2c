//! A management cluster and a guest that tests write to, and a user with a kubeconfig and a state folder.
//!
//! Always true:
//! - the guest stands behind a [`Front`], which counts what reaches it;
//! - tests share the pair: each makes an orphan with a name of its own, and applies that action only;
//! - every secret value is a canary.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use trueup_core::engine::{Action, Plan};

use super::fleet::{
    READER, copy, create, furnish_guest, furnish_management, grant_reader, host_behind, inline_kubeconfig, start_two,
};
use crate::support::canaries::Canaries;
use crate::support::front::{Front, FrontBody, Upstream, Which};
use crate::support::http as plain;
use crate::support::killed::said;
use crate::support::real::{Connection, RealServer, User};

const NAMESPACE: &str = "openshift-config";

/// What the guest's kubeconfig needs: the front is reached by plain http, and its management cluster over TLS.
pub const EGRESS: &str = "[egress]\nguests = { \"guest-a\" = [\"http\", \"loopback\"] }\n";

/// The pair, and what stands between.
pub struct Acting {
    pub mgmt: RealServer,
    pub guest: RealServer,
    pub front: Front,
    pub canaries: Mutex<Canaries>,
}

impl Upstream for Connection {
    fn forward(&self, request: Request<Bytes>) -> BoxFuture<'_, anyhow::Result<Response<FrontBody>>> {
        Box::pin(async move {
            let answer = Connection::forward(self, request).await?;
            Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
        })
    }
}

impl Acting {
    /// The pair that all tests share, or nothing without the real server.
    pub async fn shared() -> Option<&'static Self> {
        static SHARED: OnceCell<Option<Acting>> = OnceCell::const_new();
        SHARED.get_or_init(Self::stand_up).await.as_ref()
    }

    /// A pair of the test's own.
    pub async fn stand_up() -> Option<Self> {
        let (mgmt, guest) = start_two().await?;
        let mut canaries = Canaries::default();
        let (at_mgmt, at_guest) = (mgmt.connect(User::Admin), guest.connect(User::Admin));
        furnish_guest(&at_guest, &guest, &mut canaries).await;
        furnish_management(&at_mgmt, &mgmt).await;
        let front = Front::start(guest.connect(User::Admin));
        host_behind(&at_mgmt, "guest-a", &guest, &kubeconfig_of(&front), &mut canaries).await;
        grant_reader(&at_mgmt, &at_guest).await;
        Some(Self { mgmt, guest, front, canaries: Mutex::new(canaries) })
    }

    /// Makes a copy that nothing refers to.
    pub async fn orphan(&self, name: &str) -> Value {
        let value = self.canaries.lock().unwrap().next();
        let object = copy("Secret", name, json!({"clientSecret": value}));
        create(&self.guest.connect(User::Admin), object).await;
        self.look(name).await.expect("what was just made is there")
    }

    /// The Secret as it stands in the guest.
    pub async fn look(&self, name: &str) -> Option<Value> {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/secrets/{name}");
        let answer = self.guest.connect(User::Admin).send(&plain::Request::get(path)).await.unwrap();
        (answer.status == 200).then_some(answer.body)
    }

    /// How many deletes of this Secret reached the guest.
    pub fn deletes(&self, name: &str) -> usize {
        self.front.through(&which(Method::DELETE, name))
    }
}

/// Requests about this Secret of the guest.
pub fn which(method: Method, name: &str) -> Which {
    Which::new(method, &format!("/namespaces/{NAMESPACE}/secrets/{name}"))
}

/// A kubeconfig that leads to the front, which needs no credentials.
fn kubeconfig_of(front: &Front) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "admin",
        "clusters": [{"name": "c", "cluster": {"server": front.url()}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "admin", "context": {"cluster": "c", "user": "u"}}],
    })
    .to_string()
}

/// A user's kubeconfig and state, in a temporary folder.
pub struct Desk(TempDir);

impl Desk {
    pub fn new(acting: &Acting) -> Self {
        let desk = Self::with(&inline_kubeconfig(&acting.mgmt, "mgmt", "admin"));
        desk.configure(EGRESS);
        desk
    }

    /// Writes the user's configuration file.
    pub fn configure(&self, text: &str) {
        std::fs::create_dir_all(self.path("config/trueup")).unwrap();
        std::fs::write(self.path("config/trueup/config.toml"), text).unwrap();
    }

    pub fn with(kubeconfig: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("kubeconfig"), kubeconfig).unwrap();
        Self(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The binary, in an empty environment but for its two folders. `$TMP` stands for the desk's folder.
    ///
    /// `TRUEUP_BIN` names another build of it, such as the one that is measured.
    pub fn command(&self, args: &[&str]) -> Command {
        let tmp = self.0.path().to_str().unwrap();
        let built = std::env::var_os("TRUEUP_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_trueup").into());
        let mut command = Command::new(built);
        command.env_clear().env("XDG_STATE_HOME", self.path("state")).env("XDG_CONFIG_HOME", self.path("config"));
        command.env("USER", "anna").current_dir("/");
        command.args(args.iter().map(|arg| arg.replace("$TMP", tmp)));
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = self.command(args);
        let output = tokio::task::block_in_place(|| command.output().unwrap());
        // Shown by `--nocapture`, to read what a user would see.
        println!("$ trueup {}\n{}", args.join(" "), said(&output));
        output
    }

    /// Plans, and answers with the plan, what was printed, and the action about this Secret.
    pub fn plan(&self, name: &str, more: &[&str]) -> (Plan, Output, Action) {
        let args = ["plan", "--settle", "1s", "--max-deletes", "100000", "--kubeconfig", "$TMP/kubeconfig", "--out"];
        let output = self.run(&[&args[..], &["$TMP/plan.json"], more].concat());
        let text = std::fs::read_to_string(self.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
        let plan = Plan::read(&text).unwrap();
        let action = plan.actions.iter().find(|action| action.target.name == name);
        let action = action.unwrap_or_else(|| panic!("no action about {name}: {}", said(&output))).clone();
        (plan, output, action)
    }

    /// The arguments that apply one action of a saved plan.
    pub fn apply_args<'a>(&self, file: &'a str, plan: &'a Plan, action: &'a Action) -> Vec<&'a str> {
        let fixed = ["--kubeconfig", "$TMP/kubeconfig", "--look-back", "0s", "--confirm-cluster", "guest-a"];
        [&["apply", file, "--expect", &plan.id, "--only", &action.id], &fixed[..]].concat()
    }

    /// Every file of the state folder, with its path.
    pub fn state_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        walk(&self.path("state")).into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    }
}

/// Impersonates the one who may read everything and delete nothing.
pub const AS_READER: [&str; 2] = ["--as", READER];

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>());
    let entries = entries.unwrap_or_default().into_iter();
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
