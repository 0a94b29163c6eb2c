//! Which lists a recheck reads again, which it may use twice, and what a late one blocks.

use std::sync::{Arc, Mutex};

use trueup_checks::judgements::Judgements;
use trueup_checks::{Cell, Check, Outline, Panel, Pass, Probe, Relations, RuledSubject, Touched, Workload};
use trueup_core::engine::testing::{DOMAIN, cluster, delete, finding, given, now, secrets_of, subject};
use trueup_core::engine::{
    AcceptRule, AccessAnswer, ApplyRequest, BackupCheck, CheckName, Chosen, Conditions, ForeignPlan, Judgement,
    PlanLimits, Provenance,
};
use trueup_core::world::{
    ChangeSet, Cluster, Delta, Fact, FactKind, Interest, Interner, Misfit, RawObject, ResourceVersion, View, World,
};

use super::super::*;
use crate::admit::admit_in;
use crate::error::OperateError;
use crate::session::Session;
use crate::testing::session;

#[derive(Debug, PartialEq)]
struct AnySecret;

impl Fact for AnySecret {
    fn project(_: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self)
    }
}

/// Finds the Secret `a` of guest-a superfluous, whatever the lists say.
struct SuperfluousCheck;

struct SuperfluousPass;

impl Check for SuperfluousCheck {
    fn name(&self) -> CheckName {
        DOMAIN
    }

    fn interests_of(&self, cluster: &Cluster, _: View<'_>) -> Vec<Interest> {
        let is_guest = cluster.name.as_str() == "guest-a";
        is_guest.then(|| secrets_of("guest-a").interest::<AnySecret>()).into_iter().collect()
    }

    fn interested(&self, changes: &ChangeSet, _: View<'_>) -> BTreeSet<ClusterName> {
        changes.iter().map(|change| change.cluster().clone()).collect()
    }

    fn touched(&self, _: &ChangeSet, _: View<'_>) -> Touched {
        Touched { subjects: [subject("guest-a", "a")].into(), ..Touched::default() }
    }

    fn pass<'a>(&'a self, _: View<'a>) -> Box<dyn Pass + 'a> {
        Box::new(SuperfluousPass)
    }
}

impl Pass for SuperfluousPass {
    fn subjects_in(&self, _: &ClusterName) -> BTreeSet<SubjectId> {
        [subject("guest-a", "a")].into()
    }

    fn rule<'p>(&'p self, _: &'p SubjectId) -> Option<Box<dyn RuledSubject + 'p>> {
        Some(Box::new(SuperfluousPass))
    }
}

impl RuledSubject for SuperfluousPass {
    fn judgement(&self) -> Judgement {
        finding("a").0.judgement
    }

    fn explanation(&self) -> Explanation {
        finding("a").draft(delete("guest-a", "a")).0.explanation
    }

    fn has_remedy(&self) -> bool {
        true
    }

    fn cells(&self) -> Vec<Cell> {
        Vec::new()
    }

    fn outline(&self) -> Outline {
        Outline::default()
    }

    fn began(&self) -> Option<jiff::Timestamp> {
        None
    }

    fn panels(&self) -> Vec<Panel> {
        Vec::new()
    }

    fn relations(&self) -> Relations {
        Relations::default()
    }

    fn operator(&self) -> Option<Workload> {
        None
    }

    fn probe(&self) -> Option<Probe> {
        None
    }

    fn answer(&self, _: &str, _: &str) -> Vec<String> {
        Vec::new()
    }
}

/// A world of one cluster that counts what is listed again.
#[derive(Clone)]
struct CountingWorld {
    session: Arc<Session>,
    read: Arc<ReadWorld>,
    log: Arc<Mutex<Log>>,
    /// Lists are not read in time.
    is_late: bool,
    /// How long the verdict has held.
    held_for: Duration,
}

struct ReadWorld {
    world: World,
    judgements: Judgements,
    checks: Vec<Box<dyn Check>>,
}

#[derive(Default)]
struct Log {
    lists: usize,
    resyncs: usize,
}

impl CountingWorld {
    fn new() -> Self {
        let (mut world, mut judgements) = (World::default(), Judgements::default());
        let checks: Vec<Box<dyn Check>> = vec![Box::new(SuperfluousCheck)];
        let mut changes = world.put_cluster(cluster("guest-a"));
        for interest in checks[0].interests(world.view(now())) {
            world.open(&interest);
            let (facts, version) = (FactKind::of::<AnySecret>().new_batch(), ResourceVersion::parse("812"));
            let listed = Delta::Listed { facts, version, at: now(), gap: None };
            changes.extend(world.apply(&interest.id, interest.fact, listed).1);
        }
        judgements.follow(&checks, world.view(now()), &changes);
        let read = Arc::new(ReadWorld { world, judgements, checks });
        Self { session: session(), read, log: Arc::default(), is_late: false, held_for: Duration::ZERO }
    }

    fn recheck(&self) -> Rechecker<Self> {
        Rechecker::new(self.clone(), names(), plan())
    }

    /// The collections listed since the last call.
    fn take_lists(&self) -> usize {
        std::mem::take(&mut self.log.lock().unwrap().lists)
    }

