//! The members of the demo's fleet, reached inside this process.
//!
//! Invariants: no socket is opened; guests and accounts are those of the scenario.
//! Elsewhere: the command (`demo`), the scenario itself (`trueup_sim::demo`).

use std::sync::Arc;

use super::clouds;
use trueup_core::world::{Cluster, ClusterName, ClusterSource, RiskClass};
use trueup_fleet::clouds::Clouds;
use trueup_fleet::connect::{Connection, FixedConnector};
use trueup_fleet::live::{ClusterAccount, Guest, GuestResolver, Member};
use trueup_sim::demo::{DemoClass, DemoCluster, DemoRole, DemoService, Scenario};

/// The demo's config. The scenario changes every few seconds, so the settle time is short.
pub const CONFIG: &str = "\
[safety]
settle = \"3s\"
[domains.machineset-capacity]
credentials_from = \"openshift-machine-api/machine-annotator\"
";
/// Initial members of the fleet: the management clusters and the cloud account.
pub fn members(scenario: &Scenario) -> Vec<Member> {
    let mut members: Vec<Member> = scenario.clusters.iter().filter_map(contexts).collect();
    members.push(clouds::demo_account(scenario));
    members
}

/// A management cluster as a member of the fleet, reached inside this process.
fn contexts(cluster: &DemoCluster) -> Option<Member> {
    match &cluster.role {
        DemoRole::Management { context } => {
            Some(Member { source: ClusterSource::Kubeconfig { context: context.clone() }, ..member(cluster) })
        }
        DemoRole::Guest { .. } => None,
    }
}

fn member(cluster: &DemoCluster) -> Member {
    Member {
        name: ClusterName::new(cluster.name.as_str()),
        class: match cluster.class {
            DemoClass::Dev => RiskClass::Dev,
            DemoClass::Stage => RiskClass::Stage,
            DemoClass::Prod => RiskClass::Prod,
        },
        source: ClusterSource::Kubeconfig { context: cluster.name.clone() },
        hosted_by: None,
        connector: Arc::new(FixedConnector(cluster.client())),
        namespaces: Vec::new(),
    }
}

/// Connects to the guests of the demo's management clusters and to its clouds, inside this process.
pub struct DemoGuests {
    scenario: Scenario,
    clouds: Clouds,
}

impl DemoGuests {
    pub fn new(scenario: Scenario) -> Self {
        let clouds = clouds::demo_clouds(scenario.machines());
        Self { scenario, clouds }
    }
}

impl GuestResolver for DemoGuests {
    fn member(&self, guest: &Guest, _: &Connection) -> Member {
        let by = &guest.hosted_by;
        let (name, source) = (guest.name.clone(), ClusterSource::Hosted { by: by.cluster.clone() });
        let hosted_by = Some(by.clone());
        match self.scenario.guest(by.cluster.as_str(), by.namespace.as_str(), by.name.as_str()) {
            Some(cluster) => Member { name, source, hosted_by, ..member(cluster) },
            // A HostedCluster that was created during the demo has no servers.
            None => Member {
                name,
                class: RiskClass::default(),
                source,
                hosted_by,
                connector: Arc::new(FixedConnector(DemoService::unreachable().client())),
                namespaces: Vec::new(),
            },
        }
    }

    fn account_of(&self, account: &ClusterAccount, cluster: &Cluster, client: &kube::Client) -> Option<Member> {
        let machines = self.scenario.machines()?;
        machines.belong_to(cluster.name.as_str()).then(|| self.clouds.member_of(account, cluster, client)).flatten()
    }
}
