//! Which conditions of a HostedCluster and its control plane speak about which finding.
//!
//! Invariants: a condition is named as a cause only if its type is listed for the subject and it is False.

use super::context::CheckContext;
use super::facts::{Hosted, SpeakingCondition};
use super::hosted_cluster::HostedContext;
use super::ruling::Ruling;
use super::verdict::{Code, Verdict};
use crate::evidence::versioned_line as line;
use crate::kinds::Complaint;
use trueup_core::engine::Evidence;
use trueup_core::world::HostedBy;

const OF_CONFIGURATION: &[SpeakingCondition] = &[
    SpeakingCondition::ValidConfiguration,
    SpeakingCondition::ValidHostedControlPlaneConfiguration,
    SpeakingCondition::ReconciliationActive,
];

/// The types that speak about a copy, and whether their message has to name it.
fn types_of(ruling: &Ruling) -> (&'static [SpeakingCondition], Naming) {
    match ruling.verdict {
        Verdict::Pending if ruling.has(Code::NotPropagated) => (OF_CONFIGURATION, Naming::NotNeeded),
        Verdict::SourceMissing => (&[SpeakingCondition::ReconciliationSucceeded], Naming::Needed),
        Verdict::MissingCopy | Verdict::StaleCopy => {
            (&[SpeakingCondition::ConfigOperatorReconciliationSucceeded], Naming::Needed)
        }
        Verdict::Pending
        | Verdict::Terminating
        | Verdict::Protected
        | Verdict::Unknown
        | Verdict::Referenced
        | Verdict::Foreign
        | Verdict::Moot
        | Verdict::OrphanCertain
        | Verdict::OrphanProbable
        | Verdict::Leftover
        | Verdict::Valid
        | Verdict::Invalid
        | Verdict::KasWouldRefuse
        | Verdict::Degraded => (&[], Naming::NotNeeded),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Needed,
    NotNeeded,
}

/// The conditions that speak about a copy, each once, with the kind of object that carries it.
pub fn speaking_of_copy<'a>(
    context: &CheckContext<'a>,
    name: &str,
    ruling: &Ruling,
) -> Vec<(&'static str, &'a Complaint)> {
    let (types, naming) = types_of(ruling);
    let is_meant = |complaint: &&Complaint| {
        let listed = SpeakingCondition::parse(&complaint.condition).is_some_and(|kind| types.contains(&kind));
        listed && (naming == Naming::NotNeeded || complaint.text.contains(name))
    };
    let cluster = context.hosted_cluster.seen.map(|cluster| ("HostedCluster", &cluster.hosted));
    let plane = context.control_plane.seen.map(|plane| ("HostedControlPlane", &plane.hosted));
    let of = |(kind, hosted): (&'static str, &'a Hosted)| {
        hosted.complaints.iter().filter(is_meant).map(move |complaint| (kind, complaint)).collect::<Vec<_>>()
    };
    [cluster, plane].into_iter().flatten().flat_map(of).collect()
}

/// The evidence that conditions give about a copy.
pub fn copy_lines(context: &CheckContext<'_>, name: &str, ruling: &Ruling) -> Vec<Evidence> {
    let Ok(by) = &context.home else { return Vec::new() };
    let plane = context.control_plane_key.as_ref().map(ToString::to_string).unwrap_or_default();
    let found = speaking_of_copy(context, name, ruling).into_iter();
    found.map(|(kind, complaint)| condition_line(by, kind, &plane, complaint)).collect()
}

/// The evidence that conditions give about a HostedCluster's configuration.
pub fn speaking_of_configuration(context: &HostedContext<'_>) -> Vec<Evidence> {
    let is_meant = |complaint: &&Complaint| {
        SpeakingCondition::parse(&complaint.condition).is_some_and(|kind| OF_CONFIGURATION.contains(&kind))
    };
    let own = context.cluster.hosted.complaints.iter().filter(is_meant);
    let planes = context.control_plane.seen.map_or(&[][..], |plane| &plane.hosted.complaints);
    let own = own.map(|complaint| ("HostedCluster", complaint));
    let all = own.chain(planes.iter().filter(is_meant).map(|complaint| ("HostedControlPlane", complaint)));
    let name = context.by.name.to_string();
    all.map(|(kind, complaint)| condition_line(&context.by, kind, &name, complaint)).collect()
}

fn condition_line(by: &HostedBy, kind: &str, plane: &str, complaint: &Complaint) -> Evidence {
    let object = match kind {
        "HostedCluster" => format!("{} HostedCluster {}/{}", by.cluster, by.namespace, by.name),
        other => format!("{} {other} {plane}", by.cluster),
    };
    let field = format!("status.conditions[{}]", complaint.condition);
    line(complaint.message.to_string(), object, &field, String::new())
}
