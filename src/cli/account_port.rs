//! Writing to a cluster and to the cloud accounts its objects point into.
//!
//! Always true:
//! - right before every write a cloud resource is read again, its tags by the tagging service itself; one with other tags
//!   than those it was judged by is not touched;
//! - a request goes out once, with the executor's token; what may have arrived is answered as ambiguous, and then read.
//!
//! Not here: which resource may go, and in which order (`domains::powervs_tags`, `engine::executor`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use zeroize::Zeroizing;

use trueup_core::engine::executor::{ClusterPort, InFlight, Patch, Reading, Reply, Seen, Write};
use trueup_core::engine::journal::Answer;
use trueup_core::engine::{CloudRef, ObjectRef, cloud_version};
use trueup_fleet::ibm::{Account, CloudError, IbmResource, IbmResourceKind, Problem, Which};
use trueup_fleet::kube_cluster::KubeCluster;

/// How often and after which pause tags are read back: the service says itself that they take a moment.
const READ_BACKS_MAX: u32 = 10;
const READ_BACK_PAUSE: Duration = Duration::from_secs(2);

/// After which pause a delete is sent again that something holds back.
const HELD_PAUSE: Duration = Duration::from_secs(10);

/// Accounts by their ids.
pub type Accounts = BTreeMap<String, Arc<Account>>;

/// A cluster, and the accounts its objects point into.
pub struct WithAccounts {
    cluster: KubeCluster,
    accounts: Accounts,
}

impl WithAccounts {
    pub fn new(client: kube::Client, accounts: Accounts) -> Self {
        Self { cluster: KubeCluster::new(client), accounts }
    }

    async fn read_cloud(&self, cloud: &CloudRef) -> Result<Option<IbmResource>, String> {
        let account = self.account(cloud)?;
        let kind = kind_of(cloud)?;
        let which = Which { kind, id: &cloud.id, crn: cloud.crn.as_deref(), parent: None };
        let found = account.read_resource(&which).await.map_err(|error| error.to_string())?;
        // What waits for its reclamation was deleted; that it could be restored is no reason to wait for it.
        Ok(found.filter(|resource| !is_over(resource)))
    }

    fn account(&self, cloud: &CloudRef) -> Result<&Account, String> {
        let account = self.accounts.get(&cloud.account).map(AsRef::as_ref);
        account.ok_or_else(|| format!("account {} is not among [clouds.{}]", cloud.account, cloud.cloud))
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
            Write::Apply { .. } | Write::Create { .. } => return refused("a cloud resource is deleted or tagged"),
        };
        if cloud_version(&resource.tags) != bound {
            return reply(None, Answer::Conflict);
        }
        // Somebody else asked for its deletion between two looks: there is nothing left to ask for.
        if matches!(write, Write::Delete { .. }) && is_leaving(&resource) {
            return reply(None, Answer::Gone);
        }
        let Ok(account) = self.account(cloud) else { return reply(None, Answer::Throttled) };
        let sent = match write {
            Write::Delete { .. } => account.delete(token, &resource).await,
            Write::Change { patch, .. } => {
                let Some(crn) = resource.crn.as_deref() else { return refused("it has no CRN, so no tags") };
                match send_tags(account, token, crn, patch).await {
                    Some(sent) => sent,
                    None => return refused("tags with other keys can't be put on and taken off in one step"),
                }
            }
            Write::Apply { .. } | Write::Create { .. } => return refused("a cloud resource is deleted or tagged"),
        };
        match sent {
            Ok(()) => {
                if let Write::Change { patch, .. } = write {
                    self.read_back(cloud, patch).await;
                }
                reply(Some(200), Answer::Done)
            }
            // Refused, because another deleter was first: what is read says so.
            Err(error) if matches!(write, Write::Delete { .. }) && self.is_leaving_now(&error, cloud).await => {
                reply(error.status(), Answer::Gone)
            }
            Err(error) => match write {
                Write::Delete { .. } => still_held(&error, resource.kind).unwrap_or_else(|| failed(&error)),
                Write::Change { .. } | Write::Apply { .. } | Write::Create { .. } => failed(&error),
            },
        }
    }

    /// Whether a delete was refused for being under way or over already.
    async fn is_leaving_now(&self, error: &CloudError, cloud: &CloudRef) -> bool {
        match error.status() {
            Some(409) => match self.read_cloud(cloud).await {
                Ok(found) => found.is_none_or(|resource| is_leaving(&resource)),
                Err(_) => false,
            },
            Some(_) | None => false,
        }
    }

    /// Waits a moment for tags to show. What they are then, the executor reads.
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

