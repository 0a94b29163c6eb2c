//! Behind the console: whatever it asks for is done here, on the same functions the commands use.
//!
//! Always true: a task never blocks the console; what comes of it is told, an error as one sentence.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;

use super::fleet::{Fleet, scope};
use super::{acting, objects, saving};
use crate::cli::settle::clusters_of;
use crate::cli::undo;
use crate::console::Teller;
use crate::console::task::{Ask, Backstage, Closer, Planned, Task, Told};
use crate::engine::journal::{Entry, StateFolder, entries, read};
use crate::engine::{AcceptRule, Glob, SubjectId, UndoPlan, undo as plan_inverse};
use crate::live::Command;

pub struct Crew {
    pub fleet: Fleet,
    pub tell: Teller,
    /// Set when somebody wants the run to stop.
    pub stop: Arc<AtomicBool>,
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
            Task::Undo { ask, plan, action } => tokio::spawn(async move {
                let plan = plan_undo(&fleet, &plan, action.as_deref()).await.map(Box::new);
                tell.tell(Told::Planned { ask, plan });
            }),
            Task::DryRun { plan, actions } => tokio::spawn(acting::dry_run(fleet, tell, plan, actions)),
            Task::Apply(approved) => {
                self.stop.store(false, Ordering::SeqCst);
                tokio::spawn(acting::apply(fleet, tell, approved, self.stop.clone()))
            }
            Task::Stop => {
                self.stop.store(true, Ordering::SeqCst);
                return;
            }
            Task::ReadHistory => {
                self.tell.tell(Told::History { entries: history(&self.fleet).map(|(entries, _)| entries) });
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

/// The journal, with the folder it is in. No folder means that nothing was ever applied.
fn history(fleet: &Fleet) -> Result<(Vec<Entry>, Option<StateFolder>), String> {
    let path = fleet.context.state_path().ok_or("neither XDG_STATE_HOME nor HOME is set")?;
    let folder = StateFolder::look(&path).map_err(|error| error.to_string())?;
    let Some(folder) = folder else { return Ok((Vec::new(), None)) };
    let history = read(&folder).map_err(|error| error.to_string())?;
    Ok((entries(history.lines.iter().map(|line| &line.record)), Some(folder)))
}

/// Plans the inverse of what was applied, as the clusters are now.
async fn plan_undo(fleet: &Fleet, plan: &str, action: Option<&str>) -> Result<Planned, String> {
    let (entries, folder) = history(fleet)?;
    let entry = entries.into_iter().find(|entry| entry.plan == plan).ok_or("the journal holds no such plan")?;
    let folder = folder.ok_or("there is no journal")?;
    let asked = entry.clone();
    let (clusters, classes) =
        fleet.ask(move |live| (clusters_of(live, &asked), undo::classes_of(live, &asked))).await?;
    let only = entry.actions.iter().find(|one| Some(one.id.as_str()) == action);
    let looks = undo::look(&folder, &entry, only, &clusters).await.map_err(|error| error.to_string())?;
    let undone = plan_inverse(&entry, action, &looks, Timestamp::now())
        .and_then(|undone| undone.under_policy(&fleet.config.policy, &classes))
        .map_err(|error| error.to_string())?;
    let UndoPlan { plan, mut left_out, not_restored } = undone;
    if plan.actions.is_empty() {
        return Err(format!("nothing of it can be taken back: {}", left_out.join("; ")));
    }
    left_out.extend(not_restored);
    Ok(Planned { plan, left_out })
}
