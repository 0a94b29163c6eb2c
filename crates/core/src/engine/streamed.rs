//! Findings that are made while a plan is written, and dropped.
//!
//! Invariants:
//! - id and text are those of the plan that holds all its findings ([`super::build()`]);
//! - a finding without a remedy costs a row until it is written; its explanation exists only meanwhile.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::accept::AcceptRule;
use super::action::ActionDraft;
use super::canonical::{ListDigest, NotCanonical, canonical_bytes};
use super::finding::{Explanation, Judgement, State, SubjectId};
use super::in_order::in_order;
use super::plan::{Acceptance, Action, Finding, Plan, Summary};
use super::reference::{CloudRef, ObjectRef};
use super::text::Printable;
use crate::world::Uid;

/// Explains subjects when their findings are written. The same subject always gets the same explanation.
pub trait Explain: Sync {
    /// Starts a row of explanations on one thread.
    fn start(&self) -> Box<dyn Explaining + '_>;
}

/// A row of explanations. Subjects that are asked for in the order of their clusters share what is looked up.
pub trait Explaining {
    /// Nothing when it is not a subject (any more).
    fn explain(&mut self, subject: &SubjectId) -> Option<Explanation>;
}

/// Subjects without a remedy, which are explained when their findings are written.
#[derive(Clone, Copy)]
pub struct Unexplained<'a> {
    pub subjects: &'a [(&'a SubjectId, &'a Judgement)],
    pub explain: &'a dyn Explain,
}

impl Unexplained<'_> {
    /// For plans whose subjects have all been explained.
    pub const NONE: Unexplained<'static> = Unexplained { subjects: &[], explain: &ExplainsNone };
}

/// Explains none of no subjects.
struct ExplainsNone;

impl Explain for ExplainsNone {
    fn start(&self) -> Box<dyn Explaining + '_> {
        Box::new(Self)
    }
}

impl Explaining for ExplainsNone {
    fn explain(&mut self, _: &SubjectId) -> Option<Explanation> {
        None
    }
}

/// A plan whose findings are made while it is written.
pub type StreamedPlan<'a> = Plan<Findings<'a>>;

/// The findings of a plan, sorted by id.
pub struct Findings<'a> {
    pub rows: Vec<Row<'a>>,
    pub(super) explain: &'a dyn Explain,
}

/// What is held of a finding.
pub struct Row<'a> {
    pub id: Box<str>,
    pub subject: &'a SubjectId,
    pub judgement: &'a Judgement,
    /// Made before, because it has a remedy or says more than its check does.
    pub(super) explanation: Option<&'a Explanation>,
    pub(super) accepted: Option<&'a AcceptRule>,
    /// The ids of its actions.
    pub actions: Vec<String>,
}

impl Findings<'_> {
    /// Makes the findings of the wanted rows, and passes what `make` returns for each, with the time its subject was
    /// created, to `take`: in order, until it fails. `make` runs on several threads.
    ///
    /// # Errors
    /// That of `take`.
    pub fn each<T: Send, E>(
        &self,
        wanted: impl Fn(&Row<'_>) -> bool,
        make: impl Fn(Finding, Option<Timestamp>) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let rows: Vec<&Row<'_>> = self.rows.iter().filter(|row| wanted(row)).collect();
        let finding = |explaining: &mut Box<dyn Explaining + '_>, number: usize| {
            let (finding, created) = rows[number].finding(&mut **explaining);
            make(finding, created)
        };
        in_order(rows.len(), || self.explain.start(), finding, take)
    }

    /// The finding of one row, and when its subject was created.
    pub fn one(&self, row: &Row<'_>) -> (Finding, Option<Timestamp>) {
        row.finding(&mut *self.explain.start())
    }

    /// All findings.
    pub(super) fn made(&self) -> Vec<Finding> {
        let mut findings = Vec::with_capacity(self.rows.len());
        let Ok(()) = self.each(
            |_| true,
            |finding, _| finding,
            |finding| {
                findings.push(finding);
                Ok::<(), std::convert::Infallible>(())
            },
        );
        findings
    }

    /// Adds the canonical texts of the findings.
    pub(super) fn digest(&self, list: &mut ListDigest<'_>) -> Result<(), NotCanonical> {
        self.each(|_| true, |finding, _| canonical_bytes(&finding), |text| list.item(text))
    }
}

impl<'a> Row<'a> {
    /// `match` where the finding is accepted.
    pub fn state(&self) -> State {
        if self.accepted.is_some() { State::Match } else { self.judgement.state }
    }

    /// The object it is about, without its uid.
    pub fn object(&self) -> ObjectRef {
        self.subject.object(None)
    }

