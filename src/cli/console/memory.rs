//! View state that the console keeps per fleet: `console.json` in the state folder.
//!
//! Invariants: the file has mode 600 and is replaced atomically; an invalid file is reported and ignored.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cli::out_file::write_private;
use crate::console::model::Remembered;
use trueup_core::engine::journal::StateFolder;
use trueup_core::engine::text::Printable;
use trueup_core::files;

const FILE: &str = "console.json";
/// 100 fleets with a few hundred bytes each.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Version of the file format.
const VERSION: u32 = 1;
/// Fleets in the file; the least recently opened is dropped first. 100 × 0.5 KiB = 50 KiB.
const FLEETS_MAX: usize = 100;

#[derive(Serialize, Deserialize)]
struct Memory {
    version: u32,
    /// Key: contexts or folder of the fleet.
    fleets: BTreeMap<String, Kept>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    at: Timestamp,
    console: Remembered,
}

/// Reads the view state of a fleet.
///
/// # Errors
/// The file exists and is invalid.
pub fn recall(state: &Path, fleet: &str) -> Result<Option<Remembered>, String> {
    let mut memory = read(state)?;
    Ok(memory.fleets.remove(fleet).map(|kept| kept.console))
}

/// Writes the view state of a fleet.
///
/// # Errors
/// The state folder or the file cannot be written.
pub fn remember(state: &Path, fleet: &str, console: Remembered, now: Timestamp) -> Result<(), String> {
    let folder = StateFolder::prepare(state).map_err(|error| format!("{error}; {}", error.remedy()))?;
    let mut memory = read(state).unwrap_or_else(|_| Memory::empty());
    memory.fleets.insert(fleet.to_owned(), Kept { at: now, console });
    while memory.fleets.len() > FLEETS_MAX {
        let oldest = memory.fleets.iter().min_by_key(|(_, kept)| kept.at).map(|(name, _)| name.clone());
        oldest.and_then(|name| memory.fleets.remove(&name));
    }
    let text = serde_json::to_string_pretty(&memory).map_err(|error| error.to_string())?;
    write_private(&folder.path().join(FILE), &Printable::json(&text).ended())
}

fn read(state: &Path) -> Result<Memory, String> {
    let path = state.join(FILE);
    let unusable = |why: String| format!("ignored {}: {why}", path.display());
    let text = match files::read_text(&path, FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Memory::empty()),
        Err(error) => return Err(unusable(error.to_string())),
    };
    let memory: Memory = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    match memory.version {
        VERSION => Ok(memory),
        other => Err(unusable(format!("unknown version {other}"))),
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
        Remembered { screen, fleet_filter, checks: BTreeMap::new(), split, theme: None, views: Vec::new() }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn each_fleet_reads_its_own_state() {
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
    fn an_unreadable_file_is_reported_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        for text in ["not json", r#"{"version": 2, "fleets": {}}"#, r#"{"version": 1, "fleets": {"a": 1}}"#] {
            remember(&state, "a", console(40), at(0)).unwrap();
            std::fs::write(state.join(FILE), text).unwrap();
            assert!(recall(&state, "a").is_err_and(|message| message.contains("ignored")), "{text}");
            remember(&state, "a", console(50), at(0)).unwrap();
            assert_eq!(recall(&state, "a"), Ok(Some(console(50))), "{text}");
        }
    }

    #[test]
    fn the_least_recently_opened_fleet_is_dropped_first() {
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
