//! Which kubeconfigs may be tried.
//!
//! Always true: a login is sent only to a server that nothing speaks against. Where it is not known, or is known not to be,
//! this cluster's, it would be given away.

use super::expected::EndpointStand;
use super::judge::{Ruling, pair_of};
use super::names::{KUBECONFIG, VALUE};
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use crate::domains::Probe;

/// What speaks against sending the login.
const SHUT: [Verdict; 6] = [
    Verdict::Unknown,
    Verdict::Missing,
    Verdict::Unreadable,
    Verdict::ExecRefused,
    Verdict::EndpointDrift,
    Verdict::CaDrift,
];

/// The kubeconfig, unless something speaks against trying it.
pub fn probe(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Option<Probe> {
    let is_shut = SHUT.iter().any(|verdict| ruling.has(*verdict));
    // Nobody verifies who answers.
    let is_blind = ruling.codes.contains(&Code::Insecure) || ruling.codes.contains(&Code::ExpectationsDisagree);
    let leads_home = match (ruling.endpoint, &subject.sort) {
        (EndpointStand::Same, _) => true,
        // Nothing but HyperShift itself says where a guest is.
        (EndpointStand::NotJudged, Sort::Hosted { .. }) => true,
        (
            EndpointStand::NotJudged | EndpointStand::Moved | EndpointStand::Differs | EndpointStand::InCluster,
            Sort::Capi { .. } | Sort::User { .. } | Sort::Hosted { .. },
        ) => false,
    };
    let pair = pair_of(&subject.sort, ruling.target?)?;
    if is_shut || is_blind || !leads_home || !pair.foreign.is_empty() {
        return None;
    }
    Some(Probe {
        cluster: subject.site.cluster.name.clone(),
        namespace: subject.namespace().as_str().to_owned(),
        secret: subject.key.name.as_str().to_owned(),
        key: match subject.sort {
            Sort::Capi { .. } | Sort::User { .. } => VALUE,
            Sort::Hosted { .. } => KUBECONFIG,
        },
    })
}
