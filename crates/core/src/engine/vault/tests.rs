//! What the vault promises, on a real folder.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::*;

const CANARY: &[u8] = br#"{"kind":"Secret","data":{"clientSecret":"Y2FuYXJ5"}}"#;

fn state() -> (TempDir, StateFolder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = StateFolder::prepare(&dir.path().join("trueup")).unwrap();
    (dir, folder)
}

fn object() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(CANARY.to_vec())
}

fn path_of(state: &StateFolder, sealed: &Sealed) -> PathBuf {
    state.path().join("vault").join(&sealed.file)
}

#[test]
fn what_was_sealed_opens_again_also_for_the_next_run() {
    let (_dir, state) = state();
    let vault = Vault::prepare(&state, &[]).unwrap();
    let sealed = vault.seal(&object()).unwrap();
    assert_eq!(*vault.open(&sealed.file).unwrap(), CANARY);
    let next = Vault::prepare(&state, &[]).unwrap();
    assert_eq!(*next.open(&sealed.file).unwrap(), CANARY, "the key is made once");
}

#[test]
fn nothing_on_the_disk_tells_what_was_sealed() {
    let (_dir, state) = state();
    let vault = Vault::prepare(&state, &[]).unwrap();
    let (first, second) = (vault.seal(&object()).unwrap(), vault.seal(&object()).unwrap());
    assert_ne!(first, second, "the same object sealed twice gives two ciphertexts");
    for sealed in [&first, &second] {
        let bytes = fs::read(path_of(&state, sealed)).unwrap();
        for part in ["Secret", "clientSecret", "Y2FuYXJ5", "canary"] {
            assert!(memchr::memmem::find(&bytes, part.as_bytes()).is_none(), "{part} is in the file");
            assert!(!sealed.file.contains(part));
        }
        assert_eq!(sealed.digest, format!("sha256:{}", hex(&Sha256::digest(&bytes))));
    }
    assert!(!format!("{vault:?}").contains("AGE-SECRET"), "{vault:?}");
}

#[test]
fn files_are_the_owners_alone() {
    let (_dir, state) = state();
    let sealed = Vault::prepare(&state, &[]).unwrap().seal(&object()).unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path_of(&state, &sealed)), 0o600);
    assert_eq!(mode(state.path().join("vault")), 0o700);
    assert_eq!(mode(state.path().join("vault-key")), 0o600);
    let mut names: Vec<_> = fs::read_dir(state.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["vault", "vault-key"], "no draft of the key is left");
}

#[test]
fn with_recipients_only_they_can_open() {
    let (_dir, state) = state();
    let friend = age::x25519::Identity::generate();
    let vault = Vault::prepare(&state, &[friend.to_public().to_string()]).unwrap();
    assert!(!state.path().join("vault-key").exists(), "no key of our own is made");
    let sealed = vault.seal(&object()).unwrap();
    assert!(matches!(vault.open(&sealed.file), Err(VaultError::NoKey { .. })));
    assert_eq!(age::decrypt(&friend, &fs::read(path_of(&state, &sealed)).unwrap()).unwrap(), CANARY);
}

#[test]
fn what_was_sealed_before_recipients_were_set_still_opens() {
    let (_dir, state) = state();
    let sealed = Vault::prepare(&state, &[]).unwrap().seal(&object()).unwrap();
    let friend = age::x25519::Identity::generate().to_public().to_string();
    assert_eq!(*Vault::prepare(&state, &[friend]).unwrap().open(&sealed.file).unwrap(), CANARY);
}

#[test]
fn a_wrong_recipient_is_named_by_its_place_and_not_repeated() {
    use age::secrecy::ExposeSecret as _;
    let (_dir, state) = state();
    let key = age::x25519::Identity::generate();
    let private = key.to_string().expose_secret().to_owned();
    let error = Vault::prepare(&state, &[key.to_public().to_string(), private.clone()]).unwrap_err();
    assert!(matches!(error, VaultError::BadRecipient { place: 2 }));
    assert!(!format!("{error} {error:?}").contains(&private));
}

