//! AWS against the simulated one, and everything that never gets there.

mod caching;
mod failing;
mod finding;
mod tokens;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use trueup_net::SecretText;
use trueup_net::http::HttpClient;
use trueup_sim::aws::SimAws;

const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
const ISSUER: &str = "https://oidc.example/cluster";
const AUDIENCE: &str = "openshift";
const SUBJECT: &str = "system:serviceaccount:openshift-machine-api:machine-api-controllers";
const START: &str = "2026-11-16T10:00:00Z";

/// A simulated AWS, a client for it, a clock that is moved by hand, and a token file.
struct Given {
    sim: SimAws,
    aws: Aws,
    clock: Arc<Mutex<Timestamp>>,
    folder: tempfile::TempDir,
}

impl Given {
    fn new() -> Self {
        Self::with(&Variables::default())
    }

    fn with(env: &Variables) -> Self {
        let clock = Arc::new(Mutex::new(START.parse().unwrap()));
        let read = |clock: &Arc<Mutex<Timestamp>>| {
            let clock = clock.clone();
            move || *clock.lock().unwrap()
        };
        let sim = SimAws::new(read(&clock));
        sim.trust(ROLE, ISSUER, AUDIENCE, SUBJECT);
        sim.add_user("ann", "AKIASIM", "canary-user-secret");
        let aws =
            Aws::new(HttpClient::in_process(sim.service()), Endpoints::new([], env).unwrap(), Arc::new(read(&clock)));
        let given = Self { sim, aws, clock, folder: tempfile::tempdir().unwrap() };
        given.write_token(&given.token());
        given
    }

    fn now(&self) -> Timestamp {
        *self.clock.lock().unwrap()
    }

    fn pass(&self, span: Duration) {
        let mut clock = self.clock.lock().unwrap();
        *clock = clock.checked_add(span).unwrap();
    }

    fn token(&self) -> String {
        let expires = self.now().checked_add(Duration::from_secs(3600)).unwrap();
        self.sim.mint_token(ISSUER, AUDIENCE, SUBJECT, expires)
    }

    fn token_file(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    fn write_token(&self, text: &str) {
        std::fs::write(self.token_file(), text).unwrap();
    }

    fn identity(&self) -> WebIdentity {
        WebIdentity::new(RoleArn::parse(ROLE).unwrap(), self.token_file(), &Variables::default())
    }

    fn actions(&self) -> Vec<String> {
        self.sim.calls().into_iter().map(|call| call.action).collect()
    }
}

fn region(name: &str) -> Region {
    Region::parse(name).unwrap()
}

fn user_keys() -> Keys {
    Keys {
        access_key_id: "AKIASIM".to_owned(),
        secret_access_key: SecretText::new("canary-user-secret"),
        session_token: None,
        expires: None,
    }
}

fn wanted(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn a_token_becomes_keys_that_have_a_name_and_find_types() {
    let given = Given::new();
    let session = given.aws.exchange(&given.identity(), &region("us-east-1")).await.unwrap();
    let expected = "arn:aws:sts::123456789012:assumed-role/annotator/trueup";
    assert_eq!(session.assumed, expected);
    assert_eq!(session.claims.audiences, [AUDIENCE]);
    assert_eq!(given.aws.caller(&session.keys, &region("us-east-1")).await.unwrap().arn, expected);
    let offers = given.aws.instance_types(&session.keys, &region("eu-west-1"), &wanted(&["m5.large"])).await.unwrap();
    assert_eq!(offers.found["m5.large"].vcpu, Some(2));
}

#[tokio::test]
async fn types_are_read_as_ec2_describes_them() {
    let given = Given::new();
    let names =
        ["a1.2xlarge", "g4dn.xlarge", "g6f.large", "m1.small", "mac2.metal", "p5.48xlarge", "t2.micro", "inf1.xlarge"];
    let offers = given.aws.instance_types(&user_keys(), &region("us-east-1"), &wanted(&names)).await.unwrap();
    let shown = |name: &str| {
        let InstanceType { vcpu, memory_mib, gpus, architectures, name: _ } = &offers.found[name];
        let gpus: Vec<String> = gpus
            .iter()
            .map(|gpu| format!("{} {} {}/{:?}", gpu.manufacturer, gpu.name, gpu.count, gpu.logical_count))
            .collect();
        format!("{}/{} {} {}", vcpu.unwrap(), memory_mib.unwrap(), architectures.join("+"), gpus.join(","))
    };
    let cases = [
        ("a1.2xlarge", "8/16384 arm64 "),
        // Memory of the card stands under the same tag.
        ("g4dn.xlarge", "4/16384 x86_64 NVIDIA T4 1/Some(1)"),
        ("g6f.large", "2/8192 x86_64 NVIDIA L4 0/Some(1)"),
        ("m1.small", "1/1740 i386+x86_64 "),
        ("mac2.metal", "8/16384 arm64_mac "),
        ("p5.48xlarge", "192/2097152 x86_64 NVIDIA H100 8/Some(8)"),
        ("t2.micro", "1/1024 i386+x86_64 "),
        ("inf1.xlarge", "4/8192 x86_64 "),
    ];
    for (name, expected) in cases {
        assert_eq!(shown(name), expected, "type: {name}");
    }
}

#[test]
fn nothing_that_holds_a_secret_shows_it() {
    let keys = user_keys();
    let variables = Variables::new([("AWS_SECRET_ACCESS_KEY", "canary"), ("AWS_ROLE_ARN", ROLE)]);
    let session = Session { keys: keys.clone(), assumed: String::new(), claims: Claims::default() };
    let secret = SecretContent::StaticKeys(keys.clone());
    let choice = Choice::SecretKeys(keys.clone());
    let own = OwnKeys { keys: keys.clone(), source: String::new() };
    let shown = format!("{keys:?} {session:?} {secret:?} {choice:?} {own:?} {variables:?}");
    assert!(!shown.contains("canary") && shown.contains("AWS_ROLE_ARN"), "{shown}");
}
