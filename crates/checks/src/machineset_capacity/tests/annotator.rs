//! Rule 6 by the environment of the annotator's pods, and how the annotator is found.

use serde_json::json;

use super::*;
use crate::{Probe, RoleProbe};
use trueup_core::world::Interest;

const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
const TOKEN: &str = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token";

/// A live cluster whose MachineSets are judged by what `tools/annotator` sees.
fn named() -> Given {
    given().live_account().live().annotated_by("tools/annotator")
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
    let mounts = json!([{ "name": "aws", "mountPath": "/var/run/secrets/eks.amazonaws.com/serviceaccount" }]);
    json!([
        { "name": "manager", "env": env, "volumeMounts": mounts },
        { "name": "proxy", "env": [role(), token()], "volumeMounts": mounts },
    ])
}

/// A pod's spec as the EKS webhook leaves it.
fn spec(env: Value) -> Value {
    let token = json!({ "path": "token", "audience": "sts.amazonaws.com" });
    let volume = json!({ "name": "aws", "projected": { "sources": [{ "serviceAccountToken": token }] } });
    json!({ "serviceAccountName": "annotator", "containers": containers(env), "volumes": [volume] })
}

fn deployment_of(env: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": "tools", "name": "annotator" },
        "spec": {
            "selector": { "matchLabels": { "app": "annotator" } }, "template": { "spec": spec(env) },
        },
    })
}

fn pod(name: &str, env: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "namespace": "tools", "name": name, "labels": { "app": "annotator" } },
        "spec": spec(env), "status": { "phase": "Running" },
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
fn a_configured_deployment_that_is_not_there_is_not_found_and_one_that_is_not_seen_is_unknown() {
    let half = "credentials-partial aws-web-identity-token-file-missing";
    each(
        WORKERS,
        [
            ("not there", named(), "match annotator-unknown"),
            ("may not be listed", named().incomplete("shop", "apps/v1/deployments"), "unknown"),
            ("its pods may not be listed", running(json!([role()])).incomplete("shop", "v1/pods"), "unknown"),
            ("a folder does not ask", given().environment(json!({ "AWS_ROLE_ARN": ROLE })), half),
            ("a folder without an environment", given(), "match"),
        ],
    );
    let judged = named().judged();
    let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
    let is_named = evidence
        .iter()
        .any(|line| line.message.contains("Deployment tools/annotator") && line.message.contains("does not exist"));
    assert!(is_named, "{evidence:?}");
}

/// A Deployment with one pod that has this environment.
fn annotator(namespace: &str, name: &str, container: &str, env: Value) -> [Value; 2] {
    let labels = json!({ "app": name });
    let spec = json!({ "containers": [{ "name": "first" }, { "name": container, "env": env }] });
    let spec = if container == "first" { json!({ "containers": [{ "name": "first", "env": env }] }) } else { spec };
    [
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": namespace, "name": name },
            "spec": { "selector": { "matchLabels": labels }, "template": { "spec": spec } },
        }),
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "namespace": namespace, "name": format!("{name}-1"), "labels": labels },
            "spec": spec, "status": { "phase": "Running" },
        }),
    ]
}

fn running_there(given: Given, objects: [Value; 2]) -> Given {
    objects.into_iter().fold(given, Given::object)
}

#[test]
fn the_annotator_is_searched_where_it_usually_is() {
    let live = || given().live_account().live();
    let half = "credentials-partial aws-web-identity-token-file-missing";
    let usual = |given: Given, namespace: &str| {
        running_there(given, annotator(namespace, "capa-annotator", "first", json!([role()])))
    };
    let controllers = |given: Given, container: &str| {
        running_there(given, annotator("openshift-machine-api", "machine-api-controllers", container, json!([role()])))
    };
    each(
        WORKERS,
        [
            ("none", live(), "match annotator-unknown"),
            ("in its usual namespace", usual(live(), "openshift-machine-api"), half),
            ("in any namespace", usual(live(), "tools"), half),
            ("in several namespaces", usual(usual(live(), "tools"), "more"), "unknown"),
            ("in several, one of them the usual", usual(usual(live(), "tools"), "openshift-machine-api"), half),
            ("the controllers", controllers(live(), "machine-controller"), half),
            ("the controllers, without the container", controllers(live(), "other"), "unknown"),
            ("the annotator before the controllers", usual(controllers(live(), "other"), "tools"), half),
            (
                "a configured one that is not there",
                usual(live(), "tools").annotated_by("tools/none"),
                "match annotator-unknown",
            ),
            ("a list that failed", live().incomplete("shop", "apps/v1/deployments"), "unknown"),
        ],
    );
    let deployed = controllers(deployed().live_account().live(), "machine-controller");
    assert_eq!(deployed.about(POOL), "match annotator-unknown", "the controllers annotate Machine API sets only");
    let usual = usual(super::deployed().live_account().live(), "tools");
    assert_eq!(usual.about(POOL), half);
}

