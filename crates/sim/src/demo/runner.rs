//! Runs the scenario: a user edit every few ticks, and the operators at every tick.
//!
//! Invariants:
//! - the n-th tick does the same for the same seed, whatever the clock shows;
//! - writes by others (kubectl, an applied plan) are reconciled like the user edits of the scenario.
//!
//! Cancellation: dropping [`ScenarioRunner::run`] between two ticks is safe; a tick does not wait for anything.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use super::guests::{CHECKOUT, LEDGER, SEARCH};
use super::machines::Machines;
use super::objects::COPIES;
use super::provider::{Authentication, CopyKind, Provider};
use super::reach::Reach;
use super::scenario::GuestActor;
use super::seeded_rng::SeededRng;
use super::standalone::Standalone;
use super::user_edits;
use super::workload::Workload;

/// One pass of the operators. A change needs three hops, so it takes a few seconds and can be watched.
pub const TICK: Duration = Duration::from_secs(1);
/// Ticks between two events: three hops, plus time to see the result.
const TICKS_PER_EVENT: u64 = 5;
/// Providers one guest cycles through; a demo that runs for days must not grow.
const PROVIDERS: u64 = 3;

/// Everything that acts in the scenario.
#[derive(Debug)]
pub struct ScenarioRunner {
    actors: Vec<GuestActor>,
    standalone: Vec<Standalone>,
    workloads: Vec<Workload>,
    machines: Option<Machines>,
    /// Store versions of each guest's two clusters when its operators last had nothing to do.
    idle_versions: Vec<Option<(u64, u64)>>,
    rng: SeededRng,
    ticks: u64,
}

