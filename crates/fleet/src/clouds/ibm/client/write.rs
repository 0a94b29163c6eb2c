//! The writes: tags and deletions. The one file of this module that changes an account.
//!
//! Invariants:
//! - every function asks for the token of its intent and sends one request, once;
//! - nothing of another account than the key's is touched;
//! - tags are attached and detached by name: never by a wildcard, and never by replacing all;
//! - a `200` counts only when the result inside says so, too.
//!
//! Elsewhere: whether it may be done (`engine`), and waiting for its end.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::crn::Crn;
use super::endpoints::IbmService;
use super::error::{CloudError, Problem};
use super::power::Workspace;
use super::resource::IbmResource;
use super::session::{Ask, Session, escaped};
use super::{instances, transit, vpc};
use trueup_core::engine::executor::InFlight;
use trueup_core::engine::text::{Charset, printable};
use trueup_core::world::IbmResourceKind;

#[derive(Deserialize)]
struct Results {
    results: Vec<TagResult>,
}

#[derive(Deserialize)]
struct TagResult {
    resource_id: String,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default)]
    message: Option<String>,
}

pub(super) async fn attach(session: &Session, token: &InFlight, crn: &str, names: &[String]) -> Result<(), CloudError> {
    change_tags(session, token, ("attach?tag_type=user", "attach tags"), crn, names).await
}

/// Attaches tags in place of all others with the same keys.
pub(super) async fn replace(
    session: &Session,
    token: &InFlight,
    crn: &str,
    names: &[String],
) -> Result<(), CloudError> {
    change_tags(session, token, ("attach?tag_type=user&update=true", "replace tags"), crn, names).await
}

pub(super) async fn detach(session: &Session, token: &InFlight, crn: &str, names: &[String]) -> Result<(), CloudError> {
    change_tags(session, token, ("detach?tag_type=user", "detach tags"), crn, names).await
}

async fn change_tags(
    session: &Session,
    token: &InFlight,
    (way, operation): (&str, &'static str),
    crn: &str,
    names: &[String],
) -> Result<(), CloudError> {
    let url = format!("{}/v3/tags/{way}", session.endpoints().base(IbmService::Tagging, ""));
    let body = json!({ "tag_names": names, "resources": [{ "resource_id": crn }] });
    let get = Ask::get(IbmService::Tagging, operation, url);
    let ask = Ask { method: Method::POST, body: Some(body), ..get };
    // A star would take other owners' tags along.
    if names.is_empty() || names.iter().any(|name| name.contains('*')) {
        return Err(ask.error(Problem::Unaddressed("the names of its tags".to_owned())));
    }
    own(session, &ask, Some(crn)).await?;
    tracing::debug!(action = token.action(), attempt = token.attempt(), operation, "sending a request");
    let results: Results = session.write(&ask).await?.decode(&ask)?;
    match results.results.into_iter().find(|result| result.resource_id == crn) {
        Some(TagResult { is_error: Some(true), message, .. }) => {
            let message = session.words(&message.unwrap_or_default()).await;
            Err(ask.error(Problem::ItemRefused { message }))
        }
        Some(TagResult { is_error: Some(false) | None, .. }) => Ok(()),
        None => Err(ask.error(Problem::NotUnderstood("no result for the resource".to_owned()))),
    }
}

/// Asks for a deletion; `workspace` is that of a network or DHCP server.
pub(super) async fn delete(
    session: &Session,
    token: &InFlight,
    resource: &IbmResource,
    workspace: Option<&Workspace>,
) -> Result<(), CloudError> {
    let ask = Ask { method: Method::DELETE, ..addressed(session, resource, workspace)? };
    own(session, &ask, resource.crn.as_deref()).await?;
    tracing::debug!(action = token.action(), attempt = token.attempt(), "sending a request");
    session.write(&ask).await.map(|_| ())
}

fn addressed(session: &Session, resource: &IbmResource, workspace: Option<&Workspace>) -> Result<Ask, CloudError> {
    let lacks = |service, what: &str| CloudError::new(service, "delete", Problem::Unaddressed(what.to_owned()));
    let IbmResource { kind, id, crn, parent, .. } = resource;
    match kind {
        IbmResourceKind::Workspace => {
            Ok(Ask::get(IbmService::ResourceController, "delete a workspace", instances::url(session, id)))
        }
        // Its keys go along: they are of no use without it, and would keep it.
        IbmResourceKind::CosInstance => {
            let url = format!("{}?recursive=true", instances::url(session, id));
            Ok(Ask::get(IbmService::ResourceController, "delete a COS instance", url))
        }
        IbmResourceKind::Vpc
        | IbmResourceKind::Subnet
        | IbmResourceKind::SecurityGroup
        | IbmResourceKind::LoadBalancer => {
            let crn = crn.as_deref().and_then(Crn::parse).ok_or_else(|| lacks(IbmService::Vpc, "its CRN"))?;
            let url = vpc::url(session, *kind, crn.location(), id);
            Ok(Ask::get(IbmService::Vpc, "delete a VPC resource", url))
        }
        IbmResourceKind::TransitGateway => {
            Ok(Ask::get(IbmService::Transit, "delete a gateway", transit::gateway_url(session, id)))
        }
        IbmResourceKind::TgConnection => {
            let gateway = parent.as_deref().ok_or_else(|| lacks(IbmService::Transit, "its gateway"))?;
            let url = transit::connection_url(session, gateway, id);
            Ok(Ask::get(IbmService::Transit, "delete a connection", url))
        }
        IbmResourceKind::Network | IbmResourceKind::DhcpServer => {
            let workspace = workspace.ok_or_else(|| lacks(IbmService::Power, "its workspace"))?;
            if *kind == IbmResourceKind::Network {
                workspace.ask(session, "delete a network", &format!("networks/{}", escaped(id)))
            } else {
                workspace.ask(session, "delete a DHCP server", &format!("services/dhcp/{}", escaped(id)))
            }
        }
    }
}

/// Makes sure that a resource belongs to the key's account. One without a CRN is reached through a parent of the key's
/// account, so it does.
async fn own(session: &Session, ask: &Ask, crn: Option<&str>) -> Result<(), CloudError> {
    let key = session.account().await?;
    let Some(crn) = crn else { return Ok(()) };
    let crn = Crn::parse(crn);
    match crn.as_ref().and_then(Crn::account) {
        Some(account) if account == key => Ok(()),
        Some(account) => {
            let resource = printable(account, Charset::Unicode);
            Err(ask.error(Problem::OtherAccount { key, resource }))
        }
        None => Err(ask.error(Problem::Unaddressed("an account in its CRN".to_owned()))),
    }
}
