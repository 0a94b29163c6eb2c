//! Discovery: API groups, versions and resources.
//!
//! Invariants: both forms, aggregated and one request per version, have the same content; a lost group is in neither.
//!
//! Elsewhere: OpenAPI (`openapi`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kinds::{ResourceKind, Served, Storage};
use super::media::Clause;
use super::request::Request;
use super::status::{Refused, Status};
use super::{Reply, Server, not_found_page, store};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Groups with their versions in the order they were registered.
type Groups<'a> = BTreeMap<&'a str, Vec<(&'a str, Vec<&'a ResourceKind>)>>;

pub fn version() -> Reply {
    json_reply(&json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.3",
        "gitCommit": "0000000000000000000000000000000000000000",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "go1.26",
        "compiler": "gc",
        "platform": "linux/amd64",
    }))
}

pub fn legacy(server: &Server, request: &Request) -> Reply {
    if wants_aggregated(request) {
        return aggregated(server, |group| group.is_empty());
    }
    json_reply(&json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443" }],
    }))
}

pub fn groups(server: &Server, request: &Request) -> Reply {
    if wants_aggregated(request) {
        return aggregated(server, |group| !group.is_empty());
    }
    let groups = by_group(server);
    let listed: Vec<Value> = groups
        .iter()
        .filter(|(group, _)| !group.is_empty())
        .map(|(group, versions)| group_json(group, versions))
        .collect();
    json_reply(&json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": listed }))
}

pub fn group(server: &Server, group: &str) -> Reply {
    match by_group(server).get(group) {
        Some(versions) if !group.is_empty() => {
            let mut out = group_json(group, versions);
            out["kind"] = "APIGroup".into();
            out["apiVersion"] = "v1".into();
            json_reply(&out)
        }
        Some(_) | None => not_found_page(),
    }
}

pub fn group_version(server: &Server, group: &str, version: &str) -> Result<Reply, Refused> {
    if server.faults.is_unavailable(group) {
        return Err(Status::of_code(503, None));
    }
    let groups = by_group(server);
    let found = groups.get(group).and_then(|versions| versions.iter().find(|(name, _)| *name == version));
    let Some((_, kinds)) = found else {
        return Ok(not_found_page());
    };
    let resources: Vec<Value> = kinds.iter().flat_map(|kind| resource_json(kind)).collect();
    Ok(json_reply(&json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version_name(group, version),
        "resources": resources,
    })))
}

fn by_group(server: &Server) -> Groups<'_> {
    let mut groups: Groups<'_> = BTreeMap::new();
    for Served { kind, .. } in server.registry.iter() {
        if server.faults.has_lost(&kind.of.group) {
            continue;
        }
        let versions = groups.entry(&kind.of.group).or_default();
        match versions.iter_mut().find(|(name, _)| *name == &*kind.version) {
            Some((_, kinds)) => kinds.push(kind),
            None => versions.push((&kind.version, vec![kind])),
        }
    }
    groups
}

fn group_version_name(group: &str, version: &str) -> String {
    if group.is_empty() { version.into() } else { format!("{group}/{version}") }
}

fn group_json(group: &str, versions: &[(&str, Vec<&ResourceKind>)]) -> Value {
    let named = |version: &str| json!({ "groupVersion": group_version_name(group, version), "version": version });
    let all: Vec<Value> = versions.iter().map(|(version, _)| named(version)).collect();
    json!({ "name": group, "versions": all, "preferredVersion": all.first() })
}

/// The resource, and its status subresource if it has one.
fn resource_json(kind: &ResourceKind) -> Vec<Value> {
    let mut out = json!({
        "name": &*kind.of.resource,
        "singularName": kind.singular,
        "namespaced": kind.namespaced(),
        "kind": &*kind.kind,
        "verbs": kind.verbs(),
    });
    if !kind.short_names.is_empty() {
        out["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        out["categories"] = json!(kind.categories);
    }
    if kind.rules.storage == Storage::Kept {
        out["storageVersionHash"] = "AAAAAAAAAAA=".into();
    }
    let status = kind.status.then(|| {
        json!({
            "name": format!("{}/status", kind.of.resource),
            "singularName": "",
            "namespaced": kind.namespaced(),
            "kind": &*kind.kind,
            "verbs": ["get", "patch", "update"],
        })
    });
    std::iter::once(out).chain(status).collect()
}

fn wants_aggregated(request: &Request) -> bool {
    Clause::all(&request.accept).any(|clause| {
        clause.is_json()
            && clause.parameter("g") == "apidiscovery.k8s.io"
            && clause.parameter("v") == "v2"
            && clause.parameter("as") == "APIGroupDiscoveryList"
    })
}

fn aggregated(server: &Server, includes: impl Fn(&str) -> bool) -> Reply {
    let items: Vec<Value> = by_group(server)
        .iter()
        .filter(|(group, _)| includes(group))
        .map(|(group, versions)| {
            let is_stale = server.faults.is_unavailable(group);
            let versions: Vec<Value> =
                versions.iter().map(|(name, kinds)| version_json(name, kinds, is_stale)).collect();
            let metadata = if group.is_empty() { json!({}) } else { json!({ "name": group }) };
            json!({ "metadata": metadata, "versions": versions })
        })
        .collect();
    let body = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    });
    Reply { content_type: AGGREGATED, ..json_reply(&body) }
}

fn version_json(version: &str, kinds: &[&ResourceKind], is_stale: bool) -> Value {
    let resources: Vec<Value> = if is_stale { Vec::new() } else { kinds.iter().map(|kind| discovered(kind)).collect() };
    json!({
        "version": version,
        "freshness": if is_stale { "Stale" } else { "Current" },
        "resources": resources,
    })
}

fn discovered(kind: &ResourceKind) -> Value {
    let response = json!({ "group": &*kind.of.group, "version": &*kind.version, "kind": &*kind.kind });
    let mut out = json!({
        "resource": &*kind.of.resource,
        "responseKind": response,
        "scope": if kind.namespaced() { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "verbs": kind.verbs(),
    });
    if !kind.short_names.is_empty() {
        out["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        out["categories"] = json!(kind.categories);
    }
    if kind.status {
        out["subresources"] = json!([{
            "subresource": "status",
            "responseKind": response,
            "verbs": ["get", "patch", "update"],
        }]);
    }
    out
}

fn json_reply(value: &Value) -> Reply {
    Reply::json(200, store::to_bytes(value))
}
