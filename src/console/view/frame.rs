//! Parts of every screen: tabs, messages, and the next keys of a sequence.
//!
//! Elsewhere: the header (`header`), the hint line (`hints`).

use ratatui::layout::Rect;

use super::paint::Painter;
use super::text::{Line, wrap};
use crate::console::hits::{Hit, Tab};
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{CheckSheet, Model, ScreenId, ToastKind};
use crate::console::theme::Role;

/// From this width tabs have their whole titles and two counts.
const WHOLE_FROM: u16 = 100;
/// Width of the box with the next keys of a sequence.
const FOLLOW_WIDTH: u16 = 30;

/// A tab with its text.
struct TabText {
    tab: Tab,
    screen: ScreenId,
    title: String,
    counts: Line,
}

/// The tabs of all screens, each check with its worst counts.
pub fn tabs(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let mut tabs = all_tabs(model, area.width >= WHOLE_FROM, painter);
    let needed =
        |tab: &TabText, painter: &Painter<'_>| painter.width(&tab.title) + painter.width(&tab.counts.plain()) + 2;
    let space = usize::from(area.width.saturating_sub(1));
    let mut hidden = 0;
    let more = |hidden: usize| match (hidden, area.width >= WHOLE_FROM) {
        (0, _) => String::new(),
        (1, true) => "+1 tab".to_owned(),
        (hidden, true) => format!("+{hidden} tabs"),
        (hidden, false) => format!("+{hidden}"),
    };
    // The tab of the current screen is always visible.
    while tabs.iter().map(|tab| needed(tab, painter)).sum::<usize>() + more(hidden).len() > space {
        let Some(place) = tabs.iter().rposition(|tab| tab.screen != model.screen()) else { break };
        tabs.remove(place);
        hidden += 1;
    }
    let mut x = area.x + 1;
    for TabText { tab, screen, title, counts } in tabs {
        let is_here = screen == model.screen();
        let role = if is_here { Role::Title } else { Role::Muted };
        let (open, close) = if is_here { ("[", "]") } else { (" ", " ") };
        let mut line = Line::of(format!("{open}{title}"), role);
        line.0.extend(counts.0);
        let line = line.and(close, role);
        let begin = x;
        x = painter.line(x, area.y, area.right().saturating_sub(x), &line);
        painter.hit(Rect { x: begin, width: x - begin, ..area }, Hit::Tab(tab));
    }
    painter.text(x + 1, area.y, area.right().saturating_sub(x + 1), &more(hidden), Role::Muted);
}

fn all_tabs(model: &Model, whole: bool, painter: &Painter<'_>) -> Vec<TabText> {
    let tab = |tab: Tab, screen: ScreenId, action: Option<Action>, title: &str, counts: Line| {
        let key = action.and_then(|action| model.keys.keys(model.screen_scope(), action).into_iter().next());
        let title = key.map_or_else(|| title.to_owned(), |key| format!("{key} {title}"));
        TabText { tab, screen, title, counts }
    };
    let mut tabs = vec![tab(Tab::Fleet, ScreenId::Fleet, Some(Action::GoFleet), "Fleet", Line::blank())];
    for (place, check) in model.checks.iter().enumerate() {
        let title = if whole { check.description.title } else { check.description.short };
        let counts = counts(model, check, if whole { 2 } else { 1 }, painter);
        tabs.push(tab(Tab::Check(place), ScreenId::Check(place), Action::go_check(place), title, counts));
    }
    if model.plan.is_some() {
        tabs.push(tab(Tab::Plan, ScreenId::Plan, None, "Plan", Line::blank()));
    }
    let running = if model.activity.is_running() { " 1 running" } else { "" };
    let running = Line::of(running, Role::Warn);
    tabs.push(tab(Tab::Activity, ScreenId::Activity, None, "Activity", running));
    tabs
}

/// The worst counts of a check: `!1 +1`.
fn counts(model: &Model, check: &CheckSheet, most: usize, painter: &Painter<'_>) -> Line {
    let counts = model.findings.counts_of(check.name);
    let mut line = Line::blank();
    for (state, count) in counts.worst().take(most) {
        line = line.and(format!(" {}{count}", painter.glyphs().state(state)), Role::from(state));
    }
    line
}

/// Messages in place of the hints, the newest lowest; long ones take lines above.
pub fn toasts(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let width = usize::from(layout.hints.width.saturating_sub(2));
    let mut y = layout.hints.bottom();
    let toasts: Vec<_> = model.toasts.iter().collect();
    for toast in toasts.into_iter().rev() {
        let role = match toast.kind {
            ToastKind::Info => Role::Toast,
            ToastKind::Error => Role::ToastError,
        };
        let lines = wrap(&toast.message, width, 2);
        let height = u16::try_from(lines.len()).unwrap_or(1);
        if y < layout.main.y + height {
            break;
        }
        y -= height;
        for (line_y, text) in (y..).zip(&lines) {
            let line = Rect { y: line_y, height: 1, ..layout.hints };
            painter.clear(line);
            painter.fill(line, role);
            painter.text(line.x + 1, line_y, line.width.saturating_sub(1), text, role);
        }
    }
    painter.changes(model.toasts.next_end());
}

/// Possible next keys of a sequence.
pub fn which_key(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let height = u16::try_from(model.follow.len()).unwrap_or(1) + 2;
    let width = FOLLOW_WIDTH.min(layout.hints.width);
    let bottom = layout.hints.y;
    let area = Rect {
        x: layout.hints.right().saturating_sub(width + 1),
        y: bottom.saturating_sub(height),
        width,
        height: height.min(bottom),
    };
    painter.dialog(area);
    let title = model.pressed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let inside = painter.boxed(area, &Line::of(title, Role::Title), &Line::blank());
    for (y, (key, word)) in (inside.y..inside.bottom()).zip(&model.follow) {
        let line = Line::of(format!(" {key:<6}"), Role::HintKey).and(*word, Role::HintText);
        painter.line(inside.x, y, inside.width, &line);
    }
}
