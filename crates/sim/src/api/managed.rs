//! `metadata.managedFields`: field owners with times.
//!
//! Invariants:
//! - entries are in the order of kube-apiserver (operation, time, manager, version, subresource);
//! - a write that changes nothing leaves the entries, times included, as they were;
//! - name, namespace, uid, versions and times of an object have no owner.
//!
//! Elsewhere: conflicts and merging (`apply`). The rules are those of `k8s.io/apimachinery/pkg/util/managedfields`.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::compare::{Comparison, compare};
use super::fields::FieldSet;
use super::meta;
use super::shape::Shape;

/// Update entries of an object; older ones are folded into `ancient-changes`. The same limit as in kube-apiserver.
const UPDATE_MANAGERS_MAX: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    Apply,
    Update,
}

/// One owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub manager: String,
    pub operation: Operation,
    pub api_version: String,
    pub subresource: String,
    pub time: Option<String>,
    pub fields: FieldSet,
}

/// Manager and time of a write.
#[derive(Debug, Clone)]
pub struct Writer {
    pub manager: String,
    pub api_version: String,
    pub subresource: String,
    pub time: String,
}

/// All owners of one object. Shared, since most writes change nothing here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Managed(Arc<Vec<Entry>>);

impl Entry {
    pub fn is_of(&self, writer: &Writer, operation: Operation) -> bool {
        let same_version = match operation {
            // An applier is the same in every API version; an updater is not.
            Operation::Apply => true,
            Operation::Update => self.api_version == writer.api_version,
        };
        self.operation == operation
            && self.manager == writer.manager
            && self.subresource == writer.subresource
            && same_version
    }

    fn same_but_time(&self, other: &Self) -> bool {
        let Self { manager, operation, api_version, subresource, time: _, fields } = self;
        (manager, operation, api_version, subresource)
            == (&other.manager, &other.operation, &other.api_version, &other.subresource)
            && *fields == other.fields
    }

    /// The owner as in conflict messages.
    pub fn describe(&self) -> String {
        let mut text = super::field_error::quoted(&self.manager);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {}", super::field_error::quoted(&self.subresource)));
        }
        match self.operation {
            Operation::Apply => text,
            Operation::Update => format!("{text} using {}", self.api_version),
        }
    }

    fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("manager".into(), self.manager.clone().into());
        let operation = match self.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        };
        out.insert("operation".into(), operation.into());
        out.insert("apiVersion".into(), self.api_version.clone().into());
        out.extend(self.time.clone().map(|time| ("time".into(), time.into())));
        out.insert("fieldsType".into(), "FieldsV1".into());
        out.insert("fieldsV1".into(), self.fields.to_json());
        if !self.subresource.is_empty() {
            out.insert("subresource".into(), self.subresource.clone().into());
        }
        Value::Object(out)
    }

    fn from_json(entry: &Value) -> Option<Self> {
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
        let operation = match text("operation").as_str() {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return None,
        };
        if text("apiVersion").is_empty() || text("fieldsType") != "FieldsV1" {
            return None;
        }
        Some(Self {
            manager: text("manager"),
            operation,
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: Some(text("time")).filter(|time| !time.is_empty()),
            fields: entry.get("fieldsV1").map(FieldSet::from_json).unwrap_or_default(),
        })
    }
}

impl Managed {
    /// Reads the entries a client sent; one invalid entry makes the whole list invalid.
    pub fn from_json(list: &Value) -> Option<Self> {
        let entries = list.as_array()?.iter().map(Entry::from_json).collect::<Option<Vec<Entry>>>();
        entries.map(|entries| Self(Arc::new(entries)))
    }

    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn write_into(&self, object: &mut Value) {
        let metadata = meta::of_mut(object);
        if self.is_empty() {
            metadata.remove("managedFields");
        } else {
            metadata.insert("managedFields".into(), self.0.iter().map(Entry::to_json).collect());
        }
    }

    /// Whether the same owners own the same fields, whatever the times.
    pub fn same_but_times(&self, other: &Self) -> bool {
        // Times are part of the order, so the entries may be at other positions.
        let same = |mine: &Entry| other.0.iter().any(|theirs| mine.same_but_time(theirs));
        Arc::ptr_eq(&self.0, &other.0) || self.0.len() == other.0.len() && self.0.iter().all(same)
    }

