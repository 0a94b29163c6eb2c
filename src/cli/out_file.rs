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

fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => return Err("it is a symbolic link, which is not followed".to_owned()),
        Ok(found) if !found.is_file() => return Err("it is not a regular file".to_owned()),
        Ok(_) | Err(_) => {}
    }
    let name = path.file_name().ok_or("it names no file")?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = write_draft(&draft, write).and_then(|()| fs::rename(&draft, path));
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
