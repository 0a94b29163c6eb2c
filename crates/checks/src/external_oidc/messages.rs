//! The one-line summary of each subject.

#![expect(clippy::wildcard_enum_match_arm, reason = "a subject has few of the verdicts; the last arm is a match")]

use super::availability::{Availability, Half, Revision, auth_of_revision, still_carries};
use super::context::CheckContext;
use super::facts::Node;
use super::names::{KAS_NAMESPACE, MANAGED_NAMESPACE};
use super::ruling::Ruling;
use super::spec::Component;
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};

pub fn summary(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> String {
    if ruling.verdict == Verdict::Unknown {
        let gap = ruling.gap.as_ref().map_or("not known", |gap| &gap.message);
        return format!("unknown: {gap}");
    }
    match subject {
        ResolvedSubject::Authentication => authentication_summary(context, ruling),
        ResolvedSubject::AuthConfig | ResolvedSubject::KasCopy => file_summary(subject, ruling.verdict),
        ResolvedSubject::Rollout => rollout_summary(context, ruling),
        ResolvedSubject::ObservedConfig => match ruling.verdict {
            Verdict::Drift => format!("kube-apiserver would get other settings: {}", ruling.codes.join(", ")),
            _ => "kube-apiserver gets the settings of this type".to_owned(),
        },
        ResolvedSubject::Part(_) => part_summary(context, ruling.verdict),
        ResolvedSubject::Restrictions => restrictions_summary(context, ruling.verdict),
        ResolvedSubject::ConsoleCa { .. } => console_summary(ruling.verdict, "the provider's CA"),
        ResolvedSubject::ConsoleSecret => console_summary(ruling.verdict, "the console's client secret"),
        ResolvedSubject::Client { component } => client_summary(component, ruling),
        ResolvedSubject::OauthCopy(_) => part_summary(context, ruling.verdict),
        ResolvedSubject::Namespace(_) => match ruling.verdict {
            Verdict::NamespaceTerminating => "being deleted, and upstream keeps it in every mode".to_owned(),
            _ => "kept in every mode".to_owned(),
        },
        ResolvedSubject::Operator(operator) => match ruling.verdict {
            Verdict::Degraded => format!("{} says: {}", operator.as_str(), ruling.codes.join(", ")),
            _ => format!("{} reports nothing about external OIDC", operator.as_str()),
        },
    }
}

/// Who has to do what, where no action does it.
pub fn advice(subject: &ResolvedSubject, verdict: Verdict) -> &'static str {
    match (subject, verdict) {
        (_, Verdict::Unknown) => "trueup doctor says what cannot be read",
        (_, Verdict::RollingOut) => "wait until every replica or node has the new version",
        (ResolvedSubject::Authentication, _) => "correct Authentication/cluster",
        (_, Verdict::Unrenderable) => "correct Authentication/cluster first",
        (ResolvedSubject::Restrictions, Verdict::Missing) => "the release brings it; see the cluster version operator",
        (ResolvedSubject::Restrictions, _) => "replace them with RBAC, then delete them",
        (ResolvedSubject::Namespace(_), _) => "remove what its finalizers and conditions name",
        (ResolvedSubject::Client { .. }, _) => "the console operator has to switch; see the client's conditions",
        (ResolvedSubject::Operator(_), _) => "correct what the condition names",
        (ResolvedSubject::Rollout | ResolvedSubject::ObservedConfig, _) => {
            "kube-apiserver's operator has to roll it out"
        }
        (ResolvedSubject::OauthCopy(_) | ResolvedSubject::KasCopy, _) => "kube-apiserver's operator has to copy it",
        (ResolvedSubject::ConsoleCa { .. } | ResolvedSubject::ConsoleSecret, _) => {
            "the console operator has to copy it"
        }
        (ResolvedSubject::AuthConfig | ResolvedSubject::Part(_), _) => "the authentication operator has to create it",
    }
}

fn authentication_summary(context: &CheckContext<'_>, ruling: &Ruling) -> String {
    let kind = context.kind().map(|kind| kind.as_str().to_owned()).unwrap_or_default();
    let problems = context.checked().map(|checked| checked.problems.as_slice()).unwrap_or_default();
    let first = problems.first().map(|problem| format!("{}: {}", problem.path, problem.why)).unwrap_or_default();
    let more = match problems.len() {
        0 | 1 => String::new(),
        number => format!(" (and {} more)", number - 1),
    };
    match ruling.verdict {
        Verdict::Lockout => "type OIDC without a provider: after the rollout no token is accepted".to_owned(),
        Verdict::Invalid => format!("would be refused: {first}{more}"),
        Verdict::KasWouldRefuse => format!("accepted, and kube-apiserver would not start with it: {first}{more}"),
        _ if ruling.codes.is_empty() => format!("type {kind}, nothing speaks against it"),
        _ => format!("type {kind}, with warnings: {}", ruling.codes.join(", ")),
    }
}

fn file_summary(subject: &ResolvedSubject, verdict: Verdict) -> String {
    let (source, writer) = match subject {
        ResolvedSubject::KasCopy => ("its source in openshift-config-managed", "kube-apiserver's operator"),
        _ => ("what Authentication/cluster asks for", "the authentication operator"),
    };
    match verdict {
        Verdict::Missing => format!("{writer} has not written it"),
        Verdict::Drift => format!("differs from {source}"),
        Verdict::Extra => "exists but is not expected".to_owned(),
        Verdict::Unrenderable => "Authentication/cluster is invalid, so there is nothing to compare with".to_owned(),
        _ => format!("as {source} has it, byte for byte"),
    }
}

