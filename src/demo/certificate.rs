//! Certificates that read like real ones: clusters have authorities, and providers have theirs.
//!
//! Always true: the DER is well formed and belongs to its dice. Key and signature are dice, too: nobody holds the
//! private key, and nothing verifies against it.
//!
//! Not here: TLS. The demo's servers speak plain HTTP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{Timestamp, ToSpan as _};

use super::dice::Dice;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const NULL: u8 = 0x05;
const OBJECT_ID: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const BOOLEAN: u8 = 0x01;

const SHA256_WITH_RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];

/// An authority's certificate as PEM, valid for ten years from `since`.
pub fn authority(dice: &mut Dice, common_name: &str, since: Timestamp) -> String {
    let encoded = STANDARD.encode(der(dice, common_name, since));
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in encoded.as_bytes().chunks(64) {
        pem.extend(line.iter().copied().map(char::from));
        pem.push('\n');
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}

fn der(dice: &mut Dice, common_name: &str, since: Timestamp) -> Vec<u8> {
    let until = since.checked_add((24 * 3650).hours()).unwrap_or(Timestamp::MAX);
    let name = name(common_name);
    let version = tlv(0xa0, &tlv(INTEGER, &[2]));
    let serial = unsigned(dice.bytes(8));
    let algorithm = sequence(&[tlv(OBJECT_ID, SHA256_WITH_RSA), tlv(NULL, &[])]);
    let validity = sequence(&[utc(since), utc(until)]);
    let key = sequence(&[unsigned(dice.bytes(256)), tlv(INTEGER, &[1, 0, 1])]);
    let key = sequence(&[sequence(&[tlv(OBJECT_ID, RSA), tlv(NULL, &[])]), bits(&key)]);
    let is_authority = tlv(OCTET_STRING, &sequence(&[tlv(BOOLEAN, &[0xff])]));
    let constraint = sequence(&[tlv(OBJECT_ID, BASIC_CONSTRAINTS), tlv(BOOLEAN, &[0xff]), is_authority]);
    let extensions = tlv(0xa3, &sequence(&[constraint]));
    let content = sequence(&[version, serial, algorithm.clone(), name.clone(), validity, name, key, extensions]);
    sequence(&[content, algorithm, bits(&dice.bytes(256))])
}

fn name(common_name: &str) -> Vec<u8> {
    let pair = sequence(&[tlv(OBJECT_ID, COMMON_NAME), tlv(UTF8_STRING, common_name.as_bytes())]);
    sequence(&[tlv(SET, &pair)])
}

fn utc(time: Timestamp) -> Vec<u8> {
    tlv(UTC_TIME, time.strftime("%y%m%d%H%M%SZ").to_string().as_bytes())
}

/// A positive number: the first bit is cleared and the second set, so that it keeps its length.
fn unsigned(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(first) = bytes.first_mut() {
        *first = *first & 0x7f | 0x40;
    }
    tlv(INTEGER, &bytes)
}

fn bits(content: &[u8]) -> Vec<u8> {
    tlv(BIT_STRING, &[&[0], content].concat())
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tlv(SEQUENCE, &parts.concat())
}

fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut bytes = vec![tag];
    match length {
        0..=0x7f => bytes.push(length as u8),
        0x80..=0xff => bytes.extend([0x81, length as u8]),
        _ => bytes.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    bytes.extend_from_slice(content);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_read_the_certificate_as_an_authority() {
        let since: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let pem = authority(&mut Dice::new(1, "x"), "keycloak root", since);
        let (_, block) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap();
        let read = block.parse_x509().unwrap();
        assert_eq!(read.subject().to_string(), "CN=keycloak root");
        assert!(read.is_ca());
        assert_eq!(read.validity().not_before.timestamp(), since.as_second());
        assert_eq!(pem, authority(&mut Dice::new(1, "x"), "keycloak root", since));
    }
}
