//! The kinds of resources in an IBM Cloud account: one list for the client, snapshots and the check.

use std::fmt;

use serde::Serialize;

named_enum! {
    /// The kind of a resource. The words are those of snapshots and plans.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum IbmResourceKind {
        Workspace = "workspace",
        DhcpServer = "dhcp-server",
        Network = "network",
        Vpc = "vpc",
        Subnet = "subnet",
        SecurityGroup = "security-group",
        LoadBalancer = "load-balancer",
        TransitGateway = "transit-gateway",
        TgConnection = "tg-connection",
        CosInstance = "cos-instance",
    }
}

impl IbmResourceKind {
    /// The kind of its parent, or nothing for a resource without one.
    pub fn holder(self) -> Option<Self> {
        match self {
            Self::DhcpServer | Self::Network => Some(Self::Workspace),
            Self::Subnet | Self::SecurityGroup | Self::LoadBalancer => Some(Self::Vpc),
            Self::TgConnection => Some(Self::TransitGateway),
            Self::Workspace | Self::Vpc | Self::TransitGateway | Self::CosInstance => None,
        }
    }

    /// Whether tags can be attached: DHCP servers and connections have no CRN.
    pub fn is_taggable(self) -> bool {
        match self {
            Self::DhcpServer | Self::TgConnection => false,
            Self::Workspace
            | Self::Network
            | Self::Vpc
            | Self::Subnet
            | Self::SecurityGroup
            | Self::LoadBalancer
            | Self::TransitGateway
            | Self::CosInstance => true,
        }
    }

    /// Whether the resource controller keeps a deleted resource for some days (reclamation).
    pub fn is_kept_a_while(self) -> bool {
        match self {
            Self::Workspace | Self::CosInstance => true,
            Self::DhcpServer
            | Self::TgConnection
            | Self::Network
            | Self::Vpc
            | Self::Subnet
            | Self::SecurityGroup
            | Self::LoadBalancer
            | Self::TransitGateway => false,
        }
    }
}

impl fmt::Display for IbmResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
