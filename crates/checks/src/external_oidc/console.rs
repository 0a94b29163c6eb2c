//! The console's copies of a provider's CA and client secret, and the clients that are in use.
//!
//! Facts: `docs/facts/external-oidc.md` section 4.

use super::context::CheckContext;
use super::facts::{Bundle, BundleOwner};
use super::names::{
    CONFIG_NAMESPACE, CONSOLE_COMPONENT, CONSOLE_NAMESPACE, CONSOLE_OWN_BUNDLES, CONSOLE_SECRET, INJECT_LABEL,
};
use super::ruling::Ruling;
use super::spec::{AuthKind, AuthSpec, Client, ClientStatus, Component, Condition, CurrentClient, Provider};
use super::verdict::{Code, Verdict};
use trueup_core::world::Gap;

/// The spec, when OIDC is asked for and there is a console.
fn wanted<'a>(context: &CheckContext<'a>) -> Option<&'a AuthSpec> {
    let spec = context.authentication.seen.map(|authentication| &authentication.spec)?;
    (spec.is_oidc() && context.has_console()).then_some(spec)
}

/// The CA the console's operator copies: the first provider's.
pub fn wanted_authority<'a>(context: &CheckContext<'a>) -> Option<&'a str> {
    wanted(context)?.providers.first()?.issuer.ca.as_deref()
}

/// The Secret with the console's client secret: of the first provider that lists the console.
pub fn wanted_secret<'a>(context: &CheckContext<'a>) -> Option<&'a str> {
    let component = Component { namespace: CONSOLE_NAMESPACE.to_owned(), name: CONSOLE_COMPONENT.to_owned() };
    listed(wanted(context)?, &component)?.1.secret.as_deref()
}

/// The client a spec lists for a component: of the first provider that has one.
pub fn listed<'a>(spec: &'a AuthSpec, component: &Component) -> Option<(&'a Provider, &'a Client)> {
    let of = |provider: &'a Provider| {
        let client = provider.clients.iter().find(|client| client.component == *component)?;
        Some((provider, client))
    };
    spec.providers.iter().find_map(of)
}

/// Whether a provider names a CA, whatever the type.
pub fn is_named(context: &CheckContext<'_>, name: &str) -> bool {
    let providers = context.authentication.seen.map_or(&[][..], |authentication| &authentication.spec.providers);
    providers.iter().any(|provider| provider.issuer.ca.as_deref() == Some(name))
}

/// Whether a ConfigMap in the console's namespace is a copied CA: a provider still names it, or it looks exactly like one.
pub fn is_stray(context: &CheckContext<'_>, name: &str, bundle: &Bundle) -> bool {
    let own = CONSOLE_OWN_BUNDLES.contains(&name) || bundle.meta.label(INJECT_LABEL).is_some();
    let source = context.bundle(CONFIG_NAMESPACE, name).seen;
    let marked = bundle.owner == BundleOwner::Console || source.is_some_and(|source| source.text.is_some());
    !own && (is_named(context, name) || (bundle.holds_ca_alone() && marked))
}

/// A leftover, unless something that would have to be known completely isn't.
fn leftover(context: &CheckContext<'_>, gaps: [&Option<Gap>; 2]) -> Ruling {
    let gap = gaps.into_iter().flatten().next().or(context.authentication.gap.as_ref());
    gap.map_or_else(|| Ruling::new(Verdict::Leftover), |gap| Ruling::unknown(gap.clone()))
}

/// The copy of a CA.
pub fn authority(context: &CheckContext<'_>, name: &str) -> Option<Ruling> {
    let copy = context.bundle(CONSOLE_NAMESPACE, name);
    if wanted_authority(context) == Some(name) {
        let sources = context.bundle(CONFIG_NAMESPACE, name);
        return Some(match (sources.known(), copy.known()) {
            (Err(gap), _) | (Ok(_), Err(gap)) => Ruling::unknown(gap),
            (Ok(source), Ok(copied)) => match (source.and_then(|source| source.text.as_deref()), copied) {
                // The operator takes the copy away when its source has nothing to give.
                (None, None) => Ruling::new(Verdict::Match),
                (None, Some(_)) => leftover(context, [&copy.gap, &sources.gap]),
                (Some(_), None) => Ruling::new(Verdict::Missing),
                (Some(source), Some(copied)) if copied.text.as_deref() == Some(source) => Ruling::new(Verdict::Match),
                (Some(_), Some(_)) => Ruling::new(Verdict::Drift),
            },
        });
    }
    copy.seen.filter(|bundle| is_stray(context, name, bundle))?;
    Some(leftover(context, [&copy.gap, &context.kind().err()]))
}

