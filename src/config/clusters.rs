//! `[[clusters]]`: risk class of each cluster, and namespaces to list when a cluster-wide list is forbidden.

use super::Problems;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_core::engine::Glob;
use trueup_core::world::{Namespace, RiskClass};
use trueup_operate::{ClusterRule, ClusterRules};

/// Class names in the file.
pub(super) const CLASSES: [(&str, RiskClass); 3] =
    [("prod", RiskClass::Prod), ("stage", RiskClass::Stage), ("dev", RiskClass::Dev)];

pub(super) fn read(root: &SettingsTable, problems: &mut Problems) -> ClusterRules {
    let tables = problems.keep(root.take_tables("clusters")).unwrap_or_default();
    ClusterRules::new(tables.into_iter().filter_map(|table| rule(table, problems)).collect())
}

fn rule(table: &SettingsTable, problems: &mut Problems) -> Option<ClusterRule> {
    problems.extend(table.unknown_keys(&["match", "class", "namespaces"]));
    let class = problems.keep_given(table.take_choice("class", &CLASSES));
    let namespaces = problems.keep_given(table.take_strings("namespaces")).unwrap_or_default();
    let matches = problems.keep(take_glob(table, "match"))?;
    let Some(matches) = matches else {
        problems.push(table.lacks("match"));
        return None;
    };
    Some(ClusterRule {
        matches,
        class,
        namespaces: namespaces.into_iter().map(|name| Namespace::new(name.into_inner())).collect(),
    })
}

/// Reads a glob pattern.
pub(super) fn take_glob(table: &SettingsTable, key: &str) -> Result<Option<Glob>, SettingsProblem> {
    let Some(text) = table.take_str(key)? else { return Ok(None) };
    let glob = Glob::parse(text.get_ref());
    glob.map(Some).map_err(|error| SettingsProblem::at(text.span(), format!("`{key}` in {}: {error}", table.title())))
}
