//! The connections to one API server: opened when a request needs one, closed when the server has been read.
//!
//! Invariants: requests that start together on a pool without connections dial once; closing idle connections cuts no
//! request off, and the next one dials again.
//!
//! Elsewhere: dialling and how long an idle connection is kept otherwise (`net`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kube::client::Body;
use trueup_net::{CONNECT_TIMEOUT, Connector, Pooled, pooled};

use super::IDLE_MAX;

/// The connections to one API server. A fleet has thousands; one that was read and is not watched holds no buffers.
pub(super) struct ConnectionPool {
    connector: Connector,
    current: Mutex<Option<Arc<Generation>>>,
}

/// The connections that were opened since idle ones were last closed.
pub(super) struct Generation {
    pub http: Pooled<Body>,
    pub dialing: FirstDial,
}

impl ConnectionPool {
    pub fn new(connector: Connector) -> Self {
        Self { connector, current: Mutex::new(None) }
    }

    pub fn current(&self) -> Arc<Generation> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let begin =
            || Arc::new(Generation { http: pooled(self.connector.clone(), IDLE_MAX), dialing: FirstDial::default() });
        current.get_or_insert_with(begin).clone()
    }

    /// Closes the connections that carry no request, and each other one with its last request.
    pub fn close_idle(&self) {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Lets the first request of a connection go alone, so that those that start with it share its HTTP/2 connection: the
/// pool learns that there is one to share only when TLS has agreed on it, and would dial for each until then.
///
/// The rest waits until the first is answered or has failed, and no longer than dialing may take.
#[derive(Default)]
pub(super) struct FirstDial {
    over: AtomicBool,
    turn: tokio::sync::Mutex<()>,
}

impl FirstDial {
    /// The lock is held across the await on purpose: waiting for that request is what it is for.
    pub async fn alone_at_first<T>(&self, request: impl Future<Output = T>) -> T {
        if self.over.load(Ordering::Acquire) {
            return request.await;
        }
        let turn = tokio::time::timeout(CONNECT_TIMEOUT, self.turn.lock()).await;
        if self.over.load(Ordering::Acquire) {
            drop(turn);
            return request.await;
        }
        let answer = request.await;
        self.over.store(true, Ordering::Release);
        answer
    }
}
