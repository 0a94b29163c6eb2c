//! The mark of plans made with this state folder: HMAC-SHA-256 of the id under a key that never leaves the folder.
//!
//! Invariants:
//! - the key is made once, has mode 0600, and is neither printed nor replaced: every plan made before would become foreign;
//! - marks are compared in constant time;
//! - a plan without a valid mark is foreign, whatever else it says.
//!
//! Elsewhere: what a foreign plan is allowed ([`super::admit`]).

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::journal::StateFolder;
use super::plan::Plan;
use crate::files;

/// The file of the key in the state folder.
const FILE_NAME: &str = "plan.key";

/// Bytes of the key: as many as the hash gives.
const KEY_BYTES: usize = 32;

/// The key that marks plans.
pub struct MarkKey(Zeroizing<[u8; KEY_BYTES]>);

/// Where a plan was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// With this state folder: its mark is valid.
    Here,
    /// Elsewhere, or edited since.
    Foreign,
}

/// Why plans cannot be marked.
#[derive(Debug, thiserror::Error)]
pub enum MarkKeyError {
    #[error("cannot read or make the plan key {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("plan key {} has mode {mode:o}, expected 600", .path.display())]
    Exposed { path: PathBuf, mode: u32 },
    #[error("plan key {} does not hold {KEY_BYTES} bytes", .path.display())]
    Length { path: PathBuf },
}

impl MarkKey {
    /// Reads the key of the state folder, and makes it on first use.
    ///
    /// # Errors
    /// The file cannot be read or made, or others can read it.
    pub fn load_or_create(folder: &StateFolder) -> Result<Self, MarkKeyError> {
        let path = folder.path().join(FILE_NAME);
        if let Some(key) = read(&path)? {
            return Ok(key);
        }
        match make(&path, folder.path()) {
            Ok(key) => Ok(key),
            // Another process was quicker: its key counts.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                read(&path)?.ok_or(MarkKeyError::Io { path, source: error })
            }
            Err(source) => Err(MarkKeyError::Io { path, source }),
        }
    }

    /// The key that replicas share, from where they keep it. None: it does not have the right length.
    pub fn shared(bytes: &[u8]) -> Option<Self> {
        Some(Self(Zeroizing::new(bytes.try_into().ok()?)))
    }

    /// A new key for replicas to share.
    ///
    /// # Errors
    /// The system returns no random bytes.
    pub fn random() -> io::Result<Zeroizing<Vec<u8>>> {
        let mut key = Zeroizing::new(vec![0; KEY_BYTES]);
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        Ok(key)
    }

    fn mac(&self, id: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&*self.0).expect("HMAC takes a key of any length");
        mac.update(id.as_bytes());
        mac
    }
}

impl<F> Plan<F> {
    /// Returns the plan with the mark of this key.
    #[must_use]
    pub fn marked(mut self, key: &MarkKey) -> Self {
        self.mark = Some(URL_SAFE_NO_PAD.encode(key.mac(&self.id).finalize().into_bytes()));
        self
    }
}

impl Plan {
    /// Returns where the plan was made.
    ///
    /// # Assumes
    /// The id is that of the content ([`Plan::verify_id`]).
    pub fn provenance(&self, key: &MarkKey) -> Provenance {
        let mark = self.mark.as_ref().and_then(|mark| URL_SAFE_NO_PAD.decode(mark).ok());
        match mark.map(|mark| key.mac(&self.id).verify_slice(&mark)) {
            Some(Ok(())) => Provenance::Here,
            Some(Err(_)) | None => Provenance::Foreign,
        }
    }
}

impl fmt::Debug for MarkKey {
    /// Prints no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MarkKey")
    }
}

/// The key in the file; nothing when there is no file.
fn read(path: &Path) -> Result<Option<MarkKey>, MarkKeyError> {
    let failed = |source| MarkKeyError::Io { path: path.to_owned(), source };
    let mode = match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(failed(io::ErrorKind::InvalidInput.into())),
        Ok(found) => found.permissions().mode() & 0o777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    };
    if mode & 0o077 != 0 {
        return Err(MarkKeyError::Exposed { path: path.to_owned(), mode });
    }
    let bytes = files::read(path, files::CREDENTIAL_BYTES_MAX).map_err(failed)?;
    let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice());
    key.map(|key| Some(MarkKey(Zeroizing::new(key)))).map_err(|_| MarkKeyError::Length { path: path.to_owned() })
}

/// Makes a key and writes it, whole or not at all. An existing key stays.
fn make(path: &Path, folder: &Path) -> io::Result<MarkKey> {
    let mut key = MarkKey(Zeroizing::new([0; KEY_BYTES]));
    File::open("/dev/urandom")?.read_exact(&mut *key.0)?;
    let draft = path.with_extension(std::process::id().to_string());
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&*key.0)?;
        file.sync_all()?;
        // A link is refused where a file is; a rename would replace it.
        fs::hard_link(&draft, path)
    };
    let written = write();
    // Removed whether or not it was linked: it holds a key.
    let removed = fs::remove_file(&draft);
    written.and(removed).and_then(|()| File::open(folder)?.sync_all())?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{finding, given};

    fn folder(dir: &tempfile::TempDir) -> StateFolder {
        StateFolder::prepare(&dir.path().join("state")).unwrap()
    }

    #[test]
    fn only_a_plan_marked_with_this_folders_key_was_made_here() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = MarkKey::load_or_create(&folder(&one)).unwrap();
        let again = MarkKey::load_or_create(&folder(&one)).unwrap();
        let others = MarkKey::load_or_create(&folder(&other)).unwrap();
        let bare = given().finding(finding("a").deletes()).plan();
        let plan = bare.clone().marked(&key);
        assert_eq!(plan.id, bare.id, "the mark is not part of the id");
        assert_eq!(plan.computed_id().unwrap(), bare.id);
        assert_eq!(plan.mark.as_ref().unwrap().len(), 43, "32 bytes without padding");
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(Plan::read(&text).unwrap(), plan);
        let edited = |change: fn(&mut Plan)| {
            let mut plan = plan.clone();
            change(&mut plan);
            plan.id = plan.computed_id().unwrap();
            plan
        };
        let with_mark = |mark: &str| Plan { mark: Some(mark.to_owned()), ..plan.clone() };
        let cases = [
            ("the same key", plan.provenance(&again), Provenance::Here),
            ("the key of another folder", plan.provenance(&others), Provenance::Foreign),
            ("no mark", bare.provenance(&key), Provenance::Foreign),
            ("a mark that is not base64", with_mark("%").provenance(&key), Provenance::Foreign),
            ("an empty mark", with_mark("").provenance(&key), Provenance::Foreign),
            ("edited", edited(|plan| plan.actions[0].target.name.push('x')).provenance(&key), Provenance::Foreign),
        ];
        for (case, found, expected) in cases {
            assert_eq!(found, expected, "case: {case}");
        }
    }

    #[test]
    fn the_key_is_private_and_never_printed() {
        let dir = tempfile::tempdir().unwrap();
        let state = folder(&dir);
        let key = MarkKey::load_or_create(&state).unwrap();
        let path = state.path().join(FILE_NAME);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1, "no draft is left behind");
        assert_eq!(format!("{key:?}"), "MarkKey");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(MarkKey::load_or_create(&state), Err(MarkKeyError::Exposed { mode: 0o640, .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, b"short").unwrap();
        assert!(matches!(MarkKey::load_or_create(&state), Err(MarkKeyError::Length { .. })));
    }
}
