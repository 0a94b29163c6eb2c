//! Applies an approved plan from the command line and prints each action when it ends.
//!
//! Invariants: an interrupt before the run ends the command; during it, the action in flight is finished first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::args::{ApplyFormat, ConsentArgs, NewReference};
use super::context::Context;
use super::error::CliError;
use super::output::{padded, place};
use super::terminal::print;
use trueup_core::engine::executor::{ActionResult, Halt, OnNewReference, Progress, REFERENCE_SCAN_AFTER, Report};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Action, ApprovedPlan, Plan, short_id};
use trueup_operate::{ApplyOptions, Fleet, apply};

const DOING: &str = "apply";

/// The longest result of an action, and a gap.
const RESULT_COLUMNS: usize = 13;

/// Applies a plan and prints the results.
///
/// # Errors
/// The state folder, journal or vault cannot be used, or a cluster is not the one the plan was made for.
pub async fn run(context: &Context, fleet: &Fleet, approved: ApprovedPlan, args: &ConsentArgs) -> Result<u8, CliError> {
    let plan = approved.plan().clone();
    let stop = Arc::new(AtomicBool::new(false));
    let watcher = tokio::spawn(stop_when_interrupted(stop.clone()));
    let format = args.format;
    let mut waits = Waits::default();
    let mut progress = |action: &Action, progress: Progress<'_>| match progress {
        Progress::Ended(end) => print_result(context, format, action, end),
        Progress::Waiting { so_far, why } => {
            if let Some(minutes) = waits.due(&action.id, so_far) {
                print_wait(context, format, action, minutes, why);
            }
        }
        Progress::Intended | Progress::Sent | Progress::Answered => {}
    };
    let report = apply(fleet, approved, options(args), &stop, &mut progress).await;
    watcher.abort();
    let report = report.map_err(|error| CliError::operate(DOING, &error))?;
    show(context, format, &plan, &report)?;
    Ok(report.code())
}

fn options(args: &ConsentArgs) -> ApplyOptions {
    ApplyOptions {
        on_new_reference: match args.on_new_reference {
            NewReference::Restore => OnNewReference::Restore,
            NewReference::Report => OnNewReference::Report,
        },
        reference_scan_after: args.scan_references.unwrap_or(REFERENCE_SCAN_AFTER),
    }
}

async fn stop_when_interrupted(stop: Arc<AtomicBool>) {
    if super::interrupted().await.is_ok() {
        stop.store(true, Ordering::SeqCst);
    }
}

/// Minutes of each wait that were last printed: one line per minute.
#[derive(Default)]
struct Waits(BTreeMap<String, u64>);

impl Waits {
    /// The minutes a wait has taken, when a line is due.
    fn due(&mut self, action: &str, so_far: Duration) -> Option<u64> {
        let minutes = so_far.as_secs() / 60;
        let reported = self.0.insert(action.to_owned(), minutes);
        (minutes > 0 && reported != Some(minutes)).then_some(minutes)
    }
}

/// A line for an action that ended.
fn print_result(context: &Context, format: ApplyFormat, action: &Action, end: &ActionResult) {
    print_line(context, format, action, end.as_str(), end.why_of(action.verb()));
}

/// A line for an action that is waiting.
fn print_wait(context: &Context, format: ApplyFormat, action: &Action, minutes: u64, why: &str) {
    print_line(context, format, action, "waiting", &format!("for {minutes} min, {why}"));
}

/// A closed stdout does not stop a run.
fn print_line(context: &Context, format: ApplyFormat, action: &Action, word: &str, why: &str) {
    if format == ApplyFormat::Table {
        let Action { id, cluster, target, .. } = action;
        let what = format!("{id}  {} {cluster} {} {}", action.verb().as_str(), target.kind, place(target));
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let line = format!("{}{}", padded(word, RESULT_COLUMNS), context.terminal.safe(&(what + &why)));
        let _ = print(&Printable::styled(&line).ended());
    }
}

fn show(context: &Context, format: ApplyFormat, plan: &Plan, report: &Report) -> Result<(), CliError> {
    for notice in &report.notices {
        context.note(notice);
    }
    let text = match format {
        ApplyFormat::Table => {
            let counts: Vec<String> = report.counts().iter().map(|(word, count)| format!("{count} {word}")).collect();
            let halted = report.halted.as_ref().map(|halt| format!("; {}", halt.message())).unwrap_or_default();
            let message = format!("plan {}: {}{halted}", short_id(&plan.id), counts.join(", "));
            context.terminal.safe(&message)
        }
        ApplyFormat::Json => {
            let value =
                serde_json::to_string_pretty(&report_json(plan, report)).expect("the report consists of JSON values");
            trueup_core::engine::text::printable_json(&value)
        }
    };
    print(&Printable::styled(&text).ended())?;
    Ok(())
}

fn report_json(plan: &Plan, report: &Report) -> Value {
    let action = |action: &Action| {
        let end = report.ends.get(&action.id)?;
        Some(json!({ "id": action.id, "cluster": action.cluster, "verb": action.verb(), "target": action.target,
            "end": end.as_str(), "why": end.why_of(action.verb()) }))
    };
    let actions: Vec<Value> = plan.actions.iter().filter_map(action).collect();
    let halted = report.halted.as_ref().map(Halt::message);
    json!({ "schema": "trueup/apply/v1", "plan": plan.id, "actions": actions, "summary": report.counts(),
        "notices": report.notices, "halted": halted, "exit": report.code() })
}
