//! Secrets that are read by name, beside the metadata of their namespace.
//!
//! Invariants:
//! - whether a Secret exists is decided by the list of its namespace; what it holds, by a read of it alone;
//! - a Secret is read whole only where a check names it; of the others, metadata alone.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::SECRET;
use trueup_core::world::{
    ClusterName, CollectionId, CollectionParts, Content, Fact, Gap, GapCause, Interest, Interner, Key, Misfit,
    Namespace, Observation, RawObject, Reading, ResourceVersion, Scope, Selector, Sighting, Uid, View, Writer,
};

/// A Secret by its metadata.
#[derive(Debug, PartialEq, Eq)]
pub struct SecretMark {
    pub uid: Uid,
    pub version: ResourceVersion,
}

impl Fact for SecretMark {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self { uid: Uid::parse(&raw.meta.uid), version: ResourceVersion::parse(&raw.meta.resource_version) })
    }
}

/// What a check keeps of a Secret it reads by name.
pub trait SecretContent: Fact {
    fn uid(&self) -> &Uid;
}

/// The Secrets of one cluster.
pub struct Secrets<'a> {
    view: View<'a>,
    cluster: &'a ClusterName,
    marks: RefCell<BTreeMap<Namespace, Reading<'a, SecretMark>>>,
}

impl<'a> Secrets<'a> {
    pub fn new(view: View<'a>, cluster: &'a ClusterName) -> Self {
        Self { view, cluster, marks: RefCell::default() }
    }

    /// The Secrets of a namespace by their metadata.
    pub fn marks(&self, namespace: &Namespace) -> Reading<'a, SecretMark> {
        let mut marks = self.marks.borrow_mut();
        if let Some(reading) = marks.get(namespace) {
            return *reading;
        }
        let reading = self.view.read(&secret_marks(self.cluster, namespace.as_str()));
        marks.insert(namespace.clone(), reading);
        reading
    }

    /// Whether a list shows the Secret.
    pub fn is_listed(&self, key: &Key) -> bool {
        key.namespace.as_ref().is_some_and(|namespace| self.marks(namespace).get(key).present().is_some())
    }

    /// A Secret with its content.
    pub fn read<F: SecretContent>(&self, key: &Key) -> Sighting<'a, F> {
        let Some(namespace) = &key.namespace else { return Sighting::ABSENT };
        let read = || self.view.read::<F>(&self.content(key)).get(key);
        match self.marks(namespace).get(key) {
            Observation::ProvenAbsent(_) => Sighting::ABSENT,
            Observation::Present(mark) => match read() {
                Observation::Present(fact) if is_same_uid(&mark.uid, fact.uid()) => {
                    Sighting { seen: Some(fact), gap: None }
                }
                Observation::Present(_) | Observation::ProvenAbsent(_) => {
                    let message = format!("Secret {key} was recreated and is being read again");
                    Sighting::unknown(Gap::new(GapCause::NotObserved, message))
                }
                Observation::Unknown(gap) => Sighting::unknown(gap),
            },
            // A user who may get Secrets and not list them sees those that exist.
            Observation::Unknown(gap) => match read() {
                Observation::Present(fact) => Sighting { seen: Some(fact), gap: None },
                Observation::ProvenAbsent(_) | Observation::Unknown(_) => Sighting::unknown(gap),
            },
        }
    }

    /// The last writer of a tracked field of a Secret, where it was read with its content.
    pub fn writer<F: SecretContent>(&self, key: &Key, field: &str) -> Option<&'a Writer> {
        self.view.read::<F>(&self.content(key)).writer(key, field)
    }

    /// A read of a Secret that exists, as new as the list says; where the list is not known, a read on suspicion.
    pub fn interest<F: SecretContent>(&self, key: &Key) -> Option<Interest> {
        let namespace = key.namespace.as_ref()?;
        let read_at_least = match self.marks(namespace).get(key) {
            Observation::Present(mark) => Some(mark.version.clone()),
            Observation::ProvenAbsent(_) => return None,
            // Its list is not there yet.
            Observation::Unknown(gap) if gap.cause == GapCause::NotObserved => return None,
            Observation::Unknown(_) => None,
        };
        Some(Interest { read_at_least, ..self.content(key).interest::<F>() })
    }

    /// The names are shared and not copied: this is needed for every subject.
    fn content(&self, key: &Key) -> CollectionId {
        CollectionParts {
            cluster: self.cluster.clone(),
            resource: SECRET,
            scope: Scope::Object { namespace: key.namespace.clone(), name: key.name.clone() },
            selector: Selector::default(),
            content: Content::Full,
        }
        .into()
    }
}

/// Whether two uids may be of one object. Files written by hand have objects without a uid.
pub fn is_same_uid(one: &Uid, other: &Uid) -> bool {
    one.is_empty() || other.is_empty() || one == other
}

/// The metadata of the Secrets of a namespace.
pub fn secret_marks(cluster: &ClusterName, namespace: &str) -> CollectionId {
    CollectionId::namespaced(cluster, SECRET, namespace).metadata()
}
