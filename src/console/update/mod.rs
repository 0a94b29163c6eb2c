//! Applies events to the model and returns their effects.
//!
//! Invariants: pure. The same model and event give the same model and effects.

mod accept;
mod act;
mod bundle;
mod data;
mod export;
mod finder;
mod keys;
mod layers;
mod lists;
mod mouse;
mod moving;
mod palette;
mod references;
mod repair;
mod replies;
mod timeline;
mod tour;
mod writes;

use super::effect::Effects;
use super::event::{Event, Focus, What};
use super::hits::HitMap;
use super::model::{Model, ScreenId};
use super::task::Task;

/// Applies one event.
pub fn update(model: &mut Model, event: Event, hits: &HitMap) -> Effects {
    model.now = event.at;
    let is_input = matches!(event.what, What::Key(_) | What::Mouse(_) | What::Paste(_));
    let mut effects = match event.what {
        What::Key(key) => keys::press(model, key),
        What::Mouse(mouse) => mouse::take(model, mouse, hits),
        What::Paste(text) => keys::paste(model, &text),
        What::Resize { width, height } => {
            (model.area.width, model.area.height) = (width, height);
            repair::see_approval(model);
            Effects::redraw()
        }
        What::Focus(focus) => {
            model.focus = focus;
            Effects { redraw: focus == Focus::Here, ..Effects::default() }
        }
        What::Data(update) => data::take(model, *update),
        What::TaskReply(reply) => replies::take(model, *reply),
        What::Time => Effects::redraw(),
    };
    if model.accepted.is_over(model.now) {
        let more = data::accept_again(model, model.accepted.rules().to_vec());
        effects.tasks.extend(more.tasks);
        effects.redraw = true;
    }
    model.toasts.expire(model.now);
    model.settle();
    if is_input && model.subject() == model.detail.subject {
        model.detail.hurry(model.now);
    }
    follow_cursor(model, &mut effects);
    effects
}

/// Requests the detail of the selected subject once the cursor rests on it, or once the user does something else there.
fn follow_cursor(model: &mut Model, effects: &mut Effects) {
    if !matches!(model.screen(), ScreenId::Check(_)) {
        return;
    }
    if model.detail.turn_to(model.subject(), model.now) {
        effects.redraw = true;
    }
    if model.detail.due_at().is_none_or(|at| at > model.now) {
        return;
    }
    let Some(subject) = model.detail.subject.clone() else { return };
    let ask = model.next_request();
    model.detail.request(ask);
    effects.task(Task::Explain { ask, subject: (*subject).clone() });
    if model.detail.needed.as_ref() != Some(&subject.cluster) {
        model.detail.needed = Some(subject.cluster.clone());
        effects.task(Task::Need(subject.cluster.clone()));
    }
}
