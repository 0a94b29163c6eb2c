//! Where a cluster names its resources: one slot for each place in spec and status, whichever shape the object has.
//!
//! ```text
//!               older                                    newer
//! spec          vpc: {id} | {name} | nothing             vpc: {type, reference: {id | name}, provision: {name}}
//! status        vpc: {id, controllerCreated}             vpc: {id, name}
//! several       vpcSubnet: {name: {id, …}}               vpcSubnets: [{id, name}]
//! ```

use super::super::kind::{Kind, Side};
use super::super::names::{Exposure, dhcp_network, load_balancer, single, subnet, zone_subnets};
use super::sheet::{Entry, Misfits, Sheet};

/// One place where a cluster names a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    pub kind: Kind,
    /// For connections: which end of the gateway.
    pub side: Option<Side>,
    pub spec_entry: SpecEntry,
    pub held: Option<Held>,
    /// What it is called when no id says which it is: the given name, else what the provider would call it.
    pub names: Vec<String>,
    /// Where it was read, for evidence.
    pub field: String,
}

/// What the spec says of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpecEntry {
    /// Nothing, nor of any other of its sort.
    Silent,
    /// Nothing, but of others of its sort.
    Unlisted,
    /// That it is wanted, without saying which (older shape).
    Plain,
    /// What it is called (older shape).
    Named,
    /// Which one it is (older shape).
    Given {
        id: String,
    },
    Provision,
    Reference {
        id: Option<String>,
    },
}

/// What the status holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub id: String,
    /// `controllerCreated`, which only the older shape has.
    pub created: Option<bool>,
}

impl Slot {
    /// The ids it holds, the status' first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let given = match &self.spec_entry {
            SpecEntry::Given { id } | SpecEntry::Reference { id: Some(id) } => Some(id.as_str()),
            SpecEntry::Silent
            | SpecEntry::Unlisted
            | SpecEntry::Plain
            | SpecEntry::Named
            | SpecEntry::Provision
            | SpecEntry::Reference { id: None } => None,
        };
        self.held.iter().map(|held| held.id.as_str()).chain(given)
    }

    /// Whether the spec says which one it is: by id, or by a name the user chose among what is there.
    pub fn is_chosen_by_user(&self) -> bool {
        match self.spec_entry {
            SpecEntry::Named | SpecEntry::Given { .. } | SpecEntry::Reference { .. } => true,
            SpecEntry::Silent | SpecEntry::Unlisted | SpecEntry::Plain | SpecEntry::Provision => false,
        }
    }

    pub fn is_created(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.created == Some(true))
    }
}

/// Every slot of a cluster.
pub fn read(cluster: &str, spec: &Sheet<'_>, status: &Sheet<'_>) -> Misfits<Vec<Slot>> {
    let reader = Reader { cluster, spec, status };
    let mut slots = vec![
        reader.workspace()?,
        reader.one(Kind::Vpc, "vpc")?,
        reader.one(Kind::TransitGateway, "transitGateway")?,
        reader.one(Kind::CosInstance, "cosInstance")?,
    ];
    slots.extend(reader.networks()?);
    let gateway = slots[2].names.clone();
    for side in Side::ALL {
        slots.push(reader.connection(side, &gateway)?);
    }
    slots.extend(reader.several(Kind::Subnet, &["subnets", "vpcSubnets"], &["vpcSubnets", "vpcSubnet"])?);
    slots.extend(reader.several(Kind::SecurityGroup, &["vpcSecurityGroups"], &["vpcSecurityGroups"])?);
    slots.extend(reader.several(Kind::LoadBalancer, &["loadBalancers"], &["loadBalancers"])?);
    Ok(slots)
}

struct Reader<'r, 'v> {
    cluster: &'r str,
    spec: &'r Sheet<'v>,
    status: &'r Sheet<'v>,
}

