//! The long answer: one line, expected beside actual, and evidence that names object, field and version.
//!
//! Each place has a few of the verdicts and no other, so the last arm of a summary stands for "all is well" on purpose:
//! naming the verdicts a place never has would say less.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::availability::{Availability, Half, Revision, still_carries, what_it_was_told};
use super::check::{Checked, Verdict as Validity};
use super::console::{listed, status, wanted_secret};
use super::context::CheckContext;
use super::evidence::evidence;
use super::facts::Node;
use super::names::{
    AUTH_CONFIG_KEY, CA_KEY, CLIENT_SECRET_KEY, CONFIG_NAMESPACE, CONSOLE_NAMESPACE, CONSOLE_SECRET, KAS_NAMESPACE,
    MANAGED_NAMESPACE,
};
use super::observed::{Expected, told};
use super::problem::Problem;
use super::remedy::actions;
use super::ruling::Ruling;
use super::settings::Settings;
use super::spec::Component;
use super::subjects::ResolvedSubject;
use super::verdict::Verdict;
use trueup_core::engine::Explanation;
use trueup_core::world::{Meta, Uid};

pub fn explain(
    settings: &Settings,
    context: &CheckContext<'_>,
    place: &ResolvedSubject,
    ruling: &Ruling,
) -> Explanation {
    let (uid, created) = identity(context, place);
    let (expected, actual) = sides(context, place);
    Explanation {
        uid,
        created,
        summary: summary(context, place, ruling),
        expected,
        actual,
        evidence: evidence(settings, context, place, ruling),
        remedy: actions(settings, context, place, ruling),
    }
}

/// The object a place is about, as far as it is there.
pub fn meta<'a>(context: &CheckContext<'a>, place: &ResolvedSubject) -> Option<&'a Meta> {
    match place {
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
        ResolvedSubject::Rollout | ResolvedSubject::ObservedConfig => None,
    }
}

fn identity(context: &CheckContext<'_>, place: &ResolvedSubject) -> (Option<Uid>, Option<Timestamp>) {
    match place {
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
        | ResolvedSubject::Client { .. } => {
            let meta = meta(context, place);
            (meta.map(|meta| meta.uid.clone()), meta.and_then(|meta| meta.created))
        }
    }
}

fn summary(context: &CheckContext<'_>, place: &ResolvedSubject, ruling: &Ruling) -> String {
    if ruling.verdict == Verdict::Unknown {
        let gap = ruling.gap.as_ref().map_or("not known", |gap| &gap.says);
        return format!("unknown: {gap}");
    }
    match place {
        ResolvedSubject::Authentication => authentication_summary(context, ruling),
        ResolvedSubject::AuthConfig | ResolvedSubject::KasCopy => file_summary(place, ruling.verdict),
        ResolvedSubject::Rollout => rollout_summary(context, ruling),
        ResolvedSubject::ObservedConfig => match ruling.verdict {
            Verdict::Drift => format!("kube-apiserver would get other settings: {}", ruling.codes.join(", ")),
            _ => "kube-apiserver gets the settings of this type".to_owned(),
        },
        ResolvedSubject::Part(_) => part_summary(context, ruling.verdict),
        ResolvedSubject::Restrictions => restrictions_summary(context, ruling.verdict),
        ResolvedSubject::ConsoleCa { .. } => console_summary(ruling.verdict, "the provider's CA"),
        ResolvedSubject::ConsoleSecret => console_summary(ruling.verdict, "the console's client secret"),
        ResolvedSubject::Client { component } => client_summary(component, ruling.verdict),
    }
}

fn authentication_summary(context: &CheckContext<'_>, ruling: &Ruling) -> String {
    let kind = context.kind().map(|kind| kind.as_str().to_owned()).unwrap_or_default();
    let problems = context.checked().map(|checked| checked.problems.as_slice()).unwrap_or_default();
    let first = problems.first().map(|problem| format!("{}: {}", problem.path, problem.why)).unwrap_or_default();
    let more = match problems.len() {
        0 | 1 => String::new(),
        number => format!(" (and {} more)", number - 1),
    };
    match ruling.verdict {
        Verdict::Lockout => "type OIDC without a provider: after the rollout no token is accepted".to_owned(),
        Verdict::Invalid => format!("would be refused: {first}{more}"),
        Verdict::KasWouldRefuse => format!("accepted, and kube-apiserver would not start with it: {first}{more}"),
        _ if ruling.codes.is_empty() => format!("type {kind}, nothing speaks against it"),
        _ => format!("type {kind}, with warnings: {}", ruling.codes.join(", ")),
    }
}

