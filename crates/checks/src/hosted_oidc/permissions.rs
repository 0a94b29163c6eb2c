//! The permissions of this check.

use super::names::{
    API_SERVER, AUTHENTICATION, CLUSTER_ANNOTATION, CONFIG_MAP, CONSOLE_NAMESPACE, CONSOLE_OPERATOR, CONTROL_PLANE,
    COPIES_NAMESPACE, DEPLOYMENT, HOSTED_CLUSTER, IMAGE, INFRASTRUCTURE, MANAGED_LABEL, OAUTH, OIDC_LABEL, PROXY,
    REFERENCED_ANNOTATION_PREFIX, SECRET,
};
use crate::permissions::{Need, OwnerMark, Permission, Sign, Write, guest, own};

pub fn permissions() -> Vec<Permission> {
    let mut all =
        vec![own(*HOSTED_CLUSTER, Need::Watch), own(*CONTROL_PLANE, Need::Watch), own(INFRASTRUCTURE, Need::Watch)];
    for kind in [CONFIG_MAP, SECRET] {
        // HostedClusters and control planes may be in any namespace.
        all.extend([Need::Watch, Need::Get, Need::Write(Write::Delete)].map(|need| own(kind, need)));
        let copies = [Need::Watch, Need::Write(Write::Delete), Need::Write(Write::Apply)];
        all.extend(copies.map(|need| guest(kind, need).within(COPIES_NAMESPACE)));
    }
    let configs = [AUTHENTICATION, PROXY, IMAGE, API_SERVER, OAUTH, CONSOLE_OPERATOR];
    all.extend(configs.map(|resource| guest(resource, Need::Watch)));
    let console = [Need::Watch, Need::Write(Write::Delete)];
    all.extend(console.map(|need| guest(CONFIG_MAP, need).within(CONSOLE_NAMESPACE)));
    all.push(guest(DEPLOYMENT, Need::Watch).within(CONSOLE_NAMESPACE));
    all
}

/// The marks of HyperShift's copies and of their sources.
pub fn owner_marks() -> Vec<OwnerMark> {
    let signs = [
        Sign::LabelTrue(OIDC_LABEL),
        Sign::LabelTrue(MANAGED_LABEL),
        Sign::Annotation(CLUSTER_ANNOTATION),
        Sign::AnnotationPrefix(REFERENCED_ANNOTATION_PREFIX),
    ];
    let of = |resource| signs.map(|sign| OwnerMark { resource, sign });
    [CONFIG_MAP, SECRET].into_iter().flat_map(of).collect()
}
