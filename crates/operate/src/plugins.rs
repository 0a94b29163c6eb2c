//! The credential plugins that the user approved, kept in the state folder.
//!
//! Invariants: the file has mode 600, is replaced atomically and holds digests alone; a file that cannot be read approves
//! nothing.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use trueup_core::engine::journal::StateFolder;
use trueup_core::files;
use trueup_fleet::connect::{PluginApprovals, PluginId};

/// The file, in the state folder: one digest a line.
const FILE: &str = "plugins";
/// About 16,000 plugins.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Approvals of this process and earlier ones.
pub struct KeptApprovals {
    /// Absent: the environment names no home, and approvals end with the process.
    state: Option<PathBuf>,
    approved: Mutex<BTreeSet<PluginId>>,
}

impl KeptApprovals {
    pub fn read(state: Option<&Path>) -> Self {
        let text = state.and_then(|state| files::read_text(&state.join(FILE), FILE_BYTES_MAX).ok());
        let text = text.map(|text| (*text).clone()).unwrap_or_default();
        let approved = text.lines().map(PluginId::kept).collect();
        Self { state: state.map(Path::to_owned), approved: Mutex::new(approved) }
    }
}

impl PluginApprovals for KeptApprovals {
    fn is_approved(&self, plugin: &PluginId) -> bool {
        self.approved.lock().unwrap_or_else(PoisonError::into_inner).contains(plugin)
    }

    fn approve(&self, plugin: PluginId) -> Result<(), String> {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        if !approved.insert(plugin) {
            return Ok(());
        }
        let Some(state) = &self.state else { return Ok(()) };
        let folder = StateFolder::prepare(state).map_err(|error| format!("{error}; {}", error.remedy()))?;
        let text: String = approved.iter().map(|plugin| format!("{}\n", plugin.as_str())).collect();
        let path = folder.path().join(FILE);
        replace(&path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_approval_is_kept_for_its_owner_alone_and_known_to_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let (one, two) = (PluginId::kept("aa"), PluginId::kept("bb"));
        let first = KeptApprovals::read(Some(&state));
        assert!(!first.is_approved(&one));
        first.approve(one.clone()).unwrap();
        let second = KeptApprovals::read(Some(&state));
        assert!(second.is_approved(&one) && !second.is_approved(&two));
        second.approve(two.clone()).unwrap();
        let third = KeptApprovals::read(Some(&state));
        assert!(third.is_approved(&one) && third.is_approved(&two));
        let mode = std::fs::metadata(state.join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn without_a_state_folder_an_approval_ends_with_the_process() {
        let approvals = KeptApprovals::read(None);
        approvals.approve(PluginId::kept("aa")).unwrap();
        assert!(approvals.is_approved(&PluginId::kept("aa")));
    }
}
