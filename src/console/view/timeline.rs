//! The session's changes, the line of a past moment, and two moments side by side.

use jiff::Timestamp;
use ratatui::layout::Rect;

use super::paint::{Painter, PaneFocus};
use super::states;
use super::text::Line;
use crate::console::keymap::Action;
use crate::console::kind::short_kind;
use crate::console::layout::Layout;
use crate::console::model::{
    ChangedThing, Compared, ComparedRow, Comparison, Model, ReadOnly, TimedChange, link_word, shown_name,
};
use crate::console::table::age;
use crate::console::theme::Role;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{ChangeRecord, SubjectId};
use trueup_core::world::Link;

/// Widths of the columns before the object.
const TIME: usize = 10;
const CLUSTER: usize = 16;
const CHANGE: usize = 22;
/// Width of the field and its manager, where the screen is wide.
const DETAIL: usize = 40;
/// Narrower screens leave the namespace out.
const NARROW: u16 = 100;

pub fn draw(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    list(model, layout.main, painter);
    if let (Some(area), Some(comparison)) = (layout.detail, &model.timeline.comparison) {
        compared(model, comparison, area, painter);
    }
}

/// The line of a past moment, in place of the tabs.
pub fn past(model: &Model, moment: Timestamp, area: Rect, painter: &mut Painter<'_>) {
    let ago = age(moment, model.now);
    painter.fill(area, Role::ReadOnly);
    let separator = painter.glyphs().separator;
    let back = model.screen_key(Action::Back);
    let details = match model.read_only() {
        Some(ReadOnly::Replay { .. }) => "details as recorded last",
        Some(_) | None => "details are of now",
    };
    let text = format!(
        "PAST {}, {ago} ago {separator} writes off {separator} {details} {separator} {back}: live",
        clock(model, moment)
    );
    painter.text(area.x + 1, area.y, area.width.saturating_sub(2), &text, Role::ReadOnly);
}

fn clock(model: &Model, at: Timestamp) -> String {
    at.to_zoned(model.time_zone()).strftime("%H:%M:%S").to_string()
}

fn list(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let timeline = &model.timeline;
    let inside = painter.pane(area, &title(model, painter), &right(model), PaneFocus::Keys);
    if timeline.is_empty() {
        let began = timeline.began.to_zoned(model.time_zone()).strftime("%H:%M").to_string();
        states::empty(inside, &format!("No changes since {began}."), "", painter);
        return;
    }
    let object = object_width(inside.width);
    let by = if inside.width < NARROW { "" } else { "FIELD, BY" };
    let header = format!("   {:<TIME$}{:<CLUSTER$}{:<object$}{:<CHANGE$}{by}", "TIME", "CLUSTER", "OBJECT", "CHANGE");
    painter.text(inside.x, inside.y, inside.width, &header, Role::Muted);
    let rows = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
    let here = timeline.here().saturating_sub(1).max(timeline.dropped());
    // The shown moment is in sight, with what came before and after it.
    let space = usize::from(rows.height).max(1);
    let last_first = timeline.count().saturating_sub(space).max(timeline.dropped());
    let first = here.saturating_sub(space / 2).clamp(timeline.dropped(), last_first);
    for (y, number) in (rows.y..rows.bottom()).zip(first..) {
        let Some(change) = timeline.get(number) else { break };
        let line = Rect { y, height: 1, ..rows };
        let mark = if timeline.mark == Some(number + 1) { "A" } else { " " };
        let is_here = timeline.here() == number + 1;
        let cursor = if is_here { painter.glyphs().cursor } else { " " };
        painter.line(line.x, y, line.width, &row(model, change, mark, cursor, line.width, painter));
        if is_here {
            painter.select(line);
        }
    }
}

fn title(model: &Model, painter: &Painter<'_>) -> Line {
    let (timeline, glyphs) = (&model.timeline, painter.glyphs());
    let sparks = timeline.sparks();
    let most = sparks.iter().copied().max().unwrap_or(0).max(1);
    let line: String = sparks.iter().map(|count| glyphs.spark(*count, most)).collect();
    let minute = |at: Timestamp| at.to_zoned(model.time_zone()).strftime("%H:%M").to_string();
    let (first, last) = (timeline.time_of(timeline.dropped() + 1), timeline.time_of(timeline.count()));
    let title = Line::of("Timeline", Role::Title);
    if timeline.is_empty() {
        return title;
    }
    title
        .and(format!(" {} {} ", glyphs.separator, minute(first)), Role::Muted)
        .and(line, Role::Accent)
        .and(format!(" {}", minute(last)), Role::Muted)
}

