//! The question whether a credential plugin may run.
//!
//! Invariants: cluster, command and arguments are shown in full and escaped, over several lines where necessary.

use ratatui::layout::Rect;

use super::paint::{Painter, centered};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::model::{Model, PluginDialog};
use crate::console::theme::Role;

const WIDTH_MAX: u16 = 96;
/// Lines beside the text: two borders.
const BESIDE: u16 = 2;

pub fn draw(model: &Model, dialog: &PluginDialog, area: Rect, painter: &mut Painter<'_>) {
    let width = WIDTH_MAX.min(area.width.saturating_sub(2));
    let lines = lines(model, dialog, usize::from(width.saturating_sub(4)));
    let height = u16::try_from(lines.len()).unwrap_or(area.height).saturating_add(BESIDE);
    let place = centered(area, width, height.min(area.height));
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let title = Line::of("Run this credential plugin?", Role::Title);
    let inside = painter.boxed(place, &title, &Line::blank());
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    painter.lines(inside, &lines, 0);
}

fn lines(model: &Model, dialog: &PluginDialog, width: usize) -> Vec<Line> {
    let PluginDialog { cluster, question, .. } = dialog;
    let arguments = if question.arguments.is_empty() { "(none)" } else { &question.arguments };
    let fields = [("cluster   ", cluster.as_str()), ("command   ", &question.command), ("arguments ", arguments)];
    let mut lines = Vec::new();
    for (name, value) in fields {
        lines.extend(wrapped(&format!("{name}{value}"), width, name.len(), Role::Text));
    }
    lines.push(Line::blank());
    let why = "The kubeconfig names this program for the login to the cluster. It runs as you, on this machine. The answer \
               is remembered for this command with these arguments.";
    lines.extend(wrapped(why, width, 0, Role::Muted));
    lines.push(Line::blank());
    let keys = format!("{}: run it and remember   {}: do not run", model.key(Action::Yes), model.key(Action::No));
    lines.extend(wrapped(&keys, width, 0, Role::HintText));
    lines
}
