//! Upstream's own cases. Where the answer here is another one on purpose, the row says why.
//!
//! | upstream's test (`docs/facts/irsa-machineset.md` section 13) | test |
//! | --- | --- |
//! | annotator, clients by role, token and Secret; IRSA with and without a Secret; neither | `logins_are_found_where_upstream_finds_them` |
//! | annotator, a role in GovCloud and its endpoint | `a_role_in_govcloud_fits_its_regions`, `cloud::aws::tests::finding::endpoints_are_the_clusters_then_the_environments_then_awss` |
//! | annotator, one type after another; architectures | `each_type_gets_what_ec2_says_of_it`, `an_empty_type_is_said_to_be_empty_and_not_unknown` |
//! | annotator, events | `its_events_stand_beside_our_cause` |
//! | annotator, foreign annotations and labels are kept | `foreign_annotations_are_neither_judged_nor_touched`, `annotations::a_change_holds_what_changes_and_nothing_else`, `labels::tests` |
//! | Machine API, cache of regions: miss, hit, expiry, one principal's is not another's | `cloud::aws::tests::caching` |
//! | HyperShift, no or zero CPUs and memory are errors | `rules::nothing_is_guessed_about_a_type_that_is_not_described` |
//! | HyperShift, no GPU annotation at zero | `annotations::gpus_are_counted_and_called_by_their_makers` |
//! | HyperShift, taints are sorted | `annotations::taints_that_only_the_template_knows_are_worth_a_word_and_no_more` |
//! | HyperShift, native capacity takes the annotations' place | `cluster_api::capacity_the_provider_says_itself_is_worth_a_word_and_no_more`: a word, because taking them off is nobody's wish here |
//! | HyperShift, a label of the node can't change the architecture | `a_stale_architecture_does_not_survive_a_change_of_type` |

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use serde_json::json;

use super::*;

fn cap(key: &str) -> String {
    format!("capacity.cluster-autoscaler.kubernetes.io/{key}")
}

/// The types upstream tries, as EC2 describes them.
fn types() -> Given {
    let given = given().bare();
    let given = given
        .offers("a1.2xlarge", 8, 16384, &["arm64"])
        .offers("m6h.8xlarge", 32, 131_072, &["wrong-arch"])
        .offers("bare.8xlarge", 32, 131_072, &[])
        .offers("t2.micro", 1, 1024, &["i386", "x86_64"]);
    let p2 = json!({ "name": "p2.16xlarge", "vcpu": 64, "memory_mib": 749_568, "gpus": [gpu("NVIDIA", 16, 16)], "architectures": ["x86_64"] });
    given.catalogue(p2)
}

#[test]
fn each_type_gets_what_ec2_says_of_it() {
    let cases = [
        // Upstream's fake says amd64; EC2 says arm64, and so does this.
        ("a1.2xlarge", Some((8, 16384, 0, "arm64"))),
        ("p2.16xlarge", Some((64, 749_568, 16, "amd64"))),
        ("m6g.4xlarge", Some((16, 65_536, 0, "arm64"))),
        ("m6i.8xlarge", Some((32, 131_072, 0, "amd64"))),
        // Upstream takes the first of the list, which is i386, and falls back to amd64. The whole list says it.
        ("t2.micro", Some((1, 1024, 0, "amd64"))),
        // Upstream falls back to amd64 for both; nodes that do not start would be the result, so nothing is written.
        ("m6h.8xlarge", None),
        ("bare.8xlarge", None),
        // Upstream leaves the annotations alone, and so does this.
        ("invalid", None),
    ];
    for (name, expected) in cases {
        let given = types().provider("instanceType", json!(name));
        let judged = given.judged();
        let remedy = &judged.find(WORKERS).unwrap().explanation.remedy;
        let Some((cpus, memory, gpus, arch)) = expected else {
            assert!(remedy.is_empty(), "{name}: nothing is guessed");
            continue;
        };
        let mut set = machine(cpus, memory, gpus);
        let more = capacity(cpus, memory, arch);
        set.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if gpus > 0 {
            set[cap("gpu-count")] = json!(gpus.to_string());
            set[cap("gpu-type")] = json!("nvidia.com/gpu");
        }
        assert_eq!(remedy[0].change.to_json(), json!({ "set": set, "remove": [] }), "{name}");
    }
}

#[test]
fn an_empty_type_is_said_to_be_empty_and_not_unknown() {
    assert_eq!(types().provider("instanceType", json!("")).about(WORKERS), "instance-type-empty");
}

/// Upstream keeps the old value, so that a change to a Graviton type never reaches the autoscaler.
#[test]
fn a_stale_architecture_does_not_survive_a_change_of_type() {
    let graviton = given().provider("instanceType", json!("m6g.4xlarge")).annotated(16, 65_536, 0, "amd64");
    assert_eq!(graviton.change(WORKERS), json!({ "set": { cap("labels"): "kubernetes.io/arch=arm64" }, "remove": [] }));
}

