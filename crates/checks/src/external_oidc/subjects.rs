//! Which subjects there are, and what each of them points at.

use std::collections::BTreeSet;

use super::NAME;
use super::console::{is_stray, wanted_authority};
use super::context::CheckContext;
use super::names::{
    AUTH_CONFIG, AUTHENTICATION, CONFIG_MAP, CONSOLE_NAMESPACE, CONSOLE_SECRET, CUSTOM_RESOURCE_DEFINITION,
    KAS_NAMESPACE, KUBE_API_SERVER, MANAGED_NAMESPACE, METADATA_COPY, NAMESPACE, OAUTH_API_NAMESPACE, OAUTH_NAMESPACE,
    OBSERVED_CONFIG, RESTRICTIONS_CRD, SECRET, SINGLETON, WEBHOOK_COPY,
};
use super::oauth::OauthCopy;
use super::remedy::Operator;
use super::spec::Component;
use super::stack::{PARTS, Part};
use trueup_core::engine::SubjectId;
use trueup_core::world::{ClusterName, Resource};

/// What a subject id points at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResolvedSubject {
    Authentication,
    /// `auth-config` as the authentication operator writes it.
    AuthConfig,
    /// What kube-apiserver runs with.
    Rollout,
    ObservedConfig,
    /// `auth-config` as kube-apiserver's operator copies it.
    KasCopy,
    Part(&'static Part),
    Restrictions,
    ConsoleCa {
        name: String,
    },
    ConsoleSecret,
    Client {
        component: Component,
    },
    /// What kube-apiserver's operator keeps for the OAuth server.
    OauthCopy(OauthCopy),
    Namespace(&'static str),
    /// The operator's own configuration, with its conditions.
    Operator(Operator),
}

impl ResolvedSubject {
    pub fn of(subject: &SubjectId) -> Option<Self> {
        let SubjectId { domain: _, cluster: _, api_version, kind, namespace, name, cloud: _ } = subject;
        let (namespace, name) = (namespace.as_deref(), name.as_str());
        let operator =
            |one: &Operator| one.resource().kind == *kind && self::api_version(one.resource()) == *api_version;
        if let Some(operator) = OPERATORS.into_iter().find(operator) {
            return (namespace.is_none() && name == SINGLETON).then_some(Self::Operator(operator));
        }
        if let Some(part) = Part::find(kind, namespace, name) {
            return Some(Self::Part(part));
        }
        match (*kind, namespace, name) {
            ("Authentication", None, SINGLETON) => Some(Self::Authentication),
            ("Authentication", None, name) => {
                let (namespace, name) = name.split_once('/')?;
                let component = Component { namespace: namespace.to_owned(), name: name.to_owned() };
                Some(Self::Client { component })
            }
            ("KubeAPIServer", None, SINGLETON) => Some(Self::Rollout),
            ("KubeAPIServer", None, OBSERVED_CONFIG) => Some(Self::ObservedConfig),
            ("ConfigMap", Some(MANAGED_NAMESPACE), AUTH_CONFIG) => Some(Self::AuthConfig),
            ("ConfigMap", Some(KAS_NAMESPACE), AUTH_CONFIG) => Some(Self::KasCopy),
            ("Secret", Some(KAS_NAMESPACE), WEBHOOK_COPY) => Some(Self::OauthCopy(OauthCopy::Webhook)),
            ("ConfigMap", Some(KAS_NAMESPACE), METADATA_COPY) => Some(Self::OauthCopy(OauthCopy::Metadata)),
            ("Namespace", None, name) => NAMESPACES.into_iter().find(|known| *known == name).map(Self::Namespace),
            ("ConfigMap", Some(CONSOLE_NAMESPACE), name) => Some(Self::ConsoleCa { name: name.to_owned() }),
            ("Secret", Some(CONSOLE_NAMESPACE), CONSOLE_SECRET) => Some(Self::ConsoleSecret),
            ("CustomResourceDefinition", None, RESTRICTIONS_CRD) => Some(Self::Restrictions),
            _ => None,
        }
    }

    pub fn subject(&self, cluster: &ClusterName) -> SubjectId {
        let id = |resource: Resource, namespace: Option<&str>, name: &str| SubjectId {
            domain: NAME,
            cluster: cluster.clone(),
            api_version: api_version(resource),
            kind: resource.kind,
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            cloud: None,
        };
        match self {
            Self::Authentication => id(AUTHENTICATION, None, SINGLETON),
            Self::AuthConfig => id(CONFIG_MAP, Some(MANAGED_NAMESPACE), AUTH_CONFIG),
            Self::Rollout => id(KUBE_API_SERVER, None, SINGLETON),
            Self::ObservedConfig => id(KUBE_API_SERVER, None, OBSERVED_CONFIG),
            Self::KasCopy => id(CONFIG_MAP, Some(KAS_NAMESPACE), AUTH_CONFIG),
            Self::Part(part) => id(part.resource, part.namespace, part.name),
            Self::Restrictions => id(CUSTOM_RESOURCE_DEFINITION, None, RESTRICTIONS_CRD),
            Self::ConsoleCa { name } => id(CONFIG_MAP, Some(CONSOLE_NAMESPACE), name),
            Self::ConsoleSecret => id(SECRET, Some(CONSOLE_NAMESPACE), CONSOLE_SECRET),
            Self::OauthCopy(copy @ OauthCopy::Webhook) => id(SECRET, Some(KAS_NAMESPACE), copy.name()),
            Self::OauthCopy(copy @ OauthCopy::Metadata) => id(CONFIG_MAP, Some(KAS_NAMESPACE), copy.name()),
            Self::Namespace(name) => id(NAMESPACE, None, name),
            Self::Operator(operator) => id(operator.resource(), None, SINGLETON),
            Self::Client { component } => {
                id(AUTHENTICATION, None, &format!("{}/{}", component.namespace, component.name))
            }
        }
    }
}

/// As plans spell it. Subjects hold it for the life of the program, so the kinds this check knows are written out.
fn api_version(resource: Resource) -> &'static str {
    match resource.group {
        "" => "v1",
        "apps" => "apps/v1",
        "route.openshift.io" => "route.openshift.io/v1",
        "rbac.authorization.k8s.io" => "rbac.authorization.k8s.io/v1",
        "apiregistration.k8s.io" => "apiregistration.k8s.io/v1",
        "apiextensions.k8s.io" => "apiextensions.k8s.io/v1",
        "operator.openshift.io" => "operator.openshift.io/v1",
        _ => "config.openshift.io/v1",
    }
}

