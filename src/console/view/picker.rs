//! Pickers and prompts.

use ratatui::layout::{Position, Rect};

use super::paint::{Painter, centered};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{Choice, Model, Picker, Prompt, PromptWhat};
use crate::console::terminal::Cursor;
use crate::console::theme::Role;
use trueup_checks::FormInput;

const WIDTH: u16 = 76;
/// Width of a picker of letters.
const LETTERS_WIDTH: u16 = 34;
/// Narrow, so that the screen behind it shows what is tried out.
const PREVIEW_WIDTH: u16 = 34;
const ROWS: u16 = 14;

pub fn draw(model: &Model, picker: &Picker, area: Rect, painter: &mut Painter<'_>) {
    let rows = u16::try_from(picker.items.len()).unwrap_or(ROWS).clamp(1, ROWS);
    let key = |action: Action| model.key(action);
    let (width, typed, footer) = match &picker.choice {
        Choice::Search => (WIDTH, 1, String::new()),
        Choice::Letters(_) => (LETTERS_WIDTH, 0, format!("{} back", key(Action::Back))),
        Choice::Ticks(_) => (WIDTH, 1, format!("{} tick {} show", key(Action::Mark), key(Action::Open))),
        Choice::Preview(_) => (PREVIEW_WIDTH, 1, format!("{} undo", key(Action::Back))),
    };
    let place = centered(area, width.min(area.width.saturating_sub(2)), (rows + 2 + typed).min(area.height));
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let ticked = picker.ticked().count();
    let count = if ticked > 0 { ticked } else { picker.found.len() };
    let right = match typed {
        0 => Line::blank(),
        _ => Line::of(format!("{count} of {}", picker.items.len()), Role::Muted),
    };
    let inside = painter.boxed(place, &Line::of(picker.title, Role::Title), &right);
    if !footer.is_empty() {
        let footer = Line::of(format!(" {footer} "), Role::HintText);
        painter.line_right(place.right().saturating_sub(2), place.bottom().saturating_sub(1), place.width, &footer);
    }
    if typed > 0 {
        input(inside, "> ", picker.input.value(), picker.input.visual_cursor(), painter);
    }
    let list = Rect { y: inside.y + typed, height: inside.height.saturating_sub(typed), ..inside };
    if picker.found.is_empty() {
        painter.text(list.x + 1, list.y, list.width, "no match", Role::Muted);
    }
    let first = picker.cursor.saturating_sub(usize::from(list.height).saturating_sub(1));
    for (place, y) in (first..picker.found.len()).zip(list.y..list.bottom()) {
        let item = &picker.items[picker.found[place]];
        let line = Rect { y, height: 1, ..list };
        let note = Line::of(format!("{} ", item.note), Role::Muted);
        let end = painter.line_right(line.right(), y, line.width / 2, &note);
        let label = match &picker.choice {
            Choice::Search | Choice::Preview(_) => item.label.clone(),
            Choice::Letters(letters) => {
                let letter = letters.get(picker.found[place]).copied().unwrap_or(' ');
                format!("{letter}  {}", item.label)
            }
            Choice::Ticks(ticked) => {
                let tick = if ticked.contains(&picker.found[place]) { "x" } else { " " };
                format!("[{tick}] {}", item.label)
            }
        };
        painter.text(line.x + 1, y, end.saturating_sub(line.x + 2), &label, Role::Text);
        if place == picker.cursor {
            // Without colours the ground of the row is not seen everywhere.
            painter.text(line.x, y, 1, painter.glyphs().cursor, Role::Accent);
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
        PromptWhat::AcceptReason(_)
        | PromptWhat::AcceptUntil { .. }
        | PromptWhat::Form { .. }
        | PromptWhat::Table(_)
        | PromptWhat::SaveView
        | PromptWhat::Quit => (wrapped(&prompt.title, width, 2, Role::Title), "> "),
    };
    let height = u16::try_from(question.len()).unwrap_or(0) + 2;
    let area = Rect { y: (layout.hints.y + 1).saturating_sub(height), height, ..layout.hints };
    painter.clear(area);
    painter.hit(area, Hit::Layer);
    painter.lines(Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }, &question, 0);
    let line = area.bottom().saturating_sub(2);
    let field = Rect { x: area.x + 1, y: line, width: area.width.saturating_sub(2), height: 1 };
    let field = match prompt.what {
        PromptWhat::Filter => beside_count(model, field, painter),
        PromptWhat::AcceptReason(_)
        | PromptWhat::AcceptUntil { .. }
        | PromptWhat::Form { .. }
        | PromptWhat::Table(_)
        | PromptWhat::SaveView
        | PromptWhat::Quit => field,
    };
    input(field, label, &shown_input(model, prompt, painter), prompt.input.visual_cursor(), painter);
    let below = match (&prompt.problem, &prompt.what) {
        (Some(problem), _) => Line::of(problem.as_str(), Role::Error),
        (None, PromptWhat::Filter) => filter_help(model, painter),
        (None, PromptWhat::Quit) => keys_line(model, "submit", "continue the apply"),
        (
            None,
            PromptWhat::AcceptReason(_)
            | PromptWhat::AcceptUntil { .. }
            | PromptWhat::Form { .. }
            | PromptWhat::Table(_)
            | PromptWhat::SaveView,
        ) => keys_line(model, "submit", "cancel"),
    };
    painter.line(area.x + 1, line + 1, area.width.saturating_sub(2), &below);
}

