//! Rule 7: results of AWS lookups, each failure with its own verdict.

use serde_json::json;

use super::*;
use trueup_core::world::Interest;

const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";

fn live() -> Given {
    given().live_account()
}

fn keys() -> Value {
    json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" })
}

/// A set that is looked up with the keys of its own Secret.
fn own_keys(given: Given) -> Given {
    given.environment(json!({})).secret(keys())
}

fn role() -> Value {
    json!({ "AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" })
}

fn outcome(class: &str) -> Value {
    json!({ "class": class, "code": "SomeCode", "says": "what was said", "remedy": "what to do", "identity": "arn:aws:sts::123456789012:assumed-role/x/y" })
}

/// The list of types did not come about.
fn unanswered() -> Given {
    live().provider("instanceType", json!("m7i.large")).incomplete("aws:shop", "aws.cloud.trueup/v1/instancetypes")
}

#[test]
fn each_failure_has_its_own_verdict() {
    each(
        WORKERS,
        [
            ("answered", live().lookup(outcome("ok")), "match"),
            (
                "answered, and not offered",
                live().provider("instanceType", json!("m7i.large")).lookup(outcome("transient")),
                "instance-type-unknown",
            ),
            (
                "a name that is no type's, which nobody is asked about",
                live().provider("instanceType", json!("m6i.8xlarge,credentials=secret/a/b")),
                "instance-type-unknown",
            ),
            ("a list cut short", unanswered().lookup(outcome("ok")), "unknown"),
            ("no token", own_keys(unanswered()).lookup(outcome("token-unreadable")), "token-unreadable"),
            ("refused", own_keys(unanswered()).lookup(outcome("denied")), "denied"),
            ("busy", own_keys(unanswered()).lookup(outcome("transient")), "transient"),
            (
                "the own login has no token",
                unanswered().lookup(outcome("token-unreadable")),
                "unknown own-login-failed",
            ),
            ("the own login is refused", unanswered().lookup(outcome("denied")), "unknown own-login-failed"),
            ("the own login is throttled", unanswered().lookup(outcome("transient")), "unknown own-login-failed"),
            (
                "no own login",
                unanswered().lookup(json!({ "class": "denied", "code": "own-login-none", "says": "none" })),
                "unknown own-login-none",
            ),
            (
                "a role in a pod, and no own login",
                unanswered()
                    .environment(role())
                    .lookup(json!({ "class": "denied", "code": "own-login-none", "says": "" })),
                "unknown own-login-none",
            ),
            ("busy, and answered before", live().lookup(outcome("transient")), "match"),
        ],
    );
}

#[test]
fn a_failure_says_what_aws_said() {
    let judged = own_keys(unanswered()).lookup(outcome("denied")).judged();
    let answer = judged.find(WORKERS).unwrap();
    assert_eq!(
        answer.explanation.summary,
        "AWS refuses the login or the question (SomeCode): what was said; what to do"
    );
    assert!(answer.explanation.evidence.iter().any(|line| line.message.contains("assumed-role/x/y")));
}

#[test]
fn a_list_that_did_not_come_about_is_named_by_its_cause() {
    let cases = [
        ("live", own_keys(unanswered()).unreachable("aws:shop", "timed out"), "transient"),
        (
            "live, with this machine's own login",
            unanswered().unreachable("aws:shop", "timed out"),
            "unknown own-login-failed",
        ),
        ("a folder", given().provider("instanceType", json!("x")).unreachable("aws:shop", "timed out"), "unknown"),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.about(WORKERS), expected, "case: {case}");
    }
}

#[test]
fn an_account_is_asked_for_the_types_in_use_with_the_login_they_have() {
    let two =
        |given: Given| given.object(machine_set("more", "a1.2xlarge")).object(machine_set("again", "m6i.8xlarge"));
    let elsewhere = live().provider("placement.region", json!("eu-west-1"));
    let cases = [
        ("a role", two(live().environment(role())), vec!["us-east-1 credentials=own,types=a1.2xlarge+m6i.8xlarge"]),
        (
            "a Secret",
            two(own_keys(live())),
            vec![
                "us-east-1 credentials=secret/openshift-machine-api/aws-cloud-credentials,types=a1.2xlarge+m6i.8xlarge",
            ],
        ),
        (
            "a name that would say more than a type",
            live().environment(role()).object(machine_set("odd", "x,credentials=secret/a/b")),
            vec!["us-east-1 credentials=own,types=m6i.8xlarge"],
        ),
        (
            "no login: the own one, for a catalogue",
            live().environment(json!({})),
            vec!["us-east-1 credentials=own,types=m6i.8xlarge"],
        ),
        (
            "two regions",
            elsewhere.object(machine_set("more", "m6i.8xlarge")),
            vec!["eu-west-1 credentials=own,types=m6i.8xlarge", "us-east-1 credentials=own,types=m6i.8xlarge"],
        ),
    ];
    for (case, given, expected) in cases {
        let mut world = World::default();
        given.fill(&mut world);
        let wanted = given.check().interests(world.view(now()));
        let asked = wanted
            .iter()
            .filter(|interest| interest.id.resource.plural == "instancetypes")
            .map(|Interest { id, .. }| format!("{} {}", id.namespace().unwrap(), id.selector.fields));
        assert_eq!(asked.collect::<Vec<_>>(), expected, "case: {case}");
    }
}

