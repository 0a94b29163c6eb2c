//! `[clouds.<provider>.<alias>]`: accounts and where their keys are stored. Never the keys themselves.

use std::collections::BTreeMap;
use std::path::Path;

use super::Problems;
use super::safety::take_path;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_core::engine::Glob;
use trueup_core::world::{Declaration, Provider};
use trueup_operate::{CloudAccount, CloudKey};

const KNOWN_KEYS: [&str; 7] = [
    "api_key_file",
    "api_key_env",
    "iam_token_file",
    "trusted_profile",
    "endpoints",
    "management_clusters",
    "management_clusters_complete",
];

pub(super) fn read(root: &SettingsTable, folder: &Path, problems: &mut Problems) -> Vec<CloudAccount> {
    let Some(clouds) = problems.keep_given(root.take_table("clouds")) else { return Vec::new() };
    problems.extend(clouds.unknown_keys(&Provider::ALL.map(Provider::as_str)));
    let mut accounts = Vec::new();
    for provider in Provider::ALL {
        let Some(aliases) = problems.keep_given(clouds.take_table(provider.as_str())) else { continue };
        for alias in aliases.keys() {
            let Some(table) = problems.keep_given(aliases.take_table(alias.get_ref())) else { continue };
            accounts.push(account(provider, alias.get_ref(), table, folder, problems));
        }
    }
    accounts
}

fn account(
    provider: Provider,
    alias: &str,
    table: &SettingsTable,
    folder: &Path,
    problems: &mut Problems,
) -> CloudAccount {
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let key = key(table, folder, problems);
    let patterns = problems.keep_given(table.take_strings("management_clusters")).unwrap_or_default();
    let pattern = |text: toml::Spanned<&str>| {
        let glob = Glob::parse(text.get_ref()).map_err(|error| SettingsProblem::at(text.span(), error.to_string()));
        problems.keep(glob)
    };
    let management_clusters: Vec<Glob> = patterns.into_iter().filter_map(pattern).collect();
    let is_complete = problems.keep_given(table.take_bool("management_clusters_complete")).unwrap_or(false);
    if is_complete && management_clusters.is_empty() {
        let message = format!(
            "{} has management_clusters_complete without management_clusters; list every cluster that uses the account",
            table.title()
        );
        problems.push(table.problem(message));
    }
    let declaration = if is_complete { Declaration::Declared } else { Declaration::NotDeclared };
    let mut endpoints = BTreeMap::new();
    if let Some(table) = problems.keep_given(table.take_table("endpoints")) {
        for name in table.keys() {
            let url = problems.keep_given(table.take_str(name.get_ref()));
            endpoints.extend(url.map(|url| (name.get_ref().to_string(), url.into_inner().to_owned())));
        }
    }
    CloudAccount { provider, alias: alias.to_owned(), key, endpoints, management_clusters, declaration }
}

/// Where the credential is: one of four keys.
fn key(table: &SettingsTable, folder: &Path, problems: &mut Problems) -> Option<CloudKey> {
    let mut given: Vec<(&str, CloudKey)> = Vec::new();
    if let Some(path) = problems.keep_given(take_path(table, "api_key_file", folder)) {
        given.push(("api_key_file", CloudKey::File(path)));
    }
    let text = |name: &str, problems: &mut Problems| {
        problems.keep_given(table.take_str(name)).map(|text| text.into_inner().to_owned())
    };
    given.extend(text("api_key_env", problems).map(|name| ("api_key_env", CloudKey::Env(name))));
    if let Some(path) = problems.keep_given(take_path(table, "iam_token_file", folder)) {
        given.push(("iam_token_file", CloudKey::TokenFile(path)));
    }
    given.extend(text("trusted_profile", problems).map(|name| ("trusted_profile", CloudKey::TrustedProfile(name))));
    if let [(first, _), (second, _), ..] = &given[..] {
        problems.push(table.problem(format!("{} has both {first} and {second}; keep one", table.title())));
        return None;
    }
    given.pop().map(|(_, key)| key)
}
