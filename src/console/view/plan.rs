//! The plan: actions, targets and exact changes.

use std::borrow::Cow;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::paint::{Painter, PaneFocus};
use super::rows::{Row, table_look, with_margin};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap;
use crate::console::layout::Layout;
use crate::console::model::{Model, Pane, PlanSheet, PlannedChange, ReadOnly, Show, Skipped, Totals, Users};
use crate::console::table::{Cell, Column, Cut, GUTTER, RowStyle, TableView, Tone, layout};
use crate::console::task::Tried;
use crate::console::theme::{Glyphs, Role};
use trueup_core::engine::{Action, Change, State, Tier, Undo, Verb, short_id};
use trueup_core::world::RiskClass;

/// Limit of warnings above the list.
const WARNINGS_MAX: usize = 4;

pub fn draw(model: &Model, plan: &PlanSheet, layout: &Layout, painter: &mut Painter<'_>) {
    let held = if model.pane == Pane::List { PaneFocus::Keys } else { PaneFocus::Waits };
    let validity = validity(model, plan, painter);
    let space = usize::from(layout.main.width).saturating_sub(validity.plain().len() + 10);
    let whole = title(plan, Words::Whole, painter.glyphs());
    let fits = painter.width(&whole.plain()) <= space;
    let title = if fits { whole } else { title(plan, Words::GlyphSet, painter.glyphs()) };
    let inside = painter.pane(layout.main, &title, &validity, held);
    painter.hit(layout.main, Hit::List);
    let inside = warnings(model, plan, inside, painter);
    table(model, plan, with_margin(inside), layout.main.right() - 1, painter);
    if let Some(area) = layout.detail {
        detail(model, plan, area, painter);
    }
}

/// Whether the totals have words beside their glyphs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    Whole,
    GlyphSet,
}

/// `Plan 5f21c9aa · 3 of 5 ticked · −2 delete  ~1 update`
fn title(plan: &PlanSheet, words: Words, glyphs: &Glyphs) -> Line {
    let totals = plan.totals();
    let Totals { create, update, delete, blocked, excluded: _ } = totals;
    let between = format!(" {} ", glyphs.separator);
    let ticked = format!("{between}{} of {} ticked", totals.sent(), plan.plan.actions.len());
    let mut line = Line::of(format!("Plan {}", short_id(&plan.plan.id)), Role::Title);
    if plan.teardown() > 0 {
        line = line.and(format!("{between}teardown"), Role::Warn);
    }
    line = line.and(ticked, Role::Text);
    let mut space = between.as_str();
    for (count, sign, word, role) in [
        (delete, glyphs.ghost_delete, "delete", Role::Extra),
        (update, glyphs.ghost_update, "update", Role::Drift),
        (create, glyphs.ghost_create, "create", Role::Missing),
        (blocked, glyphs.state(State::Blocked), "blocked", Role::Blocked),
    ] {
        let word = if words == Words::Whole { format!(" {word}") } else { String::new() };
        if count > 0 {
            line = line.and(format!("{space}{sign}{count}{word}"), role);
            space = "  ";
        }
    }
    line
}

