//! Planning the undo of what was applied.
//!
//! Invariants: an undo is derived from this machine's journal and from what the clusters hold now.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::error::{OperateError, chain};
use crate::fleet::Fleet;
use crate::fresh::{FreshWorld, WorldNow};
use crate::history::{Reach, pick, read_recovered};
use crate::plan::{PlanRequest, configured};
use crate::recover::{clusters_of, is_same};
use crate::session::Session;
use trueup_core::engine::executor::{Clusters, read_object_now, read_owners};
use trueup_core::engine::journal::{ActionEntry, ApprovedCluster, Entry, undone};
use trueup_core::engine::vault::{Backups, owners};
use trueup_core::engine::{
    AccessQuestion, BackupSeen, Conditions, Look, ObjectNow, ObjectRef, OwnersSeen, UndoPlan, short_id, undo,
    undo_access_questions,
};
use trueup_core::world::{Cluster, Resource, View};

/// Opens a backup by its file name, or says why it cannot be opened.
pub type OpenBackup<'o> = &'o (dyn Fn(&str) -> Result<Zeroizing<Vec<u8>>, String> + Sync);

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
    let (entry, undone) = without_undone(entry, only, &entries);
    let mut plan = derive(session, fleet, &entry, only).await?;
    plan.left_out.extend(undone);
    Ok(plan)
}

/// The entry without the actions that were undone already, and a sentence for each of those.
fn without_undone(entry: &Entry, only: Option<&str>, entries: &[Entry]) -> (Entry, Vec<String>) {
    let undone = undone(entries);
    let by = |action: &ActionEntry| undone.by(&entry.plan, &action.id);
    let is_meant = |action: &&ActionEntry| only.is_none_or(|only| only == action.id);
    let sentence = |action: &ActionEntry| Some(format!("{}: already undone by {}", action.id, short_id(by(action)?)));
    let sentences = entry.actions.iter().filter(is_meant).filter_map(sentence).collect();
    let mut left = entry.clone();
    left.actions.retain(|action| by(action).is_none());
    (left, sentences)
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
    let backups = session.state_folder()?.map(|folder| Backups::look(&folder).map_err(OperateError::Backups));
    let backups = backups.transpose()?;
    let open = |file: &str| match &backups {
        Some(backups) => backups.open(file).map_err(|error| chain(&error)),
        None => Err("there is no state folder".to_owned()),
    };
    let now = Timestamp::now();
    match fleet {
        Some(fleet) => {
            let asked = entry.clone();
            let clusters = fleet.ask(move |live| clusters_of(live, &asked)).await?;
            derive_in(&mut fleet.clone(), entry, only, &clusters, &open, now).await
        }
        None => {
            let looks = read_actions(entry, only, &Clusters::new(), &open).await;
            let undone = undo(entry, only, &looks, now, session.settings.safety.plans.ttl)?;
            let conditions = configured(session, &PlanRequest::default(), Conditions::at(now));
            Ok(undone.under(&conditions, &BTreeMap::new(), &[])?)
        }
    }
}

/// The same in any world. `clusters`: the ports by the names of the journal; `open`: opens a backup.
///
/// # Errors
/// The loop has ended.
pub async fn derive_in<W: FreshWorld>(
    world: &mut W,
    entry: &Entry,
    only: Option<&str>,
    clusters: &Clusters,
    open: OpenBackup<'_>,
    now: Timestamp,
) -> Result<UndoPlan, OperateError> {
    let session = world.session().clone();
    let looks = read_actions(entry, only, clusters, open).await;
    let undone = undo(entry, only, &looks, now, session.settings.safety.plans.ttl)?;
    let asked = entry.clone();
    let known = move |now: &WorldNow<'_>| {
        let resources: HashSet<Resource> = now.view.observations().map(|(id, ..)| id.resource).collect();
        (live_clusters_of(now.view, &asked), resources.into_iter().collect::<Vec<Resource>>(), now.conditions.clone())
    };
    let (live_clusters, resources, mut found) = world.ask(known).await?;
    let mut questions: BTreeSet<AccessQuestion> = BTreeSet::new();
    for action in &undone.plan.actions {
        let cluster = live_clusters.get(&action.cluster).map(|cluster| &cluster.name);
        questions.extend(cluster.map(|name| undo_access_questions(action, name, &resources)).unwrap_or_default());
    }
    found.access = world.ask_access(questions).await;
    let conditions = configured(&session, &PlanRequest::default(), found);
    Ok(undone.under(&conditions, &live_clusters, &resources)?)
}

/// The connected clusters a plan was applied to, by the names of the journal.
fn live_clusters_of(view: View<'_>, entry: &Entry) -> BTreeMap<String, Cluster> {
    let clusters = entry.approvals.last().map(|approval| approval.clusters.as_slice()).unwrap_or_default();
    let found = |named: &ApprovedCluster| {
        let cluster = view.clusters().find(|cluster| is_same(cluster, &named.identity))?;
        Some((named.name.clone(), cluster.clone()))
    };
    clusters.iter().filter_map(found).collect()
}

/// Reads the object, backup and owners of every action.
async fn read_actions(
    entry: &Entry,
    only: Option<&str>,
    clusters: &Clusters,
    open: OpenBackup<'_>,
) -> BTreeMap<String, Look> {
    let mut looks = BTreeMap::new();
    for action in entry.actions.iter().filter(|action| only.is_none_or(|only| only == action.id)) {
        let Some(sent) = &action.sent else { continue };
        let port = clusters.get(&sent.cluster).map(AsRef::as_ref);
        let away = format!("cluster {} cannot be reached", sent.cluster);
        let (backup, named) = open_backup(open, action);
        let (object, owners) = match port {
            Some(port) => (read_object_now(port, sent).await, read_owners(port, named).await),
            None => (ObjectNow::Unknown(away.clone()), not_read(&named, &away)),
        };
        looks.insert(action.id.clone(), Look { object, backup, owners });
    }
    looks
}

/// Whether a backup opens, and the owners its object names.
fn open_backup(open: OpenBackup<'_>, action: &ActionEntry) -> (BackupSeen, Vec<ObjectRef>) {
    let Some(file) = &action.backup else { return (BackupSeen::None, Vec::new()) };
    let spoiled = |why: String| (BackupSeen::Spoiled(why), Vec::new());
    let object = match open(file) {
        Ok(object) => object,
        Err(why) => return spoiled(why),
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
