//! A kubeconfig as it is written.
//!
//! Field names are those of `k8s.io/client-go/tools/clientcmd/api/v1`. These live as long as one call: what is secret in
//! them is wiped when it ends.

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use trueup_core::world::Obj;

/// The parser's own words quote the text, so nothing of them is kept.
pub(super) fn parse(text: &str) -> Option<File> {
    // JSON is almost YAML, but not quite: tabs may indent it.
    if text.trim_start().starts_with('{')
        && let Ok(Obj(file)) = serde_json::from_str(text)
    {
        return Some(file);
    }
    if text.trim().is_empty() {
        return None;
    }
    serde_saphyr::from_str::<Obj<File>>(text).ok().map(|Obj(file)| file)
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct File {
    pub current_context: Option<String>,
    pub clusters: Option<Vec<Obj<NamedCluster>>>,
    pub contexts: Option<Vec<Obj<NamedContext>>>,
    pub users: Option<Vec<Obj<NamedUser>>>,
}

impl File {
    pub fn clusters(&self) -> impl Iterator<Item = &NamedCluster> {
        self.clusters.iter().flatten().map(|Obj(one)| one)
    }

    pub fn contexts(&self) -> impl Iterator<Item = &NamedContext> {
        self.contexts.iter().flatten().map(|Obj(one)| one)
    }

    pub fn users(&self) -> impl Iterator<Item = &NamedUser> {
        self.users.iter().flatten().map(|Obj(one)| one)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedCluster {
    pub name: String,
    pub cluster: Obj<Cluster>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedContext {
    pub name: String,
    pub context: Obj<Context>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedUser {
    pub name: String,
    pub user: Obj<User>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Cluster {
    pub server: Option<String>,
    pub tls_server_name: Option<String>,
    pub insecure_skip_tls_verify: Option<bool>,
    pub certificate_authority: Option<String>,
    pub certificate_authority_data: Option<Hidden>,
    pub proxy_url: Option<Hidden>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    pub cluster: Option<String>,
    pub user: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct User {
    pub client_certificate: Option<String>,
    pub client_certificate_data: Option<Hidden>,
    pub client_key: Option<String>,
    pub client_key_data: Option<Hidden>,
    pub token: Option<Hidden>,
    #[serde(rename = "tokenFile")]
    pub token_file: Option<String>,
    pub username: Option<String>,
    pub password: Option<Hidden>,
    pub auth_provider: Option<Present>,
    pub exec: Option<Present>,
}

/// A value that is present and never read.
pub(super) struct Present;

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// Text that is wiped when it is dropped, and never printed.
#[derive(Default)]
pub(super) struct Hidden(pub Zeroizing<String>);

impl<'de> Deserialize<'de> for Hidden {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}
