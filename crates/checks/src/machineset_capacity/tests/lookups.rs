//! Rule 7: results of AWS lookups, each failure with its own verdict.

use serde_json::json;

use super::*;
use trueup_core::world::{CollectionId, Interest};

const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";

fn live() -> Given {
    given().live_account()
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
            ("no token", unanswered().lookup(outcome("token-unreadable")), "token-unreadable"),
            ("refused", unanswered().lookup(outcome("denied")), "denied"),
            ("busy", unanswered().lookup(outcome("transient")), "transient"),
            ("busy, and answered before", live().lookup(outcome("transient")), "match"),
        ],
    );
}

#[test]
fn a_failure_says_what_aws_said() {
    let judged = unanswered().lookup(outcome("denied")).judged();
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
        ("live", unanswered().environment(role()).unreachable("aws:shop", "timed out"), "transient"),
        (
            "live, and whether there is a login is not known",
            unanswered().unreachable("aws:shop", "timed out"),
            "unknown",
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
    let keys = json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" });
    let elsewhere = live().provider("placement.region", json!("eu-west-1"));
    let cases = [
        (
            "a role",
            two(live().environment(role())),
            vec!["us-east-1 credentials=environment,types=a1.2xlarge+m6i.8xlarge"],
        ),
        (
            "a Secret",
            two(live().environment(json!({})).secret(keys)),
            vec![
                "us-east-1 credentials=secret/openshift-machine-api/aws-cloud-credentials,types=a1.2xlarge+m6i.8xlarge",
            ],
        ),
        (
            "a name that would say more than a type",
            live().environment(role()).object(machine_set("odd", "x,credentials=secret/a/b")),
            vec!["us-east-1 credentials=environment,types=m6i.8xlarge"],
        ),
        ("no login", live().environment(json!({})), vec![]),
        (
            "two regions",
            elsewhere.object(machine_set("more", "m6i.8xlarge")),
            vec![
                "eu-west-1 credentials=environment,types=m6i.8xlarge",
                "us-east-1 credentials=environment,types=m6i.8xlarge",
            ],
        ),
    ];
    for (case, given, expected) in cases {
        let mut world = World::default();
        given.fill(&mut world);
        let wanted = given.check().interests(world.view(now()));
        let asked = wanted.iter().filter(|interest| interest.id.resource.plural == "instancetypes").map(
            |Interest { id, .. }| {
                let CollectionId { selector, .. } = id;
                format!("{} {}", id.namespace().unwrap(), selector.fields)
            },
        );
        assert_eq!(asked.collect::<Vec<_>>(), expected, "case: {case}");
    }
}

/// On a workstation or in a pod, an account knows the variables of this process.
#[test]
fn a_live_account_says_what_the_process_sees() {
    let variables = |variables: Value| {
        live().object_in("aws:shop", json!({
            "apiVersion": "aws.cloud.trueup/v1", "kind": "Environment", "metadata": { "name": "process" }, "variables": variables
        }))
    };
    each(
        WORKERS,
        [
            (
                "half a role",
                variables(json!({ "AWS_ROLE_ARN": ROLE })),
                "credentials-partial aws-web-identity-token-file-missing",
            ),
            ("nothing", variables(json!({})), "secret-missing"),
            ("nobody says", live(), "match"),
        ],
    );
}
