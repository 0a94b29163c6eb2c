//! An Approval: one person's answer to one Proposal.
//!
//! Invariants: it binds the whole plan id, so that it approves what was read and nothing else.

use std::borrow::Cow;

use kube::core::{NamespaceResourceScope, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

use super::{GROUP, VERSION};
use trueup_core::engine::Tier;
use trueup_core::named_enum;

/// An answer to a Proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    pub api_version: String,
    pub kind: String,
    pub metadata: ObjectMeta,
    pub spec: ApprovalSpec,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalSpec {
    /// The name of the Proposal, in the same namespace.
    pub proposal: String,
    #[serde(rename = "planID")]
    pub plan_id: String,
    /// The Proposal's tier. The API server asks for the permission of this tier, the controller compares it.
    pub tier: Tier,
    /// The user who creates the Approval, as the API server knows them.
    pub approver: String,
    /// What the tier asks for, as typed: nothing, the number of deletions, the cluster's name, or that and 8 characters
    /// of the id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// These actions only; all of them when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    pub decision: Decision,
    /// Why, for the Proposal's readers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

named_enum! {
    /// What an Approval decides.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Decision {
        Approve = "approve",
        Reject = "reject",
    }
}

impl Approval {
    /// Returns an Approval whose name the API server completes.
    pub fn new(namespace: &str, spec: ApprovalSpec) -> Self {
        let metadata = ObjectMeta {
            generate_name: Some(format!("{}-", spec.proposal)),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        };
        Self { api_version: Self::api_version(&()).into_owned(), kind: Self::kind(&()).into_owned(), metadata, spec }
    }
}

impl Resource for Approval {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Approval".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "approvals".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
