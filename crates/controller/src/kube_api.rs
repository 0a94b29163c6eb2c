//! What the controller asks of the cluster it runs in, besides Leases and Proposals.
//!
//! Invariants: a question without an answer is never a yes: the stop switch counts as set, the admission policy as
//! missing, an approver's right as denied.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use k8s_openapi::api::core::v1::{ConfigMap, ObjectReference, Secret};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Api;
use kube::api::PostParams;
use kube::core::ObjectMeta;

use crate::api::{KEY_SECRET, KEY_SECRET_FIELD, Proposal, STOP_CONFIG_MAP};
use crate::held::Held;
use crate::lease::RETRY_PERIOD;
use trueup_core::engine::{Action, MarkKey};

/// The policy and its binding that check Approvals (`deploy/base/admission.yaml`).
const ADMISSION_POLICY: &str = "approvals.trueup.dev";
/// How long one of these requests may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Group of every user the API server knows.
const AUTHENTICATED: &str = "system:authenticated";

/// The cluster the controller runs in.
#[derive(Clone)]
pub struct KubeApi {
    pub client: kube::Client,
    pub namespace: String,
    /// The pod, for Events.
    pub pod: String,
}

/// Why the hub cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("Secret {namespace}/{KEY_SECRET}: {why}")]
    Key { namespace: String, why: String },
    #[error("no answer within {} s", REQUEST_TIMEOUT.as_secs())]
    TimedOut,
    #[error("{0}")]
    Refused(String),
}

/// What an API server answered, in one line without a body.
pub(crate) fn said(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return format!("{} ({})", status.reason.to_lowercase(), status.code);
    }
    "the request failed".to_owned()
}

/// Whether another writer was faster.
pub(crate) fn is_conflict(error: &kube::Error) -> bool {
    if let kube::Error::Api(status) = error { status.code == 409 } else { false }
}

async fn within<T>(request: impl Future<Output = Result<T, kube::Error>>) -> Result<T, ApiError> {
    let answered = tokio::time::timeout(REQUEST_TIMEOUT, request).await;
    answered.map_err(|_| ApiError::TimedOut)?.map_err(|error| ApiError::Refused(said(&error)))
}

impl KubeApi {
    fn namespaced<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The key of plan marks that the replicas share. The first replica puts it into its Secret.
    ///
    /// # Errors
    /// The Secret cannot be read or written, or does not hold a key.
    pub async fn shared_key(&self) -> Result<Arc<MarkKey>, ApiError> {
        let failed = |why: String| ApiError::Key { namespace: self.namespace.clone(), why };
        let api: Api<Secret> = self.namespaced();
        // Twice: another replica may write it between the read and the write.
        for _ in 0..2 {
            let found = within(api.get_opt(KEY_SECRET)).await.map_err(|error| failed(error.to_string()))?;
            let bytes = found.as_ref().and_then(|secret| secret.data.as_ref()?.get(KEY_SECRET_FIELD));
            if let Some(ByteString(bytes)) = bytes {
                let key = MarkKey::shared(bytes);
                return key.map(Arc::new).ok_or_else(|| failed(format!("{KEY_SECRET_FIELD} does not have 32 bytes")));
            }
            let key = MarkKey::random().map_err(|error| failed(error.to_string()))?;
            let data = [(KEY_SECRET_FIELD.to_owned(), ByteString(key.to_vec()))].into();
            let is_new = found.is_none();
            let mut secret = found.unwrap_or_default();
            secret.metadata.name = Some(KEY_SECRET.to_owned());
            secret.data = Some(data);
            let params = PostParams::default();
            let written = match is_new {
                true => within(api.create(&params, &secret)).await,
                false => within(api.replace(KEY_SECRET, &params, &secret)).await,
            };
            if let Err(ApiError::Refused(why)) = written.map(drop)
                && !why.contains("(409)")
            {
                return Err(failed(why));
            }
        }
        Err(failed("it is written by another replica; start again".to_owned()))
    }

    /// The name the API server knows this process by.
    ///
    /// # Errors
    /// The API server does not say.
    pub async fn own_name(&self) -> Result<String, ApiError> {
        let api: Api<SelfSubjectReview> = Api::all(self.client.clone());
        let review = within(api.create(&PostParams::default(), &SelfSubjectReview::default())).await?;
        let name = review.status.and_then(|status| status.user_info?.username);
        name.ok_or_else(|| ApiError::Refused("the review names no user".to_owned()))
    }

