//! One kubeconfig as it is written, and parsing it.
//!
//! Field names are those of `k8s.io/client-go/tools/clientcmd/api/v1`. Fields that don't decide how to connect
//! (`preferences`, other `extensions`) are skipped.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::error::KubeconfigError;
use trueup_net::SecretText;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct File {
    pub current_context: Option<String>,
    pub clusters: Option<Vec<NamedCluster>>,
    pub contexts: Option<Vec<NamedContext>>,
    pub users: Option<Vec<NamedUser>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedCluster {
    pub name: String,
    pub cluster: Option<Cluster>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedContext {
    pub name: String,
    pub context: Option<Context>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedUser {
    pub name: String,
    pub user: Option<User>,
}

/// How to reach an API server.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Cluster {
    pub server: Option<String>,
    pub tls_server_name: Option<String>,
    pub insecure_skip_tls_verify: Option<bool>,
    pub certificate_authority: Option<String>,
    pub certificate_authority_data: Option<SecretText>,
    pub proxy_url: Option<SecretText>,
    pub extensions: Option<Vec<NamedExtension>>,
}

/// Data of other programs; one of them is meant for exec plugins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedExtension {
    pub name: String,
    pub extension: serde_json::Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub namespace: Option<String>,
}

/// Who to be there.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct User {
    pub client_certificate: Option<String>,
    pub client_certificate_data: Option<SecretText>,
    pub client_key: Option<String>,
    pub client_key_data: Option<SecretText>,
    pub token: Option<SecretText>,
    #[serde(rename = "tokenFile")]
    pub token_file: Option<String>,
    #[serde(rename = "as")]
    pub as_user: Option<String>,
    pub as_uid: Option<String>,
    pub as_groups: Option<Vec<String>>,
    pub as_user_extra: Option<BTreeMap<String, Vec<String>>>,
    pub username: Option<String>,
    pub password: Option<SecretText>,
    pub auth_provider: Option<AuthProvider>,
    pub exec: Option<Exec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AuthProvider {
    pub name: Option<String>,
}

/// A command that gives credentials.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Exec {
    pub api_version: Option<String>,
    pub command: Option<String>,
    pub args: Option<Vec<SecretText>>,
    pub env: Option<Vec<ExecVariable>>,
    pub install_hint: Option<String>,
    pub provide_cluster_info: Option<bool>,
    pub interactive_mode: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ExecVariable {
    pub name: String,
    pub value: SecretText,
}

/// Parses YAML or JSON. Of what is wrong only the line is told: the parser's own words quote the file.
pub(super) fn parse(text: &str, place: &str) -> Result<File, KubeconfigError> {
    if text.trim().is_empty() {
        return Ok(File::default());
    }
    // JSON is almost YAML, but not quite: tabs may indent it.
    if text.trim_start().starts_with('{')
        && let Ok(file) = serde_json::from_str(text)
    {
        return Ok(file);
    }
    serde_saphyr::from_str(text).map_err(|error| KubeconfigError::Unparseable {
        place: place.to_owned(),
        line: error.location().map(|location| location.line()).filter(|line| *line > 0),
    })
}
