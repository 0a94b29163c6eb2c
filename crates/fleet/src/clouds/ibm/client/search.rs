//! Global Search: the tags of everything in the account, a thousand resources in a few calls.
//!
//! Invariant: what it says may be behind by a minute and leaves out what the key may not see. It is fit to look at an
//! account, never to decide on a write: right before one, `tags::read` asks the tagging service itself.

use std::collections::BTreeMap;

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::endpoints::IbmService;
use super::error::CloudError;
use super::paging::Pages;
use super::session::{Ask, Session};

/// One page. The service's default is 10, which would make a hundred calls of what five can say.
const LIMIT: usize = 500;

/// What an inventory holds and search knows: VPC's resources, gateways, instances.
const QUERY: &str = "(family:is AND (type:vpc OR type:subnet OR type:security-group OR type:load-balancer)) OR \
                     (family:resource_controller AND (type:gateway OR type:resource-instance))";

#[derive(Deserialize)]
struct Page {
    items: Vec<Item>,
    search_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    crn: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// The tags by CRN. Instances that wait for their reclamation are included.
pub(super) async fn tags(session: &Session, account: &str) -> Result<BTreeMap<String, Vec<String>>, CloudError> {
    let base = session.endpoints().base(IbmService::Search, "");
    let url = format!("{base}/v3/resources/search?limit={LIMIT}&account_id={account}&is_reclaimed=any");
    let mut ask = Ask { method: Method::POST, ..Ask::get(IbmService::Search, "search tags", url) };
    let (mut found, mut followed) = (BTreeMap::new(), Pages::default());
    let mut cursor: Option<String> = None;
    loop {
        let mut body = json!({ "query": QUERY, "fields": ["crn", "tags"] });
        if let Some(cursor) = &cursor {
            body["search_cursor"] = json!(cursor);
        }
        ask.body = Some(body);
        let page: Page = session.read(&ask).await?;
        let whole = page.items.len() >= LIMIT;
        found.extend(page.items.into_iter().filter_map(|item| Some((item.crn?, item.tags.unwrap_or_default()))));
        match page.search_cursor.filter(|cursor| whole && !cursor.is_empty()) {
            Some(next) => cursor = Some(followed.follow(next).map_err(|problem| ask.error(problem))?),
            None => return Ok(found),
        }
    }
}