/// Sets of which nothing says who annotates them are looked up with their own keys.
#[test]
fn keys_of_a_set_are_its_own_whether_or_not_credentials_are_judged() {
    let live = || given().live_account().live();
    assert_eq!(asked_as(&live()), "own");
    assert_eq!(asked_as(&live().secret(secret_keys())), "secret/openshift-machine-api/aws-cloud-credentials");
    let web = "[default]\nrole_arn = arn:aws:iam::1:role/x\nweb_identity_token_file = /t\n";
    assert_eq!(asked_as(&live().secret(json!({ "credentials": web }))), "own");
}

fn asked_as(given: &Given) -> String {
    let mut world = World::default();
    given.fill(&mut world);
    let wanted = given.check().interests(world.view(now()));
    let asked = wanted.iter().find(|one| one.id.resource.plural == "instancetypes").unwrap();
    let fields = asked.id.selector.fields.split(',').next().unwrap();
    fields.strip_prefix("credentials=").unwrap().to_owned()
}

/// A running annotator with a role, whose pod differs in these fields.
fn with_role(change: impl Fn(&mut Value)) -> Given {
    let mut pod = pod("annotator-1", json!([role(), token()]));
    change(&mut pod["spec"]);
    named().object(deployment_of(json!([]))).object(pod)
}

#[test]
fn a_role_needs_a_projected_token_at_its_path() {
    each(
        WORKERS,
        [
            ("mounted", with_role(|_| {}), "match"),
            (
                "not mounted",
                with_role(|spec| spec["containers"][0]["volumeMounts"] = json!([])),
                "token-unreadable token-not-mounted",
            ),
            (
                "mounted elsewhere",
                with_role(|spec| spec["containers"][0]["volumeMounts"][0]["mountPath"] = json!("/var/run/other")),
                "token-unreadable token-not-mounted",
            ),
            (
                "another path in the volume",
                with_role(|spec| {
                    spec["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]["path"] = json!("jwt");
                }),
                "token-unreadable token-path",
            ),
            (
                "no projected volume",
                with_role(|spec| spec["volumes"][0] = json!({ "name": "aws", "emptyDir": {} })),
                "token-unreadable token-path",
            ),
            (
                "no audience",
                with_role(|spec| {
                    spec["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]["audience"] = json!(null);
                }),
                "match audience-default",
            ),
        ],
    );
}

#[test]
fn what_is_odd_about_account_and_issuer_is_said_beside_any_verdict() {
    let account = |role: &str| {
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {
                "namespace": "tools", "name": "annotator", "annotations": { "eks.amazonaws.com/role-arn": role }
            },
        })
    };
    let issuer = |spec: Value| {
        json!({
            "apiVersion": "config.openshift.io/v1", "kind": "Authentication", "metadata": { "name": "cluster" },
            "spec": spec,
        })
    };
    let fine = || with_role(|_| {});
    each(
        WORKERS,
        [
            ("the same role", fine().object(account(ROLE)), "match"),
            ("another role", fine().object(account("arn:aws:iam::1:role/other")), "match role-annotation-differs"),
            ("a public issuer", fine().object(issuer(json!({ "serviceAccountIssuer": "https://x" }))), "match"),
            ("the internal issuer", fine().object(issuer(json!({}))), "match issuer-internal"),
            (
                "beside another verdict",
                fine().object(issuer(json!({}))).bare(),
                "missing issuer-internal → annotate selected missing",
            ),
            (
                "no role, so that the issuer does not matter",
                running(json!([])).secret(secret_keys()).object(issuer(json!({}))),
                "match",
            ),
        ],
    );
}

