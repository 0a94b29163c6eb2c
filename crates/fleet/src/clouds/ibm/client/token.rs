//! An access token, and the account it speaks for.
//!
//! Invariant: a token is renewed when four fifths of its life are over, and never used in its last seconds.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use serde::Deserialize;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::key::AccessToken;
use trueup_net::SecretText;

/// How long before its end a token counts as over: it must still hold when it arrives.
const EARLY: Duration = Duration::from_secs(10);

/// A token with what is known of it.
#[derive(Debug, Clone)]
pub(super) struct HeldToken {
    pub token: AccessToken,
    pub account: String,
    renew_at: Instant,
    ends_at: Instant,
}

/// How fit a held token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fitness {
    Fresh,
    /// It still holds, and a new one is due.
    Due,
    Over,
}

#[derive(Deserialize)]
struct Bought {
    access_token: SecretText,
    expires_in: u64,
}

impl HeldToken {
    /// Reads what IAM answered.
    ///
    /// # Errors
    /// What is wrong with it, without a word of it.
    pub(super) fn read(body: &[u8], asked_at: Instant) -> Result<Self, &'static str> {
        let bought: Bought = serde_json::from_slice(body).map_err(|_| "no access_token and expires_in in it")?;
        Self::of(&bought.access_token, Duration::from_secs(bought.expires_in), asked_at)
    }

    /// A token that holds for a while.
    ///
    /// # Errors
    /// What is wrong with it, without a word of it.
    pub(super) fn of(token: &SecretText, holds_for: Duration, asked_at: Instant) -> Result<Self, &'static str> {
        let account = account_of(token.expose())?;
        let bearer = Zeroizing::new(format!("Bearer {}", token.expose()));
        let mut header = HeaderValue::from_str(&bearer).map_err(|_| "the token cannot be sent as a header")?;
        header.set_sensitive(true);
        let (renew_at, ends_at) = (asked_at + holds_for * 4 / 5, asked_at + holds_for.saturating_sub(EARLY));
        Ok(Self { token: AccessToken(header), account, renew_at, ends_at })
    }

    pub(super) fn fitness(&self, now: Instant) -> Fitness {
        if now >= self.ends_at {
            Fitness::Over
        } else if now >= self.renew_at {
            Fitness::Due
        } else {
            Fitness::Fresh
        }
    }
}

/// The account in the token's claims.
fn account_of(token: &str) -> Result<String, &'static str> {
    #[derive(Deserialize)]
    struct Claims {
        account: Option<Owner>,
    }
    #[derive(Deserialize)]
    struct Owner {
        bss: Option<String>,
    }
    let payload = token.split('.').nth(1).ok_or("the token has no claims")?;
    let payload =
        URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).map_err(|_| "the token's claims are not base64")?;
    let claims: Claims = serde_json::from_slice(&payload).map_err(|_| "the token's claims are not JSON")?;
    let account = claims.account.and_then(|account| account.bss).filter(|account| !account.is_empty());
    account.ok_or("the token names no account (account.bss)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(claims: &str, expires_in: u64) -> Vec<u8> {
        let token = format!("h.{}.s", URL_SAFE_NO_PAD.encode(claims));
        serde_json::json!({ "access_token": token, "expires_in": expires_in }).to_string().into_bytes()
    }

    #[test]
    fn a_token_is_renewed_after_four_fifths_and_over_ten_seconds_early() {
        let start = Instant::now();
        let held = HeldToken::read(&body(r#"{"account":{"bss":"acc"}}"#, 1000), start).unwrap();
        let cases = [
            (0, Fitness::Fresh),
            (799, Fitness::Fresh),
            (800, Fitness::Due),
            (989, Fitness::Due),
            (990, Fitness::Over),
        ];
        for (seconds, expected) in cases {
            assert_eq!(held.fitness(start + Duration::from_secs(seconds)), expected, "after {seconds} s");
        }
        assert_eq!(held.account, "acc");
    }

    #[test]
    fn what_is_no_token_is_refused_without_quoting_it() {
        let cases = [
            ("no account", body(r#"{"iam_id":"x"}"#, 1)),
            ("empty account", body(r#"{"account":{"bss":""}}"#, 1)),
            ("no JSON", body("canary", 1)),
            ("no claims", br#"{"access_token":"canary","expires_in":1}"#.to_vec()),
            ("no token", b"{}".to_vec()),
            ("no end", br#"{"access_token":"h.e30.s"}"#.to_vec()),
        ];
        for (case, body) in cases {
            let error = HeldToken::read(&body, Instant::now()).map(|_| ()).unwrap_err();
            assert!(!error.contains("canary"), "case: {case}");
        }
    }
}
