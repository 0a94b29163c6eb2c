//! `fleet.yaml`: the clock, and facts about the clusters that their folders do not contain.
//!
//! Invariants:
//! - an unknown key is a problem with its line and the nearest known key, never skipped;
//! - an error inside a cluster's entry makes that cluster incomplete: the entry might have said so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use super::problem::Problem;
use super::yaml_tree::{self, Entry, Node, YamlValue};
use trueup_core::decode::recording::Incomplete;
use trueup_core::world::{ClusterName, HostedBy, Namespace, ObjectName, RiskClass};

/// Content of a fleet file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FleetFile {
    pub now: Option<Timestamp>,
    pub clusters: BTreeMap<String, ClusterEntry>,
    /// Environment of the annotating controller's pod, if given.
    pub environment: Option<Environment>,
    pub problems: Vec<Problem>,
}

/// Environment variables.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Environment {
    Variables(BTreeMap<String, String>),
    /// Part of it is invalid.
    Unreadable,
}

/// Entry of one cluster.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClusterEntry {
    pub line: u64,
    pub class: Option<RiskClass>,
    pub hosted_by: Option<HostedBy>,
    pub incomplete: Vec<Incomplete>,
    pub unreachable: Option<String>,
    /// Part of the entry is invalid.
    pub invalid: bool,
}

/// Parses the file.
///
/// # Errors
/// The file is not YAML: then nothing in it is known.
pub(super) fn parse(file: &Path, text: &str) -> Result<FleetFile, Problem> {
    let root = yaml_tree::read(text).map_err(|fault| Problem::new(file, Some(fault.line), fault.message))?;
    let mut reader = Reader { file, fleet: FleetFile::default() };
    reader.root(root);
    Ok(reader.fleet)
}

struct Reader<'f> {
    file: &'f Path,
    fleet: FleetFile,
}

