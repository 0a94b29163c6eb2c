//! What could be done about a ruling, as data: tags on, tags off, a new owner, and teardown.
//!
//! Invariants:
//! - ownership tags are attached only where the status holds the id, both in one call;
//! - from a resource the cluster did not create, only our own tags are detached: never another cluster's;
//! - nothing is deleted but what the tags prove, or what an older status calls its own making;
//! - who is not sure whose it is has no action.

mod deletes;

use std::collections::BTreeSet;

use super::NAME;
use super::context::{By, CheckContext, Claim, Claimant};
use super::facts::{CloudResource, UserTags};
use super::judge::rule_resource;
use super::kind::{Kind, Side};
use super::names::{CAPI_CLUSTER, CLOUD_RESOURCE, POWERVS_CLUSTER};
use super::proofs::proofs;
use super::ruling::Ruling;
use super::settings::Settings;
use super::subjects::ResolvedSubject;
use super::tags::{is_ours_by_prefix, owner_fault};
use super::verdict::Verdict;
use trueup_core::engine::text::{Charset, printable};
use trueup_core::engine::{
    ActionDraft, Blocked, Change, CloudRef, CloudTarget, GateName, Reason, Stake, TagChange, Target, Undo, Verb,
};
use trueup_core::world::{Provider, Resource};

/// The actions a ruling calls for.
pub fn actions(
    settings: Settings,
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    ruling: &Ruling,
) -> Vec<ActionDraft> {
    let ResolvedSubject::Resource { account, item, seen_from } = *subject else { return Vec::new() };
    let draft = Draft { context, account, item, seen_from };
    let is_going = draft.claimant().is_some_and(|claimant| claimant.fact.is_going());
    match (ruling.verdict, is_going) {
        (Verdict::Orphan, _) => vec![draft.delete_orphan(ruling)],
        (Verdict::StaleOwner, _) => draft.re_own().into_iter().collect(),
        (Verdict::Owned | Verdict::Untagged | Verdict::HalfTagged, true) => draft.delete(),
        (Verdict::Untagged | Verdict::HalfTagged, false) => draft.tag().into_iter().collect(),
        (Verdict::Owned, false) => draft.user_tags(),
        (Verdict::Reference, true) => draft.leave().into_iter().collect(),
        (Verdict::Reference, false) => draft.reference_tags(settings),
        (
            Verdict::Unknown
            | Verdict::Reclaiming
            | Verdict::Deleting
            | Verdict::Gone
            | Verdict::TwoOwners
            | Verdict::Locked
            | Verdict::OtherOwner
            | Verdict::Foreign
            | Verdict::TagInvalid,
            _,
        ) => Vec::new(),
    }
}

/// What would go on a resource and what would come off, if these were the user's tags for the cluster that sees it.
pub fn user_tags_if(
    settings: Settings,
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    wanted: &[String],
) -> (Vec<String>, Vec<String>) {
    let ResolvedSubject::Resource { account, item, seen_from } = *subject else { return (Vec::new(), Vec::new()) };
    let (on, off) = Draft { context, account, item, seen_from }.user_tags_if(wanted);
    match rule_resource(context, account, item, seen_from).verdict {
        Verdict::Owned => (on, off),
        Verdict::Reference if settings.tag_references => (on, off),
        Verdict::Reference => (Vec::new(), off),
        Verdict::Unknown
        | Verdict::Reclaiming
        | Verdict::Deleting
        | Verdict::Gone
        | Verdict::TwoOwners
        | Verdict::Locked
        | Verdict::OtherOwner
        | Verdict::StaleOwner
        | Verdict::Orphan
        | Verdict::HalfTagged
        | Verdict::Untagged
        | Verdict::Foreign
        | Verdict::TagInvalid => (Vec::new(), Vec::new()),
    }
}

struct Draft<'s, 'a> {
    context: &'s CheckContext<'a>,
    account: usize,
    item: usize,
    seen_from: Option<usize>,
}

