//! The vault: what was deleted, sealed so that only its owner can bring it back.
//!
//! Invariants:
//! - an object is on the disk and was read back before [`Vault::seal`] returns;
//! - clear text is never written, and is wiped from the memory that is ours;
//! - a file's name is a digest of its sealed bytes: it tells nothing about the object, and two never share one;
//! - a backup is removed only when its plan is dropped from the journal.
//!
//! - `key`: who can open what is sealed. [`restorable`]: what of an object may come back.
//! - `disk`: the few things asked of a disk, so that tests can let them fail. [`check_possible`]: whether a backup could
//!   be made, for the preview.
//!
//! Elsewhere: when to seal, and where the file's name is kept ([`super::journal`]).

mod disk;
mod key;
mod possible;
mod restore;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use age::{DecryptError, Decryptor, Encryptor};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

pub use disk::BackupDisk;
pub use possible::check_possible;
pub use restore::{RESTORED_FROM, owners, restorable};

use super::journal::StateFolder;
use disk::{FileDisk, sync_folder};
use key::Keys;

/// The folder of the sealed files, inside the state folder.
const FOLDER_NAME: &str = "vault";

/// How sealed files end.
const ENDING: &str = ".age";

/// So many characters of the digest name a file: 128 bits, which no two files share.
const NAME_CHARS: usize = 32;

/// Where sealed objects lie, with what is needed to seal them.
#[derive(Debug)]
pub struct Vault {
    folder: PathBuf,
    keys: Keys,
    disk: Box<dyn BackupDisk>,
}

/// Sealed objects that are only looked at.
#[derive(Debug)]
pub struct Backups(Vault);

/// An object that is safe on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a backup that is not recorded cannot be found again"]
pub struct Sealed {
    /// The file's name inside the vault.
    pub file: String,
    /// `sha256:<hex>` over the sealed file. Sealing the same object twice gives two digests.
    pub digest: String,
}

/// Why something can't be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("the vault {} cannot be made or looked at", .path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the vault's key {} cannot be made or read", .path.display())]
    Key { path: PathBuf, source: io::Error },
    #[error("the vault's key {} is no age key", .path.display())]
    BadKey { path: PathBuf },
    #[error("the vault's key {} has mode {mode:o}: others can read it; run chmod 600 on it", .path.display())]
    KeyExposed { path: PathBuf, mode: u32 },
    // The text is not repeated: a private key is put there by mistake easily.
    #[error("entry {place} of `recipients` is no age recipient")]
    BadRecipient {
        /// From 1.
        place: usize,
    },
    #[error("the backup cannot be sealed")]
    Seal { source: io::Error },
    #[error("the backup {} cannot be written", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("the backup {} cannot be read", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the backup {} does not read back as it was written", .path.display())]
    NotReadBack { path: PathBuf },
    #[error("`{file}` is not the name of a backup")]
    BadName { file: String },
    #[error("the backup {} is not the file that was sealed", .path.display())]
    Damaged { path: PathBuf },
    #[error("the backup {} cannot be opened: its key {} is not there; put it back", .path.display(), .key.display())]
    NoKey { path: PathBuf, key: PathBuf },
    #[error("the backup {} was sealed for another key than the one in the state folder", .path.display())]
    OtherKey { path: PathBuf },
}

impl Vault {
    /// Opens the vault, and makes it and its key if they are not there. With `recipients`, those alone can open what is
    /// sealed from now on.
    ///
    /// # Errors
    /// The folder or key can't be made or read, or a recipient is none.
    pub fn prepare(state: &StateFolder, recipients: &[String]) -> Result<Self, VaultError> {
        let folder = state.path().join(FOLDER_NAME);
        let keys = Keys::prepare(state, recipients)?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        let known = made.and_then(|()| sync_folder(state.path()));
        known.map_err(|source| VaultError::Folder { path: folder.clone(), source })?;
        Ok(Self { folder, keys, disk: Box::new(FileDisk) })
    }

    /// The same vault on another disk.
    #[must_use]
    pub fn on_disk(self, disk: Box<dyn BackupDisk>) -> Self {
        Self { disk, ..self }
    }

    /// Seals an object, waits until it is on the disk, and reads it back.
    ///
    /// # Guarantees
    /// `Ok`: the file's bytes are those that were sealed, and with a key of our own they open to the same object.
    ///
    /// # Errors
    /// It can't be sealed, written or read back. What is left of the file is removed.
    pub fn seal(&self, object: &Zeroizing<Vec<u8>>) -> Result<Sealed, VaultError> {
        let sealed = self.encrypt(object)?;
        let digest = hex(&Sha256::digest(&sealed));
        let file = format!("{}{ENDING}", &digest[..NAME_CHARS]);
        self.keep(&self.folder.join(&file), &sealed, object)?;
        Ok(Sealed { file, digest: format!("sha256:{digest}") })
    }

