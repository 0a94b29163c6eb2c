//! What a panic does to the terminal: on the owner's thread it is set back before a word is said, elsewhere it stays.
//!
//! Invariants:
//! - the owner's panic tears down first and is told after, on a terminal that can show it;
//! - a panic on another thread is handed to the console as a text and never written over the screen;
//! - without a terminal in hand, panics are told as always.

use std::any::Any;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::thread::{self, ThreadId};

use super::guard::Held;

/// Terminals in hand. One in the program; several in its tests.
static OWNERS: Mutex<Vec<Owner>> = Mutex::new(Vec::new());

struct Owner {
    thread: ThreadId,
    held: Weak<Mutex<Held>>,
}

/// Whose panic it was.
#[derive(Debug, PartialEq, Eq)]
enum Panicked {
    /// The terminal was set back.
    TheOwner,
    /// Somebody has a terminal in hand, and it is not this thread.
    AnotherThread,
    NobodyHolds,
}

pub(super) fn own(held: &Arc<Mutex<Held>>) {
    owners().push(Owner { thread: thread::current().id(), held: Arc::downgrade(held) });
}

pub(super) fn disown(held: &Arc<Mutex<Held>>) {
    owners().retain(|owner| !std::ptr::eq(owner.held.as_ptr(), Arc::as_ptr(held)));
}

/// Puts the terminal's hook before the one that is there. `background` is called with the panics of other threads.
///
/// Once in the life of the program: a second call would put the hook before itself.
pub fn install_panic_hook(background: impl Fn(String) + Send + Sync + 'static) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| match whose() {
        Panicked::TheOwner | Panicked::NobodyHolds => before(info),
        Panicked::AnotherThread => background(told(info)),
    }));
}

/// Sets the terminal back if it is this thread's.
fn whose() -> Panicked {
    let owners = owners();
    if owners.is_empty() {
        return Panicked::NobodyHolds;
    }
    let Some(owner) = owners.iter().find(|owner| owner.thread == thread::current().id()) else {
        return Panicked::AnotherThread;
    };
    let Some(held) = owner.held.upgrade() else { return Panicked::NobodyHolds };
    let mut held = match held.try_lock() {
        Ok(held) => held,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // The panic came from within a write. Unwinding drops the guard, which sets the terminal back.
        Err(TryLockError::WouldBlock) => return Panicked::TheOwner,
    };
    // Aside, and not gone: if somebody catches the panic, the terminal can be taken back. It may itself be what broke;
    // the message is worth telling either way.
    let _ = held.suspend();
    Panicked::TheOwner
}

fn owners() -> std::sync::MutexGuard<'static, Vec<Owner>> {
    OWNERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the panic said, and where.
fn told(info: &PanicHookInfo<'_>) -> String {
    let says = message(info.payload());
    match info.location() {
        Some(place) => format!("{says} ({}:{})", place.file(), place.line()),
        None => says.to_owned(),
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

    // The hook itself is the process's; tests/terminal/ lets real programs panic.
    #[test]
    fn only_the_owner_s_thread_sets_the_terminal_back() {
        let recording = Recording::default();
        let guard = Guard::enter(Box::new(recording.clone()), &MODES).unwrap();
        recording.take();
        assert_eq!(thread::spawn(whose).join().unwrap(), Panicked::AnotherThread);
        assert_eq!(recording.take(), "");
        assert_eq!(whose(), Panicked::TheOwner);
        assert!(recording.take().ends_with("ESC[?1049l {raw off}"), "the owner's panic undoes every mode");
        drop(guard);
        assert_eq!(recording.take(), "", "what was undone is not undone twice");
    }

    #[test]
    fn a_panic_is_told_in_its_own_words() {
        let caught = |panics: fn()| std::panic::catch_unwind(panics).unwrap_err();
        assert_eq!(message(&*caught(|| std::panic::resume_unwind(Box::new("one word")))), "one word");
        assert_eq!(message(&*caught(|| std::panic::resume_unwind(Box::new("two".to_owned())))), "two");
        assert_eq!(message(&*caught(|| std::panic::resume_unwind(Box::new(3)))), "a panic without a message");
    }
}
