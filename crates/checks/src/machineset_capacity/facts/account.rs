//! What an AWS account offers and how asking it went, and where the annotating process finds its login.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::super::names::{CONTAINER_TOKEN_FILE, CONTAINER_URI, ROLE_ARN, TOKEN_FILE};
use crate::kinds::{count, items, text};
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// One machine to be had in a region.
#[derive(Debug, PartialEq, Eq)]
pub struct InstanceType {
    /// Nothing and zero are the same: the size is not known.
    pub cpus: u64,
    pub memory_mib: u64,
    pub gpus: Box<[Gpu]>,
    /// As EC2 spells them.
    pub architectures: Box<[Arc<str>]>,
}

/// A sort of GPU in a machine.
#[derive(Debug, PartialEq, Eq)]
pub struct Gpu {
    pub maker: Arc<str>,
    /// None where the machine has a part of one.
    pub whole: u64,
    pub logical: u64,
}

/// The variables that say where a process finds its login. Set to nothing counts as not set.
#[derive(Debug, PartialEq, Eq)]
pub struct Environment {
    pub role: Option<Box<str>>,
    pub token_file: Option<Box<str>>,
    /// Whether EKS Pod Identity left its variables.
    pub has_pod_identity: bool,
}

/// How the last exchange and lookup in a region went.
#[derive(Debug, PartialEq, Eq)]
pub struct Lookup {
    pub class: Class,
    /// AWS' own word for the error.
    pub code: Box<str>,
    pub message: Box<str>,
    /// What to do about it.
    pub remedy: Box<str>,
    /// Who AWS said was asking.
    pub identity: Box<str>,
}

/// The ways it can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Fine,
    TokenUnreadable,
    Denied,
    Transient,
}

impl Fact for InstanceType {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let said: Value = raw.field("type")?;
        let gpu = |gpu: &Value, pool: &mut Interner| Gpu {
            maker: pool.text(&text(gpu, &["manufacturer"]).unwrap_or_default()),
            whole: count(gpu, "count"),
            logical: count(gpu, "logical_count").max(u64::from(is_part(gpu))),
        };
        let architectures = items(&said, &["architectures"]).iter().filter_map(Value::as_str);
        Ok(Self {
            cpus: count(&said, "vcpu"),
            memory_mib: count(&said, "memory_mib"),
            gpus: items(&said, &["gpus"]).iter().map(|value| gpu(value, pool)).collect(),
            architectures: architectures.map(|name| pool.text(name)).collect(),
        })
    }
}

/// Whether a fraction of a GPU is counted as a fraction.
fn is_part(gpu: &Value) -> bool {
    gpu.get("count").and_then(Value::as_f64).is_some_and(|count| 0.0 < count && count < 1.0)
}

impl Fact for Environment {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let variables: BTreeMap<String, Value> = raw.field("variables")?;
        let filled = |key: &str| {
            let text = variables.get(key).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(Box::from)
        };
        let has_pod_identity = [CONTAINER_URI, CONTAINER_TOKEN_FILE].iter().any(|key| filled(key).is_some());
        Ok(Self { role: filled(ROLE_ARN), token_file: filled(TOKEN_FILE), has_pod_identity })
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Outcome {
    class: Option<String>,
    code: Option<String>,
    #[serde(rename = "says")]
    message: Option<String>,
    remedy: Option<String>,
    identity: Option<String>,
}

impl Fact for Lookup {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(outcome): Obj<Outcome> = raw.field("outcome")?;
        let class = match outcome.class.as_deref() {
            Some("ok") => Class::Fine,
            Some("token-unreadable") => Class::TokenUnreadable,
            Some("denied") => Class::Denied,
            Some("transient") => Class::Transient,
            Some(_) | None => return Err(raw.misfit("says nothing of how the lookup went")),
        };
        let text = |text: Option<String>| text.unwrap_or_default().into_boxed_str();
        let Outcome { class: _, code, message, remedy, identity } = outcome;
        Ok(Self { class, code: text(code), message: text(message), remedy: text(remedy), identity: text(identity) })
    }
}
