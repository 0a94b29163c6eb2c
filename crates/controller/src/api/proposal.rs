//! A Proposal: one plan of one cluster and check, and what became of it.
//!
//! Invariants: the spec is never changed; what happens to a Proposal is in its status.

use std::borrow::Cow;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::{NamespaceResourceScope, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

use super::{GROUP, VERSION};
use trueup_core::engine::Tier;
use trueup_core::named_enum;
use trueup_core::world::{ClusterIdentity, RiskClass};

/// A proposed plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    pub api_version: String,
    pub kind: String,
    pub metadata: ObjectMeta,
    pub spec: ProposalSpec,
    /// Nothing until the controller has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ProposalStatus>,
}

/// The plan, and what lists show of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalSpec {
    #[serde(rename = "planID")]
    pub plan_id: String,
    pub cluster: ProposedCluster,
    pub check: String,
    /// The highest of its actions.
    pub tier: Tier,
    /// How many actions the plan has, for the printer column.
    pub action_count: u32,
    pub expires_at: Timestamp,
    /// The canonical JSON of the plan, with its id and mark. Read with [`ProposalSpec::read_plan`].
    pub plan: String,
}

/// The cluster a plan is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedCluster {
    pub name: String,
    pub class: RiskClass,
    pub identity: ProposedIdentity,
}

/// What makes the cluster itself. A cloud account has its id instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedIdentity {
    #[serde(rename = "kubeSystemUID", default, skip_serializing_if = "String::is_empty")]
    pub kube_system_uid: String,
    #[serde(rename = "caSHA256", default, skip_serializing_if = "String::is_empty")]
    pub ca_sha256: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
}

/// What became of a Proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposalStatus {
    pub phase: Phase,
    /// The shard of its cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ApprovalRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

named_enum! {
    /// Where a Proposal is on its way.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Phase {
        Proposed = "Proposed",
        Approved = "Approved",
        Applying = "Applying",
        Applied = "Applied",
        PartlyApplied = "PartlyApplied",
        Refused = "Refused",
        Expired = "Expired",
        /// The world has changed; another Proposal says what is to be done now.
        Superseded = "Superseded",
        Rejected = "Rejected",
    }
}

/// An approval that counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// The name of the Approval; nothing for a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The user, or `auto` for a rule of the configuration.
    pub approver: String,
    /// The rule that approved, for `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    pub at: Timestamp,
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRecord {
    pub id: String,
    /// As `trueup apply` names it.
    pub outcome: String,
    #[serde(default)]
    pub message: String,
    pub at: Timestamp,
}

/// Where the journal has the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalRecord {
    pub entry: String,
    /// The hash of the journal's last record.
    pub last_hash: String,
}

impl Proposal {
    /// Returns a Proposal without a status.
    pub fn new(namespace: &str, name: &str, spec: ProposalSpec) -> Self {
        let metadata =
            ObjectMeta { name: Some(name.to_owned()), namespace: Some(namespace.to_owned()), ..ObjectMeta::default() };
        let (api_version, kind) = (Self::api_version(&()).into_owned(), Self::kind(&()).into_owned());
        Self { api_version, kind, metadata, spec, status: None }
    }

    /// Returns the phase; a Proposal without a status is proposed.
    pub fn phase(&self) -> Phase {
        self.status.as_ref().map_or(Phase::Proposed, |status| status.phase)
    }
}

impl Phase {
    /// Whether nothing more happens to the Proposal.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Proposed | Self::Approved | Self::Applying => false,
            Self::Applied | Self::PartlyApplied | Self::Refused | Self::Expired | Self::Superseded | Self::Rejected => {
                true
            }
        }
    }
}

impl From<&ClusterIdentity> for ProposedIdentity {
    fn from(identity: &ClusterIdentity) -> Self {
        let ClusterIdentity { kube_system_uid, ca_sha256, account } = identity.clone();
        Self { kube_system_uid, ca_sha256, account }
    }
}

impl From<&ProposedIdentity> for ClusterIdentity {
    fn from(identity: &ProposedIdentity) -> Self {
        let ProposedIdentity { kube_system_uid, ca_sha256, account } = identity.clone();
        Self { kube_system_uid, ca_sha256, account }
    }
}

impl Resource for Proposal {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Proposal".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "proposals".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
