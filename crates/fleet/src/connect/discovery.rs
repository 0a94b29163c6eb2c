//! What an API server serves, and whether it said so completely.
//!
//! Invariant: [`Served::Complete`] needs an answer without a single error. A group whose own server is away, a
//! version marked stale, an answer without the core kinds: each makes the whole unknown, because what is missing
//! from such an answer may well exist.
//!
//! Decoding is pure ([`aggregated`], [`group_versions`], [`resources`]); only [`read`] sends.

use futures::StreamExt as _;
use serde::Deserialize;

use super::{classify, send};
use trueup_core::world::{Gap, GapCause, Kinds, Served};

/// Aggregated discovery (two requests) where the server has it, the old documents otherwise.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// Old discovery asks once for every group version, some sixty on OpenShift. Eight at a time take a few round trips
/// and leave the server capacity.
const REQUESTS_AT_ONCE: usize = 8;

const WHAT: &str = "asking the server what it serves";

/// What one of the two root documents says.
#[derive(Debug, PartialEq, Eq)]
pub enum Root {
    /// Everything below it, at once.
    Aggregated(Kinds),
    /// The group versions below it, each with a document of its own: `v1`, `apps/v1`.
    Versions(Vec<String>),
}

/// Reads what a live cluster serves.
pub async fn read(client: &kube::Client) -> Served {
    match read_all(client).await {
        Ok(kinds) => Served::Complete(kinds),
        Err(gap) => Served::Unknown(gap),
    }
}

async fn read_all(client: &kube::Client) -> Result<Kinds, Gap> {
    let (core, groups) = futures::join!(get(client, "/api".to_owned()), get(client, "/apis".to_owned()));
    let (core, groups) = (core?, groups?);
    let mut kinds = Kinds::default();
    let mut versions = Vec::new();
    for body in [&core, &groups] {
        match root(body)? {
            Root::Aggregated(all) => kinds.extend(all),
            Root::Versions(some) => versions.extend(some),
        }
    }
    let documents = versions.into_iter().map(|version| async move {
        let path = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
        let body = get(client, path).await?;
        resources(&body, &version)
    });
    let mut documents = std::pin::pin!(futures::stream::iter(documents).buffer_unordered(REQUESTS_AT_ONCE));
    while let Some(document) = documents.next().await {
        kinds.extend(document?);
    }
    whole(kinds)
}

async fn get(client: &kube::Client, path: String) -> Result<bytes::Bytes, Gap> {
    let what = format!("{WHAT} ({path})");
    let answer = send::get_bytes(client, &path, ACCEPT).await;
    let (code, body) = answer.map_err(|error| classify::transport(&error, &what))?;
    if code.is_success() {
        return Ok(body);
    }
    Err(classify::status(code, classify::reason(&body).as_deref(), &what))
}

/// Reads either form of a root document.
///
/// # Errors
/// It is neither, or says that part of it is missing.
pub fn root(body: &[u8]) -> Result<Root, Gap> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    let kind: Kind = decoded(body)?;
    match kind.kind.as_str() {
        "APIGroupDiscoveryList" => aggregated(body).map(Root::Aggregated),
        "APIVersions" | "APIGroupList" => group_versions(body).map(Root::Versions),
        _ => Err(classify::undecodable(body, WHAT)),
    }
}

/// Reads an `APIGroupDiscoveryList`.
///
/// # Errors
/// It can't be read, or a group version in it is stale.
pub fn aggregated(body: &[u8]) -> Result<Kinds, Gap> {
    let list: GroupDiscoveryList = decoded(body)?;
    let mut kinds = Kinds::default();
    for group in list.items {
        let group_name = group.metadata.name;
        for version in group.versions {
            if version.freshness.as_deref() == Some("Stale") {
                let message =
                    format!("{WHAT}: the group {group_name}/{} is not reachable from the API server", version.version);
                return Err(Gap::new(GapCause::Discovery, message));
            }
            for resource in &version.resources {
                kinds.insert(&group_name, &resource.resource, &version.version);
            }
        }
    }
    Ok(kinds)
}

/// Reads an `APIVersions` or `APIGroupList` into group versions.
///
/// # Errors
/// It can't be read.
pub fn group_versions(body: &[u8]) -> Result<Vec<String>, Gap> {
    let list: VersionsOrGroups = decoded(body)?;
    let groups = list.groups.into_iter().flat_map(|group| group.versions).map(|version| version.group_version);
    Ok(list.versions.into_iter().chain(groups).collect())
}

/// Reads an `APIResourceList`. Subresources are left out.
///
/// # Errors
/// It can't be read, or is not about the group version that was asked for.
pub fn resources(body: &[u8], group_version: &str) -> Result<Kinds, Gap> {
    let list: ResourceList = decoded(body)?;
    if list.group_version != group_version {
        return Err(classify::undecodable(body, WHAT));
    }
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    let mut kinds = Kinds::default();
    for resource in list.resources.iter().filter(|resource| !resource.name.contains('/')) {
        kinds.insert(group, &resource.name, version);
    }
    Ok(kinds)
}

