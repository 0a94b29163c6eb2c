//! A canary in every secret: it must come out nowhere.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use trueup_core::world::{CollectionId, Key, Scope};

const CANARY: &str = "CANARY";

fn worlds() -> Vec<Given> {
    let user = |user: Value| given().both(&config().user(user));
    let certified = {
        let made = certificate("a", days(-1), days(300));
        given().both(&config().certified(&made.pem, &made.key))
    };
    vec![
        given(),
        given().target(&config().signed(minutes(-9))),
        given().without("Secret", "demo-kubeconfig"),
        certified,
        user(json!({ "token": "CANARY-opaque" })),
        user(json!({ "token": "Bearer CANARY" })),
        user(json!({ "token": "k8s-aws-v1.CANARY" })),
        user(json!({ "token": jwt(json!({ "sub": "x" })) })),
        user(json!({ "username": "u", "password": "CANARY-password" })),
        user(json!({ "client-certificate-data": "CANARY", "client-key-data": "CANARY" })),
        user(
            json!({ "exec": { "command": "CANARY", "args": ["CANARY"], "env": [{ "name": "A", "value": "CANARY" }] } }),
        ),
        given().both(&config().server("https://user:CANARY@demo.example/?token=CANARY")),
        given().both(&config().cluster("proxy-url", json!("http://u:CANARY@proxy"))),
        given().of_target("data", json!({ "value": "Q0FOQVJZQ0FOQVJZ" })),
        given().of_target("stringData", json!({ "value": "CANARY: [" })),
        given().of_target("metadata.labels", json!({ "team": "CANARY", "cluster.x-k8s.io/cluster-name": "demo" })),
        given().of_target("metadata.annotations", json!({ "openshift.io/token-secret.value": "CANARY" })),
        given().of_target("stringData", json!({ "token-file": "CANARY", "relative": "CANARY" })),
    ]
}

fn assert_silent(what: &str, text: &str) {
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, CANARY);
    assert!(!text.contains(CANARY) && !text.contains(&encoded[..encoded.len() - 1]), "{what} tells a secret: {text}");
}

#[test]
fn no_finding_draft_cell_or_panel_tells_a_secret() {
    for (place, given) in worlds().into_iter().enumerate() {
        let mut world = World::default();
        given.fill(&mut world);
        let view = world.view(now());
        for (id, answer) in Judged::<Given>::new(&Kubeconfigs::default(), &world, now()).answers {
            let what = format!("world {place}, {id}");
            assert_silent(&what, &format!("{answer} {:?} {:?}", answer.judgement, answer.explanation));
        }
        for subject in Kubeconfigs::default().subjects(view) {
            let shown = format!(
                "{:?} {:?}",
                Kubeconfigs::default().cells(&subject, view),
                Kubeconfigs::default().panels(&subject, view)
            );
            assert_silent(&format!("world {place}, {subject}"), &shown);
        }
    }
}

#[test]
fn no_fact_tells_a_secret() {
    use super::super::facts::Holder;
    let mut looked_at = BTreeSet::new();
    for given in worlds() {
        let mut world = World::default();
        given.fill(&mut world);
        let view = world.view(now());
        let secrets: Vec<CollectionId> = view.observations().map(|(id, ..)| id.clone()).collect();
        for id in secrets.iter().filter(|id| matches!(id.scope, Scope::Object { .. })) {
            let Scope::Object { namespace, name } = &id.scope else { continue };
            let key = Key { namespace: namespace.clone(), name: name.clone() };
            if let Some(holder) = view.read::<Holder>(id).get(&key).present() {
                looked_at.insert(key.to_string());
                assert_silent(&key.to_string(), &format!("{holder:?}"));
            }
        }
    }
    assert!(looked_at.contains(DEMO) && looked_at.len() == 2, "{looked_at:?}");
}

#[test]
fn the_label_this_check_reads_is_shown_on_secrets() {
    assert!(trueup_core::redact::is_shown_on_secrets(super::super::names::CLUSTER_LABEL));
}

/// HyperShift's namespaces hold the keys of etcd and of authorities: none of them is ever asked for by its content.
#[test]
fn only_secrets_that_are_compared_are_read_whole() {
    let given = given()
        .has(secret("team-a", "demo-etcd").key("tls.key", CANARY))
        .has(secret("team-a", "demo-sa").key("tls.key", CANARY))
        .has(secret("team-a", "demo-ca").key("tls.crt", &authority("demo")).key("tls.key", CANARY))
        .has(secret("team-a", "anything").key("password", CANARY));
    let mut world = World::default();
    given.fill(&mut world);
    let read: BTreeSet<String> = world
        .observations()
        .filter_map(|(id, ..)| match &id.scope {
            Scope::Object { name, .. } => Some(name.to_string()),
            Scope::All | Scope::Namespace(_) => None,
        })
        .collect();
    let expected = ["demo-ca", "demo-eks-connection", "demo-kubeconfig", "demo-outputs-kubeconfig"];
    assert_eq!(read, expected.map(str::to_owned).into());
}

#[test]
fn the_canary_would_be_found() {
    let tells = std::panic::catch_unwind(|| assert_silent("x", &format!("a {CANARY} b")));
    assert!(tells.is_err());
}
