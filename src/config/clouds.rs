//! `[clouds.<provider>.<alias>]`: accounts and where their keys are stored. Never the keys themselves.

use std::collections::BTreeMap;
use std::path::Path;

use super::Problems;
use super::safety::take_path;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_core::engine::Glob;
use trueup_core::world::Provider;
use trueup_operate::{CloudAccount, CloudKey};

const KNOWN_KEYS: [&str; 4] = ["api_key_file", "api_key_env", "endpoints", "management_clusters"];

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
    let file = problems.keep_given(take_path(table, "api_key_file", folder));
    let env = problems.keep_given(table.take_str("api_key_env")).map(|name| name.into_inner().to_owned());
    let key = match (file, env) {
        (Some(_), Some(_)) => {
            let message = format!("{} has both api_key_file and api_key_env; keep one", table.title());
            problems.push(table.problem(message));
            None
        }
        (Some(file), None) => Some(CloudKey::File(file)),
        (None, Some(name)) => Some(CloudKey::Env(name)),
        (None, None) => None,
    };
    let patterns = problems.keep_given(table.take_strings("management_clusters")).unwrap_or_default();
    let pattern = |text: toml::Spanned<&str>| {
        let glob = Glob::parse(text.get_ref()).map_err(|error| SettingsProblem::at(text.span(), error.to_string()));
        problems.keep(glob)
    };
    let management_clusters = patterns.into_iter().filter_map(pattern).collect();
    let mut endpoints = BTreeMap::new();
    if let Some(table) = problems.keep_given(table.take_table("endpoints")) {
        for name in table.keys() {
            let url = problems.keep_given(table.take_str(name.get_ref()));
            endpoints.extend(url.map(|url| (name.get_ref().to_string(), url.into_inner().to_owned())));
        }
    }
    CloudAccount { provider, alias: alias.to_owned(), key, endpoints, management_clusters }
}
