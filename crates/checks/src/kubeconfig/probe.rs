//! Which kubeconfigs may be tried when somebody asks for it.
//!
//! Always true: one that would run a command, or whose server or authority is not known to be its cluster's, is never
//! tried: its credential would be told to a stranger.

use super::expected::{CaStand, EndpointStand};
use super::judge::{Ruling, pair_of};
use super::subjects::{Sort, Subject};
use super::words::key_word;
use crate::{KubeconfigProbe, Probe};

pub fn find(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Option<Probe> {
    let pair = pair_of(subject.sort, ruling.target?)?;
    let leads_home = match (ruling.endpoint, subject.sort) {
        (EndpointStand::Same, _) => true,
        // Nothing but HyperShift itself says where a guest is.
        (EndpointStand::NotJudged, Sort::Hosted) => true,
        (
            EndpointStand::NotJudged | EndpointStand::Moved | EndpointStand::Differs | EndpointStand::InCluster,
            Sort::Capi | Sort::User | Sort::Hosted,
        ) => false,
    };
    let is_vouched_for = match ruling.ca {
        CaStand::Same | CaStand::Rotating | CaStand::NotJudged => true,
        CaStand::Disjoint | CaStand::Insecure => false,
    };
    let may_be_tried = leads_home && is_vouched_for && pair.foreign.is_empty() && ruling.gap.is_none();
    let probe = || KubeconfigProbe {
        cluster: subject.site.cluster.name.clone(),
        namespace: subject.namespace().to_string(),
        secret: subject.key.name.to_string(),
        key: key_word(subject.sort),
    };
    may_be_tried.then(|| Probe::Kubeconfig(probe()))
}