/// One event of the scenario: a user edit or a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScenarioEvent {
    ProviderAdded { guest: &'static str, provider: String },
    ProviderRemoved { guest: &'static str },
    SecretRotated { guest: &'static str, secret: String },
    CopiesRenewed { guest: &'static str },
    CopyDeleted { guest: &'static str, config_map: String },
    ConnectionLost { guest: &'static str },
    ConnectionBack { guest: &'static str },
}

impl fmt::Display for ScenarioEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProviderAdded { guest, provider } => {
                write!(f, "provider {provider} added to {guest}")
            }
            Self::ProviderRemoved { guest } => write!(f, "provider removed from {guest}"),
            Self::SecretRotated { guest, secret } => write!(f, "Secret {secret} of {guest} rotated"),
            Self::CopiesRenewed { guest } => write!(f, "config operator of {guest} resynced"),
            Self::CopyDeleted { guest, config_map } => {
                write!(f, "ConfigMap {config_map} in use deleted from {guest}")
            }
            Self::ConnectionLost { guest } => write!(f, "connection to {guest} lost"),
            Self::ConnectionBack { guest } => write!(f, "connection to {guest} restored"),
        }
    }
}

impl ScenarioRunner {
    pub(super) fn new(
        actors: Vec<GuestActor>,
        standalone: Vec<Standalone>,
        workloads: Vec<Workload>,
        machines: Option<Machines>,
        seed: u64,
    ) -> Self {
        let idle_versions = vec![None; actors.len()];
        Self { actors, standalone, workloads, machines, idle_versions, rng: SeededRng::new(seed, "life"), ticks: 0 }
    }

    /// Runs until dropped.
    pub async fn run(mut self) {
        let mut clock = tokio::time::interval(TICK);
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            clock.tick().await;
            if let Some(event) = self.tick() {
                tracing::debug!(%event, "ran demo event");
            }
        }
    }

    /// Runs every operator once; every few ticks an event follows, which the operators see at the next tick.
    pub fn tick(&mut self) -> Option<ScenarioEvent> {
        for (actor, idle_versions) in self.actors.iter_mut().zip(&mut self.idle_versions) {
            if actor.reach == Reach::Open {
                run_operators(actor, idle_versions);
            }
        }
        self.ticks += 1;
        self.standalone.iter().for_each(|one| one.tick(self.ticks));
        self.workloads.iter_mut().for_each(|workload| workload.tick(self.ticks));
        self.machines.iter().for_each(|machines| machines.tick(self.ticks));
        if !self.ticks.is_multiple_of(TICKS_PER_EVENT) {
            return None;
        }
        let event = self.script(self.ticks / TICKS_PER_EVENT - 1);
        self.perform(&event);
        Some(event)
    }

    /// Returns the n-th event. Events come in rounds, and each round restores what the next one needs.
    fn script(&self, number: u64) -> ScenarioEvent {
        let (round, place) = (number / 8, number % 8);
        let (first, secret) = (self.first_provider(), "okta-console".to_owned());
        let provider = format!("entra-{}", (first + round) % PROVIDERS + 1);
        match place {
            0 => ScenarioEvent::ProviderAdded { guest: CHECKOUT, provider },
            1 => ScenarioEvent::CopiesRenewed { guest: SEARCH },
            2 => ScenarioEvent::ProviderRemoved { guest: CHECKOUT },
            3 => ScenarioEvent::ConnectionLost { guest: LEDGER },
            4 => ScenarioEvent::SecretRotated { guest: SEARCH, secret },
            5 => ScenarioEvent::ProviderAdded { guest: CHECKOUT, provider: "checkout-sso".to_owned() },
            6 => ScenarioEvent::ConnectionBack { guest: LEDGER },
            _ => ScenarioEvent::CopyDeleted { guest: CHECKOUT, config_map: "checkout-sso-ca".to_owned() },
        }
    }

    /// The provider a seed starts with.
    fn first_provider(&self) -> u64 {
        self.rng.clone().below(PROVIDERS)
    }

    fn perform(&mut self, event: &ScenarioEvent) {
        match event {
            ScenarioEvent::ProviderAdded { guest, provider } => {
                let wanted = Authentication::Oidc(Some(Provider::new(provider)));
                let Some((actor, rng)) = self.actor(guest) else { return };
                let at = now(actor);
                user_edits::create_sources(&actor.guest, &wanted, rng, at);
                user_edits::set_authentication(&actor.guest, &wanted, at);
            }
            ScenarioEvent::ProviderRemoved { guest } => {
                let Some((actor, _)) = self.actor(guest) else { return };
                user_edits::set_authentication(&actor.guest, &Authentication::Oidc(None), now(actor));
            }
            ScenarioEvent::SecretRotated { guest, secret } => {
                let Some((actor, rng)) = self.actor(guest) else { return };
                user_edits::rotate(&actor.guest, CopyKind::Secret, secret, rng, now(actor));
            }
            ScenarioEvent::CopiesRenewed { guest } => self.renew(guest),
            ScenarioEvent::CopyDeleted { guest, config_map } => {
                let Some((actor, _)) = self.actor(guest) else { return };
                actor.guest.inside(CopyKind::ConfigMap, COPIES, config_map).remove();
            }
            ScenarioEvent::ConnectionLost { guest } => self.connect(guest, Plug::Out),
            ScenarioEvent::ConnectionBack { guest } => self.connect(guest, Plug::In),
        }
    }

    fn renew(&mut self, guest: &str) {
        let place = self.actors.iter().position(|actor| actor.guest.name == guest);
        if let Some(place) = place {
            self.actors[place].operators.resync();
            self.idle_versions[place] = None;
        }
    }

    fn connect(&mut self, guest: &str, plug: Plug) {
        let Some((actor, _)) = self.actor(guest) else { return };
        match plug {
            Plug::Out => actor.guest.sim.disconnect(),
            Plug::In => actor.guest.sim.reconnect(),
        }
    }

    fn actor(&mut self, guest: &str) -> Option<(&mut GuestActor, &mut SeededRng)> {
        let actor = self.actors.iter_mut().find(|actor| actor.guest.name == guest)?;
        Some((actor, &mut self.rng))
    }
}

enum Plug {
    Out,
    In,
}

/// Runs the operators of one guest, unless nothing changed since they last had nothing to do.
fn run_operators(actor: &mut GuestActor, idle_versions: &mut Option<(u64, u64)>) {
    let versions = |actor: &GuestActor| (actor.guest.management.version(), actor.guest.sim.version());
    let before = versions(actor);
    if *idle_versions == Some(before) {
        return;
    }
    let at = now(actor);
    actor.operators.step(&actor.guest, at);
    let after = versions(actor);
    *idle_versions = (before == after).then_some(after);
}

/// The scenario uses the clock of its clusters.
fn now(actor: &GuestActor) -> Timestamp {
    actor.guest.sim.now()
}
