//! What one process is configured with, and what that forbids.
//!
//! Invariants: what is forbidden is stated here by target and verb, apart from the gates that enforce it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use trueup_core::engine::journal::StateFolder;
use trueup_core::engine::{FreezeWindow, Glob, MarkKey, PolicyEffect, PolicyRule, Tier, Verb};
use trueup_core::world::{ClockSkew, ClusterName, RiskClass};
use trueup_fleet::connect::Env;
use trueup_fleet::observe::WatchStart;
use trueup_operate::{ClusterRule, ClusterRules, Contexts, Events, PlanRequest, Session, Settings};

use super::fault_profile::PlanLife;
use super::kind::Kind;
use super::world::{Site, Target};

/// The configuration of one process: at most one gate is shut by it.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    pub shut: Option<Kind>,
    /// The target whose remedy waits for something that is not planned, for [`Kind::GateDependency`].
    pub waiting: Option<Target>,
    /// The class of the first cluster is dev, until the configuration changes.
    pub first_is_dev: bool,
    pub plan_life: PlanLife,
}

/// How much of the plan's id an operator gives, and what else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Approval {
    /// Eight characters: enough for T1 and T2.
    Short,
    /// The whole id: enough for T3.
    Whole,
    /// The whole id and every cluster's name: enough for T4.
    Confirmed,
}

impl Approval {
    /// How much approval a write of a tier needs.
    pub fn needed(tier: Tier) -> Self {
        match tier {
            Tier::T0 | Tier::T1 | Tier::T2 => Self::Short,
            Tier::T3 => Self::Whole,
            Tier::T4 => Self::Confirmed,
        }
    }
}

const EVERY_DAY: &str = "Mon 00:00 - Sun 23:59 UTC";

impl Configuration {
    pub fn session(&self) -> Arc<Session> {
        let mut settings = Settings { clusters: self.classes(), ..Settings::default() };
        let safety = &mut settings.safety;
        match self.shut {
            Some(Kind::GateReadOnly | Kind::ConfigReadOnly) => safety.read_only = true,
            // It is always there.
            Some(Kind::GateKillSwitch | Kind::ConfigKillSwitch) => safety.kill_switch = Some(PathBuf::from("/")),
            Some(Kind::GateFreeze | Kind::ConfigFreeze) => safety.freeze.push(all_week()),
            Some(Kind::GatePolicy | Kind::ConfigDeny) => {
                settings.policy.push(first_cluster(PolicyEffect::Deny("not here".to_owned())));
            }
            Some(Kind::GateCap) => settings.policy.push(first_cluster(PolicyEffect::Cap(0))),
            Some(Kind::ConfigTier) => settings.policy.push(first_cluster(PolicyEffect::Tier(Tier::T4))),
            Some(_) | None => {}
        }
        Arc::new(Session {
            settings,
            env: Env::default(),
            contexts: Contexts::default(),
            state: None,
            shared_key: None,
            read_only: false,
            allow_insecure_writes: false,
            plugins: trueup_fleet::connect::PluginPolicy::Any,
            watches: WatchStart::default(),
            events: Events::new(|_| {}),
        })
    }

    /// What a plan is made for.
    pub fn request(&self) -> PlanRequest {
        PlanRequest {
            deletes_max: (self.shut == Some(Kind::GateBrake)).then_some(0),
            settle: Duration::from_secs(if self.shut == Some(Kind::GateSettling) { 5 } else { 0 }),
            valid_for: (self.plan_life == PlanLife::Days).then_some(PlanLife::DAYS),
            ..PlanRequest::default()
        }
    }

    pub fn waits(&self) -> Option<Target> {
        self.waiting.clone().filter(|_| self.shut == Some(Kind::GateDependency))
    }

    pub fn hides_identity(&self, site: usize) -> bool {
        self.shut == Some(Kind::GateIdentity) && site == 0
    }

    /// Whether the lists of a cluster are older than a delete may rest on.
    pub fn is_stale(&self, site: usize) -> bool {
        self.shut == Some(Kind::GateNotComplete) && site == 0
    }

    pub fn denies_access(&self, site: usize) -> bool {
        matches!(self.shut, Some(Kind::GateAccess | Kind::ConfigAccess)) && site == 0
    }

    pub fn unverified(&self) -> BTreeSet<ClusterName> {
        let is_unverified = matches!(self.shut, Some(Kind::GateInsecure | Kind::ConfigInsecure));
        is_unverified.then(|| ClusterName::new(Site::name(0))).into_iter().collect()
    }

