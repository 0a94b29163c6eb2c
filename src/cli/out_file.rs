//! Writes a file with mode 600 atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use trueup_core::engine::text::Printable;

/// Writes the text to `path`, replacing a regular file.
///
/// # Guarantees
/// The file has mode 0600 and is never seen half written. A link is not followed: it could point anywhere.
///
/// # Errors
/// The reason, as one line.
pub fn write_private(path: &Path, text: &Printable) -> Result<(), String> {
    write_private_parts(path, |write| write(text))
}

/// The same for bytes that are not text, such as an archive.
///
/// # Errors
/// As [`write_private`].
pub fn write_private_bytes(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_file(path, |file| file.write_all(bytes))
}

/// The same for a text that is made in parts.
///
/// # Errors
/// As [`write_private`].
pub fn write_private_parts(
    path: &Path,
    parts: impl FnOnce(&mut dyn FnMut(&Printable) -> std::io::Result<()>) -> std::io::Result<()>,
) -> Result<(), String> {
    write_file(path, |file| parts(&mut |part| file.write_all(part.as_bytes())))
}

/// The same, if there is nothing at `path` yet: a file that a person reviews is never exchanged.
///
/// # Errors
/// As [`write_private`], and if there is something at the path.
pub fn write_new_private_parts(
    path: &Path,
    parts: impl FnOnce(&mut dyn FnMut(&Printable) -> std::io::Result<()>) -> std::io::Result<()>,
) -> Result<(), String> {
    // Unlike a rename, a hard link fails where something exists.
    let publish = |draft: &Path| fs::hard_link(draft, path).and_then(|()| fs::remove_file(draft));
    write_and_publish(path, |file| parts(&mut |part| file.write_all(part.as_bytes())), publish)
}

fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => return Err("it is a symbolic link, which is not followed".to_owned()),
        Ok(found) if !found.is_file() => return Err("it is not a regular file".to_owned()),
        Ok(_) | Err(_) => {}
    }
    write_and_publish(path, write, |draft| fs::rename(draft, path))
}

fn write_and_publish(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    publish: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), String> {
    let name = path.file_name().ok_or("it names no file")?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = write_draft(&draft, write).and_then(|()| publish(&draft));
    written.map_err(|error| {
        // A failure to remove the draft is not reported: the first error matters.
        let _ = fs::remove_file(&draft);
        error.to_string()
    })
}

fn write_draft(draft: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> std::io::Result<()> {
    // `create_new` follows no link and opens no existing file.
    let file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_file_is_private_and_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan.json");
        fs::write(&path, "before").unwrap();
        write_private(&path, &Printable::line("after")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_never_replaces_one_that_exists() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan.json");
        let write = |text: &str| {
            let text = Printable::line(text);
            write_new_private_parts(&path, |write| write(&text))
        };
        write("first").unwrap();
        assert!(write("second").is_err_and(|message| message.contains("exists")));
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&path).unwrap();
        symlink("/nonexistent", &path).unwrap();
        assert!(write("third").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn links_and_folders_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "before").unwrap();
        symlink(&real, &link).unwrap();
        assert!(write_private(&link, &Printable::line("after")).is_err_and(|message| message.contains("link")));
        assert!(write_private(dir.path(), &Printable::line("after")).is_err_and(|message| message.contains("regular")));
        assert!(write_private(&dir.path().join("no/such"), &Printable::line("after")).is_err());
        assert_eq!(fs::read_to_string(&real).unwrap(), "before");
    }
}
