//! Who asks AWS for a cluster: the order of `client`, with the Secret an object names.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde::Deserialize;
use zeroize::{Zeroize as _, Zeroizing};

use super::AwsCache;
use super::cluster::{get_bytes, transient};
use crate::clouds::aws::client::{
    AwsError, Choice, Class, Decision, Here, NamedSecret, Place, Principal, Refusal, SecretContent, Step, Variables,
    decide, read_secret,
};
use crate::connect::is_object_name;
use trueup_net::SecretText;

/// Whose credentials ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsSource {
    /// This machine's own login.
    Own,
    /// The keys of a Secret that an object names.
    Secret { namespace: String, name: String },
}

impl AwsSource {
    /// Reads `own` and `secret/<namespace>/<name>`; empty is this machine's own.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(text: &str) -> Result<Self, AwsError> {
        if text.is_empty() || text == "own" {
            return Ok(Self::Own);
        }
        let named = text.strip_prefix("secret/").and_then(|rest| rest.split_once('/'));
        match named.filter(|(namespace, name)| is_object_name(namespace) && is_object_name(name)) {
            Some((namespace, name)) => Ok(Self::Secret { namespace: namespace.to_owned(), name: name.to_owned() }),
            None => Err(broken("credentials", "the credentials are named in an unknown form".to_owned(), "")),
        }
    }
}

/// A failure that only a person can fix.
pub(super) fn broken(code: &str, message: String, remedy: &str) -> AwsError {
    AwsError::new(Class::Denied, code, message, remedy)
}

/// A Secret as it was read.
struct SecretFound {
    uid: String,
    version: String,
    content: SecretContent,
}

/// Finds out who asks.
///
/// # Errors
/// No source of credentials, or the Secret cannot be read.
pub(super) async fn of(cache: &AwsCache, client: &kube::Client, source: &AwsSource) -> Result<Principal, AwsError> {
    match source {
        AwsSource::Own => of_environment(cache).await.1,
        AwsSource::Secret { namespace, name } => secret_keys(cache, client, namespace, name).await,
    }
}

/// The keys of a Secret. What this process would use for itself is not looked at.
async fn secret_keys(
    cache: &AwsCache,
    client: &kube::Client,
    namespace: &str,
    name: &str,
) -> Result<Principal, AwsError> {
    let env = cache.env.without_web_identity();
    let found = read(client, namespace, name, &env).await?;
    let named = found.as_ref().map_or(NamedSecret::Absent, |found| NamedSecret::Held(found.content.clone()));
    let choice = decide(&env, named, &here(cache).await).outcome.map_err(refused)?;
    match choice {
        Choice::Irsa(identity) => Ok(Principal::WebIdentity(identity)),
        Choice::SecretKeys(keys) => {
            let SecretFound { uid, version, content: _ } =
                found.expect("keys of a Secret were chosen because it was read");
            Ok(Principal::SecretKeys { uid, version, keys })
        }
        Choice::OwnLogin => Ok(Principal::Own(cache.own.clone())),
    }
}

/// This machine's own login: this process's role, or what aws-config finds. Each step of the order, and its end.
pub(super) async fn of_environment(cache: &AwsCache) -> (Vec<Step>, Result<Principal, AwsError>) {
    let Decision { steps, outcome } = decide(&cache.env, NamedSecret::NotNamed, &here(cache).await);
    let principal = match outcome {
        Ok(Choice::Irsa(identity)) => Ok(Principal::WebIdentity(identity)),
        Ok(Choice::OwnLogin | Choice::SecretKeys(_)) => Ok(Principal::Own(cache.own.clone())),
        Err(refusal) => Err(refused(refusal)),
    };
    (steps, principal)
}

fn refused(refusal: Refusal) -> AwsError {
    let (class, code) = match refusal {
        Refusal::Partial(missing) => (Class::Denied, missing.code()),
        Refusal::BadRole => (Class::Denied, "role-arn"),
        Refusal::SecretAbsent => (Class::Denied, "secret-missing"),
        Refusal::SecretInvalid { .. } => (Class::Denied, "secret-invalid"),
        Refusal::TokenElsewhere => (Class::TokenUnreadable, "token-elsewhere"),
    };
    AwsError::new(class, code, refusal.message(), refusal.remedy())
}

/// This machine, and what its login is configured as.
async fn here(cache: &AwsCache) -> Here {
    let is_pod = cache.env.get("KUBERNETES_SERVICE_HOST").is_some();
    let place = if is_pod { Place::Pod } else { Place::Workstation };
    Here { place, login: cache.own.configured().await }
}

#[derive(Deserialize)]
struct SecretWire {
    metadata: MetadataWire,
    data: Option<BTreeMap<String, SecretText>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetadataWire {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    resource_version: String,
}

/// Reads a Secret by its name; nothing when it is not there.
async fn read(
    client: &kube::Client,
    namespace: &str,
    name: &str,
    env: &Variables,
) -> Result<Option<SecretFound>, AwsError> {
    let path = format!("/api/v1/namespaces/{namespace}/secrets/{name}");
    let what = format!("reading Secret {namespace}/{name}");
    let forbidden = || {
        let message = format!("the Secret {namespace}/{name} may not be read");
        broken("secret-forbidden", message, "ask for the permission to get it")
    };
    let Some(body) = get_bytes(client, &path, &what, forbidden).await? else { return Ok(None) };
    let decoded = serde_json::from_slice::<SecretWire>(&body);
    if let Ok(mut buffer) = body.try_into_mut() {
        buffer.as_mut().zeroize();
    }
    let SecretWire { metadata, data } = decoded.map_err(|_| transient(format!("{what}: it has another shape")))?;
    let values: BTreeMap<String, Zeroizing<Vec<u8>>> = data
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| {
            let bytes = base64::engine::general_purpose::STANDARD.decode(value.expose()).ok()?;
            Some((key, Zeroizing::new(bytes)))
        })
        .collect();
    let content = read_secret(|key| values.get(key).map(|value| value.as_slice()), env);
    let MetadataWire { uid, resource_version: version } = metadata;
    Ok(Some(SecretFound { uid, version, content }))
}
