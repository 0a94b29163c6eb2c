//! What would be used to ask AWS from here, tried step by step: for `trueup doctor`.

use super::{AwsCache, AwsWay, Setting, principal};
use crate::aws::{AwsError, Endpoints, Partition, Principal, Region, Step, Variables};
use crate::connect::Clock;
use crate::connect::Env;

/// How looking for credentials went.
#[derive(Debug)]
pub struct Examined {
    pub steps: Vec<Step>,
    pub end: End,
}

/// What it came to.
#[derive(Debug)]
pub enum End {
    /// Nothing here: Secrets that objects name are all there is.
    Nothing,
    Failed(AwsError),
    /// Who AWS says this is, and the role that was meant, if one was.
    Known {
        caller: String,
        role: Option<String>,
        region: String,
    },
}

/// Walks through the order of credentials without a Secret, and asks AWS who that makes one.
pub async fn examine(way: AwsWay, env: &Env, clock: Clock) -> Examined {
    let shelf = AwsCache::new(way, env, clock);
    let (steps, found) = principal::of_environment(&shelf.env).await;
    let end = match found {
        None => End::Nothing,
        Some(Err(error)) => End::Failed(error),
        Some(Ok(principal)) => ask(&shelf, &principal).await.unwrap_or_else(End::Failed),
    };
    Examined { steps, end }
}

async fn ask(shelf: &AwsCache, principal: &Principal) -> Result<End, AwsError> {
    let endpoints = Endpoints::new([], &shelf.env)
        .map_err(|error| principal::broken("endpoint", error.to_string(), "correct AWS_ENDPOINT_URL"))?;
    let role = match principal {
        Principal::WebIdentity(identity) => Some(identity.role.clone()),
        Principal::SecretKeys { .. } | Principal::Profile { .. } => None,
    };
    let partition = role.as_ref().and_then(|role| Partition::of_word(role.partition()));
    let region = region(&shelf.env, partition);
    let catalogue = shelf.catalogue(Setting { endpoints, roots: None })?;
    let caller = catalogue.caller(principal, &region).await?;
    Ok(End::Known { caller, role: role.map(|role| role.to_string()), region: region.to_string() })
}

/// The region the environment names, or the first of the role's partition.
fn region(env: &Variables, partition: Option<Partition>) -> Region {
    let named = ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| Region::parse(env.get(name)?));
    named.unwrap_or_else(|| partition.unwrap_or(Partition::Aws).home())
}
