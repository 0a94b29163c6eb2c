//! Carrying out what was approved on the console, on the fleet it shows.
//!
//! Always true: it is the same executor, journal and vault as `trueup apply`; only the answers go elsewhere.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures::FutureExt as _;
use jiff::Timestamp;

use super::live_handle::LiveHandle;
use crate::cli::apply_live::{self, SafetySwitches, State, WallTime};
use crate::cli::recheck::Rechecker;
use crate::cli::settle;
use crate::console::ReplySender;
use crate::console::task::{Stage, TaskReply, Tried};
use trueup_core::engine::executor::{
    ActionResult, BackupsThere, DryRunPorts, DryRunResult, OnNewReference, Ports, Progress, Report, RunSettings, Skip,
    dry_run, resume,
};
use trueup_core::engine::journal::{Answer, StateFolder, entries};
use trueup_core::engine::vault::Backups;
use trueup_core::engine::{ApprovedPlan, Plan};
use trueup_core::world::ClusterName;
use trueup_fleet::kube_cluster::KubeCluster;

/// Carries out a plan and tells how far it is.
pub async fn apply(
    fleet: LiveHandle,
    tell: ReplySender,
    approved: Box<ApprovedPlan>,
    stop: Arc<AtomicBool>,
) -> TaskReply {
    let report = run(&fleet, &tell, *approved, &stop).await.map(Box::new);
    TaskReply::Applied { report }
}

async fn run(
    fleet: &LiveHandle,
    tell: &ReplySender,
    approved: ApprovedPlan,
    stop: &AtomicBool,
) -> Result<Report, String> {
    let context = fleet.context.as_ref();
    let State { mut journal, records, vault } =
        apply_live::open_state(context, &fleet.config).map_err(|error| error.to_string())?;
    let targets: Vec<_> = approved.reached().into_iter().cloned().collect();
    let found = fleet.ask(move |live| {
        let names = apply_live::live_names(live, &targets).map_err(|error| error.to_string())?;
        let clusters = settle::ports_of(live, &names);
        let open = settle::left_open(live, &records);
        Ok::<_, String>((names, clusters, open, records))
    });
    let (names, clusters, open, records) = found.await??;
    let resolved = apply_live::settle_open(context, &mut journal, open).await.map_err(|error| error.to_string())?;
    let earlier = entries(records.iter().chain(&resolved));
    let plan = approved.plan().clone();
    let mut recheck = Rechecker::new(fleet.clone(), names, &plan);
    let settings = RunSettings {
        who: settle::who(context),
        host: settle::host(context),
        on_new_reference: OnNewReference::Report,
        reference_scan_after: fleet.reference_scan_after,
    };
    let ports = Ports {
        clusters: &clusters,
        recheck: &mut recheck,
        journal: &mut journal,
        vault: &vault,
        clock: &WallTime,
        switches: &SafetySwitches::new(context, &fleet.config),
        stop,
        progress: &mut |action, progress| {
            let stage = match progress {
                Progress::Intended => Stage::Intended,
                Progress::Sent => Stage::Sent,
                Progress::Answered => Stage::Answered,
                Progress::Waiting { so_far, why } => Stage::Waiting { so_far, why: why.to_owned() },
                Progress::Ended(end) => Stage::Ended(end.clone()),
            };
            tell.tell(TaskReply::Progress { action: action.id.clone(), at: Timestamp::now(), stage });
        },
    };
    Ok(resume(approved, settings, ports, &earlier).await)
}

/// Lets the servers try actions without doing them, one after another, and tells what each said.
pub async fn run_dry(fleet: LiveHandle, tell: ReplySender, plan: Box<Plan>, actions: Vec<String>) {
    // Sources may be in any cluster of the plan.
    let names: BTreeMap<String, ClusterName> =
        plan.targets.iter().map(|target| (target.cluster.clone(), ClusterName::new(target.cluster.as_str()))).collect();
    let clusters = fleet.ask(move |live| settle::ports_of(live, &names)).await.unwrap_or_default();
    let asked = fleet.clone();
    let vault = BackupsThere(tokio::task::spawn_blocking(move || backups(&asked)).await.ok().flatten());
    for action in plan.actions.iter().filter(|action| actions.contains(&action.id)) {
        let cluster = ClusterName::new(action.cluster.as_str());
        let trying = async {
            if action.target.cloud.is_some() {
                return Tried::Unknown(
                    "a cloud tries nothing without doing it; tags are read again right before".into(),
                );
            }
            match fleet.client_of(&cluster).await {
                Some(client) => {
                    let ports = DryRunPorts { clusters: &clusters, vault: &vault, clock: &WallTime };
                    tried(dry_run(&KubeCluster::new(client), &plan.id, action, ports).await)
                }
                None => Tried::Unknown(format!("{cluster} is not connected")),
            }
        };
        let broke = |_| Tried::Unknown("trying it broke".to_owned());
        let tried = AssertUnwindSafe(trying).catch_unwind().await.unwrap_or_else(broke);
        tell.tell(TaskReply::DryRun { plan: plan.id.clone(), action: action.id.clone(), tried });
    }
}

/// The backups there are; an undo may be tried, too. A state folder nobody can use has none.
fn backups(fleet: &LiveHandle) -> Option<Backups> {
    let folder = StateFolder::look(&fleet.context.state_path()?).ok()??;
    Backups::look(&folder).ok()
}

fn tried(rehearsal: DryRunResult) -> Tried {
    let reply = match rehearsal {
        DryRunResult::Answered(reply) => reply,
        DryRunResult::NotSent(end) => return not_sent(&end),
    };
    match reply.answer {
        Answer::Done => Tried::Fine,
        Answer::Gone => Tried::Refused("it is gone".to_owned()),
        Answer::Conflict if !reply.managers.is_empty() => {
            Tried::Refused(format!("{} manages what would be applied", reply.managers.join(", ")))
        }
        Answer::Conflict => Tried::Refused("it changed since the plan was made".to_owned()),
        Answer::Refused => Tried::Refused(format!("the server refuses: {}", reply.reason)),
        Answer::Throttled => Tried::Unknown("the server is too busy".to_owned()),
        Answer::Ambiguous => Tried::Unknown("no answer".to_owned()),
    }
}

/// What would not even be sent.
fn not_sent(end: &ActionResult) -> Tried {
    match end {
        ActionResult::Already => Tried::Refused("it is as it shall be already".to_owned()),
        ActionResult::Skipped { class: Skip::Stale, why } => Tried::Refused(why.clone()),
        ActionResult::Skipped { class: Skip::Gate | Skip::Stopped, why }
        | ActionResult::Failed { why }
        | ActionResult::Unknown { why }
        | ActionResult::TakenBack { why } => Tried::Unknown(why.clone()),
        ActionResult::Done(state) => Tried::Unknown(state.as_str().to_owned()),
    }
}
