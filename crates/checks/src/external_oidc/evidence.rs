//! What a person can check: each line names the object and the field it was read from.

use super::availability::{Availability, Revision, auth_of_revision};
use super::check::Checked;
use super::conditions::{speaking, topic};
use super::console::{status, wanted_secret};
use super::context::CheckContext;
use super::explain::meta;
use super::facts::{OperatorComplaint, Readiness};
use super::names::{AUTH_CONFIG, CONFIG_NAMESPACE, OAUTH_API_NAMESPACE, SINGLETON};
use super::oauth::webhook_awaits;
use super::observed::{Expected, observed_settings};
use super::remedy::Operator;
use super::ruling::Ruling;
use super::settings::Settings;
use super::spec::AuthKind;
use super::stack::Part;
use super::subjects::ResolvedSubject;
use super::switch;
use super::verdict::{Code, Verdict};
use crate::evidence::versioned_line as line;
use trueup_core::engine::{Evidence, State};

pub fn evidence(
    settings: &Settings,
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    ruling: &Ruling,
) -> Vec<Evidence> {
    let mut lines = Vec::new();
    lines.extend(
        ruling.gap.as_ref().map(|gap| line(gap.message.to_string(), context.name().to_string(), "", String::new())),
    );
    lines.extend(type_line(context));
    match subject {
        ResolvedSubject::Authentication => {
            lines.extend(problem_lines(context));
            lines.extend(switch::evidence(settings, context));
        }
        ResolvedSubject::AuthConfig => lines.push(object_line(context, subject)),
        ResolvedSubject::KasCopy => {
            lines.extend([object_line(context, &ResolvedSubject::AuthConfig), object_line(context, subject)])
        }
        ResolvedSubject::Rollout => lines.extend(node_lines(context)),
        ResolvedSubject::ObservedConfig => {
            lines.extend(setting_lines(context));
            if ruling.codes.contains(&Code::WebhookArg.as_str()) && context.kind() == Ok(&AuthKind::IntegratedOAuth) {
                let field = "spec.webhookTokenAuthenticator";
                let version = authentication_version(context);
                lines.push(line(webhook_awaits(context), authentication(context), field, version));
            }
        }
        ResolvedSubject::Part(part) => {
            lines.push(availability_line(context));
            lines.push(object_line(context, subject));
            lines.extend(readiness_line(context, part));
        }
        ResolvedSubject::Restrictions | ResolvedSubject::OauthCopy(_) => {
            lines.push(availability_line(context));
            lines.push(object_line(context, subject));
            if ruling.verdict == Verdict::BlocksOidc {
                lines.extend(restriction_lines(context));
            }
        }
        ResolvedSubject::Namespace(name) => lines.extend(namespace_lines(context, name)),
        ResolvedSubject::Operator(operator) => lines.extend(operator_lines(context, *operator)),
        ResolvedSubject::ConsoleCa { name } => {
            lines.push(source_line(context, "ConfigMap", name, context.bundle(CONFIG_NAMESPACE, name).seen.is_some()));
            lines.push(object_line(context, subject));
        }
        ResolvedSubject::ConsoleSecret => {
            if let Some(name) = wanted_secret(context) {
                let there = context.secret_mark(CONFIG_NAMESPACE, name).seen.is_some();
                lines.push(source_line(context, "Secret", name, there));
            }
            lines.push(object_line(context, subject));
        }
        ResolvedSubject::Client { component } => {
            let conditions = status(context, component).map_or(&[][..], |status| &status.conditions);
            lines.extend(conditions.iter().map(|condition| {
                let message =
                    format!("{}={} {}: {}", condition.kind, condition.status, condition.reason, condition.message);
                line(
                    message,
                    authentication(context),
                    "status.oidcClients[].conditions",
                    authentication_version(context),
                )
            }));
        }
    }
    if ruling.state != State::Match {
        lines.extend(complaint_lines(context, subject));
    }
    lines
}

/// The first of the restrictions that block OIDC.
fn restriction_lines(context: &CheckContext<'_>) -> Vec<Evidence> {
    let all = context.restrictions();
    let first = all.iter().take(RESTRICTIONS_MAX).map(|(key, _)| {
        let object = format!("{} RoleBindingRestriction {key}", context.name());
        line("is not enforced with OIDC".to_owned(), object, "spec", String::new())
    });
    first.collect()
}

