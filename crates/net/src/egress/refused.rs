//! Why the policy refuses a host, with the line of the configuration that would allow it.

use std::collections::BTreeSet;

use super::{AddressKind, Exemption, HostPort};

/// Why a host is not reached, or does not receive an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EgressRefused {
    #[error(
        "endpoint {host} is named by the cluster and was not used with this machine's own login; to use it, set [egress] allow = [\"{host}\"]"
    )]
    Identity { host: HostPort },
    #[error(
        "{host} is named by the cluster and leads to the {kind} address {address}; to allow it, set [egress] allow = [\"{host}\"]"
    )]
    Address { host: HostPort, kind: AddressKind, address: String },
    #[error(
        "{host} is named by the cluster and is not encrypted (http); to allow it, set [egress] allow = [\"{host}\"]"
    )]
    Cleartext { host: HostPort },
    #[error(
        "{host} leads to the {kind} address {address} or is not encrypted, and the provider's servers are neither; if that is intended, name the endpoint in the configuration or the environment"
    )]
    NotOfProvider { host: HostPort, kind: AddressKind, address: String },
    #[error("{host} is not an endpoint of the provider, and neither the configuration nor the environment names it")]
    Unnamed { host: HostPort },
    #[error(
        "the kubeconfig of {cluster} is in a Secret and uses {uses}; to allow it, set [egress] guests = {{ {cluster:?} = [{words}] }}"
    )]
    Guest { cluster: String, uses: String, words: String },
    #[error("the URL names no host")]
    NoHost,
}

impl EgressRefused {
    /// The refusal of a kubeconfig out of a Secret. `words` is all that its cluster needs.
    pub(super) fn guest(cluster: &str, uses: &[String], words: &BTreeSet<Exemption>) -> Self {
        let words: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.as_str())).collect();
        Self::Guest { cluster: cluster.to_owned(), uses: uses.join(" and "), words: words.join(", ") }
    }
}
