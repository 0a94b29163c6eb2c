//! What every screen has: the header, the tabs, the hints, and the messages.

use ratatui::layout::Rect;

use super::paint::Painter;
use super::text::{Line, wrap};
use crate::console::effect::MouseHold;
use crate::console::hits::{Hit, Tab};
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{Model, Place, ToastKind, Zone};
use crate::console::theme::Role;
use crate::engine::short_id;
use crate::world::{Cluster, Link};

/// The program, the clusters and how they are, and the plan.
pub fn header(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let right = header_right(model);
    let begin = painter.line_right(area.right() - 1, area.y, area.width / 2, &right);
    let mut x = painter.text(area.x + 1, area.y, 7, "trueup", Role::Title) + 2;
    let roots: Vec<&Cluster> = model.fleet.clusters().filter(|cluster| cluster.hosted_by.is_none()).collect();
    let mut left = roots.len();
    for cluster in roots {
        let chip = chip(model, cluster, painter);
        let needed: usize = chip.0.iter().map(|(text, _)| painter.width(text)).sum();
        let room = usize::from(begin.saturating_sub(x));
        if needed + 12 > room {
            break;
        }
        x = painter.line(x, area.y, begin - x, &chip) + 3;
        left -= 1;
    }
    if left > 0 {
        let room = begin.saturating_sub(x);
        painter.text(x, area.y, room, &format!("and {left} more"), Role::Muted);
    }
}

fn chip(model: &Model, cluster: &Cluster, painter: &mut Painter<'_>) -> Line {
    let (role, note) = link_words(model, cluster, painter);
    let line = Line::of(format!("{} ", painter.glyphs().link(&cluster.link)), role)
        .and(cluster.name.to_string(), Role::Text)
        .and(format!(" {}", cluster.class.word()), Role::from(cluster.class));
    if note.is_empty() { line } else { line.and(format!(" {note}"), role) }
}

/// How a link is, in a word or two; nothing where the dot says it all.
pub fn link_words(model: &Model, cluster: &Cluster, painter: &mut Painter<'_>) -> (Role, String) {
    match &cluster.link {
        Link::Idle => (Role::Muted, "idle".to_owned()),
        Link::Connecting => (Role::Warn, "connecting".to_owned()),
        Link::Listing { objects: 0 } => (Role::Warn, "listing".to_owned()),
        Link::Listing { objects } => (Role::Warn, format!("listing {objects}")),
        Link::Live { .. } => (Role::Ok, String::new()),
        Link::Degraded { gap: _, retry_at } => {
            let wait = retry_at.duration_since(model.now).as_secs().max(0);
            painter.changes(Some(model.now + jiff::SignedDuration::from_secs(1)));
            (Role::Warn, format!("lost, again in {wait}s"))
        }
        Link::AuthExpired { .. } => (Role::Error, "login expired".to_owned()),
        Link::Failed { .. } => (Role::Error, "unreachable".to_owned()),
        Link::Recorded => (Role::Muted, "recorded".to_owned()),
    }
}

fn header_right(model: &Model) -> Line {
    let mut line = Line::blank();
    if let Some(paused) = &model.paused {
        let time = paused.since.to_zoned(model.time_zone()).strftime("%H:%M:%S").to_string();
        let waiting = paused.waiting.findings.len() + paused.waiting.clusters.len();
        line = line.and(format!("PAUSED at {time}, {waiting} changes wait"), Role::Warn).and("  ", Role::Text);
    }
    if model.read_only().is_some() {
        line = line.and("read-only", Role::ReadOnly).and("  ", Role::Text);
    }
    if model.mouse == MouseHold::Released {
        line = line.and("mouse released", Role::Muted).and("  ", Role::Text);
    }
    if model.zone == Zone::Utc {
        line = line.and("UTC", Role::Muted).and("  ", Role::Text);
    }
    let plan = match (&model.plan, model.planning) {
        (_, Some(_)) => ("planning…".to_owned(), Role::Warn),
        (Some(sheet), None) => (format!("plan {}", short_id(&sheet.plan.id)), Role::Accent),
        (None, None) => ("no plan".to_owned(), Role::Muted),
    };
    line.and(plan.0, plan.1)
}

/// The screens there are.
pub fn tabs(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let mut tabs: Vec<(Tab, String, bool, u32)> =
        vec![(Tab::Fleet, "0 Fleet".to_owned(), model.place() == Place::Fleet, 0)];
    for (place, check) in model.checks.iter().enumerate() {
        let differences = model.findings.counts_of(check.name).differences();
        let title = format!("{} {}", place + 1, check.introduction.title);
        tabs.push((Tab::Check(place), title, model.place() == Place::Check(place), differences));
    }
    if model.plan.is_some() {
        tabs.push((Tab::Plan, "Plan".to_owned(), model.place() == Place::Plan, 0));
    }
    let running = u32::from(model.activity.is_running());
    tabs.push((Tab::Activity, "Activity".to_owned(), model.place() == Place::Activity, running));
    let (mut x, right) = (area.x + 1, area.right());
    for (tab, title, is_here, count) in tabs {
        let role = if is_here { Role::Title } else { Role::Muted };
        let shown = if is_here { format!("[{title}]") } else { format!(" {title} ") };
        let start = x;
        x = painter.text(x, area.y, right.saturating_sub(x), &shown, role);
        if count > 0 {
            x = painter.text(x, area.y, right.saturating_sub(x), &format!(" {count}"), Role::Drift) + 1;
        }
        painter.hit(Rect { x: start, width: x - start, ..area }, Hit::Tab(tab));
        x += 1;
    }
    let help = Line::of(super::key_of(model, Action::Help), Role::HintKey).and(" help ", Role::HintText);
    let start = painter.line_right(right, area.y, right.saturating_sub(x), &help);
    painter.hit(Rect { x: start, width: right - start, ..area }, Hit::Tab(Tab::Help));
}

