//! `[[clusters]]`: risk class of each cluster, and namespaces to list when a cluster-wide list is forbidden.

use super::Problems;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_core::engine::Glob;
use trueup_core::world::{ClusterName, Namespace, RiskClass};

/// The rules in file order. The first that matches a name wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterRules(Vec<ClusterRule>);

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterRule {
    pub matches: Glob,
    pub class: Option<RiskClass>,
    /// Namespaces to list when a cluster-wide list is forbidden.
    pub namespaces: Vec<Namespace>,
}

/// Class names in the file.
pub(super) const CLASSES: [(&str, RiskClass); 3] =
    [("prod", RiskClass::Prod), ("stage", RiskClass::Stage), ("dev", RiskClass::Dev)];

impl ClusterRules {
    pub fn new(rules: Vec<ClusterRule>) -> Self {
        Self(rules)
    }

    /// Returns the class of a cluster: by its own rule, else by its management cluster's, else prod.
    pub fn class_of(&self, name: &ClusterName, hosted_by: Option<&ClusterName>) -> RiskClass {
        let class = |name: &ClusterName| self.rule_of(name).and_then(|rule| rule.class);
        class(name).or_else(|| hosted_by.and_then(class)).unwrap_or_default()
    }

    /// Returns the namespaces to list when a cluster-wide list is forbidden; empty without a rule.
    pub fn namespaces_of(&self, name: &ClusterName) -> &[Namespace] {
        self.rule_of(name).map_or(&[], |rule| &rule.namespaces)
    }

    fn rule_of(&self, name: &ClusterName) -> Option<&ClusterRule> {
        self.0.iter().find(|rule| rule.matches.matches(name.as_str()))
    }
}

pub(super) fn read(root: &SettingsTable, problems: &mut Problems) -> ClusterRules {
    let tables = problems.keep(root.take_tables("clusters")).unwrap_or_default();
    ClusterRules(tables.into_iter().filter_map(|table| rule(table, problems)).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(matches: &str, class: Option<RiskClass>) -> ClusterRule {
        ClusterRule { matches: Glob::parse(matches).unwrap(), class, namespaces: vec![Namespace::new(matches)] }
    }

    #[test]
    fn the_class_comes_from_the_cluster_then_its_host_then_defaults_to_prod() {
        let rules = ClusterRules::new(vec![
            rule("stage-prod-*", Some(RiskClass::Prod)),
            rule("stage-*", Some(RiskClass::Stage)),
            rule("named-only", None),
            rule("lab", Some(RiskClass::Dev)),
        ]);
        let cases = [
            ("first match wins", "stage-prod-1", None, RiskClass::Prod),
            ("own rule", "stage-1", None, RiskClass::Stage),
            ("own rule before the host's", "stage-1", Some("lab"), RiskClass::Stage),
            ("guest inherits", "guest", Some("lab"), RiskClass::Dev),
            ("a rule without a class inherits", "named-only", Some("lab"), RiskClass::Dev),
            ("unmatched guest of an unmatched host", "guest", Some("mgmt"), RiskClass::Prod),
            ("unmatched", "other", None, RiskClass::Prod),
        ];
        for (case, name, host, expected) in cases {
            let host = host.map(ClusterName::new);
            assert_eq!(rules.class_of(&ClusterName::new(name), host.as_ref()), expected, "case: {case}");
        }
        assert_eq!(rules.namespaces_of(&ClusterName::new("lab")), [Namespace::new("lab")]);
        assert_eq!(rules.namespaces_of(&ClusterName::new("other")), []);
    }
}
