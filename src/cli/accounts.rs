//! The cloud accounts of the configuration, as members of the fleet.

use std::sync::Arc;
use std::time::Duration;

use super::clouds;
use super::context::Context;
use super::error::CliError;
use crate::config::{CloudAccount, Config};
use trueup_core::engine::Glob;
use trueup_core::world::{ClusterName, ClusterSource};
use trueup_fleet::clouds::{AccountConnector, BadAccount, OpenedAccount};
use trueup_fleet::live::Member;

/// How long an account may take to return its id. Its failures are reported when it is listed.
const ID_TIMEOUT: Duration = Duration::from_secs(10);

/// The accounts whose provider an enabled check needs.
pub async fn members(context: &Context, config: &Config) -> Vec<Member> {
    let clouds = clouds::needed(context, config);
    let mut members = Vec::new();
    for named in &config.clouds {
        let Some(opened) = clouds.open(&clouds::settings(named)) else { continue };
        if let Some(BadAccount { cause, remedy }) = &opened.problem {
            let doing = format!("clouds.{}.{}", named.provider.as_str(), named.alias);
            context.note(&CliError::failed(doing.as_str(), cause.clone(), remedy.clone()).to_string());
        }
        members.push(member(config, named, opened).await);
    }
    members
}

async fn member(config: &Config, named: &CloudAccount, opened: OpenedAccount) -> Member {
    let id = match opened.account.port() {
        Some(port) => tokio::time::timeout(ID_TIMEOUT, port.id()).await.ok().and_then(Result::ok),
        None => None,
    };
    let name = ClusterName::new(format!("{}:{}", named.provider.as_str(), named.alias));
    Member {
        class: config.clusters.class_of(&name, None),
        source: ClusterSource::Cloud {
            provider: named.provider,
            // Empty until the provider returns it.
            account: id.unwrap_or_default(),
            used_from: named.management_clusters.iter().map(Glob::to_string).collect(),
        },
        hosted_by: None,
        connector: Arc::new(AccountConnector::new(opened.account)),
        namespaces: Vec::new(),
        name,
    }
}
