//! The credentials of this machine, tried step by step: for `trueup doctor`.

use super::{AwsCache, Setting, principal};
use crate::clouds::aws::client::{AwsError, Endpoints, Partition, Principal, Region, Step, Variables};

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
    let (steps, found) = principal::of_environment(&cache.env).await;
    let end = match found {
        None => End::Nothing,
        Some(Err(error)) => End::Failed(error),
        Some(Ok(principal)) => ask(cache, &principal).await.unwrap_or_else(End::Failed),
    };
    Examined { steps, end }
}

async fn ask(cache: &AwsCache, principal: &Principal) -> Result<End, AwsError> {
    let endpoints = Endpoints::new([], &cache.env)
        .map_err(|error| principal::broken("endpoint", error.to_string(), "correct AWS_ENDPOINT_URL"))?;
    let endpoints = super::with_profile(endpoints, principal).await?;
    let role = match principal {
        Principal::WebIdentity(identity) => Some(identity.role.clone()),
        Principal::SecretKeys { .. } | Principal::Profile { .. } => None,
    };
    let partition = role.as_ref().and_then(|role| Partition::parse(role.partition()));
    let region = region(&cache.env, partition);
    let catalogue = cache.catalogue(Setting { endpoints, roots: None }, principal.identity())?;
    let caller = catalogue.caller(principal, &region).await?;
    Ok(End::Known { caller, role: role.map(|role| role.to_string()), region: region.to_string() })
}

/// The region the environment names, or the first of the role's partition.
fn region(env: &Variables, partition: Option<Partition>) -> Region {
    let named = ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| Region::parse(env.get(name)?));
    named.unwrap_or_else(|| partition.unwrap_or(Partition::Aws).home())
}
