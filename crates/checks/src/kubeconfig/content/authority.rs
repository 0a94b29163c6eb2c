//! Certificate authorities as a set of fingerprints: line endings, order and repeats don't matter.

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::{Digest as _, Sha256};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::packed::decode;

/// SHA-256 over a certificate's DER.
type Print = [u8; 32];

/// Some authorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorities {
    /// Sorted, without repeats, never empty.
    prints: Box<[Print]>,
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
        let mut ends = Vec::new();
        for der in &certificates {
            let (_, certificate) = X509Certificate::from_der(der).ok()?;
            ends.push(Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()?);
        }
        let mut prints: Vec<Print> = certificates.iter().map(|der| Sha256::digest(der).into()).collect();
        prints.sort_unstable();
        prints.dedup();
        (!prints.is_empty()).then(|| Self { prints: prints.into(), first_ends: ends.into_iter().min() })
    }

    pub fn overlap(&self, other: &Self) -> Overlap {
        if self.prints == other.prints {
            return Overlap::Same;
        }
        let shared = self.prints.iter().any(|print| other.prints.binary_search(print).is_ok());
        if shared { Overlap::Partly } else { Overlap::Disjoint }
    }

    /// Passes on each fingerprint as a value by which objects are looked up.
    pub fn index(&self, each: &mut dyn FnMut(&str)) {
        for print in &self.prints {
            each(&print.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        }
    }

    /// The beginning of each fingerprint: authorities are public, and eight digits tell two apart.
    pub fn short(&self) -> String {
        let short = |print: &Print| print[..4].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        self.prints.iter().map(short).collect::<Vec<_>>().join(" ")
    }
}
