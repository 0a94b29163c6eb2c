//! Resource Controller: instances, locks, reclamations and resource groups.

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reply::IbmReply;
use super::request::IbmRequest;
use super::server::{IbmServer, page};
use super::store::{RECLAMATION, Then, Thing, ThingKind, after};

const POWER: &str = "abd259f0-9990-11e8-acc8-b9f54a8f1661";
const POWER_PLAN: &str = "f165dd34-3a40-423b-9d95-e90a23f724dd";
const OBJECT_STORAGE: &str = "dff97f5c-bc5e-4455-b470-411c3edbe49c";
const OBJECT_STORAGE_PLAN: &str = "1e4e33e4-cfa6-4f12-9016-be594a6d5f87";
const GROUP: &str = "0be5ad401ae913d8ff665d92680664ed";

impl IbmServer {
    pub(super) fn instances(&mut self, now: Timestamp, request: &IbmRequest, parts: &[&str]) -> IbmReply {
        match (&request.method, parts) {
            (&Method::GET, ["v2", "resource_instances"]) => self.list_instances(request),
            (&Method::POST, ["v2", "resource_instances"]) => self.create_instance(now, request),
            (&Method::GET, ["v2", "resource_instances", id]) => match self.instance(id) {
                Some(thing) => IbmReply::json(200, &row(thing)),
                None => no_instance(),
            },
            (&Method::DELETE, ["v2", "resource_instances", id]) => self.delete_instance(now, id),
            (&Method::POST, ["v2", "resource_instances", id, "lock"]) => self.lock(id, true),
            (&Method::DELETE, ["v2", "resource_instances", id, "lock"]) => self.lock(id, false),
            (&Method::GET, ["v2", "resource_groups"]) => {
                let group = json!({ "id": GROUP, "name": "Default", "account_id": self.account(), "default": true, "state": "ACTIVE" });
                IbmReply::json(200, &json!({ "resources": [group] }))
            }
            (&Method::GET, ["v1", "reclamations"]) => self.list_reclamations(request),
            (&Method::POST, ["v1", "reclamations", id, "actions", action]) => self.reclaim(now, id, action),
            _ => IbmReply::message(404, "not_found", "no such operation"),
        }
    }

    /// By guid or by CRN.
    fn instance(&self, id: &str) -> Option<&Thing> {
        let kinds = [ThingKind::Workspace, ThingKind::CosInstance];
        self.store.all().find(|thing| kinds.contains(&thing.kind) && (thing.id == id || thing.crn == id))
    }

    fn list_instances(&self, request: &IbmRequest) -> IbmReply {
        let is_asked = |thing: &&Thing| {
            let Some((service, plan)) = service_of(thing.kind) else { return false };
            let fits = |name: &str, own: &str| request.query(name).is_none_or(|asked| asked == own);
            let state = match request.query("state") {
                Some(state) => thing.state == state,
                None => matches!(thing.state.as_str(), "active" | "provisioning"),
            };
            state
                && fits("resource_id", service)
                && fits("resource_plan_id", plan)
                && fits("name", &thing.name)
                && fits("guid", &thing.id)
                && fits("resource_group_id", GROUP)
        };
        let (rows, next, _) = page(self.store.all().filter(is_asked), request, 10, 100);
        // Unlike in the other services, links have no host.
        let link = next.map(|start| {
            let limit = request.query("limit").unwrap_or("10");
            let state = request.query("state").map_or(String::new(), |state| format!("&state={state}"));
            let service = request.query("resource_id").map_or(String::new(), |id| format!("&resource_id={id}"));
            format!("/v2/resource_instances?limit={limit}{state}{service}&start={start}")
        });
        let body = json!({
            "rows_count": rows.len(),
            "next_url": link,
            "resources": rows.into_iter().map(row).collect::<Vec<Value>>(),
        });
        IbmReply::json(200, &body)
    }

