//! Judging again before a wave: list what its actions rest on, judge their subjects, build the plan they would be in now.
//!
//! Invariants:
//! - an action is sent only when a plan made now would hold it, unblocked, with the same target, versions and change, and
//!   a delete only with the same verdict;
//! - the collections are those the subjects rest on now; what the plan file says about them is not used;
//! - a cluster that is late blocks the actions that rest on it, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::fresh::{FreshWorld, WorldNow};
use crate::plan::{PlanRequest, build_plan};
use trueup_core::engine::executor::{Recheck, RecheckResult, ReferenceScan};
use trueup_core::engine::{
    AccessQuestion, Action, Finding, IdentityRecord, Judged, ObjectRef, Plan, State, SubjectId, Verb, access_questions,
};
use trueup_core::world::{ClusterName, CollectionId, Scope};
use trueup_fleet::connect::TlsTrust;

/// How often the fresh lists may lead to further collections. A reference to a reference takes two rounds.
const ROUNDS_MAX: usize = 4;
/// How old the lists of a reference scan may be to serve the next wave: only the cluster's identity is read between
/// them, which takes two requests.
const LISTS_AGE_MAX: Duration = Duration::from_millis(500);

/// Judges actions again by the plan they would be in now.
pub struct Rechecker<W> {
    world: W,
    /// The live cluster behind each name of the plan.
    names: BTreeMap<String, ClusterName>,
    /// The finding each action comes from, by action.
    findings: BTreeMap<String, Origin>,
    /// What each action judged in this run rests on, for the reference scan once its object is gone.
    rested_on: BTreeMap<String, BTreeSet<CollectionId>>,
    /// What the last reference scan listed, when it found nothing.
    recent: Option<(Instant, BTreeSet<CollectionId>)>,
}

/// What the plan says of an action's finding.
struct Origin {
    verdict: String,
    /// The finding's id with the name of the live cluster.
    id: String,
    cluster: ClusterName,
    domain: String,
}

/// What a subject and the drafts of its remedy rest on.
struct Known {
    subjects: BTreeSet<SubjectId>,
    collections: BTreeSet<CollectionId>,
    by_action: BTreeMap<String, BTreeSet<CollectionId>>,
    access: BTreeSet<AccessQuestion>,
}

/// The action as far as its subject is searched for it.
#[derive(Clone)]
struct Wanted {
    action: String,
    id: String,
    cluster: ClusterName,
    domain: String,
    target_cluster: ClusterName,
    target: ObjectRef,
}

/// The plan that would be made now, and the collections that could not be listed for it.
struct Fresh {
    plan: Plan,
    late: BTreeSet<CollectionId>,
    by_action: BTreeMap<String, BTreeSet<CollectionId>>,
}

impl<W: FreshWorld> Rechecker<W> {
    pub fn new(world: W, names: BTreeMap<String, ClusterName>, plan: &Plan) -> Self {
        let live = |cluster: &str| names.get(cluster).cloned().unwrap_or_else(|| ClusterName::new(cluster));
        let origin = |action: &Action| {
            let finding = plan.findings.iter().find(|finding| finding.id == action.finding)?;
            let cluster = live(&finding.cluster);
            let prefix = format!("{}/{}/", finding.domain, finding.cluster);
            let id = match finding.id.strip_prefix(&prefix) {
                Some(rest) => format!("{}/{cluster}/{rest}", finding.domain),
                // An account is named by its id.
                None => finding.id.clone(),
            };
            let (verdict, domain) = (finding.verdict.clone(), finding.domain.clone());
            Some((action.id.clone(), Origin { verdict, id, cluster, domain }))
        };
        let findings = plan.actions.iter().filter_map(origin).collect();
        Self { world, names, findings, rested_on: BTreeMap::new(), recent: None }
    }

