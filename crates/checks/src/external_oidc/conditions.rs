//! Which conditions of the operators speak about which subject.
//!
//! Invariants:
//! - a condition is named as a cause only for the subjects its type is listed for;
//! - a listed type covers longer ones that begin with it, and the longest listed type counts.
//!
//! Facts: `docs/facts/external-oidc.md` sections 1.7, 3.2 and 4.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::context::CheckContext;
use super::facts::OperatorComplaint;
use super::names::{CONSOLE_COMPONENT, CONSOLE_NAMESPACE, SECRET};
use super::oauth::OauthCopy;
use super::remedy::Operator;
use super::spec::{AuthKind, Component};
use super::stack::{Part, Side};
use super::subjects::ResolvedSubject;

/// What a condition type is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    ExternalOidc,
    ServerDeployment,
    ServerRoute,
    ServerService,
    SessionSecret,
    CliConfig,
    Metadata,
    ServiceCa,
    ServerRest,
    ApiServerDeployment,
    ApiServices,
    ApiServerRest,
    Webhook,
    WellKnown,
    ObservedConfig,
    Copies,
    Rollout,
    ConsoleCa,
    ConsoleSecret,
    ConsoleClient,
    CliClient,
}

const OF_AUTHENTICATION: &[(&str, Topic)] = &[
    ("ExternalOIDCController", Topic::ExternalOidc),
    ("OAuthServerDeployment", Topic::ServerDeployment),
    ("OAuthServerWorkload", Topic::ServerDeployment),
    ("OAuthServerRoute", Topic::ServerRoute),
    ("OAuthConfigRoute", Topic::ServerRoute),
    ("CustomRouteController", Topic::ServerRoute),
    ("IngressState", Topic::ServerRoute),
    ("ReadyIngressNodes", Topic::ServerRoute),
    ("RouterCerts", Topic::ServerRoute),
    ("OAuthServerService", Topic::ServerService),
    ("OAuthConfigService", Topic::ServerService),
    ("OAuthSessionSecret", Topic::SessionSecret),
    ("OAuthConfig", Topic::CliConfig),
    ("OAuthSystemMetadata", Topic::Metadata),
    ("AuthConfig", Topic::Metadata),
    ("IngressConfig", Topic::Metadata),
    ("OAuthService", Topic::ServiceCa),
    ("SystemServiceCAConfig", Topic::ServiceCa),
    ("OpenshiftAuthenticationStaticResources", Topic::ServerRest),
    ("APIServerDeployment", Topic::ApiServerDeployment),
    ("APIServerWorkload", Topic::ApiServerDeployment),
    ("APIServices", Topic::ApiServices),
    ("APIServerStaticResources", Topic::ApiServerRest),
    ("WebhookAuthenticator", Topic::Webhook),
    ("AuthenticatorCertKey", Topic::Webhook),
    ("WellKnown", Topic::WellKnown),
];

const OF_KUBE_API_SERVER: &[(&str, Topic)] = &[
    ("ConfigObservation", Topic::ObservedConfig),
    ("ResourceSyncController", Topic::Copies),
    ("NodeInstaller", Topic::Rollout),
    ("InstallerController", Topic::Rollout),
    ("RevisionController", Topic::Rollout),
    ("StaticPod", Topic::Rollout),
    ("TargetConfigController", Topic::Rollout),
];

const OF_CONSOLE: &[(&str, Topic)] = &[
    ("OIDCProviderTrustedAuthorityConfigGet", Topic::ConsoleCa),
    ("OAuthClientSecretSync", Topic::ConsoleSecret),
    ("OIDCClientConfig", Topic::ConsoleClient),
    ("AuthStatusHandler", Topic::ConsoleClient),
    ("CLIOIDCClientStatus", Topic::CliClient),
    ("CLIAuthStatusHandler", Topic::CliClient),
];

/// What a condition of an operator is about; nothing where its type is not listed.
pub fn topic(operator: Operator, complaint: &OperatorComplaint) -> Option<Topic> {
    let table = match operator {
        Operator::Authentication => OF_AUTHENTICATION,
        Operator::KubeApiServer => OF_KUBE_API_SERVER,
        Operator::Console => OF_CONSOLE,
    };
    let fitting = table.iter().filter(|(listed, _)| complaint.stem().starts_with(listed));
    fitting.max_by_key(|(listed, _)| listed.len()).map(|(_, topic)| *topic)
}

