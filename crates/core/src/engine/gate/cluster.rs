//! Gates about the cluster an action would be sent to.

use super::{Blocked, Candidate, Conditions, GateInputs, GateName, blocked};
use crate::world::{ClusterIdentity, ClusterName};

/// A live cluster or account has to be known by more than its name before anything is written there.
pub fn identity(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    let name = candidate.cluster();
    if !around.is_live(name) {
        return None;
    }
    let Some(cluster) = around.clusters.get(name) else {
        return Some(blocked(GateName::Identity, format!("cluster {name} is unknown; connect to it first")));
    };
    if ClusterIdentity::of(cluster).is_known() {
        return None;
    }
    let why = if cluster.source.is_account() {
        format!("account id of {name} is unknown: IAM issued no token; run trueup doctor")
    } else {
        format!(
            "identity of {name} is unknown; reading it needs `get` on Namespace kube-system and on ConfigMap kube-root-ca.crt in it"
        )
    };
    Some(blocked(GateName::Identity, why))
}

/// A server without a verified certificate could be any server.
pub fn insecure(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    let name = candidate.cluster();
    if around.is_live(name) { unverified(name, around.conditions) } else { None }
}

pub fn unverified(name: &ClusterName, conditions: &Conditions) -> Option<Blocked> {
    if !conditions.unverified_tls.contains(name) || conditions.allow_insecure_writes {
        return None;
    }
    let why = format!(
        "TLS certificate of {name} is not verified (insecure-skip-tls-verify, or plain http); set its CA in the kubeconfig, or pass --allow-insecure-writes"
    );
    Some(blocked(GateName::Insecure, why))
}
