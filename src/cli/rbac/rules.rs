//! Permissions as rules of roles: each verb once, in the narrowest role that has it, and no rule within another.
//!
//! Invariants: the rules allow what the permissions say, and nothing more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use trueup_checks::permissions::{Extent, Permission};

/// A permission and who needs it.
pub struct Granted {
    pub permission: Permission,
    /// Nothing: connecting needs it.
    pub check: Option<&'static str>,
}

/// One rule of a role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    pub group: &'static str,
    pub resources: BTreeSet<&'static str>,
    /// Empty: every object.
    pub names: BTreeSet<&'static str>,
    pub verbs: BTreeSet<&'static str>,
    /// Who needs it.
    pub checks: BTreeSet<&'static str>,
}

/// The rules of each namespace; nothing stands for the whole cluster.
#[derive(Debug, Default)]
pub struct RuleSet(BTreeMap<Option<&'static str>, Vec<Rule>>);

/// One object or all of a kind, in a namespace or the whole cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    namespace: Option<&'static str>,
    group: &'static str,
    plural: &'static str,
    name: Option<&'static str>,
}

/// The verbs on a target, each with who needs it.
type Verbs = BTreeMap<&'static str, BTreeSet<&'static str>>;

impl RuleSet {
    pub fn of(granted: impl IntoIterator<Item = Granted>) -> Self {
        let mut targets: BTreeMap<Target, Verbs> = BTreeMap::new();
        for Granted { permission, check } in granted {
            let verbs = targets.entry(Target::of(&permission)).or_default();
            for verb in permission.verbs() {
                verbs.entry(verb).or_default().extend(check);
            }
        }
        let all: Vec<(Target, Verbs)> = targets.clone().into_iter().collect();
        for (target, verbs) in &mut targets {
            let wider: Vec<&Verbs> =
                all.iter().filter(|(other, _)| other.contains(target)).map(|(_, verbs)| verbs).collect();
            verbs.retain(|verb, _| !wider.iter().any(|verbs| verbs.contains_key(verb)));
        }
        Self::grouped(targets)
    }

    /// Kinds of one group with the same verbs share a rule, and so do objects of one kind.
    fn grouped(targets: BTreeMap<Target, Verbs>) -> Self {
        let mut namespaces: BTreeMap<Option<&'static str>, Vec<Rule>> = BTreeMap::new();
        for (Target { namespace, group, plural, name }, verbs) in targets {
            // Verbs that different checks need stand in different rules, so that each can be understood.
            let mut by_checks: BTreeMap<BTreeSet<&'static str>, BTreeSet<&'static str>> = BTreeMap::new();
            for (verb, checks) in verbs {
                by_checks.entry(checks).or_default().insert(verb);
            }
            let rules = namespaces.entry(namespace).or_default();
            for (checks, verbs) in by_checks {
                let resources = BTreeSet::from([plural]);
                let rule = Rule { group, resources, names: name.into_iter().collect(), verbs, checks };
                match rules.iter_mut().find(|other| other.can_take(&rule)) {
                    Some(other) => other.take(rule),
                    None => rules.push(rule),
                }
            }
        }
        namespaces.retain(|_, rules| !rules.is_empty());
        Self(namespaces)
    }

    /// The whole cluster first, then namespaces by name.
    pub fn by_namespace(&self) -> impl Iterator<Item = (Option<&'static str>, &[Rule])> {
        self.0.iter().map(|(namespace, rules)| (*namespace, rules.as_slice()))
    }
}

impl Rule {
    fn can_take(&self, other: &Self) -> bool {
        let is_alike = self.group == other.group && self.verbs == other.verbs && self.checks == other.checks;
        let is_one_kind = self.resources == other.resources && !self.names.is_empty() && !other.names.is_empty();
        is_alike && (is_one_kind || self.names.is_empty() && other.names.is_empty())
    }

    fn take(&mut self, other: Self) {
        self.resources.extend(other.resources);
        self.names.extend(other.names);
    }
}

