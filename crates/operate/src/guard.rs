//! What has to hold at the moment a request leaves, besides the gates of the plan.
//!
//! Invariants: the guard is asked right before each request, and again before each group of requests; a request that it
//! does not permit is not sent, and one that takes longer than permitted is resolved by reading, never sent again blindly.
//!
//! Elsewhere: the Lease behind it (`trueup_controller::fence`).

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use zeroize::Zeroizing;

use crate::state::SafetySwitches;
use trueup_core::engine::executor::{ClusterPort, Clusters, InFlight, Reading, Reply, Switches, Write};
use trueup_core::engine::journal::Answer;
use trueup_core::engine::{Blocked, ObjectRef};

/// Decides whether a request may leave now.
pub trait WriteGuard: Send + Sync {
    /// Returns the longest a request that is sent now may take.
    ///
    /// # Errors
    /// Nothing may be sent.
    fn permit(&self) -> Result<Duration, Blocked>;
}

/// The guard of a process that writes alone: its user is there.
#[derive(Debug, Clone, Copy)]
pub struct Unguarded;

impl WriteGuard for Unguarded {
    fn permit(&self) -> Result<Duration, Blocked> {
        Ok(Duration::MAX)
    }
}

/// The clusters behind a guard.
pub(crate) fn guarded(clusters: Clusters, guard: &Arc<dyn WriteGuard>) -> Clusters {
    let port = |(name, port): (String, Arc<dyn ClusterPort>)| {
        let port: Arc<dyn ClusterPort> = Arc::new(GuardedPort { port, guard: guard.clone() });
        (name, port)
    };
    clusters.into_iter().map(port).collect()
}

/// A cluster whose requests need the permission of a guard.
struct GuardedPort {
    port: Arc<dyn ClusterPort>,
    guard: Arc<dyn WriteGuard>,
}

impl ClusterPort for GuardedPort {
    fn read<'a>(&'a self, target: &'a ObjectRef) -> BoxFuture<'a, Reading> {
        self.port.read(target)
    }

    fn send<'a>(&'a self, token: &'a InFlight, write: Write<'a>) -> BoxFuture<'a, Reply> {
        async move {
            let time_max = match self.guard.permit() {
                Ok(time_max) => time_max,
                // Nothing was sent; the switches end the run before the next attempt.
                Err(blocked) => return reply(Answer::Throttled, blocked.why),
            };
            let sent = tokio::time::timeout(time_max, self.port.send(token, write)).await;
            sent.unwrap_or_else(|_| reply(Answer::Ambiguous, String::new()))
        }
        .boxed()
    }

    fn list<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, String>> {
        self.port.list(api_version, kind)
    }
}

fn reply(answer: Answer, reason: String) -> Reply {
    Reply { http: None, answer, retry_after: None, reason, managers: Vec::new(), version: None }
}

/// The switches of the configuration, and the guard.
pub(crate) struct GuardedSwitches {
    pub switches: SafetySwitches,
    pub guard: Arc<dyn WriteGuard>,
}

impl Switches for GuardedSwitches {
    fn shut(&self, now: Timestamp) -> Option<Blocked> {
        self.switches.shut(now).or_else(|| self.guard.permit().err())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::testing::session_at;
    use trueup_core::engine::GateName;

    /// A cluster that counts what is sent, and answers after a time.
    #[derive(Default)]
    struct Slow {
        sent: AtomicUsize,
        takes: Duration,
    }

    impl ClusterPort for Slow {
        fn read<'a>(&'a self, _: &'a ObjectRef) -> BoxFuture<'a, Reading> {
            std::future::ready(Reading::Absent).boxed()
        }

        fn send<'a>(&'a self, _: &'a InFlight, _: Write<'a>) -> BoxFuture<'a, Reply> {
            self.sent.fetch_add(1, Ordering::SeqCst);
            async {
                tokio::time::sleep(self.takes).await;
                reply(Answer::Done, String::new())
            }
            .boxed()
        }
    }

    struct Permits(Result<Duration, Blocked>);

    impl WriteGuard for Permits {
        fn permit(&self) -> Result<Duration, Blocked> {
            self.0.clone()
        }
    }

    fn closed() -> Blocked {
        Blocked { gate: GateName::Lease, why: "the Lease of shard 3 is not held".to_owned() }
    }

    async fn send(takes: u64, permits: Result<Duration, Blocked>) -> (Answer, usize) {
        let port = Arc::new(Slow { takes: Duration::from_secs(takes), ..Slow::default() });
        let guard: Arc<dyn WriteGuard> = Arc::new(Permits(permits));
        let clusters = guarded([("a".to_owned(), port.clone() as Arc<dyn ClusterPort>)].into(), &guard);
        let target = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Secret".to_owned(),
            namespace: None,
            name: "x".to_owned(),
            uid: None,
            cloud: None,
        };
        let write = Write::Delete { target: &target, uid: "u", resource_version: "7" };
        let reply = clusters["a"].send(&InFlight::for_test(), write).await;
        (reply.answer, port.sent.load(Ordering::SeqCst))
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_leaves_only_with_a_permit_and_ends_with_it() {
        let seconds = |seconds| Ok(Duration::from_secs(seconds));
        assert_eq!(send(1, Err(closed())).await, (Answer::Throttled, 0), "nothing is sent without a permit");
        assert_eq!(send(1, seconds(8)).await, (Answer::Done, 1));
        assert_eq!(send(9, seconds(8)).await, (Answer::Ambiguous, 1), "it took longer than the Lease allows");
        assert_eq!(send(3_600, Unguarded.permit()).await, (Answer::Done, 1));
    }

    #[test]
    fn a_closed_guard_is_a_shut_switch() {
        let session = session_at("/nonexistent".into());
        let shut = |guard: Arc<dyn WriteGuard>| {
            GuardedSwitches { switches: SafetySwitches::new(&session), guard }.shut(Timestamp::UNIX_EPOCH)
        };
        assert_eq!(shut(Arc::new(Unguarded)), None);
        assert_eq!(shut(Arc::new(Permits(Err(closed())))), Some(closed()));
    }
}
