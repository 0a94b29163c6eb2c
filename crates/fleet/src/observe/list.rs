//! A consistent list, page by page, decoded into facts.
//!
//! Invariants:
//! - a list is complete only when its last page has arrived and all its pages have the same version;
//! - its first page may be shown earlier, as a partial list and never as a complete one;
//! - pages read before the server expired the list (410) are dropped, and a list over a budget is dropped as a whole;
//! - a continue token that repeats is an error: such a list has no end;
//! - a body that is not a list is never an empty list.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use jiff::Timestamp;

use super::api_client::{FailedRead, Failure, Operation};
use super::collection_task::CollectionTask;
use super::request::{PAGE_LIMIT, Part};
use crate::budgets::{Budget, Budgets, Charge};
use crate::connect::classify;
use trueup_core::decode::projection::{ProjectedFacts, Projection};
use trueup_core::decode::{self, ListHead};
use trueup_core::world::{Delta, Gap, GapCause, Interner, ResourceVersion};

/// Attempts at a list that expires while paging. A list that cannot be read three times within the server's window of
/// about five minutes is too slow to be read at all.
const ATTEMPTS_MAX: u32 = 3;

/// Size of the first page when it is shown at once: a large screen, so that it arrives fast.
const FIRST_PAGE_LIMIT: u32 = 100;

/// What is reported before the list is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Early {
    /// The first page, if more follow and nothing of this collection has been reported yet.
    FirstPage,
    Nothing,
}

/// A complete list.
pub(super) struct Listed {
    pub facts: ProjectedFacts,
    pub version: ResourceVersion,
    /// When the list was requested: its content may have changed since.
    pub at: Timestamp,
    /// Counts the facts until they are queued.
    pub charge: Charge,
}

/// One decoded page.
struct Page {
    facts: ProjectedFacts,
    head: ListHead,
}

/// Lists a part of a collection.
///
/// # Errors
/// The remaining gap, and the server's Retry-After. Nothing of an incomplete list counts.
pub(super) async fn list(
    task: &CollectionTask,
    part: &Part<'_>,
    projection: &Projection,
    early: Early,
) -> Result<Listed, FailedRead> {
    for attempt in 1..=ATTEMPTS_MAX {
        match list_once(task, part, projection, early).await {
            Ok(listed) => return Ok(listed),
            Err(Failure::Expired) => {
                tracing::warn!(cluster = %part.id.cluster, what = part.describe(), attempt, "list expired while paging");
            }
            Err(Failure::NotFound(failed) | Failure::Other(failed)) => return Err(failed),
        }
    }
    Err(Failure::Expired.into_failed_read(part, Operation::Listing))
}

async fn list_once(
    task: &CollectionTask,
    part: &Part<'_>,
    projection: &Projection,
    early: Early,
) -> Result<Listed, Failure> {
    let at = task.ports.clock.now();
    let mut pool = Interner::default();
    let mut gathered = Gathered::new(task, projection);
    let mut token = String::new();
    let mut version: Option<String> = None;
    loop {
        let begins = early == Early::FirstPage && token.is_empty();
        let limit = if begins { FIRST_PAGE_LIMIT } else { PAGE_LIMIT };
        let body = task.api.read(part, Operation::Listing, &part.list(&token, limit), part.accept_list()).await?;
        let page = read_page(part, projection, &mut pool, &body)?;
        if begins && !page.head.continue_token.is_empty() {
            report_first_page(task, part, read_page(part, projection, &mut pool, &body)?);
        }
        let shown = page.head.resource_version;
        // A watch needs a version; `0` and empty would mean "any version".
        if shown.is_empty() || shown == "0" {
            return Err(Failure::unreadable(part, Operation::Listing, "the list has no resourceVersion"));
        }
        if version.as_ref().is_some_and(|first| *first != shown) {
            // Pages of two versions are not a list: changes between them would be missed.
            return Err(Failure::Expired);
        }
        task.count_listed(page.facts.objects());
        gathered.take(task, part, page.facts, &page.head.continue_token)?;
        if page.head.continue_token.is_empty() {
            let Gathered { facts, charge, .. } = gathered;
            return Ok(Listed { facts, version: ResourceVersion::parse(&shown), at, charge });
        }
        token = page.head.continue_token;
        version = Some(shown);
    }
}

