//! The world a recheck reads: a port, so that the live fleet and the simulated histories drive the same code.
//!
//! Invariants: a collection that was not listed again in time is named; it never passes as fresh.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::access;
use crate::error::OperateError;
use crate::fleet::Fleet;
use crate::history::history_entries;
use crate::observe::{LIST_TIMEOUT, backup_check, conditions};
use crate::session::Session;
use crate::undo::derive;
use trueup_checks::Check;
use trueup_checks::judgements::Judgements;
use trueup_core::engine::{AcceptRule, AccessAnswers, AccessQuestion, Conditions, UndoPlan};
use trueup_core::world::{ClusterIdentity, ClusterName, CollectionId, View};
use trueup_fleet::connect::identity;
use trueup_fleet::live::{AskAfter, Live};

/// The world as it is at one moment.
pub struct WorldNow<'w> {
    pub view: View<'w>,
    pub judgements: &'w Judgements,
    pub checks: &'w [Box<dyn Check>],
    /// What the clusters add to the gates, except permissions.
    pub conditions: Conditions,
}

/// A world whose collections can be listed again.
pub trait FreshWorld: Send {
    fn session(&self) -> &Arc<Session>;

    /// Every rule for accepted findings.
    fn accepted(&self) -> Vec<AcceptRule>;

    /// Lists these collections again, and no others. Returns those that were not listed in time.
    fn refresh(
        &mut self,
        collections: BTreeSet<CollectionId>,
    ) -> impl Future<Output = Result<BTreeSet<CollectionId>, OperateError>> + Send;

    /// Lists everything again.
    fn resync(&mut self) -> impl Future<Output = Result<(), OperateError>> + Send;

    /// Computes an answer from the world as it is now.
    fn ask<T: Send + 'static>(
        &mut self,
        question: impl FnOnce(&WorldNow<'_>) -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, OperateError>> + Send;

    /// Asks the clusters for permissions.
    fn ask_access(&mut self, questions: BTreeSet<AccessQuestion>) -> impl Future<Output = AccessAnswers> + Send;

    /// Reads the identity of a cluster or account. None: unknown.
    fn read_identity(&mut self, cluster: &ClusterName) -> impl Future<Output = Option<ClusterIdentity>> + Send;

    /// Derives the undo of one action of a journal entry, under the current configuration.
    fn derive_undo(&mut self, plan: &str, action: &str) -> impl Future<Output = Result<UndoPlan, OperateError>> + Send;
}

impl FreshWorld for Fleet {
    fn session(&self) -> &Arc<Session> {
        Fleet::session(self)
    }

    fn accepted(&self) -> Vec<AcceptRule> {
        Fleet::accepted(self)
    }

    async fn refresh(&mut self, collections: BTreeSet<CollectionId>) -> Result<BTreeSet<CollectionId>, OperateError> {
        let listed = collections.iter().cloned().collect();
        self.wait(AskAfter::Collections(listed), LIST_TIMEOUT).await?;
        Fleet::ask(self, move |live| live.unlisted(&collections)).await
    }

    async fn resync(&mut self) -> Result<(), OperateError> {
        Fleet::resync(self).await.map(drop)
    }

    async fn ask<T: Send + 'static>(
        &mut self,
        question: impl FnOnce(&WorldNow<'_>) -> T + Send + 'static,
    ) -> Result<T, OperateError> {
        let backup = backup_check(Fleet::session(self));
        let question = move |live: &Live| {
            let (view, judgements, checks) = (live.view(), live.judgements(), live.domains());
            let held = judgements.held_for(view);
            let conditions = Conditions { backup, held, ..conditions(live) };
            question(&WorldNow { view, judgements, checks, conditions })
        };
        Fleet::ask(self, question).await
    }

    async fn ask_access(&mut self, questions: BTreeSet<AccessQuestion>) -> AccessAnswers {
        let with_client = move |live: &Live| {
            let questions = questions.into_iter();
            questions.map(|question| (live.client(&question.cluster), question)).collect::<Vec<_>>()
        };
        let asked = Fleet::ask(self, with_client).await.unwrap_or_default();
        access::ask(asked.into_iter().map(|(client, question)| (question, client)).collect()).await
    }

    async fn read_identity(&mut self, cluster: &ClusterName) -> Option<ClusterIdentity> {
        let name = cluster.clone();
        let (account, client) =
            Fleet::ask(self, move |live| (live.cloud_account(&name), live.client(&name))).await.ok()?;
        if let Some(account) = account {
            // The token that would be sent names its account, also after the key became another account's.
            return account.id().await.ok().map(|id| ClusterIdentity::of_account(&id));
        }
        Some(identity::read(&client?).await.identity)
    }

    async fn derive_undo(&mut self, plan: &str, action: &str) -> Result<UndoPlan, OperateError> {
        let entries = history_entries(Fleet::session(self))?;
        let missing =
            || OperateError::NoEntry { cause: format!("the journal has no plan {plan}"), advice: String::new() };
        let entry = entries.iter().find(|entry| entry.plan == plan).ok_or_else(missing)?;
        derive(Fleet::session(self), Some(self), entry, Some(action)).await
    }
}
