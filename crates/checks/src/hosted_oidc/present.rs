//! How this check is shown: by its name and its verdicts, and with the command that settles the commonest case.

use super::messages::reset_command;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::Code;
use crate::present::{CheckDescription, Panel};

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "Hosted OIDC",
    short: "Hosted",
    plural: "copies",
    message: "copies of OIDC settings that HyperShift left in its guests",
    columns: &[],
    verdict_width: 16,
    forms: &[],
};

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
