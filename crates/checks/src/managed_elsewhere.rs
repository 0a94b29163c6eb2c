//! Objects that another tool manages: the code, the line of evidence and the mark on drafts, for every check alike.
//!
//! Invariants: verdict, tier and selection stay as the check says them. Elsewhere: blocking (`engine::gate`).

use trueup_core::engine::{Explanation, SubjectId, Target};
use trueup_core::world::{Key, ManagedBy, View};

use crate::evidence::line;

pub const CODE: &str = "managed-elsewhere";

/// The tool that manages the subject, which is present then.
pub fn of_subject<'a>(subject: &SubjectId, view: View<'a>) -> Option<&'a ManagedBy> {
    if subject.cloud.is_some() {
        return None;
    }
    let key = Key::new(subject.namespace.as_deref(), &subject.name);
    view.managed_by(&subject.cluster, subject.api_version, subject.kind, &key)
}

/// Adds who manages the subject, and marks the drafts whose target another tool manages.
pub fn explain(explanation: &mut Explanation, subject: &SubjectId, view: View<'_>) {
    if let Some(managed_by) = of_subject(subject, view) {
        let place = subject.namespace.as_ref().map_or(String::new(), |namespace| format!("{namespace}/"));
        let object = format!("{} {} {place}{}", subject.cluster, subject.kind, subject.name);
        let message = format!("{} manages it", managed_by.describe());
        explanation.evidence.push(line(message, object, &managed_by.field));
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
