//! Open intents of interrupted runs, resolved by reading the clusters.
//!
//! Invariants:
//! - nothing is sent to a cluster here;
//! - an intent stays open while its cluster cannot be reached, and while another process writes to the journal: its
//!   request may be under way.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::error::OperateError;
use crate::event::Notice;
use crate::session::Session;
use trueup_core::engine::executor::{ClusterPort, Clusters, resolve};
use trueup_core::engine::journal::{ApprovedCluster, Entry, Journal, Record, entries, open_intents};
use trueup_core::engine::short_id;
use trueup_core::world::{Cluster, ClusterIdentity, ClusterName};
use trueup_fleet::clouds::ClusterWithAccounts;
use trueup_fleet::live::Live;

/// Why each open intent is still open, by plan and action.
pub type StillOpen = BTreeMap<(String, String), String>;

/// The plans with open intents, each with the connected clusters they were sent to.
pub(crate) fn left_open(live: &Live, records: &[Record]) -> Vec<(Entry, Clusters)> {
    let open = entries(records).into_iter().filter(|entry| entry.open_count() > 0);
    open.map(|entry| {
        let clusters = clusters_of(live, &entry);
        (entry, clusters)
    })
    .collect()
}

/// Reads the object of every open intent, appends what was found and reports it. Returns the appended records, and what
/// is still open.
///
/// # Errors
/// The journal cannot be written.
pub(crate) async fn recover_open(
    session: &Session,
    journal: &mut Journal,
    left: Vec<(Entry, Clusters)>,
) -> Result<(Vec<Record>, StillOpen), OperateError> {
    let (mut appended, mut open) = (Vec::new(), StillOpen::new());
    for (entry, clusters) in left {
        let resolved = resolve(std::slice::from_ref(&entry), &clusters, Timestamp::now()).await;
        journal.append(&resolved)?;
        let mut unresolved = unreachable(std::slice::from_ref(&entry));
        for record in &resolved {
            if let Record::Resolved { action, found, .. } = record {
                let (entry_id, found) = (format!("{}/{action}", short_id(&entry.plan)), found.as_str().to_owned());
                session.events.notice(Notice::Resolved { entry: entry_id, found });
                unresolved.remove(&(entry.plan.clone(), action.clone()));
            }
        }
        appended.extend(resolved);
        open.extend(unresolved);
    }
    Ok((appended, open))
}

/// Reports the intents that are still open.
pub(crate) fn report_open(session: &Session, open: &StillOpen) {
    for ((plan, action), why) in open {
        let entry = format!("{}/{action}", short_id(plan));
        session.events.notice(Notice::StillOpen { entry, why: why.clone() });
    }
}

/// The connected clusters a plan was approved for, by the names it uses.
pub(crate) fn clusters_of(live: &Live, entry: &Entry) -> Clusters {
    let approved = entry.approvals.last().map(|approval| approval.clusters.as_slice()).unwrap_or_default();
    let same = |named: &ApprovedCluster| {
        let cluster = live.view().clusters().find(|cluster| is_same(cluster, &named.identity))?;
        Some((named.name.clone(), cluster.name.clone()))
    };
    ports_of(live, &approved.iter().filter_map(same).collect())
}

/// The ports that write to these clusters, by the names the plan uses.
pub(crate) fn ports_of(live: &Live, names: &BTreeMap<String, ClusterName>) -> Clusters {
    let accounts = live.cloud_accounts();
    let port = |(plan_name, name): (&String, &ClusterName)| {
        let port: Arc<dyn ClusterPort> = Arc::new(ClusterWithAccounts::new(live.client(name)?, accounts.clone()));
        Some((plan_name.clone(), port))
    };
    names.iter().filter_map(port).collect()
}

/// Whether a live cluster or account has this identity.
pub(crate) fn is_same(cluster: &Cluster, identity: &ClusterIdentity) -> bool {
    identity.is_known() && ClusterIdentity::of(cluster) == *identity
}

/// Every open intent, because its cluster cannot be reached.
pub(crate) fn unreachable(entries: &[Entry]) -> StillOpen {
    every_open(entries, |cluster| format!("cluster {cluster} cannot be reached"))
}

/// Every open intent, with a reason made from its cluster.
pub(crate) fn every_open(entries: &[Entry], why: impl Fn(&str) -> String) -> StillOpen {
    let open = open_intents(entries).into_iter();
    open.map(|(plan, action)| {
        let cluster = action.sent.as_ref().map(|sent| sent.cluster.as_str()).unwrap_or_default();
        ((plan.to_owned(), action.id.clone()), why(cluster))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::world::{ClusterIdentity, ClusterSource, Gap, GapCause, Link, Provider, RiskClass, Served};

    #[test]
    fn an_account_matches_by_its_id_and_an_unknown_identity_matches_nothing() {
        let member = |source: ClusterSource| Cluster {
            name: ClusterName::new("x"),
            class: RiskClass::Prod,
            source,
            hosted_by: None,
            link: Link::Idle,
            identity: ClusterIdentity::default(),
            served: Served::Unknown(Gap::new(GapCause::NotObserved, "")),
        };
        let account = |id: &str| {
            member(ClusterSource::Cloud {
                provider: Provider::Ibm,
                account: id.to_owned(),
                used_from: trueup_core::world::MemberRule::default(),
            })
        };
        let cluster = member(ClusterSource::Kubeconfig { context: "x".to_owned() });
        let cases = [
            ("the same", account("a"), ClusterIdentity::of_account("a"), true),
            ("another", account("b"), ClusterIdentity::of_account("a"), false),
            ("an unknown account", account(""), ClusterIdentity::of_account(""), false),
            ("an unknown cluster", cluster, ClusterIdentity::default(), false),
        ];
        for (case, member, identity, expected) in cases {
            assert_eq!(is_same(&member, &identity), expected, "case: {case}");
        }
    }
}
