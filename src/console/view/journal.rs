//! The journal: every applied plan, and the actions of one of them.
//!
//! Invariants: an entry that was undone names the plan that undid it, and an undo names what it undoes.

use jiff::Timestamp;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::activity::{padded, time};
use super::paint::{Painter, PaneFocus};
use super::states;
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::model::{History, JournalRow, Model, Run, UndoOffer, outcome_word, verb_of};
use crate::console::theme::Role;
use trueup_core::engine::journal::{ActionEntry, ActionStanding, Approval, ApprovedCluster, Entry, is_memory};
use trueup_core::engine::short_id;

/// Width from which an entry names its verbs, user and host.
const USER_FROM: u16 = 100;

/// Draws the list of entries.
pub fn list(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let right = match &model.activity.history {
        History::Read(rows) if rows.len() == 1 => Line::of("1 entry, chain ok", Role::Muted),
        History::Read(rows) if !rows.is_empty() => Line::of(format!("{} entries, chain ok", rows.len()), Role::Muted),
        History::Read(_) | History::NotRead | History::Failed(_) => Line::blank(),
    };
    let inside = painter.pane(area, &Line::of("Journal", Role::Title), &right, PaneFocus::Keys);
    painter.hit(area, Hit::List);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let rows = match &model.activity.history {
        History::NotRead => return states::empty(inside, "Reading the journal.", "", painter),
        History::Failed(why) => return states::empty(inside, why, "Run: trueup history verify", painter),
        History::Read(rows) if rows.is_empty() => {
            let message = match model.activity.run.as_ref().is_some_and(Run::is_running) {
                true => "The journal is empty. The running apply appears here when it ends.",
                false => "No applies yet.",
            };
            return states::empty(inside, message, "Applied plans can be undone here.", painter);
        }
        History::Read(rows) => rows,
    };
    let first = model.activity.list.window().start;
    let widths = Widths::of(rows);
    for (place, (y, row)) in (inside.y..inside.bottom()).zip(rows.iter().skip(first)).enumerate() {
        let line = Rect { y, height: 1, ..inside };
        let is_here = model.activity.list.cursor() == Some(&row.entry.plan);
        let cursor = if is_here { painter.glyphs().cursor } else { " " };
        let mut shown = Line::of(format!("{cursor} "), Role::Accent);
        shown.0.extend(entry_line(model, row, widths, area.width).0);
        painter.line(line.x, y, line.width, &shown);
        if is_here {
            painter.select(Rect { x: area.x, width: area.width.saturating_sub(1), ..line });
        }
        painter.hit(line, Hit::Row(first + place));
    }
}

/// Column widths of the list.
#[derive(Clone, Copy)]
struct Widths {
    verbs: usize,
    outcome: usize,
}

impl Widths {
    fn of(rows: &[JournalRow]) -> Self {
        let widest =
            |text: fn(&JournalRow) -> String| rows.iter().map(|row| text(row).width().min(32)).max().unwrap_or(0);
        Self { verbs: widest(JournalRow::verbs), outcome: widest(|row| outcome(row).0) }
    }
}

/// `16 Nov 19:44  938dd57c  19 delete  12 deleted, 7 not sent  ann@laptop  undone by 6e969a37`
fn entry_line(model: &Model, row: &JournalRow, widths: Widths, width: u16) -> Line {
    let entry = &row.entry;
    let approval = entry.approvals.last();
    let day = |at: Timestamp| at.to_zoned(model.time_zone()).strftime("%d %b %H:%M").to_string();
    let (outcome, role) = outcome(row);
    let line = Line::of(format!("{}  ", approval.map_or(String::new(), |approval| day(approval.at))), Role::Muted)
        .and(format!("{}  ", short_id(&entry.plan)), Role::Accent);
    // What was undone is more important than the verbs, which the outcome repeats, and than the user.
    let line = match width >= USER_FROM {
        true => line
            .and(padded(&row.verbs(), widths.verbs), Role::Text)
            .and(padded(&outcome, widths.outcome), role)
            .and(format!("{}  ", approval.map(user).unwrap_or_default()), Role::Muted),
        false => line.and(padded(&outcome, widths.outcome), role),
    };
    match relation(row) {
        Some(relation) => line.and(relation, Role::Text),
        None => line,
    }
}

/// `ann@laptop`
fn user(approval: &Approval) -> String {
    format!("{}@{}", approval.who, approval.host)
}

/// How an entry ended.
fn outcome(row: &JournalRow) -> (String, Role) {
    match (row.entry.open_count(), row.entry.finished) {
        (1, _) => ("1 open: outcome unknown".to_owned(), Role::Error),
        (open @ 2.., _) => (format!("{open} open: outcomes unknown"), Role::Error),
        (0, Some(_)) => (row.outcome(), Role::Text),
        (0, None) => ("running or interrupted".to_owned(), Role::Warn),
    }
}