/// Doubts an answer that lacks what every API server has.
fn whole(kinds: Kinds) -> Result<Kinds, Gap> {
    if kinds.names().any(|kind| kind == ("", "namespaces")) {
        return Ok(kinds);
    }
    Err(Gap::new(GapCause::Discovery, format!("{WHAT}: the response does not list namespaces")))
}

fn decoded<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, Gap> {
    serde_json::from_slice(body).map_err(|_| classify::undecodable(body, WHAT))
}

#[derive(Deserialize)]
struct GroupDiscoveryList {
    items: Vec<GroupDiscovery>,
}

#[derive(Deserialize)]
struct GroupDiscovery {
    /// The core group has no name, and then possibly no metadata.
    #[serde(default)]
    metadata: GroupMetadata,
    #[serde(default)]
    versions: Vec<VersionDiscovery>,
}

#[derive(Deserialize, Default)]
struct GroupMetadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct VersionDiscovery {
    version: String,
    #[serde(default)]
    resources: Vec<ResourceDiscovery>,
    freshness: Option<String>,
}

#[derive(Deserialize)]
struct ResourceDiscovery {
    resource: String,
}

#[derive(Deserialize)]
struct VersionsOrGroups {
    #[serde(default)]
    versions: Vec<String>,
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    versions: Vec<GroupVersion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion {
    group_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceList {
    group_version: String,
    resources: Vec<ResourceEntry>,
}

#[derive(Deserialize)]
struct ResourceEntry {
    name: String,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::connect::testing::{answering, block_on};

    fn aggregated_body(freshness: &str) -> Value {
        json!({ "kind": "APIGroupDiscoveryList", "items": [
            { "metadata": { "name": "apps" }, "versions": [
                { "version": "v1", "freshness": freshness, "resources": [
                    { "resource": "deployments", "subresources": [{ "subresource": "scale" }] } ] } ] } ] })
    }

    fn core_body() -> Value {
        json!({ "kind": "APIGroupDiscoveryList", "items": [
            { "metadata": {}, "versions": [ { "version": "v1", "resources": [ { "resource": "namespaces" } ] } ] } ] })
    }

    fn old() -> Vec<(&'static str, u16, Value)> {
        vec![
            ("/api", 200, json!({ "kind": "APIVersions", "versions": ["v1"] })),
            (
                "/apis",
                200,
                json!({ "kind": "APIGroupList", "groups": [
                { "name": "apps", "versions": [ { "groupVersion": "apps/v1", "version": "v1" } ] } ] }),
            ),
            (
                "/api/v1",
                200,
                json!({ "kind": "APIResourceList", "groupVersion": "v1", "resources": [
                { "name": "namespaces" }, { "name": "namespaces/status" } ] }),
            ),
            (
                "/apis/apps/v1",
                200,
                json!({ "kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [
                { "name": "deployments" } ] }),
            ),
        ]
    }

    fn served(answers: Vec<(&'static str, u16, Value)>) -> Served {
        block_on(async { read(&answering(answers)).await })
    }

    #[test]
    fn both_forms_of_discovery_say_the_same() {
        let mut expected = Kinds::default();
        expected.insert("", "namespaces", "v1");
        expected.insert("apps", "deployments", "v1");
        let new = vec![("/api", 200, core_body()), ("/apis", 200, aggregated_body("Current"))];
        let mut mixed = old();
        mixed[1].2 = aggregated_body("Current");
        for (case, answers) in [("aggregated", new), ("old", old()), ("one of each", mixed)] {
            assert_eq!(served(answers), Served::Complete(expected.clone()), "case: {case}");
        }
    }

    #[test]
    fn discovery_with_anything_missing_is_unknown() {
        let broken = |index: usize, code: u16, body: Value| {
            let mut answers = old();
            answers[index] = (answers[index].0, code, body);
            answers
        };
        let cases = [
            (
                "a stale group",
                vec![("/api", 200, core_body()), ("/apis", 200, aggregated_body("Stale"))],
                GapCause::Discovery,
            ),
            ("a group that does not answer", broken(3, 503, json!({})), GapCause::Unreachable),
            ("groups are forbidden", broken(1, 403, json!({})), GapCause::Forbidden),
            ("another kind comes back", broken(1, 200, json!({ "kind": "Status" })), GapCause::Unreadable),
            (
                "another group comes back",
                broken(3, 200, json!({ "groupVersion": "v1", "resources": [] })),
                GapCause::Unreadable,
            ),
            ("no core kinds", broken(2, 200, json!({ "groupVersion": "v1", "resources": [] })), GapCause::Discovery),
        ];
        for (case, answers, expected) in cases {
            match served(answers) {
                Served::Unknown(gap) => assert_eq!(gap.cause, expected, "case: {case}: {}", gap.message),
                other @ (Served::Complete(_) | Served::Recorded(_)) => panic!("case: {case}: {other:?}"),
            }
        }
    }
}