fn rollout_summary(context: &CheckContext<'_>, ruling: &Ruling) -> String {
    let nodes = context.kube_api_server.seen.map_or(&[][..], |kas| &kas.nodes);
    let there = nodes.iter().filter(|node| auth_of_revision(context, node.current) == Revision::Oidc).count();
    match ruling.verdict {
        Verdict::Available => "every kube-apiserver runs with external OIDC alone".to_owned(),
        Verdict::OauthIncomplete => {
            format!("the OAuth server is wanted, and revisions lack {}", ruling.codes.join(", "))
        }
        Verdict::RollingOut if *context.availability() == Availability::NotWanted => {
            format!("the next revision brings {}", ruling.codes.join(", "))
        }
        Verdict::RollingOut => {
            format!("{there} of {} nodes are on external OIDC alone; {}", nodes.len(), awaited(context))
        }
        _ if ruling.codes.contains(&Code::StillOnOidc.as_str()) => {
            let on_oidc = nodes.iter().filter(|node| still_carries(context, node.current) == Ok(true)).count();
            format!("OIDC disabled; {on_oidc} of {} nodes still use it", nodes.len())
        }
        _ if *context.availability() == Availability::NotWanted => {
            "OIDC is not asked for, and none runs with it".to_owned()
        }
        _ => format!("OIDC is asked for, and no revision has it yet; {}", awaited(context)),
    }
}

/// What has to happen next, in a sentence.
pub fn awaited(context: &CheckContext<'_>) -> String {
    let file = |namespace| context.auth_config(namespace).seen;
    let Some(kas) = context.kube_api_server.seen else { return "waiting for KubeAPIServer/cluster".to_owned() };
    if file(MANAGED_NAMESPACE).is_none() {
        return "waiting for the authentication operator to write auth-config".to_owned();
    }
    if file(KAS_NAMESPACE).is_none() {
        return "waiting for kube-apiserver's operator to copy auth-config".to_owned();
    }
    let failing = |node: &&Node| node.last_failed.as_ref().is_some_and(|failed| failed.revision == node.target);
    if let Some((node, failed)) =
        kas.nodes.iter().filter(failing).find_map(|node| Some((node, node.last_failed.as_ref()?)))
    {
        return format!("revision {} fails on {}: {}", failed.revision, node.name, failed.message);
    }
    if let Some(node) = kas.nodes.iter().find(|node| node.target > 0 && node.target != node.current) {
        return format!("waiting for {} to go from revision {} to {}", node.name, node.current, node.target);
    }
    let half = kas.nodes.iter().find(|node| matches!(auth_of_revision(context, node.current), Revision::Half(_)));
    match half.map(|node| auth_of_revision(context, node.current)) {
        Some(Revision::Half(Half::WebhookToo | Half::MetadataToo)) => {
            "waiting for the second revision, without the webhook".to_owned()
        }
        Some(_) | None => "waiting for the next revision".to_owned(),
    }
}

fn part_summary(context: &CheckContext<'_>, verdict: Verdict) -> String {
    match (verdict, context.availability()) {
        (Verdict::NotReady, _) => "present, and it does not work".to_owned(),
        (Verdict::RollingOut, _) => "present, and not every replica is available".to_owned(),
        (Verdict::Leftover, _) => "external OIDC is available on every node, and this is still there".to_owned(),
        (Verdict::Missing, Availability::NotWanted) => "the OAuth server is asked for, and this is missing".to_owned(),
        (Verdict::Missing, _) => "the oauth-apiserver authenticates here, and this is missing".to_owned(),
        (_, Availability::Available) => "as it should be with external OIDC".to_owned(),
        (_, Availability::NotYet(_)) => "OIDC is rolling out: it may exist or not".to_owned(),
        (_, Availability::NotWanted | Availability::Unknown(_)) => "as it should be".to_owned(),
    }
}

/// How many names a line lists before it says how many more there are.
const NAMES_MAX: usize = 8;

fn restrictions_summary(context: &CheckContext<'_>, verdict: Verdict) -> String {
    match verdict {
        Verdict::BlocksOidc => {
            let all = context.restrictions();
            let names: Vec<String> = all.iter().map(|(key, _)| key.to_string()).collect();
            let more = match names.len().saturating_sub(NAMES_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let first = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("RoleBindingRestrictions are not enforced with OIDC: {first}{more}")
        }
        Verdict::Removable => "no RoleBindingRestriction exists; upstream never removes the definition".to_owned(),
        Verdict::Missing => "RoleBindingRestrictions cannot be made without it".to_owned(),
        Verdict::Keep => "kept; upstream never removes it".to_owned(),
        _ => "there is no such definition".to_owned(),
    }
}

fn console_summary(verdict: Verdict, what: &str) -> String {
    match verdict {
        Verdict::Missing => format!("the console lacks its copy of {what}"),
        Verdict::Drift => format!("the console's copy of {what} differs from its source"),
        Verdict::Leftover => format!("a copy of {what} that is no longer expected"),
        _ => format!("the console's copy of {what} is as its source"),
    }
}

fn client_summary(component: &Component, ruling: &Ruling) -> String {
    let who = format!("{}/{}", component.namespace, component.name);
    match ruling.verdict {
        Verdict::Degraded | Verdict::RollingOut => format!("{who} reports {}", ruling.codes.join(", ")),
        Verdict::Missing => format!("{who} does not use the client that is listed for it"),
        Verdict::Drift => format!("{who} uses another client than is listed for it"),
        Verdict::Leftover => format!("{who} still uses a client that is no longer listed"),
        _ => format!("{who} uses what is listed for it"),
    }
}
