//! The long answer: one line, expected beside actual, and evidence that names object, field and version.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::content::{Current, Packing, Pair, Trust};
use super::expected::{CaComparison, EndpointComparison, EndpointSource, Said};
use super::facts::Held;
use super::judge::{held, pair_of};
use super::messages::{fault_message, key_text, span_message, summary};
use super::names::{CAPT_PLANE, CLUSTER, CLUSTER_LABEL, RELATIVE, SECRET, SECRET_TYPE, TOKEN_FILE, VALUE};
use super::remedy::{actions, described};
use super::ruling::Ruling;
use super::source::Source;
use super::subjects::{Sort, Subject};
use super::verdict::Verdict;
use crate::evidence::versioned_line as line;
use trueup_core::engine::{Evidence, Explanation};
use trueup_core::world::{Key, ResourceVersion};

pub fn explain<'a>(subject: &Subject<'a>, ruling: &Ruling<'a>, now: Timestamp) -> Explanation {
    Explanation {
        uid: ruling.target.map(|target| target.meta.uid.clone()),
        created: ruling.target.and_then(|target| target.meta.created()),
        summary: summary(subject, ruling, now),
        expected: expected(subject, ruling),
        actual: actual(subject, ruling),
        evidence: evidence(subject, ruling, now),
        remedy: actions(subject, ruling),
    }
}

fn expected(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Value {
    let mut expected = Map::new();
    expected.insert("exists".into(), json!(true));
    if subject.sort == Sort::Capi {
        expected.insert("type".into(), json!(SECRET_TYPE));
        expected.insert("labels".into(), json!({ CLUSTER_LABEL: subject.cluster() }));
    }
    if let Some(said) = ruling.expected.endpoints.first() {
        expected.insert("server".into(), json!(said.value.as_str()));
    }
    if let Some(said) = ruling.expected.authorities.first() {
        expected.insert("authorities".into(), json!(said.value.short()));
    }
    if let Some((key, holder)) = ruling.source.seen() {
        expected.insert("from".into(), json!(format!("{} {} {key}", subject.context.cluster.name, SECRET.kind)));
        expected.insert("data".into(), json!({ VALUE: described(Sort::Hosted, holder, &holder.kubeconfig) }));
    }
    Value::Object(expected)
}

fn actual(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Value {
    let Some(target) = ruling.target else { return json!({}) };
    let mut data = Map::new();
    let kept = held(subject.sort, target);
    if *kept != Held::Absent {
        data.insert(key_text(subject.sort).into(), json!(described(subject.sort, target, kept)));
    }
    for (key, length) in [(RELATIVE, target.relative), (TOKEN_FILE, target.token_file)] {
        data.extend(length.map(|length| (key.to_owned(), json!(format!("<{length} bytes>")))));
    }
    let labels: Map<String, Value> =
        target.meta.shown_labels(SECRET.kind).map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let mut actual = Map::new();
    actual.insert("exists".into(), json!(true));
    actual.insert("type".into(), json!(target.secret_type.as_ref()));
    actual.insert("labels".into(), Value::Object(labels));
    actual.insert("data".into(), Value::Object(data));
    if let Some(pair) = pair_of(subject.sort, target) {
        lay_out(pair, &mut actual);
    }
    Value::Object(actual)
}

/// Where a login leads, whom it trusts and how long it holds.
pub(super) fn lay_out(pair: &Pair, actual: &mut Map<String, Value>) {
    actual.insert("server".into(), json!(pair.server.as_str()));
    if let Trust::Authorities(held) = &pair.trust {
        actual.insert("authorities".into(), json!(held.short()));
    }
    actual.insert("credential".into(), json!(pair.credential.kind()));
    let span = pair.credential.span();
    actual.extend(span.issued.map(|at| ("issued".to_owned(), json!(at.to_string()))));
    actual.extend(span.until.map(|at| ("until".to_owned(), json!(at.to_string()))));
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
    let mut lines = Vec::new();
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
