//! Lists filtered by typing: all actions, views, clusters, themes, exports, a check's queries.

use std::collections::BTreeSet;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::act::{self, say};
use super::{act::go_to_cluster, export, layers, lists};
use crate::console::effect::Effects;
use crate::console::keymap::{Action, Group};
use crate::console::model::{
    Choice, ExportForm, Layer, Model, Picker, PickerItem, PickerWhat, Prompt, PromptWhat, SavedView,
};
use crate::console::task::{RequestId, Task};
use trueup_checks::FleetTable;
use trueup_core::engine::{CheckName, SubjectId};
use trueup_core::world::ClusterName;

/// Opens the list of all actions and screens.
pub fn open(model: &mut Model) -> Effects {
    let scope = model.scope();
    let mut items = Vec::new();
    // Movement and the palette itself are used by key only.
    let leads = |action: &Action| action.check_index().is_none_or(|place| place < model.checks.len());
    let is_here = |action: &Action| action.group() != Group::Moving && *action != Action::Palette;
    for action in Action::ALL.iter().filter(|action| is_here(action) && leads(action)) {
        let keys = model.keys.keys(scope, *action);
        if let Some(key) = keys.first() {
            items.push(PickerItem { label: label(model, *action), note: key.clone(), what: PickerWhat::Act(*action) });
        }
    }
    items.extend(views(model));
    items.extend(clusters(model));
    items.extend(themes(model));
    show(model, Layer::Palette(Picker::new("commands", items)))
}

pub fn open_clusters(model: &mut Model) -> Effects {
    let items = clusters(model);
    if items.is_empty() {
        return lists::refuse_prompt(model, "no clusters yet");
    }
    let choice = Choice::Ticks(BTreeSet::new());
    show(model, Layer::Picker(Picker { choice, ..Picker::new("Clusters", items) }))
}

pub fn open_themes(model: &mut Model) -> Effects {
    let items = themes(model);
    let choice = Choice::Preview(model.theme.clone());
    let cursor = model.themes.iter().position(|theme| *theme == model.theme).unwrap_or(0);
    show(model, Layer::Picker(Picker { choice, cursor, ..Picker::new("Theme (preview)", items) }))
}

/// Opens the views of the config and those saved from the console.
pub fn open_views(model: &mut Model) -> Effects {
    let items = views(model);
    if items.is_empty() {
        let text = format!("No saved views. {}: save this list as a view", model.screen_key(Action::SaveView));
        return lists::refuse_prompt(model, &text);
    }
    show(model, Layer::Picker(Picker::new("Views", items)))
}

pub fn open_export(model: &mut Model) -> Effects {
    let item = |label: &str, form| PickerItem {
        label: label.to_owned(),
        note: "a file in the current folder".to_owned(),
        what: PickerWhat::Export(form),
    };
    let items = vec![item("Markdown", ExportForm::Markdown), item("CSV", ExportForm::Csv)];
    show(model, Layer::Picker(Picker::new("Export shown rows", items)))
}

/// Opens the queries of the check on the screen.
pub fn open_forms(model: &mut Model) -> Effects {
    let forms = model.check().map(|check| check.description.forms).unwrap_or_default();
    let (Some(subject), false) = (model.subject(), forms.is_empty()) else {
        return lists::refuse_prompt(model, "this check has no queries");
    };
    if forms.len() == 1 {
        return prompt_form(model, (*subject).clone(), 0);
    }
    let item = |(place, form): (usize, &trueup_checks::Form)| PickerItem {
        label: form.title.to_owned(),
        note: form.prompt.to_owned(),
        what: PickerWhat::Form(place),
    };
    let items = forms.iter().enumerate().map(item).collect();
    show(model, Layer::Picker(Picker::new("ask", items)))
}

/// Asks the check on the screen for its table of the fleet.
pub fn open_table(model: &mut Model) -> Effects {
    let Some(name) = model.check().map(|check| check.name) else { return Effects::default() };
    ask_table(model, name, None)
}

