//! Whether external OIDC is available: what the authentication operator asks before it takes the OAuth server away.
//!
//! Invariants:
//! - three answers, not two: an error is neither yes nor no;
//! - nothing incomplete ever gives a yes;
//! - only the revisions that run now count for a yes, not those on their way.
//!
//! Facts: `docs/facts/external-oidc.md` section 3.1, rule by rule.

use std::collections::BTreeSet;

use super::context::{CheckContext, config_maps};
use super::facts::{Argument, ConfigFile, KubeApiServer, Metadata, Webhook};
use super::names::{AUTH_CONFIG, KAS_NAMESPACE, OAUTH_API_NAMESPACE};
use super::spec::AuthKind;
use trueup_core::world::{Gap, GapCause, Reading};

/// Whether OIDC is available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// `spec.type` is not OIDC, whatever still runs.
    NotWanted,
    Available,
    NotYet(Progress),
    Unknown(Gap),
}

/// How far a switch that isn't through has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Some revision, running or on its way, has the file.
    RollingOut,
    NotStarted,
}

/// The configuration of a revision of kube-apiserver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    Oidc,
    /// It has no `auth-config-<N>`.
    NoFile,
    /// It has the file, and is not on OIDC alone.
    Half(Half),
    NotKnown(Gap),
}

/// Why a revision with the file is not on OIDC alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// The argument does not name the file.
    NoArgument,
    /// The webhook is asked, too: the first of the two revisions a switch makes.
    WebhookToo,
    /// The OAuth server's metadata is served, too.
    MetadataToo,
}

impl Half {
    pub fn message(self) -> &'static str {
        match self {
            Self::NoArgument => "it has auth-config, and its arguments do not name it",
            Self::WebhookToo => "auth-config and the token webhook at once: the first of a switch's two revisions",
            Self::MetadataToo => "it has auth-config and still serves the OAuth server's metadata",
        }
    }
}

/// Answers the operator's question.
pub fn assess(context: &CheckContext<'_>) -> Availability {
    let claims = match (context.kind(), context.claims_sourcing()) {
        (Err(gap), _) => return Availability::Unknown(gap),
        (Ok(kind), _) if *kind != AuthKind::Oidc => return Availability::NotWanted,
        (Ok(_), Err(gap)) => return Availability::Unknown(gap),
        (Ok(_), Ok(claims)) => claims,
    };
    if let Some(gap) = &context.authentication.gap {
        return Availability::Unknown(gap.clone());
    }
    if claims { by_oauth_api_server(context) } else { by_revisions(context) }
}

/// Rule 3: with external claims, the oauth-apiserver's own file decides.
fn by_oauth_api_server(context: &CheckContext<'_>) -> Availability {
    let file = context.auth_config(OAUTH_API_NAMESPACE);
    match (file.seen, file.gap) {
        (_, Some(gap)) => Availability::Unknown(gap),
        (None, None) => Availability::NotYet(Progress::NotStarted),
        (Some(file), None) if file.auth_config.is_some() => Availability::Available,
        (Some(_), None) => {
            let message = format!("ConfigMap {OAUTH_API_NAMESPACE}/{AUTH_CONFIG} has no auth-config.json");
            Availability::Unknown(Gap::new(GapCause::Unreadable, message))
        }
    }
}

