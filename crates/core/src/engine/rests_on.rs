//! The collections an action rests on, as plans name them: `guest-a v1/secrets@openshift-config`.
//!
//! ```text
//! CLUSTER GROUP/VERSION/PLURAL[@[NAMESPACE][/NAME]][?labels=SELECTOR][&fields=SELECTOR]
//! ```
//!
//! Invariants: the text reads back as the same reference; whatever would end a part is percent-encoded; whether content or
//! metadata alone is listed is not part of it.
//! Elsewhere: what a delete needs of them (`gate`), listing them again (`operate`).

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};

use crate::world::{ClusterName, CollectionId, Scope, Selector};

/// One collection of one cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CollectionRef {
    pub cluster: String,
    /// `v1/secrets`.
    pub resource: String,
    pub namespace: Option<String>,
    /// The one object that is read by name.
    pub name: Option<String>,
    pub selector: Selector,
}

/// A text that does not name a collection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a collection; expected CLUSTER VERSION/PLURAL[@NAMESPACE]")]
pub struct BadCollection(String);

/// What is encoded in a selector: everything that ends one.
const IN_SELECTOR: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'&').add(b'?');
/// What is encoded in a namespace, a name and a resource as well.
const IN_NAME: &AsciiSet = &IN_SELECTOR.add(b'@');

impl CollectionRef {
    /// Whether it names this collection, whose cluster may have another name today.
    pub fn is(&self, id: &CollectionId, cluster: &ClusterName) -> bool {
        let Self { cluster: _, resource, namespace, name, selector } = self;
        id.cluster == *cluster
            && id.resource.path() == *resource
            && id.namespace().map(ToString::to_string) == *namespace
            && name_of(id) == *name
            && id.selector == *selector
    }
}

impl From<&CollectionId> for CollectionRef {
    fn from(id: &CollectionId) -> Self {
        Self {
            cluster: id.cluster.to_string(),
            resource: id.resource.path(),
            namespace: id.namespace().map(ToString::to_string),
            name: name_of(id),
            selector: id.selector.clone(),
        }
    }
}

fn name_of(id: &CollectionId) -> Option<String> {
    match &id.scope {
        Scope::Object { name, .. } => Some(name.to_string()),
        Scope::All | Scope::Namespace(_) => None,
    }
}

impl fmt::Display for CollectionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cluster, resource, namespace, name, selector: Selector { labels, fields } } = self;
        let named = |text: &str| utf8_percent_encode(text, IN_NAME).to_string();
        write!(f, "{cluster} {}", named(resource))?;
        match (namespace, name) {
            (None, None) => {}
            (Some(namespace), None) => write!(f, "@{}", named(namespace))?,
            (namespace, Some(name)) => {
                write!(f, "@{}/{}", named(namespace.as_deref().unwrap_or_default()), named(name))?;
            }
        }
        let mut separator = '?';
        for (key, value) in [("labels", labels), ("fields", fields)].into_iter().filter(|(_, value)| !value.is_empty())
        {
            write!(f, "{separator}{key}={}", utf8_percent_encode(value, IN_SELECTOR))?;
            separator = '&';
        }
        Ok(())
    }
}

impl FromStr for CollectionRef {
    type Err = BadCollection;

    fn from_str(text: &str) -> Result<Self, BadCollection> {
        let read = || {
            // The name of a cluster may hold blanks; nothing after it does.
            let (cluster, rest) = text.rsplit_once(' ')?;
            let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
            let (resource, place) = rest.split_once('@').map_or((rest, None), |(rest, place)| (rest, Some(place)));
            let (namespace, name) = match place.map(|place| place.split_once('/')) {
                None => (None, None),
                Some(None) => (place, None),
                Some(Some((namespace, name))) => (Some(namespace).filter(|text| !text.is_empty()), Some(name)),
            };
            let mut selector = Selector::default();
            for pair in query.into_iter().flat_map(|query| query.split('&')) {
                match pair.split_once('=')? {
                    ("labels", value) => selector.labels = decoded(value)?,
                    ("fields", value) => selector.fields = decoded(value)?,
                    (_, _) => return None,
                }
            }
            let part = |part: Option<&str>| part.map_or(Some(None), |part| decoded(part).map(Some));
            let read = Self {
                cluster: cluster.to_owned(),
                resource: decoded(resource)?,
                namespace: part(namespace)?,
                name: part(name)?,
                selector,
            };
            // One spelling a collection: what prints in another way was not written by us.
            (read.resource.contains('/') && read.to_string() == text).then_some(read)
        };
        read().ok_or_else(|| BadCollection(text.to_owned()))
    }
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(|text| text.into_owned())
}

impl TryFrom<String> for CollectionRef {
    type Error = BadCollection;

    fn try_from(text: String) -> Result<Self, BadCollection> {
        text.parse()
    }
}

impl From<CollectionRef> for String {
    fn from(reference: CollectionRef) -> Self {
        reference.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{CRDS, SECRETS, cluster_name};
    use proptest::prelude::*;

    #[test]
    fn a_collection_is_named_as_the_contract_says_and_reads_back() {
        let guest = cluster_name("guest-a");
        let cases = [
            (CollectionId::all(&guest, CRDS), "guest-a apiextensions.k8s.io/v1/customresourcedefinitions"),
            (CollectionId::namespaced(&guest, SECRETS, "openshift-config"), "guest-a v1/secrets@openshift-config"),
            (CollectionId::object(&guest, SECRETS, Some("n"), "x"), "guest-a v1/secrets@n/x"),
            (
                CollectionId::object(&guest, CRDS, None, "x.example.com"),
                "guest-a apiextensions.k8s.io/v1/customresourcedefinitions@/x.example.com",
            ),
            (CollectionId::all(&guest, SECRETS).labelled("a=b,!c"), "guest-a v1/secrets?labels=a=b,!c"),
            (
                CollectionId::namespaced(&guest, SECRETS, "n").labelled("a").with_fields("type=x & y"),
                "guest-a v1/secrets@n?labels=a&fields=type=x%20%26%20y",
            ),
            (CollectionId::all(&cluster_name("my cluster"), SECRETS), "my cluster v1/secrets"),
        ];
        for (id, text) in cases {
            let reference = CollectionRef::from(&id);
            assert_eq!(reference.to_string(), text);
            assert_eq!(text.parse(), Ok(reference.clone()));
            assert!(reference.is(&id, &id.cluster) && reference.is(&id.clone().metadata(), &id.cluster), "{text}");
            assert!(!reference.is(&id, &cluster_name("guest-b")), "{text}");
        }
    }

    #[test]
    fn other_texts_name_no_collection() {
        for text in
            ["", "guest-a", "guest-a secrets", "guest-a v1/secrets?x=y", "guest-a v1/secrets?labels", "g v1/s@%41"]
        {
            assert_eq!(text.parse::<CollectionRef>(), Err(BadCollection(text.to_owned())));
        }
    }

    proptest! {
        #[test]
        fn every_reference_reads_back(
            cluster in ".{0,8}", namespace in prop::option::of(".{1,8}"), name in prop::option::of(".{1,8}"),
            labels in ".{0,8}", fields in ".{0,8}",
        ) {
            // Neither a namespace nor a name holds a slash.
            let part = |text: Option<String>| text.map(|text| text.replace('/', "-"));
            let (namespace, name) = (part(namespace), part(name));
            let selector = Selector { labels, fields };
            let reference = CollectionRef { cluster, resource: "v1/secrets".to_owned(), namespace, name, selector };
            prop_assert_eq!(reference.to_string().parse(), Ok(reference));
        }
    }
}
