//! Rules 1 to 8 and what is not known, on MachineSets of the Machine API.

use serde_json::json;

use super::*;

const MATCH: &str = "match";

#[test]
fn what_is_deleted_paused_or_migrated_is_left_alone() {
    let condition = |status: &str| json!([{ "type": "Paused", "status": status }]);
    each(
        WORKERS,
        [
            ("nothing in the way", given(), MATCH),
            (
                "being deleted",
                given().workers("metadata.deletionTimestamp", json!("2026-11-16T09:00:00Z")),
                "skipped deleting",
            ),
            ("condition", given().workers("status.conditions", condition("True")), "skipped paused"),
            ("condition that is False", given().workers("status.conditions", condition("False")), MATCH),
            ("spec", given().workers("spec.paused", json!(true)), "skipped paused"),
            ("annotation", given().with(json!({ "cluster.x-k8s.io/paused": "" })), "skipped paused"),
            (
                "Cluster API in charge",
                given().workers("status.authoritativeAPI", json!("ClusterAPI")),
                "skipped authoritative-api",
            ),
            (
                "between the two",
                given().workers("status.authoritativeAPI", json!("Migrating")),
                "skipped authoritative-api",
            ),
            ("Machine API in charge", given().workers("status.authoritativeAPI", json!("MachineAPI")), MATCH),
            ("nobody says", given().workers("status.authoritativeAPI", json!("")), MATCH),
            (
                "all at once",
                given()
                    .workers("status.authoritativeAPI", json!("ClusterAPI"))
                    .workers("status.conditions", condition("True"))
                    .workers("metadata.deletionTimestamp", json!("2026-11-16T09:00:00Z")),
                "skipped deleting",
            ),
            (
                "a spec nobody can read",
                given().workers("spec.paused", json!(true)).workers("spec.template", json!(5)),
                "skipped paused",
            ),
        ],
    );
}

#[test]
fn machines_of_another_cloud_are_not_judged() {
    let unsaid = || given().provider("kind", json!(""));
    let without = || given().workers("spec.template.spec.providerSpec", json!({}));
    each(
        WORKERS,
        [
            ("Azure", given().provider("kind", json!("AzureMachineProviderSpec")), "not-aws"),
            ("no kind, and no Infrastructure", unsaid(), MATCH),
            ("no kind on AWS", unsaid().infrastructure("AWS"), MATCH),
            ("no kind on Azure", unsaid().infrastructure("Azure"), "not-aws"),
            (
                "no kind, Infrastructure not known",
                unsaid().incomplete("shop", "config.openshift.io/v1/infrastructures"),
                "unknown",
            ),
            ("AWS, whatever Infrastructure says", given().infrastructure("GCP"), MATCH),
            ("no provider spec", without(), "invalid-spec"),
            ("no provider spec on Azure", without().infrastructure("Azure"), "not-aws"),
        ],
    );
}

#[test]
fn a_provider_spec_nobody_can_read_is_said_to_be_one() {
    let spec = |value: Value| given().workers("spec.template.spec.providerSpec.value", value);
    each(
        WORKERS,
        [
            ("null", spec(Value::Null), "invalid-spec"),
            ("a text", spec(json!("x")), "invalid-spec"),
            ("a list", spec(json!([])), "invalid-spec"),
            ("a number for the type", given().provider("instanceType", json!(5)), "invalid-spec"),
            ("a list for the place", given().provider("placement", json!([])), "invalid-spec"),
            ("a text for the Secret", given().provider("credentialsSecret", json!("x")), "invalid-spec"),
            ("no spec at all", given().workers("spec", Value::Null), "invalid-spec"),
            ("a list for the spec", given().workers("spec", json!(["x"])), "invalid-spec"),
            ("fields nobody knows", given().provider("surprise", json!({ "a": 1 })), MATCH),
        ],
    );
    let neighbours =
        given().object(machine_set("odd", "x")).set("MachineSet", "odd", "spec", json!([1])).judged().all();
    assert_eq!(
        neighbours,
        [
            "shop/MachineSet/openshift-machine-api/odd: invalid-spec",
            "shop/MachineSet/openshift-machine-api/workers: match"
        ],
        "one that can't be read hides no other"
    );
}

