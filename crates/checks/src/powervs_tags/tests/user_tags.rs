//! Tags the user wants, tags we attached, and tags the cloud would refuse.

use serde_json::json;

use super::*;

const VPC: &str = "vpc/vpc@clusters/demo";

#[test]
fn wanted_tags_go_on_and_dropped_ones_come_off() {
    let with = |tags: &[&str]| {
        let all: Vec<String> = ours().into_iter().chain(tags.iter().map(|tag| (*tag).to_owned())).collect();
        newer().tags("vpc", &all)
    };
    let wanted = json!([{ "key": "env", "value": "prod" }, { "key": "Team", "value": "A" }]);
    let attached = |given: Given, list: &str| given.annotate("trueup/attached-tags", list);
    each(
        VPC,
        [
            ("none are wanted", with(&["env:prod"]), "owned"),
            (
                "two are missing",
                with(&[]).set("spec.tags", wanted.clone()),
                "owned → tag selected user-tag +env:prod +team:a",
            ),
            // Edge case 8: they come back in lower case.
            ("they are there in lower case", with(&["ENV:Prod", "team:a"]).set("spec.tags", wanted.clone()), "owned"),
            (
                "from the annotation",
                with(&[]).annotate("trueup/user-tags", r#"{"env":"prod"}"#),
                "owned → tag selected user-tag +env:prod",
            ),
            (
                "the spec's take the place of the annotation's",
                with(&[]).set("spec.tags", json!([])).annotate("trueup/user-tags", r#"{"env":"prod"}"#),
                "owned",
            ),
            (
                "one was attached and is wanted no more",
                attached(with(&["env:prod", "team:a"]), r#"["env:prod"]"#),
                "owned → untag selected user-tag -env:prod",
            ),
            ("what we did not attach stays", attached(with(&["team:a"]), r#"["env:prod"]"#), "owned"),
            (
                "one comes and one goes",
                attached(with(&["old:x"]), r#"["Old:X"]"#).set("spec.tags", json!([{ "key": "env", "value": "prod" }])),
                "owned → tag selected user-tag +env:prod; untag selected user-tag -old:x",
            ),
            (
                "what is wanted is not known",
                attached(with(&["env:prod"]), r#"["env:prod"]"#).annotate("trueup/user-tags", "{"),
                "owned",
            ),
        ],
    );
}

/// Edge case 11: tags on what somebody else made are put on and taken off, and only those that are ours alone.
#[test]
fn references_get_user_tags_unless_that_is_switched_off() {
    let given = || {
        newer()
            .set("spec.vpc.type", json!("Reference"))
            .tags("vpc", &["old:x"])
            .set("spec.tags", json!([{ "key": "env", "value": "prod" }]))
            .annotate("trueup/attached-tags", r#"{"vpc":["old:x"]}"#)
    };
    let off = Settings { tag_references: false, ..Settings::default() };
    let mut second = newer_cluster("second", OTHER);
    second["spec"] = json!({ "vpc": { "type": "Reference", "reference": { "id": "vpc" } } });
    second["metadata"]["annotations"] = json!({ "trueup/attached-tags": r#"["old:x"]"# });
    second["status"] = json!({});
    each(
        VPC,
        [
            ("on", given(), "reference → tag selected user-tag +env:prod; untag selected user-tag -old:x"),
            ("off", given().settings(off), "reference → untag selected user-tag -old:x"),
            (
                "another cluster attached it too",
                given().cluster_object(second),
                "reference → tag selected user-tag +env:prod",
            ),
        ],
    );
}

#[test]
fn what_can_not_be_tagged_gets_no_tags() {
    let judged = newer().set("spec.tags", json!([{ "key": "env", "value": "prod" }])).judged();
    let without: Vec<String> = judged.short().into_iter().filter(|line| line.ends_with(": owned")).collect();
    assert_eq!(
        without,
        [
            "dhcp-server/dhcp@clusters/demo: owned",
            "tg-connection/con-p@clusters/demo: owned",
            "tg-connection/con-v@clusters/demo: owned"
        ]
    );
}

/// Edge cases 10 and 12.
#[test]
fn each_tag_that_would_be_refused_is_a_finding_of_its_own_and_is_never_sent() {
    let tags = json!([
        { "key": "env", "value": "a/b" }, { "key": "a:b", "value": "c" }, { "key": "good", "value": "x" },
        { "key": "powervs.cluster.x-k8s.io-owner", "value": "other" }, { "value": "empty" }, { "key": "long", "value": "v".repeat(130) }
    ]);
    let judged = newer().set("spec.tags", tags).judged();
    let of = |tag: &str| judged.about(&format!("mgmt/IBMPowerVSCluster/clusters/demo#{tag}"));
    assert_eq!(of("env:a/b"), "tag-invalid characters");
    assert_eq!(of("a:b:c"), "tag-invalid characters");
    assert_eq!(of("powervs.cluster.x-k8s.io-owner:other"), "tag-invalid reserved-prefix");
    assert_eq!(of(":empty"), "tag-invalid empty");
    assert_eq!(of(&format!("long:{}", "v".repeat(130))), "tag-invalid length");
    assert_eq!(judged.about(VPC), "owned → tag selected user-tag +good:x");
}

#[test]
fn annotations_that_are_no_json_are_findings_too() {
    let judged = newer().annotate("trueup/user-tags", "[1]").annotate("trueup/attached-tags", "x").judged();
    assert_eq!(judged.about("mgmt/IBMPowerVSCluster/clusters/demo#trueup/user-tags"), "tag-invalid not-json");
    assert_eq!(judged.about("mgmt/IBMPowerVSCluster/clusters/demo#trueup/attached-tags"), "tag-invalid not-json");
}

#[test]
fn a_cluster_whose_name_is_too_long_gets_no_owner_tags() {
    let name = "n".repeat(98);
    let mut cluster = newer_cluster(&name, UID);
    cluster["status"] = json!({ "vpc": { "id": "vpc" } });
    let judged = empty().cluster_object(cluster).has(resource("vpc", "vpc")).judged();
    assert_eq!(judged.about(&format!("vpc/vpc@clusters/{name}")), "untagged");
    let fault = format!("mgmt/IBMPowerVSCluster/clusters/{name}#powervs.cluster.x-k8s.io-owner:{name}");
    assert_eq!(judged.about(&fault), "tag-invalid owner-too-long");
}