/// Asks a check for its table of the fleet, and where it takes a question, with what was typed.
pub fn ask_table(model: &mut Model, check: CheckName, typed: Option<String>) -> Effects {
    let ask = model.next_request();
    model.layer = Some(Layer::Table { ask, check, table: None, scroll: 0 });
    Effects::redraw().with(Task::FleetTable { ask, check, typed })
}

/// Opens the prompt for what the open table can be asked about.
pub fn prompt_table(model: &mut Model) -> Effects {
    let Some(Layer::Table { check, table: Some(table), .. }) = &model.layer else { return Effects::default() };
    let Some(question) = table.question else { return Effects::default() };
    let prompt = Prompt::new(PromptWhat::Table(*check), question, "");
    show(model, Layer::Prompt(prompt))
}

/// Shows the table, unless its layer was closed meanwhile.
pub fn take_table(model: &mut Model, answered: RequestId, found: Option<FleetTable>) {
    let Some(Layer::Table { ask, table, .. }) = &mut model.layer else { return };
    if *ask != answered {
        return;
    }
    match found {
        Some(found) => *table = Some(found),
        None => {
            model.layer = None;
            model.toasts.info("this check has no table of the fleet", model.now);
        }
    }
}

/// Executes the chosen item.
pub fn choose(model: &mut Model) -> Effects {
    let mut ticked: Vec<ClusterName> = Vec::new();
    let chosen = match &model.layer {
        Some(Layer::Palette(picker) | Layer::Picker(picker)) => {
            ticked.extend(picker.ticked().filter_map(|item| match &item.what {
                PickerWhat::Cluster(cluster) => Some(cluster.clone()),
                PickerWhat::Act(_)
                | PickerWhat::Theme(_)
                | PickerWhat::View(_)
                | PickerWhat::Export(_)
                | PickerWhat::Form(_)
                | PickerWhat::Sort(_)
                | PickerWhat::SortFleet(_)
                | PickerWhat::Reverse => None,
            }));
            picker.chosen().cloned()
        }
        Some(
            Layer::Help { .. }
            | Layer::Table { .. }
            | Layer::Prompt(_)
            | Layer::Approval(_)
            | Layer::Plugin(_)
            | Layer::Confirm(_)
            | Layer::Wall,
        )
        | None => None,
    };
    if !ticked.is_empty() {
        model.layer = None;
        return lists::show_clusters(model, &ticked);
    }
    let Some(item) = chosen else { return Effects::default() };
    model.layer = None;
    match item.what {
        PickerWhat::Act(action) => act::act(model, action),
        PickerWhat::Cluster(cluster) => go_to_cluster(model, &cluster),
        PickerWhat::Theme(theme) => {
            model.theme = theme;
            Effects::redraw()
        }
        PickerWhat::View(place) => go_to_view(model, place),
        PickerWhat::Export(form) => export::export(model, form),
        PickerWhat::Sort(column) => lists::sort_by(model, column),
        PickerWhat::SortFleet(column) => lists::sort_fleet(model, column),
        PickerWhat::Reverse => lists::reverse(model),
        PickerWhat::Form(place) => match model.subject() {
            Some(subject) => prompt_form(model, (*subject).clone(), place),
            None => Effects::redraw(),
        },
    }
}

/// Tries out the item at the cursor of a picker with a preview.
pub fn preview(model: &mut Model) {
    if let Some(Layer::Picker(picker)) = &model.layer
        && let Choice::Preview(_) = &picker.choice
        && let Some(PickerItem { what: PickerWhat::Theme(theme), .. }) = picker.chosen()
    {
        model.theme = theme.clone();
    }
}

/// The item with a letter, chosen by it.
pub fn choose_letter(model: &mut Model, letter: char) -> Effects {
    let Some(Layer::Picker(picker)) = &mut model.layer else { return Effects::default() };
    let Choice::Letters(letters) = &picker.choice else { return Effects::default() };
    match letters.iter().position(|one| *one == letter) {
        Some(place) => {
            picker.cursor = place;
            choose(model)
        }
        None => Effects::default(),
    }
}

