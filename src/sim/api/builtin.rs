//! The kinds every simulated cluster serves from the start.
//!
//! Always true: this is a list and nothing else; a kind's behaviour is its [`Rules`].
//!
//! Not here: OpenShift and HyperShift kinds. Whoever needs them registers them, or creates their definitions.

use super::kinds::{Content, Generation, NameRule, ResourceKind, Review, Rules, Storage};

pub fn kinds() -> Vec<ResourceKind> {
    let mut kinds = core();
    kinds.extend(rbac());
    kinds.extend(reviews());
    kinds.push(
        kind("apps/v1", "Deployment", "deployments", Rules { generation: Generation::Spec, ..Rules::BUILT_IN })
            .with_status()
            .short("deploy"),
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
    let returned = Rules { returns_deleted: true, ..Rules::BUILT_IN };
    vec![
        kind(
            "v1",
            "Namespace",
            "namespaces",
            Rules { content: Content::Namespace, names: NameRule::Label, ..returned },
        )
        .cluster_scoped()
        .with_status()
        .short("ns"),
        kind("v1", "ConfigMap", "configmaps", Rules { content: Content::ConfigMap, ..Rules::BUILT_IN }).short("cm"),
        kind("v1", "Secret", "secrets", Rules { content: Content::Secret, ..Rules::BUILT_IN }),
        kind("v1", "Event", "events", Rules { create_on_update: true, ..Rules::BUILT_IN }).short("ev"),
        kind("v1", "ServiceAccount", "serviceaccounts", returned).short("sa"),
        kind("v1", "Pod", "pods", Rules { content: Content::Pod, ..returned }).with_status().short("po"),
        kind("v1", "Node", "nodes", Rules::BUILT_IN).cluster_scoped().with_status().short("no"),
        kind("v1", "Service", "services", Rules { create_on_update: true, names: NameRule::Label, ..returned })
            .with_status()
            .short("svc"),
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
        kind(AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews", answered(Review::SelfAccess))
            .cluster_scoped(),
        kind(AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews", answered(Review::SelfRules))
            .cluster_scoped(),
        kind("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", answered(Review::SelfIdentity))
            .cluster_scoped(),
    ]
}

fn kind(api_version: &str, kind: &str, plural: &str, rules: Rules) -> ResourceKind {
    ResourceKind::with_rules(api_version, kind, plural, rules)
}
