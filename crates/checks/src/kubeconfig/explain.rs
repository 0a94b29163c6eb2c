//! The long answer: one line, expected beside actual, and evidence that names object, field and version.

use super::advice::advice;
use super::content::{Current, Packing};
use super::expected::{CaComparison, EndpointComparison, EndpointSource, Said};
use super::facts::{Extras, Held};
use super::judge::{held, pair_of};
use super::messages::{fault_message, key_text, ownership_message, span_message, summary};
use super::names::{CAPT_PLANE, CLUSTER, CLUSTER_LABEL, SECRET, SECRET_TYPE, VALUE};
use super::remedy::actions;
use super::ruling::Ruling;
use super::sides::sides;
use super::source::Source;
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use crate::evidence::versioned_line as line;
use jiff::Timestamp;
use trueup_core::engine::{Evidence, Explanation, State};
use trueup_core::world::{Key, ResourceVersion};

pub fn explain<'a>(subject: &Subject<'a>, ruling: &Ruling<'a>, now: Timestamp) -> Explanation {
    let (expected, actual) = sides(subject, ruling);
    let remedy = actions(subject, ruling);
    let mut evidence = evidence(subject, ruling, now);
    if remedy.is_empty() && ruling.verdict().state() != State::Match {
        evidence.push(Evidence::advice(advice(subject.sort, ruling)));
    }
    Explanation {
        uid: ruling.target.map(|target| target.meta.uid.clone()),
        created: ruling.target.and_then(|target| target.meta.created()),
        summary: summary(subject, ruling, now),
        expected,
        actual,
        evidence,
        remedy,
    }
}

fn evidence(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> Vec<Evidence> {
    let context = &subject.context.cluster.name;
    let mut lines = Vec::new();
    lines.extend(ruling.gap.as_ref().map(|gap| line(gap.message.to_string(), context.to_string(), "", String::new())));
    lines.extend(target_evidence(subject, ruling));
    let said_by = |speaker: EndpointSource, version: Option<&ResourceVersion>, message: String| {
        let object = format!("{context} {}", speaker.object(&subject.cluster_key, &subject.owners.plane_key));
        line(message, object, speaker.field(), version.map(ToString::to_string).unwrap_or_default())
    };
    for Said { value, speaker, version } in &ruling.expected.endpoints {
        lines.push(said_by(*speaker, *version, format!("the cluster is at {value}")));
    }
    for Said { value, speaker, version } in &ruling.expected.authorities {
        lines.push(said_by(*speaker, *version, format!("the cluster's authorities are {}", value.short())));
        let ended = value.first_ends.filter(|ends| *ends <= now);
        let message = |ends| format!("one of the cluster's authorities ended at {ends}");
        lines.extend(ended.map(|ends| said_by(*speaker, *version, message(ends))));
    }
    lines.extend(plane_evidence(subject));
    lines.extend(source_evidence(subject, ruling, now));
    lines.extend(ruling.stages.evidence(now));
    lines
}

fn target_evidence(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let object = format!("{} {} {}", subject.context.cluster.name, SECRET.kind, subject.key);
    let Some(target) = ruling.target else {
        let absent = ruling.has(Verdict::Missing);
        return absent.then(|| line("does not exist".to_owned(), object, "", String::new())).into_iter().collect();
    };
    let field = format!("data.{}", key_text(subject.sort));
    let version = target.meta.version.to_string();
    let say = |message: String| line(message, object.clone(), &field, version.clone());
    let mut lines = contract_evidence(subject, ruling, &object, &version);
    match held(subject.sort, target) {
        Held::Absent => lines.push(say("is not there".to_owned())),
        Held::Empty => lines.push(say("is empty".to_owned())),
        Held::Written { content: Err(why), .. } => lines.push(say(why.to_string())),
        Held::Written { content: Ok(content), .. } => {
            if content.packing == Packing::Twice {
                lines.push(say("is base64-encoded twice".to_owned()));
            }
            if let Current::Nothing(fault) = &content.current {
                lines.push(say(fault.to_string()));
            }
        }
    }
    if let Some(pair) = pair_of(subject.sort, target) {
        lines.push(say(format!("leads to {}{}", pair.server, endpoint_message(ruling.endpoint))));
        lines.extend(ca_message(ruling.ca).map(|words| say(words.to_owned())));
        let words = pair.credential.until_message();
        let until = pair.credential.span().until.map_or_else(String::new, |until| format!(", {words} {until}"));
        lines.push(say(format!("{}{until}", pair.credential.kind())));
        lines.extend(pair.foreign.iter().map(|foreign| say(format!("has {}, which is not obeyed", foreign.as_str()))));
    }
    lines
}

/// What of the Secret itself is not as Cluster API wants it.
fn contract_evidence(subject: &Subject<'_>, ruling: &Ruling<'_>, object: &str, version: &str) -> Vec<Evidence> {
    let Some(target) = ruling.target else { return Vec::new() };
    let say = |message: String, field: &str| line(message, object.to_owned(), field, version.to_owned());
    let mut lines = Vec::new();
    if ruling.codes.contains(&Code::Type) {
        lines.push(say(format!("is {}, expected {SECRET_TYPE}", target.secret_type), "type"));
    }
    if ruling.codes.contains(&Code::Label) {
        let message = format!("{CLUSTER_LABEL} is not {}", subject.cluster());
        lines.push(say(message, "metadata.labels"));
    }
    if let Extras::Disagree(key) = target.extras {
        lines.push(say(format!("does not say what {VALUE} says"), &format!("data.{key}")));
    }
    lines.extend(ownership_message(&ruling.ownership).map(|message| say(message, "metadata.ownerReferences")));
    lines
}

fn endpoint_message(comparison: EndpointComparison) -> &'static str {
    match comparison {
        EndpointComparison::Same => ", where the cluster is",
        EndpointComparison::Moved => ", where the cluster is not",
        EndpointComparison::Differs => ", where the cluster is not; proxy-url or tls-server-name is set",
        EndpointComparison::InCluster => ", which means something only inside the cluster",
        EndpointComparison::NotJudged => "",
    }
}