fn file_summary(place: &ResolvedSubject, verdict: Verdict) -> String {
    let (source, writer) = match place {
        ResolvedSubject::KasCopy => ("its source in openshift-config-managed", "kube-apiserver's operator"),
        _ => ("what Authentication/cluster asks for", "the authentication operator"),
    };
    match verdict {
        Verdict::Missing => format!("{writer} has not written it"),
        Verdict::Drift => format!("differs from {source}"),
        Verdict::Extra => "exists but is not expected".to_owned(),
        Verdict::Unrenderable => "Authentication/cluster is invalid, so there is nothing to compare with".to_owned(),
        _ => format!("as {source} has it, byte for byte"),
    }
}

fn rollout_summary(context: &CheckContext<'_>, ruling: &Ruling) -> String {
    let nodes = context.kube_api_server.seen.map_or(&[][..], |kas| &kas.nodes);
    let there = nodes.iter().filter(|node| what_it_was_told(context, node.current) == Revision::Oidc).count();
    match ruling.verdict {
        Verdict::Available => "every kube-apiserver runs with external OIDC alone".to_owned(),
        Verdict::RollingOut => {
            format!("{there} of {} nodes are on external OIDC alone; {}", nodes.len(), awaited(context))
        }
        _ if !ruling.codes.is_empty() => {
            let on_oidc = nodes.iter().filter(|node| still_carries(context, node.current) == Ok(true)).count();
            format!("OIDC disabled; {on_oidc} of {} nodes still use it", nodes.len())
        }
        _ if *context.availability() == Availability::NotWanted => {
            "OIDC is not asked for, and none runs with it".to_owned()
        }
        _ => format!("OIDC is asked for, and no revision has it yet; {}", awaited(context)),
    }
}

/// What has to happen next, in a sentence.
pub fn awaited(context: &CheckContext<'_>) -> String {
    let file = |namespace| context.auth_config(namespace).seen;
    let Some(kas) = context.kube_api_server.seen else { return "waiting for KubeAPIServer/cluster".to_owned() };
    if file(MANAGED_NAMESPACE).is_none() {
        return "waiting for the authentication operator to write auth-config".to_owned();
    }
    if file(KAS_NAMESPACE).is_none() {
        return "waiting for kube-apiserver's operator to copy auth-config".to_owned();
    }
    let failing = |node: &&Node| node.last_failed.as_ref().is_some_and(|failed| failed.revision == node.target);
    if let Some((node, failed)) =
        kas.nodes.iter().filter(failing).find_map(|node| Some((node, node.last_failed.as_ref()?)))
    {
        return format!("revision {} fails on {}: {}", failed.revision, node.name, failed.says);
    }
    if let Some(node) = kas.nodes.iter().find(|node| node.target > 0 && node.target != node.current) {
        return format!("waiting for {} to go from revision {} to {}", node.name, node.current, node.target);
    }
    let half = kas.nodes.iter().find(|node| matches!(what_it_was_told(context, node.current), Revision::Half(_)));
    match half.map(|node| what_it_was_told(context, node.current)) {
        Some(Revision::Half(Half::WebhookToo | Half::MetadataToo)) => {
            "waiting for the second revision, without the webhook".to_owned()
        }
        Some(_) | None => "waiting for the next revision".to_owned(),
    }
}

fn part_summary(context: &CheckContext<'_>, verdict: Verdict) -> String {
    match (verdict, context.availability()) {
        (Verdict::Leftover, _) => "external OIDC is available on every node, and this is still there".to_owned(),
        (Verdict::Missing, Availability::NotWanted) => "the OAuth server is asked for, and this is missing".to_owned(),
        (Verdict::Missing, _) => "the oauth-apiserver authenticates here, and this is missing".to_owned(),
        (_, Availability::Available) => "as it should be with external OIDC".to_owned(),
        (_, Availability::NotYet(_)) => "OIDC is rolling out: it may exist or not".to_owned(),
        (_, Availability::NotWanted | Availability::Unknown(_)) => "as it should be".to_owned(),
    }
}

