//! Keys and results of layers.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::Input;

use super::act::say;
use super::{accept, finder, keys, lists, palette, repair, writes};
use crate::console::effect::{Effects, TerminalRequest};
use crate::console::filter;
use crate::console::keymap::Action;
use crate::console::model::{
    CheckSheet, Choice, Confirm, FinderPlace, Layer, Model, Picker, PluginDialog, Prompt, PromptWhat, ScreenId,
};
use crate::console::view;
use trueup_core::world::{ClusterName, RiskClass};
use trueup_fleet::connect::PluginQuestion;

/// Lines per page of a layer.
const PAGE: isize = 10;

/// An action while a layer is open.
#[expect(clippy::wildcard_enum_match_arm, reason = "a layer reacts to these actions only")]
pub fn act(model: &mut Model, action: Action) -> Effects {
    if matches!(model.layer, Some(Layer::Wall)) {
        return on_wall(model, action);
    }
    match action {
        Action::Repaint => Effects { terminal: vec![TerminalRequest::Repaint], redraw: true, ..Effects::default() },
        Action::Suspend => Effects { terminal: vec![TerminalRequest::Suspend], redraw: true, ..Effects::default() },
        Action::Filter => finder::open(model),
        Action::SearchNext if model.finder.is_some() => finder::step(model, 1),
        Action::SearchPrevious if model.finder.is_some() => finder::step(model, -1),
        Action::Back if finder::close(model, FinderPlace::Help) => Effects::redraw(),
        Action::Back | Action::Close | Action::Quit | Action::Help => close(model),
        Action::Stop => repair::stop(model),
        Action::Open => enter(model),
        Action::Complete => complete(model),
        Action::Users => repair::show_users(model),
        Action::Question => palette::prompt_table(model),
        Action::Mark => tick(model),
        Action::Up => step(model, -1),
        Action::Down => step(model, 1),
        Action::PageUp => step(model, -PAGE),
        Action::PageDown => step(model, PAGE),
        Action::Top => step(model, isize::MIN),
        Action::Bottom => step(model, isize::MAX),
        Action::Yes => answer_yes(model),
        Action::No => close(model),
        _ => Effects::default(),
    }
}

/// The wall has no cursor: it is left, the apply is stopped, and nothing else.
#[expect(clippy::wildcard_enum_match_arm, reason = "the wall reacts to these actions only")]
fn on_wall(model: &mut Model, action: Action) -> Effects {
    match action {
        Action::Wall | Action::Back | Action::Close | Action::Quit => close(model),
        Action::Stop => repair::stop(model),
        Action::Repaint => Effects { terminal: vec![TerminalRequest::Repaint], redraw: true, ..Effects::default() },
        _ => Effects::default(),
    }
}

/// A typed key.
pub fn type_key(model: &mut Model, key: KeyEvent) -> Effects {
    match &mut model.layer {
        Some(Layer::Approval(approval)) => {
            match (key.code, key.modifiers - KeyModifiers::SHIFT) {
                (KeyCode::Char(character), KeyModifiers::NONE) => approval.edit(|typed| typed.push(character)),
                (KeyCode::Backspace, _) => approval.edit(|typed| {
                    typed.pop();
                }),
                (KeyCode::Char('u'), KeyModifiers::CONTROL) => approval.edit(String::clear),
                _ => {}
            }
            Effects::redraw()
        }
        Some(Layer::Picker(Picker { choice: Choice::Letters(_), .. })) => {
            let KeyCode::Char(letter) = key.code else { return Effects::default() };
            palette::choose_letter(model, letter)
        }
        Some(Layer::Palette(picker) | Layer::Picker(picker)) => {
            keys::edit(&mut picker.input, key);
            picker.find(palette::score);
            palette::preview(model);
            Effects::redraw()
        }
        Some(Layer::Prompt(prompt)) => {
            keys::edit(&mut prompt.input, key);
            prompt.problem = None;
            typed(model)
        }
        Some(Layer::Help { .. } | Layer::Table { .. } | Layer::Plugin(_) | Layer::Confirm(_) | Layer::Wall) | None => {
            Effects::default()
        }
    }
}

