//! Writes to an IBM Cloud account: tags and deletes, for the executor.
//!
//! Invariants:
//! - right before every write a resource is read again, its tags by the tagging service itself; a resource whose tags
//!   differ from those it was judged by is not changed;
//! - a request is sent once, with the executor's token; one that may have arrived is answered as ambiguous, and then read.
//!
//! Elsewhere: which resource may be deleted, and in which order (`checks::powervs_tags`, `core::engine::executor`).

use std::collections::BTreeSet;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::client::{Account, CloudError, IbmResource, Problem, Which};
use crate::clouds::AccountPort;
use trueup_core::engine::executor::{InFlight, Patch, Reading, Reply, Seen, Write};
use trueup_core::engine::journal::Answer;
use trueup_core::engine::{CloudRef, cloud_version};
use trueup_core::world::{IbmResourceKind, Provider};

/// How often and after which pause tags are read back: the tagging service is eventually consistent.
const READ_BACKS_MAX: u32 = 10;
const READ_BACK_PAUSE: Duration = Duration::from_secs(2);

/// After which pause a delete is sent again while another resource blocks it.
const HELD_PAUSE: Duration = Duration::from_secs(10);

impl Account {
    async fn read_cloud(&self, cloud: &CloudRef) -> Result<Option<IbmResource>, String> {
        let kind = kind_of(cloud)?;
        let which = Which { kind, id: &cloud.id, crn: cloud.crn.as_deref(), parent: None };
        let found = self.read_resource(&which).await.map_err(|error| error.to_string())?;
        // A resource that waits for its reclamation was deleted; that it could be restored is not a reason to wait for it.
        Ok(found.filter(|resource| !is_over(resource)))
    }

    async fn send_cloud(&self, token: &InFlight, cloud: &CloudRef, write: Write<'_>) -> Reply {
        let resource = match self.read_cloud(cloud).await {
            Ok(Some(resource)) => resource,
            Ok(None) => return reply(None, Answer::Gone),
            // Nothing was sent.
            Err(_) => return reply(None, Answer::Throttled),
        };
        let bound = match &write {
            Write::Delete { resource_version, .. } | Write::Change { resource_version, .. } => *resource_version,
            Write::Apply { .. } | Write::Create { .. } => {
                return refused("cloud resources can only be deleted or tagged");
            }
        };
        if cloud_version(&resource.tags) != bound {
            return reply(None, Answer::Conflict);
        }
        // Its deletion was requested by someone else between two reads: nothing is left to send.
        if matches!(write, Write::Delete { .. }) && is_leaving(&resource) {
            return reply(None, Answer::Gone);
        }
        let sent = match write {
            Write::Delete { .. } => self.delete(token, &resource).await,
            Write::Change { patch, .. } => {
                let Some(crn) = resource.crn.as_deref() else { return refused("the resource has no CRN, so no tags") };
                match send_tags(self, token, crn, patch).await {
                    Some(sent) => sent,
                    None => return refused("tags with other keys cannot be attached and detached in one request"),
                }
            }
            Write::Apply { .. } | Write::Create { .. } => {
                return refused("cloud resources can only be deleted or tagged");
            }
        };
        match sent {
            Ok(()) => {
                if let Write::Change { patch, .. } = write {
                    self.read_back(cloud, patch).await;
                }
                reply(Some(200), Answer::Done)
            }
            // Rejected because its deletion is already under way, as the read shows.
            Err(error) if matches!(write, Write::Delete { .. }) && self.is_leaving_now(&error, cloud).await => {
                reply(error.status(), Answer::Gone)
            }
            Err(error) => match write {
                Write::Delete { .. } => still_held(&error, resource.kind).unwrap_or_else(|| failed(&error)),
                Write::Change { .. } | Write::Apply { .. } | Write::Create { .. } => failed(&error),
            },
        }
    }

    /// Whether a delete was rejected because the deletion is under way or done.
    async fn is_leaving_now(&self, error: &CloudError, cloud: &CloudRef) -> bool {
        match error.status() {
            Some(409) => match self.read_cloud(cloud).await {
                Ok(found) => found.is_none_or(|resource| is_leaving(&resource)),
                Err(_) => false,
            },
            Some(_) | None => false,
        }
    }

    /// Waits until the tags are visible. The executor reads them afterwards.
    async fn read_back(&self, cloud: &CloudRef, patch: &Patch) {
        let (set, remove) = patch.tag_names();
        for _ in 0..READ_BACKS_MAX {
            match self.read_cloud(cloud).await {
                Ok(Some(resource)) => {
                    let has = |tag: &String| resource.tags.contains(&tag.to_lowercase());
                    if set.iter().all(has) && !remove.iter().any(has) {
                        return;
                    }
                }
                Ok(None) => return,
                Err(_) => {}
            }
            tokio::time::sleep(READ_BACK_PAUSE).await;
        }
    }
}

/// Sends a change of tags as one request; nothing when one request cannot express it.
async fn send_tags(account: &Account, token: &InFlight, crn: &str, patch: &Patch) -> Option<Result<(), CloudError>> {
    let (set, remove) = patch.tag_names();
    let keys = |tags: &[String]| -> BTreeSet<String> {
        tags.iter().map(|tag| tag.split_once(':').map_or(tag.as_str(), |(key, _)| key).to_lowercase()).collect()
    };
    match (set.is_empty(), remove.is_empty()) {
        (false, true) => Some(account.attach_tags(token, crn, &set).await),
        (true, false) => Some(account.detach_tags(token, crn, &remove).await),
        // Between two requests a resource would have two owners, and a crash would leave it so.
        (false, false) if keys(&remove).is_subset(&keys(&set)) => Some(account.replace_tags(token, crn, &set).await),
        (false, false) | (true, true) => None,
    }
}