/// How many names a line lists before it says how many more there are.
const NAMES_MAX: usize = 8;

fn restrictions_summary(context: &CheckContext<'_>, verdict: Verdict) -> String {
    match verdict {
        Verdict::BlocksOidc => {
            let all = context.restrictions();
            let names: Vec<String> = all.iter().map(|(key, _)| key.to_string()).collect();
            let more = match names.len().saturating_sub(NAMES_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let first = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("RoleBindingRestrictions are not enforced with OIDC: {first}{more}")
        }
        Verdict::Removable => "no RoleBindingRestriction exists; upstream never removes the definition".to_owned(),
        Verdict::Keep => "kept; upstream never removes it".to_owned(),
        _ => "there is no such definition".to_owned(),
    }
}

fn console_summary(verdict: Verdict, what: &str) -> String {
    match verdict {
        Verdict::Missing => format!("the console lacks its copy of {what}"),
        Verdict::Drift => format!("the console's copy of {what} differs from its source"),
        Verdict::Leftover => format!("a copy of {what} that is not expected any more"),
        _ => format!("the console's copy of {what} is as its source"),
    }
}

fn client_summary(component: &Component, verdict: Verdict) -> String {
    let who = format!("{}/{}", component.namespace, component.name);
    match verdict {
        Verdict::Missing => format!("{who} does not use the client that is listed for it"),
        Verdict::Drift => format!("{who} uses another client than is listed for it"),
        Verdict::Leftover => format!("{who} still uses a client that nothing lists any more"),
        _ => format!("{who} uses what is listed for it"),
    }
}

/// Expected and actual.
fn sides(context: &CheckContext<'_>, place: &ResolvedSubject) -> (Value, Value) {
    match place {
        ResolvedSubject::Authentication => authentication_sides(context),
        ResolvedSubject::AuthConfig => (wanted_side(context), file_side(file(context, MANAGED_NAMESPACE))),
        ResolvedSubject::KasCopy => {
            (file_side(file(context, MANAGED_NAMESPACE)), file_side(file(context, KAS_NAMESPACE)))
        }
        ResolvedSubject::Rollout => rollout_sides(context),
        ResolvedSubject::ObservedConfig => observed_sides(context),
        ResolvedSubject::Part(_) | ResolvedSubject::Restrictions => {
            (json!({}), meta(context, place).map_or_else(|| json!({}), |_| json!({ "exists": true })))
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
        Err(gap) => not_known(&gap.says),
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

/// The type and the providers; where something is wrong with them, that, beside what to do about it.
fn authentication_sides(context: &CheckContext<'_>) -> (Value, Value) {
    let Some(authentication) = context.authentication.seen else { return (json!({}), json!({})) };
    let providers: Vec<Value> = authentication
        .spec
        .providers
        .iter()
        .map(|provider| json!({ "name": provider.title(), "issuerURL": provider.issuer_url() }))
        .collect();
    let mut actual = json!({ "type": authentication.spec.kind.as_str(), "oidcProviders": providers });
    let problems = context.checked().map(|checked| checked.problems.as_slice()).unwrap_or_default();
    if problems.is_empty() {
        return (actual.clone(), actual);
    }
    let mut expected = json!({});
    for Problem { path, value, remedy, .. } in problems {
        expected[path] = json!(remedy);
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
    let Ok(told) = told(context) else { return (json!({}), json!({})) };
    let mut sides = (serde_json::Map::new(), serde_json::Map::new());
    for told in told {
        let word = told.code.as_str().to_owned();
        match told.expected {
            Expected::Text(text) => drop(sides.0.insert(word.clone(), json!(text))),
            Expected::NotJudged { why } => drop(sides.0.insert(word.clone(), json!(format!("not judged: {why}")))),
        }
        sides.1.insert(word, json!(told.actual));
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
        | ResolvedSubject::Restrictions => true,
        ResolvedSubject::Authentication
        | ResolvedSubject::Rollout
        | ResolvedSubject::ObservedConfig
        | ResolvedSubject::ConsoleCa { .. }
        | ResolvedSubject::ConsoleSecret
        | ResolvedSubject::Client { .. } => false,
    };
    if written && meta(context, subject).is_some() { 2 } else { 0 }
}
