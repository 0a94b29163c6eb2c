//! Reads how the object of a finding depends on others, and the log of its operator.
//!
//! Invariants: of a log, only what [`without_credentials`] lets through leaves this module; every read has limits.

use std::time::Duration;

use http::{Request, header};
use jiff::Timestamp;
use kube::client::Body;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use crate::console::task::{FieldManager, ObjectMetadata, OperatorLog, ReferenceSheet};
use trueup_checks::{Relations, Workload};
use trueup_core::engine::executor::{ClusterPort as _, Reading};
use trueup_core::engine::{ObjectRef, SubjectId};
use trueup_core::redact::without_credentials;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::send;
use trueup_fleet::kube_cluster::KubeCluster;
use trueup_fleet::live::Live;
use trueup_operate::Fleet;

/// A person reads the end of a log: its last lines, and no more bytes than fill a few hundred screens.
const LOG_LINES_MAX: usize = 400;
const LOG_BYTES_MAX: usize = 256 << 10;
/// A list of the pods of one namespace. One page is enough.
const PODS_BYTES_MAX: usize = 8 << 20;
/// A server that needs longer is in trouble, which is shown instead.
const LOG_TIME_MAX: Duration = Duration::from_secs(10);

/// Reads the references of a finding, and the metadata of its object.
///
/// # Errors
/// The finding no longer exists.
pub async fn read(fleet: &Fleet, subject: SubjectId) -> Result<ReferenceSheet, String> {
    let id = subject.clone();
    let relations = fleet.ask(move |live: &Live| {
        let check = live.domains().iter().find(|check| check.name() == id.domain)?;
        Some(check.relations(&id, live.view()))
    });
    let relations: Relations =
        relations.await.map_err(|error| error.to_string())?.ok_or_else(|| "the check is disabled".to_owned())?;
    let is_object = subject.cloud.is_none() && !subject.is_whole_list() && !subject.cluster.as_str().is_empty();
    let metadata = if is_object { Some(metadata_of(fleet, &subject).await) } else { None };
    Ok(ReferenceSheet { relations, metadata })
}

/// Owners, finalizers and field managers, read from the cluster.
async fn metadata_of(fleet: &Fleet, subject: &SubjectId) -> Result<ObjectMetadata, String> {
    let Some(client) = fleet.client_of(&subject.cluster).await else {
        return Err(format!("{} is not connected", subject.cluster));
    };
    let target = ObjectRef {
        api_version: subject.api_version.to_owned(),
        kind: subject.kind.to_owned(),
        namespace: subject.namespace.clone(),
        name: subject.object_name().to_owned(),
        uid: None,
        cloud: None,
    };
    let seen = match KubeCluster::new(client).read(&target).await {
        Reading::Present(seen) => seen,
        Reading::Absent => return Err("the object does not exist".to_owned()),
        Reading::Unknown(why) => return Err(why),
    };
    let object: Object = serde_json::from_slice(&seen.json).map_err(|_| "the response is not an object".to_owned())?;
    Ok(object.metadata.into())
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    owner_references: Vec<Owner>,
    #[serde(default)]
    finalizers: Vec<String>,
    #[serde(default)]
    managed_fields: Vec<Manager>,
}

#[derive(Deserialize)]
struct Owner {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Manager {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    time: Option<Timestamp>,
}

impl From<Metadata> for ObjectMetadata {
    /// Each manager once, with its latest write; the latest first.
    fn from(metadata: Metadata) -> Self {
        let Metadata { owner_references, finalizers, managed_fields } = metadata;
        let mut managers: Vec<FieldManager> = Vec::new();
        for Manager { manager, time } in managed_fields {
            match managers.iter_mut().find(|known| known.name == manager) {
                Some(known) => known.at = known.at.max(time),
                None => managers.push(FieldManager { name: manager, at: time }),
            }
        }
        managers.sort_by_key(|manager| std::cmp::Reverse(manager.at));
        let owners = owner_references.into_iter().map(|owner| format!("{} {}", owner.kind, owner.name)).collect();
        Self { owners, finalizers, managers }
    }
}

/// Reads the end of the log of the operator that explains a finding.
///
/// # Errors
/// No operator explains it, or its log cannot be read.
pub async fn read_log(fleet: &Fleet, subject: SubjectId) -> Result<OperatorLog, String> {
    let workload = fleet.ask(move |live: &Live| {
        let check = live.domains().iter().find(|check| check.name() == subject.domain)?;
        check.operator(&subject, live.view())
    });
    let workload = workload.await.map_err(|error| error.to_string())?;
    let workload = workload.ok_or_else(|| "no operator explains this finding".to_owned())?;
    let read = log_of(fleet, &workload);
    tokio::time::timeout(LOG_TIME_MAX, read).await.map_err(|_| format!("no answer in {} s", LOG_TIME_MAX.as_secs()))?
}

async fn log_of(fleet: &Fleet, workload: &Workload) -> Result<OperatorLog, String> {
    let Workload { cluster, namespace, deployment } = workload;
    let client = client_of(fleet, cluster).await?;
    let base = format!("/api/v1/namespaces/{}/pods", escaped(namespace));
    let pods = get(&client, &format!("{base}?limit=500"), PODS_BYTES_MAX).await?;
    let pods: Value = serde_json::from_slice(&pods).map_err(|_| "the list of pods is not JSON".to_owned())?;
    let pod = newest(&pods, deployment)
        .ok_or_else(|| format!("no pod of Deployment {namespace}/{deployment} exists in {cluster}"))?;
    let container = pod.container.map_or_else(String::new, |name| format!("&container={}", escaped(&name)));
    let path = format!(
        "{base}/{}/log?tailLines={LOG_LINES_MAX}&limitBytes={LOG_BYTES_MAX}&timestamps=true{container}",
        escaped(&pod.name)
    );
    let text = get(&client, &path, LOG_BYTES_MAX + 1024).await?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES_MAX)..];
    Ok(OperatorLog {
        title: format!("{cluster} Pod {namespace}/{}, last {} lines", pod.name, last.len()),
        lines: last.iter().map(|line| without_credentials(line)).collect(),
    })
}

