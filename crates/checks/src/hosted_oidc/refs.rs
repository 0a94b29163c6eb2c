//! References: which ConfigMaps and Secrets of `openshift-config` a configuration names, and in which field.
//!
//! Invariants: a configuration whose shape isn't understood is an error, never "no references".

use serde_json::Value;

use super::names::CopyKind;

/// One reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ref {
    pub kind: CopyKind,
    pub name: Box<str>,
    /// Where it stands: `spec.trustedCA.name`.
    pub field: Box<str>,
}

/// References of one object, sorted so that a name is found by halving.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refs(Box<[Ref]>);

impl Refs {
    pub fn find(&self, kind: CopyKind, name: &str) -> Option<&Ref> {
        let index = self.0.partition_point(|one| (one.kind, one.name.as_ref()) < (kind, name));
        self.0.get(index).filter(|one| one.kind == kind && one.name.as_ref() == name)
    }

    pub fn contains(&self, kind: CopyKind, name: &str) -> bool {
        self.find(kind, name).is_some()
    }

    /// The names of one kind, each once.
    pub fn names(&self, kind: CopyKind) -> impl Iterator<Item = &str> {
        let mut last = None;
        self.0.iter().filter(move |one| one.kind == kind).map(|one| one.name.as_ref()).filter(move |name| {
            let fresh = last != Some(name.to_owned());
            last = Some(name.to_owned());
            fresh
        })
    }

    /// What these places of a configuration refer to. `root` is put in front of each field.
    ///
    /// # Errors
    /// A place holds something else than its kind promises.
    pub fn collect(root: &str, value: &Value, places: &[(&str, CopyKind)]) -> Result<Self, BadShape> {
        let mut refs = Vec::new();
        for (path, kind) in places {
            let mut walk = Walk { kind: *kind, refs: &mut refs };
            walk.step(value, path, root.to_owned())?;
        }
        refs.sort();
        Ok(Self(refs.into()))
    }
}

/// A field that isn't what it should be. Holds the place alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field {0} has another shape")]
pub struct BadShape(pub String);

struct Walk<'w> {
    kind: CopyKind,
    refs: &'w mut Vec<Ref>,
}

impl Walk<'_> {
    /// Follows `path` (`a.b[].c`) from `value`; what is absent or null refers to nothing.
    fn step(&mut self, value: &Value, path: &str, field: String) -> Result<(), BadShape> {
        if value.is_null() {
            return Ok(());
        }
        if path.is_empty() {
            return self.name(value, field);
        }
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let (head, many) = head.strip_suffix("[]").map_or((head, false), |head| (head, true));
        let Value::Object(map) = value else {
            return Err(BadShape(field));
        };
        let field = format!("{field}.{head}");
        match map.get(head) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(items)) if many => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| self.step(item, rest, format!("{field}[{index}]"))),
            Some(_) if many => Err(BadShape(field)),
            Some(next) => self.step(next, rest, field),
        }
    }

    fn name(&mut self, value: &Value, field: String) -> Result<(), BadShape> {
        let Value::String(name) = value else { return Err(BadShape(field)) };
        if !name.is_empty() {
            self.refs.push(Ref { kind: self.kind, name: name.as_str().into(), field: field.into() });
        }
        Ok(())
    }
}

/// In an `Authentication` spec: what the operator copies.
pub const PROVIDERS: &[(&str, CopyKind)] = &[
    ("oidcProviders[].issuer.issuerCertificateAuthority.name", CopyKind::ConfigMap),
    ("oidcProviders[].oidcClients[].clientSecret.name", CopyKind::Secret),
];

/// In an `Authentication` spec: what the user brings along for external claims sources.
pub const CLAIMS_SOURCES: &[(&str, CopyKind)] = &[
    ("oidcProviders[].externalClaimsSources[].tls.certificateAuthority.name", CopyKind::ConfigMap),
    (
        "oidcProviders[].externalClaimsSources[].authentication.clientCredential.tls.certificateAuthority.name",
        CopyKind::ConfigMap,
    ),
    ("oidcProviders[].externalClaimsSources[].authentication.clientCredential.clientSecret.name", CopyKind::Secret),
];

/// In a HostedControlPlane's `spec.configuration`: everything but the OIDC providers, `apiServer` and `oauth`.
pub const OTHER_CONFIGURATION: &[(&str, CopyKind)] = &[
    ("authentication.oauthMetadata.name", CopyKind::ConfigMap),
    ("authentication.webhookTokenAuthenticator.kubeConfig.name", CopyKind::Secret),
    ("authentication.webhookTokenAuthenticators[].kubeConfig.name", CopyKind::Secret),
    ("image.additionalTrustedCA.name", CopyKind::ConfigMap),
    ("ingress.componentRoutes[].servingCertKeyPairSecret.name", CopyKind::Secret),
    ("proxy.trustedCA.name", CopyKind::ConfigMap),
    ("scheduler.policy.name", CopyKind::ConfigMap),
];

