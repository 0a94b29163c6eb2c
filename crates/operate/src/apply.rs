//! Applying an approved plan to live clusters: recover open intents, compact the journal, run.
//!
//! Invariants: a cluster of the plan is the connected one with the same identity, or nothing is sent; every front end
//! runs this one function.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::OperateError;
use crate::fleet::Fleet;
use crate::guard::{GuardedSwitches, Unguarded, WriteGuard, guarded};
use crate::publish::publish;
use crate::recheck::Rechecker;
use crate::recover::{is_same, left_open, ports_of, recover_open, report_open};
use crate::state::{SafetySwitches, State, WallTime, compact_journal, open_state};
use trueup_core::engine::executor::{
    OnNewReference, Ports, Progress, REFERENCE_SCAN_AFTER, Report, RunSettings, resume,
};
use trueup_core::engine::journal::entries;
use trueup_core::engine::{Action, ApprovedPlan, TargetRecord, TargetSource};
use trueup_core::world::{ClockSkew, Cluster, ClusterName};
use trueup_fleet::live::Live;

/// How a plan is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplyOptions {
    pub on_new_reference: OnNewReference,
    /// How long after the last delete references are scanned once more.
    pub reference_scan_after: Duration,
}

/// Who approved a run, and what has to hold whenever it sends something.
pub struct Authority {
    /// For the journal.
    pub who: String,
    pub guard: Arc<dyn WriteGuard>,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        Self { on_new_reference: OnNewReference::Report, reference_scan_after: REFERENCE_SCAN_AFTER }
    }
}

/// Applies a plan as the user of this process. The action under way is finished before `stop` takes effect.
///
/// # Errors
/// The state folder, journal or vault cannot be used, or a cluster is not the one the plan was made for.
pub async fn apply(
    fleet: &Fleet,
    approved: ApprovedPlan,
    options: ApplyOptions,
    stop: &AtomicBool,
    progress: &mut (dyn FnMut(&Action, Progress<'_>) + Send),
) -> Result<Report, OperateError> {
    let authority = Authority { who: fleet.session().user(), guard: Arc::new(Unguarded) };
    apply_with(fleet, approved, options, authority, stop, progress).await
}

/// Applies a plan with the approval of these people, and only while the guard permits it.
///
/// # Errors
/// As [`apply`].
pub async fn apply_with(
    fleet: &Fleet,
    approved: ApprovedPlan,
    options: ApplyOptions,
    authority: Authority,
    stop: &AtomicBool,
    progress: &mut (dyn FnMut(&Action, Progress<'_>) + Send),
) -> Result<Report, OperateError> {
    let session = fleet.session();
    let Authority { who, guard } = authority;
    let State { mut journal, records, vault } = open_state(session, "apply")?;
    let opened_at = journal.last_hash();
    let targets: Vec<TargetRecord> = approved.reached().into_iter().cloned().collect();
    let connected = move |live: &Live| {
        let names = live_names(live, &targets)?;
        let clusters = ports_of(live, &names);
        let open = left_open(live, &records);
        let clocks: Vec<ClockSkew> = names.values().filter_map(|name| live.clock(name)).collect();
        Ok::<_, OperateError>((names, clusters, clocks, open, records))
    };
    let (names, clusters, clocks, open, mut records) = fleet.ask(connected).await??;
    let (resolved, still_open) = recover_open(session, &mut journal, open).await?;
    report_open(session, &still_open);
    records.extend(resolved);
    let clusters = guarded(clusters, &guard);
    let earlier = entries(&records);
    compact_journal(session, &mut journal, &records, &vault, clocks)?;
    if journal.last_hash() != opened_at {
        publish(session, journal.last_hash()).await;
    }
    let mut recheck = Rechecker::new(fleet.clone(), names, approved.plan().clone());
    let settings = RunSettings {
        who,
        host: session.host(),
        on_new_reference: options.on_new_reference,
        reference_scan_after: options.reference_scan_after,
    };
    let ports = Ports {
        clusters: &clusters,
        recheck: &mut recheck,
        journal: &mut journal,
        vault: &vault,
        clock: &WallTime,
        switches: &GuardedSwitches { switches: SafetySwitches::new(session), guard },
        stop,
        progress,
    };
    let report = resume(approved, settings, ports, &earlier).await;
    publish(session, journal.last_hash()).await;
    Ok(report)
}

/// The live cluster behind each cluster the plan writes to or copies from.
///
/// # Errors
/// One of them is not connected, or is another cluster now.
pub(crate) fn live_names<'t>(
    live: &Live,
    targets: impl IntoIterator<Item = &'t TargetRecord>,
) -> Result<BTreeMap<String, ClusterName>, OperateError> {
    let mut names = BTreeMap::new();
    for target in targets {
        let found = live.view().clusters().find(|cluster| is_target(cluster, target)).map(|cluster| &cluster.name);
        let Some(name) = found else { return Err(other_cluster(target)) };
        names.insert(target.cluster.clone(), name.clone());
    }
    Ok(names)
}

fn other_cluster(target: &TargetRecord) -> OperateError {
    let TargetRecord { cluster, identity, .. } = target;
    if identity.account.is_empty() {
        let cause = format!("no connected cluster is the {cluster} the plan was made for");
        return OperateError::Identity { cause, advice: "name its context with --context, or plan again".to_owned() };
    }
    let cause = format!("no API key of the config is for {cluster}, account {}", identity.account);
    let advice = "check the key in the config with trueup doctor, or plan again".to_owned();
    OperateError::Identity { cause, advice }
}

fn is_target(cluster: &Cluster, target: &TargetRecord) -> bool {
    // A recorded cluster may have had another name; a live one keeps its name.
    let named = target.source == TargetSource::Snapshot || cluster.name.as_str() == target.cluster;
    named && is_same(cluster, &target.identity)
}
