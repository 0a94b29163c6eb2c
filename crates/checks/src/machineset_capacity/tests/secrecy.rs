//! No byte of a login is in a fact, an answer or a screen.

use serde_json::json;

use super::*;
use crate::machineset_capacity::facts::Login;
use trueup_core::world::CollectionId;

const CANARY: &str = "c4n4ry-5up3r-s3cr3t";

#[test]
fn no_byte_of_a_login_leaves_the_edge() {
    let ini = format!("[default]\naws_access_key_id = {CANARY}\naws_secret_access_key = {CANARY}\n");
    let datas = [
        ("keys", json!({ "aws_access_key_id": CANARY, "aws_secret_access_key": CANARY })),
        ("a file", json!({ "credentials": ini })),
        ("a file nobody can read", json!({ "credentials": CANARY })),
    ];
    for (case, data) in datas {
        let variables = json!({ "AWS_SECRET_ACCESS_KEY": CANARY, "AWS_SESSION_TOKEN": CANARY });
        let given = given().bare().environment(variables).secret(data);
        let mut world = World::default();
        given.fill(&mut world);
        let view = world.view(now());
        let shop = ClusterName::new("shop");
        let id = CollectionId::object(
            &shop,
            super::super::names::SECRET,
            Some("openshift-machine-api"),
            "aws-cloud-credentials",
        );
        let mut said: Vec<String> = view.read::<Login>(&id).iter().map(|fact| format!("{fact:?}")).collect();
        assert_eq!(said.len(), 1, "case {case}: the Secret was read");
        let id = CollectionId::all(&shop, super::super::names::ENVIRONMENT);
        said.extend(view.read::<super::super::facts::Environment>(&id).iter().map(|fact| format!("{fact:?}")));
        let check = MachineSetCapacity::default();
        for subject in check.subjects(view) {
            said.push(format!("{:?}", check.explain(&subject, view)));
            said.push(format!("{:?} {:?}", check.cells(&subject, view), check.panels(&subject, view)));
        }
        assert!(said.len() >= 4, "case {case}: {said:?}");
        for text in said {
            assert!(!text.contains(CANARY), "case {case}: {text}");
        }
    }
}
