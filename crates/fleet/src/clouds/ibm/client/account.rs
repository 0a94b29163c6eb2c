//! One account by its key: the entry point to the services.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::crn::Crn;
use super::endpoints::{Endpoints, IbmService};
use super::error::{CloudError, Problem};
use super::inventory::{self, Inventory};
use super::key::Credential;
use super::power::Workspace;
use super::resource::IbmResource;
use super::session::Session;
use super::{instances, power, tags, transit, vpc, write};
use crate::clouds::RecentTagWrites;
use crate::connect::{Clock, ServerClock};
use trueup_core::engine::executor::InFlight;
use trueup_core::world::IbmResourceKind;
use trueup_net::http::HttpClient;

/// The account that a key belongs to.
pub struct Account {
    session: Session,
    /// The clock of IBM Cloud's servers, compared with every response.
    clock: ServerClock,
    /// What DHCP servers and connections are found in, as the last inventory said: plans name them without it.
    parents: Mutex<BTreeMap<(IbmResourceKind, String), String>>,
}

/// A resource as a plan names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Which<'w> {
    pub kind: IbmResourceKind,
    pub id: &'w str,
    /// Everything but DHCP servers and connections has one.
    pub crn: Option<&'w str>,
    /// What it is found in: the workspace of a network or DHCP server, the gateway of a connection.
    pub parent: Option<&'w str>,
}

impl Account {
    /// An account whose servers' clock is not compared.
    pub fn new(http: HttpClient, endpoints: Endpoints, credential: impl Into<Credential>) -> Self {
        let session = Session::new(http, endpoints, credential.into());
        Self { session, clock: ServerClock::default(), parents: Mutex::default() }
    }

    /// An account whose servers' clock is compared with the clock of this machine.
    pub fn with_clock(http: HttpClient, endpoints: Endpoints, credential: impl Into<Credential>, local: Clock) -> Self {
        let clock = ServerClock::default();
        let http = http.observed_by(clock.observer(local));
        Self { clock, ..Self::new(http, endpoints, credential) }
    }

    pub fn clock(&self) -> ServerClock {
        self.clock.clone()
    }

    /// The same account, whose tags other processes of this machine may have changed a moment ago.
    #[must_use]
    pub fn with_recent_tag_writes(self, recent: RecentTagWrites) -> Self {
        Self { session: self.session.with_recent_tag_writes(recent), ..self }
    }

    /// The id of the account, as the token says it.
    ///
    /// # Errors
    /// IAM gives no token.
    pub async fn id(&self) -> Result<String, CloudError> {
        self.session.account().await
    }

    /// How many requests were sent so far.
    pub fn calls(&self) -> u64 {
        self.session.calls()
    }

    /// Everything the account holds of the kinds that matter, and what could not be read.
    ///
    /// # Errors
    /// No token: nothing could be read.
    pub async fn read_inventory(&self) -> Result<Inventory, CloudError> {
        let inventory = inventory::read(&self.session).await?;
        let mut parents = self.parents.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in &inventory.resources {
            if let Some(parent) = resource.parent.clone().filter(|_| !resource.kind.is_taggable()) {
                parents.insert((resource.kind, resource.id.clone()), parent);
            }
        }
        Ok(inventory)
    }

    /// What a resource without a CRN is found in. When it is unknown, the account is listed once; nothing
    /// when a whole inventory does not have it.
    async fn parent_of(&self, which: &Which<'_>) -> Result<Option<String>, CloudError> {
        let key = (which.kind, which.id.to_owned());
        let known = || self.parents.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(parent) = which.parent.map(str::to_owned).or_else(known) {
            return Ok(Some(parent));
        }
        let inventory = self.read_inventory().await?;
        match (known(), inventory.missing.into_iter().next()) {
            (Some(parent), _) => Ok(Some(parent)),
            (None, None) => Ok(None),
            (None, Some(missing)) => Err(missing.error),
        }
    }

    /// One resource as it is now, its tags from the tagging service itself; nothing when it does not exist.
    ///
    /// # Errors
    /// It cannot be determined.
    pub async fn read_resource(&self, which: &Which<'_>) -> Result<Option<IbmResource>, CloudError> {
        let found = self.read_bare(which).await?;
        let Some(mut resource) = found else { return Ok(None) };
        if let Some(crn) = resource.crn.clone().filter(|_| resource.kind.is_taggable()) {
            resource.set_tags(tags::read(&self.session, &crn).await?);
        }
        Ok(Some(resource))
    }

