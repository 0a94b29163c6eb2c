//! Objects become facts of several kinds in one pass.
//!
//! Invariants: an object one kind of fact can't be made of spoils that kind alone, and the others are kept.

use super::digest::Digester;
use super::{DataSort, Reader};
use crate::world::{CollectionId, FactBatch, FactKind, Gap, GapCause, Interner, RawObject};

/// How the objects of one collection are read: which facts are made, which keys are digested.
pub struct Projection {
    pub kinds: Vec<FactKind>,
    digested: Vec<&'static str>,
    reduced: Vec<&'static str>,
    api_version: String,
    kind: &'static str,
    sort: DataSort,
    digester: Digester,
}

impl Projection {
    pub fn new(id: &CollectionId, kinds: &[FactKind], digester: &Digester) -> Self {
        let joined = |keys: fn(&FactKind) -> &'static [&'static str]| {
            let mut all: Vec<&'static str> = kinds.iter().flat_map(keys).copied().collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        Self {
            kinds: kinds.to_vec(),
            digested: joined(FactKind::digested_keys),
            reduced: joined(FactKind::reduced_keys),
            api_version: id.resource.api_version(),
            kind: id.resource.kind,
            sort: DataSort::of(id.resource.group, id.resource.kind),
            digester: digester.clone(),
        }
    }

    pub fn reader(&self) -> Reader<'_> {
        Reader {
            digester: &self.digester,
            sort: self.sort,
            digested: &self.digested,
            reduced: &self.reduced,
            api_version: &self.api_version,
            kind: self.kind,
        }
    }

    pub fn new_facts(&self) -> ProjectedFacts {
        ProjectedFacts {
            rows: self.kinds.iter().map(|&kind| Row { kind, facts: kind.new_batch(), spoilt: None }).collect(),
        }
    }
}

/// What was made of some objects, one row a kind of fact.
pub struct ProjectedFacts {
    pub rows: Vec<Row>,
}

pub struct Row {
    pub kind: FactKind,
    pub facts: Box<dyn FactBatch>,
    pub spoilt: Option<Spoilt>,
}

/// Objects no fact could be made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoilt {
    /// The first one, and why. Holds no value from the object.
    first: String,
    count: usize,
}

impl ProjectedFacts {
    /// Makes every kind of fact of an object.
    pub fn push(&mut self, raw: &RawObject<'_>, pool: &mut Interner) {
        for row in &mut self.rows {
            if let Err(misfit) = row.facts.push(raw, pool) {
                Spoilt::add(&mut row.spoilt, Spoilt { first: misfit.to_string(), count: 1 });
            }
        }
    }

    /// Notes an object that could not even be read.
    pub fn spoil(&mut self, why: &str) {
        for row in &mut self.rows {
            Spoilt::add(&mut row.spoilt, Spoilt { first: why.to_owned(), count: 1 });
        }
    }

    /// Adds what was made of the next page.
    pub fn append(&mut self, page: Self) {
        for (row, more) in self.rows.iter_mut().zip(page.rows) {
            row.facts.append(more.facts);
            if let Some(spoilt) = more.spoilt {
                Spoilt::add(&mut row.spoilt, spoilt);
            }
        }
    }

    /// Bytes that the facts count for in the budgets.
    pub fn bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.facts.bytes()).sum()
    }

    /// How many objects were met.
    pub fn objects(&self) -> usize {
        let met = |row: &Row| row.facts.len() + row.spoilt.as_ref().map_or(0, |spoilt| spoilt.count);
        self.rows.iter().map(met).max().unwrap_or_default()
    }
}

impl Spoilt {
    fn add(to: &mut Option<Self>, more: Self) {
        match to {
            None => *to = Some(more),
            Some(held) => held.count += more.count,
        }
    }

    pub fn gap(&self, what: &str) -> Gap {
        let others = match self.count - 1 {
            0 => String::new(),
            others => format!(", nor can {others} more"),
        };
        Gap::new(GapCause::Unreadable, format!("{what}: an object cannot be read{others}: {}", self.first))
    }
}
