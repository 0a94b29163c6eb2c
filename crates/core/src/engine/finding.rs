//! A finding: a subject, what was judged of it, and the evidence a person can check.
//!
//! Invariants: a secret's value is never in a finding; the expected and actual trees say `<40 bytes>` instead.

use std::cmp::Ordering;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::words::Word;
use crate::world::{ClusterName, Provider, Uid};

/// The name of a check as plans and configs spell it: `hosted-oidc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CheckName(#[serde(deserialize_with = "crate::words::read")] pub Word);

/// What a finding is about. Printed, it is the finding's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SubjectId {
    pub domain: CheckName,
    pub cluster: ClusterName,
    #[serde(deserialize_with = "crate::words::read")]
    pub api_version: Word,
    #[serde(deserialize_with = "crate::words::read")]
    pub kind: Word,
    pub namespace: Option<String>,
    /// `*` stands for a collection that isn't completely known, `name#part` for a part of an object. Of a cloud resource: its
    /// id.
    pub name: String,
    /// Where it is, when it is a cloud resource and no object of a cluster. Then `cluster` is its account, as a member of
    /// the fleet.
    pub cloud: Option<Box<CloudPlace>>,
}

/// Where a cloud resource is, and who looks at it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CloudPlace {
    pub provider: Provider,
    pub account: String,
    pub crn: Option<String>,
    pub name: Option<String>,
    /// The object that points at it; nothing when none does.
    pub seen_from: Option<SeenFrom>,
}

/// An object that points at a cloud resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeenFrom {
    pub cluster: ClusterName,
    pub namespace: String,
    pub name: String,
}

/// Kinds with the name of another kind that the same check judges: ids spell them with their group.
const KINDS_WITH_GROUP: [(&str, &str); 1] = [("Authentication", "operator.openshift.io")];

/// The name of a subject that stands for a whole list. No object has it.
const WHOLE_LIST: &str = "*";

impl SubjectId {
    /// Whether it stands for a list that is not completely known, and for no single object.
    pub fn is_whole_list(&self) -> bool {
        self.name == WHOLE_LIST
    }

    /// The name of the object it is about: without the part of it, where the subject is one. No object has a `#` in its name.
    pub fn object_name(&self) -> &str {
        match &self.cloud {
            None => self.name.split_once('#').map_or(&*self.name, |(name, _)| name),
            Some(_) => &self.name,
        }
    }

    /// What people call it: its name, and of a cloud resource not its id where it has a name.
    pub fn called(&self) -> &str {
        self.cloud.as_ref().and_then(|place| place.name.as_deref()).unwrap_or(&self.name)
    }

    /// The cluster a finding belongs to: of a cloud resource, the one it is seen from, and `""` when no object points at it.
    pub fn home(&self) -> &str {
        match &self.cloud {
            None => self.cluster.as_str(),
            Some(place) => place.seen_from.as_ref().map_or("", |seen| seen.cluster.as_str()),
        }
    }

    /// The namespace it belongs to: of a cloud resource, that of the object that points at it.
    pub fn home_namespace(&self) -> Option<&str> {
        let seen_from = self.cloud.as_ref().and_then(|place| place.seen_from.as_ref());
        seen_from.map(|seen| seen.namespace.as_str()).or(self.namespace.as_deref())
    }
}

/// Field by field, as derived. But neighbours share all but their names, often the very same bytes of them, and lists of
/// ten thousand are searched at every key press: the same bytes are not compared again.
impl Ord for SubjectId {
    fn cmp(&self, other: &Self) -> Ordering {
        let Self { domain, cluster, api_version, kind, namespace, name, cloud } = self;
        compare(domain.0, other.domain.0)
            .then_with(|| compare(cluster.as_str(), other.cluster.as_str()))
            .then_with(|| compare(api_version, other.api_version))
            .then_with(|| compare(kind, other.kind))
            .then_with(|| namespace.cmp(&other.namespace))
            .then_with(|| name.cmp(&other.name))
            .then_with(|| cloud.cmp(&other.cloud))
    }
}

impl PartialOrd for SubjectId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn compare(one: &str, other: &str) -> Ordering {
    if std::ptr::eq(one, other) { Ordering::Equal } else { one.cmp(other) }
}

impl std::fmt::Display for SubjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(CloudPlace { provider, account, seen_from, .. }) = self.cloud.as_deref() {
            write!(f, "{}/{}:{account}/{}/{}@", self.domain.0, provider.as_str(), self.kind, self.name)?;
            return match seen_from {
                Some(seen) => write!(f, "{}/{}", seen.namespace, seen.name),
                None => f.write_str("-"),
            };
        }
        let namespace = self.namespace.as_deref().unwrap_or("_");
        write!(f, "{}/{}/{}", self.domain.0, self.cluster, self.kind)?;
        let group = self.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        if KINDS_WITH_GROUP.contains(&(self.kind, group)) {
            write!(f, ".{group}")?;
        }
        write!(f, "/{namespace}/{}", self.name)
    }
}

named_enum! {
    /// The common vocabulary every domain's verdicts fall into.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum State {
        Match = "match",
        Missing = "missing",
        Extra = "extra",
        Drift = "drift",
        Stale = "stale",
        Unknown = "unknown",
        Error = "error",
        Blocked = "blocked",
    }
}