/// A pod, and the container whose log is read.
#[derive(Debug, PartialEq, Eq)]
struct OperatorPod {
    name: String,
    container: Option<String>,
}

/// The newest pod of a Deployment, by the name that its ReplicaSet gives it.
fn newest(pods: &Value, deployment: &str) -> Option<OperatorPod> {
    let items = pods["items"].as_array()?;
    let name = |pod: &Value| pod["metadata"]["name"].as_str().map(str::to_owned);
    let is_meant = |pod: &&Value| {
        let suffix = name(pod).and_then(|name| name.strip_prefix(deployment)?.strip_prefix('-').map(str::to_owned));
        // `<hash>-<random>`: another Deployment may begin with the same words.
        suffix.is_some_and(|suffix| suffix.split('-').count() <= 2)
    };
    let created = |pod: &&Value| pod["metadata"]["creationTimestamp"].as_str().unwrap_or_default().to_owned();
    let pod = items.iter().filter(is_meant).max_by_key(created)?;
    let container = pod["spec"]["containers"][0]["name"].as_str().map(str::to_owned);
    Some(OperatorPod { name: name(pod)?, container })
}

async fn client_of(fleet: &Fleet, cluster: &ClusterName) -> Result<kube::Client, String> {
    match fleet.client_of(cluster).await {
        Some(client) => Ok(client),
        None if fleet.ask(Live::is_still).await.map_err(|error| error.to_string())? => {
            Err(format!("{cluster} is recorded; logs are read from live clusters only"))
        }
        None => Err(format!("{cluster} is not connected")),
    }
}

async fn get(client: &kube::Client, path: &str, bytes_max: usize) -> Result<Vec<u8>, String> {
    let request = Request::get(path).header(header::ACCEPT, send::JSON).body(Body::empty());
    let request = request.map_err(|_| "invalid request".to_owned())?;
    let response = client.send(request).await.map_err(|_| "no answer".to_owned())?;
    let status = response.status();
    let body = send::collect(response.into_body(), bytes_max).await.map_err(|error| error.to_string())?;
    match status.as_u16() {
        200 => Ok(body.to_vec()),
        403 => Err("forbidden (get pods/log)".to_owned()),
        other => Err(format!("cannot read the log: HTTP {other}")),
    }
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_pod_of_the_deployment_is_read() {
        let pod = |name: &str, created: &str| json!({ "metadata": { "name": name, "creationTimestamp": created }, "spec": { "containers": [{ "name": "main" }] } });
        let pods = json!({ "items": [
            pod("operator-7c9d-x2k4", "2026-11-16T09:00:00Z"),
            pod("operator-8d1f-a9b8", "2026-11-16T10:00:00Z"),
            pod("operator-webhook-extra-1-2", "2026-11-16T11:00:00Z"),
            pod("another-1-2", "2026-11-16T12:00:00Z"),
        ] });
        let expected = OperatorPod { name: "operator-8d1f-a9b8".to_owned(), container: Some("main".to_owned()) };
        assert_eq!(newest(&pods, "operator"), Some(expected));
        assert_eq!(newest(&pods, "missing"), None);
    }

    #[test]
    fn each_manager_is_named_once_with_its_latest_write() {
        let object = json!({ "metadata": {
            "ownerReferences": [{ "kind": "HostedCluster", "name": "a", "uid": "1" }],
            "finalizers": ["x/y"],
            "managedFields": [
                { "manager": "kubectl", "time": "2026-11-16T08:00:00Z" },
                { "manager": "operator", "time": "2026-11-16T09:00:00Z" },
                { "manager": "kubectl", "time": "2026-11-16T10:00:00Z" },
            ],
        } });
        let object: Object = serde_json::from_value(object).unwrap();
        let metadata = ObjectMetadata::from(object.metadata);
        let managers: Vec<&str> = metadata.managers.iter().map(|manager| manager.name.as_str()).collect();
        assert_eq!((metadata.owners, managers), (vec!["HostedCluster a".to_owned()], vec!["kubectl", "operator"]));
        assert_eq!(metadata.finalizers, ["x/y"]);
    }
}
