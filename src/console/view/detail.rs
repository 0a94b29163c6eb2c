//! Detail of one subject: verdict, difference, evidence, panels and fix.

use ratatui::layout::Rect;

use super::finder;
use super::paint::{Painter, PaneFocus};
use super::text::{Line, wrapped};
use super::{evidence, fields, panels};
use crate::console::hits::Hit;
use crate::console::keymap::{Action, Scope};
use crate::console::model::{Model, shown_name};
use crate::console::task::SubjectDetail;
use crate::console::theme::{Glyphs, Role};
use trueup_core::engine::{ActionDraft, Explanation, State, SubjectId, Undo};

pub fn draw(model: &Model, area: Rect, held: PaneFocus, painter: &mut Painter<'_>) {
    painter.hit(area, Hit::Detail);
    let subject = model.detail.subject.as_ref();
    let heading = group_lines(model, usize::from(area.width)).map_or("Nothing selected", |_| "Group");
    let title = subject.map_or(heading.to_owned(), |subject| {
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
    let lines = finder::marked(model, lines);
    painter.lines(inside, &lines, model.detail.scroll);
    painter.thumb(area.right() - 1, inside, lines.len(), model.detail.scroll);
}

/// The whole text, wrapped.
pub fn lines(model: &Model, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let Some(subject) = &model.detail.subject else {
        if let Some(lines) = group_lines(model, width) {
            return lines;
        }
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
        Some(detail) => lines.extend(subject_lines(model, subject, detail, state, width, glyphs)),
        None if model.detail.is_answered() && model.timeline.past.is_some() => {
            lines.push(Line::of("No evidence: this finding does not exist any more.", Role::Muted));
        }
        None if model.detail.is_answered() => {
            let text = format!("No details. {}: list everything again", model.screen_key(Action::Refresh));
            lines.push(Line::of(text, Role::Muted));
        }
        None => lines.push(Line::of(format!("Loading{}", glyphs.ellipsis), Role::Muted)),
    }
    lines
}

/// The group whose heading is selected, in full, and what its keys do.
fn group_lines(model: &Model, width: usize) -> Option<Vec<Line>> {
    let check = model.check()?;
    let head = check.list.cursor()?;
    let group = check.grouped().of_head(head)?;
    let shown = check.shown_below(head);
    let (plan, open) = (model.screen_key(Action::Reconcile), model.screen_key(Action::Open));
    let mut lines = wrapped(&group.sentence(&model.group_words()), width, 0, Role::Title);
    lines.push(Line::blank());
    lines
        .push(Line::of(format!("{plan}: plan a fix for all {shown}  {open}: open or close the group"), Role::HintText));
    Some(lines)
}

fn subject_lines(
    model: &Model,
    subject: &SubjectId,
    detail: &SubjectDetail,
    state: State,
    width: usize,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let explanation = &detail.explanation;
    let key_of = |action: Action| model.keys.keys(Scope::Detail, action).into_iter().next();
    let mut lines = wrapped(summary(explanation), width, 0, Role::Text);
    let diff_key = key_of(Action::ToggleDiff);
    let difference = fields::section(state, explanation, model.detail.diff, diff_key.as_deref(), width, glyphs);
    if !difference.is_empty() {
        lines.push(Line::blank());
        lines.extend(difference);
    }
    lines.push(Line::blank());
    lines.extend(evidence::section(model, subject, &explanation.evidence, width));
    let copy_key = key_of(Action::CopyCommand);
    for panel in &detail.panels {
        lines.push(Line::blank());
        lines.extend(panels::lines(panel, copy_key.as_deref(), width, glyphs));
    }
    lines.push(Line::blank());
    lines.push(Line::of("FIX", Role::Header));
    lines.extend(fix(model, explanation, state, width, glyphs));
    lines
}

/// The summary without the advice at its end, which is said under FIX.
fn summary(explanation: &Explanation) -> &str {
    let text = explanation.summary.as_str();
    let advice = explanation.evidence.iter().find(|line| line.is_advice()).filter(|_| explanation.remedy.is_empty());
    let without = advice.and_then(|advice| text.strip_suffix(advice.message.as_str())?.strip_suffix("; "));
    without.unwrap_or(text)
}

/// The actions that would repair it, or what a person has to do.
fn fix(model: &Model, explanation: &Explanation, state: State, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let mut lines: Vec<Line> =
        explanation.remedy.iter().flat_map(|draft| fix_lines(model, draft, width, glyphs)).collect();
    for advice in explanation.evidence.iter().filter(|line| line.is_advice()) {
        let message = match (explanation.remedy.is_empty(), state == State::Match) {
            (true, false) => format!("trueup cannot fix this. To fix it: {}", advice.message),
            (false, false) => format!("To fix its cause: {}", advice.message),
            (_, true) => advice.message.clone(),
        };
        lines.extend(wrapped(&message, width, 2, Role::Text));
    }
    if lines.is_empty() {
        let message = if state == State::Match { "Nothing to fix." } else { "trueup cannot fix this." };
        lines.push(Line::of(message, Role::Muted));
    }
    lines
}

fn fix_lines(model: &Model, draft: &ActionDraft, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let undo = match draft.undo {
        Undo::RestoreFromBackup => "sealed backup, undo possible",
        Undo::RemoveWhatWasAdded | Undo::DeleteWhatWasCreated | Undo::PutTagsBack => "undo possible",
        Undo::None => "no undo",
    };
    let kind = draft.target.resource.kind;
    let between = glyphs.separator;
    let key = model.keys.keys(Scope::Detail, Action::Reconcile).into_iter().next();
    let key = key
        .filter(|_| !model.timeline.refuses(Action::Reconcile))
        .map_or_else(String::new, |key| format!(" {between} {key}: plan it"));
    let what = format!(
        "{} {kind} {} ({}) {between} {undo}{key}",
        draft.verb().as_str(),
        draft.target.place(),
        draft.reason.as_str()
    );
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
