//! The permissions of this check, in the clusters that run their own control plane.

use super::context::{BUNDLE_NAMESPACES, FILE_NAMESPACES};
use super::names::{
    AUTH_CONFIG, AUTHENTICATION, AUTHENTICATION_OPERATOR, CLUSTER_ROLE_BINDING, CLUSTER_VERSION, CONFIG_MAP,
    CONFIG_NAMESPACE, CONSOLE_NAMESPACE, CONSOLE_OPERATOR, CONSOLE_SECRET, CUSTOM_RESOURCE_DEFINITION, FEATURE_GATE,
    INFRASTRUCTURE, KAS_NAMESPACE, KUBE_API_SERVER, MANAGED_NAMESPACE, METADATA_COPY, NAMESPACE, RESTRICTIONS_CRD,
    ROLE_BINDING, ROLE_BINDING_RESTRICTION, SECRET, SINGLETON, WEBHOOK_COPY,
};
use super::stack::PARTS;
use super::subjects::NAMESPACES;
use super::switch::VANISHING;
use crate::permissions::{Need, Permission, Write, own};

pub fn permissions() -> Vec<Permission> {
    let mut all: Vec<Permission> = [
        INFRASTRUCTURE,
        AUTHENTICATION,
        KUBE_API_SERVER,
        FEATURE_GATE,
        CLUSTER_VERSION,
        AUTHENTICATION_OPERATOR,
        CONSOLE_OPERATOR,
        ROLE_BINDING_RESTRICTION,
        ROLE_BINDING,
        CLUSTER_ROLE_BINDING,
    ]
    .map(|resource| own(resource, Need::Watch))
    .into();
    let files = FILE_NAMESPACES.into_iter().chain(BUNDLE_NAMESPACES);
    all.extend(files.map(|namespace| own(CONFIG_MAP, Need::Watch).within(namespace)));
    for namespace in [CONFIG_NAMESPACE, CONSOLE_NAMESPACE] {
        all.extend([Need::Watch, Need::Get].map(|need| own(SECRET, need).within(namespace)));
    }
    all.push(own(SECRET, Need::Watch).only(Some(KAS_NAMESPACE), WEBHOOK_COPY));
    all.push(own(CUSTOM_RESOURCE_DEFINITION, Need::Watch).only(None, RESTRICTIONS_CRD));
    all.extend(NAMESPACES.map(|name| own(NAMESPACE, Need::Watch).only(None, name)));
    for part in &PARTS {
        let watched = own(part.resource, Need::Watch);
        all.push(match part.namespace {
            Some(namespace) => watched.within(namespace),
            None => watched.only(None, part.name),
        });
        all.push(own(part.resource, Need::Write(Write::Delete)).only(part.namespace, part.name));
    }
    writes(&mut all);
    all
}

fn writes(all: &mut Vec<Permission>) {
    let writes = [Need::Write(Write::Apply), Need::Write(Write::Delete)];
    for namespace in [MANAGED_NAMESPACE, KAS_NAMESPACE] {
        all.extend(writes.map(|need| own(CONFIG_MAP, need).only(Some(namespace), AUTH_CONFIG)));
    }
    for (resource, name) in [(CONFIG_MAP, METADATA_COPY), (SECRET, WEBHOOK_COPY)] {
        all.push(own(resource, Need::Write(Write::Delete)).only(Some(KAS_NAMESPACE), name));
    }
    all.push(own(CUSTOM_RESOURCE_DEFINITION, Need::Write(Write::Delete)).only(None, RESTRICTIONS_CRD));
    // CAs have the names that the Authentication gives them.
    all.extend(writes.map(|need| own(CONFIG_MAP, need).within(CONSOLE_NAMESPACE)));
    all.extend(writes.map(|need| own(SECRET, need).only(Some(CONSOLE_NAMESPACE), CONSOLE_SECRET)));
    all.push(own(AUTHENTICATION, Need::Write(Write::Patch)).only(None, SINGLETON));
    all.extend(VANISHING.map(|resource| own(resource, Need::Export)));
}
