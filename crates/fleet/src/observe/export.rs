//! The objects of a collection as the server sends them, to record them.
//!
//! Invariants: the same requests as those that facts come from, so that a recording holds what was judged; a list counts
//! only when its last page has arrived and all its pages have the same version; the texts are wiped when dropped.
//!
//! Elsewhere: what of them may be written to a file (`trueup_operate`, gather).

use serde::Deserialize;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::api_client::{ApiClient, Failure, Operation};
use super::request::{PAGE_LIMIT, Part};
use trueup_core::world::{CollectionId, Content, Gap, Scope};

/// Attempts at a list that expires while paging.
const ATTEMPTS_MAX: u32 = 3;
/// Pages of one list; a server that never ends is not followed.
const PAGES_MAX: u32 = 20_000;

/// An object as JSON text. The items of a list have no kind of their own.
pub type ObjectText = Zeroizing<String>;

#[derive(Deserialize)]
struct Page<'a> {
    metadata: PageMeta,
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMeta {
    #[serde(default)]
    resource_version: String,
    #[serde(default, rename = "continue")]
    rest: String,
}

/// Reads every object of a collection. One that is read by name and does not exist is none.
///
/// # Errors
/// Why it cannot be read completely.
pub async fn export(client: &kube::Client, id: &CollectionId) -> Result<Vec<ObjectText>, Gap> {
    let api = ApiClient { client: client.clone() };
    let part = Part { id, narrowed_to: None };
    if let Scope::Object { .. } = id.scope {
        return match api.read(&part, Operation::Reading, &part.get(), part.accept_object()).await {
            Ok(body) => text(&part, &body).map(|text| vec![text]).map_err(|failure| gap(failure, &part)),
            Err(Failure::NotFound(_)) => Ok(Vec::new()),
            Err(failure) => Err(gap(failure, &part)),
        };
    }
    for _ in 1..ATTEMPTS_MAX {
        match list(&api, &part).await {
            Err(Failure::Expired) => {}
            listed => return listed.map_err(|failure| gap(failure, &part)),
        }
    }
    list(&api, &part).await.map_err(|failure| gap(failure, &part))
}

fn gap(failure: Failure, part: &Part<'_>) -> Gap {
    failure.into_failed_read(part, Operation::Listing).gap
}

async fn list(api: &ApiClient, part: &Part<'_>) -> Result<Vec<ObjectText>, Failure> {
    let accept = match part.id.content {
        Content::Full => "application/json",
        Content::Metadata => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    };
    let (mut objects, mut token, mut version) = (Vec::new(), String::new(), None);
    for _ in 0..PAGES_MAX {
        let body = api.read(part, Operation::Listing, &part.list(&token, PAGE_LIMIT), accept).await?;
        let page: Page<'_> = serde_json::from_slice(&body)
            .map_err(|_| Failure::unreadable(part, Operation::Listing, "the response is not a list"))?;
        let Page { metadata: PageMeta { resource_version, rest }, items } = page;
        if version.get_or_insert_with(|| resource_version.clone()) != &resource_version {
            return Err(Failure::Expired);
        }
        objects.extend(items.unwrap_or_default().into_iter().map(|item| Zeroizing::new(item.get().to_owned())));
        if rest.is_empty() {
            return Ok(objects);
        }
        token = rest;
    }
    Err(Failure::unreadable(part, Operation::Listing, "the list does not end"))
}

fn text(part: &Part<'_>, body: &[u8]) -> Result<ObjectText, Failure> {
    let text = std::str::from_utf8(body);
    let text = text.map_err(|_| Failure::unreadable(part, Operation::Reading, "the response is not text"))?;
    Ok(Zeroizing::new(text.to_owned()))
}
