//! The user's tags: those that go on a resource, those that come off, and the memory of what was attached.
//!
//! Invariants: a tag comes off only where it is remembered as attached from here, and where no other cluster wants or
//! remembers it; every change of user tags also changes the memory.

use std::collections::{BTreeMap, BTreeSet};

use super::Draft;
use crate::powervs_tags::context::CheckContext;
use crate::powervs_tags::facts::{Attached, CloudResource};
use crate::powervs_tags::judge::rule_resource;
use crate::powervs_tags::kind::Kind;
use crate::powervs_tags::names::{ATTACHED_TAGS, POWERVS_CLUSTER};
use crate::powervs_tags::subjects::ResolvedSubject;
use crate::powervs_tags::tags::Mark;
use crate::powervs_tags::verdict::Verdict;
use trueup_core::engine::{ActionDraft, Change, MemoryTarget, ObjectRef, Reason, Remember, Stake, TagChange, Verb};

/// What would go on a resource and what would come off, if these were the user's tags for the cluster that sees it.
pub fn user_tags_if(
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    wanted: &[String],
) -> (Vec<String>, Vec<String>) {
    let ResolvedSubject::Resource { account, item, seen_from } = *subject else { return (Vec::new(), Vec::new()) };
    let (on, off) = Draft { context, account, item, seen_from }.user_tags_if(wanted);
    match rule_resource(context, account, item, seen_from).verdict {
        Verdict::Owned => (on, off),
        Verdict::Reference if context.settings.tag_references => (on, off),
        Verdict::Reference => (Vec::new(), off),
        Verdict::Unknown
        | Verdict::Reclaiming
        | Verdict::Deleting
        | Verdict::Gone
        | Verdict::TwoOwners
        | Verdict::Locked
        | Verdict::InUse
        | Verdict::OtherOwner
        | Verdict::StaleOwner
        | Verdict::Orphan
        | Verdict::HalfTagged
        | Verdict::Untagged
        | Verdict::Adopted
        | Verdict::NameTaken
        | Verdict::Foreign
        | Verdict::TagInvalid
        | Verdict::FinalizerOnly => (Vec::new(), Vec::new()),
    }
}

impl Draft<'_, '_> {
    /// The tags the user wants and it lacks, and those we attached that are not wanted any more.
    pub(super) fn user_tags(&self) -> Vec<ActionDraft> {
        let Some(wanted) = self.claimant().and_then(|claimant| claimant.wanted.as_ref()) else {
            return Vec::new();
        };
        let (missing, dropped) = self.user_tags_if(wanted);
        let mut actions = Vec::new();
        if !missing.is_empty() {
            let change = TagChange { set: missing, ..TagChange::default() };
            actions.push(self.remembering(Change::Tag, Reason::UserTag, change));
        }
        if !dropped.is_empty() {
            let change = TagChange { remove: dropped, ..TagChange::default() };
            actions.push(self.remembering(Change::Untag, Reason::UserTag, change));
        }
        actions
    }

    pub(super) fn reference_tags(&self) -> Vec<ActionDraft> {
        let mut actions = self.user_tags();
        actions.retain(|action| self.context.settings.tag_references || action.verb() == Verb::Untag);
        actions
    }

    /// What would go on and what would come off, if these were the tags the user wants.
    fn user_tags_if(&self, wanted: &[String]) -> (Vec<String>, Vec<String>) {
        let (Some(claimant), true) = (self.claimant(), self.resource().kind.is_some_and(Kind::is_taggable)) else {
            return (Vec::new(), Vec::new());
        };
        let tags = &self.resource().tags;
        let missing = wanted.iter().filter(|tag| !tags.has(tag)).cloned().collect();
        let remembered = claimant.remembered(self.resource(), self.context.scheme()).into_iter();
        let dropped = remembered.filter(|tag| tags.has(tag) && !wanted.iter().any(|one| one == tag));
        (missing, dropped.filter(|tag| !self.is_wanted_by_another(tag)).map(str::to_owned).collect())
    }

    /// Whether another cluster that points here has a tag too: then it is not only ours to take.
    fn is_wanted_by_another(&self, tag: &str) -> bool {
        let claims = self.context.accounts[self.account].claims.get(&self.item);
        claims.into_iter().flatten().filter(|(claimant, _)| Some(**claimant) != self.seen_from).any(|(claimant, _)| {
            let other = &self.context.claimants[*claimant];
            // Its older list does not say where it attached a tag, so that here it may have been.
            let may_have = matches!(&other.fact.attached, Attached::ForOwned(all) if all.iter().any(|one| one == tag));
            let remembered = other.remembered(self.resource(), self.context.scheme());
            other.wants(tag) || may_have || remembered.contains(tag)
        })
    }

