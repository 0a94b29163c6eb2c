//! A kubeconfig as it is written: one model, for connecting with it and for judging it.
//!
//! Field names are those of `k8s.io/client-go/tools/clientcmd/api/v1`; other fields are skipped. A field of a wrong type
//! makes the whole file malformed, as it does for kubectl.
//!
//! Invariant: what may be secret has the caller's secret type `S`, and an error quotes nothing of the text.
//!
//! Elsewhere: merging files and connecting (`fleet::connect`); what a kubeconfig is worth (`checks::kubeconfig`).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::world::Obj;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, bound(deserialize = "S: Default + Deserialize<'de>"))]
pub struct File<S> {
    pub current_context: Option<String>,
    pub clusters: Option<Vec<Obj<NamedCluster<S>>>>,
    pub contexts: Option<Vec<Obj<NamedContext>>>,
    pub users: Option<Vec<Obj<NamedUser<S>>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "S: Default + Deserialize<'de>"))]
pub struct NamedCluster<S> {
    pub name: String,
    pub cluster: Obj<Cluster<S>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NamedContext {
    pub name: String,
    pub context: Obj<Context>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "S: Default + Deserialize<'de>"))]
pub struct NamedUser<S> {
    pub name: String,
    pub user: Obj<User<S>>,
}

/// How to reach an API server.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, bound(deserialize = "S: Default + Deserialize<'de>"))]
pub struct Cluster<S> {
    pub server: Option<String>,
    pub tls_server_name: Option<String>,
    pub insecure_skip_tls_verify: Option<bool>,
    pub certificate_authority: Option<String>,
    pub certificate_authority_data: Option<S>,
    pub proxy_url: Option<S>,
    pub extensions: Option<Vec<Obj<NamedExtension>>>,
}

/// Data of other programs; one of them is meant for exec plugins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NamedExtension {
    pub name: String,
    pub extension: serde_json::Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Context {
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub namespace: Option<String>,
}

/// The credentials of a user.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, bound(deserialize = "S: Default + Deserialize<'de>"))]
pub struct User<S> {
    pub client_certificate: Option<String>,
    pub client_certificate_data: Option<S>,
    pub client_key: Option<String>,
    pub client_key_data: Option<S>,
    pub token: Option<S>,
    #[serde(rename = "tokenFile")]
    pub token_file: Option<String>,
    #[serde(rename = "as")]
    pub as_user: Option<String>,
    pub as_uid: Option<String>,
    pub as_groups: Option<Vec<String>>,
    pub as_user_extra: Option<BTreeMap<String, Vec<String>>>,
    pub username: Option<String>,
    pub password: Option<S>,
    pub auth_provider: Option<Obj<AuthProvider>>,
    pub exec: Option<Obj<Exec<S>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AuthProvider {
    pub name: Option<String>,
}

/// A command that returns credentials.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "S: Default + Deserialize<'de>"))]
pub struct Exec<S> {
    pub api_version: Option<String>,
    pub command: Option<String>,
    pub args: Option<Vec<S>>,
    pub env: Option<Vec<Obj<ExecVariable<S>>>>,
    pub install_hint: Option<String>,
    pub provide_cluster_info: Option<bool>,
    pub interactive_mode: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "S: Default + Deserialize<'de>"))]
pub struct ExecVariable<S> {
    pub name: String,
    pub value: S,
}

/// Text that is not a kubeconfig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    pub line: Option<u64>,
}

/// Parses YAML or JSON. Empty text is a kubeconfig without content, as for kubectl.
///
/// # Errors
/// It is not one document with the fields of a kubeconfig.
pub fn parse<S: Default + DeserializeOwned>(text: &str) -> Result<File<S>, Malformed> {
    if text.trim().is_empty() {
        return Ok(File { current_context: None, clusters: None, contexts: None, users: None });
    }
    // JSON is almost YAML, but not quite: tabs may indent it.
    if text.trim_start().starts_with('{')
        && let Ok(Obj(file)) = serde_json::from_str(text)
    {
        return Ok(file);
    }
    serde_saphyr::from_str::<Obj<File<S>>>(text)
        .map(|Obj(file)| file)
        .map_err(|error| Malformed { line: error.location().map(|location| location.line()).filter(|line| *line > 0) })
}

impl<S> File<S> {
    pub fn clusters(&self) -> impl Iterator<Item = &NamedCluster<S>> {
        self.clusters.iter().flatten().map(|Obj(one)| one)
    }

    pub fn contexts(&self) -> impl Iterator<Item = &NamedContext> {
        self.contexts.iter().flatten().map(|Obj(one)| one)
    }

    pub fn users(&self) -> impl Iterator<Item = &NamedUser<S>> {
        self.users.iter().flatten().map(|Obj(one)| one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_wrong_type_makes_the_file_malformed() {
        let user = |fields: &str| format!("users: [{{name: u, user: {{{fields}}}}}]");
        let cases = [
            ("empty", String::new(), true),
            ("unknown fields", "apiVersion: v1\nkind: Config\npreferences: {}\n".to_owned(), true),
            ("null parts", "clusters: null\nusers: [{name: u, user: null}]".to_owned(), true),
            ("plugin", user("exec: {command: x, args: [a], env: [{name: A, value: b}]}"), true),
            ("plugin without fields", user("exec: {}"), true),
            ("plugin that is text", user("exec: x"), false),
            ("groups that are text", user("as-groups: x"), false),
            ("a list instead of fields", "users: [[u]]".to_owned(), false),
            ("text", "hello".to_owned(), false),
        ];
        for (case, text, expected) in cases {
            assert_eq!(parse::<String>(&text).is_ok(), expected, "case: {case}");
        }
    }

    #[test]
    fn a_malformed_file_is_reported_by_its_line() {
        let text = "users:\n- name: u\n  user: {exec: [canary]}\n";
        let Err(Malformed { line }) = parse::<String>(text) else { panic!("it was parsed") };
        assert_eq!(line, Some(3));
    }
}
