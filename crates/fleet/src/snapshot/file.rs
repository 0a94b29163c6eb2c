//! Reading one file: its objects and its problems.
//!
//! Invariants:
//! - the file's bytes and every object cut out of them are wiped after use;
//! - error messages are our own, because parsers quote the content.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::limits::Aliases;
use super::walk::why;
use super::{document, yaml};
use trueup_core::decode::recording::RecordedObject;

/// Larger files are not read: the text, its objects and their JSON are in memory at once, about three times this. A list
/// of 25,000 objects of 8 kB still fits.
pub(super) const FILE_BYTES_MAX: u64 = 200 * 1024 * 1024;

/// Objects and problems of a file.
#[derive(Default)]
pub(super) struct Parsed {
    pub objects: Vec<(RecordedObject, Spot)>,
    pub faults: Vec<(Option<Spot>, String)>,
}

/// A position in a file: the line its document starts on, and the item of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub line: u64,
    pub item: Option<usize>,
}

impl Parsed {
    fn fault(&mut self, line: Option<u64>, message: impl Into<String>) {
        self.faults.push((line.map(|line| Spot { line, item: None }), message.into()));
    }

    fn document(&mut self, line: u64, json: &str) {
        let Self { objects, faults } = self;
        document::objects(json, &mut |object, item| objects.push((object, Spot { line, item })), &mut |nameless| {
            faults.push((Some(Spot { line, item: nameless.item }), nameless.message.to_owned()))
        });
    }
}

/// Why a file is not text that can be read, and the line it is about.
pub(super) type TextFault = (Option<u64>, String);

/// Reads the objects of a file.
pub(super) fn read_objects(path: &Path, aliases: &Aliases) -> Parsed {
    parse_objects(path, read_text(path, FILE_BYTES_MAX), aliases)
}

/// Parses the objects of a file's text. The path says in which language.
pub(super) fn parse_objects(path: &Path, text: Result<Zeroizing<String>, TextFault>, aliases: &Aliases) -> Parsed {
    let mut parsed = Parsed::default();
    match text {
        Err((line, message)) => parsed.fault(line, message),
        Ok(text) if is_json(path) => read_json(&text, &mut parsed),
        Ok(text) => {
            let end = yaml::documents(&text, aliases, |document| parsed.document(document.line, document.json));
            if let Err(fault) = end {
                parsed.fault(Some(fault.line), fault.message);
            }
        }
    }
    parsed
}

/// Reads a file as text, without a byte order mark.
pub(super) fn read_text(path: &Path, bytes_max: u64) -> Result<Zeroizing<String>, TextFault> {
    let cant = |error: std::io::Error| (None, format!("cannot be read ({}): check its mode", why(&error)));
    // Opening a pipe without this flag waits for its writer. The open file is asked what it is: its path may have changed.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(cant)?;
    let found = file.metadata().map_err(cant)?;
    if !found.is_file() {
        return Err((None, "is not a regular file: replace it".to_owned()));
    }
    let size = found.len();
    if size > bytes_max {
        return Err((None, too_large(size, bytes_max)));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(size as usize + 1));
    file.by_ref().take(bytes_max + 1).read_to_end(&mut bytes).map_err(cant)?;
    if bytes.len() as u64 > bytes_max {
        return Err((None, format!("has more than {} MiB and was not read: split it", bytes_max / 1024 / 1024)));
    }
    text_of(bytes)
}

/// The message for a file over a limit.
pub(super) fn too_large(size: u64, bytes_max: u64) -> String {
    let (size, limit) = (size / 1024 / 1024, bytes_max / 1024 / 1024);
    format!("is {size} MiB (limit {limit} MiB) and was not read: split it")
}

/// The bytes of a file as text, without a byte order mark.
pub(super) fn text_of(mut bytes: Zeroizing<Vec<u8>>) -> Result<Zeroizing<String>, TextFault> {
    let text = String::from_utf8(std::mem::take(&mut *bytes)).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = Zeroizing::new(error.into_bytes());
        (Some(line_at(&bytes, valid)), "is not UTF-8 text from here on: convert or remove it".to_owned())
    })?;
    let mut text = Zeroizing::new(text);
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

fn read_json(text: &str, parsed: &mut Parsed) {
    let (mut line, mut counted) = (1, 0);
    for document in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        match document {
            Ok(json) => {
                let at = json.get().as_ptr() as usize - text.as_ptr() as usize;
                line += lines_in(&text.as_bytes()[counted..at]);
                counted = at;
                if json.get() != "null" {
                    parsed.document(line, json.get());
                }
            }
            Err(error) => parsed.fault(Some(error.line() as u64), "is not valid JSON from here on: fix or remove it"),
        }
    }
}

/// The line number of a byte, counted from 1.
fn line_at(bytes: &[u8], at: usize) -> u64 {
    1 + lines_in(&bytes[..at])
}

fn lines_in(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
