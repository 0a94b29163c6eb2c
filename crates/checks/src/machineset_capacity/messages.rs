//! Verdicts in sentences: what is wrong, and what to do about it.

use super::compare::{AnnotationStatus, Line};
use super::credentials::{Credentials, Half};
use super::facts::{Pausing, TokenMount};
use super::machine::Fault;
use super::names::{
    CLUSTER, CONTAINER_URI, PAUSED_ANNOTATION, PAUSED_CONDITION, REGION_ANNOTATION, ROLE_ARN, SECRET, TOKEN_FILE,
};
use super::ruling::{PausedBy, Ruling, Why};
use super::verdict::{Code, Verdict};

/// One line.
pub fn summary(ruling: &Ruling<'_>) -> String {
    let type_word = || ruling.machine.as_ref().map_or("", |machine| machine.instance_type.value);
    let region_word = || ruling.machine.as_ref().map_or("", |machine| machine.region.value);
    match ruling.verdict {
        Verdict::Skipped | Verdict::Unknown | Verdict::NotAws | Verdict::InvalidSpec => why(ruling, region_word()),
        Verdict::InstanceTypeEmpty => "instance type is empty".to_owned(),
        Verdict::RegionInvalid => region_invalid(ruling, region_word()),
        Verdict::CredentialsPartial | Verdict::CredentialsNone | Verdict::SecretMissing | Verdict::SecretInvalid => {
            credentials(&ruling.credentials)
        }
        Verdict::TokenUnreadable if ruling.why.failure().is_none() => credentials(&ruling.credentials),
        Verdict::TokenUnreadable | Verdict::Denied | Verdict::Transient => failed(ruling),
        Verdict::InstanceTypeUnknown => not_offered(ruling, type_word(), region_word()),
        Verdict::Missing => {
            format!("no capacity annotations for {}; cannot scale from zero", type_word())
        }
        Verdict::KeysDisagree => {
            format!("its two families of annotations disagree about {}: {}", type_word(), differing(ruling))
        }
        Verdict::Drift if ruling.codes.contains(&Code::FamilyAbsent) => {
            format!("one family of annotations for {} is absent: {}", type_word(), differing(ruling))
        }
        Verdict::Drift => format!("its annotations are not those of {}: {}", type_word(), differing(ruling)),
        Verdict::Match => format!("its annotations say what machines of {} have", type_word()),
    }
}

/// What is wrong with a region, and where a right one is written.
fn region_invalid(ruling: &Ruling<'_>, region: &str) -> String {
    let problem = match region {
        "" => "it names no region".to_owned(),
        region => format!("{} is not an AWS region", shown(region)),
    };
    let place = ruling.machine.as_ref().map_or("", |machine| machine.region_place.as_str());
    let offered = ruling.offered_region.as_ref();
    let offered =
        offered.map_or_else(String::new, |region| format!(" to {region}, the region of Infrastructure/cluster"));
    format!("{problem}; set {place}{offered}")
}

fn why(ruling: &Ruling<'_>, region: &str) -> String {
    match &ruling.why {
        Why::Nothing => {
            format!("no account of the fleet knows {region}: add one that does, and see trueup doctor")
        }
        Why::Gap(gap) => format!("unknown: {gap}"),
        Why::Deleting => "it is being deleted".to_owned(),
        Why::Paused(by) => format!("skipped: {}", paused(by)),
        Why::Authority(api) => format!("skipped: authoritative API is {api}"),
        Why::Platform(platform) => format!("not an AWS machine set: {platform}"),
        Why::Fault(fault) => fault_message(fault),
        Why::Failure(failure) => {
            let code = if failure.code.is_empty() { String::new() } else { format!(" ({})", failure.code) };
            let remedy = if failure.remedy.is_empty() { String::new() } else { format!("; {}", failure.remedy) };
            format!("this machine's own AWS login cannot look types up{code}: {}{remedy}", failure.message)
        }
    }
}

pub fn paused(by: &PausedBy) -> String {
    match by {
        PausedBy::MachineSet(Pausing::Annotation) => format!("it has the annotation {PAUSED_ANNOTATION}"),
        PausedBy::MachineSet(Pausing::Spec) => "its spec says that it is paused".to_owned(),
        PausedBy::MachineSet(Pausing::Condition) => format!("its condition {PAUSED_CONDITION} is True"),
        PausedBy::Cluster(key) => format!("{} {key} is paused", CLUSTER.kind),
    }
}

pub fn fault_message(fault: &Fault) -> String {
    match fault {
        Fault::Absent => "it has no provider spec".to_owned(),
        Fault::Unreadable => "its provider spec has another shape than AWS' has: correct it".to_owned(),
        Fault::Unnamed(kind) => format!("it leads to no {kind}: name one"),
        Fault::Dangling { kind, key } => format!("{kind} {key} does not exist: make it, or name another"),
        Fault::Regionless { kind } => {
            format!("its cluster is made of a {kind}, which says no region: annotate {REGION_ANNOTATION}")
        }
        Fault::OddTemplate { key } => format!("the spec of AWSMachineTemplate {key} has another shape: correct it"),
    }
}

