//! Judging again before a write: the same look, the same checks and the same gates as a plan, on fresh lists.
//!
//! Always true:
//! - an action is the same only when a plan made now would hold it, unblocked, with the same target, versions and change,
//!   and a delete only with the same verdict; what could not be read again is not the same;
//! - one look serves the look back at a wave and the judgement of the next, as nothing is sent between the two, and no
//!   look serves a second wave.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::args::PlanArgs;
use super::context::Context;
use super::look::ObservedFleet;
use super::look_live;
use super::plan::{self, Wishes};
use crate::config::Config;
use trueup_core::engine::executor::{Recheck, ReferenceScan};
use trueup_core::engine::{
    Action, Blocked, Difference, Finding, GateName, IdentityRecord, Plan, RecheckResult, State, Verb,
};
use trueup_core::world::ClusterName;
use trueup_fleet::account::IbmClient;
use trueup_fleet::connect::{TlsTrust, identity};
use trueup_fleet::live::{Live, Settled};

/// Makes the plan that would be made now.
pub trait Replan: Send {
    /// Reads everything again and plans.
    fn plan_again(&mut self) -> BoxFuture<'_, Result<Plan, String>>;

    /// The client of a live cluster, and how far its server can be trusted.
    fn connection<'a>(&'a mut self, cluster: &'a ClusterName) -> BoxFuture<'a, Option<(kube::Client, TlsTrust)>>;

    /// The account with IBM Cloud that a member of the fleet is, when it is one.
    fn account<'a>(&'a mut self, member: &'a ClusterName) -> BoxFuture<'a, Option<Arc<IbmClient>>>;

    /// Whether a server nobody verified may be written to all the same.
    fn allows_insecure_writes(&self) -> bool;
}

/// Judges actions again by the plan that would be made now.
pub struct Rechecker<P> {
    planner: P,
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

/// Plans again with a fleet that nobody else needs.
pub struct OwnFleet<'c> {
    pub context: &'c Context,
    pub config: &'c Config,
    /// Taken out only while a plan is being made of it.
    pub live: Option<Live>,
}

impl Replan for OwnFleet<'_> {
    fn plan_again(&mut self) -> BoxFuture<'_, Result<Plan, String>> {
        async move {
            let mut live = self.live.take().ok_or("an earlier look was broken off")?;
            live.resync();
            let settled = live.wait_settled(look_live::PATIENCE).await;
            let late = matches!(settled, Settled::TimedOut { .. });
            let seen = look_live::seen(live, settled, Vec::new()).await;
            // The brake was judged when the plan was made; counting what is left of it now would say nothing.
            let args = PlanArgs { max_deletes: Some(u64::MAX), ..PlanArgs::default() };
            let planned = plan::plan(self.context, &args, self.config, &Wishes { settle: Duration::ZERO }, seen)
                .map_err(|error| error.cause)?;
            if let ObservedFleet::Fleet(live) = planned.seen.sight {
                self.live = Some(*live);
            }
            if late { Err("not everything could be read again in time".to_owned()) } else { Ok(planned.plan) }
        }
        .boxed()
    }

    fn connection<'a>(&'a mut self, cluster: &'a ClusterName) -> BoxFuture<'a, Option<(kube::Client, TlsTrust)>> {
        let found = self.live.as_ref().and_then(|live| live.client(cluster).zip(live.tls(cluster)));
        async move { found }.boxed()
    }

    fn account<'a>(&'a mut self, member: &'a ClusterName) -> BoxFuture<'a, Option<Arc<IbmClient>>> {
        let found = self.live.as_ref().and_then(|live| live.ibm_account(member));
        async move { found }.boxed()
    }

    fn allows_insecure_writes(&self) -> bool {
        self.context.globals.allow_insecure_writes
    }
}

impl<P: Replan> Rechecker<P> {
    pub fn new(planner: P, names: BTreeMap<String, ClusterName>, plan: &Plan) -> Self {
        let verdict = |action: &Action| {
            let finding = plan.findings.iter().find(|finding| Some(finding.id.as_str()) == action.finding())?;
            Some((action.id.clone(), finding.verdict.clone()))
        };
        let verdicts = plan.actions.iter().filter_map(verdict).collect();
        Self { planner, names, verdicts, last_look: None }
    }

    /// The look back that was just made, or a new look. Either way it is gone then.
    async fn look_for_wave(&mut self) -> Result<Plan, String> {
        match self.last_look.take() {
            Some((at, plan)) if at.elapsed() <= LOOK_AGE_MAX => Ok(plan),
            Some(_) | None => self.planner.plan_again().await,
        }
    }