    pub fn find(&self, writer: &Writer, operation: Operation) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.is_of(writer, operation))
    }

    pub fn remove(&mut self, writer: &Writer, operation: Operation) {
        Arc::make_mut(&mut self.0).retain(|entry| !entry.is_of(writer, operation));
    }

    /// Adds an owner at its position.
    pub fn add(&mut self, entry: Entry) {
        let entries = Arc::make_mut(&mut self.0);
        entries.push(entry);
        sort(entries);
    }

    /// Removes changed and removed fields from all owners.
    pub fn take(&mut self, changes: &Comparison) {
        let taken = [&changes.modified, &changes.added, &changes.removed];
        let loses = |entry: &Entry| taken.iter().any(|taken| entry.fields.meets(taken));
        if !self.0.iter().any(loses) {
            return;
        }
        let entries = Arc::make_mut(&mut self.0);
        for entry in entries.iter_mut() {
            for taken in taken {
                if entry.fields.meets(taken) {
                    entry.fields = entry.fields.difference(taken);
                }
            }
        }
        entries.retain(|entry| !entry.fields.is_empty());
    }

    /// Records a write that is not an apply: the changed fields now belong to the writer.
    pub fn record_update(&mut self, changes: &Comparison, writer: &Writer) {
        let mut gained = changes.modified.clone();
        gained.union(&changes.added);
        let gained = gained.difference(&UNOWNED);
        if self.already_records(changes, &gained, writer) {
            return;
        }
        self.take(changes);
        if gained.is_empty() {
            return;
        }
        let entries = Arc::make_mut(&mut self.0);
        match entries.iter_mut().find(|entry| entry.is_of(writer, Operation::Update)) {
            Some(own) => {
                own.fields.union(&gained);
                own.time = Some(writer.time.clone());
            }
            None => entries.push(Entry {
                manager: writer.manager.clone(),
                operation: Operation::Update,
                api_version: writer.api_version.clone(),
                subresource: writer.subresource.clone(),
                time: Some(writer.time.clone()),
                fields: gained,
            }),
        }
        fold_oldest(entries);
        sort(entries);
    }

    /// Whether the writer already was the only owner of all it changed, in this same second.
    fn already_records(&self, changes: &Comparison, gained: &FieldSet, writer: &Writer) -> bool {
        let loses = |entry: &Entry| entry.fields.meets(gained) || entry.fields.meets(&changes.removed);
        self.0.iter().all(|entry| match entry.is_of(writer, Operation::Update) {
            true => {
                entry.time.as_ref() == Some(&writer.time)
                    && !entry.fields.meets(&changes.removed)
                    && gained.difference(&entry.fields).is_empty()
            }
            false => !loses(entry),
        }) && self.find(writer, Operation::Update).is_some()
    }
}

/// Folds the oldest update entries into one until there are few enough.
fn fold_oldest(entries: &mut Vec<Entry>) {
    let updates = |entries: &[Entry]| entries.iter().filter(|entry| entry.operation == Operation::Update).count();
    while updates(entries) > UPDATE_MANAGERS_MAX {
        sort(entries);
        let mut positions = entries.iter().enumerate().filter(|(_, entry)| entry.operation == Operation::Update);
        let (Some((first, _)), Some((second, _))) = (positions.next(), positions.next()) else {
            return;
        };
        let folded = entries.remove(second);
        let bucket = &mut entries[first];
        bucket.manager = "ancient-changes".into();
        bucket.subresource = String::new();
        bucket.time = folded.time;
        bucket.fields.union(&folded.fields);
    }
}

/// The changed fields, without those in `reset`.
pub fn changes(before: &Value, after: &Value, shape: Shape<'_>, reset: &FieldSet) -> Comparison {
    let found = compare(before, after, shape);
    if reset.is_empty() || found.is_same() {
        return found;
    }
    Comparison {
        removed: found.removed.without_subtrees(reset),
        modified: found.modified.without_subtrees(reset),
        added: found.added.without_subtrees(reset),
    }
}

/// The object before a create, for the comparison: built-in kinds start with empty structs.
pub fn nothing(custom: bool) -> Value {
    if custom { json!({}) } else { json!({ "metadata": {}, "spec": {}, "status": {} }) }
}

/// Fields without an owner.
pub static UNOWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let mut set = FieldSet::default();
    for name in ["apiVersion", "kind", "metadata"] {
        set.insert(&[name]);
    }
    let unowned =
        ["name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion"];
    for name in unowned {
        set.insert(&["metadata", name]);
    }
    set
});

fn sort(entries: &mut [Entry]) {
    entries.sort_by(|a, b| {
        (a.operation, &a.time, &a.manager, &a.api_version, &a.subresource).cmp(&(
            b.operation,
            &b.time,
            &b.manager,
            &b.api_version,
            &b.subresource,
        ))
    });
}
