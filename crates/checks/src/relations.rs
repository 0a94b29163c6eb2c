//! How the object of a finding depends on others: who names it, what it is copied from, and where that is broken.
//!
//! Invariants: what could not be read is unknown, never broken.

use trueup_core::engine::{Evidence, SubjectId};
use trueup_core::world::{View, Writer};

/// What is known of a finding's references.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Relations {
    /// From the outermost owner to the object itself.
    pub links: Vec<Relation>,
    /// Objects that use it now.
    pub used_by: Vec<RelatedObject>,
    /// Kinds that were read and do not use it.
    pub searched: Vec<String>,
    /// Kinds that could not be read: one of them may use it.
    #[serde(default)]
    pub unread: Vec<String>,
}

/// One object that concerns another.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Relation {
    pub from: RelatedObject,
    /// What it does: `names`, `copied`, or the field that says so.
    pub verb: String,
    pub to: RelatedObject,
    pub standing: RelationStanding,
    pub note: String,
    /// Who wrote last what decides, where that is known.
    #[serde(default)]
    pub written: Option<Writer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum RelationStanding {
    Holds,
    Broken,
    Unknown,
}

/// An object of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RelatedObject {
    pub cluster: String,
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

impl RelatedObject {
    pub fn new(cluster: &str, kind: &str, namespace: Option<&str>, name: &str) -> Self {
        let (cluster, kind, name) = (cluster.to_owned(), kind.to_owned(), name.to_owned());
        Self { cluster, kind, namespace: namespace.map(str::to_owned), name }
    }

    pub fn of_subject(subject: &SubjectId) -> Self {
        Self::new(subject.cluster.as_str(), subject.kind, subject.namespace.as_deref(), subject.object_name())
    }

    /// Reads `mgmt HostedControlPlane clusters-a/a` where `mgmt` is a cluster of the fleet.
    pub fn parse(text: &str, view: View<'_>) -> Option<Self> {
        let mut words = text.split(' ');
        let (cluster, kind, place) = (words.next()?, words.next()?, words.next()?);
        let is_known = view.clusters().any(|one| one.name.as_str() == cluster);
        if !is_known || words.next().is_some() || place.ends_with('*') {
            return None;
        }
        let (namespace, name) = match place.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, place),
        };
        Some(Self::new(cluster, kind, namespace, name))
    }

    /// `HostedCluster clusters/a`
    pub fn place(&self) -> String {
        let namespace = self.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
        format!("{} {namespace}{}", self.kind, self.name)
    }
}

/// Each object that the evidence names, with what it says of the subject: for checks without a chain of their own.
pub fn of_evidence(subject: &SubjectId, evidence: &[Evidence], view: View<'_>) -> Relations {
    let own = RelatedObject::of_subject(subject);
    let mut links: Vec<Relation> = Vec::new();
    for line in evidence.iter().filter(|line| !line.is_advice()) {
        let Some(from) = RelatedObject::parse(&line.object, view) else { continue };
        if from == own || links.iter().any(|link| link.from == from) {
            continue;
        }
        let verb = if line.field.is_empty() { "concerns".to_owned() } else { line.field.clone() };
        let (to, note) = (own.clone(), line.message.clone());
        links.push(Relation { from, verb, to, standing: RelationStanding::Holds, note, written: None });
    }
    Relations { links, ..Relations::default() }
}
