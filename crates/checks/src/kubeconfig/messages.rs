//! One line for people: what a kubeconfig's verdict means, and which stage is stuck.

use jiff::{SignedDuration, Timestamp};

use super::content::{Credential, Current, Packing, Token};
use super::facts::{Extras, Held, Holder};
use super::judge::{held, pair_of};
use super::names::{CLUSTER_LABEL, KUBECONFIG, SECRET_TYPE, VALUE};
use super::owner::Ownership;
use super::ruling::Ruling;
use super::source::{Source, SourceFault, SourceProof};
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};

pub fn summary(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> String {
    let key = key_text(subject.sort);
    let source = source_message(ruling, now);
    match ruling.verdict() {
        Verdict::Unknown => ruling.gap.as_ref().map_or_else(|| "not known".to_owned(), |gap| format!("unknown: {gap}")),
        Verdict::Missing => format!("the Secret does not exist{source}{}", stage_message(ruling)),
        Verdict::Unreadable => format!("key {key} is not usable: {}{source}", unreadable_message(subject, ruling)),
        Verdict::ExecRefused => {
            let fields = ruling.target.and_then(|target| pair_of(subject.sort, target));
            let fields: Vec<&str> =
                fields.map_or_else(Vec::new, |pair| pair.foreign.iter().map(|field| field.as_str()).collect());
            let fields = fields.join(", ");
            format!("key {key} has {fields}, which is refused in a kubeconfig from a cluster{source}")
        }
        Verdict::WrongCluster => format!("not copied{source}"),
        Verdict::Expired => format!("the {} expired {}{source}", kind(subject, ruling), ago(subject, ruling, now)),
        Verdict::NotYetValid => {
            format!("the {} begins in the future{source}", kind(subject, ruling))
        }
        Verdict::EndpointDrift | Verdict::CaDrift => format!("{}{source}", drift_message(subject, ruling)),
        Verdict::Contract => format!("{}{source}", contract_message(subject, ruling)),
        Verdict::RefreshStalled => {
            format!("the {} was signed more than 12 minutes ago: renewal is overdue{source}", kind(subject, ruling))
        }
        Verdict::BehindSource => format!("the controller that copies it is behind{source}"),
        Verdict::SourceInvalid | Verdict::SourceMissing => {
            let stage = stage_message(ruling);
            format!("the {} still works, but it will not be renewed{source}{stage}", kind(subject, ruling))
        }
        Verdict::Waiting => waiting_message(ruling),
        Verdict::Expiring => format!("the {} ends {}{source}", kind(subject, ruling), ago(subject, ruling, now)),
        Verdict::CaRotating => "its CAs overlap with the cluster's: rotation in progress".to_owned(),
        Verdict::Opaque if ruling.codes.contains(&Code::NoExpiry) => "a token without an expiry".to_owned(),
        Verdict::Opaque => "an opaque token: only the API server knows whether it still works".to_owned(),
        Verdict::Fresh => match ends(subject, ruling) {
            Some(_) => format!("works: the {} ends {}", kind(subject, ruling), ago(subject, ruling, now)),
            None => "leads where its cluster is".to_owned(),
        },
    }
}

/// The stage that is not done, where one is known.
fn stage_message(ruling: &Ruling<'_>) -> String {
    let overdue = if ruling.codes.contains(&Code::Overdue) { "; its creation is overdue" } else { "" };
    let stage = ruling.stages.stuck().map_or_else(String::new, |stage| format!("; {}", stage.message()));
    format!("{overdue}{stage}")
}

/// Which stage a new cluster waits for, and that there is nothing to do yet.
fn waiting_message(ruling: &Ruling<'_>) -> String {
    let stage = ruling.stages.stuck().map_or_else(String::new, |stage| format!(": {}", stage.message()));
    let until = ruling.until.map_or_else(String::new, |until| format!("; wait until {until}"));
    format!("the cluster is being created{stage}{until}")
}

fn kind(subject: &Subject<'_>, ruling: &Ruling<'_>) -> &'static str {
    let pair = ruling.target.and_then(|target| pair_of(subject.sort, target));
    pair.map_or("kubeconfig", |pair| pair.credential.kind())
}

