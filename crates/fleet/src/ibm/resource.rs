//! One resource of an account, in the shape in which a recorded account holds it (`clouds/ibm/<alias>.yaml`).
//!
//! Always true: what a service does not say is left out, never made up; tags are lower case and sorted.

use std::fmt;

use serde::Serialize;

/// What a resource is. The words are those of recorded accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IbmResourceKind {
    Workspace,
    DhcpServer,
    Network,
    Vpc,
    Subnet,
    SecurityGroup,
    LoadBalancer,
    TransitGateway,
    TgConnection,
    CosInstance,
}

impl IbmResourceKind {
    pub const ALL: [Self; 10] = [
        Self::Workspace,
        Self::DhcpServer,
        Self::Network,
        Self::Vpc,
        Self::Subnet,
        Self::SecurityGroup,
        Self::LoadBalancer,
        Self::TransitGateway,
        Self::TgConnection,
        Self::CosInstance,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::DhcpServer => "dhcp-server",
            Self::Network => "network",
            Self::Vpc => "vpc",
            Self::Subnet => "subnet",
            Self::SecurityGroup => "security-group",
            Self::LoadBalancer => "load-balancer",
            Self::TransitGateway => "transit-gateway",
            Self::TgConnection => "tg-connection",
            Self::CosInstance => "cos-instance",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Whether tags can be attached to it: DHCP servers and connections have no CRN.
    pub fn has_tags(self) -> bool {
        !matches!(self, Self::DhcpServer | Self::TgConnection)
    }
}

impl fmt::Display for IbmResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IbmResource {
    pub kind: IbmResourceKind,
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crn: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    pub tags: Vec<String>,
    /// The VPC of a subnet, group or load balancer, the workspace of a network or DHCP server, the gateway of a
    /// connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_type: Option<String>,
    /// The network a DHCP server serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// What a connection connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_id: Option<String>,
    pub locked: bool,
}

impl IbmResource {
    pub(super) fn new(kind: IbmResourceKind, id: String, name: String) -> Self {
        Self {
            kind,
            id,
            crn: None,
            name,
            state: None,
            created_at: None,
            tags: Vec::new(),
            parent: None,
            network_type: None,
            network: None,
            network_id: None,
            locked: false,
        }
    }

    /// Takes tags over in the form in which they are compared: the platform folds upper case.
    pub(super) fn set_tags(&mut self, tags: impl IntoIterator<Item = String>) {
        self.tags = tags.into_iter().map(|tag| tag.trim().to_lowercase()).collect();
        self.tags.sort_unstable();
        self.tags.dedup();
    }
}
