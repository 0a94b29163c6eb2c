//! The rules, from top to bottom: the first that holds gives the verdict.
//!
//! Invariants:
//! - only both tags of a cluster make a resource its own; one tag, a name or a flag never does. What can't be tagged takes the
//!   tags of the resource that contains it;
//! - a uid counts as unowned only with every cluster's list;
//! - what isn't known is `unknown`, and says what is missing.

use super::context::{By, CheckContext, Claim, Claimant, Home, Leads};
use super::facts::{Course, Held, Lock, Shape, Slot, SpecEntry};
use super::kind::Kind;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};

/// Judges one subject.
pub fn rule(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Ruling {
    match subject {
        ResolvedSubject::Resource { account, item, seen_from } => rule_resource(context, *account, *item, *seen_from),
        ResolvedSubject::Missing { account, claimant, .. } => rule_missing(context, *account, *claimant),
        ResolvedSubject::Tag { claimant, fault } => {
            let codes = context.claimants[*claimant].fact.faults[*fault].codes.clone();
            Ruling { codes, ..Ruling::of(Verdict::TagInvalid) }
        }
        ResolvedSubject::Unplaced { .. } => Ruling::of(Verdict::Unknown),
        ResolvedSubject::Clusters { gap, .. } | ResolvedSubject::Account { gap, .. } => Ruling::unknown(gap.clone()),
    }
}

/// Judges a resource as a cluster sees it, or without a cluster.
pub fn rule_resource(context: &CheckContext<'_>, account: usize, item: usize, seen_from: Option<usize>) -> Ruling {
    let resource = context.resource(account, item);
    let is_torn = seen_from.is_some_and(|claimant| context.claimants[claimant].home == Home::Several);
    if is_elsewhere(context, account, item) || is_torn {
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
        Some(_) | None => look.tagged(),
    }
}

/// Whether a resource's CRN names another account than the one it was read from.
fn is_elsewhere(context: &CheckContext<'_>, account: usize, item: usize) -> bool {
    let named = context.resource(account, item).crn_account();
    named.is_some_and(|named| named != context.accounts[account].account)
}

fn rule_missing(context: &CheckContext<'_>, account: usize, claimant: usize) -> Ruling {
    if context.claimants[claimant].home == Home::Several {
        return Ruling::with(Verdict::Unknown, Code::AccountMismatch);
    }
    match &context.accounts[account].gap {
        Some(gap) => Ruling::unknown(gap.clone()),
        None => Ruling::of(Verdict::Gone),
    }
}

/// Whether both tags say that a resource is the cluster's, and nothing speaks against it. Its state doesn't matter here.
pub fn is_owned(context: &CheckContext<'_>, account: usize, item: usize, claimant: usize) -> bool {
    let verdict = Look { context, account, item, seen_from: Some(claimant) }.tagged().verdict;
    matches!(verdict, Verdict::Owned | Verdict::Locked)
}

/// One resource, seen from somewhere.
struct Look<'s, 'a> {
    context: &'s CheckContext<'a>,
    account: usize,
    item: usize,
    seen_from: Option<usize>,
}

impl<'a> Look<'_, 'a> {
    fn claimant(&self) -> Option<&Claimant<'a>> {
        self.seen_from.map(|claimant| &self.context.claimants[claimant])
    }

    fn claim(&self) -> Option<(Claim, Option<&'a Slot>)> {
        self.context.claim(self.account, self.item, self.seen_from?)
    }

    fn connection(&self) -> Ruling {
        let (Some(claimant), Some(seen_from)) = (self.claimant(), self.seen_from) else {
            return Ruling::of(Verdict::Foreign);
        };
        let (context, account) = (self.context, &self.context.accounts[self.account]);
        let gateway = account.parents[self.item];
        // Its gateway's word counts for nothing while it isn't known whose gateway it is.
        if gateway.is_some_and(|gateway| is_elsewhere(context, self.account, gateway)) {
            return Ruling::with(Verdict::Unknown, Code::AccountMismatch);
        }
        let is_tagged = |gateway: usize| {
            let side = context.resource(self.account, self.item).side;
            let tag = side.and_then(|side| claimant.connection_tag(side));
            tag.is_some_and(|tag| context.resource(self.account, gateway).tags.has(&tag))
        };
        let is_ours_there =
            gateway.is_some_and(|gateway| is_owned(context, self.account, gateway, seen_from) || is_tagged(gateway));
        let claim = self.claim();
        let is_created =
            claim.is_some_and(|(claim, slot)| claim.by == By::Status && slot.is_some_and(Slot::is_created));
        let is_owned = match context.leads_to(self.account, self.item, seen_from) {
            Leads::Ours => is_ours_there || is_created,
            // Whose network it leads to is not said; that the status calls it its own making is.
            Leads::NotSaid => is_created,
            Leads::Elsewhere => false,
        };
        if is_owned {
            return Ruling::of(Verdict::Owned);
        }
        match claim {
            Some((Claim { by: By::Status, .. }, Some(Slot { spec_entry: SpecEntry::Provision, .. })))
                if gateway.is_some() && !is_ours_there =>
            {
                Ruling::of(Verdict::Untagged)
            }
            Some(_) | None => Ruling::of(Verdict::Foreign),
        }
    }

    /// Takes the word of its network, else of its workspace.
    fn dhcp_server(&self) -> Ruling {
        let account = &self.context.accounts[self.account];
        let network = self.context.resource(self.account, self.item).network.as_deref();
        let speaker = network.and_then(|id| account.find(Kind::Network, id)).or(account.parents[self.item]);
        match speaker {
            Some(speaker) => {
                let Ruling { verdict, codes, gap, owner } =
                    rule_resource(self.context, self.account, speaker, self.seen_from);
                // How the network came to be known says nothing of the server.
                let codes = codes.into_iter().filter(|code| *code == Code::AccountMismatch).collect();
                // A server whose id some cluster holds is not an orphan, whatever its network's tags say.
                let is_held = self.context.is_pointed_at_by_id(self.account, self.item);
                let verdict = if verdict == Verdict::Orphan && is_held { Verdict::OtherOwner } else { verdict };
                Ruling { verdict, codes, gap, owner }
            }
            None => self.tagged(),
        }
    }

    fn tagged(&self) -> Ruling {
        let tags = &self.context.resource(self.account, self.item).tags;
        let uuids: Vec<&str> = tags.uuids().collect();
        if uuids.len() > 1 {
            return Ruling::of(Verdict::TwoOwners);
        }
        let claimant = self.claimant();
        let has_owner = claimant.is_some_and(|one| tags.has(&one.owner_tag));
        let has_uuid = claimant.is_some_and(|one| one.uuid_tag.as_ref().is_some_and(|tag| tags.has(tag)));
        if self.is_users() {
            let is_tagged = has_owner || has_uuid;
            let codes = is_tagged.then_some(Code::TaggedReference).into_iter().collect();
            return Ruling { codes, ..Ruling::of(Verdict::Reference) };
        }
        if has_owner && has_uuid {
            return Ruling::of(if self.must_go_and_can_not() { Verdict::Locked } else { Verdict::Owned });
        }
        let other_uuid = uuids.first().copied().filter(|_| !has_uuid);
        let is_named = tags.owners().next().is_some();
        if other_uuid.is_some() || (is_named && !has_owner) {
            return self.another(uuids.first().copied(), has_owner);
        }
        if has_owner || has_uuid {
            return Ruling::of(Verdict::HalfTagged);
        }
        self.bare()
    }

    /// The tags name another owner, or one of another name.
    fn another(&self, uuid: Option<&str>, has_our_name: bool) -> Ruling {
        let context = self.context;
        let Some(uuid) = uuid.filter(|uuid| context.living(uuid).is_none()) else {
            return Ruling::owned_by(Verdict::OtherOwner, uuid);
        };
        if let Some(gap) = &context.fleet_gap {
            return Ruling::unknown(gap.clone());
        }
        let verdict = if has_our_name {
            Verdict::StaleOwner
        } else if context.is_pointed_at_by_id(self.account, self.item) {
            Verdict::OtherOwner
        } else {
            Verdict::Orphan
        };
        Ruling::owned_by(verdict, Some(uuid))
    }

    /// No tag says whose it is.
    fn bare(&self) -> Ruling {
        match self.claim() {
            Some((Claim { by: By::Status, .. }, Some(slot))) if self.was_ours_to_create(slot) => {
                Ruling::of(Verdict::Untagged)
            }
            Some((Claim { by: By::Status, .. }, _)) => Ruling::with(Verdict::Foreign, Code::AdoptedByName),
            Some(_) | None => Ruling::of(Verdict::Foreign),
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

    fn was_ours_to_create(&self, slot: &Slot) -> bool {
        let is_created = matches!(slot.held, Some(Held { created: Some(true), .. }));
        let is_newer = self.claimant().is_some_and(|claimant| claimant.fact.shape == Shape::Newer);
        match slot.spec_entry {
            SpecEntry::Provision => true,
            SpecEntry::Silent => is_created || is_newer,
            SpecEntry::Unlisted
            | SpecEntry::Plain
            | SpecEntry::Named
            | SpecEntry::Given { .. }
            | SpecEntry::Reference { .. } => is_created,
        }
    }

    fn must_go_and_can_not(&self) -> bool {
        let is_locked = self.context.resource(self.account, self.item).lock == Lock::Locked;
        is_locked && self.claimant().is_some_and(Claimant::is_torn_down)
    }
}
