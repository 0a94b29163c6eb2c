//! Permissions of the user (SelfSubjectAccessReview).
//!
//! Invariants: a review without an answer is unknown, with its reason, and never a permission.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use serde::Deserialize;
use serde_json::json;

use crate::observe::link_error;
use trueup_core::engine::{AccessAnswer, AccessAnswers, AccessQuestion, Judged, access_questions};
use trueup_core::world::{Cluster, ClusterName, ClusterSource, CollectionId, Scope};
use trueup_fleet::connect::{identity, send};
use trueup_fleet::live::Live;

const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/// A review has a few hundred bytes; more is not a review.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Concurrent reviews: enough to hide latency, few enough to stay under the per-user limit of an API server.
const ASKED_AT_ONCE_MAX: usize = 8;

/// Every permission the remedies need, each once, with the client of its cluster.
pub fn questions<'j>(
    live: &Live,
    judged: impl IntoIterator<Item = &'j Judged>,
) -> Vec<(AccessQuestion, Option<kube::Client>)> {
    let drafts = judged.into_iter().flat_map(|one| &one.explanation.remedy);
    let questions: BTreeSet<AccessQuestion> = drafts.flat_map(access_questions).collect();
    let with_client = |question: AccessQuestion| {
        let client = live.client(&question.cluster);
        (question, client)
    };
    questions.into_iter().map(with_client).collect()
}

/// Every permission that reading a cluster takes, each once: its identity, and each collection that a check needs.
pub fn read_questions(live: &Live) -> Vec<(AccessQuestion, Option<kube::Client>)> {
    let mut questions = BTreeSet::new();
    let view = live.view();
    // Accounts and the user's own files know no RBAC; a cluster that is not connected is reported as such.
    let has_rbac = |cluster: &Cluster| {
        let is_cluster = !cluster.source.is_account() && cluster.source != ClusterSource::Local;
        is_cluster && link_error(&cluster.link).is_none() && live.client(&cluster.name).is_some()
    };
    for cluster in view.clusters() {
        let interests = live.domains().iter().flat_map(|check| check.interests_of(cluster, view));
        let asked = interests.filter(|interest| view.cluster(&interest.id.cluster).is_some_and(has_rbac));
        questions.extend(asked.flat_map(|interest| collection_questions(&interest.id)));
        if has_rbac(cluster) {
            questions.extend(identity_questions(&cluster.name));
        }
    }
    // A collection of one namespace is part of the collection of all of them.
    let is_part = |question: &AccessQuestion| {
        let whole = AccessQuestion { namespace: None, name: None, ..question.clone() };
        whole != *question && question.verb != "get" && questions.contains(&whole)
    };
    let asked = questions.iter().filter(|question| !is_part(question)).cloned();
    asked.map(|question| (question.clone(), live.client(&question.cluster))).collect()
}

/// The namespace and the ConfigMap that identify a cluster.
fn identity_questions(cluster: &ClusterName) -> [AccessQuestion; 2] {
    let question = |resource, namespace: Option<&str>, name: &str| AccessQuestion {
        cluster: cluster.clone(),
        verb: "get",
        group: "",
        resource,
        namespace: namespace.map(str::to_owned),
        name: Some(name.to_owned()),
    };
    [
        question("namespaces", None, identity::NAMESPACE),
        question("configmaps", Some(identity::NAMESPACE), identity::ROOTS),
    ]
}

fn collection_questions(id: &CollectionId) -> Vec<AccessQuestion> {
    let named = id.selector.fields.split(',').find_map(|term| term.strip_prefix("metadata.name="));
    let (verbs, name): (&[&'static str], _) = match &id.scope {
        Scope::Object { name, .. } => (&["get"], Some(name.as_str())),
        Scope::All | Scope::Namespace(_) => (&["list", "watch"], named),
    };
    let question = |verb: &&'static str| AccessQuestion {
        cluster: id.cluster.clone(),
        verb,
        group: id.resource.group,
        resource: id.resource.plural,
        namespace: id.namespace().map(ToString::to_string),
        name: name.map(str::to_owned),
    };
    verbs.iter().map(question).collect()
}

