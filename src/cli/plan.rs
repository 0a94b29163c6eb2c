//! `trueup plan`: findings and their actions.
//!
//! Exit codes: 0 everything matches and nothing is blocked; 2 an action is not blocked; 3 anything else; 4 not within the
//! plan of `--within`.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;

use super::apply;
use super::args::{PlanArgs, PlanFormat};
use super::context::Context;
use super::error::CliError;
use super::fleet::{self, CheckFilter};
use super::out_file::{write_private, write_private_parts};
use super::output::{self, Matches, Page, Writer};
use super::selection;
use super::terminal::print_parts;
use super::watch::{self, ChangeFormat, Location};
use super::within;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Glob, InputReading, Plan, PlanScope, StreamedPlan, plan_exit};
use trueup_fleet::live::Update;
use trueup_fleet::observe::WatchStart;
use trueup_operate::{Fleet, KnownNames, OperateError, PlanRequest, Session};

const DOING: &str = "plan";

/// A fleet that was observed for a plan.
pub struct Observed {
    pub fleet: Fleet,
    pub updates: mpsc::Receiver<Update>,
    pub request: PlanRequest,
    /// How completely it was read.
    pub reading: InputReading,
    /// The plan that it has to stay within.
    pub reviewed: Option<Plan>,
}

pub async fn run(context: &Context, args: PlanArgs) -> Result<u8, CliError> {
    if args.watch {
        ChangeFormat::of(args.format)?;
    }
    let observed = observe(context, &args).await?;
    show(context, &args, observed, Location::Kubeconfig).await
}

/// Makes and prints a plan, and watches when that was asked for.
///
/// # Errors
/// The plan cannot be made or written.
pub async fn show(context: &Context, args: &PlanArgs, observed: Observed, location: Location) -> Result<u8, CliError> {
    let failed = |error: OperateError| CliError::operate(DOING, &error);
    let Observed { fleet, updates, request, reading, reviewed } = observed;
    let mut printed = match args.watch {
        true => watch::current_states(&fleet).await.map_err(failed)?,
        false => watch::Printed::new(),
    };
    let (own_context, own_args, session) = (context.clone(), args.clone(), fleet.session().clone());
    let write = move |plan: StreamedPlan<'_>, now: Timestamp| {
        let rows = plan.findings.rows.iter().filter(|_| own_args.watch);
        // What the plan shows, where the fleet changed since the states were read.
        printed.extend(rows.map(|row| (row.subject.clone(), (row.judgement.state, row.judgement.verdict))));
        if let (Some(path), Some(reviewed)) = (&own_args.within, &reviewed) {
            within::check(&own_context, path, &plan, reviewed)?;
        }
        let code = write(&own_context, &own_args, &session, plan, now, reading)?;
        Ok::<_, CliError>((code, printed))
    };
    let (code, printed) = fleet.plan_streamed(request, write).await.map_err(failed)??;
    if args.watch {
        return watch::run(context, location, ChangeFormat::of(args.format)?, fleet, printed, updates).await;
    }
    Ok(code)
}

/// Writes a plan to its file and to stdout. Returns the exit code.
fn write(
    context: &Context,
    args: &PlanArgs,
    session: &Session,
    mut plan: StreamedPlan<'_>,
    now: Timestamp,
    reading: InputReading,
) -> Result<u8, CliError> {
    if args.out.is_some() || matches!(args.format, PlanFormat::Json | PlanFormat::Yaml) {
        plan = marked(context, session, plan);
    }
    if let Some(path) = &args.out {
        let written = write_private_parts(path, |write| plan.write_file_text(write));
        report_saved(context, path, &plan.id, written)?;
    }
    note_unmatched_selection(context, args, &plan);
    let matches = if context.globals.verbose { Matches::Listed } else { Matches::Counted };
    let page = Page { plan: &plan, now, zone: context.zone(), terminal: context.terminal, matches };
    let json = |write: &mut Writer<'_, io::Error>| match args.watch {
        false => plan.write_file_text(write),
        // The first of the lines; the changes follow.
        true => {
            plan.write_file_text(|part| write(&watch::on_one_line(part)))?;
            write(&Printable::default().ended())
        }
    };
    print_parts(|write| output::plan(&page, args.format, json, write))?;
    Ok(plan_exit(&plan, reading).code())
}

