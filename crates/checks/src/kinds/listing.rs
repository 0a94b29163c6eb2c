//! A collection that may not be served at all.

use trueup_core::world::{
    Cluster, CollectionId, Fact, Gap, GapCause, Interest, Key, Link, Namespace, Observation, Reading, Resource,
    Sighting, View,
};

/// All objects of a kind in one cluster, or that the kind is not served there.
pub struct Listing<'a, F> {
    view: View<'a>,
    cluster: &'a Cluster,
    /// The kind, in the version it is read in.
    pub resource: Resource,
    reading: Option<Reading<'a, F>>,
}

impl<'a, F: Fact> Listing<'a, F> {
    /// Unless complete discovery lacks the kind.
    pub fn of(view: View<'a>, cluster: &'a Cluster, resource: Resource) -> Self {
        Self::when(!cluster.served.lacks(&resource), view, cluster, resource)
    }

    pub fn when(is_read: bool, view: View<'a>, cluster: &'a Cluster, resource: Resource) -> Self {
        let reading = is_read.then(|| view.read(&CollectionId::all(&cluster.name, resource)));
        Self { view, cluster, resource, reading }
    }

    pub fn is_served(&self) -> bool {
        self.reading.is_some()
    }

    pub fn interest(&self) -> Option<Interest> {
        self.is_served().then(|| CollectionId::all(&self.cluster.name, self.resource).interest::<F>())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a Key, &'a F)> + use<'a, F> {
        self.reading.into_iter().flat_map(|reading| reading.iter())
    }

    pub fn gap(&self) -> Option<Gap> {
        self.reading.and_then(|reading| reading.gap())
    }

    /// One object. A kind that is not served has none.
    pub fn get(&self, key: &Key) -> Sighting<'a, F> {
        self.reading.map_or(Sighting::ABSENT, |reading| reading.get(key).into())
    }

    /// An object that another one refers to: unknown where its kind is not served.
    pub fn referenced(&self, key: &Key) -> Sighting<'a, F> {
        match self.reading.map(|reading| reading.get(key)) {
            Some(Observation::Unknown(gap)) => {
                let within = key.namespace.as_ref().and_then(|namespace| self.within(namespace));
                let is_absent = |id| self.view.read::<F>(&id).get(key).is_proven_absent();
                if within.is_some_and(is_absent) { Sighting::ABSENT } else { Sighting::unknown(gap) }
            }
            Some(known) => known.into(),
            None => {
                let message = format!("{key} is referenced, and {} is not served", self.resource.path());
                Sighting::unknown(Gap::new(GapCause::Discovery, message))
            }
        }
    }

    /// The list of one namespace, where that may prove more: a recording whose list over all namespaces is incomplete
    /// says in which of them.
    pub fn within(&self, namespace: &Namespace) -> Option<CollectionId> {
        let is_cut = self.gap().is_some_and(|gap| gap.cause == GapCause::CutShort);
        let says_where = is_cut && self.cluster.link == Link::Recorded && self.resource.namespaced;
        says_where.then(|| CollectionId::namespaced(&self.cluster.name, self.resource, namespace.as_str()))
    }
}
