//! What must hold when a run has ended, and when everything has come to rest.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::Value;
use trueup_core::engine::executor::{ActionResult, Report};
use trueup_core::engine::journal::{ActionEntry, ActionStanding, Answer, Entry, Found, VerifiedState, entries};
use trueup_core::engine::{Action, ApprovedPlan, Verb};

use super::planner::{Made, PlanFile, target_of};
use super::standing::{Deeds, Meant};
use super::world::{COPIED, MARK, Target, World};

impl World {
    /// What a finished run says has to be what is.
    pub fn check_report(&mut self, who: usize, report: &Report) {
        let Some(plan) = self.engines[who].plan.clone() else { return };
        for (action, meant) in &plan.actions {
            let deeds = self.engines[who].deeds.get(action).copied().unwrap_or_default();
            let name = &meant.target.name;
            let Some(end) = report.ends.get(action) else {
                return self.broke(|| format!("{name} has no end in the report"));
            };
            if let Some(why) = self.untrue(meant, deeds, end) {
                return self.broke(|| format!("{name} is reported {} ({}), and {why}", end.as_str(), end.why()));
            }
            let is_reported = report.notices.iter().any(|notice| notice.contains(name.as_str()));
            let back = matches!(end, ActionResult::Restored { .. });
            let looked = self.engines[who].looked_back.get(&meant.target).copied();
            let missed = looked.is_some_and(|looked| looked.honest && looked.referenced);
            if report.halted.is_none() && deeds.deleted_in_run && missed && !is_reported && !back {
                return self.broke(|| format!("{name} was deleted and is referenced, and the report does not say so"));
            }
            let span = SignedDuration::try_from(Duration::from_secs(self.faults.look_back_seconds)).unwrap_or_default();
            let due = deeds.deleted_at.and_then(|at| at.checked_add(span).ok());
            let late = looked.is_some_and(|looked| due.is_some_and(|due| looked.at >= due));
            let owed = report.halted.is_none() && matches!(end, ActionResult::Done(_)) && deeds.deleted_in_run;
            if owed && !late {
                return self.broke(|| format!("{name} was deleted, and the last reference scan is missing"));
            }
        }
        if self.late_site.is_some() {
            self.check_late_report(who, report);
        } else if self.faults.calm && report.code() != 0 {
            self.broke(|| format!("nothing was in the way, and not everything was done: {report:?}"));
        }
    }

    /// A plan that was not edited is never refused as a whole where nothing stands in the way of some action of it.
    pub fn check_refused(&mut self, made: &Made, file: &PlanFile, why: &str) {
        let is_open = |action: &Action| {
            let keeps_back = self.faults.late && self.rests_on_late(&target_of(action), action.verb());
            action.selected && action.blocked_by.is_empty() && !keeps_back
        };
        if self.faults.calm && file.edited.is_none() && made.plan.actions.iter().any(is_open) {
            self.broke(|| format!("nothing was in the way, and the plan was refused: {why}"));
        }
    }

    /// A cluster that is late keeps back what rests on it, and nothing else.
    pub fn check_late_admission(&mut self, made: &Made, approved: &ApprovedPlan) {
        let admitted: BTreeSet<&str> = approved.actions().map(|action| action.id.as_str()).collect();
        let runs = made.plan.actions.iter().filter(|action| action.blocked_by.is_empty());
        let kept_back = |action: &&Action| {
            !self.rests_on_late(&target_of(action), action.verb()) && !admitted.contains(action.id.as_str())
        };
        if let Some(action) = runs.filter(|_| self.faults.late).find(kept_back) {
            self.broke(|| format!("{} is refused, and does not rest on the late cluster", action.target.name));
        }
    }

    fn check_late_report(&mut self, who: usize, report: &Report) {
        let Some(plan) = self.engines[who].plan.clone() else { return };
        for (action, meant) in &plan.actions {
            let sent = self.engines[who].deeds.get(action).is_some_and(|deeds| deeds.sent_in_run > 0);
            let rests = self.rests_on_late(&meant.target, meant.verb);
            let done = matches!(report.ends.get(action), Some(ActionResult::Done(_) | ActionResult::Already));
            let name = &meant.target.name;
            if rests && sent {
                return self.broke(|| format!("{name} rests on a cluster that is late, and a request was sent"));
            }
            if !rests && !done {
                return self.broke(|| format!("{name} does not rest on the late cluster, and was not done"));
            }
        }
    }

    /// A delete rests on the referrers of every cluster, anything else on its own cluster.
    fn rests_on_late(&self, target: &Target, verb: Verb) -> bool {
        verb == Verb::Delete || self.late_site == Some(target.site)
    }

