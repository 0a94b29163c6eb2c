//! The handle on a fleet: every front end asks the live loop through it.
//!
//! Invariants: an answer is computed from the fleet as it is at that moment, never from a copy; a question that panics
//! leaves the loop intact.
//! Elsewhere: keeping the loop running (`supervisor`), what is asked (`observe`, `plan`, `recheck`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::error::OperateError;
use crate::session::Session;
use crate::snapshot::{Recording, digester};
use crate::supervisor::Supervisor;
use crate::{accounts, local, members};
use trueup_checks::Check;
use trueup_core::engine::AcceptRule;
use trueup_core::world::ClusterName;
use trueup_fleet::live::{AskAfter, Command, GuestResolver, Live, LiveSetup, Member, Question, Settled, Update};
use trueup_fleet::observe::{Ports, ProcessJitter, WallClock, WatchStart};

/// How many commands and updates may be queued.
const CHANNEL: usize = 64;

/// A live loop before its first step.
pub struct Made {
    pub live: Live,
    /// Absent: the clusters are live.
    pub recording: Option<Recording>,
    /// What must live as long as the loop.
    pub keeps: Box<dyn Send>,
}

/// Makes the live loop: at the start, and again after it panicked.
pub type MakeLive = Box<dyn FnMut() -> BoxFuture<'static, Result<Made, OperateError>> + Send>;

/// A fleet that is kept current in a task of its own. The task ends when every handle is dropped.
#[derive(Clone)]
pub struct Fleet {
    session: Arc<Session>,
    commands: mpsc::Sender<Command>,
    recording: Option<Arc<Recording>>,
    /// Findings accepted since the start, besides those of the configuration.
    accepted: Arc<RwLock<Vec<AcceptRule>>>,
}

/// A handle that does not keep the loop running.
pub struct WeakFleet {
    pub session: Arc<Session>,
    pub commands: mpsc::WeakSender<Command>,
}

impl Fleet {
    /// Starts the loop. It pauses while its updates are not read and ends when their receiver is dropped.
    ///
    /// # Errors
    /// The loop cannot be made.
    pub async fn start(
        session: Arc<Session>,
        mut make: MakeLive,
    ) -> Result<(Self, mpsc::Receiver<Update>), OperateError> {
        let Made { live, recording, keeps } = make().await?;
        let (commands, inbox) = mpsc::channel(CHANNEL);
        let (outbox, updates) = mpsc::channel(CHANNEL);
        let supervisor = Supervisor { events: session.events.clone(), make };
        tokio::spawn(supervisor.keep(live, keeps, inbox, outbox));
        let fleet = Self { session, commands, recording: recording.map(Arc::new), accepted: Arc::default() };
        Ok((fleet, updates))
    }

    /// Starts the loop for a front end that asks and does not follow updates.
    ///
    /// # Errors
    /// The loop cannot be made.
    pub async fn connect(session: Arc<Session>, make: MakeLive) -> Result<Self, OperateError> {
        let (fleet, mut updates) = Self::start(session, make).await?;
        // The loop ends with its last handle, and the updates with the loop.
        tokio::spawn(async move { while updates.recv().await.is_some() {} });
        Ok(fleet)
    }

    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// What is known of the snapshot, when the fleet is one.
    pub fn recording(&self) -> Option<&Recording> {
        self.recording.as_deref()
    }

    pub fn weak(&self) -> WeakFleet {
        WeakFleet { session: self.session.clone(), commands: self.commands.downgrade() }
    }

    /// Sends a command to the loop.
    pub async fn send(&self, command: Command) {
        // The loop ends with the program; the command has no effect then.
        let _ended = self.commands.send(command).await;
    }

