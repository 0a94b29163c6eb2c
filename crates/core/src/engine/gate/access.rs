//! The access gate: whether the cluster would let this user do it.
//!
//! Invariants: a permission that could not be asked for counts as denied.
//! Elsewhere: asking (SelfSubjectAccessReview). [`access_questions`] says what to ask.

use std::collections::BTreeMap;

use super::{Blocked, Candidate, GateInputs, GateName, blocked};
use crate::engine::action::{ActionDraft, MemoryTarget};
use crate::engine::plan::Action;
use crate::engine::reference::ObjectRef;
use crate::world::{ClusterName, Resource};

/// One permission, as a SelfSubjectAccessReview asks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessQuestion {
    pub cluster: ClusterName,
    pub verb: &'static str,
    pub group: &'static str,
    /// The plural.
    pub resource: &'static str,
    pub namespace: Option<String>,
    /// The one object that is meant; nothing for every object there.
    pub name: Option<String>,
}

/// What the cluster said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessAnswer {
    Allowed,
    /// With the server's own words, which may be empty.
    Denied {
        message: String,
    },
    /// It could not be asked, and why.
    Unknown {
        why: String,
    },
}

/// The answers that were got.
pub type AccessAnswers = BTreeMap<AccessQuestion, AccessAnswer>;

/// What has to be asked before this action can be offered on a live cluster.
pub fn access_questions(draft: &ActionDraft) -> Vec<AccessQuestion> {
    let target = &draft.target;
    let question = |verb: &&'static str| AccessQuestion {
        cluster: target.cluster.clone(),
        verb,
        group: target.resource.group,
        resource: target.resource.plural,
        namespace: target.namespace.clone(),
        name: None,
    };
    // What a cloud lets its user do is the cloud's to say.
    let verbs = if target.cloud.is_some() { &[] } else { draft.verb().rbac() };
    let memory = draft.memory.iter().flat_map(|MemoryTarget { cluster, resource, namespace }| {
        // The annotation is read, and written under the version that was read.
        ["get", "patch"].map(|verb| AccessQuestion {
            cluster: cluster.clone(),
            verb,
            group: resource.group,
            resource: resource.plural,
            namespace: namespace.clone(),
            name: None,
        })
    });
    verbs.iter().map(question).chain(memory).collect()
}

/// What the user may not do, or may not do as far as known, is blocked.
pub fn access(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    if !around.is_live(candidate.cluster()) {
        return None;
    }
    refused(&access_questions(candidate.draft), &around.conditions.access)
}

/// What has to be asked before an undo is offered in this live cluster. Kinds that are not among `resources` are not asked about:
/// the server's own answer decides.
pub fn undo_access_questions(action: &Action, cluster: &ClusterName, resources: &[Resource]) -> Vec<AccessQuestion> {
    let ObjectRef { api_version, kind, namespace, cloud, .. } = &action.target;
    let named = |one: &&Resource| one.kind == kind && one.api_version() == *api_version && cloud.is_none();
    let Some(resource) = resources.iter().find(named) else { return Vec::new() };
    let question = |verb: &&'static str| AccessQuestion {
        cluster: cluster.clone(),
        verb,
        group: resource.group,
        resource: resource.plural,
        namespace: namespace.clone(),
        name: None,
    };
    action.verb().rbac().iter().map(question).collect()
}

/// The access gate for these questions.
pub fn refused(questions: &[AccessQuestion], answers: &AccessAnswers) -> Option<Blocked> {
    let refusals: Vec<String> = questions.iter().filter_map(|question| refusal(question, answers)).collect();
    if refusals.is_empty() {
        return None;
    }
    Some(blocked(GateName::Access, format!("{}; ask for the permission or use another context", refusals.join("; "))))
}

fn refusal(question: &AccessQuestion, answers: &AccessAnswers) -> Option<String> {
    let what = describe(question);
    match answers.get(question) {
        Some(AccessAnswer::Allowed) => None,
        Some(AccessAnswer::Denied { message }) if message.is_empty() => Some(format!("you may not {what}")),
        Some(AccessAnswer::Denied { message }) => Some(format!("you may not {what} ({message})")),
        Some(AccessAnswer::Unknown { why }) => Some(format!("cannot check whether you may {what}: {why}")),
        None => Some(format!("the cluster was not asked whether you may {what}")),
    }
}

/// `delete secrets in openshift-config of guest-a`.
fn describe(question: &AccessQuestion) -> String {
    let AccessQuestion { cluster, verb, group, resource, namespace, name } = question;
    let mut resource = if group.is_empty() { (*resource).to_owned() } else { format!("{resource}.{group}") };
    resource.extend(name.iter().flat_map(|name| ["/", name.as_str()]));
    match namespace {
        Some(namespace) => format!("{verb} {resource} in {namespace} of {cluster}"),
        None => format!("{verb} {resource} of {cluster}"),
    }
}
