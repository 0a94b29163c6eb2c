//! The kinds of resources, the ends of a gateway and the steps of a teardown.

pub use trueup_core::world::IbmResourceKind as Kind;

trueup_core::named_enum! {
    /// Which end of a gateway a connection is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Side {
        PowerVs = "powervs",
        Vpc = "vpc",
    }
}

impl Side {
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
