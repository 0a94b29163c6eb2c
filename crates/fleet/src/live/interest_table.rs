//! Which collections are needed, by the cluster that they are in and by the cluster that gives rise to them.
//!
//! Invariants: what follows from one origin is replaced as a whole; a collection is named as changed exactly when its facts or
//! the version to read are others than before. Work follows the difference, not what stays needed.

use std::collections::{BTreeMap, BTreeSet};

use super::work;
use trueup_core::world::{ClusterName, CollectionId, FactKind, Interest, ResourceVersion};

/// Who needs something: a cluster, for one check or for discovery.
pub(super) type Origin = (ClusterName, usize);

/// The interests of all checks.
#[derive(Default)]
pub(super) struct InterestTable {
    by_origin: BTreeMap<Origin, Vec<Interest>>,
    /// Of all clusters in one map: a map for each would mostly be empty space.
    needed: BTreeMap<CollectionId, Vec<Need>>,
    changed: BTreeMap<ClusterName, ChangedNeeds>,
}

/// A fact that is needed of a collection, and how often.
struct Need {
    fact: FactKind,
    read_at_least: Option<ResourceVersion>,
    origins: usize,
}

/// What to look at again in a cluster.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChangedNeeds {
    /// These collections.
    Collections(BTreeSet<CollectionId>),
    /// Everything that was asked or is needed: it is asked over another connection, or answered in another way.
    Everything,
}

impl InterestTable {
    /// Replaces what follows from an origin.
    pub fn replace(&mut self, origin: Origin, mut interests: Vec<Interest>) {
        work::count(interests.len() + 1);
        if self.by_origin.get(&origin).is_some_and(|before| *before == interests) {
            return;
        }
        let before = self.by_origin.remove(&origin).unwrap_or_default();
        // First what is new, so that what stays is needed throughout.
        interests.iter_mut().for_each(|interest| self.add(interest));
        before.iter().for_each(|interest| self.subtract(interest));
        if !interests.is_empty() {
            interests.shrink_to_fit();
            self.by_origin.insert(origin, interests);
        }
    }

    /// Has everything in a cluster looked at again.
    pub fn mark(&mut self, cluster: &ClusterName) {
        self.changed.insert(cluster.clone(), ChangedNeeds::Everything);
    }

    /// Takes what is to be looked at again.
    pub fn take_changed(&mut self) -> BTreeMap<ClusterName, ChangedNeeds> {
        std::mem::take(&mut self.changed)
    }

    /// What is needed of a collection.
    pub fn of(&self, id: &CollectionId) -> Vec<Interest> {
        let Some((held, needs)) = self.needed.get_key_value(id) else { return Vec::new() };
        let interest =
            |need: &Need| Interest { id: held.clone(), fact: need.fact, read_at_least: need.read_at_least.clone() };
        needs.iter().map(interest).collect()
    }

    /// The collections that are needed in a cluster.
    pub fn collections(&self, cluster: &ClusterName) -> impl Iterator<Item = &CollectionId> {
        let ids = self.needed.range(CollectionId::first_of(cluster)..).map(|(id, _)| id);
        ids.take_while(move |id| id.cluster == *cluster)
    }

    /// Notes an interest, which shares its id with the others in the collection from then on.
    fn add(&mut self, interest: &mut Interest) {
        let Interest { id, fact, read_at_least } = interest;
        if let Some((held, _)) = self.needed.get_key_value(id) {
            *id = held.clone();
        }
        // Nearly every collection is needed once; an empty `Vec` grows to four.
        let needs = self.needed.entry(id.clone()).or_insert_with(|| Vec::with_capacity(1));
        match needs.iter_mut().find(|need| need.fact == *fact && need.read_at_least == *read_at_least) {
            Some(need) => need.origins += 1,
            None => {
                needs.push(Need { fact: *fact, read_at_least: read_at_least.clone(), origins: 1 });
                self.mark_collection(id);
            }
        }
    }

