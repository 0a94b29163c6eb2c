//! Replies of the services.

use super::{data, layers, palette, tour};
use crate::console::effect::{Effects, TerminalRequest};
use crate::console::model::{CheckSheet, History, Model, PlanSheet, RunState, ScreenId, Standing};
use crate::console::settings::{ModelSettings, SettingsReload};
use crate::console::task::{Planned, SavedFile, Start, TaskReply};
use trueup_core::engine::executor::Report;
use trueup_core::engine::{Plan, State, short_id};

pub fn take(model: &mut Model, reply: TaskReply) -> Effects {
    let mut effects = Effects::redraw();
    match reply {
        TaskReply::Started(start) => started(model, *start),
        TaskReply::Settings(settings) => return apply_settings(model, *settings),
        TaskReply::SettingsReloaded(new) => reload_settings(model, *new),
        TaskReply::Acceptances { rules } => return data::accept_again(model, rules),
        TaskReply::NotStarted { message } => model.standing = Standing::Failed(message),
        TaskReply::Explained { ask, detail } => effects.redraw = model.detail.take(ask, detail),
        TaskReply::Planned { ask, plan } => planned(model, ask == model.planning.unwrap_or_default(), plan),
        TaskReply::DryRun { plan, action, tried } => {
            if let Some(sheet) = model.plan.as_mut().filter(|sheet| sheet.plan.id == plan) {
                sheet.trying.remove(&action);
                sheet.tried.insert(action, tried);
            }
        }
        TaskReply::Progress { action, at, stage } => {
            if let Some(run) = &mut model.activity.run {
                run.take(&action, at, stage);
            }
        }
        TaskReply::Applied { report } => applied(model, report, &mut effects),
        TaskReply::History { asked, entries } => model.activity.take_history(asked, entries),
        TaskReply::Object { ask, object } => {
            if let Some(view) = model.object.as_mut().filter(|view| view.ask == ask) {
                view.sheet = Some(object);
            }
        }
        TaskReply::References { ask, sheet } => {
            if let Some(view) = &mut model.object {
                view.references.take(ask, sheet);
            }
        }
        TaskReply::OperatorLog { ask, log } => {
            if let Some(view) = &mut model.object {
                view.log.take(ask, log);
                model.scroll = usize::MAX;
            }
        }
        TaskReply::Answered { ask, lines } => {
            if ask == model.detail.answer_ask
                && let Some((_, answer)) = &mut model.detail.answer
            {
                *answer = lines;
            }
        }
        TaskReply::FleetTable { ask, table } => palette::take_table(model, ask, table),
        TaskReply::Saved { file, path } => saved(model, &file, path),
        TaskReply::Accepted { message } => match message {
            Ok(message) => model.toasts.info(message, model.now),
            Err(message) => model.toasts.error(message, model.now),
        },
        TaskReply::Log { lines } => {
            model.scroll = lines.len();
            model.log = lines;
        }
        TaskReply::PluginQuestion { cluster, question } => return layers::ask_plugin(model, cluster, question),
        TaskReply::Notice { message } => model.toasts.info(message, model.now),
        TaskReply::ServiceRestarted { what } => {
            model.toasts.error(format!("{what}: internal error (please report); restarted"), model.now)
        }
    }
    effects
}

fn started(model: &mut Model, start: Start) {
    let known: Vec<_> = model.checks.iter().map(|check| check.name).collect();
    for (name, description) in &start.checks {
        if !known.contains(name) {
            model.checks.push(CheckSheet::new(*name, *description));
        }
    }
    // Findings may have arrived first.
    let now = model.now;
    let Model { checks, findings, fleet, .. } = model;
    for (id, held) in findings.iter() {
        if let Some(check) = checks.iter_mut().find(|check| check.name == id.domain) {
            check.put(id, held, fleet.class_of(&id.cluster), findings, now);
        }
    }
    checks.iter_mut().for_each(|check| check.restore_tree_order(findings, fleet));
    model.standing = Standing::Running(start);
}

fn apply_settings(model: &mut Model, settings: ModelSettings) -> Effects {
    let ModelSettings { keys, zone, local, mouse, alert, views, accepted, remembered, notices } = settings;
    (model.keys, model.zone, model.local, model.views) = (keys, zone, local, views);
    model.alert = alert;
    let mut effects = data::accept_again(model, accepted);
    if model.mouse != mouse {
        model.mouse = mouse;
        effects.terminal.push(TerminalRequest::Mouse(mouse));
    }
    if let Some(remembered) = remembered {
        model.recall(remembered);
    }
    notices.into_iter().for_each(|message| model.toasts.error(message, model.now));
    tour::offer(model);
    effects
}

fn reload_settings(model: &mut Model, new: SettingsReload) {
    let SettingsReload { keys, themes, problems } = new;
    model.keys = keys;
    // A pending key sequence may be invalid now.
    model.pressed.clear();
    model.follow.clear();
    model.themes = themes.names().map(str::to_owned).collect();
    if problems.is_empty() {
        model.toasts.info("reloaded keys and themes", model.now);
    }
    problems.into_iter().for_each(|message| model.toasts.error(message, model.now));
}

fn planned(model: &mut Model, is_awaited: bool, plan: Result<Box<Planned>, String>) {
    if !is_awaited {
        return;
    }
    model.planning = None;
    match plan {
        Ok(planned) if planned.plan.actions.is_empty() => {
            let text = nothing_to_fix(&planned.plan);
            model.toasts.info(text, model.now);
        }
        Ok(planned) => {
            model.plan = Some(PlanSheet::new(*planned));
            model.navigation.go(ScreenId::Plan);
        }
        Err(why) => model.toasts.error(why, model.now),
    }
}

/// Why a plan has no actions.
fn nothing_to_fix(plan: &Plan) -> String {
    let differ = plan.findings.iter().filter(|finding| finding.state != State::Match).count();
    match differ {
        0 => "No actions: findings match or have no fix.".to_owned(),
        1 => "Nothing to fix here: 1 finding, which trueup cannot fix".to_owned(),
        count => format!("Nothing to fix here: {count} findings, none trueup can fix"),
    }
}

fn applied(model: &mut Model, report: Result<Box<Report>, String>, effects: &mut Effects) {
    // The known journal predates the run.
    model.activity.history = History::NotRead;
    effects.task(model.activity.request_history());
    let Some(run) = &mut model.activity.run else { return };
    match report {
        Ok(report) => {
            run.finish(&report, model.now);
            let parts = run.tally().parts().join(", ");
            let message = format!("apply {}: {parts}", short_id(&report.plan));
            match &report.halted {
                Some(halted) => model.toasts.error(format!("{message}; {}", halted.message()), model.now),
                None => model.toasts.info(message, model.now),
            }
        }
        Err(why) => {
            run.state = RunState::Failed(why.clone());
            model.toasts.error(why, model.now);
        }
    }
}

fn saved(model: &mut Model, file: &SavedFile, path: Result<String, String>) {
    match (path, file) {
        (Ok(path), SavedFile::Plan { .. }) => {
            model.toasts.info(format!("wrote {path}; apply: trueup apply {path}"), model.now);
        }
        (
            Ok(path),
            SavedFile::ScreenText
            | SavedFile::ScreenSvg
            | SavedFile::ViewMarkdown
            | SavedFile::ViewCsv
            | SavedFile::Bundle,
        ) => {
            model.toasts.info(format!("wrote {path}"), model.now);
        }
        (Err(why), _) => model.toasts.error(format!("cannot write file: {why}"), model.now),
    }
}