/// Upstream refreshes one family; the copies another operator made of it stay as they were, and win.
#[test]
fn copies_of_stale_keys_that_win_in_the_autoscaler_are_found() {
    let copied = given().with(json!({ cap("cpu"): "16", cap("memory"): "68719476736", cap("gpu-type"): "" }));
    assert_eq!(copied.about(WORKERS), "keys-disagree → annotate selected differs");
    assert_eq!(copied.change(WORKERS), json!({ "set": { cap("cpu"): "32", cap("memory"): "131072Mi" }, "remove": [] }));
}

#[test]
fn foreign_annotations_are_neither_judged_nor_touched() {
    let foreign = given().with(json!({ "existing": "annotation", "annotation": "existing", cap("maxPods"): "250" }));
    assert_eq!(foreign.about(WORKERS), "match");
    let change = foreign.with(json!({ cap("cpu"): "1" })).change(WORKERS);
    assert_eq!(change, json!({ "set": { cap("cpu"): "32" }, "remove": [] }));
}

/// Upstream stops at the generic sentence when the Secret is not there either.
#[test]
fn half_a_role_is_called_that_whatever_else_is_missing() {
    let half = given()
        .environment(json!({ "AWS_ROLE_ARN": "arn:aws:iam::1:role/x" }))
        .provider("credentialsSecret", Value::Null);
    let judged = half.judged();
    let summary = &judged.find(WORKERS).unwrap().explanation.summary;
    assert!(summary.contains("AWS_ROLE_ARN is set and AWS_WEB_IDENTITY_TOKEN_FILE is not"), "{summary}");
    assert!(summary.contains("webhook"), "{summary}");
}

