//! Certificate authorities as a set of fingerprints: line endings, order and repeats don't matter.

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::packed::decode;

/// Longer subjects are cut: a bundle is kept for each kubeconfig.
const SUBJECT_CHARS_MAX: usize = 64;

/// SHA-256 over a certificate's DER.
type Print = [u8; 32];

/// One authority, ordered by its fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Authority {
    print: Print,
    until: Timestamp,
    /// Of its subject, as much as tells two apart.
    subject: Box<str>,
}

/// Some authorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorities {
    /// Sorted, without repeats, never empty.
    authorities: Box<[Authority]>,
    /// When the first of them ends.
    pub first_ends: Option<Timestamp>,
}

/// How two sets of authorities lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    Same,
    /// Some are in both: one is being replaced by another.
    Partly,
    Disjoint,
}

impl Authorities {
    /// Reads PEM, base64 of PEM, or base64 of that. Nothing when there is no clean row of certificates in it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Self::of_pem(bytes).or_else(|| {
            let once = decode(bytes)?;
            Self::of_pem(&once).or_else(|| Self::of_pem(&decode(&once)?))
        })
    }

    fn of_pem(pem: &[u8]) -> Option<Self> {
        let certificates: Vec<CertificateDer<'_>> =
            CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().ok()?;
        let mut authorities = Vec::new();
        for der in &certificates {
            let (_, certificate) = X509Certificate::from_der(der).ok()?;
            let until = Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()?;
            let subject: String = certificate.subject().to_string().chars().take(SUBJECT_CHARS_MAX).collect();
            authorities.push(Authority { print: Sha256::digest(der).into(), until, subject: subject.into() });
        }
        authorities.sort_unstable();
        authorities.dedup();
        let first_ends = authorities.iter().map(|one| one.until).min();
        (!authorities.is_empty()).then(|| Self { authorities: authorities.into(), first_ends })
    }

    pub fn overlap(&self, other: &Self) -> Overlap {
        if self.prints().eq(other.prints()) {
            return Overlap::Same;
        }
        let theirs: Vec<&Print> = other.prints().collect();
        let shared = self.prints().any(|print| theirs.binary_search(&print).is_ok());
        if shared { Overlap::Partly } else { Overlap::Disjoint }
    }

    fn prints(&self) -> impl Iterator<Item = &Print> {
        self.authorities.iter().map(|one| &one.print)
    }

    /// Passes on each fingerprint as a value by which objects are looked up.
    pub fn index(&self, each: &mut dyn FnMut(&str)) {
        for print in self.prints() {
            each(&print.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        }
    }

    /// The beginning of each fingerprint: authorities are public, and eight digits tell two apart.
    pub fn short(&self) -> String {
        self.prints().map(short).collect::<Vec<_>>().join(" ")
    }

    /// Each authority for a person: `CN=kubernetes, until 2035-10-10, sha256 4f1c8a2b`.
    pub fn described(&self) -> Vec<String> {
        let line = |one: &Authority| {
            let Authority { print, until, subject } = one;
            format!("{subject}, until {}, sha256 {}", until.strftime("%F"), short(print))
        };
        self.authorities.iter().map(line).collect()
    }
}

fn short(print: &Print) -> String {
    print[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}
