//! Keeping the fleet alive behind the console: its loop, the ways to its clusters, and what happens when the loop breaks.
//!
//! Always true: a loop that breaks is told of, what it said is taken back, and it begins anew a few times; when that does
//! not help, the console says that nothing is watched and shows no old findings as if they were.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::mpsc;

use super::live_handle::WeakFleet;
use super::{MakeFleet, Ready, console_settings};
use crate::cli::context::Context;
use crate::cli::members;
use crate::config::ConsoleSettings;
use crate::console::ReplySender;
use crate::console::settings::SettingsReload;
use crate::console::task::TaskReply;
use trueup_fleet::connect::{ChangeEvent, ChangeWatcher, Places};
use trueup_fleet::live::{Command, Live, Update};

/// A loop that breaks on what a cluster says breaks again on the same: three more times tell a chance from a rule.
const RESTARTS_MAX: u32 = 3;
/// The first wait before a new beginning; each further one is twice as long.
const WAIT: Duration = Duration::from_secs(1);

pub struct Supervisor {
    pub context: Arc<Context>,
    pub make: MakeFleet,
    pub tell: ReplySender,
}

impl Supervisor {
    /// Runs the loop until the console ends.
    pub async fn keep(mut self, mut live: Live, mut inbox: mpsc::Receiver<Command>, outbox: mpsc::Sender<Update>) {
        // What a fleet needs to live ends with the fleet that is made in its place.
        let mut _keeps: Box<dyn Send> = Box::new(());
        for restart in 0..=RESTARTS_MAX {
            if AssertUnwindSafe(live.run(&mut inbox, &outbox)).catch_unwind().await.is_ok() {
                return;
            }
            if outbox.send(live.retract_all()).await.is_err() || restart == RESTARTS_MAX {
                break;
            }
            drop(live);
            tokio::time::sleep(WAIT * 2u32.pow(restart)).await;
            match self.make_again().await {
                Ok(ready) => (live, _keeps) = (ready.live, ready.keeps),
                Err(says) => {
                    self.tell.tell(TaskReply::NotStarted { says });
                    return;
                }
            }
        }
        let says = "watching the clusters broke again and again; start trueup anew with --log FILE -v".to_owned();
        self.tell.tell(TaskReply::NotStarted { says });
    }

    async fn make_again(&mut self) -> Result<Ready, String> {
        let (context, make) = (&self.context, &mut self.make);
        let made = AssertUnwindSafe(async { make(context) }).catch_unwind().await;
        made.map_err(|_| "starting anew broke".to_owned())?.map_err(|error| error.to_string())
    }
}

/// Tells the loop when the machine slept, and the new ways when the kubeconfig changed, until the console ends.
pub async fn follow_ways(fleet: WeakFleet) {
    let places = {
        let context = &fleet.context;
        Places::new(context.globals.kubeconfig.as_deref(), &context.env)
    };
    let mut alarm = ChangeWatcher::new(places.files(), members::wall_clock());
    loop {
        let noticed = alarm.next().await;
        let Some(commands) = fleet.commands.upgrade() else { return };
        let context = fleet.context.as_ref();
        let told = match noticed {
            ChangeEvent::ClockJump => vec![Command::ClockJumped],
            ChangeEvent::Kubeconfig => match members::members(context, &fleet.config.clusters) {
                Ok(members) => members.into_iter().map(|member| Command::Renew(Box::new(member))).collect(),
                Err(error) => {
                    context.note(&format!("the kubeconfig changed and can't be used, so nothing changes: {error}"));
                    Vec::new()
                }
            },
        };
        for command in told {
            if commands.send(command).await.is_err() {
                return;
            }
        }
    }
}

/// Reads keys and themes again whenever their files change, until the console ends.
pub async fn follow_decoration(settings: ConsoleSettings, folder: PathBuf, tell: ReplySender) {
    let alarm = || ChangeWatcher::new(&console_settings::files(&settings, &folder), members::wall_clock());
    let mut before = alarm();
    loop {
        while before.next().await == ChangeEvent::ClockJump {}
        // Listed anew each time, as a folder changes when a file comes or goes; and before the files are read, so that a
        // change during that is not missed.
        before = alarm();
        let (keys, mut problems) = console_settings::keymap(&settings, Some(&folder));
        let (themes, of_themes) = console_settings::themes(Some(&folder));
        problems.extend(of_themes);
        tell.tell(TaskReply::SettingsReloaded(Box::new(SettingsReload { keys, themes, problems })));
    }
}

