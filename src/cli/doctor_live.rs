//! The part of `trueup doctor` that connects to clusters: reachability, permissions, clocks.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use http::{Request, header};
use jiff::Timestamp;
use kube::client::Body;

use super::context::Context;
use super::doctor::Check;
use super::fleet::connect;
use crate::config::Config;
use trueup_core::engine::{AccessAnswer, AccessQuestion};
use trueup_core::world::{ClusterName, ClusterSource, GapCause};
use trueup_fleet::live::Live;
use trueup_operate::{access_questions, ask_access, judged, link_error, unread as unread_of};

/// A third of the 90 s within which a list must be confirmed: with more skew, ages are wrong.
const SKEW_MAX_SECONDS: i64 = 30;

/// Connects and checks. `doctor` reports an invalid kubeconfig.
pub async fn checks(context: &Context, config: Option<Config>) -> Vec<Check> {
    let Some(config) = config else { return Vec::new() };
    let Ok((fleet, late)) = connect(context, config).await else { return Vec::new() };
    let read = move |live: &Live| {
        let clusters = live.view().clusters().filter(|cluster| cluster.source != ClusterSource::Local);
        let names: Vec<ClusterName> = clusters.map(|cluster| cluster.name.clone()).collect();
        let mut checks: Vec<Check> = names.iter().map(|name| reach(live, name, &late)).collect();
        checks.extend(unread(live));
        let clients: Vec<(ClusterName, kube::Client)> =
            names.into_iter().filter_map(|name| live.client(&name).map(|client| (name, client))).collect();
        (checks, access_questions(live, &judged(live)), clients)
    };
    let Ok((mut checks, questions, clients)) = fleet.ask(read).await else { return Vec::new() };
    for (question, answer) in ask_access(questions).await {
        checks.push(permission(&question, &answer));
    }
    for (name, client) in clients {
        checks.extend(clock(&name, &client).await);
    }
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

fn permission(question: &AccessQuestion, answer: &AccessAnswer) -> Check {
    let AccessQuestion { cluster, verb, group, resource, namespace } = question;
    let resource = if group.is_empty() { (*resource).to_owned() } else { format!("{resource}.{group}") };
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

/// The clock skew of a server, from the `Date` header.
async fn clock(name: &ClusterName, client: &kube::Client) -> Option<Check> {
    let request = Request::get("/version").body(Body::empty()).ok()?;
    let answer = tokio::time::timeout(trueup_fleet::connect::send::STREAM_START_TIMEOUT, client.send(request))
        .await
        .ok()?
        .ok()?;
    let date = answer.headers().get(header::DATE)?.to_str().ok()?;
    let server = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let skew = Timestamp::now().as_second() - server.as_second();
    Some(if skew.abs() > SKEW_MAX_SECONDS {
        let side = if skew > 0 { "behind" } else { "ahead of" };
        let message = format!("{name} is {} s {side} this machine", skew.abs());
        Check::unfit("clock", message, "correct the clock; ages and expiries are wrong until then")
    } else {
        Check::fit("clock", format!("{name} agrees within {SKEW_MAX_SECONDS} s"))
    })
}