    /// The clocks that differ from the engine's: two minutes, in the first cluster.
    pub fn clocks(&self, now: Timestamp) -> BTreeMap<ClusterName, ClockSkew> {
        let is_off = matches!(self.shut, Some(Kind::GateClock | Kind::ConfigClock));
        let behind = ClockSkew::measure(now - SignedDuration::from_mins(2), now, Duration::ZERO);
        is_off.then(|| (ClusterName::new(Site::name(0)), behind)).into_iter().collect()
    }

    /// The gate that keeps a target from being written to; nothing when it may be.
    pub fn forbids(&self, target: &Target, verb: Verb) -> Option<Kind> {
        let (is_first, is_delete) = (target.site == 0, verb == Verb::Delete);
        let shut = self.shut?;
        let hit = match shut {
            Kind::GateReadOnly
            | Kind::ConfigReadOnly
            | Kind::GateKillSwitch
            | Kind::ConfigKillSwitch
            | Kind::GateFreeze
            | Kind::ConfigFreeze => true,
            Kind::GateIdentity
            | Kind::GateInsecure
            | Kind::ConfigInsecure
            | Kind::GateAccess
            | Kind::ConfigAccess
            | Kind::GatePolicy
            | Kind::ConfigDeny
            | Kind::GateCap
            // The plan was made when a lower tier was enough.
            | Kind::ConfigTier => is_first,
            Kind::ConfigClass => is_first && is_delete,
            Kind::GateSettling | Kind::GateBrake => is_delete,
            Kind::GateNotComplete | Kind::GateClock | Kind::ConfigClock => is_delete && is_first,
            Kind::GateDependency => self.waiting.as_ref() == Some(target),
            _ => false,
        };
        hit.then_some(shut)
    }

    /// The gate that keeps an undo from being sent to a target; nothing when it may be.
    pub fn forbids_undo(&self, target: &Target) -> Option<Kind> {
        // No gate for deletes applies, and an undo waits for nothing.
        self.forbids(target, Verb::Create).filter(|kind| *kind != Kind::GateDependency)
    }

    /// The tier of an undo: labels may say who owns an object.
    pub fn undo_tier(&self, target: &Target, verb: Verb) -> Tier {
        match verb {
            _ if target.site == 0 && self.shut == Some(Kind::ConfigTier) => Tier::T4,
            Verb::Create => Tier::T1,
            _ => Tier::T3,
        }
    }

    /// The tier of a write.
    pub fn tier(&self, target: &Target, verb: Verb) -> Tier {
        let is_first = target.site == 0;
        match (verb, is_first) {
            _ if is_first && self.shut == Some(Kind::ConfigTier) => Tier::T4,
            (Verb::Delete, true) if !self.first_is_dev => Tier::T3,
            (Verb::Delete, _) => Tier::T2,
            _ => Tier::T1,
        }
    }

    fn classes(&self) -> ClusterRules {
        let rule = |matches: &str, class| {
            let matches = Glob::parse(matches).expect("a name is a pattern");
            ClusterRule { matches, class: Some(class), namespaces: Vec::new() }
        };
        let first = if self.first_is_dev { RiskClass::Dev } else { RiskClass::Prod };
        ClusterRules::new(vec![rule(&Site::name(0), first), rule("*", RiskClass::Dev)])
    }
}

pub fn all_week() -> FreezeWindow {
    FreezeWindow::parse(EVERY_DAY).expect("a window of all week")
}

fn first_cluster(effect: PolicyEffect) -> PolicyRule {
    let cluster = Some(Glob::parse(&Site::name(0)).expect("a name is a pattern"));
    PolicyRule { cluster, class: None, namespace: None, kind: None, verb: None, effect }
}

/// The key that marks the plans of an operator: each has a state folder of their own.
pub fn mark_key(operator: usize) -> &'static MarkKey {
    static KEYS: OnceLock<[MarkKey; 2]> = OnceLock::new();
    let keys = KEYS.get_or_init(|| {
        [(); 2].map(|()| {
            let folder = tempfile::tempdir().expect("a folder can be made");
            let state = StateFolder::prepare(&folder.path().join("state")).expect("a folder can be made");
            MarkKey::load_or_create(&state).expect("a key can be made")
        })
    });
    &keys[operator]
}
