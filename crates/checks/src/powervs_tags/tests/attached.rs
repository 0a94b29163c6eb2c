//! What was attached is remembered resource by resource, and only that comes off.

use serde_json::json;

use super::*;
use trueup_core::engine::Change;

const VPC: &str = "vpc/vpc@clusters/demo";

fn with(tags: &[&str]) -> Given {
    let all: Vec<String> = ours().into_iter().chain(tags.iter().map(|tag| (*tag).to_owned())).collect();
    newer().tags("vpc", &all)
}

fn attached(given: Given, json: &str) -> Given {
    given.annotate("trueup/attached-tags", json)
}

#[test]
fn a_tag_comes_off_only_where_it_is_remembered() {
    let off = "owned → untag selected user-tag -env:prod";
    let reference = |given: Given| given.set("spec.vpc.type", json!("Reference")).tags("vpc", &["env:prod"]);
    each(
        VPC,
        [
            ("remembered here", attached(with(&["env:prod"]), r#"{"vpc":["Env:Prod"]}"#), off),
            ("remembered elsewhere", attached(with(&["env:prod"]), r#"{"ws":["env:prod"]}"#), "owned"),
            ("remembered and not there", attached(with(&[]), r#"{"vpc":["env:prod"]}"#), "owned"),
            ("the older list, on our own", attached(with(&["env:prod"]), r#"["env:prod"]"#), off),
            ("the older list, on a reference", attached(reference(newer()), r#"["env:prod"]"#), "reference"),
            (
                "remembered for a reference",
                attached(reference(newer()), r#"{"vpc":["env:prod"]}"#),
                "reference → untag selected user-tag -env:prod",
            ),
            ("our own marks are no user tags", attached(with(&[]), &json!({ "vpc": ours() }).to_string()), "owned"),
        ],
    );
}

#[test]
fn a_change_of_user_tags_says_what_will_be_remembered() {
    let wanted = json!([{ "key": "env", "value": "prod" }, { "key": "alone" }]);
    let remembered = |given: Given| {
        let judged = given.set("spec.tags", wanted.clone()).judged();
        let draft = judged.find(VPC).unwrap().explanation.remedy[0].clone();
        let memory = draft.memory.expect("the write of the memory needs rights");
        assert_eq!((memory.cluster.as_str(), memory.resource.plural), ("mgmt", "ibmpowervsclusters"));
        let Change::Tag(change) = draft.change else { panic!("no tag") };
        let remember = change.remember.expect("a user tag is remembered");
        assert_eq!((remember.object.name.as_str(), remember.object.uid.as_deref()), ("demo", Some(UID)));
        json!([remember.tags, remember.converted])
    };
    let all = json!(["alone", "env:prod"]);
    assert_eq!(remembered(with(&[])), json!([{ "vpc": all }, {}]));
    assert_eq!(remembered(with(&["env:prod"])), json!([{ "vpc": ["alone"] }, {}]), "what was there before is not ours");
    let held = attached(with(&["x"]), r#"{"vpc":["x"],"ws":["y"]}"#);
    assert_eq!(remembered(held), json!([{ "vpc": ["alone", "env:prod", "x"] }, {}]));
    let older =
        attached(with(&["x"]), r#"["x"]"#).has_only("vpc").has(resource("cos-instance", "cos")).tags("cos", &ours());
    assert_eq!(remembered(older), json!([{ "vpc": ["alone", "env:prod", "x"] }, { "cos": ["x"] }]));
}

#[test]
fn marks_of_ownership_are_not_remembered() {
    let judged = newer().tags::<&str>("vpc", &[]).judged();
    let draft = &judged.find(VPC).unwrap().explanation.remedy[0];
    assert_eq!(draft.change.to_json().get("remember"), None);
    assert_eq!(draft.memory, None);
}

#[test]
fn another_prefix_is_written_and_the_default_one_is_still_read() {
    let settings = |given: Given| {
        let scheme = crate::powervs_tags::tags::TagScheme::new("acme-");
        given.settings(Settings { scheme, ..Settings::default() })
    };
    let untagged = settings(newer()).tags::<&str>("vpc", &[]);
    each(
        VPC,
        [
            ("the default tags", settings(newer()), "owned"),
            (
                "its own tags",
                settings(newer()).tags("vpc", &["acme-owner:demo".to_owned(), format!("acme-cluster-uuid:{UID}")]),
                "owned",
            ),
            ("one of each", settings(newer()).tags("vpc", &["acme-owner:demo".to_owned(), uuid(UID)]), "owned"),
            (
                "none",
                untagged,
                "untagged → tag selected not-tagged +acme-cluster-uuid:11111111-1111-1111-1111-111111111111 +acme-owner:demo",
            ),
            (
                "a new owner",
                settings(newer()).tags("vpc", &[owner("demo"), format!("acme-cluster-uuid:{DEAD}")]),
                "stale-owner → re-own offered moved +acme-cluster-uuid:11111111-1111-1111-1111-111111111111 \
                 +acme-owner:demo -acme-cluster-uuid:99999999-9999-9999-9999-999999999999",
            ),
        ],
    );
    let long = "n".repeat(128 - "acme-owner:".len() + 1);
    let mut cluster = newer_cluster(&long, UID);
    cluster["status"] = json!({});
    let given = settings(empty().cluster_object(cluster));
    let fault = format!("mgmt/IBMPowerVSCluster/clusters/{long}#acme-owner:{long}");
    assert_eq!(given.about(&fault), "tag-invalid owner-too-long");
}

#[test]
fn the_subject_of_an_invalid_tag_is_the_object_itself() {
    let judged = newer().set("spec.tags", json!([{ "key": "a/b" }])).judged();
    let answer = judged.find("mgmt/IBMPowerVSCluster/clusters/demo#a/b").unwrap();
    assert_eq!(answer.subject.object_name(), "demo");
}
