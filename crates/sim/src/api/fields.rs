//! Sets of field paths, for ownership.
//!
//! Invariants:
//! - a set is a tree; a path is a member, or only a prefix of one;
//! - a child without members below it is not kept, so that two equal sets look equal;
//! - `to_json` and `from_json` are inverse on the wire form FieldsV1.
//!
//! Elsewhere: which fields exist and how lists are keyed (`shape`), comparing objects (`compare`). The algebra is
//! that of `sigs.k8s.io/structured-merge-diff/v6/fieldpath`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    Field(Box<str>),
    /// An item of a keyed list; values are JSON text.
    Key(Vec<(String, String)>),
    /// An item of a set; JSON text.
    Item(String),
    Index(u64),
}

impl Element {
    pub fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    fn to_wire(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(keys) => {
                let keys: Vec<String> =
                    keys.iter().map(|(name, value)| format!("{}:{value}", Value::from(&**name))).collect();
                format!("k:{{{}}}", keys.join(","))
            }
            Self::Item(value) => format!("v:{value}"),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    fn from_wire(text: &str) -> Option<Self> {
        let (tag, rest) = text.split_once(':')?;
        match tag {
            "f" => Some(Self::field(rest)),
            "k" => {
                let keys: Map<String, Value> = serde_json::from_str(rest).ok()?;
                Some(Self::Key(keys.into_iter().map(|(name, value)| (name, value.to_string())).collect()))
            }
            "v" => Some(Self::Item(rest.into())),
            "i" => rest.parse().ok().map(Self::Index),
            _ => None,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Self::Item(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A set of paths, as a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    pub members: BTreeSet<Element>,
    pub children: BTreeMap<Element, FieldSet>,
}

impl FieldSet {
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    pub fn insert(&mut self, path: &[&str]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(Element::field(last));
            }
            [first, rest @ ..] => self.children.entry(Element::field(first)).or_default().insert(rest),
        }
    }

    /// Adds `set` below `element`; an empty set adds nothing.
    pub fn attach(&mut self, element: Element, set: Self) {
        if !set.is_empty() {
            self.children.insert(element, set);
        }
    }

    pub fn union(&mut self, other: &Self) {
        self.members.extend(other.members.iter().cloned());
        for (element, set) in &other.children {
            self.children.entry(element.clone()).or_default().union(set);
        }
    }

    /// Paths in `self` and not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let mut out = Self { members, children: BTreeMap::new() };
        for (element, set) in &self.children {
            let rest = match other.children.get(element) {
                Some(theirs) => set.difference(theirs),
                None => set.clone(),
            };
            out.attach(element.clone(), rest);
        }
        out
    }

    /// Like `difference`, and a member of `other` also removes everything below it.
    pub fn without_subtrees(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let mut out = Self { members, children: BTreeMap::new() };
        for (element, set) in &self.children {
            if other.members.contains(element) {
                continue;
            }
            let rest = match other.children.get(element) {
                Some(theirs) => set.without_subtrees(theirs),
                None => set.clone(),
            };
            out.attach(element.clone(), rest);
        }
        out
    }

    pub fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let mut out = Self { members, children: BTreeMap::new() };
        for (element, set) in &self.children {
            if let Some(theirs) = other.children.get(element) {
                out.attach(element.clone(), set.intersection(theirs));
            }
        }
        out
    }

    /// Whether any path of `self` is also in `other`.
    pub fn meets(&self, other: &Self) -> bool {
        self.members.iter().any(|element| other.members.contains(element))
            || self
                .children
                .iter()
                .any(|(element, set)| other.children.get(element).is_some_and(|theirs| set.meets(theirs)))
    }

    /// Every path as text, members before their children.
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths("", &mut out);
        out
    }

    fn collect_paths(&self, prefix: &str, out: &mut Vec<String>) {
        out.extend(self.members.iter().map(|element| format!("{prefix}{element}")));
        for (element, set) in &self.children {
            set.collect_paths(&format!("{prefix}{element}"), out);
        }
    }

    pub fn to_json(&self) -> Value {
        Value::Object(self.to_map(false))
    }

    fn to_map(&self, itself: bool) -> Map<String, Value> {
        let mut out = Map::new();
        if itself && !self.is_empty() {
            out.insert(".".into(), Value::Object(Map::new()));
        }
        for element in &self.members {
            if !self.children.contains_key(element) {
                out.insert(element.to_wire(), Value::Object(Map::new()));
            }
        }
        for (element, set) in &self.children {
            out.insert(element.to_wire(), Value::Object(set.to_map(self.members.contains(element))));
        }
        out
    }

    /// Reads FieldsV1; unknown elements are dropped, as in kube-apiserver.
    pub fn from_json(fields: &Value) -> Self {
        let mut out = Self::default();
        for (key, below) in fields.as_object().into_iter().flatten() {
            let Some(element) = Element::from_wire(key) else {
                continue;
            };
            let below = below.as_object();
            let leaf = below.is_none_or(|below| below.is_empty() || below.contains_key("."));
            if leaf {
                out.members.insert(element.clone());
            }
            let deeper = below.map(|below| Self::from_json(&Value::Object(below.clone()))).unwrap_or_default();
            out.attach(element, deeper);
        }
        out
    }
}