    pub(super) fn drafts(&self) -> &'a [ActionDraft] {
        match (self.accepted, self.explanation) {
            (None, Some(explanation)) => &explanation.remedy,
            (Some(_), _) | (None, None) => &[],
        }
    }

    fn finding(&self, explaining: &mut dyn Explaining) -> (Finding, Option<Timestamp>) {
        match self.explanation {
            Some(explanation) => self.with(explanation.clone()),
            None => self.with(explaining.explain(self.subject).unwrap_or_else(ended)),
        }
    }

    fn with(&self, explanation: Explanation) -> (Finding, Option<Timestamp>) {
        let Self { id, subject, judgement, explanation: _, accepted, actions } = self;
        // The remedy is in the actions, and without them nothing was to be done when the plan was made.
        let Explanation { uid, created, summary, expected, actual, evidence, remedy: _ } = explanation;
        let mut codes: Vec<String> = judgement.codes.iter().map(|code| (*code).to_owned()).collect();
        codes.sort_unstable();
        codes.dedup();
        let acceptance = |rule: &AcceptRule| Acceptance {
            reason: rule.reason.clone(),
            until: rule.until.to_string(),
            state: judgement.state,
        };
        let finding = Finding {
            id: id.to_string(),
            domain: subject.domain.0.to_owned(),
            cluster: subject.home().to_owned(),
            subject: subject.object(uid.as_ref()),
            state: self.state(),
            verdict: judgement.verdict.to_owned(),
            codes,
            summary,
            evidence,
            expected,
            actual,
            actions: actions.clone(),
            accepted: accepted.map(acceptance),
        };
        (finding, created)
    }
}

/// The explanation of a subject whose judgement ended by time alone while the plan was made.
fn ended() -> Explanation {
    Explanation {
        uid: None,
        created: None,
        summary: "not judged any more; run trueup plan again".to_owned(),
        expected: Value::Null,
        actual: Value::Null,
        evidence: Vec::new(),
        remedy: Vec::new(),
    }
}

/// Space before an item of a list in a file.
const ITEM_INDENT: &str = "\n    ";

/// The members of a file before its lists, in the order of [`Plan`].
#[derive(Serialize)]
struct Head<'p> {
    schema: &'p str,
    id: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: &'p Option<String>,
    created_at: &'p Timestamp,
    expires_at: &'p Timestamp,
    engine: &'p str,
}

/// The members of a file after its findings.
#[derive(Serialize)]
struct Tail<'p> {
    actions: &'p [Action],
    summary: &'p Summary,
}

impl StreamedPlan<'_> {
    /// Passes the text of [`Plan::file_text`] to `write`, in parts.
    ///
    /// # Errors
    /// That of `write`.
    pub fn write_file_text<E>(&self, mut write: impl FnMut(&Printable) -> Result<(), E>) -> Result<(), E> {
        let Self {
            schema,
            id,
            mark,
            created_at,
            expires_at,
            engine,
            targets,
            observations,
            findings,
            actions,
            summary,
        } = self;
        let head = pretty(&Head { schema, id, mark, created_at, expires_at, engine });
        let head = head.strip_suffix("\n}").expect("an object with members ends on a line of its own");
        write(&Printable::json(head))?;
        let mut list = ListWriter::begin("targets", &mut write)?;
        targets.iter().try_for_each(|target| list.item(&item(target)))?;
        list.end()?;
        let mut list = ListWriter::begin("observations", &mut write)?;
        observations.iter().try_for_each(|observation| list.item(&item(observation)))?;
        list.end()?;
        let mut list = ListWriter::begin("findings", &mut write)?;
        findings.each(|_| true, |finding, _| item(&finding), |text| list.item(&text))?;
        list.end()?;
        let tail = pretty(&Tail { actions, summary });
        let tail = tail.strip_prefix('{').expect("an object starts with a brace");
        write(&Printable::json(&format!(",{tail}")).ended())
    }
}

/// Writes a list of a file item by item: a fleet of thousands of clusters is never held as one text.
struct ListWriter<'w, W> {
    write: &'w mut W,
    items: usize,
}

impl<'w, W, E> ListWriter<'w, W>
where
    W: FnMut(&Printable) -> Result<(), E>,
{
    fn begin(name: &str, write: &'w mut W) -> Result<Self, E> {
        write(&Printable::json(&format!(",\n  \"{name}\": [")))?;
        Ok(Self { write, items: 0 })
    }

    fn item(&mut self, text: &Printable) -> Result<(), E> {
        let space = if self.items == 0 { ITEM_INDENT.to_owned() } else { format!(",{ITEM_INDENT}") };
        self.items += 1;
        (self.write)(&Printable::json(&space))?;
        (self.write)(text)
    }

    fn end(self) -> Result<(), E> {
        (self.write)(&Printable::json(if self.items == 0 { "]" } else { "\n  ]" }))
    }
}

/// An item of a list in a file.
fn item(value: &impl Serialize) -> Printable {
    // Within a string JSON has no line feed, so that each one starts a line.
    Printable::json(&pretty(value).replace('\n', ITEM_INDENT))
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("a plan is made of JSON values and text keys")
}

impl SubjectId {
    /// The object it is about, as plans name it.
    pub fn object(&self, uid: Option<&Uid>) -> ObjectRef {
        let Self { domain: _, cluster: _, api_version, kind, namespace, name, cloud } = self;
        match cloud.as_deref() {
            Some(place) => ObjectRef::from(CloudRef {
                cloud: place.provider.as_str().to_owned(),
                account: place.account.clone(),
                kind: (*kind).to_owned(),
                id: name.clone(),
                crn: place.crn.clone(),
                name: place.name.clone(),
            }),
            None => ObjectRef {
                api_version: (*api_version).to_owned(),
                kind: (*kind).to_owned(),
                namespace: namespace.clone(),
                name: self.object_name().to_owned(),
                uid: uid_text(uid),
                cloud: None,
            },
        }
    }
}

/// Files written by hand have objects without a uid.
pub(super) fn uid_text(uid: Option<&Uid>) -> Option<String> {
    uid.filter(|uid| !uid.is_empty()).map(ToString::to_string)
}

#[cfg(test)]
mod tests;
