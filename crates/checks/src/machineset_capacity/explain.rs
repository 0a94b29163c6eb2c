//! The long answer: one line, expected beside actual, and evidence that names object and field.

use super::compare::{AnnotationStatus, Family, Line};
use super::credentials::{Credentials, SecretSort};
use super::messages::{credentials, fault_message, paused, summary};
use super::names::{
    CAPACITY_TAINTS, CLUSTER, INFRASTRUCTURE, INSTANCE_TYPE, MACHINE_CPU, MACHINE_GPU, MACHINE_MEMORY, ROLE_ANNOTATION,
    ROLE_ARN, SECRET, SINGLETON,
};
use super::process_environment::{Said, Seen, SeenPod};
use super::region::{partition, partition_of_arn};
use super::remedy::actions;
use super::ruling::{PausedBy, Ruling, Why};
use super::sides::sides;
use super::subjects::{Sort, Subject};
use super::to_fix::to_fix;
use super::upstream;
use super::verdict::Code;
use crate::evidence::line;
use trueup_core::engine::{Evidence, Explanation, State};
use trueup_core::world::Key;

pub fn explain(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Explanation {
    let (expected, actual) = sides(subject, ruling);
    let remedy = actions(subject, ruling);
    let mut evidence = evidence(subject, ruling);
    // An action that takes the answer of another login leaves this one broken.
    if (remedy.is_empty() || ruling.from_catalogue.is_some()) && ruling.verdict.state() != State::Match {
        evidence.extend(to_fix(subject, ruling).map(Evidence::advice));
    }
    Explanation {
        uid: Some(subject.pool.uid.clone()),
        created: subject.pool.created,
        summary: summary(ruling),
        expected,
        actual,
        evidence,
        remedy,
    }
}

fn evidence(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let mut lines = why_evidence(subject, ruling);
    if let Some(machine) = &ruling.machine {
        for (what, said) in [("instance type", &machine.instance_type), ("region", &machine.region)] {
            let value = if said.value.is_empty() { "not said" } else { said.value };
            lines.push(line(format!("the {what} is {value}"), said.object.clone(), &said.field));
        }
    }
    lines.extend(login_evidence(subject, ruling));
    lines.extend(lookup_evidence(ruling));
    lines.extend(ruling.lines.iter().map(|one| annotation_evidence(subject, one)));
    lines.extend(advice(subject, ruling));
    lines
}

fn why_evidence(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let (object, cluster) = (subject.object(), &subject.context.cluster.name);
    let one = match &ruling.why {
        Why::Nothing | Why::Failure(_) => return Vec::new(),
        Why::Gap(gap) => line(gap.message.to_string(), cluster.to_string(), ""),
        Why::Deleting => line("is set".to_owned(), object, "metadata.deletionTimestamp"),
        Why::Paused(by @ PausedBy::MachineSet(_)) => line(paused(by), object, ""),
        Why::Paused(PausedBy::Cluster(key)) => {
            line("true".to_owned(), format!("{cluster} {} {key}", CLUSTER.kind), "spec.paused")
        }
        Why::Authority(api) => line(api.clone(), object, "status.authoritativeAPI"),
        Why::Platform(platform) => line(platform.clone(), object, "spec.template.spec.providerSpec.value.kind"),
        Why::Fault(fault) => line(fault_message(fault), object, "spec.template.spec"),
    };
    vec![one]
}

/// Where the login comes from, and what speaks against it.
fn login_evidence(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let mut lines = Vec::new();
    let environment = subject.context.environment(subject.sort);
    if let Some(why) = &environment.unfound {
        let message = format!("which credentials the annotator has is not judged: {why}");
        lines.push(line(message, subject.context.cluster.name.to_string(), ""));
    }
    let seen = match &environment.said {
        Said::Nothing => return lines,
        Said::NotKnown(_) => None,
        Said::Known(seen) => Some(seen),
    };
    let (place, field) = seen.map_or(("", ""), |seen| (seen.object.as_str(), seen.field.as_str()));
    let message = credentials(&ruling.credentials);
    match &ruling.credentials {
        Credentials::NotJudged { .. } | Credentials::NotKnown(_) => {}
        Credentials::Half(_) | Credentials::None { .. } => lines.push(line(message, place.to_owned(), field)),
        Credentials::Role { role, token_file, token: _ } => {
            lines.push(line(format!("the login is {message}"), place.to_owned(), field));
            lines.extend(seen.into_iter().flat_map(|seen| role_evidence(seen, role, token_file, ruling)));
        }
        Credentials::Secret { key, sort } => {
            let object = format!("{} {} {key}", subject.context.cluster.name, SECRET.kind);
            lines.push(line(secret_message(*sort).to_owned(), object, "data"));
        }
        Credentials::SecretMissing { key } | Credentials::SecretInvalid { key } => {
            let object = format!("{} {} {key}", subject.context.cluster.name, SECRET.kind);
            lines.push(line(message, object, "data"));
        }
    }
    let upstream = upstream::sentences(subject, &ruling.credentials).into_iter();
    lines.extend(upstream.map(|sentence| line(sentence, subject.object(), "events")));
    if let Some(found) = subject.context.infrastructure.get(&Key::new(None, SINGLETON)).seen {
        let object = format!("{} {} cluster", subject.context.cluster.name, INFRASTRUCTURE.kind);
        lines.extend(found.endpoints.iter().map(|(service, url)| {
            let message = format!("{service} is asked at {url}");
            line(message, object.clone(), "status.platformStatus.aws.serviceEndpoints")
        }));
    }
    lines
}

/// What keeps a role from being tried here, or from being of use there.
fn role_evidence(seen: &Seen, role: &str, token_file: &str, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let mut lines = Vec::new();
    if let Some(pod) = &seen.pod {
        let message = format!(
            "its token {token_file} is in the pod: whether AWS accepts it for the role is tried on request only (--probe), and \
             types are looked up with this machine's own login"
        );
        lines.push(line(message, seen.object.clone(), &seen.field));
        lines.extend(pod_evidence(pod, role, seen, ruling));
    }
    let region = ruling.machine.as_ref().map_or("", |machine| machine.region.value);
    if let (Some(theirs), Some(ours)) = (partition_of_arn(role), partition(region))
        && theirs != ours
    {
        let message = format!("the role is of the partition {theirs}, and {region} is of {ours}");
        lines.push(line(message, seen.object.clone(), ROLE_ARN));
    }
    lines
}

/// What is odd about the pod's token, its ServiceAccount and its issuer.
fn pod_evidence(pod: &SeenPod, role: &str, seen: &Seen, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let has = |code: Code| ruling.codes.contains(&code);
    let mut lines = Vec::new();
    if has(Code::AudienceDefault) {
        let message = "the projected token names no audience, so that it is issued for the API server; set audience to \
                       the one the role's trust policy names";
        lines.push(line(message.to_owned(), seen.object.clone(), "spec.volumes"));
    }
    if has(Code::RoleAnnotationDiffers) {
        let message = format!("names {}, and {ROLE_ARN} is {role}; set one of them right", pod.annotated_role);
        let field = format!("metadata.annotations[\"{ROLE_ANNOTATION}\"]");
        let object = pod.service_account.as_ref().map(|(_, object)| object.clone()).unwrap_or_default();
        lines.push(line(message, object, &field));
    }
    if has(Code::IssuerInternal) {
        let message = "is empty: AWS cannot fetch the keys of the internal issuer; set it to a public URL";
        lines.push(line(message.to_owned(), "Authentication cluster".to_owned(), "spec.serviceAccountIssuer"));
    }
    lines
}

fn secret_message(sort: SecretSort) -> &'static str {
    match sort {
        SecretSort::Keys => "holds an access key",
        SecretSort::WebIdentity => {
            "names a role and a token file: the file is in the pods that use this Secret, and not here"
        }
    }
}

