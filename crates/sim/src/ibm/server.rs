//! The account's API: authentication, faults and routing to services.

use std::collections::{BTreeMap, VecDeque};

use http::Method;
use jiff::Timestamp;
use serde_json::json;

use super::faults::{IbmEcho, IbmEffect, IbmFault, IbmPart};
use super::reply::{IbmAnswer, IbmReply};
use super::request::IbmRequest;
use super::store::{Store, Thing, ThingKind, after};

/// Requests kept in the log.
const LOG_MAX: usize = 20_000;

/// One account.
#[derive(Debug)]
pub struct IbmServer {
    pub(super) account: String,
    pub(super) store: Store,
    /// Account by API key.
    pub(super) keys: BTreeMap<String, String>,
    /// End and account by token.
    pub(super) tokens: BTreeMap<String, (Timestamp, String)>,
    pub(super) tokens_made: u64,
    /// Times of list-tags calls, which have a strict rate limit.
    pub(super) tag_lists: VecDeque<Timestamp>,
    pub(super) tag_lists_max: usize,
    /// Access tags, which exist without a resource.
    pub(super) access_tags: Vec<String>,
    faults: Vec<IbmFault>,
    log: VecDeque<IbmLogged>,
}

/// A request with its route.
struct Call<'r> {
    now: Timestamp,
    request: &'r IbmRequest,
    part: IbmPart,
    region: Option<&'r str>,
    parts: &'r [&'r str],
}

/// A handled request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IbmLogged {
    pub at: Timestamp,
    pub part: IbmPart,
    pub method: Method,
    pub path: String,
    /// None when the connection broke.
    pub status: Option<u16>,
}

impl IbmServer {
    /// An empty account with one key.
    pub fn new(account: &str, key: &str, seed: u64) -> Self {
        Self {
            account: account.to_owned(),
            store: Store::new(seed),
            keys: BTreeMap::from([(key.to_owned(), account.to_owned())]),
            tokens: BTreeMap::new(),
            tokens_made: 0,
            tag_lists: VecDeque::new(),
            // Users measured about 100 per minute.
            tag_lists_max: 100,
            access_tags: Vec::new(),
            faults: Vec::new(),
            log: VecDeque::new(),
        }
    }

    pub fn account(&self) -> &str {
        &self.account
    }

    /// Adds a resource; the search index contains it at once.
    pub fn seed(&mut self, thing: Thing) {
        self.store.put_known(thing);
    }

    pub fn things(&self) -> impl Iterator<Item = &Thing> {
        self.store.all()
    }

    pub fn thing(&self, id: &str) -> Option<&Thing> {
        self.store.all().find(|thing| thing.id == id)
    }

    /// Changes a resource directly. The search index follows later.
    pub fn edit(&mut self, now: Timestamp, id: &str, change: impl FnOnce(&mut Thing)) {
        let Some(thing) = self.store.get_mut(id) else { return };
        change(thing);
        let changed = thing.clone();
        self.store.schedule_index(&changed, now);
    }

    /// Removes a resource directly.
    pub fn remove(&mut self, now: Timestamp, id: &str) {
        self.store.remove(id, now);
    }

    /// Accepts a key for this account or another one.
    pub fn admit(&mut self, key: &str, account: &str) {
        self.keys.insert(key.to_owned(), account.to_owned());
    }

    /// Revokes all tokens.
    pub fn revoke_tokens(&mut self) {
        self.tokens.clear();
    }

    pub fn fault(&mut self, fault: IbmFault) {
        self.faults.push(fault);
    }

    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// Sets the rate limit of list-tags calls per minute.
    pub fn set_tag_lists_max(&mut self, count: usize) {
        self.tag_lists_max = count;
    }

