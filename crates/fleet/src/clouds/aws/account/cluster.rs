//! What a cluster message about its way to AWS: custom endpoints and its own authorities.
//!
//! Invariant: a cluster that doesn't have these objects (plain Kubernetes) uses AWS's own; one that doesn't let them be
//! read is not guessed about.

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;

use super::Setting;
use super::principal::broken;
use crate::clouds::aws::client::{AwsError, Class, Endpoints, Variables};
use crate::connect::{classify, send};
use trueup_net::Roots;

const INFRASTRUCTURE: &str = "/apis/config.openshift.io/v1/infrastructures/cluster";
const CLOUD_CONFIG: &str = "/api/v1/namespaces/openshift-config-managed/configmaps/kube-cloud-config";

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Infrastructure {
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    platform_status: Option<PlatformStatus>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PlatformStatus {
    aws: Option<AwsStatus>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct AwsStatus {
    service_endpoints: Option<Vec<ServiceEndpoint>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ServiceEndpoint {
    name: String,
    url: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CloudConfig {
    data: Option<CloudConfigData>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CloudConfigData {
    #[serde(rename = "ca-bundle.pem")]
    bundle: Option<String>,
}

/// Reads what a client for AWS depends on in this cluster.
///
/// # Errors
/// What is there can't be read or used.
pub(super) async fn setting(client: &kube::Client, env: &Variables) -> Result<Setting, AwsError> {
    let (infrastructure, config) = futures::join!(
        get::<Infrastructure>(client, INFRASTRUCTURE, "Infrastructure cluster"),
        get::<CloudConfig>(client, CLOUD_CONFIG, "ConfigMap openshift-config-managed/kube-cloud-config"),
    );
    let listed = infrastructure?.and_then(|found| found.status.platform_status?.aws?.service_endpoints);
    let listed = listed.unwrap_or_default();
    let pairs = listed.iter().map(|one| (one.name.as_str(), one.url.as_str()));
    let endpoints = Endpoints::new(pairs, env).map_err(|error| {
        broken("endpoint", error.to_string(), "correct serviceEndpoints of the cluster's Infrastructure")
    })?;
    let bundle = config?.and_then(|found| found.data?.bundle).unwrap_or_default();
    let roots = Roots::parse(&bundle).map_err(|error| {
        broken("ca-bundle", error.to_string(), "correct ca-bundle.pem of openshift-config-managed/kube-cloud-config")
    })?;
    Ok(Setting { endpoints, roots })
}

/// Reads an object that may well not be there.
async fn get<T: for<'d> Deserialize<'d>>(client: &kube::Client, path: &str, what: &str) -> Result<Option<T>, AwsError> {
    let reading = format!("reading {what}");
    let forbidden = || {
        let message = format!("{what} may not be read, and could name other endpoints or authorities");
        broken("cluster-forbidden", message, "ask for the permission to get it")
    };
    let Some(body) = get_bytes(client, path, &reading, forbidden).await? else { return Ok(None) };
    serde_json::from_slice(&body)
        .map(Some)
        .map_err(|_| transient(classify::undecodable(&body, &reading).message.to_string()))
}

/// Reads the bytes of an object; nothing when it does not exist.
///
/// # Errors
/// It may not be read, or the cluster does not answer.
pub(super) async fn get_bytes(
    client: &kube::Client,
    path: &str,
    reading: &str,
    forbidden: impl FnOnce() -> AwsError,
) -> Result<Option<Bytes>, AwsError> {
    let answer = send::get_bytes(client, path, send::JSON).await;
    let (code, body) = answer.map_err(|error| transient(classify::transport(&error, reading).message.to_string()))?;
    match code {
        StatusCode::OK => Ok(Some(body)),
        StatusCode::NOT_FOUND => Ok(None),
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => Err(forbidden()),
        other => Err(transient(classify::status(other, None, reading).message.to_string())),
    }
}

/// A failure of the connection to the cluster.
pub(super) fn transient(message: String) -> AwsError {
    AwsError::new(Class::Transient, "cluster", message, "check the connection to the cluster")
}