    /// Whether the API server checks who creates an Approval. Without that, anyone who may create one could name anyone.
    ///
    /// # Errors
    /// The policy or its binding is missing, or cannot be read.
    pub async fn check_admission(&self) -> Result<(), String> {
        let policies: Api<ValidatingAdmissionPolicy> = Api::all(self.client.clone());
        let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(self.client.clone());
        let name = ADMISSION_POLICY;
        let missing = |kind: &str| format!("{kind} {name} is missing; apply deploy/base/admission.yaml");
        let failed = |kind: &str, error: ApiError| format!("{kind} {name} cannot be read: {error}");
        let policy = within(policies.get_opt(name)).await;
        policy
            .map_err(|error| failed("ValidatingAdmissionPolicy", error))?
            .ok_or_else(|| missing("ValidatingAdmissionPolicy"))?;
        let kind = "ValidatingAdmissionPolicyBinding";
        let binding = within(bindings.get_opt(name)).await.map_err(|error| failed(kind, error))?;
        let binding = binding.ok_or_else(|| missing(kind))?;
        let actions = binding.spec.validation_actions;
        match actions.iter().any(|action| action == "Deny") {
            true => Ok(()),
            false => Err(format!("{kind} {name} does not deny; apply deploy/base/admission.yaml")),
        }
    }

    /// Why a user may not do in this cluster what actions do here; nothing when they may.
    ///
    /// The groups of a user are not known here: rights that come from a group other than `system:authenticated` are not
    /// seen.
    pub async fn denied(&self, user: &str, actions: &[&Action]) -> Option<String> {
        let api: Api<SubjectAccessReview> = Api::all(self.client.clone());
        for action in actions {
            let (group, version) =
                action.target.api_version.split_once('/').unwrap_or(("", &action.target.api_version));
            for verb in action.verb().rbac() {
                let attributes = ResourceAttributes {
                    group: Some(group.to_owned()),
                    version: Some(version.to_owned()),
                    resource: Some(plural(&action.target.kind)),
                    namespace: action.target.namespace.clone(),
                    name: Some(action.target.name.clone()),
                    verb: Some((*verb).to_owned()),
                    ..ResourceAttributes::default()
                };
                let spec = SubjectAccessReviewSpec {
                    user: Some(user.to_owned()),
                    groups: Some(vec![AUTHENTICATED.to_owned()]),
                    resource_attributes: Some(attributes),
                    ..SubjectAccessReviewSpec::default()
                };
                let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
                let what = format!("{verb} {} {}", action.target.kind, action.target.place());
                match within(api.create(&PostParams::default(), &review)).await {
                    Ok(review) if review.status.as_ref().is_some_and(|status| status.allowed) => {}
                    Ok(_) => return Some(format!("{user} may not {what}")),
                    Err(error) => return Some(format!("whether {user} may {what} is unknown: {error}")),
                }
            }
        }
        None
    }

    /// Writes an Event on a Proposal. What cannot be written is logged.
    pub async fn event(&self, proposal: &Proposal, reason: &str, note: &str, is_good: bool) {
        let meta = &proposal.metadata;
        let regarding = ObjectReference {
            api_version: Some(proposal.api_version.clone()),
            kind: Some(proposal.kind.clone()),
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            uid: meta.uid.clone(),
            ..ObjectReference::default()
        };
        let event = Event {
            metadata: ObjectMeta {
                generate_name: Some(format!("{}-", meta.name.clone().unwrap_or_default())),
                namespace: Some(self.namespace.clone()),
                ..ObjectMeta::default()
            },
            action: Some(reason.to_owned()),
            event_time: Some(MicroTime(wall())),
            note: Some(note.chars().take(NOTE_MAX).collect()),
            reason: Some(reason.to_owned()),
            regarding: Some(regarding),
            reporting_controller: Some("trueup.dev/controller".to_owned()),
            reporting_instance: Some(self.pod.clone()),
            type_: Some(if is_good { "Normal" } else { "Warning" }.to_owned()),
            ..Event::default()
        };
        let api: Api<Event> = self.namespaced();
        if let Err(error) = within(api.create(&PostParams::default(), &event)).await {
            tracing::debug!(%error, reason, "cannot write Event");
        }
    }

    /// Reads the stop switch until it is aborted.
    pub async fn follow_stop(&self, held: Arc<Held>) {
        loop {
            self.read_stop(&held).await;
            tokio::time::sleep(RETRY_PERIOD).await;
        }
    }

    /// Reads the stop switch once.
    pub async fn read_stop(&self, held: &Held) {
        let api: Api<ConfigMap> = self.namespaced();
        let found = within(api.get_opt(STOP_CONFIG_MAP)).await;
        held.note_stop(found.map(|found| found.is_some()).map_err(|error| error.to_string()));
    }
}

/// The longest note of an Event (events.k8s.io/v1).
const NOTE_MAX: usize = 1024;

#[expect(clippy::disallowed_methods, reason = "the time of an Event is the wall clock's")]
fn wall() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// The resource of a kind, as Kubernetes forms it for every kind that checks write.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        Some(_) | None if lower.ends_with('s') => format!("{lower}es"),
        Some(_) | None => format!("{lower}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_named_as_the_api_server_names_them() {
        let cases = [
            ("Secret", "secrets"),
            ("ConfigMap", "configmaps"),
            ("MachineSet", "machinesets"),
            ("NetworkPolicy", "networkpolicies"),
            ("Authentication", "authentications"),
            ("Ingress", "ingresses"),
            ("Proxy", "proxies"),
        ];
        for (kind, expected) in cases {
            assert_eq!(plural(kind), expected);
        }
    }
}
