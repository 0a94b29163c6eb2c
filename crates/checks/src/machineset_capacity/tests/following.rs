//! Following a fleet step by step gives the same as judging everything.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// One change of a fleet.
#[derive(Debug, Clone)]
enum Step {
    Set { which: u8, of: u8, region: u8 },
    Annotate { which: u8, like: u8 },
    Deploy { which: u8 },
    Template { of: u8 },
    Cluster { paused: bool, region: u8 },
    Secret { sort: u8 },
    Environment { sort: u8 },
    Annotator { sort: u8, is_running: bool },
    Offer { of: u8, cpus: u64 },
    Drop { member: bool, at: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let few = 0..3u8;
    prop_oneof![
        (few.clone(), few.clone(), few.clone()).prop_map(|(which, of, region)| Step::Set { which, of, region }),
        (few.clone(), few.clone()).prop_map(|(which, like)| Step::Annotate { which, like }),
        few.clone().prop_map(|which| Step::Deploy { which }),
        few.clone().prop_map(|of| Step::Template { of }),
        (any::<bool>(), few.clone()).prop_map(|(paused, region)| Step::Cluster { paused, region }),
        few.clone().prop_map(|sort| Step::Secret { sort }),
        few.clone().prop_map(|sort| Step::Environment { sort }),
        (few.clone(), any::<bool>()).prop_map(|(sort, is_running)| Step::Annotator { sort, is_running }),
        (few, 0..3u64).prop_map(|(of, cpus)| Step::Offer { of, cpus }),
        (any::<bool>(), 0..20usize).prop_map(|(member, at)| Step::Drop { member, at }),
    ]
}

fn type_name(of: u8) -> String {
    format!("m{of}.large")
}

fn region(which: u8) -> &'static str {
    ["us-east-1", "eu-west-1", "nowhere"][usize::from(which)]
}

fn apply(given: Given, step: &Step, version: usize) -> Given {
    let versioned = |mut object: Value| {
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        object
    };
    match step {
        Step::Set { which, of, region: place } => {
            let mut set = machine_set(&format!("set-{which}"), &type_name(*of));
            set["spec"]["template"]["spec"]["providerSpec"]["value"]["placement"]["region"] = json!(region(*place));
            given.object(versioned(set))
        }
        Step::Annotate { which, like } => {
            let name = format!("set-{which}");
            let mut set = machine_set(&name, &type_name(*like));
            set["metadata"]["annotations"] = machine(u64::from(*like), 8192, 0);
            given.object(versioned(set))
        }
        Step::Deploy { which } => given.object(versioned(deployment(&format!("pool-{which}")))),
        Step::Template { of } => given.object(versioned(template(&type_name(*of)))),
        Step::Cluster { paused, region: place } => {
            let mut cluster = capi_cluster();
            cluster["spec"]["paused"] = json!(paused);
            given.object(versioned(cluster)).object(versioned(aws_cluster(region(*place))))
        }
        Step::Secret { sort } => {
            let data = [
                json!({}),
                json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" }),
                json!({ "credentials": "[x]" }),
            ];
            let given = given.secret(data[usize::from(*sort)].clone());
            given.set("Secret", "aws-cloud-credentials", "metadata.resourceVersion", json!(version.to_string()))
        }
        Step::Environment { sort } => {
            let all = [
                json!({}),
                json!({ "AWS_ROLE_ARN": "a" }),
                json!({ "AWS_ROLE_ARN": "a", "AWS_WEB_IDENTITY_TOKEN_FILE": "b" }),
            ];
            given.environment(all[usize::from(*sort)].clone())
        }
        Step::Annotator { sort, is_running } => {
            let (role, token) = (json!({ "name": "AWS_ROLE_ARN", "value": "a" }), "AWS_WEB_IDENTITY_TOKEN_FILE");
            let env = [json!([]), json!([role.clone()]), json!([role, { "name": token, "value": "b" }])];
            let spec = json!({ "containers": [{ "name": "manager", "env": env[usize::from(*sort)] }] });
            let labels = json!({ "app": "annotator" });
            let deployment = json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "namespace": "tools", "name": "annotator" },
                "spec": { "selector": { "matchLabels": labels }, "template": { "spec": spec } },
            });
            let pod = json!({
                "apiVersion": "v1", "kind": "Pod", "spec": spec,
                "metadata": { "namespace": "tools", "name": format!("annotator-{sort}"), "labels": labels },
            });
            let given = given.object(versioned(deployment));
            if *is_running { given.object(versioned(pod)) } else { given }
        }
        Step::Offer { of, cpus } => given.offers(&type_name(*of), *cpus, 8192, &["x86_64"]),
        Step::Drop { member, at } => {
            let mut given = given;
            given.fleet.member(if *member { "aws:shop" } else { "shop" }).remove_nth(*at);
            given
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn following_gives_the_same_as_judging_everything(
        steps in prop::collection::vec(step(), 1..16),
        is_live in any::<bool>(),
        is_named in any::<bool>(),
    ) {
        let mut given = empty();
        if is_live {
            given = given.live_account();
        }
        if is_named {
            given = given.annotated_by("tools/annotator");
        }
        let mut follow = Follow::new(&given);
        for (version, step) in steps.iter().enumerate() {
            given = apply(given, step, version + 1);
            follow.step(&given);
        }
    }
}

/// Status moves by the second on these kinds. None of it may wake anybody, and none of it makes a plan stale.
#[test]
fn a_status_change_alone_changes_nothing() {
    let given = given().bare();
    let mut world = given.world();
    let check = given.check();
    let judged = |world: &World| {
        Judged::<Given>::new(&check, world, now()).find(WORKERS).unwrap().explanation.remedy[0].judged.clone()
    };
    let before = judged(&world);
    let moved = given
        .workers("metadata.resourceVersion", json!("99"))
        .workers("status", json!({ "readyReplicas": 3, "conditions": [{ "type": "Ready", "status": "True" }] }));
    let changes = moved.fill(&mut world);
    assert_eq!(changes.iter().count(), 0, "no change");
    assert_eq!(judged(&world), before);
    moved.workers("spec.template.spec.providerSpec.value.instanceType", json!("m6g.4xlarge")).fill(&mut world);
    assert_ne!(judged(&world), before, "another type is another plan");
}
