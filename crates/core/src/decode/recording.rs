//! A cluster as it was written down: its objects, and what the recording claims to hold.
//!
//! Invariants: a kind is complete only where the recording says so; a missing object proves no absence.
//! Elsewhere: reading files (`fleet::snapshot`), decoding objects (`observe::recorded`).

use std::collections::{BTreeMap, BTreeSet};

use zeroize::Zeroizing;

use crate::world::{CollectionId, Gap, GapCause};

/// One object of a recording.
#[derive(Clone)]
pub struct RecordedObject {
    pub group: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    /// The object as JSON text. Wiped when dropped: it may be a Secret.
    pub json: Zeroizing<String>,
}

/// A cluster as it was written down.
#[derive(Clone, Default)]
pub struct RecordedCluster {
    objects: BTreeMap<(String, String), Vec<RecordedObject>>,
    pub coverage: Coverage,
}

/// What a recording claims to hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    pub kinds: KindCoverage,
    /// Collections the fleet file calls incomplete.
    pub incomplete: Vec<Incomplete>,
    /// Why the cluster could not be read at all.
    pub unreachable: Option<String>,
    /// Files that could not be read: their content is unknown, so nothing is complete.
    pub unreadable: Vec<String>,
}

/// Whether a kind without objects means "there are none".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KindCoverage {
    /// Every kind is complete: a kind without objects has none.
    All,
    /// A kind is complete only if an object of it is present (must-gathers leave whole kinds out).
    #[default]
    SeenOnly,
}

/// `v1/secrets@openshift-config` in a fleet file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    pub group: String,
    pub plural: String,
    pub namespace: Option<String>,
}

impl RecordedCluster {
    pub fn new(coverage: Coverage) -> Self {
        Self { objects: BTreeMap::new(), coverage }
    }

    pub fn push(&mut self, object: RecordedObject) {
        self.objects.entry((object.group.clone(), object.kind.clone())).or_default().push(object);
    }

    /// The API groups that hold objects.
    pub fn groups(&self) -> BTreeSet<String> {
        self.objects.keys().map(|(group, _)| group.clone()).collect()
    }

    /// The namespaces that hold objects.
    pub fn namespaces(&self) -> BTreeSet<String> {
        let all = self.objects.values().flatten().map(|object| object.namespace.as_str());
        all.filter(|namespace| !namespace.is_empty()).map(str::to_owned).collect()
    }

    /// The objects of one kind, whatever version they were written in.
    pub fn of_kind(&self, group: &str, kind: &str) -> &[RecordedObject] {
        self.objects.get(&(group.to_owned(), kind.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// Why this collection can't be called complete.
    pub fn gap(&self, id: &CollectionId) -> Option<Gap> {
        let coverage = &self.coverage;
        let path = id.resource.path();
        if let Some(reason) = &coverage.unreachable {
            return Some(Gap::new(GapCause::Unreachable, format!("cluster unreachable: {reason}")));
        }
        if let Some(file) = coverage.unreadable.first() {
            return Some(Gap::new(GapCause::Unreadable, format!("{file} could not be read, and may have held {path}")));
        }
        if let Some(entry) = coverage.incomplete.iter().find(|entry| entry.covers(id)) {
            let place = entry.namespace.as_ref().map_or(String::new(), |namespace| format!(" in {namespace}"));
            return Some(Gap::new(GapCause::CutShort, format!("the snapshot says {path}{place} is not complete")));
        }
        let seen = !self.of_kind(id.resource.group, id.resource.kind).is_empty();
        match coverage.kinds {
            KindCoverage::All => None,
            KindCoverage::SeenOnly if seen => None,
            KindCoverage::SeenOnly => Some(Gap::new(
                GapCause::NotRecorded,
                format!("the snapshot holds no {path}, and does not say there are none"),
            )),
        }
    }
}

impl Incomplete {
    /// Whether the collection may miss what the entry says is missing. An entry without a namespace means all of them,
    /// and a collection over all namespaces misses whatever one of them misses.
    fn covers(&self, id: &CollectionId) -> bool {
        let same = self.group == id.resource.group && self.plural == id.resource.plural;
        let overlaps = match (&self.namespace, id.namespace()) {
            (Some(missing), Some(asked)) => missing == asked.as_str(),
            (None, _) | (_, None) => true,
        };
        same && overlaps
    }
}
