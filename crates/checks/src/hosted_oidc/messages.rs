//! The one-line summary of each verdict. Where the state is not match, it ends with who has to do what, unless an action
//! does it.

#![expect(clippy::wildcard_enum_match_arm, reason = "a subject has few of the verdicts; the last arm is the usual one")]

use super::context::CheckContext;
use super::facts::AuthenticationType;
use super::hosted_cluster::HostedContext;
use super::judge::{ClientUse, client_use};
use super::names::CopyKind;
use super::remedy::leftovers::Location;
use super::ruling::Ruling;
use super::settings::Settings;
use super::verdict::{Code, Verdict};
use crate::external_oidc::Checked;
use trueup_core::engine::text::{Printable, ShellCommand};

/// What removes an authentication block for good: the guest keeps the old one while HyperShift finds none to copy.
const RESET_PATCH: &str = r#"{"spec":{"configuration":{"authentication":{"type":"IntegratedOAuth"}}}}"#;

pub fn summary(context: &CheckContext<'_>, settings: &Settings, kind: CopyKind, name: &str, ruling: &Ruling) -> String {
    let has = |code| ruling.has(code);
    let key = kind.copied_key();
    match ruling.verdict {
        Verdict::Terminating => "already being deleted; its finalizers have to finish".to_owned(),
        Verdict::Protected if has(Code::Day2) => "a day-2 Secret: its user creates it in the guest".to_owned(),
        Verdict::Protected if kind.protected_names().contains(&name) => "a name the platform owns".to_owned(),
        Verdict::Protected => "another part of the configuration refers to it".to_owned(),
        Verdict::Unknown => unknown(ruling),
        Verdict::SourceMissing => {
            "the OIDC provider references it, and its source is missing in the control plane's namespace; create it in the HostedCluster's namespace, or remove it from spec.configuration.authentication".to_owned()
        }
        Verdict::MissingCopy if has(Code::UserProvided) => {
            "the provider names it, and the guest lacks it; create it in openshift-config of the guest".to_owned()
        }
        Verdict::MissingCopy => "the provider names it, but the guest lacks the copy".to_owned(),
        Verdict::StaleCopy => format!("{key} differs from its source"),
        Verdict::Referenced if has(Code::Unlabelled) => "in use; nothing marks it as made for OIDC yet".to_owned(),
        Verdict::Referenced => "in use by an OIDC provider".to_owned(),
        Verdict::Pending if has(Code::GuestStillRefers) => guest_still_refers(context),
        Verdict::Pending if has(Code::NotPropagated) => {
            "the HostedCluster references it; wait until HyperShift has propagated the change to the HostedControlPlane"
                .to_owned()
        }
        Verdict::Pending => match client_use(context, settings) {
            ClientUse::Current { client, .. } => format!(
                "{} still uses client {}; wait until the console operator has switched",
                client.component, client.client_id
            ),
            ClientUse::Stale | ClientUse::None => "a client is still in use; wait until it has switched".to_owned(),
        },
        Verdict::Foreign if has(Code::NamePattern) => {
            "not HyperShift's by any mark, but its name matches a pattern; delete it yourself, or accept the finding"
                .to_owned()
        }
        Verdict::Foreign => "not a copy HyperShift made".to_owned(),
        Verdict::Moot => moot(ruling),
        Verdict::OrphanCertain | Verdict::OrphanProbable => orphan(ruling),
        Verdict::Leftover | Verdict::Valid | Verdict::Invalid | Verdict::KasWouldRefuse | Verdict::Degraded => {
            String::new()
        }
    }
}

fn unknown(ruling: &Ruling) -> String {
    let gap = ruling.gap.as_ref().map_or("not known", |gap| &gap.message);
    format!("unknown: {gap}; trueup doctor says what cannot be read")
}

fn orphan(ruling: &Ruling) -> String {
    let mark = match ruling.verdict {
        Verdict::OrphanCertain => "labelled as an OIDC copy",
        _ => "identical in shape to a HyperShift copy",
    };
    let mut text = format!("no OIDC provider references it; {mark}");
    if ruling.has(Code::ClientStale) {
        text.push_str("; a client of it was last reported longer ago than client_grace");
    }
    if ruling.has(Code::Restored) {
        text.push_str("; restored by trueup undo, so its delete is not selected");
    }
    text
}

