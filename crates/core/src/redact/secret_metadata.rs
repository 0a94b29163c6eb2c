//! Labels and annotations of Secrets: values are shown for the keys listed here and for no other.
//!
//! Controllers and people copy whole Secrets into annotations (`kubectl apply`, kapp, Rancher, OpenShift's token
//! controller), so an unknown key counts as secret. Matching by value inside rules is not affected.

use std::borrow::Cow;

use super::{credential_under, length_of};

/// The kind whose metadata is secret, in any API group.
pub(super) const SECRET: &str = "Secret";

/// Keys whose values are shown. A name ends the key; nothing here holds content.
const SHOWN: [&str; 37] = [
    // The checks (`crates/checks/src/*/names.rs`, `crates/checks/src/kinds`).
    "hypershift.openshift.io/managed",
    "hypershift.openshift.io/oidc-provider-managed",
    "hypershift.openshift.io/cluster",
    "hypershift.openshift.io/hosted-cluster-sourced",
    "hypershift.openshift.io/restored-from-backup",
    "cluster.x-k8s.io/cluster-name",
    "cluster.x-k8s.io/paused",
    // HyperShift and Cluster API.
    "hypershift.openshift.io/infra-id",
    "hypershift.openshift.io/nodePool",
    "cluster.x-k8s.io/managed-by",
    "cluster.x-k8s.io/provider",
    "clusterctl.cluster.x-k8s.io",
    "clusterctl.cluster.x-k8s.io/move",
    // Recommended labels of Kubernetes.
    "app.kubernetes.io/name",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/version",
    "app.kubernetes.io/component",
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/created-by",
    // Marks of tools that manage the object: Argo CD, Flux, Helm, ApplySet, OLM.
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/instance",
    "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace",
    "helm.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
    "helm.sh/chart",
    "applyset.kubernetes.io/part-of",
    "applyset.kubernetes.io/id",
    "olm.owner",
    "olm.owner.kind",
    "olm.owner.namespace",
    "olm.managed",
    // What Velero restored.
    "velero.io/restore-name",
    "velero.io/backup-name",
];

/// What shown keys may start with: our own annotations, and HyperShift's mark of a referenced source.
const SHOWN_PREFIXES: [&str; 2] = ["trueup/", "referenced-resource.hypershift.openshift.io/"];

/// Whether the values of a label or annotation are shown on Secrets.
pub fn is_shown_on_secrets(key: &str) -> bool {
    SHOWN.contains(&key) || SHOWN_PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Returns the value of a label or annotation as it may be shown: on a Secret, the length for keys that are not listed and
/// for values that look like a credential.
pub fn metadata_value<'v>(kind: &str, key: &str, value: &'v str) -> Cow<'v, str> {
    let is_shown = kind != SECRET || (is_shown_on_secrets(key) && credential_under(key, value).is_none());
    if is_shown { Cow::Borrowed(value) } else { Cow::Owned(length_of(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_keys_of_secrets_have_values() {
        let shown = ["app.kubernetes.io/name", "cluster.x-k8s.io/cluster-name", "trueup/restored-from", "olm.owner"];
        for key in shown {
            assert_eq!(metadata_value("Secret", key, "value"), "value", "key: {key}");
        }
        let masked = [
            "openshift.io/token-secret.value",
            "kapp.k14s.io/original",
            "objectset.rio.cattle.io/applied",
            "kubectl.kubernetes.io/last-applied-configuration",
            "team",
            "trueup",
            "app.kubernetes.io/name.backup",
            "",
        ];
        for key in masked {
            assert_eq!(metadata_value("Secret", key, "value"), "<5 bytes>", "key: {key}");
            assert_eq!(metadata_value("ConfigMap", key, "value"), "value", "key: {key}");
        }
    }

    #[test]
    fn a_listed_key_does_not_show_a_credential() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE";
        assert_eq!(metadata_value("Secret", "trueup/note", key), format!("<{} bytes>", key.len()));
    }

    #[test]
    fn the_list_has_no_key_twice() {
        let unique: std::collections::BTreeSet<&str> = SHOWN.into_iter().collect();
        assert_eq!(unique.len(), SHOWN.len());
    }
}
