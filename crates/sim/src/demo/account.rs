//! The demo's IBM Cloud account: resources of PowerVS clusters, and resources of other teams.
//!
//! - `harbor` runs: all of its own resources are tagged, and it uses a transit gateway of the network team;
//! - `lagoon` is being deleted;
//! - `tundra` was moved to this management cluster and has a new uid, so its tags hold the old uid;
//! - `marsh` is being deleted; only a locked workspace is left;
//! - `fjord` runs in the other management cluster of the account;
//! - two resources belong to a cluster that no longer exists.
//!
//! Invariants: the same start time gives the same account.

use jiff::{SignedDuration, Timestamp};

use crate::ibm::{IbmSim, IbmSimOptions, Thing, ThingKind};

/// Id of the account.
pub const ACCOUNT: &str = "7f4c1d0be5a34a0c9d2e6b8f01a3c5d7";
/// API key of the account. Only the simulated account accepts it.
pub const API_KEY: &str = "trueup-demo";

/// A cluster with resources in the account.
pub(super) struct Tenant {
    pub name: &'static str,
    /// The uid in the tags of its resources.
    uid: &'static str,
    /// The uid of its Kubernetes object.
    pub uid_now: &'static str,
    pub zone: &'static str,
    pub gateway: Gateway,
    pub is_deleting: bool,
    /// A tag its user wants on every resource.
    pub user_tag: Option<(&'static str, &'static str)>,
}

