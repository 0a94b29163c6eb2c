//! Injected failure → verdict → what is said: the table of `docs/checks/machineset-capacity.md`, row by row, on the loop
//! with a simulated AWS behind it.

use super::accounts::{Machines, Stage, put_set, role_here};
use super::*;
use trueup_checks::machineset_capacity::MachineSetCapacity;
use trueup_sim::aws::{AwsFault, AwsFaultKind};

const PAGE: &str = include_str!("../../../../../docs/checks/machineset-capacity.md");
const STS: &str = "AssumeRoleWithWebIdentity";
const EC2: &str = "DescribeInstanceTypes";

/// What is done to a stage where all is well, and where its one MachineSet is.
struct Failure {
    name: &'static str,
    region: &'static str,
    spoil: fn(&mut Stage) -> Vec<(String, String)>,
}

fn failure(name: &'static str, spoil: fn(&mut Stage) -> Vec<(String, String)>) -> Failure {
    Failure { name, region: "us-east-1", spoil }
}

fn role(stage: &Stage) -> Vec<(String, String)> {
    role_here(&stage.token_file())
}

/// The usual role, and an AWS that fails for good.
fn failing(stage: &Stage, action: &'static str, kind: AwsFaultKind) -> Vec<(String, String)> {
    stage.aws.inject(AwsFault::new(action, u32::MAX, kind));
    role(stage)
}

fn refusing(stage: &Stage, action: &'static str, code: &'static str, message: &'static str) -> Vec<(String, String)> {
    let status = if code.starts_with("Internal") { 500 } else { 400 };
    failing(stage, action, AwsFaultKind::Refuse { status, code, message })
}

fn token(stage: &Stage, text: &str) -> Vec<(String, String)> {
    std::fs::write(stage.token_file(), text).unwrap();
    role(stage)
}

/// No role here: the Secret that the MachineSet names.
fn secret(stage: &Stage, id: &str, key: &str) -> Vec<(String, String)> {
    stage.aws.add_user("ann", "AKIASIM", "the right one");
    let data = json!({ "aws_access_key_id": id, "aws_secret_access_key": key });
    let metadata = json!({ "namespace": "watched", "name": "aws" });
    stage.sim.seed(json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data })).unwrap();
    Vec::new()
}

fn infrastructure(stage: &Stage, endpoint: &str) -> Vec<(String, String)> {
    let at = START.parse().unwrap();
    let endpoints = json!([{ "name": "ec2", "url": endpoint }]);
    let change = |found: &mut serde_json::Value| {
        found["status"]["platformStatus"]["aws"] = json!({ "serviceEndpoints": endpoints });
    };
    stage.sim.with(|server, _| server.edit(at, "config.openshift.io/v1", "Infrastructure", "cluster", change)).unwrap();
    role(stage)
}

fn bundle(stage: &Stage, text: &str) -> Vec<(String, String)> {
    let namespace = "openshift-config-managed";
    stage.sim.seed(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } })).unwrap();
    let metadata = json!({ "namespace": namespace, "name": "kube-cloud-config" });
    let data = json!({ "ca-bundle.pem": text });
    stage.sim.seed(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data })).unwrap();
    role(stage)
}

fn of_tokens() -> Vec<Failure> {
    vec![
        failure("the token file is not there", |stage| {
            std::fs::remove_file(stage.token_file()).unwrap();
            role(stage)
        }),
        failure("the token file is empty", |stage| token(stage, "")),
        failure("its path is relative", |_| role_here("var/token")),
        failure("something stands behind the token", |stage| token(stage, "a.b.c\nI1116 renewed")),
        failure("the trust policy names another subject", |stage| {
            stage.write_token("https://issuer", "openshift", "somebody-else", "2026-11-17T10:00:00Z");
            role(stage)
        }),
        failure("it names another issuer", |stage| {
            stage.write_token("https://elsewhere", "openshift", "me", "2026-11-17T10:00:00Z");
            role(stage)
        }),
        failure("it names another audience", |stage| {
            stage.write_token("https://issuer", "sts.amazonaws.com", "me", "2026-11-17T10:00:00Z");
            role(stage)
        }),
        failure("the token's time is over", |stage| {
            stage.write_token("https://issuer", "openshift", "me", "2026-11-16T09:00:00Z");
            role(stage)
        }),
        failure("its claims are refused", |stage| {
            refusing(stage, STS, "IDPRejectedClaim", "The identity provider rejected the claim.")
        }),
        failure("the issuer does not answer STS", |stage| {
            refusing(stage, STS, "IDPCommunicationError", "The identity provider could not be reached.")
        }),
    ]
}