/// Yes, to the question that is open.
fn answer_yes(model: &mut Model) -> Effects {
    match &model.layer {
        Some(Layer::Plugin(_)) => answer_plugin(model, PluginAnswer::Run),
        Some(Layer::Confirm(Confirm::DiscardPlan)) => {
            model.layer = None;
            repair::discard_now(model)
        }
        Some(Layer::Confirm(Confirm::SwitchWritesOn)) => {
            model.layer = None;
            writes::switch_on(model)
        }
        Some(
            Layer::Help { .. }
            | Layer::Table { .. }
            | Layer::Palette(_)
            | Layer::Picker(_)
            | Layer::Prompt(_)
            | Layer::Approval(_)
            | Layer::Wall,
        )
        | None => Effects::default(),
    }
}

#[derive(Clone, Copy)]
enum PluginAnswer {
    Run,
    DoNotRun,
}

fn answer_plugin(model: &mut Model, answer: PluginAnswer) -> Effects {
    let Some(Layer::Plugin(dialog)) = &model.layer else { return Effects::default() };
    let cluster = dialog.cluster.to_string();
    model.asked_plugins.insert(dialog.question.clone());
    model.layer = None;
    match answer {
        PluginAnswer::Run => {
            Effects { terminal: vec![TerminalRequest::ApprovePlugin(cluster)], redraw: true, ..Effects::default() }
        }
        PluginAnswer::DoNotRun => {
            let key = model.screen_key(Action::RunPlugin);
            say(model, &format!("credential plugin of {cluster} was not run; {key} on Fleet asks again"))
        }
    }
}

/// Opens the question about a plugin that the user was not asked about yet. While another layer is open the cluster keeps
/// its state, which names the key that asks.
pub fn ask_plugin(model: &mut Model, cluster: ClusterName, question: PluginQuestion) -> Effects {
    if model.layer.is_none() && model.asked_plugins.insert(question.clone()) {
        model.layer = Some(Layer::Plugin(PluginDialog::new(cluster, question, model.now)));
    }
    Effects::redraw()
}

/// Applies a filter.
pub fn filter(model: &mut Model, text: &str) -> Effects {
    match model.screen() {
        ScreenId::Fleet => model.fleet.filter_by(text, model.now),
        ScreenId::Check(place) => {
            let now = model.now;
            let Model { checks, fleet, .. } = model;
            if let Some(check) = checks.get_mut(place) {
                check.filter_by(text, |id| fleet.class_of(&id.cluster), now);
            }
        }
        ScreenId::Plan
        | ScreenId::Activity
        | ScreenId::Object
        | ScreenId::Logs
        | ScreenId::Expiry
        | ScreenId::Timeline => {}
    }
    Effects::redraw()
}

/// A filter is applied while it is typed.
fn typed(model: &mut Model) -> Effects {
    let Some(Layer::Prompt(Prompt { what: PromptWhat::Filter, input, .. })) = &model.layer else {
        return Effects::redraw();
    };
    let text = input.value().to_owned();
    let effects = filter(model, &text);
    let problem = match model.screen() {
        ScreenId::Fleet => model.fleet.filter_problem.as_ref(),
        ScreenId::Check(_)
        | ScreenId::Plan
        | ScreenId::Activity
        | ScreenId::Object
        | ScreenId::Logs
        | ScreenId::Timeline
        | ScreenId::Expiry => model.check().and_then(|check| check.filter_problem.as_ref()),
    };
    let problem = problem.map(ToString::to_string);
    if let Some(Layer::Prompt(prompt)) = &mut model.layer {
        prompt.problem = problem;
    }
    effects
}

/// Ticks the item and moves to the next.
fn tick(model: &mut Model) -> Effects {
    if let Some(Layer::Picker(picker)) = &mut model.layer {
        picker.tick();
        picker.step(1);
    }
    Effects::redraw()
}

fn close(model: &mut Model) -> Effects {
    if let Some(Layer::Plugin(_)) = &model.layer {
        return answer_plugin(model, PluginAnswer::DoNotRun);
    }
    finder::close(model, FinderPlace::Help);
    match model.layer.take() {
        Some(Layer::Approval(_)) => say(model, "nothing was sent"),
        Some(Layer::Prompt(Prompt { what: PromptWhat::Filter, .. })) => filter(model, ""),
        Some(Layer::Picker(Picker { choice: Choice::Preview(before), .. })) => {
            model.theme = before;
            Effects::redraw()
        }
        Some(
            Layer::Prompt(_)
            | Layer::Help { .. }
            | Layer::Table { .. }
            | Layer::Palette(_)
            | Layer::Picker(_)
            | Layer::Plugin(_)
            | Layer::Confirm(_)
            | Layer::Wall,
        )
        | None => Effects::redraw(),
    }
}

