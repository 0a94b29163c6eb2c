//! Work on all cores whose results are taken in order, a bounded number at a time.
//!
//! Invariants: results are taken in the order of their numbers, whichever thread was faster; at most [`CHUNK`] times
//! three results per thread exist at once, however many there are in all.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// More threads than this wait for the allocator and for each other.
pub(super) const THREADS_MAX: usize = 8;
/// Below this many results a thread costs more than it saves: starting one takes about as long as twenty explanations.
const RESULTS_MIN: usize = 200;
/// Results that are passed on together: enough to hide the cost of passing them, few enough to be dropped soon.
const CHUNK: usize = 64;
/// Chunks that wait for their turn, per thread: one, so that a thread works on the next one meanwhile.
const WAITING_MAX: usize = 1;

/// Makes `count` results and passes them to `take` in order, until it fails. Each thread has its own state, which
/// `start` makes.
///
/// # Errors
/// That of `take`.
pub fn in_order<S, T: Send, E>(
    count: usize,
    start: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, usize) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(THREADS_MAX).min(count / RESULTS_MIN);
    if threads < 2 {
        let mut state = start();
        return (0..count).try_for_each(|number| take(make(&mut state, number)));
    }
    let chunks = count.div_ceil(CHUNK);
    let work = |thread: usize, results: SyncSender<Vec<T>>| {
        let mut state = start();
        for chunk in (thread..chunks).step_by(threads) {
            let numbers = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
            let made = numbers.map(|number| make(&mut state, number)).collect();
            // The reader is gone after `take` failed.
            if results.send(made).is_err() {
                return;
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        let spawn = |thread: usize| -> Receiver<Vec<T>> {
            let (send, receive) = sync_channel(WAITING_MAX);
            scope.spawn(move || work(thread, send));
            receive
        };
        let threads: Vec<Receiver<Vec<T>>> = (0..threads).map(spawn).collect();
        for chunk in 0..chunks {
            let made = threads[chunk % threads.len()].recv().expect("a thread sends its chunks unless it panicked");
            made.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A result that counts how many like it exist.
    struct Counted<'c>(usize, &'c AtomicUsize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.1.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn results_are_taken_in_order_and_few_exist_at_once() {
        for count in [0, 1, CHUNK, 2 * RESULTS_MIN, 10 * RESULTS_MIN + 1, 100 * RESULTS_MIN] {
            let (alive, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let make = |state: &mut usize, number| {
                *state += 1;
                most.fetch_max(alive.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                Counted(number, &alive)
            };
            let mut taken = 0;
            let outcome: Result<(), Infallible> = in_order(
                count,
                || 0,
                make,
                |one| {
                    assert_eq!(one.0, taken, "of {count}");
                    taken += 1;
                    Ok(())
                },
            );
            assert_eq!((outcome, taken, alive.load(Ordering::SeqCst)), (Ok(()), count, 0));
            let bound = THREADS_MAX * CHUNK * (WAITING_MAX + 2);
            assert!(most.load(Ordering::SeqCst) <= bound, "{} of {count} exist at once", most.load(Ordering::SeqCst));
        }
    }

    #[test]
    fn a_failure_ends_the_work_early() {
        let (count, made) = (100 * RESULTS_MIN, AtomicUsize::new(0));
        let make = |_: &mut (), number: usize| {
            made.fetch_add(1, Ordering::SeqCst);
            number
        };
        let outcome = in_order(count, || (), make, |number| if number == 3 { Err("full") } else { Ok(()) });
        assert_eq!(outcome, Err("full"));
        let bound = THREADS_MAX * CHUNK * (WAITING_MAX + 3);
        assert!(made.load(Ordering::SeqCst) <= bound, "{} of {count} were made", made.load(Ordering::SeqCst));
    }
}