/// Asks for all of them.
pub async fn ask(questions: Vec<(AccessQuestion, Option<kube::Client>)>) -> AccessAnswers {
    let asked = questions.into_iter().map(|(question, client)| async move {
        let answer = match client {
            Some(client) => ask_one(&client, &question).await,
            None => AccessAnswer::Unknown { why: "the cluster is not connected".to_owned() },
        };
        (question, answer)
    });
    futures::stream::iter(asked).buffer_unordered(ASKED_AT_ONCE_MAX).collect().await
}

/// Asks for one permission.
async fn ask_one(client: &kube::Client, question: &AccessQuestion) -> AccessAnswer {
    answer(client, question).await.unwrap_or_else(|why| AccessAnswer::Unknown { why })
}

async fn answer(client: &kube::Client, question: &AccessQuestion) -> Result<AccessAnswer, String> {
    #[derive(Deserialize)]
    struct Review {
        status: Status,
    }
    #[derive(Deserialize)]
    struct Status {
        allowed: bool,
        #[serde(default)]
        reason: String,
    }
    let AccessQuestion { cluster: _, verb, group, resource, namespace, name } = question;
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": {
            "verb": verb, "group": group, "resource": resource, "namespace": namespace, "name": name,
        } },
    });
    let answered = send::post_json(client, PATH, &review, ANSWER_BYTES_MAX, send::STREAM_START_TIMEOUT).await;
    let (status, body) = answered.map_err(|error| error.to_string())?;
    if !status.is_success() {
        return Err(format!("the API server returned {}", status.as_u16()));
    }
    let review: Review =
        serde_json::from_slice(&body).map_err(|_| "the response is not an access review".to_owned())?;
    let Status { allowed, reason } = review.status;
    Ok(if allowed { AccessAnswer::Allowed } else { AccessAnswer::Denied { message: reason } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Request, Response, StatusCode};
    use kube::client::Body;

    /// A server that answers every review with this.
    fn answering(status: u16, body: &'static str) -> kube::Client {
        let service = tower::service_fn(move |_: Request<Body>| {
            let mut response = Response::new(Body::from(body.as_bytes().to_vec()));
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            async { Ok::<_, std::convert::Infallible>(response) }
        });
        kube::Client::new(service, "default")
    }

    #[tokio::test]
    async fn only_a_review_that_says_allowed_is_a_permission() {
        let question = AccessQuestion {
            cluster: ClusterName::new("a"),
            verb: "delete",
            group: "",
            resource: "secrets",
            namespace: None,
            name: None,
        };
        let cases = [
            ("allowed", 201, r#"{"status":{"allowed":true}}"#, "allowed"),
            ("denied", 201, r#"{"status":{"allowed":false,"reason":"no"}}"#, "denied"),
            ("403 with allowed", 403, r#"{"status":{"allowed":true}}"#, "unknown"),
            ("404: no such API", 404, r#"{"kind":"Status"}"#, "unknown"),
            ("500", 500, "", "unknown"),
            ("no status", 201, "{}", "unknown"),
            ("an empty status", 201, r#"{"status":{}}"#, "unknown"),
            ("allowed as text", 201, r#"{"status":{"allowed":"true"}}"#, "unknown"),
            ("allowed as null", 201, r#"{"status":{"allowed":null}}"#, "unknown"),
            ("a web page", 200, "<html>true</html>", "unknown"),
            ("nothing", 200, "", "unknown"),
            ("cut short", 200, r#"{"status":{"allowed":tr"#, "unknown"),
        ];
        for (case, status, body, expected) in cases {
            let found = match ask_one(&answering(status, body), &question).await {
                AccessAnswer::Allowed => "allowed",
                AccessAnswer::Denied { .. } => "denied",
                AccessAnswer::Unknown { .. } => "unknown",
            };
            assert_eq!(found, expected, "case: {case}");
        }
        let unconnected = ask(vec![(question.clone(), None)]).await;
        assert!(matches!(unconnected[&question], AccessAnswer::Unknown { .. }));
    }
}
