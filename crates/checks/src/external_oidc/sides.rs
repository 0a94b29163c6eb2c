//! Expected and actual of each subject: what its verdict compared, field by field.
//!
//! Invariants: both sides of the difference that made the verdict are here; values of Secrets are lengths.

use serde_json::{Map, Value, json};

use super::availability::{Revision, auth_of_revision};
use super::check::{Checked, Verdict as Validity};
use super::console::{listed, status, wanted_secret};
use super::context::CheckContext;
use super::evidence::revision_message;
use super::explain::meta;
use super::facts::{OperatorComplaint, Readiness};
use super::names::{
    AUTH_CONFIG_KEY, CA_KEY, CLIENT_SECRET_KEY, CONFIG_NAMESPACE, CONSOLE_NAMESPACE, CONSOLE_SECRET, KAS_NAMESPACE,
    MANAGED_NAMESPACE,
};
use super::observed::{Expected, observed_settings};
use super::problem::Problem;
use super::remedy::Operator;
use super::ruling::Ruling;
use super::spec::{AuthSpec, Component, Provider};
use super::stack::Part;
use super::subjects::ResolvedSubject;
use super::verdict::Verdict;
use trueup_core::engine::State;

/// Both sides. Nothing is expected of what should not exist.
pub fn sides(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> (Value, Value) {
    let (expected, mut actual) = compared(context, subject, ruling);
    if ruling.state != State::Extra {
        return (expected, actual);
    }
    actual["exists"] = json!(true);
    (json!({}), actual)
}

fn compared(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> (Value, Value) {
    match subject {
        ResolvedSubject::Authentication => authentication_sides(context),
        ResolvedSubject::AuthConfig => (wanted_side(context), file_side(file(context, MANAGED_NAMESPACE))),
        ResolvedSubject::KasCopy => {
            (file_side(file(context, MANAGED_NAMESPACE)), file_side(file(context, KAS_NAMESPACE)))
        }
        ResolvedSubject::Rollout => rollout_sides(context, ruling),
        ResolvedSubject::ObservedConfig => observed_sides(context),
        ResolvedSubject::Namespace(name) => {
            let phase = context.namespace(name).seen.filter(|seen| seen.is_terminating).map(|_| "Terminating");
            (json!({ "phase": "Active" }), json!({ "phase": phase.unwrap_or("Active") }))
        }
        ResolvedSubject::Operator(operator) => operator_sides(context, *operator, ruling),
        ResolvedSubject::Part(part) => part_sides(context, subject, Some(part), ruling),
        ResolvedSubject::Restrictions | ResolvedSubject::OauthCopy(_) => part_sides(context, subject, None, ruling),
        ResolvedSubject::ConsoleCa { name } => {
            let side = |namespace, suffix: &str| match context.bundle(namespace, name).seen {
                None => json!({}),
                Some(bundle) => json!({ "data": { CA_KEY: bytes(bundle.text.as_deref().map(str::len), suffix) } }),
            };
            (side(CONFIG_NAMESPACE, ""), side(CONSOLE_NAMESPACE, suffix_of(ruling)))
        }
        ResolvedSubject::ConsoleSecret => {
            let side = |namespace, name, suffix: &str| match context.client_secret(namespace, name).ok().flatten() {
                None => json!({}),
                Some(secret) => {
                    let length = secret.value.and_then(|value| usize::try_from(value.length).ok());
                    json!({ "data": { CLIENT_SECRET_KEY: bytes(length, suffix) } })
                }
            };
            let source = wanted_secret(context).map_or_else(|| json!({}), |name| side(CONFIG_NAMESPACE, name, ""));
            (source, side(CONSOLE_NAMESPACE, CONSOLE_SECRET, suffix_of(ruling)))
        }
        ResolvedSubject::Client { component } => client_sides(context, component, ruling),
    }
}

fn bytes(length: Option<usize>, suffix: &str) -> String {
    length.map_or_else(|| "<absent>".to_owned(), |length| format!("<{length} bytes{suffix}>"))
}

/// Two values of one length differ all the same.
fn suffix_of(ruling: &Ruling) -> &'static str {
    if ruling.verdict == Verdict::Drift { ", different" } else { "" }
}

/// A part of the OAuth stack: whether it exists, and whether it works.
fn part_sides(
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    part: Option<&Part>,
    ruling: &Ruling,
) -> (Value, Value) {
    let mut actual = meta(context, subject).map_or_else(|| json!({}), |_| json!({ "exists": true }));
    let status = match part.and_then(|part| context.part(part).seen).map(|mark| &mark.readiness) {
        Some(Readiness::ScaledToZero) => Some("spec.replicas is 0".to_owned()),
        Some(Readiness::NotReady(why) | Readiness::RollingOut(why)) => Some(why.to_string()),
        Some(Readiness::NotJudged | Readiness::Ready) | None => None,
    };
    let expected = match (ruling.verdict, status) {
        (Verdict::Missing, _) => json!({ "exists": true }),
        (Verdict::NotReady | Verdict::RollingOut, Some(status)) => {
            actual["status"] = json!(status);
            json!({ "exists": true, "status": "every replica is available" })
        }
        (_, _) => json!({}),
    };
    (expected, actual)
}

fn operator_sides(context: &CheckContext<'_>, operator: Operator, ruling: &Ruling) -> (Value, Value) {
    let counts = |one: &&OperatorComplaint| one.is_bad() || ruling.verdict == Verdict::RollingOut;
    let speaking = operator.complaints(context).iter().filter(counts);
    let conditions: Vec<&str> = speaking.map(|one| one.complaint.message.as_ref()).collect();
    (json!({ "conditions": [] }), json!({ "conditions": conditions }))
}

fn file<'a>(context: &CheckContext<'a>, namespace: &str) -> Option<&'a str> {
    context.auth_config(namespace).seen.and_then(|file| file.auth_config.as_deref())
}

