//! Settings of the process: no core dumps, and a panic as one sentence.
//!
//! Invariants: memory, which may hold credentials, is not written to a core file; a panic prints where it happened and
//! nothing of what was being handled.

use std::panic::Location;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::terminal::write_stderr;

/// Applies the settings. A system that does not allow one of them keeps its own.
pub fn prepare() {
    forbid_core_dumps();
    std::panic::set_hook(Box::new(|info| write_stderr(&sentence(info.location()))));
}

fn forbid_core_dumps() {
    let core = getrlimit(Resource::Core);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), ..core });
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

fn sentence(location: Option<&Location<'_>>) -> String {
    let place = location.map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
    format!("trueup: internal error{place}; please report it, trueup history shows what was sent")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Core files and `/proc/PID/mem` would hold every credential of the process.
    #[test]
    fn the_process_writes_no_core_file_and_is_not_dumpable() {
        forbid_core_dumps();
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{DumpableBehavior, dumpable_behavior};
            assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        }
    }

    #[test]
    fn a_panic_is_one_sentence_with_its_place_and_no_message() {
        let here = Location::caller();
        let expected = format!(
            "trueup: internal error at {}:{}; please report it, trueup history shows what was sent",
            here.file(),
            here.line()
        );
        assert_eq!(sentence(Some(here)), expected);
        assert!(sentence(None).starts_with("trueup: internal error; "));
    }
}
