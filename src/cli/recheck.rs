//! Judging again before a write: the same look, the same checks and the same gates as a plan, on fresh lists.
//!
//! Always true:
//! - an action is the same only when a plan made now would hold it, unblocked, with the same target, version and verdict;
//!   what could not be read again is not the same;
//! - one look serves the look back at a wave and the judgement of the next, as nothing is sent between the two, and no
//!   look serves a second wave.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::args::PlanArgs;
use super::context::Context;
use super::look::Sight;
use super::look_live;
use super::plan::{self, Wishes};
use crate::config::Config;
use crate::engine::executor::{Again, LookBack, Recheck};
use crate::engine::{Action, Finding, IdentityRecord, Plan, State, Verb};
use crate::fleet::identity;
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
    /// The look back at the last wave that found nothing, until the next wave takes it.
    last_look: Option<(Instant, Plan)>,
}

/// How old the look back at a wave may be to judge the next one by it. Only the cluster's identity is read between them,
/// which takes two requests.
const LOOK_AGE_MAX: Duration = Duration::from_millis(500);

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
        Self { context, config, live: Some(live), names, verdicts, last_look: None }
    }

    /// The look back that was just made, or a new look. Either way it is gone then.
    async fn look_for_wave(&mut self) -> Result<Plan, String> {
        match self.last_look.take() {
            Some((at, plan)) if at.elapsed() <= LOOK_AGE_MAX => Ok(plan),
            Some(_) | None => self.plan_again().await,
        }
    }

    /// Reads everything again and plans.
    async fn plan_again(&mut self) -> Result<Plan, String> {
        let mut live = self.live.take().ok_or("an earlier look was broken off")?;
        live.look_again();
        let settled = live.wait_settled(look_live::PATIENCE).await;
        let late = matches!(settled, Settled::TimedOut { .. });
        let seen = look_live::seen(live, settled).await;
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
            // What an undo creates rests on nothing but a free name, which the executor reads itself.
            if actions.iter().all(|action| action.verb == Verb::Create) {
                return vec![Again::Same; actions.len()];
            }
            match self.look_for_wave().await {
                Ok(plan) => actions.iter().map(|action| self.again(action, &plan)).collect(),
                Err(why) => vec![Again::Differs(why); actions.len()],
            }
        }
        .boxed()
    }

    fn look_back<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<LookBack>> {
        async move {
            match self.plan_again().await {
                Ok(plan) => {
                    let found: Vec<LookBack> = deleted.iter().map(|action| self.look(action, &plan)).collect();
                    // Where something is found, something may be restored: the world is another one then.
                    let quiet = found.iter().all(|found| *found == LookBack::Nothing);
                    self.last_look = quiet.then(|| (Instant::now(), plan));
                    found
                }
                Err(why) => vec![LookBack::Unknown(why); deleted.len()],
            }
        }
        .boxed()
    }
}
