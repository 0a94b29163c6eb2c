//! What a plan points at: an object of a cluster, or a resource of a cloud account.
//!
//! Both are read by the same fields, so that code that shows, filters or counts needs no distinction. In JSON they have
//! two shapes: `{apiVersion, kind, namespace, name, uid}` and `{cloud, account, kind, id, crn, name}`.
//!
//! Invariants: of a cloud resource, `kind` and `name` say what [`CloudRef`] says, and the fields it has none of are empty.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An object of a cluster, or a resource of a cloud account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRef {
    pub api_version: String,
    pub kind: String,
    pub namespace: Option<String>,
    /// Of a cloud resource: what people call it, or its id when it has no name.
    pub name: String,
    pub uid: Option<String>,
    pub cloud: Option<Box<CloudRef>>,
}

/// A resource of a cloud account, as plans write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudRef {
    pub cloud: String,
    pub account: String,
    pub kind: String,
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ObjectRef {
    /// `openshift-config/old-secret`, the name alone, or `demo-vpc (r006-1)`.
    pub fn place(&self) -> String {
        match (&self.cloud, &self.namespace) {
            (Some(cloud), _) if cloud.id != self.name => format!("{} ({})", self.name, cloud.id),
            (Some(_), _) | (None, None) => self.name.clone(),
            (None, Some(namespace)) => format!("{namespace}/{}", self.name),
        }
    }
}

impl From<CloudRef> for ObjectRef {
    fn from(cloud: CloudRef) -> Self {
        Self {
            api_version: String::new(),
            kind: cloud.kind.clone(),
            namespace: None,
            name: cloud.name.clone().unwrap_or_else(|| cloud.id.clone()),
            uid: None,
            cloud: Some(Box::new(cloud)),
        }
    }
}

/// What stands between two tags in a version. A comma is in no tag.
const TAG_GAP: &str = ", ";
/// The version of a resource without any.
const NO_TAGS: &str = "without tags";

/// The tags of a cloud resource in place of a version, which clouds don't have. Their order, their case and blanks around
/// the first colon don't matter: checks compare them so, and plans name them so.
pub fn cloud_version(tags: &[String]) -> String {
    let folded = |tag: &String| {
        let tag = tag.trim().to_lowercase();
        match tag.split_once(':') {
            Some((key, value)) => format!("{}:{}", key.trim_end(), value.trim_start()),
            None => tag,
        }
    };
    let tags: BTreeSet<String> = tags.iter().map(folded).collect();
    let tags: Vec<String> = tags.into_iter().collect();
    if tags.is_empty() { NO_TAGS.to_owned() } else { tags.join(TAG_GAP) }
}

/// The tags that a version made by [`cloud_version`] stands for.
pub fn cloud_tags(version: &str) -> BTreeSet<String> {
    let tags = version.split(TAG_GAP).filter(|_| version != NO_TAGS);
    tags.map(str::to_owned).collect()
}

/// The shape of an object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectOut<'o> {
    api_version: &'o str,
    kind: &'o str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'o str>,
    name: &'o str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'o str>,
}

impl Serialize for ObjectRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { api_version, kind, namespace, name, uid, cloud } = self;
        match cloud {
            Some(cloud) => cloud.serialize(serializer),
            None => {
                let (namespace, uid) = (namespace.as_deref(), uid.as_deref());
                ObjectOut { api_version, kind, namespace, name, uid }.serialize(serializer)
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Shape {
    Cloud(CloudRef),
    Object(ObjectIn),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectIn {
    api_version: String,
    kind: String,
    #[serde(default)]
    namespace: Option<String>,
    name: String,
    #[serde(default)]
    uid: Option<String>,
}

impl<'de> Deserialize<'de> for ObjectRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Shape::deserialize(deserializer)? {
            Shape::Cloud(cloud) => cloud.into(),
            Shape::Object(ObjectIn { api_version, kind, namespace, name, uid }) => {
                Self { api_version, kind, namespace, name, uid, cloud: None }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tags_in_place_of_a_version_read_back_whatever_their_order_and_case() {
        let cases: [(&[&str], &str); 3] =
            [(&[], "without tags"), (&["b:1", "A"], "a, b:1"), (&["a b:c d", "a b:c d"], "a b:c d")];
        for (tags, version) in cases {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            assert_eq!(cloud_version(&tags), version);
            let folded: BTreeSet<String> = tags.iter().map(|tag| tag.to_lowercase()).collect();
            assert_eq!(cloud_tags(version), folded);
        }
    }

    #[test]
    fn both_shapes_read_back_as_they_were_written_and_print_their_place() {
        let cases = [
            (json!({ "apiVersion": "v1", "kind": "Secret", "namespace": "n", "name": "s", "uid": "u" }), "n/s"),
            (json!({ "apiVersion": "v1", "kind": "Namespace", "name": "n" }), "n"),
            (
                json!({ "cloud": "ibm", "account": "a", "kind": "vpc", "id": "r006-1", "crn": "crn:v1", "name": "demo-vpc" }),
                "demo-vpc (r006-1)",
            ),
            (json!({ "cloud": "ibm", "account": "a", "kind": "dhcp-server", "id": "d-1" }), "d-1"),
        ];
        for (text, place) in cases {
            let read: ObjectRef = serde_json::from_value(text.clone()).unwrap();
            assert_eq!(read.place(), place);
            assert_eq!(serde_json::to_value(&read).unwrap(), text);
        }
        assert!(serde_json::from_value::<ObjectRef>(json!({ "kind": "vpc", "name": "x" })).is_err());
    }
}
