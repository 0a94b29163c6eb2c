//! Behind the console: whatever it asks for is done here, on the same functions the commands use.
//!
//! Invariants: a task never blocks the console; what comes of it is told, an error as one sentence, and a task that
//! breaks as well.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::aside::{Asides, spawn_answering};
use super::{FleetKind, accepting, login, memory, objects, saving, tasks};
use crate::console::ReplySender;
use crate::console::model::Remembered;
use crate::console::run::Login;
use crate::console::task::{ConsoleServices, Planned, RequestId, SavedFile, SubjectDetail, Task, TaskReply};
use trueup_core::engine::{AcceptRule, ApprovedPlan, ObjectRef, SubjectId};
use trueup_core::world::ClusterName;
use trueup_fleet::live::{Command, Live};
use trueup_operate::{Fleet, may_probe, probe_one};

pub struct LiveServices {
    pub fleet: Fleet,
    pub tell: ReplySender,
    /// Set when somebody wants the run to stop.
    pub stop: Arc<AtomicBool>,
    pub log: Option<PathBuf>,
    pub asides: Asides,
    pub kind: FleetKind,
    /// How long after the last delete references are scanned once more.
    pub reference_scan_after: Duration,
    /// What the fleet is remembered by, and the state folder it is remembered in.
    pub memory: Option<(String, PathBuf)>,
    /// Where accepted findings are written down. The demo has no such place.
    pub accepted_file: Option<PathBuf>,
    /// What has to live as long as the console.
    pub _keeps: Box<dyn Send>,
}

impl ConsoleServices for LiveServices {
    fn perform(&mut self, task: Task) {
        match task {
            Task::Explain { ask, subject } => self.explain(ask, subject),
            Task::Plan { ask, wanted } => {
                let fleet = self.fleet.clone();
                self.plan(ask, async move {
                    let plan = tasks::plan(&fleet, wanted).await?;
                    Ok(Planned { plan, left_out: Vec::new() })
                });
            }
            Task::Undo { ask, plan, action } => {
                let fleet = self.fleet.clone();
                self.plan(ask, async move { tasks::plan_undo(&fleet, &plan, action.as_deref()).await });
            }
            Task::DryRun { plan, actions } => {
                tokio::spawn(tasks::run_dry(self.fleet.clone(), self.tell.clone(), plan, actions));
            }
            Task::Apply(approved) => self.apply(approved),
            Task::Stop => self.stop.store(true, Ordering::SeqCst),
            Task::ReadHistory { asked } => self.read_history(asked),
            Task::ReadObject { ask, cluster, target } => self.read_object(ask, cluster, target),
            Task::Answer { ask, form, typed, subject } => self.answer(ask, form, typed, subject),
            Task::Need(cluster) => self.command(Command::Need(cluster)),
            Task::Reconnect(cluster) => self.command(Command::Reconnect(cluster)),
            Task::Probe(subject) => self.probe(subject),
            Task::Resync => self.command(Command::LookAgain),
            Task::Save { file, text } => self.save(file, text),
            Task::Accept { subject, reason, until } => self.accept(subject, reason, until),
            Task::ReadLog => self.read_log(),
            Task::Remember(remembered) => self.remember(*remembered),
        }
    }

    fn login(&mut self, cluster: &ClusterName) -> Login {
        login::way(&self.fleet, &self.kind, cluster)
    }

    fn logged_in(&mut self, cluster: &ClusterName, printed: Zeroizing<Vec<u8>>) {
        match login::member(&self.fleet, cluster, &printed) {
            Ok(member) => {
                self.tell.tell(TaskReply::Notice { says: format!("reconnecting to {cluster}") });
                self.command(Command::Renew(Box::new(member)));
            }
            // It may have kept the credential for itself: then the next run finds it.
            Err(says) => {
                self.tell.tell(TaskReply::Notice { says });
                self.command(Command::Reconnect(cluster.clone()));
            }
        }
    }
}

impl LiveServices {
    fn command(&self, command: Command) {
        let fleet = self.fleet.clone();
        tokio::spawn(async move { fleet.send(command).await });
    }

    fn explain(&self, ask: RequestId, subject: SubjectId) {
        let fleet = self.fleet.clone();
        let closer = move |live: &Live| {
            let domain = live.domains().iter().find(|domain| domain.name() == subject.domain)?;
            let (explanation, panels) = domain.detail(&subject, live.view())?;
            Some(Box::new(SubjectDetail { subject, explanation, panels }))
        };
        let work = async move { TaskReply::Explained { ask, detail: fleet.ask(closer).await.ok().flatten() } };
        spawn_answering(self.tell.clone(), move |_| TaskReply::Explained { ask, detail: None }, work);
    }

    fn plan(&self, ask: RequestId, work: impl Future<Output = Result<Planned, String>> + Send + 'static) {
        let work = async move { TaskReply::Planned { ask, plan: work.await.map(Box::new) } };
        spawn_answering(self.tell.clone(), move |says| TaskReply::Planned { ask, plan: Err(says) }, work);
    }