    /// Seals an object into a file of the user's choice, with the same guarantees. A file that exists is not replaced.
    ///
    /// # Errors
    /// It can't be sealed, written or read back. What is left of the file is removed.
    pub fn seal_as(&self, path: &Path, object: &Zeroizing<Vec<u8>>) -> Result<(), VaultError> {
        if path.exists() {
            let source = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(VaultError::Write { path: path.to_owned(), source });
        }
        let sealed = self.encrypt(object)?;
        self.keep(path, &sealed, object)
    }

    fn keep(&self, path: &Path, sealed: &[u8], object: &Zeroizing<Vec<u8>>) -> Result<(), VaultError> {
        let written = self.write(path, sealed).and_then(|()| self.read_back(path, sealed, object));
        if written.is_err() {
            // The rest is useless; that it cannot be removed either is not worth a second sentence.
            let _ = self.disk.remove(path);
        }
        written
    }

    /// Opens a sealed object.
    ///
    /// # Errors
    /// The name is none of ours, the file is gone or changed, or it was sealed for another recipient.
    pub fn open(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let path = self.path_of(file)?;
        let sealed = self.disk.read(&path).map_err(|source| VaultError::Read { path: path.clone(), source })?;
        if !hex(&Sha256::digest(&sealed)).starts_with(file.trim_end_matches(ENDING)) {
            return Err(VaultError::Damaged { path });
        }
        if self.keys.identity().is_none() {
            return Err(VaultError::NoKey { path, key: self.keys.path().to_owned() });
        }
        self.decrypt(&sealed).map_err(|error| {
            let is_foreign = matches!(error, DecryptError::NoMatchingKeys);
            if is_foreign { VaultError::OtherKey { path } } else { VaultError::Damaged { path } }
        })
    }

    /// Removes a backup whose plan is dropped. One that is gone already is fine.
    ///
    /// # Errors
    /// The name is none of ours, or the file is still there.
    pub fn forget(&self, file: &str) -> io::Result<()> {
        let path = self.path_of(file).map_err(io::Error::other)?;
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The path of a backup.
    fn path_of(&self, file: &str) -> Result<PathBuf, VaultError> {
        match file.strip_suffix(ENDING).filter(|stem| is_name(stem)) {
            Some(_) => Ok(self.folder.join(file)),
            None => Err(VaultError::BadName { file: file.to_owned() }),
        }
    }

    fn encrypt(&self, object: &[u8]) -> Result<Vec<u8>, VaultError> {
        let recipients = self.keys.recipients().iter().map(|one| one as &dyn age::Recipient);
        let mut sealed = Vec::new();
        let written = Encryptor::with_recipients(recipients).map_err(io::Error::other).and_then(|encryptor| {
            let mut writer = encryptor.wrap_output(&mut sealed)?;
            writer.write_all(object)?;
            writer.finish()
        });
        written.map_err(|source| VaultError::Seal { source })?;
        Ok(sealed)
    }

    fn decrypt(&self, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, DecryptError> {
        let identities = self.keys.identity().into_iter().map(|one| one as &dyn age::Identity);
        let reader = Decryptor::new_buffered(sealed)?.decrypt(identities)?;
        // As long as the sealed bytes, which are more: a vector that grows leaves copies behind.
        let mut object = Zeroizing::new(Vec::with_capacity(sealed.len()));
        reader.take(sealed.len() as u64).read_to_end(&mut object).map_err(DecryptError::Io)?;
        Ok(object)
    }

    fn write(&self, path: &Path, sealed: &[u8]) -> Result<(), VaultError> {
        self.disk.write_new(path, sealed).map_err(|source| VaultError::Write { path: path.to_owned(), source })
    }

    fn read_back(&self, path: &Path, sealed: &[u8], object: &[u8]) -> Result<(), VaultError> {
        let found = self.disk.read(path).map_err(|source| VaultError::Read { path: path.to_owned(), source })?;
        let opens = || !self.keys.opens_what_it_seals() || self.decrypt(&found).is_ok_and(|again| **again == *object);
        if found == sealed && opens() { Ok(()) } else { Err(VaultError::NotReadBack { path: path.to_owned() }) }
    }
}

impl Backups {
    /// Looks at the vault of a state folder; makes nothing.
    ///
    /// # Errors
    /// The key is there and can't be used.
    pub fn look(state: &StateFolder) -> Result<Self, VaultError> {
        let keys = Keys::look(state, &[])?;
        Ok(Self(Vault { folder: state.path().join(FOLDER_NAME), keys, disk: Box::new(FileDisk) }))
    }

    /// Opens a sealed object.
    ///
    /// # Errors
    /// The name is none of ours, the file is gone or changed, or its key is not here.
    pub fn open(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        self.0.open(file)
    }
}

/// Whether the text can be a file's name: nothing that leads out of the vault.
fn is_name(stem: &str) -> bool {
    stem.len() == NAME_CHARS && stem.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
    }
    text
}
