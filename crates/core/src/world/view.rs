//! The store itself, and the read-only view that judgements get.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::change::{Change, ChangeSet, What};
use super::cluster::{Cluster, ClusterSource, HostedBy, Link, Provider};
use super::collection::{AnyCollection, Applied, Collection, Delta, Standing};
use super::fact::{Fact, FactKind};
use super::fact_index::FactIndex;
use super::hosting::Hosting;
use super::ids::{ClusterName, Key};
use super::interest::{CollectionId, Interest};
use super::known::{Completeness, Gap, GapCause, Observation, Sighting};
use super::managed_by::{ManagedBy, MarkedCollections};
use super::marks::Writers;
use super::members::not_read;
use super::tracked::Writer;

/// All that is known of the fleet.
#[derive(Default)]
pub struct World {
    clusters: BTreeMap<ClusterName, Cluster>,
    shelves: BTreeMap<CollectionId, Shelves>,
    hosting: Hosting,
    /// Cloud accounts by their provider.
    accounts: BTreeMap<Provider, BTreeSet<ClusterName>>,
    facts: FactIndex,
    /// Bytes that the objects of each cluster count for.
    bytes: BTreeMap<ClusterName, u64>,
    marked: MarkedCollections,
}

/// One collection, once for each fact type that is made of it.
type Shelves = Vec<(TypeId, Box<dyn AnyCollection>)>;

/// The world at a moment: what a judgement may look at.
#[derive(Clone, Copy)]
pub struct View<'a> {
    world: &'a World,
    pub now: Timestamp,
}

/// A collection as a judgement reads it, whether or not anybody has listed it.
pub struct Reading<'a, F> {
    collection: Option<&'a Collection<F>>,
}

// By hand, because deriving would ask the same of the fact.
impl<F> Clone for Reading<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Reading<'_, F> {}

