//! `trueup plan --watch`: after the plan, one line for each finding that changes, as text or as JSON.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::ValueEnum as _;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::mpsc;

use super::args::PlanFormat;
use super::context::Context;
use super::error::CliError;
use super::output::{state_mark, wrapped};
use super::terminal::{Reader, print};
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{DELETED_BY_TRUEUP, Judged, State, SubjectId};
use trueup_fleet::live::{Live, Update};
use trueup_operate::{Fleet, OperateError, add_tombstones, follow_kubeconfig, read_tombstones};

/// The state last printed of each finding.
pub type Printed = BTreeMap<SubjectId, (State, &'static str)>;

/// Continuation lines start below the glyph, after the time.
const CHANGE_INDENT: usize = 9;

/// The schema of a change as JSON. Keys may be added under the same name; nothing may change meaning.
const CHANGE_SCHEMA: &str = "trueup/change/v1";

/// How changes are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeFormat {
    Text,
    /// One object per line.
    Json,
}

impl ChangeFormat {
    /// The format of the changes after a plan in this format.
    ///
    /// # Errors
    /// The format is a document, which has an end.
    pub fn of(plan: PlanFormat) -> Result<Self, CliError> {
        match plan {
            PlanFormat::Table | PlanFormat::Wide => Ok(Self::Text),
            PlanFormat::Json => Ok(Self::Json),
            PlanFormat::Yaml
            | PlanFormat::Name
            | PlanFormat::Markdown
            | PlanFormat::Csv
            | PlanFormat::Junit
            | PlanFormat::Sarif
            | PlanFormat::Openmetrics
            | PlanFormat::Html => {
                let name = plan.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
                Err(CliError::usage("--watch", format!("{name} cannot be continued"), "use -o table, wide or json"))
            }
        }
    }
}

/// A part of a pretty-printed JSON document on one line: within a text JSON has no line feed.
pub fn on_one_line(part: &Printable) -> Printable {
    Printable::json(&part.split('\n').map(|line| line.trim_start_matches(' ')).collect::<String>())
}

