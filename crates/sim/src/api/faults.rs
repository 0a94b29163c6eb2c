//! Faults on demand.
//!
//! Invariants:
//! - a fault affects only requests that its matcher fits, after `skip` of them, and `times` times;
//! - faults apply in the order they were added; at most one per request;
//! - the name of a fault says what it leaves committed; it changes no other state.
//!
//! Elsewhere: refusing by rule (`rbac`).

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::request::{Request, Route, Target, Verb};
use super::status::Status;
use super::{Answer, Reply, Server, store};

/// Selects the requests of a fault. A field that is not set matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matcher {
    pub verbs: Vec<Verb>,
    /// `secrets`, or `hostedclusters.hypershift.openshift.io`.
    pub resource: Option<String>,
    pub namespace: Option<String>,
    pub name: Option<String>,
}

impl Matcher {
    pub fn any() -> Self {
        Self::default()
    }

    pub fn of(resource: &str) -> Self {
        Self { resource: Some(resource.into()), ..Self::default() }
    }

    pub fn verb(mut self, verb: Verb) -> Self {
        self.verbs.push(verb);
        self
    }

    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    pub(super) fn fits(&self, target: &Target) -> bool {
        let fits = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        (self.verbs.is_empty() || self.verbs.contains(&target.verb))
            && fits(&self.resource, &target.of.to_string())
            && fits(&self.namespace, &target.namespace)
            && fits(&self.name, &target.name)
    }
}

/// What a fault does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultAction {
    /// Nothing is committed; the response has this code.
    Refuse { code: u16, retry_after_seconds: Option<u32> },
    /// The write is committed; the response still has this code (a 504 after the write).
    RefuseAfterCommit { code: u16 },
    /// Nothing is committed; the connection breaks.
    LostBefore,
    /// The write is committed; the connection breaks before the response.
    ReplyLost,
    /// Nothing is committed and no response follows.
    Stall,
    /// The write is committed; the response stops after this many bytes.
    Truncate { bytes: usize },
    /// Nothing is committed; the response is a proxy's HTML page with status 200.
    Html,
    /// A list returns 200 without items.
    EmptyList,
    /// A list page or a watch receives 410 Gone.
    Expired,
    /// A watch breaks after this many events.
    WatchDrop { after_events: usize },
    /// A watch opens and never sends an event.
    WatchSilent,
    /// Reads come from a replica this many writes behind.
    StaleReplica { writes: u64 },
}

/// The effect of a fault on a running watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchFault {
    Silent,
    DropAfter { events: usize },
    Expired,
}

/// A fault and when it applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub matcher: Matcher,
    pub action: FaultAction,
    /// Matching requests that pass first.
    pub skip: u32,
    /// Number of affected requests; none is unlimited.
    pub times: Option<u32>,
}

impl Fault {
    /// Affects every matching request.
    pub fn always(matcher: Matcher, action: FaultAction) -> Self {
        Self { matcher, action, skip: 0, times: None }
    }

    /// Affects the next matching request.
    pub fn once(matcher: Matcher, action: FaultAction) -> Self {
        Self { times: Some(1), ..Self::always(matcher, action) }
    }

    pub fn after(mut self, requests: u32) -> Self {
        self.skip = requests;
        self
    }
}

/// A fault of a whole API group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupFault {
    /// Discovery does not list it and its resources are not found, as after deleting the definition.
    Lost,
    /// Discovery lists the group but its API service is unavailable.
    Unavailable,
}

/// The faults of one cluster.
#[derive(Debug, Default)]
pub struct Faults {
    set: Vec<Fault>,
    groups: BTreeMap<String, GroupFault>,
    struck: u64,
}

impl Faults {
    pub fn add(&mut self, fault: Fault) -> &mut Self {
        self.set.push(fault);
        self
    }

    pub fn group(&mut self, group: &str, fault: GroupFault) -> &mut Self {
        self.groups.insert(group.into(), fault);
        self
    }

    /// Removes every fault.
    pub fn clear(&mut self) {
        self.set.clear();
        self.groups.clear();
    }

    /// Number of affected requests so far.
    pub fn struck(&self) -> u64 {
        self.struck
    }

    pub(super) fn has_lost(&self, group: &str) -> bool {
        self.groups.get(group) == Some(&GroupFault::Lost)
    }

    pub(super) fn is_unavailable(&self, group: &str) -> bool {
        self.groups.get(group) == Some(&GroupFault::Unavailable)
    }

