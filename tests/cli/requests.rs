//! Requests of an apply: they depend on what its actions rest on, and not on the other clusters of the fleet.

use std::collections::BTreeMap;

use trueup_core::engine::{Action, Plan};
use trueup_sim::{SimCluster, listen};

use super::apply::{text, trueup};
use super::live::{Fleet, fleet, sim};
use super::powervs_stage::{Set, stage};

/// How often each path was requested, watches left out. Versions and pages are the same list.
fn requests(cluster: &SimCluster) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for logged in cluster.request_log().into_iter().filter(|logged| !logged.target.contains("watch=")) {
        let path = logged.target.split('?').next().unwrap_or_default().to_owned();
        *counts.entry(format!("{} {path}", logged.method)).or_default() += 1;
    }
    counts
}

fn difference(after: BTreeMap<String, usize>, before: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let left = after.into_iter().map(|(path, count)| {
        let earlier = before.get(&path).copied().unwrap_or_default();
        (path, count - earlier)
    });
    left.filter(|(_, count)| *count > 0).collect()
}

/// Applies the one delete of the fleet beside `others` clusters. Returns the requests to the guest, to the management
/// cluster and to one of the others.
async fn applied_beside(others: usize) -> [BTreeMap<String, usize>; 3] {
    let fleet: Fleet = fleet().await;
    let others: Vec<(String, SimCluster)> =
        (0..others).map(|number| (format!("other-{number}"), sim(&format!("other-{number}"), 10, &[]))).collect();
    let other = others[0].1.clone();
    let all = [vec![("mgmt".to_owned(), fleet.mgmt.clone())], others].concat();
    let ports = listen("127.0.0.1:0".parse().unwrap(), all).await.unwrap();
    std::fs::write(fleet.dir.path().join("kubeconfig"), ports.kubeconfig()).unwrap();
    let on_all = ["--kubeconfig", "$TMP/kubeconfig", "--all-contexts"];
    let planned =
        trueup(fleet.dir.path(), &[&["plan", "--settle", "1s", "--out", "$TMP/plan.json"][..], &on_all].concat());
    assert_eq!(planned.status.code(), Some(2), "{}", text(&planned));
    let plan = Plan::read(&std::fs::read_to_string(fleet.dir.path().join("plan.json")).unwrap()).unwrap();
    let clusters = [&fleet.guest, &fleet.mgmt, &other];
    let before = clusters.map(requests);
    let flags = ["apply", "$TMP/plan.json", "--look-back", "0s", "--expect", &plan.id];
    let output = trueup(fleet.dir.path(), &[&flags[..], &on_all].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let [guest, mgmt, other] = clusters.map(requests);
    [difference(guest, &before[0]), difference(mgmt, &before[1]), difference(other, &before[2])]
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_wave_do_not_depend_on_the_size_of_the_fleet() {
    let sizes: &[usize] =
        if std::env::var_os("TRUEUP_LARGE_FLEETS").is_some() { &[10, 100, 1_000] } else { &[10, 100] };
    let mut first = None;
    for size in sizes {
        let [guest, mgmt, other] = applied_beside(*size).await;
        let repeated: Vec<_> = other.iter().filter(|(path, count)| **count > 1 && path.contains("/apis/")).collect();
        assert!(repeated.is_empty(), "{size} clusters: other clusters are listed once, at the start: {repeated:?}");
        let now = (guest, mgmt);
        match &first {
            None => first = Some(now),
            Some(first) => assert_eq!(*first, now, "{size} clusters"),
        }
    }
}

/// Deletes an orphan of an account with this many management clusters. Returns how many requests of each method the account
/// received, and which requests each management cluster received.
async fn orphan_deleted_among(members: usize) -> (BTreeMap<String, usize>, Vec<BTreeMap<String, usize>>) {
    let stage = stage(&Set { further: members - 1, ..Set::default() }).await;
    let plan = stage.plan();
    let is_orphan = |action: &&Action| !action.selected && action.is_delete() && action.blocked_by.is_empty();
    let orphan = plan.actions.iter().find(is_orphan).unwrap_or_else(|| panic!("{:#?}", plan.actions)).id.clone();
    let clusters = || std::iter::once(&stage.mgmt).chain(&stage.further).map(requests).collect::<Vec<_>>();
    let asked = || {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let log: Vec<String> = stage.account.with(|server, _| server.log().map(|one| one.method.to_string()).collect());
        log.into_iter().for_each(|method| *counts.entry(method).or_default() += 1);
        counts
    };
    let (before, asked_before) = (clusters(), asked());
    let mut args = stage.apply_args(&plan);
    args.extend(["--only".to_owned(), orphan, "--confirm-cluster".to_owned(), "ibm:prod".to_owned()]);
    let output = stage.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let members = clusters().into_iter().zip(&before).map(|(after, before)| difference(after, before)).collect();
    (difference(asked(), &asked_before), members)
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_an_account_are_linear_in_its_management_clusters() {
    let mut alone = None;
    for members in [1, 2, 10] {
        let (account, clusters) = orphan_deleted_among(members).await;
        let lists = |requests: &BTreeMap<String, usize>| {
            let lists = requests.iter().filter(|(path, _)| path.ends_with("ibmpowervsclusters"));
            lists.map(|(_, count)| *count).sum::<usize>()
        };
        let lists: Vec<usize> = clusters.iter().map(lists).collect();
        assert!(
            lists.iter().all(|count| *count == lists[0] && *count > 1),
            "{members} clusters: {lists:?} {clusters:#?} {account:?}"
        );
        let now = (account, lists[0]);
        match &alone {
            None => alone = Some(now),
            Some(alone) => assert_eq!(*alone, now, "{members} clusters"),
        }
    }
}