/// The pages of a list so far, and what they count for.
struct Gathered {
    facts: ProjectedFacts,
    charge: Charge,
    budgets: Budgets,
    pages: u64,
    objects: u64,
    /// Hashes of the continue tokens.
    tokens: HashSet<u64>,
    hasher: RandomState,
}

impl Gathered {
    fn new(task: &CollectionTask, projection: &Projection) -> Self {
        let (charge, budgets) = (task.charge(), *task.ports.ledger.budgets());
        let (facts, hasher) = (projection.new_facts(), RandomState::new());
        Self { facts, charge, budgets, pages: 0, objects: 0, tokens: HashSet::new(), hasher }
    }

    fn take(
        &mut self,
        task: &CollectionTask,
        part: &Part<'_>,
        page: ProjectedFacts,
        token: &str,
    ) -> Result<(), Failure> {
        self.pages += 1;
        self.objects += page.objects() as u64;
        self.charge.add(page.bytes());
        self.facts.append(page);
        let over = |budget| Failure::over_budget(part, Operation::Listing, &self.budgets.over(budget));
        if self.objects > self.budgets.objects_per_collection {
            return Err(over(Budget::ObjectsPerCollection));
        }
        if self.pages >= self.budgets.pages_per_list && !token.is_empty() {
            return Err(over(Budget::PagesPerList));
        }
        task.within_budget().map_err(|over| Failure::over_budget(part, Operation::Listing, &over))?;
        if !token.is_empty() && !self.tokens.insert(self.hasher.hash_one(token)) {
            let why = "the server repeated a continue token";
            return Err(Failure::because(GapCause::CutShort, part, Operation::Listing, why));
        }
        Ok(())
    }
}

/// Reports the first page while the rest is read.
fn report_first_page(task: &CollectionTask, part: &Part<'_>, page: Page) {
    let message = format!("listing {}: {} so far", part.describe(), page.facts.objects());
    for row in page.facts.rows {
        let gap = Gap::new(GapCause::NotObserved, message.clone());
        task.put(row.kind, Delta::Begun { facts: row.facts, gap });
    }
}

fn read_page(part: &Part<'_>, projection: &Projection, pool: &mut Interner, body: &[u8]) -> Result<Page, Failure> {
    let mut facts = projection.new_facts();
    if decode::is_protobuf(body) {
        let head = decode::protobuf_list(projection.reader(), body, &mut |raw| facts.push(raw, pool))
            .map_err(|error| Failure::unreadable(part, Operation::Listing, &error.to_string()))?;
        refuse_other_kind(part, &head.kind)?;
        return Ok(Page { facts, head });
    }
    if let Ok(head) = decode::list(projection.reader(), body, &mut |raw| facts.push(raw, pool)) {
        refuse_other_kind(part, &head.kind)?;
        return Ok(Page { facts, head });
    }
    // One object has another schema: decode object by object, so that the others are kept.
    let mut facts = projection.new_facts();
    let texts = decode::items(body).map_err(|_| {
        Failure::Other(FailedRead {
            gap: classify::undecodable(body, &Operation::Listing.what(part)),
            retry_after: None,
        })
    })?;
    refuse_other_kind(part, &texts.kind)?;
    for text in texts.items {
        match projection.reader().object(text.get()) {
            Ok(raw) => facts.push(&raw, pool),
            Err(error) => facts.spoil(&error.to_string()),
        }
    }
    Ok(Page { facts, head: texts.metadata })
}

/// A list of another kind says nothing of this one, however empty it is.
fn refuse_other_kind(part: &Part<'_>, kind: &str) -> Result<(), Failure> {
    let item = kind.strip_suffix("List").unwrap_or(kind);
    if kind.is_empty() || item.is_empty() || part.is_kind(item) {
        return Ok(());
    }
    Err(Failure::unreadable(part, Operation::Listing, "the server sent a list of another kind"))
}
