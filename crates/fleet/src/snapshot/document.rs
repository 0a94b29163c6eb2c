//! Classifies a JSON document: an object with a name, or a list of objects.
//!
//! Invariants:
//! - an object is sliced from its document, so that nothing is read or copied twice;
//! - messages never quote a document.
//!
//! Elsewhere: the content of the objects (`trueup_core::decode` reads them again, by interest).

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use trueup_core::decode::recording::RecordedObject;

/// Nesting limit of lists. The API has one level; `kubectl get a,b` adds none.
const LIST_DEPTH_MAX: u8 = 4;

/// The identifying fields of a document.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, rename = "apiVersion")]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    metadata: Option<MetaHead<'a>>,
    #[serde(borrow, default, deserialize_with = "null_is_there")]
    items: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct MetaHead<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "continue")]
    rest: Option<Cow<'a, str>>,
}

/// Type of list items without their own: the API omits it.
#[derive(Clone, Copy, Default)]
struct ItemType<'a> {
    api_version: Option<&'a str>,
    kind: Option<&'a str>,
}

/// A part of a document that is not an object, and its item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvalidDocument {
    /// Counted from 1.
    pub item: Option<usize>,
    pub message: &'static str,
}

/// Passes on every object of a document, and every part that is not one.
pub(super) fn objects(
    json: &str,
    object: &mut dyn FnMut(RecordedObject, Option<usize>),
    nameless: &mut dyn FnMut(InvalidDocument),
) {
    let mut sink = Sink { object, nameless };
    sink.document(json, ItemType::default(), None, LIST_DEPTH_MAX);
}

struct Sink<'s> {
    object: &'s mut dyn FnMut(RecordedObject, Option<usize>),
    nameless: &'s mut dyn FnMut(InvalidDocument),
}

impl Sink<'_> {
    fn document(&mut self, json: &str, item_type: ItemType<'_>, item: Option<usize>, depth: u8) {
        // A JSON array would be read as the fields in their order.
        let head = serde_json::from_str::<Head<'_>>(json).ok().filter(|_| json.trim_start().starts_with('{'));
        let Some(head) = head else {
            return self
                .refuse(item, "is not an object with apiVersion, kind and metadata: move it out of the snapshot");
        };
        let kind = filled(head.kind.as_deref()).or(item_type.kind);
        let api_version = filled(head.api_version.as_deref()).or(item_type.api_version);
        let Some(kind) = kind else {
            return self.refuse(item, "has no kind: add it, or move the file out of the snapshot");
        };
        if let (Some(of), Some(items)) = (kind.strip_suffix("List"), head.items) {
            let item_type = ItemType { api_version: api_version.filter(|_| !of.is_empty()), kind: filled(Some(of)) };
            let rest = head.metadata.as_ref().and_then(|metadata| filled(metadata.rest.as_deref()));
            if rest.is_some() {
                self.refuse(item, "holds a truncated list (metadata.continue is set): record all pages");
            }
            return self.list(items, item_type, item, depth);
        }
        let Some(api_version) = api_version else {
            return self.refuse(item, "has no apiVersion: add it, or move the file out of the snapshot");
        };
        let metadata = head.metadata.unwrap_or_default();
        let Some(name) = filled(metadata.name.as_deref()) else {
            return self.refuse(item, "has no metadata.name: add it, or move the file out of the snapshot");
        };
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let recorded = RecordedObject {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: metadata.namespace.as_deref().unwrap_or_default().to_owned(),
            name: name.to_owned(),
            json: Zeroizing::new(json.to_owned()),
        };
        (self.object)(recorded, item);
    }

    fn list(&mut self, items: &RawValue, item_type: ItemType<'_>, item: Option<usize>, depth: u8) {
        let Ok(items) = serde_json::from_str::<Option<Vec<&RawValue>>>(items.get()) else {
            return self.refuse(item, "holds a list whose items are not a list: record it again");
        };
        if depth == 0 {
            return self.refuse(item, "nests lists too deeply: write them one after the other");
        }
        for (index, json) in items.unwrap_or_default().into_iter().enumerate() {
            self.document(json.get(), item_type, item.or(Some(index + 1)), depth - 1);
        }
    }

    fn refuse(&mut self, item: Option<usize>, message: &'static str) {
        (self.nameless)(InvalidDocument { item, message });
    }
}

