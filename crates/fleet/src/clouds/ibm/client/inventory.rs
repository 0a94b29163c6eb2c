//! The whole account: every list, and the tags on what they name.
//!
//! Invariants:
//! - a list that could not be read to its end is named, with the error; the rest is still there;
//! - a resource whose tags are not known is left out and counted as missing: without tags it would look unowned;
//! - the number of calls follows the pages of the lists and the workspaces, not the resources.
//!
//! ```text
//! token ─► gateways, connections, search ──────────────────────────┐   (all rows at the same time)
//!       ─► regions ─► VPC lists of every region ───────────────────┤
//!       ─► instances ─► networks and DHCP servers of every workspace ┴─► tags; the few search does not know, one by one
//! ```

use std::collections::{BTreeMap, BTreeSet};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};

use super::endpoints::IbmService;
use super::error::{CloudError, Problem};
use super::power::Workspace;
use super::resource::IbmResource;
use super::session::Session;
use super::{instances, power, search, tags, transit, vpc};
use trueup_core::world::IbmResourceKind;

/// How many lists of workspaces are read at once. IBM publishes no number for PowerVS, and a 429 is waited out: eight read
/// 500 workspaces (1,000 lists) in 25 s where an answer takes 200 ms, and more would wait for the service instead.
pub(super) const WORKSPACE_LISTS_MAX: usize = 8;

/// How many VPC lists are read at once: one region's four kinds, twice.
pub(super) const VPC_LISTS_MAX: usize = 8;

/// How many tags are looked up at once: few, since the tagging service takes about a hundred such calls a minute.
const LOOKUPS_AT_ONCE: usize = 8;

/// How many resources that search does not know are looked up one by one. Usually those of the last minute; the tagging
/// service takes about a hundred such calls a minute.
const LOOKUPS_MAX: usize = 40;

/// What an account holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    pub account: String,
    /// Sorted by kind and id.
    pub resources: Vec<IbmResource>,
    /// What is not in `resources` although it may exist. Nothing: the listing is complete.
    pub missing: Vec<Missing>,
    /// How many requests it took.
    pub calls: u64,
}

/// A part of the account that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What would be there, in words: `networks of workspace demo`.
    pub what: String,
    pub error: CloudError,
}

impl Inventory {
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

/// What was found so far.
#[derive(Default)]
struct Gathered {
    resources: Vec<IbmResource>,
    /// The subnets of load balancers, by the balancer's id.
    balancer_subnets: BTreeMap<String, Vec<String>>,
    default_groups: BTreeSet<String>,
    missing: Vec<Missing>,
}

/// The answer of one list.
enum Part {
    Plain(Vec<IbmResource>),
    Vpc(Vec<vpc::Found>),
}

/// What a list would hold, in words, and what it holds.
type Read = (String, Result<Part, CloudError>);

type Listing<'s> = BoxFuture<'s, Read>;

/// The tags of one resource, by its CRN.
type Lookup<'s> = BoxFuture<'s, (String, Result<Vec<String>, CloudError>)>;

fn look_up<'s>(session: &'s Session, crn: &str) -> Lookup<'s> {
    let crn = crn.to_owned();
    async move {
        let tags = tags::read(session, &crn).await;
        (crn, tags)
    }
    .boxed()
}

pub(super) async fn read(session: &Session) -> Result<Inventory, CloudError> {
    let before = session.calls();
    let account = session.account().await?;
    let mut gathered = Gathered::default();
    let (workspaces, vpcs, gateways, connections, tags) = tokio::join!(
        read_workspaces(session),
        read_vpcs(session),
        transit::gateways(session),
        transit::connections(session),
        search::tags(session, &account),
    );
    gathered.take("transit gateways".to_owned(), gateways.map(Part::Plain));
    gathered.take("connections of transit gateways".to_owned(), connections.map(Part::Plain));
    for (what, part) in workspaces.into_iter().chain(vpcs) {
        gathered.take(what, part);
    }
    gathered.place_balancers();
    gathered.leave_default_groups_out();
    match tags {
        Ok(mut tags) => {
            // What was changed from here a moment ago is asked of the tagging service itself.
            let own = session.own_changes();
            tags.retain(|crn, _| !own.contains(crn));
            gathered.tag(session, &tags).await;
        }
        Err(error) => gathered.leave_out(&error, |resource| resource.kind.is_taggable()),
    }
    let Gathered { mut resources, mut missing, balancer_subnets: _, default_groups: _ } = gathered;
    resources.sort_unstable_by(|one, other| (one.kind, &one.id).cmp(&(other.kind, &other.id)));
    missing.sort_by(|one, other| one.what.cmp(&other.what));
    Ok(Inventory { account, resources, missing, calls: session.calls() - before })
}

/// The workspaces and COS instances, and what is in each workspace.
async fn read_workspaces(session: &Session) -> Vec<Read> {
    let instances = instances::list(session).await;
    let workspaces = instances.as_ref().map_or(&[][..], Vec::as_slice);
    let listings: Vec<Listing<'_>> = workspaces.iter().flat_map(|one| list_workspace(session, one)).collect();
    let mut parts: Vec<Read> = stream::iter(listings).buffer_unordered(WORKSPACE_LISTS_MAX).collect().await;
    parts.push(("workspaces and COS instances".to_owned(), instances.map(Part::Plain)));
    parts
}