#[test]
fn a_role_of_another_partition_is_shown_beside_the_region() {
    let gov =
        json!({ "AWS_ROLE_ARN": "arn:aws-us-gov:iam::123456789012:role/my-role", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" });
    let judged = given().environment(gov).judged();
    let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
    assert!(
        evidence.iter().any(|line| line.message.contains("partition aws-us-gov, and us-east-1 is of aws")),
        "{evidence:?}"
    );
}

/// Upstream's six clients. Where it fails for half a pair only with a Secret beside it, this does always.
#[test]
fn logins_are_found_where_upstream_finds_them() {
    let (role, token) = (("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/x"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"));
    let env = |pairs: &[(&str, &str)]| {
        let variables: serde_json::Map<String, Value> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        given().environment(Value::Object(variables)).provider("credentialsSecret", Value::Null)
    };
    let with_secret = |given: Given| {
        let keys = json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" });
        given.provider("credentialsSecret", json!({ "name": "aws-cloud-credentials" })).secret(keys)
    };
    each(
        WORKERS,
        [
            ("both", env(&[role, token]), "match"),
            ("the role alone", env(&[role]), "credentials-partial aws-web-identity-token-file-missing"),
            ("the token alone", env(&[token]), "credentials-partial aws-role-arn-missing"),
            ("nothing", env(&[]), "credentials-none"),
            ("both and a Secret", with_secret(env(&[role, token])), "match"),
            ("a Secret alone", with_secret(env(&[])), "match"),
        ],
    );
}

#[test]
fn a_role_in_govcloud_fits_its_regions() {
    let gov =
        json!({ "AWS_ROLE_ARN": "arn:aws-us-gov:iam::123456789012:role/my-role", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" });
    let offered = json!({
        "apiVersion": "aws.cloud.trueup/v1", "kind": "InstanceType",
        "metadata": { "namespace": "us-gov-west-1", "name": "m6i.8xlarge" },
        "type": { "name": "m6i.8xlarge", "vcpu": 32, "memory_mib": 131_072, "architectures": ["x86_64"] },
    });
    let given = given().live_account().object_in("aws:shop", offered).environment(gov);
    let judged = given.provider("placement.region", json!("us-gov-west-1")).judged();
    assert_eq!(judged.about(WORKERS), "match");
    let evidence = &judged.find(WORKERS).unwrap().explanation.evidence;
    assert!(!evidence.iter().any(|line| line.message.contains("partition")), "{evidence:?}");
}

/// What upstream's annotator writes as events about a subject, as the console shows it.
fn events(given: &Given, subject: &str) -> Vec<String> {
    let mut world = World::default();
    given.fill(&mut world);
    let (check, view) = (given.check(), world.view(now()));
    let id = check.subjects(view).into_iter().find(|one| one.to_string().ends_with(subject)).unwrap();
    let panels = check.panels(&id, view);
    let of = |panel: crate::Panel| {
        if let crate::Panel::Lines { title: "UPSTREAM'S ANNOTATOR SAYS", lines } = panel { Some(lines) } else { None }
    };
    panels.into_iter().find_map(of).unwrap_or_default()
}

const UNKNOWN: &str = "Warning FailedUpdate: Failed to set autoscaling from zero annotations, instance type unknown";
const NOTHING: &str = "Warning ReconcileError: no AWS credentials configured for machineSet workers: neither IRSA \
                       environment variables nor credentialsSecret specified";
const HALF: &str = "Warning ReconcileError: error creating aws client: AWS_ROLE_ARN is set but \
                    AWS_WEB_IDENTITY_TOKEN_FILE is missing";

#[test]
fn its_events_stand_beside_our_cause() {
    let failed = |class: &str| {
        let outcome = json!({ "class": class, "code": "SomeCode", "says": "what was said" });
        let cut = given().live_account().incomplete("aws:shop", "aws.cloud.trueup/v1/instancetypes");
        let keys = json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" });
        let cut = cut.provider("instanceType", json!("m7i.large")).environment(json!({})).secret(keys);
        cut.lookup(outcome)
    };
    let role = json!({ "AWS_ROLE_ARN": "arn:aws:iam::1:role/x" });
    let typed = |name: &str| given().provider("instanceType", json!(name));
    let mac = json!({ "name": "mac2.metal", "vcpu": 8, "memory_mib": 16_384, "architectures": ["arm64_mac"] });
    let cases: Vec<(&str, Given, &[&str])> = vec![
        ("all is well", given(), &[]),
        ("it would write, and say nothing", given().bare(), &[]),
        ("paused", given().workers("spec.paused", json!(true)), &[]),
        ("a refused login", failed("denied"), &[UNKNOWN]),
        ("no token", failed("token-unreadable"), &[UNKNOWN]),
        ("a busy AWS", failed("transient"), &[UNKNOWN]),
        ("not offered", typed("m6h.8xlarge"), &[UNKNOWN]),
        ("no type", typed(""), &[UNKNOWN]),
        (
            "a Mac",
            typed("mac2.metal").catalogue(mac),
            &["nothing: it writes the architecture amd64, and takes that for an answer"],
        ),
        (
            "no such region",
            given().provider("placement.region", json!("us-east-1a")),
            &["Warning ReconcileError: error creating aws client: region us-east-1a is not a valid region"],
        ),
        ("half a role", given().environment(role.clone()), &[HALF]),
        (
            "half a role, hidden where no Secret is named",
            given().environment(role).provider("credentialsSecret", Value::Null),
            &[NOTHING],
        ),
        ("no login", given().environment(json!({})).provider("credentialsSecret", Value::Null), &[NOTHING]),
        (
            "no such Secret",
            given().environment(json!({})),
            &["Warning ReconcileError: error creating aws client: aws credentials secret \
               openshift-machine-api/aws-cloud-credentials: … not found"],
        ),
        (
            "a Secret of no use",
            given().environment(json!({})).secret(json!({})),
            &[
                "Warning ReconcileError: error creating aws client: failed to create shared credentials file from Secret: \
               invalid secret for aws credentials",
            ],
        ),
        (
            "a spec nobody can read",
            given().workers("spec.template.spec.providerSpec.value", json!("x")),
            &["Warning ReconcileError: failed to get providerConfig: error unmarshalling providerSpec: …"],
        ),
        ("no spec", given().workers("spec.template.spec.providerSpec", json!({})), &[NOTHING]),
    ];
    for (case, given, expected) in cases {
        assert_eq!(events(&given, WORKERS), expected, "case: {case}");
    }
    let of_pool: Vec<(&str, Given, &[&str])> = vec![
        (
            "no template",
            deployed().without("AWSMachineTemplate", "large"),
            &[
                "Warning FailedUpdate: Failed to resolve AWSMachineTemplate: failed to fetch AWSMachineTemplate team-a/large: …",
                "Warning ReconcileError: failed to fetch AWSMachineTemplate team-a/large: …",
            ],
        ),
        (
            "no type",
            deployed().object(template("")),
            &[
                "Warning FailedUpdate: Failed to extract instance type: instanceType is empty in AWSMachineTemplate",
                "Warning ReconcileError: instanceType is empty in AWSMachineTemplate",
            ],
        ),
        (
            "no region",
            deployed().object(aws_cluster("")),
            &[
                "Warning FailedUpdate: Failed to resolve AWS region: unable to determine AWS region from AWSCluster or \
                 annotation …",
                "Warning ReconcileError: unable to determine AWS region from AWSCluster or annotation …",
            ],
        ),
        (
            "no login",
            deployed().environment(json!({})),
            &["nothing of the login: it takes whatever else its SDK finds, which may be the node's own role"],
        ),
    ];
    for (case, given, expected) in of_pool {
        assert_eq!(events(&given, POOL), expected, "case: {case}");
    }
}