fn ca_message(comparison: CaComparison) -> Option<&'static str> {
    match comparison {
        CaComparison::Same => Some("has the cluster's authorities"),
        CaComparison::Rotating => Some("has some of the cluster's authorities"),
        CaComparison::Disjoint => Some("has none of the cluster's authorities"),
        CaComparison::Insecure => Some("does not verify the server (insecure-skip-tls-verify)"),
        CaComparison::NotJudged => None,
    }
}

/// CAPT finds its Cluster by an equal name; one that is called otherwise never gets a kubeconfig.
fn plane_evidence(subject: &Subject<'_>) -> Vec<Evidence> {
    let context = &subject.context;
    let key = &subject.cluster_key;
    let mut lines = Vec::new();
    let named = subject.owners.cluster.seen.and_then(|cluster| cluster.control_plane.as_ref());
    let named = named.filter(|plane| *plane.kind == *CAPT_PLANE.kind && *plane.name != *subject.cluster());
    let renamed = &subject.owners.plane_key.name;
    let named = named.map(|plane| &*plane.name).or_else(|| (renamed != &key.name).then(|| renamed.as_str()));
    if let Some(plane) = named {
        let message = format!(
            "its control plane is named {plane}; CAPT finds its Cluster by equal name only and will not create the Secret; \
             rename one of them"
        );
        let object = format!("{} {} {key}", context.cluster.name, CLUSTER.kind);
        lines.push(line(message, object, "spec.controlPlaneRef", String::new()));
    }
    let failure = subject.owners.plane.seen.map(|plane| &*plane.failure).filter(|failure| !failure.is_empty());
    lines.extend(failure.map(|failure| {
        let object = format!("{} {} {}", context.cluster.name, CAPT_PLANE.kind, subject.owners.plane_key);
        line(failure.to_owned(), object, "status.failureReason", String::new())
    }));
    lines
}

fn source_evidence(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> Vec<Evidence> {
    let object = |key: &Key| format!("{} {} {key}", subject.context.cluster.name, SECRET.kind);
    if let Source::Missing { key } = &ruling.source {
        return vec![line("the source does not exist".to_owned(), object(key), "", String::new())];
    }
    let Some((key, holder)) = ruling.source.seen() else { return Vec::new() };
    let message = match &ruling.source {
        Source::Invalid { fault, .. } => format!("the source {}", fault_message(*fault)),
        Source::Another { who, is_twin: true, .. } => format!(
            "no endpoint or CA shows whose the source is, and the cluster {} in {} has the same source",
            who.key, who.context
        ),
        Source::Another { who, is_twin: false, .. } => {
            format!("the source leads to the cluster {} in {}", who.key, who.context)
        }
        Source::Stale { .. } => "the source would not be let in now".to_owned(),
        Source::Good { .. } | Source::None | Source::NotKnown(_) | Source::Missing { .. } => {
            let same = match (&holder.kubeconfig, ruling.target.map(|target| &target.value)) {
                (Held::Written { value: theirs, .. }, Some(Held::Written { value: ours, .. })) => theirs == ours,
                (_, _) => false,
            };
            if same { "the source holds the same bytes".to_owned() } else { "the source holds other bytes".to_owned() }
        }
    };
    let issued = pair_of(Sort::Hosted, holder).and_then(|pair| pair.credential.span().issued);
    let age =
        issued.map_or_else(String::new, |issued| format!(", issued {} ago", span_message(now.duration_since(issued))));
    vec![line(format!("{message}{age}"), object(key), "data.kubeconfig", holder.meta.version.to_string())]
}
