//! VPC: networks, subnets, security groups and load balancers, with what blocks their deletion.

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reply::IbmReply;
use super::request::IbmRequest;
use super::server::{IbmServer, page};
use super::store::{Then, Thing, ThingKind};

const REGIONS: [&str; 3] = ["eu-de", "us-east", "us-south"];
const REGION_DEFAULT: &str = "us-south";

impl IbmServer {
    pub(super) fn vpc(
        &mut self,
        now: Timestamp,
        request: &IbmRequest,
        region: Option<&str>,
        parts: &[&str],
    ) -> IbmReply {
        if request.query("version").is_none() || request.query("generation") != Some("2") {
            return IbmReply::errors(400, "invalid_version", "version and generation=2 are required");
        }
        if let (&Method::GET, ["v1", "regions"]) = (&request.method, parts) {
            let rows: Vec<Value> = REGIONS.iter().map(|name| json!({ "name": name, "status": "available" })).collect();
            return IbmReply::json(200, &json!({ "regions": rows }));
        }
        let Some(kind) = parts.get(1).and_then(|plural| kind_of(plural)) else {
            return IbmReply::errors(404, "not_found", "no such collection");
        };
        match (&request.method, &parts[2..]) {
            (&Method::GET, []) => self.list_vpc(request, region, kind, parts[1]),
            (&Method::POST, []) => self.create_vpc(now, request, region, kind),
            (&Method::GET, [id]) => match self.store.get(kind, id) {
                Some(thing) => IbmReply::json(200, &self.vpc_row(thing)),
                None => absent(kind, id),
            },
            (&Method::PATCH, [id]) => self.rename(now, request, kind, id),
            (&Method::DELETE, [id]) => self.delete_vpc(now, kind, id),
            _ => IbmReply::errors(404, "not_found", "no such operation"),
        }
    }

    fn list_vpc(&self, request: &IbmRequest, region: Option<&str>, kind: ThingKind, plural: &str) -> IbmReply {
        let is_asked = |thing: &&Thing| {
            let within = request.query("vpc.id").is_none_or(|vpc| thing.parent.as_deref() == Some(vpc));
            let named = request.query("name").is_none_or(|name| thing.name == name);
            let here = region.is_none_or(|region| thing.location.starts_with(region));
            within && named && here
        };
        let (rows, next, total) = page(self.store.of(kind).filter(is_asked), request, 50, 100);
        let rows: Vec<Value> = rows.into_iter().map(|thing| self.vpc_row(thing)).collect();
        let mut body = json!({
            "first": { "href": format!("{}{}", request.base, request.path) },
            "limit": request.query("limit").and_then(|text| text.parse::<u64>().ok()).unwrap_or(50),
            "total_count": total,
        });
        body[plural] = json!(rows);
        if let Some(start) = next {
            body["next"] = json!({ "href": request.link(&start) });
        }
        IbmReply::json(200, &body)
    }

    fn create_vpc(&mut self, now: Timestamp, request: &IbmRequest, region: Option<&str>, kind: ThingKind) -> IbmReply {
        let body = request.json();
        let name = body["name"].as_str().unwrap_or_default().to_owned();
        if self.store.of(kind).any(|thing| thing.name == name) {
            return IbmReply::errors(409, "conflict", "a resource of that name exists");
        }
        let zone = body["zone"]["name"].as_str().map(str::to_owned);
        let location = zone.unwrap_or_else(|| region.unwrap_or(REGION_DEFAULT).to_owned());
        let mut thing = self.fresh(now, kind, &name, &location);
        thing.parent = body["vpc"]["id"].as_str().map(str::to_owned);
        let subnets = body["subnets"].as_array().into_iter().flatten();
        thing.uses = subnets.filter_map(|subnet| subnet["id"].as_str()).map(str::to_owned).collect();
        if kind == ThingKind::LoadBalancer {
            thing.parent = thing
                .uses
                .first()
                .and_then(|id| self.store.get(ThingKind::Subnet, id))
                .and_then(|subnet| subnet.parent.clone());
        }
        let made = self.make(now, thing);
        if kind == ThingKind::Vpc {
            let mut group = self.fresh(now, ThingKind::SecurityGroup, &format!("{name}-default"), &location);
            (group.parent, group.is_default) = (Some(made.id.clone()), true);
            self.make(now, group);
        }
        IbmReply::json(201, &self.vpc_row(&made))
    }

    fn rename(&mut self, now: Timestamp, request: &IbmRequest, kind: ThingKind, id: &str) -> IbmReply {
        if self.store.get(kind, id).is_none() {
            return absent(kind, id);
        }
        if let Some(name) = request.json()["name"].as_str() {
            self.edit(now, id, |thing| thing.name = name.to_owned());
        }
        match self.store.get(kind, id) {
            Some(thing) => IbmReply::json(200, &self.vpc_row(thing)),
            None => absent(kind, id),
        }
    }

