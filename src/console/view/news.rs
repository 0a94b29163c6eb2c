//! The news: what changed in the fleet, from what to what, when, and by which field manager.
//!
//! Invariants: a line never takes more than its width; the time, the change and the cluster are kept whole.
//!
//! Elsewhere: what is news (`model::Feed`).

use jiff::tz::TimeZone;

use super::paint::Painter;
use super::text::Line;
use crate::console::model::{FeedLine, Model};
use crate::console::theme::Role;
use trueup_core::engine::{LinkState, RecordedChange, RecordedVerdict};

/// The entries as lines, newest first.
pub fn lines(model: &Model, width: usize, painter: &Painter<'_>) -> Vec<Line> {
    let zone = model.time_zone();
    model.feed.lines().map(|line| news_line(model, line, &zone, width, painter)).collect()
}

/// `19:34:02  guest-checkout  12 copies  = → −  oidcProviders 3 → 1  by hypershift-cli`
fn news_line(model: &Model, line: &FeedLine, zone: &TimeZone, width: usize, painter: &Painter<'_>) -> Line {
    let glyphs = painter.glyphs();
    let time = line.at().to_zoned(zone.clone()).strftime("%H:%M:%S").to_string();
    let plural = model.checks.iter().find(|check| Some(check.name) == line.check());
    let plural = plural.map_or("findings", |check| check.description.plural);
    let (from, to) = match &line.record.change {
        RecordedChange::Finding { from, to, .. } => {
            let mark = |verdict: &Option<RecordedVerdict>| match verdict {
                Some(verdict) => (glyphs.state(verdict.state).to_string(), Role::from(verdict.state)),
                None => (glyphs.nothing.to_owned(), Role::Muted),
            };
            (mark(from), mark(to))
        }
        RecordedChange::Link { from, to, .. } => {
            let role = |state: &LinkState| if *state == LinkState::Live { Role::Muted } else { Role::Warn };
            let mark = |state: &LinkState| (glyphs.link_state(*state).to_owned(), role(state));
            (mark(from), mark(to))
        }
    };
    let line = Line::of(format!("{time}  "), Role::Muted)
        .and(format!("{}  ", line.cluster()), Role::Text)
        .and(line.subject(plural), Role::Text)
        .and(format!("  {} {} ", from.0, glyphs.arrow), Role::Muted)
        .and(to.0, to.1)
        .and(format!("  {}", detail(line, glyphs.arrow)), Role::Muted);
    painter.shortened(line, width)
}

/// The edit behind it and its field manager; where none is known, the new verdict.
fn detail(line: &FeedLine, arrow: &str) -> String {
    let detail = line.detail(arrow);
    match (detail.is_empty(), line.check(), line.now()) {
        (true, Some(_), Some(now)) => now.verdict.to_owned(),
        (true, Some(_), None) => "removed".to_owned(),
        (true, None, _) | (false, _, _) => detail,
    }
}
