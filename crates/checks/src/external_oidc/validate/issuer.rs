//! The issuer: its URLs, its audiences, its CA, and whether kube-apiserver already trusts it for service accounts.

use super::super::check::{CaBundle, Inputs};
use super::super::pem::count_certificates;
use super::super::problem::{Code, Refuser, WarningCode};
use super::super::render::filled;
use super::super::spec::{AuthSpec, Provider, TrustedIssuer};
use super::{About, Findings, Length};
use trueup_cel::url::{self, GoUrl, UserInfo};

/// What kube-apiserver trusts when no issuer is set.
const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc";

pub(super) fn validate(findings: &mut Findings, inputs: &Inputs<'_>, provider: &Provider, at: &str) {
    let at = format!("{at}.issuer");
    issuer_url(findings, provider.issuer_url(), &format!("{at}.issuerURL"));
    service_account_issuers(findings, inputs, provider.issuer_url(), &format!("{at}.issuerURL"));
    audiences(findings, provider, &format!("{at}.audiences"));
    if let Some(discovery) = provider.issuer.discovery_url.as_deref() {
        discovery_url(findings, discovery, provider.issuer_url(), &format!("{at}.discoveryURL"));
    }
    if let Some(name) = &provider.issuer.ca {
        let bundle = certificate_authority(findings, inputs, name, &format!("{at}.issuerCertificateAuthority.name"));
        if let Some(Err(bad)) = bundle.map(count_certificates) {
            findings.problem(
                Code::CaInvalid,
                Refuser::Operator,
                format!("{at}.issuerCertificateAuthority.name"),
                name,
                format!("the bundle in {}/{name} is of no use: {bad}", inputs.references.namespace()),
            );
        }
    }
    warn_of_no_host(findings, provider, &format!("{at}.issuerURL"));
}

fn issuer_url(findings: &mut Findings, text: &str, path: &str) {
    if findings.limit(path, Some(text), 512) == Length::TooLong {
        return;
    }
    if let Some((refuser, why)) = issuer_fault(text) {
        findings.problem(Code::IssuerUrlInvalid, refuser, path, text, why);
    }
}

/// Who refuses an issuer URL, and why. The CRD is asked first, since it comes first.
fn issuer_fault(text: &str) -> Option<(Refuser, String)> {
    if text.is_empty() {
        return Some((Refuser::Schema, "there is none".to_owned()));
    }
    let as_request = match url::parse_request(text) {
        Ok(parsed) => parsed,
        Err(bad) => return Some((Refuser::Schema, bad.to_string())),
    };
    let parsed = match url::parse(text) {
        Ok(parsed) => parsed,
        Err(bad) => return Some((Refuser::Schema, bad.to_string())),
    };
    let schema = if as_request.scheme != "https" {
        Some("its scheme is not https")
    } else if !url::query_is_empty(&parsed.query) {
        Some("it has a query")
    } else if !parsed.fragment.is_empty() {
        Some("it has a fragment")
    } else if text.contains('@') {
        Some("it has an @, which reads like a user")
    } else {
        None
    };
    if let Some(why) = schema {
        return Some((Refuser::Schema, why.to_owned()));
    }
    (!parsed.query.is_empty()).then(|| (Refuser::KubeApiserver, "it has a query, if an unreadable one".to_owned()))
}

fn service_account_issuers(findings: &mut Findings, inputs: &Inputs<'_>, text: &str, path: &str) {
    let AuthSpec { service_account_issuer, .. } = inputs.authentication;
    let mut found = |refuser, why: &str| {
        findings.problem(Code::IssuerIsServiceAccountIssuer, refuser, path, text, why);
    };
    if text.is_empty() {
        return;
    }
    if service_account_issuer.as_deref() == Some(text) {
        return found(Refuser::Operator, "it is spec.serviceAccountIssuer as well");
    }
    let Some(trusted) = inputs.service_account_issuers else {
        let message = format!("{path}: which issuers kube-apiserver trusts for service accounts is not known");
        return findings.unknown(About::Starting, message);
    };
    let unexpired = |issuer: &&TrustedIssuer| issuer.expires.is_none_or(|expires| expires > inputs.now);
    let names: Vec<&str> = trusted.iter().filter(unexpired).map(|issuer| issuer.name.as_str()).collect();
    let nobody_named = service_account_issuer.is_none() && names.iter().all(|name| name.is_empty());
    if names.contains(&text) || (nobody_named && text == DEFAULT_ISSUER) {
        found(Refuser::KubeApiserver, "kube-apiserver trusts it for service accounts");
    }
}

