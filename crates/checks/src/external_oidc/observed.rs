//! `spec.observedConfig` of kube-apiserver's operator: the configuration of kube-apiserver's next revision.
//!
//! Facts: `docs/facts/external-oidc.md` section 2, a row an observer.

use super::context::CheckContext;
use super::facts::ObservedConfig;
use super::judge::is_copied;
use super::names::{AUTH_CONFIG_PATH, KAS_NAMESPACE, MANAGED_NAMESPACE, RESTRICTION_PLUGINS};
use super::ruling::Ruling;
use super::spec::AuthKind;
use super::verdict::{Code, Verdict};
use trueup_core::world::{Gap, GapCause};

/// One setting, and whether it is right.
pub struct ObservedSetting {
    pub code: Code,
    pub field: &'static str,
    pub expected: Expected,
    pub actual: String,
    pub right: bool,
}

/// What should be there.
pub enum Expected {
    Text(String),
    /// Upstream leaves it as it is in this situation.
    NotJudged {
        why: &'static str,
    },
}

pub fn rule(context: &CheckContext<'_>) -> Ruling {
    match observed_settings(context) {
        Err(gap) => Ruling::unknown(gap),
        Ok(settings) => {
            let wrong: Vec<Code> =
                settings.iter().filter(|setting| !setting.right).map(|setting| setting.code).collect();
            let verdict = if wrong.is_empty() { Verdict::Match } else { Verdict::Drift };
            Ruling::new(verdict).with_message(wrong.into_iter().map(Code::as_str))
        }
    }
}

/// Everything this check looks at in the observed config.
pub fn observed_settings(context: &CheckContext<'_>) -> Result<Vec<ObservedSetting>, Gap> {
    let kind = context.kind()?;
    let absent = || Gap::new(GapCause::NotObserved, "KubeAPIServer/cluster does not exist");
    let observed = &context.kube_api_server.known()?.ok_or_else(absent)?.observed;
    let copied = is_copied(context)?;
    let mut settings = vec![argument(context, observed, copied)?];
    if copied {
        settings.extend(once_copied(context, observed)?);
    } else if *kind == AuthKind::IntegratedOAuth {
        settings.extend(for_oauth(context, observed)?);
    }
    if has_plugin_observer(context.release) {
        settings.push(plugins(kind, observed));
    }
    Ok(settings)
}

fn argument(context: &CheckContext<'_>, observed: &ObservedConfig, copied: bool) -> Result<ObservedSetting, Gap> {
    let actual = observed.authentication_config.as_deref();
    let is_ours = actual.is_some_and(|list| matches!(list, [one] if **one == *AUTH_CONFIG_PATH));
    let expected = if copied {
        match context.auth_config(MANAGED_NAMESPACE).known()? {
            None => Expected::Text(String::new()),
            Some(source) if source.auth_config.as_deref().is_none_or(str::is_empty) => {
                Expected::NotJudged { why: "its source has no auth-config.json, so the operator leaves it as it was" }
            }
            Some(_) => Expected::Text(AUTH_CONFIG_PATH.to_owned()),
        }
    } else {
        Expected::Text(String::new())
    };
    let right = match &expected {
        Expected::NotJudged { .. } => true,
        Expected::Text(text) if text.is_empty() => actual.is_none_or(<[_]>::is_empty),
        Expected::Text(_) => is_ours,
    };
    Ok(ObservedSetting {
        code: Code::AuthenticationConfigArg,
        field: "spec.observedConfig.apiServerArguments.authentication-config",
        expected,
        actual: actual.unwrap_or_default().join(","),
        right,
    })
}

