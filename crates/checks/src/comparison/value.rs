//! One value in one line: certificates by subject, end and fingerprint, long text by its size.
//!
//! Invariants: what looks like a credential is shown by its length only.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use trueup_core::redact::{credential_in, length_of};

/// Text longer than this says nothing to a person.
const CHARS_MAX: usize = 400;
/// Hexadecimal digits of a fingerprint: eight tell two apart.
const PRINT_BYTES: usize = 4;
/// Certificates of one bundle that are listed.
const CERTIFICATES_MAX: usize = 20;
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";

/// The tree in a text of JSON; nothing where it is no object and no list.
pub fn json_in(text: &str) -> Option<Value> {
    let tree: Value = text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(text).ok())??;
    let has_fields = tree.as_object().is_some_and(|fields| !fields.is_empty());
    (has_fields || tree.as_array().is_some_and(|items| !items.is_empty())).then_some(tree)
}

/// `1204 bytes, sha256 4f1c8a2b`
pub fn fingerprint(text: &str) -> String {
    format!("{} bytes, sha256 {}", text.len(), short_print(text.as_bytes()))
}

/// Each certificate of a PEM bundle: `CN=kubernetes, until 2035-10-10, sha256 4f1c8a2b`.
pub fn certificates(text: &str) -> Vec<String> {
    if !text.contains(CERTIFICATE) {
        return Vec::new();
    }
    let found = CertificateDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok);
    found.take(CERTIFICATES_MAX).map(|der| certificate(&der)).collect()
}

fn certificate(der: &[u8]) -> String {
    let print = short_print(der);
    match x509_parser::parse_x509_certificate(der) {
        Ok((_, certificate)) => {
            let until = jiff::Timestamp::from_second(certificate.validity().not_after.timestamp());
            let until = until.map_or_else(|_| String::new(), |at| format!(", until {}", at.strftime("%F")));
            format!("{}{until}, sha256 {print}", certificate.subject())
        }
        Err(_) => format!("unreadable certificate, sha256 {print}"),
    }
}

fn short_print(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(PRINT_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Any other text.
pub fn shown(text: &str) -> String {
    let line = text.trim_end();
    if credential_in(text).is_some() {
        length_of(text)
    } else if line.contains('\n') {
        format!("{} lines, {}", line.lines().count(), fingerprint(text))
    } else if text.chars().count() > CHARS_MAX {
        fingerprint(text)
    } else {
        text.to_owned()
    }
}