/// A plan with the mark of the state folder.
pub fn marked<F>(context: &Context, session: &Session, plan: Plan<F>) -> Plan<F> {
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
    report_saved(context, path, &plan.id, write_private(path, &plan.file_text()))
}

fn report_saved(context: &Context, path: &Path, id: &str, written: Result<(), String>) -> Result<(), CliError> {
    written.map_err(|cause| {
        let hint = "name a file in a folder you can write to";
        CliError::failed(format!("--out {}", path.display()), cause, hint)
    })?;
    context.note(&format!("plan {id} written to {}", path.display()));
    Ok(())
}

/// Connects and observes what a plan needs.
///
/// # Errors
/// The configuration or the fleet cannot be used, or a filter matches nothing.
pub async fn observe(context: &Context, args: &PlanArgs) -> Result<Observed, CliError> {
    let config = context.config()?;
    let enabled: BTreeSet<String> = config.domains.0.iter().map(|check| check.name().0.to_owned()).collect();
    let filter = CheckFilter::of(globs("--domain", &args.domains, &enabled)?);
    let watches = if args.watch { WatchStart::AfterList } else { WatchStart::OnRequest };
    let (fleet, updates) = fleet::start(context, config, filter, watches).await?;
    observe_fleet(fleet, updates, args).await
}

/// Observes what a plan of this fleet needs.
///
/// # Errors
/// A filter matches nothing.
pub async fn observe_fleet(
    fleet: Fleet,
    updates: mpsc::Receiver<Update>,
    args: &PlanArgs,
) -> Result<Observed, CliError> {
    let reviewed = args.within.as_deref().map(|path| apply::read("plan --within", path)).transpose()?;
    let (request, reading) = request(&fleet, args).await?;
    Ok(Observed { fleet, updates, request, reading, reviewed })
}

/// Observes what a plan of this fleet needs, and returns the request for it.
///
/// # Errors
/// A filter matches nothing.
pub async fn request(fleet: &Fleet, args: &PlanArgs) -> Result<(PlanRequest, InputReading), CliError> {
    let failed = |error: OperateError| CliError::operate(DOING, &error);
    let settle: Duration = args.settle.unwrap_or_else(|| fleet.session().settings.settle());
    let observed = fleet.observe(settle).await.map_err(failed)?;
    let scope = scope(args, &fleet.known_names().await.map_err(failed)?)?;
    selection::require_matches(fleet, args, &scope).await?;
    let probes = match args.probe {
        true => fleet.probe(scope.clone()).await.map_err(failed)?,
        false => Default::default(),
    };
    let valid_for = valid_for(args, fleet.session())?;
    let request = PlanRequest { scope, deletes_max: args.max_deletes, settle, valid_for, probes };
    Ok((request, observed.reading))
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

/// The part the user wants to see. A filter that matches nothing is a mistake: "all match" would be the wrong answer.
fn scope(args: &PlanArgs, known: &KnownNames) -> Result<PlanScope, CliError> {
    Ok(PlanScope {
        changes_only: args.changes_only,
        acts_only: false,
        domains: globs("--domain", &args.domains, &known.checks)?,
        clusters: globs("--cluster", &args.clusters, &known.clusters)?,
        namespaces: match args.all_namespaces {
            true => Vec::new(),
            false => globs("--namespace", &args.namespaces, &known.namespaces)?,
        },
        subjects: None,
        objects: selection::objects(&args.objects)?,
        fields: selection::fields(args)?,
        selected_verdicts: selected_verdicts(&args.select)?,
    })
}

fn selected_verdicts(asked: &[String]) -> Result<Vec<Glob>, CliError> {
    let parsed = asked.iter().map(|text| Glob::parse(text));
    parsed.collect::<Result<_, _>>().map_err(|error| CliError::usage("--select", error.to_string(), ""))
}

/// Notes the patterns of `--select` that no finding has: a misspelt verdict selects nothing.
fn note_unmatched_selection(context: &Context, args: &PlanArgs, plan: &StreamedPlan<'_>) {
    let verdicts: BTreeSet<&str> = plan.findings.rows.iter().map(|row| row.judgement.verdict).collect();
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
