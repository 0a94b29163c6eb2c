//! Keeping the live loop running: its restarts, the machine's sleep, a kubeconfig that changes.
//!
//! Invariants: a loop that panics retracts everything it published and is made again, [`RESTARTS_MAX`] times; after that
//! the front end gets an event that the watch ended.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::mpsc;

use crate::error::OperateError;
use crate::event::{Event, Events, Notice};
use crate::fleet::{Made, MakeLive, WeakFleet};
use crate::members;
use crate::session::wall_clock;
use trueup_fleet::connect::{ChangeEvent, ChangeWatcher};
use trueup_fleet::live::{Command, Live, Update};

/// A loop that panics on an object panics on it again: three restarts tell a coincidence from a rule.
const RESTARTS_MAX: u32 = 3;
/// The first delay before a restart; each further one is twice as long.
const RESTART_DELAY: Duration = Duration::from_secs(1);

pub(crate) struct Supervisor {
    pub events: Events,
    pub make: MakeLive,
}

impl Supervisor {
    /// Runs the loop until its handles are dropped.
    pub async fn keep(
        mut self,
        mut live: Live,
        mut keeps: Box<dyn Send>,
        mut inbox: mpsc::Receiver<Command>,
        outbox: mpsc::Sender<Update>,
    ) {
        for restart in 0..=RESTARTS_MAX {
            if AssertUnwindSafe(live.run(&mut inbox, &outbox)).catch_unwind().await.is_ok() {
                return;
            }
            if outbox.send(live.retract_all()).await.is_err() || restart == RESTARTS_MAX {
                break;
            }
            drop(live);
            tokio::time::sleep(RESTART_DELAY * 2u32.pow(restart)).await;
            match self.make_again().await {
                Ok(made) => {
                    live = made.live;
                    drop(std::mem::replace(&mut keeps, made.keeps));
                }
                Err(error) => {
                    self.events.send(Event::WatchEnded(error.cause()));
                    return;
                }
            }
        }
        let message = "the fleet is not watched after repeated internal errors; restart trueup with --log FILE -v";
        self.events.send(Event::WatchEnded(message.to_owned()));
    }

    async fn make_again(&mut self) -> Result<Made, OperateError> {
        let made = AssertUnwindSafe((self.make)()).catch_unwind().await;
        made.unwrap_or(Err(OperateError::Internal))
    }
}

/// Reconnects after the machine slept, and with new credentials when the kubeconfig changed, until the loop ends.
pub async fn follow_kubeconfig(fleet: WeakFleet) {
    let mut changes = ChangeWatcher::new(fleet.session.places().files(), wall_clock());
    loop {
        let change = changes.next().await;
        let Some(commands) = fleet.commands.upgrade() else { return };
        let to_send = match change {
            ChangeEvent::ClockJump => vec![Command::ClockJumped],
            ChangeEvent::Kubeconfig => match members::members(&fleet.session) {
                Ok(members) => members.into_iter().map(|member| Command::Renew(Box::new(member))).collect(),
                Err(error) => {
                    fleet.session.events.notice(Notice::Kubeconfig { why: error.cause() });
                    Vec::new()
                }
            },
        };
        for command in to_send {
            if commands.send(command).await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::testing::recorded;
    use crate::testing::snapshot_of;

    fn supervisor(events: Events) -> Supervisor {
        let make: MakeLive = Box::new(|| async { Ok(snapshot_of("again")) }.boxed());
        Supervisor { events, make }
    }

    fn breaking() -> Command {
        Command::Ask(Box::new(|_| std::panic::resume_unwind(Box::new("broken"))))
    }

    async fn clusters(updates: &mut mpsc::Receiver<Update>) -> Vec<(String, bool)> {
        let update = updates.recv().await.unwrap();
        update.clusters.into_iter().map(|(name, cluster)| (name.to_string(), cluster.is_some())).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_panics_retracts_its_updates_and_restarts_three_times() {
        let (events, sent) = recorded();
        let (commands, inbox) = mpsc::channel(4);
        let (outbox, mut updates) = mpsc::channel(4);
        let Made { live, keeps, .. } = snapshot_of("first");
        let kept = tokio::spawn(supervisor(events).keep(live, keeps, inbox, outbox));
        let (present, gone) = (|name: &str| vec![(name.to_owned(), true)], |name: &str| vec![(name.to_owned(), false)]);
        assert_eq!(clusters(&mut updates).await, present("first"));
        commands.send(breaking()).await.unwrap();
        assert_eq!(clusters(&mut updates).await, gone("first"));
        for _ in 0..RESTARTS_MAX {
            assert_eq!(clusters(&mut updates).await, present("again"));
            commands.send(breaking()).await.unwrap();
            assert_eq!(clusters(&mut updates).await, gone("again"));
        }
        kept.await.unwrap();
        assert!(matches!(sent.lock().unwrap().as_slice(), [Event::WatchEnded(_)]), "the front end gets an event");
    }

    #[tokio::test]
    async fn a_loop_ends_with_its_last_handle() {
        let (events, _) = recorded();
        let (commands, inbox) = mpsc::channel(1);
        let (outbox, _updates) = mpsc::channel(1);
        let Made { live, keeps, .. } = snapshot_of("first");
        let kept = tokio::spawn(supervisor(events).keep(live, keeps, inbox, outbox));
        drop(commands);
        kept.await.unwrap();
    }
}
