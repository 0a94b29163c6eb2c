//! The difference of a finding, field by field: what is expected, and what is there now.
//!
//! Invariants: a value is never cut without a sign; colour only repeats the glyph before a field.

use unicode_width::UnicodeWidthStr as _;

use super::text::{Line, wrap, wrapped};
use crate::console::model::DiffMode;
use crate::console::theme::{Glyphs, Role};
use trueup_checks::comparison::{FieldComparison, Relation, compare, tree_lines};
use trueup_core::engine::{Explanation, State};

/// From this width expected and actual are side by side.
const BESIDE_FROM: usize = 56;
/// Widest column of field names.
const FIELD_MAX: usize = 34;
/// The row of the object itself.
const OBJECT: &str = "object";
/// Spaces between columns.
const GAP: &str = "  ";

/// Title and rows; nothing where no field is known.
pub fn section(
    state: State,
    explanation: &Explanation,
    mode: DiffMode,
    key: Option<&str>,
    width: usize,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let rows = compare(state, explanation);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![title(state, &rows, mode, key, glyphs)];
    match mode {
        DiffMode::Text => lines.extend(both_sides(explanation, width, glyphs)),
        DiffMode::Differing => {
            let rows: Vec<&FieldComparison> = rows.iter().filter(|row| row.relation.is_difference()).collect();
            lines.extend(table(&rows, width, glyphs));
        }
        DiffMode::All => lines.extend(table(&rows.iter().collect::<Vec<_>>(), width, glyphs)),
    }
    lines
}

/// `DIFF  1 of 6 fields differs · d: all fields`
fn title(state: State, rows: &[FieldComparison], mode: DiffMode, key: Option<&str>, glyphs: &Glyphs) -> Line {
    let differing = rows.iter().filter(|row| row.relation.is_difference()).count();
    let total = rows.len();
    let object = rows.iter().find(|row| row.path == OBJECT).map(|row| row.relation);
    let said = match object {
        Some(Relation::Extra) => "expected: absent".to_owned(),
        Some(Relation::Missing) => "expected: present".to_owned(),
        Some(Relation::Same | Relation::Differs | Relation::NotCompared) | None => match differing {
            0 if state == State::Match => format!("no difference in {total} fields"),
            0 => format!("{total} fields, none compared or different"),
            1 => format!("1 of {total} fields differs"),
            many => format!("{many} of {total} fields differ"),
        },
    };
    let line = Line::of("DIFF", Role::Header).and(format!("{GAP}{said}"), Role::Text);
    let next = mode.next().message();
    match key {
        Some(key) => line.and(format!(" {} {key}: {next}", glyphs.separator), Role::Muted),
        None => line,
    }
}

fn sign(relation: Relation, glyphs: &Glyphs) -> (&'static str, Role) {
    match relation {
        Relation::Same => (glyphs.state(State::Match), Role::Muted),
        Relation::Differs => (glyphs.state(State::Drift), Role::Drift),
        Relation::Missing => (glyphs.state(State::Missing), Role::Missing),
        Relation::Extra => (glyphs.state(State::Extra), Role::Extra),
        Relation::NotCompared => (glyphs.nothing, Role::Muted),
    }
}

/// The rows in columns where they fit, else one below the other. The object's own row is in the title.
fn table(rows: &[&FieldComparison], width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let rows: Vec<&FieldComparison> = rows.iter().filter(|row| row.path != OBJECT).copied().collect();
    // One side only: the other has nothing to show.
    let is_one_sided = rows.iter().all(|row| row.expected.is_none()) || rows.iter().all(|row| row.actual.is_none());
    let name = rows.iter().map(|row| row.path.width()).max().unwrap_or(0).clamp(5, FIELD_MAX);
    if is_one_sided {
        return rows.iter().flat_map(|row| one_side(row, width, glyphs)).collect();
    }
    if width < BESIDE_FROM {
        return rows.iter().flat_map(|row| stacked(row, width, glyphs)).collect();
    }
    let side = (width - 2 - name - 2 * GAP.len()) / 2;
    let widest = rows.iter().filter_map(|row| row.expected.as_ref()).map(|text| text.width()).max().unwrap_or(0);
    // A short expected side leaves its space to the other.
    let left = side.min(widest.max("EXPECTED".len()));
    let right = width - 2 - name - 2 * GAP.len() - left;
    let header = format!("  {}{GAP}{}{GAP}NOW", padded("FIELD", name), padded("EXPECTED", left));
    let body = rows.iter().flat_map(|row| beside(row, [name, left, right], glyphs));
    [Line::of(header, Role::Header)].into_iter().chain(body).collect()
}

