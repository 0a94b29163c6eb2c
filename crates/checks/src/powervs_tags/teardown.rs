//! A cluster's teardown: what goes, in which order, and what stands in the way.
//!
//! ```text
//! PowerVS connection → VPC connection → gateway → load balancers → groups → subnets → VPC → DHCP → network → workspace → COS
//! ```
//!
//! Invariants:
//! - only what is the cluster's own goes; a VPC, workspace or gateway that holds anything else stays;
//! - a connection is held by both of its ends;
//! - a step waits for the last step before it that can be done, and for everything inside the resource it deletes;
//! - networks and DHCP servers go with a workspace that goes, and are no steps of their own then.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::context::{CheckContext, Orphans};
use super::facts::{CloudResource, Course, Lock};
use super::judge::{Look, is_owned, rule_resource};
use super::kind::{Kind, Side, Stage};
use super::proofs::proofs;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::Verdict;
use trueup_core::engine::text::{Charset, printable};

/// The teardown of one cluster, in its account.
#[derive(Debug, Default)]
pub struct Teardown {
    /// Every resource that goes, by its place in the account.
    pub steps: BTreeMap<usize, Step>,
}

/// One resource that goes.
#[derive(Debug)]
pub struct Step {
    pub stage: Stage,
    /// What it holds that does not go, by name.
    pub holds: Vec<String>,
    pub lock: Lock,
    pub proven: Proven,
    /// What has to be gone before.
    pub after: BTreeSet<usize>,
}

/// Whether enough says whose a resource is for it to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proven {
    Yes,
    No,
}

/// A delete needs two proofs; the gate `ownership` blocks one with fewer.
const PROOFS_MIN: usize = 2;

impl Step {
    fn can_be_done(&self) -> bool {
        self.holds.is_empty() && self.lock == Lock::Open && self.proven == Proven::Yes
    }
}

