//! Carrying out what was approved on the console, on the fleet it shows.
//!
//! Always true: it is the same executor, journal and vault as `trueup apply`; only the answers go elsewhere.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures::FutureExt as _;
use jiff::Timestamp;

use super::fleet::Fleet;
use crate::cli::apply_live::{self, SafetySwitches, State, WallTime};
use crate::cli::recheck::Rechecker;
use crate::cli::settle;
use crate::console::Teller;
use crate::console::task::{Stage, Told, Tried};
use crate::engine::executor::{
    ClusterPort as _, KubeCluster, OnNewReference, Patch, Ports, Progress, Reading, Report, RunSettings, Write,
    apply as carry_out,
};
use crate::engine::journal::Answer;
use crate::engine::{Action, ApprovedPlan, MarkChange, Plan, Verb};
use crate::world::ClusterName;

/// Carries out a plan and tells how far it is.
pub async fn apply(fleet: Fleet, tell: Teller, approved: Box<ApprovedPlan>, stop: Arc<AtomicBool>) -> Told {
    let report = run(&fleet, &tell, *approved, &stop).await.map(Box::new);
    Told::Applied { report }
}

async fn run(fleet: &Fleet, tell: &Teller, approved: ApprovedPlan, stop: &AtomicBool) -> Result<Report, String> {
    let context = fleet.context.as_ref();
    let State { mut journal, records, vault } =
        apply_live::open_state(context, &fleet.config).map_err(|error| error.to_string())?;
    let targets: Vec<_> = approved.reached().into_iter().cloned().collect();
    let found = fleet.ask(move |live| {
        let names = apply_live::live_names(live, &targets).map_err(|error| error.to_string())?;
        let clusters = settle::ports_of(live, &names);
        Ok::<_, String>((names, clusters, settle::left_open(live, &records)))
    });
    let (names, clusters, open) = found.await??;
    apply_live::settle_open(context, &mut journal, open).await.map_err(|error| error.to_string())?;
    let plan = approved.plan().clone();
    let mut recheck = Rechecker::new(fleet.clone(), names, &plan);
    let settings = RunSettings {
        who: settle::who(context),
        host: settle::host(context),
        on_new_reference: OnNewReference::Report,
        look_back_after: fleet.look_back_after,
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
                Progress::Ended(end) => Stage::Ended(end.clone()),
            };
            tell.tell(Told::Progress { action: action.id.clone(), at: Timestamp::now(), stage });
        },
    };
    Ok(carry_out(approved, settings, ports).await)
}

/// Lets the servers try actions without doing them, one after another, and tells what each said.
pub async fn dry_run(fleet: Fleet, tell: Teller, plan: Box<Plan>, actions: Vec<String>) {
    for action in plan.actions.iter().filter(|action| actions.contains(&action.id)) {
        let cluster = ClusterName::new(action.cluster.as_str());
        let trying = async {
            match fleet.client_of(&cluster).await {
                Some(client) => try_one(&KubeCluster::new(client), action).await,
                None => Tried::Unknown(format!("{cluster} is not connected")),
            }
        };
        let broke = |_| Tried::Unknown("trying it broke".to_owned());
        let tried = AssertUnwindSafe(trying).catch_unwind().await.unwrap_or_else(broke);
        tell.tell(Told::DryRun { plan: plan.id.clone(), action: action.id.clone(), tried });
    }
}

async fn try_one(port: &KubeCluster, action: &Action) -> Tried {
    let target = &action.target;
    let version = match &action.preconditions.judged {
        None => action.preconditions.resource_version.clone(),
        Some(judged) => match port.read(target).await {
            Reading::Present(seen) if judged.are_in(&seen.json) => Some(seen.resource_version),
            Reading::Present(_) => return Tried::Refused("it changed since the plan was made".to_owned()),
            Reading::Absent => return Tried::Refused("it is gone".to_owned()),
            Reading::Unknown(why) => return Tried::Unknown(why),
        },
    };
    let Some((uid, resource_version)) = action.preconditions.uid.as_deref().zip(version.as_deref()) else {
        return Tried::Unknown("the plan binds no uid and version".to_owned());
    };
    let MarkChange { set, remove } = action.mark_change().unwrap_or_default();
    let patch;
    let write = match action.verb {
        Verb::Delete => Write::Delete { target, uid, resource_version },
        Verb::Label => {
            patch = Patch::labels(set, remove);
            Write::Change { target, uid, resource_version, patch: &patch }
        }
        Verb::Annotate => {
            patch = Patch::annotations(set, remove);
            Write::Change { target, uid, resource_version, patch: &patch }
        }
        // What is copied is read only when it is written.
        Verb::Create | Verb::Apply | Verb::Update | Verb::Patch | Verb::Tag | Verb::Untag | Verb::ReOwn => {
            return Tried::Unknown(format!("`{}` can't be tried", action.verb.word()));
        }
    };
    let reply = port.rehearse(write).await;
    match reply.answer {
        Answer::Done => Tried::Fine,
        Answer::Gone => Tried::Refused("it is gone".to_owned()),
        Answer::Conflict => Tried::Refused("it changed since the plan was made".to_owned()),
        Answer::Refused => Tried::Refused(format!("the server refuses: {}", reply.reason)),
        Answer::Throttled => Tried::Unknown("the server is too busy".to_owned()),
        Answer::Ambiguous => Tried::Unknown("no answer".to_owned()),
    }
}
