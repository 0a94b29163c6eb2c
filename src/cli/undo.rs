//! `trueup undo`: plans the inverse of what was applied, then asks for the same approval.
//!
//! Exit codes: as `trueup apply`; with `--out` 0 when the plan was written.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::args::UndoArgs;
use super::context::Context;
use super::error::CliError;
use super::history::{journal_error, pick};
use super::out_file::write_private;
use super::settle::{Known, Reach, clusters_of, is_same, read_settled};
use super::{apply, apply_live, ask, output};
use trueup_core::engine::executor::{ClusterPort, Clusters, Reading, Seen, read_owners};
use trueup_core::engine::journal::{ActionEntry, ApprovedCluster, Entry, FieldRecord, Sent, StateFolder, entries};
use trueup_core::engine::vault::{Backups, owners};
use trueup_core::engine::{
    BackupSeen, Chosen, Conditions, Look, ObjectNow, ObjectRef, OwnersSeen, PLAN_TTL, UndoPlan, fields_at, undo,
};
use trueup_core::world::Cluster;
use trueup_fleet::live::Live;

const DOING: &str = "undo";

pub async fn run(context: &Context, args: &UndoArgs) -> Result<u8, CliError> {
    tokio::select! {
        biased;
        code = super::interrupted() => code,
        planned = planned(context, &args.entry) => go_on(context, args, planned?).await,
    }
}

async fn go_on(context: &Context, args: &UndoArgs, undo: UndoPlan) -> Result<u8, CliError> {
    let UndoPlan { plan, left_out, not_restored } = undo;
    if plan.actions.is_empty() {
        let why = if left_out.is_empty() { "nothing was done".to_owned() } else { left_out.join("; ") };
        return Err(CliError::refused(DOING, format!("nothing of it can be taken back: {why}"), ""));
    }
    for sentence in &left_out {
        context.note(&format!("not taken back: {sentence}"));
    }
    for sentence in &not_restored {
        context.note(sentence);
    }
    if let Some(path) = &args.out {
        let doing = format!("--out {}", path.display());
        write_private(path, &output::json(&plan))
            .map_err(|cause| CliError::failed(doing, cause, "name a file in a folder you can write to"))?;
        context.note(&format!("plan {} written to {}", plan.id, path.display()));
        return Ok(0);
    }
    if !ask::is_interactive(context) {
        let hint = "write the plan with --out, and apply it with trueup apply FILE --expect ID";
        return Err(CliError::usage(DOING, "there is no terminal to ask on", hint));
    }
    tokio::select! {
        biased;
        code = super::interrupted() => code,
        approved = apply::consent(context, plan, &Chosen::Selected, &args.consent) => match approved? {
            Some(approved) => apply_live::run(context, approved, &args.consent).await,
            None => Ok(0),
        },
    }
}

async fn planned(context: &Context, asked: &str) -> Result<UndoPlan, CliError> {
    let path = context.state_path();
    let path = path.ok_or_else(|| CliError::failed(DOING, "neither XDG_STATE_HOME nor HOME is set", "set HOME"))?;
    let folder = StateFolder::look(&path).map_err(|error| journal_error(DOING, &error.into()))?;
    let mut reach = Reach::new(context);
    let entries = match &folder {
        Some(folder) => {
            let Known { history, open: _ } = read_settled(context, DOING, folder, &mut reach).await?;
            entries(history.lines.iter().map(|line| &line.record))
        }
        None => Vec::new(),
    };
    let (entry, only) = pick(&entries, asked)?;
    let looks = match &folder {
        Some(folder) => {
            let clusters = clusters(context, entry, &mut reach).await;
            look(folder, entry, only, &clusters).await?
        }
        None => BTreeMap::new(),
    };
    let clusters = reach.live().await.map(|live| live_clusters_of(live, entry)).unwrap_or_default();
    let conditions = Conditions { policy: context.config()?.policy, ..Conditions::at(Timestamp::now()) };
    undo(entry, only.map(|action| action.id.as_str()), &looks, Timestamp::now(), PLAN_TTL)
        .and_then(|undo| undo.under(&conditions, &clusters, &[]))
        .map_err(|error| CliError::failed(DOING, error.to_string(), "report this"))
}

