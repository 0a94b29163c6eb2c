//! `[journal]`: where the last hash of the journal is published after each run.

use std::path::Path;

use super::Problems;
use super::safety::take_path;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_operate::PublishTarget;

const KNOWN_KEYS: [&str; 1] = ["publish"];
const TARGET_KEYS: [&str; 3] = ["file", "configmap", "syslog"];
const ONE_OF: &str = "`file`, `configmap` and `syslog`";

pub(super) fn read(root: &SettingsTable, folder: &Path, problems: &mut Problems) -> Option<PublishTarget> {
    let table = problems.keep_given(root.take_table("journal"))?;
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let target = problems.keep_given(table.take_table("publish"))?;
    problems.extend(target.unknown_keys(&TARGET_KEYS));
    let file = take_path(target, "file", folder).map(|path| path.map(PublishTarget::File));
    let syslog = take_path(target, "syslog", folder).map(|path| path.map(|socket| PublishTarget::Syslog { socket }));
    let given = [file, take_config_map(target), syslog];
    let is_readable = given.iter().all(Result::is_ok);
    let mut targets: Vec<PublishTarget> = given.into_iter().filter_map(|one| problems.keep_given(one)).collect();
    match (targets.pop(), targets.is_empty()) {
        (Some(target), true) => Some(target),
        (Some(_), false) => {
            problems.push(target.problem(format!("`publish` in [journal] takes one of {ONE_OF}, and has several")));
            None
        }
        // A key that cannot be read has its own problem.
        (None, _) if !is_readable => None,
        (None, _) => {
            problems.push(target.problem(format!("`publish` in [journal] needs one of {ONE_OF}")));
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
