//! The findings as JUnit XML: a test suite per check, a test case per finding.
//!
//! Invariants: valid against the schemas of Ant and of Jenkins, which allow different things; text from clusters is escaped.
//!
//! A finding that does not match is a failure. `unknown` is an error, because nothing was tested: no runner counts it as
//! passed. An accepted finding is skipped, with the reason.

use std::collections::BTreeMap;

use super::vocabulary::{accepted_note, place};
use super::{Brief, FindingSource, Page};
use crate::render::xml::{line, lines};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Action, Finding, Plan, State};

/// How a test case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// Not judged.
    Error,
    /// Accepted.
    Skipped,
}

impl Outcome {
    fn of(state: State, is_accepted: bool) -> Self {
        match state {
            State::Match if is_accepted => Self::Skipped,
            State::Match => Self::Passed,
            State::Unknown => Self::Error,
            State::Missing | State::Extra | State::Drift | State::Stale | State::Error | State::Blocked => Self::Failed,
        }
    }
}

/// The counts of a test suite.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

/// Passes the document to `write`, in parts.
///
/// # Errors
/// That of `write`.
pub fn junit<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    let plan = page.plan;
    let counts = counts(plan.findings.brief());
    let actions: BTreeMap<&str, &Action> = plan.actions.iter().map(|action| (action.id.as_str(), action)).collect();
    write(&Printable::lines("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"))?;
    // Findings are sorted by their ids, which start with the check: each suite is one run of them.
    let (mut current, mut suites) = (None::<String>, 0);
    let case = |finding: Finding, _| (test_case(&finding, &actions), finding.domain);
    plan.findings.each(
        |_| true,
        case,
        |(text, check)| {
            if current.as_deref() != Some(check.as_str()) {
                if current.is_some() {
                    write(&suite_end())?;
                }
                let counts = counts.get(check.as_str()).copied().unwrap_or_default();
                write(&suite_start(plan, &check, suites, counts))?;
                suites += 1;
                current = Some(check);
            }
            write(&text)
        },
    )?;
    if suites > 0 {
        write(&suite_end())?;
    }
    write(&Printable::lines("</testsuites>\n"))
}

fn counts<'f>(findings: impl Iterator<Item = Brief<'f>>) -> BTreeMap<&'f str, Counts> {
    let mut all: BTreeMap<&str, Counts> = BTreeMap::new();
    for brief in findings {
        let counts = all.entry(brief.check).or_default();
        counts.tests += 1;
        match Outcome::of(brief.state, brief.is_accepted) {
            Outcome::Passed => {}
            Outcome::Failed => counts.failures += 1,
            Outcome::Error => counts.errors += 1,
            Outcome::Skipped => counts.skipped += 1,
        }
    }
    all
}

fn suite_start<F>(plan: &Plan<F>, check: &str, number: u64, counts: Counts) -> Printable {
    let Counts { tests, failures, errors, skipped } = counts;
    // The schema of Ant knows no time zone.
    let time = plan.created_at.strftime("%Y-%m-%dT%H:%M:%S");
    let check = line(check);
    let properties = [("plan", plan.id.as_str()), ("trueup", plan.engine.as_str())]
        .map(|(name, value)| format!("      <property name=\"{name}\" value=\"{}\"/>\n", line(value)));
    Printable::lines(&format!(
        "  <testsuite id=\"{number}\" package=\"trueup\" name=\"{check}\" hostname=\"localhost\" timestamp=\"{time}\" \
         tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"0\">\n    \
         <properties>\n{}    </properties>\n",
        properties.concat()
    ))
}

fn suite_end() -> Printable {
    Printable::lines("    <system-out/>\n    <system-err/>\n  </testsuite>\n")
}

fn test_case(finding: &Finding, actions: &BTreeMap<&str, &Action>) -> Printable {
    let Finding { domain, cluster, subject, state, verdict, summary, accepted, .. } = finding;
    let class = if cluster.is_empty() { line(domain) } else { line(&format!("{domain}.{cluster}")) };
    let name = line(&format!("{} {}", subject.kind, place(subject)));
    let is_accepted = accepted.as_ref().is_some_and(|accepted| accepted.state != State::Match);
    let start = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\"");
    let element = match Outcome::of(*state, is_accepted) {
        Outcome::Passed => return Printable::lines(&format!("{start}/>\n")),
        Outcome::Skipped => {
            format!("<skipped message=\"{}\"/>", line(&accepted_note(finding).unwrap_or_default()))
        }
        outcome @ (Outcome::Failed | Outcome::Error) => {
            let element = if outcome == Outcome::Error { "error" } else { "failure" };
            let (message, kind) = (line(&format!("{}: {summary}", state.as_str())), line(verdict));
            let details = lines(&details(finding, actions));
            format!("<{element} type=\"{kind}\" message=\"{message}\">{details}</{element}>")
        }
    };
    Printable::lines(&format!("{start}>\n      {element}\n    </testcase>\n"))
}

/// What a person reads below a failed test: id, evidence, and the actions with the gates that block them.
fn details(finding: &Finding, actions: &BTreeMap<&str, &Action>) -> String {
    let mut lines = vec![format!("finding: {}", finding.id)];
    if !finding.codes.is_empty() {
        lines.push(format!("codes: {}", finding.codes.join(", ")));
    }
    for evidence in &finding.evidence {
        let place = [evidence.object.as_str(), evidence.field.as_str()].join(" ");
        lines.push(format!("evidence: {} ({})", evidence.message, place.trim()));
    }
    for action in finding.actions.iter().filter_map(|id| actions.get(id.as_str())) {
        let target = format!("{} {}", action.target.kind, place(&action.target));
        lines.push(format!("action: {} {} {} {target}", action.id, action.tier, action.verb().as_str()));
        let blocked = action.blocked_by.iter();
        lines.extend(blocked.map(|blocked| format!("blocked by {}: {}", blocked.gate.as_str(), blocked.why)));
    }
    lines.join("\n")
}
