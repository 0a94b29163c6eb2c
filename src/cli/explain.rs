//! `trueup explain FINDING`: one finding in full.
//!
//! A finding is named by its id or a unique part of it, as kubectl spells an object (`secret/NAME -n NAMESPACE`), or by an
//! action of a saved plan (`a3 --plan FILE`). Accounts go by their number or their alias.
//!
//! Exit codes: 0 shown; 1 no finding or several match.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::borrow::Cow;

use jiff::Timestamp;

use super::args::{ExplainArgs, ExplainFormat, PlanArgs};
use super::context::Context;
use super::diff::{self, Sides};
use super::error::CliError;
use super::output::{self, Matches, Page};
use super::terminal::print;
use super::{apply, plan};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Finding, ObjectPattern, ObjectRef, Plan, Row, StreamedPlan};

const DOING: &str = "explain";

/// Candidates listed when the id does not match one finding.
const CANDIDATES_MAX: usize = 10;

pub async fn run(context: &Context, args: &ExplainArgs) -> Result<u8, CliError> {
    match &args.plan {
        Some(file) => {
            let plan = apply::read(DOING, file)?;
            let findings: Vec<Named<'_>> = plan.findings.iter().map(Named::of).collect();
            let finding = &plan.findings[pick(&plan, &findings, args)?];
            match args.diff {
                true => diff::show(context, &[Sides::of_finding(finding)]).await?,
                false => {
                    print(&rendered(&page(context, &plan, Timestamp::now()), finding, None, args.format)).map(drop)?
                }
            }
        }
        None => {
            let args_of_plan = PlanArgs { domains: named_check(context, &args.finding)?, ..PlanArgs::default() };
            let plan::Observed { fleet, updates: _updates, request, reading: _, reviewed: _ } =
                plan::observe(context, &args_of_plan).await?;
            let (own_context, own_args) = (context.clone(), args.clone());
            let explain = move |plan: StreamedPlan<'_>, now: Timestamp| match own_args.diff {
                true => found(&plan, &own_args).map(|(finding, _)| Shown::Diff(Sides::of_finding(&finding))),
                false => explained(&own_context, &plan, &own_args, now).map(Shown::Text),
            };
            let shown =
                fleet.plan_streamed(request, explain).await.map_err(|error| CliError::operate(DOING, &error))?;
            match shown? {
                Shown::Text(text) => print(&text).map(drop)?,
                Shown::Diff(sides) => diff::show(context, &[sides]).await?,
            }
        }
    }
    Ok(0)
}

/// Explains the finding that is named, as it is in the fleet.
///
/// # Errors
/// No finding or several match.
pub fn explained(
    context: &Context,
    plan: &StreamedPlan<'_>,
    args: &ExplainArgs,
    now: Timestamp,
) -> Result<Printable, CliError> {
    let (finding, created) = found(plan, args)?;
    Ok(rendered(&page(context, plan, now), &finding, created, args.format))
}

/// The finding that is named, and when its subject was created.
fn found(plan: &StreamedPlan<'_>, args: &ExplainArgs) -> Result<(Finding, Option<Timestamp>), CliError> {
    let findings: Vec<Named<'_>> = plan.findings.rows.iter().map(Named::of_row).collect();
    let place = pick(plan, &findings, args)?;
    Ok(plan.findings.one(&plan.findings.rows[place]))
}

/// What is shown of a finding of the fleet.
enum Shown {
    Text(Printable),
    Diff(Sides),
}

fn page<'p, F>(context: &Context, plan: &'p Plan<F>, now: Timestamp) -> Page<'p, F> {
    Page { plan, now, zone: context.zone(), terminal: context.terminal, matches: Matches::Listed }
}

/// What a finding is known by.
struct Named<'f> {
    id: &'f str,
    subject: Cow<'f, ObjectRef>,
    actions: &'f [String],
}

impl<'f> Named<'f> {
    fn of(finding: &'f Finding) -> Self {
        Self { id: &finding.id, subject: Cow::Borrowed(&finding.subject), actions: &finding.actions }
    }

    fn of_row(row: &'f Row<'_>) -> Self {
        Self { id: &row.id, subject: Cow::Owned(row.object()), actions: &row.actions }
    }
}