impl<'v> Reader<'_, 'v> {
    fn one(&self, kind: Kind, key: &str) -> Misfits<Slot> {
        let asked = asked(&self.spec.part(key)?)?;
        let status = self.status.part(key)?;
        Ok(self.slot(kind, asked, held(&status)?, single(kind, self.cluster), status.path()))
    }

    /// The newer shape calls it a workspace; the older one had two fields for it.
    fn workspace(&self) -> Misfits<Slot> {
        let kind = Kind::Workspace;
        if self.spec.has("workspace") || self.status.has("workspace") {
            return self.one(kind, "workspace");
        }
        let mut slot = self.one(kind, "serviceInstance")?;
        let gives_none = matches!(slot.spec_entry, SpecEntry::Silent | SpecEntry::Plain | SpecEntry::Named);
        if let Some(id) = self.spec.text("serviceInstanceID")?.filter(|_| gives_none) {
            slot.spec_entry = SpecEntry::Given { id: id.to_owned() };
        }
        Ok(slot)
    }

    /// The DHCP server and the network it serves, which IBM Cloud names after it.
    fn networks(&self) -> Misfits<[Slot; 2]> {
        let (spec, status) = (self.spec.part("network")?, self.status.part("network")?);
        let asked_network = asked(&spec)?;
        let server = self.spec.part("dhcpServer")?;
        let provisioned = spec.part("provision")?.part("dhcpServer")?.text("name")?;
        let given = provisioned.or(server.text("name")?).map(str::to_owned);
        let server_names = match given.clone().or_else(|| asked_network.name.clone()) {
            Some(name) => vec![name],
            None => single(Kind::DhcpServer, self.cluster),
        };
        let mut network_names: Vec<String> = asked_network.name.clone().into_iter().collect();
        let generated: Vec<String> = server_names.iter().map(|name| dhcp_network(name)).collect();
        network_names.extend(generated.iter().cloned());
        let asked_server = match asked_network.spec_entry {
            SpecEntry::Provision | SpecEntry::Reference { .. } => {
                Asked { spec_entry: asked_network.spec_entry.clone(), name: None }
            }
            SpecEntry::Silent | SpecEntry::Unlisted | SpecEntry::Plain | SpecEntry::Named | SpecEntry::Given { .. } => {
                asked(&server)?
            }
        };
        let nested = status.part("dhcpServer")?;
        let server_status = if nested.is_there() { nested } else { self.status.part("dhcpServer")? };
        let network = Slot {
            names: network_names,
            ..self.slot(Kind::Network, asked_network, held(&status)?, Vec::new(), status.path())
        };
        let server = Slot {
            names: [server_names, generated].concat(),
            ..self.slot(Kind::DhcpServer, asked_server, held(&server_status)?, Vec::new(), server_status.path())
        };
        Ok([network, server])
    }

    fn connection(&self, side: Side, gateways: &[String]) -> Misfits<Slot> {
        let (key, end) = match side {
            Side::PowerVs => ("powerVSConnection", "pvs-con"),
            Side::Vpc => ("vpcConnection", "vpc-con"),
        };
        let asked = asked(&self.spec.part("transitGateway")?.part(key)?)?;
        let status = self.status.part("transitGateway")?.part(key)?;
        let names = gateways.iter().map(|gateway| format!("{gateway}-{end}")).collect();
        let slot = self.slot(Kind::TgConnection, asked, held(&status)?, names, status.path());
        Ok(Slot { side: Some(side), ..slot })
    }

    /// Resources of which there may be several: each entry of the spec, and what the status holds beside them.
    fn several(&self, kind: Kind, spec_keys: &[&str], status_keys: &[&str]) -> Misfits<Vec<Slot>> {
        let wanted = first_list(self.spec, spec_keys)?;
        let there = first_list(self.status, status_keys)?;
        let mut slots = Vec::new();
        for (index, entry) in wanted.iter().enumerate() {
            let asked = asked(&entry.sheet)?;
            let names = self.place_names(kind, index, &entry.sheet)?;
            slots.push(self.slot(kind, asked, None, names, entry.sheet.path()));
        }
        let beside = if wanted.is_empty() { SpecEntry::Silent } else { SpecEntry::Unlisted };
        for Entry { key, sheet } in &there {
            let Some(held) = held(sheet)? else { continue };
            let name = key.map_or_else(|| sheet.text("name"), |key| Ok(Some(key)))?;
            let is_meant = |slot: &&mut Slot| {
                slot.held.is_none()
                    && (slot.ids().any(|id| id == held.id)
                        || name.is_some_and(|name| slot.names.iter().any(|one| one == name)))
            };
            match slots.iter_mut().find(is_meant) {
                Some(slot) => (slot.held, slot.field) = (Some(held), sheet.path().to_owned()),
                None => {
                    let asked = Asked { spec_entry: beside.clone(), name: None };
                    slots.push(self.slot(kind, asked, Some(held), Vec::new(), sheet.path()));
                }
            }
        }
        if slots.is_empty() {
            let asked = Asked { spec_entry: SpecEntry::Silent, name: None };
            let names = self.lone_names(kind)?;
            slots.push(self.slot(kind, asked, None, names, &format!("{}.{}", self.status.path(), status_keys[0])));
        }
        Ok(slots)
    }

    /// What the provider calls an entry of a list.
    fn place_names(&self, kind: Kind, index: usize, entry: &Sheet<'_>) -> Misfits<Vec<String>> {
        Ok(match kind {
            Kind::Subnet => {
                let mut names = subnet(self.cluster, &index.to_string());
                names.extend(entry.text("zone")?.map(|zone| subnet(self.cluster, zone)).unwrap_or_default());
                names
            }
            Kind::LoadBalancer => {
                let is_private =
                    entry.part("provision")?.text("type")? == Some("Private") || entry.flag("public")? == Some(false);
                let exposure = if is_private { Exposure::Private } else { Exposure::Public };
                load_balancer(self.cluster, index, exposure)
            }
            Kind::Workspace
            | Kind::DhcpServer
            | Kind::Network
            | Kind::Vpc
            | Kind::SecurityGroup
            | Kind::TransitGateway
            | Kind::TgConnection
            | Kind::CosInstance => single(kind, self.cluster),
        })
    }

    /// What the provider calls resources that are not listed.
    fn lone_names(&self, kind: Kind) -> Misfits<Vec<String>> {
        if kind != Kind::Subnet {
            return Ok(single(kind, self.cluster));
        }
        let region = self.spec.part("vpc")?.text("region")?.or(self.status.part("vpc")?.text("region")?);
        Ok(region.map(|region| zone_subnets(self.cluster, region)).unwrap_or_default())
    }

    fn slot(&self, kind: Kind, asked: Asked, held: Option<Held>, usual: Vec<String>, field: &str) -> Slot {
        let names = asked.name.map_or(usual, |name| vec![name]);
        Slot { kind, side: None, spec_entry: asked.spec_entry, held, names, field: field.to_owned() }
    }
}

