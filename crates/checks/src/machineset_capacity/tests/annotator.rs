//! Rule 6 by the environment of the pods that the config names, in place of this process's.

use serde_json::json;

use super::*;
use trueup_core::world::Interest;

const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
const TOKEN: &str = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token";

/// A live cluster whose MachineSets are judged by what `tools/annotator` sees.
fn named() -> Given {
    given().live_account().annotated_by("tools/annotator")
}

fn set(name: &str, value: &str) -> Value {
    json!({ "name": name, "value": value })
}

fn role() -> Value {
    set("AWS_ROLE_ARN", ROLE)
}

fn token() -> Value {
    set("AWS_WEB_IDENTITY_TOKEN_FILE", TOKEN)
}

fn containers(env: Value) -> Value {
    json!([{ "name": "manager", "env": env }, { "name": "proxy", "env": [role(), token()] }])
}

fn deployment_of(env: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": "tools", "name": "annotator" },
        "spec": {
            "selector": { "matchLabels": { "app": "annotator" } }, "template": { "spec": { "containers": containers(env) } },
        },
    })
}

fn pod(name: &str, env: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "namespace": "tools", "name": name, "labels": { "app": "annotator" } },
        "spec": { "containers": containers(env) }, "status": { "phase": "Running" },
    })
}

/// The Deployment as somebody wrote it, and one pod as it runs.
fn running(env: Value) -> Given {
    named().object(deployment_of(json!([]))).object(pod("annotator-1", env))
}

fn secret_keys() -> Value {
    json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" })
}

#[test]
fn logins_are_judged_by_the_pods_that_the_config_names() {
    let from_map = json!({ "name": "AWS_ROLE_ARN", "valueFrom": { "configMapKeyRef": { "name": "x", "key": "y" } } });
    let ended = |mut pod: Value| {
        pod["status"]["phase"] = json!("Failed");
        pod
    };
    let deleted = |mut pod: Value| {
        pod["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:00:00Z");
        pod
    };
    let mut stranger = pod("other", json!([role()]));
    stranger["metadata"]["labels"]["app"] = json!("other");
    let uri = set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials");
    each(
        WORKERS,
        [
            ("what the EKS webhook adds", running(json!([role(), token()])), "match"),
            ("a role set by hand", running(json!([role()])), "credentials-partial aws-web-identity-token-file-missing"),
            ("a token alone", running(json!([token()])), "credentials-partial aws-role-arn-missing"),
            (
                "a token set to nothing",
                running(json!([role(), set("AWS_WEB_IDENTITY_TOKEN_FILE", "")])),
                "credentials-partial aws-web-identity-token-file-missing",
            ),
            ("nothing, and no such Secret", running(json!([])), "secret-missing"),
            ("nothing, and a Secret of no use", running(json!([])).secret(json!({})), "secret-invalid"),
            ("nothing, and a Secret", running(json!([])).secret(secret_keys()), "match"),
            ("nothing at all", running(json!([])).provider("credentialsSecret", Value::Null), "credentials-none"),
            (
                "Pod Identity",
                running(json!([uri])).provider("credentialsSecret", Value::Null),
                "credentials-none pod-identity",
            ),
            ("a role from a ConfigMap", running(json!([from_map, token()])), "unknown"),
            ("pods that differ", running(json!([role()])).object(pod("annotator-2", json!([]))), "unknown"),
            (
                "a pod that is done differs",
                running(json!([role(), token()])).object(ended(pod("annotator-0", json!([])))),
                "match",
            ),
            (
                "a pod that is being deleted differs",
                running(json!([role(), token()])).object(deleted(pod("annotator-0", json!([])))),
                "match",
            ),
            ("somebody else's pod differs", running(json!([role(), token()])).object(stranger), "match"),
            ("another container", running(json!([role()])).annotated_by("tools/annotator/proxy"), "match"),
            ("a container nobody has", running(json!([role()])).annotated_by("tools/annotator/none"), "unknown"),
        ],
    );
}

