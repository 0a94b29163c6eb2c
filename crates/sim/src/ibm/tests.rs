//! Rules of the account's services and of scheduled changes.

use bytes::Bytes;
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::request::pairs;
use super::*;

const ACCOUNT: &str = "acc";

fn start() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(start().as_second() + seconds).unwrap()
}

struct Asking {
    server: IbmServer,
    token: String,
}

impl Asking {
    fn new() -> Self {
        let mut asking = Self { server: IbmServer::new(ACCOUNT, "key", 1), token: String::new() };
        let form = "grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey&apikey=key";
        let (_, body) = asking.send(0, Method::POST, "/identity/token", form.to_owned());
        asking.token = body["access_token"].as_str().unwrap().to_owned();
        asking
    }

    fn send(&mut self, seconds: i64, method: Method, target: &str, body: String) -> (u16, Value) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = IbmRequest {
            method,
            base: "http://sim".into(),
            path: path.into(),
            query: pairs(query),
            authorization: format!("Bearer {}", self.token),
            crn: "crn:v1:staging:public:power-iaas:dal10:a/acc:ws::".into(),
            body: Bytes::from(body),
        };
        match self.server.handle(at(seconds), &request) {
            IbmAnswer::Reply(reply) => (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Value::Null)),
            IbmAnswer::Lost | IbmAnswer::Silence => (0, Value::Null),
        }
    }

    fn get(&mut self, seconds: i64, target: &str) -> (u16, Value) {
        self.send(seconds, Method::GET, target, String::new())
    }

    fn delete(&mut self, seconds: i64, target: &str) -> u16 {
        self.send(seconds, Method::DELETE, target, String::new()).0
    }

    fn seed(&mut self, kind: ThingKind, id: &str, change: impl FnOnce(&mut Thing)) {
        let mut thing = Thing::new(kind, id, id, "us-south", ACCOUNT, start());
        change(&mut thing);
        self.server.seed(thing);
    }
}

const V: &str = "version=2026-01-01&generation=2";

#[test]
fn resources_in_use_are_not_deleted() {
    let mut asking = Asking::new();
    let within = |parent: &str| Some(parent.to_owned());
    asking.seed(ThingKind::Vpc, "vpc", |_| ());
    asking.seed(ThingKind::Subnet, "subnet", |thing| thing.parent = within("vpc"));
    asking.seed(ThingKind::LoadBalancer, "lb", |thing| thing.uses = vec!["subnet".into()]);
    asking.seed(ThingKind::LoadBalancer, "busy", |thing| thing.state = "update_pending".into());
    asking.seed(ThingKind::SecurityGroup, "default", |thing| thing.is_default = true);
    asking.seed(ThingKind::SecurityGroup, "used", |thing| thing.held_by = vec!["vm".into()]);
    asking.seed(ThingKind::TransitGateway, "tg", |_| ());
    asking.seed(ThingKind::Connection, "con", |thing| thing.parent = within("tg"));
    asking.seed(ThingKind::CosInstance, "locked", |thing| thing.locked = true);
    asking.seed(ThingKind::Workspace, "ws", |_| ());
    asking.seed(ThingKind::Network, "net", |thing| {
        (thing.parent, thing.held_by) = (within("ws"), vec!["vm".into()]);
    });
    asking.seed(ThingKind::DhcpServer, "dhcp", |thing| {
        (thing.parent, thing.uses) = (within("ws"), vec!["net".into()]);
    });
    let cases = [
        ("a VPC with a subnet", format!("/v1/vpcs/vpc?{V}"), 409),
        ("a subnet under a balancer", format!("/v1/subnets/subnet?{V}"), 409),
        ("a balancer that is changing", format!("/v1/load_balancers/busy?{V}"), 409),
        ("a default group", format!("/v1/security_groups/default?{V}"), 409),
        ("a group with targets", format!("/v1/security_groups/used?{V}"), 409),
        ("a gateway with a connection", format!("/v1/transit_gateways/tg?{V}"), 409),
        ("a locked instance", "/v2/resource_instances/locked".to_owned(), 409),
        ("a server whose network is in use", "/pcloud/v1/cloud-instances/ws/services/dhcp/dhcp".to_owned(), 400),
        ("a network in use", "/pcloud/v1/cloud-instances/ws/networks/net".to_owned(), 409),
        ("nothing", format!("/v1/vpcs/nowhere?{V}"), 404),
        ("without a version", "/v1/vpcs/vpc".to_owned(), 400),
    ];
    for (case, target, expected) in cases {
        assert_eq!(asking.delete(0, &target), expected, "case: {case}");
    }
    assert_eq!(asking.server.things().count(), 12);
}

