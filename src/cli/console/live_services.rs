//! Executes the tasks of the console with the functions that the commands use.
//!
//! Invariants: a task never blocks the console; every task replies, also after an error or a panic.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::background::{BackgroundWork, spawn_answering};
use super::{FleetKind, accepting, bundling, login, memory, objects, references, saving, tasks};
use crate::console::ReplySender;
use crate::console::model::Remembered;
use crate::console::run::Login;
use crate::console::task::{
    BundleRequest, ConsoleServices, Planned, RequestId, SavedFile, SubjectDetail, Task, TaskReply, TypedApproval,
};
use trueup_core::engine::{AcceptRule, CheckName, ObjectRef, SubjectId};
use trueup_core::redact::CredentialValues;
use trueup_core::world::ClusterName;
use trueup_fleet::live::{Command, Live};
use trueup_operate::{Fleet, may_probe, probe_one};

pub struct LiveServices {
    pub fleet: Fleet,
    pub replies: ReplySender,
    /// Set to stop a running apply.
    pub stop: Arc<AtomicBool>,
    pub log: Option<PathBuf>,
    pub background: BackgroundWork,
    pub kind: FleetKind,
    /// How long after the last delete references are scanned once more.
    pub reference_scan_after: Duration,
    /// Key of the saved view state, and the state folder.
    pub memory: Option<(String, PathBuf)>,
    /// File of accepted findings. The demo has none.
    pub accepted_file: Option<PathBuf>,
    /// Dropped when the console exits.
    pub _keeps: Box<dyn Send>,
}

impl ConsoleServices for LiveServices {
    fn perform(&mut self, task: Task) {
        match task {
            Task::Explain { ask, subject } => self.explain(ask, subject),
            Task::Plan { ask, wanted } => {
                let fleet = self.fleet.clone();
                self.plan(ask, async move { tasks::plan(&fleet, wanted).await });
            }
            Task::Undo { ask, plan, action } => {
                let fleet = self.fleet.clone();
                self.plan(ask, async move { tasks::plan_undo(&fleet, &plan, action.as_deref()).await });
            }
            Task::DryRun { plan, actions } => {
                tokio::spawn(tasks::run_dry(self.fleet.clone(), self.replies.clone(), plan, actions));
            }
            Task::Apply(approval) => self.apply(*approval),
            Task::Stop => self.stop.store(true, Ordering::SeqCst),
            Task::ReadHistory { asked } => self.read_history(asked),
            Task::ReadObject { ask, cluster, target, values } => self.read_object(ask, cluster, target, values),
            Task::ReadReferences { ask, subject } => self.read_references(ask, subject),
            Task::ReadOperatorLog { ask, subject } => self.read_operator_log(ask, subject),
            Task::Answer { ask, form, typed, subject } => self.answer(ask, form, typed, subject),
            Task::FleetTable { ask, check, typed } => self.fleet_table(ask, check, typed),
            Task::Need(cluster) => self.command(Command::Need(cluster)),
            Task::Reconnect(cluster) => self.command(Command::Reconnect(cluster)),
            Task::AskPlugin(cluster) => self.ask_plugin(cluster),
            Task::Probe(subject) => self.probe(subject),
            Task::Resync => self.command(Command::Resync),
            Task::Save { file, text } => saving::spawn(&self.background, &self.replies, file, text),
            Task::WriteBundle(request) => self.write_bundle(*request),
            Task::Accept { subject, reason, until } => self.accept(subject, reason, until),
            Task::ReadLog => self.read_log(),
            Task::Remember(remembered) => self.remember(*remembered),
        }
    }

    fn login(&mut self, cluster: &ClusterName) -> Login {
        login::method(&self.fleet, &self.kind, cluster)
    }

    fn approve_plugin(&mut self, cluster: &ClusterName) {
        login::approve(&self.fleet, cluster);
    }

