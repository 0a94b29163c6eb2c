//! Executes actions.

use std::cmp::Reverse;

use super::{
    accept, bundle, data, export, finder, layers, lists, moving, palette, references, repair, timeline, tour, writes,
};
use crate::console::effect::{Effects, MouseHold, TerminalRequest};
use crate::console::keymap::Action;
use crate::console::layout;
use crate::console::model::{
    FinderPlace, Layer, Matches, Model, ObjectTab, ObjectView, Pane, PlanSheet, Prompt, PromptWhat, ScreenId, Show,
    Upper, WORST_FIRST, Zone,
};
use crate::console::task::Task;
use trueup_core::engine::{ObjectRef, State, SubjectId};
use trueup_core::redact::CredentialValues;
use trueup_core::world::ClusterName;

/// How far a key moves the divider, in percent.
const DIVIDER_STEP: i16 = 5;

#[expect(clippy::too_many_lines, reason = "one arm per action")]
pub fn act(model: &mut Model, action: Action) -> Effects {
    if model.is_searching() {
        return finder::act(model, action);
    }
    if model.layer.is_some() {
        return layers::act(model, action);
    }
    if action == Action::Back && model.tour.take().is_some() {
        return Effects::redraw();
    }
    model.tour = model.tour.and_then(|tour| tour.after(action));
    if let Some(why) = timeline::refusal(model, action) {
        return say(model, &why);
    }
    match action {
        Action::Up => moving::step(model, -1),
        Action::Down => moving::step(model, 1),
        Action::PageUp => moving::page(model, -1),
        Action::PageDown => moving::page(model, 1),
        Action::Top => moving::top(model),
        Action::Bottom => moving::bottom(model),
        Action::Left => moving::pane(model, Pane::List),
        Action::Right => moving::pane(model, Pane::Detail),
        Action::NextPane | Action::PrevPane => moving::other_pane(model),
        Action::Wider => divider(model, DIVIDER_STEP),
        Action::Narrower => divider(model, -DIVIDER_STEP),
        Action::Open => open(model),
        Action::Back => back(model),
        Action::HistoryBack => move_in_history(model, |model| model.navigation.back()),
        Action::HistoryForward => move_in_history(model, |model| model.navigation.forward()),
        Action::GoFleet => go(model, ScreenId::Fleet),
        Action::GoDomain1
        | Action::GoDomain2
        | Action::GoDomain3
        | Action::GoDomain4
        | Action::GoDomain5
        | Action::GoDomain6
        | Action::GoDomain7
        | Action::GoDomain8
        | Action::GoDomain9 => go_check(model, action.check_index().unwrap_or_default()),
        Action::GoPlan if model.plan.is_some() => go(model, ScreenId::Plan),
        Action::GoPlan => {
            let text = format!("No plan is open. {}: plan a fix for a finding", model.key(Action::Reconcile));
            say(model, &text)
        }
        Action::GoActivity => go_activity(model),
        Action::GoTour => tour::start(model),
        Action::GoTimeline => go(model, ScreenId::Timeline),
        Action::StepBack => timeline::step(model, -1),
        Action::StepForward => timeline::step(model, 1),
        Action::Compare => timeline::compare(model),
        Action::GoExpiry => go(model, ScreenId::Expiry),
        Action::GoLogs => go(model, ScreenId::Logs).with(Task::ReadLog),
        Action::Wall => {
            model.layer = Some(Layer::Wall);
            Effects::redraw()
        }
        Action::Clusters => palette::open_clusters(model),
        Action::Views => palette::open_views(model),
        Action::Palette => palette::open(model),
        Action::Mark => moving::mark(model),
        Action::MarkAll => moving::mark_all(model),
        Action::MarkRange => moving::mark_range(model),
        Action::Unmark => moving::unmark(model),
        Action::Filter => open_filter(model),
        Action::SearchNext => finder::step(model, 1),
        Action::SearchPrevious => finder::step(model, -1),
        Action::ClearFilter => layers::filter(model, ""),
        Action::Complete | Action::Users => Effects::default(),
        Action::Sort => lists::open_sort(model),
        Action::SortReverse => lists::reverse(model),
        Action::ShowMatches => lists::toggle_matches(model),
        Action::GroupByCause => lists::toggle_grouping(model),
        Action::SaveView => lists::open_save_view(model),
        Action::ViewObject => object(model, ObjectTab::Yaml),
        Action::Events => object(model, ObjectTab::Events),
        Action::Reveal => reveal(model),
        Action::References => object(model, ObjectTab::References),
        Action::OperatorLog => object(model, ObjectTab::OperatorLog),
        Action::ToggleDiff => toggle_diff(model),
        Action::Question => palette::open_forms(model),
        Action::FleetTable => palette::open_table(model),
        Action::OpenPager | Action::OpenEditor => export::page(model),
        Action::Reconcile => repair::reconcile(model),
        Action::Refresh => repair::refresh(model),
        Action::Include => repair::include(model),
        Action::DryRun => repair::dry_run(model),
        Action::WritePlan => repair::write_plan(model),
        Action::Approve => repair::approve(model),
        Action::Discard => repair::discard(model),
        Action::Stop => repair::stop(model),
        Action::Undo => repair::undo(model),
        Action::Accept => accept::open(model),
        Action::Probe => probe(model),
        Action::Reconnect => reconnect(model),
        Action::RunPlugin => run_plugin(model),
        // Heard by questions alone.
        Action::Yes | Action::No => Effects::default(),
        Action::Copy => export::copy(model),
        Action::CopyCommand => export::copy_command(model),
        Action::Export => palette::open_export(model),
        Action::Bundle => bundle::write(model),
        Action::SaveScreen => terminal_request(TerminalRequest::SaveScreen),
        Action::Help => {
            model.layer = Some(Layer::Help { scroll: 0 });
            Effects::redraw()
        }
        Action::Pause => data::toggle_pause(model),
        Action::ReadOnly => writes::toggle(model),
        Action::Utc => {
            model.zone = match model.zone {
                Zone::Local => Zone::Utc,
                Zone::Utc => Zone::Local,
            };
            Effects::redraw()
        }
        Action::Theme => palette::open_themes(model),
        Action::Mouse => mouse(model),
        Action::Repaint => terminal_request(TerminalRequest::Repaint),
        Action::Suspend => terminal_request(TerminalRequest::Suspend),
        Action::Close => close(model),
        Action::Quit => quit(model),
    }
}