/// Restrictions listed as evidence; the summary says how many more there are.
const RESTRICTIONS_MAX: usize = 8;

fn readiness_line(context: &CheckContext<'_>, part: &Part) -> Option<Evidence> {
    let message = match &context.part(part).seen?.readiness {
        Readiness::NotJudged | Readiness::Ready => return None,
        Readiness::ScaledToZero => "spec.replicas is 0".to_owned(),
        Readiness::NotReady(why) | Readiness::RollingOut(why) => why.to_string(),
    };
    Some(line(message, format!("{} {} {}", context.name(), part.resource.kind, part.key()), "status", String::new()))
}

fn namespace_lines(context: &CheckContext<'_>, name: &str) -> Vec<Evidence> {
    let Some(seen) = context.namespace(name).seen else { return Vec::new() };
    let object = format!("{} Namespace {name}", context.name());
    let version = seen.meta.version.to_string();
    let mut lines = Vec::new();
    if seen.is_terminating {
        let finalizers = if seen.finalizers.is_empty() { "none".to_owned() } else { seen.finalizers.join(", ") };
        lines.push(line(format!("finalizers: {finalizers}"), object.clone(), "spec.finalizers", version.clone()));
    }
    let conditions = seen.conditions.iter();
    lines.extend(
        conditions.map(|message| line(message.to_string(), object.clone(), "status.conditions", version.clone())),
    );
    lines
}

/// Every condition of an operator that speaks about this check, the bad ones first.
fn operator_lines(context: &CheckContext<'_>, operator: Operator) -> Vec<Evidence> {
    let listed = operator.complaints(context).iter().filter(|one| topic(operator, one).is_some());
    listed.map(|one| condition_line(context, operator, one)).collect()
}

fn condition_line(context: &CheckContext<'_>, operator: Operator, one: &OperatorComplaint) -> Evidence {
    let resource = operator.resource();
    let kind = match operator {
        Operator::Authentication => format!("{}.{}", resource.kind, resource.group),
        Operator::KubeApiServer | Operator::Console => resource.kind.to_owned(),
    };
    let object = format!("{} {kind} {SINGLETON}", context.name());
    let message =
        if one.is_bad() { one.complaint.message.to_string() } else { format!("under way: {}", one.complaint.message) };
    line(message, object, &format!("status.conditions[{}]", one.complaint.condition), String::new())
}

fn authentication(context: &CheckContext<'_>) -> String {
    format!("{} Authentication {SINGLETON}", context.name())
}

fn authentication_version(context: &CheckContext<'_>) -> String {
    context.authentication.seen.map_or_else(String::new, |seen| seen.meta.version.to_string())
}

fn type_line(context: &CheckContext<'_>) -> Option<Evidence> {
    let kind = &context.authentication.seen?.spec.kind;
    let message = format!("type is {}", kind.as_str());
    Some(line(message, authentication(context), "spec.type", authentication_version(context)))
}

fn problem_lines(context: &CheckContext<'_>) -> Vec<Evidence> {
    let Ok(checked) = context.checked() else { return Vec::new() };
    spec_lines(checked, &authentication(context), &authentication_version(context))
}

/// What is wrong with a spec, worth knowing of it, or not decided, a line each.
pub fn spec_lines(checked: &Checked, object: &str, version: &str) -> Vec<Evidence> {
    let problems = checked.problems.iter().map(|problem| {
        let message = format!(
            "{}: {}; {} (refused by {})",
            problem.code.as_str(),
            problem.why,
            problem.remedy(),
            problem.refuser.as_str()
        );
        line(message, object.to_owned(), &problem.path, version.to_owned())
    });
    let warnings = checked.warnings.iter().map(|warning| {
        let message = format!("{}: {}", warning.code.as_str(), warning.message);
        line(message, object.to_owned(), &warning.path, version.to_owned())
    });
    let unknowns = checked.unknowns.iter().map(|message| line(message.clone(), object.to_owned(), "", String::new()));
    problems.chain(warnings).chain(unknowns).collect()
}

