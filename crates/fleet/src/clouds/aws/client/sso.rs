//! SSO (IAM Identity Center): a login that `aws sso login` left behind, traded for keys.
//!
//! Invariant: no login is started from here. An expired login is reported with the command that renews it.

use std::path::Path;

use bytes::Bytes;
use http::Request;
use jiff::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::api::Aws;
use super::error::{AwsError, Class};
use super::ini::Ini;
use super::partition::Region;
use super::sts::Keys;
use trueup_net::SecretText;
use trueup_net::one_line;

/// Files of the cache that are looked at; each login leaves one or two.
const CACHE_FILES_MAX: usize = 200;

/// What a profile says about its SSO login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SsoProfile {
    start_url: String,
    region: Region,
    account: String,
    role: String,
}

/// Reads the SSO settings of a profile, over its `sso-session` where it names one.
pub(super) fn profile<'t>(
    config: &Ini<'t>,
    get: &impl Fn(&str) -> Option<&'t str>,
) -> Result<Option<SsoProfile>, &'static str> {
    let session = get("sso_session").map(|name| format!("sso-session {name}"));
    let shared = |key: &str| match &session {
        Some(section) => config.get(section, key),
        None => get(key),
    };
    let Some(start_url) = shared("sso_start_url") else {
        return if session.is_some() { Err("names an sso-session that is not there") } else { Ok(None) };
    };
    let region = shared("sso_region").and_then(Region::parse).ok_or("has no sso_region that is a region")?;
    match (get("sso_account_id"), get("sso_role_name")) {
        (Some(account), Some(role)) => {
            let (start_url, account, role) = (start_url.to_owned(), account.to_owned(), role.to_owned());
            Ok(Some(SsoProfile { start_url, region, account, role }))
        }
        _ => Err("has an SSO login and no sso_account_id or sso_role_name"),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Login {
    start_url: String,
    access_token: SecretText,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleAnswer {
    role_credentials: RoleCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleCredentials {
    access_key_id: String,
    secret_access_key: SecretText,
    session_token: SecretText,
    /// Milliseconds since 1970.
    expiration: i64,
}

impl Aws {
    /// Keys for an SSO profile, from the login in the cache.
    pub(super) async fn sso_keys(&self, sso: &SsoProfile, cache: &Path) -> Result<Keys, AwsError> {
        let SsoProfile { start_url, region, account, role } = sso;
        let Some(login) = login(cache, start_url, self.now()).await else {
            let message = format!("the SSO login at {} has ended, or never was", one_line(start_url, 200));
            return Err(AwsError::new(Class::Denied, "sso-login", message, "run aws sso login"));
        };
        let escaped = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let url = format!(
            "https://portal.sso.{region}.{}/federation/credentials?role_name={}&account_id={}",
            region.partition().suffix(),
            escaped(role),
            escaped(account)
        );
        let failed = |why: String| {
            let message = format!("the SSO portal gave no keys: {why}");
            AwsError::new(Class::Denied, "sso-portal", message, "run aws sso login, and check sso_role_name")
        };
        let request = Request::get(url).header("x-amz-sso_bearer_token", login.access_token.expose());
        let request = request.body(Bytes::new()).map_err(|_| failed("the request cannot be built".to_owned()))?;
        let answer = self.http.send(request).await.map_err(|error| failed(error.to_string()))?;
        if !answer.status.is_success() {
            return Err(failed(format!("HTTP {}", answer.status.as_u16())));
        }
        let read: RoleAnswer =
            serde_json::from_slice(&answer.body).map_err(|_| failed("its response cannot be read".to_owned()))?;
        let RoleCredentials { access_key_id, secret_access_key, session_token, expiration } = read.role_credentials;
        let expires = Timestamp::from_millisecond(expiration).ok();
        Ok(Keys { access_key_id, secret_access_key, session_token: Some(session_token), expires })
    }
}

/// The login for a start URL that holds longest, if one still does. File names are hashes of several things over the
/// versions of the CLI; the content says which it is.
async fn login(cache: &Path, start_url: &str, now: Timestamp) -> Option<Login> {
    let mut best: Option<Login> = None;
    let mut entries = tokio::fs::read_dir(cache).await.ok()?;
    for _ in 0..CACHE_FILES_MAX {
        let Ok(Some(entry)) = entries.next_entry().await else { break };
        let Ok(text) = tokio::fs::read(entry.path()).await.map(Zeroizing::new) else { continue };
        let Ok(login) = serde_json::from_slice::<Login>(&text) else { continue };
        let same = login.start_url.trim_end_matches(['/', '#']) == start_url.trim_end_matches(['/', '#']);
        let longer = best.as_ref().is_none_or(|best| best.expires_at < login.expires_at);
        if same && longer && login.expires_at > now {
            best = Some(login);
        }
    }
    best
}
