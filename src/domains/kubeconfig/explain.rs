//! The long answer: one line that names the stage that is stuck, expected beside actual, and evidence.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::content::{Credential, Current, Packing, Token, Trust};
use super::expected::{CaStand, EndpointStand};
use super::facts::{Extras, Held, Holder};
use super::judge::{Ruling, held, pair_of};
use super::names::{CAPT_PLANE, CLUSTER, CLUSTER_LABEL, KUBECONFIG, RELATIVE, SECRET, SECRET_TYPE, TOKEN_FILE, VALUE};
use super::owner::Ownership;
use super::remedy::{actions, described};
use super::source::{Source, SourceFault};
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use crate::engine::{Evidence, Explanation};
use crate::world::{Gap, Key, Resource};

pub fn explain<'a>(subject: &Subject<'a>, ruling: &Ruling<'a>, now: Timestamp) -> Explanation {
    Explanation {
        uid: ruling.target.map(|target| target.meta.uid.clone()),
        created: ruling.target.and_then(|target| target.meta.created),
        summary: summary(subject, ruling, now),
        expected: expected(subject, ruling),
        actual: actual(subject, ruling),
        evidence: evidence(subject, ruling, now),
        remedy: actions(subject, ruling),
    }
}

/// A collection that isn't completely known.
pub fn explain_collection(cluster: &str, resource: &Resource, gap: &Gap) -> Explanation {
    Explanation {
        uid: None,
        created: None,
        summary: format!("which kubeconfigs there are is not known completely: {gap}"),
        expected: json!({}),
        actual: json!({}),
        evidence: vec![line(gap.says.clone(), format!("{cluster} {} *", resource.kind), "", String::new())],
        remedy: Vec::new(),
    }
}

fn key_word(sort: &Sort) -> &'static str {
    match sort {
        Sort::Capi { .. } | Sort::User { .. } => VALUE,
        Sort::Hosted { .. } => KUBECONFIG,
    }
}

fn summary(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> String {
    let key = key_word(&subject.sort);
    let source = source_words(ruling, now);
    match ruling.verdict() {
        Verdict::Unknown => {
            ruling.gap.as_ref().map_or_else(|| "not known".to_owned(), |gap| format!("can't be judged: {gap}"))
        }
        Verdict::Missing => format!("the Secret does not exist{source}"),
        Verdict::Unreadable => format!("nobody can use key {key}: {}{source}", unreadable_words(subject, ruling)),
        Verdict::ExecRefused => {
            let fields = ruling.target.and_then(|target| pair_of(&subject.sort, target));
            let fields: Vec<&str> =
                fields.map_or_else(Vec::new, |pair| pair.foreign.iter().map(|field| field.word()).collect());
            let fields = fields.join(", ");
            format!("key {key} has {fields}, which is never obeyed in a kubeconfig from a cluster{source}")
        }
        Verdict::WrongCluster => format!("left as it is{source}"),
        Verdict::Expired => format!("the {} expired {}{source}", kind(subject, ruling), ago(subject, ruling, now)),
        Verdict::NotYetValid => {
            format!("the {} begins in the future{source}", kind(subject, ruling))
        }
        Verdict::EndpointDrift | Verdict::CaDrift => format!("{}{source}", drift_words(subject, ruling)),
        Verdict::Contract => format!("{}{source}", contract_words(subject, ruling)),
        Verdict::RefreshStalled => format!(
            "the {} was signed more than 12 minutes ago: whoever renews it is late{source}",
            kind(subject, ruling)
        ),
        Verdict::BehindSource => format!("the controller that copies it is behind{source}"),
        Verdict::SourceInvalid | Verdict::SourceMissing => {
            format!("the {} still works, but it will not be renewed{source}", kind(subject, ruling))
        }
        Verdict::Expiring => format!("the {} ends {}{source}", kind(subject, ruling), ago(subject, ruling, now)),
        Verdict::CaRotating => "its authorities and the cluster's overlap: a rotation is going on".to_owned(),
        Verdict::Opaque if ruling.codes.contains(&Code::NoExpiry) => "a token that never expires by itself".to_owned(),
        Verdict::Opaque => "an opaque token: only the API server knows whether it still works".to_owned(),
        Verdict::Fresh => match ends(subject, ruling) {
            Some(_) => format!("works: the {} ends {}", kind(subject, ruling), ago(subject, ruling, now)),
            None => "leads where its cluster is".to_owned(),
        },
    }
}

fn kind(subject: &Subject<'_>, ruling: &Ruling<'_>) -> &'static str {
    let pair = ruling.target.and_then(|target| pair_of(&subject.sort, target));
    pair.map_or("kubeconfig", |pair| pair.credential.kind())
}

