//! Where a kubeconfig leads, what its Secret looks like, and which Secrets are looked at at all.

use serde_json::{Value, json};

use super::*;
use crate::Probe;

const MOVED: &str = "https://other.gr7.us-west-2.eks.amazonaws.com";

#[test]
fn the_server_is_the_same_in_every_spelling() {
    let cases = [
        "https://demo.gr7.us-west-2.eks.amazonaws.com",
        "https://DEMO.gr7.us-west-2.eks.amazonaws.com/",
        "https://demo.gr7.us-west-2.eks.amazonaws.com:443",
        "https://demo.gr7.us-west-2.eks.amazonaws.com.:443/",
        "demo.gr7.us-west-2.eks.amazonaws.com",
        "HTTPS://Demo.GR7.us-west-2.eks.amazonaws.com",
    ];
    for server in cases {
        assert_eq!(given().both(&config().server(server)).about(DEMO), "fresh", "{server}");
    }
}

#[test]
fn another_server_or_authority_is_drift() {
    let drifted = |config: Config| given().both(&config);
    each(
        DEMO,
        [
            ("moved", drifted(config().server(MOVED)), "endpoint-drift source-drift source-invalid"),
            (
                "another port",
                drifted(config().server("https://demo.gr7.us-west-2.eks.amazonaws.com:6443")),
                "endpoint-drift source-drift source-invalid",
            ),
            (
                "another path",
                drifted(config().server("https://demo.gr7.us-west-2.eks.amazonaws.com/k8s")),
                "endpoint-drift source-drift source-invalid",
            ),
            ("another authority", drifted(config().authorities(&["x"])), "ca-drift source-drift source-invalid"),
            (
                "re-created",
                drifted(config().server(MOVED).authorities(&["x"])),
                "endpoint-drift ca-drift source-drift source-invalid",
            ),
            ("two authorities, one of them right", drifted(config().authorities(&["x", "demo"])), "ca-rotating"),
            ("the same one twice", drifted(config().authorities(&["demo", "demo"])), "fresh"),
            (
                "a proxy",
                drifted(config().server(MOVED).cluster("proxy-url", json!("http://p:3128"))),
                "fresh endpoint-differs",
            ),
            (
                "a server name",
                drifted(config().server(MOVED).cluster("tls-server-name", json!("x"))),
                "fresh endpoint-differs",
            ),
            (
                "inside the cluster",
                drifted(config().server("https://kubernetes.default.svc:443")),
                "fresh in-cluster-endpoint",
            ),
            ("inside, in full", drifted(config().server("https://a.b.svc.cluster.local")), "fresh in-cluster-endpoint"),
            ("one word", drifted(config().server("https://kube-apiserver:6443")), "fresh in-cluster-endpoint"),
            ("this machine", drifted(config().server("https://localhost:6443")), "fresh in-cluster-endpoint"),
            (
                "unverified",
                drifted(
                    config()
                        .cluster("certificate-authority-data", json!(null))
                        .cluster("insecure-skip-tls-verify", json!(true)),
                ),
                "fresh insecure",
            ),
            ("the system's authorities", drifted(config().cluster("certificate-authority-data", json!(null))), "fresh"),
        ],
    );
}

#[test]
fn a_recreated_cluster_is_reported_as_recreated() {
    let given = given().both(&config().server(MOVED).authorities(&["x"]));
    let summary = &given.judged().find(DEMO).unwrap().explanation.summary.clone();
    assert!(summary.contains("re-created?") && summary.contains("demo.gr7"), "{summary}");
}

