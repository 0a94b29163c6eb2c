//! The bytes of a record, and how damaged ones are classified.
//!
//! ```text
//! | length u32 LE | CRC-32 u32 LE | SHA-256 of the record before | payload: canonical JSON, `length` bytes |
//!                                  \------------- the CRC is taken over these two -------------------------/
//! ```
//!
//! The chain begins with the hash of the format's name. The CRC leaves the length out on purpose: when the length of
//! the last record is damaged, the rest still has its CRC, so it is not taken for an append that never finished.
//!
//! Invariants:
//! - a file that was cut anywhere is read up to the cut, and the torn tail is reported;
//! - a flipped byte anywhere is damage at the offset of its record: nothing is ever cut off because of it;
//! - a record that says the journal was compacted is the first, or damage;
//! - bytes are a torn tail only if no whole record stands in them.

use std::fmt;

use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{JournalError, Line, Record};
use crate::engine::canonical_text;

/// What the chain begins with, so that the journal of another format is never continued.
const FORMAT: &[u8] = b"trueup/journal/v1";

/// A record is a few hundred bytes; an approval that names 5,000 clusters takes about 1 MiB. More is a damaged length.
const PAYLOAD_MAX: usize = 4 * 1024 * 1024;

/// Length, CRC, hash.
const HEAD: usize = 4 + 4 + 32;

/// The end of the chain: what the next record is linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain([u8; 32]);

/// The rest of an append that never finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// Where the last whole record ends.
    pub offset: u64,
    /// How many bytes follow.
    pub bytes: u64,
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// The bytes are not the ones that were written.
    Bytes,
    /// The bytes are whole, but the record does not follow the one before it: something was taken out, put in or
    /// brought from another journal.
    Chain,
    /// The bytes are whole and in their place, and this version can't read them.
    Unknown,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "the bytes are not the ones that were written",
            Self::Chain => {
                "the record does not follow the one before it: one was taken out, or it is from another journal"
            }
            Self::Unknown => "the record is of a kind this version does not know",
        })
    }
}

/// What was in the file.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) lines: Vec<Line>,
    pub(super) chain: Chain,
    pub(super) torn: Option<TornTail>,
}

impl Chain {
    pub(super) fn start() -> Self {
        Self(Sha256::digest(FORMAT).into())
    }

    /// The hash of the last record.
    pub(super) fn end(self) -> [u8; 32] {
        self.0
    }

    /// Writes the record's bytes to `out` and moves on.
    pub(super) fn frame(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), JournalError> {
        let value = record.serialize(serde_json::value::Serializer).expect("a record is made of JSON values");
        let payload = canonical_text(&value).map_err(|source| JournalError::Fraction { source })?;
        if payload.len() > PAYLOAD_MAX {
            return Err(JournalError::TooLong { bytes: payload.len() });
        }
        let length = u32::try_from(payload.len()).expect("the limit is below 4 GiB");
        let start = out.len();
        out.extend(length.to_le_bytes());
        out.extend(checksum(&self.0, payload.as_bytes()).to_le_bytes());
        out.extend(self.0);
        out.extend(payload.as_bytes());
        *self = Self(Sha256::digest(&out[start..]).into());
        Ok(())
    }
}

/// Reads all records of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Reading, JournalError> {
    let mut reading = Reading { lines: Vec::new(), chain: Chain::start(), torn: None };
    let mut offset = 0;
    while offset < bytes.len() {
        let rest = &bytes[offset..];
        let damaged = |damage, lines: &[Line]| {
            Err(JournalError::Damaged { offset: to_u64(offset), records: lines.len(), damage })
        };
        match whole(rest) {
            None if is_torn(rest) => {
                reading.torn = Some(TornTail { offset: to_u64(offset), bytes: to_u64(rest.len()) });
                break;
            }
            None => return damaged(Damage::Bytes, &reading.lines),
            Some(frame) if frame.before != reading.chain.0 => return damaged(Damage::Chain, &reading.lines),
            Some(frame) => {
                let Some(record) = parse(frame.payload) else { return damaged(Damage::Unknown, &reading.lines) };
                if matches!(record, Record::Restarted { .. }) && offset > 0 {
                    return damaged(Damage::Chain, &reading.lines);
                }
                let length = HEAD + frame.payload.len();
                reading.chain = Chain(Sha256::digest(&rest[..length]).into());
                reading.lines.push(Line { record, hash: reading.chain.0 });
                offset += length;
            }
        }
    }
    Ok(reading)
}

/// The parts of a record whose CRC is right.
struct Frame<'b> {
    before: &'b [u8],
    payload: &'b [u8],
}

/// The record these bytes begin with, if it is all there and as it was written.
fn whole(bytes: &[u8]) -> Option<Frame<'_>> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let payload = rest.get(..payload_length(head)?)?;
    let before = &head[8..];
    (head[4..8] == checksum(before, payload).to_le_bytes()).then_some(Frame { before, payload })
}

fn payload_length(head: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(head.get(..4)?.try_into().ok()?);
    usize::try_from(length).ok().filter(|length| (1..=PAYLOAD_MAX).contains(length))
}

/// Whether bytes that begin with no whole record are the rest of an append that never finished.
///
/// Such a rest ends before its record does. A disk may have made the file longer before it wrote the content, so
/// zeros at the end count as not written; no record ends with one.
fn is_torn(rest: &[u8]) -> bool {
    let written = rest.iter().rposition(|byte| *byte != 0).map_or(&rest[..0], |last| &rest[..=last]);
    let ends_early = match written.split_at_checked(HEAD) {
        None => true,
        Some((head, payload)) => payload_length(head).is_some_and(|length| payload.len() < length),
    };
    ends_early && !has_its_checksum(written) && (1..written.len()).all(|from| whole(&written[from..]).is_none())
}

/// Whether everything up to the end has the CRC in its head, so that only the length can be damaged.
fn has_its_checksum(bytes: &[u8]) -> bool {
    bytes
        .split_at_checked(HEAD)
        .is_some_and(|(head, payload)| head[4..8] == checksum(&head[8..], payload).to_le_bytes())
}

fn parse(payload: &[u8]) -> Option<Record> {
    let value: Value = serde_json::from_slice(payload).ok()?;
    Record::deserialize(value).ok()
}

fn checksum(before: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(before);
    hasher.update(payload);
    hasher.finalize()
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).expect("files are shorter than 2^64 bytes")
}
