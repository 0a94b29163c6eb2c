//! A cluster that keeps kubeconfigs, with everything their judgements look at.
//!
//! Always true:
//! - that a Secret is there, or is not, is said by the list of its namespace; what it holds, by a read of it alone;
//! - what was read may be one version behind the list for a moment. Nothing is written on that ground: every action is
//!   bound to the version it was judged by.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::expected::Addresses;
use super::facts::{Anchor, CapiCluster, CaptPlane, Holder, HostedCluster, Mark, OwnContext, Typed};
use super::names::{CAPT_PLANE, CLUSTER, CONTEXT, HOSTED_CLUSTER, SECRET, SECRET_TYPE, SOURCE_NAMESPACE, source_name};
use super::subjects::Owners;
use trueup_core::world::{
    self, Cluster, ClusterName, ClusterSource, CollectionId, Fact, Gap, GapCause, Key, Namespace, ObjectName,
    Observation, Reading, Resource, Scope, Selector, Sighting, Uid, View,
};

/// All contexts that judging many subjects needs, each made once.
pub struct ContextCache<'a> {
    pub view: View<'a>,
    /// Subjects are sorted by cluster, so the last one is asked for again and again.
    last: RefCell<Option<(ClusterName, Option<Rc<CheckContext<'a>>>)>>,
    addresses: OnceCell<Addresses<'a>>,
}

impl<'a> ContextCache<'a> {
    pub fn new(view: View<'a>) -> Self {
        Self { view, last: RefCell::new(None), addresses: OnceCell::new() }
    }

    pub fn of(&self, cluster: &ClusterName) -> Option<Rc<CheckContext<'a>>> {
        let mut last = self.last.borrow_mut();
        match last.as_ref() {
            Some((held, context)) if held == cluster => context.clone(),
            Some(_) | None => {
                let context = CheckContext::of(self.view, cluster).map(Rc::new);
                *last = Some((cluster.clone(), context.clone()));
                context
            }
        }
    }

    /// Where each cluster of the fleet is supposed to be.
    pub fn addresses(&self) -> &Addresses<'a> {
        self.addresses.get_or_init(|| Addresses::of(self.view))
    }
}

/// One cluster and what is known there.
pub struct CheckContext<'a> {
    pub view: View<'a>,
    pub cluster: &'a Cluster,
    pub clusters: Listing<'a, CapiCluster>,
    pub planes: Listing<'a, CaptPlane>,
    pub hosted: Listing<'a, HostedCluster>,
    /// The contexts of the user's own files, where this is the member that lists them.
    pub own: Listing<'a, OwnContext>,
    marks: RefCell<BTreeMap<Namespace, Reading<'a, Mark>>>,
    hosted_by_secret: OnceCell<BTreeMap<Key, ObjectName>>,
}

/// A collection that may not be served at all: then there is nothing in it.
pub struct Listing<'a, F> {
    reading: Option<Reading<'a, F>>,
}

impl<'a, F: Fact> Listing<'a, F> {
    fn of(view: View<'a>, cluster: &Cluster, resource: Resource) -> Self {
        let is_served = !cluster.served.lacks(&resource);
        Self { reading: is_served.then(|| view.read(&CollectionId::all(&cluster.name, resource))) }
    }

    /// Nobody is asked for contexts but the member that stands for the user's files.
    fn of_own(view: View<'a>, cluster: &Cluster) -> Self {
        if is_own(cluster) { Self::of(view, cluster, CONTEXT) } else { Self { reading: None } }
    }

    pub fn is_served(&self) -> bool {
        self.reading.is_some()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a Key, &'a F)> + use<'a, F> {
        self.reading.into_iter().flat_map(|reading| reading.iter())
    }

    pub fn gap(&self) -> Option<Gap> {
        self.reading.and_then(|reading| reading.gap())
    }

    pub fn get(&self, key: &Key) -> Sighting<'a, F> {
        self.reading.map_or(Sighting::ABSENT, |reading| reading.get(key).into())
    }
}

/// A Secret whose content is read by name.
pub trait Content: Fact {
    fn uid(&self) -> &Uid;
}

impl Content for Holder {
    fn uid(&self) -> &Uid {
        &self.meta.uid
    }
}

impl Content for Anchor {
    fn uid(&self) -> &Uid {
        &self.uid
    }
}

impl<'a> CheckContext<'a> {
    pub fn of(view: View<'a>, cluster: &ClusterName) -> Option<Self> {
        let cluster = view.cluster(cluster)?;
        Some(Self {
            view,
            cluster,
            clusters: Listing::of(view, cluster, CLUSTER),
            planes: Listing::of(view, cluster, CAPT_PLANE),
            hosted: Listing::of(view, cluster, HOSTED_CLUSTER),
            own: Listing::of_own(view, cluster),
            marks: RefCell::default(),
            hosted_by_secret: OnceCell::new(),
        })
    }

