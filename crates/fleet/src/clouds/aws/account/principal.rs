//! Who asks AWS for a cluster: the order of `client`, with the Secret an object names.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde::Deserialize;
use zeroize::{Zeroize as _, Zeroizing};

use super::AwsCache;
use super::cluster::{get_bytes, transient};
use crate::clouds::aws::client::{
    AwsError, Choice, Class, Decision, Irsa, NamedSecret, Principal, ProfileError, Profiles, Refusal, SecretContent,
    Step, Variables, Went, Workstation, decide, read_secret,
};
use crate::connect::is_object_name;
use trueup_net::SecretText;

/// Where an object says its credentials are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsSource {
    /// It says nothing: the environment, or the user's own.
    Unnamed,
    Secret {
        namespace: String,
        name: String,
        /// Whose environment comes before it.
        beside: Beside,
    },
    /// A role that a pod takes on with a token of its own: it can't be taken on here.
    PodsRole,
}

/// Whose environment comes before a Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// This process's.
    Process,
    /// A pod's without a web identity: the Secret's name says so.
    Pod,
}

impl AwsSource {
    /// Reads `secret/<namespace>/<name>`, `pod` and `pod/secret/<namespace>/<name>`; empty names none.
    ///
    /// # Errors
    /// It is none of them.
    pub fn parse(text: &str) -> Result<Self, AwsError> {
        if text.is_empty() || text == "environment" {
            return Ok(Self::Unnamed);
        }
        if text == "pod" {
            return Ok(Self::PodsRole);
        }
        let (rest, beside) = match text.strip_prefix("pod/") {
            Some(rest) => (rest, Beside::Pod),
            None => (text, Beside::Process),
        };
        let named = rest.strip_prefix("secret/").and_then(|rest| rest.split_once('/'));
        match named.filter(|(namespace, name)| is_object_name(namespace) && is_object_name(name)) {
            Some((namespace, name)) => {
                Ok(Self::Secret { namespace: namespace.to_owned(), name: name.to_owned(), beside })
            }
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
pub(super) async fn of(cache: &AwsCache, client: &kube::Client, source: AwsSource) -> Result<Principal, AwsError> {
    let own;
    let env = match &source {
        AwsSource::Secret { beside: Beside::Pod, .. } => {
            own = cache.env.without_web_identity();
            &own
        }
        AwsSource::Secret { beside: Beside::Process, .. } | AwsSource::Unnamed => &cache.env,
        AwsSource::PodsRole => return in_place_of_a_pod(&cache.env).await,
    };
    let unnamed = source == AwsSource::Unnamed;
    let found = match (&source, Irsa::of(env)) {
        // The environment decides alone; the Secret is not even read.
        (_, Irsa::Complete(_) | Irsa::Partial(_) | Irsa::BadRole) | (AwsSource::Unnamed | AwsSource::PodsRole, _) => {
            None
        }
        (AwsSource::Secret { namespace, name, .. }, Irsa::Absent { .. }) => read(client, namespace, name, env).await?,
    };
    let named = match (&source, &found) {
        (AwsSource::Unnamed | AwsSource::PodsRole, _) => NamedSecret::NotNamed,
        (AwsSource::Secret { .. }, None) => NamedSecret::Absent,
        (AwsSource::Secret { .. }, Some(found)) => NamedSecret::Held(found.content.clone()),
    };
    let workstation = workstation(env).await;
    let decision = decide(env, named, &workstation);
    let choice = match (decision.outcome, &workstation) {
        (Ok(choice), _) => choice,
        (Err(Refusal::NotNamed { .. }), Workstation::Own { profile: Some(profile) }) if unnamed => {
            Choice::Profile(profile.clone())
        }
        (Err(refusal), _) => return Err(refused(refusal)),
    };
    match choice {
        Choice::Irsa(identity) => Ok(Principal::WebIdentity(identity)),
        Choice::SecretKeys(keys) => {
            let SecretFound { uid, version, content: _ } =
                found.expect("keys of a Secret were chosen because it was read");
            Ok(Principal::SecretKeys { uid, version, keys })
        }
        Choice::Profile(name) => profile(env, name).await,
    }
}

/// Who asks for a pod whose token is not here: this process's own role, or the user's own profile.
///
/// # Errors
/// There is neither.
async fn in_place_of_a_pod(env: &Variables) -> Result<Principal, AwsError> {
    let (_, found) = of_environment(env).await;
    match found {
        Some(found) => found,
        None => Err(refused(Refusal::TokenElsewhere)),
    }
}

/// Who asks where no object names a Secret: each step of the order, and its end. Nothing without a source of credentials.
pub(super) async fn of_environment(env: &Variables) -> (Vec<Step>, Option<Result<Principal, AwsError>>) {
    let workstation = workstation(env).await;
    let Decision { mut steps, outcome } = decide(env, NamedSecret::NotNamed, &workstation);
    match (outcome, workstation) {
        (Ok(Choice::Irsa(identity)), _) => (steps, Some(Ok(Principal::WebIdentity(identity)))),
        (Ok(Choice::Profile(name)), _) | (Err(Refusal::NotNamed { .. }), Workstation::Own { profile: Some(name) }) => {
            // That no Secret is named is no fault of the environment.
            steps.retain(|step| step.went != Went::Refused);
            steps.push(Step { message: format!("workstation: your own profile {name:?}"), went: Went::Taken });
            (steps, Some(profile(env, name).await))
        }
        (Err(Refusal::NotNamed { pod_identity: false }) | Ok(Choice::SecretKeys(_)), _) => {
            steps.retain(|step| step.went != Went::Refused);
            (steps, None)
        }
        (Err(refusal), _) => (steps, Some(Err(refused(refusal)))),
    }
}

fn refused(refusal: Refusal) -> AwsError {
    let (class, code) = match refusal {
        Refusal::Partial(missing) => (Class::Denied, missing.code()),
        Refusal::BadRole => (Class::Denied, "role-arn"),
        Refusal::NotNamed { pod_identity: true } => (Class::Denied, "pod-identity"),
        Refusal::NotNamed { pod_identity: false } => (Class::Denied, "credentials-none"),
        Refusal::SecretAbsent => (Class::Denied, "secret-missing"),
        Refusal::SecretInvalid { .. } => (Class::Denied, "secret-invalid"),
        Refusal::TokenElsewhere => (Class::TokenUnreadable, "token-elsewhere"),
    };
    AwsError::new(class, code, refusal.message(), refusal.remedy())
}

/// A pod has no profile.
async fn workstation(env: &Variables) -> Workstation {
    if env.get("KUBERNETES_SERVICE_HOST").is_some() {
        return Workstation::Pod;
    }
    let Some(profiles) = Profiles::of(env) else { return Workstation::Own { profile: None } };
    let profile = profiles.has(&profiles.current).await.then(|| profiles.current.clone());
    Workstation::Own { profile }
}

async fn profile(env: &Variables, name: String) -> Result<Principal, AwsError> {
    let gone = || ProfileError::Missing { name: name.clone(), files: "the home folder".to_owned() };
    let unusable = |error: ProfileError| {
        broken("profile", error.to_string(), "name another with AWS_PROFILE, or write ~/.aws/config")
    };
    let profiles = Profiles::of(env).ok_or_else(|| unusable(gone()))?;
    let profile = Box::new(profiles.profile(&name).await.map_err(unusable)?);
    Ok(Principal::Profile { name, profile, profiles })
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