/// Goes to a screen.
pub fn go(model: &mut Model, screen: ScreenId) -> Effects {
    model.navigation.go(screen);
    arrive(model);
    Effects::redraw()
}

/// Goes to the worst check of a cluster, filtered to the cluster and its guests.
pub fn go_to_cluster(model: &mut Model, cluster: &ClusterName) -> Effects {
    if model.checks.is_empty() {
        return say(model, "no check is enabled");
    }
    // The worst state first, then its count; without a difference the check with most findings.
    let worst = |place: &usize| {
        let counts = model.findings.counts(cluster, model.checks[*place].name).copied().unwrap_or_default();
        let worst = counts
            .worst()
            .next()
            .map(|(state, count)| (WORST_FIRST.iter().position(|one| *one == state), Reverse(count)));
        (worst.is_none(), worst, Reverse(counts.total()))
    };
    let place = (0..model.checks.len()).min_by_key(worst).unwrap_or_default();
    model.navigation.go(ScreenId::Check(place));
    arrive(model);
    let guests = model.fleet.guests_of(cluster).cloned();
    let shown: Vec<ClusterName> = [cluster.clone()].into_iter().chain(guests).collect();
    let term = palette::cluster_term(model, &shown);
    layers::filter(model, &term).with(Task::Need(cluster.clone()))
}

pub fn say(model: &mut Model, text: &str) -> Effects {
    model.toasts.info(text, model.now);
    Effects::redraw()
}

fn terminal_request(terminal_request: TerminalRequest) -> Effects {
    Effects { terminal: vec![terminal_request], redraw: true, ..Effects::default() }
}

fn arrive(model: &mut Model) {
    model.finder = None;
    model.pane = Pane::List;
    model.scroll = 0;
}

