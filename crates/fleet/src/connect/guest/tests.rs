//! Ways into a guest, good and bad, with a management cluster that answers from a table.

use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::*;
use crate::connect::testing::{answering, closed_port, still};
use trueup_core::world::{ClusterName, Namespace, ObjectName};
use trueup_net::{Egress, Exemption, HolderReach};

const CANARY: &str = "canary-20fa66";
const ADMIN: &str = "/api/v1/namespaces/clusters/secrets/hc-admin-kubeconfig";
const CUSTOM: &str = "/api/v1/namespaces/clusters/secrets/hc-custom";

fn secret(kubeconfig: &str) -> Value {
    json!({ "metadata": { "resourceVersion": "42" }, "data": { "kubeconfig": STANDARD.encode(kubeconfig) } })
}

fn kubeconfig(server: &str, user: &str) -> String {
    format!(
        "{{current-context: admin, clusters: [{{name: cluster, cluster: {{server: '{server}'}}}}], \
         contexts: [{{name: admin, context: {{cluster: cluster, user: admin}}}}], users: [{{name: admin, user: {user}}}]}}"
    )
}

fn connector(answers: Vec<(&'static str, u16, Value)>, custom: Option<&str>) -> GuestConnector {
    connector_of(answers, custom, HolderReach::LoopbackCleartext, Egress::default())
}

/// A connector to the guest `lab`, whose Secret is in a cluster that is reached so.
fn connector_of(
    answers: Vec<(&'static str, u16, Value)>,
    custom: Option<&str>,
    holder: HolderReach,
    egress: Egress,
) -> GuestConnector {
    let guest = HostedBy {
        cluster: ClusterName::new("management"),
        namespace: Namespace::new("clusters"),
        name: ObjectName::new("hc"),
    };
    let secrets = GuestSecrets::new("hc", None, custom);
    GuestConnector::new(GuestSetup {
        management: answering(answers),
        guest,
        secrets,
        origin: GuestOrigin { cluster: "lab".to_owned(), holder, egress },
        acting_as: Impersonation::default(),
        env: Env::default(),
        clock: still(),
    })
}

/// A guest's API server that answers every request with this status line.
async fn guest(status_line: &'static str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let answer = format!("HTTP/1.1 {status_line}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn a_guest_is_reached_by_its_admin_kubeconfig() {
    let url = guest("200 OK").await;
    let connector = connector(vec![(ADMIN, 200, secret(&kubeconfig(&url, &format!("{{token: {CANARY}}}"))))], None);
    let connection = connector.connect().await.unwrap();
    assert_eq!(connection.server, url);
    let expected = SecretRead { name: "hc-admin-kubeconfig".to_owned(), version: ResourceVersion::parse("42") };
    assert_eq!(connector.secret_read(), Some(expected));
    assert!(!format!("{connection:?}").contains(CANARY));
}

#[tokio::test]
async fn the_custom_kubeconfig_serves_when_the_first_leads_nowhere() {
    let (url, closed) = (guest("200 OK").await, closed_port());
    let nowhere = format!("http://127.0.0.1:{}", closed.port);
    let good = (CUSTOM, 200, secret(&kubeconfig(&url, "{}")));
    let cases = [
        ("unreachable", vec![(ADMIN, 200, secret(&kubeconfig(&nowhere, "{}"))), good.clone()], true),
        ("absent", vec![good.clone()], true),
        ("forbidden", vec![(ADMIN, 403, json!({})), good.clone()], false),
        ("refused fields", vec![(ADMIN, 200, secret(&kubeconfig(&nowhere, "{tokenFile: /x}"))), good], false),
    ];
    for (case, answers, expected) in cases {
        let connector = connector(answers, Some("hc-custom"));
        assert_eq!(connector.connect().await.is_ok(), expected, "case: {case}");
        assert_eq!(
            connector.secret_read().map(|read| read.name),
            expected.then(|| "hc-custom".to_owned()),
            "case: {case}"
        );
    }
}

#[tokio::test]
async fn each_failure_has_its_own_error_and_none_shows_the_secret() {
    let exec = format!("{{exec: {{command: {CANARY}, apiVersion: client.authentication.k8s.io/v1}}}}");
    let held = closed_port();
    // The one short name that every machine knows without asking a name server.
    let private = kubeconfig(&format!("http://localhost:{}", held.port), "{}");
    let refused = guest("401 Unauthorized").await;
    let closed = kubeconfig(&format!("http://127.0.0.1:{}", held.port), &format!("{{token: {CANARY}}}"));
    let odd = json!({ "metadata": { "resourceVersion": "1" }, "data": { "kubeconfig": format!("{CANARY}%") } });
    let other_key = json!({ "metadata": { "resourceVersion": "1" }, "data": { "value": CANARY } });
    let cases = [
        ("absent", 404, json!({}), "Secret clusters/hc-admin-kubeconfig with the guest's kubeconfig does not exist"),
        ("forbidden", 403, json!({ "message": CANARY }), "needs `get` on it"),
        (
            "server error",
            500,
            json!({ "message": CANARY }),
            "reading Secret clusters/hc-admin-kubeconfig: the server failed (500)",
        ),
        ("another shape", 200, json!([CANARY]), "unexpected shape"),
        ("another key", 200, other_key, "has no key \"kubeconfig\""),
        ("not base64", 200, odd, "does not hold text"),
        ("not a kubeconfig", 200, secret(&format!("users: {CANARY}")), "not a kubeconfig"),
        ("a command", 200, secret(&kubeconfig("http://h", &exec)), "exec is refused"),
        ("private", 200, secret(&private), "localhost is private"),
        ("closed", 200, secret(&closed), "connection refused"),
        ("login refused", 200, secret(&kubeconfig(&refused, "{}")), "credentials rejected (401)"),
    ];
    for (case, code, body, expected) in cases {
        let connector = connector(vec![(ADMIN, code, body)], None);
        let error = connector.connect().await.expect_err(case);
        let shown = format!("{error} {error:?} {:?}", error.event());
        assert!(error.to_string().contains(expected), "case: {case}: {shown}");
        assert!(!shown.contains(CANARY), "case: {case}: {shown}");
        assert_eq!(connector.secret_read(), None, "case: {case}");
    }
}

#[tokio::test]
async fn a_guest_is_not_reached_where_the_policy_refuses_and_the_error_names_the_line_that_would_allow_it() {
    let url = guest("200 OK").await;
    let port = url.rsplit(':').next().unwrap();
    let shown = |kind: &str, words: &str| (kind.to_owned(), format!("[egress] guests = {{ \"lab\" = [{words}] }}"));
    let both = "\"http\", \"loopback\"";
    let cases = [
        ("plain http on loopback", url.clone(), shown("loopback", both)),
        ("short form", format!("http://127.1:{port}"), shown("loopback", both)),
        ("unspecified", format!("http://0.0.0.0:{port}"), shown("unspecified", both)),
        ("IPv4 in IPv6", format!("http://[::ffff:127.0.0.1]:{port}"), shown("loopback", both)),
        ("metadata", "https://169.254.169.254".to_owned(), shown("metadata (link-local)", "\"link-local\"")),
        ("link-local", "https://[fe80::1]:6443".to_owned(), shown("link-local", "\"link-local\"")),
        ("a path", "https://api.example/k8s".to_owned(), shown("a path prefix", "\"path\"")),
        ("http to an ordinary address", "http://192.0.2.1".to_owned(), shown("plain http", "\"http\"")),
    ];
    for (case, server, (kind, line)) in cases {
        let answers = vec![(ADMIN, 200, secret(&kubeconfig(&server, &format!("{{token: {CANARY}}}"))))];
        let error =
            connector_of(answers, None, HolderReach::Network, Egress::default()).connect().await.expect_err(case);
        let LinkEvent::Hopeless(gap) = error.event() else { panic!("case: {case}: {error}") };
        assert!(gap.message.contains(&kind) && gap.message.contains(&line), "case: {case}: {gap}");
    }
    let proxied = format!("{{server: 'https://192.0.2.1', proxy-url: 'http://127.0.0.1:{port}'}}");
    let proxied = kubeconfig("https://192.0.2.1", "{}").replace("{server: 'https://192.0.2.1'}", &proxied);
    let answers = vec![(ADMIN, 200, secret(&proxied))];
    let error =
        connector_of(answers, None, HolderReach::Loopback, Egress::default()).connect().await.expect_err("a proxy");
    assert!(error.to_string().contains("a proxy-url"), "{error}");
}

#[tokio::test]
async fn the_configuration_allows_a_guest_what_the_policy_refuses() {
    let url = guest("200 OK").await;
    let words = [Exemption::Http, Exemption::Loopback];
    let answers = || vec![(ADMIN, 200, secret(&kubeconfig(&url, "{}")))];
    let cases = [("its own line", "lab", true), ("the line of another guest", "hc", false)];
    for (case, cluster, expected) in cases {
        let egress = Egress::default().with_guests([(cluster.to_owned(), words.into())]);
        let connector = connector_of(answers(), None, HolderReach::Network, egress);
        assert_eq!(connector.connect().await.is_ok(), expected, "case: {case}");
    }
}

#[tokio::test]
async fn a_name_that_is_a_path_is_not_asked_for() {
    let mut connector = connector(vec![], None);
    connector.setup.secrets.admin = "../../../other/secrets/x?y=z".to_owned();
    assert!(matches!(connector.connect().await, Err(LinkError::Guest(GuestError::BadName { .. }))));
}

#[test]
fn names_come_from_the_status_or_are_hypershifts_default() {
    let cases = [
        ("nothing known", GuestSecrets::new("hc", None, None), ("hc-admin-kubeconfig", None)),
        ("empty", GuestSecrets::new("hc", Some(""), Some("")), ("hc-admin-kubeconfig", None)),
        ("both known", GuestSecrets::new("hc", Some("a"), Some("b")), ("a", Some("b"))),
    ];
    for (case, actual, expected) in cases {
        assert_eq!((actual.admin.as_str(), actual.custom.as_deref()), expected, "case: {case}");
    }
}

#[test]
fn private_hosts_are_known_by_their_names() {
    let cases = [
        ("private zone", "api.hc.hypershift.local", true),
        ("service", "kube-apiserver.clusters-hc.svc", true),
        ("service in full", "kube-apiserver.clusters-hc.svc.cluster.local.", true),
        ("short", "kube-apiserver", true),
        ("public", "api.hc.example.com", false),
        ("address", "10.0.0.1", false),
        ("IPv6", "[::1]", false),
    ];
    for (case, host, expected) in cases {
        assert_eq!(is_private(host), expected, "case: {case}");
    }
}