impl Reader<'_> {
    fn root(&mut self, root: Node) {
        for Entry { key, line, value } in self.entries(root, "the file").unwrap_or_default() {
            match key.as_str() {
                "now" => self.fleet.now = self.now(value),
                "clusters" => self.clusters(value),
                "environment" => self.environment(value),
                _ => self.unknown(line, &key, &["now", "clusters", "environment"]),
            }
        }
    }

    fn now(&mut self, value: Node) -> Option<Timestamp> {
        let line = value.line;
        let time = self.text(value, "now").and_then(|text| text.parse().ok());
        if time.is_none() {
            self.problem(line, "now is not a time: use 2026-11-16T10:00:00Z".to_owned());
        }
        time
    }

    fn clusters(&mut self, value: Node) {
        for Entry { key, line, value } in self.entries(value, "clusters").unwrap_or_default() {
            let before = self.fleet.problems.len();
            let mut entry = ClusterEntry { line, ..ClusterEntry::default() };
            match self.entries(value, "a cluster's entry") {
                Some(settings) => settings.into_iter().for_each(|setting| self.cluster(&mut entry, setting)),
                None => entry.invalid = true,
            }
            entry.invalid |= self.fleet.problems.len() > before;
            self.fleet.clusters.insert(key, entry);
        }
    }

    fn cluster(&mut self, entry: &mut ClusterEntry, setting: Entry) {
        let Entry { key, line, value } = setting;
        match key.as_str() {
            "class" => entry.class = self.class(value),
            "hosted_by" => entry.hosted_by = self.hosted_by(value),
            "incomplete" => entry.incomplete = self.incomplete(value),
            "unreachable" => entry.unreachable = self.text(value, "unreachable"),
            _ => self.unknown(line, &key, &["class", "hosted_by", "incomplete", "unreachable"]),
        }
    }

    fn class(&mut self, value: Node) -> Option<RiskClass> {
        let line = value.line;
        let text = self.text(value, "class")?;
        let class =
            [RiskClass::Prod, RiskClass::Stage, RiskClass::Dev].into_iter().find(|class| class.as_str() == text);
        if class.is_none() {
            self.problem(line, format!("unknown class `{text}`: use prod, stage or dev"));
        }
        class
    }

    fn hosted_by(&mut self, value: Node) -> Option<HostedBy> {
        let line = value.line;
        let mut parts: BTreeMap<&str, String> = BTreeMap::new();
        for Entry { key, line, value } in self.entries(value, "hosted_by")? {
            match key.as_str() {
                "cluster" => parts.extend(self.text(value, "cluster").map(|text| ("cluster", text))),
                "namespace" => parts.extend(self.text(value, "namespace").map(|text| ("namespace", text))),
                "name" => parts.extend(self.text(value, "name").map(|text| ("name", text))),
                _ => self.unknown(line, &key, &["cluster", "namespace", "name"]),
            }
        }
        let [cluster, namespace, name] = ["cluster", "namespace", "name"].map(|part| parts.remove(part));
        let (Some(cluster), Some(namespace), Some(name)) = (cluster, namespace, name) else {
            self.problem(line, "hosted_by needs cluster, namespace and name of the HostedCluster".to_owned());
            return None;
        };
        Some(HostedBy {
            cluster: ClusterName::new(cluster),
            namespace: Namespace::new(namespace),
            name: ObjectName::new(name),
        })
    }

    fn incomplete(&mut self, value: Node) -> Vec<Incomplete> {
        let items = match value.value {
            YamlValue::Empty => Vec::new(),
            YamlValue::Seq(items) => items,
            YamlValue::Text(_) | YamlValue::Map(_) => {
                self.problem(value.line, "incomplete is not a list: write [ v1/secrets@openshift-config ]".to_owned());
                Vec::new()
            }
        };
        let mut all = Vec::new();
        for item in items {
            let line = item.line;
            let Some(text) = self.text(item, "incomplete") else { continue };
            match parse_incomplete(&text) {
                Some(incomplete) => all.push(incomplete),
                None => self.problem(
                    line,
                    format!("`{text}` is not a resource: use v1/secrets@openshift-config or apps/v1/deployments"),
                ),
            }
        }
        all
    }

    fn environment(&mut self, value: Node) {
        let before = self.fleet.problems.len();
        let mut variables = BTreeMap::new();
        for Entry { key, value, .. } in self.entries(value, "environment").unwrap_or_default() {
            let text = match value.value {
                YamlValue::Empty => Some(String::new()),
                YamlValue::Text(_) | YamlValue::Map(_) | YamlValue::Seq(_) => self.text(value, "a variable"),
            };
            variables.extend(text.map(|text| (key, text)));
        }
        let is_whole = self.fleet.problems.len() == before;
        self.fleet.environment =
            Some(if is_whole { Environment::Variables(variables) } else { Environment::Unreadable });
    }

    fn entries(&mut self, node: Node, what: &str) -> Option<Vec<Entry>> {
        match node.value {
            YamlValue::Map(entries) => Some(entries),
            YamlValue::Empty => Some(Vec::new()),
            YamlValue::Text(_) | YamlValue::Seq(_) => {
                self.problem(node.line, format!("{what} is not a mapping: write `key: value` lines"));
                None
            }
        }
    }

    fn text(&mut self, node: Node, what: &str) -> Option<String> {
        match node.value {
            YamlValue::Text(text) => Some(text),
            YamlValue::Empty | YamlValue::Map(_) | YamlValue::Seq(_) => {
                self.problem(node.line, format!("{what} is not text: write one value"));
                None
            }
        }
    }

    fn unknown(&mut self, line: u64, key: &str, known: &[&str]) {
        let nearest = crate::connect::nearest_names(key, known.iter().copied());
        let nearest = nearest.first().map_or("", String::as_str);
        self.problem(line, format!("unknown key `{key}`: did you mean `{nearest}`?"));
    }

    fn problem(&mut self, line: u64, message: String) {
        self.fleet.problems.push(Problem::new(self.file, Some(line), message));
    }
}