/// Whether the plan can be approved, and how long: `valid 14m`, or what stands in the way.
fn validity(model: &Model, plan: &PlanSheet, painter: &mut Painter<'_>) -> Line {
    let refresh = model.screen_key(keymap::Action::Refresh);
    if let Some(left_out) = &model.left_out {
        let (marked, hidden) = (left_out.all.len(), left_out.hidden);
        let key = model.screen_key(keymap::Action::Open);
        let text = format!("{marked} marked, {hidden} hidden by the filter: not included ({key}: include)");
        return Line::of(text, Role::Warn);
    }
    let left = plan.plan.expires_at.duration_since(model.now).as_secs();
    match model.read_only() {
        Some(ReadOnly::Recording { taken_at }) => {
            let age = taken_at.map_or_else(String::new, |at| format!(", {} old", painter.list_age(at, model.now)));
            return Line::of(format!("From a recording{age}: cannot be applied"), Role::Warn);
        }
        Some(ReadOnly::SwitchedOff) => {
            let key = model.screen_key(keymap::Action::ReadOnly);
            return Line::of(format!("Read-only ({key}: switch writes on)"), Role::Warn);
        }
        Some(replay @ ReadOnly::Replay { .. }) => {
            return Line::of(format!("Cannot be applied: {}", replay.message()), Role::Warn);
        }
        Some(ReadOnly::Flag | ReadOnly::Config) => return Line::of("Read-only", Role::Warn),
        None => {}
    }
    if left <= 0 {
        return Line::of(format!("Expired: press {refresh}"), Role::Error);
    }
    if !plan.moved.is_empty() {
        return Line::of(format!("Plan out of date: press {refresh}"), Role::Warn);
    }
    let (text, step) =
        if left >= 60 { (format!("valid {}m", left / 60), left % 60 + 1) } else { (format!("valid {left}s"), 1) };
    painter.changes(model.now.checked_add(jiff::SignedDuration::from_secs(step)).ok());
    Line::of(text, if left < 60 { Role::Warn } else { Role::Muted })
}

/// Warnings above the list.
fn warnings(model: &Model, plan: &PlanSheet, area: Rect, painter: &mut Painter<'_>) -> Rect {
    let mut lines = Vec::new();
    let width = usize::from(area.width.saturating_sub(2));
    let replan = format!("{}: replan", model.screen_key(keymap::Action::Refresh));
    if plan.teardown() > 0 {
        let text =
            format!("Teardown of a cluster that is being deleted: {} cannot be undone.", counted(plan.teardown()));
        lines.extend(wrapped(&text, width, 0, Role::Warn));
    }
    if let Some((finding, moved)) = plan.moved.iter().next() {
        let now = moved.is.unwrap_or("no finding");
        let more = plan.moved.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let name = finding.rsplit('/').next().unwrap_or(finding);
        let message = format!("Plan is stale: {name} was {}, now {now}{more}. {replan}", moved.was);
        lines.extend(wrapped(&message, width, 0, Role::Warn));
    }
    let left_out = plan.left_out.iter().map(|message| format!("Not undone: {message}"));
    lines.extend(left_out.flat_map(|message| wrapped(&message, width, 2, Role::Warn)));
    lines.truncate(WARNINGS_MAX);
    let height = u16::try_from(lines.len()).unwrap_or(0);
    painter.lines(Rect { x: area.x + 1, width: area.width.saturating_sub(2), height, ..area }, &lines, 0);
    Rect { y: area.y + height, height: area.height.saturating_sub(height), ..area }
}

/// `1 action`, `9 actions`
fn counted(count: usize) -> String {
    if count == 1 { "1 action".to_owned() } else { format!("{count} actions") }
}

fn table(model: &Model, plan: &PlanSheet, area: Rect, border: u16, painter: &mut Painter<'_>) {
    // After a dry run a narrow screen keeps its column.
    let is_tried = !plan.trying.is_empty() || !plan.tried.is_empty();
    let (dry_run, back) = if is_tried { (1, 2) } else { (4, 1) };
    // No column without dependencies.
    let step = if plan.has_steps() { Column::new("STEP", 4).gap(1) } else { Column::new("", 0).gap(0) };
    let columns = [
        Column::new("", 3).gap(0),
        step,
        Column::new("TIER", 4).gap(1),
        Column::new("ACTION", 8).gap(1),
        Column::new("CLUSTER", 15),
        Column::new("CLASS", 6).priority(3),
        Column::new("OBJECT", 26).weight(8),
        Column::new("AGE", 4).right().priority(5),
        Column::new("DRY RUN", 8).weight(1).priority(dry_run),
        Column::new("UNDO", 8).weight(2).priority(back),
    ];
    let style = table_look(painter);
    let window = plan.list.window();
    let view = TableView {
        columns: &columns,
        sort: None,
        style: &style,
        first: window.start,
        total: plan.order().len(),
        border: Some(border),
    };
    let end = window.end.min(plan.order().len());
    let visible = &plan.order()[window.start.min(end)..end];
    let placed = layout(&columns, area.width.saturating_sub(GUTTER));
    let class = if placed.iter().any(|one| one.index == CLASS) { ClassShown::InColumn } else { ClassShown::AsMark };
    let rows: Vec<Row<'_>> = visible.iter().filter_map(|id| row(model, plan, (id, class), painter)).collect();
    painter.table(&view, rows, area);
}

