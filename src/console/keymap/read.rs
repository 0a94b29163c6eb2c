//! Key files: the built-in one, and the user's on top of it.

use std::fmt;

use toml::Spanned;

use super::bindings::{Binding, Clash, Keymap};
use super::{Action, Scope, Stroke};
use trueup_checks::{SettingsProblem, SettingsTable};

/// The built-in file, as printed by `trueup keys`.
pub const DEFAULT_KEYS: &str = include_str!("default.toml");

/// An invalid line of a key file. The line is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeymapProblem {
    /// Line number, counted from 1.
    pub line: usize,
    pub message: String,
}

/// A line of a key file: an action and its keys.
struct Line {
    scope: Scope,
    action: Action,
    keys: Vec<Spanned<Vec<Stroke>>>,
}

impl Default for Keymap {
    /// The built-in keys.
    fn default() -> Self {
        let (keymap, problems) = Self::empty().with_file(DEFAULT_KEYS);
        assert!(problems.is_empty(), "the built-in keys are valid: {problems:?}");
        keymap
    }
}

impl serde::Serialize for Keymap {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.file_text())
    }
}

impl<'de> serde::Deserialize<'de> for Keymap {
    /// Takes a whole keymap. Lines that are not valid are left out, as in the user's file.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        Ok(Self::empty().with_file(&text).0)
    }
}

impl Keymap {
    /// Applies the user's file to the built-in keys, and returns its problems.
    pub fn with_user_file(text: &str) -> (Self, Vec<KeymapProblem>) {
        Self::default().with_file(text)
    }

    fn with_file(mut self, text: &str) -> (Self, Vec<KeymapProblem>) {
        let mut problems = Vec::new();
        let lines = lines(text, &mut problems);
        // First remove the old keys of every action in the file, so that two actions can swap theirs.
        let had: Vec<Vec<Binding>> = lines.iter().map(|line| self.unbind(line.scope, line.action)).collect();
        let mut refused = Vec::new();
        for (line, had) in lines.into_iter().zip(had) {
            let scope = line.scope;
            if let Err(problem) = self.give(line) {
                problems.push(problem);
                refused.push((scope, had));
            }
        }
        // An ignored line changes nothing, except for keys that another line has taken.
        for (scope, had) in refused {
            for binding in had {
                if self.clash(scope, &binding.strokes).is_none() {
                    self.bind(scope, binding);
                }
            }
        }
        problems.sort_by_key(|problem| problem.span.start);
        let problems = problems.into_iter().map(|problem| on_line(problem, text)).collect();
        (self, problems)
    }

    /// Binds all keys of a line, or none.
    fn give(&mut self, line: Line) -> Result<(), SettingsProblem> {
        let Line { scope, action, keys } = line;
        for key in keys {
            let at = key.span();
            let strokes = key.into_inner();
            let refusal = if scope.takes_text() && strokes.first().is_some_and(Stroke::types) {
                Some(typed(scope, &strokes))
            } else {
                self.clash(scope, &strokes).map(|clash| taken(action, &strokes, &clash))
            };
            if let Some(message) = refusal {
                self.unbind(scope, action);
                return Err(SettingsProblem::at(at, message));
            }
            self.bind(scope, Binding { strokes, action });
        }
        Ok(())
    }
}

/// Every readable line, in file order: the first line gets a key.
fn lines(text: &str, problems: &mut Vec<SettingsProblem>) -> Vec<Line> {
    let root = match SettingsTable::parse("the key file", text) {
        Ok(root) => root,
        Err(broken) => {
            problems.extend(broken);
            return Vec::new();
        }
    };
    let actions: Vec<&str> = Action::ALL.iter().map(|action| action.name()).collect();
    problems.extend(unknown(&root, "place for keys", &Scope::ALL.map(Scope::name)));
    let mut lines = Vec::new();
    for scope in Scope::ALL {
        let table = match root.take_table(scope.name()) {
            Ok(Some(table)) => table,
            Ok(None) => continue,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        problems.extend(unknown(table, "action", &actions));
        for name in table.keys() {
            let Some(action) = Action::from_name(name.get_ref()) else { continue };
            match keys(table, action) {
                Ok(keys) => lines.push((name.span().start, Line { scope, action, keys })),
                Err(problem) => problems.push(problem),
            }
        }
    }
    lines.sort_by_key(|(place, _)| *place);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// A problem for each unknown name.
fn unknown(table: &SettingsTable, what: &str, known: &[&str]) -> Vec<SettingsProblem> {
    let strange = table.keys().filter(|name| !known.contains(name.get_ref()));
    strange.map(|name| SettingsProblem::unknown(&name, what, known)).collect()
}

/// The keys of one line: `"q"` or `["q", "ctrl-c"]`.
fn keys(table: &SettingsTable, action: Action) -> Result<Vec<Spanned<Vec<Stroke>>>, SettingsProblem> {
    let texts = match table.take_str(action.name()) {
        Ok(Some(text)) => vec![text],
        Ok(None) | Err(_) => table.take_strings(action.name())?.unwrap_or_default(),
    };
    let read = |text: Spanned<&str>| match Stroke::parse_sequence(text.get_ref()) {
        Ok(strokes) => Ok(Spanned::new(text.span(), strokes)),
        Err(bad) => Err(bad.as_problem(text.span())),
    };
    texts.into_iter().map(read).collect()
}

fn typed(scope: Scope, strokes: &[Stroke]) -> String {
    let keys = Stroke::sequence_text(strokes);
    format!("[{}] is a text field, so `{keys}` would be typed; use ctrl, alt or a key like f2", scope.name())
}

fn taken(action: Action, strokes: &[Stroke], clash: &Clash) -> String {
    let (wanted, wants, has) = (Stroke::sequence_text(strokes), action.name(), clash.with.name());
    let Clash { keys: found, .. } = clash;
    if clash.with == action {
        return format!("`{wanted}` conflicts with `{found}`, another key of `{wants}`");
    }
    let way_out = format!("bind `{has}` to other keys, or remove them: {has} = []");
    if wanted == *found {
        format!("`{wanted}` is already bound to `{has}` and cannot be used for `{wants}`; {way_out}")
    } else {
        format!("`{wanted}` conflicts with `{found}`, the key of `{has}`; {way_out}")
    }
}

fn on_line(problem: SettingsProblem, text: &str) -> KeymapProblem {
    let before = &text.as_bytes()[..problem.span.start.min(text.len())];
    KeymapProblem { line: before.iter().filter(|byte| **byte == b'\n').count() + 1, message: problem.message }
}

impl fmt::Display for KeymapProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}
