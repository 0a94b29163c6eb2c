//! Authentication settings of a guest: providers and their clients.

use serde_json::{Value, json};

/// The two kinds HyperShift copies, with the one key it copies of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopyKind {
    ConfigMap,
    Secret,
}

impl CopyKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }

    pub fn key(self) -> &'static str {
        match self {
            Self::ConfigMap => "ca-bundle.crt",
            Self::Secret => "clientSecret",
        }
    }
}

/// `spec.configuration.authentication`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    /// The block is absent.
    Absent,
    IntegratedOAuth,
    /// OIDC with at most one provider: the CRD allows no second one.
    Oidc(Option<Provider>),
}

/// An OIDC provider; its objects are named after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its CA is the ConfigMap `<name>-ca`, its console client secret the Secret `<name>-console`.
    pub name: String,
    pub cli: CliClient,
    /// Overrides the name of the CA's ConfigMap.
    pub authority: Option<String>,
}

/// How the CLI client authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CliClient {
    /// Without a secret.
    Public,
    /// With the Secret `<provider>-cli`.
    Confidential,
}

impl Provider {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), cli: CliClient::Public, authority: None }
    }

    pub fn with_cli_secret(mut self) -> Self {
        self.cli = CliClient::Confidential;
        self
    }

    pub fn with_authority(mut self, name: &str) -> Self {
        self.authority = Some(name.to_owned());
        self
    }

    pub fn authority_name(&self) -> String {
        self.authority.clone().unwrap_or_else(|| format!("{}-ca", self.name))
    }

    pub fn console_secret(&self) -> String {
        format!("{}-console", self.name)
    }

    pub fn cli_secret(&self) -> String {
        match self.cli {
            CliClient::Public => String::new(),
            CliClient::Confidential => format!("{}-cli", self.name),
        }
    }

    fn spec(&self) -> Value {
        let client = |component: &str, secret: String| {
            json!({
                "componentNamespace": "openshift-console",
                "componentName": component,
                "clientID": format!("{}-{component}", self.name),
                "clientSecret": { "name": secret },
                "extraScopes": null,
            })
        };
        json!({
            "name": self.name,
            "issuer": {
                "issuerURL": format!("https://{}.idp.example/realms/fleet", self.name),
                "audiences": [format!("{}-console", self.name)],
                "issuerCertificateAuthority": { "name": self.authority_name() },
            },
            "oidcClients": [client("console", self.console_secret()), client("cli", self.cli_secret())],
            "claimMappings": {
                "username": { "claim": "email", "prefixPolicy": "NoPrefix" },
                "groups": { "claim": "groups", "prefix": "" },
            },
        })
    }
}

impl Authentication {
    pub fn oidc(name: &str) -> Self {
        Self::Oidc(Some(Provider::new(name)))
    }

    /// The block as in the API object; null when it is absent.
    pub fn spec(&self) -> Value {
        match self {
            Self::Absent => Value::Null,
            Self::IntegratedOAuth => json!({ "type": "IntegratedOAuth" }),
            Self::Oidc(provider) => {
                let providers: Vec<Value> = provider.iter().map(Provider::spec).collect();
                json!({ "type": "OIDC", "oidcProviders": providers })
            }
        }
    }
}

/// Returns the objects an authentication block references: none unless its type is OIDC; empty names are skipped.
pub fn references(authentication: &Value) -> Vec<(CopyKind, String)> {
    let mut found = Vec::new();
    let mut add = |kind, name: Option<&Value>| {
        let name = name.and_then(Value::as_str).unwrap_or_default();
        if !name.is_empty() {
            found.push((kind, name.to_owned()));
        }
    };
    for provider in providers(authentication) {
        add(CopyKind::ConfigMap, provider.pointer("/issuer/issuerCertificateAuthority/name"));
        for client in clients(provider) {
            add(CopyKind::Secret, client.pointer("/clientSecret/name"));
        }
    }
    found
}

/// Returns the providers of a block of type OIDC.
pub fn providers(authentication: &Value) -> &[Value] {
    if authentication["type"] == "OIDC" { list(&authentication["oidcProviders"]) } else { &[] }
}

pub fn clients(provider: &Value) -> &[Value] {
    list(&provider["oidcClients"])
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
