//! How long a cluster's lists have been running without a pause.
//!
//! Invariants: an episode begins with the first list and ends when no list runs or waits for its turn. Every list of it
//! has the same deadline, so a slow server cannot have each list start its time again.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

/// The episodes of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Episodes {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    lists: usize,
    began: Option<Instant>,
}

/// A list that is part of the episode until this is dropped.
pub(super) struct Running {
    episodes: Episodes,
    pub deadline: Instant,
}

impl Episodes {
    /// Adds a list. `limit` is the time for the whole episode.
    pub fn join(&self, limit: Duration) -> Running {
        let mut state = self.lock();
        state.lists += 1;
        let began = *state.began.get_or_insert_with(Instant::now);
        drop(state);
        Running { episodes: self.clone(), deadline: began + limit }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.episodes.lock();
        state.lists -= 1;
        if state.lists == 0 {
            state.began = None;
        }
    }
}
