//! The plan inside a Proposal: put in as canonical JSON, read back with every claim of the spec compared.
//!
//! Invariants:
//! - `spec.plan` has one spelling for one plan, so that comparing the text compares the plan;
//! - the id is computed from the text, and cluster, tier, count and expiry of the spec are those of the plan.
//!
//! Elsewhere: the mark of the plan (`engine::mark`), who may approve it.

use serde_json::Value;

use super::proposal::{ProposalSpec, ProposedCluster};
use super::{ACTIONS_MAX, PLAN_BYTES_MAX};
use trueup_core::engine::{NotCanonical, Plan, PlanReadError, TargetRecord, Tier, canonical_text, short_id};

/// The longest name of an object (a DNS subdomain).
const NAME_LENGTH_MAX: usize = 253;

/// Why a plan does not fit into one Proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    #[error("plan has {found} actions, at most {ACTIONS_MAX} fit into a Proposal")]
    Actions { found: usize },
    #[error("plan has {found} bytes, at most {PLAN_BYTES_MAX} fit into a Proposal")]
    Bytes { found: usize },
    #[error(transparent)]
    NotCanonical(#[from] NotCanonical),
}

/// Why the plan of a Proposal cannot be relied on.
#[derive(Debug, thiserror::Error)]
pub enum ProposalFault {
    #[error(transparent)]
    Plan(#[from] PlanReadError),
    #[error("spec.plan is not canonical JSON")]
    Spelling,
    #[error("spec.{field} is {claimed}, the plan has {found}")]
    Contradiction { field: &'static str, claimed: String, found: String },
    #[error("spec.plan has {found} bytes, at most {PLAN_BYTES_MAX} are read")]
    TooLarge { found: usize },
}

impl ProposalSpec {
    /// Puts a marked plan of one cluster and check into a spec.
    ///
    /// # Errors
    /// The plan has too many actions or bytes; it has to be split.
    pub fn of(plan: &Plan, target: &TargetRecord, check: &str) -> Result<Self, TooLarge> {
        if plan.actions.len() > ACTIONS_MAX {
            return Err(TooLarge::Actions { found: plan.actions.len() });
        }
        let text = canonical(plan)?;
        if text.len() > PLAN_BYTES_MAX {
            return Err(TooLarge::Bytes { found: text.len() });
        }
        let TargetRecord { cluster, source: _, class, identity } = target;
        Ok(Self {
            plan_id: plan.id.clone(),
            cluster: ProposedCluster { name: cluster.clone(), class: *class, identity: identity.into() },
            check: check.to_owned(),
            tier: highest_tier(plan),
            action_count: action_count(plan),
            expires_at: plan.expires_at,
            plan: text,
        })
    }

    /// Reads the plan and compares it with what the spec says of it.
    ///
    /// # Errors
    /// The text is not a plan in its canonical spelling, or the spec contradicts it.
    pub fn read_plan(&self) -> Result<Plan, ProposalFault> {
        if self.plan.len() > PLAN_BYTES_MAX {
            return Err(ProposalFault::TooLarge { found: self.plan.len() });
        }
        let plan = Plan::read(&self.plan)?;
        // Over the text's own JSON: keys of newer versions belong to it.
        let json: Value = serde_json::from_str(&self.plan).map_err(PlanReadError::from)?;
        if canonical_text(&json).map_err(PlanReadError::from)? != self.plan {
            return Err(ProposalFault::Spelling);
        }
        let same = |field, claimed: String, found: String| match claimed == found {
            true => Ok(()),
            false => Err(ProposalFault::Contradiction { field, claimed, found }),
        };
        same("planID", self.plan_id.clone(), plan.id.clone())?;
        same("tier", self.tier.to_string(), highest_tier(&plan).to_string())?;
        same("actionCount", self.action_count.to_string(), action_count(&plan).to_string())?;
        same("expiresAt", self.expires_at.to_string(), plan.expires_at.to_string())?;
        for action in &plan.actions {
            same("check", self.check.clone(), action.domain.clone())?;
        }
        let named = |target: &&TargetRecord| target.cluster == self.cluster.name;
        let found = plan.targets.iter().find(named).map(|target| ProposedCluster {
            name: target.cluster.clone(),
            class: target.class,
            identity: (&target.identity).into(),
        });
        match found {
            Some(found) if found == self.cluster => Ok(plan),
            Some(found) => Err(ProposalFault::Contradiction {
                field: "cluster",
                claimed: format!("{:?}", self.cluster),
                found: format!("{found:?}"),
            }),
            None => Err(ProposalFault::Contradiction {
                field: "cluster",
                claimed: self.cluster.name.clone(),
                found: "no such target".to_owned(),
            }),
        }
    }
}

/// Returns the name of the Proposal of a plan: cluster, check and 8 characters of the id, as an object may be named.
pub fn proposal_name(cluster: &str, check: &str, plan_id: &str) -> String {
    let suffix = format!("-{check}-{}", short_id(plan_id));
    let allowed = |letter: char| match letter.to_ascii_lowercase() {
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    };
    let width = NAME_LENGTH_MAX.saturating_sub(suffix.len());
    let name: String = cluster.chars().map(allowed).take(width).collect();
    let name = name.trim_matches('-');
    // A name has to start with a letter or a digit.
    let name = if name.is_empty() { "cluster" } else { name };
    format!("{name}{suffix}")
}

fn canonical(plan: &Plan) -> Result<String, TooLarge> {
    let value = serde_json::to_value(plan).expect("a plan is made of JSON values and text keys");
    Ok(canonical_text(&value)?)
}

fn highest_tier(plan: &Plan) -> Tier {
    plan.actions.iter().map(|action| action.tier).max().unwrap_or(Tier::T0)
}

fn action_count(plan: &Plan) -> u32 {
    u32::try_from(plan.actions.len()).unwrap_or(u32::MAX)
}
