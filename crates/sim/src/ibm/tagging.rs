//! Global Tagging: tags are lower case, and refused tags are errors inside a `200`.

use std::collections::BTreeSet;
use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reply::IbmReply;
use super::request::IbmRequest;
use super::server::IbmServer;
use super::store::after;

/// Limits of one call, as counted by other clients.
const NAMES_MAX: usize = 100;
const RESOURCES_MAX: usize = 100;
/// Limit of tags per resource.
const TAGS_MAX: usize = 1000;
const TAG_CHARS_MAX: usize = 128;
const MINUTE: Duration = Duration::from_secs(60);

impl IbmServer {
    pub(super) fn tagging(&mut self, now: Timestamp, request: &IbmRequest, parts: &[&str]) -> IbmReply {
        match (&request.method, parts) {
            (&Method::GET, ["v3", "tags"]) => self.list_tags(now, request),
            (&Method::POST, ["v3", "tags"]) => self.create_access_tags(request),
            (&Method::POST, ["v3", "tags", "attach"]) => self.change_tags(now, request, Way::Attach),
            (&Method::POST, ["v3", "tags", "detach"]) => self.change_tags(now, request, Way::Detach),
            (&Method::DELETE, ["v3", "tags", name]) => self.delete_tag(name),
            (&Method::DELETE, ["v3", "tags"]) => {
                // Unattached tags are removed automatically here.
                IbmReply::json(200, &json!({ "total_count": 0, "errors": false, "items": [] }))
            }
            _ => IbmReply::errors(404, "not_found", "no such operation"),
        }
    }

    fn list_tags(&mut self, now: Timestamp, request: &IbmRequest) -> IbmReply {
        while self.tag_lists.front().is_some_and(|at| after(*at, MINUTE) <= now) {
            self.tag_lists.pop_front();
        }
        if self.tag_lists.len() >= self.tag_lists_max {
            let oldest = self.tag_lists.front().map_or(now, |at| after(*at, MINUTE));
            let wait = oldest.duration_since(now).as_secs().max(0) + 1;
            return IbmReply::errors(429, "too_many_requests", "Too many requests")
                .with("retry-after", wait.to_string());
        }
        self.tag_lists.push_back(now);
        let names: BTreeSet<String> = match (request.query("tag_type"), request.query("attached_to")) {
            (Some("access"), _) => self.access_tags.iter().cloned().collect(),
            (_, Some(crn)) => self.store.by_crn(crn).map(|thing| thing.tags.clone()).unwrap_or_default(),
            (_, None) => self.store.all().flat_map(|thing| thing.tags.iter().cloned()).collect(),
        };
        let number =
            |name: &str, default: usize| request.query(name).and_then(|text| text.parse().ok()).unwrap_or(default);
        let (offset, limit) = (number("offset", 0), number("limit", 100).clamp(1, 1000));
        let items: Vec<Value> = names.iter().skip(offset).take(limit).map(|name| json!({ "name": name })).collect();
        let body = json!({ "total_count": names.len(), "offset": offset, "limit": limit, "items": items });
        IbmReply::json(200, &body)
    }

    fn create_access_tags(&mut self, request: &IbmRequest) -> IbmReply {
        if request.query("tag_type") != Some("access") {
            return IbmReply::errors(400, "bad_request", "only access tags are created");
        }
        let mut results = Vec::new();
        for name in texts(&request.json()["tag_names"]) {
            let fits = is_legal(&name) && name.split(':').count() == 2;
            if fits && !self.access_tags.contains(&name) {
                self.access_tags.push(name.clone());
            }
            results.push(json!({ "tag_name": name, "is_error": !fits }));
        }
        IbmReply::json(200, &json!({ "results": results }))
    }

    fn delete_tag(&mut self, name: &str) -> IbmReply {
        let name = name.to_lowercase();
        let attached = self.store.all().any(|thing| thing.tags.contains(&name));
        self.access_tags.retain(|tag| *tag != name);
        let result = json!({ "provider": "ghost", "is_error": attached, "message": if attached { "the tag is attached" } else { "" } });
        IbmReply::json(200, &json!({ "results": [result] }))
    }

    fn change_tags(&mut self, now: Timestamp, request: &IbmRequest, way: Way) -> IbmReply {
        let body = request.json();
        let mut names = texts(&body["tag_names"]);
        names.extend(body["tag_name"].as_str().map(str::to_owned));
        let crns: Vec<String> = body["resources"].as_array().into_iter().flatten().map(resource_id).collect();
        if names.is_empty() || crns.is_empty() {
            return IbmReply::errors(400, "bad_request", "tag_names and resources are required");
        }
        if names.len() > NAMES_MAX || crns.len() > RESOURCES_MAX {
            return IbmReply::errors(400, "bad_request", "too many tags or resources in one call");
        }
        let results: Vec<Value> = crns.iter().map(|crn| self.change_one(now, crn, &names, way, request)).collect();
        IbmReply::json(200, &json!({ "results": results }))
    }

    fn change_one(&mut self, now: Timestamp, crn: &str, names: &[String], way: Way, request: &IbmRequest) -> Value {
        let refused = |message: &str| json!({ "resource_id": crn, "is_error": true, "message": message });
        let wild = |name: &String| way == Way::Detach && name.ends_with('*');
        if let Some(bad) = names.iter().find(|name| !is_legal(name) && !wild(name)) {
            return refused(&format!("BXNGT0001E: the tag '{bad}' has characters or a length that are not allowed"));
        }
        let id = self.store.by_crn(crn).filter(|thing| thing.state != "removed").map(|thing| thing.id.clone());
        let Some(thing) = id.and_then(|id| self.store.get_mut(&id)) else {
            return refused("BXNGT0002E: the resource does not exist or you may not tag it");
        };
        let names: Vec<String> = names.iter().map(|name| name.trim().to_lowercase()).collect();
        match way {
            Way::Attach => {
                if request.is_set("replace") {
                    thing.tags.clear();
                }
                if request.is_set("update") {
                    let keys: Vec<&str> =
                        names.iter().filter_map(|name| name.split_once(':')).map(|(key, _)| key).collect();
                    thing.tags.retain(|tag| !tag.split_once(':').is_some_and(|(key, _)| keys.contains(&key)));
                }
                if thing.tags.len() + names.len() > TAGS_MAX {
                    return refused("BXNGT0003E: the resource has too many tags");
                }
                thing.tags.extend(names);
            }
            Way::Detach => thing.tags.retain(|tag| !names.iter().any(|name| covers(name, tag))),
        }
        let changed = thing.clone();
        self.store.schedule_index(&changed, now);
        json!({ "resource_id": crn, "is_error": false })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Attach,
    Detach,
}

fn covers(name: &str, tag: &str) -> bool {
    match name.strip_suffix('*') {
        Some(front) => tag.starts_with(front),
        None => name == tag,
    }
}

fn is_legal(name: &str) -> bool {
    let known = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ':' | '_' | ' ' | '.' | '-');
    !name.trim().is_empty() && name.chars().count() <= TAG_CHARS_MAX && name.chars().all(known)
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn resource_id(value: &Value) -> String {
    value["resource_id"].as_str().unwrap_or_default().to_owned()
}
