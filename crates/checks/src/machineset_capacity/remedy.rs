//! What could be done about a ruling, as data: the annotations that are not right, set right.
//!
//! Invariants: only what differs is in the change, and every other annotation stays.

use super::NAME;
use super::compare::{AnnotationStatus, Line};
use super::facts::{CAPI_FIELDS, MACHINE_FIELDS};
use super::ruling::Ruling;
use super::subjects::{Sort, Subject};
use super::verdict::Verdict;
use trueup_core::engine::{ActionDraft, Change, JudgedFields, MetadataChange, Reason, Target, Undo};
use trueup_core::world::{CollectionId, Uid};

/// The actions a ruling calls for.
pub fn actions(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<ActionDraft> {
    let reason = match ruling.from_catalogue.unwrap_or(ruling.verdict) {
        Verdict::Missing => Reason::Missing,
        Verdict::Drift | Verdict::KeysDisagree => Reason::Differs,
        Verdict::Skipped
        | Verdict::NotAws
        | Verdict::InvalidSpec
        | Verdict::InstanceTypeEmpty
        | Verdict::RegionInvalid
        | Verdict::CredentialsPartial
        | Verdict::CredentialsNone
        | Verdict::SecretMissing
        | Verdict::SecretInvalid
        | Verdict::TokenUnreadable
        | Verdict::Denied
        | Verdict::Transient
        | Verdict::InstanceTypeUnknown
        | Verdict::Match
        | Verdict::Unknown => return Vec::new(),
    };
    vec![annotate(subject, ruling, reason)]
}

fn annotate(subject: &Subject<'_>, ruling: &Ruling<'_>, reason: Reason) -> ActionDraft {
    let wrong: Vec<&Line<'_>> = ruling.lines.iter().filter(|line| line.status != AnnotationStatus::Same).collect();
    let (context, resource) = (&subject.context.cluster.name, subject.context.pools(subject.sort).resource);
    let fields = match subject.sort {
        Sort::MachineApi => MACHINE_FIELDS,
        Sort::Deployment | Sort::CapiSet => CAPI_FIELDS,
    };
    let target = Target {
        cluster: context.clone(),
        resource,
        namespace: subject.namespace().map(|namespace| namespace.as_str().to_owned()),
        name: subject.key.name.as_str().to_owned(),
        uid: Some(subject.pool.uid.clone()).filter(|uid: &Uid| !uid.is_empty()),
        version: None,
        cloud: None,
    };
    ActionDraft {
        judged: Some(JudgedFields {
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            digest: subject.pool.judged.to_string(),
        }),
        // The answer to another login may not be the answer to this one.
        selected: ruling.from_catalogue.is_none(),
        diff: diff(&wrong),
        undo: Undo::RemoveWhatWasAdded,
        rests_on: vec![CollectionId::all(context, resource)],
        ..ActionDraft::new(NAME, target, change(&wrong), reason)
    }
}

fn change(wrong: &[&Line<'_>]) -> Change {
    let set =
        wrong.iter().filter_map(|line| Some((line.key.to_owned(), line.expected.as_ref()?.to_string()))).collect();
    let removed = wrong.iter().filter(|line| line.expected.is_none());
    let mut remove: Vec<String> = removed.map(|line| line.key.to_owned()).collect();
    remove.sort_unstable();
    Change::Annotate(MetadataChange { set, remove })
}

fn diff(wrong: &[&Line<'_>]) -> String {
    let mut diff = "  metadata:\n    annotations:\n".to_owned();
    for line in wrong {
        diff += &line.actual.map_or_else(String::new, |held| format!("-     {}: \"{held}\"\n", line.key));
        let expected = line.expected.as_ref();
        diff += &expected.map_or_else(String::new, |value| format!("+     {}: \"{value}\"\n", line.key));
    }
    diff
}