fn enter(model: &mut Model) -> Effects {
    match &model.layer {
        Some(Layer::Approval(_)) => repair::answer(model),
        Some(Layer::Palette(_) | Layer::Picker(_)) => palette::choose(model),
        Some(Layer::Prompt(_)) => enter_prompt(model),
        Some(Layer::Help { .. } | Layer::Table { .. }) => close(model),
        Some(Layer::Plugin(_) | Layer::Confirm(_) | Layer::Wall) | None => Effects::default(),
    }
}

fn enter_prompt(model: &mut Model) -> Effects {
    let Some(Layer::Prompt(prompt)) = model.layer.take() else { return Effects::default() };
    let text = prompt.input.value().trim().to_owned();
    match prompt.what {
        // An invalid filter stays open, so that it can be corrected.
        PromptWhat::Filter if prompt.problem.is_some() => {
            model.layer = Some(Layer::Prompt(prompt));
            Effects::redraw()
        }
        PromptWhat::Filter => {
            // The best match stays under the cursor, whatever arrives.
            if let Some(check) = model.check_mut() {
                check.list.hold(&check.order);
            }
            Effects::redraw()
        }
        PromptWhat::SaveView => lists::save_view(model, text),
        PromptWhat::AcceptReason(_) | PromptWhat::AcceptUntil { .. } => accept::enter(model, prompt),
        PromptWhat::Form { subject, form } => palette::run_form(model, subject, form, text),
        PromptWhat::Table(check) => palette::ask_table(model, check, Some(text)),
        PromptWhat::Quit if text == "stop" => {
            let mut effects = repair::stop(model);
            model.leaving = true;
            effects.redraw = true;
            effects
        }
        PromptWhat::Quit => say(model, "apply continues"),
    }
}

fn complete(model: &mut Model) -> Effects {
    let Some(Layer::Prompt(prompt)) = &mut model.layer else { return Effects::default() };
    let place = match model.navigation.here() {
        ScreenId::Check(place) => Some(place),
        ScreenId::Fleet
        | ScreenId::Plan
        | ScreenId::Activity
        | ScreenId::Object
        | ScreenId::Logs
        | ScreenId::Expiry
        | ScreenId::Timeline => None,
    };
    let mut known = place.and_then(|place| model.checks.get(place)).map(CheckSheet::known).unwrap_or_default();
    known.clusters = model.fleet.clusters().map(|cluster| cluster.name.as_str()).collect();
    known.classes = RiskClass::ALL.iter().map(|class| class.as_str()).collect();
    let text = prompt.input.value().to_owned();
    let completions = filter::complete(&text, text.len(), &known);
    let Some(first) = completions.options.first() else { return Effects::default() };
    let completed = format!("{}{first}{}", &text[..completions.at.start], &text[completions.at.end..]);
    prompt.input = Input::new(completed);
    typed(model)
}

fn step(model: &mut Model, by: isize) -> Effects {
    let (help_last, table_last) = (view::help_last(model), view::table_last(model));
    let fits = view::approval_fits(model);
    match &mut model.layer {
        Some(Layer::Help { scroll }) => *scroll = moved(*scroll, by, help_last),
        Some(Layer::Table { scroll, .. }) => *scroll = moved(*scroll, by, table_last),
        Some(Layer::Palette(picker) | Layer::Picker(picker)) => {
            picker.step(by);
            palette::preview(model);
        }
        Some(Layer::Approval(approval)) => approval.scroll_by(by, fits),
        Some(Layer::Prompt(_) | Layer::Plugin(_) | Layer::Confirm(_) | Layer::Wall) | None => {}
    }
    Effects::redraw()
}

/// A scroll position after a step. On a screen that has grown, the last position is before the one that was.
fn moved(scroll: usize, by: isize, last: usize) -> usize {
    scroll.min(last).saturating_add_signed(by).min(last)
}