    async fn read_bare(&self, which: &Which<'_>) -> Result<Option<IbmResource>, CloudError> {
        let session = &self.session;
        match which.kind {
            IbmResourceKind::Workspace | IbmResourceKind::CosInstance => instances::read(session, which.id).await,
            IbmResourceKind::Vpc
            | IbmResourceKind::Subnet
            | IbmResourceKind::SecurityGroup
            | IbmResourceKind::LoadBalancer => {
                let location = which.crn.and_then(Crn::parse);
                let Some(location) = location.as_ref().map(Crn::location) else {
                    return Err(unaddressed(IbmService::Vpc, "its CRN, which says the region"));
                };
                Ok(vpc::read(session, which.kind, location, which.id).await?.map(|found| found.resource))
            }
            IbmResourceKind::TransitGateway => transit::read_gateway(session, which.id).await,
            IbmResourceKind::TgConnection => match self.parent_of(which).await? {
                Some(gateway) => transit::read_connection(session, &gateway, which.id).await,
                None => Ok(None),
            },
            IbmResourceKind::Network | IbmResourceKind::DhcpServer => {
                let Some(workspace) = self.read_workspace(which).await? else { return Ok(None) };
                if which.kind == IbmResourceKind::Network {
                    power::read_network(session, &workspace, which.id).await
                } else {
                    power::read_dhcp(session, &workspace, which.id).await
                }
            }
        }
    }

    /// The workspace that holds a network or DHCP server; nothing when it is gone, and with it what it held.
    async fn read_workspace(&self, which: &Which<'_>) -> Result<Option<Workspace>, CloudError> {
        let crn = which.crn.and_then(Crn::parse);
        let named = crn.as_ref().map(Crn::instance).filter(|guid| !guid.is_empty());
        let guid = match which.parent.or(named) {
            Some(guid) => Some(guid.to_owned()),
            None => self.parent_of(which).await?,
        };
        let Some(guid) = guid else { return Ok(None) };
        Ok(instances::read(&self.session, &guid).await?.as_ref().and_then(Workspace::of))
    }

    /// Attaches tags. All of them in one call, so that none comes without the others.
    ///
    /// # Errors
    /// See [`CloudError::may_have_arrived`].
    pub async fn attach_tags(&self, token: &InFlight, crn: &str, names: &[String]) -> Result<(), CloudError> {
        self.session.note_own_change(crn);
        write::attach(&self.session, token, crn, names).await
    }

    /// Attaches tags in place of all others with the same keys, in one step.
    ///
    /// # Errors
    /// See [`CloudError::may_have_arrived`].
    pub async fn replace_tags(&self, token: &InFlight, crn: &str, names: &[String]) -> Result<(), CloudError> {
        self.session.note_own_change(crn);
        write::replace(&self.session, token, crn, names).await
    }

    /// Detaches tags.
    ///
    /// # Errors
    /// See [`CloudError::may_have_arrived`].
    pub async fn detach_tags(&self, token: &InFlight, crn: &str, names: &[String]) -> Result<(), CloudError> {
        self.session.note_own_change(crn);
        write::detach(&self.session, token, crn, names).await
    }

    /// Asks for the deletion of a resource that was just read. The end comes later: read it until it is gone.
    ///
    /// # Errors
    /// See [`CloudError::may_have_arrived`].
    pub async fn delete(&self, token: &InFlight, resource: &IbmResource) -> Result<(), CloudError> {
        let which = Which {
            kind: resource.kind,
            id: &resource.id,
            crn: resource.crn.as_deref(),
            parent: resource.parent.as_deref(),
        };
        let workspace = match resource.kind {
            IbmResourceKind::Network | IbmResourceKind::DhcpServer => self.read_workspace(&which).await?,
            IbmResourceKind::Workspace
            | IbmResourceKind::Vpc
            | IbmResourceKind::Subnet
            | IbmResourceKind::SecurityGroup
            | IbmResourceKind::LoadBalancer
            | IbmResourceKind::TransitGateway
            | IbmResourceKind::TgConnection
            | IbmResourceKind::CosInstance => None,
        };
        write::delete(&self.session, token, resource, workspace.as_ref()).await
    }
}

/// A plan that does not say enough to find what it is about.
fn unaddressed(service: IbmService, lacks: &str) -> CloudError {
    CloudError::new(service, "find a resource", Problem::Unaddressed(lacks.to_owned()))
}