/// Annotations can be written from what is known of a type while the login is broken; the verdict stays.
#[test]
fn a_known_type_is_offered_unticked_while_the_login_is_broken() {
    const OFFERED: &str = "→ annotate offered missing";
    let half = || json!({ "AWS_ROLE_ARN": ROLE });
    let partial = "credentials-partial aws-web-identity-token-file-missing";
    let unknown_type = |given: Given| given.provider("instanceType", json!("m7i.large"));
    let other = json!({ "class": "denied", "code": "own-login-none", "says": "none" });
    // Another set's own keys have asked about the type.
    let described = own_keys(live()).bare();
    each(
        WORKERS,
        [
            ("half a role", given().environment(half()).bare(), &format!("{partial} from-catalogue {OFFERED}")),
            ("half a role, annotated", given().environment(half()), partial),
            ("half a role, an unknown type", unknown_type(given().environment(half()).bare()), partial),
            ("half a role, no catalogue", given().environment(half()).bare().without_account(), partial),
            ("no Secret", given().environment(json!({})).bare(), &format!("secret-missing from-catalogue {OFFERED}")),
            (
                "stale annotations",
                given().environment(json!({})).annotated(2, 4096, 0, "amd64"),
                "secret-missing from-catalogue → annotate offered differs",
            ),
            ("a login that works", described, "missing → annotate selected missing"),
            ("no answer about the type", unanswered().bare().lookup(other), "unknown own-login-none"),
            ("a throttled AWS", own_keys(unanswered()).bare().lookup(outcome("transient")), "transient"),
        ],
    );
}

#[test]
fn upstreams_sentences_are_quoted_word_for_word() {
    let quoted = |given: Given, sentence: &str| {
        let judged = given.judged();
        let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
        assert!(evidence.iter().any(|line| line.message == sentence), "{sentence}: {evidence:?}");
    };
    let none = |variables: Value| given().environment(variables).provider("credentialsSecret", Value::Null);
    quoted(none(json!({ "AWS_ROLE_ARN": ROLE })), "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing");
    let token = json!({ "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" });
    quoted(none(token), "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing");
    for sentence in [
        "no AWS credentials configured for machineSet workers: neither IRSA environment variables nor credentialsSecret \
         specified",
        "no AWS credentials configured: neither IRSA environment variables nor credentialsSecret specified",
    ] {
        quoted(none(json!({})), sentence);
    }
    quoted(
        given().environment(json!({})),
        "aws credentials secret openshift-machine-api/aws-cloud-credentials: Secret \"aws-cloud-credentials\" not found \
         not found",
    );
}

#[test]
fn a_region_that_is_none_says_where_one_belongs() {
    let infrastructure = |region: &str| {
        json!({
            "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": { "name": "cluster" },
            "status": { "platformStatus": { "type": "AWS", "aws": { "region": region } } }
        })
    };
    let field = "spec.template.spec.providerSpec.value.placement.region";
    let wrong = || given().provider("placement.region", json!("moon-1"));
    let plane = || {
        deployed().object(managed_plane("moon-1")).set(
            "Cluster",
            "demo",
            "spec",
            json!({ "controlPlaneRef": { "kind": "AWSManagedControlPlane", "name": "demo-cp" } }),
        )
    };
    let annotated = || {
        let region = json!({ "capa.infrastructure.cluster.x-k8s.io/region": "moon-1" });
        deployed().object(aws_cluster("")).annotate("MachineDeployment", "pool", region)
    };
    let cases = [
        ("no region", given().provider("placement.region", json!("")), WORKERS, format!("set {field}")),
        (
            "the cluster's own is offered",
            wrong().object(infrastructure("eu-west-1")),
            WORKERS,
            format!("set {field} to eu-west-1, the region of Infrastructure/cluster"),
        ),
        ("the cluster's own is none either", wrong().object(infrastructure("mars")), WORKERS, format!("set {field}")),
        (
            "an AWSCluster",
            deployed().object(aws_cluster("moon-1")),
            POOL,
            "set spec.region of AWSCluster team-a/demo".to_owned(),
        ),
        ("an annotation", annotated(), POOL, "set spec.region of AWSCluster team-a/demo".to_owned()),
        (
            "a managed control plane",
            plane(),
            POOL,
            "set spec.region of AWSManagedControlPlane team-a/demo-cp".to_owned(),
        ),
    ];
    for (case, given, subject, expected) in cases {
        let judged = given.judged();
        let answer = judged.find(subject).unwrap();
        assert_eq!(answer.judgement.verdict, "region-invalid", "case: {case}");
        assert!(answer.explanation.summary.ends_with(&expected), "case: {case}: {}", answer.explanation.summary);
    }
}

#[test]
fn gpus_of_an_unknown_maker_are_neither_expected_nor_written_nor_judged() {
    let habana = json!({
        "name": "dl1.24xlarge", "vcpu": 96, "memory_mib": 786_432, "architectures": ["x86_64"],
        "gpus": [gpu("Habana", 8, 8)]
    });
    let habana = || {
        given()
            .catalogue(habana.clone())
            .provider("instanceType", json!("dl1.24xlarge"))
            .annotated(96, 786_432, 8, "amd64")
    };
    let held = |count: &str, kind: &str| {
        habana().with(json!({
            "capacity.cluster-autoscaler.kubernetes.io/gpu-count": count,
            "capacity.cluster-autoscaler.kubernetes.io/gpu-type": kind
        }))
    };
    each(
        WORKERS,
        [
            ("neither", habana(), "match gpu-vendor-unknown"),
            ("both", held("8", "habana.ai/gaudi"), "match gpu-vendor-unknown"),
            ("another count", held("1", "x"), "match gpu-vendor-unknown"),
        ],
    );
    let set = habana().bare().change(WORKERS);
    let keys: Vec<&String> =
        set["set"].as_object().unwrap().keys().filter(|key| key.to_lowercase().contains("gpu")).collect();
    assert_eq!(keys, ["machine.openshift.io/GPU"], "{set}");
}