fn move_in_history(model: &mut Model, go: impl Fn(&mut Model) -> bool) -> Effects {
    if !go(model) {
        return say(model, "no further screen");
    }
    // A discarded plan has no screen any more.
    if model.screen() == ScreenId::Plan && model.plan.is_none()
        || model.screen() == ScreenId::Object && model.object.is_none()
    {
        return move_in_history(model, go);
    }
    arrive(model);
    Effects::redraw()
}

fn go_check(model: &mut Model, place: usize) -> Effects {
    match model.checks.len() {
        count if place < count => go(model, ScreenId::Check(place)),
        count => say(model, &format!("only {count} checks are enabled")),
    }
}

fn go_activity(model: &mut Model) -> Effects {
    model.activity.upper = Upper::Run;
    go(model, ScreenId::Activity).with(model.activity.request_history())
}

fn divider(model: &mut Model, by: i16) -> Effects {
    model.split = layout::moved(model.split, by);
    Effects::redraw()
}

fn open(model: &mut Model) -> Effects {
    match model.screen() {
        ScreenId::Fleet => {
            model.fleet.list.hold(&model.fleet.order);
            match model.fleet.list.cursor().cloned() {
                Some(cluster) => go_to_cluster(model, &cluster),
                None => Effects::default(),
            }
        }
        ScreenId::Check(_) => lists::toggle_group(model).unwrap_or_else(|| moving::pane(model, Pane::Detail)),
        ScreenId::Plan => lists::include_left_out(model).unwrap_or_else(|| moving::pane(model, Pane::Detail)),
        ScreenId::Expiry => open_expiring(model),
        ScreenId::Activity if model.activity.cursor().is_some() => {
            model.activity.upper = Upper::Entry;
            Effects::redraw()
        }
        ScreenId::Object => references::open_selected(model),
        ScreenId::Activity | ScreenId::Logs | ScreenId::Timeline => Effects::default(),
    }
}

/// Opens the finding of the selected credential or certificate.
fn open_expiring(model: &mut Model) -> Effects {
    let Some(subject) = model.expiry.list.cursor().map(|id| id.subject.clone()) else { return Effects::default() };
    let Some(place) = model.checks.iter().position(|check| check.name == subject.domain) else {
        return Effects::default();
    };
    let mut effects = go(model, ScreenId::Check(place));
    let is_shown = |model: &Model| model.checks[place].order.position(&subject).is_some();
    // A credential that does not end soon matches, and is hidden with the others.
    let is_match = model.findings.get(&subject).is_some_and(|held| held.judgement.state == State::Match);
    if is_match && !is_shown(model) && model.checks[place].matches == Matches::Hidden {
        effects = lists::toggle_matches(model);
    }
    if !is_shown(model) {
        // A credential that is still valid belongs to a match, which lists hide.
        let now = model.now;
        let Model { checks, fleet, .. } = model;
        checks[place].show_matches(Matches::Shown, |id| fleet.class_of(&id.cluster), now);
    }
    if !is_shown(model) {
        effects = layers::filter(model, "");
    }
    let check = &mut model.checks[place];
    if let Some(index) = check.order.position(&subject) {
        check.list.go_to_index(&check.order, index);
    }
    effects
}

/// One step back: from the detail, a filter, or the screen.
fn back(model: &mut Model) -> Effects {
    let is_filtered = match model.screen() {
        ScreenId::Fleet => !model.fleet.filter_text.is_empty(),
        ScreenId::Check(_) => model.check().is_some_and(|check| !check.filter_text.is_empty()),
        ScreenId::Plan
        | ScreenId::Activity
        | ScreenId::Object
        | ScreenId::Logs
        | ScreenId::Expiry
        | ScreenId::Timeline => false,
    };
    if finder::close(model, FinderPlace::Screen) {
        return Effects::redraw();
    }
    if model.pane == Pane::Detail {
        return moving::pane(model, Pane::List);
    }
    if is_filtered {
        return layers::filter(model, "");
    }
    if model.timeline.past.is_some() {
        return timeline::live(model);
    }
    if model.screen() == ScreenId::Activity && model.activity.opened().is_some() {
        model.activity.upper = Upper::Run;
        return Effects::redraw();
    }
    if model.screen() == ScreenId::Fleet {
        return Effects::redraw();
    }
    if references::close_opened(model) {
        return Effects::redraw();
    }
    earlier(model)
}