impl Target {
    fn of(permission: &Permission) -> Self {
        let (namespace, name) = match permission.extent {
            Extent::All => (None, None),
            Extent::Namespace(namespace) => (Some(namespace), None),
            Extent::Object { namespace, name } => (namespace, Some(name)),
        };
        Self { namespace, group: permission.resource.group, plural: permission.resource.plural, name }
    }

    /// Whether this is another target, and `other` is part of it.
    fn contains(&self, other: &Self) -> bool {
        let is_kind = self.group == other.group && self.plural == other.plural;
        let is_place = self.namespace.is_none() || self.namespace == other.namespace;
        let is_object = self.name.is_none() || self.name == other.name && self.namespace == other.namespace;
        self != other && is_kind && is_place && is_object
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, resources, names, verbs, checks } = self;
        let list = |words: &BTreeSet<&str>| words.iter().copied().collect::<Vec<_>>().join(", ");
        let needed_by = if checks.is_empty() { "connecting".to_owned() } else { list(checks) };
        let group = if group.is_empty() { "\"\"" } else { group };
        writeln!(f, "  # {needed_by}")?;
        writeln!(f, "  - apiGroups: [{group}]\n    resources: [{}]", list(resources))?;
        if !names.is_empty() {
            let quoted: Vec<String> = names.iter().map(|name| super::quoted(name)).collect();
            writeln!(f, "    resourceNames: [{}]", quoted.join(", "))?;
        }
        writeln!(f, "    verbs: [{}]", list(verbs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_checks::kinds::{CONFIG_MAP, SECRET};
    use trueup_checks::permissions::{Need, Write, own};

    fn text(granted: Vec<(Permission, Option<&'static str>)>) -> String {
        let granted = granted.into_iter().map(|(permission, check)| Granted { permission, check });
        let rules = RuleSet::of(granted);
        let line = |(namespace, rules): (Option<&str>, &[Rule])| {
            let rules: String = rules.iter().map(ToString::to_string).collect();
            format!("{}\n{rules}", namespace.unwrap_or("*"))
        };
        rules.by_namespace().map(line).collect()
    }

    #[test]
    fn what_a_wider_rule_allows_stands_in_no_narrower_one() {
        let watch = own(SECRET, Need::Watch);
        let rules = text(vec![
            (watch, Some("a")),
            (watch.within("n"), Some("b")),
            (own(SECRET, Need::Get).within("n"), Some("b")),
            (own(SECRET, Need::Get).only(Some("n"), "x"), Some("c")),
        ]);
        let expected = "*\n  # a\n  - apiGroups: [\"\"]\n    resources: [secrets]\n    verbs: [list, watch]\n\
                        n\n  # b\n  - apiGroups: [\"\"]\n    resources: [secrets]\n    verbs: [get]\n";
        assert_eq!(rules, expected);
    }

    #[test]
    fn one_object_is_not_all_objects_and_names_of_two_kinds_are_kept_apart() {
        let rules = text(vec![
            (own(SECRET, Need::Get).only(Some("n"), "x"), None),
            (own(SECRET, Need::Get).only(Some("n"), "y"), None),
            (own(CONFIG_MAP, Need::Get).only(Some("n"), "x"), None),
            (own(CONFIG_MAP, Need::Write(Write::Patch)).within("m"), Some("a")),
        ]);
        let expected = "m\n  # a\n  - apiGroups: [\"\"]\n    resources: [configmaps]\n    verbs: [get, patch]\n\
                        n\n  # connecting\n  - apiGroups: [\"\"]\n    resources: [configmaps]\n    resourceNames: [\"x\"]\n    verbs: [get]\n  \
                        # connecting\n  - apiGroups: [\"\"]\n    resources: [secrets]\n    resourceNames: [\"x\", \"y\"]\n    verbs: [get]\n";
        assert_eq!(rules, expected);
    }
}
