//! `trueup plan`: findings and their actions.
//!
//! Exit codes: 0 everything matches and nothing is blocked; 2 an action is not blocked; 3 anything else.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::sync::mpsc;

use super::args::{PlanArgs, PlanFormat};
use super::context::Context;
use super::error::CliError;
use super::fleet::{self, CheckFilter};
use super::out_file::write_private;
use super::output::{self, Matches, Page};
use super::terminal::print;
use super::watch::{self, Location};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Glob, InputReading, Plan, PlanScope, plan_exit};
use trueup_fleet::live::Update;
use trueup_operate::{Fleet, KnownNames, OperateError, PlanRequest, Planned, Session};

const DOING: &str = "plan";

/// A plan, and how completely the fleet was read.
pub struct Made {
    pub fleet: Fleet,
    pub updates: mpsc::Receiver<Update>,
    pub planned: Planned,
    pub reading: InputReading,
}

pub async fn run(context: &Context, args: PlanArgs) -> Result<u8, CliError> {
    let made = make(context, &args).await?;
    show(context, &args, made, Location::Kubeconfig).await
}

/// Prints a plan, and watches when that was asked for.
///
/// # Errors
/// The plan cannot be written to its file.
pub async fn show(context: &Context, args: &PlanArgs, made: Made, location: Location) -> Result<u8, CliError> {
    let Made { fleet, updates, mut planned, reading } = made;
    if args.out.is_some() || args.format == PlanFormat::Json {
        planned.plan = marked(context, fleet.session(), planned.plan);
    }
    if let Some(path) = &args.out {
        save(context, path, &planned.plan)?;
    }
    let matches = if context.globals.verbose { Matches::Listed } else { Matches::Counted };
    let page = page(context, &planned, matches);
    let text = match args.format {
        PlanFormat::Table => output::table(&page),
        PlanFormat::Json => planned.plan.file_text().into(),
        PlanFormat::Markdown => output::markdown(&page).into(),
        PlanFormat::Csv => output::csv(&page).into(),
    };
    note_unmatched_selection(context, args, &planned.plan);
    let printed = watch::current_states(&fleet).await.map_err(|error| CliError::operate(DOING, &error))?;
    print(&Printable::styled(&text))?;
    if args.watch {
        return watch::run(context, location, fleet, printed, updates).await;
    }
    Ok(plan_exit(&planned.plan, reading).code())
}

/// A plan with the mark of the state folder.
pub fn marked(context: &Context, session: &Session, plan: Plan) -> Plan {
    match session.mark_key() {
        Ok(key) => plan.marked(&key),
        Err(error) => {
            context.note(&format!("plan has no mark, apply it with --foreign-plan: {}", error.cause()));
            plan
        }
    }
}

/// Writes a plan to a file.
///
/// # Errors
/// The file cannot be written.
pub fn save(context: &Context, path: &Path, plan: &Plan) -> Result<(), CliError> {
    write_private(path, &plan.file_text()).map_err(|cause| {
        let hint = "name a file in a folder you can write to";
        CliError::failed(format!("--out {}", path.display()), cause, hint)
    })?;
    context.note(&format!("plan {} written to {}", plan.id, path.display()));
    Ok(())
}

/// Connects, observes and builds the plan.
///
/// # Errors
/// The configuration or the fleet cannot be used, or a filter matches nothing.
pub async fn make(context: &Context, args: &PlanArgs) -> Result<Made, CliError> {
    let config = context.config()?;
    let enabled: BTreeSet<String> = config.domains.0.iter().map(|check| check.name().0.to_owned()).collect();
    let filter = CheckFilter::of(globs("--domain", &args.domains, &enabled)?);
    let (fleet, updates) = fleet::start(context, config, filter).await?;
    make_of(fleet, updates, args).await
}

