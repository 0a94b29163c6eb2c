//! Shapes of objects: which maps are granular, and how list items are keyed.
//!
//! Invariants:
//! - a shape is a view, found by walking down from the kind; nothing is built ahead;
//! - without a schema, a list is one value and a map is granular.
//!
//! Elsewhere: using the shapes (`compare`). For built-in kinds the conventions of field names stand in for the
//! full schema (`conditions` by `type`, `containers` by `name`, …).

use serde_json::Value;

use super::fields::Element;
use super::kinds::ResourceKind;

/// Shape of one value.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    /// A struct whose fields follow the conventions of the built-in kinds.
    Typed,
    /// A map whose keys are data, with plain values.
    StringMap,
    /// An atomic value.
    Atomic,
    /// A list of the built-in conventions.
    TypedList(ListKeys<'static>),
    /// The root of a custom resource: like the schema, with typed metadata.
    CustomRoot(&'a Value),
    /// A node of a custom resource's OpenAPI schema.
    Schema(&'a Value),
    /// No schema: maps are granular, lists are atomic.
    Unknown,
}

/// How list items are identified.
#[derive(Debug, Clone, Copy)]
pub enum ListKeys<'a> {
    Atomic,
    Set,
    By(&'a [&'a str]),
    /// Key names held in a schema.
    Named(&'a Value),
}

impl<'a> Shape<'a> {
    pub fn of(kind: &'a ResourceKind) -> Self {
        match &kind.schema {
            Some(schema) => Self::CustomRoot(schema),
            None => Self::Typed,
        }
    }

    pub fn is_atomic_map(self) -> bool {
        match self {
            Self::Atomic => true,
            Self::Schema(node) => node.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic"),
            Self::Typed | Self::StringMap | Self::TypedList(_) | Self::CustomRoot(_) | Self::Unknown => false,
        }
    }

    /// Whether `name` is a struct field, in contrast to a map key.
    pub fn names(self, name: &str) -> bool {
        match self {
            Self::Typed | Self::Atomic | Self::TypedList(_) => true,
            Self::StringMap | Self::Unknown => false,
            Self::CustomRoot(node) => {
                matches!(name, "apiVersion" | "kind" | "metadata") || property(node, name).is_some()
            }
            Self::Schema(node) => property(node, name).is_some(),
        }
    }

    pub fn field(self, name: &str) -> Shape<'a> {
        match self {
            Self::Typed => typed_field(name),
            Self::StringMap | Self::Atomic => Self::Atomic,
            Self::TypedList(_) => Self::Typed,
            Self::CustomRoot(_) if name == "metadata" => Self::Typed,
            Self::CustomRoot(node) | Self::Schema(node) => match property(node, name) {
                Some(property) => Self::Schema(property),
                None => match node.get("additionalProperties") {
                    Some(values) if values.is_object() => Self::Schema(values),
                    Some(_) | None => Self::Unknown,
                },
            },
            Self::Unknown => Self::Unknown,
        }
    }

    pub fn list_keys(self) -> ListKeys<'a> {
        match self {
            Self::TypedList(keys) => keys,
            Self::Schema(node) => match node.get("x-kubernetes-list-type").and_then(Value::as_str) {
                Some("set") => ListKeys::Set,
                Some("map") => node.get("x-kubernetes-list-map-keys").map_or(ListKeys::Atomic, ListKeys::Named),
                Some(_) | None => ListKeys::Atomic,
            },
            Self::Typed | Self::StringMap | Self::Atomic | Self::CustomRoot(_) | Self::Unknown => ListKeys::Atomic,
        }
    }

    pub fn items(self) -> Shape<'a> {
        match self {
            Self::TypedList(_) => Self::Typed,
            Self::Schema(node) => node.get("items").map_or(Self::Unknown, Self::Schema),
            Self::Typed | Self::StringMap | Self::Atomic | Self::CustomRoot(_) | Self::Unknown => Self::Unknown,
        }
    }
}

impl ListKeys<'_> {
    pub fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic)
    }

    /// The path element of an item; items without their key use the position.
    pub fn element(self, index: usize, item: &Value) -> Element {
        let by_name = |names: &mut dyn Iterator<Item = &str>| {
            let keys = names.filter_map(|name| Some((name.to_owned(), item.get(name)?.to_string())));
            let mut keys: Vec<(String, String)> = keys.collect();
            keys.sort();
            if keys.is_empty() { Element::Index(index as u64) } else { Element::Key(keys) }
        };
        match self {
            Self::Atomic => Element::Index(index as u64),
            Self::Set => Element::Item(item.to_string()),
            Self::By(names) => by_name(&mut names.iter().copied()),
            Self::Named(names) => by_name(&mut names.as_array().into_iter().flatten().filter_map(Value::as_str)),
        }
    }
}

fn property<'a>(node: &'a Value, name: &str) -> Option<&'a Value> {
    node.get("properties")?.get(name)
}

/// The conventions of built-in kinds, by field name.
fn typed_field(name: &str) -> Shape<'static> {
    use ListKeys::{By, Set};
    match name {
        "labels" | "annotations" | "data" | "stringData" | "binaryData" => Shape::StringMap,
        "limits" | "requests" | "capacity" | "allocatable" => Shape::StringMap,
        "selector" | "nodeSelector" | "roleRef" | "secretRef" | "configMapKeyRef" | "secretKeyRef" => Shape::Atomic,
        "ownerReferences" => Shape::TypedList(By(&["uid"])),
        "finalizers" => Shape::TypedList(Set),
        "conditions" | "addresses" => Shape::TypedList(By(&["type"])),
        "containers" | "initContainers" | "volumes" | "env" => Shape::TypedList(By(&["name"])),
        "imagePullSecrets" | "secrets" => Shape::TypedList(By(&["name"])),
        "volumeMounts" => Shape::TypedList(By(&["mountPath"])),
        "ports" => Shape::TypedList(By(&["containerPort", "port", "protocol"])),
        _ => Shape::Typed,
    }
}