    /// Returns the fault for this request, if any, and counts it.
    pub(super) fn strike(&mut self, route: &Route) -> Option<FaultAction> {
        if self.set.is_empty() && self.groups.is_empty() {
            return None;
        }
        let action = match route {
            Route::Resource(target) if self.is_unavailable(&target.of.group) => {
                Some(FaultAction::Refuse { code: 503, retry_after_seconds: None })
            }
            Route::Resource(target) => self.strike_resource(target),
            Route::Version
            | Route::Legacy
            | Route::Groups
            | Route::Group(_)
            | Route::GroupVersion { .. }
            | Route::OpenApiV2
            | Route::OpenApiV3(_)
            | Route::Health
            | Route::Unknown
            | Route::MethodNotAllowed => None,
        };
        self.struck += u64::from(action.is_some());
        action
    }

    fn strike_resource(&mut self, target: &Target) -> Option<FaultAction> {
        for fault in self.set.iter_mut().filter(|fault| fault.matcher.fits(target)) {
            match (&mut fault.skip, &mut fault.times) {
                (0, None) => return Some(fault.action.clone()),
                (0, Some(0)) => {}
                (0, Some(left)) => {
                    *left -= 1;
                    return Some(fault.action.clone());
                }
                (skip, _) => *skip -= 1,
            }
        }
        None
    }
}

impl Server {
    pub(super) fn answer_with(
        &mut self,
        action: FaultAction,
        now: Timestamp,
        request: &Request,
        route: &Route,
    ) -> Answer {
        let refusal = |code, retry| Answer::Reply(Reply::refusal(&Status::of_code(code, retry)));
        match action {
            FaultAction::Refuse { code, retry_after_seconds } => refusal(code, retry_after_seconds),
            FaultAction::RefuseAfterCommit { code } => {
                self.answer(now, request, route, 0);
                refusal(code, None)
            }
            FaultAction::LostBefore => Answer::Lost,
            FaultAction::ReplyLost => {
                self.answer(now, request, route, 0);
                Answer::Lost
            }
            FaultAction::Stall => Answer::Silence,
            FaultAction::Truncate { bytes } => truncated(self.answer(now, request, route, 0), bytes),
            FaultAction::Html => Answer::Reply(Reply {
                content_type: "text/html; charset=utf-8",
                ..Reply::json(200, Bytes::from_static(b"<html><body><h1>Sign in</h1></body></html>\n"))
            }),
            FaultAction::EmptyList => emptied(self.answer(now, request, route, 0)),
            FaultAction::Expired => match self.answer(now, request, route, 0) {
                Answer::Watch(id) => self.spoiled(id, WatchFault::Expired),
                Answer::Reply(_) | Answer::Lost | Answer::Silence => refusal(410, None),
            },
            FaultAction::WatchDrop { after_events } => match self.answer(now, request, route, 0) {
                Answer::Watch(id) => self.spoiled(id, WatchFault::DropAfter { events: after_events }),
                other @ (Answer::Reply(_) | Answer::Lost | Answer::Silence) => other,
            },
            FaultAction::WatchSilent => match self.answer(now, request, route, 0) {
                Answer::Watch(id) => self.spoiled(id, WatchFault::Silent),
                other @ (Answer::Reply(_) | Answer::Lost | Answer::Silence) => other,
            },
            FaultAction::StaleReplica { writes } => self.answer(now, request, route, writes),
        }
    }

    fn spoiled(&mut self, id: super::WatchId, fault: WatchFault) -> Answer {
        self.spoil_watch(id, fault);
        Answer::Watch(id)
    }
}

fn truncated(answer: Answer, bytes: usize) -> Answer {
    match answer {
        Answer::Reply(reply) if reply.body.len() > bytes => {
            Answer::Reply(Reply { body: reply.body.slice(..bytes), cut: true, ..reply })
        }
        other @ (Answer::Reply(_) | Answer::Watch(_) | Answer::Lost | Answer::Silence) => other,
    }
}

/// The list without its items and without a remaining count.
fn emptied(answer: Answer) -> Answer {
    let Answer::Reply(reply) = answer else {
        return answer;
    };
    let Ok(mut list) = serde_json::from_slice::<Value>(&reply.body) else {
        return Answer::Reply(reply);
    };
    if list.get("items").is_some() {
        list["items"] = json!([]);
        if let Some(metadata) = list["metadata"].as_object_mut() {
            metadata.retain(|field, _| field == "resourceVersion");
        }
    }
    Answer::Reply(Reply { body: store::to_bytes(&list), ..reply })
}
