//! The console on a session recording: what the fleet was, offline.
//!
//! Invariants: nothing is connected, planned or sent; the user's own keys and themes apply. Details that were looked at in
//! the session are shown again, others are not in the recording.

#![expect(clippy::disallowed_methods, reason = "a replay continues from the end of its recording")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use futures::FutureExt as _;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::background::BackgroundWork;
use super::{console_settings, no_terminal, saving};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::console::ReplySender;
use crate::console::event::{Event, What};
use crate::console::recording::Line;
use crate::console::run::{Login, Opening, Started, run as run_console};
use crate::console::task::{ConsoleServices, ReadOnly, Start, SubjectDetail, Task, TaskReply};
use trueup_core::engine::SubjectId;
use trueup_core::engine::journal::Entry;
use trueup_core::world::ClusterName;

/// Said where the answer would need the fleet.
const OFFLINE: &str = "from a session recording: nothing is connected";

/// What a recording has of a session.
#[derive(Default)]
struct Session {
    start: Option<Start>,
    /// Changes of the fleet and of what is accepted.
    events: Vec<Event>,
    details: BTreeMap<SubjectId, SubjectDetail>,
    journal: Vec<Entry>,
    ended: Timestamp,
}

impl Session {
    fn read(lines: Vec<Line>) -> Self {
        let mut session = Self::default();
        for line in lines {
            match line {
                Line::Event(event) => session.take(event),
                Line::Opened(opened) => session.ended = opened.at,
                Line::Message { at, .. } | Line::Plugin { at, .. } => session.ended = at,
                Line::Frame(frame) => session.ended = frame.at,
                Line::Theme(_) => {}
            }
        }
        session
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other replies answer the recorded user's requests")]
    fn take(&mut self, event: Event) {
        self.ended = event.at;
        match event.what {
            What::Data(_) => self.events.push(event),
            What::TaskReply(reply) => match *reply {
                TaskReply::Started(start) => self.start = Some(*start),
                TaskReply::Explained { ask: _, detail: Some(detail) } => {
                    self.details.insert(detail.subject.clone(), *detail);
                }
                TaskReply::History { asked: _, entries: Ok(entries) } => self.journal = entries,
                reply @ TaskReply::Acceptances { .. } => {
                    self.events.push(Event { at: event.at, what: What::TaskReply(Box::new(reply)) });
                }
                TaskReply::Settings(settings) => {
                    let reply = TaskReply::Acceptances { rules: settings.accepted };
                    self.events.push(Event { at: event.at, what: What::TaskReply(Box::new(reply)) });
                }
                _ => {}
            },
            What::Key(_) | What::Mouse(_) | What::Paste(_) | What::Resize { .. } | What::Focus(_) | What::Time => {}
        }
    }
}

/// Opens the console on a recording and runs it until the user leaves.
///
/// # Errors
/// The session had not started when the recording ended, or the terminal cannot be used.
pub async fn run(context: Context, path: &Path, lines: Vec<Line>) -> Result<u8, CliError> {
    let session = Session::read(lines);
    let Some(recorded) = session.start.clone() else {
        return Err(CliError::failed("replay", format!("{}: the session had not started", path.display()), ""));
    };
    let (ended, opened) = (session.ended, Instant::now());
    let read_only = ReadOnly::Replay { age_seconds: Timestamp::now().duration_since(ended).as_secs() };
    let start = Start { offers_tour: false, read_only: Some(read_only), fleet: path.display().to_string(), ..recorded };
    let opening = Opening {
        depth: console_settings::depth(&context),
        dialect: console_settings::dialect(&context),
        signs: console_settings::signs(&context),
        zone: console_settings::zone(&context),
        is_tmux: context.env.raw("TMUX").is_some(),
        instead: &[],
        clock: Box::new(move || {
            let elapsed = SignedDuration::try_from(opened.elapsed()).unwrap_or_default();
            ended.checked_add(elapsed).unwrap_or(ended)
        }),
        record: None,
        start: Box::new(move |replies| std::future::ready(started(&context, session, start, replies)).boxed()),
    };
    run_console(opening).await.map(|()| 0).map_err(no_terminal)
}

fn started(context: &Context, session: Session, start: Start, replies: ReplySender) -> Result<Started, String> {
    let config = context.config().map_err(|error| error.to_string())?;
    let file = context.config_file();
    let (render, settings) = console_settings::build(context, &config.console, &[], file.folder(), None);
    let Session { start: _, events, details, journal, ended: _ } = session;
    let services = Recorded { details, journal, replies, background: BackgroundWork::default() };
    // Nothing changes after the end of the recording.
    let (_, updates) = mpsc::channel(1);
    Ok(Started { render, settings, start, services: Box::new(services), history: events, updates })
}

/// Answers from what the session was sent.
struct Recorded {
    details: BTreeMap<SubjectId, SubjectDetail>,
    journal: Vec<Entry>,
    replies: ReplySender,
    background: BackgroundWork,
}

impl ConsoleServices for Recorded {
    fn perform(&mut self, task: Task) {
        let offline = || OFFLINE.to_owned();
        let reply = match task {
            Task::Explain { ask, subject } => {
                let detail = self.details.get(&subject).cloned().map(Box::new);
                TaskReply::Explained { ask, detail }
            }
            Task::Plan { ask, wanted: _ } | Task::Undo { ask, plan: _, action: _ } => {
                TaskReply::Planned { ask, plan: Err(offline()) }
            }
            Task::ReadHistory { asked } => TaskReply::History { asked, entries: Ok(self.journal.clone()) },
            Task::ReadObject { ask, .. } => TaskReply::Object { ask, object: Err(offline()) },
            Task::ReadReferences { ask, .. } => TaskReply::References { ask, sheet: Err(offline()) },
            Task::ReadOperatorLog { ask, .. } => TaskReply::OperatorLog { ask, log: Err(offline()) },
            Task::Answer { ask, .. } => TaskReply::Answered { ask, lines: vec![offline()] },
            Task::FleetTable { ask, .. } => TaskReply::FleetTable { ask, table: None },
            Task::ReadLog => TaskReply::Log { lines: vec![offline()] },
            Task::Save { file, text } => return saving::spawn(&self.background, &self.replies, file, text),
            Task::DryRun { .. }
            | Task::Apply(_)
            | Task::Reconnect(_)
            | Task::Probe(_)
            | Task::Resync
            | Task::WriteBundle(_)
            | Task::Accept { .. } => TaskReply::Notice { message: offline() },
            Task::Stop | Task::Need(_) | Task::AskPlugin(_) | Task::Remember(_) => return,
        };
        self.replies.send(reply);
    }

    fn login(&mut self, _: &ClusterName) -> Login {
        Login::Otherwise(OFFLINE.to_owned())
    }

    fn approve_plugin(&mut self, _: &ClusterName) {}

    fn logged_in(&mut self, _: &ClusterName, _: Zeroizing<Vec<u8>>) {}
}
