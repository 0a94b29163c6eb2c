//! The long answer: one line, expected beside actual, and evidence that names object, field and version.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::check::{Checked, Verdict as Validity};
use super::console::{listed, status, wanted_secret};
use super::context::CheckContext;
use super::evidence::evidence;
use super::facts::Node;
use super::messages::{advice, summary};
use super::names::{
    AUTH_CONFIG_KEY, CA_KEY, CLIENT_SECRET_KEY, CONFIG_NAMESPACE, CONSOLE_NAMESPACE, CONSOLE_SECRET, KAS_NAMESPACE,
    MANAGED_NAMESPACE,
};
use super::observed::{Expected, observed_settings};
use super::problem::Problem;
use super::remedy::actions;
use super::ruling::Ruling;
use super::settings::Settings;
use super::spec::{AuthSpec, Component, Provider};
use super::subjects::ResolvedSubject;
use trueup_core::engine::{Explanation, State};
use trueup_core::world::{Meta, Uid};

pub fn explain(
    settings: &Settings,
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    ruling: &Ruling,
) -> Explanation {
    let (uid, created) = identity(context, subject);
    let (expected, actual) = sides(context, subject);
    let remedy = actions(settings, context, subject, ruling);
    let mut summary = summary(context, subject, ruling);
    if ruling.state != State::Match && remedy.is_empty() {
        summary = format!("{summary}; {}", advice(subject, ruling.verdict));
    }
    let evidence = evidence(settings, context, subject, ruling);
    Explanation { uid, created, summary, expected, actual, evidence, remedy }
}

/// The object a place is about, as far as it is there.
pub fn meta<'a>(context: &CheckContext<'a>, subject: &ResolvedSubject) -> Option<&'a Meta> {
    match subject {
        ResolvedSubject::Authentication | ResolvedSubject::Client { .. } => {
            context.authentication.seen.map(|seen| &seen.meta)
        }
        ResolvedSubject::AuthConfig => context.auth_config(MANAGED_NAMESPACE).seen.map(|file| &file.meta),
        ResolvedSubject::KasCopy => context.auth_config(KAS_NAMESPACE).seen.map(|file| &file.meta),
        ResolvedSubject::Part(part) => context.part(part).seen.map(|mark| &mark.meta),
        ResolvedSubject::Restrictions => context.restrictions_definition().seen.map(|mark| &mark.meta),
        ResolvedSubject::ConsoleCa { name } => context.bundle(CONSOLE_NAMESPACE, name).seen.map(|bundle| &bundle.meta),
        ResolvedSubject::ConsoleSecret => {
            context.secret_mark(CONSOLE_NAMESPACE, CONSOLE_SECRET).seen.map(|mark| &mark.meta)
        }
        ResolvedSubject::OauthCopy(copy) => context.oauth_copy(*copy).seen,
        ResolvedSubject::Namespace(name) => context.namespace(name).seen.map(|seen| &seen.meta),
        ResolvedSubject::Operator(operator) => context.operator_status(*operator).map(|status| &status.meta),
        ResolvedSubject::Rollout | ResolvedSubject::ObservedConfig => None,
    }
}

fn identity(context: &CheckContext<'_>, subject: &ResolvedSubject) -> (Option<Uid>, Option<Timestamp>) {
    match subject {
        ResolvedSubject::Rollout | ResolvedSubject::ObservedConfig => {
            (context.kube_api_server.seen.map(|kas| kas.uid.clone()), None)
        }
        ResolvedSubject::Authentication
        | ResolvedSubject::AuthConfig
        | ResolvedSubject::KasCopy
        | ResolvedSubject::Part(_)
        | ResolvedSubject::Restrictions
        | ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::OauthCopy(_)
        | ResolvedSubject::Namespace(_)
        | ResolvedSubject::Operator(_)
        | ResolvedSubject::Client { .. } => {
            let meta = meta(context, subject);
            (meta.map(|meta| meta.uid.clone()), meta.and_then(|meta| meta.created()))
        }
    }
}

