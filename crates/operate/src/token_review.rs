//! Who a token is, in the words of the API server: one SelfSubjectReview, sent with that token alone.
//!
//! Invariants:
//! - the token goes to the server of the named context and nowhere else, and only over a verified or local connection;
//! - no certificate, plugin or impersonation of the kubeconfig is used beside it;
//! - nothing of the token or of an answer that is no review is repeated.

use std::collections::BTreeMap;

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::session::{Session, wall_clock};
use trueup_fleet::connect::send::{self, ANSWER_TIMEOUT, BODY_MAX};
use trueup_fleet::connect::{
    Access, Bearer, Connection, Connector as _, Impersonation, KubeconfigConnector, TlsTrust, classify,
};
use trueup_net::SecretText;

const PATH: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// What the API server says of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reviewed {
    User(ReviewedUser),
    /// 401: the server does not take it.
    Refused,
    /// Not asked, or no review came back.
    Unknown(String),
}

/// `status.userInfo` of a review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ReviewedUser {
    pub username: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Session {
    /// Asks the API server of a context who a token is.
    pub async fn review_token(&self, context: &str, token: SecretText) -> Reviewed {
        let access = match self.read_kubeconfig().and_then(|kubeconfig| kubeconfig.access(context)) {
            Ok(access) => access,
            Err(error) => return Reviewed::Unknown(error.to_string()),
        };
        let access = Access {
            bearer: Bearer::Token(token),
            certificate: None,
            impersonation: Impersonation::default(),
            ..access
        };
        let (none, env) = (Impersonation::default(), self.env.clone());
        let connector = KubeconfigConnector::new(access, none, env, &self.plugins, wall_clock());
        match connector.connect().await {
            Ok(connection) => review(&connection).await,
            Err(error) => Reviewed::Unknown(error.to_string()),
        }
    }
}

async fn review(connection: &Connection) -> Reviewed {
    match connection.tls {
        TlsTrust::Verified | TlsTrust::Loopback | TlsTrust::InProcess => {}
        TlsTrust::Unverified | TlsTrust::Cleartext => {
            return Reviewed::Unknown(format!("not sent: TLS certificate of {} is not verified", connection.server));
        }
    }
    let what = "asking for a SelfSubjectReview";
    let review = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
    match send::post_json(&connection.client, PATH, &review, BODY_MAX, ANSWER_TIMEOUT).await {
        Err(error) => Reviewed::Unknown(format!("{what}: {error}")),
        Ok((StatusCode::UNAUTHORIZED, _)) => Reviewed::Refused,
        Ok((status, body)) if status.is_success() => read(&body),
        Ok((status, body)) => {
            Reviewed::Unknown(classify::status(status, classify::reason(&body).as_deref(), what).message.to_string())
        }
    }
}

fn read(body: &[u8]) -> Reviewed {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Status {
        user_info: ReviewedUser,
    }
    #[derive(Deserialize)]
    struct Review {
        status: Status,
    }
    match serde_json::from_slice::<Review>(body) {
        Ok(review) => Reviewed::User(review.status.user_info),
        Err(_) => Reviewed::Unknown("the API server returned no SelfSubjectReview".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_without_a_user_is_unknown() {
        let known = br#"{"status":{"userInfo":{"username":"jane","groups":["a"],"extra":{"k":["v"]}}}}"#;
        let extra = BTreeMap::from([("k".to_owned(), vec!["v".to_owned()])]);
        let jane =
            ReviewedUser { username: "jane".to_owned(), uid: String::new(), groups: vec!["a".to_owned()], extra };
        let unknown = Reviewed::Unknown("the API server returned no SelfSubjectReview".to_owned());
        let cases = [
            ("a user", &known[..], Reviewed::User(jane)),
            ("no status", br#"{}"#, unknown.clone()),
            ("another shape", br#"{"status":{"userInfo":{"username":5}}}"#, unknown.clone()),
            ("no JSON", b"<html>", unknown),
        ];
        for (case, body, expected) in cases {
            assert_eq!(read(body), expected, "case: {case}");
        }
    }
}
