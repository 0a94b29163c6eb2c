//! Who a cluster is, whatever people call it: kube-system's uid and its certificate authorities.
//!
//! Invariant: what could not be read is empty in the identity, and an identity with something empty is not known.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::{classify, send};
use trueup_core::world::{ClusterIdentity, Gap};

/// The namespace whose uid is half of the identity.
pub const NAMESPACE: &str = "kube-system";
/// The ConfigMap there that has the authorities.
pub const ROOTS: &str = "kube-root-ca.crt";

const NAMESPACE_PATH: &str = "/api/v1/namespaces/kube-system";
const ROOTS_PATH: &str = "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt";

/// An identity as far as it could be read, and what kept the rest from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityRead {
    pub identity: ClusterIdentity,
    pub gaps: Vec<Gap>,
}

/// The identity made of kube-system's uid and the PEM text of `ca.crt` in its ConfigMap `kube-root-ca.crt`.
///
/// The order of the certificates and anything between them does not matter. Text that is no clean row of certificates
/// gives nothing: half of a set of authorities is another set.
pub fn of(kube_system_uid: Option<&str>, ca_pem: Option<&str>) -> ClusterIdentity {
    ClusterIdentity {
        kube_system_uid: kube_system_uid.unwrap_or_default().to_owned(),
        ca_sha256: ca_pem.and_then(digest).unwrap_or_default(),
        account: String::new(),
    }
}

/// Reads both pieces from a live cluster.
pub async fn read(client: &kube::Client) -> IdentityRead {
    let (namespace, roots) = futures::join!(
        get::<Named>(client, NAMESPACE_PATH, "reading namespace kube-system"),
        get::<Roots>(client, ROOTS_PATH, "reading configmap kube-system/kube-root-ca.crt"),
    );
    let mut gaps = Vec::new();
    let uid = kept(namespace, &mut gaps).map(|object| object.metadata.uid);
    let pem = kept(roots, &mut gaps).and_then(|object| object.data.ca);
    IdentityRead { identity: of(uid.as_deref(), pem.as_deref()), gaps }
}

fn digest(pem: &str) -> Option<String> {
    let certificates: Vec<CertificateDer<'_>> =
        CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().ok()?;
    if certificates.is_empty() {
        return None;
    }
    let mut prints: Vec<[u8; 32]> = certificates.iter().map(|der| Sha256::digest(der).into()).collect();
    prints.sort_unstable();
    let mut hash = Sha256::new();
    for print in prints {
        hash.update(print);
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    uid: String,
}

#[derive(Deserialize)]
struct Roots {
    #[serde(default)]
    data: RootsData,
}

#[derive(Deserialize, Default)]
struct RootsData {
    #[serde(rename = "ca.crt")]
    ca: Option<String>,
}

async fn get<T: DeserializeOwned>(client: &kube::Client, path: &str, what: &str) -> Result<T, Gap> {
    let (code, body) =
        send::get_bytes(client, path, send::JSON).await.map_err(|error| classify::transport(&error, what))?;
    if !code.is_success() {
        return Err(classify::status(code, classify::reason(&body).as_deref(), what));
    }
    serde_json::from_slice(&body).map_err(|_| classify::undecodable(&body, what))
}

fn kept<T>(read: Result<T, Gap>, gaps: &mut Vec<Gap>) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(gap) => {
            gaps.push(gap);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    use crate::connect::testing::{answering, authority};
    use trueup_core::world::GapCause;

    #[test]
    fn the_order_of_authorities_does_not_matter_but_their_set_does() {
        let (one, two) = (authority("one").pem(), authority("two").pem());
        let both = of(Some("u"), Some(&format!("{one}{two}")));
        assert!(both.is_known());
        assert_eq!(both, of(Some("u"), Some(&format!("# comment\n{two}\n\n{one}"))));
        assert_ne!(both.ca_sha256, of(Some("u"), Some(&one)).ca_sha256);
        assert_eq!(both.ca_sha256.len(), 64);
    }

    #[test]
    fn a_lone_authority_is_the_digest_of_its_fingerprint() {
        let authority = authority("one");
        let print = Sha256::digest(authority.der());
        let expected: String = Sha256::digest(print).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(of(None, Some(&authority.pem())).ca_sha256, expected);
    }

    #[test]
    fn what_cannot_be_read_is_empty_and_then_the_cluster_is_not_known() {
        let good = authority("one").pem();
        let cut = &good[..good.len() / 2];
        let cases = [
            ("nothing", None, None),
            ("no authority", Some("u"), None),
            ("no uid", None, Some(good.clone())),
            ("no certificate in it", Some("u"), Some("hello".to_owned())),
            ("second certificate cut", Some("u"), Some(format!("{good}{cut}"))),
            ("empty", Some("u"), Some(String::new())),
        ];
        for (case, uid, pem) in cases {
            assert!(!of(uid, pem.as_deref()).is_known(), "case: {case}");
        }
    }

    #[tokio::test]
    async fn what_a_live_cluster_does_not_show_stays_empty_with_its_reason() {
        let pem = authority("one").pem();
        let namespace = || (NAMESPACE_PATH, 200, json!({ "metadata": { "uid": "u" } }));
        let roots = || (ROOTS_PATH, 200, json!({ "data": { "ca.crt": pem } }));
        let whole = of(Some("u"), Some(&pem));
        let nothing: Vec<(&'static str, u16, Value)> = vec![];
        let cases = [
            ("both", vec![namespace(), roots()], whole, vec![]),
            (
                "roots are forbidden",
                vec![namespace(), (ROOTS_PATH, 403, json!({}))],
                of(Some("u"), None),
                vec![GapCause::Forbidden],
            ),
            ("no roots in it", vec![namespace(), (ROOTS_PATH, 200, json!({}))], of(Some("u"), None), vec![]),
            (
                "namespace of another shape",
                vec![(NAMESPACE_PATH, 200, json!({})), roots()],
                of(None, Some(&pem)),
                vec![GapCause::Unreadable],
            ),
            ("nothing", nothing, of(None, None), vec![GapCause::Discovery, GapCause::Discovery]),
        ];
        for (case, answers, expected, expected_gaps) in cases {
            let IdentityRead { identity, gaps } = read(&answering(answers)).await;
            let causes: Vec<GapCause> = gaps.iter().map(|gap| gap.cause).collect();
            assert_eq!((identity, causes), (expected, expected_gaps), "case: {case}");
        }
    }
}
