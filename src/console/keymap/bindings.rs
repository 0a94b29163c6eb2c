//! Active key bindings, and the hints, help and docs derived from them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Action, Group, Scope, Stroke};

/// Bindings per scope. Built by `Keymap::default` and [`Keymap::with_user_file`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    scopes: BTreeMap<Scope, Vec<Binding>>,
}

/// A sequence of keys and its action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binding {
    pub strokes: Vec<Stroke>,
    pub action: Action,
}

/// Result of the keys pressed so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    Act(Action),
    /// A prefix of longer sequences: next keys and their actions, as in a which-key box.
    More(Vec<(String, &'static str)>),
    Nothing,
}

/// A line of help: an action in a scope, and its keys there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub scope: Scope,
    pub action: Action,
    pub keys: Vec<String>,
}

/// Why two bindings cannot be in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clash {
    pub with: Action,
    pub keys: String,
}

impl Keymap {
    pub(super) fn empty() -> Self {
        Self { scopes: BTreeMap::new() }
    }

    /// Resolves the pressed keys, the last one included. The scope's own keys take precedence over global ones.
    pub fn resolve(&self, scope: Scope, pressed: &[Stroke]) -> Resolution {
        let mut follow: Vec<(String, &'static str)> = Vec::new();
        for layer in layers(scope) {
            for binding in self.in_scope(layer) {
                let Some(rest) = binding.strokes.strip_prefix(pressed) else { continue };
                let Some(next) = rest.first() else {
                    // A longer sequence of the scope itself hides a shorter global binding.
                    if follow.is_empty() {
                        return Resolution::Act(binding.action);
                    }
                    continue;
                };
                let next = next.to_string();
                if follow.iter().all(|(key, _)| *key != next) {
                    follow.push((next, binding.action.short()));
                }
            }
        }
        if follow.is_empty() { Resolution::Nothing } else { Resolution::More(follow) }
    }

    /// Returns the keys of an action in a scope, in file order.
    pub fn keys(&self, scope: Scope, action: Action) -> Vec<String> {
        let works = |binding: &&Binding| {
            binding.action == action && self.resolve(scope, &binding.strokes) == Resolution::Act(action)
        };
        let texts =
            |layer: Scope| self.in_scope(layer).iter().filter(works).map(|one| Stroke::sequence_text(&one.strokes));
        layers(scope).flat_map(texts).collect()
    }

    /// Returns the key that a sentence names: the action's first key in the scope, else in any scope, else its name.
    pub fn key_name(&self, scope: Scope, action: Action) -> String {
        let scopes = [scope].into_iter().chain(Scope::ALL);
        scopes.flat_map(|scope| self.keys(scope, action)).next().unwrap_or_else(|| action.name().to_owned())
    }

    /// Returns every action with keys, scope by scope, in the order of [`Action::ALL`].
    pub fn table(&self) -> Vec<KeyRow> {
        let row = |scope: Scope, action: Action| {
            let own = self.in_scope(scope).iter().filter(|binding| binding.action == action);
            let keys: Vec<String> = own.map(|binding| Stroke::sequence_text(&binding.strokes)).collect();
            (!keys.is_empty()).then_some(KeyRow { scope, action, keys })
        };
        Scope::ALL
            .into_iter()
            .flat_map(|scope| Action::ALL.iter().filter_map(move |action| row(scope, *action)))
            .collect()
    }

    /// Renders the docs page.
    pub fn docs_markdown(&self) -> String {
        let mut page = String::from(
            "# Keys\n\nThe keys of a scope take precedence over global keys. In text fields (approval, palette, filter, pickers) \
             only the keys of the scope apply.\n",
        );
        let table = self.table();
        for scope in Scope::ALL {
            let rows: Vec<&KeyRow> = table.iter().filter(|row| row.scope == scope).collect();
            if rows.is_empty() {
                continue;
            }
            write!(page, "\n## {} (`[{}]`)\n", scope.title(), scope.name()).expect("writing to a string does not fail");
            for group in Group::ALL {
                let of_group = rows.iter().filter(|row| row.action.group() == group);
                let lines: String = of_group.map(|row| docs_line(row)).collect();
                if !lines.is_empty() {
                    let title = group.title();
                    write!(page, "\n| {title} | | |\n| --- | --- | --- |\n{lines}")
                        .expect("writing to a string does not fail");
                }
            }
        }
        page
    }

    /// The bindings as a key file. Read on top of an empty keymap, it gives the same keymap.
    pub fn file_text(&self) -> String {
        let mut file = String::new();
        for scope in Scope::ALL {
            let mut actions: Vec<Action> = Vec::new();
            for binding in self.in_scope(scope) {
                if !actions.contains(&binding.action) {
                    actions.push(binding.action);
                }
            }
            if actions.is_empty() {
                continue;
            }
            writeln!(file, "[{}]", scope.name()).expect("writing to a string does not fail");
            for action in actions {
                let own = self.in_scope(scope).iter().filter(|binding| binding.action == action);
                let keys: Vec<String> = own.map(|binding| Stroke::sequence_text(&binding.strokes)).collect();
                // Texts of keys are quoted as in JSON.
                writeln!(file, "{} = {}", action.name(), serde_json::Value::from(keys))
                    .expect("writing to a string does not fail");
            }
        }
        file
    }

    pub(super) fn in_scope(&self, scope: Scope) -> &[Binding] {
        self.scopes.get(&scope).map_or(&[], Vec::as_slice)
    }

    /// Returns the binding of the scope that conflicts with these keys.
    pub(super) fn clash(&self, scope: Scope, strokes: &[Stroke]) -> Option<Clash> {
        let overlaps = |one: &&Binding| one.strokes.starts_with(strokes) || strokes.starts_with(&one.strokes);
        let other = self.in_scope(scope).iter().find(overlaps)?;
        Some(Clash { with: other.action, keys: Stroke::sequence_text(&other.strokes) })
    }

    pub(super) fn bind(&mut self, scope: Scope, binding: Binding) {
        self.scopes.entry(scope).or_default().push(binding);
    }

    /// Removes an action's keys and returns them.
    pub(super) fn unbind(&mut self, scope: Scope, action: Action) -> Vec<Binding> {
        self.scopes.entry(scope).or_default().extract_if(.., |binding| binding.action == action).collect()
    }
}

/// The scopes whose keys apply in a scope, its own first.
fn layers(scope: Scope) -> impl Iterator<Item = Scope> {
    let inherits = scope != Scope::Global && !scope.takes_text();
    [Some(scope), inherits.then_some(Scope::Global)].into_iter().flatten()
}

fn docs_line(row: &KeyRow) -> String {
    let key = |text: &String| format!("`{}`", text.replace('|', "\\|"));
    let keys = row.keys.iter().map(key).collect::<Vec<_>>().join(", ");
    format!("| {keys} | `{}` | {} |\n", row.action.name(), row.action.message())
}
