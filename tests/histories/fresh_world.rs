//! The world one process reads: the product's world and judgements over the simulated servers.
//!
//! Invariants:
//! - a list that failed, or is older than one that was taken, is a gap; one that did not arrive is late;
//! - everything goes through the same faulty API: lists, identities and permissions.
//!
//! Elsewhere: who may do what (`forbidden`), what is listed how (`lists`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex, MutexGuard};
use trueup_checks::Check;
use trueup_checks::judgements::{Judgements, explained};
use trueup_core::engine::{
    AcceptRule, AccessAnswers, AccessQuestion, BackupCheck, Conditions, Judged, UndoPlan, access_questions,
};
use trueup_core::world::{
    Applied, ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, CollectionId, Delta, Gap, GapCause,
    Interest, Link, Served, World,
};
use trueup_fleet::connect::identity;
use trueup_operate::{FreshWorld, OperateError, Session, WorldNow, ask_access};

use super::configuration::Configuration;
use super::lists::{KeepsObjects, Listed, Lister, gap};
use super::ports::Hold;
use super::rule_check::{RuleCheck, referrers_id};
use super::standing::Looked;
use super::tap;
use super::undo;
use super::world::Site;

/// A handle on the world of one process.
#[derive(Clone)]
pub struct HistoryWorld {
    session: Arc<Session>,
    read: Arc<Mutex<ReadWorld>>,
}

/// What one process has read.
pub struct ReadWorld {
    pub lister: Lister,
    configuration: Configuration,
    checks: Vec<Box<dyn Check>>,
    world: World,
    judgements: Judgements,
    open: BTreeMap<CollectionId, Interest>,
    clients: BTreeMap<ClusterName, kube::Client>,
}

impl HistoryWorld {
    /// Connects to every cluster and lists everything once, as a new process does.
    pub async fn connect(hold: Hold, configuration: Configuration, keeps: KeepsObjects) -> Self {
        let session = configuration.session();
        let read = ReadWorld::connect(hold, configuration, keeps, &session).await;
        Self { session, read: Arc::new(Mutex::new(read)) }
    }

    pub async fn lock(&self) -> MutexGuard<'_, ReadWorld> {
        self.read.lock().await
    }
}

impl ReadWorld {
    async fn connect(hold: Hold, configuration: Configuration, keeps: KeepsObjects, session: &Session) -> Self {
        let sites = hold.shared.lock().sites.len();
        let client = |site| (ClusterName::new(Site::name(site)), tap::client(&hold.shared, hold.who, site));
        let clients = (0..sites).map(client).collect();
        let checks: Vec<Box<dyn Check>> = vec![Box::new(RuleCheck { waits: configuration.waits() })];
        let mut connected = Self {
            lister: Lister::new(hold, keeps),
            configuration,
            checks,
            world: World::default(),
            judgements: Judgements::default(),
            open: BTreeMap::new(),
            clients,
        };
        for site in 0..sites {
            connected.put_cluster(site, session).await;
        }
        let now = connected.now();
        for interest in connected.checks[0].interests(connected.world.view(now)) {
            connected.world.open(&interest);
            connected.open.insert(interest.id.clone(), interest);
        }
        let all = connected.open.keys().cloned().collect();
        connected.list(all).await;
        connected
    }

    async fn put_cluster(&mut self, site: usize, session: &Session) {
        let name = ClusterName::new(Site::name(site));
        let identity = identity::read(&self.clients[&name]).await.identity;
        let is_hidden = self.configuration.hides_identity(site);
        let cluster = Cluster {
            class: session.settings.clusters.class_of(&name, None),
            source: ClusterSource::Kubeconfig { context: name.to_string() },
            hosted_by: None,
            link: Link::Idle,
            identity: if is_hidden { ClusterIdentity::default() } else { identity },
            served: Served::Unknown(Gap::new(GapCause::NotObserved, "not asked")),
            name,
        };
        let changes = self.world.put_cluster(cluster);
        self.follow(&changes);
    }