/// Goes to the previous screen; to the fleet where there is none.
pub fn earlier(model: &mut Model) -> Effects {
    let screen = model.screen();
    while model.navigation.back() {
        let is_gone = model.screen() == ScreenId::Plan && model.plan.is_none()
            || model.screen() == ScreenId::Object && model.object.is_none();
        if !is_gone && model.screen() != screen {
            arrive(model);
            return Effects::redraw();
        }
    }
    go(model, ScreenId::Fleet)
}

/// Closes what is open; on the fleet, quits.
fn close(model: &mut Model) -> Effects {
    if model.pane == Pane::Detail {
        return moving::pane(model, Pane::List);
    }
    match model.screen() {
        ScreenId::Fleet => quit(model),
        ScreenId::Activity if model.activity.opened().is_some() => back(model),
        ScreenId::Check(_)
        | ScreenId::Plan
        | ScreenId::Activity
        | ScreenId::Object
        | ScreenId::Logs
        | ScreenId::Expiry
        | ScreenId::Timeline => earlier(model),
    }
}

fn open_filter(model: &mut Model) -> Effects {
    if moving::scrolls(model) {
        return finder::open(model);
    }
    let text = match model.screen() {
        ScreenId::Fleet => model.fleet.filter_text.clone(),
        ScreenId::Check(_) => model.check().map(|check| check.filter_text.clone()).unwrap_or_default(),
        ScreenId::Plan
        | ScreenId::Activity
        | ScreenId::Object
        | ScreenId::Logs
        | ScreenId::Expiry
        | ScreenId::Timeline => {
            return lists::refuse_prompt(model, "nothing to filter here");
        }
    };
    model.layer = Some(Layer::Prompt(Prompt::new(PromptWhat::Filter, "filter", &text)));
    Effects::redraw()
}

/// The object of a cluster that a finding is about. A cloud resource is none, and has no more data than its finding.
pub fn object_of(subject: &SubjectId) -> Option<(ClusterName, ObjectRef)> {
    let target = ObjectRef {
        api_version: subject.api_version.to_owned(),
        kind: subject.kind.to_owned(),
        namespace: subject.namespace.clone(),
        name: subject.name.clone(),
        uid: None,
        cloud: None,
    };
    (subject.cloud.is_none() && subject.name != "*").then(|| (subject.cluster.clone(), target))
}

/// The selected row as an object of a cluster.
pub fn object_here(model: &Model) -> Option<(ClusterName, ObjectRef)> {
    match model.screen() {
        ScreenId::Check(_) => object_of(&*model.subject()?),
        ScreenId::Plan => {
            let action = model.plan.as_ref().and_then(PlanSheet::cursor)?;
            if action.target.cloud.is_some() {
                return None;
            }
            Some((ClusterName::new(action.cluster.as_str()), action.target.clone()))
        }
        ScreenId::Object => model.object.as_ref().map(|view| (view.cluster.clone(), view.target.clone())),
        ScreenId::Fleet | ScreenId::Activity | ScreenId::Logs | ScreenId::Expiry | ScreenId::Timeline => None,
    }
}

fn object(model: &mut Model, tab: ObjectTab) -> Effects {
    if model.screen() == ScreenId::Object {
        return references::show_tab(model, tab);
    }
    if let ObjectTab::References | ObjectTab::OperatorLog = tab {
        return references::open(model, tab);
    }
    match object_here(model) {
        Some((cluster, target)) => open_object(model, cluster, target, tab),
        None if model.subject().is_some_and(|subject| subject.cloud.is_some()) => {
            say(model, "a cloud resource is not a cluster object; its data is in the detail")
        }
        None => say(model, "no object selected"),
    }
}

/// Opens the screen of one object.
pub fn open_object(model: &mut Model, cluster: ClusterName, target: ObjectRef, tab: ObjectTab) -> Effects {
    let values = CredentialValues::Masked;
    let read = read_object(model, cluster, target, tab, values);
    go(model, ScreenId::Object).with(read)
}

