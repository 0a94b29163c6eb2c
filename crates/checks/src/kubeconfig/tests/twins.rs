//! Sources that nothing proves to be their cluster's, and clusters that share a name.

use serde_json::json;

use super::*;

const OFFERED: &str = "→ update offered stale";

/// `team-a/demo`, of which nothing says where it is, with a newer source.
fn unproven() -> Given {
    let mut cluster = capi_cluster("team-a", "demo");
    cluster["spec"]["controlPlaneEndpoint"] = json!(null);
    let mut plane = plane("team-a", "demo");
    plane["spec"] = json!({});
    empty().object(cluster).object(plane).source(&config().signed(minutes(-1))).target(&config().signed(minutes(-4)))
}

fn twin() -> serde_json::Value {
    let mut twin = capi_cluster("team-b", "demo");
    twin["spec"]["controlPlaneEndpoint"] = json!(null);
    twin
}

#[test]
fn a_source_is_proven_by_server_or_ca_and_never_selected_otherwise() {
    let ca = |name: &str| secret("team-a", "demo-ca").key("tls.crt", &authority(name));
    let at = |host: &str| unproven().set("Cluster", "demo", "spec.controlPlaneEndpoint", json!({ "host": host }));
    let server = "DEMO.gr7.us-west-2.eks.amazonaws.com";
    let proxied = config().cluster("proxy-url", json!("http://proxy:3128"));
    each(
        DEMO,
        [
            ("nothing to compare", unproven(), &format!("behind-source source-unproven {OFFERED}")),
            ("the server", at(server), "behind-source → update selected stale"),
            ("the CA", unproven().has(ca("demo")), "behind-source → update selected stale"),
            ("the server, and a CA that contradicts", at(server).has(ca("x")), "ca-drift source-drift source-invalid"),
            (
                "the CA, and a server that contradicts",
                at("https://x.example").has(ca("demo")),
                "endpoint-drift source-drift source-invalid",
            ),
            (
                "another server behind a proxy",
                at("https://x.example")
                    .source(&proxied.clone().signed(minutes(-1)))
                    .target(&proxied.signed(minutes(-4))),
                &format!("behind-source endpoint-differs source-unproven {OFFERED}"),
            ),
            (
                "an absent target",
                unproven().without("Secret", "demo-kubeconfig"),
                "missing behind-source source-unproven → create offered missing",
            ),
            ("the same bytes", unproven().both(&config()), "fresh"),
        ],
    );
}

#[test]
fn an_unproven_source_that_two_clusters_share_is_never_copied() {
    let mut plane_twin = plane("team-b", "demo");
    plane_twin["spec"] = json!({});
    let mut placed = twin();
    placed["spec"]["controlPlaneEndpoint"] = json!({ "host": "DEMO.gr7.us-west-2.eks.amazonaws.com", "port": 443 });
    let proven = given().object(twin()).source(&config().signed(minutes(0)));
    each(
        DEMO,
        [
            ("a Cluster of the same name", unproven().object(twin()), "wrong-cluster twin"),
            ("a control plane of the same name", unproven().object(plane_twin), "wrong-cluster twin"),
            ("the source is proven for the twin", unproven().object(placed), "wrong-cluster twin"),
            (
                "an expired source",
                unproven().object(twin()).source(&config().signed(minutes(-60))),
                "wrong-cluster twin",
            ),
            (
                "an absent target",
                unproven().object(twin()).without("Secret", "demo-kubeconfig"),
                "missing twin wrong-cluster",
            ),
            (
                "a source that does not parse",
                unproven().object(twin()).has(source("demo", &config()).key("kubeconfig", "]")),
                "source-invalid unparseable",
            ),
            ("a proven source", proven, "behind-source → update selected stale"),
            (
                "a name of another management cluster",
                unproven().cluster("mgmt-2").object_in("mgmt-2", twin()),
                &format!("behind-source source-unproven {OFFERED}"),
            ),
        ],
    );
    let judged = unproven().object(twin()).judged();
    let evidence = &judged.find(DEMO).unwrap().explanation.evidence;
    assert!(evidence.iter().any(|line| line.message.contains("team-b/demo")), "{evidence:?}");
}

#[test]
fn an_update_from_an_unproven_source_waits_until_a_twin_is_ruled_out() {
    let blocked = "→ update offered stale blocked:not-complete";
    for entry in ["cluster.x-k8s.io/v1beta1/clusters", "controlplane.cluster.x-k8s.io/v1beta1/captcontrolplanes"] {
        let given = unproven().incomplete(entry);
        let answer = given.about(DEMO);
        assert!(answer.starts_with("behind-source") && answer.ends_with(blocked), "{entry}: {answer}");
        let proven = super::given().source(&config().signed(minutes(0))).incomplete(entry);
        assert_eq!(proven.about(DEMO), "behind-source → update selected stale", "{entry}");
    }
}

#[test]
fn an_unproven_action_rests_on_every_list_a_twin_could_be_in() {
    let judged = unproven().judged();
    let rests_on = &judged.find(DEMO).unwrap().explanation.remedy[0].rests_on;
    let plurals: Vec<&str> = rests_on.iter().map(|id| id.resource.plural).collect();
    assert_eq!(plurals, ["secrets", "clusters", "captcontrolplanes"]);
}

#[test]
fn what_is_encoded_twice_is_unreadable() {
    use base64::Engine as _;
    let packed = base64::engine::general_purpose::STANDARD.encode(config().text());
    let target = target("team-a", "demo", &config()).key("value", &packed);
    let source = source("demo", &config()).key("kubeconfig", &packed);
    each(
        DEMO,
        [
            ("a target", given().has(target.clone()), "unreadable base64-twice behind-source → update selected stale"),
            ("a source", given().has(source.clone()), "source-invalid unparseable"),
            ("both", given().has(target).has(source), "unreadable base64-twice source-invalid unparseable"),
        ],
    );
}

#[test]
fn a_jwt_whose_claims_are_no_json_is_malformed() {
    let header = "eyJhbGciOiJSUzI1NiJ9";
    let claims = jwt(json!({ "exp": minutes(600).as_second() }));
    let claims = claims.split('.').nth(1).unwrap();
    let both = |token: String| given().target(&config().token(&token)).source(&config().signed(minutes(-60)));
    each(
        DEMO,
        [
            ("claims that are not base64", both(format!("{header}.%%.sig")), "unreadable token-malformed"),
            ("claims that are not JSON", both(format!("{header}.bm9wZQ.sig")), "unreadable token-malformed"),
            ("claims that are a list", both(format!("{header}.W10.sig")), "unreadable token-malformed"),
            ("no claims", both(format!("{header}..sig")), "unreadable token-malformed"),
            ("a signature that is not base64", both(format!("{header}.{claims}.%%")), "fresh"),
            ("a header without alg", both("e30.bm9wZQ.sig".to_owned()), "opaque"),
            ("a header that is not JSON", both("bm9wZQ.bm9wZQ.sig".to_owned()), "opaque"),
            ("two parts", both(format!("{header}.bm9wZQ")), "opaque"),
        ],
    );
}