#[test]
fn only_the_named_workload_is_asked_for_and_a_token_in_a_pod_is_not_tried() {
    let cases = [
        ("a role", running(json!([role(), token()])), "credentials=own,types=m6i.8xlarge"),
        (
            "a Secret",
            running(json!([])).secret(secret_keys()),
            "credentials=secret/openshift-machine-api/aws-cloud-credentials,types=m6i.8xlarge",
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
        assert!(about("environments").is_empty(), "case: {case}: this process's is not asked for");
    }
    let judged = running(json!([role(), token()])).judged();
    let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
    let place = ("shop Pod tools/annotator-1", "spec.containers[name=manager].env");
    let of_pod: Vec<&str> = evidence
        .iter()
        .filter(|one| (one.object.as_str(), one.field.as_str()) == place)
        .map(|one| one.message.as_str())
        .collect();
    assert!(of_pod.len() == 2 && of_pod[0].contains(ROLE) && of_pod[1].contains("tried on request only"), "{of_pod:?}");
}

/// What is unknown says which variable of which object nobody can see.
#[test]
fn what_cannot_be_seen_is_named() {
    let from_map = json!({ "name": "AWS_ROLE_ARN", "valueFrom": { "configMapKeyRef": { "name": "x", "key": "y" } } });
    let judged = running(json!([from_map, token()])).judged();
    let summary = &judged.find(WORKERS).unwrap().explanation.summary;
    assert!(summary.contains("AWS_ROLE_ARN of shop Pod tools/annotator-1 comes from another object"), "{summary}");
}

/// The annotator's role, its ServiceAccount and audience, as they may be tried on request.
#[test]
fn the_annotators_role_can_be_tried_where_its_pod_has_a_token_for_it() {
    let mut no_token = pod("annotator-1", json!([role(), token()]));
    no_token["spec"]["volumes"] = json!([]);
    let both = json!([role(), token()]);
    let expected = RoleProbe {
        cluster: ClusterName::new("shop"),
        namespace: "tools".to_owned(),
        service_account: "annotator".to_owned(),
        audience: Some("sts.amazonaws.com".to_owned()),
        role: ROLE.to_owned(),
        region: "us-east-1".to_owned(),
    };
    let cases = [
        ("a role with its token", running(both.clone()), Some(expected)),
        ("half a pair", running(json!([role()])), None),
        ("a Secret's keys", running(json!([])).secret(secret_keys()), None),
        ("no token is mounted", named().object(deployment_of(json!([]))).object(no_token), None),
        ("an invalid region", running(both).provider("placement", json!({ "region": "mars-1" })), None),
    ];
    for (case, given, expected) in cases {
        let (check, world) = (given.check(), given.world());
        let view = world.view(now());
        let subject = check.subjects(view).into_iter().find(|one| one.to_string().ends_with(WORKERS)).unwrap();
        assert_eq!(check.probe(&subject, view), expected.map(Probe::Role), "case: {case}");
    }
}

/// Rule 7 with the annotator's own role: refused is `denied`, and what the catalogue asks for stays on offer, not selected.
#[test]
fn a_refused_role_makes_the_set_denied() {
    let both = json!([role(), token()]);
    let cases = [
        ("right annotations", running(both.clone()), "denied", vec![]),
        ("no annotations", running(both.clone()).bare(), "denied from-catalogue", vec![false]),
        (
            "paused",
            running(both).workers("metadata.annotations", json!({ "cluster.x-k8s.io/paused": "" })),
            "skipped paused",
            vec![],
        ),
    ];
    for (case, given, expected, selected) in cases {
        let judged = given.judged();
        let answer = judged.find(WORKERS).unwrap();
        let mut tried = trueup_core::engine::Judged {
            subject: answer.subject.clone(),
            judgement: answer.judgement.clone(),
            explanation: answer.explanation.clone(),
        };
        super::super::apply_refusal(&mut tried);
        let said = std::iter::once(tried.judgement.verdict).chain(tried.judgement.codes).collect::<Vec<_>>().join(" ");
        assert_eq!(said, expected, "case: {case}");
        let found: Vec<bool> = tried.explanation.remedy.iter().map(|action| action.selected).collect();
        assert_eq!(found, selected, "case: {case}");
    }
}

/// `ServiceAccount = → AWS_ROLE_ARN = → AWS_WEB_IDENTITY_TOKEN_FILE ! not set → STS · → EC2 ·`
#[test]
fn the_login_is_a_chain_that_ends_at_its_first_broken_link() {
    let chain = |given: Given| {
        let judged = given.judged();
        let panels = &judged.find(WORKERS).unwrap().panels;
        let links = panels.iter().find_map(|panel| {
            let crate::Panel::Chain { title: "LOGIN", links } = panel else { return None };
            Some(links)
        });
        let link = |step: &crate::Step| {
            let glyph = step.state.map_or('·', |state| state.glyph());
            format!("{} {glyph} {}", step.label, step.value).trim_end().to_owned()
        };
        links.map_or_else(String::new, |links| links.iter().map(link).collect::<Vec<_>>().join(" → "))
    };
    let account = |given: Given| chain(given).replace("ServiceAccount = → ", "");
    let token_file = "AWS_WEB_IDENTITY_TOKEN_FILE";
    let cases = [
        (running(json!([role(), token()])), format!("AWS_ROLE_ARN = → {token_file} = → STS · → EC2 ·")),
        (running(json!([role()])), format!("AWS_ROLE_ARN = → {token_file} ! not set → STS · → EC2 ·")),
        (running(json!([token()])), format!("AWS_ROLE_ARN ! not set → {token_file} = → STS · → EC2 ·")),
        (
            running(json!([])).provider("credentialsSecret", Value::Null),
            format!("AWS_ROLE_ARN ! not set → {token_file} · → STS · → EC2 ·"),
        ),
    ];
    for (given, expected) in cases {
        assert_eq!(account(given), expected);
    }
    let keys = chain(running(json!([])).secret(secret_keys()));
    assert!(keys.starts_with("Secret ") && keys.ends_with(" = → EC2 ="), "{keys}");
    assert!(chain(running(json!([]))).ends_with("! does not exist → STS · → EC2 ·"), "{}", chain(running(json!([]))));
}
