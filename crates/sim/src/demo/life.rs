//! What goes on while the story is watched: a person's deed now and then, and the operators in between.
//!
//! Always true:
//! - the n-th tick does the same for the same seed, whatever the clock says;
//! - what others change (with kubectl, or by applying a plan) is treated like a person's deed: the operators follow.
//!
//! Cancellation: dropping [`Life::run`] between two ticks is safe; a tick does not wait for anything.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use super::cast::{CHECKOUT, LEDGER, SEARCH};
use super::dice::Dice;
use super::machines::Machines;
use super::objects::COPIES;
use super::people;
use super::provider::{Authentication, CopyKind, Provider};
use super::reach::Reach;
use super::standalone::Standalone;
use super::story::Actor;
use super::workload::Workload;

/// One look of the operators. A change needs three hops, so it is through within a few seconds and can be watched.
pub const TICK: Duration = Duration::from_secs(1);
/// Ticks between two deeds: time for three hops and for a look at what came of it.
const TICKS_PER_BEAT: u64 = 5;
/// How many providers one guest goes through before it starts again; a story that runs for days must not grow.
const PROVIDERS: u64 = 3;

/// Those who act in the story.
#[derive(Debug)]
pub struct Life {
    actors: Vec<Actor>,
    standalone: Vec<Standalone>,
    workloads: Vec<Workload>,
    machines: Option<Machines>,
    /// What each guest's clusters were at when its operators last found nothing to do.
    rested: Vec<Option<(u64, u64)>>,
    dice: Dice,
    ticks: u64,
}

