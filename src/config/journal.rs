//! `[journal]`: where the last hash of the journal is published after each run.

use std::path::Path;

use super::Problems;
use super::safety::take_path;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_operate::PublishTarget;

const KNOWN_KEYS: [&str; 1] = ["publish"];
const TARGET_KEYS: [&str; 2] = ["file", "configmap"];

pub(super) fn read(root: &SettingsTable, folder: &Path, problems: &mut Problems) -> Option<PublishTarget> {
    let table = problems.keep_given(root.take_table("journal"))?;
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let target = problems.keep_given(table.take_table("publish"))?;
    problems.extend(target.unknown_keys(&TARGET_KEYS));
    let (file, config_map) = (take_path(target, "file", folder), take_config_map(target));
    let is_readable = file.is_ok() && config_map.is_ok();
    let file = problems.keep_given(file).map(PublishTarget::File);
    let config_map = problems.keep_given(config_map);
    match (file, config_map) {
        (Some(target), None) | (None, Some(target)) => Some(target),
        (Some(_), Some(_)) => {
            problems.push(target.problem("`publish` in [journal] takes one of `file` and `configmap`, and has both"));
            None
        }
        // A key that cannot be read has its own problem.
        (None, None) if !is_readable => None,
        (None, None) => {
            problems.push(target.problem("`publish` in [journal] needs one of `file` and `configmap`"));
            None
        }
    }
}

/// Reads `context/namespace/name`. Contexts may hold slashes: those of `oc login` do.
fn take_config_map(table: &SettingsTable) -> Result<Option<PublishTarget>, SettingsProblem> {
    let Some(text) = table.take_str("configmap")? else { return Ok(None) };
    let mut words = text.get_ref().rsplitn(3, '/');
    let (name, namespace, context) = (words.next(), words.next(), words.next());
    let is_label = |word: &&str| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
        !word.is_empty() && word.bytes().all(allowed)
    };
    match (context.filter(|word| !word.is_empty()), namespace.filter(is_label), name.filter(is_label)) {
        (Some(context), Some(namespace), Some(name)) => Ok(Some(PublishTarget::ConfigMap {
            context: context.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })),
        _ => {
            let message = format!("`configmap` in {} is not context/namespace/name", table.title());
            Err(SettingsProblem::at(text.span(), message))
        }
    }
}
