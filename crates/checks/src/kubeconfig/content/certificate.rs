//! A client certificate: who it makes one, how long it holds, and whether the key beside it is its own.

use jiff::Timestamp;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// A chain, leaf first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The leaf's common name: the user.
    pub user: Box<str>,
    /// The leaf's organizations: the groups.
    pub groups: Box<[Box<str>]>,
    /// When the leaf begins: it was made then.
    pub issued: Timestamp,
    /// When the last of the chain begins.
    pub from: Timestamp,
    /// When the first of the chain ends.
    pub until: Timestamp,
    pub pairing: KeyPairing,
}

/// Whether the private key belongs to the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPairing {
    Matches,
    /// A key of a kind that can't be looked into here.
    Unknown,
}

/// Why a certificate can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    #[error("client-certificate-data is not PEM certificates")]
    NotPem,
    #[error("client-key-data is missing beside the client certificate")]
    NoKey,
    #[error("client-certificate-data is missing beside the client key")]
    NoCertificate,
    #[error("client-key-data is not a PEM private key")]
    KeyNotPem,
    #[error("client-key-data does not belong to the client certificate")]
    OtherKey,
}

impl Certificate {
    /// Reads a chain and its key, both PEM.
    ///
    /// # Errors
    /// One of them can't be read, or they don't belong together.
    pub fn read(chain: &[u8], key: &[u8]) -> Result<Self, CertificateFault> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
            .map(|der| der.map(CertificateDer::into_owned))
            .collect::<Result<_, _>>()
            .map_err(|_| CertificateFault::NotPem)?;
        let spans: Vec<(Timestamp, Timestamp)> =
            chain.iter().map(|der| span(der)).collect::<Option<_>>().ok_or(CertificateFault::NotPem)?;
        let leaf = chain.first().and_then(|der| X509Certificate::from_der(der).ok());
        let (_, leaf) = leaf.ok_or(CertificateFault::NotPem)?;
        let user = leaf.subject().iter_common_name().next().and_then(|name| name.as_str().ok()).unwrap_or_default();
        let groups = leaf.subject().iter_organization().filter_map(|name| name.as_str().ok());
        let mut certificate = Self {
            user: user.into(),
            groups: groups.map(Into::into).collect(),
            issued: spans[0].0,
            from: spans.iter().map(|(from, _)| *from).max().unwrap_or(spans[0].0),
            until: spans.iter().map(|(_, until)| *until).min().unwrap_or(spans[0].1),
            pairing: KeyPairing::Unknown,
        };
        certificate.pairing = pairing(chain.clone(), key)?;
        Ok(certificate)
    }
}

fn span(der: &CertificateDer<'_>) -> Option<(Timestamp, Timestamp)> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let validity = certificate.validity();
    let at = |time: x509_parser::time::ASN1Time| Timestamp::from_second(time.timestamp()).ok();
    Some((at(validity.not_before)?, at(validity.not_after)?))
}

/// Compares public keys. A key of an algorithm the TLS library does not support cannot be compared.
fn pairing(chain: Vec<CertificateDer<'static>>, key: &[u8]) -> Result<KeyPairing, CertificateFault> {
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| CertificateFault::KeyNotPem)?;
    let Ok(signing) = rustls::crypto::ring::sign::any_supported_type(&key) else {
        return Ok(KeyPairing::Unknown);
    };
    match CertifiedKey::new(chain, signing).keys_match() {
        Ok(()) => Ok(KeyPairing::Matches),
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(CertificateFault::OtherKey),
        Err(_) => Ok(KeyPairing::Unknown),
    }
}