/// What the account said.
fn lookup_evidence(ruling: &Ruling<'_>) -> Vec<Evidence> {
    let Some(machine) = &ruling.machine else { return Vec::new() };
    let (instance_type, region) = (machine.instance_type.value, machine.region.value);
    let mut lines = Vec::new();
    if let Why::Failure(failure) = &ruling.why {
        let messages = [failure.message.as_str(), failure.code.as_str(), "no answer"];
        let message = messages.into_iter().find(|message| !message.is_empty()).unwrap_or_default();
        lines.push(line(message.to_owned(), format!("{} {region}", failure.by), ""));
    }
    if let Some(by) = ruling.asked {
        let object = format!("{by} {} {region}/{instance_type}", INSTANCE_TYPE.kind);
        lines.push(match &ruling.expected {
            None => line("offers no machine of this type that could be described".to_owned(), object, ""),
            Some(node) => {
                let size = format!("cpu {}, memory {}Mi, GPU {}", node.cpus, node.memory_mib, node.gpus);
                line(format!("{size}, {}", node.arch.as_str()), object, "type")
            }
        });
    }
    // A role that is configured may not be the one that AWS sees: another source may have come first.
    if let Some((by, identity)) = ruling.identity {
        lines.push(line(format!("AWS was asked as {identity}"), format!("{by} {region}"), "identity"));
    }
    lines
}

fn annotation_evidence(subject: &Subject<'_>, one: &Line<'_>) -> Evidence {
    let expected = one.expected.as_deref().unwrap_or("nothing");
    let message = match (one.status, one.actual) {
        (AnnotationStatus::Same, Some(held)) => format!("says {held}, as it should"),
        (AnnotationStatus::Same, None) => "is not there, as it should be".to_owned(),
        (AnnotationStatus::Differs, held) => format!("says {}; {expected} is expected", held.unwrap_or_default()),
        (AnnotationStatus::Absent, _) => format!("is not there; {expected} is expected"),
    };
    line(message, subject.object(), &format!("metadata.annotations[\"{}\"]", one.key))
}

/// What is worth knowing and not wrong.
pub fn advice(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let mut lines = Vec::new();
    let annotation = |key: &str| format!("metadata.annotations[\"{key}\"]");
    if let Some(machine) = &ruling.machine
        && let Some((cpu, memory)) = machine.native
    {
        let message = format!(
            "the provider says itself that a machine has {cpu} CPUs and {memory}: annotations override that, and are not needed"
        );
        let object = machine.instance_type.object.clone();
        lines.push(line(message, object, "status.capacity"));
    }
    let taints = subject.pool.taints.join(",");
    let held = subject.pool.annotation(CAPACITY_TAINTS).unwrap_or_default();
    if !ruling.lines.is_empty() && taints != held && !taints.is_empty() {
        let message = format!("its machines get the taints {taints}, which an autoscaler sees only in this annotation");
        lines.push(line(message, subject.object(), &annotation(CAPACITY_TAINTS)));
    }
    let is_capi = match subject.sort {
        Sort::MachineApi => false,
        Sort::Deployment | Sort::CapiSet => true,
    };
    let ignored =
        [MACHINE_CPU, MACHINE_MEMORY, MACHINE_GPU].into_iter().find(|key| subject.pool.annotation(key).is_some());
    if let Some(key) = ignored.filter(|_| is_capi) {
        let message = format!("autoscalers of Cluster API do not read {}/…", Family::Machine.prefix());
        lines.push(line(message, subject.object(), &annotation(key)));
    }
    lines
}
