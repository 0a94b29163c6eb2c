//! Key presses.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tui_input::{Input, InputRequest};

use super::{act, layers};
use crate::console::effect::Effects;
use crate::console::keymap::{Action, Resolution, Scope, Stroke};
use crate::console::layout;
use crate::console::model::{Layer, Model};

pub fn press(model: &mut Model, key: KeyEvent) -> Effects {
    if key.kind == KeyEventKind::Release {
        return Effects::default();
    }
    // A dialog that is not visible cannot be answered.
    if let Some(Layer::Approval(approval)) = &model.layer
        && (!approval.listens(model.now) || !layout::fits_dialog(model.area))
    {
        return Effects::default();
    }
    if let Some(Layer::Plugin(dialog)) = &model.layer
        && (!dialog.listens(model.now) || !layout::fits_dialog(model.area))
    {
        return Effects::default();
    }
    let scope = model.scope();
    if is_typed_into_nothing(model, key) {
        return Effects::default();
    }
    // A message stays until the next key, which still works.
    let had_message = model.toasts.iter().next().is_some();
    model.toasts.clear();
    model.pressed.push(Stroke::from(key));
    let mut effects = resolve(model, scope, key);
    effects.redraw |= had_message;
    effects
}

fn resolve(model: &mut Model, scope: Scope, key: KeyEvent) -> Effects {
    match model.keys.resolve(scope, &model.pressed) {
        Resolution::Act(action) => {
            forget_pressed(model);
            act::act(model, action)
        }
        Resolution::More(follow) => {
            model.follow = follow;
            Effects::redraw()
        }
        Resolution::Nothing => {
            let was_sequence = model.pressed.len() > 1;
            forget_pressed(model);
            if scope.takes_text() && !was_sequence {
                return layers::type_key(model, key);
            }
            Effects { redraw: was_sequence, ..Effects::default() }
        }
    }
}

/// Whether a letter was meant for a prompt that did not open, so that it does not act.
fn is_typed_into_nothing(model: &Model, key: KeyEvent) -> bool {
    let is_letter = matches!(key.code, KeyCode::Char(_)) && (key.modifiers - KeyModifiers::SHIFT).is_empty();
    is_letter && model.layer.is_none() && model.refused_until.is_some_and(|until| model.now < until)
}

/// Pasted text is typed into text fields only: a paste never runs actions.
pub fn paste(model: &mut Model, text: &str) -> Effects {
    if matches!(model.layer, Some(Layer::Approval(_))) {
        model.toasts.info("Paste is disabled: type the name.", model.now);
        return Effects::redraw();
    }
    if !model.scope().takes_text() {
        let text = format!("nothing to paste into; {}: filter", model.key(Action::Filter));
        model.toasts.info(text, model.now);
        return Effects::redraw();
    }
    let mut effects = Effects::default();
    for character in text.chars().filter(|character| !character.is_control()) {
        let key = KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE);
        effects = layers::type_key(model, key);
    }
    effects
}

/// Edits a text field.
pub fn edit(input: &mut Input, key: KeyEvent) {
    let held = key.modifiers - KeyModifiers::SHIFT;
    let request = match (key.code, held) {
        (KeyCode::Char(character), KeyModifiers::NONE) => InputRequest::InsertChar(character),
        (KeyCode::Backspace, KeyModifiers::NONE) => InputRequest::DeletePrevChar,
        (KeyCode::Delete, _) => InputRequest::DeleteNextChar,
        (KeyCode::Left, KeyModifiers::NONE) => InputRequest::GoToPrevChar,
        (KeyCode::Right, KeyModifiers::NONE) => InputRequest::GoToNextChar,
        (KeyCode::Left, KeyModifiers::CONTROL) => InputRequest::GoToPrevWord,
        (KeyCode::Right, KeyModifiers::CONTROL) => InputRequest::GoToNextWord,
        (KeyCode::Home, _) | (KeyCode::Char('a'), KeyModifiers::CONTROL) => InputRequest::GoToStart,
        (KeyCode::End, _) | (KeyCode::Char('e'), KeyModifiers::CONTROL) => InputRequest::GoToEnd,
        (KeyCode::Char('u'), KeyModifiers::CONTROL) => InputRequest::DeleteFromStart,
        (KeyCode::Char('k'), KeyModifiers::CONTROL) => InputRequest::DeleteTillEnd,
        (KeyCode::Char('w'), KeyModifiers::CONTROL) | (KeyCode::Backspace, _) => InputRequest::DeletePrevWord,
        _ => return,
    };
    input.handle(request);
}

fn forget_pressed(model: &mut Model) {
    model.pressed.clear();
    model.follow.clear();
}
