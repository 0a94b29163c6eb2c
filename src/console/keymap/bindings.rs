//! The keys that count, and what is read off them: what a key press means, hints, help and docs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Action, Group, Scope, Stroke};

/// Which keys do what in each scope. Made by `Keymap::default` and [`Keymap::with_user_file`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    scopes: BTreeMap<Scope, Vec<Binding>>,
}

/// Keys that are pressed one after the other, and what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binding {
    pub strokes: Vec<Stroke>,
    pub action: Action,
}

/// What the keys pressed so far mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    Act(Action),
    /// They begin something. What may follow, and what each would do: the lines of a which-key box.
    More(Vec<(String, &'static str)>),
    Nothing,
}

/// A line of help: an action in a scope, and the keys it has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub scope: Scope,
    pub action: Action,
    pub keys: Vec<String>,
}

/// Why two bindings can't be in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clash {
    pub with: Action,
    pub keys: String,
}

impl Keymap {
    pub(super) fn empty() -> Self {
        Self { scopes: BTreeMap::new() }
    }

    /// What the keys mean, the last one included. The scope's own keys go before the ones that count everywhere.
    pub fn resolve(&self, scope: Scope, pressed: &[Stroke]) -> Resolution {
        let mut follow: Vec<(String, &'static str)> = Vec::new();
        for layer in layers(scope) {
            for binding in self.in_scope(layer) {
                let Some(rest) = binding.strokes.strip_prefix(pressed) else { continue };
                let Some(next) = rest.first() else {
                    // What the scope itself begins with these keys hides a shorter binding that counts everywhere.
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

    /// The keys that do this here, in the order of the file.
    pub fn keys(&self, scope: Scope, action: Action) -> Vec<String> {
        let works = |binding: &&Binding| {
            binding.action == action && self.resolve(scope, &binding.strokes) == Resolution::Act(action)
        };
        let texts =
            |layer: Scope| self.in_scope(layer).iter().filter(works).map(|one| Stroke::sequence_text(&one.strokes));
        layers(scope).flat_map(texts).collect()
    }

    /// Every action that has keys, scope by scope, in the order of [`Action::ALL`].
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

    /// The page of the docs.
    pub fn docs_markdown(&self) -> String {
        let mut page = String::from(
            "# Keys\n\nA place's own keys go before the ones that work everywhere. Where text is typed (approval, palette, \
             filter, pickers), only the place's own keys count.\n",
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

    pub(super) fn in_scope(&self, scope: Scope) -> &[Binding] {
        self.scopes.get(&scope).map_or(&[], Vec::as_slice)
    }

    /// The binding of the scope that this one would take the keys from, or hide, or be hidden by.
    pub(super) fn clash(&self, scope: Scope, strokes: &[Stroke]) -> Option<Clash> {
        let overlaps = |one: &&Binding| one.strokes.starts_with(strokes) || strokes.starts_with(&one.strokes);
        let other = self.in_scope(scope).iter().find(overlaps)?;
        Some(Clash { with: other.action, keys: Stroke::sequence_text(&other.strokes) })
    }

    pub(super) fn bind(&mut self, scope: Scope, binding: Binding) {
        self.scopes.entry(scope).or_default().push(binding);
    }

    /// Takes an action's keys away, and says which they were.
    pub(super) fn unbind(&mut self, scope: Scope, action: Action) -> Vec<Binding> {
        self.scopes.entry(scope).or_default().extract_if(.., |binding| binding.action == action).collect()
    }
}

/// The scopes whose keys count in one, its own first.
fn layers(scope: Scope) -> impl Iterator<Item = Scope> {
    let inherits = scope != Scope::Global && !scope.takes_text();
    [Some(scope), inherits.then_some(Scope::Global)].into_iter().flatten()
}

fn docs_line(row: &KeyRow) -> String {
    let key = |text: &String| format!("`{}`", text.replace('|', "\\|"));
    let keys = row.keys.iter().map(key).collect::<Vec<_>>().join(", ");
    format!("| {keys} | `{}` | {} |\n", row.action.name(), row.action.says())
}
