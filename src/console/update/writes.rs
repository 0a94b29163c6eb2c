//! Switching writes off and on.
//!
//! Invariants: only what was switched off here is switched on here, and only after a question.

use super::act::say;
use crate::console::effect::Effects;
use crate::console::keymap::Action;
use crate::console::model::{Confirm, Layer, Model, ReadOnly, Writes};

/// Switches writes off, or asks whether to switch them on. What else disables writes is said.
pub fn toggle(model: &mut Model) -> Effects {
    match model.read_only() {
        None => {
            model.writes = Writes::SwitchedOff;
            let text = format!("Read-only. {}: switch writes on", model.key(Action::ReadOnly));
            say(model, &text)
        }
        Some(ReadOnly::SwitchedOff) => {
            model.layer = Some(Layer::Confirm(Confirm::SwitchWritesOn));
            Effects::redraw()
        }
        Some(fixed @ (ReadOnly::Flag | ReadOnly::Config | ReadOnly::Recording { .. } | ReadOnly::Replay { .. })) => {
            say(model, &format!("Read-only cannot be lifted here: {}", fixed.message()))
        }
    }
}

pub fn switch_on(model: &mut Model) -> Effects {
    model.writes = Writes::On;
    say(model, "Writes on: approved plans can be applied.")
}
