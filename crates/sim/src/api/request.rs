//! A request as the core receives it, and its route.
//!
//! Invariants:
//! - a request carries everything that affects its response; the core reads no clock and no connection;
//! - the verb is derived from method, path and query exactly as in kube-apiserver's authorisation.
//!
//! Elsewhere: HTTP itself (`service`), the response's media type (`media`).

use std::fmt;

use bytes::Bytes;
use http::Method;
use percent_encoding::percent_decode_str;

use super::kinds::GroupResource;
use super::naming;
use super::selector::FieldSelector;

/// The authenticated user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub user: String,
    pub groups: Vec<String>,
}

impl Identity {
    pub fn new(user: &str, groups: &[&str]) -> Self {
        Self { user: user.into(), groups: groups.iter().map(|group| (*group).to_owned()).collect() }
    }

    /// The admin of every cluster.
    pub fn admin() -> Self {
        Self::new("admin", &["system:masters", "system:authenticated"])
    }
}

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub query: Query,
    pub accept: String,
    pub content_type: String,
    pub user_agent: String,
    /// None is an unauthenticated caller: the response is 401.
    pub identity: Option<Identity>,
    pub body: Bytes,
}

impl Request {
    /// A request of the admin with JSON body and response. `target` is path and query.
    pub fn new(method: Method, target: &str, body: impl Into<Bytes>) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self {
            method,
            path: path.into(),
            query: Query::parse(query),
            accept: "application/json".into(),
            content_type: "application/json".into(),
            user_agent: String::new(),
            identity: Some(Identity::admin()),
            body: body.into(),
        }
    }

    pub fn get(target: &str) -> Self {
        Self::new(Method::GET, target, Bytes::new())
    }

    pub fn with_content_type(mut self, content_type: &str) -> Self {
        self.content_type = content_type.into();
        self
    }

    pub fn with_accept(mut self, accept: &str) -> Self {
        self.accept = accept.into();
        self
    }

    pub fn with_identity(mut self, identity: Option<Identity>) -> Self {
        self.identity = identity;
        self
    }

    /// Path and query, for the request log.
    pub fn target(&self) -> String {
        if self.query.raw.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, self.query.raw) }
    }

    /// The field manager of this request.
    pub fn manager(&self) -> String {
        match self.query.get("fieldManager") {
            Some(manager) if !manager.is_empty() => manager.into(),
            _ => {
                let agent = self.user_agent.split('/').next().unwrap_or("");
                let agent: String = agent.chars().filter(|c| !c.is_control()).take(128).collect();
                if agent.is_empty() { "unknown".into() } else { agent }
            }
        }
    }

    pub fn is_dry_run(&self) -> bool {
        self.query.get("dryRun") == Some("All")
    }
}

/// The query part of a target, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    raw: String,
    pairs: Vec<(String, String)>,
}

impl Query {
    pub fn parse(raw: &str) -> Self {
        let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = raw.split('&').filter(|part| !part.is_empty()).map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            (decode(key), decode(value))
        });
        Self { raw: raw.into(), pairs: pairs.collect() }
    }

    /// The first value of a parameter.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    pub fn all(&self, key: &str) -> Vec<&str> {
        self.pairs.iter().filter(|(name, _)| name == key).map(|(_, value)| value.as_str()).collect()
    }

    /// A boolean parameter: present and neither `false` nor `0`.
    pub fn is_set(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| !matches!(value.to_lowercase().as_str(), "false" | "0"))
    }
}

/// Verb of a resource request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A parsed resource request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub verb: Verb,
    pub of: GroupResource,
    pub version: String,
    pub namespace: String,
    pub name: String,
    pub subresource: String,
}

/// The endpoint of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    Resource(Target),
    Version,
    /// `/api`
    Legacy,
    /// `/apis`
    Groups,
    /// `/apis/<group>`
    Group(String),
    /// `/api/v1` or `/apis/<group>/<version>`
    GroupVersion {
        group: String,
        version: String,
    },
    OpenApiV2,
    /// `/openapi/v3` and below; empty for the index.
    OpenApiV3(String),
    Health,
    Unknown,
    MethodNotAllowed,
}

/// Parses the route of a request. Kinds are not looked up: an unknown resource is still a resource here.
pub fn route(request: &Request) -> Route {
    let decoded = percent_decode_str(&request.path).decode_utf8_lossy();
    let parts: Vec<&str> = decoded.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["version"] => Route::Version,
        ["api"] => Route::Legacy,
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group((*group).into()),
        ["api", version] => Route::GroupVersion { group: String::new(), version: (*version).into() },
        ["apis", group, version] => Route::GroupVersion { group: (*group).into(), version: (*version).into() },
        ["openapi", "v2"] => Route::OpenApiV2,
        ["openapi", "v3", rest @ ..] => Route::OpenApiV3(rest.join("/")),
        ["healthz" | "readyz" | "livez", ..] => Route::Health,
        ["api", version, rest @ ..] => resource_route(request, "", version, rest),
        ["apis", group, version, rest @ ..] => resource_route(request, group, version, rest),
        _ => Route::Unknown,
    }
}

fn resource_route(request: &Request, group: &str, version: &str, parts: &[&str]) -> Route {
    let (namespace, parts) = match parts {
        ["namespaces", namespace, "status" | "finalize", ..] => (*namespace, parts),
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        ["namespaces", namespace] => (*namespace, parts),
        _ => ("", parts),
    };
    let (resource, name, subresource) = match parts {
        [resource] => (*resource, "", ""),
        [resource, name] => (*resource, *name, ""),
        [resource, name, subresource] => (*resource, *name, *subresource),
        _ => return Route::Unknown,
    };
    let selected = selected_name(&request.query);
    let verb = match (&request.method, name.is_empty()) {
        (&Method::GET | &Method::HEAD, true) if request.query.is_set("watch") => Verb::Watch,
        (&Method::GET | &Method::HEAD, true) => Verb::List,
        (&Method::GET | &Method::HEAD, false) => Verb::Get,
        (&Method::POST, true) => Verb::Create,
        (&Method::PUT, false) => Verb::Update,
        (&Method::PATCH, false) => Verb::Patch,
        (&Method::DELETE, false) => Verb::Delete,
        (&Method::DELETE, true) => Verb::DeleteCollection,
        _ => return Route::MethodNotAllowed,
    };
    let name = match (name, selected) {
        ("", Some(selected)) if matches!(verb, Verb::List | Verb::Watch) => selected,
        (name, _) => name.into(),
    };
    Route::Resource(Target {
        verb,
        of: GroupResource::new(group, resource),
        version: version.into(),
        namespace: namespace.into(),
        name,
        subresource: subresource.into(),
    })
}

/// A list of exactly one name is authorised, and refused, as a request for that name.
fn selected_name(query: &Query) -> Option<String> {
    let selector = FieldSelector::parse(query.get("fieldSelector")?).ok()?;
    let name = selector.exact("metadata.name")?;
    naming::path_segment_errors(name).is_empty().then(|| name.to_owned())
}
