//! Listing collections through an API that may fail or give a wrong answer.
//!
//! Invariants:
//! - a list counts only when its last page arrived; what did not arrive in time is late, what failed is a gap;
//! - what the answers held is also kept as JSON, apart from the facts made of it, for the truth to compare with.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use trueup_core::decode::projection::{ProjectedFacts, Projection};
use trueup_core::decode::{self, Digester};
use trueup_core::world::{CollectionId, Gap, GapCause, Interest, Interner, ResourceVersion, Scope};
use trueup_sim::Request;

use super::ports::Hold;
use super::world::{APPS, CONFIG, Heard, SOURCES, Site, Target};

/// How long an answer is waited for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// Objects of one page: few, so that lists have several.
const PAGE: usize = 5;

/// Reads lists for one engine.
pub struct Lister {
    pub hold: Hold,
    pool: Interner,
    digester: Digester,
    /// Everything the lists held, as JSON, where it is kept.
    pub seen: Option<SeenObjects>,
}

/// Whether what was listed is kept as JSON: for a plan, whose truth is compared with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepsObjects {
    Yes,
    No,
}

/// What the lists of one process held.
#[derive(Debug, Clone, Default)]
pub struct SeenObjects {
    /// By target: the object as it was listed last.
    pub candidates: BTreeMap<Target, Value>,
    /// What copies are made of, by cluster.
    pub sources: BTreeMap<usize, Value>,
    /// Clusters whose referrers were not read to the end.
    pub unread_referrers: BTreeSet<usize>,
    /// Clusters whose list of referrers came back empty.
    pub empty_referrers: BTreeSet<usize>,
}

/// The result of listing a collection.
pub enum Listed {
    Whole {
        facts: ProjectedFacts,
        version: ResourceVersion,
    },
    Failed(Gap),
    /// No answer in time.
    Late,
}

enum Unanswered {
    Failed(Gap),
    Late,
}

impl Lister {
    pub fn new(hold: Hold, keeps: KeepsObjects) -> Self {
        let seen = (keeps == KeepsObjects::Yes).then(SeenObjects::default);
        Self { hold, pool: Interner::default(), digester: Digester::new(&[0; 32]), seen }
    }

    /// Lists a collection, or reads the one object it is about.
    pub async fn list(&mut self, interest: &Interest) -> Listed {
        let projection = Projection::new(&interest.id, &[interest.fact], &self.digester);
        let listed = match &interest.id.scope {
            Scope::Object { name, .. } => self.read_object(&interest.id, name.as_str(), &projection).await,
            Scope::All | Scope::Namespace(_) => self.read_pages(&interest.id, &projection).await,
        };
        let listed = listed.unwrap_or_else(|unanswered| match unanswered {
            Unanswered::Failed(gap) => Listed::Failed(gap),
            Unanswered::Late => Listed::Late,
        });
        self.note_referrers(&interest.id, &listed);
        listed
    }

    async fn read_pages(&mut self, id: &CollectionId, projection: &Projection) -> Result<Listed, Unanswered> {
        let path = path_of(id);
        let mut facts = projection.new_facts();
        let mut next = format!("{path}?limit={PAGE}");
        loop {
            let bytes = self.ask(id, &next).await?;
            let pool = &mut self.pool;
            let head = decode::list(projection.reader(), &bytes, &mut |raw| facts.push(raw, pool));
            let head = head.map_err(|_| Unanswered::Failed(gap("the answer is not a list")))?;
            self.note_objects(id, &bytes);
            if head.continue_token.is_empty() {
                return Ok(Listed::Whole { facts, version: ResourceVersion::parse(&head.resource_version) });
            }
            next = format!("{path}?limit={PAGE}&continue={}", head.continue_token);
        }
    }

    async fn read_object(
        &mut self,
        id: &CollectionId,
        name: &str,
        projection: &Projection,
    ) -> Result<Listed, Unanswered> {
        let bytes = self.ask(id, &format!("{}/{name}", path_of(id))).await?;
        let no_object = |_| Unanswered::Failed(gap("the answer is not an object"));
        let text = std::str::from_utf8(&bytes).map_err(|_| no_object(()))?;
        let raw = projection.reader().object(text).map_err(|_| no_object(()))?;
        let mut facts = projection.new_facts();
        facts.push(&raw, &mut self.pool);
        let version = ResourceVersion::parse(&raw.meta.resource_version);
        if let Some(seen) = &mut self.seen {
            let object = serde_json::from_slice(&bytes).map_err(|_| no_object(()))?;
            seen.sources.insert(Site::of(id.cluster.as_str()), object);
        }
        Ok(Listed::Whole { facts, version })
    }

    fn note_objects(&mut self, id: &CollectionId, page: &[u8]) {
        let Some(seen) = &mut self.seen else { return };
        if id.namespace().is_none_or(|namespace| namespace.as_str() != CONFIG) {
            return;
        }
        let mut page: Value = serde_json::from_slice(page).unwrap_or_default();
        for item in page["items"].as_array_mut().into_iter().flatten() {
            let name = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let target = Target { site: Site::of(id.cluster.as_str()), name };
            seen.candidates.insert(target, item.take());
        }
    }

    fn note_referrers(&mut self, id: &CollectionId, listed: &Listed) {
        let Some(seen) = &mut self.seen else { return };
        if id.namespace().is_none_or(|namespace| namespace.as_str() != APPS) {
            return;
        }
        let site = Site::of(id.cluster.as_str());
        let (unread, empty) = match listed {
            Listed::Whole { facts, .. } => (false, facts.objects() == 0),
            Listed::Failed(_) | Listed::Late => (true, false),
        };
        note(&mut seen.unread_referrers, site, unread);
        note(&mut seen.empty_referrers, site, empty);
    }

    async fn ask(&mut self, id: &CollectionId, target: &str) -> Result<bytes::Bytes, Unanswered> {
        let Hold { shared, who } = self.hold.clone();
        let latency = shared.lock().faults.latency;
        if latency {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let heard = shared.lock().ask(who, Site::of(id.cluster.as_str()), &Request::get(target));
        match heard {
            Heard::Reply { reply, lied } => {
                shared.lock().engines[who].honest &= !lied;
                let is_whole = reply.status == 200 && !reply.cut;
                if is_whole { Ok(reply.body) } else { Err(Unanswered::Failed(gap(&reply.status.to_string()))) }
            }
            Heard::Lost => Err(Unanswered::Failed(gap("the connection broke"))),
            Heard::Silence => {
                tokio::time::sleep(ANSWER_TIMEOUT).await;
                shared.lock().came_back(who);
                Err(Unanswered::Late)
            }
            Heard::Dead => std::future::pending().await,
        }
    }
}

fn note(sites: &mut BTreeSet<usize>, site: usize, is_in: bool) {
    if is_in {
        sites.insert(site);
    } else {
        sites.remove(&site);
    }
}

fn path_of(id: &CollectionId) -> String {
    let namespace = id.namespace().map_or(SOURCES, |namespace| namespace.as_str());
    format!("/api/v1/namespaces/{namespace}/{}", id.resource.plural)
}

pub fn gap(why: &str) -> Gap {
    Gap::new(GapCause::CutShort, why)
}
