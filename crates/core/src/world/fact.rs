//! A fact is the small typed struct a domain keeps of an object.
//!
//! The world stores facts without knowing their types: each domain brings its own. [`FactKind`] is how a type travels
//! through code that does not know it.

use std::any::{Any, TypeId};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::ids::Key;
use super::marks::Marks;
use super::meta::Pairs;
use super::raw::{Misfit, RawObject};
use super::tracked::{Tracked, TrackedField, Writer};

/// What a domain keeps of one object.
pub trait Fact: Any + Send + Sync + fmt::Debug + PartialEq + Sized {
    /// Keys of `data` that are compared: they become length and digest. Others are only named.
    const DIGESTED_KEYS: &'static [&'static str] = &[];

    /// Keys of a Secret's `data` whose value the projection looks at. What it makes of them may hold nothing secret.
    const REDUCED_KEYS: &'static [&'static str] = &[];

    /// Fields whose changes are named, with the field manager that wrote them.
    const TRACKED: &'static [TrackedField] = &[];

    /// Passes on the values by which it is looked up beside its key; none for a fact that is not.
    fn index(&self, _each: &mut dyn FnMut(&str)) {}

    /// Picks the fact out of an object.
    ///
    /// # Errors
    /// The object does not have the shape its kind promises; its collection then counts as partial.
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit>;
}

/// Shared copies of strings that repeat: namespaces, label sets, types.
#[derive(Debug, Default)]
pub struct Interner {
    texts: HashSet<Arc<str>>,
    sets: HashSet<Pairs>,
    lists: HashSet<Arc<[Arc<str>]>>,
    /// Bytes of the texts and of the sets, about.
    bytes: usize,
}

/// From this size on an interner starts from nothing: what it shares is worth less than what it holds.
const INTERNER_BYTES_MAX: usize = 4 << 20;
/// A pair of shared texts in a set.
const PAIR_BYTES: usize = size_of::<(Arc<str>, Arc<str>)>();

impl Interner {
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.texts.get(text) {
            return shared.clone();
        }
        let shared: Arc<str> = text.into();
        self.grow(text.len() + size_of::<Arc<str>>());
        self.texts.insert(shared.clone());
        shared
    }

    /// Texts that never repeat must not add up: a long watch would hold every label value that it ever saw.
    fn grow(&mut self, bytes: usize) {
        if self.bytes + bytes > INTERNER_BYTES_MAX {
            *self = Self::default();
        }
        self.bytes += bytes;
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A list of texts, shared between the objects that have the same one.
    pub fn list<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Arc<[Arc<str>]> {
        let list: Vec<Arc<str>> = texts.map(|text| self.text(text)).collect();
        if let Some(shared) = self.lists.get(list.as_slice()) {
            return shared.clone();
        }
        let shared: Arc<[Arc<str>]> = list.into();
        self.grow(shared.len() * size_of::<Arc<str>>());
        self.lists.insert(shared.clone());
        shared
    }

    /// A sorted set of pairs, shared between the objects that carry the same ones.
    pub fn pairs<'p>(&mut self, pairs: impl Iterator<Item = (&'p str, &'p str)>) -> Pairs {
        let mut list: Vec<(Arc<str>, Arc<str>)> =
            pairs.map(|(key, value)| (self.text(key), self.text(value))).collect();
        list.sort();
        if let Some(shared) = self.sets.get(list.as_slice()) {
            return shared.clone();
        }
        let shared: Pairs = list.into();
        self.grow(shared.len() * PAIR_BYTES);
        self.sets.insert(shared.clone());
        shared
    }
}

/// A fact type, for code that handles all of them alike.
#[derive(Clone, Copy)]
pub struct FactKind(&'static FactFunctions);

struct FactFunctions {
    type_id: fn() -> TypeId,
    new_batch: fn() -> Box<dyn FactBatch>,
    new_shelf: fn() -> Box<dyn super::collection::AnyCollection>,
    digested_keys: &'static [&'static str],
    reduced_keys: &'static [&'static str],
}

impl FactKind {
    pub fn of<F: Fact>() -> Self {
        Self(
            const {
                &FactFunctions {
                    type_id: TypeId::of::<F>,
                    new_batch: || Box::new(Facts::<F>(Vec::new())),
                    new_shelf: || Box::new(super::collection::Collection::<F>::default()),
                    digested_keys: F::DIGESTED_KEYS,
                    reduced_keys: F::REDUCED_KEYS,
                }
            },
        )
    }

