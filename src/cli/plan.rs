//! `trueup plan`: findings and the actions that would settle them.
//!
//! Exit codes: 0 everything matches and nothing is blocked; 2 something can be done; 3 anything else.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::args::{PlanArgs, PlanFormat};
use super::context::Context;
use super::error::CliError;
use super::look::{ObservedFleet, Seen, look};
use super::out_file::write_private;
use super::output::{self, Matches, Page};
use super::own_login;
use super::probe;
use super::terminal::print;
use super::watch::{self, Ways};
use crate::config::Config;
use trueup_core::engine::{
    AcceptRule, Conditions, Glob, Judged, Observed, Plan, PlanInput, PlanScope, ReadOnly, build, plan_exit,
};
use trueup_core::world::{Cluster, ClusterSource, View};

/// How long a verdict has to hold when neither the flag nor the config says.
pub const SETTLE: Duration = Duration::from_secs(5);

/// What the user wants of a look, beyond where to look.
pub struct Wishes {
    /// How long a verdict has to hold before its delete is offered.
    pub settle: Duration,
}

/// A plan with what is needed to show it.
pub struct Planned {
    pub plan: Plan,
    pub seen: Seen,
    pub created: BTreeMap<String, Timestamp>,
}

pub async fn run(context: &Context, args: PlanArgs) -> Result<u8, CliError> {
    let planned = make(context, &args).await?;
    show(context, &args, planned, Ways::Kubeconfig).await
}

/// Prints a plan, and goes on watching when that was asked for.
///
/// # Errors
/// The plan can't be written where it should be.
pub async fn show(context: &Context, args: &PlanArgs, planned: Planned, ways: Ways) -> Result<u8, CliError> {
    if let Some(path) = &args.out {
        let doing = format!("--out {}", path.display());
        write_private(path, &output::json(&planned.plan))
            .map_err(|cause| CliError::failed(doing, cause, "name a file in a folder you can write to"))?;
        context.note(&format!("plan {} written to {}", planned.plan.id, path.display()));
    }
    let matches = if context.globals.verbose { Matches::Listed } else { Matches::Counted };
    let page = page(context, &planned, matches);
    let text = match args.format {
        PlanFormat::Table => output::table(&page),
        PlanFormat::Json => output::json(&planned.plan),
        PlanFormat::Markdown => output::markdown(&page),
        PlanFormat::Csv => output::csv(&page),
    };
    print(&text)?;
    let exit = plan_exit(&planned.plan, planned.seen.reading).code();
    match planned.seen.sight {
        ObservedFleet::Fleet(live) if args.watch => watch::run(context, ways, *live).await,
        ObservedFleet::Fleet(_) | ObservedFleet::Folder { .. } => Ok(exit),
    }
}

/// RenderSettings, judges and builds the plan.
///
/// # Errors
/// The config or the place to look at can't be used, or a filter names nothing that is there.
pub async fn make(context: &Context, args: &PlanArgs) -> Result<Planned, CliError> {
    let mut config = context.config()?;
    let wishes = Wishes { settle: args.settle.or(config.safety.settle).unwrap_or(SETTLE) };
    let mut seen = look(context, &mut config, &wishes).await?;
    if args.probe {
        let wanted = probe::wanted(context, &seen, &scope(args, &seen, &seen.judged())?);
        seen.tried = probe::try_all(context, wanted).await;
    }
    plan(context, args, &config, &wishes, seen)
}

/// Builds the plan from what was seen.
///
/// # Errors
/// A filter names nothing that is there.
pub fn plan(
    context: &Context,
    args: &PlanArgs,
    config: &Config,
    wishes: &Wishes,
    seen: Seen,
) -> Result<Planned, CliError> {
    let judged = seen.judged();
    let wanted =
        PlanRequest { scope: scope(args, &seen, &judged)?, deletes_max: args.max_deletes, settle: wishes.settle };
    let view = seen.sight.view(seen.now);
    let plan = build_plan(context, config, &wanted, &config.accept, &judged, view, seen.conditions.clone())?;
    let created = judged.iter().filter_map(|one| Some((one.subject.to_string(), one.explanation.created?))).collect();
    Ok(Planned { plan, created, seen })
}