#[test]
fn deletions_are_asynchronous_and_end_per_service() {
    let mut asking = Asking::new();
    asking.seed(ThingKind::LoadBalancer, "lb", |_| ());
    asking.seed(ThingKind::CosInstance, "cos", |_| ());
    asking.seed(ThingKind::Workspace, "ws", |_| ());
    let lb = format!("/v1/load_balancers/lb?{V}");
    assert_eq!(asking.delete(0, &lb), 204);
    assert_eq!(asking.get(1, &lb).1["provisioning_status"], "delete_pending");
    assert_eq!(asking.delete(2, &lb), 409, "a second delete conflicts");
    assert_eq!(asking.get(30, &lb).0, 404);

    assert_eq!(asking.delete(30, "/v2/resource_instances/ws"), 202);
    assert_eq!(asking.get(31, "/v2/resource_instances/ws").1["state"], "pending_removal");
    assert_eq!(asking.get(60, "/v2/resource_instances/ws").1["state"], "removed");
    assert_eq!(asking.delete(61, "/v2/resource_instances/ws"), 410);

    assert_eq!(asking.delete(60, "/v2/resource_instances/cos?recursive=true"), 202);
    assert_eq!(asking.get(61, "/v2/resource_instances/cos").1["state"], "pending_reclamation");
    assert_eq!(asking.get(61, "/v1/reclamations").1["resources"][0]["resource_instance_id"], "cos");
    let restore = "/v1/reclamations/reclaim-cos/actions/restore";
    assert_eq!(asking.send(62, Method::POST, restore, String::new()).0, 200);
    assert_eq!(asking.get(63, "/v2/resource_instances/cos").1["state"], "active");
}

#[test]
fn a_refused_tag_is_an_error_inside_a_200() {
    let mut asking = Asking::new();
    asking.seed(ThingKind::Vpc, "vpc", |_| ());
    let crn = asking.server.thing("vpc").unwrap().crn.clone();
    let long = "x".repeat(129);
    let cases = [
        ("legal", "owner:demo", &crn[..], false),
        ("a slash", "a/b:1", &crn, true),
        ("a comma", "a,b", &crn, true),
        ("too long", &long, &crn, true),
        ("empty", " ", &crn, true),
        ("nobody's", "owner:demo", "crn:v1:bluemix:public:is:us-south:a/acc::vpc:none", true),
    ];
    for (case, tag, crn, is_error) in cases {
        let body = json!({ "tag_names": [tag], "resources": [{ "resource_id": crn }] }).to_string();
        let (status, answer) = asking.send(0, Method::POST, "/v3/tags/attach?tag_type=user", body);
        assert_eq!((status, &answer["results"][0]["is_error"]), (200, &json!(is_error)), "case: {case}");
    }
    assert_eq!(asking.server.thing("vpc").unwrap().tags.len(), 1);
}

