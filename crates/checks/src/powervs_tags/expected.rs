//! What each verdict calls right, and nothing else.

use serde_json::{Value, json};

use super::context::CheckContext;
use super::explain::seen_from;
use super::kind::Kind;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::tags::{Mark, Tags};
use super::verdict::{Code, Verdict};

/// What should be, as the ruling sees it.
pub fn expected(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Value {
    let is_going = seen_from(context, subject).is_some_and(|claimant| claimant.fact.is_going());
    let is_leaving = seen_from(context, subject).is_some_and(|claimant| claimant.is_torn_down());
    match ruling.verdict {
        Verdict::Gone => json!({ "exists": !is_going }),
        Verdict::Orphan => json!({ "exists": false }),
        Verdict::Owned | Verdict::Locked | Verdict::InUse if is_leaving => json!({ "exists": false }),
        Verdict::Untagged | Verdict::HalfTagged if is_leaving && goes(context, subject) => json!({ "exists": false }),
        Verdict::Owned | Verdict::Locked | Verdict::InUse | Verdict::Untagged | Verdict::HalfTagged => {
            own_tags(context, subject)
        }
        Verdict::StaleOwner if !ruling.codes.contains(&Code::NameTaken) => own_tags(context, subject),
        Verdict::Reference if is_going || !context.settings.tag_references => json!({ "tags": [] }),
        Verdict::Reference => json!({ "tags": user_tags(context, subject) }),
        Verdict::StaleOwner
        | Verdict::Adopted
        | Verdict::NameTaken
        | Verdict::Foreign
        | Verdict::OtherOwner
        | Verdict::TwoOwners => json!({ "tags_of_this_cluster": [] }),
        Verdict::FinalizerOnly => json!({ "exists": false, "finalizers": [] }),
        Verdict::Unknown | Verdict::Reclaiming | Verdict::Deleting | Verdict::TagInvalid => json!({}),
    }
}

/// Whether a cluster that is being deleted takes the resource along.
fn goes(context: &CheckContext<'_>, subject: &ResolvedSubject) -> bool {
    let ResolvedSubject::Resource { account, item, seen_from: Some(claimant) } = *subject else { return false };
    context.teardown(account, claimant).steps.contains_key(&item)
}

fn user_tags(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Vec<String> {
    let is_taggable = tags_of(context, subject).is_some();
    let claimant = seen_from(context, subject).filter(|_| is_taggable);
    claimant.and_then(|claimant| claimant.wanted.clone()).unwrap_or_default()
}

/// Both tags, as the resource spells those it has, and the user's.
fn own_tags(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Value {
    let Some(claimant) = seen_from(context, subject) else { return json!({}) };
    let Some(there) = tags_of(context, subject) else { return json!({ "cluster": claimant.key.to_string() }) };
    let scheme = context.scheme();
    let spelled = |mark: Mark<'_>, own: String| match scheme.spelled(there, &[mark]) {
        tags if tags.is_empty() => vec![own],
        tags => tags.into_iter().collect(),
    };
    let mut tags = user_tags(context, subject);
    tags.extend(spelled(Mark::Owner(&claimant.owner), scheme.owner(claimant.name())));
    tags.extend(claimant.uid.as_deref().map(|uid| spelled(Mark::Uuid(uid), scheme.uuid(uid))).unwrap_or_default());
    tags.sort_unstable();
    json!({ "cluster": claimant.key.to_string(), "tags": tags })
}

/// The tags of a resource that can have some.
fn tags_of<'a>(context: &CheckContext<'a>, subject: &ResolvedSubject) -> Option<&'a Tags> {
    let ResolvedSubject::Resource { account, item, .. } = *subject else { return None };
    let resource = context.resource(account, item);
    resource.kind.is_some_and(Kind::is_taggable).then_some(&resource.tags)
}
