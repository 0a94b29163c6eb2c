//! What an Approval has to say: what the Proposal's tier asks for, about the chosen actions.
//!
//! Invariants: clients ask by this question, and the controller checks the words by it.

use super::proposal::ProposalSpec;
use trueup_core::engine::{Asks, Chosen, ClusterQuestion, Plan, Refusal, questions};

impl ProposalSpec {
    /// Returns the question for these actions of its plan, by ids or groups; for the selected ones when none is named.
    /// Nothing when no action is meant.
    ///
    /// The tier is the Proposal's also where the chosen actions alone would have a lower one.
    ///
    /// # Errors
    /// An action does not exist, or is blocked.
    pub fn question(&self, plan: &Plan, actions: &[String]) -> Result<Option<ClusterQuestion>, Refusal> {
        let chosen = match actions {
            [] => Chosen::Selected,
            ids => Chosen::Only(ids.iter().cloned().collect()),
        };
        let asked = questions(plan, &chosen)?;
        let deletions = asked.iter().map(|question| question.deletions).sum();
        let (tier, cluster) = (self.tier, self.cluster.name.clone());
        let ids = asked.iter().flat_map(|question| question.actions.iter().cloned()).collect();
        let asks = Asks::of(tier, &cluster, deletions, &plan.id);
        let provenance = asked.first().map(|question| question.provenance);
        Ok(provenance.map(|provenance| ClusterQuestion { cluster, tier, deletions, actions: ids, asks, provenance }))
    }
}