    fn again(&self, action: &Action, plan: &Plan) -> RecheckResult {
        let cluster = self.names.get(&action.cluster).map(ClusterName::as_str).unwrap_or_default();
        let finding = finding_of(action, cluster, plan);
        let verdict = finding.map(|finding| finding.verdict.as_str()).unwrap_or_default();
        let before = self.verdicts.get(&action.id).map(String::as_str).unwrap_or_default();
        // What is only changed may have come to a worse verdict by time alone: the action itself has to be the same.
        if verdict != before && action.verb() == Verb::Delete {
            return RecheckResult::Differs(finding.map_or(Difference::FindingGone, |finding| {
                let (before, now, summary) = (before.to_owned(), verdict.to_owned(), finding.summary.clone());
                Difference::VerdictChanged { before, now, summary }
            }));
        }
        let same = |one: &&Action| {
            one.cluster == cluster
                && one.domain == action.domain
                && one.verb() == action.verb()
                && one.target == action.target
                // Of a cloud resource several findings may speak: each connection of a gateway for itself.
                && (one.target.cloud.is_none() || one.origin == action.origin)
        };
        let Some(now) = plan.actions.iter().find(same) else {
            let summary = finding.map(|finding| finding.summary.clone());
            return RecheckResult::Differs(Difference::NotOffered { summary });
        };
        if !now.blocked_by.is_empty() {
            return RecheckResult::Blocked(now.blocked_by.clone());
        }
        if !is_bound_alike(now, action) {
            return RecheckResult::Differs(Difference::Preconditions);
        }
        if now.change != action.change { RecheckResult::Differs(Difference::Change) } else { RecheckResult::Same }
    }

    /// Of what rests on nothing but its object, only who answers for the cluster is looked at again.
    async fn again_by_itself(&mut self, action: &Action) -> RecheckResult {
        let connection = match self.names.get(&action.cluster) {
            Some(name) => self.planner.connection(name).await,
            None => None,
        };
        match connection.map(|(_, tls)| tls) {
            Some(TlsTrust::Verified | TlsTrust::Loopback | TlsTrust::InProcess) => RecheckResult::Same,
            Some(TlsTrust::Unverified | TlsTrust::Cleartext) if self.planner.allows_insecure_writes() => {
                RecheckResult::Same
            }
            Some(TlsTrust::Unverified | TlsTrust::Cleartext) => {
                let why = format!("TLS certificate of {} is not verified", action.cluster);
                RecheckResult::Blocked(vec![Blocked { gate: GateName::Insecure, why }])
            }
            None => RecheckResult::Differs(Difference::NotConnected { cluster: action.cluster.clone() }),
        }
    }

    fn look(&self, action: &Action, plan: &Plan) -> ReferenceScan {
        let cluster = self.names.get(&action.cluster).map(ClusterName::as_str).unwrap_or_default();
        let unknown = plan.findings.iter().find(|finding| {
            finding.cluster == cluster
                && finding.domain == action.domain
                && finding.subject.kind == action.target.kind
                && finding.subject.name == "*"
        });
        match (finding_of(action, cluster, plan), unknown) {
            (None, None) => ReferenceScan::Nothing,
            (None, Some(finding)) => ReferenceScan::Unknown(finding.summary.clone()),
            (Some(finding), _) => match finding.state {
                State::Match | State::Extra => ReferenceScan::Nothing,
                State::Unknown => ReferenceScan::Unknown(finding.summary.clone()),
                State::Missing | State::Drift | State::Stale | State::Error | State::Blocked => {
                    ReferenceScan::Referenced(finding.summary.clone())
                }
            },
        }
    }
}

/// Whether two actions ask for the same object in the same state. The index that lists tags is behind, after a change of this
/// run's own as well; before tags are changed the executor reads them from the tagging service, and holds them to the plan.
fn is_bound_alike(now: &Action, action: &Action) -> bool {
    let is_of_tags = action.target.cloud.is_some() && action.verb() != Verb::Delete;
    is_of_tags || now.preconditions == action.preconditions
}

/// Whether an action rests on its own object alone, which the executor reads itself: what comes from a backup on a free
/// name, everything else of an undo on uid and version.
fn rests_on_itself(action: &Action) -> bool {
    action.finding().is_none() || action.change.backup().is_some()
}

fn finding_of<'p>(action: &Action, cluster: &str, plan: &'p Plan) -> Option<&'p Finding> {
    if action.target.cloud.is_some() {
        return plan.findings.iter().find(|finding| Some(finding.id.as_str()) == action.finding());
    }
    plan.findings.iter().find(|finding| {
        finding.cluster == cluster
            && finding.domain == action.domain
            && group(&finding.subject.api_version) == group(&action.target.api_version)
            && finding.subject.kind == action.target.kind
            && finding.subject.namespace == action.target.namespace
            && finding.subject.name == action.target.name
    })
}