/// Expected and actual.
fn sides(context: &CheckContext<'_>, subject: &ResolvedSubject) -> (Value, Value) {
    match subject {
        ResolvedSubject::Authentication => authentication_sides(context),
        ResolvedSubject::AuthConfig => (wanted_side(context), file_side(file(context, MANAGED_NAMESPACE))),
        ResolvedSubject::KasCopy => {
            (file_side(file(context, MANAGED_NAMESPACE)), file_side(file(context, KAS_NAMESPACE)))
        }
        ResolvedSubject::Rollout => rollout_sides(context),
        ResolvedSubject::ObservedConfig => observed_sides(context),
        ResolvedSubject::Namespace(name) => {
            let phase = context.namespace(name).seen.filter(|seen| seen.is_terminating).map(|_| "Terminating");
            (json!({ "phase": "Active" }), json!({ "phase": phase.unwrap_or("Active") }))
        }
        ResolvedSubject::Operator(operator) => {
            let bad = operator.complaints(context).iter().filter(|one| one.is_bad());
            let conditions: Vec<&str> = bad.map(|one| one.complaint.message.as_ref()).collect();
            (json!({ "conditions": [] }), json!({ "conditions": conditions }))
        }
        ResolvedSubject::Part(_) | ResolvedSubject::Restrictions | ResolvedSubject::OauthCopy(_) => {
            (json!({}), meta(context, subject).map_or_else(|| json!({}), |_| json!({ "exists": true })))
        }
        ResolvedSubject::ConsoleCa { name } => {
            let side = |namespace| match context.bundle(namespace, name).seen {
                None => json!({}),
                Some(bundle) => json!({ "data": { CA_KEY: bytes(bundle.text.as_deref().map(str::len)) } }),
            };
            (side(CONFIG_NAMESPACE), side(CONSOLE_NAMESPACE))
        }
        ResolvedSubject::ConsoleSecret => {
            let side = |namespace, name| match context.client_secret(namespace, name).ok().flatten() {
                None => json!({}),
                Some(secret) => {
                    let length = secret.value.and_then(|value| usize::try_from(value.length).ok());
                    json!({ "data": { CLIENT_SECRET_KEY: bytes(length) } })
                }
            };
            let source = wanted_secret(context).map_or_else(|| json!({}), |name| side(CONFIG_NAMESPACE, name));
            (source, side(CONSOLE_NAMESPACE, CONSOLE_SECRET))
        }
        ResolvedSubject::Client { component } => client_sides(context, component),
    }
}

fn bytes(length: Option<usize>) -> String {
    length.map_or_else(|| "<absent>".to_owned(), |length| format!("<{length} bytes>"))
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

fn rollout_sides(context: &CheckContext<'_>) -> (Value, Value) {
    let nodes = context.kube_api_server.seen.map_or(&[][..], |kas| &kas.nodes);
    let revision = |node: &Node| match node.target {
        0 => format!("revision {}", node.current),
        target => format!("revision {}, going to {target}", node.current),
    };
    let actual: serde_json::Map<String, Value> =
        nodes.iter().map(|node| (node.name.to_string(), json!(revision(node)))).collect();
    let latest = context.kube_api_server.seen.map(|kas| kas.latest_revision);
    (latest.map_or_else(|| json!({}), |latest| json!({ "revision": latest })), json!({ "nodes": actual }))
}

fn observed_sides(context: &CheckContext<'_>) -> (Value, Value) {
    let Ok(settings) = observed_settings(context) else { return (json!({}), json!({})) };
    let mut sides = (serde_json::Map::new(), serde_json::Map::new());
    for setting in settings {
        let code = setting.code.as_str().to_owned();
        match setting.expected {
            Expected::Text(text) => drop(sides.0.insert(code.clone(), json!(text))),
            Expected::NotJudged { why } => drop(sides.0.insert(code.clone(), json!(format!("not judged: {why}")))),
        }
        sides.1.insert(code, json!(setting.actual));
    }
    (Value::Object(sides.0), Value::Object(sides.1))
}

fn client_sides(context: &CheckContext<'_>, component: &Component) -> (Value, Value) {
    let spec = context.authentication.seen.map(|authentication| &authentication.spec);
    let wanted = spec.filter(|spec| spec.is_oidc()).and_then(|spec| listed(spec, component));
    let expected = wanted.map_or_else(
        || json!({}),
        |(provider, client)| json!({ "clientID": client.client_id, "issuerURL": provider.issuer_url() }),
    );
    let current = status(context, component).map_or(&[][..], |status| &status.current);
    let current: Vec<Value> =
        current.iter().map(|current| json!({ "clientID": current.client_id, "issuerURL": current.issuer })).collect();
    (expected, json!({ "currentOIDCClients": current }))
}

/// How many proofs say that an object is the platform's. Only what the platform writes can be removed.
pub fn proofs(context: &CheckContext<'_>, subject: &ResolvedSubject) -> u8 {
    let written = match subject {
        ResolvedSubject::AuthConfig
        | ResolvedSubject::KasCopy
        | ResolvedSubject::Part(_)
        | ResolvedSubject::OauthCopy(_)
        | ResolvedSubject::Restrictions => true,
        ResolvedSubject::Authentication
        | ResolvedSubject::Rollout
        | ResolvedSubject::ObservedConfig
        | ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::Namespace(_)
        | ResolvedSubject::Operator(_)
        | ResolvedSubject::Client { .. } => false,
    };
    if written && meta(context, subject).is_some() { 2 } else { 0 }
}
