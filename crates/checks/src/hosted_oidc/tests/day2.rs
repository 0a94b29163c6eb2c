//! Secrets a user makes in the guest, clients that are no longer reported, and objects put back by undo.

use serde_json::{Value, json};

use super::*;
use crate::Panel;
use trueup_core::engine::text::Printable;

const SOURCED: &str = "hypershift.openshift.io/hosted-cluster-sourced";

#[test]
fn a_day_2_secret_is_protected_whatever_its_labels_keys_and_platform() {
    let day2 = "protected day-2";
    let own = |thing: Thing| given().has(thing.annotated(SOURCED, "true"));
    let stub = |thing: Thing| given().has(thing).source(secret("s").stub());
    let azure = json!({ "type": "Azure", "azure": { "azureAuthenticationConfig": { "azureAuthenticationConfigType": "ManagedIdentities" } } });
    let cases = [
        ("its own annotation, both labels", own(secret("s").oidc().managed()), day2),
        ("its own annotation, no label", own(secret("s")), day2),
        ("its own annotation, more keys", own(secret("s").oidc().key("x", "y")), day2),
        ("its stub, oidc label", stub(secret("s").oidc()), day2),
        ("its stub, managed label", stub(secret("s").managed()), day2),
        ("its stub, no label", stub(secret("s")), day2),
        ("its stub, on ARO", stub(secret("s").oidc()).set("mgmt", "HostedControlPlane", "spec.platform", azure), day2),
        ("another value is no mark", given().has(secret("s").oidc().annotated(SOURCED, "false")), CERTAIN),
        ("a stub of another name", given().has(secret("s").oidc()).source(secret("t").stub()), CERTAIN),
        ("terminating comes first", own(secret("s").oidc().terminating()), "terminating"),
        (
            "a name in the expected set is decided before",
            given()
                .authentication(oidc("", &[("console", "s")]))
                .has(secret("s").annotated(SOURCED, "true"))
                .source(secret("s").annotated(SOURCED, "true")),
            "referenced",
        ),
        ("the guest still names it", own(secret("s").oidc()).guest_authentication(oidc("", &[("console", "s")])), day2),
    ];
    each("Secret/s", cases);
    let map = given().has(config_map("c").oidc().annotated(SOURCED, "true"));
    assert_eq!(map.about("ConfigMap/c"), CERTAIN, "ConfigMaps have no day-2 form");
}

#[test]
fn a_secret_is_unknown_while_a_day_2_stub_may_be_among_secrets_that_were_not_listed() {
    let orphans = || given().has(secret("s").oidc()).has(secret("t").managed()).has(config_map("c").oidc());
    let cut = orphans().incomplete("mgmt", "v1/secrets@clusters-guest-a");
    let all = |given: Given| ["Secret/s", "Secret/t", "ConfigMap/c"].map(|id| given.about(id));
    assert_eq!(all(orphans()), [CERTAIN, PROBABLE, CERTAIN]);
    assert_eq!(all(cut), [INCOMPLETE, INCOMPLETE, CERTAIN]);
    let maps = orphans().incomplete("mgmt", "v1/configmaps@clusters-guest-a");
    assert_eq!(all(maps), [CERTAIN, PROBABLE, CERTAIN]);
    let foreign = given().has(secret("s")).incomplete("mgmt", "v1/secrets@clusters-guest-a");
    assert_eq!(foreign.about("Secret/s"), "foreign", "what is no candidate stays foreign");
}

/// A client in use that no provider lists, last reported at these times.
fn reported(times: &[&str]) -> Given {
    let mut entry = uses("cli", &["cli-id"]);
    let conditions: Vec<Value> =
        times.iter().map(|time| json!({ "type": "Available", "status": "True", "lastTransitionTime": time })).collect();
    entry["conditions"] = json!(conditions);
    given().has(secret("s").oidc()).clients_in_use(json!([entry]))
}

fn console(state: &str) -> Value {
    json!({
        "apiVersion": "operator.openshift.io/v1", "kind": "Console",
        "metadata": { "name": "cluster", "uid": "c", "resourceVersion": "1" }, "spec": { "managementState": state }
    })
}

