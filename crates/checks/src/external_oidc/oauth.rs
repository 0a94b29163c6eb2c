//! What the integrated OAuth server needs beside its own resources: kube-apiserver's copies, its arguments in every
//! revision, the namespaces, and the operators' own word.
//!
//! Facts: `docs/facts/external-oidc.md` sections 2 and 3.5: a revert is judged as fully as a switch.

use super::availability::{current_revisions, revisioned};
use super::conditions::{Topic, code, topic};
use super::context::{CheckContext, secret_marks};
use super::facts::{KasConfig, Mark, NamespaceState, OauthFile, Readiness};
use super::names::{
    CONFIG_NAMESPACE, KAS_NAMESPACE, MANAGED_NAMESPACE, METADATA_COPY, NAMESPACE, WEBHOOK_COPY, named, whole_by_name,
};
use super::remedy::Operator;
use super::ruling::Ruling;
use super::spec::AuthKind;
use super::verdict::{Code, Verdict};
use trueup_core::engine::State;
use trueup_core::world::{ClusterName, CollectionId, Gap, Key, Meta, Sighting};

/// A copy that kube-apiserver's operator keeps for the OAuth server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OauthCopy {
    /// Secret `webhook-authenticator`.
    Webhook,
    /// ConfigMap `oauth-metadata`.
    Metadata,
}

impl OauthCopy {
    pub const ALL: [Self; 2] = [Self::Webhook, Self::Metadata];

    pub fn name(self) -> &'static str {
        match self {
            Self::Webhook => WEBHOOK_COPY,
            Self::Metadata => METADATA_COPY,
        }
    }
}

/// Secret `webhook-authenticator`, picked out by the server: its namespace has hundreds.
pub fn webhook_copy_id(cluster: &ClusterName) -> CollectionId {
    named(secret_marks(cluster, KAS_NAMESPACE), WEBHOOK_COPY)
}

/// A namespace with its status.
pub fn namespace_id(cluster: &ClusterName, name: &str) -> CollectionId {
    whole_by_name(cluster, NAMESPACE, name)
}

/// Whether something is there, or why that is not known.
type Presence = Result<bool, Gap>;

fn presence<F>(sighting: &Sighting<'_, F>) -> Presence {
    sighting.known().map(|seen| seen.is_some())
}

impl<'a> CheckContext<'a> {
    /// The metadata of a copy, when it was seen.
    pub fn oauth_copy(&self, copy: OauthCopy) -> Sighting<'a, Meta> {
        let key = Key::new(Some(KAS_NAMESPACE), copy.name());
        match copy {
            OauthCopy::Webhook => {
                let mark: Sighting<'a, Mark> = self.view.read(&webhook_copy_id(self.name())).sight(&key);
                Sighting { seen: mark.seen.map(|mark| &mark.meta), gap: mark.gap }
            }
            OauthCopy::Metadata => {
                let file = self.config_file(KAS_NAMESPACE, METADATA_COPY);
                Sighting { seen: file.seen.map(|file| &file.meta), gap: file.gap }
            }
        }
    }

    pub fn namespace(&self, name: &str) -> Sighting<'a, NamespaceState> {
        self.view.read(&namespace_id(self.name(), name)).sight(&Key::new(None, name))
    }

    /// The ConfigMap with the OAuth server's address that Authentication names: its namespace and name.
    fn metadata_source(&self) -> Option<(&'static str, &'a str)> {
        let authentication = self.authentication.seen?;
        let own = authentication.spec.oauth_metadata.as_deref().map(|name| (CONFIG_NAMESPACE, name));
        own.or_else(|| authentication.integrated_metadata.as_deref().map(|name| (MANAGED_NAMESPACE, name)))
    }

    /// Whether the ConfigMap with the OAuth server's address exists; not where none is named.
    pub fn has_metadata_source(&self) -> Presence {
        match self.metadata_source() {
            None => Ok(false),
            Some((CONFIG_NAMESPACE, name)) => presence(&self.bundle(CONFIG_NAMESPACE, name)),
            Some((namespace, name)) => presence(&self.config_file(namespace, name)),
        }
    }

    /// The Secret of `spec.webhookTokenAuthenticator`.
    pub fn webhook_source(&self) -> Option<&'a str> {
        self.authentication.seen?.spec.webhook.as_deref()
    }

    fn has_webhook_source(&self) -> Presence {
        match self.webhook_source() {
            None => Ok(false),
            Some(name) => presence(&self.secret_mark(CONFIG_NAMESPACE, name)),
        }
    }
}

/// What kube-apiserver's operator waits for before it sets the webhook.
pub fn webhook_awaits(context: &CheckContext<'_>) -> String {
    match (context.webhook_source(), context.has_webhook_source()) {
        (None, _) => "the operator waits for spec.webhookTokenAuthenticator, which is not set".to_owned(),
        (Some(name), Ok(false)) => format!("the operator waits for Secret {CONFIG_NAMESPACE}/{name}, which is absent"),
        (Some(name), Ok(true)) => format!("Secret {CONFIG_NAMESPACE}/{name} exists; the operator has to set it"),
        (Some(name), Err(gap)) => format!("whether Secret {CONFIG_NAMESPACE}/{name} exists is not known: {gap}"),
    }
}