impl World {
    pub fn view(&self, now: Timestamp) -> View<'_> {
        View { world: self, now }
    }

    /// Adds or replaces what is known of a cluster. The one that hosted it until now changes with it.
    pub fn put_cluster(&mut self, cluster: Cluster) -> ChangeSet {
        let mut changes = ChangeSet::default();
        let before = self.clusters.get(&cluster.name);
        if before == Some(&cluster) {
            return changes;
        }
        if let Some(standing) = before.and_then(|before| link_change(before, &cluster)) {
            changes.push(Change::Link { cluster: cluster.name.clone(), standing });
            self.clusters.insert(cluster.name.clone(), cluster);
            return changes;
        }
        let former = before.and_then(|before| before.hosted_by.as_ref());
        let left = former.filter(|former| cluster.hosted_by.as_ref() != Some(*former));
        changes.push(Change::Cluster(cluster.name.clone()));
        if let Some(by) = left {
            changes.push(Change::Cluster(by.cluster.clone()));
        }
        if let Some(before) = before {
            self.hosting.remove(before);
            remove_account(&mut self.accounts, before);
        }
        self.hosting.insert(&cluster);
        if let ClusterSource::Cloud { provider, .. } = &cluster.source {
            self.accounts.entry(*provider).or_default().insert(cluster.name.clone());
        }
        self.clusters.insert(cluster.name.clone(), cluster);
        changes
    }

    /// Forgets a cluster and everything read from it. The one that hosted it changes with it.
    pub fn remove_cluster(&mut self, name: &ClusterName) -> ChangeSet {
        let mut changes = ChangeSet::default();
        if let Some(cluster) = self.clusters.remove(name) {
            self.hosting.remove(&cluster);
            remove_account(&mut self.accounts, &cluster);
            let ids: Vec<CollectionId> = self.shelves_of(name).map(|(id, _)| id.clone()).collect();
            for id in ids {
                let values = self.drop_collection(&id).unwrap_or_default();
                if !values.is_empty() {
                    changes.push(Change::Collection { id, what: What::Everything, values });
                }
            }
            self.bytes.remove(name);
            changes.push(Change::Cluster(name.clone()));
            changes.extend(cluster.hosted_by.into_iter().map(|by| Change::Cluster(by.cluster)).collect());
        }
        changes
    }

    /// Adds an empty collection, so that it reads as "not listed yet" and can be fed.
    pub fn open(&mut self, interest: &Interest) {
        // Nearly every collection is read as one fact; an empty `Vec` grows to four.
        let shelves = self.shelves.entry(interest.id.clone()).or_insert_with(|| Vec::with_capacity(1));
        if !shelves.iter().any(|(held, _)| *held == interest.fact.type_id()) {
            shelves.push((interest.fact.type_id(), interest.fact.new_shelf()));
        }
    }

    /// Drops a collection that no check needs any more.
    pub fn close(&mut self, id: &CollectionId) -> ChangeSet {
        let mut changes = ChangeSet::default();
        if let Some(values) = self.drop_collection(id) {
            changes.push(Change::Collection { id: id.clone(), what: What::Everything, values });
        }
        changes
    }

    /// Drops a collection from everything that counts or finds it. Returns the values its objects were found by.
    fn drop_collection(&mut self, id: &CollectionId) -> Option<Vec<Box<str>>> {
        let shelves = self.shelves.remove(id)?;
        let bytes = shelves.iter().map(|(_, shelf)| shelf.bytes()).sum();
        self.count(&id.cluster, bytes, 0);
        self.marked.remove(id);
        Some(shelves.iter().flat_map(|(fact, shelf)| self.facts.remove(id, *fact, shelf.as_ref())).collect())
    }

    /// Forgets one kind of fact of a collection that is still wanted for another.
    pub fn close_fact(&mut self, id: &CollectionId, fact: TypeId) {
        if let Some(shelves) = self.shelves.get_mut(id) {
            let mut dropped = 0;
            for (held, shelf) in shelves.extract_if(.., |(held, _)| *held == fact) {
                dropped += shelf.bytes();
                self.facts.remove(id, held, shelf.as_ref());
            }
            self.count(&id.cluster, dropped, 0);
        }
    }

    /// Takes an observer's report in. A report for a collection that was closed meanwhile changes nothing.
    pub fn apply(&mut self, id: &CollectionId, fact: FactKind, delta: Delta) -> (Applied, ChangeSet) {
        let mut changes = ChangeSet::default();
        let shelf = self.shelves.get_mut(id).and_then(|all| all.iter_mut().find(|(held, _)| *held == fact.type_id()));
        let Some((_, shelf)) = shelf else {
            return (Applied::Unchanged, changes);
        };
        let bytes = shelf.bytes();
        let seen = delta.at();
        let applied = shelf.apply(delta);
        // What comes without a moment is no answer of the server, and no edit.
        for (edit, seen) in shelf.take_edits().into_iter().filter_map(|edit| Some((edit, seen?))) {
            changes.push_edit(edit.placed(&id.cluster, id.resource.kind, seen));
        }
        let (bytes_now, is_marked) = (shelf.bytes(), shelf.is_marked());
        let values = self.facts.update(id, fact.type_id(), shelf.as_mut());
        self.count(&id.cluster, bytes, bytes_now);
        if let Applied::Changed { keys, standing } = &applied {
            if is_marked {
                self.marked.insert(id);
            }
            let what = match standing {
                Standing::Changed => What::Everything,
                Standing::Same => What::Keys(keys.clone()),
            };
            changes.push(Change::Collection { id: id.clone(), what, values });
        }
        (applied, changes)
    }

    /// Bytes that the objects of a cluster count for in the budgets.
    pub fn bytes_of(&self, cluster: &ClusterName) -> u64 {
        self.bytes.get(cluster).copied().unwrap_or_default()
    }

    /// How many objects of a collection are held.
    pub fn objects_of(&self, id: &CollectionId) -> usize {
        self.shelves.get(id).into_iter().flatten().map(|(_, shelf)| shelf.len()).max().unwrap_or_default()
    }

    fn count(&mut self, cluster: &ClusterName, before: u64, now: u64) {
        if before != now {
            let bytes = self.bytes.entry(cluster.clone()).or_default();
            *bytes = (*bytes + now).saturating_sub(before);
        }
    }

    /// The collections of one cluster, without visiting the others.
    fn shelves_of(&self, cluster: &ClusterName) -> impl Iterator<Item = (&CollectionId, &Shelves)> {
        let first = CollectionId::first_of(cluster);
        self.shelves.range(first..).take_while(move |(id, _)| id.cluster == *cluster)
    }

    /// How well each open collection is known, in a fixed order. Where several facts are made of one, the least known
    /// of them speaks for it.
    pub fn observations(&self) -> impl Iterator<Item = (&CollectionId, &Completeness, usize)> {
        self.shelves.iter().filter_map(least_known)
    }

    /// The same for one cluster.
    pub fn observations_of(
        &self,
        cluster: &ClusterName,
    ) -> impl Iterator<Item = (&CollectionId, &Completeness, usize)> {
        self.shelves_of(cluster).filter_map(least_known)
    }
}

