//! Certificates for the demo: cluster CAs, provider CAs and admin client certificates.
//!
//! Invariants: the DER is well formed and depends only on the generator. Signatures are random bytes and never verify.
//! CA private keys do not exist; a client key is generated with its certificate and opens nothing.
//! Elsewhere: TLS (the demo's servers speak plain HTTP).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{Timestamp, ToSpan as _};

use super::seeded_rng::SeededRng;

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
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];

/// A client certificate and its key, both PEM.
pub struct Client {
    pub certificate: String,
    pub key: String,
}

/// Returns a CA certificate as PEM, valid for ten years from `since`.
pub fn authority(rng: &mut SeededRng, common_name: &str, since: Timestamp) -> String {
    let until = since.checked_add((24 * 3650).hours()).unwrap_or(Timestamp::MAX);
    let serial = rng.bytes(8);
    let key = sequence(&[unsigned(rng.bytes(256)), tlv(INTEGER, &[1, 0, 1])]);
    let key = sequence(&[sequence(&[tlv(OBJECT_ID, RSA), tlv(NULL, &[])]), bits(&key)]);
    let is_authority = tlv(OCTET_STRING, &sequence(&[tlv(BOOLEAN, &[0xff])]));
    let constraint = sequence(&[tlv(OBJECT_ID, BASIC_CONSTRAINTS), tlv(BOOLEAN, &[0xff]), is_authority]);
    let name = name(&[(COMMON_NAME, common_name)]);
    let parts = [name.clone(), validity(since, until), name, key, tlv(0xa3, &sequence(&[constraint]))];
    pem("CERTIFICATE", &signed(rng, serial, &parts))
}

/// Returns a certificate of group `system:masters`, issued by `authority`.
pub fn client(rng: &mut SeededRng, authority: &str, since: Timestamp, until: Timestamp) -> Client {
    let seed = tlv(OCTET_STRING, &tlv(OCTET_STRING, &rng.bytes(32)));
    let private = sequence(&[tlv(INTEGER, &[0]), sequence(&[tlv(OBJECT_ID, ED25519)]), seed]);
    let der = rustls::pki_types::PrivatePkcs8KeyDer::from(private.as_slice()).into();
    let signing = rustls::crypto::ring::sign::any_supported_type(&der).expect("any 32 bytes are a key of this kind");
    let public = signing.public_key().expect("a key of this kind knows its public half");
    let serial = rng.bytes(8);
    let holder = name(&[(ORGANIZATION, "system:masters"), (COMMON_NAME, "system:admin")]);
    let parts = [name(&[(COMMON_NAME, authority)]), validity(since, until), holder, public.as_ref().to_vec()];
    Client { certificate: pem("CERTIFICATE", &signed(rng, serial, &parts)), key: pem("PRIVATE KEY", &private) }
}

fn pem(what: &str, der: &[u8]) -> String {
    let mut pem = format!("-----BEGIN {what}-----\n");
    for line in STANDARD.encode(der).as_bytes().chunks(64) {
        pem.extend(line.iter().copied().map(char::from));
        pem.push('\n');
    }
    pem.push_str(&format!("-----END {what}-----\n"));
    pem
}

/// Builds a certificate from issuer, validity, subject, key and optional extensions.
fn signed(rng: &mut SeededRng, serial: Vec<u8>, parts: &[Vec<u8>]) -> Vec<u8> {
    let algorithm = sequence(&[tlv(OBJECT_ID, SHA256_WITH_RSA), tlv(NULL, &[])]);
    let mut content = vec![tlv(0xa0, &tlv(INTEGER, &[2])), unsigned(serial), algorithm.clone()];
    content.extend_from_slice(parts);
    sequence(&[sequence(&content), algorithm, bits(&rng.bytes(256))])
}

fn validity(since: Timestamp, until: Timestamp) -> Vec<u8> {
    sequence(&[utc(since), utc(until)])
}

fn name(parts: &[(&[u8], &str)]) -> Vec<u8> {
    let part =
        |(kind, text): &(&[u8], &str)| tlv(SET, &sequence(&[tlv(OBJECT_ID, kind), tlv(UTF8_STRING, text.as_bytes())]));
    sequence(&parts.iter().map(part).collect::<Vec<_>>())
}

fn utc(time: Timestamp) -> Vec<u8> {
    tlv(UTC_TIME, time.strftime("%y%m%d%H%M%SZ").to_string().as_bytes())
}

/// A positive INTEGER: the first bit is cleared and the second set, so that the length is constant.
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
    fn x509_parser_reads_the_certificate_as_a_ca() {
        let since: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let pem = authority(&mut SeededRng::new(1, "x"), "keycloak root", since);
        let (_, block) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap();
        let read = block.parse_x509().unwrap();
        assert_eq!(read.subject().to_string(), "CN=keycloak root");
        assert!(read.is_ca());
        assert_eq!(read.validity().not_before.timestamp(), since.as_second());
        assert_eq!(pem, authority(&mut SeededRng::new(1, "x"), "keycloak root", since));
    }

    #[test]
    fn an_admin_certificate_matches_its_key() {
        use rustls::pki_types::pem::PemObject as _;
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};
        let (since, until) = ("2026-01-01T00:00:00Z".parse().unwrap(), "2026-02-01T00:00:00Z".parse().unwrap());
        let made = client(&mut SeededRng::new(1, "x"), "signer", since, until);
        let chain = vec![CertificateDer::from_pem_slice(made.certificate.as_bytes()).unwrap()];
        let (_, read) = x509_parser::parse_x509_certificate(&chain[0]).unwrap();
        assert_eq!(read.subject().to_string(), "O=system:masters, CN=system:admin");
        assert_eq!(read.validity().not_after.timestamp(), Timestamp::as_second(until));
        let key = PrivateKeyDer::from_pem_slice(made.key.as_bytes()).unwrap();
        let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        rustls::sign::CertifiedKey::new(chain.clone(), key).keys_match().unwrap();
    }
}
