//! Requests with a token: reads that are repeated within bounds, writes that are not.
//!
//! Invariants:
//! - a read is sent at most [`TRIES_MAX`] times, and once more after a refused token;
//! - a write is sent once, whatever comes back;
//! - every request is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::endpoints::{Endpoints, IbmService};
use super::error::{CloudError, Problem, looks_like_a_page, read_body};
use super::key::{AccessToken, Credential, Exchange, TOKEN_FILE_FOR};
use super::paging::Pages;
use super::token::{Fitness, HeldToken};
use crate::clouds::RecentTagWrites;
use trueup_core::engine::TAG_WRITES_TIME;
use trueup_core::engine::text::{Charset, printable};
use trueup_net::http::{Answer, HttpClient};
use trueup_net::{SecretText, hide};

const USER_AGENT: &str = concat!("trueup/", env!("CARGO_PKG_VERSION"));

/// How often a read is sent. With pauses of 1, 2, 4 and 8 s a service may be away for a quarter of a minute.
const TRIES_MAX: u32 = 5;
const PAUSE_FIRST: Duration = Duration::from_secs(1);

/// The longest wait a service may ask for. The tagging API's limits are by the minute; who asks for more is not waited for.
const PAUSE_MAX: Duration = Duration::from_secs(65);

/// Everything but the characters that are themselves in a path segment or a query value.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Parts of a token that are shorter say nothing: a signature in tests has four letters.
const TOKEN_PART_MIN: usize = 8;

/// Where services say which request an answer belongs to.
const REQUEST_IDS: [&str; 4] = ["x-request-id", "transaction-id", "x-correlation-id", "x-global-transaction-id"];

/// One request in words.
pub(super) struct Ask {
    pub service: IbmService,
    pub operation: &'static str,
    pub method: Method,
    pub url: String,
    /// PowerVS wants to know the workspace in a header.
    pub crn: Option<HeaderValue>,
    pub body: Option<Value>,
}

impl Ask {
    pub(super) fn get(service: IbmService, operation: &'static str, url: String) -> Self {
        Self { service, operation, method: Method::GET, url, crn: None, body: None }
    }

    pub(super) fn error(&self, problem: Problem) -> CloudError {
        CloudError::new(self.service, self.operation, problem)
    }
}

/// An answer with a successful status.
pub(super) struct Got {
    body: Bytes,
    request_id: Option<String>,
}

impl Got {
    /// Decodes the body. An error quotes nothing of it.
    pub(super) fn decode<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, CloudError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let what = if looks_like_a_page(&self.body) {
                "an HTML page".to_owned()
            } else {
                format!("{:?} error at line {} column {}", error.classify(), error.line(), error.column())
            };
            CloudError { request_id: self.request_id.clone(), ..ask.error(Problem::NotUnderstood(what)) }
        })
    }
}

/// One key's way to the services.
pub(super) struct Session {
    http: HttpClient,
    endpoints: Endpoints,
    credential: Credential,
    /// The secret of the last exchange, which must not come back in a message.
    exchanged: std::sync::Mutex<Option<SecretText>>,
    /// When the tags of a resource were last changed from here, by its CRN: the search index lags behind.
    own_changes: std::sync::Mutex<BTreeMap<String, Instant>>,
    /// The same of other processes of this machine.
    recent_tag_writes: RecentTagWrites,
    /// Held while a token is bought, so that many requests at once buy one.
    held: Mutex<Option<HeldToken>>,
    calls: AtomicU64,
}

impl Session {
    pub(super) fn new(http: HttpClient, endpoints: Endpoints, credential: Credential) -> Self {
        let exchanged = std::sync::Mutex::default();
        let (held, own_changes) = (Mutex::default(), std::sync::Mutex::default());
        let (calls, recent_tag_writes) = (AtomicU64::new(0), RecentTagWrites::default());
        Self { http, endpoints, credential, exchanged, own_changes, recent_tag_writes, held, calls }
    }

    pub(super) fn with_recent_tag_writes(self, recent_tag_writes: RecentTagWrites) -> Self {
        Self { recent_tag_writes, ..self }
    }