/// The column of the class.
const CLASS: usize = 5;

/// Where the class of a cluster is shown: without space for its word, its mark is before the cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassShown {
    InColumn,
    AsMark,
}

fn row<'p>(
    model: &Model,
    plan: &'p PlanSheet,
    (id, class): (&'p String, ClassShown),
    painter: &mut Painter<'_>,
) -> Option<Row<'p>> {
    let action = plan.action(id)?;
    let skipped = plan.skipped(action);
    let (text, muted) = (painter.style(Role::Text), painter.style(Role::Muted));
    let tick = match &skipped {
        None => "[x]".to_owned(),
        Some(Skipped::Blocked(_)) => format!(" {} ", painter.glyphs().state(State::Blocked)),
        Some(Skipped::Excluded | Skipped::Dependency(_)) => "[ ]".to_owned(),
    };
    let (sign, role) = verb_sign(action.verb(), painter.glyphs());
    let object: Vec<(Cow<'p, str>, Style)> =
        vec![(Cow::Owned(format!("{} ", action.target.kind)), muted), (Cow::Owned(object_text(action)), text)];
    let cells = vec![
        Cell::text(tick, text),
        Cell::text(plan.step(id).map_or_else(String::new, |step| step.to_string()), muted),
        Cell::text(tier_word(action.tier), painter.style(tier_role(action.tier))),
        Cell::text(format!("{sign} {}", action.verb().as_str()), painter.style(role)),
        cluster_cell(plan, action, class, painter),
        class_cell(plan, action, painter),
        Cell::pieces(object, Cut::Middle),
        age_cell(model, plan, id, painter),
        dry_cell(plan, id, painter),
        undo_cell(action, skipped.as_ref(), painter),
    ];
    let tone = if skipped.is_some() { Tone::Dimmed } else { Tone::Plain };
    let style = RowStyle { cursor: plan.list.cursor() == Some(id), marked: false, tone };
    Some(Row { cells, style })
}

fn class_of(plan: &PlanSheet, action: &Action) -> RiskClass {
    let target = plan.plan.targets.iter().find(|target| target.cluster == action.cluster);
    target.map(|target| target.class).unwrap_or_default()
}

fn cluster_cell<'p>(plan: &PlanSheet, action: &'p Action, shown: ClassShown, painter: &Painter<'_>) -> Cell<'p> {
    let class = class_of(plan, action);
    let mark = match (shown, class) {
        (ClassShown::InColumn, _) => "",
        (ClassShown::AsMark, RiskClass::Prod) => painter.glyphs().prod_mark,
        (ClassShown::AsMark, RiskClass::Stage | RiskClass::Dev) => " ",
    };
    let mark = (Cow::Borrowed(mark), painter.style(Role::from(class)));
    let name = (Cow::Borrowed(action.cluster.as_str()), painter.style(Role::Text));
    Cell::pieces(vec![mark, name], Cut::Middle)
}

fn class_cell<'p>(plan: &PlanSheet, action: &Action, painter: &Painter<'_>) -> Cell<'p> {
    let class = class_of(plan, action);
    Cell::text(painter.glyphs().class_in_column(class), painter.style(Role::from(class)))
}

/// The age of the object; nothing where it is not known.
fn age_cell<'p>(model: &Model, plan: &PlanSheet, id: &str, painter: &mut Painter<'_>) -> Cell<'p> {
    let age = plan.created(id).map(|at| painter.list_age(at, model.now)).unwrap_or_default();
    Cell::text(age, painter.style(Role::Muted))
}

