//! The one-line summary of each subject.

use super::context::CheckContext;
use super::judge::still_current;
use super::names::CopyKind;
use super::ruling::Ruling;
use super::verdict::{Code, Verdict};

pub fn summary(context: &CheckContext<'_>, kind: CopyKind, name: &str, ruling: &Ruling) -> String {
    let has = |code| ruling.codes.contains(&code);
    let key = kind.copied_key();
    match ruling.verdict {
        Verdict::Terminating => "already being deleted".to_owned(),
        Verdict::Protected if kind.protected_names().contains(&name) => "a name the platform owns".to_owned(),
        Verdict::Protected => "another part of the configuration refers to it".to_owned(),
        Verdict::Unknown => {
            ruling.gap.as_ref().map_or_else(|| "not known".to_owned(), |gap| format!("unknown: {gap}"))
        }
        Verdict::SourceMissing => {
            "the OIDC provider references it, and its source is missing in the control plane's namespace; create it in the HostedCluster's namespace, or remove it from spec.configuration.authentication".to_owned()
        }
        Verdict::MissingCopy if has(Code::UserProvided) => {
            "the provider names it and the user has not made it in the guest".to_owned()
        }
        Verdict::MissingCopy => "the provider names it, but the guest lacks the copy".to_owned(),
        Verdict::StaleCopy => format!("{key} differs from its source"),
        Verdict::Referenced if has(Code::Unlabelled) => "in use; nothing marks it as made for OIDC yet".to_owned(),
        Verdict::Referenced => "in use by an OIDC provider".to_owned(),
        Verdict::Pending if has(Code::GuestStillRefers) => {
            "the guest's Authentication/cluster still names it: set spec.configuration.authentication.type on the HostedCluster".to_owned()
        }
        Verdict::Pending if has(Code::NotPropagated) => {
            "the HostedCluster references it; not yet propagated to the HostedControlPlane".to_owned()
        }
        Verdict::Pending => match still_current(context) {
            Some(client) => format!("{} still uses client {}", client.component, client.client_id),
            None => "a client is still in use".to_owned(),
        },
        Verdict::Foreign if has(Code::NamePattern) => "not HyperShift's by any mark, but its name matches a pattern".to_owned(),
        Verdict::Foreign => "not a copy HyperShift made".to_owned(),
        Verdict::Moot => format!("nothing to do now: the hosted cluster is {}", moot_message(ruling)),
        Verdict::OrphanCertain => "no OIDC provider references it; labelled as an OIDC copy".to_owned(),
        Verdict::OrphanProbable => "no OIDC provider references it; identical in shape to a HyperShift copy".to_owned(),
        Verdict::Leftover => "left over".to_owned(),
    }
}

pub fn moot_message(ruling: &Ruling) -> String {
    let words = ruling.codes.iter().map(|code| match code {
        Code::Deleting => "being deleted",
        Code::Restored => "being restored from a backup",
        Code::ClientStillCurrent
        | Code::EmptySource
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
