//! From a finding to a plan, an approval, an apply, and its undo.

use std::collections::BTreeSet;

use super::act::{self, cluster_here, go, open_object, say};
use super::lists::{self, Marked};
use crate::console::effect::Effects;
use crate::console::keymap::Action;
use crate::console::model::{Approval, Confirm, Entered, Layer, Model, Run, ScreenId, UndoOffer, Upper, UserList};
use crate::console::task::{PlanTarget, SavedFile, Task, TypedApproval};
use crate::console::view;
use trueup_core::engine::{Answers, Chosen, SubjectId, questions, short_id};
use trueup_core::world::ClusterName;

/// Plans for the marked rows, or for the selected row.
pub fn reconcile(model: &mut Model) -> Effects {
    let wanted = match model.screen() {
        ScreenId::Check(_) => {
            let (subjects, left_out) = match lists::marked(model) {
                None => return Effects::default(),
                Some(Marked::Chosen { subjects, left_out }) => (subjects, left_out),
                Some(Marked::AllHidden(marks)) => {
                    let key = model.key(Action::Back);
                    let text = format!("{marks} marked, all hidden by the filter: nothing planned ({key}: clear it)");
                    return say(model, &text);
                }
            };
            if subjects.is_empty() {
                return say(model, "no finding to plan for");
            }
            let effects = request_plan(model, PlanTarget::Subjects(subjects));
            model.left_out = left_out;
            return effects;
        }
        ScreenId::Fleet => PlanTarget::Subjects(subjects_of_clusters(model)),
        ScreenId::Plan => return refresh(model),
        ScreenId::Activity => return plan_rest(model),
        ScreenId::Object | ScreenId::Logs | ScreenId::Expiry | ScreenId::Timeline => {
            return say(model, "no finding selected");
        }
    };
    if matches!(&wanted, PlanTarget::Subjects(subjects) if subjects.is_empty()) {
        return say(model, "no finding to plan for");
    }
    request_plan(model, wanted)
}

/// Plans for the findings whose actions the last run did not carry out.
fn plan_rest(model: &mut Model) -> Effects {
    let Some(run) = &model.activity.run else { return say(model, "no applies in this session") };
    if run.is_running() {
        return say(model, "an apply is running; wait for it");
    }
    let left: BTreeSet<&str> = run.findings_left().collect();
    let is_left = |id: &SubjectId| left.contains(id.to_string().as_str());
    let subjects: BTreeSet<SubjectId> =
        model.findings.iter().filter(|(id, _)| is_left(id)).map(|(id, _)| (**id).clone()).collect();
    if subjects.is_empty() {
        return say(model, "nothing of this run is left to plan");
    }
    request_plan(model, PlanTarget::Subjects(subjects))
}

/// Every finding of the marked clusters, or of the selected one.
fn subjects_of_clusters(model: &Model) -> BTreeSet<SubjectId> {
    let marks = model.fleet.list.marks();
    let chosen: BTreeSet<ClusterName> = match marks.is_empty() {
        true => cluster_here(model).into_iter().collect(),
        false => marks.clone(),
    };
    let of_chosen = model.findings.iter().filter(|(id, _)| chosen.contains(&id.cluster));
    of_chosen.map(|(id, _)| (**id).clone()).collect()
}

/// Requests a plan. Marks that an earlier one left out do not concern it.
pub fn request_plan(model: &mut Model, wanted: PlanTarget) -> Effects {
    model.left_out = None;
    let ask = model.next_request();
    model.planning = Some(ask);
    Effects::redraw().with(Task::Plan { ask, wanted })
}