    /// Asks the loop.
    ///
    /// # Errors
    /// The loop has ended, or the question panicked.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Live) -> T + Send + 'static,
    ) -> Result<T, OperateError> {
        self.put(Command::Ask, question).await
    }

    /// The same for a question about links and lists: judgements may be older than what is known.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub async fn peek<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Live) -> T + Send + 'static,
    ) -> Result<T, OperateError> {
        self.put(Command::Peek, question).await
    }

    async fn put<T: Send + 'static>(
        &self,
        command: fn(Question) -> Command,
        question: impl FnOnce(&Live) -> T + Send + 'static,
    ) -> Result<T, OperateError> {
        let (answer, answered) = oneshot::channel();
        let question = Box::new(move |live: &Live| {
            let answered = catch_unwind(AssertUnwindSafe(|| question(live)));
            // A caller that no longer waits does not need it.
            drop(answer.send(answered.map_err(|_| OperateError::Internal)));
        });
        self.send(command(question)).await;
        answered.await.unwrap_or(Err(OperateError::Ended))
    }

    /// Waits until something has been read, at most for `timeout`.
    ///
    /// # Errors
    /// The loop has ended.
    pub async fn wait(&self, after: AskAfter, timeout: Duration) -> Result<Settled, OperateError> {
        let (answer, answered) = oneshot::channel();
        let question = Box::new(move |live: &Live| {
            let _dropped = answer.send(live.settled());
        });
        self.send(Command::AskAfter(after, timeout, question)).await;
        answered.await.map_err(|_| OperateError::Ended)
    }

    /// The client of a cluster, while it is connected.
    pub async fn client_of(&self, cluster: &ClusterName) -> Option<kube::Client> {
        let cluster = cluster.clone();
        self.ask(move |live| live.client(&cluster)).await.ok().flatten()
    }

    /// Accepts a finding until this process ends. Returns everything that is accepted now.
    pub fn accept(&self, rule: AcceptRule) -> Vec<AcceptRule> {
        self.accepted.write().unwrap_or_else(|poisoned| poisoned.into_inner()).push(rule);
        self.accepted()
    }

    /// Every rule for accepted findings.
    pub(crate) fn accepted(&self) -> Vec<AcceptRule> {
        let since = self.accepted.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.session.settings.accept.iter().chain(since.iter()).cloned().collect()
    }
}

/// The live clusters and accounts of the session: the selected contexts, their guests, the user's own kubeconfig files
/// and the accounts of the configuration. Must be called inside a tokio runtime.
///
/// # Errors
/// There is no usable kubeconfig.
pub async fn connect_contexts(session: &Session, checks: Vec<Box<dyn Check>>) -> Result<Made, OperateError> {
    let mut members = members::members(session)?;
    members.extend(local::member(session, &checks, &members));
    let clouds = accounts::needed_clouds(session, &checks);
    members.extend(accounts::members(session, &clouds).await);
    let guests = members::GuestsByKubeconfig {
        rules: session.settings.clusters.clone(),
        impersonation: session.contexts.impersonation.clone(),
        env: session.env.clone(),
        clouds,
        egress: session.settings.egress.clone(),
    };
    connect_members(session, checks, members, Box::new(guests))
}

/// A live fleet of these members and their guests. Must be called inside a tokio runtime.
///
/// # Errors
/// The system returns no random bytes.
pub fn connect_members(
    session: &Session,
    checks: Vec<Box<dyn Check>>,
    members: Vec<Member>,
    guests: Box<dyn GuestResolver>,
) -> Result<Made, OperateError> {
    let live = Live::new(LiveSetup {
        domains: checks,
        members,
        resolver: guests,
        ports: Ports::new(Arc::new(WallClock), Arc::new(ProcessJitter), digester()?)
            .with_budgets(session.settings.budgets)
            .with_watches(session.watches),
        live_max: session.settings.safety.live_max,
    });
    let live = match session.watches {
        WatchStart::AfterList => live,
        // What is read once is written, and shown in no list.
        WatchStart::OnRequest => live.of_verdicts(),
    };
    Ok(Made { live, recording: None, keeps: Box::new(()) })
}
