//! Who else writes an object: the code for objects that another tool manages, the lines of evidence and the mark on drafts,
//! for every check alike.
//!
//! Invariants: verdict, tier and selection stay as the check says them; owners, Velero and field managers are evidence only.
//! Elsewhere: blocking (`engine::gate`).

use trueup_core::engine::{Explanation, SubjectId, Target};
use trueup_core::world::{Key, ManagedBy, View, Writers};

use crate::evidence::line;

pub const CODE: &str = "managed-elsewhere";

/// The tool that manages the subject, which is present then.
pub fn of_subject<'a>(subject: &SubjectId, view: View<'a>) -> Option<&'a ManagedBy> {
    writers(subject, view).marks?.managed_by.as_ref()
}

fn writers<'a>(subject: &SubjectId, view: View<'a>) -> Writers<'a> {
    if subject.cloud.is_some() {
        return Writers::default();
    }
    let key = Key::new(subject.namespace.as_deref(), &subject.name);
    view.writers(&subject.cluster, subject.api_version, subject.kind, &key)
}

/// Adds who writes the subject, and marks the drafts whose target another tool manages.
pub fn explain(explanation: &mut Explanation, subject: &SubjectId, view: View<'_>) {
    let Writers { marks, newest } = writers(subject, view);
    let place = subject.namespace.as_ref().map_or(String::new(), |namespace| format!("{namespace}/"));
    let object = format!("{} {} {place}{}", subject.cluster, subject.kind, subject.name);
    if let Some(managed_by) = marks.and_then(|marks| marks.managed_by.as_ref()) {
        let message = format!("{} manages it; change it {}", managed_by.describe(), managed_by.place());
        explanation.evidence.push(line(message, object.clone(), &managed_by.field));
    }
    for mark in marks.iter().flat_map(|marks| &marks.others) {
        explanation.evidence.push(line(mark.message.clone(), object.clone(), &mark.field));
    }
    if let Some(writer) = newest {
        let message = format!("field manager {} wrote last", writer.manager);
        explanation.evidence.push(line(message, object, "metadata.managedFields"));
    }
    for draft in &mut explanation.remedy {
        draft.managed_by = of_target(&draft.target, view).cloned();
    }
}

fn of_target<'a>(target: &Target, view: View<'a>) -> Option<&'a ManagedBy> {
    if target.cloud.is_some() {
        return None;
    }
    let key = Key::new(target.namespace.as_deref(), &target.name);
    view.managed_by(&target.cluster, &target.resource.api_version(), target.resource.kind, &key)
}
