//! The discovery document of a provider: where it is, and who has to vouch for the server it is on.
//!
//! Invariants: nothing is proposed to be asked that the authentication operator would not ask itself.
//!
//! Elsewhere: asking for it, which happens only on request.

use super::context::CheckContext;
use super::pem::count_certificates;
use super::render::filled;
use super::spec::Provider;
use crate::DiscoveryProbe;
use trueup_cel::url;

/// What kube-apiserver appends to an issuer.
const PATH: &str = "/.well-known/openid-configuration";

/// The document of the provider, whatever the type is now: it is needed before a switch. Nothing where
/// its address, or the CA that vouches for it, is of no use or not known; then that is a problem of the spec already.
pub fn discovery(context: &CheckContext<'_>) -> Option<DiscoveryProbe> {
    let provider = context.authentication.seen?.spec.providers.first()?;
    let url = address(provider);
    let is_usable = url::parse(&url).is_ok_and(|parsed| parsed.scheme == "https" && !parsed.host.is_empty());
    if !is_usable {
        return None;
    }
    let roots = match &provider.issuer.ca {
        None => None,
        Some(name) => Some(context.authority(name)?.to_owned()),
    };
    Some(DiscoveryProbe { url, issuer: provider.issuer_url().to_owned(), roots })
}

/// The address the operator asks: the one that is set, or the one below the issuer, which loses one slash at its end.
fn address(provider: &Provider) -> String {
    if let Some(url) = filled(provider.issuer.discovery_url.as_deref()) {
        return url.to_owned();
    }
    let issuer = provider.issuer_url();
    format!("{}{PATH}", issuer.strip_suffix('/').unwrap_or(issuer))
}

impl<'a> CheckContext<'a> {
    /// A CA bundle of `openshift-config` that certificates can be read from.
    fn authority(&self, name: &str) -> Option<&'a str> {
        let text = self.bundle(super::names::CONFIG_NAMESPACE, name).seen?.text.as_deref()?;
        count_certificates(text).is_ok().then_some(text)
    }
}
