//! The part of `trueup doctor` that connects to clusters: reachability, permissions, clocks.

use std::collections::BTreeMap;

use super::context::Context;
use super::doctor::Check;
use super::fleet::connect;
use super::output::count;
use crate::config::Config;
use trueup_core::engine::{AccessAnswer, AccessAnswers, AccessQuestion};
use trueup_core::world::{CLOCK_SKEW_MAX, ClockSkew, ClusterName, ClusterSource, GapCause};
use trueup_fleet::live::Live;
use trueup_operate::{access_questions, ask_access, link_error, read_questions, unread as unread_of, with_remedy};

/// Connects and checks. `doctor` reports an invalid kubeconfig.
pub async fn checks(context: &Context, config: Option<Config>) -> Vec<Check> {
    let Some(config) = config else { return Vec::new() };
    let Ok((fleet, late)) = connect(context, config).await else { return Vec::new() };
    let read = move |live: &Live| {
        let clusters = live.view().clusters().filter(|cluster| cluster.source != ClusterSource::Local);
        let names: Vec<ClusterName> = clusters.map(|cluster| cluster.name.clone()).collect();
        let mut checks: Vec<Check> = names.iter().map(|name| reach(live, name, &late)).collect();
        checks.extend(unread(live));
        let clocks: Vec<Check> = names.iter().filter_map(|name| Some(clock(name, live.clock(name)?))).collect();
        (checks, access_questions(live, &with_remedy(live)), read_questions(live), clocks)
    };
    let Ok((mut checks, questions, reads, clocks)) = fleet.ask(read).await else { return Vec::new() };
    checks.extend(read_permissions(&ask_access(reads).await));
    for (question, answer) in ask_access(questions).await {
        checks.push(permission(&question, &answer));
    }
    checks.extend(clocks);
    checks
}

fn reach(live: &Live, name: &ClusterName, late: &[ClusterName]) -> Check {
    let link = live.view().cluster(name).and_then(|cluster| link_error(&cluster.link));
    match link {
        Some(why) => Check::unfit("cluster", format!("{name}: {why}"), ""),
        None if late.contains(name) => {
            Check::unfit("cluster", format!("{name} is still being listed"), "try again, or check its load")
        }
        None => Check::fit("cluster", format!("{name} is reachable")),
    }
}

/// Collections that the checks need and cannot read.
fn unread(live: &Live) -> Vec<Check> {
    let mut checks = Vec::new();
    for cluster in live.view().clusters().filter(|cluster| link_error(&cluster.link).is_none()) {
        for gap in unread_of(live.view(), &cluster.name) {
            let remedy = if gap.cause == GapCause::Forbidden { "request the permission" } else { "" };
            checks.push(Check::unfit("reading", format!("{}: {}", cluster.name, gap.message), remedy));
        }
    }
    checks
}

/// What reading takes: a line for each missing permission, and one for a cluster that misses none.
fn read_permissions(answers: &AccessAnswers) -> Vec<Check> {
    let mut by_cluster: BTreeMap<&ClusterName, Vec<(&AccessQuestion, &AccessAnswer)>> = BTreeMap::new();
    for (question, answer) in answers {
        by_cluster.entry(&question.cluster).or_default().push((question, answer));
    }
    let mut checks = Vec::new();
    for (cluster, answers) in by_cluster {
        let missing: Vec<Check> = answers
            .iter()
            .filter(|(_, answer)| **answer != AccessAnswer::Allowed)
            .map(|(question, answer)| permission(question, answer))
            .collect();
        if missing.is_empty() {
            let message = format!("{cluster}: every collection can be read ({})", count(answers.len(), "permission"));
            checks.push(Check::fit("permission", message));
        }
        checks.extend(missing);
    }
    checks
}

fn permission(question: &AccessQuestion, answer: &AccessAnswer) -> Check {
    let AccessQuestion { cluster, verb, group, resource, namespace, name } = question;
    let mut resource = if group.is_empty() { (*resource).to_owned() } else { format!("{resource}.{group}") };
    resource.extend(name.iter().flat_map(|name| ["/", name.as_str()]));
    let place = namespace.as_ref().map_or(String::new(), |namespace| format!(" in {namespace}"));
    let what = format!("{cluster}: {verb} {resource}{place}");
    match answer {
        AccessAnswer::Allowed => Check::fit("permission", what),
        AccessAnswer::Denied { message } if message.is_empty() => {
            Check::unfit("permission", format!("{what} is denied"), "request it, or use another context")
        }
        AccessAnswer::Denied { message } => {
            Check::unfit("permission", format!("{what} is denied ({message})"), "request it, or use another context")
        }
        AccessAnswer::Unknown { why } => {
            Check::unfit("permission", format!("{what} is unknown ({why})"), "check the connection")
        }
    }
}

/// The clock of a server, compared by the responses to what was just read. A server without `Date` has no line.
fn clock(name: &ClusterName, skew: ClockSkew) -> Check {
    if skew.is_excessive() {
        let message = format!("the clock of {name} is {skew}");
        let remedy = "correct the wrong clock; ages and expiries are wrong and deletes are blocked until then";
        return Check::unfit("clock", message, remedy);
    }
    Check::fit("clock", format!("{name} agrees within {} s", CLOCK_SKEW_MAX.as_secs()))
}