/// The webhook and the metadata go once the copy exists; before that they are left as they were.
fn once_copied(context: &CheckContext<'_>, observed: &ObservedConfig) -> Result<[ObservedSetting; 2], Gap> {
    let copy = context.auth_config(KAS_NAMESPACE).known()?;
    let gone = |code, field, actual: String| {
        let waits = "kube-apiserver's copy of auth-config does not exist yet";
        let (expected, right) = match copy {
            None => (Expected::NotJudged { why: waits }, true),
            Some(_) => (Expected::Text(String::new()), actual.is_empty()),
        };
        ObservedSetting { code, field, expected, actual, right }
    };
    let webhook = [&observed.webhook_config, &observed.webhook_version];
    let webhook: Vec<&str> = webhook.into_iter().flatten().flat_map(|list| list.iter().map(AsRef::as_ref)).collect();
    let arguments = "spec.observedConfig.apiServerArguments.authentication-token-webhook-config-file";
    Ok([
        gone(Code::WebhookArg, arguments, webhook.join(",")),
        gone(
            Code::OauthMetadata,
            "spec.observedConfig.authConfig.oauthMetadataFile",
            observed.oauth_metadata_file.to_string(),
        ),
    ])
}

/// The webhook and the metadata of the OAuth server that is wanted. Only their presence is judged, not the path.
fn for_oauth(context: &CheckContext<'_>, observed: &ObservedConfig) -> Result<[ObservedSetting; 2], Gap> {
    let webhook = observed.webhook_config.as_deref().and_then(<[_]>::first).map_or("", |path| path.as_ref());
    let metadata = observed.oauth_metadata_file.as_ref();
    let expected_metadata = if !metadata.is_empty() || context.has_metadata_source()? {
        Expected::Text(A_FILE.to_owned())
    } else {
        Expected::NotJudged { why: "Authentication names no metadata ConfigMap that exists" }
    };
    let right = !metadata.is_empty() || matches!(expected_metadata, Expected::NotJudged { .. });
    Ok([
        ObservedSetting {
            code: Code::WebhookArg,
            field: "spec.observedConfig.apiServerArguments.authentication-token-webhook-config-file",
            expected: Expected::Text(A_FILE.to_owned()),
            actual: webhook.to_owned(),
            right: !webhook.is_empty(),
        },
        ObservedSetting {
            code: Code::OauthMetadata,
            field: "spec.observedConfig.authConfig.oauthMetadataFile",
            expected: expected_metadata,
            actual: metadata.to_owned(),
            right,
        },
    ])
}

/// What is expected where any path will do.
const A_FILE: &str = "a file";

/// The plugins that enforce RoleBindingRestrictions follow the type at once.
fn plugins(kind: &AuthKind, observed: &ObservedConfig) -> ObservedSetting {
    let among = |list: &[Box<str>], plugin: &str| list.iter().any(|held| **held == *plugin);
    let is_off = |plugin: &&str| among(&observed.plugins_off, plugin);
    let is_on = |plugin: &&str| among(&observed.plugins_on, plugin);
    let off = RESTRICTION_PLUGINS.iter().filter(|plugin| is_off(plugin)).count();
    let on = RESTRICTION_PLUGINS.iter().filter(|plugin| is_on(plugin)).count();
    let (expected, right) = match kind {
        // Left out of both lists they are on, which is kube-apiserver's default.
        AuthKind::IntegratedOAuth => ("both enabled", off == 0),
        AuthKind::Oidc | AuthKind::None | AuthKind::Other(_) => {
            ("both disabled", off == RESTRICTION_PLUGINS.len() && on == 0)
        }
    };
    ObservedSetting {
        code: Code::AdmissionPlugins,
        field: "spec.observedConfig.apiServerArguments.disable-admission-plugins",
        expected: Expected::Text(expected.to_owned()),
        actual: format!("{on} enabled, {off} disabled"),
        right,
    }
}

/// Releases before 4.20 leave the plugins alone.
fn has_plugin_observer(release: Option<&str>) -> bool {
    let mut numbers = release.unwrap_or_default().split(['.', '-']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (4, 20),
        (Some(_), _) | (None, _) => true,
    }
}
