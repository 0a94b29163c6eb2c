//! Endpoint and CA of a cluster, as its own objects say: what its kubeconfig is compared with.

use super::content::{Authorities, Overlap, Pair, Server, Trust};
use super::context::CheckContext;
use super::facts::Anchor;
use super::names::{CAPT_PLANE, CLUSTER, SECRET, ca_name, connection_name};
use super::subjects::Owners;
use trueup_core::world::{ClusterName, Gap, Key, ObjectName, ResourceVersion, Sighting};

/// What the objects of one cluster say, the most trusted first.
pub struct Expected<'a> {
    pub endpoints: Vec<Said<'a, Server>>,
    pub authorities: Vec<Said<'a, Authorities>>,
    /// What may say more and is not known.
    pub gap: Option<Gap>,
}

/// What an object says.
pub struct Said<'a, T> {
    pub value: &'a T,
    pub speaker: EndpointSource,
    /// Of a Secret; the others' versions move by themselves.
    pub version: Option<&'a ResourceVersion>,
}

impl<'a, T> Said<'a, T> {
    fn versioned(value: &'a T, speaker: EndpointSource, version: &'a ResourceVersion) -> Self {
        Self { value, speaker, version: Some(version) }
    }
}

/// Who says where a cluster is, or who vouches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointSource {
    Connection,
    ConnectionAuthority,
    Authority,
    Cluster,
    Plane,
}

impl EndpointSource {
    /// `Secret team-a/demo-eks-connection`
    pub fn object(self, cluster: &Key, plane: &Key) -> String {
        let name = cluster.name.as_str();
        let (kind, name) = match self {
            Self::Connection | Self::ConnectionAuthority => (SECRET.kind, connection_name(name)),
            Self::Authority => (SECRET.kind, ca_name(name)),
            Self::Cluster => (CLUSTER.kind, name.to_owned()),
            Self::Plane => (CAPT_PLANE.kind, plane.name.to_string()),
        };
        format!("{kind} {}", Key { namespace: cluster.namespace.clone(), name: ObjectName::new(name) })
    }

    pub fn field(self) -> &'static str {
        match self {
            Self::Connection => "data.cluster_endpoint",
            Self::ConnectionAuthority => "data.cluster_certificate_authority_data",
            Self::Authority => "data",
            Self::Cluster | Self::Plane => "spec.controlPlaneEndpoint",
        }
    }
}

/// A kubeconfig's server compared with the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointComparison {
    Same,
    Moved,
    /// Another one, and there is a proxy or a server name that may be the reason.
    Differs,
    /// Means something only inside the cluster.
    InCluster,
    NotJudged,
}

/// Its CAs compared with the expected ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaComparison {
    Same,
    Rotating,
    Disjoint,
    /// The server is not verified.
    Insecure,
    NotJudged,
}

impl<'a> Expected<'a> {
    /// What is known of a cluster.
    pub fn of(context: &CheckContext<'a>, cluster: &Key, owners: &Owners<'a>) -> Self {
        let beside = |name: String| Key { namespace: cluster.namespace.clone(), name: ObjectName::new(name) };
        let connection: Sighting<'a, Anchor> = context.secrets.read(&beside(connection_name(cluster.name.as_str())));
        let authority: Sighting<'a, Anchor> = context.secrets.read(&beside(ca_name(cluster.name.as_str())));
        let mut endpoints = Vec::new();
        let mut authorities = Vec::new();
        let of_connection = connection.seen.and_then(|anchor| Some((anchor.endpoint.as_ref()?, &anchor.version)));
        let of_cluster = owners.cluster.seen.and_then(|cluster| cluster.endpoint.as_ref());
        let of_plane = owners.plane.seen.and_then(|plane| plane.endpoint.as_ref());
        endpoints
            .extend(of_connection.map(|(value, version)| Said::versioned(value, EndpointSource::Connection, version)));
        endpoints.extend(of_cluster.map(|value| Said { value, speaker: EndpointSource::Cluster, version: None }));
        endpoints.extend(of_plane.map(|value| Said { value, speaker: EndpointSource::Plane, version: None }));
        for (seen, speaker) in
            [(connection.seen, EndpointSource::ConnectionAuthority), (authority.seen, EndpointSource::Authority)]
        {
            let held = seen.and_then(|anchor| Some((anchor.authorities.as_ref()?, &anchor.version)));
            authorities.extend(held.map(|(value, version)| Said::versioned(value, speaker, version)));
        }
        // The first that says anything counts: what might be said after it is not needed.
        let says_where = of_connection.is_some();
        let says_who = connection.seen.is_some_and(|anchor| anchor.authorities.is_some());
        let gap = connection.gap.or(authority.gap.filter(|_| !says_who));
        let gap = gap.or_else(|| owners.cluster.gap.clone().filter(|_| !says_where));
        let gap = gap.or_else(|| owners.plane.gap.clone().filter(|_| !says_where && of_cluster.is_none()));
        Self { endpoints, authorities, gap }
    }

    /// Nothing is expected of where it leads.
    pub fn nothing() -> Self {
        Self { endpoints: Vec::new(), authorities: Vec::new(), gap: None }
    }

    /// Whether those who say where the cluster is say different things.
    pub fn disagree(&self) -> bool {
        let endpoints = self.endpoints.windows(2).any(|pair| pair[0].value != pair[1].value);
        let authorities = self.authorities.windows(2).any(|pair| pair[0].value.overlap(pair[1].value) != Overlap::Same);
        endpoints || authorities
    }

    pub fn endpoint_stand(&self, pair: &Pair) -> EndpointComparison {
        if pair.server.is_in_cluster() {
            return EndpointComparison::InCluster;
        }
        match self.endpoints.first() {
            None => EndpointComparison::NotJudged,
            Some(said) if *said.value == pair.server => EndpointComparison::Same,
            Some(_) if pair.way_round.is_some() => EndpointComparison::Differs,
            Some(_) => EndpointComparison::Moved,
        }
    }

    pub fn ca_stand(&self, pair: &Pair) -> CaComparison {
        let held = match &pair.trust {
            Trust::Authorities(held) => held,
            Trust::Unverified => return CaComparison::Insecure,
            Trust::System | Trust::File => return CaComparison::NotJudged,
        };
        match self.authorities.first().map(|said| said.value.overlap(held)) {
            None => CaComparison::NotJudged,
            Some(Overlap::Same) => CaComparison::Same,
            Some(Overlap::Partly) => CaComparison::Rotating,
            Some(Overlap::Disjoint) => CaComparison::Disjoint,
        }
    }

    /// Whether any of those who speak for this cluster name the server, or vouch with one of these authorities.
    pub fn owns_server(&self, server: &Server) -> bool {
        self.endpoints.iter().any(|said| said.value == server)
    }

    pub fn owns_authorities(&self, held: &Authorities) -> bool {
        self.authorities.iter().any(|said| said.value.overlap(held) != Overlap::Disjoint)
    }
}

/// A cluster by where its objects lie.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    pub context: ClusterName,
    pub key: Key,
}