/// The check that a finding's id begins with: what the others need is not observed.
fn named_check(context: &Context, finding: &str) -> Result<Vec<String>, CliError> {
    let Some((first, _)) = finding.split_once('/') else { return Ok(Vec::new()) };
    let enabled = context.config()?.domains.0;
    let named = enabled.iter().map(|check| check.name().0).filter(|name| *name == first);
    Ok(named.map(str::to_owned).collect())
}

fn rendered<F>(page: &Page<'_, F>, finding: &Finding, created: Option<Timestamp>, format: ExplainFormat) -> Printable {
    Printable::styled(&match format {
        ExplainFormat::Table => output::explain_text(page, finding, created),
        ExplainFormat::Json => output::explain_json(page, finding),
    })
}

/// The place of the finding that is named: by its whole id, by an action of a saved plan, as kubectl spells an object, or
/// by a part of its id.
fn pick<F>(plan: &Plan<F>, findings: &[Named<'_>], args: &ExplainArgs) -> Result<usize, CliError> {
    let asked = with_account_numbers(plan, &args.finding);
    let exact = findings.iter().position(|finding| finding.id == asked);
    let of_action = || findings.iter().position(|finding| finding.actions.contains(&asked));
    if let Some(found) = exact.or_else(|| args.plan.as_ref().and_then(|_| of_action())) {
        return Ok(found);
    }
    let spelled = ObjectPattern::parse(&asked).ok().filter(ObjectPattern::has_name);
    let namespace = args.namespace.as_ref().filter(|_| !args.all_namespaces);
    let is_meant = |finding: &Named<'_>| {
        let in_namespace = namespace.is_none_or(|name| finding.subject.namespace.as_ref() == Some(name));
        let is_named = spelled.as_ref().is_some_and(|spelled| spelled.matches(&finding.subject));
        in_namespace && is_named
    };
    let places = |is_meant: &dyn Fn(&Named<'_>) -> bool| -> Vec<usize> {
        findings.iter().enumerate().filter(|(_, finding)| is_meant(finding)).map(|(place, _)| place).collect()
    };
    let mut candidates = places(&is_meant);
    if candidates.is_empty() && namespace.is_none() {
        candidates = places(&|finding| finding.id.contains(&asked));
    }
    match candidates.as_slice() {
        [one] => Ok(*one),
        [] => Err(no_match(findings, &args.finding)),
        many => Err(several_match(many.iter().map(|place| findings[*place].id).collect(), &args.finding)),
    }
}

/// The text with `ibm:<alias>` written as `ibm:<account number>`, as finding ids have it.
fn with_account_numbers<F>(plan: &Plan<F>, asked: &str) -> String {
    let accounts = plan.targets.iter().filter(|target| !target.identity.account.is_empty());
    let written = accounts.filter_map(|target| {
        let (cloud, _) = target.cluster.split_once(':')?;
        let place = asked.find(&target.cluster)?;
        let after = &asked[place + target.cluster.len()..];
        let is_whole = after.is_empty() || after.starts_with('/');
        is_whole.then(|| format!("{}{cloud}:{}{after}", &asked[..place], target.identity.account))
    });
    written.into_iter().next().unwrap_or_else(|| asked.to_owned())
}

fn no_match(findings: &[Named<'_>], asked: &str) -> CliError {
    let nearest = trueup_fleet::connect::nearest_names(asked, findings.iter().map(|finding| finding.id));
    let hint = match nearest.is_empty() {
        true => "there are no findings; see trueup plan".to_owned(),
        false => format!("similar ids: {}", nearest.join(", ")),
    };
    CliError::usage(DOING, format!("no finding matches \"{asked}\""), hint)
}

fn several_match(many: Vec<&str>, asked: &str) -> CliError {
    let mut names: Vec<&str> = many.iter().take(CANDIDATES_MAX).copied().collect();
    if many.len() > CANDIDATES_MAX {
        names.push("...");
    }
    let cause = format!("{} findings match \"{asked}\"", many.len());
    CliError::usage(DOING, cause, format!("name one of: {}", names.join(", ")))
}
