//! The controller's objects as its clients see them: Proposals read, Approvals created.
//!
//! Invariants:
//! - nothing but an Approval is written, and that once: a refusal is reported, never sent again;
//! - of a response that is an error, only the API server's own message is repeated; these kinds hold no secret.
//!
//! Elsewhere: connecting to the hub (`operate`), asking the user (`cli`).

use http::StatusCode;
use kube::core::Resource as _;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::api::{Approval, Proposal};
use trueup_core::engine::short_id;
use trueup_fleet::connect::{classify, send};

/// Proposals of one page: 50 of the largest are 25 MiB, below the limit of a response.
const PAGE: usize = 50;
/// Controllers keep finished Proposals for 30 days; more pages than this are not read.
const PAGES_MAX: usize = 200;
/// The shortest part of an id that names a Proposal: what lists show.
const ID_PART_MIN: usize = 8;

const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// One namespace of the cluster that a controller runs in.
pub struct Hub {
    client: kube::Client,
    namespace: String,
}

/// Why the hub did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error("no controller in this cluster")]
    NoController,
    #[error("no proposal matches {asked:?}")]
    NoSuchProposal { asked: String },
    #[error("{asked} matches {}", .names.join(", "))]
    Several { asked: String, names: Vec<String> },
    /// In the API server's words.
    #[error("{message}")]
    Refused { message: String },
    #[error("{0}")]
    Unread(String),
}

impl Hub {
    pub fn new(client: kube::Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Passes each Proposal to `each`, page by page.
    ///
    /// # Errors
    /// A page cannot be read, or the kind is not served.
    pub async fn each_proposal(&self, mut each: impl FnMut(Proposal)) -> Result<(), HubError> {
        #[derive(Deserialize)]
        struct List {
            metadata: ListMeta,
            items: Vec<Proposal>,
        }
        #[derive(Deserialize)]
        struct ListMeta {
            #[serde(rename = "continue", default)]
            next: String,
        }
        let path = Proposal::url_path(&(), Some(&self.namespace));
        let mut next = String::new();
        for _ in 0..PAGES_MAX {
            let token = match next.as_str() {
                "" => String::new(),
                next => format!("&continue={}", utf8_percent_encode(next, NON_ALPHANUMERIC)),
            };
            let list: List = self.get(&format!("{path}?limit={PAGE}{token}"), "listing proposals").await?;
            list.items.into_iter().for_each(&mut each);
            if list.metadata.next.is_empty() {
                return Ok(());
            }
            next = list.metadata.next;
        }
        Err(HubError::Unread(format!("more than {} proposals", PAGE * PAGES_MAX)))
    }

    /// Finds a Proposal by its name, or by the first characters of its plan's id.
    ///
    /// # Errors
    /// None or several match, or they cannot be read.
    pub async fn find(&self, asked: &str) -> Result<Proposal, HubError> {
        let hex = asked.strip_prefix("sha256:").unwrap_or(asked).to_owned();
        let is_part = hex.len() >= ID_PART_MIN && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut found: Vec<Proposal> = Vec::new();
        self.each_proposal(|proposal| {
            let is_named = proposal.metadata.name.as_deref() == Some(asked);
            let has_id =
                is_part && proposal.spec.plan_id.strip_prefix("sha256:").is_some_and(|id| id.starts_with(&hex));
            if is_named || has_id {
                found.push(proposal);
            }
        })
        .await?;
        if found.len() > 1 {
            let name =
                |one: &Proposal| one.metadata.name.clone().unwrap_or_else(|| short_id(&one.spec.plan_id).to_owned());
            return Err(HubError::Several { asked: asked.to_owned(), names: found.iter().map(name).collect() });
        }
        found.pop().ok_or_else(|| HubError::NoSuchProposal { asked: asked.to_owned() })
    }

    /// The user that the API server takes this client for.
    ///
    /// # Errors
    /// The API server does not say.
    pub async fn user(&self) -> Result<String, HubError> {
        #[derive(Deserialize)]
        struct Review {
            status: Status,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Status {
            user_info: UserInfo,
        }
        #[derive(Deserialize)]
        struct UserInfo {
            username: String,
        }
        let review = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
        let review: Review = self.post(REVIEWS, &review, "asking for a SelfSubjectReview").await?;
        Ok(review.status.user_info.username)
    }

    /// Creates an Approval and returns its name.
    ///
    /// # Errors
    /// The API server refuses it, or does not answer. Whether one without an answer was created is seen in a list.
    pub async fn create(&self, approval: &Approval) -> Result<String, HubError> {
        let path = Approval::url_path(&(), Some(&self.namespace));
        let value = serde_json::to_value(approval).map_err(|error| HubError::Unread(error.to_string()))?;
        let created: Approval = self.post(&path, &value, "creating the approval").await?;
        Ok(created.metadata.name.unwrap_or_default())
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, what: &str) -> Result<T, HubError> {
        let answer = send::get_bytes(&self.client, path, send::JSON).await;
        let (status, body) = answer.map_err(|error| unread(&error, what))?;
        read(status, &body, what)
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &serde_json::Value, what: &str) -> Result<T, HubError> {
        let answer = send::post_json(&self.client, path, body, send::BODY_MAX, send::ANSWER_TIMEOUT).await;
        let (status, body) = answer.map_err(|error| unread(&error, what))?;
        read(status, &body, what)
    }
}

fn unread(error: &send::TransportError, what: &str) -> HubError {
    HubError::Unread(classify::transport(error, what).message.to_string())
}

fn read<T: DeserializeOwned>(status: StatusCode, body: &[u8], what: &str) -> Result<T, HubError> {
    #[derive(Deserialize)]
    struct Status {
        message: String,
    }
    if status.is_success() {
        return serde_json::from_slice(body)
            .map_err(|_| HubError::Unread(classify::undecodable(body, what).message.to_string()));
    }
    let said = serde_json::from_slice::<Status>(body).map(|status| status.message);
    match (status, said) {
        // Lists and creates have no other reason to be absent than that the kind is not served.
        (StatusCode::NOT_FOUND, _) => Err(HubError::NoController),
        (StatusCode::FORBIDDEN | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::CONFLICT, Ok(message)) => {
            Err(HubError::Refused { message })
        }
        (status, _) => {
            Err(HubError::Unread(classify::status(status, classify::reason(body).as_deref(), what).message.to_string()))
        }
    }
}