/// The keys that do something here and now.
pub fn hints(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let hints = model.keys.hints(model.scope(), hinted(model));
    let mut x = area.x + 1;
    for (key, word) in hints {
        let needed = painter.width(&key) + 1 + painter.width(word);
        if usize::from(x) + needed > usize::from(area.right()) {
            break;
        }
        x = painter.text(x, area.y, area.right() - x, &key, Role::HintKey) + 1;
        x = painter.text(x, area.y, area.right() - x, word, Role::HintText) + 3;
    }
}

/// The actions worth a hint, most useful first.
fn hinted(model: &Model) -> &'static [Action] {
    use crate::console::keymap::Scope;
    match model.scope() {
        Scope::Fleet => &[
            Action::Open,
            Action::Reconcile,
            Action::Mark,
            Action::Filter,
            Action::Palette,
            Action::Reconnect,
            Action::GoActivity,
            Action::Help,
            Action::Quit,
        ],
        Scope::List => &[
            Action::Reconcile,
            Action::Mark,
            Action::ViewObject,
            Action::Events,
            Action::OpenReferrer,
            Action::Filter,
            Action::SortNext,
            Action::NextPane,
            Action::Accept,
            Action::Copy,
            Action::Back,
        ],
        Scope::Detail => &[
            Action::Down,
            Action::Up,
            Action::OpenReferrer,
            Action::ViewObject,
            Action::Reconcile,
            Action::Question,
            Action::Back,
        ],
        Scope::Plan if model.activity.is_running() => {
            &[Action::GoActivity, Action::Include, Action::ToggleDiff, Action::WritePlan, Action::Discard]
        }
        Scope::Plan => &[
            Action::Approve,
            Action::Include,
            Action::ToggleDiff,
            Action::DryRun,
            Action::WritePlan,
            Action::Refresh,
            Action::NextPane,
            Action::Discard,
        ],
        Scope::Activity if model.activity.is_running() => &[Action::Stop, Action::Down, Action::Up, Action::GoFleet],
        Scope::Activity => {
            &[Action::Undo, Action::Down, Action::Up, Action::CopyCommand, Action::Back, Action::GoFleet]
        }
        Scope::Object => {
            &[Action::ViewObject, Action::Events, Action::OpenPager, Action::Copy, Action::CopyCommand, Action::Back]
        }
        Scope::Logs => &[Action::Down, Action::Up, Action::OpenPager, Action::Back],
        Scope::Approval => &[Action::Open, Action::Back, Action::Down, Action::Up],
        Scope::Palette | Scope::Picker => &[Action::Open, Action::Back, Action::Down, Action::Up],
        Scope::Filter => &[Action::Open, Action::Complete, Action::Back],
        Scope::Help => &[Action::Down, Action::Up, Action::Back],
        Scope::Global => &[],
    }
}

/// Messages above the hints, newest lowest.
pub fn toasts(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let width = usize::from(layout.hints.width.saturating_sub(4)).min(100);
    let mut y = layout.hints.y;
    let toasts: Vec<_> = model.toasts.iter().collect();
    for toast in toasts.into_iter().rev() {
        let role = match toast.kind {
            ToastKind::Info => Role::Toast,
            ToastKind::Error => Role::ToastError,
        };
        let lines = wrap(&toast.says, width, 2);
        let height = u16::try_from(lines.len()).unwrap_or(1);
        if y < layout.main.y + height {
            break;
        }
        y -= height;
        for (place, text) in lines.iter().enumerate() {
            let shown = format!(" {text} ");
            let x = layout.hints.right().saturating_sub(u16::try_from(painter.width(&shown)).unwrap_or(0) + 1);
            let line_y = y + u16::try_from(place).unwrap_or(0);
            let room = layout.hints.right() - x;
            painter.text(x, line_y, room, &shown, role);
        }
    }
    painter.changes(model.toasts.next_end());
}

/// What may follow the keys pressed so far.
pub fn which_key(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let height = u16::try_from(model.follow.len()).unwrap_or(1) + 2;
    let width = 30;
    let bottom = layout.hints.y;
    let area =
        Rect { x: layout.hints.right().saturating_sub(width + 1), y: bottom.saturating_sub(height), width, height };
    painter.clear(area);
    let title = model.pressed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let inside = painter.boxed(area, &Line::of(title, Role::Title), &Line::blank(), super::paint::Held::Waits);
    for (y, (key, word)) in (inside.y..inside.bottom()).zip(&model.follow) {
        let line = Line::of(format!(" {key:<6}"), Role::HintKey).and(*word, Role::HintText);
        painter.line(inside.x, y, inside.width, &line);
    }
}
