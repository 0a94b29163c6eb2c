//! A handle on a fleet that goes on living: questions to its loop, and plans made of its answers.
//!
//! Always true: whoever holds a handle sees the fleet as it is when the question is answered, never a copy.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::cli::context::Context;
use crate::cli::plan::{self, PlanRequest};
use crate::cli::recheck::Replan;
use crate::cli::{access, look_live, tombstones};
use crate::config::Config;
use trueup_core::engine::{AcceptRule, Conditions, GateName, Judged, Plan, PlanScope, Tombstone};
use trueup_core::world::ClusterName;
use trueup_fleet::clouds::AccountPort;
use trueup_fleet::connect::TlsTrust;
use trueup_fleet::live::{Command, Live};

/// What a person sees when the loop is gone, which happens only while the program ends.
const GONE: &str = "the fleet is no longer watched";

/// What a person sees when a question broke. What it was is told beside it.
const BROKE: &str = "this broke, which is a mistake in trueup; the rest goes on";

#[derive(Clone)]
pub struct LiveHandle {
    pub context: Arc<Context>,
    pub config: Arc<Config>,
    pub commands: mpsc::Sender<Command>,
    /// How long after a delete it is looked whether something refers to it now.
    pub reference_scan_after: Duration,
    /// What was accepted since the start, besides what the config accepts.
    pub accepted: Arc<RwLock<Vec<AcceptRule>>>,
}

/// A handle that keeps nobody waiting: the loop ends when only such ones are left.
pub struct WeakFleet {
    pub context: Arc<Context>,
    pub config: Arc<Config>,
    pub commands: mpsc::WeakSender<Command>,
}

impl LiveHandle {
    pub fn weak(&self) -> WeakFleet {
        WeakFleet { context: self.context.clone(), config: self.config.clone(), commands: self.commands.downgrade() }
    }

    /// Tells the loop to do something.
    pub async fn tell(&self, command: Command) {
        // The loop ends with the console; there is nobody left to do it for.
        let _gone = self.commands.send(command).await;
    }

    /// Asks the loop something. A question that breaks leaves the loop whole.
    ///
    /// # Errors
    /// The loop has ended, or the question broke.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Live) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (answer, answered) = oneshot::channel();
        let question = Box::new(move |live: &Live| {
            let answered = catch_unwind(AssertUnwindSafe(|| question(live)));
            // Whoever no longer waits for it does not miss it.
            drop(answer.send(answered.map_err(|_| BROKE.to_owned())));
        });
        self.tell(Command::Ask(question)).await;
        answered.await.unwrap_or_else(|_| Err(GONE.to_owned()))
    }

    /// Has everything read again, and waits until it is, or takes too long.
    async fn resync(&self, patience: Duration) -> Result<(), String> {
        let (answer, answered) = oneshot::channel();
        let question = Box::new(move |_: &Live| {
            let _gone = answer.send(());
        });
        self.tell(Command::AskAfresh(patience, question)).await;
        answered.await.map_err(|_| GONE.to_owned())
    }

    /// Plans. Where a delete waits for a second look, that look is taken first.
    ///
    /// # Errors
    /// The loop has ended, or what was judged can't be put into a plan.
    pub async fn plan(&self, scope: PlanScope) -> Result<Plan, String> {
        let settle = self.config.safety.settle.unwrap_or(plan::SETTLE);
        let first = self.plan_now(scope.clone(), settle, None).await?;
        let waits = |plan: &Plan| {
            let gates = [GateName::Settling, GateName::NotComplete];
            plan.actions.iter().any(|action| action.blocked_by.iter().any(|blocked| gates.contains(&blocked.gate)))
        };
        if !waits(&first) {
            return Ok(first);
        }
        self.resync(look_live::PATIENCE).await?;
        self.plan_now(scope, settle, None).await
    }

    async fn plan_now(&self, scope: PlanScope, settle: Duration, deletes_max: Option<u64>) -> Result<Plan, String> {
        let chosen = scope.subjects.clone();
        let is_recording = self.ask(Live::is_still).await?;
        let stones = match is_recording {
            true => Vec::new(),
            false => tombstones::read(&self.context, jiff::Timestamp::now()),
        };
        let asked_stones = stones.clone();
        let asked = move |live: &Live| {
            let judged = judged(live, &asked_stones);
            let questions = match chosen {
                Some(chosen) => {
                    let wanted = judged.iter().filter(|one| chosen.contains(&one.subject));
                    access::questions(live, &wanted.cloned().collect::<Vec<_>>())
                }
                None => access::questions(live, &judged),
            };
            (questions, judged, live.generation())
        };
        let (questions, first, moves) = self.ask(asked).await?;
        let access = access::ask(questions).await;
        let wanted = PlanRequest { scope, deletes_max, settle };
        let (context, config) = (self.context.clone(), self.config.clone());
        let accepted = self.accepted.clone();
        let build_plan = move |live: &Live| {
            // While the permissions were asked for, something may have happened.
            let judged = if live.generation() == moves { first } else { judged(live, &stones) };
            let conditions = match is_recording {
                // As headless: being a recording is no gate.
                true => Conditions::at(live.view().now),
                false => Conditions {
                    access,
                    backup: look_live::backup_check(&context, &config),
                    ..look_live::conditions(live)
                },
            };
            let mut accept = config.accept.clone();
            accept.extend(accepted.read().unwrap_or_else(|broken| broken.into_inner()).iter().cloned());
            plan::build_plan(&context, &config, &wanted, &accept, &judged, live.view(), conditions)
                .map_err(|error| error.cause)
        };
        self.ask(build_plan).await?
    }

    /// The client of a cluster, while there is a connection.
    pub async fn client_of(&self, cluster: &ClusterName) -> Option<kube::Client> {
        let cluster = cluster.clone();
        self.ask(move |live| live.client(&cluster)).await.ok().flatten()
    }
}

