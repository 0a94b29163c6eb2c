//! From PEM text to a TLS configuration.
//!
//! Always true: no error quotes a certificate or a key; it names where the text came from.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use zeroize::Zeroizing;

use super::{ClientCertificate, PemSource, Verification};
use crate::connect::text::printable;

/// Why the TLS settings can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error("the {what} in {place} can't be read ({why})")]
    NotReadable { what: &'static str, place: String, why: String },
    #[error("the {what} ({place}) holds no PEM that can be used; it should begin with -----BEGIN {begins}-----")]
    NotPem { what: &'static str, place: String, begins: &'static str },
    #[error("the client key ({place}) is encrypted; store it without a passphrase or use an exec plugin")]
    EncryptedKey { place: String },
    #[error("the client certificate and key ({place}) don't fit together, or are of a kind that isn't supported")]
    Mismatch { place: String },
    #[error("the system has no trusted certificates, and the kubeconfig names no certificate-authority")]
    NoRoots,
    #[error("tls-server-name {name:?} is neither a host name nor an address")]
    BadServerName { name: String },
}

/// The TLS configuration for one API server.
///
/// # Errors
/// Roots, certificate or key that can't be read or don't fit.
pub(super) async fn client_config(
    verification: &Verification,
    certificate: Option<&ClientCertificate>,
) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("the ring provider speaks TLS 1.2 and 1.3");
    let builder = match verification {
        Verification::Full { roots: Some(roots), .. } => builder.with_root_certificates(given_roots(roots).await?),
        Verification::Full { roots: None, .. } => builder.with_root_certificates(system_roots()?),
        Verification::Skipped { .. } => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnybody { provider }))
        }
    };
    let mut config = match certificate {
        None => builder.with_no_client_auth(),
        Some(certificate) => {
            let (chain, key) = identity(certificate).await?;
            let place = place(&certificate.key);
            builder.with_client_auth_cert(chain, key).map_err(|_| TlsError::Mismatch { place })?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The configuration for a proxy that is itself spoken to over TLS: system roots, HTTP/1.1 for the CONNECT.
///
/// # Errors
/// The system has no roots.
pub(super) fn proxy_config() -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the ring provider speaks TLS 1.2 and 1.3")
        .with_root_certificates(system_roots()?)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

async fn given_roots(source: &PemSource) -> Result<RootCertStore, TlsError> {
    let what = "certificate authority";
    let text = read(source, what).await?;
    let mut store = RootCertStore::empty();
    // A bundle may hold certificates of kinds that can't be anchors; kubectl skips them, too.
    let (usable, _) = store.add_parsable_certificates(CertificateDer::pem_slice_iter(text.as_bytes()).flatten());
    if usable == 0 {
        return Err(TlsError::NotPem { what, place: place(source), begins: "CERTIFICATE" });
    }
    Ok(store)
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    let (usable, _) = store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if usable == 0 { Err(TlsError::NoRoots) } else { Ok(store) }
}

async fn identity(
    certificate: &ClientCertificate,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let ClientCertificate { chain, key } = certificate;
    let what = "client certificate";
    let chain_text = read(chain, what).await?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain_text.as_bytes()).collect();
    let Some(certificates) = certificates.ok().filter(|all| !all.is_empty()) else {
        return Err(TlsError::NotPem { what, place: place(chain), begins: "CERTIFICATE" });
    };
    let what = "client key";
    let key_text = read(key, what).await?;
    if key_text.contains("BEGIN ENCRYPTED PRIVATE KEY") || key_text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(TlsError::EncryptedKey { place: place(key) });
    }
    let private = PrivateKeyDer::from_pem_slice(key_text.as_bytes());
    let private = private.map_err(|_| TlsError::NotPem { what, place: place(key), begins: "PRIVATE KEY" })?;
    Ok((certificates, private))
}

async fn read(source: &PemSource, what: &'static str) -> Result<Zeroizing<String>, TlsError> {
    match source {
        PemSource::Inline(text) => Ok(Zeroizing::new(text.expose().to_owned())),
        PemSource::File(path) => tokio::fs::read_to_string(path)
            .await
            .map(Zeroizing::new)
            .map_err(|error| TlsError::NotReadable { what, place: place(source), why: error.kind().to_string() }),
    }
}

fn place(source: &PemSource) -> String {
    match source {
        PemSource::Inline(_) => "given as data".to_owned(),
        PemSource::File(path) => printable(&path.to_string_lossy(), 300),
    }
}

/// Takes any certificate, as `insecure-skip-tls-verify` demands. Still, the server must own the key of the one it shows.
#[derive(Debug)]
struct AcceptAnybody {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AcceptAnybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