/// Lists everything again; on a plan, plans again for the same findings.
pub fn refresh(model: &mut Model) -> Effects {
    if let (ScreenId::Plan, Some(sheet)) = (model.screen(), &model.plan) {
        // A pending plan lists everything already; repeated requests would restart it each time.
        if model.planning.is_some() {
            return Effects::default();
        }
        let planned: BTreeSet<&str> = sheet.plan.findings.iter().map(|finding| finding.id.as_str()).collect();
        let subjects: BTreeSet<SubjectId> = model
            .findings
            .iter()
            .filter(|(id, _)| planned.contains(id.to_string().as_str()))
            .map(|(id, _)| (**id).clone())
            .collect();
        if subjects.is_empty() {
            let text = format!("every finding of this plan is gone; {}: discard", model.key(Action::Discard));
            return say(model, &text);
        }
        return request_plan(model, PlanTarget::Subjects(subjects));
    }
    if let (ScreenId::Object, Some(view)) = (model.screen(), &model.object) {
        let (cluster, target, tab) = (view.cluster.clone(), view.target.clone(), view.tab);
        return open_object(model, cluster, target, tab);
    }
    say(model, "listing everything again").with(Task::Resync)
}

pub fn include(model: &mut Model) -> Effects {
    let Some(sheet) = &mut model.plan else { return Effects::default() };
    let order = sheet.order().to_vec();
    sheet.list.hold(order.as_slice());
    let Some(id) = sheet.list.cursor().cloned() else { return Effects::default() };
    match sheet.toggle(&id) {
        Ok(()) => {
            sheet.list.step(order.as_slice(), 1);
            Effects::redraw()
        }
        Err(why) => {
            model.toasts.error(format!("cannot include: {why}"), model.now);
            Effects::redraw()
        }
    }
}

/// Runs a dry run of the included actions.
pub fn dry_run(model: &mut Model) -> Effects {
    if let Some(why) = model.read_only() {
        return say(model, &format!("dry run needs write rights; read-only: {}", why.message()));
    }
    let Some(sheet) = &mut model.plan else { return Effects::default() };
    let Chosen::Only(chosen) = sheet.chosen() else { return Effects::default() };
    if chosen.is_empty() {
        return say(model, "no action included");
    }
    sheet.trying = chosen.clone();
    sheet.tried.clear();
    let (plan, actions) = (Box::new(sheet.plan.clone()), chosen.into_iter().collect());
    Effects::redraw().with(Task::DryRun { plan, actions })
}

pub fn write_plan(model: &mut Model) -> Effects {
    let Some(sheet) = &model.plan else { return Effects::default() };
    let file = SavedFile::Plan { id: sheet.plan.id.clone() };
    Effects::redraw().with(Task::Save { file, text: sheet.plan.file_text() })
}

/// Discards the plan; asks first if ticks or results of dry runs would be lost.
pub fn discard(model: &mut Model) -> Effects {
    match &model.plan {
        Some(sheet) if sheet.has_changes() => {
            model.layer = Some(Layer::Confirm(Confirm::DiscardPlan));
            Effects::redraw()
        }
        Some(_) => discard_now(model),
        None => say(model, "no plan is open"),
    }
}

pub fn discard_now(model: &mut Model) -> Effects {
    model.plan = None;
    let effects = if model.screen() == ScreenId::Plan { act::earlier(model) } else { Effects::redraw() };
    model.toasts.info("plan discarded", model.now);
    effects
}

/// Opens the approval dialog.
pub fn approve(model: &mut Model) -> Effects {
    if let Some(why) = model.read_only() {
        return say(model, &format!("cannot approve: read-only: {}", why.message()));
    }
    if model.activity.is_running() {
        return say(model, "another apply is running; wait for it");
    }
    let Some(sheet) = &model.plan else { return Effects::default() };
    if model.now >= sheet.plan.expires_at {
        return say(model, &replan(model, "plan expired"));
    }
    if !sheet.moved.is_empty() {
        return say(model, &replan(model, "plan is stale"));
    }
    let chosen = sheet.chosen();
    if sheet.plan.actions.iter().all(|action| !action.blocked_by.is_empty()) {
        return say(model, "cannot approve: every action is blocked");
    }
    if chosen == Chosen::Only(BTreeSet::new()) {
        let text = format!("no action included; {}: include", model.key(Action::Include));
        return say(model, &text);
    }
    match questions(&sheet.plan, &chosen) {
        Ok(questions) => {
            model.layer = Some(Layer::Approval(Approval::new(questions, model.now)));
            see_approval(model);
            Effects::redraw()
        }
        Err(refusal) => {
            model.toasts.error(refusal.to_string(), model.now);
            Effects::redraw()
        }
    }
}