fn right(model: &Model) -> Line {
    let timeline = &model.timeline;
    let count = match timeline.count() {
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    match timeline.dropped() {
        0 => Line::of(count, Role::Muted),
        _ => Line::of(format!("{count}. Older changes dropped (--record keeps all)"), Role::Muted),
    }
}

/// Width of an object with the space after it: the same in every row.
fn object_width(width: u16) -> usize {
    let detail = if width < NARROW { 0 } else { DETAIL };
    usize::from(width).saturating_sub(3 + TIME + CLUSTER + CHANGE + detail)
}

fn row(model: &Model, change: &TimedChange, mark: &str, cursor: &str, width: u16, painter: &Painter<'_>) -> Line {
    let (cluster, object, changed) = match &change.what {
        ChangedThing::Finding { subject, before, after } => {
            (subject.cluster.as_str(), object(subject, width), judgements(before.as_deref(), after.as_deref(), painter))
        }
        ChangedThing::Link { before, after } => {
            (after.name.as_str(), "link".to_owned(), links(&before.link, &after.link, painter))
        }
    };
    let detail = change.record.as_ref().map_or(String::new(), |record| detail(record, painter.glyphs().arrow));
    let for_detail = if width < NARROW { 0 } else { DETAIL };
    let object_width = object_width(width);
    let object = painter.shortened_name(&object, object_width.saturating_sub(2));
    let pad = |text: &str, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(painter.width(text))));
    let name = painter.shortened_name(cluster, CLUSTER - 2);
    Line::of(format!("{mark}{cursor} "), Role::Accent)
        .and(pad(&clock(model, change.at), TIME), Role::Muted)
        .and(pad(&name, CLUSTER), Role::Text)
        .and(pad(&object, object_width), Role::Text)
        .joined(padded(changed, CHANGE, painter))
        .and(painter.shortened_name(&detail, for_detail), Role::Muted)
}

/// `oidcProviders 3 → 1  by hypershift-cli`, with this arrow; empty where neither is known.
fn detail(record: &ChangeRecord, arrow: &str) -> String {
    let by = record.by().map(|by| format!("by {by}"));
    [record.field(arrow), by].into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// The line, blank up to a width.
fn padded(line: Line, width: usize, painter: &Painter<'_>) -> Line {
    let blank = width.saturating_sub(painter.width(&line.plain()));
    line.and(" ".repeat(blank), Role::Text)
}

/// `secret openshift-config/x`
fn object(subject: &SubjectId, width: u16) -> String {
    let namespace = subject.namespace.as_deref().filter(|_| width >= NARROW);
    let place = namespace.map_or(String::new(), |namespace| format!("{namespace}/"));
    format!("{} {place}{}", short_kind(subject.kind), shown_name(subject))
}

/// `= → − orphan-certain`
fn judgements(before: Option<&CurrentJudgement>, after: Option<&CurrentJudgement>, painter: &Painter<'_>) -> Line {
    let glyphs = painter.glyphs();
    let sign = |held: Option<&CurrentJudgement>| match held {
        Some(held) => (glyphs.state(held.judgement.state), Role::from(held.judgement.state)),
        None => (glyphs.separator, Role::Muted),
    };
    let ((was, was_role), (is, is_role)) = (sign(before), sign(after));
    let verdict = after.map_or("gone", |held| held.judgement.verdict);
    Line::of(was, was_role).and(format!(" {} ", glyphs.arrow), Role::Muted).and(format!("{is} {verdict}"), is_role)
}

fn links(before: &Link, after: &Link, painter: &Painter<'_>) -> Line {
    let glyphs = painter.glyphs();
    Line::of(format!("{} {} ", glyphs.link(before), glyphs.arrow), Role::Muted)
        .and(format!("{} {}", glyphs.link(after), link_word(after)), link_role(after))
}

fn link_role(link: &Link) -> Role {
    match link {
        Link::Idle | Link::Recorded => Role::Muted,
        Link::Connecting | Link::Listing { .. } | Link::Degraded { .. } => Role::Warn,
        Link::Live { .. } => Role::Ok,
        Link::AuthExpired { .. } | Link::Failed { .. } => Role::Error,
    }
}

fn compared(model: &Model, comparison: &Comparison, area: Rect, painter: &mut Painter<'_>) {
    let arrow = painter.glyphs().arrow;
    let title = Line::of(
        format!("Compare {} {arrow} {}", clock(model, comparison.from), clock(model, comparison.to)),
        Role::Title,
    );
    let separator = format!(" {} ", painter.glyphs().separator);
    let counted = |kind: Compared| match (comparison.count(kind), kind) {
        (0, Compared::Better) => None,
        (count, kind) => Some(format!("{count} {}", kind.as_str())),
    };
    let mut words: Vec<String> = Compared::ALL.into_iter().filter_map(counted).collect();
    words.push(format!("{} same", comparison.same));
    let inside = painter.pane(area, &title, &Line::of(words.join(&separator), Role::Muted), PaneFocus::Waits);
    if comparison.rows.is_empty() {
        states::empty(inside, "Both moments have the same findings.", "", painter);
        return;
    }
    let lines: Vec<Line> = comparison.rows.iter().map(|row| compared_row(row, inside.width, painter)).collect();
    painter.lines(inside, &lines, 0);
}

fn compared_row(row: &ComparedRow, width: u16, painter: &Painter<'_>) -> Line {
    let pad = |text: &str, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(painter.width(text))));
    let cluster = painter.shortened_name(row.subject.cluster.as_str(), CLUSTER - 2);
    let fixed = 11 + CLUSTER + CHANGE + 8;
    let object = painter.shortened_name(&object(&row.subject, width), usize::from(width).saturating_sub(fixed));
    let role = match row.kind {
        Compared::Appeared | Compared::Worse => Role::Warn,
        Compared::Better => Role::Text,
        Compared::Healed => Role::Ok,
    };
    Line::of(pad(&format!(" {}", row.kind.as_str()), 11), role)
        .and(pad(&cluster, CLUSTER), Role::Text)
        .and(pad(&object, usize::from(width).saturating_sub(fixed) + 2), Role::Text)
        .joined(judgements(row.before.as_deref(), row.after.as_deref(), painter))
}
