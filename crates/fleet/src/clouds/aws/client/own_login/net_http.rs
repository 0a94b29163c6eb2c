//! The HTTP client of aws-config: every request goes through `net`, and so through the egress policy.
//!
//! Invariants:
//! - addresses of this machine and of its metadata services are never asked through a proxy;
//! - of a failed request the host and AWS's code are kept, and neither body nor headers: they hold credentials.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient as SmithyClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http::{Request, Uri};
use serde_json::Value;

use super::super::query::refusal;
use trueup_net::AddressKind;
use trueup_net::http::{Answer, HttpClient, HttpError};

/// How long one answer may take where the caller sets no limit.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(6);

/// The two ways to a server.
#[derive(Debug, Clone)]
pub(super) struct NetHttp {
    /// By the proxies of the environment.
    pub proxied: HttpClient,
    /// Without a proxy: loopback, link-local and metadata addresses.
    pub direct: HttpClient,
    pub failures: Failures,
}

/// The last request that failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Failures(Arc<Mutex<Option<Failure>>>);

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    Answered {
        host: String,
        status: u16,
        /// AWS's own; empty where there is none.
        code: String,
    },
    Unanswered {
        host: String,
        error: HttpError,
    },
}

impl Failures {
    pub(super) fn last(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, failure: Failure) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }
}

impl SmithyClient for NetHttp {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        let limit = settings.connect_timeout().unwrap_or_default() + settings.read_timeout().unwrap_or_default();
        let answer_timeout = if limit.is_zero() { ANSWER_TIMEOUT } else { limit.min(ANSWER_TIMEOUT) };
        SharedHttpConnector::new(NetConnector { http: self.clone(), answer_timeout })
    }
}

#[derive(Debug, Clone)]
struct NetConnector {
    http: NetHttp,
    answer_timeout: Duration,
}

impl HttpConnector for NetConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let connector = self.clone();
        HttpConnectorFuture::new(async move { connector.send(request).await })
    }
}

impl NetConnector {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
        let (head, body) = request.into_parts();
        let Some(body) = body.bytes().map(Bytes::copy_from_slice) else {
            return Err(ConnectorError::user("the body of a request for credentials is a stream".into()));
        };
        let host = head.uri.host().unwrap_or_default().to_owned();
        let client = self.client_for(&head.uri).clone().within(self.answer_timeout);
        match client.send(Request::from_parts(head, body)).await {
            Ok(answer) => {
                if !answer.status.is_success() {
                    let (status, code) = (answer.status.as_u16(), code_of(&answer));
                    self.http.failures.note(Failure::Answered { host, status, code });
                }
                response(answer)
            }
            Err(error) => {
                self.http.failures.note(Failure::Unanswered { host, error: error.clone() });
                Err(connector_error(error))
            }
        }
    }

    fn client_for(&self, uri: &Uri) -> &HttpClient {
        match AddressKind::of_host(uri.host().unwrap_or_default()) {
            AddressKind::Ordinary => &self.http.proxied,
            AddressKind::Loopback | AddressKind::Unspecified | AddressKind::LinkLocal | AddressKind::Metadata => {
                &self.http.direct
            }
        }
    }
}

fn response(answer: Answer) -> Result<HttpResponse, ConnectorError> {
    let Answer { status, headers, body } = answer;
    let mut response = http::Response::new(SdkBody::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    HttpResponse::try_from(response).map_err(|error| ConnectorError::other(error.into(), None))
}

fn connector_error(error: HttpError) -> ConnectorError {
    match &error {
        HttpError::TimedOut { .. } => ConnectorError::timeout(error.into()),
        // Sending it again would be refused again.
        HttpError::NotAllowed(_) => ConnectorError::user(error.into()),
        HttpError::NotReached(_) | HttpError::BrokeOff | HttpError::TooLarge { .. } => ConnectorError::io(error.into()),
    }
}

/// The code of a refusal: a header (SSO), a JSON field (OIDC, containers), or an XML element (STS).
fn code_of(answer: &Answer) -> String {
    let header = answer.headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok());
    // `UnauthorizedException:http://internal.amazon.com/…` names the same.
    let header = header.and_then(|text| text.split([':', '#']).next());
    let json: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let field = |name: &str| Some(json.as_ref()?.get(name)?.as_str()?.to_owned());
    let in_json = ["code", "Code", "error", "__type"].into_iter().find_map(field);
    header.map(str::to_owned).or(in_json).unwrap_or_else(|| refusal(&answer.body).0)
}