/// A message with the key that plans again.
fn replan(model: &Model, message: &str) -> String {
    format!("{message}; {}: replan", model.key(Action::Refresh))
}

/// Submits the confirmation, and applies after the last one.
pub fn answer(model: &mut Model) -> Effects {
    let gap = match &model.layer {
        Some(Layer::Approval(approval)) => model.unknown_users(approval),
        Some(_) | None => None,
    };
    let Some(Layer::Approval(approval)) = &mut model.layer else { return Effects::default() };
    // The dialog says why.
    if gap.is_some() {
        return Effects::redraw();
    }
    match approval.enter(model.now) {
        Entered::Stays => Effects::redraw(),
        Entered::Next => {
            see_approval(model);
            Effects::redraw()
        }
        Entered::Done(answers) => {
            model.layer = None;
            apply(model, answers)
        }
    }
}

/// Lists what uses each object below it, or counts it again.
pub fn show_users(model: &mut Model) -> Effects {
    if let Some(Layer::Approval(approval)) = &mut model.layer {
        approval.users = match approval.users {
            UserList::Counted => UserList::Listed,
            UserList::Listed => UserList::Counted,
        };
        see_approval(model);
    }
    Effects::redraw()
}

/// Records which lines of the approval are visible.
pub fn see_approval(model: &mut Model) {
    let fits = view::approval_fits(model);
    if let Some(Layer::Approval(approval)) = &mut model.layer {
        approval.restart_reading(fits);
    }
}

/// Requests the apply. What of the plan may still be applied is decided by the services, from the live world.
fn apply(model: &mut Model, answers: Answers) -> Effects {
    let Some(sheet) = &model.plan else { return Effects::default() };
    if !sheet.moved.is_empty() {
        let text = replan(model, "nothing was sent: plan is stale");
        model.toasts.error(text, model.now);
        return Effects::redraw();
    }
    if model.now >= sheet.plan.expires_at {
        let text = replan(model, "nothing was sent: plan expired");
        model.toasts.error(text, model.now);
        return Effects::redraw();
    }
    let approval = TypedApproval { plan: sheet.plan.clone(), chosen: sheet.chosen(), answers };
    model.activity.run = Some(Run::new(&approval.plan, &approval.chosen, model.now));
    model.activity.upper = Upper::Run;
    model.plan = None;
    go(model, ScreenId::Activity).with(Task::Apply(Box::new(approval))).with(model.activity.request_history())
}

pub fn stop(model: &mut Model) -> Effects {
    match model.activity.run.as_mut().filter(|run| run.is_running()) {
        Some(run) => {
            run.stop_requested.get_or_insert(model.now);
            say(model, "stopping after the running action").with(Task::Stop)
        }
        None => say(model, "no apply is running"),
    }
}

pub fn undo(model: &mut Model) -> Effects {
    if model.activity.is_running() {
        return say(model, "an apply is running; wait for it");
    }
    let Some((plan, offer)) = model.activity.to_undo() else {
        return say(model, "nothing to undo");
    };
    let plan = plan.to_owned();
    match offer {
        UndoOffer::Possible => {
            let ask = model.next_request();
            model.planning = Some(ask);
            model.left_out = None;
            Effects::redraw().with(Task::Undo { ask, plan, action: None })
        }
        UndoOffer::Undone(by) => say(model, &format!("Already undone by {}", short_id(&by))),
        UndoOffer::Impossible(why) => say(model, &format!("Undo is not possible: {why}")),
    }
}
