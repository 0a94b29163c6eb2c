//! The kinds every simulated cluster serves from the start.
//!
//! Invariants: this is a list and nothing else; a kind's behaviour is its [`Rules`].
//!
//! Elsewhere: OpenShift and HyperShift kinds, which are registered or created from definitions.

use super::kinds::{Content, Generation, NameRule, ResourceKind, Review, Rules, Storage};

pub fn kinds() -> Vec<ResourceKind> {
    let mut kinds = core();
    kinds.extend(rbac());
    kinds.extend(reviews());
    kinds.push(
        kind("apps/v1", "Deployment", "deployments", Rules { generation: Generation::Spec, ..Rules::BUILT_IN })
            .with_status()
            .short("deploy")
            .category("all"),
    );
    let definition = Rules {
        content: Content::Definition,
        generation: Generation::Spec,
        unconditional_update: false,
        ..Rules::BUILT_IN
    };
    kinds.push(
        kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", definition)
            .cluster_scoped()
            .with_status()
            .short("crd")
            .short("crds"),
    );
    kinds
}

fn core() -> Vec<ResourceKind> {
    const GROUP: &str = "v1";
    let plain = Rules::BUILT_IN;
    let returned = Rules { returns_deleted: true, ..plain };
    let namespace = Rules { content: Content::Namespace, names: NameRule::Label, ..returned };
    let config_map = Rules { content: Content::ConfigMap, ..plain };
    let secret = Rules { content: Content::Secret, ..plain };
    let event = Rules { create_on_update: true, ..plain };
    let pod = Rules { content: Content::Pod, ..returned };
    let service = Rules { create_on_update: true, names: NameRule::Label, ..returned };
    vec![
        kind(GROUP, "Namespace", "namespaces", namespace).cluster_scoped().with_status().short("ns"),
        kind(GROUP, "ConfigMap", "configmaps", config_map).short("cm"),
        kind(GROUP, "Secret", "secrets", secret),
        kind(GROUP, "Event", "events", event).short("ev"),
        kind(GROUP, "ServiceAccount", "serviceaccounts", returned).short("sa"),
        kind(GROUP, "Pod", "pods", pod).with_status().short("po").category("all"),
        kind(GROUP, "Node", "nodes", plain).cluster_scoped().with_status().short("no"),
        kind(GROUP, "Service", "services", service).with_status().short("svc").category("all"),
    ]
}

fn rbac() -> Vec<ResourceKind> {
    const GROUP: &str = "rbac.authorization.k8s.io/v1";
    let rules = Rules { create_on_update: true, names: NameRule::PathSegment, ..Rules::BUILT_IN };
    vec![
        kind(GROUP, "ClusterRole", "clusterroles", rules).cluster_scoped(),
        kind(GROUP, "ClusterRoleBinding", "clusterrolebindings", rules).cluster_scoped(),
        kind(GROUP, "Role", "roles", rules),
        kind(GROUP, "RoleBinding", "rolebindings", rules),
    ]
}

fn reviews() -> Vec<ResourceKind> {
    const AUTHORIZATION: &str = "authorization.k8s.io/v1";
    let answered = |review| Rules { storage: Storage::Answered(review), ..Rules::BUILT_IN };
    vec![
        kind(AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews", answered(Review::Access))
            .cluster_scoped(),
        kind(AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews", answered(Review::Rules))
            .cluster_scoped(),
        kind("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", answered(Review::Identity))
            .cluster_scoped(),
    ]
}

fn kind(api_version: &str, kind: &str, plural: &str, rules: Rules) -> ResourceKind {
    ResourceKind::with_rules(api_version, kind, plural, rules)
}