    /// Notes that the tags of a resource are about to be changed from here.
    pub(super) fn note_own_change(&self, crn: &str) {
        let mut changes = self.own_changes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        changes.retain(|_, at| is_recent(*at));
        changes.insert(crn.to_owned(), Instant::now());
    }

    /// The resources whose tags the tagging service itself has to be asked for.
    pub(super) fn own_changes(&self) -> BTreeSet<String> {
        let mut all = self.recent_tag_writes.read();
        let changes = self.own_changes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        all.extend(changes.iter().filter(|(_, at)| is_recent(**at)).map(|(crn, _)| crn.clone()));
        all
    }

    pub(super) fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// How many requests were sent so far, tokens included.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The account the key belongs to.
    pub(super) async fn account(&self) -> Result<String, CloudError> {
        self.token().await.map(|held| held.account)
    }

    /// Sends a read and decodes the answer.
    pub(super) async fn read<T: DeserializeOwned>(&self, ask: &Ask) -> Result<T, CloudError> {
        self.read_bytes(ask).await?.decode(ask)
    }

    /// Sends a read of one thing; nothing when the service says that it does not exist.
    pub(super) async fn read_optional<T: DeserializeOwned>(&self, ask: &Ask) -> Result<Option<T>, CloudError> {
        match self.read(ask).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a list to its end. `next` returns the cursor of the page after this one, which is sent as `start`.
    pub(super) async fn read_pages<T: DeserializeOwned>(
        &self,
        mut ask: Ask,
        next: impl Fn(&T) -> Option<String>,
    ) -> Result<Vec<T>, CloudError> {
        let first = ask.url.clone();
        let (mut pages, mut followed) = (Vec::new(), Pages::default());
        loop {
            let page = self.read(&ask).await?;
            let start = next(&page);
            pages.push(page);
            let Some(start) = start else { return Ok(pages) };
            let start = followed.follow(start).map_err(|problem| ask.error(problem))?;
            ask.url = format!("{first}&start={}", escaped(&start));
        }
    }

    pub(super) async fn read_bytes(&self, ask: &Ask) -> Result<Got, CloudError> {
        let mut renewed = false;
        let mut tries = 0;
        loop {
            let held = self.token().await?;
            let error = match self.send(ask, Some(&held.token)).await {
                Ok(got) => return Ok(got),
                Err(error) => error,
            };
            if error.status() == Some(401) && !renewed {
                renewed = true;
                self.drop_token(&held.token).await;
                continue;
            }
            tries += 1;
            match pause(&error, tries) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(error),
            }
        }
    }

    /// Sends a write, once. A token that was refused is not used again, so that the next attempt gets a new one.
    pub(super) async fn write(&self, ask: &Ask) -> Result<Got, CloudError> {
        let held = self.token().await?;
        let sent = self.send(ask, Some(&held.token)).await;
        if sent.as_ref().is_err_and(|error| error.status() == Some(401)) {
            self.drop_token(&held.token).await;
        }
        sent
    }

    async fn token(&self) -> Result<HeldToken, CloudError> {
        let mut held = self.held.lock().await;
        let fitness = held.as_ref().map_or(Fitness::Over, |held| held.fitness(Instant::now()));
        match (fitness, held.as_ref()) {
            (Fitness::Fresh, Some(token)) => return Ok(token.clone()),
            (Fitness::Due, Some(token)) => {
                let token = token.clone();
                // A service that is away for a moment costs nothing while the old token holds.
                if let Ok(new) = self.buy(1).await {
                    *held = Some(new.clone());
                    return Ok(new);
                }
                return Ok(token);
            }
            (Fitness::Fresh | Fitness::Due | Fitness::Over, _) => {}
        }
        let new = self.buy(TRIES_MAX).await?;
        *held = Some(new.clone());
        Ok(new)
    }

    async fn drop_token(&self, refused: &AccessToken) {
        let mut held = self.held.lock().await;
        if held.as_ref().is_some_and(|held| held.token.0 == refused.0) {
            *held = None;
        }
    }

