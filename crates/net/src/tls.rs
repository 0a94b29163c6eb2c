//! From PEM text to a TLS configuration.
//!
//! Invariant: no error quotes a certificate or a key; it names where the text came from.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme, WantsVerifier};
use zeroize::Zeroizing;

use crate::bundle_verifier::{Bundle, BundleVerifier};
use crate::roots::Roots;
use crate::secret::SecretText;
use crate::text::printable;

/// How a server proves its identity.
#[derive(Debug, Clone)]
pub enum Verification {
    /// By a certificate that these roots (or else the system's) signed for this name (or else the host's).
    Full { roots: Option<PemSource>, server_name: Option<String> },
    /// Not at all (`insecure-skip-tls-verify`).
    Skipped { server_name: Option<String> },
}

impl Verification {
    /// The name that replaces the URL's host in the TLS handshake.
    pub fn server_name(&self) -> Option<&str> {
        let (Self::Full { server_name, .. } | Self::Skipped { server_name }) = self;
        server_name.as_deref()
    }
}

/// PEM text, or the file that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PemSource {
    Inline(SecretText),
    File(PathBuf),
}

/// A client certificate with its private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    pub chain: PemSource,
    pub key: PemSource,
}

/// The versions of HTTP that are offered to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpVersions {
    /// HTTP/1.1 only: clouds, and the CONNECT to a proxy.
    One,
    /// HTTP/2 where the server has it: a watch is then a stream, not a connection.
    OneAndTwo,
}

/// The algorithms of all connections: one copy for a thousand clusters.
pub(crate) static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(ring::default_provider()));

/// Sessions that a connection to one server may resume. rustls reserves about 20 kB for its default of 256 sessions, for
/// each of a thousand clusters.
const SESSIONS_OF_ONE_SERVER: usize = 8;

/// Reads a file that the user's kubeconfig names, within a limit of size and time. This crate reads no files.
pub type ReadFile = fn(&Path) -> std::io::Result<Zeroizing<String>>;

/// Refuses every file, for roots that are given as data.
pub(crate) fn no_files(_: &Path) -> std::io::Result<Zeroizing<String>> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Why the TLS settings can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error("the {what} in {place} cannot be read ({why})")]
    NotReadable { what: &'static str, place: String, why: String },
    #[error("the {what} ({place}) holds no usable PEM; it should begin with -----BEGIN {begins}-----")]
    NotPem { what: &'static str, place: String, begins: &'static str },
    #[error("the client key ({place}) is encrypted; store it without a passphrase or use an exec plugin")]
    EncryptedKey { place: String },
    #[error("the client certificate and key ({place}) do not fit together, or their kind is not supported")]
    Mismatch { place: String },
    #[error("the system has no trusted certificates, and the kubeconfig names no certificate-authority")]
    NoRoots,
    #[error("tls-server-name {name:?} is neither a host name nor an address")]
    BadServerName { name: String },
}