/// Whether the object of a subject exists.
fn object_line(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Evidence {
    let id = subject.subject(context.name());
    let name = match &id.namespace {
        Some(namespace) => format!("{namespace}/{}", id.name),
        None => id.name.clone(),
    };
    let meta = meta(context, subject);
    let message = if meta.is_some() { "is there" } else { "was not seen" };
    let version = meta.map_or_else(String::new, |meta| meta.version.to_string());
    line(message.to_owned(), format!("{} {} {name}", context.name(), id.kind), "", version)
}

fn source_line(context: &CheckContext<'_>, kind: &str, name: &str, there: bool) -> Evidence {
    let message = if there { "is there" } else { "was not seen" };
    line(message.to_owned(), format!("{} {kind} {CONFIG_NAMESPACE}/{name}", context.name()), "", String::new())
}

fn availability_line(context: &CheckContext<'_>) -> Evidence {
    let claims = context.claims_sourcing() == Ok(true);
    let (object, field) = if claims {
        (format!("{} ConfigMap {OAUTH_API_NAMESPACE}/{AUTH_CONFIG}", context.name()), "data")
    } else {
        (format!("{} KubeAPIServer {SINGLETON}", context.name()), "status.nodeStatuses")
    };
    let message = match context.availability() {
        Availability::NotWanted => "OIDC is not asked for".to_owned(),
        Availability::Available => "OIDC is available: every revision that runs is on OIDC alone".to_owned(),
        Availability::NotYet(_) => "OIDC is not available yet".to_owned(),
        Availability::Unknown(gap) => format!("whether OIDC is available is not known: {gap}"),
    };
    line(message, object, field, String::new())
}

fn node_lines(context: &CheckContext<'_>) -> Vec<Evidence> {
    let Some(kas) = context.kube_api_server.seen else { return Vec::new() };
    let object = format!("{} KubeAPIServer {SINGLETON}", context.name());
    let node = |node: &super::facts::Node| {
        let auth = revision_message(&auth_of_revision(context, node.current));
        let target = if node.target > 0 { format!(", going to {}", node.target) } else { String::new() };
        let failed = node.last_failed.as_ref().map_or_else(String::new, |failed| {
            format!("; revision {} failed {} times: {}", failed.revision, failed.count, failed.message)
        });
        let message = format!("{} runs revision {} ({auth}){target}{failed}", node.name, node.current);
        line(message, object.clone(), "status.nodeStatuses", kas.version.to_string())
    };
    kas.nodes.iter().map(node).collect()
}

/// The configuration of a revision, in a few words.
pub fn revision_message(revision: &Revision) -> String {
    match revision {
        Revision::Oidc => "OIDC alone".to_owned(),
        Revision::NoFile => "no auth-config".to_owned(),
        Revision::Half(half) => half.message().to_owned(),
        Revision::NotKnown(gap) => format!("not known: {gap}"),
    }
}

fn setting_lines(context: &CheckContext<'_>) -> Vec<Evidence> {
    let Ok(settings) = observed_settings(context) else { return Vec::new() };
    let version = context.kube_api_server.seen.map_or_else(String::new, |kas| kas.version.to_string());
    let or_nothing = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
    settings
        .into_iter()
        .map(|setting| {
            let message = match &setting.expected {
                Expected::Text(text) if setting.right => format!("is {} as expected", or_nothing(text)),
                Expected::Text(text) => format!("is {}, expected {}", or_nothing(&setting.actual), or_nothing(text)),
                Expected::NotJudged { why } => format!("not judged: {why}"),
            };
            line(message, format!("{} KubeAPIServer {SINGLETON}", context.name()), setting.field, version.clone())
        })
        .collect()
}

/// The conditions that speak about the subject.
fn complaint_lines(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Vec<Evidence> {
    let found = speaking(context, subject).into_iter().take(COMPLAINTS_MAX);
    found.map(|(operator, one)| condition_line(context, operator, one)).collect()
}

/// An operator in trouble has dozens of conditions; the gravest tell the story.
const COMPLAINTS_MAX: usize = 3;
