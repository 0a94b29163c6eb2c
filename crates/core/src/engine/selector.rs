//! What kubectl users select objects by: `secrets`, `machineset.machine.openshift.io/workers`,
//! `metadata.namespace=openshift-config,state!=match`.
//!
//! Invariants: pure; a field or an operator that is not known is an error and never ignored.

use super::finding::{State, SubjectId};
use super::reference::ObjectRef;

/// Short names that API servers publish, for kinds that checks judge.
const SHORT_NAMES: [(&str, &str); 15] = [
    ("cl", "cluster"),
    ("cm", "configmap"),
    ("crd", "customresourcedefinition"),
    ("deploy", "deployment"),
    ("hc", "hostedcluster"),
    ("hcp", "hostedcontrolplane"),
    ("hcps", "hostedcontrolplane"),
    ("hcs", "hostedcluster"),
    ("ma", "machine"),
    ("md", "machinedeployment"),
    ("ms", "machineset"),
    ("np", "nodepool"),
    ("ns", "namespace"),
    ("sa", "serviceaccount"),
    ("svc", "service"),
];

/// Objects as kubectl spells them: `KIND`, `KIND.GROUP`, `KIND.VERSION.GROUP`, each with `/NAME`. The kind may be plural or
/// a short name; of cloud resources the cloud is the group, and the name may be the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectPattern {
    kind: String,
    group: Option<String>,
    name: Option<String>,
}

/// A text that is not [`ObjectPattern`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not KIND, KIND/NAME or KIND.GROUP/NAME")]
pub struct BadPattern(String);

/// An object by what a pattern looks at.
struct Parts<'o> {
    api_version: &'o str,
    cloud: Option<&'o str>,
    kind: &'o str,
    names: [&'o str; 2],
}

impl ObjectPattern {
    /// # Errors
    /// There is no kind, an empty name, or more than one slash.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        let bad = || BadPattern(text.to_owned());
        let (kind, name) = match text.split_once('/') {
            Some((_, name)) if name.is_empty() || name.contains('/') => return Err(bad()),
            Some((kind, name)) => (kind, Some(name.to_owned())),
            None => (text, None),
        };
        let (kind, group) = match kind.split_once('.') {
            Some((_, "")) => return Err(bad()),
            Some((kind, group)) => (kind, Some(group.to_ascii_lowercase())),
            None => (kind, None),
        };
        if kind.is_empty() {
            return Err(bad());
        }
        Ok(Self { kind: long_name(kind), group, name })
    }

    /// Whether it names one object.
    pub fn has_name(&self) -> bool {
        self.name.is_some()
    }

    pub fn matches(&self, object: &ObjectRef) -> bool {
        let cloud = object.cloud.as_deref();
        self.matches_parts(&Parts {
            api_version: &object.api_version,
            cloud: cloud.map(|cloud| cloud.cloud.as_str()),
            kind: &object.kind,
            names: [&object.name, cloud.map_or(object.name.as_str(), |cloud| cloud.id.as_str())],
        })
    }

    pub fn matches_subject(&self, subject: &SubjectId) -> bool {
        self.matches_parts(&Parts {
            api_version: subject.api_version,
            cloud: subject.cloud.as_ref().map(|place| place.provider.as_str()),
            kind: subject.kind,
            names: [subject.object_name(), subject.called()],
        })
    }

    fn matches_parts(&self, object: &Parts<'_>) -> bool {
        let in_group =
            self.group.as_deref().is_none_or(|asked| match (object.cloud, object.api_version.split_once('/')) {
                (Some(cloud), _) => asked == cloud,
                (None, Some((group, version))) => {
                    asked == group || asked.strip_prefix(version).and_then(|rest| rest.strip_prefix('.')) == Some(group)
                }
                (None, None) => asked == object.api_version,
            });
        let is_named = self.name.as_deref().is_none_or(|asked| object.names.contains(&asked));
        in_group && is_named && is_kind(&self.kind, object.kind)
    }
}

/// The name in small letters that a kind is compared by, for a short name its long one.
fn long_name(kind: &str) -> String {
    let kind = kind.to_ascii_lowercase();
    let short = SHORT_NAMES.iter().find(|(short, _)| *short == kind);
    short.map_or(kind, |(_, long)| (*long).to_owned())
}

