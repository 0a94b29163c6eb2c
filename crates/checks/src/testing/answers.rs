//! The answers of a check, and what is true of every answer of every check.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use jiff::Timestamp;

use super::Fixture;
use crate::comparison::compare;
use crate::{Cell, Check, Panel};
use trueup_core::engine::{Evidence, Explanation, Judgement, State, SubjectId};
use trueup_core::world::World;

/// Every subject with its answer.
pub struct Judged<F> {
    pub answers: BTreeMap<String, Answer>,
    fixture: PhantomData<F>,
}

/// Everything a check says of one subject.
pub struct Answer {
    pub subject: SubjectId,
    pub judgement: Judgement,
    pub explanation: Explanation,
    pub cells: Vec<Cell>,
    pub panels: Vec<Panel>,
    text: String,
}

impl<F: Fixture> Judged<F> {
    /// Judges everything, and asserts what is true whatever the world.
    pub fn new(check: &F::Check, world: &World, now: Timestamp) -> Self {
        let view = world.view(now);
        let mut answers = BTreeMap::new();
        for subject in check.subjects(view) {
            let judgement = check.judge(&subject, view).unwrap_or_else(|| panic!("{subject} is listed, not judged"));
            let explanation = check.explain(&subject, view).unwrap_or_else(|| panic!("{subject} is not explained"));
            let has_remedy = check.pass(view).rule(&subject).is_some_and(|ruled| ruled.has_remedy());
            assert_eq!(has_remedy, !explanation.remedy.is_empty(), "{subject}: remedy and explanation differ");
            let (cells, panels) = (check.cells(&subject, view), check.panels(&subject, view));
            let mut answer = Answer { subject, judgement, explanation, cells, panels, text: String::new() };
            answer.text = answer.described::<F>();
            answer.assert_sound(check.description().columns.len(), now);
            F::assert_answer(&answer);
            answers.insert(answer.subject.to_string(), answer);
        }
        Self { answers, fixture: PhantomData }
    }

    pub fn about(&self, subject: &str) -> String {
        self.find(subject).map_or_else(|| "no subject".to_owned(), Answer::to_string)
    }

    pub fn find(&self, subject: &str) -> Option<&Answer> {
        F::ids(subject).iter().find_map(|id| self.answers.get(id))
    }

    /// All answers as `id: answer`, without the name of the check.
    pub fn all(&self) -> Vec<String> {
        let short = |id: &str| id.split_once('/').map_or(String::new(), |(_, rest)| rest.to_owned());
        self.answers.iter().map(|(id, answer)| format!("{}: {answer}", short(id))).collect()
    }
}

impl Answer {
    fn assert_sound(&self, columns: usize, now: Timestamp) {
        let Self { subject, judgement, explanation, cells, .. } = self;
        let codes = &judgement.codes;
        assert!(codes.is_sorted() && codes.windows(2).all(|pair| pair[0] != pair[1]), "{subject}: {codes:?}");
        let states = states_of(judgement.verdict);
        assert!(
            states.contains(&judgement.state.as_str()),
            "{subject}: {} is {:?}",
            judgement.verdict,
            judgement.state
        );
        assert!(!explanation.summary.is_empty() && !explanation.summary.contains('\n'), "{subject}");
        assert!(judgement.until.is_none_or(|until| until > now), "{subject}: a deadline that has passed");
        self.assert_cause();
        assert!(cells.is_empty() || cells.len() == columns, "{subject}: {} cells, {columns} columns", cells.len());
    }

    /// Every verdict shows the difference that made it, the evidence that names its cause, and what to do.
    fn assert_cause(&self) {
        let Self { subject, judgement, explanation, .. } = self;
        let verdict = judgement.verdict;
        if judgement.state == State::Match {
            return;
        }
        let facts = || explanation.evidence.iter().filter(|line| !line.is_advice());
        assert!(facts().next().is_some(), "{subject}: {verdict} has no evidence");
        assert!(facts().all(|line| !line.message.is_empty() && !line.object.is_empty()), "{subject}: {verdict}");
        let advised = explanation.evidence.iter().any(Evidence::is_advice);
        assert!(advised || !explanation.remedy.is_empty(), "{subject}: {verdict}: nothing to do about it");
        let words = causes_of(verdict);
        let named =
            facts().any(|line| words.iter().any(|word| line.message.contains(word) || line.field.contains(word)));
        let lines: Vec<String> = facts().map(|line| format!("{} [{}]", line.message, line.field)).collect();
        assert!(named || words.is_empty(), "{subject}: {verdict} names none of {words:?}: {lines:#?}");
        let rows = compare(judgement.state, explanation);
        let differs = rows.iter().any(|row| row.relation.is_difference());
        let is_compared = !matches!(judgement.state, State::Unknown | State::Blocked);
        assert!(differs || !is_compared, "{subject}: {verdict} shows no difference: {rows:#?}");
    }