fn verb_sign(verb: Verb, glyphs: &Glyphs) -> (&'static str, Role) {
    match PlannedChange::from(verb) {
        PlannedChange::Create => (glyphs.ghost_create, Role::Missing),
        PlannedChange::Update => (glyphs.ghost_update, Role::Drift),
        PlannedChange::Delete => (glyphs.ghost_delete, Role::Extra),
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
        Tier::T3 => Role::Title,
        Tier::T4 => Role::Error,
    }
}

fn dry_cell<'p>(plan: &'p PlanSheet, id: &str, painter: &Painter<'_>) -> Cell<'p> {
    match plan.tried.get(id) {
        _ if plan.trying.contains(id) => Cell::text("checking", painter.style(Role::Warn)),
        None => Cell::text("not run", painter.style(Role::Muted)),
        Some(Tried::Fine) => Cell::text("ok", painter.style(Role::Ok)),
        Some(Tried::Refused(why)) => Cell::text(why.as_str(), painter.style(Role::Error)),
        Some(Tried::Unknown(why)) => Cell::text(why.as_str(), painter.style(Role::Unknown)),
    }
}

/// `openshift-config/x`, `demo-vpc (r006-1)`.
fn object_text(action: &Action) -> String {
    action.target.place()
}

/// The undo of an action, or why it is not sent.
fn undo_cell<'p>(action: &'p Action, skipped: Option<&Skipped>, painter: &Painter<'_>) -> Cell<'p> {
    match skipped {
        Some(Skipped::Blocked(why)) => Cell::text(why.clone(), painter.style(Role::Blocked)),
        Some(Skipped::Dependency(id)) => Cell::text(format!("depends on {id}, excluded"), painter.style(Role::Muted)),
        Some(Skipped::Excluded) | None => match action.undo {
            Undo::RestoreFromBackup => Cell::text("backup", painter.style(Role::Text)),
            Undo::RemoveWhatWasAdded | Undo::DeleteWhatWasCreated | Undo::PutTagsBack => {
                Cell::text("yes", painter.style(Role::Text))
            }
            Undo::None => Cell::text("NO UNDO", painter.style(Role::Error)),
        },
    }
}

fn detail(model: &Model, plan: &PlanSheet, area: Rect, painter: &mut Painter<'_>) {
    painter.hit(area, Hit::Detail);
    let held = if model.pane == Pane::Detail { PaneFocus::Keys } else { PaneFocus::Waits };
    let place = plan.list.cursor().and_then(|id| plan.order().iter().position(|one| one == id));
    let title = match (place, plan.cursor()) {
        (Some(place), Some(action)) => {
            let object = object_text(action);
            let (count, between) = (plan.order().len(), painter.glyphs().separator);
            format!("{} of {count} {between} {} {object}", place + 1, action.target.kind)
        }
        (Some(_), None) | (None, _) => "no action".to_owned(),
    };
    let show = match plan.show {
        Show::Diff => "change",
        Show::Fields => "action details",
    };
    let right = Line::of(show, Role::Muted);
    let inside = painter.pane(area, &Line::of(title, Role::Title), &right, held);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = lines(model, plan, usize::from(inside.width), painter.glyphs());
    painter.lines(inside, &lines, plan.scroll);
    painter.thumb(area.right() - 1, inside, lines.len(), plan.scroll);
}

