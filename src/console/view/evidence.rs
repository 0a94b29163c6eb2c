//! Evidence, grouped by the object it was read from: each object once, each field once.
//!
//! Invariants: every line of evidence that says something new is shown; advice is not evidence.

use unicode_width::UnicodeWidthStr as _;

use super::text::{Line, wrapped};
use crate::console::model::Model;
use crate::console::theme::Role;
use trueup_core::engine::{Evidence, SubjectId};

/// Widest column of fields; a longer field has its own line.
const FIELD_MAX: usize = 26;

/// The evidence about one object.
struct Source<'e> {
    object: &'e str,
    version: &'e str,
    lines: Vec<&'e Evidence>,
}

pub fn section(model: &Model, subject: &SubjectId, evidence: &[Evidence], width: usize) -> Vec<Line> {
    let mut lines = vec![Line::of("EVIDENCE", Role::Header)];
    let sources = grouped(evidence);
    if sources.is_empty() {
        lines.push(Line::of("None besides the list itself.", Role::Muted));
    }
    for source in &sources {
        lines.extend(wrapped(&format!(" {}", heading(model, subject, source)), width, 3, Role::Muted));
        lines.extend(facts(source, width));
    }
    lines
}

/// In the order in which the objects are first named, without repeated lines.
fn grouped(evidence: &[Evidence]) -> Vec<Source<'_>> {
    let mut sources: Vec<Source<'_>> = Vec::new();
    for line in evidence.iter().filter(|line| !line.is_advice()) {
        let place = sources.iter().position(|source| source.object == line.object).unwrap_or_else(|| {
            sources.push(Source { object: &line.object, version: "", lines: Vec::new() });
            sources.len() - 1
        });
        let source = &mut sources[place];
        if source.version.is_empty() {
            source.version = &line.resource_version;
        }
        let is_new = source.lines.iter().all(|one| (&one.message, &one.field) != (&line.message, &line.field));
        if is_new {
            source.lines.push(line);
        }
    }
    sources
}

/// `HostedControlPlane clusters-a/a (mgmt, rv 151)`, `This Secret (rv 45)`
fn heading(model: &Model, subject: &SubjectId, source: &Source<'_>) -> String {
    let version = (!source.version.is_empty()).then(|| format!("rv {}", source.version));
    let noted = |name: &str, cluster: Option<&str>| {
        let notes: Vec<String> = cluster.map(str::to_owned).into_iter().chain(version.clone()).collect();
        if notes.is_empty() { name.to_owned() } else { format!("{name} ({})", notes.join(", ")) }
    };
    let Some((cluster, object)) = source.object.split_once(' ') else { return noted(source.object, None) };
    if !model.fleet.clusters().any(|one| one.name.as_str() == cluster) {
        return noted(source.object, None);
    }
    let place = subject.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    let own = format!("{} {place}{}", subject.kind, subject.object_name());
    if cluster == subject.cluster.as_str() && object == own {
        return noted(&format!("This {}", subject.kind), None);
    }
    noted(object, Some(cluster))
}

/// One fact a line, behind its field. A field that several facts are about is named once.
fn facts(source: &Source<'_>, width: usize) -> Vec<Line> {
    let lengths = source.lines.iter().map(|line| line.field.width());
    let column = lengths.filter(|length| *length <= FIELD_MAX).max().unwrap_or(0);
    let mut before: Option<&str> = None;
    let mut lines = Vec::new();
    for line in &source.lines {
        let field = if before == Some(line.field.as_str()) { "" } else { line.field.as_str() };
        before = Some(&line.field);
        let is_long = field.width() > FIELD_MAX;
        if is_long {
            lines.extend(wrapped(&format!("   {field}"), width, 5, Role::Text));
        }
        let label = if is_long { "" } else { field };
        let (column, gap) = if is_long { (2, "") } else { (column, if column == 0 { "" } else { "  " }) };
        let text = format!("   {label}{}{gap}{}", " ".repeat(column.saturating_sub(label.width())), line.message);
        lines.extend(wrapped(&text, width, (3 + column + gap.len()).min(width / 2), Role::Text));
    }
    lines
}