/// A finding that is not what was last printed.
struct FindingChange {
    subject: Arc<SubjectId>,
    /// Nothing where it is new.
    from: Option<(State, &'static str)>,
    /// Nothing where it is gone.
    to: Option<(State, &'static str)>,
    /// What trueup itself did about it.
    note: Option<String>,
}

/// Where the clusters run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Behind a kubeconfig, which may change meanwhile.
    Kubeconfig,
    /// In this process.
    Embedded,
}

/// Returns the current state of every finding. Read before the plan is printed, so that no later change is lost.
///
/// # Errors
/// The fleet has stopped.
pub async fn current_states(fleet: &Fleet) -> Result<Printed, OperateError> {
    let current_states = |live: &Live| {
        let judged = live.judgements().iter();
        judged.map(|(id, held)| (id.clone(), (held.judgement.state, held.judgement.verdict))).collect()
    };
    fleet.ask(current_states).await
}

/// Runs until it is interrupted or stdout is closed.
///
/// # Errors
/// Stdout cannot be written.
pub async fn run(
    context: &Context,
    location: Location,
    format: ChangeFormat,
    fleet: Fleet,
    mut printed: Printed,
    mut updates: mpsc::Receiver<Update>,
) -> Result<u8, CliError> {
    let failed = |error: OperateError| CliError::operate("plan --watch", &error);
    if let Location::Kubeconfig = location {
        tokio::spawn(follow_kubeconfig(fleet.weak()));
    }
    while let Some(update) = updates.recv().await {
        let update = current(&fleet, update).await.map_err(failed)?;
        let deleted = match location {
            Location::Kubeconfig => deleted_by_us(&fleet, &update).await.map_err(failed)?,
            Location::Embedded => BTreeMap::new(),
        };
        let now = Timestamp::now();
        for change in changes(&mut printed, update, &deleted) {
            let text = match format {
                ChangeFormat::Text => Printable::styled(&text_of(context, &change, now)),
                ChangeFormat::Json => Printable::json(&json_of(&change, now)),
            };
            if print(&text.ended())? == Reader::Closed {
                return Ok(0);
            }
        }
    }
    Ok(0)
}

/// Replaces the findings of an update by the current ones: the queue may be older than the printed plan.
async fn current(fleet: &Fleet, update: Update) -> Result<Update, OperateError> {
    fleet
        .ask(move |live: &Live| {
            let now = |id: Arc<SubjectId>| {
                let held = live.judgements().get(&id).cloned().map(Arc::new);
                (id, held)
            };
            Update { findings: update.findings.into_keys().map(now).collect(), ..update }
        })
        .await
}

/// Missing subjects that trueup deleted, with a message. Read each time, because another run may have deleted objects.
async fn deleted_by_us(fleet: &Fleet, update: &Update) -> Result<BTreeMap<SubjectId, String>, OperateError> {
    let missing = |held: &CurrentJudgement| matches!(held.judgement.state, State::Missing | State::Error);
    let missing = |(id, held): (&Arc<SubjectId>, &Option<Arc<CurrentJudgement>>)| {
        let held = held.as_ref().filter(|held| missing(held))?;
        Some((id.clone(), held.clone()))
    };
    let missing: Vec<_> = update.findings.iter().filter_map(missing).collect();
    if missing.is_empty() {
        return Ok(BTreeMap::new());
    }
    let stones = read_tombstones(fleet.session(), Timestamp::now());
    let known = stones.clone();
    let explain = move |live: &Live| {
        let mut judged: Vec<Judged> = missing.iter().filter_map(|(id, held)| explained(live, id, held)).collect();
        add_tombstones(&mut judged, &known, live.view());
        judged
    };
    let marked = fleet.ask(explain).await?.into_iter().filter(|one| one.judgement.codes.contains(&DELETED_BY_TRUEUP));
    let messages = marked.filter_map(|one| {
        let stone = stones.iter().find(|stone| stone.is_of(&one.subject))?;
        Some((one.subject, format!("{}; restore it with trueup undo {}", stone.message(), stone.entry())))
    });
    Ok(messages.collect())
}

/// A subject with its judgement and explanation.
fn explained(live: &Live, subject: &SubjectId, held: &CurrentJudgement) -> Option<Judged> {
    let check = live.domains().iter().find(|check| check.name() == subject.domain)?;
    let explanation = check.explain(subject, live.view())?;
    Some(Judged { subject: subject.clone(), judgement: held.judgement.clone(), explanation })
}

/// The findings whose state or verdict differs from the printed one.
fn changes(printed: &mut Printed, update: Update, deleted: &BTreeMap<SubjectId, String>) -> Vec<FindingChange> {
    let mut changes = Vec::new();
    for (subject, held) in update.findings {
        let to = held.map(|held| (held.judgement.state, held.judgement.verdict));
        let from = printed.get(&subject).copied();
        if to == from {
            continue;
        }
        match to {
            Some(now) => drop(printed.insert((*subject).clone(), now)),
            None => drop(printed.remove(&subject)),
        }
        let note = deleted.get(&subject).filter(|_| to.is_some()).cloned();
        changes.push(FindingChange { subject, from, to, note });
    }
    changes
}

/// The line of a change, and more lines where the terminal is narrow.
fn text_of(context: &Context, change: &FindingChange, now: Timestamp) -> String {
    let FindingChange { subject, from, to, note } = change;
    let time = now.to_zoned(context.zone()).strftime("%H:%M:%S").to_string();
    let id = context.terminal.safe(&subject.to_string());
    let was = from.map_or("new".to_owned(), |(state, verdict)| {
        let (_, word, _) = state_mark(state, &context.terminal);
        format!("was {word}, {verdict}")
    });
    let line = match to {
        Some((state, verdict)) => {
            let (glyph, word, style) = state_mark(*state, &context.terminal);
            let mark = context.terminal.paint(&format!("{glyph} {word}"), style);
            let note = note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
            format!("{time} {mark}  {id}  {verdict} ({was}){note}")
        }
        None => format!("{time} gone  {id}  ({was})"),
    };
    wrapped(&line, context.terminal.width, CHANGE_INDENT).join("\n")
}

fn json_of(change: &FindingChange, now: Timestamp) -> String {
    let FindingChange { subject, from, to, note } = change;
    let ruling = |(state, verdict): &(State, &str)| json!({ "state": state, "verdict": verdict });
    let mut line = json!({
        "schema": CHANGE_SCHEMA,
        "at": now,
        "finding": subject.to_string(),
        "domain": subject.domain,
        "cluster": subject.home(),
        "subject": subject.object(None),
        "from": from.as_ref().map(ruling),
        "to": to.as_ref().map(ruling),
    });
    if let Some(note) = note {
        line["note"] = json!(note);
    }
    line.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_on_one_line_is_the_same_document() {
        let value = json!({ "a": ["  two\n  lines", { "b": null }], "c": {} });
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let line = on_one_line(&Printable::json(&pretty));
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn only_formats_without_an_end_can_be_watched() {
        for format in PlanFormat::value_variants() {
            let expected = matches!(format, PlanFormat::Table | PlanFormat::Wide | PlanFormat::Json);
            assert_eq!(ChangeFormat::of(*format).is_ok(), expected, "{format:?}");
        }
        let error = ChangeFormat::of(PlanFormat::Junit).unwrap_err().to_string();
        assert_eq!(error, "trueup: --watch: junit cannot be continued; use -o table, wide or json");
    }
}