#[test]
fn the_first_that_says_anything_is_believed_and_the_others_are_heard() {
    let endpoint = |host: &str| json!({ "host": host, "port": 443 });
    let moved = "other.gr7.us-west-2.eks.amazonaws.com";
    let without_connection = || given().without("Secret", "demo-eks-connection");
    let disagree = |given: Given| given.set("Cluster", "demo", "spec.controlPlaneEndpoint", endpoint(moved));
    each(
        DEMO,
        [
            ("the Cluster disagrees", disagree(given()), "fresh expectations-disagree"),
            (
                "the Cluster is the first",
                disagree(without_connection()),
                "endpoint-drift expectations-disagree source-drift source-invalid",
            ),
            (
                "the Cluster says nothing",
                without_connection().set("Cluster", "demo", "spec.controlPlaneEndpoint", endpoint("")).set(
                    "CAPTControlPlane",
                    "demo",
                    "spec.controlPlaneEndpoint",
                    endpoint(moved),
                ),
                "endpoint-drift source-drift source-invalid",
            ),
            (
                "nobody says anything",
                without_connection()
                    .set(
                        "Cluster",
                        "demo",
                        "spec",
                        json!({ "controlPlaneRef": { "kind": "CAPTControlPlane", "name": "demo" } }),
                    )
                    .set("CAPTControlPlane", "demo", "spec", json!({})),
                "fresh",
            ),
            (
                "the CA Secret vouches",
                without_connection().has(secret("team-a", "demo-ca").key("tls.crt", &authority("x"))),
                "ca-drift source-drift source-invalid",
            ),
            (
                "the CA Secret disagrees",
                given().has(secret("team-a", "demo-ca").key("tls.crt", &authority("x"))),
                "fresh expectations-disagree",
            ),
            (
                "the connection secret is in base64 once more",
                given().has(connection("team-a", "demo").key(
                    "cluster_endpoint",
                    &base64::Engine::encode(&base64::engine::general_purpose::STANDARD, MOVED),
                )),
                "endpoint-drift expectations-disagree source-drift source-invalid",
            ),
        ],
    );
}

#[test]
fn an_address_by_number_and_port_is_compared_too() {
    let target = |server: &str| {
        let config = config().server(server).certificate(days(-1), days(300));
        empty().object(plain_cluster("team-b", "k", "10.0.0.1", 6443)).has(unowned_target("team-b", "k", &config))
    };
    each(
        "team-b/k-kubeconfig",
        [
            ("the same", target("https://10.0.0.1:6443"), "fresh"),
            ("the port left out", target("https://10.0.0.1"), "endpoint-drift"),
            ("another", target("https://10.0.0.2:6443"), "endpoint-drift"),
            ("IPv6 against IPv4", target("https://[fd00::1]:6443"), "endpoint-drift"),
        ],
    );
    let config = config().server("https://[FD00:0::1]:6443").certificate(days(-1), days(300));
    let given =
        empty().object(plain_cluster("team-b", "k", "fd00::1", 6443)).has(unowned_target("team-b", "k", &config));
    assert_eq!(given.about("team-b/k-kubeconfig"), "fresh");
}

#[test]
fn the_contract_is_held_up_to_the_secret() {
    let of_target = |field: &str, value: Value| given().of_target(field, value);
    let with = |config: Config| given().both(&config);
    each(
        DEMO,
        [
            ("another type", of_target("type", json!("Opaque")), "contract type"),
            ("no label", of_target("metadata.labels", json!({})), "contract label → label selected not-labelled"),
            (
                "another's label",
                of_target("metadata.labels", json!({ "cluster.x-k8s.io/cluster-name": "x" })),
                "contract label → label selected not-labelled",
            ),
            ("no key", of_target("data", json!({})), "contract behind-source key → update selected stale"),
            (
                "an empty key",
                of_target("data", json!({ "value": "" })),
                "contract behind-source key → update selected stale",
            ),
            (
                "no current context",
                with(config().with("current-context", json!(""))),
                "contract context source-invalid unparseable",
            ),
            (
                "no such context",
                with(config().with("current-context", json!("x"))),
                "contract context source-invalid unparseable",
            ),
            ("no such user", with(config().with("users", json!([]))), "contract context source-invalid unparseable"),
            (
                "no such cluster",
                with(config().with("clusters", json!([]))),
                "contract context source-invalid unparseable",
            ),
            (
                "a password",
                with(config().user(json!({ "username": "u", "password": "p" }))),
                "contract basic-auth source-invalid unparseable",
            ),
            (
                "nothing to be let in by",
                with(config().user(json!({}))),
                "contract anonymous source-invalid unparseable",
            ),
        ],
    );
}