/// What is typed; of a text that may be a token, its length.
fn shown_input(model: &Model, prompt: &Prompt, painter: &Painter<'_>) -> String {
    let is_secret = match &prompt.what {
        PromptWhat::Form { form, .. } => {
            let form = model.check().and_then(|check| check.description.forms.get(*form));
            form.is_none_or(|form| form.input == FormInput::Secret)
        }
        PromptWhat::Table(_) => true,
        PromptWhat::Filter
        | PromptWhat::AcceptReason(_)
        | PromptWhat::AcceptUntil { .. }
        | PromptWhat::SaveView
        | PromptWhat::Quit => false,
    };
    let typed = prompt.input.value();
    if is_secret { painter.glyphs().masked.repeat(typed.chars().count()) } else { typed.to_owned() }
}

/// The keys of a prompt.
fn keys_line(model: &Model, submit: &str, cancel: &str) -> Line {
    let text = format!("{}: {submit}  {}: {cancel}", model.key(Action::Open), model.key(Action::Back));
    Line::of(text, Role::HintText)
}

/// Draws the number of shown rows and the keys at the right; returns the space left for typing.
fn beside_count(model: &Model, area: Rect, painter: &mut Painter<'_>) -> Rect {
    let (shown, total) = match model.check() {
        Some(check) => (check.findings_shown(), check.findings_total()),
        None => (model.fleet.order.shown(), model.fleet.total()),
    };
    let separator = painter.glyphs().separator;
    let (complete, keep) = (model.key(Action::Complete), model.key(Action::Open));
    let keys = format!(" {separator} {complete} completes {separator} {keep} keeps");
    let count = Line::of(format!("{shown} of {total}"), Role::Filter).and(keys, Role::HintText);
    let start = painter.line_right(area.right(), area.y, area.width / 2, &count);
    Rect { width: start.saturating_sub(area.x + 1), ..area }
}

fn filter_help(model: &Model, painter: &Painter<'_>) -> Line {
    let separator = painter.glyphs().separator;
    let terms: &[&str] = match model.check() {
        Some(_) => &[
            "word contains",
            "~word fuzzy",
            "state:extra,drift",
            "class: ns: kind: verdict:",
            "name~part",
            "age>5m",
            "\"exact\"",
            "!not",
        ],
        None => &["word contains", "state:error", "class:prod", "cluster:eu*", "kind:guest", "!not"],
    };
    Line::of(terms.join(&format!(" {separator} ")), Role::HintText)
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