    /// The Secrets of a namespace by their metadata.
    pub fn marks(&self, namespace: &Namespace) -> Reading<'a, Mark> {
        let mut marks = self.marks.borrow_mut();
        if let Some(reading) = marks.get(namespace) {
            return *reading;
        }
        let reading = self.view.read(&marks_id(&self.cluster.name, namespace.as_str()));
        marks.insert(namespace.clone(), reading);
        reading
    }

    /// The Secrets of Cluster API's type, wherever they are.
    pub fn typed(&self) -> Reading<'a, Typed> {
        self.view.read(&typed_id(&self.cluster.name))
    }

    pub fn is_typed(&self, key: &Key) -> bool {
        self.typed().get(key).present().is_some()
    }

    /// Whether a list says that the Secret is there.
    pub fn is_marked(&self, key: &Key) -> bool {
        key.namespace.as_ref().is_some_and(|namespace| self.marks(namespace).get(key).present().is_some())
    }

    /// The HostedCluster each Secret is a kubeconfig of.
    pub fn hosted_by_secret(
        &self,
        names: impl Fn(&Self, &Key, &HostedCluster) -> Vec<String>,
    ) -> &BTreeMap<Key, ObjectName> {
        self.hosted_by_secret.get_or_init(|| {
            let secrets = |(key, hosted): (&Key, &HostedCluster)| {
                let secret = |name: String| Key { name: ObjectName::new(name), ..key.clone() };
                let all: Vec<_> = names(self, key, hosted).into_iter().map(secret).collect();
                let hosted = key.name.clone();
                all.into_iter().map(move |secret| (secret, hosted.clone()))
            };
            self.hosted.iter().flat_map(secrets).collect()
        })
    }

    /// A Secret with its content.
    pub fn look<F: Content>(&self, key: &Key) -> Sighting<'a, F> {
        let Some(namespace) = &key.namespace else { return Sighting::ABSENT };
        let read = || self.view.read::<F>(&content_id(&self.cluster.name, key)).get(key);
        match self.marks(namespace).get(key) {
            Observation::ProvenAbsent(_) => Sighting::ABSENT,
            Observation::Present(mark) => match read() {
                Observation::Present(fact) if is_same(&mark.uid, fact.uid()) => {
                    Sighting { seen: Some(fact), gap: None }
                }
                Observation::Present(_) | Observation::ProvenAbsent(_) => {
                    let says = format!("Secret {key} was made anew and is being read again");
                    Sighting::unknown(Gap::new(GapCause::NotObserved, says))
                }
                Observation::Unknown(gap) => Sighting::unknown(gap),
            },
            // Who may read Secrets one by one and not list them sees those that are there.
            Observation::Unknown(gap) => match read() {
                Observation::Present(fact) => Sighting { seen: Some(fact), gap: None },
                Observation::ProvenAbsent(_) | Observation::Unknown(_) => Sighting::unknown(gap),
            },
        }
    }

    /// Where CAPT's source for a cluster lies, when the cluster is CAPT's.
    pub fn source_of(&self, cluster: &Key, owners: &Owners<'a>) -> Option<Key> {
        let source = || Key::new(Some(SOURCE_NAMESPACE), &source_name(cluster.name.as_str()));
        if owners.plane.seen.is_some() {
            return Some(source());
        }
        let plane = owners.cluster.seen.map(|cluster| cluster.plane.as_ref().map(|plane| &*plane.kind));
        match plane {
            Some(Some(kind)) => (kind == CAPT_PLANE.kind).then(source),
            // Nobody says who runs it: a source of its name does.
            Some(None) | None => Some(source()).filter(|source| self.is_marked(source)),
        }
    }
}

/// Whether a member of the fleet stands for the user's own kubeconfig files.
pub fn is_own(cluster: &Cluster) -> bool {
    cluster.source == ClusterSource::Local
}

/// Files written by hand have objects without a uid.
pub fn is_same(one: &Uid, other: &Uid) -> bool {
    one.is_empty() || other.is_empty() || one == other
}

/// A Secret that is read by name. The names are shared and not copied: this is asked for every subject.
fn content_id(cluster: &ClusterName, key: &Key) -> CollectionId {
    CollectionId {
        cluster: cluster.clone(),
        resource: SECRET,
        scope: Scope::Object { namespace: key.namespace.clone(), name: key.name.clone() },
        selector: Selector::default(),
        content: world::Content::Full,
    }
}

pub fn marks_id(cluster: &ClusterName, namespace: &str) -> CollectionId {
    CollectionId::namespaced(cluster, SECRET, namespace).metadata()
}

pub fn typed_id(cluster: &ClusterName) -> CollectionId {
    CollectionId::all(cluster, SECRET).metadata().with_fields(&format!("type={SECRET_TYPE}"))
}