#[test]
fn an_owner_has_to_live_and_be_the_cluster_s_own() {
    let owned = |api_version: &str, kind: &str, name: &str, uid: &str| {
        given().has(target("team-a", "demo", &config()).owned(api_version, kind, name, uid))
    };
    let (capi, capt) = ("cluster.x-k8s.io/v1beta1", "controlplane.cluster.x-k8s.io/v1beta1");
    each(
        DEMO,
        [
            ("the control plane", owned(capt, "CAPTControlPlane", "demo", "plane-team-a-demo"), "fresh"),
            ("the Cluster", owned(capi, "Cluster", "demo", "cluster-team-a-demo"), "fresh"),
            (
                "a recreated one",
                owned(capt, "CAPTControlPlane", "demo", "plane-before"),
                "contract owner → patch selected differs",
            ),
            ("one that is gone", owned(capi, "Cluster", "gone", "u"), "contract owner → patch selected differs"),
            ("another controller", owned("example.org/v1", "Copier", "demo", "u"), "contract owner"),
            ("another provider", owned(capt, "AWSManagedControlPlane", "demo", "u"), "contract owner"),
        ],
    );
    let owner = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u" }]);
    assert_eq!(
        given().of_target("metadata.ownerReferences", owner).about(DEMO),
        "fresh",
        "an owner that controls nothing"
    );
    let plane = "controlplane.cluster.x-k8s.io/v1beta1";
    let config = config().server("https://10.0.0.1:6443").certificate(days(-1), days(300));
    let kubeadm = |name: &str| {
        let secret = target("team-b", "k", &config).owned(plane, "KubeadmControlPlane", name, "u");
        empty().object(plain_cluster("team-b", "k", "10.0.0.1", 6443)).has(secret).about("team-b/k-kubeconfig")
    };
    assert_eq!(kubeadm("k-cp"), "fresh");
    assert_eq!(kubeadm("another"), "contract owner");
}

#[test]
fn keys_beside_the_value_say_what_it_says() {
    let token = eks(minutes(-1));
    let relative = config().user(json!({ "tokenFile": "./token-file" }));
    let with = |relative: &Config, token: &str| {
        let config = config().token(&eks(minutes(-1)));
        let secret = target("team-a", "demo", &config).key("relative", &relative.text()).key("token-file", token);
        given().source(&config).has(secret)
    };
    each(
        DEMO,
        [
            ("they do", with(&relative, &token), "fresh"),
            ("with a line end", with(&relative, &format!("{token}\n")), "fresh"),
            ("an older token", with(&relative, &eks(minutes(-9))), "contract extra-key-disagrees"),
            ("another server", with(&relative.clone().server(MOVED), &token), "contract extra-key-disagrees"),
        ],
    );
}

#[test]
fn what_would_run_or_read_something_is_refused() {
    let with = |user: Value| given().both(&config().user(user));
    let refused = "exec-refused exec source-invalid";
    let exec =
        json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", "true"] } });
    let both = json!({ "token": eks(minutes(-1)), "tokenFile": "/var/run/token" });
    each(
        DEMO,
        [
            ("exec", with(exec.clone()), refused),
            ("a login elsewhere", with(json!({ "auth-provider": { "name": "gcp" } })), refused),
            ("a token in a file", with(json!({ "tokenFile": "/t" })), refused),
            ("a token here and in a file", with(both), refused),
            ("a certificate in a file", with(json!({ "client-certificate": "/c", "client-key": "/k" })), refused),
            (
                "an authority in a file",
                given().both(&config().cluster("certificate-authority-data", json!(null)).cluster("certificate-authority", json!("/ca"))),
                refused,
            ),
            (
                "exec in another user",
                given().both(&config().with(
                    "users",
                    json!([{ "name": "admin", "user": { "token": eks(minutes(-1)) } }, { "name": "other", "user": exec }]),
                )),
                "fresh exec-in-other-user",
            ),
        ],
    );
}

