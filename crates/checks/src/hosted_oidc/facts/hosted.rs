//! HostedCluster and HostedControlPlane: what was asked for, and whether anything may be done now.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::names::{CLUSTER_ANNOTATION, NAME_LENGTH_MAX, RESTORED_ANNOTATION};
use super::super::refs::{self, Refs};
use super::wanted::{Wanted, wanted};
use crate::external_oidc::{AuthSpec, CandidateSpec, ClientStatus, Provenance, unknown_fields};
use crate::kinds::{Complaint, Condition};
use trueup_core::world::shape::objects;
use trueup_core::world::{
    DeletionState, Fact, Interner, Misfit, Obj, RawMeta, RawObject, ResourceVersion, TrackedField, Uid,
};

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
    /// Every text in the spec that may be the name of an object, sorted.
    pub names: Box<[Box<str>]>,
    /// The conditions that can say why a configuration does not reach the guest, and are False.
    pub complaints: Box<[Complaint]>,
}

impl Hosted {
    /// Whether a text anywhere in the spec equals the name.
    pub fn mentions(&self, name: &str) -> bool {
        self.names.binary_search_by(|held| (**held).cmp(name)).is_ok()
    }
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

trueup_core::named_enum! {
    /// Conditions of HostedCluster and HostedControlPlane that speak about what this check judges; False is bad.
    ///
    /// Not among them: `ValidOIDCConfiguration` and `ValidAWSIdentityProvider` (service accounts of the cloud),
    /// `ValidIDPConfiguration` (integrated OAuth).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SpeakingCondition {
        ValidConfiguration = "ValidConfiguration",
        ValidHostedControlPlaneConfiguration = "ValidHostedControlPlaneConfiguration",
        ReconciliationActive = "ReconciliationActive",
        ReconciliationSucceeded = "ReconciliationSucceeded",
        ConfigOperatorReconciliationSucceeded = "ConfigOperatorReconciliationSucceeded",
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
pub struct HostedCluster {
    pub hosted: Hosted,
    pub block: AuthBlock,
    /// `spec.issuerURL`: the issuer of service account tokens.
    pub issuer_url: Box<str>,
    /// The newest release of `status.version.history`.
    pub release: Option<Box<str>>,
    /// `oidcClients` as the guest reports them.
    pub clients: Vec<ClientStatus>,
}

/// `spec.configuration.authentication` of a HostedCluster.
#[derive(Debug, PartialEq)]
pub enum AuthBlock {
    Absent,
    /// HyperShift refuses a block without a type.
    TypeEmpty,
    Given(Box<CandidateSpec>),
    /// A field has another shape than the CRD promises.
    Unreadable(Box<str>),
}

impl AuthBlock {
    /// Reads the block of a HostedCluster, stored or in a file.
    pub fn read(block: Option<&Value>, provenance: Provenance) -> Self {
        let Some(block) = block.filter(|block| !block.is_null()) else { return Self::Absent };
        let is_empty = block.get("type").is_none_or(|kind| kind.is_null() || kind == "");
        match AuthSpec::from_json(block) {
            Err(error) => Self::Unreadable(error.to_string().into()),
            Ok(_) if is_empty => Self::TypeEmpty,
            Ok(spec) => {
                let unknown_fields = unknown_fields(block);
                Self::Given(Box::new(CandidateSpec { spec, unknown_fields, provenance }))
            }
        }
    }
}

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
    #[serde(rename = "issuerURL")]
    issuer_url: Option<Box<str>>,
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
    version: Obj<VersionWire>,
    configuration: Obj<ConfigurationWire>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct VersionWire {
    history: Option<Vec<Obj<ReleaseWire>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ReleaseWire {
    version: Option<Box<str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ConfigurationWire {
    authentication: Obj<AuthenticationWire>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AuthenticationWire {
    #[serde(rename = "oidcClients", deserialize_with = "objects")]
    clients: Vec<ClientStatus>,
}

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
        let mut names = Vec::new();
        collect_names(&raw.field("spec")?, &mut names);
        names.sort();
        names.dedup();
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            deletion_state: DeletionState::of(&raw.meta),
            pause,
            restore: restore(&raw.meta),
            infra_id: spec.infra_id.as_deref().unwrap_or_default().into(),
            authentication: wanted(raw, "spec.configuration.authentication", authentication)?,
            names: names.into(),
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
    let is_bad = SpeakingCondition::parse(condition.name()).is_some() && condition.status() == "False";
    is_bad.then(|| condition.complaint())
}

/// Every text of a spec that is short enough to be a name.
fn collect_names(value: &Value, names: &mut Vec<Box<str>>) {
    match value {
        Value::String(text) if text.len() <= NAME_LENGTH_MAX => names.push(text.as_str().into()),
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        Value::Object(fields) => fields.values().for_each(|field| collect_names(field, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What of a HostedCluster or HostedControlPlane decides about copies.
const TRACKED: &[TrackedField] = &[
    TrackedField { name: PROVIDERS, path: &["spec", "configuration", "authentication", "oidcProviders"] },
    TrackedField { name: "type", path: &["spec", "configuration", "authentication", "type"] },
    TrackedField { name: "pausedUntil", path: &["spec", "pausedUntil"] },
];
/// The tracked field that names the copies.
pub const PROVIDERS: &str = "oidcProviders";

impl HostedCluster {
    pub fn infra_id(&self) -> Option<&str> {
        Some(&*self.hosted.infra_id).filter(|id| !id.is_empty())
    }
}

impl Fact for HostedCluster {
    const TRACKED: &'static [TrackedField] = TRACKED;

    /// How a guest that is known only by its topology finds it.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        self.infra_id().into_iter().for_each(each);
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(spec): Obj<HostedSpec> = raw.field("spec")?;
        let Obj(status): Obj<HostedStatus> = raw.field("status")?;
        let hosted = Hosted::project(raw, &spec)?;
        let history = status.version.0.history.unwrap_or_default();
        let release = history.into_iter().next().and_then(|Obj(entry)| entry.version).filter(|text| !text.is_empty());
        let block = spec.configuration.0.get("authentication");
        Ok(Self {
            block: AuthBlock::read(block, Provenance::of(&hosted.version)),
            hosted,
            issuer_url: spec.issuer_url.unwrap_or_default(),
            release,
            clients: status.configuration.0.authentication.0.clients,
        })
    }
}

impl Fact for ControlPlane {
    const TRACKED: &'static [TrackedField] = TRACKED;

    /// The HostedCluster that it says it belongs to.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        Some(&*self.belongs_to).filter(|owner| !owner.is_empty()).into_iter().for_each(each);
    }

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
