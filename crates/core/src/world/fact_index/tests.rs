use crate::decode::{DataSort, Digester, Reader};
use crate::world::{
    Change, ClusterName, CollectionId, Delta, Fact, Interest, Interner, Misfit, RawObject, Resource, ResourceVersion,
    World,
};

/// An object that is found by its label `id`.
#[derive(Debug, PartialEq)]
struct Labelled(Option<String>);

impl Fact for Labelled {
    fn index(&self, each: &mut dyn FnMut(&str)) {
        self.0.iter().for_each(|id| each(id));
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self(raw.meta.label("id").map(str::to_owned)))
    }
}

/// The same objects, found by nothing.
#[derive(Debug, PartialEq)]
struct Plain;

impl Fact for Plain {
    fn project(_: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self)
    }
}

const THINGS: Resource = Resource { group: "", version: "v1", kind: "Thing", plural: "things", namespaced: true };

fn things<F: Fact>(cluster: &str) -> Interest {
    CollectionId::all(&ClusterName::new(cluster), THINGS).interest::<F>()
}

fn facts(interest: &Interest, objects: &[(&str, &str)]) -> Box<dyn crate::world::FactBatch> {
    let digester = Digester::new(&[0; 32]);
    let reader = Reader {
        digester: &digester,
        sort: DataSort::Other,
        digested: &[],
        reduced: &[],
        api_version: "",
        kind: THINGS.kind,
    };
    let mut facts = interest.fact.new_batch();
    for (name, id) in objects {
        let labels = if id.is_empty() { String::new() } else { format!(r#","labels":{{"id":"{id}"}}"#) };
        let text = format!(r#"{{"metadata":{{"name":"{name}","namespace":"n"{labels}}}}}"#);
        facts.push(&reader.object(&text).unwrap(), &mut Interner::default()).unwrap();
    }
    facts
}

fn list(world: &mut World, interest: &Interest, version: u64, objects: &[(&str, &str)]) -> String {
    world.open(interest);
    let (version, at) = (ResourceVersion::Number(version), jiff::Timestamp::UNIX_EPOCH);
    let delta = Delta::Listed { facts: facts(interest, objects), version, at, gap: None };
    values(world.apply(&interest.id, interest.fact, delta).1)
}

fn values(changes: crate::world::ChangeSet) -> String {
    let values = |change: &Change| match change {
        Change::Collection { values, .. } => values.join(" "),
        Change::Cluster(name) | Change::Link { cluster: name, .. } => name.to_string(),
    };
    changes.iter().map(values).collect::<Vec<_>>().join(", ")
}

/// The clusters with an object of this value.
fn found(world: &World, value: &str) -> String {
    let view = world.view(jiff::Timestamp::UNIX_EPOCH);
    let found = view.indexed::<Labelled>(value);
    found.iter().map(|(id, key, _)| format!("{}/{}", id.cluster, key.name)).collect::<Vec<_>>().join(" ")
}

#[test]
fn objects_are_found_by_value_across_clusters_and_changes_name_the_values_that_moved() {
    let mut world = World::default();
    let (a, b) = (things::<Labelled>("a"), things::<Labelled>("b"));
    assert_eq!(list(&mut world, &a, 1, &[("one", "x"), ("two", "y"), ("none", "")]), "x y");
    assert_eq!(list(&mut world, &b, 1, &[("one", "x")]), "x");
    assert_eq!((found(&world, "x"), found(&world, "y")), ("a/one b/one".into(), "a/two".into()));

    assert_eq!(list(&mut world, &a, 2, &[("one", "z"), ("two", "y")]), "x z", "what stays is not named");
    assert_eq!((found(&world, "x"), found(&world, "z")), ("b/one".into(), "a/one".into()));

    let (version, at) = (ResourceVersion::Number(3), jiff::Timestamp::UNIX_EPOCH);
    let removed = vec![crate::world::Key::new(Some("n"), "two")];
    let delta = Delta::Changed { facts: facts(&a, &[("one", "x")]), removed, version, at };
    assert_eq!(values(world.apply(&a.id, a.fact, delta).1), "x y z");
    assert_eq!(
        (found(&world, "x"), found(&world, "y"), found(&world, "z")),
        ("a/one b/one".into(), "".into(), "".into())
    );

    assert_eq!(values(world.close(&b.id)), "x");
    assert_eq!(found(&world, "x"), "a/one");
    world.remove_cluster(&ClusterName::new("a"));
    assert_eq!(found(&world, "x"), "a/one", "a cluster that was never put has nothing to remove");
    world.close_fact(&a.id, a.fact.type_id());
    assert_eq!(found(&world, "x"), "");
}

#[test]
fn collections_with_facts_of_a_type_are_found_without_the_empty_ones() {
    let mut world = World::default();
    let filled = |world: &World| {
        let view = world.view(jiff::Timestamp::UNIX_EPOCH);
        view.filled::<Plain>().map(|(id, reading)| (id.cluster.to_string(), reading.iter().count())).collect::<Vec<_>>()
    };
    list(&mut world, &things::<Plain>("b"), 1, &[("one", ""), ("two", "")]);
    list(&mut world, &things::<Plain>("a"), 1, &[("one", "")]);
    list(&mut world, &things::<Plain>("empty"), 1, &[]);
    list(&mut world, &things::<Labelled>("other"), 1, &[("one", "x")]);
    assert_eq!(filled(&world), [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    list(&mut world, &things::<Plain>("b"), 2, &[]);
    assert_eq!(filled(&world), [("a".to_owned(), 1)]);
    world.close(&things::<Plain>("a").id);
    assert_eq!(filled(&world), []);
}
