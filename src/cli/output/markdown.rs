//! The plan as Markdown, for a change ticket.
//!
//! Invariants: text from clusters cannot start markup.

use super::vocabulary::{accepted_note, place};
use super::{FindingSource, Page};
use crate::render::markdown::{escaped, header, row};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Action, Finding};
use trueup_core::world::ClusterIdentity;

/// Passes the document to `write`, in parts.
///
/// # Errors
/// That of `write`.
pub fn markdown<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    let plan = page.plan;
    let mut lines = vec![
        format!("# Plan `{}`", plan.id),
        String::new(),
        format!(
            "Made {}, valid until {}, by trueup {}.",
            page.time(plan.created_at),
            page.time(plan.expires_at),
            plan.engine
        ),
        String::new(),
        "## Clusters".to_owned(),
        String::new(),
    ];
    lines.extend(header(&["cluster", "class", "source", "kube-system uid"]));
    for target in &plan.targets {
        let ClusterIdentity { kube_system_uid, ca_sha256: _, account } = &target.identity;
        let who = if account.is_empty() { kube_system_uid.clone() } else { format!("account {account}") };
        lines.push(row([&*target.cluster, target.class.as_str(), target.source.as_str(), &who]));
    }
    lines.extend([String::new(), "## Actions".to_owned(), String::new()]);
    lines.extend(actions(&plan.actions));
    lines.extend([String::new(), "## Findings".to_owned()]);
    write(&text(&lines))?;
    let lines_of = |finding: Finding, _| text(&finding_lines(&finding));
    plan.findings.each(|state| page.lists(state), lines_of, |lines| write(&lines))?;
    match plan.findings.brief().filter(|brief| !page.lists(brief.state)).count() {
        0 => Ok(()),
        folded => write(&text(&[String::new(), format!("As expected: {folded}.")])),
    }
}

fn text(lines: &[String]) -> Printable {
    Printable::lines(&lines.join("\n")).ended()
}

fn actions(all: &[Action]) -> Vec<String> {
    if all.is_empty() {
        return vec!["None.".to_owned()];
    }
    let titles = ["", "id", "tier", "verb", "cluster", "target", "reason", "undo", "blocked by"];
    let mut lines = Vec::from(header(&titles));
    let mut sorted: Vec<&Action> = all.iter().collect();
    sorted.sort_by(|one, other| one.finding().cmp(&other.finding()));
    for action in sorted {
        let blocked: Vec<String> =
            action.blocked_by.iter().map(|blocked| format!("{}: {}", blocked.gate.as_str(), blocked.why)).collect();
        let target = format!("{} {}", action.target.kind, place(&action.target));
        let tick = if action.selected { "x" } else { "" };
        let tier = action.tier.to_string();
        lines.push(row([
            tick,
            &*action.id,
            &tier,
            action.verb().as_str(),
            &action.cluster,
            &target,
            action.reason.as_str(),
            action.undo.as_str(),
            &blocked.join("; "),
        ]));
    }
    lines
}

fn finding_lines(finding: &Finding) -> Vec<String> {
    let title = format!(
        "### {}: {} {}",
        finding.state.as_str(),
        escaped(&finding.subject.kind),
        escaped(&place(&finding.subject))
    );
    let mut lines = vec![
        String::new(),
        title,
        String::new(),
        format!("{}.", escaped(finding.summary.trim_end_matches('.'))),
        String::new(),
    ];
    lines.push(format!("- id: {}", escaped(&finding.id)));
    let codes = if finding.codes.is_empty() { String::new() } else { format!(" ({})", finding.codes.join(", ")) };
    lines.push(format!("- verdict: {}{}", escaped(&finding.verdict), escaped(&codes)));
    lines.extend(accepted_note(finding).map(|note| format!("- {}", escaped(&note))));
    for (number, evidence) in finding.evidence.iter().enumerate() {
        let place = [evidence.object.as_str(), evidence.field.as_str()].join(" ");
        lines.push(format!("- evidence {}: {} ({})", number + 1, escaped(&evidence.message), escaped(place.trim())));
    }
    lines
}
