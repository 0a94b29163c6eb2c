//! References of an object and the log of its operator: tabs of the object screen.

use std::sync::Arc;

use super::act::{go, object_here, say};
use super::moving;
use crate::console::effect::Effects;
use crate::console::model::{Loaded, Model, ObjectTab, ObjectView, PlanSheet, ScreenId};
use crate::console::task::{RequestId, Task};
use crate::console::view;
use trueup_checks::RelatedObject;
use trueup_core::engine::{ObjectRef, SubjectId};
use trueup_core::redact::CredentialValues;
use trueup_core::world::ClusterName;

/// Opens a tab about the selected finding.
pub fn open(model: &mut Model, tab: ObjectTab) -> Effects {
    let Some(subject) = subject_here(model) else { return say(model, "no finding selected") };
    let place = object_here(model).unwrap_or_else(|| {
        let (kind, name) = (subject.kind.to_owned(), subject.called().to_owned());
        let (api_version, namespace) = (subject.api_version.to_owned(), subject.namespace.clone());
        (subject.cluster.clone(), ObjectRef { api_version, kind, namespace, name, uid: None, cloud: None })
    });
    let view = ObjectView::new(RequestId::default(), place, tab, CredentialValues::Masked);
    model.object = Some(ObjectView { subject: Some(subject), ..view });
    go(model, ScreenId::Object);
    show_tab(model, tab)
}

/// Shows a tab of the object screen, and asks for what it shows.
pub fn show_tab(model: &mut Model, tab: ObjectTab) -> Effects {
    let about_finding = matches!(tab, ObjectTab::References | ObjectTab::OperatorLog);
    let Some(view) = &model.object else { return Effects::default() };
    if about_finding && view.subject.is_none() {
        return say(model, "this object was not opened from a finding");
    }
    let ask = model.next_request();
    let Some(view) = &mut model.object else { return Effects::default() };
    view.tab = tab;
    let subject = view.subject.as_deref().cloned();
    let task = match (tab, subject) {
        (ObjectTab::References, Some(subject)) if matches!(view.references, Loaded::NotAsked) => {
            view.references = Loaded::Asked(ask);
            Some(Task::ReadReferences { ask, subject })
        }
        (ObjectTab::OperatorLog, Some(subject)) if matches!(view.log, Loaded::NotAsked) => {
            view.log = Loaded::Asked(ask);
            Some(Task::ReadOperatorLog { ask, subject })
        }
        (ObjectTab::Yaml | ObjectTab::Events, subject) if view.ask == RequestId::default() => {
            view.ask = ask;
            let (cluster, target, values) = (view.cluster.clone(), view.target.clone(), view.values);
            let is_cloud = subject.is_some_and(|subject| subject.cloud.is_some());
            (!is_cloud).then_some(Task::ReadObject { ask, cluster, target, values })
        }
        (ObjectTab::References | ObjectTab::OperatorLog | ObjectTab::Yaml | ObjectTab::Events, _) => None,
    };
    model.scroll = 0;
    model.finder = None;
    let mut effects = Effects::redraw();
    effects.tasks.extend(task);
    effects
}

/// The finding at the cursor: of a list, or of the selected action of a plan.
fn subject_here(model: &Model) -> Option<Arc<SubjectId>> {
    if model.screen() != ScreenId::Plan {
        return model.subject();
    }
    let finding = model.plan.as_ref().and_then(PlanSheet::cursor)?.finding()?;
    model.findings.iter().find(|(id, _)| id.to_string() == finding).map(|(id, _)| id.clone())
}

/// Whether the cursor moves between references.
pub fn has_cursor(model: &Model) -> bool {
    model.screen() == ScreenId::Object && !references(model).is_empty()
}

/// The objects that can be opened from the references on the screen.
fn references(model: &Model) -> Vec<RelatedObject> {
    match &model.object {
        Some(ObjectView { tab: ObjectTab::References, references: Loaded::Answered(Ok(sheet)), .. }) => {
            let links = sheet.relations.links.iter().map(|link| link.from.clone());
            links.chain(sheet.relations.used_by.iter().cloned()).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

/// Moves the cursor between references, and keeps it in sight.
pub fn step(model: &mut Model, by: isize) -> Effects {
    let last = references(model).len().saturating_sub(1);
    if let Some(view) = &mut model.object {
        view.cursor = view.cursor.saturating_add_signed(by).min(last);
    }
    if let Some(line) = view::reference_line(model) {
        let page = model.layout().map_or(1, |layout| layout.detail_lines());
        let first = model.scroll;
        if line < first || line + 1 >= first + page {
            moving::scroll_to(model, line.saturating_sub(page / 2));
        }
    }
    Effects::redraw()
}

/// Opens the object of the reference under the cursor.
pub fn open_selected(model: &mut Model) -> Effects {
    let place = model.object.as_ref().map_or(0, |view| view.cursor);
    let Some(chosen) = references(model).into_iter().nth(place) else { return Effects::default() };
    let RelatedObject { cluster, kind, namespace, name } = chosen;
    let ask = model.next_request();
    let cluster = ClusterName::new(cluster.as_str());
    // The reader of the object chooses the version of the kind.
    let target = ObjectRef { api_version: String::new(), kind, namespace, name, uid: None, cloud: None };
    let values = CredentialValues::Masked;
    let opened = ObjectView::new(ask, (cluster.clone(), target.clone()), ObjectTab::Yaml, values);
    let previous = model.object.take().map(Box::new);
    model.object = Some(ObjectView { previous, ..opened });
    model.scroll = 0;
    Effects::redraw().with(Task::ReadObject { ask, cluster, target, values })
}

/// Goes back to the references that an object was opened from; returns whether there were any.
pub fn close_opened(model: &mut Model) -> bool {
    if model.screen() != ScreenId::Object {
        return false;
    }
    let previous = model.object.as_mut().and_then(|view| view.previous.take());
    let Some(previous) = previous else { return false };
    model.object = Some(*previous);
    model.scroll = 0;
    model.finder = None;
    true
}
