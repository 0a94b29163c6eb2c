//! Keys of the search in a text.

use crossterm::event::KeyEvent;

use super::act::say;
use super::{keys, moving};
use crate::console::effect::Effects;
use crate::console::keymap::Action;
use crate::console::model::{Finder, FinderPhase, FinderPlace, Layer, Model};
use crate::console::view;

/// Lines shown above a match.
const CONTEXT: usize = 2;

/// Starts a search in the help, or in the text of the screen.
pub fn open(model: &mut Model) -> Effects {
    let place = match &model.layer {
        Some(Layer::Help { .. }) => FinderPlace::Help,
        Some(_) => return Effects::default(),
        None => FinderPlace::Screen,
    };
    model.finder = Some(Finder::new(place));
    Effects::redraw()
}

/// An action while the search is typed.
#[expect(clippy::wildcard_enum_match_arm, reason = "a search reacts to these actions only")]
pub fn act(model: &mut Model, action: Action) -> Effects {
    match action {
        Action::Open => {
            let is_empty = model.finder.as_ref().is_none_or(|finder| finder.input.value().is_empty());
            match &mut model.finder {
                Some(finder) if !is_empty => finder.phase = FinderPhase::Kept,
                Some(_) | None => model.finder = None,
            }
        }
        Action::Back => model.finder = None,
        Action::Up => return step(model, -1),
        Action::Down => return step(model, 1),
        _ => {}
    }
    Effects::redraw()
}

/// A typed key: the first match from here on is shown at once.
pub fn type_key(model: &mut Model, key: KeyEvent) -> Effects {
    let Some(finder) = &mut model.finder else { return Effects::default() };
    keys::edit(&mut finder.input, key);
    finder.at = 0;
    show(model);
    Effects::redraw()
}

/// Goes to the next or previous match, around the end.
pub fn step(model: &mut Model, by: isize) -> Effects {
    if model.finder.is_none() {
        let text = format!("nothing to search for; {}: search", model.key(Action::Filter));
        return say(model, &text);
    }
    let count = view::found(model).len();
    if let Some(finder) = &mut model.finder
        && let (Ok(count), Ok(at)) = (isize::try_from(count), isize::try_from(finder.at))
        && count > 0
    {
        finder.at = usize::try_from((at + by).rem_euclid(count)).unwrap_or(0);
    }
    show(model);
    Effects::redraw()
}

/// Ends the search in this text; returns whether there was one.
pub fn close(model: &mut Model, place: FinderPlace) -> bool {
    model.finder.take_if(|finder| finder.place == place).is_some()
}

/// Scrolls to the current match.
fn show(model: &mut Model) {
    let found = view::found(model);
    let Some(finder) = &model.finder else { return };
    let (place, Some(found)) = (finder.place, found.get(finder.at)) else { return };
    let line = found.line.saturating_sub(CONTEXT);
    match (place, &mut model.layer) {
        (FinderPlace::Help, Some(Layer::Help { scroll })) => *scroll = line,
        (FinderPlace::Help, _) => {}
        (FinderPlace::Screen, _) => moving::scroll_to(model, line),
    }
    let last = view::help_last(model);
    if let Some(Layer::Help { scroll }) = &mut model.layer {
        *scroll = (*scroll).min(last);
    }
}
