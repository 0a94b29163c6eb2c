//! `trueup plan` on the demo's clusters that go over to OIDC and back, written down as folders.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use trueup_core::engine::Plan;
use trueup_sim::demo::{DemoCluster, Scenario, ScenarioOptions, serve};
use trueup_sim::{Answer, Request};

use super::apply::{text, trueup};
use super::fixture::{add, folder, transcript};

/// One cluster of the demo, as a snapshot folder that holds everything of it.
fn written_down(name: &str) -> TempDir {
    let start: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let scenario = Scenario::new(&ScenarioOptions { seed: 1, guests_more: 0, objects_more: 0, start });
    let cluster = scenario.clusters.iter().find(|cluster| cluster.name == name).unwrap();
    let mut objects = Vec::new();
    let groups = get(cluster, "/apis")["groups"].as_array().unwrap().clone();
    let roots = groups.iter().map(|group| group["preferredVersion"]["groupVersion"].as_str().unwrap());
    let roots: Vec<String> = roots.map(|version| format!("/apis/{version}")).chain(["/api/v1".to_owned()]).collect();
    for root in roots {
        for resource in get(cluster, &root)["resources"].as_array().unwrap() {
            let plural = resource["name"].as_str().unwrap();
            let listed = resource["verbs"].as_array().unwrap().iter().any(|verb| verb == "list");
            if listed && !plural.contains('/') {
                let list = get(cluster, &format!("{root}/{plural}"));
                objects.extend(list["items"].as_array().unwrap().iter().map(|item| {
                    let mut object = item.clone();
                    object["apiVersion"] = root.trim_start_matches("/apis/").trim_start_matches("/api/").into();
                    object["kind"] = resource["kind"].clone();
                    object
                }));
            }
        }
    }
    let fleet = format!("now: 2026-03-01T12:00:00Z\nclusters:\n  {name}: {{ class: stage }}\n");
    let all = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string();
    folder(&[("fleet.yaml", &fleet), (&format!("clusters/{name}/all.json"), &all)])
}

fn get(cluster: &DemoCluster, path: &str) -> Value {
    let request = Request::get(path);
    let Answer::Reply(reply) = cluster.sim.with(|server, now| server.handle(now, &request)) else {
        panic!("{path}: a list is answered at once");
    };
    serde_json::from_slice(&reply.body).unwrap()
}

const PLAN: [&str; 6] = ["plan", "--from", "$TMP", "--utc", "--domain", "external-oidc"];