    fn apply(&self, approved: Box<ApprovedPlan>) {
        self.stop.store(false, Ordering::SeqCst);
        let work =
            tasks::apply(self.fleet.clone(), self.tell.clone(), approved, self.stop.clone(), self.reference_scan_after);
        let otherwise =
            |says| TaskReply::Applied { report: Err(format!("{says}; trueup history knows what was sent")) };
        spawn_answering(self.tell.clone(), otherwise, work);
    }

    fn read_object(&self, ask: RequestId, cluster: ClusterName, target: ObjectRef) {
        let fleet = self.fleet.clone();
        let work = async move {
            let object = objects::read(&fleet, &cluster, &target).await.map(Box::new);
            TaskReply::Object { ask, object }
        };
        spawn_answering(self.tell.clone(), move |says| TaskReply::Object { ask, object: Err(says) }, work);
    }

    fn answer(&self, ask: RequestId, form: &'static str, typed: String, subject: SubjectId) {
        let fleet = self.fleet.clone();
        let answer = move |live: &Live| {
            let domain = live.domains().iter().find(|domain| domain.name() == subject.domain)?;
            Some(domain.answer(form, &typed, &subject, live.view()))
        };
        let work = async move {
            let lines =
                fleet.ask(answer).await.map(Option::unwrap_or_default).unwrap_or_else(|error| vec![error.to_string()]);
            TaskReply::Answered { ask, lines }
        };
        spawn_answering(self.tell.clone(), move |says| TaskReply::Answered { ask, lines: vec![says] }, work);
    }

    fn probe(&self, subject: SubjectId) {
        let (fleet, name) = (self.fleet.clone(), subject.name.clone());
        let is_real = matches!(self.kind, FleetKind::Kubeconfig { .. });
        let work = async move {
            let says = match fleet.ask(move |live: &Live| may_probe(live, &subject)).await {
                Ok(Some(ready)) if is_real => probe_one(&ready, &fleet.session().env).await.says(),
                Ok(Some(_)) => "nothing was sent: its server is not a real one".to_owned(),
                Ok(None) => {
                    "there is nothing to try, or its login would go to a server that may not be its own".to_owned()
                }
                Err(error) => error.to_string(),
            };
            TaskReply::Notice { says: format!("{name}: {says}") }
        };
        spawn_answering(self.tell.clone(), |says| TaskReply::Notice { says }, work);
    }

    fn read_history(&self, asked: u64) {
        let fleet = self.fleet.clone();
        let work = move || TaskReply::History { asked, entries: tasks::history(&fleet) };
        self.asides.spawn(self.tell.clone(), move |says| TaskReply::History { asked, entries: Err(says) }, work);
    }

    fn save(&self, file: SavedFile, text: String) {
        let (named, session) = (file.clone(), self.fleet.session().clone());
        let work = move || {
            let path = saving::save(&session, &file, &text);
            TaskReply::Saved { file, path }
        };
        self.asides.spawn(self.tell.clone(), |says| TaskReply::Saved { file: named, path: Err(says) }, work);
    }

    fn accept(&self, subject: SubjectId, reason: String, until: String) {
        let (fleet, tell, file) = (self.fleet.clone(), self.tell.clone(), self.accepted_file.clone());
        let work = move || {
            let says = accept(&fleet, file.as_deref(), &subject, reason, &until).map(|(rules, says)| {
                tell.tell(TaskReply::Acceptances { rules });
                says
            });
            TaskReply::Accepted { says }
        };
        self.asides.spawn(self.tell.clone(), |says| TaskReply::Accepted { says: Err(says) }, work);
    }

    fn read_log(&self) {
        let log = self.log.clone();
        let work = move || TaskReply::Log { lines: saving::last_lines(log.as_deref()) };
        self.asides.spawn(self.tell.clone(), |says| TaskReply::Log { lines: vec![says] }, work);
    }

    fn remember(&self, remembered: Remembered) {
        self.asides.finish();
        let Some((key, state)) = &self.memory else { return };
        // The console is closing: there is nobody to tell but the log.
        if let Err(says) = memory::remember(state, key, remembered, Timestamp::now()) {
            tracing::warn!(%says, "the console's state was not kept");
        }
    }
}

/// Accepts a finding, here and wherever the config is read. Answers with all that is accepted now, and what to say.
fn accept(
    fleet: &Fleet,
    file: Option<&Path>,
    subject: &SubjectId,
    reason: String,
    until: &str,
) -> Result<(Vec<AcceptRule>, String), String> {
    let rule = accepting::rule(subject, reason, until, Timestamp::now())?;
    let says = match file {
        Some(path) => {
            accepting::write_down(path, &rule)?;
            format!("{} is accepted until {}; {} knows it", subject.name, rule.until, path.display())
        }
        None => format!("{} is accepted until this ends", subject.name),
    };
    Ok((fleet.accept(rule), says))
}