/// What a plan is made for.
pub struct PlanRequest {
    pub scope: PlanScope,
    pub deletes_max: Option<u64>,
    /// How long a verdict has to hold before its delete is offered.
    pub settle: Duration,
}

/// Puts a plan together from what was judged, and what the clusters add to the gates.
///
/// # Errors
/// A tree holds a number that has no single spelling.
pub fn build_plan(
    context: &Context,
    config: &Config,
    wanted: &PlanRequest,
    accepted: &[AcceptRule],
    judged: &[Judged],
    view: View<'_>,
    found: Conditions,
) -> Result<Plan, CliError> {
    let mut conditions = conditions(context, config, wanted, found);
    let mut told = Cow::Borrowed(judged);
    if own_login::is_at_stake(judged) {
        own_login::look(context, judged, view, &mut conditions);
        own_login::tell(told.to_mut(), &conditions);
    }
    let input = PlanInput {
        judged: &told,
        clusters: view.clusters().filter(|cluster| is_target(cluster, judged, &wanted.scope)).collect(),
        observed: Observed::all(view),
        accepted,
        scope: &wanted.scope,
        conditions: &conditions,
    };
    build(&input)
        .map_err(|error| CliError::failed("building the plan", error.to_string(), "report this with the snapshot"))
}

/// Whether a plan is made with a member of the fleet in mind. The user's own files are there for what is said of them alone.
fn is_target(member: &Cluster, judged: &[Judged], scope: &PlanScope) -> bool {
    match member.source {
        ClusterSource::Kubeconfig { .. }
        | ClusterSource::Hosted { .. }
        | ClusterSource::Snapshot
        | ClusterSource::Cloud { .. } => true,
        ClusterSource::Local => {
            judged.iter().any(|one| one.subject.cluster == member.name && scope.covers(&one.subject))
        }
    }
}

/// How the plan is shown.
pub fn page<'p>(context: &Context, planned: &'p Planned, matches: Matches) -> Page<'p> {
    let zone = context.zone();
    let created = planned.created.clone();
    Page { plan: &planned.plan, created, now: planned.seen.now, zone, terminal: context.terminal, matches }
}

fn conditions(context: &Context, config: &Config, wanted: &PlanRequest, found: Conditions) -> Conditions {
    let read_only = match (context.globals.read_only, config.safety.read_only) {
        (true, _) => ReadOnly::ByFlag,
        (false, true) => ReadOnly::ByConfig,
        (false, false) => ReadOnly::Off,
    };
    let switch = config.safety.kill_switch.as_ref();
    Conditions {
        read_only,
        // Whatever stands there stops writes, a broken link as well: a switch must not fail open.
        kill_switch: switch.filter(|path| path.symlink_metadata().is_ok()).map(|path| path.display().to_string()),
        freeze: config.safety.freeze.clone(),
        policy: config.policy.clone(),
        allow_insecure_writes: context.globals.allow_insecure_writes,
        settle: wanted.settle,
        deletes_max: wanted.deletes_max,
        ..found
    }
}

/// The part the user wants to see. A filter that fits nothing is a slip: "all match" would be the wrong answer to it.
fn scope(args: &PlanArgs, seen: &Seen, judged: &[Judged]) -> Result<PlanScope, CliError> {
    let domains: BTreeSet<String> = seen.sight.domains().iter().map(|domain| domain.name().0.to_owned()).collect();
    let clusters: BTreeSet<String> =
        seen.sight.view(seen.now).clusters().map(|cluster| cluster.name.to_string()).collect();
    let mut namespaces: BTreeSet<String> =
        judged.iter().filter_map(|one| one.subject.home_namespace().map(str::to_owned)).collect();
    namespaces.extend(seen.namespaces.iter().cloned());
    Ok(PlanScope {
        changes_only: args.changes_only,
        acts_only: false,
        domains: globs("--domain", &args.domains, &domains)?,
        clusters: globs("--cluster", &args.clusters, &clusters)?,
        namespaces: globs("--namespace", &args.namespaces, &namespaces)?,
        subjects: None,
    })
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
            return Err(CliError::usage(flag, format!("nothing is named {text}"), hint));
        }
        globs.push(glob);
    }
    Ok(globs)
}