impl<'a> Draft<'_, 'a> {
    fn claimant(&self) -> Option<&Claimant<'a>> {
        self.seen_from.map(|claimant| &self.context.claimants[claimant])
    }

    fn resource(&self) -> &'a CloudResource {
        self.context.resource(self.account, self.item)
    }

    fn is_held_by_status(&self) -> bool {
        let claim = self.seen_from.and_then(|claimant| self.context.claim(self.account, self.item, claimant));
        matches!(claim, Some((Claim { by: By::Status, .. }, _)))
    }

    /// Both tags that say whose it is, when both can be had.
    fn owner_tags(&self) -> Option<Vec<String>> {
        let claimant = self.claimant()?;
        let uuid = claimant.uuid_tag.clone().filter(|_| owner_fault(claimant.name()).is_none())?;
        Some(vec![uuid, claimant.owner_tag.clone()])
    }

    fn tag(&self) -> Option<ActionDraft> {
        match self.resource().kind {
            Some(Kind::TgConnection) => self.tag_gateway(),
            Some(Kind::DhcpServer) | None => None,
            Some(_) if !self.is_held_by_status() => None,
            Some(_) => {
                let set = self.owner_tags()?;
                Some(ActionDraft {
                    stake: Stake::Ownership,
                    blocked_by: self.claimed_twice().into_iter().collect(),
                    ..self.tagging(self.item, Change::Tag, Reason::NotTagged, set, Vec::new())
                })
            }
        }
    }

    /// Two clusters that both call a resource their own making would each put their tags on it, or take it from the other.
    fn claimed_twice(&self) -> Option<Blocked> {
        let claims = self.context.accounts[self.account].claims.get(&self.item)?;
        let others = claims.keys().filter(|claimant| Some(**claimant) != self.seen_from);
        let other = others.copied().find(|claimant| {
            let verdict = rule_resource(self.context, self.account, self.item, Some(*claimant)).verdict;
            let is_held = matches!(
                self.context.claim(self.account, self.item, *claimant),
                Some((Claim { by: By::Status, .. }, _))
            );
            is_held && matches!(verdict, Verdict::Untagged | Verdict::HalfTagged)
        })?;
        let why =
            format!("{} holds its id too and claims it; clarify the owner", self.context.claimants[other].described());
        Some(Blocked { gate: GateName::Ownership, why })
    }

    /// A connection has no tags: its gateway says that one on it is ours.
    fn tag_gateway(&self) -> Option<ActionDraft> {
        let gateway = self.context.accounts[self.account].parents[self.item]?;
        let verdict = rule_resource(self.context, self.account, gateway, self.seen_from).verdict;
        let is_foreign = match verdict {
            Verdict::Reference | Verdict::Foreign | Verdict::OtherOwner | Verdict::TwoOwners | Verdict::Orphan => true,
            // Its uid tag is a dead cluster's, so it is not ours, and whether it ever is again is for a person to say: a new
            // owner is not ticked. Until then nothing else would say that the connection is ours.
            Verdict::StaleOwner => true,
            // A gateway of ours says it by its own tags.
            Verdict::Owned | Verdict::Locked | Verdict::Untagged | Verdict::HalfTagged => false,
            Verdict::Unknown | Verdict::Reclaiming | Verdict::Deleting | Verdict::Gone | Verdict::TagInvalid => false,
        };
        let tag = self.claimant()?.connection_tag(self.resource().side?).filter(|_| is_foreign)?;
        Some(ActionDraft {
            stake: Stake::Ownership,
            ..self.tagging(gateway, Change::Tag, Reason::NotTagged, vec![tag], Vec::new())
        })
    }

    /// The tags the user wants and it lacks, and those we attached that are not wanted any more.
    fn user_tags(&self) -> Vec<ActionDraft> {
        let Some(UserTags::Wanted(wanted)) = self.claimant().map(|claimant| &claimant.fact.user_tags) else {
            return Vec::new();
        };
        let (missing, dropped) = self.user_tags_if(wanted);
        let mut actions = Vec::new();
        if !missing.is_empty() {
            actions.push(self.tagging(self.item, Change::Tag, Reason::UserTag, missing, Vec::new()));
        }
        if !dropped.is_empty() {
            actions.push(self.tagging(self.item, Change::Untag, Reason::UserTag, Vec::new(), dropped));
        }
        actions
    }

    /// What would go on and what would come off, if these were the tags the user wants.
    fn user_tags_if(&self, wanted: &[String]) -> (Vec<String>, Vec<String>) {
        let (Some(claimant), true) = (self.claimant(), self.resource().kind.is_some_and(Kind::is_taggable)) else {
            return (Vec::new(), Vec::new());
        };
        let tags = &self.resource().tags;
        let missing = wanted.iter().filter(|tag| !tags.has(tag)).cloned().collect();
        let dropped = claimant.fact.attached.iter();
        let dropped = dropped.filter(|tag| tags.has(tag) && !wanted.contains(tag) && !is_ours_by_prefix(tag));
        (missing, dropped.filter(|tag| !self.is_wanted_by_another(tag)).cloned().collect())
    }

    fn reference_tags(&self, settings: Settings) -> Vec<ActionDraft> {
        let mut actions = self.user_tags();
        actions.retain(|action| settings.tag_references || action.verb() == Verb::Untag);
        actions
    }

    /// Whether another cluster that points here has a tag too: then it is not only ours to take.
    fn is_wanted_by_another(&self, tag: &str) -> bool {
        let claims = self.context.accounts[self.account].claims.get(&self.item);
        claims.into_iter().flatten().filter(|(claimant, _)| Some(**claimant) != self.seen_from).any(|(claimant, _)| {
            let fact = self.context.claimants[*claimant].fact;
            let is_wanted = matches!(&fact.user_tags, UserTags::Wanted(wanted) if wanted.iter().any(|one| one == tag));
            is_wanted || fact.attached.iter().any(|one| one == tag)
        })
    }

    /// What a cluster that goes takes off something it only used.
    fn leave(&self) -> Option<ActionDraft> {
        let (claimant, seen_from) = (self.claimant()?, self.seen_from?);
        if !claimant.is_torn_down() || !self.resource().kind?.is_taggable() {
            return None;
        }
        let tags = &self.resource().tags;
        let mut remove: BTreeSet<String> =
            Side::ALL.into_iter().filter_map(|side| claimant.connection_tag(side)).collect();
        remove.extend(claimant.uuid_tag.clone());
        // Under another cluster's uid the name is that one's word, which may only look like ours.
        let is_anothers = tags.uuids().any(|_| claimant.uuid_tag.as_ref().is_none_or(|tag| !tags.has(tag)));
        remove.extend(Some(claimant.owner_tag.clone()).filter(|_| !is_anothers));
        remove.extend(claimant.fact.attached.iter().filter(|tag| !self.is_wanted_by_another(tag)).cloned());
        let remove: Vec<String> = remove.into_iter().filter(|tag| tags.has(tag)).collect();
        if remove.is_empty() {
            return None;
        }
        let is_mark = remove.iter().any(|tag| is_ours_by_prefix(tag));
        let teardown = self.context.teardown(self.account, seen_from);
        let connections = self.context.accounts[self.account].held_by(self.item).iter();
        let depends_on = connections.filter(|item| teardown.steps.contains_key(item));
        Some(ActionDraft {
            stake: if is_mark { Stake::Ownership } else { Stake::Reversible },
            depends_on: depends_on.map(|item| self.after(*item, Some(seen_from))).collect(),
            blocked_by: self.not_managed().into_iter().collect(),
            ..self.tagging(self.item, Change::Untag, Reason::ClusterDeleted, Vec::new(), remove)
        })
    }

    fn re_own(&self) -> Option<ActionDraft> {
        let is_taggable = self.resource().kind.is_some_and(Kind::is_taggable);
        let set = self.owner_tags().filter(|_| is_taggable && self.is_held_by_status())?;
        let tags = &self.resource().tags;
        let theirs: Vec<String> = tags.uuids().map(super::tags::uuid_tag).collect();
        Some(ActionDraft {
            selected: false,
            stake: Stake::Ownership,
            ..self.tagging(self.item, Change::ReOwn, Reason::Moved, set, theirs)
        })
    }

    fn tagging(
        &self,
        item: usize,
        change: fn(TagChange) -> Change,
        reason: Reason,
        mut set: Vec<String>,
        mut remove: Vec<String>,
    ) -> ActionDraft {
        set.sort();
        remove.sort();
        let mut diff = format!("  {}\n", self.context.described(self.account, item));
        diff.extend(remove.iter().map(|tag| tag_line('-', tag)));
        diff.extend(set.iter().map(|tag| tag_line('+', tag)));
        ActionDraft {
            ownership: proofs(self.context, self.account, self.item, self.seen_from),
            diff,
            undo: Undo::PutTagsBack,
            ..self.draft(item, change(TagChange { set, remove }), reason)
        }
    }

    fn draft(&self, item: usize, change: Change, reason: Reason) -> ActionDraft {
        let mut rests_on = vec![self.context.accounts[self.account].listing.clone()];
        if let Some(claimant) = self.claimant() {
            rests_on.extend([POWERVS_CLUSTER, CAPI_CLUSTER].map(|kind| kind.collection(claimant.site)));
        }
        ActionDraft { rests_on, ..ActionDraft::new(NAME, self.target(item), change, reason) }
    }

    fn target(&self, item: usize) -> Target {
        let account = &self.context.accounts[self.account];
        let found = self.context.resource(self.account, item);
        let kind = found.kind.map_or("", Kind::as_str);
        let reference = CloudRef {
            cloud: Provider::Ibm.as_str().to_owned(),
            account: account.account.clone(),
            kind: kind.to_owned(),
            id: found.id.to_string(),
            crn: found.crn.as_deref().map(str::to_owned),
            name: found.name.as_deref().map(str::to_owned),
        };
        Target {
            cluster: self.claimant().map_or_else(|| account.member.name.clone(), |one| one.site.name.clone()),
            resource: Resource { kind, ..CLOUD_RESOURCE },
            namespace: None,
            name: found.name.as_deref().unwrap_or(&found.id).to_owned(),
            uid: None,
            version: None,
            cloud: Some(Box::new(CloudTarget {
                reference,
                tags: found.tags.iter().map(str::to_owned).collect(),
                state: found.state.to_string(),
            })),
        }
    }
}

/// A line of a diff. Tags are free text of other users, and must not look like lines of ours.
fn tag_line(sign: char, tag: &str) -> String {
    format!("{sign}   tag {}\n", printable(tag, Charset::Unicode))
}
