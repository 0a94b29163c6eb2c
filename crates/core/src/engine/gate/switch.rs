//! Gates that shut for everything at once: read-only mode and the kill switch.

use super::{Blocked, Candidate, Conditions, GateInputs, GateName, blocked};

/// Whether writing was ruled out, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    Off,
    ByFlag,
    ByConfig,
}

/// Nothing is written in read-only mode.
pub fn read_only(_: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    read_only_mode(around.conditions)
}

pub fn read_only_mode(conditions: &Conditions) -> Option<Blocked> {
    match conditions.read_only {
        ReadOnly::Off => None,
        ReadOnly::ByFlag => Some(blocked(GateName::ReadOnly, "started with --read-only; leave the flag out to write")),
        ReadOnly::ByConfig => {
            let why = "the config says [safety] read_only = true; set it to false to write";
            Some(blocked(GateName::ReadOnly, why))
        }
    }
}

/// A file whose presence stops all writes.
pub fn kill_switch(_: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    kill_switch_file(around.conditions)
}

pub fn kill_switch_file(conditions: &Conditions) -> Option<Blocked> {
    let file = conditions.kill_switch.as_ref()?;
    Some(blocked(GateName::KillSwitch, format!("kill switch {file} exists; remove it to write")))
}
