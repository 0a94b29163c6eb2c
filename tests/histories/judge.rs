//! The small rule of these histories, and judging by it again before a write.
//!
//! The rule: an object that carries a proof of ours, waits for nothing and that no referrer of any cluster names is
//! superfluous; an object that asks for the mark and is named lacks it; a Secret that asks to be a copy is behind when it is
//! not what the source of its cluster is.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use trueup_core::engine::executor::{Recheck, ReferenceScan};
use trueup_core::engine::{Action, Difference, IdentityRecord, RecheckResult, Verb};

use super::lists::{Item, Lister, Unread};
use super::ports::Hold;
use super::standing::Looked;
use super::world::{COPIED, MARK, Target};

/// What the rule wants done to an object.
pub fn wanted(target: &Target, item: &Item, references: &BTreeSet<Target>, source: Option<&Item>) -> Option<Verb> {
    if item.metadata.deletion_timestamp.is_some() || item.proofs().is_empty() {
        return None;
    }
    if item.metadata.labels["wants"] == "copy" {
        return source.filter(|source| source.data[COPIED] != item.data[COPIED]).map(|_| Verb::Update);
    }
    let asks = item.metadata.labels["wants"] == "mark";
    match (references.contains(target), asks) {
        (false, false) => Some(Verb::Delete),
        (_, true) if item.metadata.labels[MARK].is_null() => Some(Verb::Label),
        (true, false) | (_, true) => None,
    }
}

/// A delete needs both proofs.
fn differs(why: &str) -> RecheckResult {
    RecheckResult::Differs(Difference::NotRead(why.to_owned()))
}

fn is_ours(verb: Verb, item: &Item) -> bool {
    verb != Verb::Delete || item.proofs().len() >= 2
}

/// How often the referrers are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rereads {
    /// As the executor asks for it.
    Asked,
    /// Never: what the plan says is taken for true.
    Never,
}

/// Judging again with fresh lists.
pub struct Judge {
    lister: Lister,
    sites: usize,
    rereads: Rereads,
}

impl Judge {
    pub fn new(hold: Hold, sites: usize, rereads: Rereads) -> Self {
        Self { lister: Lister::new(hold), sites, rereads }
    }

    /// What can be seen of the references to these targets now.
    fn seen_now(&self, targets: &[Target]) -> BTreeMap<Target, Looked> {
        let world = self.lister.hold.shared.lock();
        let seen = |target: &Target| {
            let (referenced, changes) = world.references_now(target);
            (target.clone(), Looked { referenced, changes, honest: true, at: world.now() })
        };
        targets.iter().map(seen).collect()
    }

    async fn references(&mut self) -> Result<BTreeSet<Target>, Unread> {
        let mut all = BTreeSet::new();
        for site in 0..self.sites {
            all.extend(self.lister.references(site).await?);
        }
        Ok(all)
    }

    async fn judge(&mut self, actions: &[&Action]) -> Result<Vec<RecheckResult>, Unread> {
        let references = self.references().await?;
        let mut found = BTreeMap::new();
        let mut sources = BTreeMap::new();
        let sites: BTreeSet<usize> = actions.iter().map(|action| target_of(action).site).collect();
        for site in sites {
            found.extend(self.lister.candidates(site).await?);
            sources.insert(site, self.lister.source(site).await);
        }
        let again = |action: &&Action| {
            let target = target_of(action);
            let Some(item) = found.get(&target) else { return differs("it is gone") };
            let source = sources.get(&target.site).and_then(Option::as_ref);
            let bound = action.preconditions.source.as_ref().map(|bound| &bound.resource_version);
            let same = Some(&item.metadata.uid) == action.preconditions.uid.as_ref()
                && Some(&item.metadata.resource_version) == action.preconditions.resource_version.as_ref()
                && (bound.is_none() || bound == source.map(|source| &source.metadata.resource_version));
            match wanted(&target, item, &references, source) {
                Some(verb) if verb == action.verb() && same && is_ours(verb, item) => RecheckResult::Same,
                Some(_) => differs("it changed"),
                None => differs("it is needed, or not ours"),
            }
        };
        Ok(actions.iter().map(again).collect())
    }
}

impl Recheck for Judge {
    fn read_identity<'a>(&'a mut self, cluster: &'a str) -> BoxFuture<'a, Option<IdentityRecord>> {
        async move { Some(self.lister.identity(site_of(cluster)).await) }.boxed()
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>> {
        async move {
            let targets: Vec<Target> = actions.iter().map(|action| target_of(action)).collect();
            let seen = self.seen_now(&targets);
            self.lister.honest = true;
            let judged = match self.rereads {
                Rereads::Asked => self.judge(actions).await,
                Rereads::Never => Ok(vec![RecheckResult::Same; actions.len()]),
            };
            let honest = self.lister.honest && self.rereads == Rereads::Asked;
            let Hold { shared, who } = &self.lister.hold;
            let seen = seen.into_iter().map(|(target, looked)| (target, Looked { honest, ..looked }));
            shared.lock().engines[*who].judged.extend(seen);
            judged.unwrap_or_else(|unread| vec![differs(unread.says()); actions.len()])
        }
        .boxed()
    }

    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>> {
        async move {
            let targets: Vec<Target> = deleted.iter().map(|action| target_of(action)).collect();
            let before = self.seen_now(&targets);
            self.lister.honest = true;
            let references = self.references().await;
            // Only what stood all the while the lists were read could not be missed.
            let honest = self.lister.honest;
            let after = self.seen_now(&targets);
            let stood = |(target, looked): (Target, Looked)| {
                let same = after.get(&target).is_some_and(|after| after.changes == looked.changes);
                (target, Looked { honest: honest && same, ..looked })
            };
            let Hold { shared, who } = &self.lister.hold;
            shared.lock().engines[*who].looked_back.extend(before.into_iter().map(stood));
            let found = |target: &Target| match &references {
                Ok(all) if all.contains(target) => ReferenceScan::Referenced("a referrer names it".to_owned()),
                Ok(_) => ReferenceScan::Nothing,
                Err(unread) => ReferenceScan::Unknown(unread.says().to_owned()),
            };
            targets.iter().map(found).collect()
        }
        .boxed()
    }
}

/// The cluster behind a name.
pub fn site_of(cluster: &str) -> usize {
    cluster.trim_start_matches("guest-").parse().unwrap_or(0)
}

pub fn target_of(action: &Action) -> Target {
    Target { site: site_of(&action.cluster), name: action.target.name.clone() }
}
