//! A cluster's teardown: what goes, in which order, and what stands in the way.
//!
//! ```text
//! PowerVS connection → VPC connection → gateway → load balancers → groups → subnets → VPC → DHCP → network → workspace → COS
//! ```
//!
//! Invariants:
//! - only what is the cluster's own goes; a VPC, workspace or gateway that holds anything else stays;
//! - a step waits for the last step before it that can be done, and for everything inside the resource it deletes;
//! - networks and DHCP servers go with a workspace that goes, and are no steps of their own then.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::context::{By, CheckContext, Claim};
use super::facts::{Course, Lock, Shape};
use super::judge::{is_owned, rule_resource};
use super::kind::{Kind, Stage};
use super::ruling::Ruling;
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
    /// What it holds that is not the cluster's, by name.
    pub holds: Vec<String>,
    pub lock: Lock,
    /// What has to be gone before.
    pub after: BTreeSet<usize>,
}

impl Step {
    fn can_be_done(&self) -> bool {
        self.holds.is_empty() && self.lock == Lock::Open
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
        let mut teardown = Teardown::default();
        if !self.claimants[claimant].is_torn_down() {
            return teardown;
        }
        let claims = &self.accounts[account].claims;
        let claimed: Vec<usize> =
            claims.iter().filter(|(_, by)| by.contains_key(&claimant)).map(|(item, _)| *item).collect();
        let going: BTreeSet<usize> = claimed.into_iter().filter(|item| self.goes(account, *item, claimant)).collect();
        for item in &going {
            let resource = self.resource(account, *item);
            let Some(kind) = resource.kind else { continue };
            let parent = self.accounts[account].parents[*item];
            let goes_along = matches!(kind, Kind::Network | Kind::DhcpServer)
                && parent.is_some_and(|parent| going.contains(&parent) || is_owned(self, account, parent, claimant));
            if !goes_along {
                let holds = self.holds(account, *item, claimant, &going);
                let stage = Stage::of(kind, resource.side);
                teardown.steps.insert(*item, Step { stage, holds, lock: resource.lock, after: BTreeSet::new() });
            }
        }
        self.order(account, &mut teardown);
        teardown
    }

    /// Whether the cluster takes a resource with it.
    fn goes(&self, account: usize, item: usize, claimant: usize) -> bool {
        let fact = self.claimants[claimant].fact;
        let is_created = self
            .claim(account, item, claimant)
            .is_some_and(|(Claim { by, .. }, slot)| by == By::Status && slot.is_some_and(|slot| slot.is_created()));
        let Ruling { verdict, .. } = rule_resource(self, account, item, Some(claimant));
        match verdict {
            Verdict::Owned => true,
            // Made before there were tags: the status' word counts, where the shape still has one.
            Verdict::Untagged | Verdict::HalfTagged => is_created && fact.shape == Shape::Older,
            Verdict::Unknown
            | Verdict::Reclaiming
            | Verdict::Deleting
            | Verdict::Gone
            | Verdict::TwoOwners
            | Verdict::Reference
            | Verdict::Locked
            | Verdict::OtherOwner
            | Verdict::StaleOwner
            | Verdict::Orphan
            | Verdict::Foreign
            | Verdict::TagInvalid => false,
        }
    }

    /// What is inside a resource and would be lost, or blocks its deletion.
    fn holds(&self, account: usize, item: usize, claimant: usize, going: &BTreeSet<usize>) -> Vec<String> {
        let cascades = self.resource(account, item).kind == Some(Kind::Workspace);
        let is_foreign = |child: &&usize| {
            let is_leaving = self.resource(account, **child).course() != Course::Stays;
            let is_ours = || {
                let verdict = rule_resource(self, account, **child, Some(claimant)).verdict;
                cascades && matches!(verdict, Verdict::Owned | Verdict::Untagged | Verdict::HalfTagged)
            };
            !is_leaving && !going.contains(child) && !is_ours()
        };
        let children = self.accounts[account].held_by(item).iter();
        children.filter(is_foreign).map(|child| self.described(account, *child)).collect()
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

    /// What an orphan holds that is not its dead owner's, by name, and what has to go before it.
    pub fn orphan_content(&self, account: usize, item: usize, owner: &str) -> (Vec<String>, Vec<usize>) {
        let (mut holds, mut before) = (Vec::new(), Vec::new());
        for child in self.accounts[account].held_by(item) {
            let resource = self.resource(account, *child);
            if resource.course() != Course::Stays {
                continue;
            }
            let Ruling { verdict, owner: of, .. } = rule_resource(self, account, *child, None);
            match (verdict, of.as_deref() == Some(owner), resource.kind) {
                (Verdict::Orphan, true, Some(Kind::DhcpServer)) => {}
                (Verdict::Orphan, true, _) => before.push(*child),
                (_, _, _) => holds.push(self.described(account, *child)),
            }
        }
        (holds, before)
    }
}
