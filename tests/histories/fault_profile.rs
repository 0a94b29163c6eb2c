//! How hostile one history is: drawn once from its seed.
//!
//! Invariants: a calm history has no fault and no mover, so that everything its plan holds has to be done.

use jiff::SignedDuration;
use trueup_core::engine::executor::OnNewReference;

use super::configuration::Approval;
use super::kind::Kind;
use super::seeded_rng::SeededRng;

/// How often things go wrong, in a thousand requests.
#[derive(Debug, Clone)]
pub struct FaultProfile {
    pub write_faults: u32,
    pub read_faults: u32,
    pub moves: u32,
    /// Whether requests take time, so that others come in between.
    pub latency: bool,
    /// What may happen once in the run.
    pub incident: Option<Kind>,
    /// The gate that is shut while the plan is made.
    pub gate: Option<Kind>,
    pub second_engine: Option<Kind>,
    /// The step at which the first engine's process ends.
    pub crash_at: Option<u32>,
    pub on_new_reference: OnNewReference,
    /// When references are looked for once more after a run.
    pub look_back_seconds: u64,
    pub calm: bool,
    /// What changed in the configuration between plan and apply.
    pub config: Option<Kind>,
    /// Whether the gate that was shut while the plan was made is open again.
    pub reopened: bool,
    /// How the plan file is edited before it is applied.
    pub edit: Option<Kind>,
    /// `--foreign-plan`.
    pub accepts_foreign: bool,
    pub approval: Approval,
    /// The lists of one cluster never arrive once the plan is made.
    pub late: bool,
    /// Whether what was applied is undone, and what happens then.
    pub undo: Option<UndoProfile>,
    pub plan_life: PlanLife,
}

/// How long a plan can be applied, and how long it waits for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanLife {
    /// The default: its operator reads it for a minute at most.
    #[default]
    Minutes,
    /// `--valid-for 3d`: a change ticket, while others go on writing.
    Days,
}

impl PlanLife {
    /// How long a plan of days can be applied.
    pub const DAYS: SignedDuration = SignedDuration::from_hours(3 * 24);
}

/// What happens while an undo is planned and applied, besides the faults of the profile.
#[derive(Debug, Clone)]
pub struct UndoProfile {
    pub gate: Option<Kind>,
    pub config: Option<Kind>,
    pub reopened: bool,
    pub edit: Option<Kind>,
    pub crash_at: Option<u32>,
}

const CONFIG_CHANGES: [Kind; 9] = [
    Kind::ConfigReadOnly,
    Kind::ConfigKillSwitch,
    Kind::ConfigFreeze,
    Kind::ConfigInsecure,
    Kind::ConfigClock,
    Kind::ConfigAccess,
    Kind::ConfigDeny,
    Kind::ConfigTier,
    Kind::ConfigClass,
];

/// Removed gates are the most dangerous edit, and there are 351 pairs of fields: these come more often.
const EDITS: [Kind; 25] = [
    Kind::EditTier,
    Kind::EditGates,
    Kind::EditGates,
    Kind::EditTarget,
    Kind::EditChange,
    Kind::EditOrigin,
    Kind::EditBinding,
    Kind::EditEvidence,
    Kind::EditTimes,
    Kind::EditPlace,
    Kind::EditField,
    Kind::EditField,
    Kind::EditField,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
    Kind::EditPair,
];

/// Things that happen to a run as a whole, at most one in a history.
const INCIDENTS: [Kind; 10] = [
    Kind::KillSwitch,
    Kind::Frozen,
    Kind::Stopped,
    Kind::Expired,
    Kind::IdentitySwapped,
    Kind::ClockForward,
    Kind::ClockBack,
    Kind::DiskFull,
    Kind::DiskBroken,
    Kind::SealFails,
];

