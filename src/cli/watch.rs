//! `trueup plan --watch`: after the plan, one line for each finding that changes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::context::Context;
use super::error::CliError;
use super::members;
use super::output::{state_mark, wrapped};
use super::terminal::{Reader, print};
use crate::engine::{State, SubjectId};
use crate::fleet::{Alarm, Noticed, Places};
use crate::live::{Command, Live, Update};

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
    let mut alarm = Alarm::new(files, members::wall_clock());
    loop {
        let update = tokio::select! {
            update = live.step() => update,
            noticed = alarm.next() => answer(context, noticed, &mut live),
        };
        for line in changes(context, &mut said, update, Timestamp::now()) {
            if print(&(line + "\n"))? == Reader::Gone {
                return Ok(0);
            }
        }
    }
}

/// Connects anew after sleep, and the new way when the kubeconfig changed.
fn answer(context: &Context, noticed: Noticed, live: &mut Live) -> Update {
    let mut update = Update::default();
    match noticed {
        Noticed::ClockJump => update.merge(live.obey(Command::ClockJumped)),
        Noticed::Kubeconfig => match context.config().and_then(|config| members::members(context, &config.clusters)) {
            Ok(members) => {
                members.into_iter().for_each(|member| update.merge(live.obey(Command::Renew(Box::new(member)))));
            }
            Err(error) => {
                context.note(&format!("the kubeconfig changed and can't be used, so nothing changes: {error}"))
            }
        },
    }
    update
}

/// A line for each finding whose state or verdict differs from what was last said.
fn changes(context: &Context, said: &mut Said, update: Update, now: Timestamp) -> Vec<String> {
    let zone = if context.globals.utc { TimeZone::UTC } else { TimeZone::system() };
    let time = now.to_zoned(zone).strftime("%H:%M:%S").to_string();
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
                lines.extend(wrapped(&format!("{time} {mark}  {id}  {verdict} ({was})"), width, CHANGE_INDENT));
                said.insert(subject, (state, verdict));
            }
            None => {
                lines.extend(wrapped(&format!("{time} gone  {id}  ({was})"), width, CHANGE_INDENT));
                said.remove(&subject);
            }
        }
    }
    lines
}
