//! Dry runs: the API servers check actions without doing them.
//!
//! Invariants: nothing is changed; a response body is dropped.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;

use crate::fleet::Fleet;
use crate::recover::ports_of;
use crate::session::Session;
use crate::state::WallTime;
use trueup_core::engine::executor::{ActionResult, BackupsThere, DryRunPorts, DryRunResult, Skip, dry_run};
use trueup_core::engine::journal::Answer;
use trueup_core::engine::vault::Backups;
use trueup_core::engine::{Action, Plan, Verb};
use trueup_core::world::ClusterName;
use trueup_fleet::kube_cluster::KubeCluster;

/// What an API server said to a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DryRunAnswer {
    Ok,
    Refused(String),
    Unknown(String),
}

impl Fleet {
    /// Sends dry runs of actions, one after another, and reports each answer.
    pub async fn dry_run(&self, plan: &Plan, actions: &[String], mut report: impl FnMut(&Action, DryRunAnswer)) {
        // Sources may be in any cluster of the plan.
        let name = |cluster: &String| (cluster.clone(), ClusterName::new(cluster.as_str()));
        let names: BTreeMap<String, ClusterName> = plan.targets.iter().map(|target| name(&target.cluster)).collect();
        let clusters = self.ask(move |live| ports_of(live, &names)).await.unwrap_or_default();
        let vault = BackupsThere(backups(self.session()));
        for action in plan.actions.iter().filter(|action| actions.contains(&action.id)) {
            let ports = DryRunPorts { clusters: &clusters, vault: &vault, clock: &WallTime };
            let sent = AssertUnwindSafe(self.dry_run_one(&plan.id, action, ports)).catch_unwind().await;
            report(action, sent.unwrap_or_else(|_| DryRunAnswer::Unknown("internal error (please report)".to_owned())));
        }
    }

    async fn dry_run_one(&self, plan: &str, action: &Action, ports: DryRunPorts<'_>) -> DryRunAnswer {
        if action.target.cloud.is_some() {
            let why = "cloud APIs have no dry run; tags are read again before each write";
            return DryRunAnswer::Unknown(why.to_owned());
        }
        match self.client_of(&ClusterName::new(action.cluster.as_str())).await {
            Some(client) => answer_of(dry_run(&KubeCluster::new(client), plan, action, ports).await, action.verb()),
            None => DryRunAnswer::Unknown(format!("{} is not connected", action.cluster)),
        }
    }
}

/// The backups of this machine, which an undo may need. None where the state folder cannot be used.
fn backups(session: &Session) -> Option<Backups> {
    Backups::look(&session.state_folder().ok()??).ok()
}

fn answer_of(result: DryRunResult, verb: Verb) -> DryRunAnswer {
    let reply = match result {
        DryRunResult::Answered(reply) => reply,
        DryRunResult::NotSent(end) => return not_sent(&end, verb),
    };
    match reply.answer {
        Answer::Done => DryRunAnswer::Ok,
        Answer::Gone => DryRunAnswer::Refused("the object is gone".to_owned()),
        Answer::Conflict if !reply.managers.is_empty() => {
            DryRunAnswer::Refused(format!("{} manages these fields", reply.managers.join(", ")))
        }
        Answer::Conflict => DryRunAnswer::Refused("the object changed after the plan was made".to_owned()),
        Answer::Refused => DryRunAnswer::Refused(format!("refused: {}", reply.reason)),
        Answer::Throttled => DryRunAnswer::Unknown("the API server throttles requests".to_owned()),
        Answer::Ambiguous => DryRunAnswer::Unknown("no response".to_owned()),
    }
}

/// The answer for an action that would not be sent.
fn not_sent(end: &ActionResult, verb: Verb) -> DryRunAnswer {
    match end {
        ActionResult::Already => DryRunAnswer::Refused(end.why_of(verb).to_owned()),
        ActionResult::Skipped { class: Skip::Stale, why } => DryRunAnswer::Refused(why.clone()),
        ActionResult::Skipped { class: Skip::Gate | Skip::Stopped, why }
        | ActionResult::Failed { why }
        | ActionResult::Unknown { why }
        | ActionResult::Restored { why } => DryRunAnswer::Unknown(why.clone()),
        ActionResult::Done(state) => DryRunAnswer::Unknown(state.as_str().to_owned()),
    }
}
