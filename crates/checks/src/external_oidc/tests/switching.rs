//! The switch to OIDC as an edit somebody reviews: where it is offered, what it would send, what blocks it.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use serde_json::{Value, json};

use super::*;
use crate::Check;
use trueup_core::engine::{ActionDraft, GateName, Reason, Stake, Undo, Verb};

const SUBJECT: &str = "Authentication/_/cluster";
const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// PEM of an authority that holds until 2030.
fn authority(year: i32) -> Value {
    let mut params = rcgen::CertificateParams::new(vec![]).unwrap();
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(year, 1, 1);
    json!({ "ca-bundle.crt": params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem() })
}

/// The providers, beside another type.
fn prepared() -> Value {
    let mut spec = oidc();
    spec["type"] = json!("IntegratedOAuth");
    spec["webhookTokenAuthenticator"] = json!({ "kubeConfig": { "name": "webhook-authentication-integrated-oauth" } });
    spec
}

/// A cluster where nothing speaks against the switch.
fn ready() -> Given {
    integrated()
        .spec(prepared())
        .config_map("openshift-config", "admin-kubeconfig-client-ca", authority(2030))
        .binding(None, "admins", "cluster-admin", &[("User", "jo@x.example")])
        .switching()
}

impl Given {
    fn binding(self, namespace: Option<&str>, name: &str, role: &str, subjects: &[(&str, &str)]) -> Self {
        let kind = if namespace.is_some() { "RoleBinding" } else { "ClusterRoleBinding" };
        let subjects: Vec<Value> = subjects.iter().map(|(kind, name)| json!({ "kind": kind, "name": name })).collect();
        let body = json!({ "roleRef": { "kind": "ClusterRole", "name": role }, "subjects": subjects });
        self.object(RBAC, kind, namespace, name, body)
    }
}

fn draft(given: &Given) -> Option<ActionDraft> {
    let judged = given.judged();
    let mut remedy = judged.find(SUBJECT).unwrap().explanation.remedy.clone();
    assert!(remedy.len() <= 1, "{remedy:?}");
    remedy.pop()
}

fn message(given: &Given) -> String {
    let judged = given.judged();
    judged.find(SUBJECT).unwrap().explanation.evidence.iter().map(|line| format!("{}\n", line.message)).collect()
}

#[test]
fn it_is_offered_where_it_is_asked_for_and_providers_are_listed() {
    let unasked = integrated().spec(prepared()).managed();
    let cases = [
        ("asked for", ready(), true),
        ("only managed", unasked, false),
        ("no provider", ready().spec(json!({ "type": "IntegratedOAuth" })), false),
        ("on OIDC already", given().switching(), false),
    ];
    for (case, given, expected) in cases {
        assert_eq!(draft(&given).is_some(), expected, "case: {case}");
        assert_eq!(message(&given).contains("rollback from OIDC"), expected, "case: {case}");
    }
}

#[test]
fn it_sends_the_type_and_takes_the_webhook_away() {
    let draft = draft(&ready()).unwrap();
    assert_eq!(
        (draft.verb(), draft.reason, draft.stake, draft.undo, draft.selected),
        (Verb::Patch, Reason::Differs, Stake::Login, Undo::RestoreFromBackup, false)
    );
    assert_eq!(
        draft.change.to_json()["patch"],
        json!({ "spec": { "type": "OIDC", "webhookTokenAuthenticator": null } })
    );
    let change = draft.change.to_json();
    let kinds: Vec<&str> =
        change["export"].as_array().unwrap().iter().filter_map(|kind| kind["kind"].as_str()).collect();
    assert_eq!(kinds, ["User", "Group", "Identity", "OAuthClient", "RoleBindingRestriction"]);
    assert_eq!(draft.blocked_by, [], "nothing speaks against it");
    for line in [
        "-   type: \"IntegratedOAuth\"",
        "+   type: \"OIDC\"",
        "-   webhookTokenAuthenticator:",
        "rollback: trueup undo",
    ] {
        assert!(draft.diff.contains(line), "{line} in {}", draft.diff);
    }
    let target = &draft.target;
    assert_eq!((target.resource.kind, target.name.as_str()), ("Authentication", "cluster"));
    assert!(target.uid.is_some() && target.version.is_some());
}

