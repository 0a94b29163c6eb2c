//! The approval dialog.
//!
//! Invariants: every name is shown in full and escaped, over several lines where necessary.

use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Painter, centered};
use super::text::{Line, wrap, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap;
use crate::console::layout::DIALOG_MIN;
use crate::console::model::{Approval, Fits, Layer, Model};
use crate::console::terminal::Cursor;
use crate::console::theme::{GlyphSet, Role};
use trueup_core::engine::text::{Charset, printable};
use trueup_core::engine::{Action, Asks, Tier, Undo, Verb, consequences, short_id, source_line};

/// Lines of the box besides the list: two borders, the end of the list, a blank, two lines each for undo and the prompt,
/// the input, and its error.
const BESIDE: u16 = 10;
const WIDTH_MAX: u16 = 96;
const LINES_MAX: u16 = 20;
/// Column of the verb before an object's kind and name.
const VERB: usize = 8;

/// Visible part of the list.
pub fn fits(model: &Model) -> Fits {
    let (Some(Layer::Approval(approval)), Some(_)) = (&model.layer, model.layout()) else { return Fits::default() };
    let total = list_lines(model, approval, inner_width(model.area)).len();
    let most = model.area.height.max(DIALOG_MIN.1).saturating_sub(BESIDE + 2).min(LINES_MAX);
    Fits { lines: usize::from(most).min(total), total }
}

pub fn draw(model: &Model, approval: &Approval, area: Rect, painter: &mut Painter<'_>) {
    let Some(plan) = &model.plan else { return };
    let question = approval.question();
    let width = inner_width(area);
    let Fits { lines: shown, total } = fits(model);
    let mut below = undo_lines(&actions(model, approval), &plan.plan.id, width);
    below.extend(prompt(question.tier, &question.asks, &model.key(keymap::Action::Open), width));
    let height = u16::try_from(shown + below.len()).unwrap_or(area.height) + 6;
    let place = centered(area, outer_width(area), height);
    painter.dialog(place);
    painter.hit(place, Hit::Layer);
    let inside = painter.boxed(place, &title(model, approval), &step(approval, &plan.plan.id));
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let shown = u16::try_from(shown).unwrap_or(0);
    painter.lines(Rect { height: shown, ..inside }, &list_lines(model, approval, width), approval.scroll);
    let mut y = inside.y + shown;
    let left = total.saturating_sub(approval.scroll + usize::from(shown));
    let end = match left {
        0 => Line::of("end of list", Role::Muted),
        1 => Line::of("1 more line below: scroll down", Role::Warn),
        left => Line::of(format!("{left} more lines below: scroll down"), Role::Warn),
    };
    painter.line_right(inside.right(), y, inside.width, &end);
    y += 2;
    for line in &below {
        painter.line(inside.x, y, inside.width, line);
        y += 1;
    }
    let x = painter.text(inside.x, y, inside.width, "> ", Role::Accent);
    let x = painter.text(x, y, inside.right().saturating_sub(x), &approval.typed, Role::Accent);
    painter.cursor = Cursor::At(Position { x: x.min(inside.right().saturating_sub(1)), y });
    if let Some(wrong) = &approval.wrong {
        painter.text(inside.x, y + 1, inside.width, wrong, Role::Error);
    }
}

fn outer_width(area: Rect) -> u16 {
    WIDTH_MAX.min(area.width.saturating_sub(2))
}

fn inner_width(area: Rect) -> usize {
    usize::from(outer_width(area).saturating_sub(4))
}

fn actions<'m>(model: &'m Model, approval: &Approval) -> Vec<&'m Action> {
    // In plan order, which is the order of execution.
    let all = model.plan.iter().flat_map(|plan| plan.order().iter().filter_map(|id| plan.action(id)));
    all.filter(|action| approval.question().actions.contains(&action.id)).collect()
}

fn title(model: &Model, approval: &Approval) -> Line {
    let question = approval.question();
    let targets = model.plan.iter().flat_map(|plan| &plan.plan.targets);
    let class = targets.filter(|target| target.cluster == question.cluster).map(|target| target.class).next();
    let class = class.unwrap_or_default();
    let things = match actions(model, approval).iter().all(|action| action.target.cloud.is_some()) {
        true => Things { one: "cloud resource", many: "cloud resources", of: " of " },
        false => Things { one: "object", many: "objects", of: " in " },
    };
    Line::of(heading(question.deletions, question.actions.len(), &things), Role::Title)
        .and(things.of, Role::Text)
        .and(question.cluster.as_str(), Role::Accent)
        .and(format!(" ({})", class.as_str()), Role::from(class))
}

