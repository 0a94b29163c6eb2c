//! Every name this check knows, in one place: tags, annotations, resources, states, and the names a cluster's resources get
//! when the spec gives none.
//!
//! There are two generations of default names. An object that was made by the older provider keeps its resources under
//! their old names, so both are looked for.

use super::kind::Kind;
pub use crate::kinds::{CLUSTER as CAPI_CLUSTER, POWERVS_CLUSTER};
use trueup_core::world::Resource;

/// What tags of ours begin with unless the configuration says otherwise; always read.
pub const TAG_PREFIX: &str = "powervs.cluster.x-k8s.io-";
/// `<prefix>owner:<name of the IBMPowerVSCluster>`.
pub const OWNER_KEY: &str = "owner:";
/// `<prefix>cluster-uuid:<uid of the IBMPowerVSCluster>`.
pub const UUID_KEY: &str = "cluster-uuid:";
/// `<prefix>tgconn:<uid>.vpc` or `.powervs`: a connection on this gateway is ours. Says nothing of the gateway.
pub const CONNECTION_KEY: &str = "tgconn:";
/// The tags by which installers mark what they made: `kubernetes.io-cluster-<id>:owned` or `:shared`.
pub const INSTALLER_MARK: &str = "kubernetes.io-cluster-";
pub const INSTALLER_VALUES: [&str; 2] = ["owned", "shared"];

/// User tags of an object whose spec has no field for them: a JSON object.
pub const USER_TAGS: &str = "trueup/user-tags";
/// The user tags that were attached: a JSON object from resource id to tags; in its older form one list for all.
pub const ATTACHED_TAGS: &str = "trueup/attached-tags";
/// The provider makes and removes infrastructure only with it, or with a topology that asks for it.
pub const CREATE_INFRA: &str = "powervs.cluster.x-k8s.io/create-infra";
/// An object that Velero restored.
pub const VELERO_RESTORE: &str = "velero.io/restore-name";
pub const LOAD_BALANCER_TOPOLOGY: &str = "LoadBalancer";

pub const CLOUD_RESOURCE: Resource =
    Resource { group: "ibm.cloud.trueup", version: "v1", kind: "Resource", plural: "resources", namespaced: false };
pub const CLOUD_API: &str = "ibm.cloud.trueup/v1";

/// What IBM Cloud lets a name be.
const NAME_MAX: usize = 63;

/// The name a newer provider gives: the cluster's part is cut so that the whole fits, and never ends in a dash.
pub fn newer(cluster: &str, suffix: &str) -> String {
    let base_max = NAME_MAX.saturating_sub(suffix.len() + 1);
    let base = match cluster.char_indices().nth(base_max) {
        Some((end, _)) => cluster[..end].trim_end_matches('-'),
        None => cluster,
    };
    format!("{base}-{suffix}")
}

/// The names of a resource of which there is one.
pub fn single(kind: Kind, cluster: &str) -> Vec<String> {
    match kind {
        Kind::Workspace => vec![format!("{cluster}-serviceInstance"), newer(cluster, "workspace")],
        Kind::Vpc => both(cluster, "vpc", "vpc"),
        Kind::TransitGateway => both(cluster, "transitgateway", "transitgateway"),
        Kind::CosInstance => both(cluster, "cosinstance", "cos"),
        Kind::DhcpServer => vec![cluster.to_owned(), newer(cluster, "dhcp")],
        Kind::SecurityGroup => vec![newer(cluster, "sg")],
        Kind::LoadBalancer => vec![format!("{cluster}-loadbalancer"), newer(cluster, "loadbalancer-public")],
        Kind::Network | Kind::Subnet | Kind::TgConnection => Vec::new(),
    }
}

/// The names of a subnet: one of several by its place in the list, a lone one by its zone.
pub fn subnet(cluster: &str, which: &str) -> Vec<String> {
    both(cluster, &format!("vpcsubnet-{which}"), &format!("subnet-{which}"))
}

/// The names of the load balancer at a place of the list; the newer provider leaves the first number out.
pub fn load_balancer(cluster: &str, index: usize, exposure: Exposure) -> Vec<String> {
    let word = match exposure {
        Exposure::Public => "public",
        Exposure::Private => "private",
    };
    let suffix = if index == 0 { format!("loadbalancer-{word}") } else { format!("loadbalancer-{word}-{index}") };
    vec![format!("{cluster}-loadbalancer-{index}"), newer(cluster, &suffix)]
}

/// Who can reach a load balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    Public,
    Private,
}

/// How IBM Cloud names the network of a DHCP server.
pub fn dhcp_network(server: &str) -> String {
    format!("DHCPSERVER{server}_Private")
}

