//! STS: AssumeRoleWithWebIdentity and GetCallerIdentity. IAM: GetRole.

#![expect(clippy::wildcard_enum_match_arm, reason = "JSON has six types and a match needs one or two")]

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::answer::{AwsAnswer, Refused, good, tag};
use super::signature::{Signed, mac};
use super::{ACCOUNT, KeyState, Policy, State};

/// Signing key of all simulated issuers.
const ISSUERS_KEY: &[u8] = b"the simulated issuers' key";
const ACTION: &str = "AssumeRoleWithWebIdentity";
/// The same, as policies name it.
const ACTION_IN_POLICIES: &str = "sts:AssumeRoleWithWebIdentity";

/// Returns a signed token.
pub(super) fn mint(issuer: &str, audience: &str, subject: &str, expires: Timestamp) -> String {
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let claims = json!({ "iss": issuer, "aud": [audience], "sub": subject, "exp": expires.as_second() });
    let front = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    format!("{front}.{}", URL_SAFE_NO_PAD.encode(mac(ISSUERS_KEY, front.as_bytes())))
}

pub(super) fn assume_role_with_web_identity(
    state: &mut State,
    form: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<AwsAnswer, Refused> {
    let parameter = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let (role, session, token) = (parameter("RoleArn"), parameter("RoleSessionName"), parameter("WebIdentityToken"));
    if !(2..=64).contains(&session.len()) {
        return Err(Refused::new(400, "ValidationError", "roleSessionName failed to satisfy constraint"));
    }
    let claims = genuine(token).ok_or_else(|| {
        Refused::new(400, "InvalidIdentityToken", "The web identity token that was passed could not be validated")
    })?;
    let claim = |name: &str| claims[name].as_str().unwrap_or_default().to_owned();
    let audiences: Vec<String> = match &claims["aud"] {
        Value::Array(all) => all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        one => one.as_str().map(str::to_owned).into_iter().collect(),
    };
    if claims["exp"].as_i64().is_none_or(|expires| expires <= now.as_second()) {
        let message = "Token expired: current date/time must be before the expiration date/time";
        return Err(Refused::new(400, "ExpiredTokenException", message));
    }
    let not_allowed = || Refused::new(403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity");
    let trust = state.roles.get(role).ok_or_else(not_allowed)?;
    if trust.issuer != claim("iss") {
        let message = format!("No OpenIDConnect provider found in your account for {}", claim("iss"));
        return Err(Refused::new(400, "InvalidIdentityToken", message));
    }
    if !audiences.iter().any(|one| trust.audiences.contains(one)) {
        return Err(Refused::new(400, "InvalidIdentityToken", "Incorrect token audience"));
    }
    if trust.subject != claim("sub") {
        return Err(not_allowed());
    }
    Ok(session_for(state, role, session, &claim("sub"), now))
}

fn session_for(state: &mut State, role: &str, session: &str, subject: &str, now: Timestamp) -> AwsAnswer {
    state.sessions += 1;
    let number = state.sessions;
    let name = role.rsplit('/').next().unwrap_or_default();
    let partition = role.split(':').nth(1).unwrap_or_default();
    let arn = format!("arn:{partition}:sts::{ACCOUNT}:assumed-role/{name}/{session}");
    let (id, secret) = (format!("ASIASIM{number:013}"), format!("sim-secret-canary-{number}"));
    let token = format!("sim-session-canary-{number}");
    let expires = now.checked_add(Duration::from_secs(3600)).unwrap_or(Timestamp::MAX);
    let keys = KeyState {
        secret: secret.clone(),
        session_token: Some(token.clone()),
        arn: arn.clone(),
        expires: Some(expires),
        policy: Policy::Describes,
    };
    state.keys.insert(id.clone(), keys);
    let credentials = [
        tag("AccessKeyId", &id),
        tag("SecretAccessKey", &secret),
        tag("SessionToken", &token),
        tag("Expiration", &expires.to_string()),
    ];
    let user = format!("{}{}", tag("Arn", &arn), tag("AssumedRoleId", &format!("AROASIM:{session}")));
    let inside = format!(
        "<Credentials>{}</Credentials><AssumedRoleUser>{user}</AssumedRoleUser>{}",
        credentials.concat(),
        tag("SubjectFromWebIdentityToken", subject)
    );
    good(ACTION, "sts", &inside)
}

/// The claims of a token with a valid signature.
fn genuine(token: &str) -> Option<Value> {
    let (front, signature) = token.rsplit_once('.')?;
    if URL_SAFE_NO_PAD.decode(signature).ok()? != mac(ISSUERS_KEY, front.as_bytes()) {
        return None;
    }
    let (_, claims) = front.split_once('.')?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
}

/// A role with its trust policy, as IAM encodes it.
pub(super) fn get_role(state: &State, form: &BTreeMap<String, String>) -> Result<AwsAnswer, Refused> {
    let name = form.get("RoleName").map(String::as_str).unwrap_or_default();
    let found = state.roles.iter().find(|(arn, _)| arn.rsplit('/').next() == Some(name));
    let absent = || Refused::new(404, "NoSuchEntity", format!("The role with name {name} cannot be found."));
    let (arn, trust) = found.ok_or_else(absent)?;
    let provider = trust.issuer.trim_start_matches("https://");
    let mut equals = serde_json::Map::new();
    equals.insert(format!("{provider}:aud"), json!(trust.audiences));
    equals.insert(format!("{provider}:sub"), json!(trust.subject));
    let policy = json!({ "Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Action": ACTION_IN_POLICIES, "Condition": { "StringEquals": equals },
        "Principal": { "Federated": format!("arn:aws:iam::{ACCOUNT}:oidc-provider/{provider}") },
    }] });
    let policy = policy.to_string();
    let document = percent_encoding::utf8_percent_encode(&policy, percent_encoding::NON_ALPHANUMERIC);
    let inside = format!("{}{}", tag("Arn", arn), tag("AssumeRolePolicyDocument", &document.to_string()));
    Ok(good("GetRole", "iam", &format!("<Role>{inside}</Role>")))
}

pub(super) fn get_caller_identity(signed: &Signed) -> AwsAnswer {
    let inside = [tag("Arn", &signed.keys.arn), tag("UserId", "AIDASIM"), tag("Account", ACCOUNT)].concat();
    good("GetCallerIdentity", "sts", &inside)
}
