//! The rules, from top to bottom: the first that holds gives the verdict.
//!
//! Invariants:
//! - only both tags of a cluster make a resource its own; one tag, a name or a flag never does. What can't be tagged takes the
//!   tags of the resource that contains it;
//! - a uid counts as unowned only when every member of the account's set was read;
//! - what isn't known is `unknown`, and says what is missing.

use super::claimant::{Claimant, Moved};
use super::context::{By, CheckContext, Claim, Home};
use super::facts::{Course, Infra, Lock, Shape, Slot, SpecEntry, account_of_crn};
use super::kind::Kind;
use super::provenance::{Creation, Provenance, creation, owner_mark, provenance};
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};
use trueup_core::engine::State;
use trueup_core::world::Gap;

/// Judges one subject.
pub fn rule(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Ruling {
    match subject {
        ResolvedSubject::Resource { account, item, seen_from } => rule_resource(context, *account, *item, *seen_from),
        ResolvedSubject::Missing { account, claimant, slot } => rule_missing(context, *account, *claimant, *slot),
        ResolvedSubject::Tag { claimant, fault } => {
            let codes = context.claimants[*claimant].faults[*fault].codes.clone();
            Ruling { codes, ..Ruling::of(Verdict::TagInvalid) }
        }
        ResolvedSubject::Unplaced { .. } => Ruling::of(Verdict::Unknown),
        ResolvedSubject::FinalizerOnly { .. } => Ruling::of(Verdict::FinalizerOnly),
        ResolvedSubject::Members { gap, .. } => Ruling::fleet_incomplete(gap.clone()),
        ResolvedSubject::Clusters { gap, .. } | ResolvedSubject::Account { gap, .. } => Ruling::unknown(gap.clone()),
    }
}

/// Judges a resource as a cluster sees it, or without a cluster.
pub fn rule_resource(context: &CheckContext<'_>, account: usize, item: usize, seen_from: Option<usize>) -> Ruling {
    context.rulings.set(context.rulings.get() + 1);
    let resource = context.resource(account, item);
    let is_torn = seen_from.is_some_and(|claimant| context.claimants[claimant].home == Home::Several);
    if context.accounts[account].is_elsewhere(item) || is_torn {
        return Ruling::with(Verdict::Unknown, Code::AccountMismatch);
    }
    match resource.course() {
        Course::Reclaiming => return Ruling::of(Verdict::Reclaiming),
        Course::Deleting => return Ruling::of(Verdict::Deleting),
        Course::Stays => {}
    }
    let look = Look { context, account, item, seen_from };
    match resource.kind {
        Some(Kind::TgConnection) => look.connection(),
        Some(Kind::DhcpServer) => look.dhcp_server(),
        Some(_) | None => look.unless_in_use(look.tagged()),
    }
}

/// An id that no listing has. It could be in every account the cluster may use, unless a CRN says in which.
fn rule_missing(context: &CheckContext<'_>, account: usize, claimant: usize, slot: usize) -> Ruling {
    let one = &context.claimants[claimant];
    if one.home == Home::Several {
        return Ruling::with(Verdict::Unknown, Code::AccountMismatch);
    }
    match missing_gap(context, account, claimant, slot) {
        Some(gap) => Ruling::unknown(gap),
        // What a teardown wants is there.
        None if one.fact.is_going() => Ruling { state: State::Match, ..Ruling::of(Verdict::Gone) },
        None => Ruling::of(Verdict::Gone),
    }
}

/// Why it is not known that an id of a status is gone.
pub(super) fn missing_gap(context: &CheckContext<'_>, account: usize, claimant: usize, slot: usize) -> Option<Gap> {
    let one = &context.claimants[claimant];
    let named = one.fact.slots[slot].held.as_ref().and_then(|held| account_of_crn(&held.id));
    let home = &context.accounts[account];
    if home.gap.is_none() && named.is_some_and(|named| named == home.account) {
        return None;
    }
    let allowed = context.allowed(one.site);
    home.gap.clone().or_else(|| allowed.iter().find_map(|(_, account)| account.gap.clone()))
}

/// Whether both tags say that a resource is the cluster's, and nothing speaks against it. Its state doesn't matter here.
pub fn is_owned(context: &CheckContext<'_>, account: usize, item: usize, claimant: usize) -> bool {
    let verdict = Look { context, account, item, seen_from: Some(claimant) }.tagged().verdict;
    matches!(verdict, Verdict::Owned | Verdict::Locked)
}

/// Another living cluster that uses a resource: it holds its id, or its spec names it.
pub fn user_beside(context: &CheckContext<'_>, account: usize, item: usize, claimant: usize) -> Option<usize> {
    let claims = context.accounts[account].claims.get(&item)?;
    let uses = |(other, claim): &(&usize, &Claim)| {
        let fact = context.claimants[**other].fact;
        let slot = claim.slot.map(|slot| &fact.slots[slot]);
        let is_used = match claim.by {
            By::Status | By::Spec => true,
            By::Name => slot.is_some_and(Slot::is_chosen_by_user),
            By::Tags | By::Holder => false,
        };
        **other != claimant && !fact.is_going() && is_used
    };
    claims.iter().find(uses).map(|(other, _)| *other)
}

/// One resource, seen from somewhere.
pub(super) struct Look<'s, 'a> {
    pub context: &'s CheckContext<'a>,
    pub account: usize,
    pub item: usize,
    pub seen_from: Option<usize>,
}

impl<'a> Look<'_, 'a> {
    pub fn claimant(&self) -> Option<&Claimant<'a>> {
        self.seen_from.map(|claimant| &self.context.claimants[claimant])
    }

    pub fn claim(&self) -> Option<(Claim, Option<&'a Slot>)> {
        self.context.claim(self.account, self.item, self.seen_from?)
    }

    /// Takes the word of its network, else of its workspace.
    fn dhcp_server(&self) -> Ruling {
        let account = &self.context.accounts[self.account];
        let network = self.context.resource(self.account, self.item).network.as_deref();
        let served = network.and_then(|id| account.find(Kind::Network, id));
        if let (Some(_), None, Some(gap)) = (network, served, &account.gap) {
            return Ruling::unknown(gap.clone());
        }
        match served.or(account.parents[self.item]) {
            Some(speaker) => {
                let Ruling { verdict, state, codes, gap, owner } =
                    rule_resource(self.context, self.account, speaker, self.seen_from);
                // How the network came to be known says nothing of the server; what the verdict rests on does.
                let kept = [Code::AccountMismatch, Code::FleetIncomplete, Code::FleetNotDeclared];
                let codes = codes.into_iter().filter(|code| kept.contains(code)).collect();
                // A server whose id some cluster holds is not an orphan, whatever its network's tags say.
                let is_held = self.context.is_pointed_at_by_id(self.account, self.item);
                let ruling = Ruling { verdict, state, codes, gap, owner };
                match verdict == Verdict::Orphan && is_held {
                    true => Ruling { state: Verdict::OtherOwner.state(), verdict: Verdict::OtherOwner, ..ruling },
                    false => self.unless_in_use(ruling),
                }
            }
            None => self.unless_in_use(self.tagged()),
        }
    }

    /// What would have to be deleted and is used by another living cluster is in use, whatever its tags.
    pub(super) fn unless_in_use(&self, ruling: Ruling) -> Ruling {
        let Some((claimant, seen_from)) = self.claimant().zip(self.seen_from) else { return ruling };
        let goes = claimant.is_torn_down()
            && match ruling.verdict {
                Verdict::Owned | Verdict::Locked => true,
                Verdict::Untagged | Verdict::HalfTagged => self.goes_by_flag(),
                Verdict::Unknown
                | Verdict::Reclaiming
                | Verdict::Deleting
                | Verdict::Gone
                | Verdict::TwoOwners
                | Verdict::Reference
                | Verdict::InUse
                | Verdict::OtherOwner
                | Verdict::StaleOwner
                | Verdict::Orphan
                | Verdict::Adopted
                | Verdict::NameTaken
                | Verdict::Foreign
                | Verdict::TagInvalid
                | Verdict::FinalizerOnly => false,
            };
        match goes && user_beside(self.context, self.account, self.item, seen_from).is_some() {
            true => Ruling::of(Verdict::InUse),
            false => ruling,
        }
    }

    /// Whether an object of the older shape takes it along by its status' word alone.
    pub fn goes_by_flag(&self) -> bool {
        let is_older = self.claimant().is_some_and(|claimant| claimant.fact.shape == Shape::Older);
        let is_created =
            |(claim, slot): (Claim, Option<&Slot>)| claim.by == By::Status && slot.is_some_and(Slot::is_created);
        is_older && self.claim().is_some_and(is_created)
    }

    fn tagged(&self) -> Ruling {
        let (scheme, tags) = (self.context.scheme(), &self.context.resource(self.account, self.item).tags);
        let uuids = scheme.uuids(tags);
        if uuids.len() > 1 {
            return Ruling::of(Verdict::TwoOwners);
        }
        let claimant = self.claimant();
        let has_owner = claimant.is_some_and(|one| one.is_owner_in(scheme, tags));
        let has_uuid = claimant.is_some_and(|one| one.is_uuid_in(scheme, tags));
        if self.is_users() {
            let is_tagged = has_owner || has_uuid;
            let codes = is_tagged.then_some(Code::TaggedReference).into_iter().collect();
            return Ruling { codes, ..Ruling::of(Verdict::Reference) };
        }
        if has_owner && has_uuid {
            return Ruling::of(if self.must_go_and_can_not() { Verdict::Locked } else { Verdict::Owned });
        }
        let uuid = uuids.first().copied();
        let other_uuid = uuid.filter(|_| !has_uuid);
        if other_uuid.is_some() || (scheme.names_an_owner(tags) && !has_owner) {
            return self.another(uuid, has_owner);
        }
        match (has_owner, has_uuid) {
            (true, _) => self.half_tagged(),
            (false, true) => Ruling::of(Verdict::HalfTagged),
            (false, false) => self.bare(),
        }
    }

    /// The tags name another owner, or one of another name.
    fn another(&self, uuid: Option<&str>, has_our_name: bool) -> Ruling {
        let context = self.context;
        let Some(uuid) = uuid.filter(|uuid| context.living(uuid).is_none()) else {
            return Ruling::owned_by(Verdict::OtherOwner, uuid);
        };
        if let Some(gap) = context.members_gap(self.account) {
            return Ruling::fleet_incomplete(gap);
        }
        let verdict = if has_our_name {
            Verdict::StaleOwner
        } else if context.is_pointed_at_by_id(self.account, self.item) {
            Verdict::OtherOwner
        } else {
            Verdict::Orphan
        };
        let mut ruling = self.without_owner(verdict, uuid);
        if has_our_name && !self.is_held_by_status() {
            ruling.codes.insert(Code::NameTaken);
            ruling.state = State::Error;
        }
        ruling
    }

    /// A verdict that rests on an owner being absent from the account's set of members.
    pub(super) fn without_owner(&self, verdict: Verdict, uuid: &str) -> Ruling {
        let is_declared = self.context.accounts[self.account].members.is_declared();
        let codes = (!is_declared).then_some(Code::FleetNotDeclared).into_iter().collect();
        Ruling { codes, ..Ruling::owned_by(verdict, Some(uuid)) }
    }

    fn is_held_by_status(&self) -> bool {
        matches!(self.claim(), Some((Claim { by: By::Status, .. }, _)))
    }

    /// The owner tag alone: in the newer shape a name proves as little here as without any tag.
    fn half_tagged(&self) -> Ruling {
        let Some((claimant, seen_from)) = self.claimant().zip(self.seen_from) else {
            return Ruling::of(Verdict::HalfTagged);
        };
        let codes = match claimant.fact.shape {
            Shape::Older => Default::default(),
            Shape::Newer => match provenance(self.context, self.account, self.item, seen_from) {
                Provenance::Adopted(code) => [code].into(),
                Provenance::Made(codes) => codes,
                Provenance::NotKnown(_) => [Code::FleetIncomplete].into(),
            },
        };
        Ruling { codes, ..Ruling::of(Verdict::HalfTagged) }
    }

    /// No tag says whose it is.
    fn bare(&self) -> Ruling {
        let (Some((claim, Some(slot))), Some((claimant, seen_from))) =
            (self.claim(), self.claimant().zip(self.seen_from))
        else {
            return Ruling::of(Verdict::Foreign);
        };
        match claim.by {
            By::Status if is_made_here(slot, claimant.fact.shape) => self.made(seen_from),
            By::Status if slot.is_created() => Ruling::of(Verdict::Untagged),
            By::Status => held_otherwise(slot, claimant),
            By::Name => self.named(slot, claimant, seen_from),
            By::Spec | By::Tags | By::Holder => Ruling::of(Verdict::Foreign),
        }
    }

    /// Held by the status, and the newer shape's to create: made for the cluster, unless it was there before.
    pub(super) fn made(&self, seen_from: usize) -> Ruling {
        match provenance(self.context, self.account, self.item, seen_from) {
            Provenance::Adopted(code) => Ruling::with(Verdict::Adopted, code),
            Provenance::Made(codes) => Ruling { codes, ..Ruling::of(Verdict::Untagged) },
            Provenance::NotKnown(gap) => Ruling::fleet_incomplete(gap),
        }
    }

    /// Matched by name alone: whether the provider would take it for its own.
    fn named(&self, slot: &Slot, claimant: &Claimant<'_>, seen_from: usize) -> Ruling {
        let would_take =
            claimant.fact.infra == Infra::Managed && !claimant.fact.is_going() && !slot.is_chosen_by_user();
        if !would_take {
            return Ruling::of(Verdict::Foreign);
        }
        let resource = self.context.resource(self.account, self.item);
        if owner_mark(self.context, resource, claimant).is_some() {
            return Ruling::with(Verdict::NameTaken, Code::OwnerMark);
        }
        match (&claimant.moved, creation(self.context, self.account, self.item, seen_from)) {
            (Moved::Yes, _) => Ruling::with(Verdict::Foreign, Code::Moved),
            (Moved::NotKnown(gap), Creation::Before | Creation::Unknown) => Ruling::fleet_incomplete(gap.clone()),
            (Moved::No, Creation::Before) => Ruling::with(Verdict::NameTaken, Code::CreatedBefore),
            (Moved::No, Creation::Unknown) => Ruling::with(Verdict::NameTaken, Code::CreationUnknown),
            (Moved::No | Moved::NotKnown(_), Creation::NotBefore) => Ruling::with(Verdict::Foreign, Code::NotHeldYet),
        }
    }

    /// The spec says that the provider did not create it.
    fn is_users(&self) -> bool {
        let Some((claim, Some(slot))) = self.claim() else { return false };
        match &slot.spec_entry {
            SpecEntry::Reference { .. } => true,
            SpecEntry::Given { id } => {
                // The status may call another its making than the one the spec gives.
                let is_made = claim.by == By::Status && slot.is_created();
                self.context.resource(self.account, self.item).is_called(id) && !is_made
            }
            SpecEntry::Silent | SpecEntry::Unlisted | SpecEntry::Plain | SpecEntry::Named | SpecEntry::Provision => {
                false
            }
        }
    }

    fn must_go_and_can_not(&self) -> bool {
        let is_locked = self.context.resource(self.account, self.item).lock == Lock::Locked;
        is_locked && self.claimant().is_some_and(Claimant::is_torn_down)
    }
}

