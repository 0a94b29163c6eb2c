//! Who can open what is sealed.
//!
//! Invariants: the key of the state folder is made once and never replaced, because every backup before would be lost
//! with it. No key is ever shown.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use age::secrecy::ExposeSecret as _;
use age::x25519::{Identity, Recipient};

use super::{StateFolder, VaultError, sync_folder};
use crate::files;

/// The file of our own key.
const FILE_NAME: &str = "vault-key";

/// Whom to seal for, and what to open with.
pub(super) struct Keys {
    recipients: Vec<Recipient>,
    /// The key of the state folder. With foreign recipients it may be missing.
    identity: Option<Identity>,
    sealed_for: SealedFor,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SealedFor {
    Ourselves,
    Others,
}

impl Keys {
    /// The recipients of the config; without any, our own key, made on first use.
    pub(super) fn prepare(state: &StateFolder, recipients: &[String]) -> Result<Self, VaultError> {
        let found = Self::look(state, recipients)?;
        if !found.recipients.is_empty() {
            return Ok(found);
        }
        let Self { path, identity, .. } = found;
        let identity = match identity {
            Some(identity) => identity,
            None => make(&path, state.path()).map_err(|source| VaultError::Key { path: path.clone(), source })?,
        };
        let recipients = vec![identity.to_public()];
        Ok(Self { recipients, identity: Some(identity), sealed_for: SealedFor::Ourselves, path })
    }

    /// The recipients of the config, and our own key if there is one. Nothing is made.
    pub(super) fn look(state: &StateFolder, recipients: &[String]) -> Result<Self, VaultError> {
        let path = state.path().join(FILE_NAME);
        let recipients = parse(recipients)?;
        let identity = read(&path)?;
        Ok(Self { recipients, identity, sealed_for: SealedFor::Others, path })
    }

    /// Where our own key is or would be.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn recipients(&self) -> &[Recipient] {
        &self.recipients
    }

    pub(super) fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    pub(super) fn opens_what_it_seals(&self) -> bool {
        match self.sealed_for {
            SealedFor::Ourselves => true,
            SealedFor::Others => false,
        }
    }
}

impl fmt::Debug for Keys {
    /// Prints for whom it seals, and no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recipients, identity: _, sealed_for, path: _ } = self;
        f.debug_struct("Keys").field("sealed_for", sealed_for).field("recipients", &recipients.len()).finish()
    }
}

fn parse(recipients: &[String]) -> Result<Vec<Recipient>, VaultError> {
    let each = recipients.iter().enumerate();
    each.map(|(index, text)| text.parse().map_err(|_| VaultError::BadRecipient { place: index + 1 })).collect()
}

/// The key in the file; nothing when there is no file.
fn read(path: &Path) -> Result<Option<Identity>, VaultError> {
    let failed = |source| VaultError::Key { path: path.to_owned(), source };
    let mode = match fs::metadata(path) {
        Ok(found) => found.permissions().mode() & 0o777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    };
    if mode & 0o077 != 0 {
        return Err(VaultError::KeyExposed { path: path.to_owned(), mode });
    }
    let text = files::read_text(path, files::CREDENTIAL_BYTES_MAX).map_err(failed)?;
    text.trim().parse().map(Some).map_err(|_| VaultError::BadKey { path: path.to_owned() })
}

/// Makes a key and writes it, whole or not at all. A key that another process made meanwhile stays.
fn make(path: &Path, folder: &Path) -> io::Result<Identity> {
    let identity = Identity::generate();
    let draft = path.with_extension(std::process::id().to_string());
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(identity.to_string().expose_secret().as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        // A link is refused where a file is, and a rename would replace it.
        fs::hard_link(&draft, path)
    };
    let written = write();
    // Removed in every case: it holds a key.
    let removed = fs::remove_file(&draft);
    written.and(removed).and_then(|()| sync_folder(folder))?;
    Ok(identity)
}