/// What a part of the spec asks for.
struct Asked {
    spec_entry: SpecEntry,
    name: Option<String>,
}

fn asked(part: &Sheet<'_>) -> Misfits<Asked> {
    if !part.is_there() {
        return Ok(Asked { spec_entry: SpecEntry::Silent, name: None });
    }
    let (reference, provision) = (part.part("reference")?, part.part("provision")?);
    let text = |text: Option<&str>| text.map(str::to_owned);
    let is_reference = || -> Misfits<Asked> {
        let spec_entry = SpecEntry::Reference { id: text(reference.text("id")?) };
        Ok(Asked { spec_entry, name: text(reference.text("name")?) })
    };
    // A load balancer's `type` inside `provision` says who can reach it; here only the block's own counts.
    match part.text("type")? {
        Some("Reference") => is_reference(),
        Some("Provision") => Ok(Asked { spec_entry: SpecEntry::Provision, name: text(provision.text("name")?) }),
        _ if reference.is_there() => is_reference(),
        _ if provision.is_there() => {
            Ok(Asked { spec_entry: SpecEntry::Provision, name: text(provision.text("name")?) })
        }
        _ => {
            let (id, name) = (text(part.text("id")?), text(part.text("name")?));
            let spec_entry = match (id, &name) {
                (Some(id), _) => SpecEntry::Given { id },
                (None, Some(_)) => SpecEntry::Named,
                // A pattern picks one that is there, as a name does.
                (None, None) if part.has("regex") => SpecEntry::Named,
                (None, None) => SpecEntry::Plain,
            };
            Ok(Asked { spec_entry, name })
        }
    }
}

fn held(part: &Sheet<'_>) -> Misfits<Option<Held>> {
    let created = part.flag("controllerCreated")?;
    Ok(part.text("id")?.map(|id| Held { id: id.to_owned(), created }))
}

/// The first of several fields that holds anything.
fn first_list<'v>(sheet: &Sheet<'v>, keys: &[&str]) -> Misfits<Vec<Entry<'v>>> {
    for key in keys {
        let entries = sheet.parts(key)?;
        if !entries.is_empty() {
            return Ok(entries);
        }
    }
    Ok(Vec::new())
}
