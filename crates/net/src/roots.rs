//! Certificate authorities beside the system's: a bundle from a ConfigMap or a file.
//!
//! Invariant: every certificate of a bundle is parsed before any is used. A bundle is user data, and half of one would
//! fail later and elsewhere, as "unknown authority".

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// A bundle whose certificates were all parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots(Vec<CertificateDer<'static>>);

/// Why a bundle cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRoots {
    #[error("the CA bundle holds no certificate; it should begin with -----BEGIN CERTIFICATE-----")]
    NoPem,
    #[error("certificate {number} of the CA bundle cannot be parsed")]
    BadCertificate { number: usize },
}

impl Roots {
    /// Reads a bundle. Text that is empty but for blanks is no bundle.
    ///
    /// # Errors
    /// No certificate in it, or one that cannot be parsed.
    pub fn parse(pem: &str) -> Result<Option<Self>, BadRoots> {
        if pem.trim().is_empty() {
            return Ok(None);
        }
        let mut store = RootCertStore::empty();
        let mut certificates = Vec::new();
        for (index, read) in CertificateDer::pem_slice_iter(pem.as_bytes()).enumerate() {
            let bad = BadRoots::BadCertificate { number: index + 1 };
            let certificate = read.map_err(|_| bad.clone())?;
            store.add(certificate.clone()).map_err(|_| bad)?;
            certificates.push(certificate);
        }
        if certificates.is_empty() { Err(BadRoots::NoPem) } else { Ok(Some(Self(certificates))) }
    }

    pub(crate) fn certificates(&self) -> impl Iterator<Item = CertificateDer<'static>> {
        self.0.iter().cloned()
    }
}
