//! Panels of a check: lists, commands, strips, chains and bars.

use unicode_width::UnicodeWidthStr as _;

use super::text::{Line, wrapped};
use crate::console::theme::{Glyphs, Role};
use trueup_checks::{Panel, Step};
use trueup_core::engine::State;

/// Cells of a bar.
const BAR: u64 = 20;
/// From this width a chain is one line.
const CHAIN_FROM: usize = 78;

pub fn lines(panel: &Panel, copy_key: Option<&str>, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    match panel {
        Panel::Lines { title, lines } => {
            let body = lines.iter().flat_map(|line| wrapped(line, width, 2, Role::Text));
            [Line::of(*title, Role::Header)].into_iter().chain(body).collect()
        }
        Panel::Command { title, command } => {
            let mut lines = vec![Line::of(*title, Role::Header)];
            lines.extend(wrapped(command, width, 2, Role::Text));
            lines.extend(copy_key.map(|key| Line::of(format!("{key}: copy"), Role::Muted)));
            lines
        }
        Panel::Strip { title, steps } => steps_lines(title, steps, "   ", width, glyphs),
        Panel::Chain { title, links } => chain_lines(title, &unbroken(links), width, glyphs),
        Panel::Bar { title, done, of } => {
            let full = done * BAR / (*of).max(1);
            let full = usize::try_from(full.min(BAR)).unwrap_or(0);
            let rest = usize::try_from(BAR).unwrap_or(20) - full;
            let line = Line::of(glyphs.bar_full.repeat(full), Role::BarFull)
                .and(glyphs.bar_empty.repeat(rest), Role::BarEmpty)
                .and(format!("  {done} of {of}"), Role::Text);
            vec![Line::of(*title, Role::Header), line]
        }
    }
}

/// The links of a chain: what comes after the first broken one was not reached.
fn unbroken(links: &[Step]) -> Vec<Step> {
    let is_broken = |step: &Step| step.state.is_some_and(|state| state != State::Match);
    let reached = links.iter().position(is_broken).map_or(links.len(), |place| place + 1);
    let link = |(place, step): (usize, &Step)| {
        if place < reached { step.clone() } else { Step::not_judged(step.label.as_str()) }
    };
    links.iter().enumerate().map(link).collect()
}

/// A chain in one line, as far as it fits; on a narrow screen one link per line.
fn chain_lines(title: &'static str, links: &[Step], width: usize, glyphs: &Glyphs) -> Vec<Line> {
    if width >= CHAIN_FROM {
        return steps_lines(title, links, &format!(" {} ", glyphs.arrow), width, glyphs);
    }
    let column = links.iter().map(|step| step.label.width()).max().unwrap_or(0).min(width / 2);
    let mut lines = vec![Line::of(title, Role::Header)];
    for step in links {
        let glyph = step.state.map_or(glyphs.nothing, |state| glyphs.state(state));
        let label = format!("{}{}", step.label, " ".repeat(column.saturating_sub(step.label.width())));
        let about = [step.value.as_str(), step.note.as_str()].into_iter().filter(|text| !text.is_empty());
        let text = format!("{label}  {glyph} {}", about.collect::<Vec<_>>().join(": "));
        let role = step.state.map_or(Role::Muted, Role::from);
        lines.extend(wrapped(text.trim_end(), width, column + 4, role));
    }
    lines
}

fn steps_lines(title: &'static str, steps: &[Step], between: &str, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let mut lines = vec![Line::of(title, Role::Header)];
    let (mut line, mut used) = (Line::blank(), 0);
    for (place, step) in steps.iter().enumerate() {
        let glyph = step.state.map_or(glyphs.nothing, |state| glyphs.state(state));
        let text = format!("{} {glyph} {}", step.label, step.value);
        let text = text.trim_end();
        // The arrow to the next step is at the end of a line and must fit there.
        let after = if place + 1 == steps.len() { 0 } else { between.trim_end().width() };
        let before = if place == 0 { "" } else { between };
        line = line.and(before.trim_end(), Role::Border);
        if place > 0 && used + before.width() + text.width() + after > width {
            lines.push(std::mem::replace(&mut line, Line::of("  ", Role::Border)));
            used = 2 + text.width();
        } else {
            let blanks = &before[before.trim_end().len()..];
            line = line.and(blanks, Role::Border);
            used += before.width() + text.width();
        }
        line = line.and(text.to_owned(), step.state.map_or(Role::Muted, Role::from));
    }
    lines.push(line);
    let broken = steps.iter().filter(|step| step.state != Some(State::Match) && !step.note.is_empty());
    lines.extend(broken.flat_map(|step| wrapped(&format!("{}: {}", step.label, step.note), width, 2, Role::Muted)));
    lines
}
