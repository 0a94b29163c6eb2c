//! The kinds of cloud resources a cluster is made of, and the order in which they can be taken down.

named_enum! {
    /// A kind of cloud resource.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Kind {
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

impl Kind {
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

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The kind that contains it, or nothing for a top-level kind.
    pub fn holder(self) -> Option<Self> {
        match self {
            Self::DhcpServer | Self::Network => Some(Self::Workspace),
            Self::Subnet | Self::SecurityGroup | Self::LoadBalancer => Some(Self::Vpc),
            Self::TgConnection => Some(Self::TransitGateway),
            Self::Workspace | Self::Vpc | Self::TransitGateway | Self::CosInstance => None,
        }
    }

    /// Whether the cloud lets it be tagged. Connections and DHCP servers have no name in the tagging service.
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

    /// Whether a deletion is only the beginning of its end: the resource controller keeps what it deleted for some days.
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

named_enum! {
    /// Which end of a gateway a connection is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Side {
        PowerVs = "powervs",
        Vpc = "vpc",
    }
}

impl Side {
    pub const ALL: [Self; 2] = [Self::PowerVs, Self::Vpc];

    /// By the type of the network a connection leads to.
    pub fn of_network(network_type: &str) -> Option<Self> {
        match network_type {
            "power_virtual_server" => Some(Self::PowerVs),
            "vpc" => Some(Self::Vpc),
            _ => None,
        }
    }

    /// What such a connection leads to.
    pub fn kind(self) -> Kind {
        match self {
            Self::PowerVs => Kind::Workspace,
            Self::Vpc => Kind::Vpc,
        }
    }
}

/// A step of a teardown. Each begins when the one before is over; this is the order the provider itself takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    PowerVsConnection,
    VpcConnection,
    Gateway,
    LoadBalancers,
    Groups,
    Subnets,
    Vpc,
    Dhcp,
    Networks,
    Workspace,
    Cos,
}

impl Stage {
    pub const ALL: [Self; 11] = [
        Self::PowerVsConnection,
        Self::VpcConnection,
        Self::Gateway,
        Self::LoadBalancers,
        Self::Groups,
        Self::Subnets,
        Self::Vpc,
        Self::Dhcp,
        Self::Networks,
        Self::Workspace,
        Self::Cos,
    ];

    pub fn of(kind: Kind, side: Option<Side>) -> Self {
        match (kind, side) {
            (Kind::TgConnection, Some(Side::PowerVs)) => Self::PowerVsConnection,
            (Kind::TgConnection, Some(Side::Vpc) | None) => Self::VpcConnection,
            (Kind::TransitGateway, _) => Self::Gateway,
            (Kind::LoadBalancer, _) => Self::LoadBalancers,
            (Kind::SecurityGroup, _) => Self::Groups,
            (Kind::Subnet, _) => Self::Subnets,
            (Kind::Vpc, _) => Self::Vpc,
            (Kind::DhcpServer, _) => Self::Dhcp,
            (Kind::Network, _) => Self::Networks,
            (Kind::Workspace, _) => Self::Workspace,
            (Kind::CosInstance, _) => Self::Cos,
        }
    }
}
