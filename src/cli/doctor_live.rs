//! The part of `trueup doctor` that asks live clusters: reachability, what may be read and written, clocks.

use http::{Request, header};
use jiff::Timestamp;
use kube::client::Body;

use super::access;
use super::context::Context;
use super::doctor::Check;
use super::look_live::{connect, judged, trouble, unread as unread_of};
use crate::config::Config;
use trueup_core::engine::{AccessAnswer, AccessQuestion};
use trueup_core::world::{ClusterName, GapCause};
use trueup_fleet::live::{Live, Settled};

/// Beyond this the age of what was seen can't be told from the age of a clock: the freshest is asked for 90 s.
const SKEW_MAX_SECONDS: i64 = 30;

/// Connects and asks. A kubeconfig that can't be used has its own line elsewhere.
pub async fn checks(context: &Context, config: Option<Config>) -> Vec<Check> {
    let Some(mut config) = config else { return Vec::new() };
    let Ok((live, settled)) = connect(context, &mut config).await else { return Vec::new() };
    let names: Vec<ClusterName> = live.view().clusters().map(|cluster| cluster.name.clone()).collect();
    let mut checks: Vec<Check> = names.iter().map(|name| reach(&live, name, &settled)).collect();
    checks.extend(unread(&live));
    let questions = access::questions(&live, &judged(&live));
    let clients: Vec<(ClusterName, kube::Client)> =
        names.into_iter().filter_map(|name| live.client(&name).map(|client| (name, client))).collect();
    for (question, answer) in access::ask(questions).await {
        checks.push(permission(&question, &answer));
    }
    for (name, client) in clients {
        checks.extend(clock(&name, &client).await);
    }
    checks
}

fn reach(live: &Live, name: &ClusterName, settled: &Settled) -> Check {
    let link = live.view().cluster(name).and_then(|cluster| trouble(&cluster.link));
    let slow = matches!(settled, Settled::TimedOut { waiting } if waiting.contains(name));
    match link {
        Some(why) => Check::unfit("cluster", format!("{name}: {why}"), ""),
        None if slow => {
            Check::unfit("cluster", format!("{name} is still being read"), "try again, or look at its load")
        }
        None => Check::fit("cluster", format!("{name} answers")),
    }
}

/// What the checks want to read and can't.
fn unread(live: &Live) -> Vec<Check> {
    let mut checks = Vec::new();
    for cluster in live.view().clusters().filter(|cluster| trouble(&cluster.link).is_none()) {
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