    /// Why an end is not what happened; nothing when it is.
    fn untrue(&self, meant: &Meant, deeds: Deeds, end: &ActionResult) -> Option<&'static str> {
        if let Some(undone) = &meant.undoes {
            return self.untrue_undo(meant, undone, deeds, end);
        }
        let object = self.look(&meant.target);
        let same = object.filter(|object| object["metadata"]["uid"] == meant.uid.as_str());
        let fits = |object: &Value| {
            let copied = meant.verb != Verb::Update || object["data"][COPIED] == meant.copied;
            object["metadata"]["labels"][MARK] == "yes" && copied
        };
        match end {
            ActionResult::Done(VerifiedState::Gone) => same.is_some().then_some("it is there"),
            ActionResult::Done(VerifiedState::Terminating) => {
                let stays = same.is_some_and(|object| object["metadata"]["deletionTimestamp"].is_null());
                stays.then_some("it is not being deleted")
            }
            ActionResult::Done(VerifiedState::Changed) => {
                // Another engine may have made the same change, and another writer reverted it since.
                let changed = self.engines.iter().any(|engine| {
                    engine.meant(&meant.target).is_some_and(|(id, _)| engine.deeds.get(id).is_some_and(|d| d.changed))
                });
                (!changed && !same.as_ref().is_some_and(fits)).then_some("it never was")
            }
            ActionResult::Done(_) => Some("no action of these plans ends so"),
            // Two engines with one plan can't tell whose create it was.
            ActionResult::Restored { .. } => {
                (!self.restored.contains(&meant.target)).then_some("it was not created again")
            }
            // Another client deleted the object first: a delete was sent, and changed nothing.
            ActionResult::Already if meant.verb == Verb::Delete => {
                self.happened(meant, deeds).or_else(|| same.is_some().then_some("it is there"))
            }
            ActionResult::Already | ActionResult::Skipped { .. } => {
                (deeds.sent_in_run > 0).then_some("a request was sent")
            }
            ActionResult::Failed { .. } => self.happened(meant, deeds),
            ActionResult::Unknown { .. } => (deeds.sent_in_run == 0).then_some("nothing was sent"),
        }
    }

    pub fn happened(&self, meant: &Meant, deeds: Deeds) -> Option<&'static str> {
        match meant.verb {
            Verb::Delete => deeds.deleted_in_run.then_some("it was deleted"),
            _ => deeds.changed.then_some("it was changed"),
        }
    }

    /// What was reported as failed has to stay so, also when everything that was under way has arrived.
    pub fn check_report_at_rest(&mut self, who: usize, report: &Report) {
        let Some(plan) = self.engines[who].plan.clone() else { return };
        for (action, meant) in &plan.actions {
            let deeds = self.engines[who].deeds.get(action).copied().unwrap_or_default();
            if let (Some(ActionResult::Failed { why }), Some(came)) =
                (report.ends.get(action), self.happened(meant, deeds))
            {
                let name = &meant.target.name;
                return self.broke(|| format!("{name} was reported failed ({why}), and later {came}"));
            }
        }
    }

    /// What the journal says of every action once all is settled.
    pub fn check_journal_at_rest(&mut self, who: usize) {
        let Some(plan) = self.engines[who].plan.clone() else { return };
        let all = entries(self.engines[who].noted.iter().map(|(_, record)| record));
        let open: usize = all.iter().map(Entry::open_count).sum();
        if open > 0 {
            return self.broke(|| format!("{open} requests are open after everything could be read"));
        }
        let Some(entry) = all.iter().find(|entry| entry.plan == plan.id) else { return };
        for (action, meant) in &plan.actions {
            let deeds = self.engines[who].deeds.get(action).copied().unwrap_or_default();
            let found = entry.actions.iter().find(|found| found.id == *action);
            if deeds.deleted && !found.is_some_and(knows_of_a_delete) {
                let name = &meant.target.name;
                return self.broke(|| format!("{name} was deleted, and the journal says {found:?}"));
            }
        }
    }
}

/// Whether what the journal says of an action allows for the object to have been deleted by us.
fn knows_of_a_delete(action: &ActionEntry) -> bool {
    let restores = action.sent.as_ref().is_some_and(|sent| sent.verb == Verb::Create);
    match &action.standing {
        ActionStanding::Prepared | ActionStanding::Open | ActionStanding::Skipped { .. } => false,
        // Only what was deleted is brought back, so a restore that was refused says that much.
        ActionStanding::Answered(answer) => restores || matches!(answer, Answer::Done | Answer::Gone),
        ActionStanding::Verified { state, .. } => match state {
            VerifiedState::Gone | VerifiedState::Terminating | VerifiedState::Restored => true,
            VerifiedState::Skipped | VerifiedState::Failed => restores,
            VerifiedState::Changed | VerifiedState::Created | VerifiedState::Unknown => false,
        },
        ActionStanding::Resolved(found) => match found {
            // Changed: it came back, by us or by others.
            Found::Gone | Found::Terminating | Found::Replaced | Found::Changed => true,
            Found::Unchanged => false,
        },
    }
}
