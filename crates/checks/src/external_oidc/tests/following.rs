//! Any cluster, and any change to it: judging what a change touched is judging everything, and a delete never rests on
//! what isn't known.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Check;
use trueup_core::engine::Verb;

/// Something that may be different about a cluster.
type Twist = fn(Given) -> Given;

fn twists() -> Vec<Twist> {
    vec![
        |given| given.spec(json!({ "type": "IntegratedOAuth" })),
        |given| given.spec(json!({ "type": "OIDC" })),
        |given| {
            let mut spec = oidc();
            spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "idp-ca" });
            given.spec(spec)
        },
        Given::with_parts,
        |given| given.nodes(&[(7, 0), (6, 7)]),
        |given| given.nodes(&[(0, 7)]),
        |given| given.revision(6),
        |given| given.revision_config(7, &on_oauth()),
        |given| given.without_in("openshift-config-managed", "auth-config"),
        |given| given.file("openshift-kube-apiserver", "auth-config", "{}"),
        |given| given.file("openshift-oauth-apiserver", "auth-config", RENDERED),
        Given::claims_gate,
        |given| given.restriction("team", "r"),
        |given| given.without("CustomResourceDefinition", "rolebindingrestrictions.authorization.openshift.io"),
        |given| given.config_map("openshift-config", "idp-ca", json!({ "ca-bundle.crt": "X" })),
        |given| given.config_map("openshift-console", "idp-ca", json!({ "ca-bundle.crt": "Y" })),
        |given| given.secret("openshift-console", "console-oauth-config", json!({ "clientSecret": "x" })),
        |given| given.set("Infrastructure", "status.controlPlaneTopology", json!("External")),
        Given::hosted,
        |given| given.without("Authentication", "cluster"),
        |given| given.without("KubeAPIServer", "cluster"),
        |given| given.incomplete("config.openshift.io/v1/authentications"),
        |given| given.incomplete("config.openshift.io/v1/featuregates"),
        |given| given.incomplete("operator.openshift.io/v1/kubeapiservers"),
        |given| given.incomplete("authorization.openshift.io/v1/rolebindingrestrictions"),
        |given| given.incomplete("apiextensions.k8s.io/v1/customresourcedefinitions"),
        |given| given.incomplete("v1/configmaps"),
        |given| given.incomplete("v1/configmaps@openshift-config"),
        |given| given.incomplete("v1/secrets@openshift-config"),
        |given| {
            let client = json!({ "componentNamespace": "openshift-console", "componentName": "console",
                "clientID": "web", "clientSecret": { "name": "web-secret" } });
            let mut spec = oidc();
            spec["oidcProviders"][0]["oidcClients"] = json!([client]);
            spec["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "idp-ca" });
            given.spec(spec)
        },
        |given| given.incomplete("v1/configmaps@openshift-kube-apiserver"),
        |given| given.incomplete("v1/secrets@openshift-authentication"),
        |given| given.incomplete("rbac.authorization.k8s.io/v1/clusterrolebindings"),
        Given::seen_only,
        Given::managed,
    ]
}

fn twisted(start: Given, chosen: &[usize]) -> Given {
    let twists = twists();
    let fits =
        |given: &Given, kind: &str| given.fleet.members["ocp"].objects.iter().any(|object| object["kind"] == kind);
    chosen.iter().fold(start, |given, index| {
        // What was taken away can't be changed any more.
        let whole = ["Authentication", "KubeAPIServer", "Infrastructure"].iter().all(|kind| fits(&given, kind));
        if whole { twists[*index](given) } else { given }
    })
}

fn any_cluster() -> impl Strategy<Value = Given> {
    let chosen = proptest::collection::vec(0..twists().len(), 0..6);
    (any::<bool>(), chosen).prop_map(|(on, chosen)| twisted(if on { given() } else { integrated() }, &chosen))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn judging_what_changes_touched_is_judging_everything(clusters in proptest::collection::vec(any_cluster(), 2..5)) {
        let mut follow = Follow::new(&given());
        for cluster in clusters {
            follow.step(&Given { settings: Default::default(), ..cluster });
        }
    }

    #[test]
    fn a_delete_rests_on_nothing_that_is_not_known_completely(cluster in any_cluster()) {
        let (domain, world) = (cluster.check(), cluster.world());
        let view = world.view(now());
        for subject in domain.subjects(view) {
            let explanation = domain.explain(&subject, view).unwrap();
            for draft in explanation.remedy.iter().filter(|draft| draft.verb() == Verb::Delete) {
                for id in &draft.rests_on {
                    let known = view.observations().find(|(held, ..)| *held == id).map(|(_, how, _)| how.is_complete());
                    prop_assert_eq!(known, Some(true), "{} rests on {:?}", &subject, id);
                }
            }
        }
    }
}

#[test]
fn a_change_elsewhere_touches_nothing() {
    let (domain, mut world) = (given().check(), given().world());
    let nothing = given().fill(&mut world);
    assert!(domain.touched(&nothing, world.view(now())).clusters.is_empty());
    let guest = given().hosted();
    guest.fill(&mut world);
    let changes = guest.config_map("openshift-config", "x", json!({})).fill(&mut world);
    assert!(domain.touched(&changes, world.view(now())).clusters.is_empty(), "a guest is not judged here");
}
