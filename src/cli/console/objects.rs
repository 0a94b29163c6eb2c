//! Reads one object for display, with masked Secrets and without managed fields.
//!
//! Invariants: no value of a Secret and no annotation that may contain one leaves this module.

use http::{Request, header};
use kube::client::Body;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::console::task::ObjectSheet;
use trueup_core::engine::ObjectRef;
use trueup_core::engine::executor::{ClusterPort as _, Reading};
use trueup_core::world::ClusterName;
use trueup_fleet::connect::send;
use trueup_fleet::kube_cluster::KubeCluster;
use trueup_fleet::live::Live;
use trueup_operate::Fleet;

/// A copy of the whole object, secrets included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// One page of events.
const EVENTS_BYTES_MAX: usize = 1 << 20;

/// Reads an object and its events.
///
/// # Errors
/// The object cannot be read.
pub async fn read(fleet: &Fleet, cluster: &ClusterName, target: &ObjectRef) -> Result<ObjectSheet, String> {
    let Some(client) = fleet.client_of(cluster).await else {
        return Err(match fleet.ask(Live::is_still).await.map_err(|error| error.to_string())? {
            true => format!("{cluster} is recorded; whole objects are read from live clusters only"),
            false => format!("{cluster} is not connected"),
        });
    };
    let target = &named(fleet, cluster, target).await?;
    let port = KubeCluster::new(client.clone());
    let seen = match port.read(target).await {
        Reading::Present(seen) => seen,
        Reading::Absent => return Err(format!("{} {} does not exist", target.kind, target.name)),
        Reading::Unknown(why) => return Err(why),
    };
    let object: Value = serde_json::from_slice(&seen.json).map_err(|_| "the response is not an object".to_owned())?;
    let yaml = serde_saphyr::to_string(&masked(object)).map_err(|error| error.to_string())?;
    let place = target.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    Ok(ObjectSheet {
        title: format!("{} {place}{}", target.kind, target.name),
        yaml: yaml.lines().map(str::to_owned).collect(),
        events: events(&client, target, &seen.uid).await,
    })
}

/// The target with its API version; without one, the version that this cluster is observed with.
async fn named(fleet: &Fleet, cluster: &ClusterName, target: &ObjectRef) -> Result<ObjectRef, String> {
    if !target.api_version.is_empty() {
        return Ok(target.clone());
    }
    let (cluster, kind) = (cluster.clone(), target.kind.clone());
    let found = fleet.ask(move |live| {
        let here = live.view().observations().map(|(id, ..)| id).filter(|id| id.cluster == cluster);
        here.map(|id| id.resource).find(|resource| resource.kind == kind).map(|resource| resource.api_version())
    });
    let api_version = found
        .await
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("kind {} is not observed", target.kind))?;
    Ok(ObjectRef { api_version, ..target.clone() })
}

/// The object without secrets and managed fields.
fn masked(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(LAST_APPLIED);
        }
    }
    if object["kind"] == "Secret" {
        for key in ["data", "stringData"] {
            if let Some(values) = object.get_mut(key).and_then(Value::as_object_mut) {
                mask(values);
            }
        }
    }
    object
}

fn mask(values: &mut Map<String, Value>) {
    for value in values.values_mut() {
        let text = value.as_str().unwrap_or_default();
        let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
        let bytes = (text.len() / 4 * 3).saturating_sub(padding);
        *value = Value::String(format!("<{bytes} bytes>"));
    }
}

async fn events(client: &kube::Client, target: &ObjectRef, uid: &str) -> Result<Vec<String>, String> {
    #[derive(Deserialize)]
    struct List {
        items: Vec<Item>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Item {
        #[serde(default)]
        last_timestamp: Option<String>,
        #[serde(default)]
        event_time: Option<String>,
        #[serde(default, rename = "type")]
        kind: String,
        #[serde(default)]
        reason: String,
        #[serde(default)]
        message: String,
    }
    let escaped = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let namespace = target.namespace.as_deref().unwrap_or("default");
    let selector = escaped(&format!("involvedObject.uid={uid}"));
    let path = format!("/api/v1/namespaces/{}/events?limit=50&fieldSelector={selector}", escaped(namespace));
    let request = Request::get(path).header(header::ACCEPT, send::JSON).body(Body::empty());
    let request = request.map_err(|_| "invalid request for events".to_owned())?;
    let response = client.send(request).await.map_err(|_| "cannot read events".to_owned())?;
    let status = response.status();
    let body = send::collect(response.into_body(), EVENTS_BYTES_MAX).await.map_err(|error| error.to_string())?;
    if !status.is_success() {
        return Err(format!("cannot read events: HTTP {}", status.as_u16()));
    }
    let list: List = serde_json::from_slice(&body).map_err(|_| "cannot read events".to_owned())?;
    let line = |item: Item| {
        let at = item.last_timestamp.or(item.event_time).unwrap_or_default();
        format!("{at}  {}  {}  {}", item.kind, item.reason, item.message)
    };
    let mut lines: Vec<String> = list.items.into_iter().map(line).collect();
    lines.sort();
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_shows_only_the_lengths_of_its_values() {
        let secret = json!({
            "kind": "Secret",
            "metadata": {"name": "s", "managedFields": [{}], "annotations": {LAST_APPLIED: "s3cret", "team": "a"}},
            "data": {"token": "czNjcmV0", "empty": ""},
        });
        let masked = masked(secret);
        assert_eq!(masked["data"], json!({"token": "<6 bytes>", "empty": "<0 bytes>"}));
        assert_eq!(masked["metadata"], json!({"name": "s", "annotations": {"team": "a"}}));
    }

    #[test]
    fn a_config_map_shows_its_values() {
        let map = json!({"kind": "ConfigMap", "metadata": {}, "data": {"ca.crt": "pem"}});
        assert_eq!(masked(map.clone()), map);
    }
}