/// Sends a change of tags as one request; nothing when it can't be one.
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

impl ClusterPort for WithAccounts {
    fn read<'a>(&'a self, target: &'a ObjectRef) -> BoxFuture<'a, Reading> {
        let Some(cloud) = target.cloud.as_deref() else { return self.cluster.read(target) };
        async move {
            match self.read_cloud(cloud).await {
                Ok(Some(resource)) => Reading::Present(Box::new(seen(&resource))),
                Ok(None) => Reading::Absent,
                Err(why) => Reading::Unknown(why),
            }
        }
        .boxed()
    }

    fn send<'a>(&'a self, token: &'a InFlight, write: Write<'a>) -> BoxFuture<'a, Reply> {
        let target = match &write {
            Write::Delete { target, .. }
            | Write::Change { target, .. }
            | Write::Apply { target, .. }
            | Write::Create { target, .. } => *target,
        };
        match target.cloud.as_deref() {
            None => self.cluster.send(token, write),
            Some(cloud) => self.send_cloud(token, cloud, write).boxed(),
        }
    }

    fn list<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, String>> {
        self.cluster.list(api_version, kind)
    }
}

fn kind_of(cloud: &CloudRef) -> Result<IbmResourceKind, String> {
    let known = IbmResourceKind::parse(&cloud.kind).filter(|_| cloud.cloud == "ibm");
    known.ok_or_else(|| format!("nothing is known of a {} of {}", cloud.kind, cloud.cloud))
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
    Reply { http, answer, retry_after: None, reason: String::new(), managers: Vec::new() }
}

fn refused(why: &str) -> Reply {
    Reply { reason: why.to_owned(), ..reply(Some(400), Answer::Refused) }
}

/// The answer to a delete that is refused as long as something holds the resource; nothing for any other failure. What holds
/// it may be on its way out, so it may be tried again.
fn still_held(error: &CloudError, kind: IbmResourceKind) -> Option<Reply> {
    let is_held = match &error.problem {
        Problem::Refused { status: 409, .. } => true,
        // PowerVS says it so, of the network of a DHCP server.
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

/// What keeps a resource of a kind from going, and the way out.
fn what_holds(kind: IbmResourceKind) -> &'static str {
    match kind {
        IbmResourceKind::LoadBalancer => "a load balancer goes once nothing is being changed on it",
        IbmResourceKind::SecurityGroup => {
            "a group goes once it is on no target and in no other group's rules: take it off there"
        }
        IbmResourceKind::Subnet => "a subnet goes once no load balancer, gateway or machine has an address in it",
        IbmResourceKind::Vpc => "a VPC goes once no subnet, gateway, machine or connection is in it",
        IbmResourceKind::Network | IbmResourceKind::DhcpServer => {
            "a network goes once no machine is on it: delete the machines, or their network interfaces, first"
        }
        IbmResourceKind::TransitGateway => "a gateway goes once it has no connections",
        IbmResourceKind::TgConnection => "a connection goes once nothing is being changed on it",
        IbmResourceKind::Workspace => "a workspace goes once it is not locked and no connection leads to it",
        IbmResourceKind::CosInstance => "an instance goes once it is not locked",
    }
}

/// The class of a failed write.
fn failed(error: &CloudError) -> Reply {
    let answer = match error.status() {
        _ if error.may_have_arrived() => Answer::Ambiguous,
        Some(404 | 410) => Answer::Gone,
        // Refused at the door, or never sent: it may be tried again.
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
    }
}

#[cfg(test)]
mod tests;
