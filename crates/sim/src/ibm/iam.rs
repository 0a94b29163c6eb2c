//! IAM: tokens for API keys.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::json;

use super::reply::IbmReply;
use super::request::{IbmRequest, pairs};
use super::server::IbmServer;
use super::store::after;

/// Lifetime of IBM Cloud's tokens: one hour.
const LIFE: Duration = Duration::from_secs(3600);

const GRANT: &str = "urn:ibm:params:oauth:grant-type:apikey";
const COMPUTE_GRANT: &str = "urn:ibm:params:oauth:grant-type:cr-token";

impl IbmServer {
    pub(super) fn iam(&mut self, now: Timestamp, request: &IbmRequest) -> IbmReply {
        let form = pairs(&String::from_utf8_lossy(&request.body));
        let field = |name: &str| form.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
        let grant = field("grant_type");
        if request.method != http::Method::POST || ![GRANT, COMPUTE_GRANT].contains(&grant) {
            let body =
                json!({ "errorCode": "BXNIM0120E", "errorMessage": "Property 'grant_type' is missing or invalid." });
            return IbmReply::json(400, &body);
        }
        // A trusted profile is known by its name or id together with the token it trusts.
        let profile = [field("profile_name"), field("profile_id")].concat();
        let key = if grant == GRANT { field("apikey").to_owned() } else { profile + " " + field("cr_token") };
        let Some(account) = self.keys.get(&key).cloned() else {
            let body = json!({
                "errorCode": "BXNIM0415E",
                "errorMessage": "Provided API key could not be found.",
                "context": { "requestId": "sim-request" },
            });
            return IbmReply::json(400, &body).with("transaction-id", "sim-request".to_owned());
        };
        self.tokens_made += 1;
        let end = after(now, LIFE);
        let claims = json!({
            "iam_id": "IBMid-sim",
            "id": format!("IBMid-sim-{}", self.tokens_made),
            "account": { "valid": true, "bss": account },
            "iat": now.as_second(),
            "exp": end.as_second(),
        });
        let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","typ":"JWT"}"#);
        let token = format!("{head}.{}.c2lt", URL_SAFE_NO_PAD.encode(claims.to_string()));
        self.tokens.insert(token.clone(), (end, account));
        let body = json!({
            "access_token": token,
            "refresh_token": "not_supported",
            "token_type": "Bearer",
            "expires_in": LIFE.as_secs(),
            "expiration": end.as_second(),
            "scope": "ibm openid",
        });
        IbmReply::json(200, &body)
    }

    /// The account of the caller's token.
    pub(super) fn caller(&self, now: Timestamp, request: &IbmRequest) -> Option<String> {
        let token = request.authorization.strip_prefix("Bearer ").or(request.authorization.strip_prefix("bearer "))?;
        let (end, account) = self.tokens.get(token.trim())?;
        (*end > now).then(|| account.clone())
    }
}
