//! A leftover in full: why nothing uses it, and what marks it.

use serde_json::json;

use super::super::context::CheckContext;
use super::super::leftovers::is_orphan;
use super::super::messages::leftover_summary;
use super::super::names::{CONSOLE_NAMESPACE, COPIES_NAMESPACE, CopyKind};
use super::super::remedy::leftovers::{Location, delete};
use super::super::ruling::Ruling;
use super::super::settings::Settings;
use super::super::verdict::Verdict;
use crate::evidence::versioned_line as line;
use trueup_core::engine::{Evidence, Explanation};
use trueup_core::world::{Meta, Uid};

/// Explains a leftover at one of its two places.
pub fn explain(
    settings: &Settings,
    context: &CheckContext<'_>,
    location: Location,
    name: &str,
    proofs: Vec<String>,
    ruling: &Ruling,
) -> Explanation {
    let kind = location.kind();
    let meta: Option<&Meta> = context.console_mirror(name).map(|bundle| &bundle.meta);
    let mark = context.source(kind, name).seen;
    let (uid, version): (Option<Uid>, String) = match location {
        Location::Console => {
            (meta.map(|meta| meta.uid.clone()), meta.map_or_else(String::new, |m| m.version.to_string()))
        }
        Location::ControlPlane(_) => {
            (mark.map(|mark| mark.uid.clone()), mark.map_or_else(String::new, |m| m.version.to_string()))
        }
    };
    Explanation {
        uid,
        created: None,
        summary: leftover_summary(location, ruling),
        expected: json!({}),
        actual: json!({ "exists": true }),
        evidence: evidence(settings, context, location, name, &proofs, (version, ruling)),
        remedy: delete(settings, context, location, name, proofs, ruling).into_iter().collect(),
    }
}

fn evidence(
    settings: &Settings,
    context: &CheckContext<'_>,
    location: Location,
    name: &str,
    proofs: &[String],
    (version, ruling): (String, &Ruling),
) -> Vec<Evidence> {
    let kind = location.kind();
    let word = kind.resource().kind;
    let guest = &context.guest.name;
    let (cluster, namespace) = match location {
        Location::Console => (guest, CONSOLE_NAMESPACE),
        Location::ControlPlane(_) => context.source_namespace().unwrap_or((guest, "")),
    };
    let object = format!("{cluster} {word} {namespace}/{name}");
    let mut lines = super::gap_lines(context, kind, &object, ruling);
    if is_orphan(context, kind, name, settings) {
        let message = format!("the same kind and name as the orphan in {COPIES_NAMESPACE}");
        lines.push(line(message, format!("{guest} {word} {COPIES_NAMESPACE}/{name}"), "", String::new()));
    }
    lines.extend(references(context, location));
    if ruling.verdict == Verdict::Moot
        && let Ok(by) = &context.home
    {
        let cluster = format!("{} HostedCluster {}/{}", by.cluster, by.namespace, by.name);
        let fields = super::moot_fields(ruling);
        lines.extend(fields.map(|(message, field)| line(message, cluster.clone(), field, String::new())));
    }
    if ruling.verdict == Verdict::Terminating {
        let message = "deletion was requested".to_owned();
        lines.push(line(message, object.clone(), "metadata.deletionTimestamp", version.clone()));
    }
    let marks = if proofs.is_empty() { "nothing marks it as the platform's".to_owned() } else { proofs.join("; ") };
    lines.push(line(marks, object, "metadata", version));
    lines
}

/// Where a reference would be, and is not.
fn references(context: &CheckContext<'_>, location: Location) -> Vec<Evidence> {
    let Ok(by) = &context.home else { return Vec::new() };
    let none = |object: String, field: &str| line("does not name it".to_owned(), object, field, String::new());
    let cluster = format!("{} HostedCluster {}/{}", by.cluster, by.namespace, by.name);
    let key = context.control_plane_key.as_ref().map(ToString::to_string).unwrap_or_default();
    let plane = format!("{} HostedControlPlane {key}", by.cluster);
    match location {
        Location::ControlPlane(_) => vec![none(cluster, "spec"), none(plane, "spec")],
        Location::Console => vec![
            none(plane, "spec.configuration.authentication.oidcProviders"),
            none(format!("{} Authentication cluster", context.guest.name), "spec.oidcProviders"),
        ],
    }
}

/// The kind of a leftover at a place.
impl Location {
    pub fn kind(self) -> CopyKind {
        match self {
            Self::Console => CopyKind::ConfigMap,
            Self::ControlPlane(kind) => kind,
        }
    }
}