    pub fn clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.world.view(Timestamp::UNIX_EPOCH).clusters()
    }

    /// Every subject, judged and explained.
    pub fn judged(&self) -> Vec<Judged> {
        explained(&self.judgements, &self.checks, self.world.view(self.now()))
    }

    /// The permissions the remedies need.
    pub fn access_questions(&self) -> BTreeSet<AccessQuestion> {
        self.judged().iter().flat_map(|one| &one.explanation.remedy).flat_map(access_questions).collect()
    }

    fn now(&self) -> Timestamp {
        self.lister.hold.shared.lock().engine_now()
    }

    async fn list(&mut self, collections: BTreeSet<CollectionId>) -> BTreeSet<CollectionId> {
        if collections.iter().any(|id| *id == referrers_id(&id.cluster)) {
            self.note_references();
        }
        let mut late = BTreeSet::new();
        let mut changes = ChangeSet::default();
        for id in collections {
            let Some(interest) = self.open.get(&id).cloned() else { continue };
            match self.lister.list(&interest).await {
                Listed::Late => drop(late.insert(id)),
                Listed::Failed(gap) => changes.extend(self.world.apply(&id, interest.fact, Delta::Lost { gap }).1),
                Listed::Whole { facts, version } => {
                    let at = self.confirmed_at(&id);
                    for row in facts.rows {
                        let gap = row.spoilt.map(|spoilt| spoilt.gap("list"));
                        let delta = Delta::Listed { facts: row.facts, version: version.clone(), at, gap };
                        changes.extend(self.take(&id, &interest, delta));
                    }
                }
            }
        }
        self.follow(&changes);
        late
    }

    fn take(&mut self, id: &CollectionId, interest: &Interest, delta: Delta) -> ChangeSet {
        let (applied, changes) = self.world.apply(id, interest.fact, delta);
        match applied {
            Applied::Changed { .. } | Applied::Unchanged => changes,
            Applied::RefusedOlder { .. } => {
                let gap = gap("the list is older than one that was taken");
                self.world.apply(id, interest.fact, Delta::Lost { gap }).1
            }
        }
    }

    fn confirmed_at(&self, id: &CollectionId) -> Timestamp {
        let age = if self.configuration.is_stale(Site::of(id.cluster.as_str())) { 91 } else { 0 };
        let now = self.now();
        now.checked_sub(SignedDuration::from_secs(age)).unwrap_or(now)
    }

    /// Notes which references could be seen when the referrers began to be listed.
    fn note_references(&mut self) {
        let Hold { shared, who } = &self.lister.hold;
        let mut world = shared.lock();
        let at = world.now();
        let seen = world.candidates.iter().map(|target| {
            let (referenced, changes) = world.references_now(target);
            (target.clone(), Looked { referenced, changes, present: world.is_present(target), honest: true, at })
        });
        let seen = seen.collect();
        let standing = &mut world.engines[*who];
        (standing.references, standing.honest) = (seen, true);
    }

    fn follow(&mut self, changes: &ChangeSet) {
        let now = self.now();
        self.judgements.follow(&self.checks, self.world.view(now), changes);
    }
}

impl FreshWorld for HistoryWorld {
    fn session(&self) -> &Arc<Session> {
        &self.session
    }

    fn accepted(&self) -> Vec<AcceptRule> {
        Vec::new()
    }

    async fn refresh(&mut self, collections: BTreeSet<CollectionId>) -> Result<BTreeSet<CollectionId>, OperateError> {
        let mut read = self.lock().await;
        let late = read.list(collections).await;
        let Hold { shared, who } = &read.lister.hold;
        shared.lock().engines[*who].late.extend(late.iter().cloned());
        Ok(late)
    }

    async fn resync(&mut self) -> Result<(), OperateError> {
        let all = self.lock().await.open.keys().cloned().collect();
        self.refresh(all).await.map(drop)
    }

    async fn ask<T: Send + 'static>(
        &mut self,
        question: impl FnOnce(&WorldNow<'_>) -> T + Send + 'static,
    ) -> Result<T, OperateError> {
        let read = self.lock().await;
        let ReadWorld { configuration, checks, world, judgements, .. } = &*read;
        let now = read.now();
        let view = world.view(now);
        let mut conditions = Conditions { backup: BackupCheck::Possible, ..Conditions::at(now) };
        conditions.unverified_tls = configuration.unverified();
        conditions.clocks = configuration.clocks(now);
        conditions.held = judgements.held_for(view);
        Ok(question(&WorldNow { view, judgements, checks, conditions }))
    }

    async fn ask_access(&mut self, questions: BTreeSet<AccessQuestion>) -> AccessAnswers {
        let clients = self.lock().await.clients.clone();
        let with_client = |question: AccessQuestion| {
            let client = clients.get(&question.cluster).cloned();
            (question, client)
        };
        ask_access(questions.into_iter().map(with_client).collect()).await
    }

    async fn read_identity(&mut self, cluster: &ClusterName) -> Option<ClusterIdentity> {
        let client = self.lock().await.clients.get(cluster).cloned()?;
        Some(identity::read(&client).await.identity)
    }

    async fn derive_undo(&mut self, plan: &str, action: &str) -> Result<UndoPlan, OperateError> {
        undo::derive(self, plan, Some(action)).await
    }
}
