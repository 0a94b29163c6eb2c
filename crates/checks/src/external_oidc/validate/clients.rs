//! The clients of components: these are never refused, but without them the console has no login.

use super::super::check::{Inputs, Presence, References};
use super::super::problem::WarningCode;
use super::super::spec::{Component, Provider};
use super::{About, Findings};

/// Where console and cli are registered.
const CONSOLE_NAMESPACE: &str = "openshift-console";

pub(super) fn validate(findings: &mut Findings, inputs: &Inputs<'_>, provider: &Provider, at: &str) {
    let at = format!("{at}.oidcClients");
    findings.count_limit(&at, provider.clients.len(), 20);
    for (index, client) in provider.clients.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let Component { namespace, name } = &client.component;
        findings.limit(&format!("{at}.componentName"), Some(name), 256);
        findings.limit(&format!("{at}.componentNamespace"), Some(namespace), 63);
        let registered = inputs.clients.iter().any(|status| status.component == client.component);
        let built_in = namespace == CONSOLE_NAMESPACE && matches!(name.as_str(), "console" | "cli");
        if !registered && !built_in {
            let message = "no component of this name has registered in status.oidcClients, so updates are refused";
            findings.warn(WarningCode::ClientUnknownComponent, format!("{at}.componentName"), name, message);
        }
        let is_console = namespace == CONSOLE_NAMESPACE && name == "console";
        let path = format!("{at}.clientSecret.name");
        let looked_up = client.secret.as_deref().map(|secret| (secret, (inputs.secret)(secret)));
        match (looked_up, inputs.references) {
            (Some((secret, Presence::Absent)), references) => {
                let message = format!("there is no such Secret in {}", references.namespace());
                findings.warn(WarningCode::ClientSecretMissing, path, secret, &message);
            }
            (Some((secret, Presence::Unknown)), References::HostedCluster { namespace }) => {
                let message = format!("{path}: whether there is a Secret {namespace}/{secret} is not known");
                findings.unknown(About::Writing, message);
            }
            (None, _) if is_console => {
                let message = "the console needs a client secret and none is named";
                findings.warn(WarningCode::ClientSecretMissing, path, "", message);
            }
            (Some((_, Presence::Present | Presence::Unknown)) | None, _) => {}
        }
    }
}
