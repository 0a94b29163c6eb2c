//! What every request gets before it is sent: the server's address, the headers, the login.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use hyper::body::Incoming;
use kube::client::Body;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::time::Instant;
use tower::{BoxError, Service};

use super::Impersonation;
use super::login::Login;
use super::pool::ConnectionPool;
use super::server_clock::ServerClock;

/// Names the program in the server's audit log.
const USER_AGENT: &str = concat!("trueup/", env!("CARGO_PKG_VERSION"));

/// Everything but what a header name may hold (RFC 9110 `token`) is escaped in the keys of `Impersonate-Extra-`.
const NOT_IN_HEADER_NAMES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'!').remove(b'$').remove(b'&');

/// The service under `kube::Client`.
pub(super) struct Stack {
    pool: Arc<ConnectionPool>,
    server: Uri,
    headers: HeaderMap,
    login: Arc<Login>,
    clock: ServerClock,
    limit: Option<Duration>,
}

/// The limit that the user set is over.
#[derive(Debug, thiserror::Error)]
#[error("no response within {limit:?} (--request-timeout)")]
struct NotInTime {
    limit: Duration,
}

impl Stack {
    pub(super) fn new(
        pool: Arc<ConnectionPool>,
        server: &Uri,
        headers: HeaderMap,
        login: Arc<Login>,
        clock: ServerClock,
    ) -> Self {
        Self { pool, server: server.clone(), headers, login, clock, limit: None }
    }

    /// The same with a limit for the time until the response to a read begins.
    pub(super) fn answered_within(self, limit: Option<Duration>) -> Self {
        Self { limit, ..self }
    }
}

impl Service<Request<Body>> for Stack {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The pooled client takes any number of requests; what limits them is the caller.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let (pool, login) = (self.pool.clone(), self.login.clone());
        let clock = self.clock.clone();
        // An answer that is late leaves a write unknown: writes have limits of their own.
        let limit = self.limit.filter(|_| request.method() == Method::GET && !is_watch(request.uri()));
        let addressed = address(&self.server, request.uri());
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        Box::pin(async move {
            *request.uri_mut() = addressed?;
            let (header, lease) = login.header().await?;
            if let Some(value) = header {
                request.headers_mut().insert(header::AUTHORIZATION, value);
            }
            let generation = pool.current();
            // Waiting for another request's dial is no part of this one.
            let timed = async {
                let sent = Instant::now();
                (answer(generation.http.request(request), limit).await, sent.elapsed())
            };
            let (response, took) = generation.dialing.alone_at_first(timed).await;
            let response = response?;
            clock.observe(response.headers(), login.now(), took);
            if response.status() == StatusCode::UNAUTHORIZED {
                login.refused(lease).await;
            }
            Ok(response)
        })
    }
}

/// A response that begins within the limit.
async fn answer<T, E: Into<BoxError>>(
    response: impl Future<Output = Result<T, E>>,
    limit: Option<Duration>,
) -> Result<T, BoxError> {
    match limit {
        Some(limit) => {
            tokio::time::timeout(limit, response).await.map_err(|_| NotInTime { limit })?.map_err(Into::into)
        }
        None => response.await.map_err(Into::into),
    }
}

/// Whether a request is a watch, whose first line may be far away.
fn is_watch(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "watch=true" || pair == "watch=1"))
}

/// A user, group or extra to act as that no header can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the impersonated user holds characters that no header can hold; check --as and --as-group, or the user's as fields"
)]
pub struct BadImpersonation;

/// The headers that are the same for every request. What `asked` sets replaces what the kubeconfig says.
///
/// # Errors
/// A user that no header can hold. A partial impersonation would be worse than none.
pub(super) fn headers(written: &Impersonation, asked: &Impersonation) -> Result<HeaderMap, BadImpersonation> {
    let mut headers = HeaderMap::new();
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    let acting = if *asked == Impersonation::default() { written } else { asked };
    headers.extend(impersonation_headers(acting).ok_or(BadImpersonation)?);
    Ok(headers)
}