fn audiences(findings: &mut Findings, provider: &Provider, path: &str) {
    let audiences = &provider.issuer.audiences;
    let mut empty = |path: String, why| {
        findings.problem(Code::AudiencesEmpty, Refuser::Schema, path, "", why);
    };
    if audiences.is_empty() {
        empty(path.to_owned(), "there is none");
    }
    for (index, _) in audiences.iter().enumerate().filter(|(_, audience)| audience.is_empty()) {
        empty(format!("{path}[{index}]"), "it is empty");
    }
    for (index, audience) in audiences.iter().enumerate() {
        if !audience.is_empty() && audiences[..index].contains(audience) {
            findings.problem(
                Code::AudienceDuplicate,
                Refuser::Schema,
                format!("{path}[{index}]"),
                audience,
                "it is listed before",
            );
        }
    }
    findings.count_limit(path, audiences.len(), 10);
}

fn discovery_url(findings: &mut Findings, text: &str, issuer: &str, path: &str) {
    if findings.limit(path, Some(text), 2048) == Length::TooLong {
        return;
    }
    if let Some((refuser, why)) = discovery_fault(text) {
        findings.problem(Code::DiscoveryUrlInvalid, refuser, path, text, why);
    }
    if !text.is_empty() && text.trim_end_matches('/') == issuer.trim_end_matches('/') {
        findings.problem(Code::DiscoveryUrlEqualsIssuer, Refuser::Schema, path, text, "it is the issuer URL again");
    }
}

fn discovery_fault(text: &str) -> Option<(Refuser, String)> {
    if text.is_empty() {
        return Some((Refuser::Schema, "it is empty".to_owned()));
    }
    if let Err(bad) = url::parse_request(text) {
        return Some((Refuser::Schema, bad.to_string()));
    }
    let parsed = match url::parse(text) {
        Ok(parsed) => parsed,
        Err(bad) => return Some((Refuser::Operator, bad.to_string())),
    };
    let GoUrl { scheme, user, host, query, fragment: _ } = &parsed;
    let why = if scheme != "https" {
        (Refuser::Schema, "its scheme is not https")
    } else if text.contains('#') {
        (Refuser::Schema, "it has a fragment")
    } else if host.is_empty() {
        (Refuser::Operator, "it has no host")
    } else if *user == UserInfo::Some {
        (Refuser::Operator, "it has a user")
    } else if !query.is_empty() {
        (Refuser::Schema, "it has a query")
    } else {
        return None;
    };
    Some((why.0, why.1.to_owned()))
}

/// Looks a CA bundle up; what is wrong with that becomes a problem.
pub(super) fn certificate_authority<'a>(
    findings: &mut Findings,
    inputs: &Inputs<'a>,
    name: &str,
    path: &str,
) -> Option<&'a str> {
    let namespace = inputs.references.namespace();
    match (inputs.ca)(name) {
        CaBundle::Text(bundle) => return Some(bundle),
        CaBundle::Absent => {
            let why = format!("there is no ConfigMap {namespace}/{name}");
            findings.problem(Code::CaConfigmapMissing, Refuser::Operator, path, name, why);
        }
        CaBundle::KeyMissing => {
            let why = format!("ConfigMap {namespace}/{name} has no text under ca-bundle.crt");
            findings.problem(Code::CaKeyMissing, Refuser::Operator, path, name, why);
        }
        CaBundle::Unknown => {
            let message = format!("{path}: what ConfigMap {namespace}/{name} holds is not known");
            findings.unknown(About::Writing, message);
        }
    }
    None
}

/// Every rule lets a URL without a host pass, and nothing can be fetched from it.
fn warn_of_no_host(findings: &mut Findings, provider: &Provider, path: &str) {
    let text = provider.issuer_url();
    let hostless = url::parse(text).is_ok_and(|url| url.scheme == "https" && url.host.is_empty());
    if hostless && issuer_fault(text).is_none() && filled(provider.issuer.discovery_url.as_deref()).is_none() {
        let message = "it has no host, so the discovery document cannot be fetched";
        findings.warn(WarningCode::DiscoveryUnreachable, path, text, message);
    }
}
