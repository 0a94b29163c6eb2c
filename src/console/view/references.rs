//! References of an object, and the log of its operator: tabs of the object screen.
//!
//! Invariants: what could not be read is shown as unknown, never as absent.

use super::text::{Line, wrapped};
use crate::console::model::{Loaded, Model, ObjectTab, ObjectView};
use crate::console::task::{FieldManager, ObjectMetadata, ReferenceSheet};
use crate::console::theme::{Glyphs, Role};
use trueup_checks::{RelatedObject, Relation, RelationStanding, Relations};
use trueup_core::engine::State;
use trueup_core::world::Writer;

/// From this width a relation is one line.
const WIDE_FROM: usize = 100;

/// The text of the references tab, and the line of each reference.
pub struct ReferenceText {
    pub lines: Vec<Line>,
    /// Where each reference that can be opened begins.
    pub starts: Vec<usize>,
}

/// The text of a tab; nothing while it is being read.
pub fn lines(model: &Model, view: &ObjectView, width: usize) -> Option<Vec<Line>> {
    let glyphs = Glyphs::of(model.signs);
    match view.tab {
        ObjectTab::References => match &view.references {
            Loaded::NotAsked | Loaded::Asked(_) => None,
            Loaded::Answered(Err(why)) => Some(wrapped(why, width, 0, Role::Error)),
            Loaded::Answered(Ok(sheet)) => Some(text(model, view, sheet, width, glyphs).lines),
        },
        ObjectTab::OperatorLog => match &view.log {
            Loaded::NotAsked | Loaded::Asked(_) => None,
            Loaded::Answered(Err(why)) => Some(wrapped(why, width, 0, Role::Error)),
            Loaded::Answered(Ok(log)) => {
                let body = log.lines.iter().flat_map(|line| wrapped(line, width, 4, Role::Text));
                Some([Line::of(log.title.as_str(), Role::Header)].into_iter().chain(body).collect())
            }
        },
        ObjectTab::Yaml | ObjectTab::Events => None,
    }
}

/// The line of the reference under the cursor.
pub fn line_of_cursor(model: &Model, width: usize) -> Option<usize> {
    let view = model.object.as_ref()?;
    let Loaded::Answered(Ok(sheet)) = &view.references else { return None };
    text(model, view, sheet, width, Glyphs::of(model.signs)).starts.get(view.cursor).copied()
}

fn text(model: &Model, view: &ObjectView, sheet: &ReferenceSheet, width: usize, glyphs: &Glyphs) -> ReferenceText {
    let mut all = ReferenceText { lines: Vec::new(), starts: Vec::new() };
    let own = view.subject.as_deref().map(RelatedObject::of_subject);
    for relation in &sheet.relations.links {
        let is_here = all.starts.len() == view.cursor;
        all.starts.push(all.lines.len());
        all.lines.extend(relation_lines(model, relation, own.as_ref(), is_here, width));
    }
    if sheet.relations.links.is_empty() {
        all.lines.push(Line::of("No references are known.", Role::Muted));
    }
    all.lines.push(Line::blank());
    let used_by = &sheet.relations.used_by;
    let (text, role) = users_text(&sheet.relations, glyphs);
    all.lines.extend(entry("USED BY", &text, width, role));
    for user in used_by {
        let sign = if all.starts.len() == view.cursor { glyphs.cursor } else { " " };
        all.starts.push(all.lines.len());
        all.lines.extend(wrapped(&format!("{sign} {} ({})", user.place(), user.cluster), width, 4, Role::Link));
    }
    if let Some(metadata) = &sheet.metadata {
        all.lines.extend(metadata_lines(model, metadata, width, glyphs));
    }
    all
}

