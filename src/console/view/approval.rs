//! The question before anything is sent, as large as what is at stake.

use ratatui::layout::{Position, Rect};

use super::paint::{Held, Painter, centered};
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::layout::HEIGHT_MIN;
use crate::console::model::{Approval, Model};
use crate::console::terminal::Cursor;
use crate::console::theme::Role;
use crate::engine::{Action, Asks, Tier, Undo, Verb, short_id};

/// What the box needs beside the list: borders, where the list ends, what can be taken back, the word, what is wrong.
const BESIDE: u16 = 8;
const WIDTH_MAX: u16 = 96;
const LINES_MAX: u16 = 20;

/// How many lines of the list are on the screen at once.
pub fn lines(area: Rect) -> usize {
    usize::from(area.height.max(HEIGHT_MIN).saturating_sub(BESIDE + 2).min(LINES_MAX))
}

pub fn draw(model: &Model, approval: &Approval, area: Rect, painter: &mut Painter<'_>) {
    let Some(plan) = &model.plan else { return };
    let question = approval.question();
    let actions: Vec<&Action> =
        plan.plan.actions.iter().filter(|action| question.actions.contains(&action.id)).collect();
    let shown = lines(area).min(actions.len());
    let height = u16::try_from(shown).unwrap_or(1) + BESIDE;
    let place = centered(area, WIDTH_MAX.min(area.width.saturating_sub(2)), height);
    painter.clear(place);
    painter.hit(place, Hit::Layer);
    let class = plan.plan.targets.iter().find(|target| target.cluster == question.cluster).map(|target| target.class);
    let class = class.unwrap_or_default();
    let title = Line::of(heading(question.deletions, actions.len()), Role::Title)
        .and(" in ", Role::Text)
        .and(question.cluster.as_str(), Role::Accent)
        .and(format!(" ({})", class.word()), Role::from(class));
    let step = Line::of(format!("cluster {} of {}", approval.at + 1, approval.questions.len()), Role::Muted);
    let inside = painter.boxed(place, &title, &step, Held::Keys);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let mut y = inside.y;
    for action in actions.iter().skip(approval.scroll).take(shown) {
        row(action, inside, y, painter);
        y += 1;
    }
    let below = actions.len().saturating_sub(approval.scroll + shown);
    let end = if below == 0 { "end of list".to_owned() } else { format!("{below} more below: go down to read them") };
    painter.line_right(
        inside.right(),
        y,
        inside.width,
        &Line::of(end, if below == 0 { Role::Muted } else { Role::Warn }),
    );
    y += 2;
    painter.line(inside.x, y, inside.width, &back_line(&actions, &plan.plan.id));
    y += 1;
    let x = painter.line(inside.x, y, inside.width, &asked(question.tier, &question.asks));
    let x = painter.text(x, y, inside.right().saturating_sub(x), &approval.typed, Role::Accent);
    painter.cursor = Cursor::At(Position { x, y });
    if let Some(wrong) = approval.wrong {
        painter.text(inside.x, y + 1, inside.width, wrong, Role::Error);
    }
}

fn heading(deletions: usize, count: usize) -> String {
    let things = |count: usize| if count == 1 { "1 object".to_owned() } else { format!("{count} objects") };
    match (deletions, count) {
        (0, count) => format!("Change {}", things(count)),
        (deletions, count) if deletions == count => format!("Delete {}", things(count)),
        (deletions, count) => format!("Delete {} and change {}", things(deletions), count - deletions),
    }
}

fn row(action: &Action, area: Rect, y: u16, painter: &mut Painter<'_>) {
    let role = if action.verb == Verb::Delete { Role::Extra } else { Role::Drift };
    let x = painter.text(area.x, y, 9, action.verb.word(), role).max(area.x + 8);
    let x = painter.text(x, y, 14, &action.target.kind, Role::Muted).max(x + 11) + 1;
    let place = action.target.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    let room = area.right().saturating_sub(x);
    painter.name(x, y, room, &format!("{place}{}", action.target.name), Role::Text);
}

fn back_line(actions: &[&Action], plan: &str) -> Line {
    let forever = actions.iter().filter(|action| action.undo == Undo::None).count();
    if forever > 0 {
        return Line::of(format!("{forever} of them can't be taken back."), Role::Error);
    }
    let id = short_id(plan);
    let deletes = actions.iter().any(|action| action.verb == Verb::Delete);
    let text = match deletes {
        true => format!("Each is backed up, sealed, and comes back with `undo {id}`."),
        false => format!("It can be taken back with `undo {id}`."),
    };
    Line::of(text, Role::Muted)
}

fn asked(tier: Tier, asks: &Asks) -> Line {
    let text = match asks {
        Asks::Enter => "Press enter to approve".to_owned(),
        Asks::Deletions(_) => "Type the number of deletions to approve: ".to_owned(),
        Asks::ClusterName(_) => "Type the cluster's name to approve: ".to_owned(),
        Asks::ClusterNameAndId { .. } => "Type the cluster's name, a blank, and the plan's 8 characters: ".to_owned(),
    };
    let role = if tier >= Tier::T3 { Role::Error } else { Role::Text };
    Line::of(text, role)
}
