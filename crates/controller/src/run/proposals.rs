//! One Proposal on its way: refused, rejected, approved by people or by a rule, applied.
//!
//! Invariants: each write of a status carries the version that was read; a phase is entered only from one before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use kube::api::{Patch, PatchParams};

use super::propose::fresh;
use super::{Controller, JournalPlace, KeptProposal};
use crate::api::{ApprovalRecord, Phase, Proposal, ProposalStatus};
use crate::approval::{Approved, Examined, GivenApproval, Verdict, examine};
use crate::auto::{AutoStopped, may_apply};
use crate::mirror::{RequestError, request};
use crate::phase::{IllegalTransition, transition};
use crate::reconcile::by_rule;
use crate::recorded::{AUTO, Recorded};
use crate::settings::CheckMode;
use crate::shard::ShardId;
use crate::status;
use trueup_core::engine::{Action, Answers, Chosen, Provenance};

/// Why a Proposal is where it is. The next look tries again.
#[derive(Debug, thiserror::Error)]
pub(super) enum Waits {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Phase(#[from] IllegalTransition),
    #[error("not applied: {0}")]
    NotHere(String),
    #[error("not applied by rule: {0}")]
    Auto(#[from] AutoStopped),
}

/// What is to be applied, and by whose approval.
pub(super) struct Consent {
    pub chosen: Chosen,
    pub answers: Answers,
    pub approvers: Vec<ApprovalRecord>,
    /// For the journal.
    pub who: String,
}

impl Controller {
    /// Looks at one Proposal that is not finished.
    pub(super) async fn advance(
        &mut self,
        shard: ShardId,
        kept: &KeptProposal,
        given: &[GivenApproval],
    ) -> Result<(), Waits> {
        let object = &kept.object;
        let recorded = match &kept.recorded {
            Ok(recorded) => recorded.clone(),
            Err(fault) => return Ok(self.refuse(object, fault).await?),
        };
        if recorded.plan.provenance(&self.key) != Provenance::Here {
            return Ok(self.refuse(object, "its plan has no valid mark of this controller").await?);
        }
        match recorded.phase {
            // No run of this process: it was interrupted.
            Phase::Applying => Ok(self.interrupted(object, &recorded).await?),
            Phase::Proposed | Phase::Approved if self.held.clocks.wall() >= recorded.expires_at => {
                let why = format!("it expired at {}", recorded.expires_at);
                Ok(self.end(&recorded.name, Phase::Expired, &why).await?)
            }
            Phase::Proposed | Phase::Approved => self.decide(shard, object, &recorded, given).await,
            Phase::Applied
            | Phase::PartlyApplied
            | Phase::Refused
            | Phase::Expired
            | Phase::Superseded
            | Phase::Rejected => Ok(()),
        }
    }

    async fn decide(
        &mut self,
        shard: ShardId,
        object: &Proposal,
        recorded: &Arc<Recorded>,
        given: &[GivenApproval],
    ) -> Result<(), Waits> {
        let examined = self.examine(object, recorded, given).await;
        for (approval, fault) in &examined.faults {
            self.say(&recorded.name, approval, &format!("Approval {approval} does not count: {fault}"));
        }
        match examined.verdict {
            Verdict::Rejected { by, reason } => {
                let why = match reason.is_empty() {
                    true => format!("rejected by {}", by.approver),
                    false => format!("rejected by {}: {reason}", by.approver),
                };
                Ok(self.end(&recorded.name, Phase::Rejected, &why).await?)
            }
            Verdict::Approved(approved) => {
                self.may_apply_here()?;
                self.hub.check_admission().await.map_err(Waits::NotHere)?;
                self.approvals_exist(&approved.approvers).await?;
                let consent = consent(approved);
                self.approve_and_apply(shard, object, recorded, consent).await
            }
            Verdict::Open { counted, needed } => {
                if let Some(rule) = self.rule_of(recorded) {
                    self.may_apply_here()?;
                    return self.apply_by_rule(shard, object, recorded, rule).await;
                }
                if counted != recorded.approvals {
                    let why = format!("{} of {needed} approvals", counted.len());
                    if recorded.phase == Phase::Approved {
                        // The rule that approved it is gone, or an Approval was deleted.
                        let change = |status: &mut ProposalStatus| status.approvals = counted;
                        self.enter(object, Phase::Proposed, &why, change).await?;
                        return Ok(());
                    }
                    let mut status = object.status.clone().unwrap_or_else(|| self.first_status(shard));
                    status.approvals = counted;
                    status::enter(&mut status, recorded.phase, &why, self.held.clocks.wall());
                    self.write_status(object, &status).await?;
                }
                Ok(())
            }
        }
    }

    /// Examines the Approvals, and asks whether those that count may do what they approve where their names mean the
    /// same: in the cluster the controller runs in.
    async fn examine(&self, object: &Proposal, recorded: &Recorded, given: &[GivenApproval]) -> Examined {
        let four_eyes = self.settings.four_eyes;
        let examined = examine(recorded, given, four_eyes, &self.own_name, &BTreeMap::new());
        let Verdict::Approved(approved) = &examined.verdict else { return examined };
        if !self.is_hub(object).await {
            return examined;
        }
        let actions: Vec<&Action> =
            approved.chosen.actions(&recorded.plan).filter(|action| action.target.cloud.is_none()).collect();
        let approvers: BTreeSet<&str> = approved.approvers.iter().map(|one| one.approver.as_str()).collect();
        let mut denied = BTreeMap::new();
        for approver in approvers {
            if let Some(why) = self.hub.denied(approver, &actions).await {
                denied.insert(approver.to_owned(), why);
            }
        }
        examine(recorded, given, four_eyes, &self.own_name, &denied)
    }

    /// Whether a Proposal is about the cluster the controller runs in.
    async fn is_hub(&self, object: &Proposal) -> bool {
        let identity = trueup_fleet::connect::identity::read(&self.hub.client).await.identity;
        // Unknown: asked as well, because a right that is missing is the safer answer.
        !identity.is_known() || identity.kube_system_uid == object.spec.cluster.identity.kube_system_uid
    }

    /// Whether anything may be applied by this replica at all.
    fn may_apply_here(&self) -> Result<(), Waits> {
        if let JournalPlace::Missing { why } = &self.journal {
            return Err(Waits::NotHere(why.clone()));
        }
        match self.held.stopped() {
            Some(blocked) => Err(Waits::NotHere(blocked.why)),
            None => Ok(()),
        }
    }

    /// Reads the Approvals that count once more: one that was deleted is withdrawn.
    async fn approvals_exist(&self, approvers: &[ApprovalRecord]) -> Result<(), Waits> {
        for name in approvers.iter().filter_map(|approval| approval.name.as_deref()) {
            if fresh(self.approvals.api(), name).await?.is_none() {
                return Err(Waits::NotHere(format!("Approval {name} was deleted")));
            }
        }
        Ok(())
    }

    /// The rule that covers every action of a Proposal, under the configuration of now.
    fn rule_of(&self, recorded: &Recorded) -> Option<String> {
        let CheckMode::Auto(rule) = self.settings.mode(&recorded.topic.check) else { return None };
        let plan = &recorded.plan;
        let is_covered = plan.actions.iter().all(|action| by_rule(plan, action, &self.settings));
        is_covered.then(|| rule.name(&recorded.topic.check))
    }

    /// Applies a Proposal that a rule covers, unless a brake is reached.
    async fn apply_by_rule(
        &mut self,
        shard: ShardId,
        object: &Proposal,
        recorded: &Arc<Recorded>,
        rule: String,
    ) -> Result<(), Waits> {
        let (now, per_hour) = (self.held.clocks.wall(), self.settings.auto_deletes_per_hour);
        may_apply(recorded, &self.all_recorded(), per_hour, now)?;
        let record = ApprovalRecord { name: None, approver: AUTO.to_owned(), rule: Some(rule.clone()), at: now };
        let who = format!("{AUTO}: {rule}, config {}", self.config_hash);
        let tier_max = match self.settings.mode(&recorded.topic.check) {
            CheckMode::Auto(rule) => rule.tier,
            CheckMode::Observe | CheckMode::Propose => return Ok(()),
        };
        let consent =
            Consent { chosen: Chosen::Selected, answers: Answers::Rule { tier_max }, approvers: vec![record], who };
        let approved = self.approve(shard, object, recorded, &consent).await?;
        // Another replica may have approved at the same moment: counted again over a consistent list, in which both are.
        let (all, _) = self.proposals.list().await?;
        let all: Vec<Recorded> = all.iter().filter_map(|one| Recorded::read(one).ok()).collect();
        if let Err(stopped) = may_apply(recorded, &all, per_hour, now) {
            self.enter(&approved, Phase::Proposed, &stopped.to_string(), |status| status.approvals.clear()).await?;
            return Err(stopped.into());
        }
        self.apply(shard, &approved, recorded, consent).await
    }

    fn all_recorded(&self) -> Vec<Recorded> {
        let all = self.proposals.all().unwrap_or_default().into_values();
        all.filter_map(|one| one.recorded.ok()).map(|recorded| Recorded::clone(&recorded)).collect()
    }

    async fn approve_and_apply(
        &mut self,
        shard: ShardId,
        object: &Proposal,
        recorded: &Arc<Recorded>,
        consent: Consent,
    ) -> Result<(), Waits> {
        let approved = self.approve(shard, object, recorded, &consent).await?;
        self.apply(shard, &approved, recorded, consent).await
    }

    /// Writes down who approved. A Proposal that was approved before a restart stays as it is.
    async fn approve(
        &self,
        shard: ShardId,
        object: &Proposal,
        recorded: &Recorded,
        consent: &Consent,
    ) -> Result<Proposal, Waits> {
        if recorded.phase == Phase::Approved {
            return Ok(object.clone());
        }
        let why = format!("approved by {}", consent.who);
        let approvers = consent.approvers.clone();
        let change = |status: &mut ProposalStatus| {
            status.approvals = approvers;
            status.shard = Some(shard.0);
        };
        let approved = self.enter(object, Phase::Approved, &why, change).await?;
        tracing::info!(proposal = recorded.name, by = consent.who, "Proposal approved");
        self.hub.event(&approved, "Approved", &why, true).await;
        Ok(approved)
    }

    async fn refuse(&self, object: &Proposal, why: &str) -> Result<(), RequestError> {
        let name = object.metadata.name.clone().unwrap_or_default();
        self.end(&name, Phase::Refused, why).await
    }

    /// Puts a Proposal into a phase that follows its own.
    pub(super) async fn enter(
        &self,
        object: &Proposal,
        phase: Phase,
        why: &str,
        change: impl FnOnce(&mut ProposalStatus),
    ) -> Result<Proposal, RequestError> {
        let from = object.phase();
        transition(from, phase).map_err(|error| RequestError::Refused(error.to_string()))?;
        let mut status = object.status.clone().unwrap_or_else(|| self.first_status(ShardId(0)));
        change(&mut status);
        status::enter(&mut status, phase, why, self.held.clocks.wall());
        self.write_status(object, &status).await
    }

    fn first_status(&self, shard: ShardId) -> ProposalStatus {
        status::created(Phase::Proposed, shard.0, "", self.held.clocks.wall())
    }

    /// Writes a status, if the object is still the one that was read.
    pub(super) async fn write_status(
        &self,
        object: &Proposal,
        status: &ProposalStatus,
    ) -> Result<Proposal, RequestError> {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let version = &object.metadata.resource_version;
        let patch = Patch::Merge(json!({ "metadata": { "resourceVersion": version }, "status": status }));
        let written = request(self.proposals.api().patch_status(name, &PatchParams::default(), &patch)).await?;
        self.proposals.put(written.clone());
        Ok(written)
    }
}

fn consent(approved: Approved) -> Consent {
    let Approved { approvers, chosen, words } = approved;
    let names: Vec<&str> = approvers.iter().map(|approval| approval.approver.as_str()).collect();
    let who = names.join(", ");
    Consent { chosen, answers: Answers::Objects(words), approvers, who }
}
