//! Connections to the simulated AWS: a tower service in this process, a port for other processes.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::BodyExt as _;
use percent_encoding::percent_decode_str;

use super::answer::{AwsAnswer, Refused};
use super::faults::{self, AwsFaultKind};
use super::{AwsCall, SimAws, ec2, signature, sts};
use crate::LocalServer;
use crate::body::SimBody;
use crate::service::date_header;

/// Why no response was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SimAwsError {
    #[error("connection reset by the simulated AWS")]
    Lost,
    /// Worded like the client's own resolver.
    #[error("dns error: no such region")]
    NoSuchHost,
    /// This machine is not one of AWS's.
    #[error("no route to the metadata service")]
    NoMetadata,
}

/// Where AWS's machines and containers find their credentials.
const METADATA_HOSTS: [&str; 5] =
    ["169.254.169.254", "169.254.170.2", "169.254.170.23", "[fd00:ec2::254]", "[fd00:ec2::23]"];

/// A connection.
#[derive(Clone)]
pub struct SimAwsService {
    aws: SimAws,
}

impl SimAws {
    /// Opens a port for plain HTTP. A custom endpoint such as `http://127.0.0.1:1234/` uses it.
    pub async fn listen(&self, address: SocketAddr) -> std::io::Result<LocalServer> {
        LocalServer::open(address, self.service()).await
    }
}

impl SimAwsService {
    pub(super) fn new(aws: SimAws) -> Self {
        Self { aws }
    }

    async fn send<B: Body<Data = Bytes>>(self, request: Request<B>) -> Result<Response<SimBody>, SimAwsError> {
        let aws = self.aws.clone();
        let mut response = self.handle(request).await?;
        response.headers_mut().extend(date_header(aws.now()));
        Ok(response)
    }

    async fn handle<B: Body<Data = Bytes>>(self, request: Request<B>) -> Result<Response<SimBody>, SimAwsError> {
        let (head, body) = request.into_parts();
        if METADATA_HOSTS.contains(&head.uri.host().unwrap_or_default()) {
            return Err(SimAwsError::NoMetadata);
        }
        let body = body.collect().await.map_err(|_| SimAwsError::Lost)?.to_bytes();
        let form = form(&body);
        let action = form.get("Action").cloned().unwrap_or_default();
        let named = host_region(head.uri.host().unwrap_or_default());
        if named.as_ref().is_some_and(|region| !self.aws.lock().regions.contains_key(region)) {
            return Err(SimAwsError::NoSuchHost);
        }
        let fault = self.note(&action, named.as_deref(), &head.headers, &form);
        let answer = match fault {
            Some(AwsFaultKind::Lost) => return Err(SimAwsError::Lost),
            Some(AwsFaultKind::Silence) => return std::future::pending().await,
            Some(AwsFaultKind::Refuse { status, code, message }) => {
                Refused::new(status, code, message).answer(service_of(&action))
            }
            Some(AwsFaultKind::Page { status, body }) => AwsAnswer { status, body: body.to_owned() },
            Some(AwsFaultKind::Malformed { body }) => AwsAnswer { status: 200, body },
            Some(AwsFaultKind::CutShort) => {
                let AwsAnswer { status, body } = self.answer(&action, head.uri.path(), &head.headers, &form, &body);
                let half = Bytes::copy_from_slice(&body.as_bytes()[..body.len() / 2]);
                return Ok(response(status, SimBody::cut(half)));
            }
            Some(AwsFaultKind::SlowBody) => {
                return Ok(response(200, SimBody::stalled(Bytes::from_static(b"<?xml"))));
            }
            None => self.answer(&action, head.uri.path(), &head.headers, &form, &body),
        };
        Ok(response(answer.status, SimBody::whole(Bytes::from(answer.body))))
    }

    /// Records the call and returns the fault for it.
    fn note(
        &self,
        action: &str,
        named: Option<&str>,
        headers: &http::HeaderMap,
        form: &BTreeMap<String, String>,
    ) -> Option<AwsFaultKind> {
        let scope = headers.get("authorization").and_then(|value| value.to_str().ok());
        let scoped = scope.and_then(|line| line.split('/').nth(2));
        let region = named.or(scoped).unwrap_or_default().to_owned();
        let mut state = self.aws.lock();
        let names = ec2::names(form).count();
        state.calls.push(AwsCall { action: action.to_owned(), region, names });
        faults::strike(&mut state.faults, action)
    }

    fn answer(
        &self,
        action: &str,
        path: &str,
        headers: &http::HeaderMap,
        form: &BTreeMap<String, String>,
        body: &[u8],
    ) -> AwsAnswer {
        let now = self.aws.now();
        let mut state = self.aws.lock();
        let service = service_of(action);
        let answered = if action == "AssumeRoleWithWebIdentity" {
            sts::assume_role_with_web_identity(&mut state, form, now)
        } else {
            signature::check(&state, service, path, headers, body, now).and_then(|signed| match action {
                "GetCallerIdentity" => Ok(sts::get_caller_identity(&signed)),
                "GetRole" => sts::get_role(&state, form),
                "DescribeInstanceTypes" => ec2::describe_instance_types(&state, &signed, form),
                "DescribeRegions" => ec2::describe_regions(&state, &signed),
                _ => Err(Refused::new(400, "InvalidAction", format!("The action {action} is not valid"))),
            })
        };
        answered.unwrap_or_else(|refused| refused.answer(service))
    }
}

impl_tower_service!(SimAwsService, SimBody, SimAwsError);

fn response(status: u16, body: SimBody) -> Response<SimBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("text/xml;charset=UTF-8"));
    response
}

fn service_of(action: &str) -> &'static str {
    match action {
        "GetRole" => "iam",
        _ if action.starts_with("Describe") => "ec2",
        _ => "sts",
    }
}

/// The region in an AWS host name.
fn host_region(host: &str) -> Option<String> {
    let mut parts = host.split('.');
    let service = parts.next()?;
    let known = ["ec2", "sts", "ec2-fips", "sts-fips"].contains(&service);
    let region = parts.next()?;
    (known && host.contains(".amazonaws.") || host.ends_with(".api.aws")).then(|| region.to_owned())
}

fn form(body: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(body).into_owned();
    let decoded = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}