/// One of kube-apiserver's copies.
pub fn copy(context: &CheckContext<'_>, copy: OauthCopy) -> Ruling {
    let sighting = context.oauth_copy(copy);
    match context.kind() {
        Err(gap) => Ruling::unknown(gap),
        Ok(AuthKind::None | AuthKind::Other(_)) => Ruling::new(Verdict::Match),
        Ok(AuthKind::IntegratedOAuth) => {
            let source = match copy {
                OauthCopy::Webhook => context.has_webhook_source(),
                OauthCopy::Metadata => context.has_metadata_source(),
            };
            match (presence(&sighting), source) {
                (Ok(true), _) | (Ok(false) | Err(_), Ok(false)) => Ruling::new(Verdict::Match),
                (Err(gap), _) | (Ok(false), Err(gap)) => Ruling::unknown(gap),
                (Ok(false), Ok(true)) => Ruling::new(Verdict::Missing),
            }
        }
        Ok(AuthKind::Oidc) => unwanted_copy(context, &sighting),
    }
}

/// Both copies go once kube-apiserver has its copy of auth-config.
fn unwanted_copy(context: &CheckContext<'_>, sighting: &Sighting<'_, Meta>) -> Ruling {
    match context.claims_sourcing() {
        Err(gap) => return Ruling::unknown(gap),
        Ok(true) => return Ruling::new(Verdict::Match),
        Ok(false) => {}
    }
    let gap = sighting.gap.as_ref().or(context.authentication.gap.as_ref());
    match (context.auth_config(KAS_NAMESPACE).known(), sighting.seen, gap) {
        (Err(gap), _, _) => Ruling::unknown(gap),
        (Ok(None), _, _) | (Ok(Some(_)), None, None) => Ruling::new(Verdict::Match),
        (Ok(Some(_)), _, Some(gap)) => Ruling::unknown(gap.clone()),
        (Ok(Some(_)), Some(_), None) => Ruling::new(Verdict::Leftover),
    }
}

/// What every running revision has for the OAuth server, where none carries OIDC any more.
pub fn revisions(context: &CheckContext<'_>) -> Ruling {
    let fine = || Ruling { state: State::Match, ..Ruling::new(Verdict::NotAvailable) };
    let kas = match context.kube_api_server.known() {
        Err(gap) => return Ruling::unknown(gap),
        Ok(None) => return fine(),
        Ok(Some(kas)) => kas,
    };
    let names_metadata = context.metadata_source().is_some();
    let mut codes: Vec<Code> = Vec::new();
    for revision in current_revisions(kas) {
        match config_of(context, revision) {
            Err(gap) => return Ruling::unknown(gap),
            Ok(None) => codes.push(Code::RevisionConfigMissing),
            Ok(Some(config)) => codes.extend(missing_in(config, names_metadata)),
        }
    }
    let lacking: Vec<Code> = codes.iter().copied().filter(|code| *code != Code::RevisionConfigMissing).collect();
    let newest = config_of(context, kas.latest_revision).ok().flatten();
    let is_coming = newest.is_some_and(|config| {
        let missing = missing_in(config, names_metadata);
        lacking.iter().all(|code| !missing.contains(code))
    });
    let ruling = match (lacking.is_empty(), is_coming) {
        (true, _) => fine(),
        (false, true) => Ruling::new(Verdict::RollingOut),
        (false, false) => Ruling::new(Verdict::OauthIncomplete),
    };
    ruling.with_message(codes.into_iter().map(Code::as_str))
}

/// The configuration of a revision; nothing where a complete list lacks it.
fn config_of(context: &CheckContext<'_>, revision: i64) -> Result<Option<KasConfig>, Gap> {
    let file = context.config_file(KAS_NAMESPACE, &revisioned("config", revision)).known()?;
    Ok(file.and_then(|file| file.config))
}

fn missing_in(config: KasConfig, names_metadata: bool) -> Vec<Code> {
    let webhook = (config.webhook_file == OauthFile::NotNamed).then_some(Code::WebhookArg);
    let metadata = (names_metadata && config.metadata_file == OauthFile::NotNamed).then_some(Code::OauthMetadata);
    webhook.into_iter().chain(metadata).collect()
}

/// Whether a resource that is wanted works.
pub fn readiness(mark: &Mark) -> Ruling {
    match &mark.readiness {
        Readiness::NotJudged | Readiness::Ready => Ruling::new(Verdict::Match),
        Readiness::ScaledToZero => Ruling::new(Verdict::NotReady).with(Code::ScaledToZero),
        Readiness::NotReady(_) => Ruling::new(Verdict::NotReady),
        Readiness::RollingOut(_) => Ruling::new(Verdict::RollingOut),
    }
}

/// A namespace that upstream keeps in every mode; nothing while it does not exist.
pub fn namespace(context: &CheckContext<'_>, name: &str) -> Option<Ruling> {
    let seen = context.namespace(name).seen?;
    let verdict = if seen.is_terminating { Verdict::NamespaceTerminating } else { Verdict::Match };
    Some(Ruling::new(verdict))
}

/// What an operator says of itself, as far as it speaks about this check's subjects; nothing while it does not exist.
pub fn operator(context: &CheckContext<'_>, operator: Operator) -> Option<Ruling> {
    context.operator_status(operator)?;
    let kind = match context.kind() {
        Err(gap) => return Some(Ruling::unknown(gap)),
        Ok(kind) => kind,
    };
    let counts = |topic: Topic| match operator {
        Operator::Authentication => topic == Topic::ExternalOidc || *kind == AuthKind::IntegratedOAuth,
        Operator::Console => *kind == AuthKind::Oidc,
        Operator::KubeApiServer => false,
    };
    let bad = operator.complaints(context).iter().filter(|one| one.is_bad());
    let codes: Vec<&'static str> =
        bad.filter(|one| topic(operator, one).is_some_and(counts)).map(|one| code(&one.complaint.condition)).collect();
    let verdict = if codes.is_empty() { Verdict::Match } else { Verdict::Degraded };
    Some(Ruling::new(verdict).with_message(codes))
}