/// Reads an object for its screen.
fn read_object(
    model: &mut Model,
    cluster: ClusterName,
    target: ObjectRef,
    tab: ObjectTab,
    values: CredentialValues,
) -> Task {
    let ask = model.next_request();
    model.object = Some(ObjectView::new(ask, (cluster.clone(), target.clone()), tab, values));
    Task::ReadObject { ask, cluster, target, values }
}

/// Reads the object again, with the values that look like a credential, or without them.
fn reveal(model: &mut Model) -> Effects {
    let Some(view) = model.object.as_ref().filter(|_| model.screen() == ScreenId::Object) else {
        return say(model, "no object is shown");
    };
    if !view.has_credentials() {
        return say(model, "no masked value can be shown: nothing looks like a credential, and Secrets stay masked");
    }
    let values = match view.values {
        CredentialValues::Masked => CredentialValues::Shown,
        CredentialValues::Shown => CredentialValues::Masked,
    };
    let (cluster, target) = (view.cluster.clone(), view.target.clone());
    Effects::redraw().with(read_object(model, cluster, target, ObjectTab::Yaml, values))
}

fn toggle_diff(model: &mut Model) -> Effects {
    if let ScreenId::Check(_) = model.screen() {
        model.detail.diff = model.detail.diff.next();
        model.detail.scroll = 0;
        return Effects::redraw();
    }
    if let Some(plan) = model.plan.as_mut() {
        plan.show = match plan.show {
            Show::Diff => Show::Fields,
            Show::Fields => Show::Diff,
        };
        plan.scroll = 0;
    }
    Effects::redraw()
}

/// The selected cluster, or the cluster of the selected finding.
pub fn cluster_here(model: &Model) -> Option<ClusterName> {
    match model.screen() {
        ScreenId::Fleet => model.fleet.list.cursor().cloned(),
        ScreenId::Check(_) => model.subject().map(|subject| subject.cluster.clone()),
        ScreenId::Plan => {
            model.plan.as_ref().and_then(PlanSheet::cursor).map(|action| ClusterName::new(action.cluster.as_str()))
        }
        ScreenId::Object => model.object.as_ref().map(|view| view.cluster.clone()),
        ScreenId::Expiry => model.expiry.list.cursor().map(|id| id.subject.cluster.clone()),
        ScreenId::Activity | ScreenId::Logs | ScreenId::Timeline => None,
    }
}

/// Tests the selected subject if its check supports that, else reconnects to the cluster.
fn probe(model: &mut Model) -> Effects {
    let Some(subject) = model.subject() else { return reconnect(model) };
    say(model, &format!("testing {}", subject.name)).with(Task::Probe((*subject).clone()))
}

fn reconnect(model: &mut Model) -> Effects {
    let Some(cluster) = cluster_here(model) else { return say(model, "no cluster selected") };
    say(model, &format!("reconnecting to {cluster}")).with(Task::Reconnect(cluster))
}

fn run_plugin(model: &mut Model) -> Effects {
    match cluster_here(model) {
        Some(cluster) => terminal_request(TerminalRequest::RunPlugin(cluster.to_string())),
        None => say(model, "no cluster selected"),
    }
}

fn mouse(model: &mut Model) -> Effects {
    model.mouse = match model.mouse {
        MouseHold::Taken => MouseHold::Released,
        MouseHold::Released => MouseHold::Taken,
    };
    let text = match model.mouse {
        MouseHold::Taken => "mouse captured".to_owned(),
        MouseHold::Released => format!("mouse released; {}: capture", model.key(Action::Mouse)),
    };
    model.toasts.info(text, model.now);
    terminal_request(TerminalRequest::Mouse(model.mouse))
}

fn quit(model: &mut Model) -> Effects {
    if model.activity.is_running() {
        let title = "A plan is being applied. Type stop to quit after the running action:";
        model.layer = Some(Layer::Prompt(Prompt::new(PromptWhat::Quit, title, "")));
        return Effects::redraw();
    }
    Effects { end: true, ..Effects::default() }
}