/// What an entry undoes, or which plan undid it.
fn relation(row: &JournalRow) -> Option<String> {
    let by = row.actions.iter().find_map(|offer| match offer {
        UndoOffer::Undone(by) => Some(short_id(by)),
        UndoOffer::Possible | UndoOffer::Impossible(_) => None,
    });
    match (by, &row.entry.undoes) {
        (Some(by), _) if row.undone == row.count() => Some(format!("undone by {by}")),
        (Some(by), _) => Some(format!("{} of {} undone by {by}", row.undone, row.count())),
        (None, Some(undoes)) => Some(format!("undoes {}", short_id(undoes))),
        (None, None) => None,
    }
}

/// Draws one entry with its actions.
pub fn entry(model: &Model, row: &JournalRow, area: Rect, painter: &mut Painter<'_>) {
    let JournalRow { entry, actions, .. } = row;
    let title = Line::of(format!("Journal entry {}", short_id(&entry.plan)), Role::Title);
    let close = Line::of(format!("{}: close", model.screen_key(Action::Back)), Role::HintText);
    let inside = painter.pane(area, &title, &close, PaneFocus::Waits);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let width = usize::from(inside.width);
    let mut lines: Vec<Line> = entry.approvals.iter().flat_map(|one| approval_lines(model, one, width)).collect();
    lines.push(Line::of(end_text(model, entry), Role::Muted));
    if let Some(relation) = relation(row) {
        lines.push(Line::of(relation, Role::Text));
    }
    let shown = entry.actions.iter().zip(actions).filter(|(action, _)| !is_memory(&action.id));
    for (action, offer) in shown {
        lines.extend(action_lines(model, action, offer, width));
    }
    painter.lines(inside, &lines, 0);
}

fn approval_lines(model: &Model, approval: &Approval, width: usize) -> Vec<Line> {
    let clusters: Vec<String> = approval.clusters.iter().map(cluster_text).collect();
    let at = approval.at.to_zoned(model.time_zone()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let text = format!("approved {at} by {} ({}) for {}", user(approval), approval.how.as_str(), clusters.join("; "));
    wrapped(&text, width, 2, Role::Text)
}

/// `guest-payments, typed "guest-payments 938dd57c"`
fn cluster_text(cluster: &ApprovedCluster) -> String {
    let ApprovedCluster { name, identity: _, typed } = cluster;
    let typed = typed.as_ref().map_or_else(String::new, |typed| format!(", typed \"{typed}\""));
    format!("{name}{typed}")
}

fn end_text(model: &Model, entry: &Entry) -> String {
    match entry.finished {
        Some(at) => format!("finished {}", time(model, at)),
        None => "running or interrupted".to_owned(),
    }
}

/// `a1  deleted  Secret openshift-config/old  guest-a  19:44:02.204  verified 19:44:03.260  undo`
fn action_lines(model: &Model, action: &ActionEntry, offer: &UndoOffer, width: usize) -> Vec<Line> {
    let (cluster, target) = match (&action.sent, &action.standing) {
        (Some(sent), _) => (sent.cluster.as_str(), format!("{} {}", sent.target.kind, sent.target.place())),
        (None, ActionStanding::Skipped { cluster, target, .. }) => {
            (cluster.as_str(), format!("{} {}", target.kind, target.place()))
        }
        (None, _) => ("", String::new()),
    };
    let exact = |at: Timestamp| at.to_zoned(model.time_zone()).strftime("%H:%M:%S%.3f").to_string();
    let mut parts = vec![action.id.clone(), outcome_word(action).to_owned()];
    parts.extend(verb_of(action).filter(|_| action.sent.is_none()).map(|verb| verb.as_str().to_owned()));
    parts.extend([target, cluster.to_owned()]);
    parts.extend(action.sent.as_ref().map(|sent| format!("sent {}", exact(sent.at))));
    match &action.standing {
        ActionStanding::Verified { at, why, .. } => {
            parts.push(format!("verified {}", exact(*at)));
            parts.push(why.clone());
        }
        ActionStanding::Skipped { why, .. } => parts.push(why.clone()),
        ActionStanding::Prepared | ActionStanding::Open | ActionStanding::Answered(_) | ActionStanding::Resolved(_) => {
        }
    }
    parts.push(match offer {
        UndoOffer::Possible => "undoable".to_owned(),
        UndoOffer::Undone(by) => format!("undone by {}", short_id(by)),
        UndoOffer::Impossible(why) => format!("no undo: {why}"),
    });
    parts.retain(|part| !part.is_empty());
    wrapped(&parts.join("  "), width, 4, Role::Text)
}