#[test]
fn a_type_and_a_region_are_needed() {
    each(
        WORKERS,
        [
            ("no type", given().provider("instanceType", Value::Null), "instance-type-empty"),
            ("an empty type", given().provider("instanceType", json!("")), "instance-type-empty"),
            ("spaces for a type", given().provider("instanceType", json!("  ")), "instance-type-empty"),
            (
                "neither",
                given().provider("instanceType", json!("")).provider("placement", json!({})),
                "instance-type-empty",
            ),
            ("a type with a blank", given().provider("instanceType", json!("m6i.8xlarge ")), "instance-type-unknown"),
            ("a region with a blank", given().provider("placement.region", json!("us-east-1\n")), "region-invalid"),
            ("no region", given().provider("placement", json!({})), "region-invalid"),
            ("an empty region", given().provider("placement.region", json!("")), "region-invalid"),
            ("a zone for a region", given().provider("placement.region", json!("us-east-1a")), "region-invalid"),
            ("a made-up region", given().provider("placement.region", json!("moon-base-1")), "region-invalid"),
            (
                "another partition's",
                given().provider("placement.region", json!("us-gov-west-1")),
                "unknown no-catalogue",
            ),
        ],
    );
}

#[test]
fn half_a_pair_of_variables_is_an_error_before_any_other_source() {
    let role = "arn:aws:iam::123456789012:role/x";
    let env = |variables: Value| {
        given().environment(variables).secret(json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" }))
    };
    let alone = |variables: Value| given().environment(variables).provider("credentialsSecret", Value::Null);
    each(
        WORKERS,
        [
            ("nobody says what the process sees", given(), MATCH),
            ("both", env(json!({ "AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" })), MATCH),
            ("both, and no Secret", alone(json!({ "AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" })), MATCH),
            (
                "a role alone",
                env(json!({ "AWS_ROLE_ARN": role })),
                "credentials-partial aws-web-identity-token-file-missing",
            ),
            (
                "a token file alone",
                env(json!({ "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" })),
                "credentials-partial aws-role-arn-missing",
            ),
            (
                "a role alone, and no Secret",
                alone(json!({ "AWS_ROLE_ARN": role })),
                "credentials-partial aws-web-identity-token-file-missing",
            ),
            (
                "a token file set to nothing",
                env(json!({ "AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": "" })),
                "credentials-partial aws-web-identity-token-file-missing",
            ),
            ("both set to nothing", env(json!({ "AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "" })), MATCH),
            ("neither, a Secret", env(json!({})), MATCH),
            ("neither, and no Secret named", alone(json!({})), "credentials-none"),
            (
                "an empty name",
                given().environment(json!({})).provider("credentialsSecret.name", json!("")),
                "credentials-none",
            ),
            (
                "Pod Identity instead",
                alone(json!({
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
                    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/t",
                })),
                "credentials-none pod-identity",
            ),
            (
                "Pod Identity beside a Secret",
                env(json!({ "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials" })),
                MATCH,
            ),
        ],
    );
}

#[test]
fn a_secret_is_there_and_holds_a_login_or_is_said_not_to() {
    let given = || given().environment(json!({}));
    let ini = |text: &str| given().secret(json!({ "credentials": text }));
    let keys = "[default]\naws_access_key_id = a\naws_secret_access_key = b\n";
    let sts = "[default]\r\nrole_arn = arn:aws:iam::1:role/x\r\nweb_identity_token_file = /var/run/token\r\n";
    let elsewhere = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "namespace": "default", "name": "aws-cloud-credentials" },
        "stringData": { "aws_access_key_id": "a", "aws_secret_access_key": "b" }
    });
    each(
        WORKERS,
        [
            ("none", given(), "secret-missing"),
            ("in another namespace", given().object(elsewhere), "secret-missing"),
            ("Secrets not known", given().incomplete("shop", "v1/secrets@openshift-machine-api"), "unknown"),
            ("keys", given().secret(json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" })), MATCH),
            ("half a key", given().secret(json!({ "aws_access_key_id": "a" })), "secret-invalid"),
            (
                "an empty half",
                given().secret(json!({ "aws_access_key_id": "a", "aws_secret_access_key": "" })),
                "secret-invalid",
            ),
            ("nothing in it", given().secret(json!({})), "secret-invalid"),
            ("a file with keys", ini(keys), MATCH),
            ("a file with a web identity", ini(sts), "match secret-web-identity"),
            (
                "a file with another profile",
                ini("[work]\naws_access_key_id=a\naws_secret_access_key=b\n"),
                "secret-invalid",
            ),
            (
                "a web identity beside a verdict that is none of its own",
                ini(sts).provider("instanceType", json!("x1.unheard")),
                "instance-type-unknown secret-web-identity",
            ),
            (
                "a web identity that is not used",
                ini(sts).environment(
                    json!({ "AWS_ROLE_ARN": "arn:aws:iam::1:role/x", "AWS_WEB_IDENTITY_TOKEN_FILE": "/t" }),
                ),
                MATCH,
            ),
        ],
    );
}

#[test]
fn nothing_is_guessed_about_a_type_that_is_not_described() {
    let typed = |name: &str| given().provider("instanceType", json!(name));
    let entry = |entry: Value| typed("odd.large").catalogue(entry);
    each(
        WORKERS,
        [
            ("not offered", typed("m6h.8xlarge"), "instance-type-unknown"),
            (
                "offered in another region",
                typed("m6i.8xlarge").provider("placement.region", json!("eu-west-1")),
                "unknown no-catalogue",
            ),
            ("no account", given().without_account(), "unknown no-catalogue"),
            (
                "a list cut short that has it",
                given().incomplete("aws:shop", "aws.cloud.trueup/v1/instancetypes"),
                MATCH,
            ),
            (
                "a list cut short that has it not",
                typed("x").incomplete("aws:shop", "aws.cloud.trueup/v1/instancetypes"),
                "unknown",
            ),
            (
                "no CPUs",
                entry(json!({ "name": "odd.large", "vcpu": 0, "memory_mib": 1, "architectures": ["x86_64"] })),
                "instance-type-unknown capacity-zero",
            ),
            (
                "no memory said",
                entry(json!({ "name": "odd.large", "vcpu": 2, "architectures": ["x86_64"] })),
                "instance-type-unknown capacity-zero",
            ),
            (
                "memory below nothing",
                entry(json!({ "name": "odd.large", "vcpu": 2, "memory_mib": -1, "architectures": ["x86_64"] })),
                "instance-type-unknown capacity-zero",
            ),
            (
                "a Mac",
                entry(json!({ "name": "odd.large", "vcpu": 8, "memory_mib": 16384, "architectures": ["arm64_mac"] })),
                "instance-type-unknown architecture-unknown",
            ),
            (
                "no architecture said",
                entry(json!({ "name": "odd.large", "vcpu": 8, "memory_mib": 16384 })),
                "instance-type-unknown architecture-unknown",
            ),
            (
                "nothing said",
                entry(json!({ "name": "odd.large" })),
                "instance-type-unknown architecture-unknown capacity-zero",
            ),
        ],
    );
}

#[test]
fn a_list_that_is_not_whole_is_a_finding_and_what_was_seen_is_judged() {
    let cut = given().incomplete("shop", "machine.openshift.io/v1beta1/machinesets");
    assert_eq!(
        cut.judged().all(),
        ["shop/MachineSet/_/*: unknown", "shop/MachineSet/openshift-machine-api/workers: match"]
    );
    assert_eq!(empty().judged().all(), Vec::<String>::new(), "a cluster without any is not applicable");
    let clusters_alone = empty().seen_only().object(capi_cluster());
    assert_eq!(clusters_alone.judged().all(), Vec::<String>::new(), "nor is one that records other kinds of the group");
}

/// The Machine API and Cluster API both have a kind MachineSet, and a finding's id says the kind alone.
#[test]
fn two_lists_of_one_kind_that_are_not_whole_are_one_finding() {
    let both = given()
        .object(deployment("pool"))
        .incomplete("shop", "machine.openshift.io/v1beta1/machinesets")
        .incomplete("shop", "cluster.x-k8s.io/v1beta1/machinesets");
    let mut world = World::default();
    both.fill(&mut world);
    let stars = |world: &World| {
        let subjects = MachineSetCapacity::default().subjects(world.view(now()));
        let named = subjects.into_iter().filter(|one| one.name == "*").map(|one| one.to_string());
        named.collect::<Vec<_>>()
    };
    assert_eq!(stars(&world), ["machineset-capacity/shop/MachineSet/_/*"]);
}