impl CheckContext<'_> {
    /// The teardown of a cluster that is due one; empty for any other.
    pub fn teardown(&self, account: usize, claimant: usize) -> Rc<Teardown> {
        if let Some(made) = self.teardowns.borrow().get(&claimant) {
            return made.clone();
        }
        let made = Rc::new(self.make_teardown(account, claimant));
        self.teardowns.borrow_mut().insert(claimant, made.clone());
        made
    }

    fn make_teardown(&self, account: usize, claimant: usize) -> Teardown {
        if !self.claimants[claimant].is_torn_down() {
            return Teardown::default();
        }
        let claimed = self.accounts[account].claimed_by(claimant);
        let going: BTreeSet<usize> = claimed.filter(|item| self.goes(account, *item, claimant)).collect();
        let goes_along = |item: usize| {
            let kind = self.resource(account, item).kind;
            let goes = |parent: usize| {
                let stays = || rule_resource(self, account, parent, Some(claimant)).verdict == Verdict::InUse;
                going.contains(&parent) || (is_owned(self, account, parent, claimant) && !stays())
            };
            matches!(kind, Some(Kind::Network | Kind::DhcpServer))
                && self.accounts[account].parents[item].is_some_and(goes)
        };
        let is_ours = |child: usize| {
            let verdict = rule_resource(self, account, child, Some(claimant)).verdict;
            matches!(verdict, Verdict::Owned | Verdict::Untagged | Verdict::HalfTagged)
        };
        let steps: BTreeSet<usize> = going.iter().copied().filter(|item| !goes_along(*item)).collect();
        self.steps(account, Some(claimant), &steps, |holder, child| {
            let cascades = self.resource(account, holder).kind == Some(Kind::Workspace);
            going.contains(&child) || (cascades && is_ours(child))
        })
    }

    /// What a dead cluster left in an account: everything of its uid, connections and DHCP servers included, in order.
    pub fn leaked(&self, account: usize, uuid: &str) -> Rc<Teardown> {
        let key = (account, uuid.to_owned());
        if let Some(made) = self.leaked.borrow().get(&key) {
            return made.clone();
        }
        let none = BTreeSet::new();
        let set = self.orphans.get_or_init(|| self.find_orphans()).get(&key).unwrap_or(&none);
        let made = Rc::new(self.steps(account, None, set, |_, child| set.contains(&child)));
        self.leaked.borrow_mut().insert(key, made.clone());
        made
    }

    /// What all dead clusters left, in one look at the subjects.
    fn find_orphans(&self) -> Orphans {
        let mut orphans = Orphans::new();
        for subject in self.subjects.values() {
            let ResolvedSubject::Resource { account, item, seen_from } = *subject else { continue };
            let ruling = rule_resource(self, account, item, seen_from);
            if let (Verdict::Orphan, Some(uuid)) = (ruling.verdict, ruling.owner) {
                orphans.entry((account, uuid)).or_default().insert(item);
            }
        }
        orphans
    }

    /// The steps for a set of resources, of a cluster or of a dead one. `goes_too` says whether something inside one of them goes with the set.
    fn steps(
        &self,
        account: usize,
        claimant: Option<usize>,
        set: &BTreeSet<usize>,
        goes_too: impl Fn(usize, usize) -> bool,
    ) -> Teardown {
        let mut teardown = Teardown::default();
        for item in set {
            let resource = self.resource(account, *item);
            let Some(kind) = resource.kind else { continue };
            let holds = self.holds(account, *item, &goes_too);
            let stage = Stage::of(kind, resource.side);
            let is_proven = claimant.is_some() || proofs(self, account, *item, None).len() >= PROOFS_MIN;
            let proven = if is_proven { Proven::Yes } else { Proven::No };
            let (lock, after) = (resource.lock, BTreeSet::new());
            teardown.steps.insert(*item, Step { stage, holds, lock, proven, after });
        }
        self.order(account, &mut teardown);
        teardown
    }

    /// Whether the cluster takes a resource with it.
    fn goes(&self, account: usize, item: usize, claimant: usize) -> bool {
        let Ruling { verdict, .. } = rule_resource(self, account, item, Some(claimant));
        match verdict {
            Verdict::Owned => true,
            // Made before there were tags: the status' word counts, where the shape still has one.
            Verdict::Untagged | Verdict::HalfTagged => {
                Look { context: self, account, item, seen_from: Some(claimant) }.goes_by_flag()
            }
            Verdict::Unknown
            | Verdict::Reclaiming
            | Verdict::Deleting
            | Verdict::Gone
            | Verdict::TwoOwners
            | Verdict::Reference
            | Verdict::Locked
            | Verdict::InUse
            | Verdict::OtherOwner
            | Verdict::StaleOwner
            | Verdict::Orphan
            | Verdict::Adopted
            | Verdict::NameTaken
            | Verdict::Foreign
            | Verdict::TagInvalid
            | Verdict::FinalizerOnly => false,
        }
    }

    /// What is inside a resource, or connected to it, and would be lost or blocks its deletion.
    fn holds(&self, account: usize, item: usize, goes_too: impl Fn(usize, usize) -> bool) -> Vec<String> {
        let inside = self.accounts[account].held_by(item).iter().copied();
        let connected = self.accounts[account].connected_to(item).iter().copied();
        let stays = |child: &usize| self.resource(account, *child).course() == Course::Stays && !goes_too(item, *child);
        let mut holds: Vec<String> =
            inside.chain(connected).filter(stays).map(|child| self.described(account, child)).collect();
        holds.extend(self.connected_from_elsewhere(account, item));
        holds
    }

    /// Connections of gateways in other accounts that lead to a VPC or workspace of this one.
    fn connected_from_elsewhere(&self, account: usize, item: usize) -> Vec<String> {
        let resource = self.resource(account, item);
        let mut found = Vec::new();
        for (place, other) in self.accounts.iter().enumerate().filter(|(place, _)| *place != account) {
            let leads_here = |one: &CloudResource| {
                one.side.map(Side::kind) == resource.kind
                    && one.leads_to.as_deref().is_some_and(|crn| resource.crn.as_deref() == Some(crn))
            };
            let stays = |one: &CloudResource| one.course() == Course::Stays;
            let items = other.items.iter().enumerate().filter(|(_, one)| leads_here(one) && stays(one));
            found.extend(items.map(|(there, _)| format!("{} of {}", self.described(place, there), other.member.name)));
        }
        found
    }

    /// `subnet demo-subnet (0717-1)`: one line, whatever people call their things.
    pub fn described(&self, account: usize, item: usize) -> String {
        let resource = self.resource(account, item);
        let kind = resource.kind.map_or("", Kind::as_str);
        let text = match &resource.name {
            Some(name) => format!("{kind} {name} ({})", resource.id),
            None => format!("{kind} {}", resource.id),
        };
        printable(&text, Charset::Unicode)
    }

    fn order(&self, account: usize, teardown: &mut Teardown) {
        let mut by_stage: BTreeMap<Stage, Vec<usize>> = BTreeMap::new();
        for (item, step) in &teardown.steps {
            if step.can_be_done() {
                by_stage.entry(step.stage).or_default().push(*item);
            }
        }
        let all: Vec<(usize, Stage)> = teardown.steps.iter().map(|(item, step)| (*item, step.stage)).collect();
        for (item, step) in &mut teardown.steps {
            if let Some((_, before)) = by_stage.range(..step.stage).next_back() {
                step.after.extend(before);
            }
            let inside = all.iter().filter(|(other, stage)| self.is_inside(account, *other, *stage, *item));
            step.after.extend(inside.map(|(other, _)| *other));
        }
    }

    /// Whether one resource that goes has to be gone before another can.
    fn is_inside(&self, account: usize, inner: usize, stage: Stage, outer: usize) -> bool {
        let is_held = self.accounts[account].parents[inner] == Some(outer);
        let resource = self.resource(account, inner);
        let leads = || {
            let end = resource.side.zip(resource.leads_to.as_deref());
            end.and_then(|(side, crn)| self.accounts[account].find(side.kind(), crn)) == Some(outer)
        };
        is_held
            || match (stage, self.resource(account, outer).kind) {
                (Stage::PowerVsConnection | Stage::VpcConnection, Some(Kind::Vpc | Kind::Workspace)) => leads(),
                (Stage::LoadBalancers, Some(Kind::SecurityGroup | Kind::Subnet | Kind::Vpc)) => true,
                (Stage::Dhcp, Some(Kind::Network)) => {
                    resource.network.as_deref().is_some_and(|id| self.resource(account, outer).is_called(id))
                }
                (_, _) => false,
            }
    }
}
