//! Connections of a transit gateway, which have no tags of their own: rule 3 of the reference.
//!
//! Invariants: a connection is judged by its gateway and by what it leads to; what was not seen of either is `unknown`
//! while the account is not completely known.

use super::context::{By, CheckContext, Claim, Leads};
use super::facts::{Slot, SpecEntry, account_of_crn};
use super::judge::{Look, is_owned, rule_resource};
use super::ruling::Ruling;
use super::tags::Mark;
use super::verdict::{Code, Verdict};
use trueup_core::world::Gap;

impl Look<'_, '_> {
    pub(super) fn connection(&self) -> Ruling {
        let account = &self.context.accounts[self.account];
        let gateway = account.parents[self.item];
        // Its gateway's word counts for nothing while it isn't known whose gateway it is.
        if gateway.is_some_and(|gateway| self.context.accounts[self.account].is_elsewhere(gateway)) {
            return Ruling::with(Verdict::Unknown, Code::AccountMismatch);
        }
        if let Some(gap) = self.unseen_end(gateway) {
            return Ruling::unknown(gap);
        }
        match self.seen_from {
            Some(seen_from) => self.claimed_connection(gateway, seen_from),
            None => self.stray_connection(gateway),
        }
    }

    /// Why it is not known what a connection belongs to: an end of it was not seen, and the account is not complete.
    fn unseen_end(&self, gateway: Option<usize>) -> Option<Gap> {
        let (account, resource) =
            (&self.context.accounts[self.account], self.context.resource(self.account, self.item));
        let gap = account.gap.as_ref()?;
        let is_here = |crn: &str| account_of_crn(crn).is_none_or(|named| named == account.account);
        let leads_here = resource.side.is_some() && resource.leads_to.as_deref().is_some_and(is_here);
        let is_unseen = gateway.is_none() || (leads_here && account.ends[self.item].is_none());
        is_unseen.then(|| gap.clone())
    }

    fn claimed_connection(&self, gateway: Option<usize>, seen_from: usize) -> Ruling {
        let (context, claimant) = (self.context, &self.context.claimants[seen_from]);
        let is_tagged = |gateway: usize| {
            let tags = &context.resource(self.account, gateway).tags;
            let side = context.resource(self.account, self.item).side;
            side.is_some_and(|side| claimant.connects(context.scheme(), tags, side))
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
            return self.unless_in_use(Ruling::of(Verdict::Owned));
        }
        match claim {
            Some((Claim { by: By::Status, .. }, Some(Slot { spec_entry: SpecEntry::Provision, .. })))
                if gateway.is_some() && !is_ours_there =>
            {
                self.made(seen_from)
            }
            Some(_) | None => Ruling::of(Verdict::Foreign),
        }
    }

    /// A connection that no cluster points at: a dead cluster's when both ends say so, or when only its gateway is left.
    fn stray_connection(&self, gateway: Option<usize>) -> Ruling {
        let (context, resource) = (self.context, self.context.resource(self.account, self.item));
        let dead_owner = |item: Option<usize>| orphaned_by(context, self.account, item?);
        let gateway_owner = dead_owner(gateway);
        if let (Some(uuid), Some(side)) = (dead_owner(context.accounts[self.account].ends[self.item]), resource.side) {
            let mark = Mark::Connection { uid: &uuid, side: side.as_str() };
            let says = |gateway: usize| context.scheme().says(&context.resource(self.account, gateway).tags, mark);
            if gateway_owner.as_ref() == Some(&uuid) || gateway.is_some_and(says) {
                return self.without_owner(Verdict::Orphan, &uuid);
            }
        }
        match gateway_owner {
            Some(uuid) if leads_nowhere(context, self.account, self.item) => self.without_owner(Verdict::Orphan, &uuid),
            Some(_) | None => Ruling::of(Verdict::Foreign),
        }
    }
}

/// The dead owner of an orphan; nothing for anything else.
pub fn orphaned_by(context: &CheckContext<'_>, account: usize, item: usize) -> Option<String> {
    let ruling = rule_resource(context, account, item, None);
    ruling.owner.filter(|_| ruling.verdict == Verdict::Orphan)
}

/// Whether the account that a connection leads into was read completely and has nothing there.
fn leads_nowhere(context: &CheckContext<'_>, account: usize, item: usize) -> bool {
    let resource = context.resource(account, item);
    let (Some(crn), Some(side)) = (resource.leads_to.as_deref(), resource.side) else { return false };
    let named = account_of_crn(crn).unwrap_or_else(|| context.accounts[account].account.clone());
    let place = context.accounts.iter().find(|one| one.account == named);
    place.is_some_and(|place| place.gap.is_none() && place.find(side.kind(), crn).is_none())
}
