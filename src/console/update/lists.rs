//! What the rows of a list are: sorting, rows that match, saved views, and marks that the filter hides.
//!
//! Elsewhere: cursor and marks (`moving`); the filter prompt and pickers (`layers`, `palette`).

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::act::say;
use super::{layers, palette, repair};
use crate::console::effect::Effects;
use crate::console::keymap::Action;
use crate::console::model::{
    CheckColumn, Choice, FleetColumn, Layer, LeftOut, Matches, Model, Picker, PickerItem, PickerWhat, Prompt,
    PromptWhat, SavedView, ScreenId,
};
use crate::console::table::Direction;
use crate::console::task::PlanTarget;
use crate::console::view;
use trueup_core::engine::SubjectId;

/// How long letters are ignored after a prompt was refused: the user is still typing into it.
const REFUSED: SignedDuration = SignedDuration::from_secs(1);

/// Says why no prompt opens, and ignores the letters that are typed into it.
pub fn refuse_prompt(model: &mut Model, why: &str) -> Effects {
    model.refused_until = model.now.checked_add(REFUSED).ok();
    say(model, why)
}

/// Opens the picker of the columns that sort the list.
pub fn open_sort(model: &mut Model) -> Effects {
    if model.screen() == ScreenId::Fleet {
        return open_fleet_sort(model);
    }
    let ScreenId::Check(place) = model.screen() else {
        return say(model, "this list cannot be sorted");
    };
    let Some(check) = model.checks.get(place) else { return Effects::default() };
    let sorted = check.sorted_by();
    let mut items = Vec::new();
    let mut letters = Vec::new();
    for column in view::check_columns_shown(model) {
        let label = if column == CheckColumn::State {
            "state, worst first".to_owned()
        } else {
            column.title(&check.description).to_lowercase()
        };
        let note = match sorted {
            Some((by, Direction::Ascending)) if by == column => "ascending",
            Some((by, Direction::Descending)) if by == column => "descending",
            Some(_) | None => "",
        };
        letters.push(letter_for(&label, &letters));
        items.push(PickerItem { label, note: note.to_owned(), what: PickerWhat::Sort(column) });
    }
    letters.push('-');
    items.push(PickerItem { label: "reverse".to_owned(), note: String::new(), what: PickerWhat::Reverse });
    let picker = Picker { choice: Choice::Letters(letters), ..Picker::new("Sort by", items) };
    model.layer = Some(Layer::Picker(picker));
    Effects::redraw()
}

fn open_fleet_sort(model: &mut Model) -> Effects {
    let (sorted, direction) = (model.fleet.sort(), model.fleet.order.direction());
    let (mut items, mut letters) = (Vec::new(), Vec::new());
    for column in FleetColumn::ALL {
        let label = column.title().to_lowercase();
        let note = match (sorted == column, direction) {
            (false, _) => "",
            (true, Direction::Ascending) => "ascending",
            (true, Direction::Descending) => "descending",
        };
        letters.push(letter_for(&label, &letters));
        items.push(PickerItem { label, note: note.to_owned(), what: PickerWhat::SortFleet(column) });
    }
    letters.push('-');
    items.push(PickerItem { label: "reverse".to_owned(), note: String::new(), what: PickerWhat::Reverse });
    let picker = Picker { choice: Choice::Letters(letters), ..Picker::new("Sort by", items) };
    model.layer = Some(Layer::Picker(picker));
    Effects::redraw()
}

/// Sorts the fleet by a column.
pub fn sort_fleet(model: &mut Model, column: FleetColumn) -> Effects {
    model.fleet.sort_by(column, Direction::Ascending);
    Effects::redraw()
}

/// The first letter of the label that no other column has; else any.
fn letter_for(label: &str, taken: &[char]) -> char {
    let own = label.chars().filter(char::is_ascii_lowercase);
    own.chain('a'..='z').find(|letter| !taken.contains(letter)).unwrap_or('?')
}

/// Sorts the list on the screen by a column.
pub fn sort_by(model: &mut Model, column: CheckColumn) -> Effects {
    sort(model, |_, _| (column, Direction::Ascending))
}

/// Sorts by a column; by the sorted column, reverses the order.
pub fn sort_or_reverse(model: &mut Model, column: CheckColumn) -> Effects {
    sort(model, |sorted, direction| {
        (column, if sorted == column { direction.reversed() } else { Direction::Ascending })
    })
}

pub fn reverse(model: &mut Model) -> Effects {
    if model.screen() == ScreenId::Fleet {
        let (sorted, direction) = (model.fleet.sort(), model.fleet.order.direction());
        model.fleet.sort_by(sorted, direction.reversed());
        return Effects::redraw();
    }
    sort(model, |sorted, direction| (sorted, direction.reversed()))
}

fn sort(model: &mut Model, by: impl Fn(CheckColumn, Direction) -> (CheckColumn, Direction)) -> Effects {
    let ScreenId::Check(place) = model.screen() else {
        return say(model, "this list cannot be sorted");
    };
    let now = model.now;
    let Model { checks, findings, fleet, .. } = model;
    let Some(check) = checks.get_mut(place) else { return Effects::default() };
    let (column, direction) = by(check.sort, check.order.direction());
    check.sort_by(column, direction, (findings, fleet), now);
    Effects::redraw()
}

