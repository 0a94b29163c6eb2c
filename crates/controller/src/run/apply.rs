//! Applying an approved Proposal: the same admission, approval and executor as every front end, under the Lease.
//!
//! Invariants:
//! - a run begins with the phase Applying, written at the version that was approved: of two replicas one is refused;
//! - the status says what the report says, and names the last hash of the journal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Controller;
use super::proposals::{Consent, Waits};
use crate::api::{JournalRecord, Phase, Proposal};
use crate::held::LeaseGuard;
use crate::mirror::RequestError;
use crate::recorded::Recorded;
use crate::shard::ShardId;
use crate::status;
use trueup_core::engine::executor::{Progress, Report};
use trueup_core::engine::{Action, ForeignPlan, approve, short_id};
use trueup_operate::{
    ApplyOptions, Authority, OperateError, Reach, admit, apply_with, history_entries, read_history, read_recovered,
};

/// How often the end of a run is written when another writer is faster.
const WRITES_MAX: usize = 5;

impl Controller {
    /// Applies a Proposal and writes what came back.
    pub(super) async fn apply(
        &mut self,
        shard: ShardId,
        object: &Proposal,
        recorded: &Arc<Recorded>,
        consent: Consent,
    ) -> Result<(), Waits> {
        let Some(work) = self.held.begin(shard) else {
            return Err(Waits::NotHere(format!("shard {shard} is not held by this replica any more")));
        };
        let why = format!("applying, approved by {}", consent.who);
        let applying = self.enter(object, Phase::Applying, &why, |_| {}).await?;
        let ended = self.run_plan(shard, recorded, consent).await;
        drop(work);
        let at = self.held.clocks.wall();
        let (phase, why, records) = match &ended {
            Ok(report) => {
                (status::phase_of(report), status::summary(report), status::records(&recorded.plan, report, at))
            }
            Err(error) => (Phase::Refused, error.cause(), Vec::new()),
        };
        let journal = self.last_record(recorded);
        let mut object = applying;
        for _ in 0..WRITES_MAX {
            let (records, journal) = (records.clone(), journal.clone());
            let change = |status: &mut crate::api::ProposalStatus| {
                status.actions = records;
                status.journal = journal.or(status.journal.take());
            };
            match self.enter(&object, phase, &why, change).await {
                Ok(written) => {
                    tracing::info!(proposal = recorded.name, phase = phase.as_str(), result = why, "Proposal ended");
                    self.hub.event(&written, phase.as_str(), &why, phase == Phase::Applied).await;
                    return Ok(());
                }
                Err(RequestError::Conflict) => {
                    let Some(now) = super::propose::fresh(self.proposals.api(), &recorded.name).await? else {
                        return Ok(());
                    };
                    object = now;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(RequestError::Conflict.into())
    }

    /// Judges the plan again, approves it and runs it.
    async fn run_plan(&self, shard: ShardId, recorded: &Recorded, consent: Consent) -> Result<Report, OperateError> {
        let Consent { chosen, answers, approvers: _, who } = consent;
        let plan = recorded.plan.as_ref().clone();
        let admission = admit(&self.fleet, plan, chosen, ForeignPlan::Refuse).await?;
        let approved = approve(admission, &answers, self.held.clocks.wall()).map_err(OperateError::Refused)?;
        let guard = Arc::new(LeaseGuard { held: self.held.clone(), shard });
        let authority = Authority { who, guard };
        let metrics = self.metrics.clone();
        let mut progress = move |action: &Action, progress: Progress<'_>| {
            if let Progress::Ended(end) = progress {
                metrics.action(&action.domain, action.verb().as_str(), end.as_str());
            }
        };
        apply_with(&self.fleet, approved, ApplyOptions::default(), authority, &self.stop.flag, &mut progress).await
    }

    /// Where the journal has the run.
    fn last_record(&self, recorded: &Recorded) -> Option<JournalRecord> {
        let history = read_history(self.fleet.session()).ok()?;
        let last_hash = history.lines.last()?.hash_text();
        Some(JournalRecord { entry: short_id(&recorded.plan_id).to_owned(), last_hash })
    }

    /// Reads what an interrupted run of this replica has sent.
    pub(super) async fn settle_interrupted(&self) {
        let mut reach = Reach::Connected(self.fleet.clone());
        if self.journal != super::JournalPlace::Durable {
            return;
        }
        match read_recovered(self.fleet.session(), "run", &mut reach).await {
            Ok(recovered) => {
                for ((plan, action), why) in recovered.open {
                    tracing::warn!(plan, action, why, "the outcome of a request is unknown");
                }
            }
            Err(error) => tracing::warn!(error = %error.cause(), "cannot read the journal"),
        }
    }

    /// Ends a Proposal whose run ended with its process. What was sent is in the journal of that replica.
    pub(super) async fn interrupted(&self, object: &Proposal, recorded: &Recorded) -> Result<(), RequestError> {
        debug_assert!(!self.stop.flag.load(Ordering::SeqCst), "a stopping replica looks at nothing");
        let entries = history_entries(self.fleet.session()).unwrap_or_default();
        let own = entries.iter().find(|entry| entry.plan == recorded.plan_id);
        let (phase, why) = match own {
            Some(entry) if entry.actions.iter().all(|action| action.sent.is_none()) => {
                (Phase::Approved, "interrupted before anything was sent".to_owned())
            }
            Some(entry) => {
                let sent = entry.actions.iter().filter(|action| action.sent.is_some()).count();
                (
                    Phase::PartlyApplied,
                    format!("interrupted after {sent} requests; trueup history show {}", short_id(&entry.plan)),
                )
            }
            None => {
                let why = "the replica that applied it has ended; its journal has what was sent".to_owned();
                (Phase::PartlyApplied, why)
            }
        };
        let journal = own.and_then(|_| self.last_record(recorded));
        let ended =
            self.enter(object, phase, &why, |status| status.journal = journal.or(status.journal.take())).await?;
        self.hub.event(&ended, "Interrupted", &why, false).await;
        Ok(())
    }
}