/// What is in the VPCs of every region.
async fn read_vpcs(session: &Session) -> Vec<Read> {
    let regions = match vpc::regions(session).await {
        Ok(regions) => regions,
        Err(error) => return vec![("VPCs and what is in them".to_owned(), Err(error))],
    };
    let mut listings: Vec<Listing<'_>> = Vec::new();
    for region in &regions {
        listings.extend(vpc::KINDS.into_iter().map(|kind| list_vpc(session, region, kind)));
    }
    stream::iter(listings).buffer_unordered(VPC_LISTS_MAX).collect().await
}

fn list_vpc<'s>(session: &'s Session, region: &'s str, kind: IbmResourceKind) -> Listing<'s> {
    async move { (format!("{kind}s in {region}"), vpc::list(session, region, kind).await.map(Part::Vpc)) }.boxed()
}

/// The lists of a workspace. One that is being deleted does not respond any more, and its content is deleted with it.
fn list_workspace<'s>(session: &'s Session, resource: &IbmResource) -> Vec<Listing<'s>> {
    let leaving = matches!(resource.state.as_deref(), Some("pending_reclamation" | "pending_removal" | "removed"));
    if resource.kind != IbmResourceKind::Workspace || leaving {
        return Vec::new();
    }
    let name = resource.name.clone();
    let Some(workspace) = Workspace::of(resource) else {
        let problem = Problem::Unaddressed(format!("a CRN of workspace {name}"));
        let error = CloudError::new(IbmService::Power, "list networks", problem);
        return vec![std::future::ready((format!("what is in workspace {name}"), Err(error))).boxed()];
    };
    let (also, also_name) = (workspace.clone(), name.clone());
    let networks = async move {
        (format!("networks of workspace {name}"), power::networks(session, &workspace).await.map(Part::Plain))
    };
    let servers = async move {
        (format!("DHCP servers of workspace {also_name}"), power::dhcp_servers(session, &also).await.map(Part::Plain))
    };
    vec![networks.boxed(), servers.boxed()]
}

impl Gathered {
    fn take(&mut self, what: String, part: Result<Part, CloudError>) {
        match part {
            Ok(Part::Plain(found)) => self.resources.extend(found),
            Ok(Part::Vpc(found)) => {
                for vpc::Found { resource, subnets, default_group } in found {
                    self.default_groups.extend(default_group);
                    if !subnets.is_empty() && resource.parent.is_none() {
                        self.balancer_subnets.insert(resource.id.clone(), subnets);
                    }
                    self.resources.push(resource);
                }
            }
            Err(error) => self.missing.push(Missing { what, error }),
        }
    }

    /// A default group is created and deleted with its VPC and by no one else.
    fn leave_default_groups_out(&mut self) {
        let Self { resources, default_groups, .. } = self;
        resources.retain(|one| one.kind != IbmResourceKind::SecurityGroup || !default_groups.contains(&one.id));
    }

    /// A load balancer is in the VPC of its subnets.
    fn place_balancers(&mut self) {
        let subnets = self.resources.iter().filter(|resource| resource.kind == IbmResourceKind::Subnet);
        let vpcs: BTreeMap<String, String> =
            subnets.filter_map(|subnet| Some((subnet.id.clone(), subnet.parent.clone()?))).collect();
        for resource in self.resources.iter_mut().filter(|one| one.kind == IbmResourceKind::LoadBalancer) {
            let own = self.balancer_subnets.get(&resource.id).into_iter().flatten();
            resource.parent = own.filter_map(|subnet| vpcs.get(subnet)).next().cloned();
        }
    }

    /// Puts the tags on. What search does not know is asked for one by one, as far as that is decent.
    async fn tag(&mut self, session: &Session, known: &BTreeMap<String, Vec<String>>) {
        let mut unknown: Vec<String> = Vec::new();
        for resource in self.resources.iter_mut().filter(|resource| resource.kind.is_taggable()) {
            let Some(crn) = &resource.crn else { continue };
            match known.get(crn) {
                Some(tags) => resource.set_tags(tags.iter().cloned()),
                // Networks bring their tags with them: search has no entries of their kind.
                None if resource.kind == IbmResourceKind::Network => {}
                None => unknown.push(crn.clone()),
            }
        }
        if unknown.is_empty() {
            return;
        }
        let lookups: Vec<Lookup<'_>> = unknown.iter().take(LOOKUPS_MAX).map(|crn| look_up(session, crn)).collect();
        let answers: Vec<_> = stream::iter(lookups).buffer_unordered(LOOKUPS_AT_ONCE).collect().await;
        let mut looked_up = BTreeMap::new();
        let mut why = CloudError::new(IbmService::Search, "search tags", Problem::NotIndexed);
        for (crn, answer) in answers {
            match answer {
                Ok(tags) => drop(looked_up.insert(crn, tags)),
                Err(error) => why = error,
            }
        }
        unknown.retain(|crn| !looked_up.contains_key(crn));
        for resource in &mut self.resources {
            let tags = resource.crn.as_ref().and_then(|crn| looked_up.remove(crn));
            tags.into_iter().for_each(|tags| resource.set_tags(tags));
        }
        self.leave_out(&why, |resource| resource.crn.as_ref().is_some_and(|crn| unknown.contains(crn)));
    }

    /// Leaves out resources whose tags are unknown.
    fn leave_out(&mut self, error: &CloudError, is_unknown: impl Fn(&IbmResource) -> bool) {
        let before = self.resources.len();
        self.resources.retain(|resource| !is_unknown(resource));
        let count = before - self.resources.len();
        if count > 0 {
            let ones = if count == 1 { "resource" } else { "resources" };
            let what = format!("{count} {ones} whose tags are not known");
            self.missing.push(Missing { what, error: error.clone() });
        }
    }
}