#[test]
fn a_server_that_lacks_a_kind_is_not_asked_to_export_it() {
    let served = [
        ("config.openshift.io", "infrastructures"),
        ("config.openshift.io", "authentications"),
        ("operator.openshift.io", "kubeapiservers"),
        ("user.openshift.io", "users"),
        ("", "configmaps"),
    ];
    let draft = draft(&ready().serving(&served)).unwrap();
    assert_eq!(draft.change.to_json()["export"], json!([{ "apiVersion": "user.openshift.io/v1", "kind": "User" }]));
}

#[test]
fn every_lockout_risk_blocks_it() {
    let spec = |change: &dyn Fn(&mut Value)| {
        let mut spec = prepared();
        change(&mut spec["oidcProviders"][0]);
        ready().spec(spec)
    };
    let ca = "admin-kubeconfig-client-ca";
    let prefixed = |prefix: &str| {
        let username = json!({ "claim": "email", "prefixPolicy": "Prefix", "prefix": { "prefixString": prefix } });
        spec(&|provider| provider["claimMappings"]["username"] = username.clone())
    };
    let grouped = spec(&|provider| provider["claimMappings"]["groups"] = json!({ "claim": "g", "prefix": "idp:" }));
    let only_groups = |group: &str| {
        grouped.clone().without("ClusterRoleBinding", "admins").binding(
            None,
            "ops",
            "cluster-admin",
            &[("Group", group)],
        )
    };
    type Row<'a> = (&'a str, Given, &'a [(GateName, &'a str)]);
    let cases: [Row<'_>; 15] = [
        ("nothing", ready(), &[]),
        (
            "a spec the operator refuses",
            spec(&|provider| provider["issuer"]["issuerURL"] = json!("http://idp.example")),
            &[(GateName::OperatorOwned, "with type OIDC the spec is invalid")],
        ),
        (
            "a spec kube-apiserver refuses",
            spec(&|provider| provider["issuer"]["issuerURL"] = json!("https://kubernetes.default.svc")),
            &[(GateName::OperatorOwned, "kas-would-refuse")],
        ),
        (
            "gates that cannot be read",
            ready().incomplete("config.openshift.io/v1/featuregates"),
            &[(GateName::NotComplete, "what the spec would come to with type OIDC is not known")],
        ),
        ("the gate is off", ready().gates(&[]), &[(GateName::OperatorOwned, "ExternalOIDC is off")]),
        (
            "no way in by certificate",
            ready().without_in("openshift-config", ca),
            &[(GateName::Access, "locks every user out")],
        ),
        (
            "its authority has ended",
            ready().config_map("openshift-config", ca, authority(2025)),
            &[(GateName::Access, "locks every user out")],
        ),
        (
            "its authority can't be read",
            ready().config_map("openshift-config", ca, json!({ "ca-bundle.crt": "-----BEGIN X-----" })),
            &[(GateName::Access, "locks every user out")],
        ),
        (
            "whether there is one is not known",
            ready().without_in("openshift-config", ca).incomplete("v1/configmaps@openshift-config"),
            &[(GateName::NotComplete, "client certificates for administrators is not known")],
        ),
        (
            "bindings that cannot be read",
            ready().incomplete("rbac.authorization.k8s.io/v1/rolebindings"),
            &[(GateName::NotComplete, "which users and groups stop matching is not known")],
        ),
        ("no administrator has that name", prefixed("idp:"), &[(GateName::Access, "bind one first")]),
        (
            "only Kubernetes' own names",
            ready().without("ClusterRoleBinding", "admins").binding(
                None,
                "m",
                "cluster-admin",
                &[("Group", "system:masters")],
            ),
            &[(GateName::Access, "bind one first")],
        ),
        ("a group that a token can have", only_groups("idp:ops"), &[]),
        ("a group that no token can have", only_groups("ops"), &[(GateName::Access, "bind one first")]),
        (
            "an administrator of a namespace alone",
            ready().without("ClusterRoleBinding", "admins").binding(
                Some("team"),
                "x",
                "cluster-admin",
                &[("User", "jo")],
            ),
            &[(GateName::Access, "bind one first")],
        ),
    ];
    for (case, given, expected) in cases {
        let blocked = draft(&given).unwrap().blocked_by;
        let found: Vec<GateName> = blocked.iter().map(|blocked| blocked.gate).collect();
        let gates: Vec<GateName> = expected.iter().map(|(gate, _)| *gate).collect();
        assert_eq!(found, gates, "case: {case}: {blocked:?}");
        for (blocked, (_, why)) in blocked.iter().zip(expected) {
            assert!(blocked.why.contains(why), "case: {case}: {}", blocked.why);
        }
    }
}