impl Replan for LiveHandle {
    fn plan_again(&mut self) -> BoxFuture<'_, Result<Plan, String>> {
        async move {
            self.resync(look_live::PATIENCE).await?;
            // The brake was judged when the plan was made; counting what is left of it now would say nothing.
            self.plan_now(PlanScope::default(), Duration::ZERO, Some(u64::MAX)).await
        }
        .boxed()
    }

    fn connection<'a>(&'a mut self, cluster: &'a ClusterName) -> BoxFuture<'a, Option<(kube::Client, TlsTrust)>> {
        let cluster = cluster.clone();
        async move { self.ask(move |live| live.client(&cluster).zip(live.tls(&cluster))).await.ok().flatten() }.boxed()
    }

    fn account<'a>(&'a mut self, member: &'a ClusterName) -> BoxFuture<'a, Option<Arc<dyn AccountPort>>> {
        let member = member.clone();
        async move { self.ask(move |live| live.cloud_account(&member)).await.ok().flatten() }.boxed()
    }

    fn allows_insecure_writes(&self) -> bool {
        self.context.globals.allow_insecure_writes
    }
}

/// Every subject with both answers, and what is known of those that were deleted from here.
fn judged(live: &Live, stones: &[Tombstone]) -> Vec<Judged> {
    let mut judged = look_live::judged(live);
    tombstones::add(&mut judged, stones, live.view());
    judged
}

/// The part of the fleet that somebody pointed at.
pub fn scope(wanted: crate::console::task::PlanTarget) -> PlanScope {
    use crate::console::task::PlanTarget;
    let subjects: Option<BTreeSet<_>> = match &wanted {
        PlanTarget::Everything | PlanTarget::Check(_) => None,
        PlanTarget::Subjects(subjects) => Some(subjects.clone()),
    };
    let domains = match &wanted {
        PlanTarget::Check(name) => trueup_core::engine::Glob::parse(name.0).into_iter().collect(),
        PlanTarget::Everything | PlanTarget::Subjects(_) => Vec::new(),
    };
    PlanScope { acts_only: true, domains, subjects, ..PlanScope::default() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;
    use crate::config::parse_config;
    use trueup_checks::judgements::Judgements;
    use trueup_core::decode::Digester;
    use trueup_core::world::World;
    use trueup_fleet::connect::Env;

    #[tokio::test]
    async fn a_question_that_breaks_is_answered_and_leaves_the_loop_whole() {
        let globals = Cli::try_parse_from(["trueup"]).unwrap().globals;
        let (commands, mut inbox) = mpsc::channel(4);
        let (outbox, _updates) = mpsc::channel(4);
        let now = "2026-11-16T10:00:00Z".parse().unwrap();
        let mut live =
            Live::from_snapshot(Vec::new(), World::default(), Judgements::default(), now, Digester::new(&[0; 32]));
        tokio::spawn(async move { live.run(&mut inbox, &outbox).await });
        let fleet = LiveHandle {
            reference_scan_after: Duration::ZERO,
            context: Arc::new(Context::new(globals, Env::default())),
            config: Arc::new(parse_config("", Path::new("."), &[]).unwrap()),
            commands,
            accepted: Arc::default(),
        };
        let broken = fleet.ask(|_| -> u8 { std::panic::resume_unwind(Box::new("broken")) }).await;
        assert_eq!(broken, Err(BROKE.to_owned()));
        assert_eq!(fleet.ask(|live| live.view().now).await, Ok(now), "a recording's time stands still");
    }
}