    /// Buys a token: a read, since it changes nothing.
    async fn buy(&self, tries_max: u32) -> Result<HeldToken, CloudError> {
        let url = format!("{}/identity/token", self.endpoints.base(IbmService::Iam, ""));
        let ask = Ask { method: Method::POST, ..Ask::get(IbmService::Iam, "get a token", url) };
        let unusable = |what: String| ask.error(Problem::NotUnderstood(what));
        let form = match self.credential.exchange().map_err(unusable)? {
            Exchange::Form { form, secret } => {
                self.note_secret(secret);
                form
            }
            Exchange::Token(token) => {
                let held = HeldToken::of(&token, TOKEN_FILE_FOR, Instant::now());
                return held.map_err(|what| unusable(what.to_owned()));
            }
        };
        let mut tries = 0;
        loop {
            let asked_at = Instant::now();
            let error = match self.send_form(&ask, &form).await {
                Ok(got) => {
                    return HeldToken::read(&got.body, asked_at)
                        .map_err(|what| ask.error(Problem::NotUnderstood(what.to_owned())));
                }
                Err(error) => error,
            };
            tries += 1;
            match pause(&error, tries).filter(|_| tries < tries_max) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(error),
            }
        }
    }

    fn note_secret(&self, secret: SecretText) {
        *self.exchanged.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(secret);
    }

    /// Sends one request, once.
    async fn send(&self, ask: &Ask, token: Option<&AccessToken>) -> Result<Got, CloudError> {
        let body = ask.body.as_ref().map(|body| ("application/json", Bytes::from(body.to_string())));
        self.send_body(ask, token, body).await
    }

    /// Sends a form without a token, once.
    async fn send_form(&self, ask: &Ask, form: &Zeroizing<String>) -> Result<Got, CloudError> {
        let body = Bytes::from_owner(Zeroizing::new(form.as_bytes().to_vec()));
        self.send_body(ask, None, Some(("application/x-www-form-urlencoded", body))).await
    }

    async fn send_body(
        &self,
        ask: &Ask,
        token: Option<&AccessToken>,
        body: Option<(&'static str, Bytes)>,
    ) -> Result<Got, CloudError> {
        let request = request(ask, token, body)?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = self.http.send(request).await.map_err(|error| ask.error(Problem::NoAnswer(Box::new(error))))?;
        let Answer { status, headers, body } = answer;
        let request_id = request_id(&headers).map(|id| self.without_secrets(&id, token));
        if status.is_success() {
            return Ok(Got { body, request_id });
        }
        let mut said = read_body(&body);
        for text in [&mut said.code, &mut said.message].into_iter().chain(said.trace.as_mut()) {
            *text = self.without_secrets(text, token);
        }
        let retry_after = retry_after(&headers);
        let problem = Problem::Refused { status: status.as_u16(), code: said.code, message: said.message, retry_after };
        Err(CloudError { request_id: request_id.or(said.trace), ..ask.error(problem) })
    }

    /// An endpoint that echoes what it was sent must not bring the key or the token into a message.
    fn without_secrets(&self, text: &str, token: Option<&AccessToken>) -> String {
        let bearer = token.and_then(|token| token.0.to_str().ok()).and_then(|value| value.strip_prefix("Bearer "));
        // Of a token, each part alone as well: its claims identify a user.
        let parts = bearer.into_iter().flat_map(|token| token.split('.')).filter(|part| part.len() >= TOKEN_PART_MIN);
        let exchanged = self.exchanged.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        let as_sent = exchanged.as_ref().map(|secret| Zeroizing::new(escaped(secret.expose())));
        let own = [exchanged.as_ref().map(SecretText::expose), as_sent.as_ref().map(|text| text.as_str()), bearer];
        let secrets = own.into_iter().flatten().chain(parts);
        secrets.fold(text.to_owned(), |text, secret| hide(secret, &text))
    }

    /// The words of a service inside an answer that succeeded, fit to be shown.
    pub(super) async fn words(&self, text: &str) -> String {
        let held = self.held.lock().await.clone();
        self.without_secrets(&printable(text, Charset::Unicode), held.as_ref().map(|held| &held.token))
    }
}

