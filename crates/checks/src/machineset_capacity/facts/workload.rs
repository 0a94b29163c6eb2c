//! The Deployment that annotates, and its pods, by the variables that say where a login is.
//!
//! Invariants:
//! - of an environment four names are looked at, and nothing else of it is kept;
//! - a variable that is read from somewhere else when the container starts is distinguished from one that is not set.

use serde_json::Value;

use super::super::names::{CONTAINER_TOKEN_FILE, CONTAINER_URI, ROLE_ARN, TOKEN_FILE};
use crate::kinds::{items, text};
use trueup_core::world::{Fact, Interner, Misfit, RawObject};

/// A Deployment, as far as it says what its pods are like.
#[derive(Debug, PartialEq, Eq)]
pub struct Deployment {
    /// How its pods are asked for; nothing where it picks them in a way that can't be asked for.
    pub labels: Option<Box<str>>,
    /// As its template has them, before anybody adds to them.
    pub containers: Box<[Container]>,
}

/// A pod.
#[derive(Debug, PartialEq, Eq)]
pub struct Pod {
    /// It is done, or being deleted: another one does its work.
    pub has_ended: bool,
    pub containers: Box<[Container]>,
}

/// A container, by where it finds its login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    pub name: Box<str>,
    pub role: Variable,
    pub token_file: Variable,
    /// Whether EKS Pod Identity left its variables.
    pub has_pod_identity: bool,
}

/// A variable of a container. Set to nothing counts as not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variable {
    Unset,
    Set(Box<str>),
    /// It comes from a ConfigMap, a Secret or the pod itself when the container starts.
    Elsewhere,
}

impl Fact for Deployment {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        Ok(Self { labels: labels(&spec["selector"]), containers: containers(&spec["template"]["spec"]) })
    }
}

impl Fact for Pod {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        let status: Value = raw.field("status")?;
        let is_done = matches!(status["phase"].as_str(), Some("Succeeded" | "Failed"));
        Ok(Self { has_ended: is_done || raw.meta.deletion_timestamp.is_some(), containers: containers(&spec) })
    }
}

/// `a=b,c=d`. Expressions are left to those who can ask for them.
fn labels(selector: &Value) -> Option<Box<str>> {
    let plain = selector["matchLabels"].as_object().filter(|labels| !labels.is_empty())?;
    if !items(selector, &["matchExpressions"]).is_empty() {
        return None;
    }
    let term = |(key, value): (&String, &Value)| Some(format!("{key}={}", value.as_str()?));
    let terms: Option<Vec<String>> = plain.iter().map(term).collect();
    Some(terms?.join(",").into_boxed_str())
}

fn containers(spec: &Value) -> Box<[Container]> {
    let read = |container: &Value| Container {
        name: text(container, &["name"]).unwrap_or_default(),
        role: variable(container, ROLE_ARN),
        token_file: variable(container, TOKEN_FILE),
        has_pod_identity: [CONTAINER_URI, CONTAINER_TOKEN_FILE]
            .into_iter()
            .any(|name| matches!(variable(container, name), Variable::Set(_))),
    };
    items(spec, &["containers"]).iter().map(read).collect()
}

fn variable(container: &Value, name: &str) -> Variable {
    // Of several with one name the last one counts.
    let Some(listed) = items(container, &["env"]).iter().rev().find(|one| one["name"] == name) else {
        let has_more = !items(container, &["envFrom"]).is_empty();
        return if has_more { Variable::Elsewhere } else { Variable::Unset };
    };
    if !listed["valueFrom"].is_null() {
        return Variable::Elsewhere;
    }
    match text(listed, &["value"]).unwrap_or_default() {
        value if value.is_empty() => Variable::Unset,
        value => Variable::Set(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_variable_is_set_unset_or_comes_from_elsewhere() {
        let role = |rest: Value| {
            let mut listed = json!({ "name": ROLE_ARN });
            listed.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            listed
        };
        let (from_map, set) = (json!({ "valueFrom": { "configMapKeyRef": {} } }), Variable::Set("arn".into()));
        let more = json!([{ "configMapRef": { "name": "x" } }]);
        let cases = [
            ("nothing", json!({}), Variable::Unset),
            ("another one", json!({ "env": [{ "name": "HOME", "value": "/" }] }), Variable::Unset),
            ("set", json!({ "env": [role(json!({ "value": "arn" }))] }), set.clone()),
            ("set to nothing", json!({ "env": [role(json!({ "value": " " }))] }), Variable::Unset),
            ("without a value", json!({ "env": [role(json!({}))] }), Variable::Unset),
            ("from a ConfigMap", json!({ "env": [role(from_map)] }), Variable::Elsewhere),
            ("whole ConfigMaps are taken over", json!({ "envFrom": more.clone() }), Variable::Elsewhere),
            (
                "and beside them it is set",
                json!({ "envFrom": more, "env": [role(json!({ "value": "arn" }))] }),
                set.clone(),
            ),
            ("twice", json!({ "env": [role(json!({ "value": "old" })), role(json!({ "value": "arn" }))] }), set),
            ("an odd list", json!({ "env": "x" }), Variable::Unset),
        ];
        for (case, container, expected) in cases {
            assert_eq!(variable(&container, ROLE_ARN), expected, "case: {case}");
        }
    }

    #[test]
    fn pods_are_asked_for_by_labels_alone() {
        let expression =
            json!({ "matchLabels": { "a": "b" }, "matchExpressions": [{ "key": "x", "operator": "Exists" }] });
        let cases = [
            ("labels", json!({ "matchLabels": { "app": "annotator", "tier": "1" } }), Some("app=annotator,tier=1")),
            ("none", json!({}), None),
            ("an expression", expression, None),
            ("an odd value", json!({ "matchLabels": { "a": 1 } }), None),
        ];
        for (case, selector, expected) in cases {
            assert_eq!(labels(&selector).as_deref(), expected, "case: {case}");
        }
    }
}
