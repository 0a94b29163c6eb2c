//! ConfigMaps with the configuration of kube-apiserver.
//!
//! Invariants: a key counts only when it is in `data`. Go code that reads `.data[key]` does not see `binaryData`.

use serde_json::{Value, json};

use super::super::names::{AUTH_CONFIG_ARGUMENT, AUTH_CONFIG_KEY, AUTH_CONFIG_PATH, KAS_CONFIG_KEY, WEBHOOK_ARGUMENT};
use trueup_core::world::{Fact, Interner, Meta, Misfit, RawObject};

/// A ConfigMap that may hold an `auth-config.json` or kube-apiserver's own config.
#[derive(Debug, PartialEq)]
pub struct ConfigFile {
    pub meta: Meta,
    pub auth_config: Option<Box<str>>,
    /// Nothing when the ConfigMap has no `config.yaml`.
    pub config: Option<KasConfig>,
}

/// What a revision's `config.yaml` says about who may log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KasConfig {
    pub argument: Argument,
    pub webhook: Webhook,
    pub metadata: Metadata,
    /// The file with the webhook that the OAuth API server answers.
    pub webhook_file: OauthFile,
    /// The file with the OAuth server's address.
    pub metadata_file: OauthFile,
}

/// Whether a setting of the OAuth server names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OauthFile {
    Named,
    /// Absent or empty.
    NotNamed,
}

impl OauthFile {
    pub fn of(path: Option<&str>) -> Self {
        match path {
            None | Some("") => Self::NotNamed,
            Some(_) => Self::Named,
        }
    }
}

/// The argument that names the file with the providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    NamesTheFile,
    Otherwise,
}

/// Whether tokens are sent to the OAuth server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Webhook {
    Asked,
    NotAsked,
}

/// Whether the OAuth server's address is published. Without OIDC's default the key would be absent, which counts as published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    Served,
    NotServed,
}

impl Fact for ConfigFile {
    const DIGESTED_KEYS: &'static [&'static str] = &[AUTH_CONFIG_KEY, KAS_CONFIG_KEY];

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let config = text(raw, KAS_CONFIG_KEY).map(|text| KasConfig::read(&text));
        Ok(Self { meta: Meta::project(&raw.meta, pool), auth_config: text(raw, AUTH_CONFIG_KEY), config })
    }
}

impl KasConfig {
    /// Reads the JSON. Text that is none is searched the way the authentication operator searches all of them.
    fn read(text: &str) -> Self {
        let (ours, asked, empty, webhook_file, metadata_file) = match serde_json::from_str::<Value>(text) {
            Ok(config) => {
                let first =
                    |name: &str| config.pointer(&format!("/apiServerArguments/{name}/0")).and_then(Value::as_str);
                let argument = |name: &str| config.get("apiServerArguments").and_then(|all| all.get(name));
                let metadata = config.pointer("/authConfig/oauthMetadataFile");
                (
                    argument(AUTH_CONFIG_ARGUMENT) == Some(&json!([AUTH_CONFIG_PATH])),
                    argument(WEBHOOK_ARGUMENT).is_some(),
                    metadata == Some(&json!("")),
                    OauthFile::of(first(WEBHOOK_ARGUMENT)),
                    OauthFile::of(metadata.and_then(Value::as_str)),
                )
            }
            Err(_) => (
                text.contains(&format!("\"{AUTH_CONFIG_ARGUMENT}\":[\"{AUTH_CONFIG_PATH}\"]")),
                text.contains(&format!("\"{WEBHOOK_ARGUMENT}\":")),
                text.contains("\"oauthMetadataFile\":\"\""),
                searched(text, &format!("\"{WEBHOOK_ARGUMENT}\":[\"")),
                searched(text, "\"oauthMetadataFile\":\""),
            ),
        };
        Self {
            argument: if ours { Argument::NamesTheFile } else { Argument::Otherwise },
            webhook: if asked { Webhook::Asked } else { Webhook::NotAsked },
            metadata: if empty { Metadata::NotServed } else { Metadata::Served },
            webhook_file,
            metadata_file,
        }
    }
}

/// Whether a text begins a path after these characters.
fn searched(text: &str, before: &str) -> OauthFile {
    let rest = text.split_once(before).map(|(_, rest)| rest);
    OauthFile::of(rest.and_then(|rest| rest.split('"').next()))
}

fn text(raw: &RawObject<'_>, key: &str) -> Option<Box<str>> {
    raw.entry(key).and_then(|entry| entry.text.as_deref()).map(Into::into)
}
