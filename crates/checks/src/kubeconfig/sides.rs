//! Expected and actual of a kubeconfig: what its verdict compared, field by field.
//!
//! Invariants: both sides of the difference that made the verdict are here; values are lengths, digests and public parts.

use serde_json::{Map, Value, json};

use super::content::{Current, Pair, Trust};
use super::facts::{Extras, Held, Holder};
use super::judge::{held, pair_of};
use super::messages::{fault_message, key_text, unreadable_message};
use super::names::{CLUSTER_LABEL, RELATIVE, SECRET, SECRET_TYPE, TOKEN_FILE, VALUE};
use super::owner::Ownership;
use super::remedy::described;
use super::ruling::Ruling;
use super::source::Source;
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};

/// A field whose value time alone changes.
const FROM: &str = "valid from";
const ISSUED: &str = "issued";
const SOURCE: &str = "source";
const UNTIL: &str = "until";
const CREDENTIAL: &str = "credential";

/// Both sides.
pub fn sides(subject: &Subject<'_>, ruling: &Ruling<'_>) -> (Value, Value) {
    let (mut expected, mut actual) = (expected(subject, ruling), actual(subject, ruling));
    timed(ruling, &mut expected);
    source(subject, ruling, &mut expected, &mut actual);
    if let Some(target) = ruling.target {
        content(subject, ruling, target, &mut expected, &mut actual);
        owner(ruling, &mut expected, &mut actual);
    }
    (Value::Object(expected), Value::Object(actual))
}

fn expected(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Map<String, Value> {
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
        expected.insert("authorities".into(), json!(said.value.described()));
    }
    expected
}

fn actual(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Map<String, Value> {
    let Some(target) = ruling.target else { return Map::new() };
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
    actual
}

/// Where a login leads, whom it trusts and how long it holds.
pub fn lay_out(pair: &Pair, actual: &mut Map<String, Value>) {
    actual.insert("server".into(), json!(pair.server.as_str()));
    if let Trust::Authorities(held) = &pair.trust {
        actual.insert("authorities".into(), json!(held.described()));
    }
    actual.insert(CREDENTIAL.into(), json!(pair.credential.kind()));
    let span = pair.credential.span();
    actual.extend(span.issued.map(|at| (ISSUED.to_owned(), json!(at.to_string()))));
    actual.extend(span.from.map(|at| (FROM.to_owned(), json!(at.to_string()))));
    actual.extend(span.until.map(|at| (UNTIL.to_owned(), json!(at.to_string()))));
}

/// What a valid credential would say where time made the verdict.
pub fn timed(ruling: &Ruling<'_>, expected: &mut Map<String, Value>) {
    let rows = [
        (Verdict::Expired, UNTIL, "not ended"),
        (Verdict::Expiring, UNTIL, "renewed well before the end"),
        (Verdict::NotYetValid, FROM, "begun"),
        (Verdict::RefreshStalled, ISSUED, "less than 12 minutes ago"),
    ];
    for (verdict, field, message) in rows {
        if ruling.has(verdict) && !expected.contains_key(field) {
            expected.insert(field.into(), json!(message));
        }
    }
}

/// The Secret it is copied from, and the bytes of both.
fn source(
    subject: &Subject<'_>,
    ruling: &Ruling<'_>,
    expected: &mut Map<String, Value>,
    actual: &mut Map<String, Value>,
) {
    let named = |key| format!("{} {} {key}", subject.context.cluster.name, SECRET.kind);
    let own = || format!("of {}", subject.cluster_key);
    let (wanted, held) = match &ruling.source {
        Source::None | Source::NotKnown(_) => return,
        Source::Missing { key } => (json!(named(key)), Value::Null),
        Source::Invalid { fault, .. } => (json!("usable"), json!(fault_message(*fault))),
        Source::Another { who, is_twin: true, .. } => {
            (json!(own()), json!(format!("maybe of {} in {}", who.key, who.context)))
        }
        Source::Another { who, is_twin: false, .. } => {
            (json!(own()), json!(format!("of {} in {}", who.key, who.context)))
        }
        Source::Stale { key, .. } | Source::Good { key, .. } => (json!(named(key)), json!(named(key))),
    };
    // Without the target there is nothing to compare a source with, unless it is missing, too.
    if ruling.target.is_some() || held.is_null() {
        expected.insert(SOURCE.into(), wanted);
        actual.insert(SOURCE.into(), held);
        actual.entry("exists").or_insert(json!(false));
    }
    if !ruling.has(Verdict::BehindSource) {
        return;
    }
    let Source::Good { holder, .. } = &ruling.source else { return };
    let theirs = described(Sort::Hosted, holder, &holder.kubeconfig);
    if let Some(ours) = actual.get_mut("data").and_then(|data| data.get_mut(VALUE))
        && *ours == json!(theirs)
    {
        *ours = json!(theirs.replace('>', ", different>"));
    }
    expected.insert("data".into(), json!({ VALUE: theirs }));
}

/// What the kubeconfig in the Secret lacks, or has and must not have.
fn content(
    subject: &Subject<'_>,
    ruling: &Ruling<'_>,
    target: &Holder,
    expected: &mut Map<String, Value>,
    actual: &mut Map<String, Value>,
) {
    let has = |code: Code| ruling.codes.contains(&code);
    let mut put = |field: &str, wanted: &str, held: Value| {
        expected.insert(field.to_owned(), json!(wanted));
        actual.insert(field.to_owned(), held);
    };
    if ruling.has(Verdict::Unreadable) {
        put("content", "a kubeconfig", json!(unreadable_message(subject, ruling)));
    }
    if ruling.has(Verdict::Contract) && has(Code::Key) {
        put(key_text(subject.sort), "a kubeconfig", Value::Null);
    }
    if ruling.has(Verdict::Contract) && has(Code::Context) {
        put("current context", "a cluster and a user", json!(context_fault(held(subject.sort, target))));
    }
    if ruling.has(Verdict::Contract) && (has(Code::BasicAuth) || has(Code::Anonymous)) {
        let kind = pair_of(subject.sort, target).map_or("none", |pair| pair.credential.kind());
        put(CREDENTIAL, "a token or a certificate", json!(kind));
    }
    if let (true, Extras::Disagree(key)) = (has(Code::ExtraKeyDisagrees), target.extras) {
        put("other keys", "as in value", json!(format!("{key} differs from {VALUE}")));
    }
    if ruling.has(Verdict::ExecRefused) {
        let pair = pair_of(subject.sort, target);
        for field in pair.into_iter().flat_map(|pair| &pair.foreign) {
            expected.insert(field.as_str().to_owned(), Value::Null);
            actual.insert(field.as_str().to_owned(), json!("set"));
        }
    }
}

fn context_fault(held: &Held) -> String {
    let Held::Written { content: Ok(content), .. } = held else { return "none".to_owned() };
    match &content.current {
        Current::Nothing(fault) => fault.to_string(),
        Current::Pair(_) => "none".to_owned(),
    }
}

fn owner(ruling: &Ruling<'_>, expected: &mut Map<String, Value>, actual: &mut Map<String, Value>) {
    let held = match &ruling.ownership {
        Ownership::Fine | Ownership::NotKnown(_) => return,
        Ownership::Dead { owner } => json!(format!("{owner}, which no longer exists")),
        Ownership::Another { owner } => json!(owner),
        Ownership::Missing => Value::Null,
    };
    expected.insert("owner".into(), json!("its own cluster"));
    actual.insert("owner".into(), held);
}
