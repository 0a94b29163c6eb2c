//! Planning the undo of what was applied.
//!
//! Invariants: an undo is derived from this machine's journal and from what the clusters hold now.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use crate::error::{OperateError, chain};
use crate::fleet::Fleet;
use crate::fresh::FreshWorld as _;
use crate::history::{Reach, pick, read_recovered};
use crate::observe::conditions;
use crate::plan::{PlanRequest, configured};
use crate::recover::{clusters_of, is_same};
use crate::session::Session;
use trueup_core::engine::executor::{Clusters, read_object_now, read_owners};
use trueup_core::engine::journal::{ActionEntry, ApprovedCluster, Entry, StateFolder};
use trueup_core::engine::vault::{Backups, owners};
use trueup_core::engine::{
    AccessAnswers, AccessQuestion, BackupSeen, Conditions, Look, ObjectNow, ObjectRef, OwnersSeen, Plan, UndoPlan,
    undo, undo_access_questions,
};
use trueup_core::world::{Cluster, Resource};
use trueup_fleet::live::Live;

/// Plans the undo of a journal entry: the prefix of a plan's id, with `/ACTION` for one action. Open intents are resolved
/// first.
///
/// # Errors
/// The journal cannot be read, or has no such entry.
pub async fn plan_undo(session: &Session, reach: &mut Reach, asked: &str) -> Result<UndoPlan, OperateError> {
    let entries = read_recovered(session, "undo", reach).await?.entries();
    let (entry, only) = pick(&entries, asked)?;
    let only = only.map(|action| action.id.as_str());
    let fleet = reach.fleet().await.ok();
    derive(session, fleet, entry, only).await
}

/// Derives the undo of a journal entry from the journal and what the clusters hold now.
///
/// # Errors
/// The backups cannot be listed, or the loop has ended.
pub(crate) async fn derive(
    session: &Session,
    fleet: Option<&Fleet>,
    entry: &Entry,
    only: Option<&str>,
) -> Result<UndoPlan, OperateError> {
    let (clusters, live_clusters, mut found) = match fleet {
        Some(fleet) => {
            let asked = entry.clone();
            let read = move |live: &Live| (clusters_of(live, &asked), live_clusters_of(live, &asked), conditions(live));
            fleet.ask(read).await?
        }
        None => (Clusters::new(), BTreeMap::new(), Conditions::at(Timestamp::now())),
    };
    let looks = match session.state_folder()? {
        Some(folder) => read_actions(&folder, entry, only, &clusters).await?,
        None => BTreeMap::new(),
    };
    let undone = undo(entry, only, &looks, Timestamp::now(), session.settings.safety.plans.ttl)?;
    let resources = match fleet {
        Some(fleet) => {
            let (resources, access) = access_of(fleet, &undone.plan, &live_clusters).await?;
            found.access = access;
            resources
        }
        None => Vec::new(),
    };
    let conditions = configured(session, &PlanRequest::default(), found);
    Ok(undone.under(&conditions, &live_clusters, &resources)?)
}

/// Asks for the permissions of an undo plan. Returns the kinds that are known, too.
async fn access_of(
    fleet: &Fleet,
    plan: &Plan,
    clusters: &BTreeMap<String, Cluster>,
) -> Result<(Vec<Resource>, AccessAnswers), OperateError> {
    let known = |live: &Live| {
        let resources: HashSet<Resource> = live.view().observations().map(|(id, ..)| id.resource).collect();
        resources.into_iter().collect::<Vec<Resource>>()
    };
    let resources = fleet.ask(known).await?;
    let mut questions: BTreeSet<AccessQuestion> = BTreeSet::new();
    for action in &plan.actions {
        let cluster = clusters.get(&action.cluster).map(|cluster| &cluster.name);
        questions.extend(cluster.map(|name| undo_access_questions(action, name, &resources)).unwrap_or_default());
    }
    let mut fleet = fleet.clone();
    let access = fleet.ask_access(questions).await;
    Ok((resources, access))
}

/// The connected clusters a plan was applied to, by the names of the journal.
fn live_clusters_of(live: &Live, entry: &Entry) -> BTreeMap<String, Cluster> {
    let clusters = entry.approvals.last().map(|approval| approval.clusters.as_slice()).unwrap_or_default();
    let found = |named: &ApprovedCluster| {
        let cluster = live.view().clusters().find(|cluster| is_same(cluster, &named.identity))?;
        Some((named.name.clone(), cluster.clone()))
    };
    clusters.iter().filter_map(found).collect()
}

/// Reads the object, backup and owners of every action.
///
/// # Errors
/// The backups cannot be listed.
async fn read_actions(
    folder: &StateFolder,
    entry: &Entry,
    only: Option<&str>,
    clusters: &Clusters,
) -> Result<BTreeMap<String, Look>, OperateError> {
    let backups = Backups::look(folder).map_err(OperateError::Backups)?;
    let mut looks = BTreeMap::new();
    for action in entry.actions.iter().filter(|action| only.is_none_or(|only| only == action.id)) {
        let Some(sent) = &action.sent else { continue };
        let port = clusters.get(&sent.cluster).map(AsRef::as_ref);
        let away = format!("cluster {} cannot be reached", sent.cluster);
        let (backup, named) = open_backup(&backups, action);
        let (object, owners) = match port {
            Some(port) => (read_object_now(port, sent).await, read_owners(port, named).await),
            None => (ObjectNow::Unknown(away.clone()), not_read(&named, &away)),
        };
        looks.insert(action.id.clone(), Look { object, backup, owners });
    }
    Ok(looks)
}

/// Whether a backup opens, and the owners its object names.
fn open_backup(backups: &Backups, action: &ActionEntry) -> (BackupSeen, Vec<ObjectRef>) {
    let Some(file) = &action.backup else { return (BackupSeen::None, Vec::new()) };
    let spoiled = |why: String| (BackupSeen::Spoiled(why), Vec::new());
    let object = match backups.open(file) {
        Ok(object) => object,
        Err(error) => return spoiled(chain(&error)),
    };
    let Ok(object) = serde_json::from_slice::<Value>(&object) else {
        return spoiled("the backup is not an object".to_owned());
    };
    let mut lost = vec!["its uid and creation time"];
    if object.get("status").is_some() {
        lost.push("its status");
    }
    (BackupSeen::Opens { lost }, owners(&object))
}

fn not_read(owners: &[ObjectRef], why: &str) -> OwnersSeen {
    let dropped = |owner: &ObjectRef| format!("its owner {} {}: unknown: {why}", owner.kind, owner.name);
    OwnersSeen { living: Vec::new(), dropped: owners.iter().map(dropped).collect() }
}
