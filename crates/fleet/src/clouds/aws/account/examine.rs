//! The credentials of this machine, tried step by step: for `trueup doctor`.

use super::{AwsCache, Setting, principal};
use crate::clouds::aws::client::{AwsError, OWN_LOGIN_NONE, Partition, Principal, Step};

/// The steps of the search for credentials, and its result.
#[derive(Debug)]
pub struct Examined {
    pub steps: Vec<Step>,
    pub end: End,
}

/// The result of the search.
#[derive(Debug)]
pub enum End {
    /// No credentials on this machine: only the Secrets that objects name.
    Nothing,
    Failed(AwsError),
    /// The caller identity STS returned, and the expected role, if there is one.
    Known {
        caller: String,
        role: Option<String>,
        region: String,
    },
}

/// Tries the sources of credentials in their order, without a Secret, and asks STS for the caller identity.
pub async fn examine(cache: &AwsCache) -> Examined {
    let (steps, found) = principal::of_environment(cache).await;
    let known = match found {
        Ok(principal) => ask(cache, &principal).await,
        Err(error) => Err(error),
    };
    let end = known.unwrap_or_else(|error| match error.code.as_str() {
        OWN_LOGIN_NONE => End::Nothing,
        _ => End::Failed(error),
    });
    Examined { steps, end }
}

async fn ask(cache: &AwsCache, principal: &Principal) -> Result<End, AwsError> {
    let endpoints = super::own_endpoints(cache, principal).await?;
    let role = match principal {
        Principal::WebIdentity(identity) => Some(identity.role.clone()),
        Principal::SecretKeys { .. } | Principal::Own(_) => None,
    };
    let partition = role.as_ref().and_then(|role| Partition::parse(role.partition()));
    let region = cache.own.region().await;
    let region = region.unwrap_or_else(|| partition.unwrap_or(Partition::Aws).home());
    let catalogue = cache.catalogue(Setting { endpoints, roots: None }, principal.identity())?;
    let caller = catalogue.caller(principal, &region).await?;
    Ok(End::Known { caller, role: role.map(|role| role.to_string()), region: region.to_string() })
}