/// The operators whose own objects are subjects. KubeAPIServer/cluster is one as the rollout.
const OPERATORS: [Operator; 2] = [Operator::Authentication, Operator::Console];

/// The namespaces that upstream keeps in every mode.
pub const NAMESPACES: [&str; 2] = [OAUTH_NAMESPACE, OAUTH_API_NAMESPACE];

/// The candidates every cluster of this check has.
const FIXED: [ResolvedSubject; 12] = [
    ResolvedSubject::OauthCopy(OauthCopy::Webhook),
    ResolvedSubject::OauthCopy(OauthCopy::Metadata),
    ResolvedSubject::Namespace(OAUTH_NAMESPACE),
    ResolvedSubject::Namespace(OAUTH_API_NAMESPACE),
    ResolvedSubject::Operator(Operator::Authentication),
    ResolvedSubject::Operator(Operator::Console),
    ResolvedSubject::Authentication,
    ResolvedSubject::AuthConfig,
    ResolvedSubject::Rollout,
    ResolvedSubject::ObservedConfig,
    ResolvedSubject::KasCopy,
    ResolvedSubject::Restrictions,
];

/// Every subject of a cluster.
pub fn list(context: &CheckContext<'_>) -> BTreeSet<SubjectId> {
    let judged = candidates(context).into_iter().filter(|resolved| context.ruling(resolved).is_some());
    // A component's name may be such that its subject reads as another one.
    let named = judged.map(|resolved| (resolved.subject(context.name()), resolved));
    named
        .filter(|(subject, resolved)| ResolvedSubject::of(subject).as_ref() == Some(resolved))
        .map(|(subject, _)| subject)
        .collect()
}

/// Everything in a cluster that may be a subject.
fn candidates(context: &CheckContext<'_>) -> Vec<ResolvedSubject> {
    let mut candidates: Vec<ResolvedSubject> =
        FIXED.into_iter().chain(PARTS.iter().map(ResolvedSubject::Part)).collect();
    let strays = context.bundles(CONSOLE_NAMESPACE);
    let strays = strays.iter().filter(|(key, bundle)| is_stray(context, key.name.as_str(), bundle));
    let authorities: BTreeSet<&str> =
        wanted_authority(context).into_iter().chain(strays.map(|(key, _)| key.name.as_str())).collect();
    candidates.extend(authorities.into_iter().map(|name| ResolvedSubject::ConsoleCa { name: name.to_owned() }));
    candidates.push(ResolvedSubject::ConsoleSecret);
    let mut components = BTreeSet::new();
    if let Some(authentication) = context.authentication.seen {
        components.extend(authentication.clients.iter().map(|status| status.component.clone()));
        let listed = authentication.spec.providers.iter().flat_map(|provider| &provider.clients);
        components.extend(listed.map(|client| client.component.clone()));
    }
    candidates.extend(components.into_iter().map(|component| ResolvedSubject::Client { component }));
    candidates
}