/// Rules 4 to 6: what runs on every node.
fn by_revisions(context: &CheckContext<'_>) -> Availability {
    let unknown = |message: &str| Availability::Unknown(Gap::new(GapCause::NotObserved, message));
    if let Some(gap) = &context.kube_api_server.gap {
        return Availability::Unknown(gap.clone());
    }
    let Some(kas) = context.kube_api_server.seen else { return unknown("KubeAPIServer/cluster does not exist") };
    if kas.nodes.is_empty() {
        return unknown("KubeAPIServer/cluster names no node");
    }
    if let Some(node) = kas.nodes.iter().find(|node| node.current <= 0) {
        return unknown(&format!("node {} has no current revision yet", node.name));
    }
    let files: Reading<'_, ConfigFile> = context.view.read(&config_maps(context.name(), KAS_NAMESPACE));
    if let Some(gap) = files.gap() {
        return Availability::Unknown(gap);
    }
    let revisions: Vec<Revision> =
        current_revisions(kas).into_iter().map(|revision| auth_of_revision(context, revision)).collect();
    if revisions.iter().any(|revision| matches!(revision, Revision::NoFile | Revision::Half(_))) {
        return Availability::NotYet(progress(context, kas));
    }
    let gap = revisions.into_iter().find_map(|revision| match revision {
        Revision::NotKnown(gap) => Some(gap),
        Revision::Oidc | Revision::NoFile | Revision::Half(_) => None,
    });
    gap.map_or(Availability::Available, Availability::Unknown)
}

fn progress(context: &CheckContext<'_>, kas: &KubeApiServer) -> Progress {
    let mut revisions = current_revisions(kas);
    revisions.extend(kas.nodes.iter().map(|node| node.target).filter(|target| *target > 0));
    let has_file =
        |revision: &i64| context.config_file(KAS_NAMESPACE, &revisioned(AUTH_CONFIG, *revision)).seen.is_some();
    if revisions.iter().any(has_file) { Progress::RollingOut } else { Progress::NotStarted }
}

/// The revisions that run somewhere.
pub fn current_revisions(kas: &KubeApiServer) -> BTreeSet<i64> {
    kas.nodes.iter().map(|node| node.current).filter(|revision| *revision > 0).collect()
}

/// Rule 5 for one revision.
pub fn auth_of_revision(context: &CheckContext<'_>, revision: i64) -> Revision {
    match context.config_file(KAS_NAMESPACE, &revisioned(AUTH_CONFIG, revision)).known() {
        Err(gap) => return Revision::NotKnown(gap),
        Ok(None) => return Revision::NoFile,
        Ok(Some(_)) => {}
    }
    let name = revisioned("config", revision);
    let config = match context.config_file(KAS_NAMESPACE, &name).known() {
        Err(gap) => return Revision::NotKnown(gap),
        Ok(None) => {
            let message = format!("ConfigMap {KAS_NAMESPACE}/{name} does not exist, and every revision has one");
            return Revision::NotKnown(Gap::new(GapCause::NotObserved, message));
        }
        Ok(Some(file)) => file.config,
    };
    match config.map(|config| (config.argument, config.webhook, config.metadata)) {
        None | Some((Argument::Otherwise, ..)) => Revision::Half(Half::NoArgument),
        Some((Argument::NamesTheFile, Webhook::Asked, _)) => Revision::Half(Half::WebhookToo),
        Some((Argument::NamesTheFile, Webhook::NotAsked, Metadata::Served)) => Revision::Half(Half::MetadataToo),
        Some((Argument::NamesTheFile, Webhook::NotAsked, Metadata::NotServed)) => Revision::Oidc,
    }
}

/// Whether people can still log in by OIDC at a revision, although it is not requested any more; a gap when not known.
pub fn still_carries(context: &CheckContext<'_>, revision: i64) -> Result<bool, Gap> {
    match auth_of_revision(context, revision) {
        Revision::Oidc | Revision::Half(Half::WebhookToo | Half::MetadataToo) => Ok(true),
        Revision::NoFile | Revision::Half(Half::NoArgument) => Ok(false),
        // The file exists, and it is not known whether it is used.
        Revision::NotKnown(gap) => {
            let file = context.config_file(KAS_NAMESPACE, &revisioned(AUTH_CONFIG, revision));
            if file.seen.is_some() { Ok(true) } else { Err(gap) }
        }
    }
}

/// `auth-config-7`.
pub fn revisioned(name: &str, revision: i64) -> String {
    format!("{name}-{revision}")
}
