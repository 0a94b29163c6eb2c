//! A consistent list, page by page, straight into facts.
//!
//! Always true:
//! - a list counts only when its last page has arrived, and all its pages show the same version;
//! - its first page may be shown before, as a beginning and never as an answer;
//! - pages gathered before the server let go of the list (410) are thrown away;
//! - a body that is no list is never an empty one.

use jiff::Timestamp;

use super::ask::{Doing, Failure, Lack};
use super::collection_task::CollectionTask;
use super::request::{PAGE_LIMIT, Part};
use crate::connect::classify;
use trueup_core::decode::projection::{ProjectedFacts, Projection};
use trueup_core::decode::{self, ListHead};
use trueup_core::world::{Delta, Gap, GapCause, Interner, ResourceVersion};

/// How often a list that the server let go of is begun again before it counts as not known. A list that can't be
/// finished three times within the server's window of about five minutes is too slow to be finished at all.
const BEGINNINGS_MAX: u32 = 3;

/// The size of a first page that is shown at once: what fits on a large screen, and no more, so that it comes fast.
const BEGINNING_LIMIT: u32 = 100;

/// What of a list is handed on before it is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Early {
    /// The first page, where more follow: nobody has seen anything of this collection yet.
    FirstPage,
    Nothing,
}

/// A whole list.
pub(super) struct Listed {
    pub facts: ProjectedFacts,
    pub version: ResourceVersion,
    /// When it was asked for: what it shows may have changed from then on.
    pub at: Timestamp,
}

/// One page's worth of answer.
struct Page {
    facts: ProjectedFacts,
    head: ListHead,
}

/// Lists a part of a collection.
///
/// # Errors
/// The gap that is left, and the wait the server asked for. Of an unfinished list nothing counts.
pub(super) async fn list(
    task: &CollectionTask,
    part: &Part<'_>,
    projection: &Projection,
    early: Early,
) -> Result<Listed, Lack> {
    for beginning in 1..=BEGINNINGS_MAX {
        match list_once(task, part, projection, early).await {
            Ok(listed) => return Ok(listed),
            Err(Failure::Expired) => {
                tracing::warn!(cluster = %part.id.cluster, what = part.describe(), beginning, "list let go half-way, begun again");
            }
            Err(Failure::NotFound(lack) | Failure::Other(lack)) => return Err(lack),
        }
    }
    Err(Failure::Expired.into_lack(part, Doing::Listing))
}

async fn list_once(
    task: &CollectionTask,
    part: &Part<'_>,
    projection: &Projection,
    early: Early,
) -> Result<Listed, Failure> {
    let at = task.ports.clock.now();
    let mut pool = Interner::default();
    let mut gathered = projection.new_facts();
    let mut token = String::new();
    let mut version: Option<String> = None;
    loop {
        let begins = early == Early::FirstPage && token.is_empty();
        let limit = if begins { BEGINNING_LIMIT } else { PAGE_LIMIT };
        let body = task.asker.read(part, Doing::Listing, &part.list(&token, limit), part.accept_list()).await?;
        let page = read_page(part, projection, &mut pool, &body)?;
        if begins && !page.head.continue_token.is_empty() {
            show_beginning(task, part, read_page(part, projection, &mut pool, &body)?);
        }
        let shown = page.head.resource_version;
        // Without a version there is nothing to watch from; `0` and empty would mean "any moment".
        if shown.is_empty() || shown == "0" {
            return Err(Failure::unreadable(part, Doing::Listing, "the list carries no version"));
        }
        if version.as_ref().is_some_and(|first| *first != shown) {
            // Two moments stitched together are no moment: changes between them would be missed.
            return Err(Failure::Expired);
        }
        task.count_listed(page.facts.objects());
        gathered.append(page.facts);
        if page.head.continue_token.is_empty() {
            return Ok(Listed { facts: gathered, version: ResourceVersion::parse(&shown), at });
        }
        token = page.head.continue_token;
        version = Some(shown);
    }
}

/// Hands on the first page while the rest is read.
fn show_beginning(task: &CollectionTask, part: &Part<'_>, page: Page) {
    let says = format!("{} is being listed; {} seen so far", part.describe(), page.facts.objects());
    for row in page.facts.rows {
        let gap = Gap::new(GapCause::NotObserved, says.clone());
        task.put(row.kind, Delta::Begun { facts: row.facts, gap });
    }
}

fn read_page(part: &Part<'_>, projection: &Projection, pool: &mut Interner, body: &[u8]) -> Result<Page, Failure> {
    let mut facts = projection.new_facts();
    if let Ok(head) = decode::list(projection.reader(), body, &mut |raw| facts.push(raw, pool)) {
        return Ok(Page { facts, head });
    }
    // Some object has another shape: read object by object, so that the others are kept.
    let mut facts = projection.new_facts();
    let texts = decode::items(body).map_err(|_| {
        Failure::Other(Lack { gap: classify::undecodable(body, &Doing::Listing.what(part)), retry_after: None })
    })?;
    for text in texts.items {
        match projection.reader().object(text.get()) {
            Ok(raw) => facts.push(&raw, pool),
            Err(error) => facts.spoil(&error.to_string()),
        }
    }
    Ok(Page { facts, head: texts.metadata })
}
