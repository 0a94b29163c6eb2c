//! Counts the work of following a change: clusters, interests and guests that are looked at.
//!
//! Tests compare the counts of fleets of different sizes. Outside tests nothing is counted.

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes so many units of work.
#[inline]
pub(super) fn count(units: usize) {
    #[cfg(test)]
    DONE.set(DONE.get() + units);
    #[cfg(not(test))]
    let _ = units;
}

/// Returns the units since this was last called.
#[cfg(test)]
pub(super) fn take() -> usize {
    DONE.replace(0)
}
