//! What the loop has done for it aside: connecting, and asking a cluster who it is and what it serves.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::connect::{Connection, Connector, LinkEvent, discovery, identity};
use crate::observe::Epoch;
use trueup_core::world::{ClusterIdentity, ClusterName, Gap, GapCause, Served};

/// What a person can do about a login that a connected server refuses.
const LOGIN_HINT: &str = "log in again, then reconnect";

/// Clusters that are connected to and listed at once: a thousand handshakes and discoveries at the same time would all end
/// too late, and a cluster that has answered and waits for its lists only holds memory.
const CLUSTERS_AT_ONCE_MAX: usize = 64;
/// How long a cluster keeps others waiting: one that takes longer waits for its server, and costs nothing here.
const TURN_MAX: Duration = Duration::from_secs(2);

/// Who may begin to connect.
#[derive(Clone)]
pub(super) struct AttemptTurns(Arc<Semaphore>);

impl Default for AttemptTurns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CLUSTERS_AT_ONCE_MAX)))
    }
}

impl AttemptTurns {
    async fn begin(&self) -> Turn {
        let permit = self.0.clone().acquire_owned().await.expect("the semaphore is never closed");
        let ending = async move {
            sleep(TURN_MAX).await;
            drop(permit);
        };
        Turn(tokio::spawn(ending).abort_handle())
    }
}

/// The turn of one cluster: from its first request until it is listed, at most [`TURN_MAX`]. Ends when it is dropped.
pub(super) struct Turn(AbortHandle);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Something that was done aside.
pub(super) struct Done {
    pub cluster: ClusterName,
    pub epoch: Epoch,
    pub what: What,
}

pub(super) enum What {
    Connected(Box<Opened>),
    NotConnected(LinkEvent),
    Discovered(Served),
}

/// A connection over which a first answer has come.
pub(super) struct Opened {
    pub connection: Connection,
    pub identity: ClusterIdentity,
    pub served: Served,
    /// Ends once everything was listed.
    pub turn: Turn,
}

/// Connects, and reads identity and discovery.
pub(super) async fn connect(
    cluster: ClusterName,
    epoch: Epoch,
    connector: Arc<dyn Connector>,
    turns: AttemptTurns,
) -> Done {
    let turn = turns.begin().await;
    let what = match AssertUnwindSafe(open(connector.as_ref(), turn)).catch_unwind().await {
        Ok(Ok(opened)) => What::Connected(Box::new(opened)),
        Ok(Err(event)) => What::NotConnected(event),
        Err(_) => What::NotConnected(LinkEvent::Failing(broken_down())),
    };
    Done { cluster, epoch, what }
}

/// Asks again what a cluster serves.
pub(super) async fn rediscover(cluster: ClusterName, epoch: Epoch, client: kube::Client) -> Done {
    let served = AssertUnwindSafe(discovery::read(&client)).catch_unwind().await;
    Done { cluster, epoch, what: What::Discovered(served.unwrap_or_else(|_| Served::Unknown(broken_down()))) }
}

async fn open(connector: &dyn Connector, turn: Turn) -> Result<Opened, LinkEvent> {
    let connection = connector.connect().await.map_err(|error| error.event())?;
    let (identity, served) = futures::join!(identity::read(&connection.client), discovery::read(&connection.client));
    if let Served::Unknown(gap) = &served {
        match gap.cause {
            GapCause::Unauthorized => return Err(unauthorized(gap.clone())),
            GapCause::Unreachable => return Err(LinkEvent::Failing(gap.clone())),
            // The server answered. What it may not tell or can't tell is found out collection by collection.
            GapCause::NotObserved
            | GapCause::Forbidden
            | GapCause::Discovery
            | GapCause::CutShort
            | GapCause::Silent
            | GapCause::Unreadable
            | GapCause::NotRecorded
            | GapCause::OverBudget => {}
        }
    }
    Ok(Opened { connection, identity: identity.identity, served, turn })
}

pub(super) fn unauthorized(gap: Gap) -> LinkEvent {
    LinkEvent::Unauthorized { gap, hint: LOGIN_HINT.to_owned() }
}

fn broken_down() -> Gap {
    Gap::new(GapCause::Unreachable, "connecting broke down, which is a bug")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn clusters_are_read_in_turns_and_a_slow_one_gives_its_turn_away() {
        let (turns, running, most) = (AttemptTurns::default(), AtomicUsize::default(), AtomicUsize::default());
        let (turns, running, most) = (&turns, &running, &most);
        let read = async |takes: Duration| {
            let _turn = turns.begin().await;
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(takes).await;
            running.fetch_sub(1, Ordering::SeqCst);
        };
        join_all((0..1_000).map(|_| read(Duration::from_millis(100)))).await;
        assert_eq!(most.load(Ordering::SeqCst), CLUSTERS_AT_ONCE_MAX);
        let began = tokio::time::Instant::now();
        let silent = (0..CLUSTERS_AT_ONCE_MAX).map(|_| read(Duration::from_secs(60)));
        let quick = async {
            read(Duration::from_millis(100)).await;
            began.elapsed()
        };
        let (_, waited) = futures::join!(join_all(silent), quick);
        assert!(waited < Duration::from_secs(5), "servers that do not answer delay no other: {waited:?}");
    }
}
