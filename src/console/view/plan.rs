//! A plan: what would be sent, to whom, and exactly what would change.

use std::borrow::Cow;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::fleet::table_look;
use super::paint::{Held, Painter};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::layout::Layout;
use crate::console::model::{Model, Pane, PlanSheet, Show, Skipped, Totals};
use crate::console::table::{Cell, Column, Cut, RowLook, TableRow, TableView, Tone, draw as draw_table};
use crate::console::task::Tried;
use crate::console::theme::Role;
use crate::engine::{Action, Tier, Undo, Verb, short_id};

pub fn draw(model: &Model, plan: &PlanSheet, layout: &Layout, painter: &mut Painter<'_>) {
    let held = if model.pane == Pane::List { Held::Keys } else { Held::Waits };
    let validity = validity(model, plan, painter);
    let inside = painter.boxed(layout.main, &title(plan), &validity, held);
    painter.hit(layout.main, Hit::List);
    let inside = warnings(plan, inside, painter);
    table(plan, inside, layout.main.right() - 1, painter);
    if let Some(area) = layout.detail {
        detail(model, plan, area, painter);
    }
}

fn title(plan: &PlanSheet) -> Line {
    let Totals { create, update, delete, blocked, excluded } = plan.totals();
    let count = create + update + delete;
    let mut line = Line::of(format!("Plan {}", short_id(&plan.plan.id)), Role::Title)
        .and(format!(" · {count} of {} actions", plan.plan.actions.len()), Role::Text);
    for (count, sign, word, role) in [
        (create, "+", "create", Role::Missing),
        (update, "~", "update", Role::Drift),
        (delete, "−", "delete", Role::Extra),
        (blocked, "⊘", "blocked", Role::Blocked),
        (excluded, "", "left out", Role::Muted),
    ] {
        if count > 0 {
            line = line.and(format!("  {sign}{count} {word}"), role);
        }
    }
    line
}

fn validity(model: &Model, plan: &PlanSheet, painter: &mut Painter<'_>) -> Line {
    let left = plan.plan.expires_at.duration_since(model.now).as_secs();
    if left <= 0 {
        return Line::of("expired", Role::Error);
    }
    let (text, step) =
        if left >= 60 { (format!("valid {}m", left / 60), left % 60 + 1) } else { (format!("valid {left}s"), 1) };
    painter.changes(model.now.checked_add(jiff::SignedDuration::from_secs(step)).ok());
    Line::of(text, if left < 60 { Role::Warn } else { Role::Muted })
}

/// What a person has to know before anything else, above the list.
fn warnings(plan: &PlanSheet, area: Rect, painter: &mut Painter<'_>) -> Rect {
    let mut lines = Vec::new();
    if let Some((finding, moved)) = plan.moved.iter().next() {
        let now = moved.is.unwrap_or("no finding any more");
        let more = plan.moved.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let name = finding.rsplit('/').next().unwrap_or(finding);
        lines.push(Line::of(
            format!("The world moved: {name} was {}, is {now}{more}. R plans again.", moved.was),
            Role::Warn,
        ));
    }
    lines.extend(plan.left_out.iter().map(|says| Line::of(format!("Not taken back: {says}"), Role::Warn)));
    lines.truncate(3);
    let height = u16::try_from(lines.len()).unwrap_or(0);
    painter.lines(Rect { x: area.x + 1, width: area.width.saturating_sub(2), height, ..area }, &lines, 0);
    Rect { y: area.y + height, height: area.height.saturating_sub(height), ..area }
}

