//! What one change costs in fleets of different sizes, in units of work: sessions, interests, guests and accounts that the loop
//! looks at.

use super::*;
use crate::live::work;

/// Clusters that all answer alike, besides `changing`, which is alone on its server.
fn fleet(others: usize) -> (Live, SimCluster) {
    let (changing, other) = (cluster("changing", 1), cluster("other", 2));
    put(&changing, "x", json!({}));
    put(&other, "x", json!({}));
    let mut members = vec![member("changing", FixedConnector(changing.client()))];
    members.extend((0..others).map(|number| member(&format!("c{number:05}"), FixedConnector(other.client()))));
    (live(members, Guests::default(), LIVE_MAX), changing)
}

/// A management cluster with so many guests, which all answer alike.
fn hosting(guests: usize, live_max: usize) -> (Live, SimCluster) {
    let names: Vec<String> = (0..=guests).map(|number| format!("g{number:05}")).collect();
    let named: Vec<&str> = names[..guests].iter().map(String::as_str).collect();
    let (mgmt, guest) = (management(&named), cluster("guest", 2));
    put(&guest, "x", json!({}));
    let guests = Guests(names.into_iter().map(|name| (name, guest.clone())).collect());
    (live(vec![member("mgmt", FixedConnector(mgmt.client()))], guests, live_max), mgmt)
}

/// Settles, and returns the work until then.
async fn settle(live: &mut Live) -> usize {
    work::take();
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    // What was put off for a moment is done as well.
    let _ended = tokio::time::timeout(Duration::from_secs(1), async {
        loop {
            live.step().await;
        }
    })
    .await;
    work::take()
}

#[tokio::test(start_paused = true)]
async fn one_change_is_the_same_work_in_every_fleet() {
    let mut works = Vec::new();
    for others in [10, 100, 1_000] {
        let (mut live, changing) = fleet(others);
        settle(&mut live).await;
        put(&changing, "x", json!({"drifted": "yes"}));
        until(&mut live, "drifted", |live| findings(live).contains(&"changing/x drift".to_owned())).await;
        let changed = work::take() + settle(&mut live).await;
        changing.fault(Fault::always(Matcher::of("configmaps"), FaultAction::LostBefore));
        live.handle(Command::Reconnect(ClusterName::new("changing")));
        let reconnected = work::take() + settle(&mut live).await;
        works.push((changed, reconnected));
    }
    assert!(works.iter().all(|work| *work == works[0]) && works[0].0 > 0, "{works:?}");
}

#[tokio::test(start_paused = true)]
async fn one_more_guest_is_the_same_work_however_many_there_are() {
    let mut works = Vec::new();
    for guests in [10, 100, 400] {
        let (mut live, mgmt) = hosting(guests, 1_000);
        settle(&mut live).await;
        mgmt.seed(json!({
            "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
            "metadata": {"name": format!("g{guests:05}"), "namespace": "clusters"},
            "status": {"kubeconfig": {"name": "k"}},
        }))
        .unwrap();
        let last = format!("g{guests:05}/x match");
        until(&mut live, "found", |live| findings(live).contains(&last)).await;
        works.push(work::take() + settle(&mut live).await);
    }
    assert!(works.iter().all(|work| *work == works[0]) && works[0] > 0, "{works:?}");
}

#[tokio::test(start_paused = true)]
async fn the_work_while_a_fleet_connects_grows_with_the_fleet_and_not_with_its_square() {
    let per_cluster = |work: usize, clusters: usize| work as f64 / clusters as f64;
    let mut fleets = Vec::new();
    for clusters in [10, 100, 1_000] {
        let (mut live, _changing) = fleet(clusters);
        fleets.push(per_cluster(settle(&mut live).await, clusters));
    }
    assert!(fleets[2] < 1.5 * fleets[0], "units of work for each cluster: {fleets:?}");
    let mut hosts = Vec::new();
    for guests in [10, 100, 400] {
        // With fewer connections than guests, each waits for its turn.
        let (mut live, _mgmt) = hosting(guests, 8);
        hosts.push(per_cluster(settle(&mut live).await, guests));
    }
    assert!(hosts[2] < 1.5 * hosts[0], "units of work for each guest: {hosts:?}");
}
