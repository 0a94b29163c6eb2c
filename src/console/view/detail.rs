//! Detail of one subject: expected and actual, evidence, and fix.

use ratatui::layout::Rect;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Painter, PaneFocus};
use super::text::{Line, wrap, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::{Action, Scope};
use crate::console::model::{Model, shown_name};
use crate::console::task::SubjectDetail;
use crate::console::theme::{Glyphs, Role};
use trueup_checks::{Panel, Step};
use trueup_core::engine::{ActionDraft, Evidence, State, Undo};

/// From this width expected and actual are side by side.
const BESIDE_FROM: usize = 56;
const BAR: u64 = 20;

pub fn draw(model: &Model, area: Rect, held: PaneFocus, painter: &mut Painter<'_>) {
    painter.hit(area, Hit::Detail);
    let subject = model.detail.subject.as_ref();
    let title = subject.map_or("Nothing selected".to_owned(), |subject| {
        let place = subject.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
        let name = shown_name(subject);
        format!("{} {place}{name}", subject.kind)
    });
    let right = subject.map_or_else(Line::blank, |subject| {
        let class = model.fleet.class_of(&subject.cluster);
        Line::of(format!("{} ", subject.cluster), Role::Text).and(painter.glyphs().class(class), Role::from(class))
    });
    let inside = painter.pane(area, &Line::of(title, Role::Title), &right, held);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = lines(model, usize::from(inside.width), painter.glyphs());
    painter.lines(inside, &lines, model.detail.scroll);
    painter.thumb(area.right() - 1, inside, lines.len(), model.detail.scroll);
}

/// The whole text, wrapped.
pub fn lines(model: &Model, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let Some(subject) = &model.detail.subject else {
        return vec![Line::of("Select a finding to see its explanation.", Role::Muted)];
    };
    let Some(held) = model.findings.get(subject) else {
        return vec![Line::of("This finding no longer exists.", Role::Muted)];
    };
    let state = held.judgement.state;
    let between = glyphs.separator;
    let mut head = Line::of(format!("{} {}", glyphs.state(state), state.as_str()), Role::from(state))
        .and(format!(" {between} {}", held.judgement.verdict), Role::Text);
    for code in &held.judgement.codes {
        head = head.and(format!(" {between} {code}"), Role::Muted);
    }
    let mut lines = vec![head];
    if let Some(rule) = model.accepted.rule(subject, model.now) {
        lines.extend(wrapped(&format!("accepted until {}: {}", rule.until, rule.reason), width, 0, Role::Muted));
    }
    // The result of a query comes first.
    if let Some((question, answer)) = &model.detail.answer {
        lines.push(Line::blank());
        lines.push(Line::of(question.to_uppercase(), Role::Header));
        lines.extend(answer.iter().flat_map(|line| wrapped(line, width, 2, Role::Text)));
        lines.push(Line::blank());
    }
    match &model.detail.content {
        Some(detail) => {
            let copy_keys = model.keys.keys(Scope::Detail, Action::CopyCommand);
            lines.extend(subject_lines(detail, copy_keys.first().map(String::as_str), state, width, glyphs));
        }
        None if model.detail.is_answered() => {
            let text = format!("No details. {}: list everything again", model.screen_key(Action::Refresh));
            lines.push(Line::of(text, Role::Muted));
        }
        None => lines.push(Line::of(format!("Loading{}", glyphs.ellipsis), Role::Muted)),
    }
    lines
}

fn subject_lines(
    detail: &SubjectDetail,
    copy_key: Option<&str>,
    state: State,
    width: usize,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let explanation = &detail.explanation;
    let mut lines = wrapped(&explanation.summary, width, 0, Role::Text);
    lines.push(Line::blank());
    // An informational finding has no comparison; "nothing" on both sides would mean that it is absent.
    if !(is_empty(&explanation.expected) && is_empty(&explanation.actual)) {
        lines.extend(both_sides(&explanation.expected, &explanation.actual, width, glyphs));
        lines.push(Line::blank());
    }
    lines.push(Line::of("WHY", Role::Header));
    let facts = || explanation.evidence.iter().filter(|line| !line.is_advice());
    for (place, evidence) in facts().enumerate() {
        lines.extend(evidence_lines(place + 1, evidence, width));
    }
    if facts().next().is_none() {
        lines.push(Line::of("No evidence besides the list.", Role::Muted));
    }
    for panel in &detail.panels {
        lines.push(Line::blank());
        lines.extend(panel_lines(panel, copy_key, width, glyphs));
    }
    lines.push(Line::blank());
    lines.push(Line::of("FIX", Role::Header));
    let advice: Vec<&str> =
        explanation.evidence.iter().filter(|line| line.is_advice()).map(|line| line.message.as_str()).collect();
    lines.extend(advice.iter().flat_map(|message| wrapped(message, width, 0, Role::Text)));
    if explanation.remedy.is_empty() && advice.is_empty() {
        let message = match state {
            State::Match => "Nothing to fix.",
            State::Missing
            | State::Extra
            | State::Drift
            | State::Stale
            | State::Unknown
            | State::Error
            | State::Blocked => "No automatic fix.",
        };
        lines.extend(wrapped(message, width, 0, Role::Muted));
    }
    lines.extend(explanation.remedy.iter().flat_map(|draft| fix_lines(draft, width, glyphs)));
    lines
}

fn is_empty(tree: &Value) -> bool {
    tree.is_null() || tree.as_object().is_some_and(|fields| fields.is_empty())
}

fn both_sides(expected: &Value, actual: &Value, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let divider = format!(" {} ", glyphs.divider);
    // With one side empty, the other uses the full width.
    if width < BESIDE_FROM || is_empty(expected) || is_empty(actual) {
        return [one_side("EXPECTED", expected, width), one_side("ACTUAL", actual, width)].concat();
    }
    let half = (width - 3) / 2;
    let (left, right) = (tree(expected, half), tree(actual, half));
    let mut lines = vec![
        Line::of(padded("EXPECTED", half), Role::Header)
            .and(divider.as_str(), Role::Border)
            .and("ACTUAL", Role::Header),
    ];
    for place in 0..left.len().max(right.len()) {
        let one = left.get(place).map(String::as_str).unwrap_or_default();
        let other = right.get(place).map(String::as_str).unwrap_or_default();
        let same = left.contains(&other.to_owned()) || other.is_empty();
        let role = if same { Role::Text } else { Role::Drift };
        lines.push(Line::of(padded(one, half), Role::Text).and(divider.as_str(), Role::Border).and(other, role));
    }
    lines
}

fn one_side(title: &str, side: &Value, width: usize) -> Vec<Line> {
    if is_empty(side) {
        return vec![Line::of(title, Role::Header).and(" nothing", Role::Text)];
    }
    let mut lines = vec![Line::of(title, Role::Header)];
    lines.extend(tree(side, width).into_iter().map(|text| Line::of(text, Role::Text)));
    lines
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// A tree as indented lines, like YAML.
fn tree(value: &Value, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    branch(value, 0, &mut lines);
    lines.iter().flat_map(|line| wrap(line, width, line.len() - line.trim_start().len() + 2)).collect()
}

fn branch(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match leaf(value) {
                    Some(text) => lines.push(format!("{indent}{key}: {text}")),
                    None => {
                        lines.push(format!("{indent}{key}:"));
                        branch(value, depth + 1, lines);
                    }
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                match leaf(item) {
                    Some(text) => lines.push(format!("{indent}- {text}")),
                    None => {
                        lines.push(format!("{indent}-"));
                        branch(item, depth + 1, lines);
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            lines.push(format!("{indent}{}", leaf(value).unwrap_or_default()));
        }
    }
}

fn leaf(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("nothing".to_owned()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.is_empty() => Some("[]".to_owned()),
        Value::Object(map) if map.is_empty() => Some("{}".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn evidence_lines(number: usize, evidence: &Evidence, width: usize) -> Vec<Line> {
    let mut lines = wrapped(&format!("{number} {}", evidence.message), width, 2, Role::Text);
    let mut source = format!("  {}", evidence.object);
    if !evidence.field.is_empty() {
        source.push_str(&format!("  {}", evidence.field));
    }
    if !evidence.resource_version.is_empty() {
        source.push_str(&format!("  (rv {})", evidence.resource_version));
    }
    lines.extend(wrapped(&source, width, 4, Role::Muted));
    lines
}

fn panel_lines(panel: &Panel, copy_key: Option<&str>, width: usize, glyphs: &Glyphs) -> Vec<Line> {
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
        Panel::Chain { title, links } => steps_lines(title, links, &format!(" {} ", glyphs.arrow), width, glyphs),
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

fn steps_lines(title: &'static str, steps: &[Step], between: &str, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let mut lines = vec![Line::of(title, Role::Header)];
    let (mut line, mut used) = (Line::blank(), 0);
    for (place, step) in steps.iter().enumerate() {
        let text = format!("{} {}", step.label, step.state.map_or(glyphs.nothing, |state| glyphs.state(state)));
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
        line = line.and(text, step.state.map_or(Role::Muted, Role::from));
    }
    lines.push(line);
    let broken = steps.iter().filter(|step| step.state != Some(State::Match) && !step.note.is_empty());
    lines.extend(broken.flat_map(|step| wrapped(&format!("{}: {}", step.label, step.note), width, 2, Role::Muted)));
    lines
}

fn fix_lines(draft: &ActionDraft, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let undo = match draft.undo {
        Undo::RestoreFromBackup => "undo from sealed backup",
        Undo::RemoveWhatWasAdded | Undo::DeleteWhatWasCreated | Undo::PutTagsBack => "undo possible",
        Undo::None => "no undo",
    };
    let kind = draft.target.resource.kind;
    let what = format!("{} {kind} {} ({}): {undo}", draft.verb().as_str(), draft.target.place(), draft.reason.as_str());
    let mut lines = wrapped(&what, width, 2, Role::Text);
    for proof in &draft.ownership {
        lines.extend(wrapped(&format!("  ours: {proof}"), width, 4, Role::Muted));
    }
    for blocked in &draft.blocked_by {
        let text = format!("  {} {}: {}", glyphs.state(State::Blocked), blocked.gate.as_str(), blocked.why);
        lines.extend(wrapped(&text, width, 4, Role::Blocked));
    }
    lines
}