    fn delete_vpc(&mut self, now: Timestamp, kind: ThingKind, id: &str) -> IbmReply {
        let Some(thing) = self.store.get(kind, id).cloned() else { return absent(kind, id) };
        if let Some((code, message)) = self.held(&thing) {
            return IbmReply::errors(409, code, &message);
        }
        match kind {
            ThingKind::SecurityGroup => self.remove(now, id),
            ThingKind::LoadBalancer => self.leave(now, id, "delete_pending", Then::Gone),
            ThingKind::Vpc
            | ThingKind::Subnet
            | ThingKind::Workspace
            | ThingKind::Network
            | ThingKind::DhcpServer
            | ThingKind::CosInstance
            | ThingKind::TransitGateway
            | ThingKind::Connection => self.leave(now, id, "deleting", Then::Gone),
        }
        IbmReply::empty(204)
    }

    /// What blocks the deletion of a resource.
    fn held(&self, thing: &Thing) -> Option<(&'static str, String)> {
        let named = |what: &str, by: &Thing| format!("{what}: {} ({})", by.name, by.id);
        if let Some(by) = thing.held_by.first() {
            return Some(("in_use", format!("in use by {by}")));
        }
        match thing.kind {
            ThingKind::Vpc => {
                let inside = self.store.within(&thing.id).find(|inner| inner.kind != ThingKind::SecurityGroup);
                let connected = |other: &&Thing| other.network_id.as_deref() == Some(thing.crn.as_str());
                let connection = self.store.of(ThingKind::Connection).find(connected);
                inside
                    .map(|by| ("vpc_in_use", named("the VPC still holds", by)))
                    .or_else(|| connection.map(|by| ("vpc_in_use", named("the VPC is connected by", by))))
            }
            ThingKind::Subnet => {
                let uses = |balancer: &&Thing| balancer.uses.contains(&thing.id);
                let balancer = self.store.of(ThingKind::LoadBalancer).find(uses);
                balancer.map(|by| ("subnet_in_use", named("the subnet is used by", by)))
            }
            ThingKind::SecurityGroup if thing.is_default => {
                Some(("security_group_is_default", "the default group is deleted with its VPC".to_owned()))
            }
            ThingKind::LoadBalancer if !matches!(thing.state.as_str(), "active" | "failed") => {
                Some(("load_balancer_busy", format!("the load balancer is in state {}", thing.state)))
            }
            ThingKind::SecurityGroup
            | ThingKind::LoadBalancer
            | ThingKind::Workspace
            | ThingKind::Network
            | ThingKind::DhcpServer
            | ThingKind::CosInstance
            | ThingKind::TransitGateway
            | ThingKind::Connection => None,
        }
    }

    fn vpc_row(&self, thing: &Thing) -> Value {
        let mut row = json!({
            "id": thing.id,
            "crn": thing.crn,
            "name": thing.name,
            "href": format!("https://{REGION_DEFAULT}.iaas.cloud.ibm.com/v1/{}", thing.id),
            "created_at": thing.created_at.to_string(),
        });
        let vpc = thing.parent.as_ref().map(|id| json!({ "id": id }));
        match thing.kind {
            ThingKind::LoadBalancer => {
                row["provisioning_status"] = json!(thing.state);
                row["operating_status"] = json!("online");
                row["hostname"] = json!(format!("{}.lb.example", thing.id));
                row["is_public"] = json!(true);
                row["subnets"] = thing.uses.iter().map(|id| json!({ "id": id })).collect();
            }
            ThingKind::SecurityGroup => {
                row["vpc"] = json!(vpc);
                row["rules"] = json!([]);
                row["targets"] = thing.held_by.iter().map(|name| json!({ "name": name })).collect();
            }
            ThingKind::Subnet => {
                row["vpc"] = json!(vpc);
                row["status"] = json!(thing.state);
                row["zone"] = json!({ "name": thing.location });
                row["available_ipv4_address_count"] = json!(250);
            }
            ThingKind::Vpc => {
                row["status"] = json!(thing.state);
                let group = self.store.within(&thing.id).find(|inner| inner.is_default);
                row["default_security_group"] = json!(group.map(|group| json!({ "id": group.id, "name": group.name })));
            }
            ThingKind::Workspace
            | ThingKind::Network
            | ThingKind::DhcpServer
            | ThingKind::CosInstance
            | ThingKind::TransitGateway
            | ThingKind::Connection => {}
        }
        row
    }
}

fn kind_of(plural: &str) -> Option<ThingKind> {
    match plural {
        "vpcs" => Some(ThingKind::Vpc),
        "subnets" => Some(ThingKind::Subnet),
        "security_groups" => Some(ThingKind::SecurityGroup),
        "load_balancers" => Some(ThingKind::LoadBalancer),
        _ => None,
    }
}

fn absent(kind: ThingKind, id: &str) -> IbmReply {
    let code = match kind {
        ThingKind::Subnet => "subnet_not_found",
        ThingKind::SecurityGroup => "security_group_not_found",
        ThingKind::LoadBalancer => "load_balancer_not_found",
        ThingKind::Vpc
        | ThingKind::Workspace
        | ThingKind::Network
        | ThingKind::DhcpServer
        | ThingKind::CosInstance
        | ThingKind::TransitGateway
        | ThingKind::Connection => "not_found",
    };
    IbmReply::errors(404, code, &format!("{id} can't be found"))
}