fn table(plan: &PlanSheet, area: Rect, border: u16, painter: &mut Painter<'_>) {
    let columns = [
        Column::new("", 3).gap(0),
        Column::new("TIER", 4).gap(1),
        Column::new("WHAT", 8).gap(1),
        Column::new("CLUSTER", 12).weight(2),
        Column::new("OBJECT", 20).weight(4),
        Column::new("DRY RUN", 10).weight(1).priority(2),
        Column::new("BACK", 16).weight(2).priority(1),
    ];
    let look = table_look(painter);
    let window = plan.list.window();
    let view = TableView {
        columns: &columns,
        sort: None,
        look: &look,
        first: window.start,
        total: plan.order().len(),
        border: Some(border),
    };
    let end = window.end.min(plan.order().len());
    let visible = &plan.order()[window.start.min(end)..end];
    let rows: Vec<Row<'_>> = visible.iter().filter_map(|id| Row::of(plan, id, painter)).collect();
    let hits = draw_table(&view, rows, area, painter.buffer);
    for line in 0..hits.body.height {
        let index = hits.first + usize::from(line);
        if index < hits.total {
            painter.hit(Rect { y: hits.body.y + line, height: 1, ..hits.body }, Hit::Row(index));
        }
    }
}

struct Row<'p> {
    cells: [Cell<'p>; 7],
    look: RowLook,
}

impl<'p> Row<'p> {
    fn of(plan: &'p PlanSheet, id: &'p String, painter: &Painter<'_>) -> Option<Self> {
        let action = plan.action(id)?;
        let skipped = plan.skipped(action);
        let (text, muted) = (painter.style(Role::Text), painter.style(Role::Muted));
        let tick = match &skipped {
            None => "[x]",
            Some(Skipped::Blocked(_)) => " ⊘ ",
            Some(Skipped::Excluded | Skipped::Dependency(_)) => "[ ]",
        };
        let (sign, role) = verb_sign(action.verb);
        let place = action.target.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
        let object: Vec<(Cow<'p, str>, Style)> = vec![
            (Cow::Owned(format!("{} ", action.target.kind)), muted),
            (Cow::Owned(format!("{place}{}", action.target.name)), text),
        ];
        let cells = [
            Cell::text(tick, text),
            Cell::text(tier_word(action.tier), painter.style(tier_role(action.tier))),
            Cell::text(format!("{sign} {}", action.verb.word()), painter.style(role)),
            Cell::name(action.cluster.as_str(), text),
            Cell::pieces(object, Cut::Middle),
            dry_cell(plan, id, painter),
            back_cell(action, skipped.as_ref(), painter),
        ];
        let tone = if skipped.is_some() { Tone::Dimmed } else { Tone::Plain };
        let look = RowLook { cursor: plan.list.cursor() == Some(id), marked: false, tone };
        Some(Self { cells, look })
    }
}

impl TableRow for Row<'_> {
    fn look(&self) -> RowLook {
        self.look
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.cells.get(column).cloned().unwrap_or_else(Cell::empty)
    }
}

fn verb_sign(verb: Verb) -> (&'static str, Role) {
    match verb {
        Verb::Create => ("+", Role::Missing),
        Verb::Delete => ("−", Role::Extra),
        Verb::Apply
        | Verb::Update
        | Verb::Label
        | Verb::Annotate
        | Verb::Patch
        | Verb::Tag
        | Verb::Untag
        | Verb::ReOwn => ("~", Role::Drift),
    }
}

fn tier_word(tier: Tier) -> &'static str {
    match tier {
        Tier::T0 => "T0",
        Tier::T1 => "T1",
        Tier::T2 => "T2",
        Tier::T3 => "T3",
        Tier::T4 => "T4",
    }
}

fn tier_role(tier: Tier) -> Role {
    match tier {
        Tier::T0 | Tier::T1 => Role::Muted,
        Tier::T2 => Role::Warn,
        Tier::T3 | Tier::T4 => Role::Error,
    }
}

fn dry_cell<'p>(plan: &'p PlanSheet, id: &str, painter: &Painter<'_>) -> Cell<'p> {
    match plan.tried.get(id) {
        _ if plan.trying.contains(id) => Cell::text("checking…", painter.style(Role::Warn)),
        None => Cell::text("not tried", painter.style(Role::Muted)),
        Some(Tried::Fine) => Cell::text("ok", painter.style(Role::Ok)),
        Some(Tried::Refused(why)) => Cell::text(why.as_str(), painter.style(Role::Error)),
        Some(Tried::Unknown(why)) => Cell::text(why.as_str(), painter.style(Role::Unknown)),
    }
}

