//! Access rules for tests and the demo.
//!
//! Invariants: a denial wins over everything; a user with grants may do nothing else; any other user may do
//! everything. A self review uses the same rules as the request itself.
//!
//! Elsewhere: Role and RoleBinding objects, which are stored and have no effect.

use std::collections::BTreeMap;

use super::call::Call;
use super::field_error::quoted;
use super::kinds::GroupResource;
use super::request::{Identity, Target, Verb};
use super::status::{Refused, Status};

/// An operation a user requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    pub verb: String,
    pub of: GroupResource,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
}

impl Access {
    pub(super) fn of(target: &Target) -> Self {
        Self {
            verb: target.verb.to_string(),
            of: target.of.clone(),
            subresource: target.subresource.clone(),
            namespace: target.namespace.clone(),
            name: target.name.clone(),
        }
    }
}

/// A pattern over [`Access`]. `*` and an empty list of verbs match everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    verbs: Vec<String>,
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
}

impl Rule {
    /// `resource` is `secrets`, `deployments.apps`, or `*`.
    pub fn new(verbs: &[&str], resource: &str) -> Self {
        let verbs = verbs.iter().map(|verb| (*verb).to_owned()).collect();
        Self { verbs, resource: resource.into(), namespace: None, name: None }
    }

    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    fn covers(&self, access: &Access) -> bool {
        let verb = self.verbs.is_empty() || self.verbs.iter().any(|verb| verb == "*" || *verb == access.verb);
        let resource = match access.subresource.as_str() {
            "" => access.of.to_string(),
            subresource => {
                GroupResource::new(&access.of.group, &format!("{}/{subresource}", access.of.resource)).to_string()
            }
        };
        let fits = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        verb && (self.resource == "*" || self.resource == resource)
            && fits(&self.namespace, &access.namespace)
            && fits(&self.name, &access.name)
    }

    pub(super) fn verbs(&self) -> Vec<&str> {
        if self.verbs.is_empty() { vec!["*"] } else { self.verbs.iter().map(String::as_str).collect() }
    }

    pub(super) fn resource(&self) -> (&str, &str) {
        match self.resource.split_once('.') {
            Some((resource, group)) => (resource, group),
            None if self.resource == "*" => ("*", "*"),
            None => (&self.resource, ""),
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(super) fn reaches(&self, namespace: &str) -> bool {
        self.namespace.as_deref().is_none_or(|own| own == namespace)
    }
}

/// The rules of one cluster.
#[derive(Debug, Default)]
pub struct Rbac {
    denied: Vec<(String, Rule)>,
    granted: BTreeMap<String, Vec<Rule>>,
}

impl Rbac {
    /// Denies an operation to a user, or to all users with `*`.
    pub fn deny(&mut self, user: &str, rule: Rule) -> &mut Self {
        self.denied.push((user.into(), rule));
        self
    }

    /// Grants an operation to a user, who may then do only what is granted.
    pub fn allow(&mut self, user: &str, rule: Rule) -> &mut Self {
        self.granted.entry(user.into()).or_default().push(rule);
        self
    }

    /// Restricts a user to later grants.
    pub fn restrict(&mut self, user: &str) -> &mut Self {
        self.granted.entry(user.into()).or_default();
        self
    }

    /// Removes every rule: all users may do everything.
    pub fn clear(&mut self) {
        self.denied.clear();
        self.granted.clear();
    }

    pub fn allows(&self, user: &str, access: &Access) -> bool {
        let denied = self.denied.iter().any(|(who, rule)| (who == "*" || who == user) && rule.covers(access));
        let granted = self.granted.get(user).is_none_or(|rules| rules.iter().any(|rule| rule.covers(access)));
        !denied && granted
    }

    /// The grants of a user; none if the user is not restricted.
    pub(super) fn grants(&self, user: &str) -> Option<&[Rule]> {
        self.granted.get(user).map(Vec::as_slice)
    }

    pub(super) fn check(&self, identity: &Identity, access: &Access) -> Result<(), Refused> {
        // Every authenticated user may run self reviews.
        let about_self = access.verb == "create" && access.of.resource.starts_with("selfsubject");
        if about_self || self.allows(&identity.user, access) {
            return Ok(());
        }
        Err(Status::forbidden(&access.of, &access.name, &sentence(&identity.user, access)))
    }

    /// A write that creates needs the create right too.
    pub(super) fn check_create(&self, call: &Call<'_>) -> Result<(), Refused> {
        let Some(identity) = &call.request.identity else {
            return Err(Status::unauthorized());
        };
        let access = Access { verb: Verb::Create.to_string(), ..Access::of(call.target) };
        self.check(identity, &access)
    }
}

fn sentence(user: &str, access: &Access) -> String {
    let resource = match access.subresource.as_str() {
        "" => access.of.resource.to_string(),
        subresource => format!("{}/{subresource}", access.of.resource),
    };
    let place = match access.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {}", quoted(namespace)),
    };
    let text = format!(
        "User {} cannot {} resource {} in API group {} {place}",
        quoted(user),
        access.verb,
        quoted(&resource),
        quoted(&access.of.group)
    );
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