/// The term of a filter that shows these clusters and no others.
pub fn cluster_term(model: &Model, names: &[ClusterName]) -> String {
    // A name also matches longer ones up to a separator, unless it is quoted.
    let needs_quotes = |name: &str| {
        let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.:/@".contains(letter));
        let is_longer = |other: &str| {
            let rest = other.strip_prefix(name);
            rest.and_then(|rest| rest.chars().next()).is_some_and(|next| !next.is_alphanumeric())
        };
        !is_plain || model.fleet.clusters().any(|cluster| is_longer(cluster.name.as_str()))
    };
    let value = |name: &ClusterName| match needs_quotes(name.as_str()) {
        true => format!("\"{}\"", name.as_str().replace('\\', "\\\\").replace('"', "\\\"")),
        false => name.to_string(),
    };
    format!("cluster:{}", names.iter().map(value).collect::<Vec<_>>().join(","))
}

/// Runs a check's query with the typed text.
pub fn run_form(model: &mut Model, subject: SubjectId, place: usize, typed: String) -> Effects {
    let form = model.check().and_then(|check| check.description.forms.get(place)).copied();
    let Some(form) = form else { return Effects::redraw() };
    let ask = model.next_request();
    model.detail.answer_ask = ask;
    model.detail.scroll = 0;
    model.detail.answer = Some((form.title, vec!["running".to_owned()]));
    Effects::redraw().with(Task::Answer { ask, form: form.name, typed, subject })
}

fn prompt_form(model: &mut Model, subject: SubjectId, place: usize) -> Effects {
    let forms = model.check().map(|check| check.description.forms).unwrap_or_default();
    let Some(form) = forms.get(place) else { return Effects::redraw() };
    let prompt = Prompt::new(PromptWhat::Form { subject, form: place }, form.prompt, "");
    show(model, Layer::Prompt(prompt))
}

/// How well a text fits the typed one: all words, each with its letters in order.
pub fn score(typed: &str, text: &str) -> Option<u32> {
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    pattern.score(Utf32Str::new(text, &mut Vec::new()), &mut matcher)
}

fn show(model: &mut Model, layer: Layer) -> Effects {
    model.layer = Some(layer);
    Effects::redraw()
}

/// Name of an action in the palette. Numbered ones are named by their check.
fn label(model: &Model, action: Action) -> String {
    let check = action.check_index().and_then(|place| model.checks.get(place));
    match check {
        Some(check) => format!("go to {}", check.description.title),
        None => action.message().trim_end_matches('.').to_owned(),
    }
}

fn clusters(model: &Model) -> Vec<PickerItem> {
    let item = |cluster: &trueup_core::world::Cluster| PickerItem {
        label: cluster.name.to_string(),
        note: format!("cluster, {}", cluster.class.as_str()),
        what: PickerWhat::Cluster(cluster.name.clone()),
    };
    model.fleet.clusters().map(item).collect()
}

fn views(model: &Model) -> Vec<PickerItem> {
    let item = |(place, view): (usize, &SavedView)| PickerItem {
        label: view.name.clone(),
        note: format!("view, {} {}", view.screen, view.filter).trim_end().to_owned(),
        what: PickerWhat::View(place),
    };
    model.views.iter().chain(&model.saved_views).enumerate().map(item).collect()
}

fn go_to_view(model: &mut Model, place: usize) -> Effects {
    let found = model.views.iter().chain(&model.saved_views).nth(place).cloned();
    let Some(SavedView { screen, filter, .. }) = found else { return Effects::redraw() };
    let Some(place) = model.screen_named(&screen) else {
        return say(model, &format!("check {screen} is disabled"));
    };
    act::go(model, place);
    layers::filter(model, &filter)
}

fn themes(model: &Model) -> Vec<PickerItem> {
    let item = |name: &String| PickerItem {
        label: name.clone(),
        note: if *name == model.theme { "theme, in use".to_owned() } else { "theme".to_owned() },
        what: PickerWhat::Theme(name.clone()),
    };
    model.themes.iter().map(item).collect()
}