fn ends(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Option<Timestamp> {
    pair_of(subject.sort, ruling.target?)?.credential.span().until
}

/// `3m ago`, `in at most 4m`.
fn ago(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> String {
    let pair = ruling.target.and_then(|target| pair_of(subject.sort, target));
    pair.map_or_else(|| UNKNOWN_TIME.to_owned(), |pair| end_message(&pair.credential, now))
}

const UNKNOWN_TIME: &str = "at an unknown time";

/// When a credential ends, or did.
pub fn end_message(credential: &Credential, now: Timestamp) -> String {
    let Some(until) = credential.span().until else { return UNKNOWN_TIME.to_owned() };
    let left = until.duration_since(now);
    // A token dies with the session that signed it, which may be earlier.
    let is_eks = matches!(credential, Credential::Token(Token::Eks(_)));
    match (left.is_positive(), is_eks) {
        (true, true) => format!("in at most {}", span_message(left)),
        (true, false) => format!("in {}", span_message(left)),
        (false, _) => format!("{} ago", span_message(-left)),
    }
}

/// The two largest units that are not zero.
pub fn span_message(span: SignedDuration) -> String {
    let seconds = span.as_secs().unsigned_abs();
    let units = [(86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')];
    let mut left = seconds;
    let mut words = Vec::new();
    for (size, unit) in units {
        if left >= size {
            words.push(format!("{}{unit}", left / size));
            left %= size;
        }
    }
    words.truncate(2);
    if words.is_empty() { "0s".to_owned() } else { words.join(" ") }
}

pub fn unreadable_message(subject: &Subject<'_>, ruling: &Ruling<'_>) -> String {
    let Some(target) = ruling.target else { return "it is not there".to_owned() };
    match held(subject.sort, target) {
        Held::Written { content: Err(why), .. } => why.to_string(),
        Held::Written { content: Ok(content), .. } if content.packing == Packing::Twice => {
            "it is base64-encoded twice".to_owned()
        }
        Held::Absent | Held::Empty | Held::Written { content: Ok(_), .. } => {
            match pair_of(subject.sort, target).map(|pair| &pair.credential) {
                Some(Credential::Token(Token::Malformed(fault))) => fault.to_string(),
                Some(_) | None => "it cannot be read".to_owned(),
            }
        }
    }
}

fn drift_message(subject: &Subject<'_>, ruling: &Ruling<'_>) -> String {
    let server = ruling.target.and_then(|target| pair_of(subject.sort, target)).map(|pair| pair.server.as_str());
    let server = server.unwrap_or_default();
    let expected = ruling.expected.endpoints.first().map_or_else(String::new, |said| said.value.to_string());
    match (ruling.has(Verdict::EndpointDrift), ruling.has(Verdict::CaDrift)) {
        (true, true) => format!(
            "neither server nor authority is the cluster's: it leads to {server}, the cluster is at {expected} (re-created?)"
        ),
        (true, false) => format!("it leads to {server}, and the cluster is at {expected}"),
        (false, _) => "no CA in it matches the cluster's".to_owned(),
    }
}

/// What is wrong with the owner of a Secret.
pub fn ownership_message(ownership: &Ownership) -> Option<String> {
    match ownership {
        Ownership::Dead { owner } => Some(format!("its owner {owner} no longer exists")),
        Ownership::Another { owner } => Some(format!("it is controlled by {owner}")),
        Ownership::Missing => Some("it has no owner reference; its control plane should own it".to_owned()),
        Ownership::Fine | Ownership::NotKnown(_) => None,
    }
}

fn contract_message(subject: &Subject<'_>, ruling: &Ruling<'_>) -> String {
    let target = ruling.target;
    let word = |code: &Code| match code {
        Code::Type => {
            let held = target.map_or("", |target| &target.secret_type);
            Some(format!("its type is {held} and not {SECRET_TYPE}"))
        }
        Code::Label => Some(format!("its label {CLUSTER_LABEL} is not {}", subject.cluster())),
        Code::Key => Some(format!("key {} is absent or empty", key_text(subject.sort))),
        Code::Context => {
            let content = target.map(|target| held(subject.sort, target));
            let fault = match content {
                Some(Held::Written { content: Ok(content), .. }) => match &content.current {
                    Current::Nothing(fault) => fault.to_string(),
                    Current::Pair(_) => String::new(),
                },
                Some(Held::Absent | Held::Empty | Held::Written { content: Err(_), .. }) | None => String::new(),
            };
            Some(fault)
        }
        Code::Owner | Code::OwnerMissing => ownership_message(&ruling.ownership),
        Code::ExtraKeyDisagrees => match target.map(|target| target.extras) {
            Some(Extras::Disagree(key)) => Some(format!("key {key} does not say what {VALUE} says")),
            Some(Extras::Agree) | None => None,
        },
        Code::BasicAuth => Some("it uses a password, which Kubernetes no longer supports".to_owned()),
        Code::Anonymous => Some("it has no credential".to_owned()),
        Code::Base64Twice
        | Code::EndpointDiffers
        | Code::Exec
        | Code::ExecInOtherUser
        | Code::ExecUser
        | Code::ExpectationsDisagree
        | Code::InClusterEndpoint
        | Code::Insecure
        | Code::NoExpiry
        | Code::Overdue
        | Code::PastHalfLife
        | Code::PlaneName
        | Code::SourceDrift
        | Code::SourceUnproven
        | Code::StageApply
        | Code::StageControlPlane
        | Code::StageCopy
        | Code::StageOutputs
        | Code::StageWorkspace
        | Code::TokenMalformed
        | Code::Twin
        | Code::Unparseable => None,
    };
    ruling.codes.iter().filter_map(word).collect::<Vec<_>>().join("; ")
}

/// Which stage is stuck, and the object to look at.
fn source_message(ruling: &Ruling<'_>, now: Timestamp) -> String {
    match &ruling.source {
        Source::None | Source::NotKnown(_) => String::new(),
        Source::Missing { key } => format!("; its source Secret {key} does not exist: look at the provider"),
        Source::Invalid { key, fault, .. } => {
            format!("; its source Secret {key} {}: look at the provider", fault_message(*fault))
        }
        Source::Another { key, who, is_twin: true, .. } => format!(
            "; its source Secret {key} may be that of the cluster {} in {}: set controlPlaneEndpoint of both, or rename one",
            who.key, who.context
        ),
        Source::Another { key, who, is_twin: false, .. } => {
            format!("; its source Secret {key} is that of the cluster {} in {}", who.key, who.context)
        }
        Source::Stale { key, holder, .. } => {
            let until = source_until(holder).map_or_else(String::new, |until| {
                let past = now.duration_since(until);
                if past.is_negative() { String::new() } else { format!(" {} ago", span_message(past)) }
            });
            format!("; its source Secret {key} ended too{until}: look at the provider")
        }
        Source::Good { key, proof: SourceProof::Unproven { .. }, .. } if ruling.has(Verdict::BehindSource) => format!(
            "; its source Secret {key} is valid, but no endpoint or CA shows that it is this cluster's: check it before \
             copying"
        ),
        Source::Good { key, .. } if ruling.has(Verdict::BehindSource) => {
            format!("; its source Secret {key} is good: look at the controller that copies it")
        }
        Source::Good { .. } => String::new(),
    }
}

pub fn fault_message(fault: SourceFault) -> &'static str {
    match fault {
        SourceFault::Key => "has no kubeconfig in its key kubeconfig",
        SourceFault::Unparseable => "holds an unusable value in its key kubeconfig",
        SourceFault::Exec => "would run a command or read a file",
        SourceFault::Drift => "leads to another endpoint than the cluster's",
    }
}

fn source_until(holder: &Holder) -> Option<Timestamp> {
    pair_of(Sort::Hosted, holder)?.credential.span().until
}

/// The key of a Secret that holds the kubeconfig.
pub fn key_text(sort: Sort) -> &'static str {
    match sort {
        Sort::Capi | Sort::User => VALUE,
        Sort::Hosted => KUBECONFIG,
    }
}