#[test]
fn a_spoiled_key_is_an_error_and_a_new_one_does_not_open_older_backups() {
    let (_dir, state) = state();
    let sealed = Vault::prepare(&state, &[]).unwrap().seal(&object()).unwrap();
    let key = state.path().join("vault-key");
    fs::write(&key, "AGE-SECRET-KEY-1NONSENSE").unwrap();
    let error = Vault::prepare(&state, &[]).unwrap_err();
    assert!(matches!(error, VaultError::BadKey { .. }) && !error.to_string().contains("NONSENSE"), "{error}");
    fs::remove_file(&key).unwrap();
    let other = Vault::prepare(&state, &[]).unwrap();
    assert!(matches!(other.open(&sealed.file), Err(VaultError::OtherKey { .. })));
}

#[test]
fn a_key_others_can_read_is_not_used() {
    let (_dir, state) = state();
    drop(Vault::prepare(&state, &[]).unwrap());
    fs::set_permissions(state.path().join("vault-key"), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(Vault::prepare(&state, &[]), Err(VaultError::KeyExposed { mode: 0o640, .. })));
}

#[test]
fn any_changed_byte_or_other_name_is_refused() {
    let (_dir, state) = state();
    let vault = Vault::prepare(&state, &[]).unwrap();
    let sealed = vault.seal(&object()).unwrap();
    let path = path_of(&state, &sealed);
    let whole = fs::read(&path).unwrap();
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(matches!(vault.open(&sealed.file), Err(VaultError::Damaged { .. })), "byte {place}");
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(vault.open(&sealed.file), Err(VaultError::Read { .. })));
    for name in ["../vault-key", "x.age", "/etc/passwd", "", ".age", &sealed.file.to_uppercase()] {
        assert!(matches!(vault.open(name), Err(VaultError::BadName { .. })), "name: {name}");
    }
}

#[test]
fn a_vault_that_takes_no_files_seals_nothing() {
    let (_dir, state) = state();
    let vault = Vault::prepare(&state, &[]).unwrap();
    fs::remove_dir(state.path().join("vault")).unwrap();
    assert!(matches!(vault.seal(&object()), Err(VaultError::Write { .. })));
    fs::write(state.path().join("vault"), "").unwrap();
    assert!(matches!(Vault::prepare(&state, &[]), Err(VaultError::Folder { .. })));
}

#[test]
fn what_the_server_gave_and_dead_owners_do_not_come_back() {
    let owner = |uid: &str| json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": uid, "uid": uid });
    let before = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": { "a": "eA==" }, "status": { "phase": "x" },
        "metadata": {
            "name": "old", "namespace": "openshift-config", "uid": "u", "resourceVersion": "1", "generation": 2,
            "creationTimestamp": "2026-10-06T09:00:00Z", "managedFields": [], "selfLink": "/x",
            "deletionTimestamp": "2026-10-06T09:00:00Z", "deletionGracePeriodSeconds": 0,
            "labels": { "l": "1" }, "annotations": { "b": "2" }, "finalizers": ["example.com/keep"],
            "ownerReferences": [owner("alive"), owner("dead"), { "name": "no uid" }],
        },
    });
    let living = BTreeSet::from(["alive".to_owned()]);
    let expected = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": { "a": "eA==" },
        "metadata": {
            "name": "old", "namespace": "openshift-config", "labels": { "l": "1" }, "finalizers": ["example.com/keep"],
            "annotations": { "b": "2", "trueup/restored-from": "1a2b3c4d/a1" },
            "ownerReferences": [owner("alive")],
        },
    });
    assert_eq!(restorable(before.clone(), &living, "1a2b3c4d/a1"), expected);
    let orphan = restorable(before, &BTreeSet::new(), "1a2b3c4d/a1");
    assert_eq!(orphan["metadata"].get("ownerReferences"), None);
    let bare = restorable(json!({ "metadata": { "name": "x", "annotations": null } }), &living, "p/a1");
    assert_eq!(bare, json!({ "metadata": { "name": "x", "annotations": { "trueup/restored-from": "p/a1" } } }));
}