    /// Tokens issued and not revoked.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.tokens.keys().map(String::as_str)
    }

    pub fn log(&self) -> impl Iterator<Item = &IbmLogged> {
        self.log.iter()
    }

    /// Applies all changes that are due by now.
    pub(super) fn settle(&mut self, now: Timestamp) {
        self.store.settle(now);
    }

    /// Handles a request at a time.
    pub fn handle(&mut self, now: Timestamp, request: &IbmRequest) -> IbmAnswer {
        self.settle(now);
        let mut segments = request.segments();
        let region = take_region(&mut segments);
        let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
        let part = part_of(&parts);
        let hit = self.faults.iter_mut().find_map(|fault| {
            let hits = fault.hits(part, &request.method, &request.path);
            hits.then(|| fault.effect.clone())
        });
        let call = Call { now, request, part, region: region.as_deref(), parts: &parts };
        let answer = match hit {
            None => IbmAnswer::Reply(self.answer(&call)),
            Some(effect) => self.go_wrong(&call, &effect),
        };
        let status = match &answer {
            IbmAnswer::Reply(reply) => Some(reply.status),
            IbmAnswer::Lost | IbmAnswer::Silence => None,
        };
        if self.log.len() == LOG_MAX {
            self.log.pop_front();
        }
        self.log.push_back(IbmLogged {
            at: now,
            part,
            method: request.method.clone(),
            path: request.path.clone(),
            status,
        });
        answer
    }

    fn go_wrong(&mut self, call: &Call<'_>, effect: &IbmEffect) -> IbmAnswer {
        match effect {
            IbmEffect::Refused { status, retry_after } => {
                let mut reply = refusal(call.part, *status);
                if let Some(value) = retry_after {
                    reply = reply.with("retry-after", value.clone()).with("date", http_date(call.now));
                }
                IbmAnswer::Reply(reply)
            }
            IbmEffect::Page { status } => {
                let page = "<!DOCTYPE html><html><title>proxy</title></html>".to_owned();
                IbmAnswer::Reply(IbmReply::new(*status, "text/html", page))
            }
            IbmEffect::HalfJson => {
                let whole = self.answer(call);
                let half = whole.body.slice(..whole.body.len() / 2);
                IbmAnswer::Reply(IbmReply { body: half, ..whole })
            }
            IbmEffect::PageLoop => {
                let mut first = call.request.clone();
                first.query.retain(|(name, _)| name != "start");
                IbmAnswer::Reply(self.answer(&Call { request: &first, ..*call }))
            }
            IbmEffect::LostBefore => IbmAnswer::Lost,
            IbmEffect::LostAfter => {
                let _carried_out = self.answer(call);
                IbmAnswer::Lost
            }
            IbmEffect::GatewayTimeout => {
                let _carried_out = self.answer(call);
                IbmAnswer::Reply(refusal(call.part, 504))
            }
            IbmEffect::Silence => IbmAnswer::Silence,
            IbmEffect::Echo { status, form } => IbmAnswer::Reply(echo(call.request, *status, *form)),
        }
    }

    fn answer(&mut self, call: &Call<'_>) -> IbmReply {
        let Call { now, request, part, region, parts } = *call;
        if part == IbmPart::Iam {
            return self.iam(now, request);
        }
        let Some(account) = self.caller(now, request) else { return refusal(part, 401) };
        if account != self.account {
            return refusal(part, 403);
        }
        match part {
            IbmPart::Iam | IbmPart::Tagging => self.tagging(now, request, parts),
            IbmPart::Search => self.search(request),
            IbmPart::Instances => self.instances(now, request, parts),
            IbmPart::Vpc => self.vpc(now, request, region, parts),
            IbmPart::Transit => self.transit(now, request, parts),
            IbmPart::Power => self.power(now, request, parts),
            IbmPart::Storage => self.storage(request),
        }
    }

    /// Starts an asynchronous deletion.
    pub(super) fn leave(&mut self, now: Timestamp, id: &str, state: &str, then: super::store::Then) {
        let Some(thing) = self.store.get_mut(id) else { return };
        thing.state = state.to_owned();
        thing.later = Some(super::store::Later { at: after(now, thing.kind.leaving()), then });
        let changed = thing.clone();
        self.store.schedule_index(&changed, now);
        self.store.settle(now);
    }

    /// Adds a new resource.
    pub(super) fn make(&mut self, now: Timestamp, thing: Thing) -> Thing {
        self.store.put(thing.clone(), now);
        thing
    }

    pub(super) fn fresh(&mut self, now: Timestamp, kind: ThingKind, name: &str, location: &str) -> Thing {
        let id = self.store.mint();
        let id = match kind {
            ThingKind::Vpc | ThingKind::SecurityGroup | ThingKind::LoadBalancer => format!("r006-{id}"),
            ThingKind::Subnet => format!("0717-{id}"),
            ThingKind::Workspace
            | ThingKind::Network
            | ThingKind::DhcpServer
            | ThingKind::CosInstance
            | ThingKind::TransitGateway
            | ThingKind::Connection => id,
        };
        Thing::new(kind, &id, name, location, &self.account, now)
    }
}