/// How it could be taken back; why it is not sent, where that matters more.
fn back_cell<'p>(action: &'p Action, skipped: Option<&Skipped>, painter: &Painter<'_>) -> Cell<'p> {
    match skipped {
        Some(Skipped::Blocked(why)) => Cell::text(why.clone(), painter.style(Role::Blocked)),
        Some(Skipped::Dependency(id)) => Cell::text(format!("waits for {id}, left out"), painter.style(Role::Muted)),
        Some(Skipped::Excluded) | None => match action.undo {
            Undo::RestoreFromBackup => Cell::text("backup, undo", painter.style(Role::Ok)),
            Undo::RemoveWhatWasAdded | Undo::DeleteWhatWasCreated => Cell::text("undo", painter.style(Role::Ok)),
            Undo::None => Cell::text("no undo", painter.style(Role::Error)),
        },
    }
}

fn detail(model: &Model, plan: &PlanSheet, area: Rect, painter: &mut Painter<'_>) {
    painter.hit(area, Hit::Detail);
    let held = if model.pane == Pane::Detail { Held::Keys } else { Held::Waits };
    let place = plan.list.cursor().and_then(|id| plan.order().iter().position(|one| one == id));
    let title = match place {
        Some(place) => format!("{} of {}", place + 1, plan.order().len()),
        None => "no action".to_owned(),
    };
    let show = match plan.show {
        Show::Diff => "change",
        Show::Fields => "all that is bound",
    };
    let right = Line::of(show, Role::Muted);
    let inside = painter.boxed(area, &Line::of(title, Role::Title), &right, held);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = lines(plan, usize::from(inside.width));
    painter.lines(inside, &lines, plan.scroll);
    painter.thumb(area.right() - 1, inside, lines.len(), plan.scroll);
}

/// What the plan says of the action at the cursor.
pub fn lines(plan: &PlanSheet, width: usize) -> Vec<Line> {
    let Some(action) = plan.cursor() else { return Vec::new() };
    let mut lines = Vec::new();
    for blocked in &action.blocked_by {
        lines.extend(wrapped(&format!("⊘ {}: {}", blocked.gate.word(), blocked.why), width, 2, Role::Blocked));
    }
    let finding = plan.plan.findings.iter().find(|finding| finding.id == action.finding);
    if let Some(finding) = finding {
        lines.extend(wrapped(&finding.summary, width, 0, Role::Text));
    }
    let bound = |name: &str, value: Option<&String>| value.map(|value| format!("{name} {value}"));
    let preconditions: Vec<String> = [
        bound("uid", action.preconditions.uid.as_ref()),
        bound("version", action.preconditions.resource_version.as_ref()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let sent_if = if preconditions.is_empty() { "the name is free".to_owned() } else { preconditions.join(", ") };
    lines.extend(wrapped(&format!("reason {} · sent only if {sent_if}", action.reason.word()), width, 2, Role::Muted));
    match plan.show {
        Show::Diff => lines.extend(diff_lines(&action.diff, width)),
        Show::Fields => lines.extend(field_lines(action, width)),
    }
    lines
}

fn diff_lines(diff: &str, width: usize) -> Vec<Line> {
    let role = |line: &str| match line.chars().next() {
        Some('+') => Role::DiffAdd,
        Some('-') => Role::DiffRemove,
        Some(_) | None => Role::DiffContext,
    };
    diff.lines().flat_map(|line| wrapped(line, width, 2, role(line))).collect()
}

fn field_lines(action: &Action, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for proof in &action.ownership {
        lines.extend(wrapped(&format!("ours: {proof}"), width, 2, Role::Text));
    }
    for id in &action.depends_on {
        lines.push(Line::of(format!("after: {id}"), Role::Text));
    }
    lines.push(Line::of(format!("action {} · finding {}", action.id, action.finding), Role::Muted));
    if !action.change.is_null() {
        let text = serde_json::to_string_pretty(&action.change).unwrap_or_default();
        lines.extend(text.lines().map(|line| Line::of(line, Role::DiffContext)));
    }
    lines
}
