//! `trueup plan --watch`: after the plan, one line for each finding that changes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::context::Context;
use super::error::CliError;
use super::output::state_mark;
use super::terminal::{Reader, print};
use crate::engine::{State, SubjectId};
use crate::live::{Live, Update};

/// What was last said of a finding.
type Said = BTreeMap<SubjectId, (State, &'static str)>;

/// Goes on until it is interrupted or nobody reads any more.
///
/// # Errors
/// The reader of stdout has a real failure.
pub async fn run(context: &Context, mut live: Live) -> Result<u8, CliError> {
    let mut said: Said = live
        .judgements()
        .iter()
        .map(|(id, held)| (id.clone(), (held.judgement.state, held.judgement.verdict)))
        .collect();
    loop {
        let update = live.step().await;
        for line in changes(context, &mut said, update, Timestamp::now()) {
            if print(&(line + "\n"))? == Reader::Gone {
                return Ok(0);
            }
        }
    }
}

/// A line for each finding whose state or verdict differs from what was last said.
fn changes(context: &Context, said: &mut Said, update: Update, now: Timestamp) -> Vec<String> {
    let zone = if context.globals.utc { TimeZone::UTC } else { TimeZone::system() };
    let time = now.to_zoned(zone).strftime("%H:%M:%S").to_string();
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
                lines.push(format!("{time} {mark}  {id}  {verdict} ({was})"));
                said.insert(subject, (state, verdict));
            }
            None => {
                lines.push(format!("{time} gone  {id}  ({was})"));
                said.remove(&subject);
            }
        }
    }
    lines
}
