//! What could be done about a ruling, as data: tags on, tags off, a new owner, and teardown.
//!
//! Invariants:
//! - ownership tags are attached only where the status holds the id, both in one call;
//! - from a resource the cluster did not create, only our own tags are detached: never another cluster's;
//! - nothing is deleted but what the tags prove, or what an older status calls its own making;
//! - who is not sure whose it is has no action.

mod deletes;
mod user_tags;

use super::NAME;
use super::claimant::Claimant;
use super::context::{By, CheckContext, Claim};
use super::facts::CloudResource;
use super::judge::rule_resource;
use super::kind::Kind;
use super::names::{CAPI_CLUSTER, CLOUD_RESOURCE, POWERVS_CLUSTER};
use super::proofs::proofs;
use super::provenance::{DOUBTS, owner_mark};
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::tags::Mark;
use super::verdict::Verdict;
use trueup_core::engine::text::{Charset, printable};
use trueup_core::engine::{
    ActionDraft, Blocked, Change, CloudRef, CloudTarget, GateName, Reason, Stake, TagChange, Target, Undo,
};
use trueup_core::world::{CollectionId, Provider, Resource};

pub use user_tags::user_tags_if;

/// The actions a ruling calls for.
pub fn actions(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Vec<ActionDraft> {
    let ResolvedSubject::Resource { account, item, seen_from } = *subject else { return Vec::new() };
    let draft = Draft { context, account, item, seen_from };
    let is_going = draft.claimant().is_some_and(|claimant| claimant.fact.is_going());
    match (ruling.verdict, is_going) {
        (Verdict::Orphan, _) => draft.delete_orphan(ruling),
        (Verdict::StaleOwner, _) => draft.re_own().into_iter().collect(),
        (Verdict::Owned | Verdict::Untagged | Verdict::HalfTagged, true) => draft.delete(),
        (Verdict::Untagged | Verdict::HalfTagged, false) => {
            let is_doubtful = DOUBTS.iter().any(|code| ruling.codes.contains(code));
            let tag = draft.tag(Reason::NotTagged);
            tag.map(|tag| ActionDraft { selected: !is_doubtful, ..tag }).into_iter().collect()
        }
        (Verdict::Adopted, false) => draft.take_over().into_iter().collect(),
        (Verdict::Owned, false) => draft.user_tags(),
        (Verdict::Reference, true) => draft.leave().into_iter().collect(),
        (Verdict::Reference, false) => draft.reference_tags(),
        (
            Verdict::Unknown
            | Verdict::Reclaiming
            | Verdict::Deleting
            | Verdict::Gone
            | Verdict::TwoOwners
            | Verdict::Locked
            | Verdict::InUse
            | Verdict::OtherOwner
            | Verdict::Adopted
            | Verdict::NameTaken
            | Verdict::Foreign
            | Verdict::TagInvalid
            | Verdict::FinalizerOnly,
            _,
        ) => Vec::new(),
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
        let scheme = self.context.scheme();
        let uid = claimant.uid.as_deref().filter(|_| scheme.owner_fault(claimant.name()).is_none())?;
        Some(vec![scheme.uuid(uid), scheme.owner(claimant.name())])
    }

    fn tag(&self, reason: Reason) -> Option<ActionDraft> {
        match self.resource().kind {
            Some(Kind::TgConnection) => self.tag_gateway(reason),
            Some(Kind::DhcpServer) | None => None,
            Some(_) if !self.is_held_by_status() => None,
            Some(_) => {
                let set = self.owner_tags()?;
                Some(ActionDraft {
                    stake: Stake::Ownership,
                    blocked_by: self.claimed_twice().into_iter().collect(),
                    ..self.tagging(self.item, Change::Tag, reason, TagChange { set, ..TagChange::default() })
                })
            }
        }
    }

    /// Takes what was adopted for the cluster's own, which only a person can decide; never what others have marked.
    fn take_over(&self) -> Option<ActionDraft> {
        let claimant = self.claimant()?;
        let mut draft = ActionDraft { selected: false, ..self.tag(Reason::TakeOver)? };
        if let Some(mark) = owner_mark(self.context, self.resource(), claimant) {
            let why = format!(
                "it carries {}, the mark of another owner; have that owner remove it first",
                printable(mark, Charset::Unicode)
            );
            draft.blocked_by.push(Blocked { gate: GateName::Ownership, why });
        }
        Some(draft)
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
    fn tag_gateway(&self, reason: Reason) -> Option<ActionDraft> {
        let gateway = self.context.accounts[self.account].parents[self.item]?;
        let verdict = rule_resource(self.context, self.account, gateway, self.seen_from).verdict;
        let is_foreign = match verdict {
            Verdict::Reference | Verdict::Foreign | Verdict::OtherOwner | Verdict::TwoOwners | Verdict::Orphan => true,
            // Its uid tag is a dead cluster's, so it is not ours, and whether it ever is again is for a person to say: a new
            // owner is not ticked. Until then nothing else would say that the connection is ours.
            Verdict::StaleOwner => true,
            Verdict::Adopted | Verdict::NameTaken => true,
            // A gateway of ours says it by its own tags.
            Verdict::Owned | Verdict::Locked | Verdict::InUse | Verdict::Untagged | Verdict::HalfTagged => false,
            Verdict::Unknown
            | Verdict::Reclaiming
            | Verdict::Deleting
            | Verdict::Gone
            | Verdict::TagInvalid
            | Verdict::FinalizerOnly => false,
        };
        let (uid, side) = self.claimant()?.uid.as_deref().zip(self.resource().side).filter(|_| is_foreign)?;
        let set = vec![self.context.scheme().connection(uid, side)];
        Some(ActionDraft {
            stake: Stake::Ownership,
            ..self.tagging(gateway, Change::Tag, reason, TagChange { set, ..TagChange::default() })
        })
    }

    fn re_own(&self) -> Option<ActionDraft> {
        let is_taggable = self.resource().kind.is_some_and(Kind::is_taggable);
        let set = self.owner_tags().filter(|_| is_taggable && self.is_held_by_status())?;
        let (scheme, tags) = (self.context.scheme(), &self.resource().tags);
        let theirs: Vec<Mark<'_>> = scheme.uuids(tags).into_iter().map(Mark::Uuid).collect();
        let remove = scheme.spelled(tags, &theirs).into_iter().collect();
        Some(ActionDraft {
            selected: false,
            stake: Stake::Ownership,
            blocked_by: self.not_declared().into_iter().collect(),
            rests_on: self.rests_on_members(),
            ..self.tagging(self.item, Change::ReOwn, Reason::Moved, TagChange { set, remove, remember: None })
        })
    }

    /// What rests on an owner being absent needs a set of members that is declared to be all there are.
    fn not_declared(&self) -> Option<Blocked> {
        let account = &self.context.accounts[self.account];
        if account.members.is_declared() {
            return None;
        }
        let why = format!(
            "{} does not declare its management clusters: another cluster could own it; list all of them in management_clusters and set management_clusters_complete = true",
            account.member.name
        );
        Some(Blocked { gate: GateName::Fleet, why })
    }

    /// Not every cluster that could use a resource was read.
    fn not_all_read(&self) -> Option<Blocked> {
        let gap = self.context.accounts[self.account].members.gap()?;
        let why =
            format!("a cluster that was not read could use it: {gap}; include every management cluster in the run");
        Some(Blocked { gate: GateName::Fleet, why })
    }

    /// The account, and every list of clusters.
    fn rests_on_members(&self) -> Vec<CollectionId> {
        let mut rests_on = vec![self.context.accounts[self.account].listing.clone()];
        rests_on.extend(self.context.fleet.iter().cloned());
        if let Some(claimant) = self.claimant() {
            rests_on.push(CAPI_CLUSTER.collection(claimant.site));
        }
        rests_on
    }

    fn tagging(
        &self,
        item: usize,
        change: fn(TagChange) -> Change,
        reason: Reason,
        mut tags: TagChange,
    ) -> ActionDraft {
        tags.set.sort();
        tags.remove.sort();
        let mut diff = format!("  {}\n", self.context.described(self.account, item));
        diff.extend(tags.remove.iter().map(|tag| tag_line('-', tag)));
        diff.extend(tags.set.iter().map(|tag| tag_line('+', tag)));
        ActionDraft {
            ownership: proofs(self.context, self.account, self.item, self.seen_from),
            diff,
            undo: Undo::PutTagsBack,
            ..self.draft(item, change(tags), reason)
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
