//! The answer to the question what other tags would change.

use serde_json::json;

use super::*;

fn asked(given: &Given, subject: &str, typed: &str) -> Vec<String> {
    let mut world = World::default();
    given.fill(&mut world);
    let view = world.view(now());
    let check = PowerVsTags::new(given.settings.clone());
    let id = format!("powervs-tags/ibm:{ACCOUNT}/{subject}");
    let subject = check.subjects(view).into_iter().find(|one| one.to_string() == id).unwrap();
    check.answer("tags", typed, &subject, view)
}

/// A cluster of which only the VPC has tags.
fn only_a_vpc() -> Given {
    let status = json!({ "vpc": { "id": "vpc" } });
    let tags: Vec<String> = ours().into_iter().chain(["old:x".to_owned(), "theirs:y".to_owned()]).collect();
    let cluster = empty().cluster_object(newer_cluster("demo", UID)).set("status", status);
    cluster.annotate("trueup/attached-tags", r#"["old:x"]"#).has(resource("vpc", "vpc")).tags("vpc", &tags)
}

#[test]
fn the_answer_lists_tags_to_attach_and_detach_and_how_to_declare_them() {
    let annotated = asked(&only_a_vpc(), "vpc/vpc@clusters/demo", "Env:Prod, team: a b ");
    assert_eq!(
        annotated,
        [
            "vpc demo-vpc (vpc) +env:prod +team:a b -old:x",
            "on mgmt: kubectl annotate ibmpowervsclusters -n clusters demo --overwrite \
             'trueup/user-tags={\"Env\":\"Prod\",\"team\":\"a b\"}'",
        ]
    );
    let in_spec = only_a_vpc().set("spec.tags", json!([{ "key": "env", "value": "prod" }]));
    assert_eq!(
        asked(&in_spec, "vpc/vpc@clusters/demo", "team:a"),
        [
            "vpc demo-vpc (vpc) +team:a -old:x",
            "on mgmt: kubectl patch ibmpowervsclusters -n clusters demo --type merge -p \
             '{\"spec\":{\"tags\":[{\"key\":\"team\",\"value\":\"a\"}]}}'",
        ]
    );
}

#[test]
fn what_the_cloud_would_refuse_is_named_and_in_no_command() {
    let answer = asked(&only_a_vpc(), "vpc/vpc@clusters/demo", "env:a/b, old:x, :alone");
    assert_eq!(
        answer,
        [
            "env:a/b would be refused: characters",
            ":alone would be refused: empty",
            "nothing of clusters/demo would change",
        ]
    );
}

#[test]
fn nobody_wants_tags_on_what_no_cluster_points_at() {
    let given = only_a_vpc().has(resource("cos-instance", "lost")).tags("lost", &dead());
    let answer = asked(&given, "cos-instance/lost@-", "env:prod");
    assert_eq!(answer, ["no cluster refers to it: user tags do not apply"]);
}

#[test]
fn nothing_of_a_cluster_that_goes_is_tagged_any_more() {
    let answer = asked(&only_a_vpc().going(), "vpc/vpc@clusters/demo", "env:prod");
    assert_eq!(answer, ["clusters/demo is being deleted: its resources get no tags"]);
}