/// Whether the newer shape says that the provider creates it: by its type, or because the spec lists none.
pub(super) fn is_made_here(slot: &Slot, shape: Shape) -> bool {
    match slot.spec_entry {
        SpecEntry::Provision => true,
        SpecEntry::Silent => shape == Shape::Newer,
        SpecEntry::Unlisted
        | SpecEntry::Plain
        | SpecEntry::Named
        | SpecEntry::Given { .. }
        | SpecEntry::Reference { .. } => false,
    }
}

/// Held by the status, and nothing says that the provider created it: found by its name.
fn held_otherwise(slot: &Slot, claimant: &Claimant<'_>) -> Ruling {
    let by_default_name = match slot.spec_entry {
        SpecEntry::Silent | SpecEntry::Plain => true,
        SpecEntry::Unlisted
        | SpecEntry::Named
        | SpecEntry::Given { .. }
        | SpecEntry::Provision
        | SpecEntry::Reference { .. } => false,
    };
    match (by_default_name, &claimant.moved) {
        (false, _) => Ruling::with(Verdict::Foreign, Code::AdoptedByName),
        (true, Moved::Yes) => Ruling::with(Verdict::Untagged, Code::Moved),
        (true, Moved::No) => Ruling::with(Verdict::Adopted, Code::AdoptedByName),
        (true, Moved::NotKnown(gap)) => Ruling::fleet_incomplete(gap.clone()),
    }
}
