//! What an earlier run left open, settled by reading the clusters whenever the journal is opened.
//!
//! Always true:
//! - nothing is sent to a cluster here;
//! - a request stays open while its cluster can't be reached, and while somebody else is writing to the journal: it may
//!   be under way;
//! - clusters are connected only when something is open, or when somebody asks for them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::context::Context;
use super::error::CliError;
use super::history::journal_error;
use super::look_live;
use trueup_core::engine::executor::{ClusterPort, Clusters, resolve};
use trueup_core::engine::journal::{
    self, ApprovedCluster, Entry, History, Holder, Journal, JournalError, Opened, Record, StateFolder, entries,
    open_intents,
};
use trueup_core::engine::{IdentityRecord, short_id};
use trueup_core::world::{Cluster, ClusterName};
use trueup_fleet::clouds::ClusterWithAccounts;
use trueup_fleet::live::Live;

/// Why each open request is still open, by plan and action.
pub type StillOpen = BTreeMap<(String, String), String>;

/// The live clusters, connected when they are first asked for.
pub struct Reach<'c> {
    context: &'c Context,
    connection: Connection,
}

enum Connection {
    NotTried,
    Connected(Box<Live>),
    Failed(String),
}

/// The journal as far as reading can settle it.
pub struct Known {
    pub history: History,
    pub open: StillOpen,
}

impl<'c> Reach<'c> {
    pub fn new(context: &'c Context) -> Self {
        Self { context, connection: Connection::NotTried }
    }

    /// The clusters, or why there are none.
    pub async fn live(&mut self) -> Result<&Live, &str> {
        if let Connection::NotTried = self.connection {
            self.connection = match connect(self.context).await {
                Ok(live) => Connection::Connected(Box::new(live)),
                Err(error) => Connection::Failed(error.cause),
            };
        }
        match &self.connection {
            Connection::Connected(live) => Ok(live),
            Connection::Failed(why) => Err(why),
            Connection::NotTried => Err("nobody tried"),
        }
    }
}

async fn connect(context: &Context) -> Result<Live, CliError> {
    if context.globals.from.is_some() {
        return Err(CliError::usage("--from", "a folder is no live cluster", ""));
    }
    let mut config = context.config()?;
    look_live::connect(context, &mut config).await.map(|(live, _)| live)
}

/// Reads the journal and settles what can be settled.
///
/// # Errors
/// The journal can't be read. That it can't be written only leaves open what is open.
pub async fn read_settled(
    context: &Context,
    doing: &str,
    folder: &StateFolder,
    reach: &mut Reach<'_>,
) -> Result<Known, CliError> {
    let failed = |error: JournalError| journal_error(doing, &error);
    let history = journal::read(folder).map_err(failed)?;
    let found = entries(history.lines.iter().map(|line| &line.record));
    if open_intents(&found).is_empty() {
        return Ok(Known { history, open: StillOpen::new() });
    }
    let live = match reach.live().await {
        Ok(live) => live,
        Err(why) => {
            context.note(&format!("no cluster could be asked what came of open requests: {why}"));
            return Ok(Known { history, open: unreachable(&found) });
        }
    };
    let Opened { mut journal, records, recovered: _ } = match Journal::open(folder, &holder(context, doing)) {
        Ok(opened) => opened,
        Err(error) => return Ok(Known { history, open: every(&found, |_| error.to_string()) }),
    };
    let left = left_open(live, &records);
    let open = settle(context, &mut journal, left).await.map_err(failed)?.1;
    drop(journal);
    Ok(Known { history: journal::read(folder).map_err(failed)?, open })
}

/// The plans with requests nobody knows the end of, each with the clusters they went to, as far as they are connected.
pub fn left_open(live: &Live, records: &[Record]) -> Vec<(Entry, Clusters)> {
    let open = entries(records).into_iter().filter(|entry| entry.open_count() > 0);
    open.map(|entry| {
        let clusters = clusters_of(live, &entry);
        (entry, clusters)
    })
    .collect()
}

