//! One finding in full.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Page;
use super::text::wrapped;
use super::vocabulary::{accepted_note, age, place, state_mark};
use crate::cli::terminal::Style;
use trueup_core::engine::text::printable_json;
use trueup_core::engine::{Action, Finding};

/// Renders the finding as text.
pub fn explain_text<F>(page: &Page<'_, F>, finding: &Finding, created: Option<Timestamp>) -> String {
    let terminal = &page.terminal;
    let (glyph, word, style) = state_mark(finding.state, terminal);
    let dot = terminal.pick(" · ", ", ");
    let mut head = vec![terminal.paint(&format!("{glyph} {word}"), style), terminal.safe(&finding.verdict)];
    head.extend(finding.codes.iter().map(|code| terminal.safe(code)));
    head.extend(created.map(|at| format!("created {} ago", age(at, page.now))));
    let subject = format!("{} {}", finding.subject.kind, place(&finding.subject));
    let cluster = if finding.cluster.is_empty() { String::new() } else { format!(" in {}", finding.cluster) };
    let mut lines = vec![
        terminal.paint(&terminal.safe(&format!("{subject}{cluster}")), Style::Title),
        head.join(dot),
        terminal.safe(&finding.summary),
        format!("id: {}", terminal.safe(&finding.id)),
    ];
    lines.extend(accepted_note(finding).map(|note| terminal.safe(&note)));
    section(page, &mut lines, "EXPECTED", tree(page, &finding.expected));
    section(page, &mut lines, "ACTUAL", tree(page, &finding.actual));
    section(page, &mut lines, "EVIDENCE", evidence(page, finding));
    let mut fixes = remedy(page, &actions_of(page, finding));
    let advice = finding.evidence.iter().filter(|line| line.is_advice());
    fixes.extend(advice.map(|line| terminal.safe(&line.message)));
    section(page, &mut lines, "REMEDY", fixes);
    lines.join("\n") + "\n"
}

/// Renders the finding and its actions as JSON.
pub fn explain_json<F>(page: &Page<'_, F>, finding: &Finding) -> String {
    let answer = json!({
        "schema": "trueup/explain/v1",
        "plan": page.plan.id,
        "finding": finding,
        "actions": actions_of(page, finding),
    });
    let text = serde_json::to_string_pretty(&answer).expect("findings and actions are JSON");
    printable_json(&text) + "\n"
}

fn actions_of<'p, F>(page: &Page<'p, F>, finding: &Finding) -> Vec<&'p Action> {
    page.plan.actions.iter().filter(|action| finding.actions.contains(&action.id)).collect()
}

fn section<F>(page: &Page<'_, F>, lines: &mut Vec<String>, title: &str, content: Vec<String>) {
    lines.push(String::new());
    lines.push(page.terminal.paint(title, Style::Title));
    let content = if content.is_empty() { vec!["nothing".to_owned()] } else { content };
    for line in content {
        // Below the text, not below its number.
        let indent = 4 + line.len() - line.trim_start().len();
        let wrapped = wrapped(&format!("  {line}"), page.terminal.width, indent);
        lines.extend(wrapped.into_iter().map(|line| line.trim_end().to_owned()));
    }
}

/// A value as indented `key: value` lines.
fn tree<F>(page: &Page<'_, F>, value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| branch(page, &format!("{key}:"), value)).collect()
        }
        Value::Array(items) => items.iter().flat_map(|value| branch(page, "-", value)).collect(),
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::String(text) => text.lines().map(|line| page.terminal.safe(line)).collect(),
    }
}

fn branch<F>(page: &Page<'_, F>, label: &str, value: &Value) -> Vec<String> {
    let label = page.terminal.safe(label);
    let mut below = tree(page, value);
    let short = below.len() == 1 && !value.is_object() && !value.is_array();
    if value.as_object().is_some_and(serde_json::Map::is_empty) {
        vec![format!("{label} {{}}")]
    } else if value.as_array().is_some_and(Vec::is_empty) {
        vec![format!("{label} []")]
    } else if below.is_empty() {
        vec![format!("{label} -")]
    } else if short {
        vec![format!("{label} {}", below.remove(0))]
    } else {
        std::iter::once(label).chain(below.into_iter().map(|line| format!("  {line}"))).collect()
    }
}

fn evidence<F>(page: &Page<'_, F>, finding: &Finding) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, evidence) in finding.evidence.iter().filter(|line| !line.is_advice()).enumerate() {
        lines.push(format!("{} {}", number + 1, page.terminal.safe(&evidence.message)));
        let version = match evidence.resource_version.as_str() {
            "" => String::new(),
            version => format!("(version {version})"),
        };
        let parts = [evidence.object.as_str(), evidence.field.as_str(), version.as_str()];
        let place: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        lines.push(format!("  {}", page.terminal.paint(&page.terminal.safe(&place.join(" ")), Style::Muted)));
    }
    lines
}

fn remedy<F>(page: &Page<'_, F>, actions: &[&Action]) -> Vec<String> {
    let terminal = &page.terminal;
    let mut lines = Vec::new();
    for action in actions {
        let target = terminal.safe(&format!("{} {}", action.target.kind, place(&action.target)));
        let tick = if action.selected { "[x]" } else { "[ ]" };
        lines.push(format!("{tick} {} {} {target}", action.id, action.verb().as_str()));
        lines.push(format!(
            "    tier {}, reason {}, undo: {}",
            action.tier,
            action.reason.as_str(),
            action.undo.as_str()
        ));
        lines.extend(action.ownership.iter().map(|proof| format!("    owned: {}", terminal.safe(proof))));
        for blocked in &action.blocked_by {
            lines.push(format!("    blocked by {}: {}", blocked.gate.as_str(), terminal.safe(&blocked.why)));
        }
        lines.extend(action.diff.lines().map(|line| format!("    {}", terminal.safe(line))));
    }
    lines
}