/// The EKS webhook adds both variables to a pod where neither is set, and neither where one is.
#[test]
fn without_a_pod_a_template_decides_what_the_webhook_can_not_change() {
    let resting = |env: Value| named().object(deployment_of(env));
    each(
        WORKERS,
        [
            ("both", resting(json!([role(), token()])), "match"),
            ("one", resting(json!([role()])), "credentials-partial aws-web-identity-token-file-missing"),
            ("neither", resting(json!([])), "unknown"),
        ],
    );
}

#[test]
fn a_deployment_that_is_not_there_leaves_it_to_this_process_and_one_that_is_not_seen_does_not() {
    let process = |given: Given| {
        given.object_in(
            "aws:shop",
            json!({
                "apiVersion": "aws.cloud.trueup/v1", "kind": "Environment", "metadata": { "name": "process" },
                "variables": { "AWS_ROLE_ARN": ROLE }
            }),
        )
    };
    let half = "credentials-partial aws-web-identity-token-file-missing";
    let absent = process(named());
    each(
        WORKERS,
        [
            ("not there", absent.clone(), half),
            ("may not be listed", process(named()).incomplete("shop", "apps/v1/deployments"), "unknown"),
            ("its pods may not be listed", running(json!([role()])).incomplete("shop", "v1/pods"), "unknown"),
            ("a folder does not ask", given().environment(json!({ "AWS_ROLE_ARN": ROLE })), half),
        ],
    );
    let judged = absent.judged();
    let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
    let message = |line: &&trueup_core::engine::Evidence| line.object == "shop Deployment tools/annotator";
    let line = evidence.iter().find(message).unwrap_or_else(|| panic!("{evidence:?}"));
    assert!(line.message.contains("does not exist"), "{}", line.message);
}

#[test]
fn only_the_named_workload_is_asked_for_and_a_token_in_a_pod_is_not_tried() {
    let cases = [
        ("a role", running(json!([role(), token()])), "credentials=pod,types=m6i.8xlarge"),
        (
            "a Secret",
            running(json!([])).secret(secret_keys()),
            "credentials=pod/secret/openshift-machine-api/aws-cloud-credentials,types=m6i.8xlarge",
        ),
    ];
    for (case, given, expected) in cases {
        let mut world = World::default();
        given.fill(&mut world);
        let wanted = given.check().interests(world.view(now()));
        let about = |plural: &str| -> Vec<String> {
            let of_kind = wanted.iter().filter(|one| one.id.resource.plural == plural);
            of_kind
                .map(|Interest { id, .. }| {
                    format!("{} {}{}", id.namespace().unwrap(), id.selector.labels, id.selector.fields)
                })
                .collect()
        };
        assert_eq!(about("deployments"), ["tools metadata.name=annotator"], "case: {case}");
        assert_eq!(about("pods"), ["tools app=annotator"], "case: {case}");
        assert_eq!(about("instancetypes"), [format!("us-east-1 {expected}")], "case: {case}");
        assert!(about_environments(&wanted).is_empty(), "case: {case}: this process's is not asked for");
    }
    let judged = running(json!([role(), token()])).judged();
    let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
    let place = ("shop Pod tools/annotator-1", "spec.containers[name=manager].env");
    let of_pod: Vec<&str> = evidence
        .iter()
        .filter(|one| (one.object.as_str(), one.field.as_str()) == place)
        .map(|one| one.message.as_str())
        .collect();
    assert!(of_pod.len() == 2 && of_pod[0].contains(ROLE) && of_pod[1].contains("not tried from here"), "{of_pod:?}");
}

fn about_environments(wanted: &[Interest]) -> Vec<&Interest> {
    wanted.iter().filter(|one| one.id.resource.plural == "environments").collect()
}

/// What is unknown says which variable of which object nobody can see.
#[test]
fn what_cannot_be_seen_is_named() {
    let from_map = json!({ "name": "AWS_ROLE_ARN", "valueFrom": { "configMapKeyRef": { "name": "x", "key": "y" } } });
    let judged = running(json!([from_map, token()])).judged();
    let summary = &judged.find(WORKERS).unwrap().explanation.summary;
    assert!(summary.contains("AWS_ROLE_ARN of shop Pod tools/annotator-1 comes from another object"), "{summary}");
}