const GATES: [Kind; 13] = [
    Kind::GateReadOnly,
    Kind::GateKillSwitch,
    Kind::GateFreeze,
    Kind::GateIdentity,
    Kind::GateInsecure,
    Kind::GateClock,
    Kind::GateNotComplete,
    Kind::GateSettling,
    Kind::GateAccess,
    Kind::GatePolicy,
    Kind::GateCap,
    Kind::GateBrake,
    Kind::GateDependency,
];

const APPROVALS: [Approval; 8] = [
    Approval::Short,
    Approval::Whole,
    Approval::Confirmed,
    Approval::Confirmed,
    Approval::Confirmed,
    Approval::Confirmed,
    Approval::Confirmed,
    Approval::Confirmed,
];

impl FaultProfile {
    pub fn draw(rng: &mut SeededRng) -> Self {
        let calm = Self {
            write_faults: 0,
            read_faults: 0,
            moves: 0,
            latency: false,
            incident: None,
            gate: None,
            second_engine: None,
            crash_at: None,
            on_new_reference: OnNewReference::Report,
            look_back_seconds: 1,
            calm: true,
            config: None,
            reopened: false,
            edit: None,
            accepts_foreign: false,
            approval: Approval::Confirmed,
            late: false,
            undo: None,
            plan_life: PlanLife::Minutes,
        };
        if rng.permille(60) {
            return Self { undo: rng.permille(500).then(UndoProfile::calm), ..calm };
        }
        if rng.permille(30) {
            return Self { late: true, ..calm };
        }
        let crash = rng.permille(250);
        Self {
            write_faults: *rng.pick(&[0, 100, 200, 400, 700]),
            read_faults: *rng.pick(&[0, 0, 0, 15, 60]),
            moves: *rng.pick(&[0, 20, 80, 300]),
            latency: rng.permille(300),
            incident: rng.permille(400).then(|| *rng.pick(&INCIDENTS)),
            gate: rng.permille(140).then(|| *rng.pick(&GATES)),
            second_engine: rng.permille(150).then(|| *rng.pick(&[Kind::SamePlanTwice, Kind::OverlappingPlans])),
            crash_at: crash.then(|| u32::try_from(rng.below(110)).expect("a small number")),
            on_new_reference: if rng.permille(700) { OnNewReference::Restore } else { OnNewReference::Report },
            look_back_seconds: *rng.pick(&[1, 1, 2, 30]),
            calm: false,
            config: rng.permille(150).then(|| *rng.pick(&CONFIG_CHANGES)),
            reopened: rng.permille(500),
            edit: rng.permille(330).then(|| *rng.pick(&EDITS)),
            accepts_foreign: rng.permille(700),
            approval: *rng.pick(&APPROVALS),
            late: false,
            undo: rng.permille(200).then(|| UndoProfile::draw(rng)),
            plan_life: PlanLife::Minutes,
        }
    }

    /// A world that moves all the time behind an API that works.
    pub fn hostile() -> Self {
        Self {
            write_faults: 0,
            read_faults: 0,
            moves: 300,
            latency: false,
            incident: None,
            gate: None,
            second_engine: None,
            crash_at: None,
            on_new_reference: OnNewReference::Restore,
            look_back_seconds: 30,
            calm: false,
            config: None,
            reopened: false,
            edit: None,
            accepts_foreign: false,
            approval: Approval::Confirmed,
            late: false,
            undo: None,
            plan_life: PlanLife::Minutes,
        }
    }
}

impl UndoProfile {
    fn calm() -> Self {
        Self { gate: None, config: None, reopened: false, edit: None, crash_at: None }
    }

    fn draw(rng: &mut SeededRng) -> Self {
        let crash = rng.permille(200);
        Self {
            gate: rng.permille(100).then(|| *rng.pick(&GATES)),
            config: rng.permille(150).then(|| *rng.pick(&CONFIG_CHANGES)),
            reopened: rng.permille(500),
            edit: rng.permille(330).then(|| *rng.pick(&EDITS)),
            crash_at: crash.then(|| u32::try_from(rng.below(60)).expect("a small number")),
        }
    }
}
