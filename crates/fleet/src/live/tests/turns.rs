//! More guests than connections: each has its turn, and none has two while another waits.

use super::*;
use crate::live::cluster_session::ClusterSession;
use crate::live::connection_budget::TURN;

/// Guests that all answer alike, each with the number of its connections so far.
#[derive(Clone)]
struct Counted {
    sim: SimCluster,
    connects: BTreeMap<String, Arc<AtomicUsize>>,
}

struct CountingConnector {
    client: kube::Client,
    connects: Arc<AtomicUsize>,
}

impl Connector for CountingConnector {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        self.connects.fetch_add(1, Ordering::Relaxed);
        let client = self.client.clone();
        Box::pin(async move { FixedConnector(client).connect().await })
    }
}

impl GuestResolver for Counted {
    fn member(&self, guest: &Guest, _: &Connection) -> Member {
        let connects = self.connects[guest.hosted_by.name.as_str()].clone();
        Member {
            name: guest.name.clone(),
            class: RiskClass::Dev,
            source: ClusterSource::Hosted { by: guest.hosted_by.cluster.clone() },
            hosted_by: Some(guest.hosted_by.clone()),
            connector: Arc::new(CountingConnector { client: self.sim.client(), connects }),
            namespaces: Vec::new(),
        }
    }
}

/// A management cluster with so many guests, and their connections.
fn hosting(guests: usize, live_max: usize, start: WatchStart) -> (Live, Counted) {
    let names: Vec<String> = (0..guests).map(|number| format!("g{number:05}")).collect();
    let named: Vec<&str> = names.iter().map(String::as_str).collect();
    let (mgmt, sim) = (management(&named), cluster("guest", 2));
    put(&sim, "x", json!({}));
    let counted = Counted { sim, connects: names.into_iter().map(|name| (name, Arc::default())).collect() };
    let ports =
        Ports::new(Arc::new(PausedClock(tokio::time::Instant::now())), Arc::new(FixedJitter), Digester::new(&[5; 32]))
            .with_watches(start);
    let live = Live::new(LiveSetup {
        domains: vec![Box::new(VersionFloor)],
        members: vec![member("mgmt", FixedConnector(mgmt.client()))],
        resolver: Box::new(counted.clone()),
        ports,
        live_max,
    });
    (live, counted)
}

/// How many guests are connected and have not been read, or are watched.
fn holding(live: &Live) -> usize {
    let is_read = |session: &ClusterSession| session.judged && session.is_answered() && session.is_unwatched();
    let guests = live.sessions.values().filter(|session| session.is_guest());
    guests.filter(|session| session.is_busy() && !is_read(session)).count()
}

fn connects(counted: &Counted) -> (usize, usize) {
    let all = || counted.connects.values().map(|connects| connects.load(Ordering::Relaxed));
    (all().min().unwrap(), all().max().unwrap())
}

#[tokio::test(start_paused = true)]
async fn guests_are_read_again_in_turns_and_none_twice_while_another_waits() {
    const GUESTS: usize = 500;
    const LIVE_MAX: usize = 64;
    let (mut live, counted) = hosting(GUESTS, LIVE_MAX, WatchStart::AfterList);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(connects(&counted), (1, 1), "all were read once, and none twice");
    let turns = u32::try_from(GUESTS.div_ceil(LIVE_MAX)).unwrap();
    for round in 1..=2 {
        let began = tokio::time::Instant::now();
        let all_again = async {
            while connects(&counted).0 <= round {
                live.step().await;
                let (least, most) = connects(&counted);
                assert!(most - least <= 1, "{least} to {most} connections");
                assert!(holding(&live) <= LIVE_MAX, "{} guests are connected", holding(&live));
            }
        };
        let waited = tokio::time::timeout((turns + 1) * TURN, all_again).await;
        assert!(waited.is_ok(), "round {round}: not all again after {:?}: {:?}", began.elapsed(), connects(&counted));
    }
    // A guest that is looked at comes at once, and stays while others have their turns.
    let resting = |live: &Live| {
        let guests = live.sessions.values().filter(|session| session.is_guest());
        guests.filter(|session| !session.is_busy()).map(|session| session.member.name.clone()).next().unwrap()
    };
    let opened = resting(&live);
    live.handle(Command::Need(opened.clone()));
    until(&mut live, "connected", |live| matches!(link(live, opened.as_str()), Link::Live { .. })).await;
    let _ended = tokio::time::timeout(3 * TURN, async {
        loop {
            live.step().await;
            assert!(matches!(link(&live, opened.as_str()), Link::Live { .. }), "it stays while it is looked at");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_command_that_reads_once_knows_more_guests_completely_than_may_be_live() {
    const GUESTS: usize = 200;
    const LIVE_MAX: usize = 8;
    let (mut live, counted) = hosting(GUESTS, LIVE_MAX, WatchStart::OnRequest);
    until(&mut live, "all read", |live| findings(live).len() == GUESTS && live.settled() == Settled::Yes).await;
    assert!(findings(&live).iter().all(|finding| finding.ends_with("/x match")), "{:?}", findings(&live));
    live.resync();
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(connects(&counted), (1, 1), "a list needs no new session");
    assert!(findings(&live).iter().all(|finding| finding.ends_with("/x match")), "{:?}", findings(&live));
    // Watches are for as many as may be live; the others stay as they were read.
    live.handle(Command::StartWatches);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(holding(&live), LIVE_MAX);
    assert_eq!(findings(&live).len(), GUESTS);
}

#[tokio::test(start_paused = true)]
async fn guests_that_are_read_once_wait_for_each_other() {
    let (mut live, _counted) = hosting(100, 8, WatchStart::OnRequest);
    let mut most = 0;
    while findings(&live).len() < 100 {
        live.step().await;
        most = most.max(holding(&live));
    }
    assert!(most <= 8 && most > 0, "{most} guests are read at once");
}
