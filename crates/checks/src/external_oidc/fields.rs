//! The fields of an Authentication's `spec`, in every feature set, and those of an object that none of them has.
//!
//! A misspelled field (`group:` for `groups:`) is dropped by the API server in silence, or refused by its strict
//! validation, which kubectl asks for. Both ways nothing of it counts.
//!
//! Elsewhere: reading the fields (`spec`), whether an unknown one makes the spec invalid (`validate`).

use serde_json::Value;

use crate::nearest;

/// A field that no feature set's CRD has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownField {
    /// `oidcProviders[0].claimMappings.group`, below the spec.
    pub path: String,
    /// The known field that was most likely meant.
    pub nearest: Option<&'static str>,
}

/// Every field below `spec`, sorted; items of lists have the path of their list.
const KNOWN: [&str; 76] = [
    "oauthMetadata",
    "oauthMetadata.name",
    "oidcProviders",
    "oidcProviders.claimMappings",
    "oidcProviders.claimMappings.extra",
    "oidcProviders.claimMappings.extra.key",
    "oidcProviders.claimMappings.extra.valueExpression",
    "oidcProviders.claimMappings.groups",
    "oidcProviders.claimMappings.groups.claim",
    "oidcProviders.claimMappings.groups.expression",
    "oidcProviders.claimMappings.groups.prefix",
    "oidcProviders.claimMappings.uid",
    "oidcProviders.claimMappings.uid.claim",
    "oidcProviders.claimMappings.uid.expression",
    "oidcProviders.claimMappings.username",
    "oidcProviders.claimMappings.username.claim",
    "oidcProviders.claimMappings.username.expression",
    "oidcProviders.claimMappings.username.prefix",
    "oidcProviders.claimMappings.username.prefix.prefixString",
    "oidcProviders.claimMappings.username.prefixPolicy",
    "oidcProviders.claimValidationRules",
    "oidcProviders.claimValidationRules.cel",
    "oidcProviders.claimValidationRules.cel.expression",
    "oidcProviders.claimValidationRules.cel.message",
    "oidcProviders.claimValidationRules.requiredClaim",
    "oidcProviders.claimValidationRules.requiredClaim.claim",
    "oidcProviders.claimValidationRules.requiredClaim.requiredValue",
    "oidcProviders.claimValidationRules.type",
    "oidcProviders.externalClaimsSources",
    "oidcProviders.externalClaimsSources.authentication",
    "oidcProviders.externalClaimsSources.authentication.clientCredential",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.clientID",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.clientSecret",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.clientSecret.name",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.scopes",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.tls",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.tls.certificateAuthority",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.tls.certificateAuthority.name",
    "oidcProviders.externalClaimsSources.authentication.clientCredential.tokenEndpoint",
    "oidcProviders.externalClaimsSources.authentication.type",
    "oidcProviders.externalClaimsSources.mappings",
    "oidcProviders.externalClaimsSources.mappings.expression",
    "oidcProviders.externalClaimsSources.mappings.name",
    "oidcProviders.externalClaimsSources.predicates",
    "oidcProviders.externalClaimsSources.predicates.expression",
    "oidcProviders.externalClaimsSources.tls",
    "oidcProviders.externalClaimsSources.tls.certificateAuthority",
    "oidcProviders.externalClaimsSources.tls.certificateAuthority.name",
    "oidcProviders.externalClaimsSources.url",
    "oidcProviders.externalClaimsSources.url.hostname",
    "oidcProviders.externalClaimsSources.url.pathExpression",
    "oidcProviders.issuer",
    "oidcProviders.issuer.audiences",
    "oidcProviders.issuer.discoveryURL",
    "oidcProviders.issuer.issuerCertificateAuthority",
    "oidcProviders.issuer.issuerCertificateAuthority.name",
    "oidcProviders.issuer.issuerURL",
    "oidcProviders.name",
    "oidcProviders.oidcClients",
    "oidcProviders.oidcClients.clientID",
    "oidcProviders.oidcClients.clientSecret",
    "oidcProviders.oidcClients.clientSecret.name",
    "oidcProviders.oidcClients.componentName",
    "oidcProviders.oidcClients.componentNamespace",
    "oidcProviders.oidcClients.extraScopes",
    "oidcProviders.userValidationRules",
    "oidcProviders.userValidationRules.expression",
    "oidcProviders.userValidationRules.message",
    "serviceAccountIssuer",
    "type",
    "webhookTokenAuthenticator",
    "webhookTokenAuthenticator.kubeConfig",
    "webhookTokenAuthenticator.kubeConfig.name",
    "webhookTokenAuthenticators",
    "webhookTokenAuthenticators.kubeConfig",
    "webhookTokenAuthenticators.kubeConfig.name",
];

/// More than this many unknown fields say nothing new, and an object may have megabytes of them.
const UNKNOWN_MAX: usize = 16;

/// The fields of a spec that no feature set's CRD has, in the order of the object.
pub fn unknown_fields(spec: &Value) -> Vec<UnknownField> {
    let mut found = Vec::new();
    walk(spec, "", "", &mut found);
    found
}

fn walk(value: &Value, known: &str, shown: &str, found: &mut Vec<UnknownField>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, known, &format!("{shown}[{index}]"), found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = |parent: &str| if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") };
                if KNOWN.contains(&path(known).as_str()) {
                    walk(value, &path(known), &path(shown), found);
                } else if found.len() < UNKNOWN_MAX {
                    found.push(UnknownField { path: path(shown), nearest: nearest(name, &below(known)) });
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The names of the fields right below a path.
fn below(parent: &str) -> Vec<&'static str> {
    let child = |path: &'static str| {
        let rest = if parent.is_empty() { path } else { path.strip_prefix(parent)?.strip_prefix('.')? };
        (!rest.contains('.')).then_some(rest)
    };
    KNOWN.into_iter().filter_map(child).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_no_crd_has_is_named_with_its_path_and_the_nearest_known_one() {
        let provider = |field: &str, value: Value| json!({ "type": "OIDC", "oidcProviders": [{ field: value }] });
        let cases = [
            (
                "group for groups",
                provider("claimMappings", json!({ "group": { "claim": "g" } })),
                Some(("oidcProviders[0].claimMappings.group", Some("groups"))),
            ),
            (
                "another spelling",
                provider("issuer", json!({ "issuerUrl": "https://x" })),
                Some(("oidcProviders[0].issuer.issuerUrl", Some("issuerURL"))),
            ),
            ("at the top", json!({ "oidcProvider": [] }), Some(("oidcProvider", Some("oidcProviders")))),
            ("nothing near", json!({ "colour": "red" }), Some(("colour", None))),
            (
                "deep in a list",
                provider("userValidationRules", json!([{ "expression": "x", "mesage": "y" }])),
                Some(("oidcProviders[0].userValidationRules[0].mesage", Some("message"))),
            ),
            ("known", provider("issuer", json!({ "issuerURL": "x", "audiences": ["a"] })), None),
            ("null is no field with content", json!({ "type": null }), None),
            ("no spec", Value::Null, None),
        ];
        for (case, spec, expected) in cases {
            let found = unknown_fields(&spec);
            let found: Vec<_> = found.iter().map(|one| (one.path.as_str(), one.nearest)).collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "case: {case}");
        }
    }

    #[test]
    fn a_spec_full_of_unknown_fields_names_the_first_few() {
        let spec: serde_json::Map<String, Value> = (0..100).map(|n| (format!("x{n:03}"), Value::Null)).collect();
        assert_eq!(unknown_fields(&Value::Object(spec)).len(), UNKNOWN_MAX);
    }
}