/// Removes `/is/<region>` or `/power/<region>` from the front.
fn take_region(segments: &mut Vec<String>) -> Option<String> {
    let narrowed = segments.len() > 2 && matches!(segments[0].as_str(), "is" | "power");
    narrowed.then(|| {
        segments.remove(0);
        segments.remove(0)
    })
}

fn part_of(parts: &[&str]) -> IbmPart {
    match parts {
        ["identity", ..] => IbmPart::Iam,
        ["v3", "tags", ..] => IbmPart::Tagging,
        ["v3", "resources", ..] => IbmPart::Search,
        ["v2", ..] | ["v1", "reclamations", ..] => IbmPart::Instances,
        ["v1", "transit_gateways" | "connections" | "locations", ..] => IbmPart::Transit,
        ["pcloud", ..] | ["v1", "workspaces" | "datacenters" | "networks", ..] => IbmPart::Power,
        ["v1", ..] => IbmPart::Vpc,
        _ => IbmPart::Storage,
    }
}

/// An error with the default message of the service.
fn refusal(part: IbmPart, status: u16) -> IbmReply {
    let words = match status {
        401 => "The provided token is invalid or expired",
        403 => "You are not authorized to perform this action",
        429 => "Too many requests",
        _ => "The service is not available",
    };
    match part {
        IbmPart::Iam => {
            let body =
                json!({ "errorCode": "BXNIM0000E", "errorMessage": words, "context": { "requestId": "sim-request" } });
            IbmReply::json(status, &body).with("transaction-id", "sim-request".to_owned())
        }
        IbmPart::Instances | IbmPart::Storage => IbmReply::message(status, "refused", words),
        IbmPart::Power => IbmReply::description(status, "refused", words),
        IbmPart::Tagging | IbmPart::Search | IbmPart::Vpc | IbmPart::Transit => {
            IbmReply::errors(status, "refused", words)
        }
    }
}

/// An error that repeats the request in every field of every error body, and in common headers.
fn echo(request: &IbmRequest, status: u16, form: IbmEcho) -> IbmReply {
    let body = String::from_utf8_lossy(&request.body);
    let sent = format!("{} {} {}", request.path, request.authorization, body);
    let words = form.write(&sent);
    let form_fields = super::request::pairs(&body);
    let key = form_fields.iter().find(|(name, _)| name == "apikey").map_or("", |(_, value)| value.as_str());
    let key = form.write(key);
    let resources = request.json()["resources"].clone();
    let result = json!({ "resource_id": resources[0]["resource_id"], "is_error": true, "message": words });
    let body = json!({
        "errors": [{ "code": key, "message": words }], "trace": words, "error": words, "message": words,
        "errorMessage": words, "errorCode": key, "description": words, "code": key, "results": [result],
    });
    let header: String = words.chars().filter(|letter| letter.is_ascii_graphic() || *letter == ' ').collect();
    // A retry-after of zero seconds needs no clock.
    IbmReply::json(status, &body).with("x-request-id", header).with("retry-after", "0".to_owned())
}

fn http_date(now: Timestamp) -> String {
    now.to_zoned(jiff::tz::TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// One page of a list: the rows, and the start of the next page.
pub(super) fn page<'t>(
    rows: impl Iterator<Item = &'t Thing>,
    request: &IbmRequest,
    limit_default: usize,
    limit_max: usize,
) -> (Vec<&'t Thing>, Option<String>, usize) {
    let limit = request.query("limit").and_then(|text| text.parse().ok()).unwrap_or(limit_default);
    let limit = usize::clamp(limit, 1, limit_max);
    let mut rows: Vec<&Thing> = rows.collect();
    let total = rows.len();
    if let Some(start) = request.query("start") {
        rows.retain(|thing| thing.id.as_str() >= start);
    }
    let next = rows.get(limit).map(|thing| thing.id.clone());
    rows.truncate(limit);
    (rows, next, total)
}