    /// Lists what these actions rest on and builds the plan they would be in now.
    async fn fresh_plan(&mut self, actions: &[&Action]) -> Result<Fresh, String> {
        let wanted: Vec<Wanted> = actions.iter().filter_map(|action| self.wanted(action)).collect();
        let rested: BTreeSet<CollectionId> =
            actions.iter().filter_map(|action| self.rested_on.get(&action.id)).flatten().cloned().collect();
        let (mut listed, mut late) = (self.take_recent(), BTreeSet::new());
        let mut rounds = 0;
        let mut known = loop {
            let asked = wanted.clone();
            let known = self.world.ask(move |now| known(now, &asked)).await.map_err(|error| error.cause())?;
            let missing: BTreeSet<CollectionId> =
                known.collections.union(&rested).filter(|id| !listed.contains(*id)).cloned().collect();
            if missing.is_empty() || rounds == ROUNDS_MAX {
                late.extend(missing);
                break known;
            }
            late.extend(self.world.refresh(missing.clone()).await.map_err(|error| error.cause())?);
            listed.extend(missing);
            rounds += 1;
        };
        self.recent = Some((Instant::now(), listed));
        let access = self.world.ask_access(std::mem::take(&mut known.access)).await;
        let subjects = known.subjects;
        let (session, accepted) = (self.world.session().clone(), self.world.accepted());
        let built = move |now: &WorldNow<'_>| {
            let judged = judged(now, &subjects);
            // The brake was judged when the plan was made; counting what is left of it now would say nothing.
            let request = PlanRequest { deletes_max: Some(u64::MAX), ..PlanRequest::default() };
            let mut found = now.conditions.clone();
            found.access = access;
            build_plan(&session, &request, &accepted, &judged, now.view, found)
        };
        let plan = self.world.ask(built).await.map_err(|error| error.cause())?.map_err(|error| error.cause())?;
        Ok(Fresh { plan, late, by_action: known.by_action })
    }

    fn take_recent(&mut self) -> BTreeSet<CollectionId> {
        match self.recent.take() {
            Some((at, listed)) if at.elapsed() <= LISTS_AGE_MAX => listed,
            Some(_) | None => BTreeSet::new(),
        }
    }

    fn wanted(&self, action: &Action) -> Option<Wanted> {
        let target_cluster = self.names.get(&action.cluster)?.clone();
        let (id, cluster, domain) = match self.findings.get(&action.id) {
            Some(origin) => (origin.id.clone(), origin.cluster.clone(), origin.domain.clone()),
            None => {
                let ObjectRef { kind, namespace, name, .. } = &action.target;
                let namespace = namespace.as_deref().unwrap_or("_");
                let id = format!("{}/{target_cluster}/{kind}/{namespace}/{name}", action.domain);
                (id, target_cluster.clone(), action.domain.clone())
            }
        };
        Some(Wanted { action: action.id.clone(), id, cluster, domain, target_cluster, target: action.target.clone() })
    }

    /// Why an action cannot be judged: a collection it rests on was not listed again.
    fn late(action: &Action, fresh: &Fresh) -> Option<RecheckResult> {
        let late = fresh.by_action.get(&action.id)?.intersection(&fresh.late).next()?;
        let place = late.namespace().map_or(String::new(), |namespace| format!(" in {namespace}"));
        let list = format!("{} {}{place}", late.cluster, late.resource.path());
        Some(RecheckResult::Blocked(format!("not-complete: {list} was not listed again in time")))
    }

    fn again(&self, action: &Action, plan: &Plan) -> RecheckResult {
        let cluster = self.names.get(&action.cluster).map(ClusterName::as_str).unwrap_or_default();
        let finding = finding_of(action, cluster, plan);
        let verdict = finding.map(|finding| finding.verdict.as_str()).unwrap_or_default();
        let before = self.findings.get(&action.id).map(|origin| origin.verdict.as_str()).unwrap_or_default();
        // What is only changed may have come to a worse verdict by time alone: the action itself has to be the same.
        if verdict != before && action.verb == Verb::Delete {
            let summary = finding.map_or("there is no finding any more", |finding| finding.summary.as_str());
            return RecheckResult::Differs(format!("it was {before}, and now: {summary}"));
        }
        let same = |one: &&Action| {
            one.cluster == cluster
                && one.domain == action.domain
                && one.verb == action.verb
                && one.target == action.target
                // Of a cloud resource several findings may speak: each connection of a gateway for itself.
                && (one.target.cloud.is_none() || one.finding == action.finding)
        };
        let Some(now) = plan.actions.iter().find(same) else {
            let summary = finding.map_or("there is no finding any more", |finding| finding.summary.as_str());
            return RecheckResult::Differs(format!("a plan made now would not hold it: {summary}"));
        };
        match now.blocked_by.first() {
            Some(blocked) => RecheckResult::Blocked(format!("{}: {}", blocked.gate.as_str(), blocked.why)),
            None if !is_bound_alike(now, action) || now.change != action.change => {
                RecheckResult::Differs("it, or what is copied, changed since the plan was made".to_owned())
            }
            None => RecheckResult::Same,
        }
    }

    /// An undo rests on its own object, which the executor reads: only the trust in its server is judged.
    async fn again_by_itself(&mut self, action: &Action) -> RecheckResult {
        let tls = match self.names.get(&action.cluster).cloned() {
            Some(name) => self.world.tls(&name).await,
            None => None,
        };
        match tls {
            Some(TlsTrust::Verified | TlsTrust::Loopback | TlsTrust::InProcess) => RecheckResult::Same,
            Some(TlsTrust::Unverified | TlsTrust::Cleartext) if self.world.session().allow_insecure_writes => {
                RecheckResult::Same
            }
            Some(TlsTrust::Unverified | TlsTrust::Cleartext) => {
                RecheckResult::Blocked(format!("insecure: TLS certificate of {} is not verified", action.cluster))
            }
            None => RecheckResult::Differs(format!("{} is not connected", action.cluster)),
        }
    }

    fn look(&self, action: &Action, plan: &Plan) -> ReferenceScan {
        let cluster = self.names.get(&action.cluster).map(ClusterName::as_str).unwrap_or_default();
        let unknown = plan.findings.iter().find(|finding| {
            finding.cluster == cluster
                && finding.domain == action.domain
                && finding.subject.kind == action.target.kind
                && finding.subject.name == WHOLE_LIST
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

/// The subjects of these actions with what their remedies depend on, and the collections all of that rests on.
fn known(now: &WorldNow<'_>, wanted: &[Wanted]) -> Known {
    let pairs: BTreeSet<(&ClusterName, &str)> =
        wanted.iter().map(|wanted| (&wanted.cluster, wanted.domain.as_str())).collect();
    let mut by_id: BTreeMap<String, Vec<SubjectId>> = BTreeMap::new();
    let mut subjects = BTreeSet::new();
    for (subject, _) in now.judgements.iter() {
        let is_account = subject.cloud.is_some();
        if is_account || pairs.contains(&(&subject.cluster, subject.domain.0)) {
            // A finding that stands for a whole list says that nothing of the list is known.
            if subject.name == WHOLE_LIST && !is_account {
                subjects.insert(subject.clone());
            }
            by_id.entry(subject.to_string()).or_default().push(subject.clone());
        }
    }
    let (mut by_action, mut access) = (BTreeMap::new(), BTreeSet::new());
    for wanted in wanted {
        let mut rests_on: BTreeSet<CollectionId> = covering(now, &wanted.target_cluster, &wanted.target).collect();
        let mut open: Vec<SubjectId> = by_id.get(&wanted.id).cloned().unwrap_or_default();
        let mut seen: BTreeSet<SubjectId> = BTreeSet::new();
        while let Some(subject) = open.pop() {
            if !seen.insert(subject.clone()) {
                continue;
            }
            let Some(check) = now.checks.iter().find(|check| check.name() == subject.domain) else { continue };
            let Some(explanation) = check.explain(&subject, now.view) else { continue };
            for draft in &explanation.remedy {
                rests_on.extend(draft.rests_on.iter().cloned());
                access.extend(access_questions(draft));
                open.extend(draft.depends_on.iter().map(|dependency| dependency.finding.clone()));
            }
        }
        subjects.extend(seen);
        by_action.insert(wanted.action.clone(), rests_on);
    }
    let collections = by_action.values().flatten().cloned().collect();
    Known { subjects, collections, by_action, access }
}

/// The name of a subject that stands for a whole list.
const WHOLE_LIST: &str = "*";

/// The collections that hold an object.
fn covering<'n>(
    now: &'n WorldNow<'_>,
    cluster: &'n ClusterName,
    target: &'n ObjectRef,
) -> impl Iterator<Item = CollectionId> + 'n {
    let holds = move |id: &&CollectionId| {
        let in_scope = match &id.scope {
            Scope::All => true,
            Scope::Namespace(namespace) => target.namespace.as_deref() == Some(namespace.as_str()),
            Scope::Object { namespace, name } => {
                let namespace = namespace.as_ref().map(|namespace| namespace.as_str());
                target.namespace.as_deref() == namespace && target.name == name.as_str()
            }
        };
        let same_kind = id.resource.kind == target.kind && id.resource.api_version() == target.api_version;
        id.cluster == *cluster && target.cloud.is_none() && same_kind && in_scope
    };
    now.view.observations().map(|(id, ..)| id).filter(holds).cloned()
}

/// The subjects, judged and explained.
fn judged(now: &WorldNow<'_>, subjects: &BTreeSet<SubjectId>) -> Vec<Judged> {
    let judged = |subject: &SubjectId| {
        let check = now.checks.iter().find(|check| check.name() == subject.domain)?;
        let judgement = now.judgements.get(subject)?.judgement.clone();
        let explanation = check.explain(subject, now.view)?;
        Some(Judged { subject: subject.clone(), judgement, explanation })
    };
    subjects.iter().filter_map(judged).collect()
}

/// Whether two actions ask for the same object in the same state. The index that lists tags is behind, after a change of this
/// run's own as well; before tags are changed the executor reads them from the tagging service, and holds them to the plan.
fn is_bound_alike(now: &Action, action: &Action) -> bool {
    let is_of_tags = action.target.cloud.is_some() && action.verb != Verb::Delete;
    is_of_tags || now.preconditions == action.preconditions
}

/// Whether an action rests on its own object alone, which the executor reads itself: what comes from a backup on a free
/// name, everything else of an undo on uid and version.
fn rests_on_itself(action: &Action) -> bool {
    action.finding.is_empty() || action.change.get("backup").is_some()
}

fn finding_of<'p>(action: &Action, cluster: &str, plan: &'p Plan) -> Option<&'p Finding> {
    if action.target.cloud.is_some() {
        return plan.findings.iter().find(|finding| finding.id == action.finding);
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

impl<W: FreshWorld> Recheck for Rechecker<W> {
    fn read_identity<'a>(&'a mut self, cluster: &'a str) -> BoxFuture<'a, Option<IdentityRecord>> {
        async move {
            let name = self.names.get(cluster)?.clone();
            self.world.read_identity(&name).await
        }
        .boxed()
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>> {
        async move {
            let judged: Vec<&Action> = actions.iter().copied().filter(|action| !rests_on_itself(action)).collect();
            let fresh = if judged.is_empty() { None } else { Some(self.fresh_plan(&judged).await) };
            let mut results = Vec::with_capacity(actions.len());
            for action in actions {
                results.push(match &fresh {
                    Some(Ok(fresh)) if !rests_on_itself(action) => {
                        Self::late(action, fresh).unwrap_or_else(|| self.again(action, &fresh.plan))
                    }
                    Some(Err(why)) if !rests_on_itself(action) => RecheckResult::Differs(why.clone()),
                    Some(_) | None => self.again_by_itself(action).await,
                });
            }
            // What is sent now changes the lists.
            self.recent = None;
            if let Some(Ok(fresh)) = fresh {
                self.rested_on.extend(fresh.by_action);
            }
            results
        }
        .boxed()
    }

    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>> {
        async move {
            self.recent = None;
            match self.fresh_plan(deleted).await {
                Ok(fresh) => {
                    let scan = |action: &&Action| match Self::late(action, &fresh) {
                        Some(RecheckResult::Blocked(why) | RecheckResult::Differs(why)) => ReferenceScan::Unknown(why),
                        Some(RecheckResult::Same) | None => self.look(action, &fresh.plan),
                    };
                    let found: Vec<ReferenceScan> = deleted.iter().map(scan).collect();
                    // Where a reference is found, an object may be restored, which changes the lists.
                    if found.iter().any(|found| *found != ReferenceScan::Nothing) {
                        self.recent = None;
                    }
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
    use std::sync::Arc;

    use super::*;
    use crate::fleet::{Fleet, Made, MakeLive};
    use crate::testing::{NoGuests, no_plan, session};
    use trueup_core::world::{ClusterSource, Provider, RiskClass};
    use trueup_fleet::account::{AccountConnector, IbmAccount};
    use trueup_fleet::ibm::{Account, ApiKey, Endpoints};
    use trueup_fleet::live::Member;
    use trueup_net::http::HttpClient;
    use trueup_sim::ibm::{IbmSim, IbmSimOptions};

    fn account_member(key: &str) -> Member {
        let (account, api_key) = ("acc-1".to_owned(), "key".to_owned());
        let start = "2026-11-16T10:00:00Z".parse().unwrap();
        let sim = IbmSim::new(IbmSimOptions { account, api_key, seed: 1, start });
        let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
        let account = Account::new(HttpClient::in_process(sim.service()), endpoints, ApiKey::parse(key).unwrap());
        Member {
            name: ClusterName::new("ibm:live"),
            class: RiskClass::Prod,
            source: ClusterSource::Cloud {
                provider: Provider::Ibm,
                account: "acc-1".to_owned(),
                used_from: Vec::new(),
            },
            hosted_by: None,
            connector: Arc::new(AccountConnector::new(Arc::new(IbmAccount::new("live", Some(Arc::new(account)))))),
            namespaces: Vec::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_account_is_identified_by_its_token_whatever_its_name() {
        let names: BTreeMap<String, ClusterName> = [("ibm:prod", "ibm:live"), ("mgmt", "mgmt")]
            .map(|(plan, live)| (plan.to_owned(), ClusterName::new(live)))
            .into();
        let cases = [("its key", "key", "ibm:prod", Some("acc-1")), ("an unknown key", "other", "ibm:prod", None)];
        for (case, key, asked, expected) in cases {
            let session = session();
            let made =
                crate::fleet::connect_members(&session, Vec::new(), vec![account_member(key)], Box::new(NoGuests));
            let mut made: Option<Made> = made.ok();
            let make: MakeLive = Box::new(move || {
                let made = made.take().ok_or(crate::OperateError::Internal);
                async { made }.boxed()
            });
            let fleet = Fleet::connect(session, make).await.unwrap();
            let mut recheck = Rechecker::new(fleet, names.clone(), &no_plan());
            assert_eq!(recheck.read_identity(asked).await, expected.map(IdentityRecord::of_account), "case: {case}");
            assert_eq!(recheck.read_identity("mgmt").await, None, "case: {case}: not connected");
        }
    }
}
