//! Clocks of servers: shown once when they go wrong, and once when they agree again.

use super::*;
use crate::connect::{ServerClock, TlsTrust};
use trueup_core::world::ClockSkew;

/// Connects to a server whose clock was compared with this result; the next connection has the next one.
struct Skewed {
    client: kube::Client,
    seconds_ahead: Mutex<Vec<i64>>,
}

impl Connector for Skewed {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        let ahead = self.seconds_ahead.lock().unwrap().pop().unwrap_or_default();
        let now: Timestamp = START.parse().unwrap();
        let skew = ClockSkew::measure(now + jiff::SignedDuration::from_secs(ahead), now, Duration::ZERO);
        let connection = Connection {
            client: self.client.clone(),
            tls: TlsTrust::Verified,
            server: "https://c".to_owned(),
            proxy: None,
            clock: ServerClock::compared(skew),
            idle: crate::connect::IdleConnections::default(),
        };
        Box::pin(std::future::ready(Ok(connection)))
    }
}

/// Steps until an update says something about clocks.
async fn next_clocks(live: &mut Live, mut update: Update) -> Vec<Option<String>> {
    let waited = tokio::time::timeout(Duration::from_secs(3600), async {
        while update.clocks.is_empty() {
            update = live.step().await;
        }
        update.clocks.values().map(|skew| skew.map(|skew| skew.short())).collect()
    });
    waited.await.expect("an update about clocks")
}

#[tokio::test(start_paused = true)]
async fn an_update_says_when_a_clock_goes_wrong_and_when_it_agrees_again() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    let connector = Skewed { client: sim.client(), seconds_ahead: Mutex::new(vec![0, -180, 30]) };
    let mut live = live(vec![member("c", connector)], Guests::default(), LIVE_MAX);
    let name = ClusterName::new("c");
    until(&mut live, "judged", |live| findings(live) == ["c/x match"]).await;
    assert!(live.clock(&name).is_some_and(|skew| !skew.is_excessive()), "half a minute");
    let update = live.handle(Command::Reconnect(name.clone()));
    assert_eq!(next_clocks(&mut live, update).await, [Some("-2 min".to_owned())]);
    assert!(live.clock(&name).is_some_and(ClockSkew::is_excessive));
    until(&mut live, "judged", |live| findings(live) == ["c/x match"]).await;
    let update = live.handle(Command::Reconnect(name));
    assert_eq!(next_clocks(&mut live, update).await, [None]);
}
