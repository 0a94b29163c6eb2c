//! The Deployment that annotates, and its pods, by the variables that say where a login is.
//!
//! Invariants:
//! - of an environment four names are looked at, and nothing else of it is kept;
//! - a variable that is read from somewhere else when the container starts is distinguished from one that is not set.

use serde_json::Value;

use super::super::names::{CONTAINER_TOKEN_FILE, CONTAINER_URI, DEFAULT_TOKENS, ROLE_ANNOTATION, ROLE_ARN, TOKEN_FILE};
use crate::kinds::{items, text};
use trueup_core::world::{Fact, Interner, Misfit, RawObject};

/// A Deployment, as far as it says what its pods are like.
#[derive(Debug, PartialEq, Eq)]
pub struct Deployment {
    /// How its pods are asked for; nothing where it picks them in a way that can't be asked for.
    pub labels: Option<Box<str>>,
    /// As its template has them, before anybody adds to them.
    pub containers: Box<[Container]>,
    pub service_account: Box<str>,
}

/// A ServiceAccount, by the role the EKS webhook would give its pods; empty without one.
#[derive(Debug, PartialEq, Eq)]
pub struct ServiceAccount {
    pub role: Box<str>,
}

/// Who issues the tokens of service accounts, as `Authentication/cluster` says.
#[derive(Debug, PartialEq, Eq)]
pub struct Issuer {
    /// Empty: the default issuer, whose keys are served inside the cluster only.
    pub url: Box<str>,
}

/// What is mounted where a container looks for its web identity token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenMount {
    /// It looks for none.
    NotNamed,
    /// No volume mount holds the path.
    NotMounted,
    /// The volume there is not a projected service account token of that path.
    NotAToken,
    /// `audience` is empty where the projection names none.
    Token { audience: Box<str> },
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
    pub token: TokenMount,
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
        Ok(Self {
            labels: labels(&spec["selector"]),
            containers: containers(&spec["template"]["spec"], Mounts::Template),
            service_account: service_account(&spec["template"]["spec"]),
        })
    }
}

impl Fact for Pod {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        let status: Value = raw.field("status")?;
        let is_done = matches!(status["phase"].as_str(), Some("Succeeded" | "Failed"));
        Ok(Self {
            has_ended: is_done || raw.meta.deletion_timestamp.is_some(),
            containers: containers(&spec, Mounts::Pod),
        })
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

impl Fact for ServiceAccount {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self { role: raw.meta.annotation(ROLE_ANNOTATION).unwrap_or_default().trim().into() })
    }
}

impl Fact for Issuer {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: Value = raw.field("spec")?;
        Ok(Self { url: spec["serviceAccountIssuer"].as_str().unwrap_or_default().into() })
    }
}

/// Whose volume mounts they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mounts {
    Pod,
    /// The API server adds the mount of the default token to each pod.
    Template,
}

fn service_account(spec: &Value) -> Box<str> {
    match spec["serviceAccountName"].as_str().unwrap_or_default() {
        "" => "default".into(),
        name => name.into(),
    }
}

/// What is mounted at a path.
fn token_mount(spec: &Value, container: &Value, path: &str, mounts: Mounts) -> TokenMount {
    let within = |mount: &Value| {
        let at = mount["mountPath"].as_str()?.trim_end_matches('/');
        let rest = path.strip_prefix(at)?;
        (rest.is_empty() || rest.starts_with('/')).then_some((at.len(), rest.trim_start_matches('/')))
    };
    let all = items(container, &["volumeMounts"]).iter().filter_map(|mount| Some((mount, within(mount)?)));
    let Some((mount, (_, rest))) = all.max_by_key(|(_, (length, _))| *length) else {
        let is_added = mounts == Mounts::Template && path.starts_with(DEFAULT_TOKENS);
        return if is_added { TokenMount::NotNamed } else { TokenMount::NotMounted };
    };
    let inside = match mount["subPath"].as_str().unwrap_or_default().trim_matches('/') {
        "" => rest.to_owned(),
        below if rest.is_empty() => below.to_owned(),
        below => format!("{below}/{rest}"),
    };
    let volume = items(spec, &["volumes"]).iter().find(|volume| volume["name"] == mount["name"]);
    let sources = volume.map_or(&[][..], |volume| items(volume, &["projected", "sources"]));
    let token = sources.iter().map(|source| &source["serviceAccountToken"]).find(|token| token["path"] == inside);
    match token {
        None => TokenMount::NotAToken,
        Some(token) => TokenMount::Token { audience: token["audience"].as_str().unwrap_or_default().into() },
    }
}

fn containers(spec: &Value, mounts: Mounts) -> Box<[Container]> {
    let token = |container: &Value| match variable(container, TOKEN_FILE) {
        Variable::Set(path) => token_mount(spec, container, &path, mounts),
        Variable::Unset | Variable::Elsewhere => TokenMount::NotNamed,
    };
    let read = |container: &Value| Container {
        token: token(container),
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
    fn a_token_is_what_a_projected_volume_mounts_at_its_path() {
        let projected = |audience: Option<&str>| {
            let mut token = json!({ "path": "token", "expirationSeconds": 3600 });
            if let Some(audience) = audience {
                token["audience"] = json!(audience);
            }
            json!({ "name": "v", "projected": { "sources": [{ "configMap": {} }, { "serviceAccountToken": token }] } })
        };
        let secret = json!({ "name": "v", "secret": { "secretName": "x" } });
        let mount = |path: &str| json!([{ "name": "v", "mountPath": path }]);
        let token = |audience: &str| TokenMount::Token { audience: audience.into() };
        let (pod, template) = (Mounts::Pod, Mounts::Template);
        let cases = [
            (
                "a token",
                "/var/t/token",
                mount("/var/t"),
                projected(Some("sts.amazonaws.com")),
                pod,
                token("sts.amazonaws.com"),
            ),
            ("a trailing slash", "/var/t/token", mount("/var/t/"), projected(Some("a")), pod, token("a")),
            ("no audience", "/var/t/token", mount("/var/t"), projected(None), pod, token("")),
            ("another file", "/var/t/other", mount("/var/t"), projected(None), pod, TokenMount::NotAToken),
            ("a Secret", "/var/t/token", mount("/var/t"), secret, pod, TokenMount::NotAToken),
            ("elsewhere", "/var/t/token", mount("/var/te"), projected(None), pod, TokenMount::NotMounted),
            ("nothing mounted", "/var/t/token", json!([]), projected(None), pod, TokenMount::NotMounted),
            (
                "one file of a volume",
                "/var/t",
                json!([{ "name": "v", "mountPath": "/var/t", "subPath": "token" }]),
                projected(Some("a")),
                pod,
                token("a"),
            ),
            (
                "the default token of a template, which the API server mounts",
                "/var/run/secrets/kubernetes.io/serviceaccount/token",
                json!([]),
                projected(None),
                template,
                TokenMount::NotNamed,
            ),
        ];
        for (case, path, mounts, volume, whose, expected) in cases {
            let spec = json!({ "volumes": [volume] });
            let container = json!({ "volumeMounts": mounts });
            assert_eq!(token_mount(&spec, &container, path, whose), expected, "case: {case}");
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