#[test]
fn people_s_kubeconfigs_are_judged_by_where_they_lead_alone() {
    let exec = json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1beta1", "command": "aws" } });
    let user = |config: &Config| given().has(secret("team-a", "demo-user-kubeconfig").key("value", &config.text()));
    each(
        "team-a/demo-user-kubeconfig",
        [
            ("with a plugin", user(&config().user(exec.clone())), "fresh exec-user"),
            ("that leads nowhere", user(&config().user(exec.clone()).server(MOVED)), "endpoint-drift exec-user"),
            ("with an authority of old", user(&config().user(exec).authorities(&["x"])), "ca-drift exec-user"),
            ("with a token that ended", user(&config().signed(minutes(-60))), "fresh"),
            (
                "that nobody can read",
                given().has(secret("team-a", "demo-user-kubeconfig").key("value", "\u{1}")),
                "unreadable",
            ),
            ("that is not there", given(), "no subject"),
        ],
    );
}

#[test]
fn hypershift_s_kubeconfigs_are_those_its_status_names() {
    let status = json!({ "kubeconfig": { "name": "g-admin-kubeconfig" }, "customKubeconfig": { "name": "mine" } });
    let with = |config: &Config| {
        empty()
            .object(hosted("clusters", "g", status.clone()))
            .has(secret("clusters", "g-admin-kubeconfig").key("kubeconfig", &config.text()))
    };
    let certified =
        |until: i64| config().server("https://api.g.example:6443").certificate(days(until - 365), days(until));
    each(
        "clusters/g-admin-kubeconfig",
        [
            ("young", with(&certified(300)), "fresh"),
            ("about to end", with(&certified(3)), "expiring past-half-life"),
            ("ended", with(&certified(-1)), "expired past-half-life"),
            ("not made yet", with(&certified(300)).without("Secret", "g-admin-kubeconfig"), "no subject"),
            (
                "nobody knows whether it is there",
                with(&certified(300)).without("Secret", "g-admin-kubeconfig").incomplete("v1/secrets@clusters"),
                "unknown",
            ),
            ("no key", with(&certified(300)).set("Secret", "g-admin-kubeconfig", "data", json!({})), "contract key"),
        ],
    );
    let custom = with(&certified(300)).has(secret("clusters", "mine").key("kubeconfig", &certified(-1).text()));
    assert_eq!(custom.about("clusters/mine"), "expired past-half-life", "the custom one");
    let unnamed = empty().object(hosted("clusters", "g", json!({})));
    assert_eq!(unnamed.about("clusters/g-admin-kubeconfig"), "no subject", "not made yet");
    let made = unnamed.has(secret("clusters", "g-admin-kubeconfig").key("kubeconfig", &certified(300).text()));
    assert_eq!(made.about("clusters/g-admin-kubeconfig"), "fresh");
}

#[test]
fn secrets_of_the_type_are_judged_for_every_owner() {
    let orphan = target("team-z", "gone", &config()).owned("cluster.x-k8s.io/v1beta1", "Cluster", "gone", "u");
    assert_eq!(empty().has(orphan).about("team-z/gone-kubeconfig"), "contract owner");
    let other = secret("team-z", "my-kubeconfig").key("value", &config().text());
    assert_eq!(empty().has(other).about("team-z/my-kubeconfig"), "no subject", "of another type");
    let ca = secret("team-z", "gone-ca").set("type", json!("cluster.x-k8s.io/secret"));
    assert_eq!(empty().has(ca).judged().all(), Vec::<String>::new(), "no kubeconfig by its name");
}

#[test]
fn a_cluster_called_user_has_a_kubeconfig_of_its_own() {
    let config = config().server("https://10.0.0.1:6443").signed(minutes(-60));
    let given = empty()
        .object(plain_cluster("team-b", "a", "10.0.0.9", 6443))
        .object(plain_cluster("team-b", "a-user", "10.0.0.1", 6443))
        .has(unowned_target("team-b", "a-user", &config));
    assert_eq!(given.about("team-b/a-user-kubeconfig"), "expired", "not the users' kubeconfig of the cluster a");
}

