//! What the screen is given: columns, the way of a switch, nodes, the stack, and how to log in.

use serde_json::json;

use super::super::ExternalOidc;
use super::*;
use crate::{Cell, Check, Panel, Step};
use trueup_core::engine::{State, SubjectId};

fn shown<T>(
    given: &Given,
    subject: &str,
    show: impl Fn(&ExternalOidc, &SubjectId, trueup_core::world::View<'_>) -> T,
) -> T {
    let (domain, world) = (given.check(), given.world());
    let view = world.view(now());
    let id = format!("external-oidc/ocp/{subject}");
    let subject = domain.subjects(view).into_iter().find(|subject| subject.to_string() == id).unwrap();
    show(&domain, &subject, view)
}

fn panels(given: &Given, subject: &str) -> Vec<Panel> {
    shown(given, subject, |domain, subject, view| domain.panels(subject, view))
}

fn step_lines(steps: &[Step]) -> Vec<(&str, State, &str, &str)> {
    steps
        .iter()
        .map(|step| (step.label.as_str(), step.state.unwrap(), step.value.as_str(), step.note.as_str()))
        .collect()
}

#[test]
fn every_node_shows_the_revision_it_runs_and_where_it_goes() {
    let failed = json!([
        { "nodeName": "a", "currentRevision": 7 },
        { "nodeName": "b", "currentRevision": 6, "targetRevision": 7 },
        { "nodeName": "c", "currentRevision": 6, "targetRevision": 7, "lastFailedRevision": 7,
          "lastFailedCount": 2, "lastFailedReason": "InstallerFailed", "lastFailedRevisionErrors": ["boom"] },
        { "nodeName": "d", "currentRevision": 5 },
    ]);
    let rolling = given().revision_config(6, &on_oauth()).set("KubeAPIServer", "status.nodeStatuses", failed);
    let rolling = rolling.file("openshift-kube-apiserver", "auth-config-5", "{}");
    let panels = panels(&rolling, "KubeAPIServer/_/cluster");
    let [Panel::Strip { steps, .. }, Panel::Lines { lines, .. }, ..] = panels.as_slice() else { panic!("{panels:?}") };
    assert_eq!(
        step_lines(steps),
        [
            ("a", State::Match, "7", "OIDC alone"),
            ("b", State::Stale, "6 → 7", "no auth-config"),
            ("c", State::Error, "6 → 7", "no auth-config"),
            (
                "d",
                State::Unknown,
                "5",
                "not known: ConfigMap openshift-kube-apiserver/config-5 does not exist, and every revision has one"
            ),
        ]
    );
    assert_eq!(lines, &["revision 7 fails on c: InstallerFailed: boom"]);
}

#[test]
fn the_next_thing_that_is_awaited_is_said() {
    let mut both = super::on_oidc();
    both["apiServerArguments"]["authentication-token-webhook-config-file"] = json!(["/x"]);
    let cases = [
        (
            "nothing written",
            given().without_in("openshift-config-managed", "auth-config"),
            "waiting for the authentication operator to write auth-config",
        ),
        (
            "nothing copied",
            given().without_in("openshift-kube-apiserver", "auth-config"),
            "waiting for kube-apiserver's operator to copy auth-config",
        ),
        ("a node on its way", given().nodes(&[(7, 0), (6, 7)]), "waiting for master-1 to go from revision 6 to 7"),
        (
            "the first of two revisions",
            given().revision_config(7, &both),
            "waiting for the second revision, without the webhook",
        ),
        ("no revision yet", given().nodes(&[(6, 0)]), "waiting for the next revision"),
    ];
    for (case, given, expected) in cases {
        let panels = panels(&given, "KubeAPIServer/_/cluster");
        let Some(Panel::Lines { lines, .. }) = panels.get(1) else { panic!("{panels:?}") };
        assert_eq!(lines, &[expected], "case: {case}");
    }
}

#[test]
fn the_way_of_a_switch_breaks_where_it_is_stuck() {
    let stuck = given().without_in("openshift-kube-apiserver", "auth-config").with_parts();
    let panels = panels(&stuck, "Authentication/_/cluster");
    let Some(Panel::Chain { links, .. }) = panels.first() else { panic!("{panels:?}") };
    assert_eq!(
        step_lines(links),
        [
            ("Authentication", State::Match, "", "valid"),
            ("auth-config", State::Match, "", "match"),
            ("copy", State::Missing, "", "missing"),
            ("arguments", State::Match, "", "match"),
            ("nodes", State::Match, "", "available"),
            ("OAuth objects", State::Extra, "", "25 to look at"),
        ]
    );
}

#[test]
fn the_command_to_log_in_is_the_one_the_console_shows() {
    let client = json!([{ "componentNamespace": "openshift-console", "componentName": "cli",
        "clientID": "oc", "extraScopes": ["email", "groups"] }]);
    let mut spec = oidc();
    spec["oidcProviders"][0]["oidcClients"] = client;
    let given = given().spec(spec).set("Infrastructure", "status.apiServerURL", json!("https://api.ocp.example:6443"));
    let panels = panels(&given, "Authentication/_/cluster");
    let Some(Panel::Command { title: "LOG IN", command }) = panels.get(1) else { panic!("{panels:?}") };
    let expected = "oc login https://api.ocp.example:6443 --issuer-url https://idp.example --exec-plugin oc-oidc \
                    --client-id oc --extra-scopes email,groups";
    assert_eq!(&**command, expected);
}

#[test]
fn nothing_of_the_command_to_log_in_is_run_by_a_shell() {
    let client =
        json!([{ "componentNamespace": "openshift-console", "componentName": "cli", "clientID": "a; reboot" }]);
    let mut spec = oidc();
    spec["oidcProviders"][0]["oidcClients"] = client;
    spec["oidcProviders"][0]["issuer"]["issuerURL"] = json!("https://idp.example/$(reboot)");
    spec["type"] = json!("IntegratedOAuth");
    let panels = panels(&given().spec(spec), "Authentication/_/cluster");
    let Some(Panel::Command { title: "LOG IN, ONCE ON OIDC", command }) = panels.get(1) else { panic!("{panels:?}") };
    let expected = "oc login API_SERVER --issuer-url 'https://idp.example/$(reboot)' --exec-plugin oc-oidc \
                    --client-id 'a; reboot'";
    assert_eq!(&**command, expected);
}

#[test]
fn the_column_lays_what_is_wanted_beside_what_is() {
    let pair = |expected: &str, actual: &str| Cell::Pair { expected: expected.into(), actual: actual.into() };
    let part = "Service/openshift-authentication/oauth-openshift";
    let cases = [
        ("a leftover", given().with_parts(), part, pair("absent", "present")),
        ("wanted", integrated(), part, pair("present", "present")),
        ("on its way", given().nodes(&[(6, 7)]), part, Cell::Text("absent".into())),
        ("nodes", given().nodes(&[(7, 0), (6, 7)]), "KubeAPIServer/_/cluster", Cell::Text("1 of 2 on OIDC".into())),
        ("the type", given(), "Authentication/_/cluster", Cell::Text("OIDC".into())),
    ];
    for (case, given, subject, expected) in cases {
        let cells = shown(&given, subject, |domain, subject, view| domain.cells(subject, view));
        assert_eq!(cells, [expected], "case: {case}");
    }
}

#[test]
fn a_token_that_is_typed_in_shows_who_it_would_be() {
    let gates = "config.openshift.io/v1/featuregates";
    let cases = [
        (
            "accepted",
            given(),
            r#"{"email":"jo@x.example","email_verified":true,"sub":"7","groups":"dev"}"#,
            vec!["username  jo@x.example", "uid       7", "assumed   iss, aud, exp: not among the claims"],
        ),
        ("another issuer", given(), r#"{"iss":"https://other.example","email":"a"}"#, vec!["refused by issuer"]),
        ("no JSON", given(), "{", vec!["this cannot be read"]),
        ("no OIDC", integrated(), "{}", vec!["the type is IntegratedOAuth: kube-apiserver takes no token"]),
        ("gates not known", given().incomplete(gates), "{}", vec!["unknown: feature gates"]),
    ];
    for (case, given, typed, expected) in cases {
        let subject = "Authentication/_/cluster";
        let lines = shown(&given, subject, |domain, subject, view| domain.answer("who", typed, subject, view));
        let starts = lines.iter().zip(&expected).all(|(line, start)| line.starts_with(start));
        assert!(starts && lines.len() >= expected.len(), "case: {case}: {lines:?}");
    }
    let other = shown(&integrated(), "Authentication/_/cluster", |domain, subject, view| {
        domain.answer("another form", "{}", subject, view)
    });
    assert_eq!(other, Vec::<String>::new());
}

mod matrix {
    use super::super::super::identity_matrix;
    use super::*;
    use crate::{FleetCell, RowKnowledge};
    use trueup_core::world::ClusterName;

    /// The row of the one cluster, as `text` and `≠ text`.
    fn cells(given: &Given) -> (Vec<String>, String) {
        let world = given.world();
        let table = identity_matrix(world.view(now()), None);
        assert_eq!(table.columns, ["ISSUER", "AUDIENCE", "USERNAME", "GROUPS", "CA UNTIL"]);
        let row = table.rows.into_iter().next().expect("the cluster has an Authentication");
        assert_eq!(row.cluster, ClusterName::new("ocp"));
        let text =
            |cell: &FleetCell| if cell.is_odd() { format!("≠ {}", cell.text()) } else { cell.text().to_owned() };
        (row.cells.iter().map(text).collect(), row.note)
    }

    #[test]
    fn a_row_has_issuer_audience_mappings_and_the_end_of_the_ca() {
        let (found, note) = cells(&given());
        assert_eq!(found, ["https://idp.example", "a", "email", "-", "system roots"], "{note}");
        let mut named = oidc();
        named["oidcProviders"][0]["issuer"]["issuerCertificateAuthority"] = json!({ "name": "idp-ca" });
        let (gone, _) = cells(&given().spec(named));
        assert_eq!(gone[4], "≠ ? missing", "{gone:?}");
        let (none, note) = cells(&integrated());
        assert_eq!((none.len(), note.as_str()), (0, "type IntegratedOAuth"));
    }

    #[test]
    fn a_cluster_that_could_not_be_read_is_a_row_that_says_so() {
        let unread = given().incomplete("config.openshift.io/v1/authentications");
        let world = unread.without("Authentication", "cluster").world();
        let table = identity_matrix(world.view(now()), None);
        let rows: Vec<(&str, RowKnowledge)> =
            table.rows.iter().map(|row| (row.note.get(..1).unwrap_or_default(), row.knowledge)).collect();
        assert_eq!(rows, [("?", RowKnowledge::NotKnown)]);
    }
}
