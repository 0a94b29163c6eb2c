//! `KubeAPIServer/cluster` of the operator: which revision runs where, and the next configuration of kube-apiserver.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::names::{AUTH_CONFIG_ARGUMENT, WEBHOOK_ARGUMENT, WEBHOOK_VERSION_ARGUMENT};
use super::super::spec::TrustedIssuer;
use super::conditions::{OperatorComplaint, complaints};
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject, ResourceVersion, Uid};

/// What is kept of it.
#[derive(Debug, PartialEq)]
pub struct KubeApiServer {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub latest_revision: i64,
    pub nodes: Box<[Node]>,
    /// Issuers of service account tokens that are trusted.
    pub issuers: Vec<TrustedIssuer>,
    pub observed: ObservedConfig,
    pub complaints: Box<[OperatorComplaint]>,
}

/// One control plane node in a rollout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub name: Box<str>,
    /// 0 when nothing runs there yet.
    pub current: i64,
    /// 0 when none is under way.
    pub target: i64,
    pub last_failed: Option<Failure>,
}

/// The last rollout that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub revision: i64,
    pub count: i64,
    pub message: Box<str>,
}

/// The part of `spec.observedConfig` that is about who may log in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObservedConfig {
    pub authentication_config: Option<Box<[Box<str>]>>,
    pub webhook_config: Option<Box<[Box<str>]>>,
    pub webhook_version: Option<Box<[Box<str>]>>,
    /// Empty when none is set.
    pub oauth_metadata_file: Box<str>,
    pub plugins_on: Box<[Box<str>]>,
    pub plugins_off: Box<[Box<str>]>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    observed_config: Obj<ObservedWire>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObservedWire {
    api_server_arguments: Obj<Map<String, Value>>,
    auth_config: Obj<AuthConfigWire>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AuthConfigWire {
    oauth_metadata_file: Option<Box<str>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    latest_available_revision: Option<i64>,
    node_statuses: Option<Vec<Obj<NodeWire>>>,
    service_account_issuers: Option<Vec<Obj<IssuerWire>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct NodeWire {
    node_name: Option<Box<str>>,
    current_revision: Option<i64>,
    target_revision: Option<i64>,
    last_failed_revision: Option<i64>,
    last_failed_count: Option<i64>,
    last_failed_reason: Option<String>,
    last_failed_revision_errors: Option<Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct IssuerWire {
    name: Option<String>,
    expiration_time: Option<String>,
}

impl Fact for KubeApiServer {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<Spec> = raw.field("spec")?;
        let Obj(status): Obj<Status> = raw.field("status")?;
        let nodes = status.node_statuses.unwrap_or_default().into_iter().map(|Obj(node)| node.into()).collect();
        let mut issuers = Vec::new();
        for Obj(issuer) in status.service_account_issuers.unwrap_or_default() {
            let expires = match issuer.expiration_time.as_deref() {
                None | Some("") => None,
                Some(text) => {
                    let bad = |_| raw.misfit("field status.serviceAccountIssuers[].expirationTime is not a time");
                    Some(text.parse().map_err(bad)?)
                }
            };
            issuers.extend(issuer.name.map(|name| TrustedIssuer { name, expires }));
        }
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            latest_revision: status.latest_available_revision.unwrap_or(0),
            nodes,
            issuers,
            observed: observed(raw, spec.observed_config.0)?,
            complaints: complaints(raw)?,
        })
    }
}

impl From<NodeWire> for Node {
    fn from(wire: NodeWire) -> Self {
        let revision = wire.last_failed_revision.unwrap_or(0);
        let errors = wire.last_failed_revision_errors.unwrap_or_default().join("; ");
        let message = [wire.last_failed_reason.unwrap_or_default(), errors].join(": ");
        let failure = || Failure {
            revision,
            count: wire.last_failed_count.unwrap_or(0),
            message: message.trim_matches([':', ' ']).into(),
        };
        Self {
            name: wire.node_name.unwrap_or_default(),
            current: wire.current_revision.unwrap_or(0),
            target: wire.target_revision.unwrap_or(0),
            last_failed: (revision > 0).then(failure),
        }
    }
}

fn observed(raw: &RawObject<'_>, wire: ObservedWire) -> Result<ObservedConfig, Misfit> {
    let arguments = wire.api_server_arguments.0;
    let list = |name: &str| -> Result<Option<Box<[Box<str>]>>, Misfit> {
        let Some(value) = arguments.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
        let bad = |_| raw.misfit(format!("field spec.observedConfig.apiServerArguments.{name} is not a list of texts"));
        serde_json::from_value::<Vec<Box<str>>>(value.clone()).map(|list| Some(list.into())).map_err(bad)
    };
    Ok(ObservedConfig {
        authentication_config: list(AUTH_CONFIG_ARGUMENT)?,
        webhook_config: list(WEBHOOK_ARGUMENT)?,
        webhook_version: list(WEBHOOK_VERSION_ARGUMENT)?,
        oauth_metadata_file: wire.auth_config.0.oauth_metadata_file.unwrap_or_default(),
        plugins_on: list("enable-admission-plugins")?.unwrap_or_default(),
        plugins_off: list("disable-admission-plugins")?.unwrap_or_default(),
    })
}
