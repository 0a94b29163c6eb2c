//! Tries the role of a workload without its pod, on request: a token by TokenRequest, then AssumeRoleWithWebIdentity.
//!
//! Invariants:
//! - one short-lived token, for the workload's own ServiceAccount and audience, is requested, sent once and wiped; the keys it
//!   brings are dropped;
//! - it goes to AWS's own servers, and to others only where the user's environment or `[egress] allow` names them;
//! - only a refusal by STS says something about the role.

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use zeroize::Zeroize as _;

use super::{AwsCache, Setting, cluster, principal};
use crate::clouds::aws::client::{
    AwsError, Claims, Class, Partition, Region, RoleArn, Token, parse_token, trust_beside, trust_needed,
};
use crate::connect::{classify, is_object_name, send};
use trueup_net::{Identity, SecretText};

/// How long the token holds: the shortest time an API server allows.
const TOKEN_SECONDS: u64 = 600;
/// The largest answer to a TokenRequest.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// What CloudTrail shows as the session's name.
const SESSION_NAME: &str = "trueup-probe";

/// What is tried.
#[derive(Debug, Clone, Copy)]
pub struct RoleTrial<'t> {
    pub namespace: &'t str,
    pub service_account: &'t str,
    /// Nothing: the API server's default.
    pub audience: Option<&'t str>,
    pub role: &'t str,
    pub region: &'t str,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleTried {
    /// STS gives the role to such a token.
    Accepted { assumed: String, claims: String },
    /// STS refuses; `beside` lays the trust policy beside the token.
    Refused { why: String, claims: String, beside: Vec<String> },
    /// Nothing is known of the role.
    NotTried(String),
}

impl RoleTried {
    /// One sentence.
    pub fn message(&self) -> String {
        match self {
            Self::Accepted { assumed, claims } => {
                format!("tried: STS accepts a token of the ServiceAccount as {assumed} (the token has {claims})")
            }
            Self::Refused { why, .. } => format!("tried: STS refuses a token of the ServiceAccount: {why}"),
            Self::NotTried(why) => format!("the role could not be tried: {why}"),
        }
    }

    /// What else there is to know, one line each.
    pub fn details(&self) -> &[String] {
        match self {
            Self::Refused { beside, .. } => beside,
            Self::Accepted { .. } | Self::NotTried(_) => &[],
        }
    }
}

/// Requests a token and exchanges it.
pub async fn try_role(cache: &AwsCache, client: &kube::Client, trial: &RoleTrial<'_>) -> RoleTried {
    match tried(cache, client, trial).await {
        Ok(tried) => tried,
        Err(why) => RoleTried::NotTried(why),
    }
}

async fn tried(cache: &AwsCache, client: &kube::Client, trial: &RoleTrial<'_>) -> Result<RoleTried, String> {
    let role = RoleArn::parse(trial.role).map_err(|error| error.to_string())?;
    let region = Region::parse(trial.region).ok_or("the region does not exist in any partition")?;
    if role.partition() != region.partition().as_str() {
        return Err(format!("the role {role} is of another partition than {region}"));
    }
    let message = |error: AwsError| error.message;
    let setting = cluster::setting(client, &cache.env).await.map_err(message)?;
    let (setting, not_used) = setting.cleared(Identity::Own, &cache.egress);
    let catalogue = cache.catalogue(setting, Identity::Own).map_err(message)?;
    let token = request_token(client, trial).await?;
    let claims = token.claims.clone();
    let exchanged = catalogue.aws().exchange_token(&role, SESSION_NAME, token, &region).await;
    let line = claims.line();
    match exchanged {
        Ok(session) => Ok(RoleTried::Accepted { assumed: session.assumed, claims: line }),
        Err(error) if error.class == Class::Denied => {
            let why = [vec![error.message], not_used].concat().join("; ");
            let beside = trust(cache, &role, &claims).await;
            Ok(RoleTried::Refused { why, claims: line, beside })
        }
        Err(error) => Err(format!("{}; this says nothing about the role", error.message)),
    }
}

/// The trust policy beside the claims, read with this machine's own login where that may.
async fn trust(cache: &AwsCache, role: &RoleArn, claims: &Claims) -> Vec<String> {
    let mut lines = vec![trust_needed(role, claims)];
    match policy(cache, role).await {
        Ok(policy) => lines.extend(trust_beside(&policy, claims)),
        Err(error) => lines.push(format!("trust policy: not read with this machine's own login: {}", error.message)),
    }
    lines
}

async fn policy(cache: &AwsCache, role: &RoleArn) -> Result<serde_json::Value, AwsError> {
    let own = principal::of_environment(cache).await.1?;
    let endpoints = super::own_endpoints(cache, &own).await?;
    let catalogue = cache.catalogue(Setting { endpoints, roots: None }, Identity::Own)?;
    let home = Partition::parse(role.partition()).unwrap_or(Partition::Aws).home();
    let keys = catalogue.keys(&own, &home).await?;
    catalogue.aws().trust_policy(&keys, role).await
}

#[derive(Deserialize)]
struct TokenAnswer {
    status: TokenStatus,
}

#[derive(Deserialize)]
struct TokenStatus {
    token: SecretText,
}

async fn request_token(client: &kube::Client, trial: &RoleTrial<'_>) -> Result<Token, String> {
    let RoleTrial { namespace, service_account, audience, role: _, region: _ } = trial;
    if !is_object_name(namespace) || !is_object_name(service_account) {
        return Err("its ServiceAccount has no valid name".to_owned());
    }
    let what = format!("requesting a token of ServiceAccount {namespace}/{service_account}");
    let audiences: Vec<&str> = audience.iter().copied().collect();
    let spec = json!({ "audiences": audiences, "expirationSeconds": TOKEN_SECONDS });
    let body = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec });
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token");
    let answered = send::post_json(client, &path, &body, ANSWER_BYTES_MAX, send::STREAM_START_TIMEOUT).await;
    let (status, body) = answered.map_err(|error| format!("{what}: {error}"))?;
    match status {
        StatusCode::OK | StatusCode::CREATED => {
            read_token(body).ok_or_else(|| format!("{what}: the answer holds no token"))
        }
        StatusCode::FORBIDDEN => Err(format!("{what}: forbidden (403); grant create on serviceaccounts/token")),
        other => Err(classify::status(other, classify::reason(&body).as_deref(), &what).message.to_string()),
    }
}

/// The token of an answer, whose bytes are wiped.
fn read_token(body: Bytes) -> Option<Token> {
    let answer = serde_json::from_slice::<TokenAnswer>(&body);
    if let Ok(mut buffer) = body.try_into_mut() {
        buffer.as_mut().zeroize();
    }
    parse_token(answer.ok()?.status.token.expose().as_bytes()).ok()
}

#[cfg(test)]
mod tests;
