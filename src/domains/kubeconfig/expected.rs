//! Where a cluster is and who vouches for it, as its own objects say: what its kubeconfig is laid beside.

use std::collections::BTreeMap;

use super::content::{Authorities, Overlap, Pair, Server, Trust};
use super::facts::Anchor;
use super::names::{CAPT_PLANE, CLUSTER, SECRET, ca_name, connection_name};
use super::scene::{Sight, Site};
use crate::world::{ClusterName, Gap, Key, Namespace, ObjectName, View};

/// What the objects of one cluster say, the most trusted first.
pub struct Expected<'a> {
    pub endpoints: Vec<Said<&'a Server>>,
    pub authorities: Vec<Said<&'a Authorities>>,
    /// What may say more and is not known.
    pub gap: Option<Gap>,
}

/// What an object says.
pub struct Said<T> {
    pub value: T,
    /// `Secret team-a/demo-eks-connection`
    pub by: String,
    pub field: &'static str,
    pub version: String,
}

/// How a kubeconfig's server lies to the one that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointStand {
    Same,
    Moved,
    /// Another one, and there is a proxy or a server name that may be the reason.
    Differs,
    /// Means something only inside the cluster.
    InCluster,
    NotJudged,
}

/// How its authorities do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaStand {
    Same,
    Rotating,
    Disjoint,
    /// Nobody is verified.
    Insecure,
    NotJudged,
}

impl<'a> Expected<'a> {
    /// What is known of the cluster of this name.
    pub fn of(site: &Site<'a>, namespace: &Namespace, name: &str) -> Self {
        let key = |name: &str| Key { namespace: Some(namespace.clone()), name: ObjectName::new(name) };
        let connection: Sight<'a, Anchor> = site.look(&key(&connection_name(name)));
        let authority: Sight<'a, Anchor> = site.look(&key(&ca_name(name)));
        let cluster = site.clusters.get(&key(name));
        let plane = site.planes.get(&key(name));
        let said_by = |kind: &str, name: &str| format!("{kind} {namespace}/{name}");
        let by_secret = |anchor: &Anchor, name: String| (said_by(SECRET.kind, &name), anchor.version.to_string());
        let mut endpoints = Vec::new();
        let mut authorities = Vec::new();
        if let Some(anchor) = connection.seen {
            let (by, version) = by_secret(anchor, connection_name(name));
            endpoints.extend(anchor.endpoint.as_ref().map(|value| Said {
                value,
                by: by.clone(),
                field: "data.cluster_endpoint",
                version: version.clone(),
            }));
            authorities.extend(anchor.authorities.as_ref().map(|value| Said {
                value,
                by,
                field: "data.cluster_certificate_authority_data",
                version,
            }));
        }
        if let Some(anchor) = authority.seen {
            let (by, version) = by_secret(anchor, ca_name(name));
            authorities.extend(anchor.authorities.as_ref().map(|value| Said { value, by, field: "data", version }));
        }
        let spec = |value, kind| Said {
            value,
            by: said_by(kind, name),
            field: "spec.controlPlaneEndpoint",
            version: String::new(),
        };
        let in_cluster = cluster.seen.and_then(|cluster| cluster.endpoint.as_ref());
        endpoints.extend(in_cluster.map(|value| spec(value, CLUSTER.kind)));
        let in_plane = plane.seen.and_then(|plane| plane.endpoint.as_ref());
        endpoints.extend(in_plane.map(|value| spec(value, CAPT_PLANE.kind)));
        // The first that says anything counts: what might be said after it is not needed.
        let says_where = connection.seen.is_some_and(|anchor| anchor.endpoint.is_some());
        let says_who = connection.seen.is_some_and(|anchor| anchor.authorities.is_some());
        let gap = connection.gap.or(authority.gap.filter(|_| !says_who)).or(cluster.gap.filter(|_| !says_where));
        let gap = gap.or(plane.gap.filter(|_| !says_where && in_cluster.is_none()));
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

    pub fn endpoint_stand(&self, pair: &Pair) -> EndpointStand {
        if pair.server.is_in_cluster() {
            return EndpointStand::InCluster;
        }
        match self.endpoints.first() {
            None => EndpointStand::NotJudged,
            Some(said) if *said.value == pair.server => EndpointStand::Same,
            Some(_) if pair.way_round.is_some() => EndpointStand::Differs,
            Some(_) => EndpointStand::Moved,
        }
    }

    pub fn ca_stand(&self, pair: &Pair) -> CaStand {
        let held = match &pair.trust {
            Trust::Authorities(held) => held,
            Trust::Nobody => return CaStand::Insecure,
            Trust::System | Trust::File => return CaStand::NotJudged,
        };
        match self.authorities.first().map(|said| said.value.overlap(held)) {
            None => CaStand::NotJudged,
            Some(Overlap::Same) => CaStand::Same,
            Some(Overlap::Partly) => CaStand::Rotating,
            Some(Overlap::Disjoint) => CaStand::Disjoint,
        }
    }

    /// Whether any of those who speak for this cluster name the server, or vouch with one of these authorities.
    fn owns_server(&self, server: &Server) -> bool {
        self.endpoints.iter().any(|said| said.value == server)
    }

    fn owns_authorities(&self, held: &Authorities) -> bool {
        self.authorities.iter().any(|said| said.value.overlap(held) != Overlap::Disjoint)
    }
}

/// A cluster by where its objects lie.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    pub site: ClusterName,
    pub key: Key,
}

/// Where each cluster of the fleet is supposed to be, and who vouches for it.
#[derive(Default)]
pub struct Addresses<'a> {
    servers: BTreeMap<&'a Server, Vec<Who>>,
    authorities: Vec<(Who, &'a Authorities)>,
}

impl<'a> Addresses<'a> {
    pub fn of(view: View<'a>) -> Self {
        let mut all = Self::default();
        for cluster in view.clusters() {
            let Some(site) = Site::of(view, &cluster.name) else { continue };
            let keys = site.clusters.iter().map(|(key, _)| key).chain(site.planes.iter().map(|(key, _)| key));
            for key in keys {
                all.add(&site, key);
            }
        }
        all
    }

    fn add(&mut self, site: &Site<'a>, key: &Key) {
        let Some(namespace) = &key.namespace else { return };
        let who = Who { site: site.cluster.name.clone(), key: key.clone() };
        let expected = Expected::of(site, namespace, key.name.as_str());
        for said in expected.endpoints {
            self.servers.entry(said.value).or_default().push(who.clone());
        }
        self.authorities.extend(expected.authorities.into_iter().map(|said| (who.clone(), said.value)));
    }

    /// Another cluster of the fleet that a kubeconfig leads to, when it does not lead to this one.
    pub fn another(&self, pair: &Pair, who: &Who, own: &Expected<'_>) -> Option<&Who> {
        let is_other = |other: &&Who| *other != who;
        if !own.owns_server(&pair.server)
            && let Some(other) = self.servers.get(&pair.server).and_then(|all| all.iter().find(is_other))
        {
            return Some(other);
        }
        let Trust::Authorities(held) = &pair.trust else { return None };
        if own.owns_authorities(held) {
            return None;
        }
        let vouched = |(_, theirs): &&(Who, &Authorities)| theirs.overlap(held) != Overlap::Disjoint;
        self.authorities.iter().filter(vouched).map(|(other, _)| other).find(is_other)
    }
}
