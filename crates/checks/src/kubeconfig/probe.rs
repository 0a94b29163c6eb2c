//! Which kubeconfigs may be tested on request.
//!
//! Invariants: one that would run a command, or whose server or authority is not known to be its cluster's, is never
//! tested: its credential would be sent to an unknown server.

use super::expected::{CaComparison, EndpointComparison};
use super::judge::pair_of;
use super::messages::key_text;
use super::ruling::Ruling;
use super::subjects::{Sort, Subject};
use crate::{KubeconfigProbe, Probe};

pub fn find(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Option<Probe> {
    let pair = pair_of(subject.sort, ruling.target?)?;
    let leads_home = match (ruling.endpoint, subject.sort) {
        (EndpointComparison::Same, _) => true,
        // Nothing but HyperShift itself says where a guest is.
        (EndpointComparison::NotJudged, Sort::Hosted) => true,
        (
            EndpointComparison::NotJudged
            | EndpointComparison::Moved
            | EndpointComparison::Differs
            | EndpointComparison::InCluster,
            Sort::Capi | Sort::User | Sort::Hosted,
        ) => false,
    };
    let is_vouched_for = match ruling.ca {
        CaComparison::Same | CaComparison::Rotating | CaComparison::NotJudged => true,
        CaComparison::Disjoint | CaComparison::Insecure => false,
    };
    let may_be_tried = leads_home && is_vouched_for && pair.foreign.is_empty() && ruling.gap.is_none();
    let probe = || KubeconfigProbe {
        cluster: subject.context.cluster.name.clone(),
        namespace: subject.namespace().to_string(),
        secret: subject.key.name.to_string(),
        key: key_text(subject.sort),
        leads_to: subject.cluster_key.name.to_string(),
    };
    may_be_tried.then(|| Probe::Kubeconfig(probe()))
}
