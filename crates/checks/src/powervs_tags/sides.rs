//! Expected and actual of a subject: what its verdict calls right beside what there is.
//!
//! Invariants: both sides of the difference that made the verdict are here.
//! Elsewhere: what each verdict calls right (`expected`).

use serde_json::{Map, Value, json};

use super::context::CheckContext;
use super::expected::expected;
use super::explain::{found, seen_from};
use super::kind::Kind;
use super::messages::fault_message;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};
use trueup_core::engine::State;

/// The cluster that a resource belongs to.
const CLUSTER: &str = "cluster";

/// Both sides.
pub fn sides(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> (Value, Value) {
    let (mut expected, mut actual) = (expected(context, subject, ruling), actual(context, subject));
    if let ResolvedSubject::Tag { claimant, fault } = subject {
        let fault = &context.claimants[*claimant].faults[*fault];
        expected["tag"] = json!("valid");
        actual["tag"] = json!(fault_message(fault));
    }
    if ruling.state == State::Match && expected.get(CLUSTER).is_some() {
        actual[CLUSTER] = expected[CLUSTER].clone();
    }
    if let Some(held) = other_owner(ruling) {
        let own = seen_from(context, subject).map_or_else(|| "one cluster".to_owned(), |one| one.key.to_string());
        expected["owner"] = json!(own);
        actual["owner"] = json!(held);
    }
    (expected, actual)
}

/// Why a resource is not the cluster's own, where that is the verdict.
fn other_owner(ruling: &Ruling) -> Option<&'static str> {
    let has = |code: Code| ruling.codes.contains(&code);
    Some(match ruling.verdict {
        Verdict::TwoOwners => "several clusters, by its tags",
        Verdict::OtherOwner => "another owner, by its tags",
        Verdict::NameTaken => "not proven: it has the name only",
        Verdict::StaleOwner if has(Code::NameTaken) => "a cluster that is gone, by the uid in its tags",
        Verdict::Adopted if has(Code::CreatedBefore) => "not proven: it is older than the cluster",
        Verdict::Adopted if has(Code::OwnerMark) => "another owner, by its mark",
        Verdict::Adopted => "not proven: it was found by its name",
        Verdict::Unknown
        | Verdict::Reclaiming
        | Verdict::Deleting
        | Verdict::Gone
        | Verdict::Reference
        | Verdict::Owned
        | Verdict::Locked
        | Verdict::InUse
        | Verdict::StaleOwner
        | Verdict::Orphan
        | Verdict::HalfTagged
        | Verdict::Untagged
        | Verdict::Foreign
        | Verdict::TagInvalid
        | Verdict::FinalizerOnly => return None,
    })
}

fn actual(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Value {
    let Some(resource) = found(context, subject) else {
        return match subject {
            ResolvedSubject::Missing { .. } => json!({ "exists": false }),
            ResolvedSubject::Resource { .. }
            | ResolvedSubject::Tag { .. }
            | ResolvedSubject::Unplaced { .. }
            | ResolvedSubject::Members { .. }
            | ResolvedSubject::Clusters { .. }
            | ResolvedSubject::Account { .. } => json!({}),
            ResolvedSubject::FinalizerOnly { claimant } => {
                let finalizers: Vec<&str> =
                    context.claimants[*claimant].fact.finalizers.iter().map(|one| &**one).collect();
                json!({ "exists": true, "finalizers": finalizers })
            }
        };
    };
    let mut actual = Map::new();
    actual.insert("id".into(), json!(&*resource.id));
    let texts = [
        ("name", resource.name.as_deref()),
        ("crn", resource.crn.as_deref()),
        ("parent", resource.parent.as_deref()),
        ("network", resource.network.as_deref()),
        ("leads_to", resource.leads_to.as_deref()),
        ("state", Some(&*resource.state).filter(|state| !state.is_empty())),
    ];
    actual.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), json!(text?)))));
    if resource.kind.is_some_and(Kind::is_taggable) {
        actual.insert("tags".into(), json!(resource.tags.iter().collect::<Vec<_>>()));
    }
    Value::Object(actual)
}