/// The TLS configuration for a server with settings of its own, such as an API server.
///
/// # Errors
/// Roots, certificate or key that cannot be read or do not fit.
pub async fn client_config(
    verification: &Verification,
    certificate: Option<&ClientCertificate>,
    read_file: ReadFile,
) -> Result<ClientConfig, TlsError> {
    let builder = match verification {
        Verification::Full { roots: Some(roots), .. } => {
            let verifier = BundleVerifier::new(given_roots(roots, read_file).await?);
            builder().dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        Verification::Full { roots: None, .. } => builder().with_root_certificates(required_system_roots()?),
        Verification::Skipped { .. } => {
            let verifier = AcceptAny { provider: PROVIDER.clone() };
            builder().dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
    };
    let mut config = match certificate {
        None => builder.with_no_client_auth(),
        Some(certificate) => {
            let (chain, key) = identity(certificate, read_file).await?;
            let place = place(&certificate.key);
            builder.with_client_auth_cert(chain, key).map_err(|_| TlsError::Mismatch { place })?
        }
    };
    config.resumption = Resumption::in_memory_sessions(SESSIONS_OF_ONE_SERVER);
    Ok(offering(HttpVersions::OneAndTwo, config))
}

/// The configuration for servers whose certificates the system's roots or `extra` roots signed. Without any root the
/// first handshake fails; cleartext `http://` needs none.
pub(crate) fn system_config(extra: Option<&Roots>) -> ClientConfig {
    let mut store = system_roots();
    if let Some(extra) = extra {
        Arc::make_mut(&mut store).add_parsable_certificates(extra.certificates());
    }
    offering(HttpVersions::One, builder().with_root_certificates(store).with_no_client_auth())
}

/// The configuration for a proxy that is itself reached over TLS.
///
/// # Errors
/// The system has no roots.
pub(crate) fn proxy_config() -> Result<ClientConfig, TlsError> {
    let config = builder().with_root_certificates(required_system_roots()?).with_no_client_auth();
    Ok(offering(HttpVersions::One, config))
}

fn builder() -> ConfigBuilder<ClientConfig, WantsVerifier> {
    ClientConfig::builder_with_provider(PROVIDER.clone())
        .with_safe_default_protocol_versions()
        .expect("the ring provider speaks TLS 1.2 and 1.3")
}

fn offering(versions: HttpVersions, mut config: ClientConfig) -> ClientConfig {
    let one = b"http/1.1".to_vec();
    config.alpn_protocols = match versions {
        HttpVersions::One => vec![one],
        HttpVersions::OneAndTwo => vec![b"h2".to_vec(), one],
    };
    config
}

async fn given_roots(source: &PemSource, read_file: ReadFile) -> Result<Bundle, TlsError> {
    let what = "certificate authority";
    let text = read(source, what, read_file).await?;
    let mut store = RootCertStore::empty();
    let certificates: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(text.as_bytes()).flatten().collect();
    // A bundle may hold certificates of kinds that cannot be anchors; kubectl skips them, too.
    let (usable, _) = store.add_parsable_certificates(certificates.iter().cloned());
    if usable == 0 {
        return Err(TlsError::NotPem { what, place: place(source), begins: "CERTIFICATE" });
    }
    Ok(Bundle { store, certificates })
}

/// The system's roots. All connections share one copy, which is read again once none uses it: reading takes 5 ms and
/// 80 kB, for each of a thousand clusters.
fn system_roots() -> Arc<RootCertStore> {
    static SHARED: Mutex<Weak<RootCertStore>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(store) = shared.upgrade() {
        return store;
    }
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let store = Arc::new(store);
    *shared = Arc::downgrade(&store);
    store
}

fn required_system_roots() -> Result<Arc<RootCertStore>, TlsError> {
    let store = system_roots();
    if store.is_empty() { Err(TlsError::NoRoots) } else { Ok(store) }
}

async fn identity(
    certificate: &ClientCertificate,
    read_file: ReadFile,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let ClientCertificate { chain, key } = certificate;
    let what = "client certificate";
    let chain_text = read(chain, what, read_file).await?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain_text.as_bytes()).collect();
    let Some(certificates) = certificates.ok().filter(|all| !all.is_empty()) else {
        return Err(TlsError::NotPem { what, place: place(chain), begins: "CERTIFICATE" });
    };
    let what = "client key";
    let key_text = read(key, what, read_file).await?;
    if key_text.contains("BEGIN ENCRYPTED PRIVATE KEY") || key_text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(TlsError::EncryptedKey { place: place(key) });
    }
    let private = PrivateKeyDer::from_pem_slice(key_text.as_bytes());
    let private = private.map_err(|_| TlsError::NotPem { what, place: place(key), begins: "PRIVATE KEY" })?;
    Ok((certificates, private))
}

async fn read(source: &PemSource, what: &'static str, read_file: ReadFile) -> Result<Zeroizing<String>, TlsError> {
    match source {
        PemSource::Inline(text) => Ok(Zeroizing::new(text.expose().to_owned())),
        PemSource::File(path) => {
            let path = path.clone();
            let text = tokio::task::spawn_blocking(move || read_file(&path)).await;
            let text = text.unwrap_or_else(|ended| Err(std::io::Error::other(ended)));
            text.map_err(|error| TlsError::NotReadable { what, place: place(source), why: error.kind().to_string() })
        }
    }
}

fn place(source: &PemSource) -> String {
    match source {
        PemSource::Inline(_) => "given as data".to_owned(),
        PemSource::File(path) => printable(&path.to_string_lossy(), 300),
    }
}

/// Accepts any certificate, as `insecure-skip-tls-verify` demands. The server must still own its key.
#[derive(Debug)]
struct AcceptAny {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AcceptAny {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_share_the_systems_roots() {
        let held = system_roots();
        assert!(Arc::ptr_eq(&held, &system_roots()));
    }
}