fn moot(ruling: &Ruling) -> String {
    let next = if ruling.has(Code::Paused) { "resume it first" } else { "nothing to do until that has ended" };
    format!("the hosted cluster is {}; {next}", moot_message(ruling))
}

/// A command where one settles it: HyperShift never resets the guest's Authentication when the block is removed.
fn guest_still_refers(context: &CheckContext<'_>) -> String {
    match reset_command(context) {
        Some(command) => format!("the guest's Authentication/cluster still names it; run {command}"),
        None => "the guest's Authentication/cluster still names it; wait until HyperShift has copied \
                 spec.configuration.authentication of the HostedCluster into the guest"
            .to_owned(),
    }
}

/// The patch of the HostedCluster that makes HyperShift reset the guest's Authentication. Only where the control plane
/// asks for no OIDC any more while the guest is still on it.
pub fn reset_command(context: &CheckContext<'_>) -> Option<Printable> {
    let by = context.home.as_ref().ok()?;
    let plane_is_oidc = context.control_plane.seen?.hosted.authentication.is_oidc();
    let guest_is_oidc = context.authentication.seen?.spec.kind == AuthenticationType::Oidc;
    if plane_is_oidc || !guest_is_oidc {
        return None;
    }
    let command = ShellCommand::new("kubectl")
        .option("--context", by.cluster.as_str())
        .option("-n", by.namespace.as_str())
        .words("patch hostedcluster")
        .operand(by.name.as_str())
        .words("--type=merge")
        .option("-p", RESET_PATCH);
    Some(command.line())
}

/// The summary of a leftover.
pub fn leftover_summary(location: Location, ruling: &Ruling) -> String {
    match ruling.verdict {
        Verdict::Unknown => unknown(ruling),
        Verdict::Moot => moot(ruling),
        Verdict::Terminating => "already being deleted; its finalizers have to finish".to_owned(),
        _ => {
            let text = match location {
                Location::Console => "no provider names this CA; the console operator never removes its mirror",
                Location::ControlPlane(_) => {
                    "HostedCluster and HostedControlPlane do not name it; HyperShift never prunes this namespace"
                }
            };
            let restored = if ruling.has(Code::Restored) { "; restored by trueup undo" } else { "" };
            format!("{text}{restored}")
        }
    }
}

/// The summary of a HostedCluster.
pub fn hosted_cluster_summary(context: &HostedContext<'_>, checked: Option<&Checked>, ruling: &Ruling) -> String {
    let kind = context.kind();
    let problems = checked.map_or(&[][..], |checked| &checked.problems);
    let first = problems.first();
    let first = first.map(|one| format!("{}: {}; {}", one.path, one.why, one.remedy())).unwrap_or_default();
    match ruling.verdict {
        Verdict::Unknown => unknown(ruling),
        Verdict::Moot => moot(ruling),
        Verdict::Invalid => format!("HyperShift would refuse it: {first}"),
        Verdict::KasWouldRefuse => format!("accepted, and kube-apiserver would not start with it: {first}"),
        Verdict::Degraded => {
            let types = context.refusals();
            let types: Vec<&str> = types.into_iter().map(super::facts::SpeakingCondition::as_str).collect();
            format!("HyperShift refuses the configuration ({}); correct what the condition names", types.join(", "))
        }
        _ if ruling.spec_codes.is_empty() => format!("type {kind}, nothing speaks against it"),
        _ => format!("type {kind}, with warnings: {}", ruling.spec_codes.join(", ")),
    }
}

pub fn moot_message(ruling: &Ruling) -> String {
    let words = ruling.codes.iter().map(|code| match code {
        Code::Deleting => "being deleted",
        Code::Restored => "being restored from a backup",
        Code::ClientStale
        | Code::ClientStillCurrent
        | Code::Day2
        | Code::EmptySource
        | Code::FleetIncomplete
        | Code::Gone
        | Code::GuestStillRefers
        | Code::NamePattern
        | Code::NamedByOidc
        | Code::NotPropagated
        | Code::Paused
        | Code::Unlabelled
        | Code::UserProvided => code.as_str(),
    });
    words.collect::<Vec<_>>().join(", ")
}