    async fn admit(&self, provenance: Provenance) -> Vec<RecheckResult> {
        let request = ApplyRequest {
            chosen: Chosen::Selected,
            provenance,
            foreign: ForeignPlan::Accept,
            limits: PlanLimits::default(),
            sent_earlier: BTreeSet::new(),
        };
        let admission = admit_in(self.clone(), names(), plan(), &request, &now).await.unwrap();
        admission.refused().map(|(_, why)| why.clone()).collect()
    }
}

impl FreshWorld for CountingWorld {
    fn session(&self) -> &Arc<Session> {
        &self.session
    }

    fn accepted(&self) -> Vec<AcceptRule> {
        Vec::new()
    }

    async fn refresh(&mut self, collections: BTreeSet<CollectionId>) -> Result<BTreeSet<CollectionId>, OperateError> {
        self.log.lock().unwrap().lists += collections.len();
        Ok(if self.is_late { collections } else { BTreeSet::new() })
    }

    async fn resync(&mut self) -> Result<(), OperateError> {
        self.log.lock().unwrap().resyncs += 1;
        Ok(())
    }

    async fn ask<T: Send + 'static>(
        &mut self,
        question: impl FnOnce(&WorldNow<'_>) -> T + Send + 'static,
    ) -> Result<T, OperateError> {
        let ReadWorld { world, judgements, checks } = &*self.read;
        let held = [(subject("guest-a", "a"), self.held_for)].into();
        let conditions = Conditions { backup: BackupCheck::Possible, held, ..Conditions::at(now()) };
        Ok(question(&WorldNow { view: world.view(now()), judgements, checks, conditions }))
    }

    async fn ask_access(&mut self, questions: BTreeSet<AccessQuestion>) -> AccessAnswers {
        questions.into_iter().map(|question| (question, AccessAnswer::Allowed)).collect()
    }

    async fn read_identity(&mut self, _: &ClusterName) -> Option<ClusterIdentity> {
        Some(cluster("guest-a").identity)
    }

    async fn derive_undo(&mut self, _: &str, _: &str) -> Result<UndoPlan, OperateError> {
        Err(OperateError::Internal)
    }
}

fn plan() -> Plan {
    given().finding(finding("a").deletes()).plan()
}

fn names() -> BTreeMap<String, ClusterName> {
    [("guest-a".to_owned(), ClusterName::new("guest-a"))].into()
}

fn gates(result: &RecheckResult) -> Vec<GateName> {
    match result {
        RecheckResult::Blocked(blocked) => blocked.iter().map(|blocked| blocked.gate).collect(),
        RecheckResult::Same | RecheckResult::Stricter { .. } | RecheckResult::Differs(_) => Vec::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_lists_of_a_reference_scan_serve_one_wave_and_only_while_they_are_recent() {
    let world = CountingWorld::new();
    let mut recheck = world.recheck();
    let plan = plan();
    let actions: Vec<&Action> = plan.actions.iter().collect();
    // Superfluous again: to a scan this means that nothing refers to it.
    assert_eq!(recheck.scan_references(&actions).await, [ReferenceScan::Nothing]);
    assert_eq!(world.take_lists(), 1, "a scan lists what the delete rests on");
    assert_eq!(recheck.judge_again(&actions).await, [RecheckResult::Same]);
    assert_eq!(world.take_lists(), 0, "the wave right after it uses these lists");
    recheck.judge_again(&actions).await;
    assert_eq!(world.take_lists(), 1, "the wave after that lists again");
    recheck.scan_references(&actions).await;
    world.take_lists();
    tokio::time::advance(LISTS_AGE_MAX + Duration::from_millis(1)).await;
    recheck.judge_again(&actions).await;
    assert_eq!(world.take_lists(), 1, "lists that are too old are not used");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_late_blocks_the_approval_the_wave_and_the_scan() {
    let world = CountingWorld { is_late: true, ..CountingWorld::new() };
    let plan = plan();
    let actions: Vec<&Action> = plan.actions.iter().collect();
    let admitted = world.admit(Provenance::Here).await;
    assert_eq!(admitted.iter().map(gates).collect::<Vec<_>>(), [[GateName::NotComplete]], "{admitted:?}");
    let late = "guest-a v1/secrets in openshift-config was not listed again in time".to_owned();
    let blocked = RecheckResult::Blocked(vec![Blocked { gate: GateName::NotComplete, why: late.clone() }]);
    assert_eq!(world.recheck().judge_again(&actions).await, [blocked]);
    assert_eq!(world.recheck().scan_references(&actions).await, [ReferenceScan::Unknown(late)]);
    assert_eq!(CountingWorld::new().admit(Provenance::Here).await, [], "in time");
}

#[tokio::test(start_paused = true)]
async fn the_verdicts_of_a_foreign_plan_have_to_hold_here() {
    let settle = session().settings.settle();
    let cases = [("just seen", Duration::ZERO, vec![vec![GateName::Settling]]), ("held", settle, Vec::new())];
    for (case, held_for, expected) in cases {
        let world = CountingWorld { held_for, ..CountingWorld::new() };
        let refused = world.admit(Provenance::Foreign).await;
        assert_eq!(refused.iter().map(gates).collect::<Vec<_>>(), expected, "case: {case}: {refused:?}");
        assert_eq!(world.log.lock().unwrap().resyncs, 1, "case: {case}: everything is listed a second time");
        assert_eq!(world.admit(Provenance::Here).await, [], "case: {case}: a plan made here has settled");
    }
}