#[test]
fn detaching_takes_wildcards_and_attaching_can_replace_a_key() {
    let mut asking = Asking::new();
    asking.seed(ThingKind::Vpc, "vpc", |thing| thing.tags = ["a:1", "a:2", "b:1"].map(String::from).into());
    let crn = asking.server.thing("vpc").unwrap().crn.clone();
    let mut change = |target: &str, tag: &str| {
        let body = json!({ "tag_name": tag, "resources": [{ "resource_id": crn }] }).to_string();
        asking.send(0, Method::POST, target, body);
        asking.server.thing("vpc").unwrap().tags.iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(change("/v3/tags/attach?update=true", "A:3"), ["a:3", "b:1"]);
    assert_eq!(change("/v3/tags/detach", "a:*"), ["b:1"]);
    assert_eq!(change("/v3/tags/attach?replace=true", "c:1"), ["c:1"]);
    assert_eq!(change("/v3/tags/detach", "*"), [""; 0]);
}

#[test]
fn search_lags_and_hides_resources_waiting_for_reclamation() {
    let mut asking = Asking::new();
    asking.seed(ThingKind::CosInstance, "cos", |_| ());
    let mut found = |seconds: i64, query: &str, more: &str| {
        let body = json!({ "query": query, "fields": ["crn", "tags"] }).to_string();
        let (_, answer) = asking.send(seconds, Method::POST, &format!("/v3/resources/search?limit=10{more}"), body);
        answer["items"].as_array().unwrap().len()
    };
    assert_eq!((found(0, "type:resource-instance", ""), found(0, r"tags:env\:x", "")), (1, 0));
    asking.server.edit(at(0), "cos", |cos| {
        cos.tags.insert("env:x".into());
    });
    let mut found = |seconds: i64, query: &str, more: &str| {
        let body = json!({ "query": query, "fields": ["crn", "tags"] }).to_string();
        let (_, answer) = asking.send(seconds, Method::POST, &format!("/v3/resources/search?limit=10{more}"), body);
        answer["items"].as_array().unwrap().len()
    };
    assert_eq!((found(10, r"tags:env\:x", ""), found(21, r"tags:env\:x", "")), (0, 1));
    assert_eq!(asking.delete(30, "/v2/resource_instances/cos"), 202);
    let mut found = |seconds: i64, more: &str| {
        let body = json!({ "query": "*" }).to_string();
        let (_, answer) = asking.send(seconds, Method::POST, &format!("/v3/resources/search?limit=10{more}"), body);
        answer["items"].as_array().unwrap().len()
    };
    assert_eq!((found(60, ""), found(60, "&is_reclaimed=any"), found(60, "&is_reclaimed=true")), (0, 1, 1));
}

#[test]
fn tokens_expire_and_list_tags_is_rate_limited() {
    let mut asking = Asking::new();
    asking.server.set_tag_lists_max(2);
    let codes: Vec<u16> = (0..4).map(|_| asking.get(0, "/v3/tags?tag_type=user").0).collect();
    assert_eq!(codes, [200, 200, 429, 429]);
    assert_eq!(asking.get(61, "/v3/tags?tag_type=user").0, 200);
    assert_eq!(asking.get(3599, &format!("/v1/vpcs?{V}")).0, 200);
    assert_eq!(asking.get(3600, &format!("/v1/vpcs?{V}")).0, 401);
    asking.token.clear();
    assert_eq!(asking.get(0, &format!("/v1/vpcs?{V}")).0, 401);
}

#[test]
fn pages_hold_every_resource_once() {
    let mut asking = Asking::new();
    for number in 0..25 {
        asking.seed(ThingKind::Vpc, &format!("vpc-{number:02}"), |_| ());
    }
    let (mut target, mut ids) = (format!("/v1/vpcs?{V}&limit=10"), Vec::new());
    loop {
        let (_, page) = asking.get(0, &target);
        ids.extend(page["vpcs"].as_array().unwrap().iter().map(|vpc| vpc["id"].as_str().unwrap().to_owned()));
        match page["next"]["href"].as_str() {
            Some(next) => target = next.strip_prefix("http://sim").unwrap().to_owned(),
            None => break,
        }
    }
    let expected: Vec<String> = (0..25).map(|number| format!("vpc-{number:02}")).collect();
    assert_eq!(ids, expected);
}