/// What a change means where it is one of the link alone. A recording does not become live.
fn link_change(before: &Cluster, after: &Cluster) -> Option<Standing> {
    let Cluster { name: _, class, source, hosted_by, link, identity, served } = before;
    let is_same = *class == after.class
        && *source == after.source
        && *hosted_by == after.hosted_by
        && *identity == after.identity
        && *served == after.served;
    let is_live = ![link, &after.link].contains(&&Link::Recorded);
    (is_same && is_live).then(|| match not_read(before) == not_read(after) {
        true => Standing::Same,
        false => Standing::Changed,
    })
}

fn remove_account(accounts: &mut BTreeMap<Provider, BTreeSet<ClusterName>>, member: &Cluster) {
    if let ClusterSource::Cloud { provider, .. } = &member.source
        && let Some(names) = accounts.get_mut(provider)
    {
        names.remove(&member.name);
    }
}

fn least_known<'a>((id, all): (&'a CollectionId, &'a Shelves)) -> Option<(&'a CollectionId, &'a Completeness, usize)> {
    let least = all.iter().map(|(_, shelf)| shelf).min_by_key(|shelf| shelf.completeness().rank())?;
    Some((id, least.completeness(), least.len()))
}

impl<'a> View<'a> {
    pub fn clusters(&self) -> impl Iterator<Item = &'a Cluster> + use<'a> {
        self.world.clusters.values()
    }

    pub fn cluster(&self, name: &ClusterName) -> Option<&'a Cluster> {
        self.world.clusters.get(name)
    }

    /// The clusters known as guests of this one.
    pub fn guests_of(&self, host: &ClusterName) -> impl Iterator<Item = &'a ClusterName> + use<'a> {
        self.world.hosting.guests_of(host)
    }

    /// The clusters known as the guest of this HostedCluster: one, or several names of one.
    pub fn guests_at(&self, hosted_by: &HostedBy) -> impl Iterator<Item = &'a ClusterName> + use<'a> {
        self.world.hosting.guests_at(hosted_by)
    }

    /// The clusters without a known HostedCluster.
    pub fn unhosted(&self) -> impl Iterator<Item = &'a Cluster> + use<'a> {
        let world = self.world;
        world.hosting.unhosted().filter_map(move |name| world.clusters.get(name))
    }

    /// The accounts with a cloud provider.
    pub fn accounts(&self, provider: Provider) -> impl Iterator<Item = &'a Cluster> + use<'a> {
        let world = self.world;
        world.accounts.get(&provider).into_iter().flatten().filter_map(move |name| world.clusters.get(name))
    }

    /// The collections that hold facts of this type, in the order of their ids, without visiting the others.
    pub fn filled<F: Fact>(&self) -> impl Iterator<Item = (&'a CollectionId, Reading<'a, F>)> + use<'a, F> {
        let view = *self;
        self.world.facts.filled(TypeId::of::<F>()).map(move |id| (id, view.read(id)))
    }

    /// The objects of the fleet with this value of [`Fact::index`], without visiting the others.
    pub fn indexed<F: Fact>(&self, value: &str) -> Vec<(&'a CollectionId, &'a Key, &'a F)> {
        let found = self.world.facts.with_value(TypeId::of::<F>(), value);
        found.flat_map(|id| self.read::<F>(id).indexed(value).map(move |(key, fact)| (id, key, fact))).collect()
    }

    /// Whether a collection of this fact is open in a cluster.
    pub fn reads<F: Fact>(&self, cluster: &ClusterName) -> bool {
        let mut shelves = self.world.shelves_of(cluster).flat_map(|(_, shelves)| shelves);
        shelves.any(|(held, _)| *held == TypeId::of::<F>())
    }

    /// The values by which the facts of this type in one cluster are looked up, without visiting the others.
    pub fn index_values<F: Fact>(&self, cluster: &ClusterName) -> BTreeSet<Box<str>> {
        let shelves = self.world.shelves_of(cluster).flat_map(|(_, shelves)| shelves);
        let of_type = shelves.filter(|(held, _)| *held == TypeId::of::<F>());
        of_type.flat_map(|(_, shelf)| shelf.values()).collect()
    }

    /// The collection with this id, projected to `F`.
    pub fn read<F: Fact>(&self, id: &CollectionId) -> Reading<'a, F> {
        let shelf = self.world.shelves.get(id).and_then(|all| all.iter().find(|(held, _)| *held == TypeId::of::<F>()));
        Reading { collection: shelf.and_then(|(_, shelf)| shelf.as_any().downcast_ref()) }
    }

    /// The other tool that manages an object, by the mark it carries.
    pub fn managed_by(
        &self,
        cluster: &ClusterName,
        api_version: &str,
        kind: &'static str,
        key: &Key,
    ) -> Option<&'a ManagedBy> {
        self.writers(cluster, api_version, kind, key).marks?.managed_by.as_ref()
    }

    /// What is known of the writers of an object: marks and owners, and the field manager that wrote last.
    pub fn writers(&self, cluster: &ClusterName, api_version: &str, kind: &'static str, key: &Key) -> Writers<'a> {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let world = self.world;
        let ids = world.marked.of(cluster, kind, key.namespace.as_ref()).filter(|id| id.resource.group == group);
        let shelves = ids.filter_map(|id| world.shelves.get(id)).flatten();
        // Several facts of one object say the same; not all of them track fields.
        let said = shelves.filter_map(|(_, shelf)| shelf.writers(key));
        said.fold(Writers::default(), |one, other| Writers {
            marks: one.marks.or(other.marks),
            newest: one.newest.or(other.newest),
        })
    }

    /// How well each open collection is known.
    pub fn observations(&self) -> impl Iterator<Item = (&'a CollectionId, &'a Completeness, usize)> + use<'a> {
        self.world.observations()
    }

    /// How well each open collection of one cluster is known.
    pub fn observations_of(&self, cluster: &ClusterName) -> Vec<(&'a CollectionId, &'a Completeness, usize)> {
        self.world.observations_of(cluster).collect()
    }
}