fn request(
    ask: &Ask,
    token: Option<&AccessToken>,
    body: Option<(&'static str, Bytes)>,
) -> Result<Request<Bytes>, CloudError> {
    let mut request = Request::builder()
        .method(ask.method.clone())
        .uri(&ask.url)
        .header(header::ACCEPT, "application/json")
        .header(header::USER_AGENT, USER_AGENT);
    if let Some(crn) = &ask.crn {
        request = request.header(HeaderName::from_static("crn"), crn);
    }
    if let Some((content_type, _)) = &body {
        request = request.header(header::CONTENT_TYPE, *content_type);
    }
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, &token.0);
    }
    let body = body.map(|(_, body)| body).unwrap_or_default();
    request.body(body).map_err(|_| ask.error(Problem::NotUnderstood("the URL cannot be built".to_owned())))
}

/// A segment of a path or a value of a query.
pub(super) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

/// How long to wait before a read is sent again; nothing when that would be in vain.
fn pause(error: &CloudError, tries: u32) -> Option<Duration> {
    let own = PAUSE_FIRST * 2u32.pow(tries.saturating_sub(1));
    let pause = match &error.problem {
        Problem::NoAnswer(_) => own,
        Problem::Refused { status: 501, .. } => return None,
        Problem::Refused { status: 429 | 500.., retry_after, .. } => retry_after.unwrap_or(own),
        Problem::Refused { .. }
        | Problem::ItemRefused { .. }
        | Problem::NotUnderstood(_)
        | Problem::PageLoop
        | Problem::TooManyPages(_)
        | Problem::OtherAccount { .. }
        | Problem::Unaddressed(_)
        | Problem::NotIndexed => return None,
    };
    (tries < TRIES_MAX && pause <= PAUSE_MAX).then_some(pause)
}

/// How long the service asks to wait: seconds, or a date, which is taken against the service's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::trim);
    let value = text(header::RETRY_AFTER)?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let instant = |value: &str| jiff::fmt::rfc2822::parse(value).ok().map(|at| at.timestamp());
    let (until, now) = (instant(value)?, text(header::DATE).and_then(instant)?);
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let found = REQUEST_IDS.iter().find_map(|name| headers.get(*name)).and_then(|value| value.to_str().ok());
    found.map(|text| printable(text, Charset::Unicode))
}

/// Whether the search index may not have a change of tags yet.
fn is_recent(at: Instant) -> bool {
    at.elapsed() < TAG_WRITES_TIME.unsigned_abs()
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_seconds_and_as_a_date_of_the_services_clock() {
        let date = ("date", "Mon, 16 Nov 2026 10:00:00 GMT");
        let cases = [
            ("seconds", vec![("retry-after", "7")], Some(7)),
            ("a date", vec![("retry-after", "Mon, 16 Nov 2026 10:00:30 GMT"), date], Some(30)),
            ("a date that is over", vec![("retry-after", "Mon, 16 Nov 2026 09:00:00 GMT"), date], Some(0)),
            ("a date without a clock", vec![("retry-after", "Mon, 16 Nov 2026 10:00:30 GMT")], None),
            ("nonsense", vec![("retry-after", "soon"), date], None),
            ("nothing", vec![], None),
        ];
        for (case, headers, expected) in cases {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(name, HeaderValue::from_static(value));
            }
            assert_eq!(retry_after(&map), expected.map(Duration::from_secs), "case: {case}");
        }
    }

    #[test]
    fn only_transient_failures_are_retried_and_not_for_ever() {
        let refused =
            |status, retry_after| Problem::Refused { status, code: String::new(), message: String::new(), retry_after };
        let seconds = |count| Some(Duration::from_secs(count));
        let cases = [
            ("throttled", refused(429, None), 1, seconds(1)),
            ("throttled again", refused(429, None), 3, seconds(4)),
            ("throttled with a wait", refused(429, seconds(9)), 1, seconds(9)),
            ("throttled for an hour", refused(429, seconds(3600)), 1, None),
            ("broken", refused(502, None), 2, seconds(2)),
            ("not implemented", refused(501, None), 1, None),
            ("forbidden", refused(403, None), 1, None),
            ("not found", refused(404, None), 1, None),
            ("too often", refused(503, None), TRIES_MAX, None),
            ("no JSON", Problem::NotUnderstood(String::new()), 1, None),
        ];
        for (case, problem, tries, expected) in cases {
            let error = CloudError::new(IbmService::Vpc, "x", problem);
            assert_eq!(pause(&error, tries), expected, "case: {case}");
        }
    }
}