/// Two groups may have a kind of the same name, as MachineSet.
fn group(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

impl<P: Replan> Recheck for Rechecker<P> {
    fn read_identity<'a>(&'a mut self, cluster: &'a str) -> BoxFuture<'a, Option<IdentityRecord>> {
        async move {
            let name = self.names.get(cluster)?;
            if let Some(account) = self.planner.account(name).await {
                // The token that would be sent says whose it is; a key that became another account's says so, too.
                return account.id().await.ok().map(|id| IdentityRecord::of_account(&id));
            }
            let (client, _) = self.planner.connection(name).await?;
            Some(identity::read(&client).await.identity)
        }
        .boxed()
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>> {
        async move {
            let need_a_look = actions.iter().any(|action| !rests_on_itself(action));
            let plan = if need_a_look { Some(self.look_for_wave().await) } else { None };
            let mut judged = Vec::with_capacity(actions.len());
            for action in actions {
                judged.push(match &plan {
                    Some(Ok(plan)) if !rests_on_itself(action) => self.again(action, plan),
                    Some(Err(why)) if !rests_on_itself(action) => {
                        RecheckResult::Differs(Difference::NotRead(why.clone()))
                    }
                    Some(_) | None => self.again_by_itself(action).await,
                });
            }
            judged
        }
        .boxed()
    }

    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>> {
        async move {
            match self.planner.plan_again().await {
                Ok(plan) => {
                    let found: Vec<ReferenceScan> = deleted.iter().map(|action| self.look(action, &plan)).collect();
                    // Where something is found, something may be restored: the world is another one then.
                    let quiet = found.iter().all(|found| *found == ReferenceScan::Nothing);
                    self.last_look = quiet.then(|| (Instant::now(), plan));
                    found
                }
                Err(why) => vec![ReferenceScan::Unknown(why); deleted.len()],
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_fleet::ibm::{Account, ApiKey, Endpoints};
    use trueup_net::http::HttpClient;
    use trueup_sim::ibm::{IbmSim, IbmSimOptions};

    /// A fleet of one account.
    struct OneAccount(Arc<Account>);

    impl Replan for OneAccount {
        fn plan_again(&mut self) -> BoxFuture<'_, Result<Plan, String>> {
            async { Ok(no_plan()) }.boxed()
        }

        fn connection<'a>(&'a mut self, _: &'a ClusterName) -> BoxFuture<'a, Option<(kube::Client, TlsTrust)>> {
            async { None }.boxed()
        }

        fn account<'a>(&'a mut self, member: &'a ClusterName) -> BoxFuture<'a, Option<Arc<IbmClient>>> {
            let found = (member.as_str() == "ibm:live").then(|| self.0.clone());
            async { found }.boxed()
        }

        fn allows_insecure_writes(&self) -> bool {
            false
        }
    }

    fn no_plan() -> Plan {
        let at = "2026-11-16T10:00:00Z";
        let plan = serde_json::json!({
            "schema": "trueup/plan/v1", "id": "", "created_at": at, "expires_at": at, "engine": "", "targets": [],
            "observations": [], "findings": [], "actions": [], "summary": { "findings": {}, "actions": {}, "blocked": 0 },
        });
        serde_json::from_value(plan).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn an_account_is_who_its_token_says_whatever_it_is_called() {
        let names: BTreeMap<String, ClusterName> = [("ibm:prod", "ibm:live"), ("mgmt", "mgmt")]
            .map(|(plan, live)| (plan.to_owned(), ClusterName::new(live)))
            .into();
        let cases = [("its key", "key", "ibm:prod", Some("acc-1")), ("a key nobody knows", "other", "ibm:prod", None)];
        for (case, key, asked, expected) in cases {
            let (account, api_key) = ("acc-1".to_owned(), "key".to_owned());
            let start = "2026-11-16T10:00:00Z".parse().unwrap();
            let sim = IbmSim::new(IbmSimOptions { account, api_key, seed: 1, start });
            let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
            let http = HttpClient::in_process(sim.service());
            let account = Arc::new(Account::new(http, endpoints, ApiKey::parse(key).unwrap()));
            let mut recheck = Rechecker::new(OneAccount(account), names.clone(), &no_plan());
            assert_eq!(recheck.read_identity(asked).await, expected.map(IdentityRecord::of_account), "case: {case}");
            assert_eq!(recheck.read_identity("mgmt").await, None, "case: {case}: it is not connected");
        }
    }
}