#[test]
fn only_a_kubeconfig_that_leads_home_may_be_tried() {
    let status = json!({ "kubeconfig": { "name": "g-admin-kubeconfig" } });
    let hosted = given()
        .object(hosted("clusters", "g", status))
        .has(secret("clusters", "g-admin-kubeconfig").key("kubeconfig", &config().text()));
    let unverified =
        config().cluster("certificate-authority-data", json!(null)).cluster("insecure-skip-tls-verify", json!(true));
    let cases = [
        ("fresh", DEMO, given(), Some("value")),
        ("expired", DEMO, given().both(&config().signed(minutes(-60))), Some("value")),
        ("HyperShift's", "clusters/g-admin-kubeconfig", hosted, Some("kubeconfig")),
        ("rotating", DEMO, given().both(&config().authorities(&["demo", "x"])), Some("value")),
        ("moved", DEMO, given().both(&config().server(MOVED)), None),
        ("another authority", DEMO, given().both(&config().authorities(&["x"])), None),
        ("by a proxy", DEMO, given().both(&config().server(MOVED).cluster("proxy-url", json!("http://p"))), None),
        ("inside a cluster", DEMO, given().both(&config().server("https://kubernetes.default.svc")), None),
        ("unverified", DEMO, given().both(&unverified), None),
        ("with a plugin", DEMO, given().both(&config().user(json!({ "exec": { "command": "x" } }))), None),
        ("absent", DEMO, given().without("Secret", "demo-kubeconfig"), None),
        (
            "nobody says where it is",
            DEMO,
            given().without("Secret", "demo-eks-connection").set("Cluster", "demo", "spec", json!({})).set(
                "CAPTControlPlane",
                "demo",
                "spec",
                json!({}),
            ),
            None,
        ),
    ];
    for (case, subject, given, expected) in cases {
        let mut world = World::default();
        given.fill(&mut world);
        let view = world.view(now());
        let subject =
            Kubeconfigs::default().subjects(view).into_iter().find(|one| one.to_string().ends_with(subject)).unwrap();
        let probe = match Kubeconfigs::default().probe(&subject, view) {
            Some(Probe::Kubeconfig(probe)) => Some(probe),
            Some(other @ (Probe::Discovery(_) | Probe::Role(_))) => panic!("case: {case}: {other:?}"),
            None => None,
        };
        assert_eq!(probe.as_ref().map(|probe| probe.key), expected, "case: {case}");
        assert!(
            probe.is_none_or(|probe| subject.to_string().ends_with(&format!("{}/{}", probe.namespace, probe.secret)))
        );
    }
}

#[test]
fn what_is_not_known_completely_is_unknown_and_what_is_seen_is_still_said() {
    let expired = given().both(&config().signed(minutes(-60)));
    each(
        DEMO,
        [
            ("a namespace where all that is needed was seen", given().incomplete("v1/secrets@team-a"), "fresh"),
            (
                "nobody knows what else says where the cluster is",
                given().without("Secret", "demo-eks-connection").incomplete("v1/secrets@team-a"),
                "unknown",
            ),
            (
                "nor is its target seen",
                given().without("Secret", "demo-kubeconfig").incomplete("v1/secrets@team-a"),
                "unknown",
            ),
            (
                "the sources are not",
                given().without("Secret", "demo-outputs-kubeconfig").incomplete("v1/secrets@default"),
                "unknown",
            ),
            ("another namespace is not", given().incomplete("v1/secrets@team-b"), "fresh"),
            (
                "what it says of itself is said",
                expired.without("Secret", "demo-outputs-kubeconfig").incomplete("v1/secrets@default"),
                "unknown expired",
            ),
        ],
    );
    let unlisted = given().incomplete("cluster.x-k8s.io/v1beta1/clusters");
    assert!(
        unlisted.judged().all().iter().any(|line| line == "mgmt/Cluster/_/*: unknown"),
        "{:?}",
        unlisted.judged().all()
    );
}

#[test]
fn a_secret_that_may_be_read_and_not_listed_is_judged() {
    let all = given().has(secret("team-a", "demo-ca").key("tls.crt", &authority("demo")));
    assert_eq!(all.incomplete("v1/secrets@team-a").incomplete("v1/secrets@default").about(DEMO), "fresh");
}
