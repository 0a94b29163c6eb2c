//! Self reviews: SelfSubjectAccessReview, SelfSubjectRulesReview, SelfSubjectReview.
//!
//! Invariants: the response comes from [`super::Rbac`], the same rules that admit requests; nothing is stored.
//!
//! Elsewhere: reviews of other users, which are not supported.

use serde_json::{Value, json};

use super::call::Call;
use super::content;
use super::field_error::FieldError;
use super::kinds::{GroupResource, Review};
use super::rbac::Access;
use super::status::{Refused, Status};
use super::{Reply, Server};

impl Server {
    pub(super) fn review(&mut self, call: &Call<'_>, review: Review) -> Result<Reply, Refused> {
        let Some(identity) = &call.request.identity else {
            return Err(Status::unauthorized());
        };
        let mut object = content::decode(&call.kind, call.request)?;
        object["status"] = match review {
            Review::Access => self.access_status(call, &identity.user, &object["spec"])?,
            Review::Rules => self.rules_status(&identity.user, object["spec"]["namespace"].as_str().unwrap_or("")),
            Review::Identity => {
                json!({ "userInfo": { "username": identity.user, "groups": identity.groups } })
            }
        };
        call.reply_value(201, &object)
    }

    fn access_status(&self, call: &Call<'_>, user: &str, spec: &Value) -> Result<Value, Refused> {
        let attributes = &spec["resourceAttributes"];
        if spec["nonResourceAttributes"].is_object() {
            return Ok(json!({ "allowed": self.rbac.grants(user).is_none() }));
        }
        if !attributes.is_object() {
            let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            let error = FieldError::invalid("spec.resourceAttributes", "null", detail);
            return Err(Status::invalid(&call.kind.group_kind(), "", &[error]));
        }
        let text = |field: &str| attributes[field].as_str().unwrap_or("").to_owned();
        let access = Access {
            verb: text("verb"),
            of: GroupResource::new(&text("group"), &text("resource")),
            subresource: text("subresource"),
            namespace: text("namespace"),
            name: text("name"),
        };
        Ok(json!({ "allowed": self.rbac.allows(user, &access) }))
    }

    fn rules_status(&self, user: &str, namespace: &str) -> Value {
        let rules: Vec<Value> = match self.rbac.grants(user) {
            None => vec![json!({ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] })],
            Some(rules) => rules
                .iter()
                .filter(|rule| rule.reaches(namespace))
                .map(|rule| {
                    let (resource, group) = rule.resource();
                    let mut out = json!({ "verbs": rule.verbs(), "apiGroups": [group], "resources": [resource] });
                    if let Some(name) = rule.name() {
                        out["resourceNames"] = json!([name]);
                    }
                    out
                })
                .collect(),
        };
        json!({ "resourceRules": rules, "nonResourceRules": [], "incomplete": false })
    }
}