/// The transit gateway a cluster uses.
pub(super) enum Gateway {
    Own,
    Shared(&'static str),
}

const HARBOR_UID: &str = "0a6f3c52-7e1b-4d1c-9a57-3b2f6c0e8d11";
const LAGOON_UID: &str = "1b7e4d63-8f2c-4e2d-8b68-4c307d1f9e22";
const TUNDRA_OLD_UID: &str = "2c8f5e74-903d-4f3e-8c79-5d418e20af33";
const TUNDRA_UID: &str = "4ea17096-b25f-4150-8e9b-7f63a042c155";
const MARSH_UID: &str = "5fb281a7-c360-4261-9fac-8074b153d266";
const FJORD_UID: &str = "6ac392b8-d471-4372-8abd-9185c264e377";
const LOST_UID: &str = "3d906f85-a14e-404f-8d8a-6e529f31b044";

pub(super) const TENANTS: [Tenant; 3] = [
    Tenant {
        gateway: Gateway::Shared("backbone"),
        user_tag: Some(("cost-centre", "4711")),
        ..tenant("harbor", HARBOR_UID, "dal10")
    },
    Tenant { is_deleting: true, ..tenant("lagoon", LAGOON_UID, "dal10") },
    Tenant { uid_now: TUNDRA_UID, ..tenant("tundra", TUNDRA_OLD_UID, "lon06") },
];

/// Only its workspace is left.
pub(super) const MARSH: Tenant = Tenant { is_deleting: true, ..tenant("marsh", MARSH_UID, "lon06") };

/// Its object is in the second management cluster of the account.
pub(super) const FJORD: Tenant = tenant("fjord", FJORD_UID, "dal10");

const fn tenant(name: &'static str, uid: &'static str, zone: &'static str) -> Tenant {
    Tenant { name, uid, uid_now: uid, zone, gateway: Gateway::Own, is_deleting: false, user_tag: None }
}

/// A resource with only some of its tags.
const HALF_TAGGED: &str = "r006-harbor-vpc";

/// Age of the clusters.
const AGE: SignedDuration = SignedDuration::from_hours(24 * 90);

pub(super) fn account(seed: u64, start: Timestamp) -> IbmSim {
    let (account, api_key) = (ACCOUNT.to_owned(), API_KEY.to_owned());
    let sim = IbmSim::new(IbmSimOptions { account, api_key, seed, start });
    let since = start.checked_sub(AGE).unwrap_or(start);
    let thing = |kind, id: &str, name: &str, location: &str| Thing::new(kind, id, name, location, ACCOUNT, since);
    let mut backbone =
        thing(ThingKind::TransitGateway, "tg-backbone", "backbone", "us-south").tagged(&["team:network"]);
    backbone.tags.insert(format!("powervs.cluster.x-k8s.io-tgconn:{HARBOR_UID}.vpc"));
    backbone.tags.insert(format!("powervs.cluster.x-k8s.io-tgconn:{HARBOR_UID}.powervs"));
    sim.seed(backbone);
    let mut foreign = thing(ThingKind::Connection, "con-datacentre", "datacentre", "global").within("tg-backbone");
    foreign.network_type = Some("directlink".to_owned());
    sim.seed(foreign);
    for tenant in &TENANTS {
        for mut thing in resources(tenant, since) {
            if thing.id == HALF_TAGGED {
                thing.tags.retain(|tag| !tag.contains("-owner:"));
            }
            sim.seed(thing);
        }
    }
    resources(&FJORD, since).into_iter().for_each(|thing| sim.seed(thing));
    let lost = [format!("powervs.cluster.x-k8s.io-owner:{}", "quarry"), uuid_tag(LOST_UID)];
    let lost: Vec<&str> = lost.iter().map(String::as_str).collect();
    sim.seed(thing(ThingKind::Vpc, "r006-quarry-vpc", "quarry-vpc", "us-south").tagged(&lost));
    sim.seed(thing(ThingKind::CosInstance, "cos-quarry", "quarry-cos", "global").tagged(&lost));
    for mut left in resources(&MARSH, since).into_iter().filter(|thing| thing.kind == ThingKind::Workspace) {
        left.locked = true;
        sim.seed(left);
    }
    sim
}

fn uuid_tag(uid: &str) -> String {
    format!("powervs.cluster.x-k8s.io-cluster-uuid:{uid}")
}

fn resources(tenant: &Tenant, since: Timestamp) -> Vec<Thing> {
    let Tenant { name, uid, zone, gateway, .. } = tenant;
    let own = [format!("powervs.cluster.x-k8s.io-owner:{name}"), uuid_tag(uid)];
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let make = |kind, id: &str, tail: &str, location: &str| {
        Thing::new(kind, id, &format!("{name}{tail}"), location, ACCOUNT, since).tagged(&own)
    };
    let id = |front: &str, tail: &str| format!("{front}{name}{tail}");
    let (workspace, vpc) = (id("ws-", ""), id("r006-", "-vpc"));
    let workspace_thing = make(ThingKind::Workspace, &workspace, "-workspace", zone);
    let vpc_thing = make(ThingKind::Vpc, &vpc, "-vpc", "us-south");
    let mut network = make(ThingKind::Network, &id("net-", ""), "", zone).within(&workspace);
    network.name = format!("DHCPSERVER{name}-dhcp_Private");
    let mut dhcp = Thing::new(ThingKind::DhcpServer, &id("dhcp-", ""), "", zone, ACCOUNT, since).within(&workspace);
    dhcp.uses = vec![network.id.clone()];
    let subnet = make(ThingKind::Subnet, &id("0717-", "-subnet"), "-subnet-us-south-1", "us-south-1").within(&vpc);
    let mut balancer = make(ThingKind::LoadBalancer, &id("r006-", "-lb"), "-loadbalancer-public", "us-south");
    balancer.uses = vec![subnet.id.clone()];
    let gateway_id = match gateway {
        Gateway::Own => id("tg-", ""),
        Gateway::Shared(shared) => format!("tg-{shared}"),
    };
    let connection = |tail: &str, kind: &str, to: &Thing| {
        let connection = Thing::new(ThingKind::Connection, &id("con-", tail), &id("", tail), "global", ACCOUNT, since);
        let mut connection = connection.within(&gateway_id);
        (connection.network_type, connection.network_id) = (Some(kind.to_owned()), Some(to.crn.clone()));
        connection
    };
    let mut all = vec![
        connection("-vpc-con", "vpc", &vpc_thing),
        connection("-pvs-con", "power_virtual_server", &workspace_thing),
        make(ThingKind::SecurityGroup, &id("r006-", "-sg"), "-sg", "us-south").within(&vpc),
        make(ThingKind::CosInstance, &id("cos-", ""), "-cos", "global"),
        network,
        dhcp,
        subnet,
        balancer,
        workspace_thing,
        vpc_thing,
    ];
    if matches!(gateway, Gateway::Own) {
        all.push(make(ThingKind::TransitGateway, &gateway_id, "-transitgateway", "us-south"));
    }
    all
}
