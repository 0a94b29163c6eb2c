//! What of an input is not recorded.
//!
//! Invariants:
//! - text typed or pasted into a query of a check, which may be a token, is recorded as as many other characters;
//! - values that a user revealed are recorded as other characters, and frames that may show them have no digest.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::console::event::{Event, What};
use crate::console::model::{Layer, Model, Prompt, PromptWhat, ScreenId};
use crate::console::task::{ObjectSheet, TaskReply};
use trueup_core::redact::CredentialValues;

/// The event as it is recorded, where that is not the event itself.
pub fn redacted(event: &Event, model: &Model) -> Option<Event> {
    let what = match &event.what {
        What::Key(key) if takes_secrets(model) => What::Key(without_letter(*key)),
        What::Paste(text) if takes_secrets(model) => What::Paste(without_letters(text)),
        What::TaskReply(reply) => What::TaskReply(Box::new(without_values(reply, model)?)),
        What::Key(_)
        | What::Paste(_)
        | What::Mouse(_)
        | What::Resize { .. }
        | What::Focus(_)
        | What::Data(_)
        | What::Time => return None,
    };
    Some(Event { at: event.at, what })
}

/// Whether the screen may show revealed values.
pub fn shows_revealed_values(model: &Model) -> bool {
    model.screen() == ScreenId::Object
        && model.object.as_ref().is_some_and(|view| view.values == CredentialValues::Shown)
}

/// Whether typed text may be a token.
fn takes_secrets(model: &Model) -> bool {
    matches!(&model.layer, Some(Layer::Prompt(Prompt { what: PromptWhat::Form { .. }, .. })))
}

fn without_letter(key: KeyEvent) -> KeyEvent {
    let is_typed = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    let KeyCode::Char(letter) = key.code else { return key };
    if is_typed { KeyEvent { code: KeyCode::Char(other(letter)), ..key } } else { key }
}

fn without_letters(text: &str) -> String {
    text.chars().map(other).collect()
}

/// Another character that words and lines break at in the same way.
fn other(letter: char) -> char {
    match letter {
        letter if letter.is_whitespace() || letter.is_control() => letter,
        letter if letter.is_alphanumeric() => 'x',
        _ => '.',
    }
}

fn without_values(reply: &TaskReply, model: &Model) -> Option<TaskReply> {
    let TaskReply::Object { ask, object: Ok(sheet) } = reply else { return None };
    let view = model.object.as_ref()?;
    if view.values == CredentialValues::Masked || view.ask != *ask {
        return None;
    }
    let ObjectSheet { title, yaml, credentials, events } = (**sheet).clone();
    let yaml = yaml.iter().map(|line| without_letters(line)).collect();
    let sheet = ObjectSheet { title, yaml, credentials, events };
    Some(TaskReply::Object { ask: *ask, object: Ok(Box::new(sheet)) })
}
