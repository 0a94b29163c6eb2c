//! What goes: the steps of a cluster's teardown, and what dead clusters left behind.
//!
//! Invariants: nothing is deleted but what the tags prove, or what an older status calls its own making, and nothing that
//! still holds things of others.

use super::{Draft, tag_line};
use crate::powervs_tags::claimant::Claimant;
use crate::powervs_tags::facts::{Infra, Lock};
use crate::powervs_tags::judge::rule_resource;
use crate::powervs_tags::kind::Kind;
use crate::powervs_tags::proofs::proofs;
use crate::powervs_tags::ruling::Ruling;
use crate::powervs_tags::subjects::resource;
use crate::powervs_tags::tags::Mark;
use crate::powervs_tags::verdict::Verdict;
use trueup_core::engine::{
    ActionDraft, Blocked, Change, Dependency, GateName, Reason, Stake, TagChange, Undo, empty_set,
};

impl Draft<'_, '_> {
    /// A step of the cluster's teardown; for a connection on a gateway that stays, its tag comes off after it.
    pub(super) fn delete(&self) -> Vec<ActionDraft> {
        let Some((claimant, seen_from)) = self.claimant().zip(self.seen_from) else { return Vec::new() };
        let teardown = self.context.teardown(self.account, seen_from);
        let Some(step) = teardown.steps.get(&self.item) else { return Vec::new() };
        let mut blocked_by: Vec<Blocked> = self.not_managed().into_iter().collect();
        blocked_by.extend(held(&step.holds));
        blocked_by.extend(locked(step.lock));
        blocked_by.extend(self.claimed_twice());
        blocked_by.extend(self.not_all_read());
        let delete = ActionDraft {
            depends_on: step.after.iter().map(|item| self.after(*item, Some(seen_from))).collect(),
            blocked_by,
            ..self.deleting(Reason::ClusterDeleted)
        };
        let mut actions = vec![delete];
        actions.extend(self.untag_gateway(claimant, seen_from));
        actions
    }

    /// A reference says in its own finding what comes off it; any other gateway that isn't ours has no actions itself.
    fn untag_gateway(&self, claimant: &Claimant<'_>, seen_from: usize) -> Option<ActionDraft> {
        let gateway = self.context.accounts[self.account].parents[self.item]
            .filter(|_| self.resource().kind == Some(Kind::TgConnection))?;
        let verdict = rule_resource(self.context, self.account, gateway, Some(seen_from)).verdict;
        let stays = match verdict {
            Verdict::Foreign
            | Verdict::OtherOwner
            | Verdict::TwoOwners
            | Verdict::StaleOwner
            | Verdict::Adopted
            | Verdict::NameTaken
            | Verdict::Orphan => true,
            Verdict::Owned
            | Verdict::Locked
            | Verdict::InUse
            | Verdict::Untagged
            | Verdict::HalfTagged
            | Verdict::Reference
            | Verdict::Unknown
            | Verdict::Reclaiming
            | Verdict::Deleting
            | Verdict::Gone
            | Verdict::TagInvalid
            | Verdict::FinalizerOnly => false,
        };
        let remove = self.connection_tags(gateway, claimant.uid.as_deref()?);
        if !stays || remove.is_empty() {
            return None;
        }
        let change = TagChange { remove, ..TagChange::default() };
        Some(ActionDraft {
            stake: Stake::Ownership,
            depends_on: vec![self.after(self.item, Some(seen_from))],
            blocked_by: self.not_managed().into_iter().collect(),
            ..self.tagging(gateway, Change::Untag, Reason::ClusterDeleted, change)
        })
    }

    /// The tags on a gateway that say that this connection is of a cluster with this uid.
    fn connection_tags(&self, gateway: usize, uid: &str) -> Vec<String> {
        let Some(side) = self.resource().side else { return Vec::new() };
        let tags = &self.context.resource(self.account, gateway).tags;
        let mark = Mark::Connection { uid, side: side.as_str() };
        self.context.scheme().spelled(tags, &[mark]).into_iter().collect()
    }