/// A disk that fails in one way.
#[derive(Debug)]
enum BrokenDisk {
    Full,
    /// The bytes are taken, and reading them fails.
    Unreadable,
    /// Other bytes come back than were written.
    Forgetful,
}

impl BackupDisk for BrokenDisk {
    fn write_new(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        match self {
            Self::Full => Err(io::Error::from(io::ErrorKind::StorageFull)),
            Self::Unreadable | Self::Forgetful => Ok(()),
        }
    }

    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        match self {
            Self::Full | Self::Unreadable => Err(io::Error::other("input/output error")),
            Self::Forgetful => Ok(vec![0; 300]),
        }
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Err(io::Error::other("input/output error"))
    }
}

#[test]
fn a_disk_that_fails_seals_nothing_and_says_what_failed() {
    let cases = [
        ("full", BrokenDisk::Full, "cannot be written"),
        ("it cannot be read back", BrokenDisk::Unreadable, "cannot be read"),
        ("other bytes come back", BrokenDisk::Forgetful, "does not read back"),
    ];
    for (case, disk, expected) in cases {
        let (_dir, state) = state();
        let vault = Vault::prepare(&state, &[]).unwrap().on_disk(Box::new(disk));
        let error = vault.seal(&object()).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("clientSecret"), "case: {case}: {error}");
    }
}

#[test]
fn a_missing_key_or_file_is_said_and_looking_makes_nothing() {
    let (_dir, state) = state();
    let sealed = Vault::prepare(&state, &[]).unwrap().seal(&object()).unwrap();
    assert_eq!(*Backups::look(&state).unwrap().open(&sealed.file).unwrap(), CANARY);
    let key = state.path().join("vault-key");
    fs::remove_file(&key).unwrap();
    let error = Backups::look(&state).unwrap().open(&sealed.file).unwrap_err();
    assert!(matches!(&error, VaultError::NoKey { key: said, .. } if *said == key), "{error}");
    assert!(!key.exists(), "looking makes no key");
    fs::remove_file(path_of(&state, &sealed)).unwrap();
    assert!(matches!(Backups::look(&state).unwrap().open(&sealed.file), Err(VaultError::Read { .. })));
}

#[test]
fn a_backup_is_forgotten_once_and_nothing_outside_of_the_vault_is() {
    let (_dir, state) = state();
    let vault = Vault::prepare(&state, &[]).unwrap();
    let sealed = vault.seal(&object()).unwrap();
    vault.forget(&sealed.file).unwrap();
    assert!(!path_of(&state, &sealed).exists());
    vault.forget(&sealed.file).unwrap();
    assert!(vault.forget("../vault-key").is_err() && state.path().join("vault-key").exists());
}

#[test]
fn whether_a_backup_could_be_made_is_found_out_without_making_anything() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trueup");
    assert_eq!(check_possible(&path, &[]), Ok(()));
    assert!(!path.exists());
    let state = StateFolder::prepare(&path).unwrap();
    assert_eq!(check_possible(&path, &[]), Ok(()));
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil, &str); 2] = [
        (
            "readable by others",
            |path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap(),
            "mode 755",
        ),
        (
            "a spoiled key",
            |path| {
                fs::write(path.join("vault-key"), "nonsense").unwrap();
                fs::set_permissions(path.join("vault-key"), fs::Permissions::from_mode(0o600)).unwrap();
            },
            "no age key",
        ),
    ];
    for (case, spoil, expected) in cases {
        spoil(state.path());
        let why = check_possible(&path, &[]).unwrap_err();
        assert!(why.contains(expected), "case: {case}: {why}");
        fs::set_permissions(state.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert!(check_possible(&path, &["age1nonsense".to_owned()]).is_err());
    assert!(check_possible(Path::new("/proc/trueup"), &[]).is_err(), "a disk that takes no folders");
}