    fn logged_in(&mut self, cluster: &ClusterName, printed: Zeroizing<Vec<u8>>) {
        match login::member(&self.fleet, cluster, &printed) {
            Ok(member) => {
                self.replies.send(TaskReply::Notice { message: format!("reconnecting to {cluster}") });
                self.command(Command::Renew(Box::new(member)));
            }
            // The plugin may have cached the credential: reconnecting runs it again.
            Err(message) => {
                self.replies.send(TaskReply::Notice { message });
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

    /// Reads the kubeconfig, on a thread of its own.
    fn ask_plugin(&self, cluster: ClusterName) {
        let (fleet, kind, replies) = (self.fleet.clone(), self.kind.clone(), self.replies.clone());
        tokio::task::spawn_blocking(move || {
            if let Some(question) = login::question(&fleet, &kind, &cluster) {
                replies.send(TaskReply::PluginQuestion { cluster, question });
            }
        });
    }

    fn explain(&self, ask: RequestId, subject: SubjectId) {
        let fleet = self.fleet.clone();
        let detail = move |live: &Live| {
            let domain = live.domains().iter().find(|domain| domain.name() == subject.domain)?;
            let (explanation, panels) = domain.detail(&subject, live.view())?;
            Some(Box::new(SubjectDetail { subject, explanation, panels }))
        };
        let work = async move { TaskReply::Explained { ask, detail: fleet.ask(detail).await.ok().flatten() } };
        spawn_answering(self.replies.clone(), move |_| TaskReply::Explained { ask, detail: None }, work);
    }

    fn plan(&self, ask: RequestId, work: impl Future<Output = Result<Planned, String>> + Send + 'static) {
        let work = async move { TaskReply::Planned { ask, plan: work.await.map(Box::new) } };
        spawn_answering(self.replies.clone(), move |message| TaskReply::Planned { ask, plan: Err(message) }, work);
    }

    fn apply(&self, approval: TypedApproval) {
        self.stop.store(false, Ordering::SeqCst);
        let work = tasks::apply(
            self.fleet.clone(),
            self.replies.clone(),
            approval,
            self.stop.clone(),
            self.reference_scan_after,
        );
        let on_panic = |message| TaskReply::Applied { report: Err(format!("{message}; see trueup history")) };
        spawn_answering(self.replies.clone(), on_panic, work);
    }

    fn read_object(&self, ask: RequestId, cluster: ClusterName, target: ObjectRef, values: CredentialValues) {
        let fleet = self.fleet.clone();
        let work = async move {
            let object = objects::read(&fleet, &cluster, &target, values).await.map(Box::new);
            TaskReply::Object { ask, object }
        };
        spawn_answering(self.replies.clone(), move |message| TaskReply::Object { ask, object: Err(message) }, work);
    }

    fn read_references(&self, ask: RequestId, subject: SubjectId) {
        let fleet = self.fleet.clone();
        let work = async move {
            let sheet = references::read(&fleet, subject).await.map(Box::new);
            TaskReply::References { ask, sheet }
        };
        spawn_answering(self.replies.clone(), move |message| TaskReply::References { ask, sheet: Err(message) }, work);
    }

    fn read_operator_log(&self, ask: RequestId, subject: SubjectId) {
        let fleet = self.fleet.clone();
        let work = async move {
            let log = references::read_log(&fleet, subject).await.map(Box::new);
            TaskReply::OperatorLog { ask, log }
        };
        spawn_answering(self.replies.clone(), move |message| TaskReply::OperatorLog { ask, log: Err(message) }, work);
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
        spawn_answering(self.replies.clone(), move |message| TaskReply::Answered { ask, lines: vec![message] }, work);
    }

    fn fleet_table(&self, ask: RequestId, check: CheckName, typed: Option<String>) {
        let fleet = self.fleet.clone();
        let table = move |live: &Live| {
            let domain = live.domains().iter().find(|domain| domain.name() == check)?;
            domain.fleet_table(live.view(), typed.as_deref())
        };
        let work = async move { TaskReply::FleetTable { ask, table: fleet.ask(table).await.ok().flatten() } };
        spawn_answering(self.replies.clone(), move |_| TaskReply::FleetTable { ask, table: None }, work);
    }

    fn probe(&self, subject: SubjectId) {
        let (fleet, name) = (self.fleet.clone(), subject.name.clone());
        let is_real = matches!(self.kind, FleetKind::Kubeconfig { .. });
        let work = async move {
            let message = match fleet.ask(move |live: &Live| may_probe(live, &subject)).await {
                Ok(Some(ready)) if is_real => {
                    let result = probe_one(&ready, fleet.session()).await;
                    std::iter::once(result.message())
                        .chain(result.details().iter().cloned())
                        .collect::<Vec<_>>()
                        .join("; ")
                }
                Ok(Some(_)) => "not sent: the server is simulated".to_owned(),
                Ok(None) => "not sent: nothing to test, or the server may not be its own".to_owned(),
                Err(error) => error.to_string(),
            };
            TaskReply::Notice { message: format!("{name}: {message}") }
        };
        spawn_answering(self.replies.clone(), |message| TaskReply::Notice { message }, work);
    }

    fn read_history(&self, asked: u64) {
        let fleet = self.fleet.clone();
        let work = move || TaskReply::History { asked, entries: tasks::history(&fleet) };
        self.background.spawn(
            self.replies.clone(),
            move |message| TaskReply::History { asked, entries: Err(message) },
            work,
        );
    }

    fn write_bundle(&self, request: BundleRequest) {
        let fleet = self.fleet.clone();
        let work = async move {
            let path = bundling::write(&fleet, request).await;
            TaskReply::Saved { file: SavedFile::Bundle, path }
        };
        let on_panic = |message| TaskReply::Saved { file: SavedFile::Bundle, path: Err(message) };
        spawn_answering(self.replies.clone(), on_panic, work);
    }

    fn accept(&self, subject: SubjectId, reason: String, until: String) {
        let (fleet, replies, file) = (self.fleet.clone(), self.replies.clone(), self.accepted_file.clone());
        let work = move || {
            let message = accept(&fleet, file.as_deref(), &subject, reason, &until).map(|(rules, message)| {
                replies.send(TaskReply::Acceptances { rules });
                message
            });
            TaskReply::Accepted { message }
        };
        self.background.spawn(self.replies.clone(), |message| TaskReply::Accepted { message: Err(message) }, work);
    }

    fn read_log(&self) {
        let log = self.log.clone();
        let work = move || TaskReply::Log { lines: saving::last_lines(log.as_deref()) };
        self.background.spawn(self.replies.clone(), |message| TaskReply::Log { lines: vec![message] }, work);
    }

    fn remember(&self, remembered: Remembered) {
        self.background.finish();
        let Some((key, state)) = &self.memory else { return };
        // The console is closing: only the log is left.
        if let Err(message) = memory::remember(state, key, remembered, Timestamp::now()) {
            tracing::warn!(%message, "view state was not saved");
        }
    }
}

/// Accepts a finding. Returns every accept rule and a message.
fn accept(
    fleet: &Fleet,
    file: Option<&Path>,
    subject: &SubjectId,
    reason: String,
    until: &str,
) -> Result<(Vec<AcceptRule>, String), String> {
    let rule = accepting::rule(subject, reason, until, Timestamp::now())?;
    let message = match file {
        Some(path) => {
            accepting::write_down(path, &rule)?;
            format!("{} accepted until {}; written to {}", subject.name, rule.until, path.display())
        }
        None => format!("{} accepted until the console exits", subject.name),
    };
    Ok((fleet.accept(rule), message))
}