/// Details of the selected action.
pub fn lines(model: &Model, plan: &PlanSheet, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let Some(action) = plan.cursor() else { return Vec::new() };
    let mut lines = Vec::new();
    for blocked in &action.blocked_by {
        let message = format!("{} {}: {}", glyphs.state(State::Blocked), blocked.gate.as_str(), blocked.why);
        lines.extend(wrapped(&message, width, 2, Role::Blocked));
    }
    match plan.tried.get(&action.id) {
        Some(Tried::Refused(why)) => {
            lines.extend(wrapped(&format!("dry run: refused: {why}"), width, 2, Role::Error));
        }
        Some(Tried::Unknown(why)) => {
            lines.extend(wrapped(&format!("dry run: unknown: {why}"), width, 2, Role::Unknown));
        }
        Some(Tried::Fine) => lines.push(Line::of("dry run: ok", Role::Ok)),
        None => {}
    }
    let finding = plan.plan.findings.iter().find(|finding| Some(finding.id.as_str()) == action.finding());
    if let Some(finding) = finding {
        lines.extend(wrapped(&finding.summary, width, 0, Role::Text));
    }
    lines.extend(users_lines(model, plan, action, width));
    let bound = |name: &str, value: Option<&String>| value.map(|value| format!("{name} {value}"));
    let preconditions: Vec<String> = [
        bound("uid", action.preconditions.uid.as_ref()),
        bound("version", action.preconditions.resource_version.as_ref()),
        action.preconditions.judged.as_ref().map(|judged| format!("{} fields unchanged", judged.fields.len())),
    ]
    .into_iter()
    .flatten()
    .collect();
    let sent_if = match (action.target.cloud.is_some(), preconditions[..].is_empty()) {
        (true, _) => "tags unchanged".to_owned(),
        (false, true) => "name unused".to_owned(),
        (false, false) => preconditions.join(", "),
    };
    let between = glyphs.separator;
    let message = format!("reason {} {between} precondition: {sent_if}", action.reason.as_str());
    lines.extend(wrapped(&message, width, 2, Role::Muted));
    let before = action.depends_on.iter().filter_map(|id| plan.action(id));
    let before: Vec<String> = before.map(|action| format!("{} {}", action.target.kind, object_text(action))).collect();
    if !before.is_empty() {
        lines.extend(wrapped(&format!("after {}", before.join(", ")), width, 2, Role::Muted));
    }
    match plan.show {
        Show::Diff => lines.extend(diff_lines(&action.diff, width)),
        Show::Fields => lines.extend(field_lines(action, width, glyphs)),
    }
    lines.extend(legend(plan, width, glyphs));
    lines
}

/// `Used by: nothing (checked 19:34:40)`
fn users_lines(model: &Model, plan: &PlanSheet, action: &Action, width: usize) -> Vec<Line> {
    let (users, role) = match model.users_of(action) {
        Users::NotJudged => return Vec::new(),
        Users::NotKnown(why) => (format!("? ({why})"), Role::Unknown),
        Users::Known([]) => ("nothing".to_owned(), Role::Text),
        Users::Known(users) => {
            let places: Vec<String> = users.iter().map(|one| format!("{} ({})", one.place(), one.cluster)).collect();
            (places.join(", "), Role::Text)
        }
    };
    let checked = plan.plan.created_at.to_zoned(model.time_zone()).strftime("%H:%M:%S").to_string();
    wrapped(&format!("Used by: {users} (checked {checked})"), width, 2, role)
}

/// What the tiers mean, and what was not ticked because it cannot be undone.
fn legend(plan: &PlanSheet, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let left = match plan.permanent_left_out() {
        0 => String::new(),
        count => format!("Not ticked: {count} without undo.   "),
    };
    let tiers = ["T1 undo", "T2 delete", "T3 prod", "T4 no undo"].join(&format!(" {} ", glyphs.separator));
    wrapped(&format!("{left}{tiers}"), width, 2, Role::Muted)
}

fn diff_lines(diff: &str, width: usize) -> Vec<Line> {
    let role = |line: &str| match line.chars().next() {
        Some('+') => Role::DiffAdd,
        Some('-') => Role::DiffRemove,
        Some(_) | None => Role::DiffContext,
    };
    diff.lines().flat_map(|line| wrapped(line, width, 2, role(line))).collect()
}

fn field_lines(action: &Action, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let mut lines = Vec::new();
    for proof in &action.ownership {
        lines.extend(wrapped(&format!("owner: {proof}"), width, 2, Role::Text));
    }
    let message = format!("action {} {} finding {}", action.id, glyphs.separator, action.finding().unwrap_or_default());
    lines.extend(wrapped(&message, width, 2, Role::Muted));
    if action.change != Change::Delete {
        let text = serde_json::to_string_pretty(&action.change).unwrap_or_default();
        lines.extend(text.lines().map(|line| Line::of(line, Role::DiffContext)));
    }
    lines
}
