//! Reads one object for display.
//!
//! Invariants: only what [`trueup_core::redact`] lets through leaves this module.

use http::{Request, header};
use kube::client::Body;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use crate::console::task::ObjectSheet;
use trueup_core::engine::ObjectRef;
use trueup_core::engine::executor::{ClusterPort as _, Reading};
use trueup_core::redact::{CredentialValues, MaskedObject, masked};
use trueup_core::world::ClusterName;
use trueup_fleet::connect::send;
use trueup_fleet::kube_cluster::KubeCluster;
use trueup_fleet::live::Live;
use trueup_operate::Fleet;

/// One page of events.
const EVENTS_BYTES_MAX: usize = 1 << 20;

/// Reads an object and its events.
///
/// # Errors
/// The object cannot be read.
pub async fn read(
    fleet: &Fleet,
    cluster: &ClusterName,
    target: &ObjectRef,
    values: CredentialValues,
) -> Result<ObjectSheet, String> {
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
    let MaskedObject { object, credentials } = masked(object, values);
    let yaml = serde_saphyr::to_string(&object).map_err(|error| error.to_string())?;
    let place = target.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    Ok(ObjectSheet {
        title: format!("{} {place}{}", target.kind, target.name),
        yaml: yaml.lines().map(str::to_owned).collect(),
        credentials,
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
        let here = live.view().observations_of(&cluster).into_iter();
        here.map(|(id, ..)| id.resource).find(|resource| resource.kind == kind).map(|resource| resource.api_version())
    });
    let api_version = found
        .await
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("kind {} is not observed", target.kind))?;
    Ok(ObjectRef { api_version, ..target.clone() })
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