/// The zones of a region, and every subnet name that follows from them.
pub fn zone_subnets(cluster: &str, region: &str) -> Vec<String> {
    (1..=3).flat_map(|zone| subnet(cluster, &format!("{region}-{zone}"))).collect()
}

fn both(cluster: &str, older: &str, suffix: &str) -> Vec<String> {
    let names = [format!("{cluster}-{older}"), newer(cluster, suffix)];
    let [older, newer] = names;
    if older == newer { vec![older] } else { vec![older, newer] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edge case: two long names may collide, and a cut never leaves two dashes.
    #[test]
    fn newer_names_keep_their_suffix_and_63_characters() {
        let long = |letter: &str, times: usize| letter.repeat(times);
        let cases = [
            ("a workspace", "my-cluster".to_owned(), "workspace", "my-cluster-workspace".to_owned()),
            ("a gateway", "my-cluster".to_owned(), "transitgateway", "my-cluster-transitgateway".to_owned()),
            ("a VPC", "my-cluster".to_owned(), "vpc", "my-cluster-vpc".to_owned()),
            (
                "a subnet by zone",
                "my-cluster".to_owned(),
                "subnet-us-south-1",
                "my-cluster-subnet-us-south-1".to_owned(),
            ),
            ("a subnet by place", "my-cluster".to_owned(), "subnet-2", "my-cluster-subnet-2".to_owned()),
            (
                "a public balancer",
                "my-cluster".to_owned(),
                "loadbalancer-public",
                "my-cluster-loadbalancer-public".to_owned(),
            ),
            (
                "the second of them",
                "my-cluster".to_owned(),
                "loadbalancer-public-1",
                "my-cluster-loadbalancer-public-1".to_owned(),
            ),
            (
                "a private balancer",
                "my-cluster".to_owned(),
                "loadbalancer-private",
                "my-cluster-loadbalancer-private".to_owned(),
            ),
            ("a group", "my-cluster".to_owned(), "sg", "my-cluster-sg".to_owned()),
            ("a DHCP server", "my-cluster".to_owned(), "dhcp", "my-cluster-dhcp".to_owned()),
            ("a COS instance", "my-cluster".to_owned(), "cos", "my-cluster-cos".to_owned()),
            ("a bucket", "my-cluster".to_owned(), "cos-bucket", "my-cluster-cos-bucket".to_owned()),
            ("a long name is cut", long("a", 60), "workspace", format!("{}-workspace", long("a", 53))),
            ("a long suffix stays whole", long("b", 60), "transitgateway", format!("{}-transitgateway", long("b", 48))),
            ("never more than 63", long("c", 100), "vpc", format!("{}-vpc", long("c", 59))),
            (
                "a dash at the cut goes, with a zone",
                format!("{}-extra", long("x", 44)),
                "subnet-us-south-1",
                format!("{}-subnet-us-south-1", long("x", 44)),
            ),
            ("a dash at the cut goes", format!("{}-yz", long("x", 58)), "vpc", format!("{}-vpc", long("x", 58))),
        ];
        assert_eq!(cases.len(), 17, "as many as upstream has");
        for (case, cluster, suffix, expected) in cases {
            let name = newer(&cluster, suffix);
            assert_eq!(name, expected, "case: {case}");
            assert!(name.len() <= NAME_MAX, "case: {case}");
        }
    }

    #[test]
    fn each_kind_is_looked_for_under_the_names_of_both_generations() {
        let cases = [
            (Kind::Workspace, vec!["demo-serviceInstance", "demo-workspace"]),
            (Kind::Vpc, vec!["demo-vpc"]),
            (Kind::TransitGateway, vec!["demo-transitgateway"]),
            (Kind::CosInstance, vec!["demo-cosinstance", "demo-cos"]),
            (Kind::DhcpServer, vec!["demo", "demo-dhcp"]),
            (Kind::SecurityGroup, vec!["demo-sg"]),
            (Kind::LoadBalancer, vec!["demo-loadbalancer", "demo-loadbalancer-public"]),
        ];
        for (kind, expected) in cases {
            assert_eq!(single(kind, "demo"), expected, "{}", kind.as_str());
        }
        assert_eq!(subnet("demo", "0"), ["demo-vpcsubnet-0", "demo-subnet-0"]);
        assert_eq!(load_balancer("demo", 0, Exposure::Private), ["demo-loadbalancer-0", "demo-loadbalancer-private"]);
        assert_eq!(load_balancer("demo", 2, Exposure::Public), ["demo-loadbalancer-2", "demo-loadbalancer-public-2"]);
        assert_eq!(dhcp_network("demo"), "DHCPSERVERdemo_Private");
    }
}
