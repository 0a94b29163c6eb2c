//! The cloud accounts of the configuration as members of the fleet, and the providers the enabled checks need.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::event::Notice;
use crate::history::journal_entries;
use crate::session::{Session, wall_clock};
use crate::settings::{CloudAccount, CloudKey};
use trueup_checks::Check;
use trueup_core::engine::recent_tag_writes;
use trueup_core::world::{ClusterName, ClusterSource, Provider};
use trueup_fleet::clouds::{
    AccountConnector, AccountSettings, BadAccount, Clouds, KeySource, OpenedAccount, RecentTagWrites,
};
use trueup_fleet::live::Member;

/// How long an account may take to return its id. Its failures are reported when it is listed.
const ID_TIMEOUT: Duration = Duration::from_secs(10);

/// The providers that the enabled checks need.
pub fn needed_clouds(session: &Session, checks: &[Box<dyn Check>]) -> Clouds {
    Clouds::network(&needed_providers(checks), &session.env, &wall_clock(), &session.settings.egress)
}

/// The providers that the enabled checks need or the configuration names, for `trueup doctor`.
pub fn known_clouds(session: &Session, checks: &[Box<dyn Check>]) -> Clouds {
    let mut providers = needed_providers(checks);
    providers.extend(session.settings.clouds.iter().map(|account| account.provider));
    Clouds::network(&providers, &session.env, &wall_clock(), &session.settings.egress)
}

fn needed_providers(checks: &[Box<dyn Check>]) -> BTreeSet<Provider> {
    checks.iter().flat_map(|check| check.clouds().iter().copied()).collect()
}

/// An account of the configuration, as a provider needs it.
pub fn account_settings(account: &CloudAccount) -> AccountSettings {
    let CloudAccount { provider, alias, key, endpoints, management_clusters: _, declaration: _ } = account;
    let key = key.as_ref().map(|key| match key {
        CloudKey::File(path) => KeySource::File(path.clone()),
        CloudKey::Env(name) => KeySource::Env(name.clone()),
        CloudKey::TokenFile(path) => KeySource::TokenFile(path.clone()),
        CloudKey::TrustedProfile(profile) => KeySource::TrustedProfile(profile.clone()),
    });
    let recent_tag_writes = RecentTagWrites::default();
    AccountSettings { provider: *provider, alias: alias.clone(), key, endpoints: endpoints.clone(), recent_tag_writes }
}

/// The accounts whose provider an enabled check needs.
pub(crate) async fn members(session: &Session, clouds: &Clouds) -> Vec<Member> {
    let mut members = Vec::new();
    let not_opened = not_opened(session);
    for account in &session.settings.clouds {
        let recent_tag_writes = RecentTagWrites::new(tag_writes(session));
        let settings = AccountSettings { recent_tag_writes, ..account_settings(account) };
        let Some(opened) = clouds.open(&settings) else { continue };
        if let Some(BadAccount { cause, remedy }) = &opened.problem {
            let name = format!("clouds.{}.{}", account.provider.as_str(), account.alias);
            session.events.notice(Notice::Account(format!("{name}: {cause}; {remedy}")));
        }
        members.push(member(session, account, opened, &not_opened).await);
    }
    members
}

/// The resources this machine tagged a moment ago. A journal that cannot be read stops every apply and is reported
/// with the tombstones.
fn tag_writes(session: &Session) -> impl Fn() -> BTreeSet<String> + Send + Sync + 'static {
    let state = session.state.clone();
    move || {
        let entries = journal_entries(state.as_deref()).unwrap_or_default();
        recent_tag_writes(&entries, jiff::Timestamp::now())
    }
}

/// The contexts of the kubeconfig that this run does not open. A glob that matches one of them is not completely read.
fn not_opened(session: &Session) -> Vec<String> {
    // A kubeconfig that cannot be read has already ended the run, or there is none.
    let Ok(kubeconfig) = session.read_kubeconfig() else { return Vec::new() };
    let opened = kubeconfig.select(&session.contexts.selection).unwrap_or_default();
    let all = kubeconfig.context_names().filter(|name| !opened.iter().any(|one| one == name));
    all.map(str::to_owned).collect()
}

async fn member(session: &Session, account: &CloudAccount, opened: OpenedAccount, not_opened: &[String]) -> Member {
    let id = match opened.account.port() {
        Some(port) => tokio::time::timeout(ID_TIMEOUT, port.id()).await.ok().and_then(Result::ok),
        None => None,
    };
    let name = ClusterName::new(format!("{}:{}", account.provider.as_str(), account.alias));
    Member {
        class: session.settings.clusters.class_of(&name, None),
        source: ClusterSource::Cloud {
            provider: account.provider,
            // Empty until the provider returns it.
            account: id.unwrap_or_default(),
            used_from: account.members(not_opened.to_vec()),
        },
        hosted_by: None,
        connector: Arc::new(AccountConnector::new(opened.account)),
        namespaces: Vec::new(),
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_checks::SettingsTable;
    use trueup_checks::registry;

    #[test]
    fn a_provider_is_used_only_where_an_enabled_check_needs_it() {
        let cases = [
            ("all checks", &[][..], vec![Provider::Aws, Provider::Ibm]),
            ("no machine sets", &["machineset-capacity"], vec![Provider::Ibm]),
            ("no tags", &["powervs-tags"], vec![Provider::Aws]),
            ("neither", &["machineset-capacity", "powervs-tags"], vec![]),
        ];
        for (case, disabled, expected) in cases {
            let enabled = registry::entries().iter().filter(|entry| !disabled.contains(&entry.name.0));
            let checks: Vec<Box<dyn Check>> = enabled
                .map(|entry| (entry.build)(&SettingsTable::empty(entry.name.0)).expect("defaults are valid"))
                .collect();
            assert_eq!(needed_providers(&checks), expected.into_iter().collect(), "case: {case}");
        }
    }
}
