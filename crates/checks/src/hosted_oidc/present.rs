//! How this check is shown: by its name and its verdicts, and with the command that settles the commonest case.

use super::messages::reset_command;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::Code;
use crate::present::{CheckDescription, Panel};
use crate::workload::Workload;

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "Hosted OIDC",
    short: "Hosted",
    plural: "copies",
    message: "copies of OIDC settings that HyperShift left in its guests",
    columns: &[],
    verdict_width: 16,
    forms: &[],
};

/// Of HyperShift: what reconciles HostedClusters, and what writes into their guests.
const HYPERSHIFT: (&str, &str) = ("hypershift", "operator");
const CONFIG_OPERATOR: &str = "hosted-cluster-config-operator";

/// The operator whose log explains a subject.
pub fn operator(subject: &ResolvedSubject<'_>) -> Option<Workload> {
    match subject {
        ResolvedSubject::Copy { context, .. } => {
            let (cluster, namespace) = context.source_namespace()?;
            Some(Workload::new(cluster, namespace, CONFIG_OPERATOR))
        }
        ResolvedSubject::HostedCluster { context } => {
            let (namespace, deployment) = HYPERSHIFT;
            Some(Workload::new(&context.by.cluster, namespace, deployment))
        }
        ResolvedSubject::Collection { .. }
        | ResolvedSubject::ConsoleMirror { .. }
        | ResolvedSubject::ControlPlaneNamespace { .. } => None,
    }
}

/// The command to copy, where one settles the finding.
pub fn panels(subject: &ResolvedSubject<'_>, ruling: &Ruling) -> Vec<Panel> {
    match subject {
        ResolvedSubject::Copy { context, .. } if ruling.has(Code::GuestStillRefers) => {
            let command = reset_command(context);
            command.map(|command| Panel::Command { title: "FIX", command }).into_iter().collect()
        }
        ResolvedSubject::Copy { .. }
        | ResolvedSubject::Collection { .. }
        | ResolvedSubject::ConsoleMirror { .. }
        | ResolvedSubject::ControlPlaneNamespace { .. }
        | ResolvedSubject::HostedCluster { .. } => Vec::new(),
    }
}
