//! One page of findings.
//!
//! Invariants: a page has at most [`PAGE_MAX`] findings; counts are those of all findings the filters for check and cluster
//! leave, so that a page that hides something says so.

use serde_json::{Value, json};

use super::tools::FindingsCall;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Finding, InputReading, Row, State, StreamedPlan};

/// Findings on a page.
pub const PAGE: usize = 50;
/// About 100 kB of JSON, at half a kilobyte a finding.
pub const PAGE_MAX: usize = 200;

const SCHEMA: &str = "trueup/mcp/findings/v1";

/// The page that a call asks for.
pub fn page(plan: &StreamedPlan<'_>, call: &FindingsCall, reading: InputReading) -> Printable {
    let is_wanted = |row: &&Row<'_>| match call.states.as_slice() {
        [] => row.state() != State::Match,
        states => states.contains(&row.state()),
    };
    let wanted: Vec<&Row<'_>> = plan.findings.rows.iter().filter(is_wanted).collect();
    let limit = call.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let shown = wanted.iter().skip(call.from).take(limit);
    let findings: Vec<Value> = shown.map(|row| brief(plan.findings.one(row).0)).collect();
    let next = call.from.saturating_add(findings.len());
    let page = json!({
        "schema": SCHEMA,
        "complete": reading == InputReading::Whole,
        "states": plan.summary.findings,
        "matching": wanted.len(),
        "next": (next < wanted.len()).then_some(next),
        "findings": findings,
    });
    Printable::json(&page.to_string())
}

/// A finding without evidence and trees, which `explain_finding` returns.
fn brief(finding: Finding) -> Value {
    let Finding {
        id,
        domain,
        cluster,
        subject,
        state,
        verdict,
        codes,
        summary,
        evidence: _,
        expected: _,
        actual: _,
        actions,
        accepted,
    } = finding;
    json!({
        "id": id,
        "check": domain,
        "cluster": cluster,
        "subject": subject,
        "state": state,
        "verdict": verdict,
        "codes": codes,
        "summary": summary,
        "has_actions": !actions.is_empty(),
        "accepted": accepted,
    })
}
