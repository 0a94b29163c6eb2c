//! Mouse events, by the areas drawn last.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::{act, layers, lists, moving, palette};
use crate::console::effect::Effects;
use crate::console::hits::{Hit, HitMap, Tab};
use crate::console::keymap::Action;
use crate::console::model::{CheckColumn, Layer, Model, Pane, ScreenId};

/// Rows per wheel notch.
const WHEEL: isize = 3;

pub fn take(model: &mut Model, mouse: MouseEvent, hits: &HitMap) -> Effects {
    let hit = hits.at(mouse.column, mouse.row);
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => click(model, hit),
        MouseEventKind::ScrollDown => wheel(model, hit, WHEEL),
        MouseEventKind::ScrollUp => wheel(model, hit, -WHEEL),
        MouseEventKind::Drag(MouseButton::Left) if model.dragging => drag(model, mouse.column),
        MouseEventKind::Up(_) => {
            model.dragging = false;
            Effects::default()
        }
        MouseEventKind::Down(_)
        | MouseEventKind::Drag(_)
        | MouseEventKind::Moved
        | MouseEventKind::ScrollLeft
        | MouseEventKind::ScrollRight => Effects::default(),
    }
}

fn click(model: &mut Model, hit: Option<Hit>) -> Effects {
    match (hit, model.layer.is_some()) {
        (Some(Hit::Item(place)), true) => click_item(model, place),
        // A click outside a layer closes it; a click on it does nothing.
        (Some(Hit::Layer), true) => Effects::default(),
        // What needs a confirmation is confirmed by keys.
        (Some(Hit::Hint(action)), true) if !matches!(model.layer, Some(Layer::Approval(_) | Layer::Plugin(_))) => {
            layers::act(model, action)
        }
        (Some(Hit::Hint(action)), false) => act::act(model, action),
        (_, true) if matches!(model.layer, Some(Layer::Approval(_))) => Effects::default(),
        (_, true) => layers::act(model, Action::Back),
        (Some(Hit::Tab(tab)), false) => click_tab(model, tab),
        (Some(Hit::Row(index)), false) => {
            model.pane = Pane::List;
            moving::go_to(model, index)
        }
        (Some(Hit::Column(column)), false) => sort_by(model, column),
        (Some(Hit::Detail), false) => moving::pane(model, Pane::Detail),
        (Some(Hit::List), false) => moving::pane(model, Pane::List),
        (Some(Hit::Divider), false) => {
            model.dragging = true;
            Effects::default()
        }
        (Some(Hit::Item(_) | Hit::Layer) | None, false) => Effects::default(),
    }
}

fn click_item(model: &mut Model, place: usize) -> Effects {
    if let Some(Layer::Palette(picker) | Layer::Picker(picker)) = &mut model.layer {
        picker.cursor = place;
        return palette::choose(model);
    }
    Effects::default()
}

fn click_tab(model: &mut Model, tab: Tab) -> Effects {
    let action = match tab {
        Tab::Fleet => Action::GoFleet,
        Tab::Check(index) => return act::go(model, ScreenId::Check(index)),
        Tab::Plan => Action::GoPlan,
        Tab::Activity => Action::GoActivity,
    };
    act::act(model, action)
}

/// Sorts by a column; a second click reverses the order.
fn sort_by(model: &mut Model, column: usize) -> Effects {
    if model.check().is_none() {
        return Effects::default();
    }
    lists::sort_or_reverse(model, CheckColumn::numbered(column))
}

fn wheel(model: &mut Model, hit: Option<Hit>, by: isize) -> Effects {
    if model.layer.is_some() {
        return layers::act(model, if by < 0 { Action::Up } else { Action::Down });
    }
    let before = model.pane;
    match hit {
        Some(Hit::Detail) => model.pane = Pane::Detail,
        Some(Hit::Row(_) | Hit::List | Hit::Column(_)) => model.pane = Pane::List,
        Some(Hit::Tab(_) | Hit::Hint(_) | Hit::Divider | Hit::Item(_) | Hit::Layer) | None => {}
    }
    let effects = moving::wheel(model, by);
    model.pane = before;
    effects
}

fn drag(model: &mut Model, column: u16) -> Effects {
    let percent = u32::from(column) * 100 / u32::from(model.area.width.max(1));
    let by = i32::try_from(percent).unwrap_or(50) - i32::from(model.split);
    model.split = crate::console::layout::moved(model.split, i16::try_from(by).unwrap_or(0));
    Effects::redraw()
}