impl AccountPort for Account {
    fn id(&self) -> BoxFuture<'_, Result<String, String>> {
        async move { Self::id(self).await.map_err(|error| error.to_string()) }.boxed()
    }

    fn read<'a>(&'a self, cloud: &'a CloudRef) -> BoxFuture<'a, Reading> {
        async move {
            match self.read_cloud(cloud).await {
                Ok(Some(resource)) => Reading::Present(Box::new(seen(&resource))),
                Ok(None) => Reading::Absent,
                Err(why) => Reading::Unknown(why),
            }
        }
        .boxed()
    }

    fn send<'a>(&'a self, token: &'a InFlight, cloud: &'a CloudRef, write: Write<'a>) -> BoxFuture<'a, Reply> {
        self.send_cloud(token, cloud, write).boxed()
    }
}

fn kind_of(cloud: &CloudRef) -> Result<IbmResourceKind, String> {
    let known = IbmResourceKind::parse(&cloud.kind).filter(|_| cloud.cloud == Provider::Ibm.as_str());
    known.ok_or_else(|| format!("{} {} is not a known kind of resource", cloud.cloud, cloud.kind))
}

fn is_over(resource: &IbmResource) -> bool {
    matches!(resource.state.as_deref(), Some("pending_reclamation" | "removed"))
}

/// Whether its deletion is under way.
fn is_leaving(resource: &IbmResource) -> bool {
    let state = resource.state.as_deref().unwrap_or_default().to_lowercase();
    matches!(state.as_str(), "deleting" | "delete_pending" | "detaching" | "pending_removal")
}

fn seen(resource: &IbmResource) -> Seen {
    let json = serde_json::to_vec(resource).unwrap_or_default();
    Seen::cloud(&resource.id, &resource.tags, is_leaving(resource), json)
}

fn reply(http: Option<u16>, answer: Answer) -> Reply {
    Reply { http, answer, retry_after: None, reason: String::new(), managers: Vec::new(), version: None }
}

fn refused(why: &str) -> Reply {
    Reply { reason: why.to_owned(), ..reply(Some(400), Answer::Refused) }
}

/// The reply to a delete that another resource blocks; nothing for any other failure. The other resource may be about to
/// be deleted, so the delete may be sent again.
fn still_held(error: &CloudError, kind: IbmResourceKind) -> Option<Reply> {
    let is_held = match &error.problem {
        Problem::Refused { status: 409, .. } => true,
        // The answer of PowerVS for the network of a DHCP server.
        Problem::Refused { status: 400, message, .. } => message.contains("still attached"),
        Problem::Refused { .. }
        | Problem::NoAnswer(_)
        | Problem::ItemRefused { .. }
        | Problem::NotUnderstood(_)
        | Problem::PageLoop
        | Problem::TooManyPages(_)
        | Problem::OtherAccount { .. }
        | Problem::Unaddressed(_)
        | Problem::NotIndexed => false,
    };
    let reason = format!("{error}; {}", what_holds(kind));
    let retry_after = Some(error.retry_after().unwrap_or(HELD_PAUSE));
    is_held.then(|| Reply { retry_after, reason, ..reply(error.status(), Answer::Throttled) })
}

/// What blocks the deletion of a resource of a kind, and the remedy.
fn what_holds(kind: IbmResourceKind) -> &'static str {
    match kind {
        IbmResourceKind::LoadBalancer => "a load balancer can be deleted once no change on it is under way",
        IbmResourceKind::SecurityGroup => {
            "a security group can be deleted once no target and no other group's rule uses it: remove it there"
        }
        IbmResourceKind::Subnet => {
            "a subnet can be deleted once no load balancer, gateway or machine has an address in it"
        }
        IbmResourceKind::Vpc => "a VPC can be deleted once no subnet, gateway, machine or connection is in it",
        IbmResourceKind::Network | IbmResourceKind::DhcpServer => {
            "a network can be deleted once no machine uses it: delete the machines, or their network interfaces, first"
        }
        IbmResourceKind::TransitGateway => "a transit gateway can be deleted once it has no connections",
        IbmResourceKind::TgConnection => "a connection can be deleted once no change on it is under way",
        IbmResourceKind::Workspace => "a workspace can be deleted once it is not locked and no connection uses it",
        IbmResourceKind::CosInstance => "an instance can be deleted once it is not locked",
    }
}

/// The class of a failed write.
fn failed(error: &CloudError) -> Reply {
    let answer = match error.status() {
        _ if error.may_have_arrived() => Answer::Ambiguous,
        Some(404 | 410) => Answer::Gone,
        // Rejected before it was processed, or never sent: it may be sent again.
        Some(401 | 429) => Answer::Throttled,
        None if matches!(error.problem, Problem::NoAnswer(_)) => Answer::Throttled,
        Some(_) | None => Answer::Refused,
    };
    Reply {
        http: error.status().or(Some(200)),
        answer,
        retry_after: error.retry_after(),
        reason: error.to_string(),
        managers: Vec::new(),
        version: None,
    }
}

#[cfg(test)]
mod tests;
