//! External sources of claims, where the gate is on.
//!
//! # Limits
//! Their expressions are compiled by the oauth-apiserver alone, in an environment this program does not have: that they
//! are not verifiable here is said of each source that has any.

use super::super::check::Inputs;
use super::super::gates::Gate;
use super::super::spec::{ClaimsSource, Provider, SourceAuthentication};
use super::{About, EXPRESSION_CHARS_MAX, Findings, issuer};

pub(super) fn validate(findings: &mut Findings, inputs: &Inputs<'_>, provider: &Provider, at: &str) {
    let Some(sources) = provider.sources.as_deref().filter(|_| inputs.gates.on(Gate::ExternalClaims)) else { return };
    let at = format!("{at}.externalClaimsSources");
    findings.count_limit(&at, sources.len(), 5);
    for (index, source) in sources.iter().enumerate() {
        one(findings, inputs, source, &format!("{at}[{index}]"));
    }
}

fn one(findings: &mut Findings, inputs: &Inputs<'_>, source: &ClaimsSource, at: &str) {
    findings.limit(&format!("{at}.url.hostname"), source.url.hostname.as_deref(), 259);
    findings.limit(&format!("{at}.url.pathExpression"), source.url.path_expression.as_deref(), EXPRESSION_CHARS_MAX);
    findings.count_limit(&format!("{at}.mappings"), source.mappings.len(), 16);
    for (index, mapping) in source.mappings.iter().enumerate() {
        let at = format!("{at}.mappings[{index}]");
        findings.limit(&format!("{at}.name"), mapping.name.as_deref(), 256);
        findings.limit(&format!("{at}.expression"), mapping.expression.as_deref(), EXPRESSION_CHARS_MAX);
    }
    let predicates = source.predicates.as_deref().unwrap_or_default();
    findings.count_limit(&format!("{at}.predicates"), predicates.len(), 16);
    for (index, predicate) in predicates.iter().enumerate() {
        findings.limit(&format!("{at}.predicates[{index}].expression"), Some(predicate), EXPRESSION_CHARS_MAX);
    }
    let has_expressions = source.url.path_expression.is_some() || !source.mappings.is_empty() || !predicates.is_empty();
    if has_expressions {
        let message = format!("{at}: its expressions are not verifiable here; the oauth-apiserver alone compiles them");
        findings.unknown(About::LoggingIn, message);
    }
    if let Some(name) = &source.ca {
        issuer::certificate_authority(findings, inputs, name, &format!("{at}.tls.certificateAuthority.name"));
    }
    match &source.authentication {
        SourceAuthentication::Anonymous | SourceAuthentication::RequestProvidedToken => {}
        SourceAuthentication::ClientCredential => findings.unknown(
            About::Writing,
            format!(
                "{at}.authentication: the operator writes the client secret into the file, and trueup does not read it"
            ),
        ),
        SourceAuthentication::Other(kind) => findings.unknown(
            About::Writing,
            format!("{at}.authentication.type: {kind:?} is a type this program does not know"),
        ),
    }
}
