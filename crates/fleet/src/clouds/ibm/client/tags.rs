//! Global Tagging, the reading half: the tags one resource has now.

use serde::Deserialize;

use super::endpoints::IbmService;
use super::error::CloudError;
use super::session::{Ask, Session, escaped};

/// A resource holds at most 1000 user tags: two pages.
const LIMIT: usize = 500;

#[derive(Deserialize)]
struct Page {
    total_count: Option<usize>,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    name: String,
}

/// The user tags attached to a resource, as the tagging service itself has them.
pub(super) async fn read(session: &Session, crn: &str) -> Result<Vec<String>, CloudError> {
    let base = session.endpoints().base(IbmService::Tagging, "");
    let mut names: Vec<String> = Vec::new();
    loop {
        let url = format!(
            "{base}/v3/tags?tag_type=user&providers=ghost&attached_to={}&limit={LIMIT}&offset={}",
            escaped(crn),
            names.len()
        );
        let page: Page = session.read(&Ask::get(IbmService::Tagging, "list tags", url)).await?;
        let count = page.items.len();
        names.extend(page.items.into_iter().map(|item| item.name));
        // An offset only grows, so this ends: with an empty page at the latest.
        if count == 0 || page.total_count.is_none_or(|total| names.len() >= total) {
            return Ok(names);
        }
    }
}
