//! Transit Gateway: gateways, and connections with asynchronous changes.

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reply::IbmReply;
use super::request::IbmRequest;
use super::server::{IbmServer, page};
use super::store::{Then, Thing, ThingKind};

const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: usize = 500;

impl IbmServer {
    pub(super) fn transit(&mut self, now: Timestamp, request: &IbmRequest, parts: &[&str]) -> IbmReply {
        if request.query("version").is_none() {
            return IbmReply::errors(400, "missing_version", "version is required");
        }
        match (&request.method, &parts[1..]) {
            (&Method::GET, ["transit_gateways"]) => {
                self.list_transit(request, ThingKind::TransitGateway, None, "transit_gateways")
            }
            (&Method::POST, ["transit_gateways"]) => {
                let body = request.json();
                let (name, location) =
                    (body["name"].as_str().unwrap_or_default(), body["location"].as_str().unwrap_or("us-south"));
                let thing = self.fresh(now, ThingKind::TransitGateway, name, location);
                let made = self.make(now, thing);
                IbmReply::json(201, &self.gateway_row(&made))
            }
            (&Method::GET, ["transit_gateways", id]) => match self.store.get(ThingKind::TransitGateway, id) {
                Some(thing) => IbmReply::json(200, &self.gateway_row(thing)),
                None => absent("gateway", id),
            },
            (&Method::DELETE, ["transit_gateways", id]) => self.delete_gateway(now, id),
            (&Method::GET, ["connections"]) => self.list_transit(request, ThingKind::Connection, None, "connections"),
            (&Method::GET, ["transit_gateways", gateway, "connections"]) => {
                self.list_transit(request, ThingKind::Connection, Some(gateway), "connections")
            }
            (&Method::POST, ["transit_gateways", gateway, "connections"]) => self.connect(now, request, gateway),
            (&Method::GET, ["transit_gateways", gateway, "connections", id]) => match self.connection(gateway, id) {
                Some(thing) => IbmReply::json(200, &self.connection_row(thing)),
                None => absent("connection", id),
            },
            (&Method::DELETE, ["transit_gateways", gateway, "connections", id]) => {
                match self.connection(gateway, id).cloned() {
                    None => absent("connection", id),
                    Some(thing) if thing.is_leaving() => {
                        IbmReply::errors(409, "conflict", "the connection is being deleted")
                    }
                    Some(thing) => {
                        self.leave(now, &thing.id, "deleting", Then::Gone);
                        IbmReply::empty(204)
                    }
                }
            }
            _ => IbmReply::errors(404, "not_found", "no such operation"),
        }
    }

    fn connection(&self, gateway: &str, id: &str) -> Option<&Thing> {
        self.store.get(ThingKind::Connection, id).filter(|thing| thing.parent.as_deref() == Some(gateway))
    }

    fn list_transit(&self, request: &IbmRequest, kind: ThingKind, gateway: Option<&str>, plural: &str) -> IbmReply {
        let is_asked = |thing: &&Thing| {
            let here = gateway.is_none_or(|gateway| thing.parent.as_deref() == Some(gateway));
            let typed = request.query("network_type").is_none_or(|asked| thing.network_type.as_deref() == Some(asked));
            let to = request.query("network_id").is_none_or(|asked| thing.network_id.as_deref() == Some(asked));
            here && typed && to
        };
        let (rows, next, total) = page(self.store.of(kind).filter(is_asked), request, LIMIT_DEFAULT, LIMIT_MAX);
        let rows: Vec<Value> = rows
            .into_iter()
            .map(
                |thing| {
                    if kind == ThingKind::Connection { self.connection_row(thing) } else { self.gateway_row(thing) }
                },
            )
            .collect();
        let mut body = json!({
            "first": { "href": format!("{}{}", request.base, request.path) },
            "limit": request.query("limit").and_then(|text| text.parse::<usize>().ok()).unwrap_or(LIMIT_DEFAULT),
            "total_count": total,
        });
        body[plural] = json!(rows);
        if let Some(start) = next {
            body["next"] = json!({ "href": request.link(&start), "start": start });
        }
        IbmReply::json(200, &body)
    }

    fn connect(&mut self, now: Timestamp, request: &IbmRequest, gateway: &str) -> IbmReply {
        if self.store.get(ThingKind::TransitGateway, gateway).is_none() {
            return absent("gateway", gateway);
        }
        let body = request.json();
        let mut thing = self.fresh(now, ThingKind::Connection, body["name"].as_str().unwrap_or_default(), "global");
        thing.parent = Some(gateway.to_owned());
        thing.network_type = body["network_type"].as_str().map(str::to_owned);
        thing.network_id = body["network_id"].as_str().map(str::to_owned);
        let made = self.make(now, thing);
        IbmReply::json(201, &self.connection_row(&made))
    }

    fn delete_gateway(&mut self, now: Timestamp, id: &str) -> IbmReply {
        let Some(thing) = self.store.get(ThingKind::TransitGateway, id).cloned() else { return absent("gateway", id) };
        if let Some(connection) = self.store.within(id).next() {
            let message = format!("the gateway has connections, such as {}", connection.name);
            return IbmReply::errors(409, "gateway_has_connections", &message);
        }
        if thing.is_leaving() {
            return IbmReply::errors(409, "conflict", "the gateway is being deleted");
        }
        self.leave(now, id, "deleting", Then::Gone);
        IbmReply::empty(204)
    }

    fn gateway_row(&self, thing: &Thing) -> Value {
        json!({
            "id": thing.id,
            "crn": thing.crn,
            "name": thing.name,
            "location": thing.location,
            "global": true,
            "status": thing.state,
            "connection_count": self.store.within(&thing.id).count(),
            "created_at": thing.created_at.to_string(),
        })
    }

    fn connection_row(&self, thing: &Thing) -> Value {
        let gateway = thing.parent.as_deref().and_then(|id| self.store.get(ThingKind::TransitGateway, id));
        json!({
            "id": thing.id,
            "name": thing.name,
            "network_type": thing.network_type,
            "network_id": thing.network_id,
            "status": thing.state,
            "request_status": "approved",
            "created_at": thing.created_at.to_string(),
            "transit_gateway": gateway.map(|gateway| json!({ "id": gateway.id, "crn": gateway.crn, "name": gateway.name })),
        })
    }
}

fn absent(what: &str, id: &str) -> IbmReply {
    IbmReply::errors(404, "not_found", &format!("{what} {id} not found"))
}
