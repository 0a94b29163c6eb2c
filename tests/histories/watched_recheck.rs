//! The recheck that ships, with a note of what could be seen while it read.
//!
//! Invariants: the lists of a recheck may be those of a reference scan at most [`REUSED_MAX`] before; anything older counts
//! as not having looked.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::SignedDuration;
use trueup_core::engine::executor::{Recheck, ReferenceScan};
use trueup_core::engine::{Action, RecheckResult};
use trueup_core::world::ClusterIdentity;
use trueup_operate::Rechecker;

use super::fresh_world::HistoryWorld;
use super::planner::target_of;
use super::ports::Hold;
use super::standing::Looked;
use super::world::Target;

/// The identity of a cluster is read between a scan and the next wave, which may take a while behind a slow API.
const REUSED_MAX: Duration = Duration::from_secs(1);

/// How often the referrers are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rereads {
    /// As the executor asks for it.
    Asked,
    /// Never: what the plan says is taken for true.
    Never,
}

pub struct WatchedRecheck {
    pub hold: Hold,
    pub rechecker: Rechecker<HistoryWorld>,
    pub rereads: Rereads,
}

impl WatchedRecheck {
    /// What could be seen of the references to these targets when the referrers were last listed.
    fn seen(&self, actions: &[&Action]) -> BTreeMap<Target, Looked> {
        let Hold { shared, who } = &self.hold;
        let world = shared.lock();
        let standing = &world.engines[*who];
        // A list that the recheck reuses and one that it reads first are equally old when another read is slow.
        let reused_max = SignedDuration::try_from(REUSED_MAX).unwrap_or_default();
        let is_recent = |looked: &Looked| standing.recheck_began.duration_since(looked.at) <= reused_max;
        let honest = standing.honest && self.rereads == Rereads::Asked;
        let targets = actions.iter().map(|action| target_of(action));
        let looked = targets.filter_map(|target| {
            let looked = *standing.references.get(&target)?;
            let is_usable = self.rereads == Rereads::Never || is_recent(&looked);
            is_usable.then_some((target, Looked { honest: looked.honest && honest, ..looked }))
        });
        looked.collect()
    }

    fn begin(&self) {
        let Hold { shared, who } = &self.hold;
        let mut world = shared.lock();
        let now = world.now();
        let standing = &mut world.engines[*who];
        standing.recheck_began = now;
        standing.late.clear();
    }
}

impl Recheck for WatchedRecheck {
    fn read_identity<'a>(&'a mut self, cluster: &'a str) -> BoxFuture<'a, Option<ClusterIdentity>> {
        self.rechecker.read_identity(cluster)
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>> {
        async move {
            self.begin();
            let judged = match self.rereads {
                Rereads::Asked => self.rechecker.judge_again(actions).await,
                Rereads::Never => vec![RecheckResult::Same; actions.len()],
            };
            let seen = self.seen(actions);
            let Hold { shared, who } = &self.hold;
            let standing = &mut shared.lock().engines[*who];
            standing.judged.retain(|target, _| !actions.iter().any(|action| target_of(action) == *target));
            standing.judged.extend(seen);
            judged
        }
        .boxed()
    }

    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>> {
        async move {
            self.begin();
            let found = self.rechecker.scan_references(deleted).await;
            let seen = self.seen(deleted);
            let Hold { shared, who } = &self.hold;
            let mut world = shared.lock();
            // Only a reference to a missing object that stood while the lists were read could not be overlooked.
            let unchanged = |(target, looked): (Target, Looked)| {
                let is_gone = !looked.present && !world.is_present(&target);
                let honest = looked.honest && is_gone && world.reference_changes(&target) == looked.changes;
                (target, Looked { honest, ..looked })
            };
            let looked: Vec<(Target, Looked)> = seen.into_iter().map(unchanged).collect();
            world.engines[*who].looked_back.extend(looked);
            found
        }
        .boxed()
    }
}