#[test]
fn the_names_that_stop_matching_are_listed() {
    let people = ready()
        .binding(None, "bots", "view", &[("ServiceAccount", "robot"), ("Group", "system:authenticated")])
        .binding(Some("team"), "edit", "edit", &[("User", "kube:admin"), ("Group", "ops")]);
    assert!(
        message(&people).contains("though bindings name them: group ops; the others match whom the provider calls so")
    );
    let mut spec = prepared();
    spec["oidcProviders"][0]["claimMappings"]["username"] = json!({ "claim": "sub" });
    let warning = message(&people.clone().spec(spec));
    let expected = "no token can become these any more, though bindings name them: group ops, user jo@x.example, user kube:admin\n";
    assert!(warning.contains(expected), "{warning}");
    let restricted = message(&people.restriction("team", "only-us"));
    assert!(restricted.contains("no longer enforced: team/only-us"), "{restricted}");
}

#[test]
fn bindings_are_read_only_where_tokens_count() {
    let asked = |given: &Given| {
        let (domain, world) = (given.check(), given.world());
        let interests = domain.interests(world.view(now()));
        interests
            .iter()
            .filter(|interest| interest.id.resource.path() == format!("{RBAC}/rolebindings"))
            .filter(|interest| interest.id.namespace().is_none())
            .count()
    };
    let cases = [
        ("on OIDC", given(), 1),
        ("on OAuth", integrated(), 0),
        ("prepared", integrated().spec(prepared()), 0),
        ("asked for", ready(), 1),
    ];
    for (case, given, expected) in cases {
        assert_eq!(asked(&given), expected, "case: {case}");
    }
}

#[test]
fn a_token_is_shown_with_the_bindings_that_name_it() {
    let mut spec = oidc();
    spec["oidcProviders"][0]["claimMappings"]["groups"] = json!({ "claim": "groups", "prefix": "idp:" });
    let bound = given()
        .spec(spec)
        .binding(None, "admins", "cluster-admin", &[("Group", "idp:ops"), ("User", "jo@x.example")])
        .binding(Some("team"), "edit", "edit", &[("User", "jo@x.example")])
        .binding(Some("team"), "others", "view", &[("User", "mo@x.example"), ("ServiceAccount", "jo@x.example")]);
    let answer = |given: &Given, claims: &str| {
        let (domain, world) = (given.check(), given.world());
        let view = world.view(now());
        let subject = domain.subjects(view).into_iter().find(|subject| subject.to_string().ends_with(SUBJECT)).unwrap();
        domain.answer("who", claims, &subject, view)
    };
    let jo = r#"{"email":"jo@x.example","sub":"7","groups":["ops"]}"#;
    let lines = answer(&bound, jo);
    let found: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with("bound by")).collect();
    assert_eq!(
        found,
        [
            "bound by  ClusterRoleBinding admins → ClusterRole cluster-admin (as group idp:ops)",
            "bound by  RoleBinding team/edit → ClusterRole edit (as user jo@x.example)",
        ]
    );
    let nobody = answer(&bound, r#"{"email":"zoe@x.example","sub":"8"}"#);
    assert!(nobody.last().unwrap().starts_with("bindings  no binding for user or groups"), "{nobody:?}");
    let hidden = answer(&bound.clone().incomplete("rbac.authorization.k8s.io/v1/rolebindings"), jo);
    assert!(hidden.iter().any(|line| line.starts_with("bindings  not all are known")), "{hidden:?}");
    assert!(hidden.iter().any(|line| line.contains("ClusterRoleBinding admins")), "what was seen is said: {hidden:?}");
}
