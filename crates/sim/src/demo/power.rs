//! PowerVS clusters whose resources are in the demo's IBM Cloud account.
//!
//! - `harbor` runs, and wants its resources tagged for its cost centre;
//! - `lagoon` is being deleted and waits for its resources to be deleted;
//! - `marsh` is being deleted too, and waits for a locked workspace;
//! - `fjord` runs in the second management cluster that uses the account;
//! - `tundra` was moved from another management cluster: its uid is new, its resources are tagged with the old one.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::account::{FJORD, Gateway, MARSH, TENANTS, Tenant};
use super::guest::put;
use super::{kinds, objects};
use crate::SimCluster;

const NAMESPACE: &str = "power";
/// The provider's finalizer, removed after the last resource is deleted.
const FINALIZER: &str = "ibmpowervscluster.infrastructure.cluster.x-k8s.io";

/// Seeds the second management cluster of the account.
pub fn seed_second(sim: &SimCluster, since: Timestamp, start: Timestamp) {
    prepare(sim, since);
    put(sim, since, object(&FJORD, status(&FJORD), start));
}

fn prepare(sim: &SimCluster, since: Timestamp) {
    put(sim, since, kinds::of_power());
    put(sim, since, objects::namespace(NAMESPACE));
}

/// Seeds a management cluster with PowerVS clusters.
pub fn seed(sim: &SimCluster, since: Timestamp, start: Timestamp) {
    prepare(sim, since);
    for tenant in &TENANTS {
        put(sim, since, object(tenant, status(tenant), start));
    }
    put(sim, since, object(&MARSH, json!({ "workspace": status(&MARSH)["workspace"] }), start));
}

fn object(tenant: &Tenant, status: Value, start: Timestamp) -> Value {
    let Tenant { name, uid_now, .. } = tenant;
    let mut object = json!({
        "apiVersion": kinds::POWER,
        "kind": "IBMPowerVSCluster",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": uid_now,
            "finalizers": [FINALIZER],
            "ownerReferences": [
                { "apiVersion": kinds::CLUSTER_API, "kind": "Cluster", "name": name, "uid": format!("{name}-cluster") },
            ],
        },
        "spec": spec(tenant),
        "status": status,
    });
    if tenant.is_deleting {
        object["metadata"]["deletionTimestamp"] = json!(objects::api_time(start));
    }
    if let Some((key, value)) = tenant.user_tag {
        object["metadata"]["annotations"] = json!({ "trueup/user-tags": json!({ key: value }).to_string() });
    }
    object
}

fn spec(tenant: &Tenant) -> Value {
    let made = json!({ "type": "Provision" });
    let mut gateway = match tenant.gateway {
        Gateway::Own => made.clone(),
        Gateway::Shared(name) => json!({ "type": "Reference", "reference": { "name": name } }),
    };
    gateway["vpcConnection"] = made.clone();
    gateway["powerVSConnection"] = made.clone();
    json!({
        "topology": "LoadBalancer",
        "zone": tenant.zone,
        "workspace": made,
        "network": made,
        "vpc": { "type": "Provision", "region": "us-south" },
        "transitGateway": gateway,
        "cosInstance": made,
    })
}

fn status(tenant: &Tenant) -> Value {
    let name = tenant.name;
    let gateway = match tenant.gateway {
        Gateway::Own => format!("tg-{name}"),
        Gateway::Shared(shared) => format!("tg-{shared}"),
    };
    json!({
        "workspace": { "id": format!("ws-{name}"), "name": format!("{name}-workspace") },
        "network": { "id": format!("net-{name}"), "dhcpServer": { "id": format!("dhcp-{name}") } },
        "vpc": { "id": format!("r006-{name}-vpc"), "name": format!("{name}-vpc") },
        "vpcSubnets": [{ "id": format!("0717-{name}-subnet"), "name": format!("{name}-subnet-us-south-1") }],
        "vpcSecurityGroups": [{ "id": format!("r006-{name}-sg"), "name": format!("{name}-sg") }],
        "loadBalancers": [{ "id": format!("r006-{name}-lb"), "name": format!("{name}-loadbalancer-public") }],
        "transitGateway": {
            "id": gateway,
            "vpcConnection": { "id": format!("con-{name}-vpc-con") },
            "powerVSConnection": { "id": format!("con-{name}-pvs-con") },
        },
        "cosInstance": { "id": format!("cos-{name}"), "name": format!("{name}-cos") },
    })
}
