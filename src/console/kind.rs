//! Kinds of objects in as few letters as kubectl takes.
//!
//! Invariants: a short name is one that `kubectl get` accepts on a cluster that serves the kind, or the kind in lower case.

use std::borrow::Cow;

/// Short names that Kubernetes, OpenShift and HyperShift register.
const SHORT_NAMES: [(&str, &str); 26] = [
    ("ClusterOperator", "co"),
    ("ConfigMap", "cm"),
    ("CronJob", "cj"),
    ("CustomResourceDefinition", "crd"),
    ("DaemonSet", "ds"),
    ("Deployment", "deploy"),
    ("Endpoints", "ep"),
    ("Event", "ev"),
    ("HorizontalPodAutoscaler", "hpa"),
    ("HostedCluster", "hc"),
    ("HostedControlPlane", "hcp"),
    ("Ingress", "ing"),
    ("LimitRange", "limits"),
    ("Namespace", "ns"),
    ("NetworkPolicy", "netpol"),
    ("Node", "no"),
    ("NodePool", "np"),
    ("PersistentVolume", "pv"),
    ("PersistentVolumeClaim", "pvc"),
    ("Pod", "po"),
    ("PodDisruptionBudget", "pdb"),
    ("ReplicaSet", "rs"),
    ("ResourceQuota", "quota"),
    ("Service", "svc"),
    ("ServiceAccount", "sa"),
    ("StatefulSet", "sts"),
];

/// Returns the short name of a kind: `cm`, `deploy`, `secret`.
pub fn short_kind(kind: &str) -> Cow<'_, str> {
    match SHORT_NAMES.iter().find(|(long, _)| *long == kind) {
        Some((_, short)) => Cow::Borrowed(short),
        None if kind.bytes().any(|byte| byte.is_ascii_uppercase()) => Cow::Owned(kind.to_ascii_lowercase()),
        None => Cow::Borrowed(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_shown_as_kubectl_takes_it() {
        let cases = [
            ("ConfigMap", "cm"),
            ("Secret", "secret"),
            ("CustomResourceDefinition", "crd"),
            ("OAuthClient", "oauthclient"),
            ("load-balancer", "load-balancer"),
            ("", ""),
        ];
        for (kind, short) in cases {
            assert_eq!(short_kind(kind), short, "{kind}");
        }
        assert!(SHORT_NAMES.is_sorted());
    }
}