/// Observes a fleet and builds the plan.
///
/// # Errors
/// A filter matches nothing.
pub async fn make_of(fleet: Fleet, updates: mpsc::Receiver<Update>, args: &PlanArgs) -> Result<Made, CliError> {
    let failed = |error: OperateError| CliError::operate(DOING, &error);
    let settle: Duration = args.settle.unwrap_or_else(|| fleet.session().settings.settle());
    let observed = fleet.observe(settle).await.map_err(failed)?;
    let scope = scope(args, &fleet.known_names().await.map_err(failed)?)?;
    let probes = match args.probe {
        true => fleet.probe(scope.clone()).await.map_err(failed)?,
        false => Default::default(),
    };
    let valid_for = valid_for(args, fleet.session())?;
    let request = PlanRequest { scope, deletes_max: args.max_deletes, settle, valid_for, probes };
    let planned = fleet.plan(request).await.map_err(failed)?;
    Ok(Made { fleet, updates, planned, reading: observed.reading })
}

/// `--valid-for`, within `[safety] plan_ttl_max`.
fn valid_for(args: &PlanArgs, session: &Session) -> Result<Option<SignedDuration>, CliError> {
    let Some(span) = args.valid_for else { return Ok(None) };
    let (span, most) =
        (SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX), session.settings.safety.plans.ttl_max);
    match span > most {
        true => Err(CliError::usage("--valid-for", format!("{span:#} is more than plan_ttl_max, {most:#}"), "")),
        false => Ok(Some(span)),
    }
}

/// How the plan is shown.
pub fn page<'p>(context: &Context, planned: &'p Planned, matches: Matches) -> Page<'p> {
    let zone = context.zone();
    let created = planned.created.clone();
    Page { plan: &planned.plan, created, now: planned.now, zone, terminal: context.terminal, matches }
}

/// The part the user wants to see. A filter that matches nothing is a mistake: "all match" would be the wrong answer.
fn scope(args: &PlanArgs, known: &KnownNames) -> Result<PlanScope, CliError> {
    Ok(PlanScope {
        changes_only: args.changes_only,
        acts_only: false,
        domains: globs("--domain", &args.domains, &known.checks)?,
        clusters: globs("--cluster", &args.clusters, &known.clusters)?,
        namespaces: globs("--namespace", &args.namespaces, &known.namespaces)?,
        subjects: None,
        selected_verdicts: selected_verdicts(&args.select)?,
    })
}

fn selected_verdicts(asked: &[String]) -> Result<Vec<Glob>, CliError> {
    let parsed = asked.iter().map(|text| Glob::parse(text));
    parsed.collect::<Result<_, _>>().map_err(|error| CliError::usage("--select", error.to_string(), ""))
}

/// Notes the patterns of `--select` that no finding has: a misspelt verdict selects nothing.
fn note_unmatched_selection(context: &Context, args: &PlanArgs, plan: &Plan) {
    let verdicts: BTreeSet<&str> = plan.findings.iter().map(|finding| finding.verdict.as_str()).collect();
    for text in &args.select {
        let is_found = Glob::parse(text).is_ok_and(|glob| verdicts.iter().any(|verdict| glob.matches(verdict)));
        if !is_found {
            let there = verdicts.iter().copied().collect::<Vec<_>>().join(", ");
            context.note(&format!("--select {text}: no finding has this verdict; there are: {there}"));
        }
    }
}

fn globs(flag: &str, asked: &[String], known: &BTreeSet<String>) -> Result<Vec<Glob>, CliError> {
    let mut globs = Vec::new();
    for text in asked {
        let glob = Glob::parse(text).map_err(|error| CliError::usage(flag, error.to_string(), ""))?;
        if !known.iter().any(|name| glob.matches(name)) {
            let nearest = trueup_fleet::connect::nearest_names(text, known.iter().map(String::as_str));
            let hint = match nearest.is_empty() {
                true => "nothing was found to choose from".to_owned(),
                false => format!("there are: {}", nearest.join(", ")),
            };
            return Err(CliError::usage(flag, format!("no match for {text}"), hint));
        }
        globs.push(glob);
    }
    Ok(globs)
}
