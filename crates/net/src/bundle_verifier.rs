//! Verifying a server by a given CA bundle, as Go's `crypto/x509` does.
//!
//! Go trusts a certificate that is itself among the roots, whether or not it is a CA; webpki does not: it refuses a CA
//! as a server's certificate, and a leaf without its issuer.
//!
//! Invariants: host name and validity are checked for every certificate.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::tls::PROVIDER;

/// The certificates of a bundle, and those of them that can sign others.
pub struct Bundle {
    pub store: RootCertStore,
    pub certificates: Vec<CertificateDer<'static>>,
}

/// Accepts what the bundle signed, and what is in it.
#[derive(Debug)]
pub struct BundleVerifier {
    signed: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl BundleVerifier {
    pub fn new(bundle: Bundle) -> Self {
        let provider = PROVIDER.clone();
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(bundle.store), provider)
            .build()
            .expect("a bundle has at least one usable certificate and no revocation lists");
        Self { signed, certificates: bundle.certificates }
    }
}

/// Whether only the chain is what webpki refused. It checks the validity before that.
fn is_about_the_chain(error: &Error) -> bool {
    let Error::InvalidCertificate(error) = error else { return false };
    // webpki's error type is not part of rustls' interface.
    let is_ca = |error: &CertificateError| matches!(error, CertificateError::Other(other) if format!("{:?}", other.0) == "CaUsedAsEndEntity");
    *error == CertificateError::UnknownIssuer || is_ca(error)
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let in_bundle = self.certificates.iter().any(|held| held.as_ref() == end_entity.as_ref());
        match verified {
            Err(error) if in_bundle && is_about_the_chain(&error) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    use super::*;

    /// A certificate that signs itself, valid in 2026.
    fn certificate(host: &str, is_ca: IsCa) -> CertificateDer<'static> {
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.not_before = rcgen::date_time_ymd(2026, 1, 1);
        params.not_after = rcgen::date_time_ymd(2027, 1, 1);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().clone()
    }

    fn verify(bundle: &[&CertificateDer<'static>], server: &CertificateDer<'static>, host: &str, year: u64) -> bool {
        let certificates: Vec<CertificateDer<'static>> = bundle.iter().map(|one| (*one).clone()).collect();
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(certificates.iter().cloned());
        let verifier = BundleVerifier::new(Bundle { store, certificates });
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs((year - 1970) * 31_556_952 + 180 * 86_400));
        verifier.verify_server_cert(server, &[], &name, &[], now).is_ok()
    }

    #[test]
    fn a_certificate_that_is_in_the_bundle_is_trusted_whether_or_not_it_is_a_ca() {
        let ca = certificate("idp.example", IsCa::Ca(BasicConstraints::Unconstrained));
        let leaf = certificate("idp.example", IsCa::NoCa);
        let explicit = certificate("idp.example", IsCa::ExplicitNoCa);
        let other = certificate("idp.example", IsCa::Ca(BasicConstraints::Unconstrained));
        let (now, host) = (2026, "idp.example");
        let cases = [
            ("a CA in its own bundle", verify(&[&ca], &ca, host, now), true),
            ("beside another", verify(&[&other, &ca], &ca, host, now), true),
            ("no CA", verify(&[&leaf], &leaf, host, now), true),
            ("expressly no CA", verify(&[&explicit], &explicit, host, now), true),
            ("not in the bundle", verify(&[&other], &ca, host, now), false),
            ("another host name", verify(&[&ca], &ca, "other.example", now), false),
            ("expired", verify(&[&ca], &ca, host, 2028), false),
            ("not yet valid", verify(&[&ca], &ca, host, 2025), false),
        ];
        for (case, verified, expected) in cases {
            assert_eq!(verified, expected, "case: {case}");
        }
    }
}
