//! HostedCluster and HostedControlPlane: what was asked for, and whether anything may be done now.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::super::names::{CLUSTER_ANNOTATION, RESTORED_ANNOTATION};
use super::super::refs::{self, Refs};
use super::wanted::{Wanted, wanted};
use crate::world::{Fact, Interner, Life, Misfit, RawMeta, RawObject, ResourceVersion, Uid};

/// What HostedCluster and HostedControlPlane have in common.
#[derive(Debug, PartialEq)]
pub struct Hosted {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub life: Life,
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

/// A condition that isn't as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub condition: Box<str>,
    pub says: Box<str>,
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
    configuration: Option<Value>,
    platform: Option<Platform>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Platform {
    r#type: Option<String>,
    azure: Option<Azure>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Azure {
    azure_authentication_config: Option<AzureAuthentication>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AzureAuthentication {
    azure_authentication_config_type: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HostedStatus {
    conditions: Option<Vec<Condition>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Condition {
    r#type: String,
    status: String,
    reason: Option<String>,
    message: Option<String>,
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
        let authentication = spec.configuration.as_ref().and_then(|all| all.get("authentication"));
        let status: HostedStatus = raw.field("status")?;
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            life: if raw.meta.deletion_timestamp.is_some() { Life::Terminating } else { Life::Living },
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
    let telling = conditions.into_iter().filter(|condition| {
        TELLING_CONDITIONS.iter().any(|(name, good)| condition.r#type == *name && condition.status != *good)
    });
    telling
        .map(|condition| {
            let (reason, message) = (condition.reason.unwrap_or_default(), condition.message.unwrap_or_default());
            let says = format!("{}={} {reason}: {message}", condition.r#type, condition.status);
            Complaint { condition: condition.r#type.into(), says: says.into() }
        })
        .collect()
}

impl Fact for HostedCluster {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: HostedSpec = raw.field("spec")?;
        Ok(Self(Hosted::project(raw, &spec)?))
    }
}

impl Fact for ControlPlane {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let spec: HostedSpec = raw.field("spec")?;
        let configuration = spec.configuration.clone().unwrap_or_default();
        let oauth = configuration.get("oauth").cloned().unwrap_or_default();
        let collect =
            |root, value, places| Refs::collect(root, value, places).map_err(|bad| raw.misfit(bad.to_string()));
        let other = collect("spec.configuration", &configuration, refs::OTHER_CONFIGURATION)?;
        let oauth = collect("spec.configuration.oauth", &oauth, refs::OAUTH)?;
        Ok(Self {
            hosted: Hosted::project(raw, &spec)?,
            belongs_to: raw.meta.annotation(CLUSTER_ANNOTATION).unwrap_or_default().into(),
            other_refs: other.and(oauth),
            day2: day2(spec.platform.as_ref()),
        })
    }
}

fn day2(platform: Option<&Platform>) -> Day2 {
    let azure =
        platform.filter(|platform| platform.r#type.as_deref() == Some("Azure")).and_then(|all| all.azure.as_ref());
    let authentication = azure.and_then(|azure| azure.azure_authentication_config.as_ref());
    match authentication.and_then(|config| config.azure_authentication_config_type.as_deref()) {
        Some("ManagedIdentities") => Day2::Honoured,
        Some(_) | None => Day2::Ignored,
    }
}
