//! Gates about the cluster an action would be sent to.

use super::{Blocked, Candidate, GateInputs, GateName, blocked};
use crate::engine::plan::IdentityRecord;

/// A live cluster or account has to be known by more than its name before anything is written there.
pub fn identity(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    let name = candidate.cluster();
    if !around.is_live(name) {
        return None;
    }
    let Some(cluster) = around.clusters.get(name) else {
        return Some(blocked(GateName::Identity, format!("nothing is known of cluster {name}; connect to it first")));
    };
    if IdentityRecord::of(cluster).is_known() {
        return None;
    }
    let why = if cluster.source.is_account() {
        format!("which account {name} is nobody knows; IAM has to give its API key a token: see trueup doctor")
    } else {
        format!(
            "the identity of {name} is not known; reading it needs `get` on Namespace kube-system and on ConfigMap kube-root-ca.crt in it"
        )
    };
    Some(blocked(GateName::Identity, why))
}

/// A server whose certificate nobody checked could be anyone.
pub fn insecure(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    let (name, conditions) = (candidate.cluster(), around.conditions);
    let unverified = around.is_live(name) && conditions.unverified_tls.contains(name);
    if !unverified || conditions.allow_insecure_writes {
        return None;
    }
    let why = format!(
        "nobody verified who answers for {name} (insecure-skip-tls-verify, or plain http); give its CA in the kubeconfig, or pass --allow-insecure-writes"
    );
    Some(blocked(GateName::Insecure, why))
}
