//! Builders for tests.

use std::path::PathBuf;
use std::sync::Arc;

use crate::event::testing::recorded;
use crate::fleet::Made;
use crate::session::{Contexts, Session};
use crate::settings::Settings;
use trueup_checks::judgements::Judgements;
use trueup_core::decode::Digester;
use trueup_core::engine::Plan;
use trueup_core::world::{Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, RiskClass, Served, World};
use trueup_fleet::connect::{Connection, Env, FixedConnector, PluginPolicy};
use trueup_fleet::live::{Guest, GuestResolver, Live, Member};
use trueup_fleet::observe::WatchStart;

/// A snapshot of one cluster without objects.
pub fn snapshot_of(name: &str) -> Made {
    let mut world = World::default();
    world.put_cluster(Cluster {
        name: ClusterName::new(name),
        class: RiskClass::Prod,
        source: ClusterSource::Snapshot,
        hosted_by: None,
        link: Link::Recorded,
        identity: ClusterIdentity::default(),
        served: Served::Recorded(Default::default()),
    });
    let now = "2026-11-16T10:00:00Z".parse().unwrap();
    let live = Live::from_snapshot(Vec::new(), world, Judgements::default(), now, Digester::new(&[0; 32]));
    Made { live, recording: None, keeps: Box::new(()) }
}

/// A session without configuration, environment or state folder.
pub fn session() -> Arc<Session> {
    Arc::new(bare_session())
}

/// The same with a state folder.
pub fn session_at(state: PathBuf) -> Session {
    Session { state: Some(state), ..bare_session() }
}

fn bare_session() -> Session {
    Session {
        settings: Settings::default(),
        env: Env::default(),
        contexts: Contexts::default(),
        state: None,
        shared_key: None,
        read_only: false,
        allow_insecure_writes: false,
        plugins: PluginPolicy::Any,
        watches: WatchStart::default(),
        events: recorded().0,
    }
}

/// A plan without findings or actions.
pub fn no_plan() -> Plan {
    let at = "2026-11-16T10:00:00Z";
    let plan = serde_json::json!({
        "schema": "trueup/plan/v1", "id": "", "created_at": at, "expires_at": at, "engine": "", "targets": [],
        "observations": [], "findings": [], "actions": [], "summary": { "findings": {}, "actions": {}, "blocked": 0 },
    });
    serde_json::from_value(plan).unwrap()
}

/// A fleet whose clusters host no guests.
pub struct NoGuests;

impl GuestResolver for NoGuests {
    fn member(&self, guest: &Guest, management: &Connection) -> Member {
        Member {
            name: guest.name.clone(),
            class: RiskClass::default(),
            source: ClusterSource::Hosted { by: guest.hosted_by.cluster.clone() },
            hosted_by: Some(guest.hosted_by.clone()),
            connector: Arc::new(FixedConnector(management.client.clone())),
            namespaces: Vec::new(),
        }
    }
}