/// Whether a name in small letters is the kind, or its plural as API servers spell it.
fn is_kind(asked: &str, kind: &str) -> bool {
    if asked.eq_ignore_ascii_case(kind) {
        return true;
    }
    let Some(singular) = asked.strip_suffix('s') else { return false };
    let is_stem = |stem: &str, end: &str| {
        kind.len() == stem.len() + end.len()
            && kind.is_char_boundary(stem.len())
            && kind[..stem.len()].eq_ignore_ascii_case(stem)
            && kind[stem.len()..].eq_ignore_ascii_case(end)
    };
    is_stem(singular, "")
        || singular.strip_suffix('e').is_some_and(|stem| is_stem(stem, ""))
        || singular.strip_suffix("ie").is_some_and(|stem| is_stem(stem, "y"))
}

named_enum! {
    /// What a field selector compares.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Field {
        Name = "metadata.name",
        Namespace = "metadata.namespace",
        Kind = "kind",
        Cluster = "cluster",
        Domain = "domain",
        State = "state",
        Verdict = "verdict",
    }
}

/// Comparisons that all have to hold. The empty selector covers everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<Requirement>);

/// One comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    field: Field,
    is_equal: bool,
    value: String,
}

/// A selector that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSelector {
    #[error("`{0}` has no operator; use =, == or !=")]
    NoOperator(String),
    #[error("unknown field `{0}`; there are: {fields}", fields = Field::ALL.map(Field::as_str).join(", "))]
    Field(String),
    #[error("unknown state `{0}`; there are: {states}", states = State::ALL.map(State::as_str).join(", "))]
    State(String),
}