impl<'a, F: Fact> Reading<'a, F> {
    /// What was seen of one object, with the gap of its list also where it was seen.
    pub fn sight(&self, key: &Key) -> Sighting<'a, F> {
        let gap = self.gap();
        match self.get(key) {
            Observation::Present(fact) => Sighting { seen: Some(fact), gap },
            Observation::ProvenAbsent(_) => Sighting::ABSENT,
            Observation::Unknown(why) => Sighting::unknown(gap.unwrap_or(why)),
        }
    }

    pub fn get(&self, key: &Key) -> Observation<'a, F> {
        match self.collection {
            Some(collection) => collection.get(key),
            None => Observation::Unknown(not_observed()),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a Key, &'a F)> + use<'a, F> {
        self.collection.into_iter().flat_map(Collection::iter)
    }

    /// The facts with this value of [`Fact::index`], without visiting the others.
    pub fn indexed(&self, value: &str) -> impl Iterator<Item = (&'a Key, &'a F)> + use<'a, F> {
        let found: Vec<_> = self.collection.into_iter().flat_map(|collection| collection.indexed(value)).collect();
        found.into_iter()
    }

    /// The field manager that wrote a tracked field last.
    pub fn writer(&self, key: &Key, field: &str) -> Option<&'a Writer> {
        self.collection?.writer(key, field)
    }

    pub fn is_complete(&self) -> bool {
        self.collection.is_some_and(|collection| collection.completeness().is_complete())
    }

    /// Why the collection isn't complete, or nothing when it is.
    pub fn gap(&self) -> Option<Gap> {
        match self.collection {
            Some(collection) => collection.completeness().gap().cloned(),
            None => Some(not_observed()),
        }
    }

    pub fn completeness(&self) -> Option<&'a Completeness> {
        self.collection.map(Collection::completeness)
    }
}

fn not_observed() -> Gap {
    Gap::new(GapCause::NotObserved, "not listed yet")
}
