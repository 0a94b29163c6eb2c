//! Behind the console: whatever it asks for is done here, on the same functions the commands use.
//!
//! Always true: a task never blocks the console; what comes of it is told, an error as one sentence.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;

use super::fleet::{Fleet, scope};
use super::{acting, objects, saving};
use crate::console::Teller;
use crate::console::task::{Ask, Backstage, Closer, Planned, Task, Told};
use crate::engine::journal::{Entry, StateFolder, entries, read};
use crate::engine::{AcceptRule, Glob, SubjectId, UndoPlan, undo};
use crate::live::Command;

pub struct Crew {
    pub fleet: Fleet,
    pub tell: Teller,
    /// Set when somebody wants the run to stop.
    pub stop: Arc<AtomicBool>,
    /// Where the journal and the vault are.
    pub state: Option<PathBuf>,
    pub log: Option<PathBuf>,
}

impl Backstage for Crew {
    fn perform(&mut self, task: Task) {
        let (fleet, tell) = (self.fleet.clone(), self.tell.clone());
        match task {
            Task::Explain { ask, subject } => tokio::spawn(explain(fleet, tell, ask, subject)),
            Task::Plan { ask, wanted } => tokio::spawn(async move {
                let plan = fleet.plan(scope(wanted)).await;
                let plan = plan.map(|plan| Box::new(Planned { plan, left_out: Vec::new() }));
                tell.tell(Told::Planned { ask, plan });
            }),
            Task::Undo { ask, plan, action } => {
                let plan = self.undo(&plan, action.as_deref()).map(Box::new);
                self.tell.tell(Told::Planned { ask, plan });
                return;
            }
            Task::DryRun { plan, actions } => tokio::spawn(acting::dry_run(fleet, tell, plan, actions)),
            Task::Apply(approved) => {
                self.stop.store(false, Ordering::SeqCst);
                let (stop, state) = (self.stop.clone(), self.state.clone());
                tokio::spawn(acting::apply(fleet, tell, approved, stop, state))
            }
            Task::Stop => {
                self.stop.store(true, Ordering::SeqCst);
                return;
            }
            Task::ReadHistory => {
                self.tell.tell(Told::History { entries: self.history() });
                return;
            }
            Task::ReadObject { ask, cluster, target } => tokio::spawn(async move {
                let object = objects::read(&fleet, &cluster, &target).await.map(Box::new);
                tell.tell(Told::Object { ask, object });
            }),
            Task::Answer { ask, form, typed, subject } => tokio::spawn(async move {
                let answer = move |live: &crate::live::Live| {
                    let domain = live.domains().iter().find(|domain| domain.name() == subject.domain)?;
                    Some(domain.answer(form, &typed, &subject, live.view()))
                };
                let lines = fleet.ask(answer).await.ok().flatten().unwrap_or_default();
                tell.tell(Told::Answered { ask, lines });
            }),
            Task::Need(cluster) => tokio::spawn(async move { fleet.tell(Command::Need(cluster)).await }),
            Task::Reconnect(cluster) => tokio::spawn(async move { fleet.tell(Command::Reconnect(cluster)).await }),
            Task::LookAgain => tokio::spawn(async move { fleet.tell(Command::LookAgain).await }),
            Task::Save { file, text } => {
                let path = saving::save(&file, &text);
                self.tell.tell(Told::Saved { file, path });
                return;
            }
            Task::Accept { subject, reason, until } => {
                self.tell.tell(Told::Accepted { says: self.accept(&subject, reason, &until) });
                return;
            }
            Task::ReadLog => {
                self.tell.tell(Told::Log { lines: saving::last_lines(self.log.as_deref()) });
                return;
            }
        };
    }
}

impl Crew {
    fn history(&self) -> Result<Vec<Entry>, String> {
        let path = self.state.as_ref().ok_or("neither XDG_STATE_HOME nor HOME is set")?;
        let folder = StateFolder::look(path).map_err(|error| error.to_string())?;
        let Some(folder) = folder else { return Ok(Vec::new()) };
        let history = read(&folder).map_err(|error| error.to_string())?;
        let records: Vec<_> = history.lines.into_iter().map(|line| line.record).collect();
        Ok(entries(&records))
    }

    fn undo(&self, plan: &str, action: Option<&str>) -> Result<Planned, String> {
        let entries = self.history()?;
        let entry = entries.iter().find(|entry| entry.plan == plan).ok_or("the journal holds no such plan")?;
        let UndoPlan { plan, left_out } = undo(entry, action, Timestamp::now()).map_err(|error| error.to_string())?;
        if plan.actions.is_empty() {
            return Err(format!("nothing of it can be taken back: {}", left_out.join("; ")));
        }
        Ok(Planned { plan, left_out })
    }

    /// Accepts a finding for as long as this console is open, and says what to write down so that it stays.
    fn accept(&self, subject: &SubjectId, reason: String, until: &str) -> Result<String, String> {
        let day = until.parse().map_err(|_| format!("`{until}` is no day; write it as 2026-12-31"))?;
        let finding = Glob::parse(&subject.to_string()).map_err(|error| error.to_string())?;
        let rule = AcceptRule { finding, reason, until: day };
        self.fleet.accepted.write().unwrap_or_else(|broken| broken.into_inner()).push(rule);
        Ok(format!("{} is accepted until {until}", subject.name))
    }
}

async fn explain(fleet: Fleet, tell: Teller, ask: Ask, subject: SubjectId) {
    let closer = move |live: &crate::live::Live| {
        let domain = live.domains().iter().find(|domain| domain.name() == subject.domain)?;
        let explanation = domain.explain(&subject, live.view())?;
        let panels = domain.panels(&subject, live.view());
        Some(Box::new(Closer { subject, explanation, panels }))
    };
    let closer = fleet.ask(closer).await.ok().flatten();
    tell.tell(Told::Explained { ask, closer });
}