/// The live clusters a plan was applied to, by the journal's names.
pub fn live_clusters_of(live: &Live, entry: &Entry) -> BTreeMap<String, Cluster> {
    let clusters = entry.approvals.last().map(|approval| approval.clusters.as_slice()).unwrap_or_default();
    let found = |named: &ApprovedCluster| {
        let cluster = live.view().clusters().find(|cluster| is_same(cluster, &named.identity))?;
        Some((named.name.clone(), cluster.clone()))
    };
    clusters.iter().filter_map(found).collect()
}

/// The clusters an entry was applied to, as far as they can be reached.
async fn clusters(context: &Context, entry: &Entry, reach: &mut Reach<'_>) -> Clusters {
    match reach.live().await {
        Ok(live) => clusters_of(live, entry),
        Err(why) => {
            context.note(&format!("the clusters can't be looked at: {why}"));
            Clusters::new()
        }
    }
}

/// Looks at what every action was about: its object, its backup, the owners.
///
/// # Errors
/// The backups can't be looked at.
pub async fn look(
    folder: &StateFolder,
    entry: &Entry,
    only: Option<&ActionEntry>,
    clusters: &Clusters,
) -> Result<BTreeMap<String, Look>, CliError> {
    let backups = Backups::look(folder).map_err(|error| CliError::refused(DOING, format!("backup: {error}"), ""))?;
    let mut looks = BTreeMap::new();
    for action in entry.actions.iter().filter(|action| only.is_none_or(|only| only.id == action.id)) {
        let Some(sent) = &action.sent else { continue };
        let port = clusters.get(&sent.cluster).map(AsRef::as_ref);
        let away = format!("cluster {} can't be reached", sent.cluster);
        let (backup, named) = open_backup(&backups, action);
        let (object, owners) = match port {
            Some(port) => (object_now(port, sent).await, read_owners(port, named).await),
            None => (ObjectNow::Unknown(away.clone()), nobody_read(&named, &away)),
        };
        looks.insert(action.id.clone(), Look { object, backup, owners });
    }
    Ok(looks)
}

/// What a backup is good for, and the owners its object names.
fn open_backup(backups: &Backups, action: &ActionEntry) -> (BackupSeen, Vec<ObjectRef>) {
    let Some(file) = &action.backup else { return (BackupSeen::None, Vec::new()) };
    let spoiled = |why: String| (BackupSeen::Spoiled(why), Vec::new());
    let object = match backups.open(file) {
        Ok(object) => object,
        Err(error) => return spoiled(apply_live::chain(&error)),
    };
    let Ok(object) = serde_json::from_slice::<Value>(&object) else {
        return spoiled("the backup is no object".to_owned());
    };
    let mut lost = vec!["its uid and creation time"];
    if object.get("status").is_some() {
        lost.push("its status");
    }
    (BackupSeen::Opens { lost }, owners(&object))
}

/// What has the name of what was sent.
pub async fn object_now(port: &dyn ClusterPort, sent: &Sent) -> ObjectNow {
    match port.read(&sent.target).await {
        Reading::Absent => ObjectNow::Absent,
        Reading::Unknown(why) => ObjectNow::Unknown(why),
        Reading::Present(seen) => {
            let Seen { uid, resource_version, deleting: _, labels, annotations, json } = *seen;
            let patched = |FieldRecord { after, .. }: &FieldRecord| {
                let object: Value = serde_json::from_slice(&json).unwrap_or_default();
                fields_at(&object, after)
            };
            let fields = sent.fields.as_ref().map(patched).unwrap_or_default();
            ObjectNow::Present { uid, resource_version, labels, annotations, fields }
        }
    }
}

fn nobody_read(owners: &[ObjectRef], why: &str) -> OwnersSeen {
    let dropped =
        |owner: &ObjectRef| format!("its owner {} {}: whether it lives is not known: {why}", owner.kind, owner.name);
    OwnersSeen { living: Vec::new(), dropped: owners.iter().map(dropped).collect() }
}