    fn create_instance(&mut self, now: Timestamp, request: &IbmRequest) -> IbmReply {
        let body = request.json();
        let kind = match body["resource_plan_id"].as_str() {
            Some(POWER_PLAN) => ThingKind::Workspace,
            Some(OBJECT_STORAGE_PLAN) => ThingKind::CosInstance,
            Some(_) | None => return IbmReply::message(400, "bad_request", "resource_plan_id is not known"),
        };
        let (name, target) = (body["name"].as_str().unwrap_or_default(), body["target"].as_str().unwrap_or("global"));
        let mut thing = self.fresh(now, kind, name, target);
        let tags = body["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
        thing.tags.extend(tags.map(str::to_lowercase));
        IbmReply::json(201, &row(&self.make(now, thing)))
    }

    fn delete_instance(&mut self, now: Timestamp, id: &str) -> IbmReply {
        let Some(thing) = self.instance(id).cloned() else { return no_instance() };
        match thing.state.as_str() {
            "removed" | "pending_removal" => {
                return IbmReply::message(410, "RC-ServiceInstanceGone", "The resource instance is removed.");
            }
            "pending_reclamation" => {
                return IbmReply::message(
                    410,
                    "RC-ServiceInstanceGone",
                    "The resource instance is pending reclamation.",
                );
            }
            _ => {}
        }
        if thing.locked {
            return IbmReply::message(409, "RC-Locked", "The resource instance is locked and can't be deleted.");
        }
        let connected = |other: &&Thing| other.network_id.as_deref() == Some(thing.crn.as_str());
        if let Some(connection) = self.store.of(ThingKind::Connection).find(connected) {
            let message = format!("The workspace is attached to the transit gateway connection {}.", connection.name);
            return IbmReply::message(409, "RC-InUse", &message);
        }
        if thing.kind == ThingKind::Workspace {
            self.leave(now, &thing.id, "pending_removal", Then::State("removed"));
        } else {
            let until = after(now, RECLAMATION);
            self.edit(now, &thing.id, |thing| {
                thing.state = "pending_reclamation".to_owned();
                thing.reclaim_until = Some(until);
                thing.later = Some(super::store::Later { at: until, then: Then::State("removed") });
            });
        }
        IbmReply::empty(202)
    }

    fn lock(&mut self, id: &str, locked: bool) -> IbmReply {
        let Some(guid) = self.instance(id).map(|thing| thing.id.clone()) else { return no_instance() };
        let Some(thing) = self.store.get_mut(&guid) else { return no_instance() };
        thing.locked = locked;
        IbmReply::json(200, &row(thing))
    }

    fn list_reclamations(&self, request: &IbmRequest) -> IbmReply {
        let waits = |thing: &&Thing| {
            let asked = request.query("resource_instance_id");
            thing.state == "pending_reclamation" && asked.is_none_or(|id| thing.id == id || thing.crn == id)
        };
        let resources: Vec<Value> = self.store.all().filter(waits).map(|thing| self.reclamation(thing)).collect();
        IbmReply::json(200, &json!({ "resources": resources }))
    }

    fn reclamation(&self, thing: &Thing) -> Value {
        json!({
            "id": format!("reclaim-{}", thing.id),
            "entity_id": thing.crn,
            "entity_type_id": "resource_instance",
            "resource_instance_id": thing.id,
            "account_id": self.account(),
            "state": "SCHEDULED",
            "target_time": thing.reclaim_until.map(|until| until.to_string()),
        })
    }

    fn reclaim(&mut self, now: Timestamp, id: &str, action: &str) -> IbmReply {
        let guid = id.strip_prefix("reclaim-").unwrap_or(id).to_owned();
        let waiting = self.instance(&guid).filter(|thing| thing.state == "pending_reclamation").cloned();
        let Some(thing) = waiting else { return IbmReply::message(404, "not_found", "no such reclamation") };
        let state = match action {
            "reclaim" => "removed",
            "restore" => "active",
            _ => return IbmReply::message(400, "bad_request", "the action must be reclaim or restore"),
        };
        let answer = self.reclamation(&thing);
        self.edit(now, &guid, |thing| {
            thing.state = state.to_owned();
            (thing.reclaim_until, thing.later) = (None, None);
        });
        IbmReply::json(200, &answer)
    }
}

fn no_instance() -> IbmReply {
    IbmReply::message(404, "RC-ServiceInstanceNotFound", "The resource instance can't be found.")
}

fn service_of(kind: ThingKind) -> Option<(&'static str, &'static str)> {
    match kind {
        ThingKind::Workspace => Some((POWER, POWER_PLAN)),
        ThingKind::CosInstance => Some((OBJECT_STORAGE, OBJECT_STORAGE_PLAN)),
        ThingKind::Network
        | ThingKind::DhcpServer
        | ThingKind::Vpc
        | ThingKind::Subnet
        | ThingKind::SecurityGroup
        | ThingKind::LoadBalancer
        | ThingKind::TransitGateway
        | ThingKind::Connection => None,
    }
}

fn row(thing: &Thing) -> Value {
    let (service, plan) = service_of(thing.kind).unwrap_or_default();
    json!({
        "id": thing.crn,
        "guid": thing.id,
        "crn": thing.crn,
        "name": thing.name,
        "region_id": thing.location,
        "resource_id": service,
        "resource_plan_id": plan,
        "resource_group_id": GROUP,
        "type": "service_instance",
        "state": thing.state,
        "locked": thing.locked,
        "created_at": thing.created_at.to_string(),
        "last_operation": { "type": "create", "state": "succeeded" },
        "url": format!("/v2/resource_instances/{}", thing.id),
    })
}