/// Reads what every open request was about, writes down what was found and says it. What was appended is the answer,
/// with what is still open.
///
/// # Errors
/// The journal takes nothing more.
pub async fn settle(
    context: &Context,
    journal: &mut Journal,
    left: Vec<(Entry, Clusters)>,
) -> Result<(Vec<Record>, StillOpen), JournalError> {
    let (mut appended, mut open) = (Vec::new(), StillOpen::new());
    for (entry, clusters) in left {
        let resolved = resolve(std::slice::from_ref(&entry), &clusters, Timestamp::now()).await;
        journal.append(&resolved)?;
        let plan = short_id(&entry.plan);
        let mut unsettled = unreachable(std::slice::from_ref(&entry));
        for record in &resolved {
            if let Record::Resolved { action, found, .. } = record {
                context.note(&format!("an earlier run was broken off: {plan}/{action} was found {}", found.as_str()));
                unsettled.remove(&(entry.plan.clone(), action.clone()));
            }
        }
        appended.extend(resolved);
        open.extend(unsettled);
    }
    Ok((appended, open))
}

/// The connected clusters a plan was approved for, by the names it uses.
pub fn clusters_of(live: &Live, entry: &Entry) -> Clusters {
    let approved = entry.approvals.last().map(|approval| approval.clusters.as_slice()).unwrap_or_default();
    let same = |named: &ApprovedCluster| {
        let cluster = live.view().clusters().find(|cluster| is_same(cluster, &named.identity))?;
        Some((named.name.clone(), cluster.name.clone()))
    };
    ports_of(live, &approved.iter().filter_map(same).collect())
}

/// The ways to write to these clusters, by the names the plan uses.
pub fn ports_of(live: &Live, names: &BTreeMap<String, ClusterName>) -> Clusters {
    let accounts = live.cloud_accounts();
    let port = |(plan_name, name): (&String, &ClusterName)| {
        let port: Arc<dyn ClusterPort> = Arc::new(ClusterWithAccounts::new(live.client(name)?, accounts.clone()));
        Some((plan_name.clone(), port))
    };
    names.iter().filter_map(port).collect()
}

/// Whether a live cluster or account is the one with this identity.
pub fn is_same(cluster: &Cluster, identity: &IdentityRecord) -> bool {
    identity.is_known() && IdentityRecord::of(cluster) == *identity
}

/// Who writes, for the second one to read.
pub fn holder(context: &Context, doing: &str) -> Holder {
    Holder { name: format!("trueup {doing} by {} on {}", who(context), host(context)), pid: std::process::id() }
}

pub fn who(context: &Context) -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| context.env.raw(name));
    named.map_or_else(|| "somebody".to_owned(), |name| name.to_string_lossy().into_owned())
}

pub fn host(context: &Context) -> String {
    let named = context.env.raw("HOSTNAME").map(|name| name.to_string_lossy().into_owned());
    let written = || std::fs::read_to_string(Path::new("/etc/hostname")).ok().map(|text| text.trim().to_owned());
    named.or_else(written).filter(|name| !name.is_empty()).unwrap_or_else(|| "this machine".to_owned())
}

/// Every open request, because its cluster can't be reached.
fn unreachable(entries: &[Entry]) -> StillOpen {
    every(entries, |cluster| format!("cluster {cluster} can't be reached"))
}

fn every(entries: &[Entry], why: impl Fn(&str) -> String) -> StillOpen {
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
    fn an_account_is_the_one_with_its_id_and_never_a_cluster_nobody_knows() {
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
            member(ClusterSource::Cloud { provider: Provider::Ibm, account: id.to_owned(), used_from: Vec::new() })
        };
        let cluster = member(ClusterSource::Kubeconfig { context: "x".to_owned() });
        let cases = [
            ("the same", account("a"), IdentityRecord::of_account("a"), true),
            ("another", account("b"), IdentityRecord::of_account("a"), false),
            ("an account nobody knows", account(""), IdentityRecord::of_account(""), false),
            ("a cluster nobody knows", cluster, IdentityRecord::default(), false),
        ];
        for (case, member, identity, expected) in cases {
            assert_eq!(is_same(&member, &identity), expected, "case: {case}");
        }
    }
}
