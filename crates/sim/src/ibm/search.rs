//! Global Search: an index that lags behind.

use serde_json::{Map, Value, json};

use super::lucene::Query;
use super::reply::IbmReply;
use super::request::IbmRequest;
use super::server::IbmServer;
use super::store::{Thing, ThingKind};

const LIMIT_DEFAULT: usize = 10;
const LIMIT_MAX: usize = 1000;
const FIELDS_DEFAULT: [&str; 5] = ["crn", "name", "family", "type", "account_id"];

impl IbmServer {
    pub(super) fn search(&self, request: &IbmRequest) -> IbmReply {
        let body = request.json();
        let cursor = body["search_cursor"].as_str().map(read_cursor);
        let (after, text) = match &cursor {
            Some(Some((after, text))) => (Some(after.as_str()), text.clone()),
            Some(None) => return IbmReply::errors(400, "bad_request", "the search_cursor is not valid"),
            None => (None, body["query"].as_str().unwrap_or("*").to_owned()),
        };
        let Some(query) = Query::parse(&text) else {
            return IbmReply::errors(400, "bad_request", "invalid query");
        };
        let limit = request.query("limit").and_then(|text| text.parse().ok()).unwrap_or(LIMIT_DEFAULT);
        if !(1..=LIMIT_MAX).contains(&limit) {
            return IbmReply::errors(400, "bad_request", "limit is out of range");
        }
        let reclaimed = request.query("is_reclaimed").unwrap_or("false");
        let wanted = |thing: &&Thing| {
            let waits = thing.state == "pending_reclamation";
            let shown = match reclaimed {
                "any" => true,
                "true" => waits,
                _ => !waits,
            };
            // PowerVS networks are not in the real index either.
            shown && thing.state != "removed" && thing.kind != ThingKind::Network
        };
        let mut rows: Vec<&Thing> = self.store.indexed().filter(wanted).collect();
        rows.sort_by(|one, other| one.crn.cmp(&other.crn));
        rows.retain(|thing| query.holds(&|name| self.values(thing, name)));
        rows.retain(|thing| after.is_none_or(|after| thing.crn.as_str() > after));
        let more = rows.len() > limit;
        rows.truncate(limit);
        let fields: Vec<String> =
            body["fields"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let items: Vec<Value> = rows.iter().map(|thing| self.item(thing, &fields)).collect();
        let mut reply = json!({ "items": items, "limit": limit });
        if let Some(last) = rows.last().filter(|_| more) {
            reply["search_cursor"] = json!(write_cursor(&last.crn, &text));
        }
        IbmReply::json(200, &reply)
    }

    fn item(&self, thing: &Thing, fields: &[String]) -> Value {
        let mut item = Map::new();
        let all = fields.iter().any(|field| field == "*");
        let known = ["crn", "name", "family", "type", "account_id", "region", "tags", "service_name", "creation_date"];
        for name in known {
            let asked = all
                || fields.iter().any(|field| field == name)
                || (fields.is_empty() && FIELDS_DEFAULT.contains(&name));
            // The name of a hit is always included.
            if !asked && name != "crn" {
                continue;
            }
            let values = self.values(thing, name);
            item.insert(name.to_owned(), if name == "tags" { json!(values) } else { json!(values.first()) });
        }
        Value::Object(item)
    }

    fn values(&self, thing: &Thing, field: &str) -> Vec<String> {
        let (family, kind, service) = match thing.kind {
            ThingKind::Workspace => ("resource_controller", "resource-instance", "power-iaas"),
            ThingKind::CosInstance => ("resource_controller", "resource-instance", "cloud-object-storage"),
            ThingKind::TransitGateway => ("resource_controller", "gateway", "transit"),
            ThingKind::Vpc => ("is", "vpc", "is"),
            ThingKind::Subnet => ("is", "subnet", "is"),
            ThingKind::SecurityGroup => ("is", "security-group", "is"),
            ThingKind::LoadBalancer => ("is", "load-balancer", "is"),
            ThingKind::Network | ThingKind::DhcpServer | ThingKind::Connection => ("", "", ""),
        };
        match field {
            "crn" => vec![thing.crn.clone()],
            "name" => vec![thing.name.clone()],
            "family" => vec![family.to_owned()],
            "type" => vec![kind.to_owned()],
            "service_name" => vec![service.to_owned()],
            "account_id" => vec![self.account.clone()],
            "region" => vec![thing.location.clone()],
            "creation_date" => vec![thing.created_at.to_string()],
            "tags" => thing.tags.iter().cloned().collect(),
            _ => Vec::new(),
        }
    }
}

fn write_cursor(last: &str, query: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(format!("{last}\n{query}"))
}

fn read_cursor(text: &str) -> Option<(String, String)> {
    use base64::Engine as _;
    let plain = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
    let plain = String::from_utf8(plain).ok()?;
    plain.split_once('\n').map(|(last, query)| (last.to_owned(), query.to_owned()))
}