/// The operators whose conditions speak about a subject, each with what they speak of.
fn topics(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Vec<(Operator, Topic)> {
    let oauth_is_wanted = context.kind().is_ok_and(|kind| *kind == AuthKind::IntegratedOAuth);
    match subject {
        ResolvedSubject::Authentication | ResolvedSubject::AuthConfig => {
            vec![(Operator::Authentication, Topic::ExternalOidc)]
        }
        ResolvedSubject::Rollout => {
            let well_known = oauth_is_wanted.then_some((Operator::Authentication, Topic::WellKnown));
            [(Operator::KubeApiServer, Topic::Rollout)].into_iter().chain(well_known).collect()
        }
        ResolvedSubject::ObservedConfig => vec![(Operator::KubeApiServer, Topic::ObservedConfig)],
        ResolvedSubject::KasCopy | ResolvedSubject::OauthCopy(OauthCopy::Webhook | OauthCopy::Metadata) => {
            vec![(Operator::KubeApiServer, Topic::Copies)]
        }
        ResolvedSubject::Part(part) => vec![(Operator::Authentication, part_topic(part))],
        ResolvedSubject::ConsoleCa { .. } => vec![(Operator::Console, Topic::ConsoleCa)],
        ResolvedSubject::ConsoleSecret => vec![(Operator::Console, Topic::ConsoleSecret)],
        ResolvedSubject::Client { component } => client_topic(component).into_iter().collect(),
        ResolvedSubject::Restrictions | ResolvedSubject::Namespace(_) | ResolvedSubject::Operator(_) => Vec::new(),
    }
}

fn client_topic(component: &Component) -> Option<(Operator, Topic)> {
    let topic = match component.name.as_str() {
        CONSOLE_COMPONENT => Topic::ConsoleClient,
        "cli" => Topic::CliClient,
        _ => return None,
    };
    (component.namespace == CONSOLE_NAMESPACE).then_some((Operator::Console, topic))
}

fn part_topic(part: &Part) -> Topic {
    match (part.resource.kind, part.name, part.side()) {
        ("Deployment", _, Side::OauthServer) => Topic::ServerDeployment,
        ("Route", _, _) | (_, "v4-0-config-system-custom-router-certs", _) => Topic::ServerRoute,
        ("Service", _, Side::OauthServer) => Topic::ServerService,
        (_, "v4-0-config-system-session", _) => Topic::SessionSecret,
        (_, "v4-0-config-system-cliconfig", _) => Topic::CliConfig,
        (_, "v4-0-config-system-metadata", _) | ("ConfigMap", "oauth-openshift", _) => Topic::Metadata,
        (_, "v4-0-config-system-service-ca", _) => Topic::ServiceCa,
        ("Deployment", _, Side::OauthApiServer) => Topic::ApiServerDeployment,
        ("APIService", _, _) => Topic::ApiServices,
        (kind, _, Side::OauthApiServer) if kind == SECRET.kind => Topic::Webhook,
        (_, _, Side::OauthServer) => Topic::ServerRest,
        (_, _, Side::OauthApiServer) => Topic::ApiServerRest,
    }
}

/// The conditions that speak about a subject, the bad ones first, then what is under way.
pub fn speaking<'a>(context: &CheckContext<'a>, subject: &ResolvedSubject) -> Vec<(Operator, &'a OperatorComplaint)> {
    let of = |(operator, wanted): (Operator, Topic)| {
        let all = operator.complaints(context).iter();
        all.filter(move |one| topic(operator, one) == Some(wanted)).map(move |one| (operator, one))
    };
    let mut found: Vec<_> = topics(context, subject).into_iter().flat_map(of).collect();
    found.sort_by_key(|(_, complaint)| complaint.grade);
    found
}

/// The condition that says why an operator has not done its work; nothing where none does.
pub fn cause(context: &CheckContext<'_>, subject: &ResolvedSubject) -> String {
    let found = speaking(context, subject);
    match found.iter().find(|(_, one)| one.is_bad()).or(found.first()) {
        Some((_, one)) if one.is_bad() => one.complaint.message.to_string(),
        Some((_, one)) => format!("under way: {}", one.complaint.message),
        None => "no condition says why".to_owned(),
    }
}

/// How many condition types are remembered as codes. Operators have about a hundred, and names come from clusters.
const CODES_MAX: usize = 1024;

static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// A condition type as a code. Codes live as long as the program, so each type is kept once.
pub fn code(condition: &str) -> &'static str {
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = codes.get(condition) {
        return known;
    }
    if codes.len() >= CODES_MAX {
        return "Degraded";
    }
    let kept: &'static str = Box::leak(condition.to_owned().into_boxed_str());
    codes.insert(kept);
    kept
}