/// What a row says of what is there.
fn now(row: &FieldComparison) -> String {
    match (&row.actual, row.relation) {
        (Some(_), Relation::Same) => "same".to_owned(),
        (Some(text), Relation::Differs | Relation::Missing | Relation::Extra | Relation::NotCompared) => text.clone(),
        (None, _) => "absent".to_owned(),
    }
}

fn wanted(row: &FieldComparison) -> String {
    match (&row.expected, row.relation) {
        (Some(text), _) => text.clone(),
        (None, Relation::NotCompared) => "-".to_owned(),
        (None, Relation::Same | Relation::Differs | Relation::Missing | Relation::Extra) => "absent".to_owned(),
    }
}

fn beside(row: &FieldComparison, [name, left, right]: [usize; 3], glyphs: &Glyphs) -> Vec<Line> {
    let (glyph, role) = sign(row.relation, glyphs);
    let columns = [wrap(&row.path, name, 1), wrap(&wanted(row), left, 0), wrap(&now(row), right, 0)];
    let height = columns.iter().map(Vec::len).max().unwrap_or(1);
    let text_role = if row.relation.is_difference() { Role::Text } else { Role::Muted };
    let line = |place: usize| {
        let cell = |column: usize| columns[column].get(place).map(String::as_str).unwrap_or_default();
        Line::of(format!("{} ", if place == 0 { glyph } else { " " }), role)
            .and(format!("{}{GAP}", padded(cell(0), name)), text_role)
            .and(format!("{}{GAP}", padded(cell(1), left)), text_role)
            .and(cell(2), role)
    };
    (0..height).map(line).collect()
}

fn stacked(row: &FieldComparison, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let (glyph, role) = sign(row.relation, glyphs);
    let mut lines = wrapped(&format!("{glyph} {}", row.path), width, 2, role);
    match row.relation {
        Relation::Same | Relation::NotCompared => {
            let text = row.actual.as_ref().or(row.expected.as_ref()).cloned().unwrap_or_default();
            lines.extend(wrapped(&format!("    {text}"), width, 4, Role::Muted));
        }
        Relation::Differs | Relation::Missing | Relation::Extra => {
            lines.extend(wrapped(&format!("    expected  {}", wanted(row)), width, 14, Role::Text));
            lines.extend(wrapped(&format!("    now       {}", now(row)), width, 14, role));
        }
    }
    lines
}

/// `− clientSecret  <40 bytes>`
fn one_side(row: &FieldComparison, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let (glyph, role) = sign(row.relation, glyphs);
    let text = row.actual.as_ref().or(row.expected.as_ref()).cloned().unwrap_or_default();
    wrapped(&format!("{glyph} {}{GAP}{text}", row.path), width, 4, role)
}

/// Both trees as text.
fn both_sides(explanation: &Explanation, width: usize, glyphs: &Glyphs) -> Vec<Line> {
    let (left, right) = (tree_lines(&explanation.expected), tree_lines(&explanation.actual));
    // With one side empty, the other uses the full width.
    if width < BESIDE_FROM || left.is_empty() || right.is_empty() {
        return [one_tree("EXPECTED", &left, width), one_tree("NOW", &right, width)].concat();
    }
    let divider = format!(" {} ", glyphs.divider);
    let half = (width - 3) / 2;
    let (left, right) = (folded(&left, half), folded(&right, half));
    let mut lines = vec![
        Line::of(padded("EXPECTED", half), Role::Header).and(divider.as_str(), Role::Border).and("NOW", Role::Header),
    ];
    for place in 0..left.len().max(right.len()) {
        let one = left.get(place).map(String::as_str).unwrap_or_default();
        let other = right.get(place).map(String::as_str).unwrap_or_default();
        let is_same = other.is_empty() || left.iter().any(|line| line == other);
        let role = if is_same { Role::Text } else { Role::Drift };
        lines.push(Line::of(padded(one, half), Role::Text).and(divider.as_str(), Role::Border).and(other, role));
    }
    lines
}

fn one_tree(title: &str, tree: &[String], width: usize) -> Vec<Line> {
    if tree.is_empty() {
        return vec![Line::of(title, Role::Header).and(" nothing", Role::Text)];
    }
    let body = folded(tree, width).into_iter().map(|text| Line::of(text, Role::Text));
    [Line::of(title, Role::Header)].into_iter().chain(body).collect()
}

fn folded(tree: &[String], width: usize) -> Vec<String> {
    tree.iter().flat_map(|line| wrap(line, width, line.len() - line.trim_start().len() + 2)).collect()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}
