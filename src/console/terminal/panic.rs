//! Panics and the terminal: a panic of the owner's thread restores the terminal before printing, others do not.
//!
//! Invariants:
//! - the owner's panic restores the terminal first and is printed after;
//! - a panic on another thread is sent to the console as a message and never written over the screen;
//! - without an open terminal, panics are printed as usual.

use std::any::Any;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::thread::{self, ThreadId};

use super::guard::TerminalState;

/// Open terminals. One in the program; several in its tests.
static OWNERS: Mutex<Vec<Owner>> = Mutex::new(Vec::new());

struct Owner {
    thread: ThreadId,
    held: Weak<Mutex<TerminalState>>,
}

/// The thread of a panic.
#[derive(Debug, PartialEq, Eq)]
enum Panicked {
    /// The owner: the terminal was restored.
    TheOwner,
    /// Another thread, while a terminal is open.
    AnotherThread,
    NotAcquired,
}

pub(super) fn own(held: &Arc<Mutex<TerminalState>>) {
    owners().push(Owner { thread: thread::current().id(), held: Arc::downgrade(held) });
}

pub(super) fn disown(held: &Arc<Mutex<TerminalState>>) {
    owners().retain(|owner| !std::ptr::eq(owner.held.as_ptr(), Arc::as_ptr(held)));
}

/// Installs the terminal's hook before the existing one. `background` receives panics of other threads.
///
/// Call once: a second call would run the hook twice.
pub fn install_panic_hook(background: impl Fn(String) + Send + Sync + 'static) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| match whose() {
        Panicked::TheOwner | Panicked::NotAcquired => before(info),
        Panicked::AnotherThread => background(panic_message(info)),
    }));
}

/// Restores the terminal if it belongs to this thread.
fn whose() -> Panicked {
    let owners = owners();
    if owners.is_empty() {
        return Panicked::NotAcquired;
    }
    let Some(owner) = owners.iter().find(|owner| owner.thread == thread::current().id()) else {
        return Panicked::AnotherThread;
    };
    let Some(held) = owner.held.upgrade() else { return Panicked::NotAcquired };
    let mut held = match held.try_lock() {
        Ok(held) => held,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // The panic happened inside a write. Unwinding drops the guard, which restores the terminal.
        Err(TryLockError::WouldBlock) => return Panicked::TheOwner,
    };
    // Suspended, not closed: if the panic is caught, the terminal can be acquired again. Restoring may fail; the message is
    // printed either way.
    let _ = held.suspend();
    Panicked::TheOwner
}

fn owners() -> std::sync::MutexGuard<'static, Vec<Owner>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Message and location of a panic.
fn panic_message(info: &PanicHookInfo<'_>) -> String {
    let message = message(info.payload());
    match info.location() {
        Some(place) => format!("{message} ({}:{})", place.file(), place.line()),
        None => message.to_owned(),
    }
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::super::guard::{Guard, MODES};
    use super::super::testing::Recording;
    use super::*;

    // The hook itself is process-wide; tests/terminal/ runs real programs that panic.
    #[test]
    fn only_the_owner_thread_restores_the_terminal() {
        let recording = Recording::default();
        let guard = Guard::enter(Box::new(recording.clone()), &MODES).unwrap();
        recording.take();
        assert_eq!(thread::spawn(whose).join().unwrap(), Panicked::AnotherThread);
        assert_eq!(recording.take(), "");
        assert_eq!(whose(), Panicked::TheOwner);
        assert!(recording.take().ends_with("ESC[?1049l {raw off}"), "the owner's panic undoes every mode");
        drop(guard);
        assert_eq!(recording.take(), "", "modes are undone once");
    }

    #[test]
    fn a_panic_keeps_its_message() {
        let caught = |panics: fn()| std::panic::catch_unwind(panics).unwrap_err();
        assert_eq!(message(&*caught(|| std::panic::resume_unwind(Box::new("one word")))), "one word");
        assert_eq!(message(&*caught(|| std::panic::resume_unwind(Box::new("two".to_owned())))), "two");
        assert_eq!(message(&*caught(|| std::panic::resume_unwind(Box::new(3)))), "a panic without a message");
    }
}