/// What is wrong with the login, and how it usually comes about.
pub fn credentials(credentials: &Credentials) -> String {
    match credentials {
        Credentials::NotJudged { .. } => "which login would be used is not judged".to_owned(),
        Credentials::NotKnown(gap) => format!("which login would be used is not known: {gap}"),
        Credentials::Role { token_file, token: Some(TokenMount::NotMounted), .. } => format!(
            "no volume mount of the annotator holds {token_file}, which {TOKEN_FILE} names; mount a projected service \
             account token there"
        ),
        Credentials::Role { token_file, token: Some(TokenMount::NotAToken), .. } => format!(
            "the volume at {token_file}, which {TOKEN_FILE} names, is not a projected service account token of that path; \
             correct path or volume"
        ),
        Credentials::Role { role, .. } => format!("the role {role}, by the service account's token"),
        Credentials::Half(Half::RoleAlone) => format!(
            "{ROLE_ARN} is set and {TOKEN_FILE} is not: set by hand, it keeps the EKS webhook from setting both; \
             take it out of the pod's spec"
        ),
        Credentials::Half(Half::TokenFileAlone) => format!(
            "{TOKEN_FILE} is set and {ROLE_ARN} is not: set by hand, it keeps the EKS webhook from setting both; \
             take it out of the pod's spec"
        ),
        Credentials::Secret { key, .. } => format!("{} {key}", SECRET.kind),
        Credentials::SecretMissing { key } => {
            format!(
                "{} {key}, which it names for its login to AWS, does not exist: make it, or name another",
                SECRET.kind
            )
        }
        Credentials::SecretInvalid { key } => format!(
            "{} {key} holds neither an access key nor a profile [default] with a key or a web identity; put \
             aws_access_key_id and aws_secret_access_key in it",
            SECRET.kind
        ),
        Credentials::None { has_pod_identity: true } => format!(
            "EKS Pod Identity is set up ({CONTAINER_URI}), which is not used here; give it a role by {ROLE_ARN} and \
             {TOKEN_FILE}, or name a Secret"
        ),
        Credentials::None { has_pod_identity: false } => {
            format!(
                "nothing says how to log in to AWS: neither {ROLE_ARN} and {TOKEN_FILE} nor a Secret; annotate the \
                 service account with a role, or name a Secret as credentialsSecret"
            )
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only the verdicts of failed requests have a failure")]
fn failed(ruling: &Ruling<'_>) -> String {
    let Some(failure) = ruling.why.failure() else { return String::new() };
    let code = if failure.code.is_empty() { String::new() } else { format!(" ({})", failure.code) };
    let message = match ruling.verdict {
        Verdict::TokenUnreadable => "the token for the login cannot be used",
        Verdict::Denied => "AWS refuses the login or the question",
        _ => "AWS request failed; retrying",
    };
    let remedy = if failure.remedy.is_empty() { String::new() } else { format!("; {}", failure.remedy) };
    format!("{message}{code}: {}{remedy}", failure.message)
}

fn not_offered(ruling: &Ruling<'_>, instance_type: &str, region: &str) -> String {
    let has = |code: Code| ruling.codes.contains(&code);
    match (has(Code::CapacityZero), has(Code::ArchitectureUnknown)) {
        (false, false) => {
            format!("{region} does not offer {}: name another type, or another region", shown(instance_type))
        }
        (true, false) => {
            format!("how many CPUs or how much memory {instance_type} has is not said: nothing is guessed")
        }
        (false, true) => format!("{instance_type} has no architecture that nodes have: nothing is guessed"),
        (true, true) => {
            format!("neither the size nor the architecture of {instance_type} is known: nothing is guessed")
        }
    }
}

/// A word; in quotes where it is wrong for an invisible character.
fn shown(word: &str) -> String {
    let is_plain = word.trim() == word && !word.contains(char::is_control);
    if is_plain { word.to_owned() } else { format!("{word:?}") }
}

/// The annotations that are not right, by their last words.
fn differing(ruling: &Ruling<'_>) -> String {
    let wrong = |line: &&Line<'_>| line.status != AnnotationStatus::Same;
    let word = |line: &Line<'_>| {
        let key = key_text(line.key);
        match (&line.expected, line.actual) {
            (Some(expected), Some(held)) => format!("{key} is {held} and not {expected}"),
            (Some(expected), None) => format!("{key} {expected} is not there"),
            (None, held) => format!("{key} is {} and should not be there", held.unwrap_or_default()),
        }
    };
    let all: Vec<String> = ruling.lines.iter().filter(wrong).map(word).collect();
    match all.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one}, and {} more", rest.len()),
    }
}

pub fn key_text(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(_, word)| word)
}