fn impersonation_headers(acting: &Impersonation) -> Option<HeaderMap> {
    let Impersonation { user, uid, groups, extra } = acting;
    let mut headers = HeaderMap::new();
    let mut add = |name: HeaderName, value: &str| -> Option<()> {
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
        Some(())
    };
    if let Some(user) = user {
        add(HeaderName::from_static("impersonate-user"), user)?;
    }
    if let Some(uid) = uid {
        add(HeaderName::from_static("impersonate-uid"), uid)?;
    }
    for group in groups {
        add(HeaderName::from_static("impersonate-group"), group)?;
    }
    for (key, values) in extra {
        let name = format!("impersonate-extra-{}", utf8_percent_encode(&key.to_lowercase(), NOT_IN_HEADER_NAMES));
        for value in values {
            add(HeaderName::from_bytes(name.as_bytes()).ok()?, value)?;
        }
    }
    Some(headers)
}

/// Puts the server in front of a request's path. A server may have a path of its own (API gateways).
fn address(server: &Uri, asked: &Uri) -> Result<Uri, http::Error> {
    let prefix = server.path().trim_end_matches('/');
    let tail = asked.path_and_query().map_or("/", PathAndQuery::as_str);
    let mut parts = server.clone().into_parts();
    parts.path_and_query = Some(format!("{prefix}{tail}").parse()?);
    Ok(Uri::from_parts(parts)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_read_is_given_up_after_the_users_limit_and_a_watch_is_not_a_read() {
        let never = || std::future::pending::<Result<(), BoxError>>();
        let limit = Duration::from_millis(1500);
        let error = answer(never(), Some(limit)).await.unwrap_err();
        assert_eq!(error.to_string(), "no response within 1.5s (--request-timeout)");
        assert!(answer(async { Ok::<_, BoxError>(()) }, None).await.is_ok());
        for (uri, expected) in [("/x?watch=true&a=1", true), ("/x?a=watch=true", false), ("/x", false)] {
            assert_eq!(is_watch(&uri.parse().unwrap()), expected, "{uri}");
        }
    }

    #[test]
    fn a_servers_own_path_stays_in_front() {
        let cases = [
            ("plain", "https://h:6443", "/api/v1?limit=5", "https://h:6443/api/v1?limit=5"),
            ("slash at the end", "https://h:6443/", "/api", "https://h:6443/api"),
            ("gateway", "https://h/k8s/clusters/c-1", "/apis", "https://h/k8s/clusters/c-1/apis"),
            ("gateway with slash", "https://h/k8s/", "/apis?x=a%2Fb", "https://h/k8s/apis?x=a%2Fb"),
        ];
        for (case, server, asked, expected) in cases {
            let actual = address(&server.parse().unwrap(), &asked.parse().unwrap()).unwrap();
            assert_eq!(actual, expected, "case: {case}");
        }
    }

    fn shown(headers: &HeaderMap) -> Vec<String> {
        let mut lines: Vec<String> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        lines.sort();
        lines
    }

    #[test]
    fn who_to_act_as_is_said_whole_or_not_at_all() {
        let written =
            Impersonation { user: Some("file".to_owned()), groups: vec!["g".to_owned()], ..Default::default() };
        let asked = Impersonation {
            user: Some("flag".to_owned()),
            groups: vec!["a".to_owned(), "b".to_owned()],
            uid: Some("7".to_owned()),
            extra: BTreeMap::from([("Acme.com/Team".to_owned(), vec!["x".to_owned()])]),
        };
        let broken = Impersonation { user: Some("a\nb".to_owned()), ..Default::default() };
        let agent = format!("user-agent: {USER_AGENT}");
        let none = Impersonation::default();
        let cases = [
            ("none", headers(&none, &none), vec![]),
            ("kubeconfig", headers(&written, &none), vec!["impersonate-group: g", "impersonate-user: file"]),
            (
                "flags replace the kubeconfig, groups included",
                headers(&written, &asked),
                vec![
                    "impersonate-extra-acme.com%2fteam: x",
                    "impersonate-group: a",
                    "impersonate-group: b",
                    "impersonate-uid: 7",
                    "impersonate-user: flag",
                ],
            ),
            (
                "groups without a user are left for the server to refuse",
                headers(&written, &Impersonation { groups: vec!["a".to_owned()], ..Default::default() }),
                vec!["impersonate-group: a"],
            ),
        ];
        for (case, actual, expected) in cases {
            let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            expected.push(agent.clone());
            assert_eq!(shown(&actual.unwrap()), expected, "case: {case}");
        }
        assert_eq!(headers(&broken, &none), Err(BadImpersonation));
    }
}
