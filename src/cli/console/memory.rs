//! What the console remembers of each fleet: `console.json` in the state folder.
//!
//! Invariants: the file is its owner's alone and never half written; one that can't be read costs nothing but what was
//! in it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cli::out_file::write_private;
use crate::console::model::Remembered;
use trueup_core::engine::journal::StateFolder;

const FILE: &str = "console.json";
/// Another version means another shape.
const VERSION: u32 = 1;
/// Fleets that are remembered; the one not opened for longest goes first. A hundred take some 50 KiB.
const FLEETS_MAX: usize = 100;

#[derive(Serialize, Deserialize)]
struct Memory {
    version: u32,
    /// By what names the fleet: its contexts, or its folder.
    fleets: BTreeMap<String, Kept>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    at: Timestamp,
    console: Remembered,
}

/// What is remembered of a fleet.
///
/// # Errors
/// There is a file and it can't be used, in a sentence.
pub fn recall(state: &Path, fleet: &str) -> Result<Option<Remembered>, String> {
    let mut memory = read(state)?;
    Ok(memory.fleets.remove(fleet).map(|kept| kept.console))
}

/// Remembers a fleet.
///
/// # Errors
/// The state folder or the file can't be used, in a sentence.
pub fn remember(state: &Path, fleet: &str, console: Remembered, now: Timestamp) -> Result<(), String> {
    let folder = StateFolder::prepare(state).map_err(|error| format!("{error}; {}", error.remedy()))?;
    let mut memory = read(state).unwrap_or_else(|_| Memory::empty());
    memory.fleets.insert(fleet.to_owned(), Kept { at: now, console });
    while memory.fleets.len() > FLEETS_MAX {
        let oldest = memory.fleets.iter().min_by_key(|(_, kept)| kept.at).map(|(name, _)| name.clone());
        oldest.and_then(|name| memory.fleets.remove(&name));
    }
    let text = serde_json::to_string_pretty(&memory).map_err(|error| error.to_string())?;
    write_private(&folder.path().join(FILE), &(text + "\n"))
}

fn read(state: &Path) -> Result<Memory, String> {
    let path = state.join(FILE);
    let unusable = |why: String| format!("{} can't be used and is ignored: {why}", path.display());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Memory::empty()),
        Err(error) => return Err(unusable(error.to_string())),
    };
    let memory: Memory = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    match memory.version {
        VERSION => Ok(memory),
        other => Err(unusable(format!("it is of version {other}"))),
    }
}

impl Memory {
    fn empty() -> Self {
        Self { version: VERSION, fleets: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn console(split: u16) -> Remembered {
        let (screen, fleet_filter) = ("fleet".to_owned(), "eu".to_owned());
        Remembered { screen, fleet_filter, checks: BTreeMap::new(), split, theme: None }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn each_fleet_finds_its_own_again() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        assert_eq!(recall(&state, "a"), Ok(None));
        remember(&state, "a", console(40), at(0)).unwrap();
        remember(&state, "b", console(60), at(1)).unwrap();
        assert_eq!(recall(&state, "a"), Ok(Some(console(40))));
        assert_eq!(recall(&state, "b"), Ok(Some(console(60))));
        assert_eq!(recall(&state, "c"), Ok(None));
        let mode = std::fs::metadata(state.join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_can_t_be_read_is_told_of_and_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        for text in ["not json", r#"{"version": 2, "fleets": {}}"#, r#"{"version": 1, "fleets": {"a": 1}}"#] {
            remember(&state, "a", console(40), at(0)).unwrap();
            std::fs::write(state.join(FILE), text).unwrap();
            assert!(recall(&state, "a").is_err_and(|says| says.contains("ignored")), "{text}");
            remember(&state, "a", console(50), at(0)).unwrap();
            assert_eq!(recall(&state, "a"), Ok(Some(console(50))), "{text}");
        }
    }

    #[test]
    fn the_fleet_not_opened_for_longest_is_forgotten_first() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        for number in 0..=FLEETS_MAX {
            let second = i64::try_from(number).unwrap();
            remember(&state, &number.to_string(), console(50), at(second)).unwrap();
        }
        assert_eq!(recall(&state, "0"), Ok(None));
        assert!(recall(&state, "1").unwrap().is_some());
    }
}
