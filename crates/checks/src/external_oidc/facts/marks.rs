//! Objects of which only their being there counts, and whether they work; and Secrets that are compared without being
//! known.

use serde_json::Value;

use super::super::names::CLIENT_SECRET_KEY;
use crate::kinds::items;
use trueup_core::world::{Digest, Fact, Interner, Meta, Misfit, RawObject, ResourceVersion, Uid};

/// An object by its metadata, and by its status where it is something that runs.
#[derive(Debug, PartialEq)]
pub struct Mark {
    pub meta: Meta,
    pub readiness: Readiness,
}

/// Whether an operand does its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// A kind without readiness, or no status yet.
    NotJudged,
    Ready,
    /// `spec.replicas` is 0.
    ScaledToZero,
    NotReady(Box<str>),
    RollingOut(Box<str>),
}

impl Fact for Mark {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let readiness = match raw.kind.as_ref() {
            "Deployment" => deployment(raw)?,
            "APIService" => api_service(raw)?,
            "Route" => route(raw)?,
            _ => Readiness::NotJudged,
        };
        Ok(Self { meta: Meta::project(&raw.meta, pool), readiness })
    }
}

/// The status of an object; nothing when it has none or an empty one.
fn status(raw: &RawObject<'_>) -> Result<Option<Value>, Misfit> {
    let status: Value = raw.field("status")?;
    Ok(Some(status).filter(|status| status.as_object().is_some_and(|fields| !fields.is_empty())))
}

fn deployment(raw: &RawObject<'_>) -> Result<Readiness, Misfit> {
    let Some(status) = status(raw)? else { return Ok(Readiness::NotJudged) };
    let spec: Value = raw.field("spec")?;
    let wanted = spec.get("replicas").and_then(Value::as_i64).unwrap_or(1);
    let available = status.get("availableReplicas").and_then(Value::as_i64).unwrap_or(0);
    let observed = status.get("observedGeneration").and_then(Value::as_i64);
    let is_behind = observed.zip(raw.meta.generation).is_some_and(|(observed, generation)| observed < generation);
    Ok(if wanted == 0 {
        Readiness::ScaledToZero
    } else if available == 0 {
        Readiness::NotReady(format!("none of {wanted} replicas is available").into())
    } else if available < wanted {
        Readiness::RollingOut(format!("{available} of {wanted} replicas are available").into())
    } else if is_behind {
        Readiness::RollingOut("its controller has not seen the newest spec yet".into())
    } else {
        Readiness::Ready
    })
}

fn api_service(raw: &RawObject<'_>) -> Result<Readiness, Misfit> {
    let Some(status) = status(raw)? else { return Ok(Readiness::NotJudged) };
    let refused = items(&status, &["conditions"]).iter().find(|one| is_condition(one, "Available", "False"));
    Ok(refused.map_or(Readiness::Ready, |condition| {
        let message = condition.get("message").and_then(Value::as_str).unwrap_or_default();
        Readiness::NotReady(format!("Available=False: {message}").into())
    }))
}

fn route(raw: &RawObject<'_>) -> Result<Readiness, Misfit> {
    let Some(status) = status(raw)? else { return Ok(Readiness::NotJudged) };
    let is_admitted =
        |ingress: &Value| items(ingress, &["conditions"]).iter().any(|one| is_condition(one, "Admitted", "True"));
    let admitted = items(&status, &["ingress"]).iter().any(is_admitted);
    Ok(if admitted { Readiness::Ready } else { Readiness::NotReady("no router has admitted it".into()) })
}

fn is_condition(condition: &Value, kind: &str, status: &str) -> bool {
    let field = |name: &str| condition.get(name).and_then(Value::as_str);
    field("type") == Some(kind) && field("status") == Some(status)
}

/// A namespace of the OAuth server or the OAuth API server.
#[derive(Debug, PartialEq)]
pub struct NamespaceState {
    pub meta: Meta,
    /// Being deleted, by its metadata or its phase.
    pub is_terminating: bool,
    /// Of the metadata and of the spec.
    pub finalizers: Box<[Box<str>]>,
    /// `type=status reason: message`.
    pub conditions: Box<[Box<str>]>,
}

impl Fact for NamespaceState {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let (spec, status): (Value, Value) = (raw.field("spec")?, raw.field("status")?);
        let meta = Meta::project(&raw.meta, pool);
        let is_phase = status.get("phase").and_then(Value::as_str) == Some("Terminating");
        let own = raw.meta.finalizers.iter().map(|name| name.as_ref().into());
        let kubernetes = items(&spec, &["finalizers"]).iter().filter_map(Value::as_str).map(Into::into);
        let text = |one: &Value, field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let condition = |one: &Value| {
            let [kind, status, reason, message] = ["type", "status", "reason", "message"].map(|field| text(one, field));
            format!("{kind}={status} {reason}: {message}").into()
        };
        Ok(Self {
            is_terminating: meta.is_terminating() || is_phase,
            meta,
            finalizers: own.chain(kubernetes).collect(),
            conditions: items(&status, &["conditions"]).iter().map(condition).collect(),
        })
    }
}

/// A Secret with a client secret in it, read by name.
#[derive(Debug, PartialEq)]
pub struct ClientSecret {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub value: Option<SecretValue>,
}

/// A secret value by its length and keyed digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretValue {
    pub length: u32,
    digest: Digest,
}

impl Fact for ClientSecret {
    const DIGESTED_KEYS: &'static [&'static str] = &[CLIENT_SECRET_KEY];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let entry = raw.entry(CLIENT_SECRET_KEY);
        let value = entry.and_then(|entry| Some(SecretValue { length: entry.length, digest: entry.digest? }));
        Ok(Self { uid: Uid::parse(&raw.meta.uid), version: ResourceVersion::parse(&raw.meta.resource_version), value })
    }
}
