//! The part of `trueup doctor` that asks live clusters: reachability, what may be read and written, clocks.

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

/// Beyond this the age of what was seen can't be told from the age of a clock: the freshest is asked for 90 s.
const SKEW_MAX_SECONDS: i64 = 30;

/// Connects and asks. A kubeconfig that cannot be used has its own line elsewhere.
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
            Check::unfit("cluster", format!("{name} is still being read"), "try again, or look at its load")
        }
        None => Check::fit("cluster", format!("{name} answers")),
    }
}

/// What the checks want to read and can't.
fn unread(live: &Live) -> Vec<Check> {
    let mut checks = Vec::new();
    for cluster in live.view().clusters().filter(|cluster| link_error(&cluster.link).is_none()) {
        for gap in unread_of(live.view(), &cluster.name) {
            let remedy = if gap.cause == GapCause::Forbidden { "ask for the permission" } else { "" };
            checks.push(Check::unfit("reading", format!("{}: {}", cluster.name, gap.says), remedy));
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
        AccessAnswer::Denied { says } if says.is_empty() => {
            Check::unfit("permission", format!("{what} is denied"), "ask for it, or use another context")
        }
        AccessAnswer::Denied { says } => {
            Check::unfit("permission", format!("{what} is denied ({says})"), "ask for it, or use another context")
        }
        AccessAnswer::Unknown { why } => {
            Check::unfit("permission", format!("{what} is not known ({why})"), "check the connection")
        }
    }
}

/// How far the server's clock is from ours, by the date every answer carries.
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
        let says = format!("{name} is {} s {side} this machine", skew.abs());
        Check::unfit("clock", says, "set the clock that is wrong: ages and expiries can't be told")
    } else {
        Check::fit("clock", format!("{name} agrees within {SKEW_MAX_SECONDS} s"))
    })
}
