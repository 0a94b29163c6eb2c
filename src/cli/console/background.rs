//! Background work of the console: disk IO and tasks that must always reply.
//!
//! Invariants: the console exits after running disk work has finished, or after [`FINISH_MAX`]; a task that panics
//! still replies.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;

use crate::console::ReplySender;
use crate::console::task::TaskReply;

/// How long the exit of the console waits for disk work.
const FINISH_MAX: Duration = Duration::from_secs(2);

/// Counts running work.
#[derive(Clone, Default)]
pub struct BackgroundWork(Arc<(Mutex<usize>, Condvar)>);

/// Running work, until dropped.
struct Running(BackgroundWork);

impl BackgroundWork {
    /// Runs blocking work and sends its reply; after a panic, sends `on_panic`.
    pub fn spawn(
        &self,
        replies: ReplySender,
        on_panic: impl FnOnce(String) -> TaskReply + Send + 'static,
        work: impl FnOnce() -> TaskReply + Send + 'static,
    ) {
        let running = self.begin();
        let done = tokio::task::spawn_blocking(move || {
            let reply = work();
            drop(running);
            reply
        });
        let work = async move {
            match done.await {
                Ok(reply) => reply,
                // `spawn_answering` handles panics.
                Err(broken) => std::panic::resume_unwind(broken.into_panic()),
            }
        };
        spawn_answering(replies, on_panic, work);
    }

    /// Waits until no work is running, at most [`FINISH_MAX`].
    pub fn finish(&self) {
        let (count, changed) = &*self.0;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        let _ended = changed.wait_timeout_while(count, FINISH_MAX, |count| *count > 0);
    }

    fn begin(&self) -> Running {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Running(self.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (count, changed) = &*self.0.0;
        *count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        changed.notify_all();
    }
}

/// Runs a task and sends its reply; after a panic, sends `on_panic`.
pub fn spawn_answering(
    replies: ReplySender,
    on_panic: impl FnOnce(String) -> TaskReply + Send + 'static,
    work: impl Future<Output = TaskReply> + Send + 'static,
) {
    tokio::spawn(async move {
        let reply = AssertUnwindSafe(work).catch_unwind().await;
        replies.send(reply.unwrap_or_else(|_| on_panic(INTERNAL_ERROR.to_owned())));
    });
}

/// The reply of a task that panicked.
const INTERNAL_ERROR: &str = "internal error (please report); other tasks continue";

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::console::task::RequestId;

    #[tokio::test(flavor = "multi_thread")]
    async fn finish_waits_for_running_writes_and_not_for_panicked_ones() {
        let (sender, mut received) = ReplySender::new();
        let background = BackgroundWork::default();
        let (go, gate) = mpsc::channel::<()>();
        let written = Arc::new(Mutex::new(false));
        let writes = written.clone();
        background.spawn(
            sender.clone(),
            |message| TaskReply::Notice { message },
            move || {
                gate.recv().unwrap();
                *writes.lock().unwrap() = true;
                TaskReply::Notice { message: "written".to_owned() }
            },
        );
        background.spawn(
            sender,
            |_| TaskReply::Notice { message: "broke".to_owned() },
            || std::panic::resume_unwind(Box::new("x")),
        );
        let mut messages = vec![];
        messages.push(format!("{:?}", received.recv().await));
        go.send(()).unwrap();
        background.finish();
        assert!(*written.lock().unwrap());
        messages.push(format!("{:?}", received.recv().await));
        assert!(messages[0].contains("broke") && messages[1].contains("written"), "{messages:?}");
    }

    #[tokio::test]
    async fn a_task_that_panics_is_answered() {
        let (replies, mut received) = ReplySender::new();
        let on_panic = |message| TaskReply::Planned { ask: RequestId(7), plan: Err(message) };
        spawn_answering(replies.clone(), on_panic, async { std::panic::resume_unwind(Box::new("broken")) });
        let Some(TaskReply::Planned { ask: RequestId(7), plan: Err(message) }) = received.recv().await else {
            panic!("no answer")
        };
        assert_eq!(message, INTERNAL_ERROR);
    }
}
