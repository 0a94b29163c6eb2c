//! What the tests of this module share: certificates, canned API servers, a runtime.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use jiff::Timestamp;
use kube::client::Body;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};

use super::transport::Clock;

/// A certificate authority with its key.
pub(super) struct Authority {
    params: CertificateParams,
    certificate: rcgen::Certificate,
    key: KeyPair,
}

/// A certificate that an authority signed, with its key.
pub(super) struct Signed {
    pub chain: String,
    pub key: KeyPair,
    pub der: rustls::pki_types::CertificateDer<'static>,
}

pub(super) fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    Authority { params, certificate, key }
}

impl Authority {
    pub(super) fn pem(&self) -> String {
        self.certificate.pem()
    }

    pub(super) fn der(&self) -> &[u8] {
        self.certificate.der()
    }

    pub(super) fn sign(&self, names: &[&str], key: KeyPair) -> Signed {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let params = CertificateParams::new(names).unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        Signed { chain: certificate.pem(), der: certificate.der().clone(), key }
    }
}

/// A client whose server knows these paths and answers 404 to any other. Paths are compared without their query.
pub(crate) fn answering(answers: Vec<(&'static str, u16, serde_json::Value)>) -> kube::Client {
    answering_with(move |request| {
        let known = answers.iter().find(|(path, _, _)| *path == request.uri().path());
        known.map_or((404, serde_json::json!({})), |(_, code, body)| (*code, body.clone()))
    })
}

/// A client whose server answers each request as it is asked to.
pub(crate) fn answering_with(
    answer: impl Fn(&Request<Body>) -> (u16, serde_json::Value) + Send + Sync + 'static,
) -> kube::Client {
    let answer = Arc::new(answer);
    let service = tower::service_fn(move |request: Request<Body>| {
        let (code, body) = answer(&request);
        let response = Response::builder().status(code).body(Full::new(Bytes::from(body.to_string()))).unwrap();
        async move { Ok::<_, Infallible>(response) }
    });
    kube::Client::new(service, "default")
}

/// Runs a future to its end.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A clock that stands still.
pub(super) fn still() -> Clock {
    Arc::new(|| Timestamp::UNIX_EPOCH)
}

/// A port of this machine on which no process listens, reserved while this lives.
pub(super) struct ClosedPort {
    pub port: u16,
    _held: tokio::net::TcpSocket,
}

pub(super) fn closed_port() -> ClosedPort {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    ClosedPort { port: socket.local_addr().unwrap().port(), _held: socket }
}