fn of_logins() -> Vec<Failure> {
    vec![
        failure("the role may not describe instance types", |stage| {
            refusing(stage, EC2, "UnauthorizedOperation", "You are not authorized to perform this operation.")
        }),
        failure("the Secret holds a wrong key", |stage| secret(stage, "AKIASIM", "a wrong one")),
        failure("the Secret holds a key nobody knows", |stage| secret(stage, "AKIANOBODY", "a wrong one")),
        failure("the clock is two hours off", |stage| {
            let clock = stage.clock.clone();
            stage.clock = Arc::new(move || clock().checked_add(jiff::SignedDuration::from_hours(2)).unwrap());
            secret(stage, "AKIASIM", "the right one")
        }),
        Failure { region: "ap-south-2", ..failure("the region does not exist", |stage| role(stage)) },
        Failure { region: "af-south-1", ..failure("the region is not enabled", |stage| role(stage)) },
        Failure { region: "us-gov-west-1", ..failure("the role is of another partition", |stage| role(stage)) },
    ]
}

fn of_the_way() -> Vec<Failure> {
    vec![
        failure("an endpoint is no https", |stage| infrastructure(stage, "http://ec2.example")),
        failure("the CA bundle is not PEM", |stage| bundle(stage, "hello")),
        failure("EC2 throttles", |stage| refusing(stage, EC2, "RequestLimitExceeded", "Request limit exceeded.")),
        failure("EC2 is broken", |stage| refusing(stage, EC2, "InternalError", "An internal error has occurred.")),
        failure("a proxy answers 502", |stage| {
            failing(stage, EC2, AwsFaultKind::Page { status: 502, body: "<html></html>" })
        }),
        failure("a proxy answers with a page", |stage| {
            failing(stage, EC2, AwsFaultKind::Page { status: 200, body: "<html></html>" })
        }),
        failure("the answer is an XML bomb", |stage| {
            let body =
                "<!DOCTYPE r [<!ENTITY a \"aaaa\">]><DescribeInstanceTypesResponse>&a;</DescribeInstanceTypesResponse>";
            failing(stage, EC2, AwsFaultKind::Malformed { body: body.to_owned() })
        }),
        failure("the answer breaks off", |stage| failing(stage, EC2, AwsFaultKind::CutShort)),
        failure("the answer never ends", |stage| failing(stage, EC2, AwsFaultKind::SlowBody)),
        failure("nobody answers", |stage| failing(stage, STS, AwsFaultKind::Silence)),
        failure("the connection is lost", |stage| failing(stage, STS, AwsFaultKind::Lost)),
    ]
}

/// A row of the table.
async fn row(failure: &Failure) -> String {
    let mut stage = Stage::new("AWS");
    put_set(&stage.sim, "set", failure.region, "m1.large");
    let at = START.parse().unwrap();
    let named = |set: &mut serde_json::Value| {
        set["spec"]["template"]["spec"]["providerSpec"]["value"]["credentialsSecret"] = json!({ "name": "aws" });
    };
    let (kind, key) = (("machine.openshift.io/v1beta1", "MachineSet"), "watched/set");
    stage.sim.with(|server, _| server.edit(at, kind.0, kind.1, key, named)).unwrap();
    let env = (failure.spoil)(&mut stage);
    let folder = stage.folder.path().to_str().unwrap().to_owned();
    let mut given: Machines = stage.enter(&env);
    assert_eq!(given.live.wait_settled(PATIENCE).await, Settled::Yes, "{}", failure.name);
    let held: Vec<(SubjectId, &'static str)> =
        given.live.judgements().iter().map(|(id, held)| (id.clone(), held.judgement.verdict)).collect();
    let [(subject, verdict)] = held.as_slice() else { panic!("{}: {held:?}", failure.name) };
    let said = MachineSetCapacity::default().explain(subject, given.live.view()).unwrap().summary;
    format!("| {} | `{verdict}` | {} |", failure.name, said.replace(&folder, "…"))
}

#[tokio::test(start_paused = true)]
async fn each_failure_has_the_verdict_and_the_words_the_documentation_says() {
    let mut rows = Vec::new();
    for failure in of_tokens().into_iter().chain(of_logins()).chain(of_the_way()) {
        rows.push(row(&failure).await);
    }
    let missing: Vec<&String> = rows.iter().filter(|row| !PAGE.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "the table of the documentation should have\n{}", rows.join("\n"));
}
