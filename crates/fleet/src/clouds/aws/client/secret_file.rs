//! A credentials Secret of a MachineSet: three kinds of content, of which one is not a secret at all.
//!
//! On clusters that use STS, the Secret holds a role and the path of a token file in the machine API's pod
//! (`docs/facts/irsa-machineset.md` section 8).

use super::arn::RoleArn;
use super::ini::Ini;
use super::order::SecretContent;
use super::sts::{Keys, WebIdentity};
use super::variables::Variables;
use trueup_net::SecretText;

/// The keys of the Secret that are looked at.
pub const SECRET_KEYS: [&str; 3] = ["credentials", "aws_access_key_id", "aws_secret_access_key"];

/// Reads a Secret; `value` gives the decoded value of a key.
pub fn read_secret<'s>(value: impl Fn(&str) -> Option<&'s [u8]>, env: &Variables) -> SecretContent {
    let text = |key: &str| {
        let text = std::str::from_utf8(value(key)?).ok()?.trim();
        (!text.is_empty()).then_some(text)
    };
    let [shared, id, secret] = SECRET_KEYS.map(text);
    let from_file = shared.map(|shared| default_profile(shared, env));
    if let Some(SecretContent::StaticKeys(_) | SecretContent::WebIdentity(_)) = from_file {
        return from_file.unwrap_or(SecretContent::Unusable { why: "" });
    }
    match (id, secret) {
        (Some(id), Some(secret)) => SecretContent::StaticKeys(keys(id, secret, None)),
        (Some(_), None) => SecretContent::Unusable { why: "it has aws_access_key_id and no aws_secret_access_key" },
        (None, Some(_)) => SecretContent::Unusable { why: "it has aws_secret_access_key and no aws_access_key_id" },
        (None, None) => from_file.unwrap_or(SecretContent::Unusable { why: "it has neither credentials nor keys" }),
    }
}

fn default_profile(text: &str, env: &Variables) -> SecretContent {
    const SECTION: &str = "default";
    let ini = Ini::parse(text);
    if !ini.has(SECTION) {
        return SecretContent::Unusable { why: "its credentials have no [default] profile" };
    }
    let get = |key| ini.get(SECTION, key);
    // The order of the SDK: keys in a profile come before its role.
    if let (Some(id), Some(secret)) = (get("aws_access_key_id"), get("aws_secret_access_key")) {
        return SecretContent::StaticKeys(keys(id, secret, get("aws_session_token")));
    }
    match (get("role_arn"), get("web_identity_token_file")) {
        (Some(role), Some(file)) => match RoleArn::parse(role) {
            Ok(role) => SecretContent::WebIdentity(WebIdentity::new(role, file, env)),
            Err(_) => SecretContent::Unusable { why: "the role_arn of its [default] profile is not the ARN of a role" },
        },
        (Some(_), None) => SecretContent::Unusable { why: "its [default] profile has a role and no token file" },
        (None, Some(_)) => SecretContent::Unusable { why: "its [default] profile has a token file and no role" },
        (None, None) => SecretContent::Unusable { why: "its [default] profile has neither keys nor a web identity" },
    }
}

fn keys(id: &str, secret: &str, session: Option<&str>) -> Keys {
    let session_token = session.map(SecretText::new);
    Keys { access_key_id: id.to_owned(), secret_access_key: SecretText::new(secret), session_token, expires: None }
}