fn step(approval: &Approval, plan: &str) -> Line {
    let step = match approval.questions.len() {
        1 => String::new(),
        count => format!("cluster {} of {count}", approval.at + 1),
    };
    match &approval.question().asks {
        // Part of the confirmation.
        Asks::ClusterNameAndId { .. } if step.is_empty() => Line::of(format!("plan {}", short_id(plan)), Role::Muted),
        Asks::ClusterNameAndId { .. } => Line::of(format!("plan {}, {step}", short_id(plan)), Role::Muted),
        Asks::Enter | Asks::Deletions(_) | Asks::ClusterName(_) if step.is_empty() => Line::blank(),
        Asks::Enter | Asks::Deletions(_) | Asks::ClusterName(_) => Line::of(step, Role::Muted),
    }
}

/// Nouns for the actions' targets and their cluster.
struct Things {
    one: &'static str,
    many: &'static str,
    of: &'static str,
}

fn heading(deletions: usize, count: usize, things: &Things) -> String {
    let things = |count: usize| format!("{count} {}", if count == 1 { things.one } else { things.many });
    match (deletions, count) {
        (0, count) => format!("Change {}", things(count)),
        (deletions, count) if deletions == count => format!("Delete {}", things(count)),
        (deletions, count) => format!("Delete {} and change {}", things(deletions), count - deletions),
    }
}

fn list_lines(model: &Model, approval: &Approval, width: usize) -> Vec<Line> {
    let charset = match model.signs {
        GlyphSet::Unicode => Charset::Unicode,
        GlyphSet::Plain => Charset::Ascii,
    };
    let actions = actions(model, approval);
    let kinds = actions.iter().map(|action| printable(&action.target.kind, charset).width()).max().unwrap_or(0);
    actions.into_iter().flat_map(|action| action_lines(action, kinds, width, charset)).collect()
}

fn action_lines(action: &Action, kinds: usize, width: usize, charset: Charset) -> Vec<Line> {
    let role = if action.verb() == Verb::Delete { Role::Extra } else { Role::Drift };
    let kind = printable(&action.target.kind, charset);
    let kind = format!("{kind}{}  ", " ".repeat(kinds.saturating_sub(kind.width())));
    let name = printable(&action.target.place(), charset);
    let before = VERB + kind.width();
    let mut lines: Vec<Line> = Vec::new();
    for part in wrap(&name, width.saturating_sub(before), 0) {
        let line = match lines.is_empty() {
            true => Line::of(format!("{:<VERB$}", action.verb().as_str()), role).and(kind.as_str(), Role::Muted),
            false => Line::of(" ".repeat(before), Role::Text),
        };
        lines.push(line.and(part, Role::Text));
    }
    let set_off = consequences(action).map(|text| (text.to_owned(), Role::Text));
    let source = source_line(action).map(|text| (text, Role::Muted));
    for (text, role) in set_off.chain(source) {
        let parts = wrap(&printable(&text, charset), width.saturating_sub(VERB), 0).into_iter();
        let parts = parts.filter(|part| !part.is_empty());
        lines.extend(parts.map(|part| Line::of(" ".repeat(VERB), Role::Text).and(part, role)));
    }
    lines
}

fn undo_lines(actions: &[&Action], plan: &str, width: usize) -> Vec<Line> {
    let permanent = actions.iter().filter(|action| action.undo == Undo::None).count();
    let id = short_id(plan);
    let deletes = actions.iter().any(|action| action.is_delete());
    let (text, role) = match (permanent, actions.len()) {
        (0, _) if deletes => (format!("Undo: trueup undo {id} (sealed backup)"), Role::Muted),
        (0, _) => (format!("Undo: trueup undo {id}"), Role::Muted),
        (permanent, count) if permanent == count => ("Cannot be undone.".to_owned(), Role::Error),
        (permanent, count) => (format!("{permanent} of {count} cannot be undone."), Role::Error),
    };
    wrapped(&text, width, 0, role)
}

fn prompt(tier: Tier, asks: &Asks, enter: &str, width: usize) -> Vec<Line> {
    let text = match asks {
        Asks::Enter => format!("Press {enter} to approve."),
        Asks::Deletions(_) => "Type the number of deletes to approve:".to_owned(),
        Asks::ClusterName(cluster) => format!("Type `{cluster}` to approve:"),
        Asks::ClusterNameAndId { cluster, short_id } => format!("Type `{cluster} {short_id}` to approve:"),
    };
    wrapped(&text, width, 0, if tier >= Tier::T3 { Role::Error } else { Role::Text })
}