/// The copy of the console's client secret. Integrated OAuth keeps a secret of its own there, which is not a copy.
pub fn secret(context: &CheckContext<'_>) -> Option<Ruling> {
    wanted(context)?;
    let copy = context.client_secret(CONSOLE_NAMESPACE, CONSOLE_SECRET);
    let gap = context.secret_mark(CONSOLE_NAMESPACE, CONSOLE_SECRET).gap;
    let Some(name) = wanted_secret(context) else {
        let there = context.secret_mark(CONSOLE_NAMESPACE, CONSOLE_SECRET).seen.is_some();
        return there.then(|| leftover(context, [&gap, &None]));
    };
    let source = context.client_secret(CONFIG_NAMESPACE, name);
    let source_gap = context.secret_mark(CONFIG_NAMESPACE, name).gap;
    Some(match (source, copy) {
        (Err(gap), _) | (Ok(_), Err(gap)) => Ruling::unknown(gap),
        (Ok(source), Ok(copy)) => match (source.and_then(|source| source.value), copy) {
            (None, None) => Ruling::new(Verdict::Match),
            (None, Some(_)) => leftover(context, [&gap, &source_gap]),
            (Some(_), None) => Ruling::new(Verdict::Missing),
            (Some(source), Some(copy)) if copy.value == Some(source) => Ruling::new(Verdict::Match),
            (Some(_), Some(_)) => Ruling::new(Verdict::Drift),
        },
    })
}

/// What the status says of a component.
pub fn status<'a>(context: &CheckContext<'a>, component: &Component) -> Option<&'a ClientStatus> {
    context.authentication.seen?.clients.iter().find(|status| status.component == *component)
}

/// A component's client: as the spec lists it, against the one in use.
pub fn client(context: &CheckContext<'_>, component: &Component) -> Option<Ruling> {
    let spec = &context.authentication.seen?.spec;
    let listed = listed(spec, component).filter(|_| spec.kind == AuthKind::Oidc);
    let current = status(context, component).map(|status| status.current.as_slice());
    let is_listed = |current: &CurrentClient| {
        listed.is_some_and(|(provider, client)| {
            current.client_id == client.client_id && current.issuer == provider.issuer_url()
        })
    };
    let verdict = match (listed, current) {
        (None, None) => return None,
        (None, Some([])) => Verdict::Match,
        (None, Some(_)) => Verdict::Leftover,
        (Some(_), None | Some([])) => Verdict::Missing,
        (Some(_), Some(current)) if current.iter().all(is_listed) => Verdict::Match,
        (Some(_), Some(_)) => Verdict::Drift,
    };
    let codes = if listed.is_some() { client_codes(status(context, component)) } else { Vec::new() };
    let is_bad = codes.iter().any(|code| matches!(code, Code::Degraded | Code::Unavailable));
    let verdict = match (verdict == Verdict::Match, is_bad, codes.is_empty()) {
        (true, true, _) => Verdict::Degraded,
        (true, false, false) => Verdict::RollingOut,
        (true, false, true) | (false, _, _) => verdict,
    };
    Some(Ruling::new(verdict).with_message(codes.into_iter().map(Code::as_str)))
}

/// What the conditions of a client say. Status Unknown says nothing.
fn client_codes(status: Option<&ClientStatus>) -> Vec<Code> {
    let conditions = status.map_or(&[][..], |status| &status.conditions);
    let code = |condition: &Condition| match (condition.kind.as_str(), condition.status.as_str()) {
        ("Degraded", "True") => Some(Code::Degraded),
        ("Available", "False") => Some(Code::Unavailable),
        ("Progressing", "True") => Some(Code::Progressing),
        _ => None,
    };
    conditions.iter().filter_map(code).collect()
}
