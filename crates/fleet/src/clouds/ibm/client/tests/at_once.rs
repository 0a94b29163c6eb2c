//! How many requests are under way at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Request;
use tower::{ServiceExt as _, service_fn};

use super::super::inventory::WORKSPACE_LISTS_MAX;
use super::*;

/// Counts the requests to PowerVS and to search that are under way.
#[derive(Default)]
struct UnderWay {
    power: AtomicUsize,
    power_max: AtomicUsize,
    search: AtomicUsize,
    /// Requests to PowerVS that were sent while search had not responded.
    power_beside_search: AtomicUsize,
}

/// By how many turns of the loop a response is late, so that requests overlap.
const TURNS: usize = 3;
/// Search waits for a list of a workspace, this long: more than all other requests of the test take.
const SEARCH_TURNS_MAX: usize = 10_000;

/// The account, with late responses.
fn counted(sim: &IbmSim, under_way: Arc<UnderWay>) -> Account {
    let service = sim.service();
    let send = move |request: Request<Full<Bytes>>| {
        let (service, count) = (service.clone(), under_way.clone());
        async move {
            let path = request.uri().path();
            let (is_power, is_search) = (path.contains("/pcloud/"), path.contains("/resources/search"));
            let power = count.power.fetch_add(usize::from(is_power), Ordering::SeqCst) + usize::from(is_power);
            count.power_max.fetch_max(power, Ordering::SeqCst);
            let search = count.search.fetch_add(usize::from(is_search), Ordering::SeqCst);
            count.power_beside_search.fetch_add(usize::from(is_power && search > 0), Ordering::SeqCst);
            let is_due = || !is_search || count.power_beside_search.load(Ordering::SeqCst) > 0;
            for turn in 0..SEARCH_TURNS_MAX {
                if turn >= TURNS && is_due() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            let response = service.oneshot(request).await;
            count.power.fetch_sub(usize::from(is_power), Ordering::SeqCst);
            count.search.fetch_sub(usize::from(is_search), Ordering::SeqCst);
            response
        }
    };
    let endpoints = Endpoints::at_one_place(BASE).unwrap();
    Account::new(HttpClient::in_process(service_fn(send)), endpoints, ApiKey::parse(KEY).unwrap())
}

#[tokio::test(start_paused = true)]
async fn the_lists_of_many_workspaces_are_read_at_once_within_the_limit() {
    let given = given();
    given.sim.with(|server, now| {
        for number in 0..100 {
            let id = format!("ws-many-{number:03}");
            server.seed(Thing::new(ThingKind::Workspace, &id, &id, "dal10", ACCOUNT, now));
            let network = format!("net-many-{number:03}");
            server.seed(Thing::new(ThingKind::Network, &network, &network, "dal10", ACCOUNT, now).within(&id));
        }
    });
    let under_way = Arc::new(UnderWay::default());
    let inventory = counted(&given.sim, under_way.clone()).read_inventory().await.unwrap();
    assert!(inventory.is_complete(), "{:?}", inventory.missing);
    let networks = inventory.resources.iter().filter(|one| one.kind == IbmResourceKind::Network).count();
    // Two lists of each of the 101 workspaces.
    assert_eq!((networks, calls_of(&given.sim, IbmPart::Power)), (101, 202));
    assert_eq!(under_way.power_max.load(Ordering::SeqCst), WORKSPACE_LISTS_MAX);
    assert!(under_way.power_beside_search.load(Ordering::SeqCst) > 0, "workspaces do not wait for search");
}
