//! Cursor, scrolling, panes and marks.

use super::{references, timeline};
use crate::console::effect::Effects;
use crate::console::model::{Model, Pane, ScreenId};
use crate::console::view;

/// Runs code on the list of the screen and its rows, whatever their types.
macro_rules! with_list {
    ($model:ident, |$list:ident, $rows:ident| $does:expr) => {
        match $model.screen() {
            ScreenId::Fleet => {
                let ($list, $rows) = (&mut $model.fleet.list, &$model.fleet.order);
                $does;
            }
            ScreenId::Check(place) => {
                if let Some(check) = $model.checks.get_mut(place) {
                    let ($list, $rows) = (&mut check.list, &check.order);
                    $does;
                }
            }
            ScreenId::Plan => {
                if let Some(plan) = &mut $model.plan {
                    let ($list, $rows) = plan.list_and_rows();
                    $does;
                    plan.scroll = 0;
                }
            }
            ScreenId::Activity => {
                let ($list, $rows) = $model.activity.list_and_rows();
                $does;
            }
            ScreenId::Expiry => {
                let ($list, $rows) = (&mut $model.expiry.list, &$model.expiry.order);
                $does;
            }
            ScreenId::Object | ScreenId::Logs | ScreenId::Timeline => {}
        }
    };
}

pub fn step(model: &mut Model, by: isize) -> Effects {
    if references::has_cursor(model) {
        return references::step(model, by);
    }
    if model.screen() == ScreenId::Timeline {
        return timeline::step(model, by);
    }
    if scrolls(model) {
        return scroll(model, by);
    }
    with_list!(model, |list, rows| list.step(rows, by));
    Effects::redraw()
}

pub fn page(model: &mut Model, pages: isize) -> Effects {
    if scrolls(model) {
        let lines = model.layout().map_or(1, |layout| layout.detail_lines().saturating_sub(1).max(1));
        return scroll(model, pages.saturating_mul(isize::try_from(lines).unwrap_or(1)));
    }
    with_list!(model, |list, rows| list.page(rows, pages));
    Effects::redraw()
}

pub fn top(model: &mut Model) -> Effects {
    go_to(model, 0)
}

pub fn bottom(model: &mut Model) -> Effects {
    go_to(model, usize::MAX)
}

/// Moves the cursor to an index, or to the last row.
pub fn go_to(model: &mut Model, index: usize) -> Effects {
    if scrolls(model) {
        *scroll_of(model) = index;
        return clamp_scroll(model);
    }
    with_list!(model, |list, rows| list.go_to_index(rows, index));
    Effects::redraw()
}

/// Scrolls by the wheel.
pub fn wheel(model: &mut Model, by: isize) -> Effects {
    if scrolls(model) {
        return scroll(model, by);
    }
    with_list!(model, |list, rows| list.scroll(rows, by));
    Effects::redraw()
}

/// Focuses a pane, where there are two.
pub fn pane(model: &mut Model, pane: Pane) -> Effects {
    match model.screen() {
        ScreenId::Fleet | ScreenId::Check(_) | ScreenId::Plan => {
            with_list!(model, |list, rows| list.hold(rows));
            model.pane = pane;
        }
        ScreenId::Activity | ScreenId::Object | ScreenId::Logs | ScreenId::Expiry | ScreenId::Timeline => {}
    }
    Effects::redraw()
}

pub fn other_pane(model: &mut Model) -> Effects {
    let other = match model.pane {
        Pane::List => Pane::Detail,
        Pane::Detail => Pane::List,
    };
    pane(model, other)
}

/// Marks the row and moves to the next.
pub fn mark(model: &mut Model) -> Effects {
    with_list!(model, |list, rows| {
        list.toggle_mark(rows);
        list.step(rows, 1);
    });
    Effects::redraw()
}

pub fn mark_all(model: &mut Model) -> Effects {
    with_list!(model, |list, rows| list.mark_all(rows));
    Effects::redraw()
}

pub fn mark_range(model: &mut Model) -> Effects {
    with_list!(model, |list, rows| list.mark_range(rows));
    Effects::redraw()
}

pub fn unmark(model: &mut Model) -> Effects {
    with_list!(model, |list, _rows| list.unmark_all());
    Effects::redraw()
}

/// Whether movement scrolls text instead of a cursor.
pub fn scrolls(model: &Model) -> bool {
    match model.screen() {
        ScreenId::Object | ScreenId::Logs => true,
        ScreenId::Fleet | ScreenId::Check(_) | ScreenId::Plan => model.pane == Pane::Detail,
        ScreenId::Activity | ScreenId::Expiry | ScreenId::Timeline => false,
    }
}

fn scroll_of(model: &mut Model) -> &mut usize {
    match (model.screen(), &mut model.plan) {
        (ScreenId::Check(_), _) => &mut model.detail.scroll,
        (ScreenId::Plan, Some(plan)) => &mut plan.scroll,
        (
            ScreenId::Fleet
            | ScreenId::Plan
            | ScreenId::Activity
            | ScreenId::Object
            | ScreenId::Logs
            | ScreenId::Expiry
            | ScreenId::Timeline,
            _,
        ) => &mut model.scroll,
    }
}

fn scroll(model: &mut Model, by: isize) -> Effects {
    // On a screen that has grown, the last position is before the one that was.
    clamp_scroll(model);
    let scroll = scroll_of(model);
    *scroll = scroll.saturating_add_signed(by);
    clamp_scroll(model)
}

/// Scrolls the text of the screen to a line.
pub fn scroll_to(model: &mut Model, line: usize) {
    *scroll_of(model) = line;
    clamp_scroll(model);
}

/// Limits scrolling to the last page.
fn clamp_scroll(model: &mut Model) -> Effects {
    let lines = view::text_length(model);
    let page = model.layout().map_or(1, |layout| layout.detail_lines());
    let most = lines.saturating_sub(page);
    let scroll = scroll_of(model);
    *scroll = (*scroll).min(most);
    Effects::redraw()
}
