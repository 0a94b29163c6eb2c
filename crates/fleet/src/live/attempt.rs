//! What the loop has done for it aside: connecting, and asking a cluster who it is and what it serves.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::Semaphore;

use crate::connect::{Connection, Connector, LinkEvent, discovery, identity};
use crate::observe::Epoch;
use trueup_core::world::{ClusterIdentity, ClusterName, Gap, GapCause, Served};

/// What a person can do about a login that a connected server refuses.
const LOGIN_HINT: &str = "log in again, then reconnect";

/// Attempts that begin at once: a thousand handshakes and discoveries at the same time would all end too late.
const ATTEMPTS_AT_ONCE_MAX: usize = 64;
/// How long an attempt keeps others waiting: one that takes longer waits for its server, and costs nothing here.
const ATTEMPT_TURN: Duration = Duration::from_secs(2);

/// Who may begin to connect.
#[derive(Clone)]
pub(super) struct AttemptTurns(Arc<Semaphore>);

impl Default for AttemptTurns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ATTEMPTS_AT_ONCE_MAX)))
    }
}

impl AttemptTurns {
    /// Runs an attempt in its turn, which ends with the attempt or after [`ATTEMPT_TURN`].
    async fn take<T>(&self, attempt: impl Future<Output = T>) -> T {
        let turn = self.0.acquire().await.expect("the semaphore is never closed");
        let mut attempt = std::pin::pin!(attempt);
        match tokio::time::timeout(ATTEMPT_TURN, &mut attempt).await {
            Ok(done) => done,
            Err(_) => {
                drop(turn);
                attempt.await
            }
        }
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
}

/// Connects, and reads identity and discovery.
pub(super) async fn connect(
    cluster: ClusterName,
    epoch: Epoch,
    connector: Arc<dyn Connector>,
    turns: AttemptTurns,
) -> Done {
    let opened = turns.take(AssertUnwindSafe(open(connector.as_ref())).catch_unwind()).await;
    let what = match opened {
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

async fn open(connector: &dyn Connector) -> Result<Opened, LinkEvent> {
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
    Ok(Opened { connection, identity: identity.identity, served })
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
    async fn attempts_begin_in_turns_and_a_slow_one_gives_its_turn_away() {
        let (turns, running, most) = (AttemptTurns::default(), AtomicUsize::default(), AtomicUsize::default());
        let (turns, running, most) = (&turns, &running, &most);
        let attempt = |takes: Duration| {
            turns.take(async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(takes).await;
                running.fetch_sub(1, Ordering::SeqCst);
            })
        };
        join_all((0..1_000).map(|_| attempt(Duration::from_millis(100)))).await;
        assert_eq!(most.load(Ordering::SeqCst), ATTEMPTS_AT_ONCE_MAX);
        let began = tokio::time::Instant::now();
        let silent = (0..ATTEMPTS_AT_ONCE_MAX).map(|_| attempt(Duration::from_secs(60)));
        let quick = async {
            attempt(Duration::from_millis(100)).await;
            began.elapsed()
        };
        let (_, waited) = futures::join!(join_all(silent), quick);
        assert!(waited < Duration::from_secs(5), "servers that do not answer delay no other: {waited:?}");
    }
}
