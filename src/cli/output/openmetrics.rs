//! The numbers of a plan as OpenMetrics, for a scrape file or a push gateway.
//!
//! Invariants: no finding is made for it; a check of a cluster has all its states, so that no series disappears when its
//! last finding is fixed; label values are escaped.

use std::collections::BTreeMap;

use super::{FindingSource, Page};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Plan, State};

/// Findings by cluster, check and state.
type Findings<'f> = BTreeMap<(&'f str, &'f str), BTreeMap<State, u64>>;

/// Passes the text to `write`, in parts.
///
/// # Errors
/// That of `write`.
pub fn openmetrics<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    let plan = page.plan;
    write(&Printable::lines(
        "# TYPE trueup_findings gauge\n# HELP trueup_findings Findings by cluster, check and state.\n",
    ))?;
    for ((cluster, check), states) in &findings(plan) {
        let (cluster, check) = (label(cluster), label(check));
        let mut text = String::new();
        for state in State::ALL {
            let (number, state) = (states.get(&state).copied().unwrap_or_default(), state.as_str());
            text += &format!("trueup_findings{{cluster=\"{cluster}\",check=\"{check}\",state=\"{state}\"}} {number}\n");
        }
        write(&Printable::lines(&text))?;
    }
    write(&Printable::lines(
        "# TYPE trueup_actions gauge\n# HELP trueup_actions Planned actions by cluster, check, verb, and whether a gate blocks them.\n",
    ))?;
    let mut actions: BTreeMap<(&str, &str, &str, bool), u64> = BTreeMap::new();
    for action in &plan.actions {
        let is_blocked = !action.blocked_by.is_empty();
        *actions.entry((&action.cluster, &action.domain, action.verb().as_str(), is_blocked)).or_default() += 1;
    }
    for ((cluster, check, verb, blocked), number) in actions {
        let (cluster, check) = (label(cluster), label(check));
        let labels = format!("cluster=\"{cluster}\",check=\"{check}\",verb=\"{verb}\",blocked=\"{blocked}\"");
        write(&Printable::lines(&format!("trueup_actions{{{labels}}} {number}\n")))?;
    }
    write(&Printable::lines(&format!("{}# EOF\n", plan_metrics(plan))))
}

fn plan_metrics<F>(plan: &Plan<F>) -> String {
    let times = [("created", plan.created_at), ("expires", plan.expires_at)].map(|(what, at)| {
        let name = format!("trueup_plan_{what}_timestamp_seconds");
        format!("# TYPE {name} gauge\n# UNIT {name} seconds\n{name} {}\n", at.as_second())
    });
    let version = label(&plan.engine);
    format!("{}# TYPE trueup_build info\ntrueup_build_info{{version=\"{version}\"}} 1\n", times.concat())
}

fn findings<F: FindingSource>(plan: &Plan<F>) -> Findings<'_> {
    // A resource that belongs to no cluster counts for its account, by the name of that target.
    let accounts = plan.targets.iter().filter(|target| !target.identity.account.is_empty());
    let accounts: BTreeMap<&str, &str> =
        accounts.map(|target| (target.identity.account.as_str(), target.cluster.as_str())).collect();
    let mut all = Findings::new();
    for brief in plan.findings.brief() {
        let account = brief.account.and_then(|account| accounts.get(account).copied());
        let cluster = if brief.cluster.is_empty() { account.unwrap_or_default() } else { brief.cluster };
        *all.entry((cluster, brief.check)).or_default().entry(brief.state).or_default() += 1;
    }
    all
}

/// A label value: one line, with the escapes of OpenMetrics.
fn label(text: &str) -> String {
    Printable::line(text).replace('\\', "\\\\").replace('"', "\\\"")
}
