//! The tour of the demo: starting and ending it.

use super::act::say;
use crate::console::effect::Effects;
use crate::console::keymap::Action;
use crate::console::model::{Model, Standing, Tour};

/// Whether this fleet has a tour: its steps are about what the demo always has.
fn is_offered(model: &Model) -> bool {
    matches!(&model.standing, Standing::Running(start) if start.offers_tour)
}

/// The sentence that offers the tour, once, after the keys are known.
pub fn offer(model: &mut Model) {
    if is_offered(model) {
        let text = format!("New here? {} starts a tour.", model.screen_key(Action::GoTour));
        model.toasts.info(text, model.now);
    }
}

pub fn start(model: &mut Model) -> Effects {
    if !is_offered(model) {
        return say(model, "The tour is part of trueup demo.");
    }
    model.tour = Some(Tour::default());
    Effects::redraw()
}
