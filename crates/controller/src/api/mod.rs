//! The objects of `trueup.dev/v1alpha1`: what the controller proposes, and what people answer.
//!
//! Invariants:
//! - property names are those of `deploy/crds`, which a test compares;
//! - the API server keeps every spec as it was created, so that an Approval and the plan it names cannot move apart.
//!
//! Elsewhere: who may create an Approval (`deploy/base/admission.yaml`), what an Approval has to say (`engine::questions`).

mod approval;
mod proposal;
mod proposed_plan;
mod question;
#[cfg(test)]
mod tests;

pub use approval::{Approval, ApprovalSpec, Decision};
pub use proposal::{
    ActionRecord, ApprovalRecord, JournalRecord, Phase, Proposal, ProposalSpec, ProposalStatus, ProposedCluster,
    ProposedIdentity,
};
pub use proposed_plan::{ProposalFault, TooLarge, proposal_name};

/// The API group of both kinds.
pub const GROUP: &str = "trueup.dev";
/// The API version of both kinds.
pub const VERSION: &str = "v1alpha1";

/// The largest `spec.plan` in bytes: well below the 1.5 MiB that etcd takes for one object.
pub const PLAN_BYTES_MAX: usize = 512 * 1024;
/// The most actions of one Proposal: what a person can read before approving it.
pub const ACTIONS_MAX: usize = 200;

/// The verb on `proposals` that lets a user approve up to T2.
pub const APPROVE_T2: &str = "approve-t2";
/// The verb on `proposals` that lets a user approve T3 and T4.
pub const APPROVE_T4: &str = "approve-t4";

/// The Secret with the key of the plan mark, and the key's name in it.
pub const KEY_SECRET: &str = "trueup-plan-key";
pub const KEY_SECRET_FIELD: &str = "plan.key";
/// The ConfigMap whose presence stops all writes.
pub const STOP_CONFIG_MAP: &str = "trueup-stop";
/// Followed by the number of a shard, the name of its Lease.
pub const SHARD_LEASE_PREFIX: &str = "trueup-shard-";