    /// What a cluster that goes takes off something it only used.
    pub(super) fn leave(&self) -> Option<ActionDraft> {
        let (claimant, seen_from) = (self.claimant()?, self.seen_from?);
        if !claimant.is_torn_down() || !self.resource().kind?.is_taggable() {
            return None;
        }
        let (scheme, tags) = (self.context.scheme(), &self.resource().tags);
        // Under another cluster's uid the name is that one's word, which may only look like ours.
        let is_anothers = !scheme.uuids(tags).is_empty() && !claimant.is_uuid_in(scheme, tags);
        let marks: Vec<Mark<'_>> =
            claimant.own_marks().into_iter().filter(|mark| !is_anothers || !matches!(mark, Mark::Owner(_))).collect();
        let mut remove = scheme.spelled(tags, &marks);
        let is_mark = !remove.is_empty();
        let attached = claimant.remembered(self.resource(), scheme).into_iter();
        let attached: BTreeSet<String> =
            attached.filter(|tag| tags.has(tag) && !self.is_wanted_by_another(tag)).map(str::to_owned).collect();
        let is_remembered = !attached.is_empty();
        remove.extend(attached);
        if remove.is_empty() {
            return None;
        }
        let change = TagChange { remove: remove.into_iter().collect(), ..TagChange::default() };
        let draft = match is_remembered {
            true => self.remembering(Change::Untag, Reason::ClusterDeleted, change),
            false => self.tagging(self.item, Change::Untag, Reason::ClusterDeleted, change),
        };
        let teardown = self.context.teardown(self.account, seen_from);
        let connections = self.context.accounts[self.account].held_by(self.item).iter();
        let depends_on = connections.filter(|item| teardown.steps.contains_key(item));
        Some(ActionDraft {
            stake: if is_mark { Stake::Ownership } else { Stake::Reversible },
            depends_on: depends_on.map(|item| self.after(*item, Some(seen_from))).collect(),
            blocked_by: self.not_managed().into_iter().collect(),
            ..draft
        })
    }

    /// A change of tags that is remembered in the IBMPowerVSCluster.
    fn remembering(&self, verb: fn(TagChange) -> Change, reason: Reason, change: TagChange) -> ActionDraft {
        let remember = self.remember(&change);
        let memory = self.claimant().map(|claimant| MemoryTarget {
            cluster: claimant.site.name.clone(),
            resource: POWERVS_CLUSTER.in_cluster(claimant.site),
            namespace: Some(claimant.namespace().to_owned()),
        });
        ActionDraft { memory, ..self.tagging(self.item, verb, reason, TagChange { remember, ..change }) }
    }

    /// What the annotation holds for this resource afterwards.
    fn remember(&self, change: &TagChange) -> Option<Remember> {
        let claimant = self.claimant()?;
        let after = |resource: &CloudResource| -> BTreeSet<String> {
            claimant.remembered(resource, self.context.scheme()).into_iter().map(str::to_owned).collect()
        };
        let mut tags = after(self.resource());
        tags.extend(change.set.iter().cloned());
        tags.retain(|tag| !change.remove.contains(tag));
        let converted: BTreeMap<String, Vec<String>> = match &claimant.fact.attached {
            Attached::ForOwned(_) => {
                let items = self.context.accounts[self.account].items.iter().filter(|one| one.id != self.resource().id);
                let kept = items.map(|one| (one.id.to_string(), after(one).into_iter().collect::<Vec<_>>()));
                kept.filter(|(_, tags)| !tags.is_empty()).collect()
            }
            Attached::PerResource(_) | Attached::NotKnown => BTreeMap::new(),
        };
        let kind = POWERVS_CLUSTER.in_cluster(claimant.site);
        Some(Remember {
            cluster: claimant.site.name.to_string(),
            object: ObjectRef {
                api_version: kind.api_version(),
                kind: kind.kind.to_owned(),
                namespace: Some(claimant.namespace().to_owned()),
                name: claimant.name().to_owned(),
                uid: Some(claimant.fact.uid.to_string()).filter(|uid| !uid.is_empty()),
                cloud: None,
            },
            annotation: ATTACHED_TAGS.to_owned(),
            tags: [(self.resource().id.to_string(), tags.into_iter().collect())].into(),
            converted,
        })
    }
}