    pub fn type_id(&self) -> TypeId {
        (self.0.type_id)()
    }

    pub fn new_batch(&self) -> Box<dyn FactBatch> {
        (self.0.new_batch)()
    }

    pub(super) fn new_shelf(&self) -> Box<dyn super::collection::AnyCollection> {
        (self.0.new_shelf)()
    }

    pub fn digested_keys(&self) -> &'static [&'static str] {
        self.0.digested_keys
    }

    pub fn reduced_keys(&self) -> &'static [&'static str] {
        self.0.reduced_keys
    }
}

impl fmt::Debug for FactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FactKind({:?})", self.type_id())
    }
}

impl PartialEq for FactKind {
    fn eq(&self, other: &Self) -> bool {
        self.type_id() == other.type_id()
    }
}

/// Facts of one type on their way into the world.
pub trait FactBatch: Any + Send {
    /// Projects an object and keeps the fact.
    ///
    /// # Errors
    /// As [`Fact::project`]; the batch is unchanged then.
    fn push(&mut self, raw: &RawObject<'_>, pool: &mut Interner) -> Result<(), Misfit>;
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Bytes that the facts count for in the budgets: the text they were made of and their own size.
    fn bytes(&self) -> u64;
    /// The keys held, for a reader that merges batches.
    fn keys(&self) -> Vec<Key>;
    /// Keeps only the facts whose key passes.
    fn retain(&mut self, keep: &mut dyn FnMut(&Key) -> bool);
    /// Appends another batch of the same type.
    fn append(&mut self, other: Box<dyn FactBatch>);
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The one implementation of [`FactBatch`].
pub(super) struct Facts<F>(pub(super) Vec<(Key, Weighed<F>)>);

/// A fact, and the bytes it counts for.
#[derive(Debug)]
pub(super) struct Weighed<F> {
    pub fact: F,
    /// Boxed, because few objects have one.
    pub marks: Option<Box<Marks>>,
    /// Boxed, because few facts track fields.
    pub tracked: Option<Box<Tracked>>,
    pub bytes: u32,
}

impl<F> Weighed<F> {
    /// A fact made of this much text.
    pub fn new(fact: F, text_len: usize) -> Self {
        let bytes = u32::try_from(size_of::<(Key, Self)>() + text_len).unwrap_or(u32::MAX);
        Self { fact, marks: None, tracked: None, bytes }
    }

    pub fn tracked(&self) -> Option<&Tracked> {
        self.tracked.as_deref()
    }

    /// Whether anything is known of its writers.
    pub fn is_marked(&self) -> bool {
        self.marks.is_some() || self.newest().is_some()
    }

    /// The field manager that wrote last.
    pub fn newest(&self) -> Option<&Writer> {
        self.tracked.as_ref()?.newest.as_ref()
    }

    /// Whether judgements by this one are judgements by the other.
    pub fn is_same(&self, other: &Self) -> bool
    where
        F: PartialEq,
    {
        self.fact == other.fact && self.marks == other.marks
    }
}

impl<F: Fact> FactBatch for Facts<F> {
    fn push(&mut self, raw: &RawObject<'_>, pool: &mut Interner) -> Result<(), Misfit> {
        let fact = F::project(raw, pool)?;
        let namespace = match raw.meta.namespace.as_ref() {
            "" => None,
            namespace => Some(super::ids::Namespace::new(pool.text(namespace))),
        };
        let key = Key { namespace, name: super::ids::ObjectName::new(raw.meta.name.as_ref()) };
        let marks = Marks::of(raw).map(Box::new);
        let tracked = Tracked::of(raw, F::TRACKED, pool);
        let text_len = raw.text_len() + tracked.as_ref().map_or(0, |tracked| tracked.bytes());
        self.0.push((key, Weighed { marks, tracked, ..Weighed::new(fact, text_len) }));
        Ok(())
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> u64 {
        self.0.iter().map(|(_, weighed)| u64::from(weighed.bytes)).sum()
    }

    fn keys(&self) -> Vec<Key> {
        self.0.iter().map(|(key, _)| key.clone()).collect()
    }

    fn retain(&mut self, keep: &mut dyn FnMut(&Key) -> bool) {
        self.0.retain(|(key, _)| keep(key));
    }

    fn append(&mut self, other: Box<dyn FactBatch>) {
        let other = other.into_any().downcast::<Self>().expect("batches of one collection have one fact type");
        self.0.extend(other.0);
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