/// An `auth-config.json`: its text, which is compared byte for byte.
fn file_side(text: Option<&str>) -> Value {
    text.map_or_else(|| json!({}), |text| json!({ "data": { AUTH_CONFIG_KEY: text } }))
}

/// What the file should hold: unknown, not empty, for an Authentication that cannot be rendered.
fn wanted_side(context: &CheckContext<'_>) -> Value {
    let not_known = |why: &str| file_side(Some(&format!("<not known: {why}>")));
    match context.checked() {
        Err(gap) => not_known(&gap.message),
        Ok(Checked { rendered: Some(text), .. }) => file_side(Some(text)),
        Ok(Checked { verdict: Validity::Valid, .. }) => file_side(None),
        Ok(Checked { verdict: Validity::Unknown, unknowns, .. }) => {
            not_known(unknowns.first().map_or("what it takes is not known", String::as_str))
        }
        Ok(Checked { verdict: Validity::Lockout | Validity::Invalid | Validity::KasWouldRefuse, .. }) => {
            not_known("Authentication/cluster would be refused")
        }
    }
}

fn authentication_sides(context: &CheckContext<'_>) -> (Value, Value) {
    let Some(authentication) = context.authentication.seen else { return (json!({}), json!({})) };
    spec_sides(&authentication.spec, context.checked().map(|checked| checked.problems.as_slice()).unwrap_or_default())
}

/// The type and the providers; where something is wrong with them, that, beside what to do about it.
pub fn spec_sides(spec: &AuthSpec, problems: &[Problem]) -> (Value, Value) {
    let provider = |provider: &Provider| json!({ "name": provider.title(), "issuerURL": provider.issuer_url() });
    let providers: Vec<Value> = spec.providers.iter().map(provider).collect();
    let mut actual = json!({ "type": spec.kind.as_str(), "oidcProviders": providers });
    if problems.is_empty() {
        return (actual.clone(), actual);
    }
    let mut expected = json!({});
    for problem in problems {
        let Problem { path, value, .. } = problem;
        expected[path] = json!(problem.remedy());
        actual[path] = if value.is_empty() { Value::Null } else { json!(value) };
    }
    (expected, actual)
}