/// `group/version/plural[@namespace]`, without the core group.
fn parse_incomplete(text: &str) -> Option<Incomplete> {
    let (path, namespace) = match text.split_once('@') {
        Some((path, namespace)) => (path, Some(namespace)),
        None => (text, None),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let (group, plural) = match parts.as_slice() {
        [_version, plural] => ("", *plural),
        [group, _version, plural] => (*group, *plural),
        _ => return None,
    };
    let filled: BTreeSet<bool> = parts.iter().copied().chain(namespace).map(|part| !part.is_empty()).collect();
    let incomplete =
        Incomplete { group: group.to_owned(), plural: plural.to_owned(), namespace: namespace.map(str::to_owned) };
    (!filled.contains(&false)).then_some(incomplete)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FleetFile {
        parse(Path::new("fleet.yaml"), text).expect("it is YAML")
    }

    #[test]
    fn a_fleet_file_adds_what_the_folder_does_not_contain() {
        let fleet = read(
            "now: 2026-11-16T10:00:00Z\nclusters:\n  mgmt: { class: stage }\n  bare:\n  guest:\n    hosted_by: { cluster: \
             mgmt, namespace: clusters, name: guest }\n    incomplete: [ \"v1/secrets@openshift-config\", \
             apps/v1/deployments ]\n    unreachable: connection refused\nenvironment:\n  AWS_ROLE_ARN: arn\n  EMPTY:\n",
        );
        let incomplete = |group: &str, plural: &str, namespace: Option<&str>| Incomplete {
            group: group.into(),
            plural: plural.into(),
            namespace: namespace.map(str::to_owned),
        };
        let guest = ClusterEntry {
            line: 5,
            hosted_by: Some(HostedBy {
                cluster: ClusterName::new("mgmt"),
                namespace: Namespace::new("clusters"),
                name: ObjectName::new("guest"),
            }),
            incomplete: vec![
                incomplete("", "secrets", Some("openshift-config")),
                incomplete("apps", "deployments", None),
            ],
            unreachable: Some("connection refused".into()),
            ..ClusterEntry::default()
        };
        let expected = FleetFile {
            now: Some("2026-11-16T10:00:00Z".parse().unwrap()),
            clusters: BTreeMap::from([
                ("mgmt".into(), ClusterEntry { line: 3, class: Some(RiskClass::Stage), ..ClusterEntry::default() }),
                ("bare".into(), ClusterEntry { line: 4, ..ClusterEntry::default() }),
                ("guest".into(), guest),
            ]),
            environment: Some(Environment::Variables(BTreeMap::from([
                ("AWS_ROLE_ARN".into(), "arn".into()),
                ("EMPTY".into(), String::new()),
            ]))),
            problems: Vec::new(),
        };
        assert_eq!(fleet, expected);
    }

    #[test]
    fn an_invalid_setting_is_a_problem_with_its_line_and_a_fix() {
        let cases = [
            ("top key", "cluster:\n  a: {}\n", 1, "did you mean `clusters`", false),
            ("cluster key", "clusters:\n  a:\n    clas: dev\n", 3, "did you mean `class`", true),
            ("class", "clusters:\n  a: { class: production }\n", 2, "use prod, stage or dev", true),
            (
                "hosted_by cut",
                "clusters:\n  a:\n    hosted_by: { cluster: m }\n",
                3,
                "needs cluster, namespace and name",
                true,
            ),
            ("incomplete", "clusters:\n  a:\n    incomplete: [ secrets ]\n", 3, "is not a resource", true),
            (
                "incomplete namespace",
                "clusters:\n  a:\n    incomplete: [ v1/secrets@ ]\n",
                3,
                "is not a resource",
                true,
            ),
            ("entry is text", "clusters:\n  a: dev\n", 2, "not a mapping", true),
            ("now", "now: yesterday\nclusters: { a: {} }\n", 1, "is not a time", false),
        ];
        for (case, text, line, message, invalid) in cases {
            let fleet = read(text);
            let [problem] = fleet.problems.as_slice() else { panic!("case: {case}: {:?}", fleet.problems) };
            assert_eq!(problem.line, Some(line), "case: {case}");
            assert!(problem.message.contains(message), "case: {case}: {problem}");
            assert_eq!(fleet.clusters.get("a").is_some_and(|entry| entry.invalid), invalid, "case: {case}");
        }
    }

    #[test]
    fn an_invalid_fleet_file_is_rejected_as_a_whole() {
        assert_eq!(parse(Path::new("f"), "clusters: [\n").map_err(|problem| problem.line), Err(Some(1)));
    }
}