    fn subtract(&mut self, interest: &Interest) {
        let Interest { id, fact, read_at_least } = interest;
        let Some(needs) = self.needed.get_mut(id) else { return };
        let is_it = |need: &Need| need.fact == *fact && need.read_at_least == *read_at_least;
        let Some(at) = needs.iter().position(is_it) else { return };
        needs[at].origins -= 1;
        if needs[at].origins > 0 {
            return;
        }
        needs.remove(at);
        if needs.is_empty() {
            self.needed.remove(id);
        }
        self.mark_collection(id);
    }

    fn mark_collection(&mut self, id: &CollectionId) {
        let none = || ChangedNeeds::Collections(BTreeSet::new());
        match self.changed.entry(id.cluster.clone()).or_insert_with(none) {
            ChangedNeeds::Collections(ids) => drop(ids.insert(id.clone())),
            ChangedNeeds::Everything => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::{Fact, Interner, Misfit, RawObject, Resource};

    #[derive(Debug, PartialEq)]
    struct Any;

    impl Fact for Any {
        fn project(_: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
            Ok(Self)
        }
    }

    fn interest(cluster: &str, plural: &'static str) -> Interest {
        let resource = Resource { group: "", version: "v1", kind: "K", plural, namespaced: true };
        CollectionId::all(&ClusterName::new(cluster), resource).interest::<Any>()
    }

    fn at_least(version: u64) -> Interest {
        Interest { read_at_least: Some(ResourceVersion::Number(version)), ..interest("mgmt", "a") }
    }

    fn changed(table: &mut InterestTable) -> String {
        let mut all = Vec::new();
        for (cluster, changed) in table.take_changed() {
            match changed {
                ChangedNeeds::Everything => all.push(format!("{cluster}/*")),
                ChangedNeeds::Collections(ids) => {
                    all.extend(ids.iter().map(|id| format!("{cluster}/{}", id.resource.plural)));
                }
            }
        }
        all.join(" ")
    }

    #[test]
    fn only_collections_that_something_else_is_needed_of_are_named() {
        let mut table = InterestTable::default();
        let (one, two) = ((ClusterName::new("g1"), 0), (ClusterName::new("g2"), 0));
        let cases = [
            ("new", &one, vec![interest("mgmt", "a"), interest("g1", "b")], "g1/b mgmt/a"),
            ("the same", &one, vec![interest("mgmt", "a"), interest("g1", "b")], ""),
            ("needed twice", &two, vec![interest("mgmt", "a")], ""),
            ("another besides", &one, vec![interest("mgmt", "c"), interest("g1", "b")], "mgmt/c"),
            ("no longer in the guest", &one, vec![interest("mgmt", "c")], "g1/b"),
            ("another version", &two, vec![at_least(2)], "mgmt/a"),
            ("gone", &one, vec![], "mgmt/c"),
            ("still gone", &one, vec![], ""),
            ("the last one", &two, vec![], "mgmt/a"),
        ];
        for (case, origin, interests, expected) in cases {
            table.replace(origin.clone(), interests);
            assert_eq!(changed(&mut table), expected, "case: {case}");
        }
        assert!(table.needed.is_empty() && table.by_origin.is_empty());
    }

    #[test]
    fn interests_in_one_collection_share_its_id() {
        let mut table = InterestTable::default();
        let origins = [0, 1].map(|check| (ClusterName::new("g1"), check));
        for origin in &origins {
            table.replace(origin.clone(), vec![interest("mgmt", "a")]);
            table.replace(origin.clone(), vec![interest("mgmt", "a"), interest("g1", "b")]);
        }
        let held = &table.of(&interest("mgmt", "a").id)[0].id;
        for origin in &origins {
            assert!(table.by_origin[origin][0].id.is_shared_with(held), "origin: {origin:?}");
        }
    }

    #[test]
    fn a_cluster_that_is_asked_over_another_connection_is_looked_at_as_a_whole() {
        let mut table = InterestTable::default();
        table.mark(&ClusterName::new("g1"));
        table.replace((ClusterName::new("g1"), 0), vec![interest("g1", "b")]);
        assert_eq!(changed(&mut table), "g1/*");
        assert_eq!(table.collections(&ClusterName::new("g1")).count(), 1);
        assert_eq!(table.of(&interest("g1", "b").id), [interest("g1", "b")]);
    }
}
