//! Judging again before a write: the same look, the same checks and the same gates as a plan, on fresh lists.
//!
//! Always true: an action is the same only when a plan made now would hold it, unblocked, with the same target, version
//! and verdict. What could not be read again is not the same.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::args::PlanArgs;
use super::context::Context;
use super::look::Sight;
use super::look_live;
use super::plan::{self, Wishes};
use crate::config::Config;
use crate::engine::executor::{Again, LookBack, Recheck};
use crate::engine::{Action, Finding, IdentityRecord, Plan, State, Verb};
use crate::fleet::{TlsTrust, identity};
use crate::live::{Live, Settled};
use crate::world::ClusterName;

/// Looks at the live fleet again.
pub struct LiveRecheck<'c> {
    context: &'c Context,
    config: &'c Config,
    /// Taken out only while a plan is being made of it.
    live: Option<Live>,
    /// The live cluster behind each name of the plan.
    names: BTreeMap<String, ClusterName>,
    /// What the plan says of each action's finding.
    verdicts: BTreeMap<String, String>,
}

impl<'c> LiveRecheck<'c> {
    pub fn new(
        context: &'c Context,
        config: &'c Config,
        live: Live,
        names: BTreeMap<String, ClusterName>,
        plan: &Plan,
    ) -> Self {
        let verdict = |action: &Action| {
            let finding = plan.findings.iter().find(|finding| finding.id == action.finding)?;
            Some((action.id.clone(), finding.verdict.clone()))
        };
        let verdicts = plan.actions.iter().filter_map(verdict).collect();
        Self { context, config, live: Some(live), names, verdicts }
    }

    /// Reads everything again and plans.
    async fn plan_again(&mut self) -> Result<Plan, String> {
        let mut live = self.live.take().ok_or("an earlier look was broken off")?;
        live.look_again();
        let settled = live.wait_settled(look_live::PATIENCE).await;
        let late = matches!(settled, Settled::TimedOut { .. });
        let seen = look_live::seen(live, settled, Vec::new()).await;
        // The brake was judged when the plan was made; counting what is left of it now would say nothing.
        let args = PlanArgs { max_deletes: Some(u64::MAX), ..PlanArgs::default() };
        let planned = plan::plan(self.context, &args, self.config, &Wishes { settle: Duration::ZERO }, seen)
            .map_err(|error| error.cause)?;
        if let Sight::Fleet(live) = planned.seen.sight {
            self.live = Some(*live);
        }
        if late { Err("not everything could be read again in time".to_owned()) } else { Ok(planned.plan) }
    }

    fn again(&self, action: &Action, plan: &Plan) -> Again {
        let cluster = self.names.get(&action.cluster).map(ClusterName::as_str).unwrap_or_default();
        let finding = finding_of(action, cluster, plan);
        let verdict = finding.map(|finding| finding.verdict.as_str()).unwrap_or_default();
        let before = self.verdicts.get(&action.id).map(String::as_str).unwrap_or_default();
        if verdict != before {
            let summary = finding.map_or("there is no finding any more", |finding| finding.summary.as_str());
            return Again::Differs(format!("it was {before}, and now: {summary}"));
        }
        let same = |one: &&Action| {
            one.cluster == cluster
                && one.domain == action.domain
                && one.verb == action.verb
                && one.target == action.target
        };
        let Some(now) = plan.actions.iter().find(same) else {
            return Again::Differs("a plan made now would not hold it".to_owned());
        };
        match now.blocked_by.first() {
            Some(blocked) => Again::Differs(format!("{}: {}", blocked.gate.word(), blocked.why)),
            None if now.preconditions != action.preconditions => {
                Again::Differs("it changed since the plan was made".to_owned())
            }
            None => Again::Same,
        }
    }

    /// Of what rests on nothing but its object, only who answers for the cluster is looked at again.
    fn again_by_itself(&self, action: &Action) -> Again {
        let tls = self.live.as_ref().zip(self.names.get(&action.cluster)).and_then(|(live, name)| live.tls(name));
        match tls {
            Some(TlsTrust::Verified | TlsTrust::Loopback | TlsTrust::InProcess) => Again::Same,
            Some(TlsTrust::Unverified | TlsTrust::Cleartext) if self.context.globals.allow_insecure_writes => {
                Again::Same
            }
            Some(TlsTrust::Unverified | TlsTrust::Cleartext) => {
                Again::Differs(format!("insecure: nobody verified who answers for {}", action.cluster))
            }
            None => Again::Differs(format!("{} is not connected", action.cluster)),
        }
    }

    fn look(&self, action: &Action, plan: &Plan) -> LookBack {
        let cluster = self.names.get(&action.cluster).map(ClusterName::as_str).unwrap_or_default();
        let unknown = plan.findings.iter().find(|finding| {
            finding.cluster == cluster
                && finding.domain == action.domain
                && finding.subject.kind == action.target.kind
                && finding.subject.name == "*"
        });
        match (finding_of(action, cluster, plan), unknown) {
            (None, None) => LookBack::Nothing,
            (None, Some(finding)) => LookBack::Unknown(finding.summary.clone()),
            (Some(finding), _) => match finding.state {
                State::Match | State::Extra => LookBack::Nothing,
                State::Unknown => LookBack::Unknown(finding.summary.clone()),
                State::Missing | State::Drift | State::Stale | State::Error | State::Blocked => {
                    LookBack::Referenced(finding.summary.clone())
                }
            },
        }
    }
}

/// Whether an action rests on its own object alone, which the executor reads itself: a restore on a free name, a label
/// that goes back on uid and version.
fn rests_on_itself(action: &Action) -> bool {
    action.verb == Verb::Create || action.finding.is_empty()
}

fn finding_of<'p>(action: &Action, cluster: &str, plan: &'p Plan) -> Option<&'p Finding> {
    plan.findings.iter().find(|finding| {
        finding.cluster == cluster
            && finding.domain == action.domain
            && finding.subject.kind == action.target.kind
            && finding.subject.namespace == action.target.namespace
            && finding.subject.name == action.target.name
    })
}

impl Recheck for LiveRecheck<'_> {
    fn read_identity<'a>(&'a mut self, cluster: &'a str) -> BoxFuture<'a, Option<IdentityRecord>> {
        async move {
            let client = self.live.as_ref()?.client(self.names.get(cluster)?)?;
            let read = identity::read(&client).await.identity;
            Some(IdentityRecord { kube_system_uid: read.kube_system_uid, ca_sha256: read.ca_sha256 })
        }
        .boxed()
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<Again>> {
        async move {
            if actions.iter().all(|action| rests_on_itself(action)) {
                return actions.iter().map(|action| self.again_by_itself(action)).collect();
            }
            let plan = self.plan_again().await;
            let judged = |action: &&Action| match &plan {
                _ if rests_on_itself(action) => self.again_by_itself(action),
                Ok(plan) => self.again(action, plan),
                Err(why) => Again::Differs(why.clone()),
            };
            actions.iter().map(judged).collect()
        }
        .boxed()
    }

    fn look_back<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<LookBack>> {
        async move {
            match self.plan_again().await {
                Ok(plan) => deleted.iter().map(|action| self.look(action, &plan)).collect(),
                Err(why) => vec![LookBack::Unknown(why); deleted.len()],
            }
        }
        .boxed()
    }
}
