//! HostedCluster and HostedControlPlane: what was asked for, and whether anything may be done now.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::names::{CLUSTER_ANNOTATION, RESTORED_ANNOTATION};
use super::super::refs::{self, Refs};
use super::wanted::{Wanted, wanted};
use crate::kinds::{Complaint, Condition};
use trueup_core::world::{DeletionState, Fact, Interner, Misfit, Obj, RawMeta, RawObject, ResourceVersion, Uid};

/// What HostedCluster and HostedControlPlane have in common.
#[derive(Debug, PartialEq)]
pub struct Hosted {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub deletion_state: DeletionState,
    pub pause: Pause,
    pub restore: Restore,
    pub infra_id: Box<str>,
    pub authentication: Wanted,
    /// Conditions that can say why the operator does not copy: those that aren't as they should be.
    pub complaints: Box<[Complaint]>,
}

/// `spec.pausedUntil`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    No,
    ForEver,
    Until(Timestamp),
}

impl Pause {
    /// As the operator reads it: a boolean of Go's, or a date; anything else does not pause.
    fn parse(text: &str) -> Self {
        if ["1", "t", "T", "true", "TRUE", "True"].contains(&text) {
            return Self::ForEver;
        }
        text.parse().map_or(Self::No, Self::Until)
    }

    pub fn holds(self, now: Timestamp) -> bool {
        match self {
            Self::No => false,
            Self::ForEver => true,
            Self::Until(end) => now < end,
        }
    }
}

/// Whether a restore from backup is marked as going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restore {
    No,
    GoingOn,
}

/// A HostedCluster.
#[derive(Debug, PartialEq)]
pub struct HostedCluster(pub Hosted);

/// A HostedControlPlane.
#[derive(Debug, PartialEq)]
pub struct ControlPlane {
    pub hosted: Hosted,
    /// `<namespace>/<name>` of its HostedCluster, from the annotation.
    pub belongs_to: Box<str>,
    /// What the rest of its configuration refers to.
    pub other_refs: Refs,
    pub day2: Day2,
}

/// Whether secrets marked as hosted-cluster-sourced are the user's own here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Day2 {
    /// Azure with managed identities.
    Honoured,
    /// Elsewhere the mark is ignored, and the secret is copied.
    Ignored,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct HostedSpec {
    #[serde(rename = "infraID")]
    infra_id: Option<String>,
    paused_until: Option<Value>,
    configuration: Obj<Map<String, Value>>,
    platform: Obj<Platform>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Platform {
    r#type: Option<String>,
    azure: Obj<Azure>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Azure {
    azure_authentication_config: Obj<AzureAuthentication>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AzureAuthentication {
    azure_authentication_config_type: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HostedStatus {
    conditions: Option<Vec<Obj<Condition>>>,
}

/// Conditions that say whether configuration reaches the guest, with the status they should have.
const TELLING_CONDITIONS: [(&str, &str); 6] = [
    ("ValidConfiguration", "True"),
    ("ValidHostedControlPlaneConfiguration", "True"),
    ("ConfigOperatorReconciliationSucceeded", "True"),
    ("ReconciliationSucceeded", "True"),
    ("ReconciliationActive", "True"),
    ("KubeAPIServerAvailable", "True"),
];

impl Hosted {
    fn project(raw: &RawObject<'_>, spec: &HostedSpec) -> Result<Self, Misfit> {
        let pause = match &spec.paused_until {
            None | Some(Value::Null) => Pause::No,
            Some(Value::String(text)) => Pause::parse(text),
            Some(Value::Bool(paused)) => {
                if *paused {
                    Pause::ForEver
                } else {
                    Pause::No
                }
            }
            Some(_) => return Err(raw.misfit("field spec.pausedUntil has another shape")),
        };
        let authentication = spec.configuration.0.get("authentication");
        let Obj(status): Obj<HostedStatus> = raw.field("status")?;
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            deletion_state: DeletionState::of(&raw.meta),
            pause,
            restore: restore(&raw.meta),
            infra_id: spec.infra_id.as_deref().unwrap_or_default().into(),
            authentication: wanted(raw, "spec.configuration.authentication", authentication)?,
            complaints: complaints(status),
        })
    }
}

fn restore(meta: &RawMeta<'_>) -> Restore {
    match meta.annotation(RESTORED_ANNOTATION) {
        None | Some("false") => Restore::No,
        Some(_) => Restore::GoingOn,
    }
}

fn complaints(status: HostedStatus) -> Box<[Complaint]> {
    let conditions = status.conditions.unwrap_or_default();
    conditions.into_iter().filter_map(|Obj(condition)| complaint(condition)).collect()
}

fn complaint(condition: Condition) -> Option<Complaint> {
    let is_bad = |(telling, good): &(&str, &str)| condition.name() == *telling && condition.status() != *good;
    TELLING_CONDITIONS.iter().any(is_bad).then(|| condition.complaint())
}

impl Fact for HostedCluster {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<HostedSpec> = raw.field("spec")?;
        Ok(Self(Hosted::project(raw, &spec)?))
    }
}

impl Fact for ControlPlane {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<HostedSpec> = raw.field("spec")?;
        let configuration = Value::Object(spec.configuration.0.clone());
        let part = |name| spec.configuration.0.get(name).unwrap_or(&Value::Null);
        let collect =
            |root, value, places| Refs::collect(root, value, places).map_err(|bad| raw.misfit(bad.to_string()));
        let other = collect("spec.configuration", &configuration, refs::OTHER_CONFIGURATION)?;
        let api_server = collect("spec.configuration.apiServer", part("apiServer"), refs::API_SERVER)?;
        let oauth = collect("spec.configuration.oauth", part("oauth"), refs::OAUTH)?;
        Ok(Self {
            hosted: Hosted::project(raw, &spec)?,
            belongs_to: raw.meta.annotation(CLUSTER_ANNOTATION).unwrap_or_default().into(),
            other_refs: other.and(api_server).and(oauth),
            day2: day2(&spec.platform.0),
        })
    }
}

fn day2(platform: &Platform) -> Day2 {
    let authentication = &platform.azure.0.azure_authentication_config.0;
    match (platform.r#type.as_deref(), authentication.azure_authentication_config_type.as_deref()) {
        (Some("Azure"), Some("ManagedIdentities")) => Day2::Honoured,
        (Some(_) | None, Some(_) | None) => Day2::Ignored,
    }
}
