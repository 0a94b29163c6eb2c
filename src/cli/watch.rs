//! `trueup plan --watch`: after the plan, one line for each finding that changes.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::context::Context;
use super::error::CliError;
use super::members;
use super::output::{state_mark, wrapped};
use super::terminal::{Reader, print};
use super::tombstones;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{DELETED_BY_TRUEUP, Judged, State, SubjectId};
use trueup_fleet::connect::{ChangeEvent, ChangeWatcher, Places};
use trueup_fleet::live::{Command, Live, Update};

/// What was last said of a finding.
type Said = BTreeMap<SubjectId, (State, &'static str)>;

/// What does not fit goes under the sign, behind the time.
const CHANGE_INDENT: usize = 9;

/// Where the ways to the clusters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// The kubeconfig, which may change while we watch.
    Kubeconfig,
    /// This process itself.
    Embedded,
}

/// Goes on until it is interrupted or nobody reads any more.
///
/// # Errors
/// The reader of stdout has a real failure.
pub async fn run(context: &Context, ways: Ways, mut live: Live) -> Result<u8, CliError> {
    let mut said: Said = live
        .judgements()
        .iter()
        .map(|(id, held)| (id.clone(), (held.judgement.state, held.judgement.verdict)))
        .collect();
    let places = Places::new(context.globals.kubeconfig.as_deref(), &context.env);
    let files = match ways {
        Ways::Kubeconfig => places.files(),
        Ways::Embedded => &[],
    };
    let mut alarm = ChangeWatcher::new(files, members::wall_clock());
    loop {
        let update = tokio::select! {
            update = live.step() => update,
            noticed = alarm.next() => answer(context, noticed, &mut live),
        };
        let deleted = match ways {
            Ways::Kubeconfig => deleted_by_us(context, &live, &update),
            Ways::Embedded => BTreeMap::new(),
        };
        for line in changes(context, &mut said, update, &deleted, Timestamp::now()) {
            if print(&(line + "\n"))? == Reader::Gone {
                return Ok(0);
            }
        }
    }
}

/// Connects anew after sleep, and the new way when the kubeconfig changed.
fn answer(context: &Context, noticed: ChangeEvent, live: &mut Live) -> Update {
    let mut update = Update::default();
    match noticed {
        ChangeEvent::ClockJump => update.merge(live.handle(Command::ClockJumped)),
        ChangeEvent::Kubeconfig => {
            match context.config().and_then(|config| members::members(context, &config.clusters)) {
                Ok(members) => {
                    members.into_iter().for_each(|member| update.merge(live.handle(Command::Renew(Box::new(member)))));
                }
                Err(error) => {
                    context.note(&format!("the kubeconfig changed and can't be used, so nothing changes: {error}"))
                }
            }
        }
    }
    update
}

/// What trueup deleted of what is missing now, each in words. Read each time: another run may have deleted something
/// since.
fn deleted_by_us(context: &Context, live: &Live, update: &Update) -> BTreeMap<SubjectId, String> {
    let mut judged: Vec<Judged> =
        update.findings.iter().filter_map(|(id, held)| missed(live, id, held.as_ref()?)).collect();
    if judged.is_empty() {
        return BTreeMap::new();
    }
    let stones = tombstones::read(context, Timestamp::now());
    tombstones::add(&mut judged, &stones, live.view());
    let marked = judged.into_iter().filter(|one| one.judgement.codes.contains(&DELETED_BY_TRUEUP));
    let words = marked.filter_map(|one| {
        let stone = stones.iter().find(|stone| stone.is_of(&one.subject))?;
        Some((one.subject, format!("{}; bring it back with trueup undo {}", stone.says(), stone.entry())))
    });
    words.collect()
}

/// A subject that should be there and is not, with both answers.
fn missed(live: &Live, subject: &SubjectId, held: &CurrentJudgement) -> Option<Judged> {
    match held.judgement.state {
        State::Missing | State::Error => {}
        State::Match | State::Extra | State::Drift | State::Stale | State::Unknown | State::Blocked => return None,
    }
    let domain = live.domains().iter().find(|domain| domain.name() == subject.domain)?;
    let explanation = domain.explain(subject, live.view())?;
    Some(Judged { subject: subject.clone(), judgement: held.judgement.clone(), explanation })
}

/// A line for each finding whose state or verdict differs from what was last said.
fn changes(
    context: &Context,
    said: &mut Said,
    update: Update,
    deleted: &BTreeMap<SubjectId, String>,
    now: Timestamp,
) -> Vec<String> {
    let time = now.to_zoned(context.zone()).strftime("%H:%M:%S").to_string();
    let width = context.terminal.width;
    let mut lines = Vec::new();
    for (subject, held) in update.findings {
        let now = held.map(|held| (held.judgement.state, held.judgement.verdict));
        let before = said.get(&subject).copied();
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
                let deleted = deleted.get(&subject).map(|says| format!("; {says}")).unwrap_or_default();
                let line = format!("{time} {mark}  {id}  {verdict} ({was}){deleted}");
                lines.extend(wrapped(&line, width, CHANGE_INDENT));
                said.insert((*subject).clone(), (state, verdict));
            }
            None => {
                lines.extend(wrapped(&format!("{time} gone  {id}  ({was})"), width, CHANGE_INDENT));
                said.remove(&subject);
            }
        }
    }
    lines
}