impl FieldSelector {
    /// Reads `metadata.name=x,state!=match`.
    ///
    /// # Errors
    /// A comparison without an operator, or of a field or state that there is not.
    pub fn parse(text: &str) -> Result<Self, BadSelector> {
        let terms = text.split(',').map(str::trim).filter(|term| !term.is_empty());
        terms.map(Requirement::parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether everything that is asked of a subject holds.
    pub fn covers_subject(&self, subject: &SubjectId) -> bool {
        self.0.iter().all(|requirement| requirement.holds_for(subject).unwrap_or(true))
    }

    /// Whether everything that is asked of a ruling holds.
    pub fn covers_ruling(&self, state: State, verdict: &str) -> bool {
        self.0.iter().all(|requirement| match requirement.field {
            Field::State => requirement.compare(requirement.value == state.as_str()),
            Field::Verdict => requirement.compare(requirement.value == verdict),
            Field::Name | Field::Namespace | Field::Kind | Field::Cluster | Field::Domain => true,
        })
    }

    /// What is asked of subjects as equal, which some subject has to have: else it is misspelt.
    pub fn of_subjects(&self) -> impl Iterator<Item = &Requirement> {
        self.0.iter().filter(|one| one.is_equal && !matches!(one.field, Field::State | Field::Verdict))
    }
}

impl Requirement {
    fn parse(term: &str) -> Result<Self, BadSelector> {
        let (field, is_equal, value) = match (term.split_once("!="), term.split_once('=')) {
            (Some((field, value)), _) => (field, false, value),
            (None, Some((field, value))) => (field, true, value.strip_prefix('=').unwrap_or(value)),
            (None, None) => return Err(BadSelector::NoOperator(term.to_owned())),
        };
        let (name, value) = (field.trim(), value.trim());
        let field = Field::parse(name).ok_or_else(|| BadSelector::Field(name.to_owned()))?;
        let value = match field {
            Field::State if State::parse(value).is_none() => return Err(BadSelector::State(value.to_owned())),
            Field::Kind => long_name(value),
            Field::Name | Field::Namespace | Field::Cluster | Field::Domain | Field::State | Field::Verdict => {
                value.to_owned()
            }
        };
        Ok(Self { field, is_equal, value })
    }

    /// Nothing when it is about the ruling.
    pub fn holds_for(&self, subject: &SubjectId) -> Option<bool> {
        let is_equal = match self.field {
            Field::Name => self.value == subject.object_name() || self.value == subject.called(),
            Field::Namespace => self.value == subject.home_namespace().unwrap_or_default(),
            Field::Kind => is_kind(&self.value, subject.kind),
            Field::Cluster => self.value == subject.home() || self.value == subject.cluster.as_str(),
            Field::Domain => self.value == subject.domain.0,
            Field::State | Field::Verdict => return None,
        };
        Some(self.compare(is_equal))
    }

    fn compare(&self, is_equal: bool) -> bool {
        is_equal == self.is_equal
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}{}", self.field.as_str(), if self.is_equal { "=" } else { "!=" }, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::finding::CheckName;
    use crate::world::ClusterName;

    fn subject(api_version: &'static str, kind: &'static str, name: &str) -> SubjectId {
        SubjectId {
            domain: CheckName("d"),
            cluster: ClusterName::new("c"),
            api_version,
            kind,
            namespace: Some("n".to_owned()),
            name: name.to_owned(),
            cloud: None,
        }
    }

    #[test]
    fn objects_are_spelled_as_kubectl_does() {
        let secret = subject("v1", "Secret", "old");
        let set = subject("machine.openshift.io/v1beta1", "MachineSet", "old");
        let policy = subject("x.io/v1", "Policy", "old");
        let cases = [
            ("secret/old", &secret, true),
            ("Secrets/old", &secret, true),
            ("secrets", &secret, true),
            ("secrets.v1/old", &secret, true),
            ("secret.v2/old", &secret, false),
            ("secret/older", &secret, false),
            ("cm/old", &secret, false),
            ("ms/old", &set, true),
            ("ms", &set, true),
            ("machineset/old", &set, true),
            ("machinesets.machine.openshift.io/old", &set, true),
            ("machinesets.v1beta1.machine.openshift.io", &set, true),
            ("machinesets.v1.machine.openshift.io", &set, false),
            ("machinesets.cluster.x-k8s.io/old", &set, false),
            ("policies", &policy, true),
            ("policys", &policy, true),
            ("polici", &policy, false),
            ("s", &secret, false),
        ];
        for (text, subject, expected) in cases {
            let pattern = ObjectPattern::parse(text).unwrap();
            assert_eq!(pattern.matches_subject(subject), expected, "case: {text} for {subject}");
            assert_eq!(pattern.matches(&subject.object(None)), expected, "case: {text} for {subject}");
        }
        for text in ["", "/x", "secret/", "n/secret/old", ".group/x", "secret./x"] {
            assert!(ObjectPattern::parse(text).is_err(), "case: {text}");
        }
    }

    #[test]
    fn selectors_compare_fields_of_subject_and_ruling() {
        let secret = subject("v1", "Secret", "old");
        let cases = [
            ("", true),
            ("metadata.name=old", true),
            ("metadata.name==old, metadata.namespace=n", true),
            ("metadata.name!=old", false),
            ("kind=secrets,cluster=c,domain=d", true),
            ("kind=cm", false),
            ("state=extra", true),
            ("state!=extra", false),
            ("verdict=orphan-certain,state=extra", true),
            ("verdict!=unused,metadata.namespace=", false),
        ];
        for (text, expected) in cases {
            let selector = FieldSelector::parse(text).unwrap();
            let covered = selector.covers_subject(&secret) && selector.covers_ruling(State::Extra, "orphan-certain");
            assert_eq!(covered, expected, "case: {text}");
        }
        let errors = [
            ("metadata.name", "`metadata.name` has no operator; use =, == or !="),
            (
                "spec.type=x",
                "unknown field `spec.type`; there are: metadata.name, metadata.namespace, kind, cluster, domain, state, verdict",
            ),
            (
                "state=orphan",
                "unknown state `orphan`; there are: match, missing, extra, drift, stale, unknown, error, blocked",
            ),
        ];
        for (text, expected) in errors {
            assert_eq!(FieldSelector::parse(text).unwrap_err().to_string(), expected, "case: {text}");
        }
        let selector = FieldSelector::parse("metadata.name=x,kind!=y,state=extra").unwrap();
        assert_eq!(selector.of_subjects().map(ToString::to_string).collect::<Vec<_>>(), ["metadata.name=x"]);
    }
}