fn ends(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Option<Timestamp> {
    pair_of(&subject.sort, ruling.target?)?.credential.span().until
}

/// `3m ago`, `in at most 4m`.
fn ago(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> String {
    let Some(until) = ends(subject, ruling) else { return "at a time nobody knows".to_owned() };
    let left = until.duration_since(now);
    // A token dies with the session that signed it, which may be earlier.
    let pair = ruling.target.and_then(|target| pair_of(&subject.sort, target));
    let is_eks = pair.is_some_and(|pair| matches!(pair.credential, Credential::Token(Token::Eks(_))));
    match (left.is_positive(), is_eks) {
        (true, true) => format!("in at most {}", span_words(left)),
        (true, false) => format!("in {}", span_words(left)),
        (false, _) => format!("{} ago", span_words(-left)),
    }
}

/// The two largest units that are not zero.
pub fn span_words(span: SignedDuration) -> String {
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

fn unreadable_words(subject: &Subject<'_>, ruling: &Ruling<'_>) -> String {
    let Some(target) = ruling.target else { return "it is not there".to_owned() };
    match held(&subject.sort, target) {
        Held::Written { content: Err(why), .. } => why.to_string(),
        Held::Absent | Held::Empty | Held::Written { content: Ok(_), .. } => {
            match pair_of(&subject.sort, target).map(|pair| &pair.credential) {
                Some(Credential::Token(Token::Malformed(fault))) => fault.to_string(),
                Some(_) | None => "it can't be read".to_owned(),
            }
        }
    }
}

fn drift_words(subject: &Subject<'_>, ruling: &Ruling<'_>) -> String {
    let server = ruling.target.and_then(|target| pair_of(&subject.sort, target)).map(|pair| pair.server.as_str());
    let server = server.unwrap_or_default();
    let expected = ruling.expected.endpoints.first().map_or_else(String::new, |said| said.value.to_string());
    match (ruling.has(Verdict::EndpointDrift), ruling.has(Verdict::CaDrift)) {
        (true, true) => format!(
            "neither server nor authority is the cluster's: it leads to {server}, the cluster is at {expected} (re-created?)"
        ),
        (true, false) => format!("it leads to {server}, and the cluster is at {expected}"),
        (false, _) => "none of its authorities vouches for the cluster any more".to_owned(),
    }
}

fn contract_words(subject: &Subject<'_>, ruling: &Ruling<'_>) -> String {
    let target = ruling.target;
    let word = |code: &Code| match code {
        Code::Type => {
            let held = target.map_or("", |target| &target.secret_type);
            Some(format!("its type is {held} and not {SECRET_TYPE}"))
        }
        Code::Label => Some(format!("its label {CLUSTER_LABEL} is not {}", subject.cluster())),
        Code::Key => Some(format!("key {} is absent or empty", key_word(&subject.sort))),
        Code::Context => {
            let content = target.map(|target| held(&subject.sort, target));
            let fault = match content {
                Some(Held::Written { content: Ok(content), .. }) => match &content.current {
                    Current::Nothing(fault) => fault.to_string(),
                    Current::Pair(_) => String::new(),
                },
                Some(Held::Absent | Held::Empty | Held::Written { content: Err(_), .. }) | None => String::new(),
            };
            Some(fault)
        }
        Code::Owner => match &ruling.ownership {
            Ownership::Dead { owner } => Some(format!("its owner {owner} does not exist any more")),
            Ownership::Another { owner } => Some(format!("it is controlled by {owner}")),
            Ownership::Fine | Ownership::NotKnown(_) => None,
        },
        Code::ExtraKeyDisagrees => match target.map(|target| target.extras) {
            Some(Extras::Disagree(key)) => Some(format!("key {key} does not say what {VALUE} says")),
            Some(Extras::Agree) | None => None,
        },
        Code::BasicAuth => Some("it logs in with a password, which Kubernetes has given up".to_owned()),
        Code::Anonymous => Some("it has no credential at all".to_owned()),
        Code::EndpointDiffers
        | Code::Exec
        | Code::ExecInOtherUser
        | Code::ExecUser
        | Code::ExpectationsDisagree
        | Code::InClusterEndpoint
        | Code::Insecure
        | Code::NoExpiry
        | Code::PastHalfLife
        | Code::SourceDrift
        | Code::TokenMalformed
        | Code::Unparseable => None,
    };
    ruling.codes.iter().filter_map(word).collect::<Vec<_>>().join("; ")
}

/// Which stage is stuck, and the object to look at.
fn source_words(ruling: &Ruling<'_>, now: Timestamp) -> String {
    match &ruling.source {
        Source::None | Source::NotKnown(_) => String::new(),
        Source::Missing { key } => format!("; its source Secret {key} does not exist: look at the provider"),
        Source::Invalid { key, fault, .. } => {
            format!("; its source Secret {key} {}: look at the provider", fault_words(*fault))
        }
        Source::Another { key, who, .. } => {
            format!("; its source Secret {key} is that of the cluster {} in {}", who.key, who.site)
        }
        Source::Stale { key, holder, .. } => {
            let until = source_until(holder).map_or_else(String::new, |until| {
                let past = now.duration_since(until);
                if past.is_negative() { String::new() } else { format!(" {} ago", span_words(past)) }
            });
            format!("; its source Secret {key} ended too{until}: look at the provider")
        }
        Source::Good { key, .. } if ruling.has(Verdict::BehindSource) => {
            format!("; its source Secret {key} is good: look at the controller that copies it")
        }
        Source::Good { .. } => String::new(),
    }
}

fn fault_words(fault: SourceFault) -> &'static str {
    match fault {
        SourceFault::Key => "has no kubeconfig in its key kubeconfig",
        SourceFault::Unparseable => "holds something nobody can use in its key kubeconfig",
        SourceFault::Exec => "would run a command or read a file",
        SourceFault::Drift => "leads somewhere else than the cluster is",
    }
}

fn source_until(holder: &Holder) -> Option<Timestamp> {
    pair_of(&Sort::Hosted { cluster: String::new() }, holder)?.credential.span().until
}

fn expected(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Value {
    let mut expected = Map::new();
    expected.insert("exists".into(), json!(true));
    if let Sort::Capi { cluster } = &subject.sort {
        expected.insert("type".into(), json!(SECRET_TYPE));
        expected.insert("labels".into(), json!({ CLUSTER_LABEL: cluster }));
    }
    if let Some(said) = ruling.expected.endpoints.first() {
        expected.insert("server".into(), json!(said.value.as_str()));
    }
    if let Some(said) = ruling.expected.authorities.first() {
        expected.insert("authorities".into(), json!(said.value.short()));
    }
    if let Some((key, holder)) = ruling.source.seen() {
        expected.insert("from".into(), json!(format!("{} {} {key}", subject.site.cluster.name, SECRET.kind)));
        let hosted = Sort::Hosted { cluster: String::new() };
        expected.insert("data".into(), json!({ VALUE: described(&hosted, holder, &holder.kubeconfig) }));
    }
    Value::Object(expected)
}

fn actual(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Value {
    let Some(target) = ruling.target else { return json!({}) };
    let mut data = Map::new();
    let kept = held(&subject.sort, target);
    if *kept != Held::Absent {
        data.insert(key_word(&subject.sort).into(), json!(described(&subject.sort, target, kept)));
    }
    for (key, length) in [(RELATIVE, target.relative), (TOKEN_FILE, target.token_file)] {
        data.extend(length.map(|length| (key.to_owned(), json!(format!("<{length} bytes>")))));
    }
    let labels: Map<String, Value> =
        target.meta.labels.iter().map(|(key, value)| (key.to_string(), json!(value.as_ref()))).collect();
    let mut actual = Map::new();
    actual.insert("exists".into(), json!(true));
    actual.insert("type".into(), json!(target.secret_type.as_ref()));
    actual.insert("labels".into(), Value::Object(labels));
    actual.insert("data".into(), Value::Object(data));
    if let Some(pair) = pair_of(&subject.sort, target) {
        actual.insert("server".into(), json!(pair.server.as_str()));
        if let Trust::Authorities(held) = &pair.trust {
            actual.insert("authorities".into(), json!(held.short()));
        }
        actual.insert("credential".into(), json!(pair.credential.kind()));
        let span = pair.credential.span();
        actual.extend(span.issued.map(|at| ("issued".to_owned(), json!(at.to_string()))));
        actual.extend(span.until.map(|at| ("until".to_owned(), json!(at.to_string()))));
    }
    Value::Object(actual)
}

fn evidence(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> Vec<Evidence> {
    let site = &subject.site.cluster.name;
    let mut lines = Vec::new();
    lines.extend(ruling.gap.as_ref().map(|gap| line(gap.says.clone(), site.to_string(), "", String::new())));
    lines.extend(target_evidence(subject, ruling));
    for said in &ruling.expected.endpoints {
        let says = format!("the cluster is at {}", said.value);
        lines.push(line(says, format!("{site} {}", said.by), said.field, said.version.clone()));
    }
    for said in &ruling.expected.authorities {
        let says = format!("the cluster's authorities are {}", said.value.short());
        lines.push(line(says, format!("{site} {}", said.by), said.field, said.version.clone()));
        lines.extend(said.value.first_ends.filter(|ends| *ends <= now).map(|ends| {
            let says = format!("one of the cluster's authorities ended at {ends}");
            line(says, format!("{site} {}", said.by), said.field, said.version.clone())
        }));
    }
    lines.extend(plane_evidence(subject));
    lines.extend(source_evidence(subject, ruling, now));
    lines
}

fn target_evidence(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Evidence> {
    let object = format!("{} {} {}", subject.site.cluster.name, SECRET.kind, subject.key);
    let Some(target) = ruling.target else {
        let absent = ruling.has(Verdict::Missing);
        return absent.then(|| line("does not exist".to_owned(), object, "", String::new())).into_iter().collect();
    };
    let field = format!("data.{}", key_word(&subject.sort));
    let version = target.meta.version.to_string();
    let say = |says: String| line(says, object.clone(), &field, version.clone());
    let mut lines = Vec::new();
    match held(&subject.sort, target) {
        Held::Absent => lines.push(say("is not there".to_owned())),
        Held::Empty => lines.push(say("is empty".to_owned())),
        Held::Written { content: Err(why), .. } => lines.push(say(why.to_string())),
        Held::Written { content: Ok(content), .. } => {
            if content.packing == Packing::Twice {
                lines.push(say("is in base64 once more than it should be".to_owned()));
            }
            if let Current::Nothing(fault) = &content.current {
                lines.push(say(fault.to_string()));
            }
        }
    }
    if let Some(pair) = pair_of(&subject.sort, target) {
        lines.push(say(format!("leads to {}{}", pair.server, endpoint_words(ruling.endpoint))));
        lines.extend(ca_words(ruling.ca).map(|words| say(words.to_owned())));
        let words = pair.credential.until_words();
        let until = pair.credential.span().until.map_or_else(String::new, |until| format!(", {words} {until}"));
        lines.push(say(format!("{}{until}", pair.credential.kind())));
        lines.extend(pair.foreign.iter().map(|foreign| say(format!("has {}, which is not obeyed", foreign.word()))));
    }
    lines
}

fn endpoint_words(stand: EndpointStand) -> &'static str {
    match stand {
        EndpointStand::Same => ", where the cluster is",
        EndpointStand::Moved => ", where the cluster is not",
        EndpointStand::Differs => ", where the cluster is not; it goes a way round on purpose",
        EndpointStand::InCluster => ", which means something only inside the cluster",
        EndpointStand::NotJudged => "",
    }
}

fn ca_words(stand: CaStand) -> Option<&'static str> {
    match stand {
        CaStand::Same => Some("has the cluster's authorities"),
        CaStand::Rotating => Some("has some of the cluster's authorities"),
        CaStand::Disjoint => Some("has none of the cluster's authorities"),
        CaStand::Insecure => Some("verifies nobody (insecure-skip-tls-verify)"),
        CaStand::NotJudged => None,
    }
}

/// CAPT finds its Cluster by an equal name; one that is called otherwise never gets a kubeconfig.
fn plane_evidence(subject: &Subject<'_>) -> Vec<Evidence> {
    let site = &subject.site;
    let key = subject.cluster_key();
    let mut lines = Vec::new();
    let named = site.clusters.get(&key).seen.and_then(|cluster| cluster.plane.as_ref());
    if let Some(plane) = named.filter(|plane| *plane.kind == *CAPT_PLANE.kind && *plane.name != *subject.cluster()) {
        let says = format!("names the control plane {}; CAPT looks for one of its own name", plane.name);
        let object = format!("{} {} {key}", site.cluster.name, CLUSTER.kind);
        lines.push(line(says, object, "spec.controlPlaneRef", String::new()));
    }
    let failure = site.planes.get(&key).seen.map(|plane| &*plane.failure).filter(|failure| !failure.is_empty());
    lines.extend(failure.map(|failure| {
        let object = format!("{} {} {key}", site.cluster.name, CAPT_PLANE.kind);
        line(failure.to_owned(), object, "status.failureReason", String::new())
    }));
    lines
}

fn source_evidence(subject: &Subject<'_>, ruling: &Ruling<'_>, now: Timestamp) -> Vec<Evidence> {
    let object = |key: &Key| format!("{} {} {key}", subject.site.cluster.name, SECRET.kind);
    if let Source::Missing { key } = &ruling.source {
        return vec![line("the source does not exist".to_owned(), object(key), "", String::new())];
    }
    let Some((key, holder)) = ruling.source.seen() else { return Vec::new() };
    let says = match &ruling.source {
        Source::Invalid { fault, .. } => format!("the source {}", fault_words(*fault)),
        Source::Another { who, .. } => format!("the source leads to the cluster {} in {}", who.key, who.site),
        Source::Stale { .. } => "the source would not be let in now".to_owned(),
        Source::Good { .. } | Source::None | Source::NotKnown(_) | Source::Missing { .. } => {
            let same = match (&holder.kubeconfig, ruling.target.map(|target| &target.value)) {
                (Held::Written { value: theirs, .. }, Some(Held::Written { value: ours, .. })) => theirs == ours,
                (_, _) => false,
            };
            if same { "the source holds the same bytes".to_owned() } else { "the source holds other bytes".to_owned() }
        }
    };
    let issued =
        pair_of(&Sort::Hosted { cluster: String::new() }, holder).and_then(|pair| pair.credential.span().issued);
    let age =
        issued.map_or_else(String::new, |issued| format!(", issued {} ago", span_words(now.duration_since(issued))));
    vec![line(format!("{says}{age}"), object(key), "data.kubeconfig", holder.meta.version.to_string())]
}

fn line(says: String, object: String, field: &str, resource_version: String) -> Evidence {
    Evidence { says, object, field: field.to_owned(), resource_version }
}