/// `nothing (Proxy, Image checked)`, `2 (Proxy checked)`, `? OAuth not read (Proxy checked)`
fn users_text(relations: &Relations, glyphs: &Glyphs) -> (String, Role) {
    let searched = relations.searched.join(", ");
    let checked = if searched.is_empty() { String::new() } else { format!(" ({searched} checked)") };
    match (relations.used_by.len(), &relations.unread[..]) {
        (0, []) if searched.is_empty() => ("not checked".to_owned(), Role::Text),
        (0, []) => (format!("nothing{checked}"), Role::Text),
        (count, []) => (format!("{count}{checked}"), Role::Text),
        (count, unread) => {
            let found = if count == 0 { String::new() } else { format!("{count}, ") };
            let unknown = glyphs.state(State::Unknown);
            (format!("{found}{unknown} {} not read{checked}", unread.join(", ")), Role::Unknown)
        }
    }
}

/// `HostedCluster clusters/a (mgmt) ─names→ Secret clusters/b   ✗ does not name it`
fn relation_lines(
    model: &Model,
    relation: &Relation,
    own: Option<&RelatedObject>,
    is_here: bool,
    width: usize,
) -> Vec<Line> {
    let glyphs = Glyphs::of(model.signs);
    let Relation { from, verb, to, standing, note, written } = relation;
    let (sign, role) = match standing {
        RelationStanding::Holds => (glyphs.state(State::Match), Role::Muted),
        RelationStanding::Broken => (glyphs.broken, Role::Error),
        RelationStanding::Unknown => (glyphs.state(State::Unknown), Role::Unknown),
    };
    let named = |object: &RelatedObject| match own == Some(object) {
        true => format!("this {}", object.kind),
        false => object.place(),
    };
    let note = match written {
        Some(writer) => format!("{note} {}", since(model, writer)),
        None => note.clone(),
    };
    let cursor = if is_here { glyphs.cursor } else { " " };
    let arrow = format!("{}{verb}{}", glyphs.rule, glyphs.arrow);
    let first = format!("{cursor} {} ({})", named(from), from.cluster);
    if width >= WIDE_FROM {
        let text = format!("{first} {arrow} {}   {sign} {note}", named(to));
        return wrapped(&text, width, 6, if is_here { Role::Text } else { role });
    }
    let mut lines = wrapped(&first, width, 4, Role::Text);
    lines.extend(wrapped(&format!("    {arrow} {}", named(to)), width, 8, Role::Text));
    lines.extend(wrapped(&format!("    {sign} {note}"), width, 6, role));
    lines
}

/// `since 19:34:02 (hypershift-cli)`: when the field that decides was written last, and by which field manager.
fn since(model: &Model, writer: &Writer) -> String {
    let words = model.group_words();
    match writer.at() {
        Some(at) => format!("since {} ({})", words.time(at), writer.manager),
        None => format!("({})", writer.manager),
    }
}

fn metadata_lines(
    model: &Model,
    metadata: &Result<ObjectMetadata, String>,
    width: usize,
    glyphs: &Glyphs,
) -> Vec<Line> {
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(why) => return entry("OWNER", &format!("{} {why}", glyphs.state(State::Unknown)), width, Role::Unknown),
    };
    let or_none = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let managed = |manager: &FieldManager| match manager.at {
        Some(at) => format!("{} {} ago", manager.name, crate::console::table::list_age(at, model.now)),
        None => manager.name.clone(),
    };
    let managers: Vec<String> = metadata.managers.iter().map(managed).collect();
    [
        entry("OWNER", &or_none(&metadata.owners), width, Role::Text),
        entry("MANAGED BY", &or_none(&managers), width, Role::Text),
        entry("FINALIZERS", &or_none(&metadata.finalizers), width, Role::Text),
    ]
    .concat()
}

/// Width of a label and the space after it.
const LABEL: usize = 12;

fn entry(label: &str, value: &str, width: usize, role: Role) -> Vec<Line> {
    let mut label = format!("{label:<LABEL$}");
    let texts = super::text::wrap(value, width.saturating_sub(LABEL), 0).into_iter();
    texts
        .map(|text| {
            let label = std::mem::replace(&mut label, " ".repeat(LABEL));
            Line::of(label, Role::Header).and(text, role)
        })
        .collect()
}