#[test]
fn a_switch_with_one_node_behind_waits_and_plans_no_delete() {
    let dir = written_down("ocp-berlin");
    insta::assert_snapshot!(transcript(&dir, &PLAN), @r##"
plan $ID  made 2026-03-01 12:00:00 UTC, valid until 12:15:00

ocp-berlin  stage  snapshot
  + missing Authentication            openshift-console/console                           missing     400d  openshift-console/console does not use the client that is listed for it; the console operator has to switch; see the client's conditions
  x blocked CustomResourceDefinition  rolebindingrestrictions.authorization.openshift.io  blocks-oidc 400d  RoleBindingRestrictions are not enforced with OIDC: payments/no-service-accounts, payments/only-team-members; replace them with RBAC, then delete them
  o stale   KubeAPIServer             cluster                                             rolling-out       2 of 3 nodes are on external OIDC alone; waiting for master-2 to go from revision 13 to 14; wait until every replica or node has the new version
  ~ drift   Secret                    openshift-console/console-oauth-config              drift       400d  the console's copy of the console's client secret differs from its source; the console operator has to copy it
  = ok      36

1 cluster; 40 findings: 36 ok, 1 missing, 1 drift, 1 stale, 1 blocked; 0 actions
----- stderr
----- exit 3
"##);
}

#[test]
fn a_spec_that_kube_apiserver_refuses_is_an_error_although_admission_accepted_it() {
    let dir = written_down("ocp-paris");
    insta::assert_snapshot!(transcript(&dir, &PLAN), @r##"
plan $ID  made 2026-03-01 12:00:00 UTC, valid until 12:15:00

ocp-paris  stage  snapshot
  ! error   Authentication  cluster  kas-would-refuse 400d  accepted, and kube-apiserver would not start with it: spec.oidcProviders[0].claimValidationRules[1].requiredClaim.claim: a rule before requires the same claim; correct Authentication/cluster
  o stale   KubeAPIServer   cluster  rolling-out            0 of 3 nodes are on external OIDC alone; revision 22 fails on master-0: OperandFailedFallback: fallback to last-known-good revision 20 took place after: kube-apiserver is not starting; wait until every replica or node has the new version
  = ok      37

1 cluster; 39 findings: 37 ok, 1 stale, 1 error; 0 actions
----- stderr
----- exit 3
"##);
}

#[test]
fn a_reverted_cluster_shows_missing_and_leftover_objects_and_their_controller() {
    let dir = written_down("ocp-lisbon");
    insta::assert_snapshot!(transcript(&dir, &PLAN), @r##"
plan $ID  made 2026-03-01 12:00:00 UTC, valid until 12:15:00

ocp-lisbon  stage  snapshot
  + missing APIService      v1.user.openshift.io                                 missing             the OAuth server is asked for, and this is missing; the authentication operator has to create it
  ! error   Authentication  cluster                                              degraded      400d  the authentication operator says: ExternalOIDCControllerDegraded; correct what the condition names
  - extra   Authentication  openshift-console/console                            leftover      400d  openshift-console/console still uses a client that is no longer listed; the console operator has to switch; see the client's conditions
  - extra   ConfigMap       openshift-config-managed/auth-config                 extra         400d  exists but is not expected
  + missing ConfigMap       openshift-config-managed/oauth-openshift             missing             the OAuth server is asked for, and this is missing; the authentication operator has to create it
  - extra   ConfigMap       openshift-console/lisbon-ca                          leftover      400d  a copy of the provider's CA that is no longer expected
  - extra   ConfigMap       openshift-kube-apiserver/auth-config                 extra         400d  exists but is not expected
  + missing Deployment      openshift-authentication/oauth-openshift             missing             the OAuth server is asked for, and this is missing; the authentication operator has to create it
  x blocked KubeAPIServer   cluster                                              not-available       OIDC disabled; 3 of 3 nodes still use it; kube-apiserver's operator has to roll it out
  ~ drift   KubeAPIServer   cluster/observed-config                              drift               kube-apiserver would get other settings: admission-plugins, authentication-config-arg, webhook-arg; kube-apiserver's operator has to roll it out
  + missing Route           openshift-authentication/oauth-openshift             missing             the OAuth server is asked for, and this is missing; the authentication operator has to create it
  + missing Secret          openshift-authentication/v4-0-config-system-session  missing             the OAuth server is asked for, and this is missing; the authentication operator has to create it
  + missing Service         openshift-authentication/oauth-openshift             missing             the OAuth server is asked for, and this is missing; the authentication operator has to create it
  + missing ServiceAccount  openshift-authentication/oauth-openshift             missing             the OAuth server is asked for, and this is missing; the authentication operator has to create it
  = ok      26

  [x] a1 T3 delete   ConfigMap openshift-config-managed/auth-config  oidc-not-wanted, undo: restore-from-backup
         x operator-owned: the authentication operator looks after this (hand it over with manage = true); ExternalOIDCControllerDegraded=True SyncError: Delete "https://172.30.0.1:443/api/v1/namespaces/openshift-config-managed/configmaps/auth-config": context deadline exceeded
  [x] a2 T2 delete   ConfigMap openshift-console/lisbon-ca  no-referrer, undo: restore-from-backup
         x operator-owned: the console operator looks after this (hand it over with manage = true); no condition says why
  [x] a3 T3 delete   ConfigMap openshift-kube-apiserver/auth-config  oidc-not-wanted, undo: restore-from-backup
         x operator-owned: kube-apiserver's operator looks after this (hand it over with manage = true); no condition says why

1 cluster; 40 findings: 26 ok, 7 missing, 4 extra, 1 drift, 1 error, 1 blocked; 3 actions: 3 delete; 3 blocked
----- stderr
----- exit 3
"##);
}

#[test]
fn leftovers_belong_to_the_operator_unless_the_config_enables_their_deletion() {
    let dir = written_down("ocp-oslo");
    insta::assert_snapshot!(transcript(&dir, &PLAN), @r##"
plan $ID  made 2026-03-01 12:00:00 UTC, valid until 12:15:00

ocp-oslo  stage  snapshot
  - extra   APIService      v1.oauth.openshift.io                         leftover 400d  external OIDC is available on every node, and this is still there
  - extra   Deployment      openshift-oauth-apiserver/apiserver           leftover 400d  external OIDC is available on every node, and this is still there
  - extra   Service         openshift-oauth-apiserver/api                 leftover 400d  external OIDC is available on every node, and this is still there
  - extra   ServiceAccount  openshift-oauth-apiserver/oauth-apiserver-sa  leftover 400d  external OIDC is available on every node, and this is still there
  = ok      36

  [x] a1 T2 delete   APIService v1.oauth.openshift.io  oidc-available, undo: restore-from-backup
         x operator-owned: the authentication operator looks after this (hand it over with manage = true); APIServicesDegraded=True DisabledAPIServicesPresent: failed to delete apiservices v1.oauth.openshift.io: the server was unable to return a response in time
  [x] a2 T2 delete   Deployment openshift-oauth-apiserver/apiserver  oidc-available, undo: restore-from-backup
         x dependency: a1 has to be done first and is blocked
         x operator-owned: the authentication operator looks after this (hand it over with manage = true); no condition says why
  [x] a3 T2 delete   Service openshift-oauth-apiserver/api  oidc-available, undo: restore-from-backup
         x dependency: a2 has to be done first and is blocked
         x operator-owned: the authentication operator looks after this (hand it over with manage = true); no condition says why
  [x] a4 T2 delete   ServiceAccount openshift-oauth-apiserver/oauth-apiserver-sa  oidc-available, undo: restore-from-backup
         x dependency: a2 has to be done first and is blocked
         x operator-owned: the authentication operator looks after this (hand it over with manage = true); no condition says why

1 cluster; 40 findings: 36 ok, 4 extra; 4 actions: 4 delete; 4 blocked
----- stderr
----- exit 3
"##);
    add(dir.path(), &[("config.toml", "[domains.external-oidc]\nmanage = true\n")]);
    let managed = [&PLAN[..], &["--config", "$TMP/config.toml"]].concat();
    insta::assert_snapshot!(transcript(&dir, &managed), @r##"
plan $ID  made 2026-03-01 12:00:00 UTC, valid until 12:15:00

ocp-oslo  stage  snapshot
  - extra   APIService      v1.oauth.openshift.io                         leftover 400d  external OIDC is available on every node, and this is still there
  - extra   Deployment      openshift-oauth-apiserver/apiserver           leftover 400d  external OIDC is available on every node, and this is still there
  - extra   Service         openshift-oauth-apiserver/api                 leftover 400d  external OIDC is available on every node, and this is still there
  - extra   ServiceAccount  openshift-oauth-apiserver/oauth-apiserver-sa  leftover 400d  external OIDC is available on every node, and this is still there
  = ok      36

  [x] a1 T2 delete   APIService v1.oauth.openshift.io  oidc-available, undo: restore-from-backup
  [x] a2 T2 delete   Deployment openshift-oauth-apiserver/apiserver  oidc-available, undo: restore-from-backup
  [x] a3 T2 delete   Service openshift-oauth-apiserver/api  oidc-available, undo: restore-from-backup
  [x] a4 T2 delete   ServiceAccount openshift-oauth-apiserver/oauth-apiserver-sa  oidc-available, undo: restore-from-backup

1 cluster; 40 findings: 36 ok, 4 extra; 4 actions: 4 delete
----- stderr
----- exit 2
"##);
}

#[tokio::test(flavor = "multi_thread")]
async fn enabled_leftovers_are_deleted_from_a_live_cluster_in_order() {
    let dir = folder(&[("config.toml", "[domains.external-oidc]\nmanage = true\n")]);
    let options = ScenarioOptions { seed: 1, guests_more: 0, objects_more: 0, start: Timestamp::now() };
    let mut scenario = Scenario::new(&options);
    let served = serve(&mut scenario, "127.0.0.1:0".parse().unwrap(), dir.path()).await.unwrap();
    let kubeconfig = served.kubeconfig.to_str().unwrap();
    let live = ["--kubeconfig", kubeconfig, "--context", "ocp-oslo", "--config", "$TMP/config.toml"];
    let anyway = ["--allow-insecure-writes"];
    let plan = ["plan", "--settle", "1s", "--out", "$TMP/plan.json", "--domain", "external-oidc"];
    let planned = trueup(dir.path(), &[&plan[..], &live, &anyway].concat());
    assert_eq!(planned.status.code(), Some(2), "{}", text(&planned));
    let file = std::fs::read_to_string(dir.path().join("plan.json")).unwrap();
    let id = Plan::read(&file).unwrap().id;
    let apply = ["apply", "$TMP/plan.json", "--look-back", "0s", "--expect", &id];
    let applied = trueup(dir.path(), &[&apply[..], &live, &anyway].concat());
    assert_eq!(applied.status.code(), Some(0), "{}", text(&applied));
    let oslo = scenario.clusters.iter().find(|cluster| cluster.name == "ocp-oslo").unwrap();
    let log = oslo.sim.request_log();
    let deleted = log.iter().filter(|logged| logged.method == "DELETE").map(|logged| logged.target.as_str());
    let names: Vec<&str> = deleted.filter_map(|path| path.rsplit('/').next()).collect();
    assert_eq!(names[..2], ["v1.oauth.openshift.io", "apiserver"], "{names:?}");
    let rest: BTreeSet<&str> = names[2..].iter().copied().collect();
    assert_eq!(rest, BTreeSet::from(["api", "oauth-apiserver-sa"]));
    let again = trueup(dir.path(), &[&["plan", "-v", "--domain", "external-oidc"], &live[..], &anyway].concat());
    let said = text(&again);
    assert!(said.contains("removable") && !said.contains("leftover"), "{said}");
}