/// Does a task and tells what came of it; when it breaks, tells what stands in for an answer.
pub fn spawn_answering(
    tell: ReplySender,
    otherwise: impl FnOnce(String) -> TaskReply + Send + 'static,
    work: impl Future<Output = TaskReply> + Send + 'static,
) {
    tokio::spawn(async move {
        let told = AssertUnwindSafe(work).catch_unwind().await;
        tell.tell(told.unwrap_or_else(|_| otherwise(BROKE.to_owned())));
    });
}

/// What a person reads in place of an answer. What broke is told beside it.
const BROKE: &str = "this broke, which is a mistake in trueup; the rest goes on";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::console::FleetKind;
    use crate::config::parse_config;
    use crate::console::task::RequestId;
    use trueup_checks::judgements::Judgements;
    use trueup_core::decode::Digester;
    use trueup_core::world::{Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, RiskClass, Served, World};
    use trueup_fleet::connect::Env;

    fn recording(name: &str) -> Live {
        let mut world = World::default();
        world.put_cluster(Cluster {
            name: ClusterName::new(name),
            class: RiskClass::Prod,
            source: ClusterSource::Snapshot,
            hosted_by: None,
            link: Link::Recorded,
            identity: ClusterIdentity::default(),
            served: Served::Recorded(std::collections::BTreeSet::new()),
        });
        let now = "2026-11-16T10:00:00Z".parse().unwrap();
        Live::from_snapshot(Vec::new(), world, Judgements::default(), now, Digester::new(&[0; 32]))
    }

    fn keeper(tell: ReplySender) -> Supervisor {
        let globals = Cli::try_parse_from(["trueup"]).unwrap().globals;
        let make: MakeFleet = Box::new(|_| {
            let config = parse_config("", Path::new("."), &[]).unwrap();
            Ok(Ready {
                live: recording("anew"),
                config,
                kind: FleetKind::Demo,
                state: None,
                reference_scan_after: std::time::Duration::ZERO,
                keeps: Box::new(()),
            })
        });
        Supervisor { context: Arc::new(Context::new(globals, Env::default())), make, tell }
    }

    fn breaking() -> Command {
        Command::Ask(Box::new(|_| std::panic::resume_unwind(Box::new("broken"))))
    }

    async fn told_clusters(updates: &mut mpsc::Receiver<Update>) -> Vec<(String, bool)> {
        let update = updates.recv().await.unwrap();
        update.clusters.into_iter().map(|(name, cluster)| (name.to_string(), cluster.is_some())).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_breaks_takes_back_what_it_said_and_begins_anew_a_few_times() {
        let (tell, mut told) = ReplySender::new();
        let (commands, inbox) = mpsc::channel(4);
        let (outbox, mut updates) = mpsc::channel(4);
        let kept = tokio::spawn(keeper(tell).keep(recording("first"), inbox, outbox));
        let (there, gone) = (|name: &str| vec![(name.to_owned(), true)], |name: &str| vec![(name.to_owned(), false)]);
        assert_eq!(told_clusters(&mut updates).await, there("first"));
        commands.send(breaking()).await.unwrap();
        assert_eq!(told_clusters(&mut updates).await, gone("first"));
        for _ in 0..RESTARTS_MAX {
            assert_eq!(told_clusters(&mut updates).await, there("anew"));
            commands.send(breaking()).await.unwrap();
            assert_eq!(told_clusters(&mut updates).await, gone("anew"));
        }
        kept.await.unwrap();
        assert!(
            matches!(told.recv().await, Some(TaskReply::NotStarted { .. })),
            "and then nothing is shown as watched"
        );
    }

    #[tokio::test]
    async fn a_loop_ends_with_the_console() {
        let (tell, _told) = ReplySender::new();
        let (commands, inbox) = mpsc::channel(1);
        let (outbox, _updates) = mpsc::channel(1);
        let kept = tokio::spawn(keeper(tell).keep(recording("first"), inbox, outbox));
        drop(commands);
        kept.await.unwrap();
    }

    #[tokio::test]
    async fn a_task_that_breaks_is_answered_all_the_same() {
        let (tell, mut told) = ReplySender::new();
        let otherwise = |says| TaskReply::Planned { ask: RequestId(7), plan: Err(says) };
        spawn_answering(tell.clone(), otherwise, async { std::panic::resume_unwind(Box::new("broken")) });
        let Some(TaskReply::Planned { ask: RequestId(7), plan: Err(says) }) = told.recv().await else {
            panic!("no answer")
        };
        assert_eq!(says, BROKE);
    }
}