    /// A part of what a dead cluster left; for a connection on a gateway that stays, its tag comes off after it.
    pub(super) fn delete_orphan(&self, ruling: &Ruling) -> Vec<ActionDraft> {
        let Some(uuid) = ruling.owner.as_deref() else { return Vec::new() };
        let leaked = self.context.leaked(self.account, uuid);
        let Some(step) = leaked.steps.get(&self.item) else { return Vec::new() };
        let mut blocked_by: Vec<Blocked> = held(&step.holds).into_iter().collect();
        blocked_by.extend(locked(step.lock));
        blocked_by.extend(empty_set(self.context.claimants.len(), "the list of IBMPowerVSClusters"));
        blocked_by.extend(self.not_declared());
        let group = Some(format!("leaked/{uuid}"));
        let delete = ActionDraft {
            selected: false,
            depends_on: step.after.iter().map(|item| self.after(*item, self.orphan_seen_from(*item))).collect(),
            blocked_by,
            rests_on: self.rests_on_members(),
            group: group.clone(),
            ..self.deleting(Reason::NoOwner)
        };
        let mut actions = vec![delete];
        let gateway = self.context.accounts[self.account].parents[self.item];
        let stays = gateway
            .filter(|gateway| self.resource().kind == Some(Kind::TgConnection) && !leaked.steps.contains_key(gateway));
        let remove = stays.map(|gateway| (gateway, self.connection_tags(gateway, uuid)));
        if let Some((gateway, remove)) = remove.filter(|(_, remove)| !remove.is_empty()) {
            let change = TagChange { remove, ..TagChange::default() };
            actions.push(ActionDraft {
                selected: false,
                stake: Stake::Ownership,
                depends_on: vec![self.after(self.item, self.seen_from)],
                blocked_by: self.not_declared().into_iter().collect(),
                rests_on: self.rests_on_members(),
                group,
                ..self.tagging(gateway, Change::Untag, Reason::NoOwner, change)
            });
        }
        actions
    }

    /// From where an orphan is seen: by a cluster that matches its name, or by none.
    fn orphan_seen_from(&self, item: usize) -> Option<usize> {
        let claims = self.context.accounts[self.account].claims.get(&item)?;
        claims.keys().next().copied()
    }

    /// The first action of another resource's finding, which is its delete.
    pub(super) fn after(&self, item: usize, seen_from: Option<usize>) -> Dependency {
        Dependency { finding: resource(self.context, self.account, item, seen_from), order: 0 }
    }

    /// Without this mode the provider takes its finalizer off and touches nothing.
    pub(super) fn not_managed(&self) -> Option<Blocked> {
        let claimant = self.claimant()?;
        match claimant.fact.infra {
            Infra::Managed => None,
            Infra::NotManaged => {
                let why = format!(
                    "the provider does not manage the infrastructure of {}: neither the annotation powervs.cluster.x-k8s.io/create-infra nor spec.topology LoadBalancer says so; delete unused resources manually",
                    claimant.key
                );
                Some(Blocked { gate: GateName::InfraNotManaged, why })
            }
        }
    }

    fn deleting(&self, reason: Reason) -> ActionDraft {
        let resource = self.resource();
        let mut diff = format!("- {}\n", self.context.described(self.account, self.item));
        diff.extend(resource.tags.iter().map(|tag| tag_line('-', tag)));
        if resource.kind.is_some_and(Kind::is_kept_a_while) {
            diff.push_str("  IBM Cloud keeps it for up to 7 days; until then it can be restored there\n");
        }
        ActionDraft {
            ownership: proofs(self.context, self.account, self.item, self.seen_from),
            stake: Stake::Irreversible,
            diff,
            undo: Undo::None,
            ..self.draft(self.item, Change::Delete, reason)
        }
    }
}

fn held(holds: &[String]) -> Option<Blocked> {
    let why = format!("it still contains or connects to resources that stay: {}; remove those first", holds.join(", "));
    (!holds.is_empty()).then_some(Blocked { gate: GateName::Dependency, why })
}

fn locked(lock: Lock) -> Option<Blocked> {
    match lock {
        Lock::Open => None,
        Lock::Locked => {
            let why = "it is locked, and IBM Cloud deletes nothing that is; unlock it first".to_owned();
            Some(Blocked { gate: GateName::Immutable, why })
        }
    }
}