/// Distinguishes `items: null`, which is Go's empty list, from absent items.
fn null_is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (Vec<String>, Vec<InvalidDocument>) {
        let (mut all, mut bad) = (Vec::new(), Vec::new());
        objects(
            json,
            &mut |object, _| {
                let RecordedObject { group, kind, namespace, name, json: _ } = object;
                all.push(format!("{group}|{kind}|{namespace}|{name}"));
            },
            &mut |nameless| bad.push(nameless),
        );
        (all, bad)
    }

    #[test]
    fn objects_and_lists_are_distinguished() {
        let cases = [
            (
                "object",
                r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"n"}}"#,
                vec!["|Secret|n|a"],
            ),
            (
                "cluster scope",
                r#"{"apiVersion":"config.openshift.io/v1","kind":"Proxy","metadata":{"name":"cluster"}}"#,
                vec!["config.openshift.io|Proxy||cluster"],
            ),
            (
                "mixed list",
                r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}},{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b","namespace":"n"}}]}"#,
                vec!["|Node||a", "apps|Deployment|n|b"],
            ),
            (
                "items without kind",
                r#"{"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{"name":"a","namespace":"n"}}]}"#,
                vec!["|Secret|n|a"],
            ),
            ("empty as Go writes it", r#"{"apiVersion":"v1","kind":"SecretList","items":null}"#, vec![]),
            (
                "a kind that ends in List",
                r#"{"apiVersion":"x/v1","kind":"AllowList","metadata":{"name":"a"}}"#,
                vec!["x|AllowList||a"],
            ),
        ];
        for (case, json, expected) in cases {
            let (all, bad) = read(json);
            assert_eq!((all.iter().map(String::as_str).collect(), bad), (expected, vec![]), "case: {case}");
        }
    }

    #[test]
    fn an_invalid_document_is_reported_without_quoting_it() {
        let cases = [
            ("text", r#""s3cret""#, None, "is not an object"),
            ("a sequence", r#"["s3cret"]"#, None, "is not an object"),
            ("no kind", r#"{"apiVersion":"v1","metadata":{"name":"s3cret"}}"#, None, "no kind"),
            ("no apiVersion", r#"{"kind":"Secret","metadata":{"name":"s3cret"}}"#, None, "no apiVersion"),
            ("no name", r#"{"apiVersion":"v1","kind":"Secret","data":{"a":"s3cret"}}"#, None, "no metadata.name"),
            (
                "name is a number",
                r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":3}}"#,
                None,
                "is not an object",
            ),
            (
                "item of a plain list without kind",
                r#"{"apiVersion":"v1","kind":"List","items":[{"metadata":{"name":"s3cret"}}]}"#,
                Some(1),
                "no kind",
            ),
            ("items are no list", r#"{"apiVersion":"v1","kind":"List","items":{"a":"s3cret"}}"#, None, "not a list"),
            (
                "truncated",
                r#"{"apiVersion":"v1","kind":"SecretList","metadata":{"continue":"s3cret"},"items":[]}"#,
                None,
                "truncated list",
            ),
        ];
        for (case, json, item, expected) in cases {
            let (_, bad) = read(json);
            assert_eq!(bad.len(), 1, "case: {case}");
            assert_eq!(bad[0].item, item, "case: {case}");
            assert!(bad[0].message.contains(expected) && !bad[0].message.contains("s3cret"), "case: {case}: {bad:?}");
        }
    }
}