/// Something a person does, or that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beat {
    ProviderAdded { guest: &'static str, provider: String },
    ProviderRemoved { guest: &'static str },
    SecretRotated { guest: &'static str, secret: String },
    CopiesRenewed { guest: &'static str },
    CopyDeleted { guest: &'static str, config_map: String },
    ConnectionLost { guest: &'static str },
    ConnectionBack { guest: &'static str },
}

impl fmt::Display for Beat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProviderAdded { guest, provider } => {
                write!(f, "somebody lets people log in to {guest} by {provider}")
            }
            Self::ProviderRemoved { guest } => write!(f, "somebody removes the provider of {guest}"),
            Self::SecretRotated { guest, secret } => write!(f, "somebody rotates {secret} of {guest}"),
            Self::CopiesRenewed { guest } => write!(f, "the config operator of {guest} looks at everything again"),
            Self::CopyDeleted { guest, config_map } => {
                write!(f, "somebody deletes {config_map} in {guest}, which is in use")
            }
            Self::ConnectionLost { guest } => write!(f, "{guest} can't be reached"),
            Self::ConnectionBack { guest } => write!(f, "{guest} is back"),
        }
    }
}

impl Life {
    pub(super) fn new(
        actors: Vec<Actor>,
        standalone: Vec<Standalone>,
        workloads: Vec<Workload>,
        machines: Option<Machines>,
        seed: u64,
    ) -> Self {
        let rested = vec![None; actors.len()];
        Self { actors, standalone, workloads, machines, rested, dice: Dice::new(seed, "life"), ticks: 0 }
    }

    /// Lives until dropped.
    pub async fn run(mut self) {
        let mut clock = tokio::time::interval(TICK);
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            clock.tick().await;
            if let Some(beat) = self.tick() {
                tracing::debug!(%beat, "the demo goes on");
            }
        }
    }

    /// The operators look once; every few ticks, something happens then, which they see at the next.
    pub fn tick(&mut self) -> Option<Beat> {
        for (actor, rested) in self.actors.iter_mut().zip(&mut self.rested) {
            if actor.reach == Reach::Open {
                look(actor, rested);
            }
        }
        self.ticks += 1;
        self.standalone.iter().for_each(|one| one.tick(self.ticks));
        self.workloads.iter_mut().for_each(|workload| workload.tick(self.ticks));
        self.machines.iter().for_each(|machines| machines.tick(self.ticks));
        if !self.ticks.is_multiple_of(TICKS_PER_BEAT) {
            return None;
        }
        let beat = self.script(self.ticks / TICKS_PER_BEAT - 1);
        self.perform(&beat);
        Some(beat)
    }

    /// The n-th beat. They come in rounds, and each round leaves the fleet able to play the next.
    fn script(&self, number: u64) -> Beat {
        let (round, place) = (number / 8, number % 8);
        let (first, secret) = (self.first_provider(), "okta-console".to_owned());
        let provider = format!("entra-{}", (first + round) % PROVIDERS + 1);
        match place {
            0 => Beat::ProviderAdded { guest: CHECKOUT, provider },
            1 => Beat::CopiesRenewed { guest: SEARCH },
            2 => Beat::ProviderRemoved { guest: CHECKOUT },
            3 => Beat::ConnectionLost { guest: LEDGER },
            4 => Beat::SecretRotated { guest: SEARCH, secret },
            5 => Beat::ProviderAdded { guest: CHECKOUT, provider: "checkout-sso".to_owned() },
            6 => Beat::ConnectionBack { guest: LEDGER },
            _ => Beat::CopyDeleted { guest: CHECKOUT, config_map: "checkout-sso-ca".to_owned() },
        }
    }

    /// Where the seed starts in the row of providers.
    fn first_provider(&self) -> u64 {
        self.dice.clone().below(PROVIDERS)
    }

    fn perform(&mut self, beat: &Beat) {
        match beat {
            Beat::ProviderAdded { guest, provider } => {
                let wanted = Authentication::Oidc(Some(Provider::new(provider)));
                let Some((actor, dice)) = self.actor(guest) else { return };
                let at = now(actor);
                people::make_sources(&actor.guest, &wanted, dice, at);
                people::ask_for(&actor.guest, &wanted, at);
            }
            Beat::ProviderRemoved { guest } => {
                let Some((actor, _)) = self.actor(guest) else { return };
                people::ask_for(&actor.guest, &Authentication::Oidc(None), now(actor));
            }
            Beat::SecretRotated { guest, secret } => {
                let Some((actor, dice)) = self.actor(guest) else { return };
                people::rotate(&actor.guest, CopyKind::Secret, secret, dice, now(actor));
            }
            Beat::CopiesRenewed { guest } => self.renew(guest),
            Beat::CopyDeleted { guest, config_map } => {
                let Some((actor, _)) = self.actor(guest) else { return };
                actor.guest.inside(CopyKind::ConfigMap, COPIES, config_map).remove();
            }
            Beat::ConnectionLost { guest } => self.connect(guest, Plug::Out),
            Beat::ConnectionBack { guest } => self.connect(guest, Plug::In),
        }
    }

    fn renew(&mut self, guest: &str) {
        let place = self.actors.iter().position(|actor| actor.guest.name == guest);
        if let Some(place) = place {
            self.actors[place].operators.resync();
            self.rested[place] = None;
        }
    }

    fn connect(&mut self, guest: &str, plug: Plug) {
        let Some((actor, _)) = self.actor(guest) else { return };
        match plug {
            Plug::Out => actor.guest.sim.cut_off(),
            Plug::In => actor.guest.sim.join_again(),
        }
    }

    fn actor(&mut self, guest: &str) -> Option<(&mut Actor, &mut Dice)> {
        let actor = self.actors.iter_mut().find(|actor| actor.guest.name == guest)?;
        Some((actor, &mut self.dice))
    }
}

enum Plug {
    Out,
    In,
}

/// The operators of one guest look, unless nothing has changed since they last found nothing to do.
fn look(actor: &mut Actor, rested: &mut Option<(u64, u64)>) {
    let versions = |actor: &Actor| (actor.guest.management.version(), actor.guest.sim.version());
    let before = versions(actor);
    if *rested == Some(before) {
        return;
    }
    let at = now(actor);
    actor.operators.step(&actor.guest, at);
    let after = versions(actor);
    *rested = (before == after).then_some(after);
}

/// Time in the story is the time of its clusters.
fn now(actor: &Actor) -> Timestamp {
    actor.guest.sim.now()
}