impl State {
    /// The sign beside the word.
    pub fn glyph(self) -> char {
        match self {
            Self::Match => '=',
            Self::Missing => '+',
            Self::Extra => '−',
            Self::Drift => '≠',
            Self::Stale => '◔',
            Self::Unknown => '?',
            Self::Error => '!',
            Self::Blocked => '⊘',
        }
    }
}

/// The short answer: cheap to compute, kept for every subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub state: State,
    /// From the domain's closed set, as plans spell it.
    #[serde(deserialize_with = "crate::words::read")]
    pub verdict: Word,
    /// Sorted, without repeats.
    #[serde(deserialize_with = "crate::words::read_all")]
    pub codes: Vec<Word>,
    /// How many independent proofs say that the subject is the platform's. The brake counts subjects with any.
    pub ownership_proofs: u8,
    /// The next instant the verdict can change by time alone.
    pub until: Option<Timestamp>,
}

impl Judgement {
    /// Adds a code, unless it is there.
    pub fn add_code(&mut self, code: &'static str) {
        if let Err(place) = self.codes.binary_search(&code) {
            self.codes.insert(place, code);
        }
    }
}

/// A line a person can check: what it says, and the object and field it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    #[serde(rename = "says")]
    pub message: String,
    /// `mgmt HostedControlPlane clusters-guest-a/guest-a`
    pub object: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// The version of the object that was read.
    #[serde(default, rename = "resourceVersion", skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
}

/// The object of a line of evidence that says what a person has to do.
const ADVICE: &str = "what to do";

impl Evidence {
    /// A line that says who has to do what: the remedy of a finding that no action repairs.
    pub fn advice(message: impl Into<String>) -> Self {
        let (message, object) = (message.into(), ADVICE.to_owned());
        Self { message, object, field: String::new(), resource_version: String::new() }
    }

    pub fn is_advice(&self) -> bool {
        self.object == ADVICE
    }
}

/// The long answer: computed only for what is looked at or planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The subject's uid, when it is there.
    pub uid: Option<Uid>,
    /// When the subject was created, for ages.
    pub created: Option<Timestamp>,
    /// One line.
    pub summary: String,
    pub expected: serde_json::Value,
    pub actual: serde_json::Value,
    pub evidence: Vec<Evidence>,
    pub remedy: Vec<super::action::ActionDraft>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_ordered_by_their_fields_for_owned_and_borrowed_text() {
        let id = |cluster: &str, kind: &'static str, namespace: Option<&str>, name: &str| SubjectId {
            domain: CheckName("a"),
            cluster: ClusterName::new(cluster),
            api_version: "v1",
            kind,
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            cloud: None,
        };
        let sorted = [
            id("a", "ConfigMap", Some("z"), "z"),
            id("a", "Secret", None, "z"),
            id("a", "Secret", Some("a"), "b"),
            id("a", "Secret", Some("a"), "c"),
            id("a", "Secret", Some("b"), "a"),
            id("ab", "ConfigMap", None, "a"),
            id("b", "ConfigMap", None, "a"),
        ];
        for (place, one) in sorted.iter().enumerate() {
            for (other_place, other) in sorted.iter().enumerate() {
                let case = format!("{one} and {other}");
                assert_eq!(one.cmp(other), place.cmp(&other_place), "case: {case}");
                assert_eq!(one.cmp(&other.clone()), place.cmp(&other_place), "case: {case}, shared bytes");
            }
        }
    }

    #[test]
    fn a_kind_that_shares_its_name_with_another_is_spelled_with_its_group() {
        let id = |api_version: &'static str, kind: &'static str| SubjectId {
            domain: CheckName("external-oidc"),
            cluster: ClusterName::new("ocp"),
            api_version,
            kind,
            namespace: None,
            name: "cluster".to_owned(),
            cloud: None,
        };
        let cases = [
            ("config.openshift.io/v1", "Authentication", "external-oidc/ocp/Authentication/_/cluster"),
            (
                "operator.openshift.io/v1",
                "Authentication",
                "external-oidc/ocp/Authentication.operator.openshift.io/_/cluster",
            ),
            ("operator.openshift.io/v1", "KubeAPIServer", "external-oidc/ocp/KubeAPIServer/_/cluster"),
        ];
        for (api_version, kind, expected) in cases {
            assert_eq!(id(api_version, kind).to_string(), expected, "case: {api_version} {kind}");
        }
    }

    #[test]
    fn a_cloud_resource_is_named_by_its_account_and_by_who_points_at_it() {
        let seen = SeenFrom { cluster: ClusterName::new("mgmt"), namespace: "ns".to_owned(), name: "demo".to_owned() };
        let id = |seen_from: Option<SeenFrom>| SubjectId {
            domain: CheckName("powervs-tags"),
            cluster: ClusterName::new("ibm:main"),
            api_version: "ibm.cloud.trueup/v1",
            kind: "vpc",
            namespace: None,
            name: "r006-1".to_owned(),
            cloud: Some(Box::new(CloudPlace {
                provider: Provider::Ibm,
                account: "acc".to_owned(),
                crn: None,
                name: None,
                seen_from,
            })),
        };
        let (claimed, bare) = (id(Some(seen)), id(None));
        assert_eq!(claimed.to_string(), "powervs-tags/ibm:acc/vpc/r006-1@ns/demo");
        assert_eq!((claimed.home(), claimed.home_namespace()), ("mgmt", Some("ns")));
        assert_eq!(bare.to_string(), "powervs-tags/ibm:acc/vpc/r006-1@-");
        assert_eq!((bare.home(), bare.home_namespace()), ("", None));
    }
}