/// Shows or hides the rows that match what is expected.
pub fn toggle_matches(model: &mut Model) -> Effects {
    if model.screen() == ScreenId::Fleet {
        model.fleet.toggle_expected(model.now);
        return Effects::redraw();
    }
    let ScreenId::Check(place) = model.screen() else {
        return say(model, "no rows are hidden here");
    };
    let now = model.now;
    let Model { checks, fleet, .. } = model;
    let Some(check) = checks.get_mut(place) else { return Effects::default() };
    let matches = match check.matches {
        Matches::Hidden => Matches::Shown,
        Matches::Shown => Matches::Hidden,
    };
    check.show_matches(matches, |id| fleet.class_of(&id.cluster), now);
    Effects::redraw()
}

/// Groups the findings by cause, or lists them one by one.
pub fn toggle_grouping(model: &mut Model) -> Effects {
    let ScreenId::Check(place) = model.screen() else {
        return say(model, "this list has no groups");
    };
    let now = model.now;
    let Model { checks, findings, fleet, .. } = model;
    if let Some(check) = checks.get_mut(place) {
        check.toggle_grouping(findings, fleet, now);
    }
    Effects::redraw()
}

/// Opens or closes the group at the cursor, if there is one.
pub fn toggle_group(model: &mut Model) -> Option<Effects> {
    let ScreenId::Check(place) = model.screen() else { return None };
    let now = model.now;
    let Model { checks, fleet, .. } = model;
    let check = checks.get_mut(place)?;
    check.list.hold(&check.order);
    let head = check.list.cursor().filter(|id| check.grouped().is_head(id))?.clone();
    check.toggle_group(&head, fleet, now);
    Some(Effects::redraw())
}

/// Asks for the name of a view with the screen and filter of now.
pub fn open_save_view(model: &mut Model) -> Effects {
    match model.screen() {
        ScreenId::Fleet | ScreenId::Check(_) => {
            model.layer = Some(Layer::Prompt(Prompt::new(PromptWhat::SaveView, "Save this filter as view:", "")));
            Effects::redraw()
        }
        ScreenId::Plan
        | ScreenId::Activity
        | ScreenId::Object
        | ScreenId::Logs
        | ScreenId::Expiry
        | ScreenId::Timeline => refuse_prompt(model, "no list to save as a view"),
    }
}

/// Saves the view, in place of an earlier one of this name.
pub fn save_view(model: &mut Model, name: String) -> Effects {
    if name.is_empty() {
        return say(model, "no view saved: it has no name");
    }
    if model.views.iter().any(|view| view.name == name) {
        return say(model, &format!("no view saved: the config has a view {name}"));
    }
    let (screen, filter) = match model.check() {
        Some(check) => (check.name.0.to_owned(), check.filter_text.clone()),
        None => ("fleet".to_owned(), model.fleet.filter_text.clone()),
    };
    model.saved_views.retain(|view| view.name != name);
    let text = format!("view {name} saved; {}: choose a view", model.screen_key(Action::Views));
    model.saved_views.push(SavedView { name, screen, filter });
    say(model, &text)
}

/// The subjects a plan is for: the marked rows that are shown, else the row at the cursor.
pub enum Marked {
    Chosen {
        subjects: BTreeSet<SubjectId>,
        left_out: Option<LeftOut>,
    },
    /// Every marked row is hidden: nothing is chosen.
    AllHidden(usize),
}

pub fn marked(model: &mut Model) -> Option<Marked> {
    let check = model.check_mut()?;
    check.list.hold(&check.order);
    let marks = check.list.marks();
    let marks = match marks.is_empty() {
        true => check.without_heads(check.list.cursor().into_iter()),
        false => check.without_heads(marks.iter()),
    };
    let (shown, hidden): (Vec<_>, Vec<_>) = marks.iter().partition(|id| check.is_shown(id));
    if shown.is_empty() {
        return Some(Marked::AllHidden(hidden.len()));
    }
    let subjects: BTreeSet<SubjectId> = shown.into_iter().map(|id| (**id).clone()).collect();
    let left_out = (!hidden.is_empty()).then(|| {
        let all = marks.iter().map(|id| (**id).clone()).collect();
        LeftOut { hidden: hidden.len(), all }
    });
    Some(Marked::Chosen { subjects, left_out })
}

/// Plans again with the marks that the filter hid.
pub fn include_left_out(model: &mut Model) -> Option<Effects> {
    let LeftOut { hidden: _, all } = model.left_out.take()?;
    Some(repair::request_plan(model, PlanTarget::Subjects(all)))
}

/// Filters the list to these clusters: that of the check on the screen, else of the check with most findings of the first.
pub fn show_clusters(model: &mut Model, names: &[trueup_core::world::ClusterName]) -> Effects {
    let Some(first) = names.first() else { return Effects::redraw() };
    let mut effects = Effects::default();
    if model.check().is_none() {
        effects = super::act::go_to_cluster(model, first);
    }
    let text = palette::cluster_term(model, names);
    layers::filter(model, &text);
    Effects { redraw: true, ..effects }
}