pub const PROXY: &[(&str, CopyKind)] = &[("trustedCA.name", CopyKind::ConfigMap)];

pub const IMAGE: &[(&str, CopyKind)] = &[("additionalTrustedCA.name", CopyKind::ConfigMap)];

/// In an `APIServer` spec, and under `apiServer` of a HostedControlPlane's configuration.
pub const API_SERVER: &[(&str, CopyKind)] = &[
    ("clientCA.name", CopyKind::ConfigMap),
    ("encryption.kms.vault.authentication.appRole.secret.name", CopyKind::Secret),
    ("encryption.kms.vault.tls.caBundle.name", CopyKind::ConfigMap),
    ("servingCerts.namedCertificates[].servingCertificate.name", CopyKind::Secret),
];

/// In an `OAuth` spec, and under `oauth` of a HostedControlPlane's configuration.
pub const OAUTH: &[(&str, CopyKind)] = &[
    ("identityProviders[].basicAuth.ca.name", CopyKind::ConfigMap),
    ("identityProviders[].basicAuth.tlsClientCert.name", CopyKind::Secret),
    ("identityProviders[].basicAuth.tlsClientKey.name", CopyKind::Secret),
    ("identityProviders[].github.ca.name", CopyKind::ConfigMap),
    ("identityProviders[].github.clientSecret.name", CopyKind::Secret),
    ("identityProviders[].gitlab.ca.name", CopyKind::ConfigMap),
    ("identityProviders[].gitlab.clientSecret.name", CopyKind::Secret),
    ("identityProviders[].google.clientSecret.name", CopyKind::Secret),
    ("identityProviders[].htpasswd.fileData.name", CopyKind::Secret),
    ("identityProviders[].keystone.ca.name", CopyKind::ConfigMap),
    ("identityProviders[].keystone.tlsClientCert.name", CopyKind::Secret),
    ("identityProviders[].keystone.tlsClientKey.name", CopyKind::Secret),
    ("identityProviders[].ldap.bindPassword.name", CopyKind::Secret),
    ("identityProviders[].ldap.ca.name", CopyKind::ConfigMap),
    ("identityProviders[].openID.ca.name", CopyKind::ConfigMap),
    ("identityProviders[].openID.clientSecret.name", CopyKind::Secret),
    ("identityProviders[].requestHeader.ca.name", CopyKind::ConfigMap),
    ("templates.error.name", CopyKind::Secret),
    ("templates.login.name", CopyKind::Secret),
    ("templates.providerSelection.name", CopyKind::Secret),
];

impl Refs {
    /// Both sets in one.
    pub fn and(self, other: Self) -> Self {
        let mut all: Vec<Ref> = self.0.into_iter().chain(other.0).collect();
        all.sort();
        Self(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_found_by_kind_and_empty_or_null_ones_are_no_references() {
        let spec = json!({"oidcProviders": [
            {"issuer": {"issuerCertificateAuthority": {"name": "shared"}},
             "oidcClients": [{"clientSecret": {"name": "console"}}, {"clientSecret": {"name": ""}}, {"clientSecret": null}]},
            {"issuer": {"issuerCertificateAuthority": {"name": "second"}}, "oidcClients": null},
        ]});
        let refs = Refs::collect("spec", &spec, PROVIDERS).unwrap();
        assert_eq!(refs.names(CopyKind::ConfigMap).collect::<Vec<_>>(), ["second", "shared"]);
        assert_eq!(refs.names(CopyKind::Secret).collect::<Vec<_>>(), ["console"]);
        assert!(!refs.contains(CopyKind::Secret, "shared"), "the two kinds are two sets");
        let found = refs.find(CopyKind::ConfigMap, "second").unwrap();
        assert_eq!(found.field.as_ref(), "spec.oidcProviders[1].issuer.issuerCertificateAuthority.name");
    }

    #[test]
    fn a_shape_nobody_understands_is_an_error_and_not_an_empty_set() {
        let cases = [
            json!({"oidcProviders": {"name": "x"}}),
            json!({"oidcProviders": ["x"]}),
            json!({"oidcProviders": [{"issuer": {"issuerCertificateAuthority": {"name": 5}}}]}),
            json!("x"),
        ];
        for spec in cases {
            assert!(Refs::collect("spec", &spec, PROVIDERS).is_err(), "{spec}");
        }
    }
}
