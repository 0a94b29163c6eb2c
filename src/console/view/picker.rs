//! Pickers and prompts.

use ratatui::layout::{Position, Rect};

use super::paint::{Painter, centered};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{Model, Picker, Prompt, PromptWhat};
use crate::console::terminal::Cursor;
use crate::console::theme::Role;

const WIDTH: u16 = 76;
const ROWS: u16 = 14;

pub fn draw(picker: &Picker, area: Rect, painter: &mut Painter<'_>) {
    let rows = u16::try_from(picker.items.len()).unwrap_or(ROWS).clamp(1, ROWS);
    let place = centered(area, WIDTH.min(area.width.saturating_sub(2)), (rows + 3).min(area.height));
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let right = Line::of(format!("{} of {}", picker.found.len(), picker.items.len()), Role::Muted);
    let inside = painter.boxed(place, &Line::of(picker.title, Role::Title), &right);
    input(inside, "> ", picker.input.value(), picker.input.visual_cursor(), painter);
    let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
    if picker.found.is_empty() {
        painter.text(list.x + 1, list.y, list.width, "no match", Role::Muted);
    }
    let first = picker.cursor.saturating_sub(usize::from(list.height).saturating_sub(1));
    for (place, y) in (first..picker.found.len()).zip(list.y..list.bottom()) {
        let item = &picker.items[picker.found[place]];
        let line = Rect { y, height: 1, ..list };
        let note = Line::of(format!("{} ", item.note), Role::Muted);
        let end = painter.line_right(line.right(), y, line.width / 2, &note);
        painter.text(line.x + 1, y, end.saturating_sub(line.x + 2), &item.label, Role::Text);
        if place == picker.cursor {
            painter.select(line);
        }
        painter.hit(line, Hit::Item(place));
    }
}

/// The prompt at the bottom of the screen, in place of the hints.
pub fn draw_prompt(model: &Model, prompt: &Prompt, layout: &Layout, painter: &mut Painter<'_>) {
    let width = usize::from(layout.hints.width.saturating_sub(2));
    let (question, label) = match prompt.what {
        PromptWhat::Filter => (Vec::new(), "/"),
        PromptWhat::AcceptReason(_) | PromptWhat::AcceptUntil { .. } | PromptWhat::Form { .. } | PromptWhat::Quit => {
            (wrapped(&prompt.title, width, 2, Role::Title), "> ")
        }
    };
    let height = u16::try_from(question.len()).unwrap_or(0) + 2;
    let area = Rect { y: (layout.hints.y + 1).saturating_sub(height), height, ..layout.hints };
    painter.clear(area);
    painter.hit(area, Hit::Layer);
    painter.lines(Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }, &question, 0);
    let line = area.bottom().saturating_sub(2);
    let (typed, cursor) = match prompt.what {
        // It may be a token.
        PromptWhat::Form { .. } => {
            (painter.glyphs().hidden.repeat(prompt.input.value().chars().count()), prompt.input.cursor())
        }
        PromptWhat::Filter | PromptWhat::AcceptReason(_) | PromptWhat::AcceptUntil { .. } | PromptWhat::Quit => {
            (prompt.input.value().to_owned(), prompt.input.visual_cursor())
        }
    };
    input(
        Rect { x: area.x + 1, y: line, width: area.width.saturating_sub(2), height: 1 },
        label,
        &typed,
        cursor,
        painter,
    );
    let below = match (&prompt.problem, &prompt.what) {
        (Some(problem), _) => Line::of(problem.as_str(), Role::Error),
        (None, PromptWhat::Filter) => filter_count(model),
        (None, PromptWhat::Quit) => keys_line(model, "submit", "continue the apply"),
        (None, PromptWhat::AcceptReason(_) | PromptWhat::AcceptUntil { .. } | PromptWhat::Form { .. }) => {
            keys_line(model, "submit", "cancel")
        }
    };
    painter.line(area.x + 1, line + 1, area.width.saturating_sub(2), &below);
}

/// The keys of a prompt.
fn keys_line(model: &Model, submit: &str, cancel: &str) -> Line {
    let text = format!("{}: {submit}  {}: {cancel}", model.key(Action::Open), model.key(Action::Back));
    Line::of(text, Role::HintText)
}

fn filter_count(model: &Model) -> Line {
    let (shown, total, help) = match model.check() {
        Some(check) => {
            let help = "   fuzzy words; state:extra cluster:eu* verdict:orphan age>5m name~client !class:dev";
            (check.order.shown(), check.order.total(), help)
        }
        None => (model.fleet.rows().len(), model.fleet.total(), "   words in name, class or source"),
    };
    Line::of(format!("{shown} of {total}"), Role::Filter).and(help, Role::HintText)
}

fn input(area: Rect, label: &str, text: &str, cursor: usize, painter: &mut Painter<'_>) {
    let x = painter.text(area.x, area.y, area.width, label, Role::Filter);
    let space = area.right().saturating_sub(x + 1);
    // The end of the typed text stays visible.
    let skip = cursor.saturating_sub(usize::from(space));
    let shown: String = text.chars().skip(skip).collect();
    painter.text(x, area.y, space, &shown, Role::Text);
    let at = x + u16::try_from(cursor - skip).unwrap_or(0);
    painter.cursor = Cursor::At(Position { x: at.min(area.right().saturating_sub(1)), y: area.y });
}
