//! The question before anything is sent, as large as what is at stake.
//!
//! Always true: every name is shown whole and escaped, over several lines where it has to be.

use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Painter, PaneFocus, centered};
use super::text::{Line, wrap, wrapped};
use crate::console::hits::Hit;
use crate::console::layout::HEIGHT_MIN;
use crate::console::model::{Approval, Fits, Layer, Model};
use crate::console::terminal::Cursor;
use crate::console::theme::{Role, Signs};
use trueup_core::engine::text::{Charset, printable};
use trueup_core::engine::{Action, Asks, Tier, Undo, Verb, short_id};

/// What the box may need beside the list: two borders, where the list ends, a blank, two lines each for what can be taken
/// back and for the question, the word, and what is wrong with it.
const BESIDE: u16 = 10;
const WIDTH_MAX: u16 = 96;
const LINES_MAX: u16 = 20;
/// The column before an object's kind and name: what is done.
const VERB: usize = 8;

/// How much of the list is on the screen at once.
pub fn fits(model: &Model) -> Fits {
    let (Some(Layer::Approval(approval)), Some(_)) = (&model.layer, model.layout()) else { return Fits::default() };
    let total = list_lines(model, approval, inner_width(model.area)).len();
    let most = model.area.height.max(HEIGHT_MIN).saturating_sub(BESIDE + 2).min(LINES_MAX);
    Fits { lines: usize::from(most).min(total), total }
}

pub fn draw(model: &Model, approval: &Approval, area: Rect, painter: &mut Painter<'_>) {
    let Some(plan) = &model.plan else { return };
    let question = approval.question();
    let width = inner_width(area);
    let Fits { lines: shown, total } = fits(model);
    let mut below = back_lines(&actions(model, approval), &plan.plan.id, width);
    below.extend(asked(question.tier, &question.asks, width));
    let height = u16::try_from(shown + below.len()).unwrap_or(area.height) + 6;
    let place = centered(area, outer_width(area), height);
    painter.clear(place);
    painter.hit(place, Hit::Layer);
    let inside = painter.boxed(place, &title(model, approval), &step(approval, &plan.plan.id), PaneFocus::Keys);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let shown = u16::try_from(shown).unwrap_or(0);
    painter.lines(Rect { height: shown, ..inside }, &list_lines(model, approval, width), approval.scroll);
    let mut y = inside.y + shown;
    let left = total.saturating_sub(approval.scroll + usize::from(shown));
    let end = match left {
        0 => Line::of("end of list", Role::Muted),
        1 => Line::of("1 more line below: go down to read it", Role::Warn),
        left => Line::of(format!("{left} more lines below: go down to read them"), Role::Warn),
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
    if let Some(wrong) = approval.wrong {
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
    // In the order of the plan's list, which is the one they are carried out in.
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
        // Part of the word that has to be typed.
        Asks::ClusterNameAndId { .. } if step.is_empty() => Line::of(format!("plan {}", short_id(plan)), Role::Muted),
        Asks::ClusterNameAndId { .. } => Line::of(format!("plan {}, {step}", short_id(plan)), Role::Muted),
        Asks::Enter | Asks::Deletions(_) | Asks::ClusterName(_) if step.is_empty() => Line::blank(),
        Asks::Enter | Asks::Deletions(_) | Asks::ClusterName(_) => Line::of(step, Role::Muted),
    }
}

/// What the actions of a question are about, and how a cluster has it.
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
        Signs::Unicode => Charset::Unicode,
        Signs::Plain => Charset::Ascii,
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
    lines
}

fn back_lines(actions: &[&Action], plan: &str, width: usize) -> Vec<Line> {
    let forever = actions.iter().filter(|action| action.undo == Undo::None).count();
    let id = short_id(plan);
    let deletes = actions.iter().any(|action| action.verb() == Verb::Delete);
    let (text, role) = match (forever, actions.len()) {
        (0, 1) if deletes => (format!("It is backed up, sealed, and comes back with `undo {id}`."), Role::Muted),
        (0, _) if deletes => (format!("Each is backed up, sealed, and comes back with `undo {id}`."), Role::Muted),
        (0, _) => (format!("It can be taken back with `undo {id}`."), Role::Muted),
        (1, 1) => ("It can't be taken back.".to_owned(), Role::Error),
        (forever, count) if forever == count => ("None of them can be taken back.".to_owned(), Role::Error),
        (forever, _) => (format!("{forever} of them can't be taken back."), Role::Error),
    };
    wrapped(&text, width, 0, role)
}

fn asked(tier: Tier, asks: &Asks, width: usize) -> Vec<Line> {
    let text = match asks {
        Asks::Enter => "Press enter to approve.",
        Asks::Deletions(_) => "Type the number of deletions to approve:",
        Asks::ClusterName(_) => "Type the cluster's name to approve:",
        Asks::ClusterNameAndId { .. } => "Type the cluster's name, a blank, and the plan's 8 characters to approve:",
    };
    wrapped(text, width, 0, if tier >= Tier::T3 { Role::Error } else { Role::Text })
}
