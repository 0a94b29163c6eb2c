//! Work that waits for the disk, done beside the console's loop.
//!
//! Invariants: what was begun is finished before the console has ended, unless it takes too long.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;

use crate::console::ReplySender;
use crate::console::task::TaskReply;

/// How long a person who leaves waits for a file that is being written. A disk that takes longer is not there any more.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts what is under way.
#[derive(Clone, Default)]
pub struct Asides(Arc<(Mutex<usize>, Condvar)>);

/// One piece of work that is under way until this is dropped.
struct UnderWay(Asides);

impl Asides {
    /// Does the work and tells what came of it; when it breaks, tells what stands in for an answer.
    pub fn spawn(
        &self,
        tell: ReplySender,
        otherwise: impl FnOnce(String) -> TaskReply + Send + 'static,
        work: impl FnOnce() -> TaskReply + Send + 'static,
    ) {
        let under_way = self.begin();
        let done = tokio::task::spawn_blocking(move || {
            let told = work();
            drop(under_way);
            told
        });
        let work = async move {
            match done.await {
                Ok(told) => told,
                // What broke there breaks here, and is told of as anything else that breaks.
                Err(broken) => std::panic::resume_unwind(broken.into_panic()),
            }
        };
        spawn_answering(tell, otherwise, work);
    }

    /// Waits until nothing is under way, or for as long as anybody would.
    pub fn finish(&self) {
        let (count, changed) = &*self.0;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether it was in time or not, there is nothing else to do.
        let _ended = changed.wait_timeout_while(count, PATIENCE, |count| *count > 0);
    }

    fn begin(&self) -> UnderWay {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        UnderWay(self.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let (count, changed) = &*self.0.0;
        *count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        changed.notify_all();
    }
}

/// Runs a task and sends its reply; after a panic, sends what stands in for it.
pub fn spawn_answering(
    tell: ReplySender,
    otherwise: impl FnOnce(String) -> TaskReply + Send + 'static,
    work: impl Future<Output = TaskReply> + Send + 'static,
) {
    tokio::spawn(async move {
        let told = AssertUnwindSafe(work).catch_unwind().await;
        tell.tell(told.unwrap_or_else(|_| otherwise(INTERNAL_ERROR.to_owned())));
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
    async fn whoever_leaves_waits_for_what_is_being_written_and_for_nothing_that_broke() {
        let (teller, mut told) = ReplySender::new();
        let asides = Asides::default();
        let (go, gate) = mpsc::channel::<()>();
        let written = Arc::new(Mutex::new(false));
        let writes = written.clone();
        asides.spawn(
            teller.clone(),
            |says| TaskReply::Notice { says },
            move || {
                gate.recv().unwrap();
                *writes.lock().unwrap() = true;
                TaskReply::Notice { says: "written".to_owned() }
            },
        );
        asides.spawn(
            teller,
            |_| TaskReply::Notice { says: "broke".to_owned() },
            || std::panic::resume_unwind(Box::new("x")),
        );
        let mut heard = vec![];
        heard.push(format!("{:?}", told.recv().await));
        go.send(()).unwrap();
        asides.finish();
        assert!(*written.lock().unwrap());
        heard.push(format!("{:?}", told.recv().await));
        assert!(heard[0].contains("broke") && heard[1].contains("written"), "{heard:?}");
    }

    #[tokio::test]
    async fn a_task_that_panics_is_answered() {
        let (tell, mut told) = ReplySender::new();
        let otherwise = |says| TaskReply::Planned { ask: RequestId(7), plan: Err(says) };
        spawn_answering(tell.clone(), otherwise, async { std::panic::resume_unwind(Box::new("broken")) });
        let Some(TaskReply::Planned { ask: RequestId(7), plan: Err(says) }) = told.recv().await else {
            panic!("no answer")
        };
        assert_eq!(says, INTERNAL_ERROR);
    }
}