/// Each node's revision, with what it authenticates by, beside what it should have.
fn rollout_sides(context: &CheckContext<'_>, ruling: &Ruling) -> (Value, Value) {
    let Some(kas) = context.kube_api_server.seen else { return (json!({}), json!({})) };
    let is_wanted = context.authentication.seen.is_some_and(|authentication| authentication.spec.is_oidc());
    let goal = if is_wanted { Revision::Oidc } else { Revision::NoFile };
    let (mut wanted, mut held) = (Map::new(), Map::new());
    for node in &kas.nodes {
        let auth = auth_of_revision(context, node.current);
        let is_moving = node.target > 0 && node.target != node.current;
        let going = if is_moving { format!(", going to {}", node.target) } else { String::new() };
        let actual = format!("revision {}{going}: {}", node.current, revision_message(&auth));
        let expected = match auth == goal && !is_moving {
            true => actual.clone(),
            false => format!("revision {}: {}", kas.latest_revision.max(node.target), revision_message(&goal)),
        };
        wanted.insert(node.name.to_string(), json!(expected));
        held.insert(node.name.to_string(), json!(actual));
    }
    let (mut wanted, mut held) = (json!({ "nodes": wanted }), json!({ "nodes": held }));
    let lacks = ruling.state != State::Match && !ruling.codes.is_empty();
    if lacks {
        wanted["next revision"] = json!("complete");
        held["next revision"] = json!(ruling.codes.join(", "));
    }
    (wanted, held)
}

fn observed_sides(context: &CheckContext<'_>) -> (Value, Value) {
    let Ok(settings) = observed_settings(context) else { return (json!({}), json!({})) };
    let mut sides = (Map::new(), Map::new());
    for setting in settings {
        let code = setting.code.as_str().to_owned();
        match setting.expected {
            Expected::Text(text) => drop(sides.0.insert(code.clone(), json!(text))),
            // Its evidence says why it is not compared.
            Expected::NotJudged { .. } => {}
        }
        sides.1.insert(code, json!(setting.actual));
    }
    (Value::Object(sides.0), Value::Object(sides.1))
}

fn client_sides(context: &CheckContext<'_>, component: &Component, ruling: &Ruling) -> (Value, Value) {
    let spec = context.authentication.seen.map(|authentication| &authentication.spec);
    let wanted = spec.filter(|spec| spec.is_oidc()).and_then(|spec| listed(spec, component));
    let side = |id: &str, issuer: &str| json!({ "clientID": id, "issuerURL": issuer });
    let mut expected =
        wanted.map_or_else(|| json!({}), |(provider, client)| side(&client.client_id, provider.issuer_url()));
    let status = status(context, component);
    let used: Vec<Value> = status
        .map_or(&[][..], |status| &status.current)
        .iter()
        .map(|current| side(&current.client_id, &current.issuer))
        .collect();
    // A component that uses the right client and others, too, differs by the others.
    let right = used.iter().position(|used| *used == expected).unwrap_or(0);
    let mut actual = used.get(right).cloned().unwrap_or_else(|| json!({}));
    if used.len() > 1 {
        let others = used.iter().enumerate().filter(|(place, _)| *place != right).map(|(_, used)| &used["clientID"]);
        expected["other clients"] = json!([]);
        actual["other clients"] = others.cloned().collect();
    }
    if let Verdict::Degraded | Verdict::RollingOut = ruling.verdict {
        let conditions = status.map_or(&[][..], |status| &status.conditions).iter();
        let said: Vec<String> = conditions.map(|one| format!("{}={} {}", one.kind, one.status, one.reason)).collect();
        expected["conditions"] = json!([]);
        actual["conditions"] = json!(said);
    }
    (expected, actual)
}