    fn described<F: Fixture>(&self) -> String {
        let mut text = self.judgement.verdict.to_owned();
        for code in &self.judgement.codes {
            text.push_str(&format!(" {code}"));
        }
        for (index, draft) in self.explanation.remedy.iter().enumerate() {
            text.push_str(&format!("{} {}", if index == 0 { " →" } else { ";" }, F::describe(self, draft)));
        }
        text
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Words of the evidence that names the cause of a verdict, in its message or its field; none where what is not known has
/// no words of its own.
fn causes_of(verdict: &str) -> &'static [&'static str] {
    match verdict {
        "terminating" => &["deletionTimestamp", "finalizers"],
        "finalizer-only" => &["metadata.finalizers"],
        "namespace-terminating" => &["finalizers"],
        "moot" => &["pausedUntil", "deletionTimestamp", "restored from a backup", "does not exist"],
        "locked" => &["locked"],
        "in-use" => &["uses it"],
        "deleting" | "reclaiming" => &["state", "deletionTimestamp"],
        "source-missing" => &["source does not exist"],
        "stale-copy" => &["source holds another value"],
        "expired" | "expiring" | "not-yet-valid" | "refresh-stalled" => &["until", "ends", "expires", "EKS token"],
        "endpoint-drift" => &["where the cluster is not"],
        "ca-drift" | "ca-rotating" => &["of the cluster's authorities"],
        "contract" => &["type", "metadata", "data", "no credential", "user", "cluster", "password"],
        "exec-refused" => &["not obeyed"],
        "blocks-oidc" => &["not enforced"],
        "degraded" => &["conditions"],
        "two-owners" | "other-owner" => &["carries"],
        "credentials-partial" | "credentials-none" => &["AWS_"],
        "secret-missing" | "secret-invalid" => &["does not exist", "holds neither"],
        _ => &[],
    }
}

/// The states of each verdict as the reference lists them, on purpose not taken from the code.
fn states_of(verdict: &str) -> &'static [&'static str] {
    match verdict {
        "referenced" | "protected" | "valid" | "match" | "keep" | "available" | "owned" | "reference" | "fresh"
        | "not-aws" | "skipped" | "removable" => &["match"],
        // A foreign object whose name matches a pattern is listed until it is accepted.
        "foreign" => &["match", "unknown"],
        "missing-copy" | "missing" | "untagged" => &["missing"],
        "leftover" | "orphan-certain" | "orphan-probable" | "extra" | "orphan" => &["extra"],
        // An error where the status does not hold its id.
        "stale-owner" => &["drift", "error"],
        "stale-copy" | "drift" | "half-tagged" | "endpoint-drift" | "ca-drift" | "ca-rotating" | "behind-source"
        | "keys-disagree" | "contract" | "wrong-cluster" => &["drift"],
        "pending" | "expiring" | "expired" | "not-yet-valid" | "refresh-stalled" | "rolling-out" | "waiting"
        | "finalizer-only" => &["stale"],
        "unknown" | "opaque" | "transient" => &["unknown"],
        "moot" | "terminating" | "unrenderable" | "blocks-oidc" | "locked" | "in-use" | "deleting" | "reclaiming" => {
            &["blocked"]
        }
        // As it should be while its cluster is being deleted.
        "gone" => &["error", "match"],
        // Right where OIDC is not asked for.
        "not-available" => &["blocked", "match"],
        "lockout"
        | "invalid"
        | "kas-would-refuse"
        | "degraded"
        | "not-ready"
        | "namespace-terminating"
        | "oauth-incomplete"
        | "source-missing"
        | "unreadable"
        | "exec-refused"
        | "source-invalid"
        | "invalid-spec"
        | "instance-type-empty"
        | "region-invalid"
        | "credentials-partial"
        | "credentials-none"
        | "secret-missing"
        | "secret-invalid"
        | "token-unreadable"
        | "denied"
        | "instance-type-unknown"
        | "two-owners"
        | "other-owner"
        | "adopted"
        | "name-taken"
        | "tag-invalid" => &["error"],
        other => panic!("{other} is not a verdict of any check"),
    }
}
