//! `trueup plan --watch`: after the plan, one line for each finding that changes.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::mpsc;

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
        for line in changes(context, &mut printed, update, &deleted, Timestamp::now()) {
            if print(&Printable::styled(&line).ended())? == Reader::Closed {
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

/// A line for each finding whose state or verdict differs from the printed one.
fn changes(
    context: &Context,
    printed: &mut Printed,
    update: Update,
    deleted: &BTreeMap<SubjectId, String>,
    now: Timestamp,
) -> Vec<String> {
    let time = now.to_zoned(context.zone()).strftime("%H:%M:%S").to_string();
    let width = context.terminal.width;
    let mut lines = Vec::new();
    for (subject, held) in update.findings {
        let now = held.map(|held| (held.judgement.state, held.judgement.verdict));
        let before = printed.get(&subject).copied();
        if now == before {
            continue;
        }
        let id = context.terminal.safe(&subject.to_string());
        let was = before.map_or("new".to_owned(), |(state, verdict)| {
            let (_, word, _) = state_mark(state, &context.terminal);
            format!("was {word}, {verdict}")
        });
        match now {
            Some((state, verdict)) => {
                let (glyph, word, style) = state_mark(state, &context.terminal);
                let mark = context.terminal.paint(&format!("{glyph} {word}"), style);
                let deleted = deleted.get(&subject).map(|message| format!("; {message}")).unwrap_or_default();
                let line = format!("{time} {mark}  {id}  {verdict} ({was}){deleted}");
                lines.extend(wrapped(&line, width, CHANGE_INDENT));
                printed.insert((*subject).clone(), (state, verdict));
            }
            None => {
                lines.extend(wrapped(&format!("{time} gone  {id}  ({was})"), width, CHANGE_INDENT));
                printed.remove(&subject);
            }
        }
    }
    lines
}
