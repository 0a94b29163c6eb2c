//! STS: from a token to keys, from keys to a name.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::api::Aws;
use super::arn::RoleArn;
use super::endpoint::Service;
use super::error::{AwsError, Class};
use super::partition::Region;
use super::query::{self, Call, Signer};
use super::token::{self, Claims, Token};
use super::variables::{self, Variables};
use super::xml::{self, Met};
use trueup_net::SecretText;

/// How long a session is asked to last: AWS's own default, which every role allows.
const SESSION_SECONDS: &str = "3600";
/// How long keys have to hold when they are used.
const SPARE: Duration = Duration::from_secs(300);
/// The longest name STS takes.
const SESSION_NAME_MAX: usize = 64;

/// Access keys. Without an expiry they are valid until they are revoked.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    pub access_key_id: String,
    pub secret_access_key: SecretText,
    pub session_token: Option<SecretText>,
    pub expires: Option<Timestamp>,
}

impl Keys {
    /// Whether they hold long enough to be sent: keys are renewed before they end, so that none ends on its way.
    pub(super) fn are_good_at(&self, now: Timestamp) -> bool {
        let needed = now.checked_add(SPARE).unwrap_or(Timestamp::MAX);
        self.expires.is_none_or(|at| at > needed)
    }
}

/// A role and the token that proves who wants it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebIdentity {
    pub role: RoleArn,
    pub token_file: PathBuf,
    pub session_name: String,
}

/// What an exchange brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub keys: Keys,
    /// Who STS says this is: `arn:aws:sts::…:assumed-role/…`. Empty where it doesn't say.
    pub assumed: String,
    pub claims: Claims,
}

/// Who keys belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub account: String,
    pub arn: String,
}

impl WebIdentity {
    pub fn new(role: RoleArn, token_file: impl Into<PathBuf>, env: &Variables) -> Self {
        let session_name = session_name(env.get(variables::SESSION_NAME).unwrap_or("trueup"));
        Self { role, token_file: token_file.into(), session_name }
    }
}

/// A name STS takes: 2 to 64 letters of a few kinds. Others become dashes, because the name is only for CloudTrail.
fn session_name(wanted: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_=,.@-+".contains(letter);
    let name: String = wanted.chars().map(|letter| if allowed(letter) { letter } else { '-' }).collect();
    let name: String = name.chars().take(SESSION_NAME_MAX).collect();
    if name.len() < 2 { "trueup".to_owned() } else { name }
}

impl Aws {
    /// Trades the token a file holds now for keys.
    ///
    /// # Errors
    /// The file holds no token, the role is of another partition, or STS says no.
    pub async fn exchange(&self, identity: &WebIdentity, region: &Region) -> Result<Session, AwsError> {
        let WebIdentity { role, token_file, session_name } = identity;
        fits_partition(role, region)?;
        let token = token::read(token_file).await?;
        self.exchange_token(role, session_name, token, region).await
    }

    /// Trades a token for keys.
    ///
    /// # Errors
    /// The role is of another partition, or STS says no.
    pub(in super::super) async fn exchange_token(
        &self,
        role: &RoleArn,
        session_name: &str,
        token: Token,
        region: &Region,
    ) -> Result<Session, AwsError> {
        fits_partition(role, region)?;
        let call = Call {
            service: Service::Sts,
            action: "AssumeRoleWithWebIdentity",
            region,
            signer: Signer::Unsigned,
            parameters: vec![
                ("RoleArn".to_owned(), role.as_str()),
                ("RoleSessionName".to_owned(), session_name),
                ("DurationSeconds".to_owned(), SESSION_SECONDS),
            ],
            secrets: vec![("WebIdentityToken", &token.text)],
        };
        let body = self.call(&call).await.map_err(|error| with_claims(error, role, &token.claims))?;
        let read = read_session(&call, &body, "AssumeRoleWithWebIdentityRe")?;
        Ok(Session { claims: token.claims, ..read })
    }

    /// Asks whose keys these are. Needs no permission.
    ///
    /// # Errors
    /// The keys are not, or no longer, good.
    pub async fn caller(&self, keys: &Keys, region: &Region) -> Result<Caller, AwsError> {
        let (service, signer) = (Service::Sts, Signer::Keys(keys));
        let action = "GetCallerIdentity";
        let call = Call { service, action, region, signer, parameters: vec![], secrets: vec![] };
        let body = self.call(&call).await?;
        let mut caller = Caller { account: String::new(), arn: String::new() };
        query::read(&call, &body, "GetCallerIdentityResponse", |met| {
            let Met::Text { path, text } = met else { return };
            if xml::is(path, &["GetCallerIdentityResult", "Arn"]) {
                caller.arn = trueup_net::one_line(text, 300);
            } else if xml::is(path, &["GetCallerIdentityResult", "Account"]) {
                caller.account = trueup_net::one_line(text, 40);
            }
        })?;
        if caller.arn.is_empty() {
            return Err(AwsError::unreadable(service, action, "it names no caller"));
        }
        Ok(caller)
    }
}

fn fits_partition(role: &RoleArn, region: &Region) -> Result<(), AwsError> {
    let (of_role, of_region) = (role.partition(), region.partition().as_str());
    if of_role == of_region {
        return Ok(());
    }
    let message = format!("the role {role} is of partition {of_role}, and {region} is in {of_region}");
    Err(AwsError::new(Class::Denied, "role-partition", message, "name a role of the region's partition"))
}

/// A wrong audience is hard to find (facts section 14), so a rejection shows it.
fn with_claims(error: AwsError, role: &RoleArn, claims: &Claims) -> AwsError {
    match error.class {
        Class::Denied => {
            let message = format!("{} (role {role}; the token has {})", error.message, claims.line());
            AwsError { message, ..error }
        }
        Class::TokenUnreadable | Class::Transient => error,
    }
}

/// Reads keys out of `<stem>sponse/<stem>sult/Credentials`.
fn read_session(call: &Call<'_>, body: &[u8], stem: &str) -> Result<Session, AwsError> {
    let result = format!("{stem}sult");
    let (mut id, mut secret, mut token, mut expires, mut assumed) = Default::default();
    query::read(call, body, &format!("{stem}sponse"), |met| {
        let Met::Text { path, text } = met else { return };
        let held = |name| xml::is(path, &[&result, "Credentials", name]);
        if held("AccessKeyId") {
            id = Some(text.to_owned());
        } else if held("SecretAccessKey") {
            secret = Some(SecretText::new(text));
        } else if held("SessionToken") {
            token = Some(SecretText::new(text));
        } else if held("Expiration") {
            expires = text.parse::<Timestamp>().ok();
        } else if xml::is(path, &[&result, "AssumedRoleUser", "Arn"]) {
            assumed = trueup_net::one_line(text, 300);
        }
    })?;
    let whole = |id: Option<String>, secret: Option<SecretText>, token: Option<SecretText>| {
        let id = id.filter(|id: &String| !id.is_empty())?;
        let keys = Keys { access_key_id: id, secret_access_key: secret?, session_token: Some(token?), expires };
        Some(keys)
    };
    let keys = whole(id, secret, token);
    let keys = keys.ok_or_else(|| AwsError::unreadable(call.service, call.action, "it holds no keys"))?;
    Ok(Session { keys, assumed, claims: Claims::default() })
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(…)")
    }
}
