//! PowerVS: the networks and DHCP servers of a workspace.

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reply::IbmReply;
use super::request::IbmRequest;
use super::server::IbmServer;
use super::store::{Then, Thing, ThingKind};

impl IbmServer {
    pub(super) fn power(&mut self, now: Timestamp, request: &IbmRequest, parts: &[&str]) -> IbmReply {
        let ["pcloud", "v1", "cloud-instances", workspace, rest @ ..] = parts else {
            return self.workspaces(parts);
        };
        // IBM's client writes `staging` in place of `bluemix` when the host is not one of IBM's.
        let named = request.crn.ends_with(&format!(":{workspace}::")) && request.crn.contains(":power-iaas:");
        if !named {
            return IbmReply::description(400, "bad request", "the CRN header does not name the workspace");
        }
        match self.store.get(ThingKind::Workspace, workspace) {
            Some(thing) if !thing.is_leaving() => {}
            Some(_) | None => return absent("cloud instance does not exist"),
        }
        match (&request.method, rest) {
            (&Method::GET, ["networks"]) => {
                let rows: Vec<Value> = self.inside(workspace, ThingKind::Network).map(network_row).collect();
                IbmReply::json(200, &json!({ "networks": rows }))
            }
            (&Method::POST, ["networks"]) => {
                let thing = self.new_inside(now, ThingKind::Network, workspace, request.json()["name"].as_str());
                IbmReply::json(201, &network_row(&thing))
            }
            (&Method::GET, ["networks", id]) => match self.one_inside(workspace, ThingKind::Network, id) {
                Some(thing) => IbmReply::json(200, &network_row(thing)),
                None => absent("network does not exist"),
            },
            (&Method::DELETE, ["networks", id]) => self.delete_network(now, workspace, id),
            (&Method::GET, ["services", "dhcp"]) => {
                let rows: Vec<Value> =
                    self.inside(workspace, ThingKind::DhcpServer).map(|one| self.dhcp_row(one)).collect();
                IbmReply::json(200, &json!(rows))
            }
            (&Method::POST, ["services", "dhcp"]) => {
                let name = request.json()["name"].as_str().map(|name| format!("DHCPSERVER{name}_Private"));
                let network = self.new_inside(now, ThingKind::Network, workspace, name.as_deref());
                let mut server = self.fresh(now, ThingKind::DhcpServer, "", "").within(workspace);
                server.uses = vec![network.id];
                let made = self.make(now, server);
                IbmReply::json(202, &self.dhcp_row(&made))
            }
            (&Method::GET, ["services", "dhcp", id]) => match self.one_inside(workspace, ThingKind::DhcpServer, id) {
                Some(thing) => IbmReply::json(200, &self.dhcp_row(thing)),
                None => absent("dhcp server does not exist"),
            },
            (&Method::DELETE, ["services", "dhcp", id]) => self.delete_dhcp(now, workspace, id),
            _ => absent("no such operation"),
        }
    }

    fn workspaces(&self, parts: &[&str]) -> IbmReply {
        let row = |thing: &Thing| {
            json!({
                "id": thing.id,
                "name": thing.name,
                "status": thing.state,
                "details": { "crn": thing.crn, "creationDate": thing.created_at.to_string() },
                "location": { "region": thing.location, "type": "data-center" },
            })
        };
        match parts {
            ["v1", "workspaces"] => {
                let rows: Vec<Value> =
                    self.store.of(ThingKind::Workspace).filter(|one| !one.is_leaving()).map(row).collect();
                IbmReply::json(200, &json!({ "workspaces": rows }))
            }
            _ => absent("no such operation"),
        }
    }

    fn inside<'s>(&'s self, workspace: &'s str, kind: ThingKind) -> impl Iterator<Item = &'s Thing> {
        self.store.within(workspace).filter(move |thing| thing.kind == kind)
    }

    fn one_inside(&self, workspace: &str, kind: ThingKind, id: &str) -> Option<&Thing> {
        self.store.get(kind, id).filter(|thing| thing.parent.as_deref() == Some(workspace))
    }

    fn new_inside(&mut self, now: Timestamp, kind: ThingKind, workspace: &str, name: Option<&str>) -> Thing {
        let location = self.store.get(ThingKind::Workspace, workspace).map(|thing| thing.location.clone());
        let thing = self.fresh(now, kind, name.unwrap_or_default(), &location.unwrap_or_default()).within(workspace);
        self.make(now, thing)
    }

    fn delete_network(&mut self, now: Timestamp, workspace: &str, id: &str) -> IbmReply {
        let Some(thing) = self.one_inside(workspace, ThingKind::Network, id).cloned() else {
            return absent("network does not exist");
        };
        if let Some(by) = thing.held_by.first() {
            return IbmReply::description(409, "conflict", &format!("network {id} still attached to {by}"));
        }
        if self.inside(workspace, ThingKind::DhcpServer).any(|server| server.uses.contains(&thing.id)) {
            return IbmReply::description(409, "conflict", &format!("network {id} is managed by a dhcp server"));
        }
        self.leave(now, id, "DELETING", Then::Gone);
        IbmReply::json(200, &json!({}))
    }

    fn delete_dhcp(&mut self, now: Timestamp, workspace: &str, id: &str) -> IbmReply {
        let Some(thing) = self.one_inside(workspace, ThingKind::DhcpServer, id).cloned() else {
            return absent("dhcp server does not exist");
        };
        let networks = thing.uses.iter().filter_map(|network| self.store.get(ThingKind::Network, network));
        if let Some((network, by)) = networks.filter_map(|network| Some((network, network.held_by.first()?))).next() {
            let description = format!("network {} still attached to pvm-instances: {by}", network.id);
            return IbmReply::description(400, "bad request", &description);
        }
        self.leave(now, id, "DELETING", Then::Gone);
        IbmReply::json(202, &json!({}))
    }

    fn dhcp_row(&self, thing: &Thing) -> Value {
        let network = thing.uses.first().and_then(|id| self.store.get(ThingKind::Network, id));
        // A server in state ERROR has lost its network.
        let network = network.filter(|_| thing.state != "ERROR");
        json!({
            "id": thing.id,
            "status": thing.state,
            "network": network.map(|network| json!({ "id": network.id, "name": network.name })),
        })
    }
}

fn network_row(thing: &Thing) -> Value {
    json!({
        "networkID": thing.id,
        "name": thing.name,
        "crn": thing.crn,
        "type": "vlan",
        "vlanID": 100,
        "dhcpManaged": thing.name.starts_with("DHCPSERVER"),
        "userTags": thing.tags,
    })
}

fn absent(description: &str) -> IbmReply {
    IbmReply::description(404, "not found", description)
}