#[test]
fn a_client_that_is_no_longer_reported_stops_keeping_the_orphan() {
    let pending = "pending client-still-current";
    let stale = "orphan-certain client-stale → delete offered no-referrer proofs=2";
    let (old, edge, new) = ("2026-11-16T08:59:59Z", "2026-11-16T09:00:00Z", "2026-11-16T09:30:00Z");
    let short = |mut given: Given| {
        given.settings.client_grace = std::time::Duration::from_secs(60);
        given
    };
    let busy = json!([uses("console", &["x"])]);
    let mut both = uses("cli", &["cli-id"]);
    both["conditions"] = json!([{ "lastTransitionTime": old }]);
    let cases = [
        ("reported lately", reported(&[new]), pending),
        ("exactly the grace period ago", reported(&[edge]), pending),
        ("longer ago", reported(&[old]), stale),
        ("the newest counts", reported(&[old, new]), pending),
        ("no time at all", reported(&[]), pending),
        ("a time that can't be read", reported(&["yesterday"]), pending),
        ("a shorter grace period", short(reported(&[new])), stale),
        ("another entry is alive", reported(&[old]).clients_in_use(json!([both, uses("console", &["x"])])), pending),
        ("the console is removed", reported(&[new]).object("guest-a", console("Removed")), CERTAIN),
        ("removed, without a time", reported(&[]).object("guest-a", console("Removed")), CERTAIN),
        ("managed", reported(&[new]).object("guest-a", console("Managed")), pending),
        (
            "whether it is removed is not known",
            reported(&[new]).incomplete("guest-a", "operator.openshift.io/v1/consoles"),
            pending,
        ),
        ("busy", given().has(secret("s").oidc()).clients_in_use(busy), pending),
    ];
    each("Secret/s", cases);
    let judged = reported(&[new]).judged();
    let until = judged.find("Secret/s").unwrap().judgement.until.map(|until| until.to_string());
    assert_eq!(until.as_deref(), Some("2026-11-16T10:30:00Z"), "it is judged again when the grace period ends");
    let probable = reported(&[old]).has(secret("t").managed());
    assert_eq!(probable.about("Secret/t"), "orphan-probable client-stale → delete offered no-referrer proofs=2");
}

#[test]
fn an_orphan_that_undo_put_back_is_not_ticked_again() {
    let restored = |thing: Thing| given().has(thing.annotated("trueup/restored-from", "1a2b3c4d/a1"));
    let cases = [
        ("certain", restored(secret("s").oidc()), "orphan-certain restored → delete offered no-referrer proofs=2"),
        ("probable", restored(secret("s").managed()), "orphan-probable restored → delete offered no-referrer proofs=2"),
        ("foreign offers no delete", restored(secret("s")), "foreign"),
        (
            "beside moot the code means the hosted cluster",
            restored(secret("s").oidc()).set("mgmt", "HostedCluster", "spec.pausedUntil", json!("true")),
            "moot paused",
        ),
        ("the annotation is gone", given().has(secret("s").oidc()), CERTAIN),
    ];
    each("Secret/s", cases);
}

#[test]
fn a_foreign_object_with_a_matching_name_is_listed_and_counted() {
    let given = given().name_pattern("ext-*").has(secret("ext-a")).has(secret("b"));
    let judged = given.judged();
    let state = |id: &str| judged.find(id).unwrap().judgement.state.as_str();
    assert_eq!((judged.about("Secret/ext-a").as_str(), state("Secret/ext-a")), ("foreign name-pattern", "unknown"));
    assert_eq!((judged.about("Secret/b").as_str(), state("Secret/b")), ("foreign", "match"));
}

#[test]
fn the_remedy_of_a_guest_that_still_refers_is_a_whole_command() {
    let names = oidc("ca", &[("console", "s")]);
    let command = "kubectl --context mgmt -n clusters patch hostedcluster guest-a --type=merge -p \
                   '{\"spec\":{\"configuration\":{\"authentication\":{\"type\":\"IntegratedOAuth\"}}}}'";
    let still = || given().has(secret("s").oidc()).guest_authentication(names.clone());
    let without = |given: Given| {
        let given = given.set("mgmt", "HostedControlPlane", "spec.configuration", json!({}));
        given.set("mgmt", "HostedCluster", "spec.configuration", json!({}))
    };
    let integrated = json!({ "type": "IntegratedOAuth" });
    let mut other_type = names.clone();
    other_type["type"] = json!("IntegratedOAuth");
    let cases = [
        ("the block was removed", without(still()), true),
        ("another type", still().plane_authentication(integrated), true),
        ("the control plane is on OIDC", still(), false),
        ("the guest is on another type", without(still()).guest_authentication(other_type), false),
    ];
    for (case, given, expected) in cases {
        let judged = given.judged();
        let answer = judged.find("Secret/s").unwrap();
        assert_eq!(answer.to_string(), "pending guest-still-refers", "case: {case}");
        assert_eq!(answer.explanation.summary.contains(command), expected, "case: {case}");
        let panel = Panel::Command { title: "FIX", command: Printable::line(command) };
        assert_eq!(answer.panels.contains(&panel), expected, "case: {case}");
    }
}
