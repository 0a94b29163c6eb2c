//! How hostile one history is: drawn once from its seed.
//!
//! Always true: a calm history has no fault and no mover, so that everything its plan holds has to be done.

use trueup_core::engine::executor::OnNewReference;

use super::chance::Chance;
use super::kind::Kind;

/// How often things go wrong, in a thousand requests.
#[derive(Debug, Clone)]
pub struct Weather {
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
}

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

const GATES: [Kind; 12] = [
    Kind::GateReadOnly,
    Kind::GateKillSwitch,
    Kind::GateFreeze,
    Kind::GateIdentity,
    Kind::GateInsecure,
    Kind::GateNotComplete,
    Kind::GateSettling,
    Kind::GateAccess,
    Kind::GatePolicy,
    Kind::GateCap,
    Kind::GateBrake,
    Kind::GateDependency,
];

impl Weather {
    pub fn draw(chance: &mut Chance) -> Self {
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
        };
        if chance.permille(60) {
            return calm;
        }
        let crash = chance.permille(250);
        Self {
            write_faults: *chance.pick(&[0, 0, 100, 300, 700]),
            read_faults: *chance.pick(&[0, 0, 0, 15, 60]),
            moves: *chance.pick(&[0, 20, 80, 300]),
            latency: chance.permille(300),
            incident: chance.permille(300).then(|| *chance.pick(&INCIDENTS)),
            gate: chance.permille(80).then(|| *chance.pick(&GATES)),
            second_engine: chance.permille(150).then(|| *chance.pick(&[Kind::SamePlanTwice, Kind::OverlappingPlans])),
            crash_at: crash.then(|| u32::try_from(chance.below(70)).expect("a small number")),
            on_new_reference: if chance.permille(700) { OnNewReference::Restore } else { OnNewReference::Report },
            look_back_seconds: *chance.pick(&[1, 1, 2, 30]),
            calm: false,
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
        }
    }
}
