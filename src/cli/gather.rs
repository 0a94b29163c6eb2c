//! `trueup gather DIR`: a redacted snapshot of what the checks read, for `--from`.
//!
//! Exit codes: 0 the snapshot is complete and gives the same findings; 3 something is incomplete or judged otherwise; 1
//! nothing was gathered.

use super::args::GatherArgs;
use super::context::Context;
use super::error::CliError;
use super::fleet;
use super::output::count;
use super::terminal::print;
use trueup_core::engine::State;
use trueup_core::engine::text::Printable;
use trueup_operate::{GatherReport, OperateError, OtherFinding};

const DOING: &str = "gather";
/// Exit code when the snapshot says less than the fleet.
const NOT_WHOLE: u8 = 3;
/// Lines of one sort that are shown one by one.
const SHOWN_MAX: usize = 20;

pub async fn run(context: &Context, args: &GatherArgs) -> Result<u8, CliError> {
    let failed = |error: OperateError| CliError::operate(DOING, &error);
    let checks = context.config()?.domains.0;
    let (fleet, late) = fleet::connect(context, context.config()?).await?;
    for cluster in late {
        context.note(&format!("{cluster} has not answered completely"));
    }
    let from = context.globals.from.as_deref();
    let report = fleet.gather(&args.folder, from, checks).await.map_err(failed)?;
    print(&Printable::lines(&summary(&args.folder.display().to_string(), &report)).ended())?;
    note(context, &report);
    let is_whole = report.incomplete.is_empty() && report.other_findings.is_empty();
    Ok(if is_whole { 0 } else { NOT_WHOLE })
}

fn summary(folder: &str, report: &GatherReport) -> String {
    let GatherReport { clusters, accounts, objects, .. } = report;
    let mut parts = vec![count(*objects, "object"), count(*clusters, "cluster")];
    parts.extend((*accounts > 0).then(|| count(*accounts, "account")));
    format!("{folder} written: {}", parts.join(", "))
}

/// Notes what the snapshot does not hold.
fn note(context: &Context, report: &GatherReport) {
    for (cluster, name) in &report.renamed {
        context.note(&format!("{cluster} is named {name} in the snapshot"));
    }
    if report.without_own_contexts {
        context.note("contexts of your own kubeconfig files are not gathered");
    }
    let incomplete =
        report.incomplete.iter().map(|(cluster, what, why)| format!("{cluster}: {what} is incomplete: {why}"));
    lines(context, incomplete.collect());
    lines(context, report.other_findings.iter().map(other).collect());
}

fn lines(context: &Context, all: Vec<String>) {
    all.iter().take(SHOWN_MAX).for_each(|line| context.note(line));
    if all.len() > SHOWN_MAX {
        context.note(&format!("and {} more", all.len() - SHOWN_MAX));
    }
}

fn other(finding: &OtherFinding) -> String {
    let OtherFinding { finding, fleet, snapshot } = finding;
    let judged = |judged: &Option<(State, &str)>| match judged {
        Some((state, verdict)) => format!("{} ({verdict})", state.as_str()),
        None => "no finding".to_owned(),
    };
    format!("{finding}: {} in the fleet, {} in the snapshot", judged(fleet), judged(snapshot))
}
