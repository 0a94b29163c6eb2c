//! The long answer: one line, expected beside actual, and evidence that names object and field.

use super::advice::advice;
use super::claimant::Claimant;
use super::context::{By, CheckContext, Claim, Leads};
use super::facts::{CloudResource, Held, Lock, Slot, SpecEntry};
use super::judge::user_beside;
use super::kind::Kind;
use super::messages::{fault_message, summary};
use super::provenance::owner_mark;
use super::remedy::actions;
use super::ruling::Ruling;
use super::sides::sides;
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};
use crate::evidence::line;
use trueup_core::engine::{Evidence, Explanation};
use trueup_core::world::Uid;

pub fn explain(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Explanation {
    let remedy = actions(context, subject, ruling);
    let mut evidence = evidence(context, subject, ruling);
    if remedy.is_empty() {
        evidence.extend(advice(context, subject, ruling).map(Evidence::advice));
    }
    let (expected, actual) = sides(context, subject, ruling);
    Explanation {
        uid: object_uid(context, subject),
        created: found(context, subject).and_then(|resource| resource.created),
        summary: summary(context, subject, ruling),
        expected,
        actual,
        evidence,
        remedy,
    }
}

/// The uid of the object a subject is about, when it is about one of a cluster.
fn object_uid(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Option<Uid> {
    match subject {
        ResolvedSubject::Tag { claimant, .. }
        | ResolvedSubject::Unplaced { claimant }
        | ResolvedSubject::FinalizerOnly { claimant } => Some(context.claimants[*claimant].fact.uid.clone()),
        ResolvedSubject::Resource { .. }
        | ResolvedSubject::Missing { .. }
        | ResolvedSubject::Members { .. }
        | ResolvedSubject::Clusters { .. }
        | ResolvedSubject::Account { .. } => None,
    }
}

/// The resource a subject is about, when it is there.
pub fn found<'a>(context: &CheckContext<'a>, subject: &ResolvedSubject) -> Option<&'a CloudResource> {
    match subject {
        ResolvedSubject::Resource { account, item, .. } => Some(context.resource(*account, *item)),
        ResolvedSubject::Missing { .. }
        | ResolvedSubject::Tag { .. }
        | ResolvedSubject::Unplaced { .. }
        | ResolvedSubject::FinalizerOnly { .. }
        | ResolvedSubject::Members { .. }
        | ResolvedSubject::Clusters { .. }
        | ResolvedSubject::Account { .. } => None,
    }
}

/// The cluster a subject is seen from.
pub fn seen_from<'s, 'a>(context: &'s CheckContext<'a>, subject: &ResolvedSubject) -> Option<&'s Claimant<'a>> {
    let claimant = match subject {
        ResolvedSubject::Resource { seen_from, .. } => *seen_from,
        ResolvedSubject::Missing { claimant, .. }
        | ResolvedSubject::Tag { claimant, .. }
        | ResolvedSubject::Unplaced { claimant }
        | ResolvedSubject::FinalizerOnly { claimant } => Some(*claimant),
        ResolvedSubject::Members { .. } | ResolvedSubject::Clusters { .. } | ResolvedSubject::Account { .. } => None,
    };
    claimant.map(|claimant| &context.claimants[claimant])
}

fn evidence(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Vec<Evidence> {
    let mut lines = Vec::new();
    let gap = ruling.gap.as_ref();
    match subject {
        ResolvedSubject::Resource { account, item, seen_from } => {
            lines.extend(resource_evidence(context, *account, *item));
            lines.extend(
                seen_from.map(|claimant| claim_evidence(context, *account, *item, claimant)).unwrap_or_default(),
            );
            lines.extend(
                seen_from.map(|claimant| rule_evidence(context, *account, *item, claimant, ruling)).unwrap_or_default(),
            );
            lines.extend(owner_evidence(context, *account, ruling));
        }
        ResolvedSubject::Missing { account, claimant, slot } => {
            let claimant = &context.claimants[*claimant];
            let slot = &claimant.fact.slots[*slot];
            lines.extend(slot.held.as_ref().map(|held| held_line(claimant, slot, held)));
            if gap.is_none() {
                let account = &context.accounts[*account];
                let object = format!("{} {} *", account.member.name, slot.kind.as_str());
                lines.push(line("a complete listing does not have it".to_owned(), object, ""));
            }
        }
        ResolvedSubject::Tag { claimant, fault } => {
            let claimant = &context.claimants[*claimant];
            let fault = &claimant.faults[*fault];
            lines.push(line(fault_message(fault), claimant.described(), ""));
        }
        ResolvedSubject::Unplaced { claimant } => {
            let claimant = &context.claimants[*claimant];
            let held = claimant.fact.slots.iter().filter_map(|slot| Some((slot, slot.held.as_ref()?)));
            lines.extend(held.map(|(slot, held)| held_line(claimant, slot, held)));
        }
        ResolvedSubject::FinalizerOnly { claimant } => {
            let claimant = &context.claimants[*claimant];
            let held: Vec<&str> = claimant.fact.finalizers.iter().map(|one| &**one).collect();
            lines.push(line(format!("holds {}", held.join(", ")), claimant.described(), "metadata.finalizers"));
            lines.push(line("is being deleted".to_owned(), claimant.described(), "metadata.deletionTimestamp"));
        }
        ResolvedSubject::Members { account, .. } => {
            let account = &context.accounts[*account];
            for missing in &account.members.missing {
                lines.push(line(missing.why.to_string(), missing.name.clone(), ""));
            }
            return lines;
        }
        ResolvedSubject::Clusters { .. } | ResolvedSubject::Account { .. } => {}
    }
    lines.extend(gap.map(|gap| line(gap.message.to_string(), "what is not known".to_owned(), "")));
    lines
}

fn resource_evidence(context: &CheckContext<'_>, account: usize, item: usize) -> Vec<Evidence> {
    let resource = context.resource(account, item);
    let kind = resource.kind.map_or("", Kind::as_str);
    let object = format!("{} {kind} {}", context.accounts[account].member.name, resource.id);
    let ours: Vec<&str> = resource.tags.iter().filter(|tag| context.scheme().is_reserved(tag)).collect();
    let mut lines = Vec::new();
    if resource.kind.is_some_and(Kind::is_taggable) {
        let message = match ours[..] {
            [] => "carries no tag that says whose it is".to_owned(),
            [..] => format!("carries {}", ours.join(", ")),
        };
        lines.push(line(message, object.clone(), "tags"));
    }
    if !resource.state.is_empty() {
        lines.push(line(format!("is {}", resource.state), object.clone(), "state"));
    }
    if resource.lock == Lock::Locked {
        lines.push(line("is locked".to_owned(), object.clone(), "locked: true"));
    }
    if let Some(named) = resource.crn_account().filter(|named| *named != context.accounts[account].account) {
        let message = format!("names the account {named}, and was read from {}", context.accounts[account].account);
        lines.push(line(message, object, "crn"));
    }
    let holder = match resource.kind {
        Some(Kind::TgConnection) => context.accounts[account].parents[item],
        Some(Kind::DhcpServer) => {
            let network = resource.network.as_deref().and_then(|id| context.accounts[account].find(Kind::Network, id));
            network.or(context.accounts[account].parents[item])
        }
        Some(_) | None => None,
    };
    lines.extend(holder.into_iter().flat_map(|holder| resource_evidence(context, account, holder)));
    lines
}

fn claim_evidence(context: &CheckContext<'_>, account: usize, item: usize, claimant: usize) -> Vec<Evidence> {
    let one = &context.claimants[claimant];
    let mut lines = Vec::new();
    match context.claim(account, item, claimant) {
        Some((Claim { by: By::Status, .. }, Some(slot))) => {
            lines.extend(slot.held.as_ref().map(|held| held_line(one, slot, held)));
        }
        Some((Claim { by: By::Spec, .. }, Some(slot))) => {
            lines.push(line("gives this id".to_owned(), one.described(), &slot.field.replacen("status", "spec", 1)));
        }
        Some((Claim { by: By::Name, .. }, Some(_))) => {
            lines.push(line(
                "would call its own by this name, and holds no id of it".to_owned(),
                one.described(),
                "spec",
            ));
        }
        Some(_) | None => {}
    }
    match context.leads_to(account, item, claimant) {
        Leads::Ours => lines.push(line("has what the connection leads to".to_owned(), one.described(), "status")),
        Leads::Elsewhere => {
            lines.push(line("has nothing of what the connection leads to".to_owned(), one.described(), "status"));
        }
        Leads::NotSaid => {}
    }
    if one.fact.is_going() {
        let message = if one.is_torn_down() {
            "is being deleted".to_owned()
        } else if one.fact.owner.is_none() {
            "is being deleted, and has no owner reference to a Cluster: the provider deletes nothing".to_owned()
        } else {
            "is being deleted, and is paused: the provider deletes nothing".to_owned()
        };
        lines.push(line(message, one.described(), "metadata.deletionTimestamp"));
    }
    lines
}

/// What the verdict rests on besides tags and ids.
fn rule_evidence(
    context: &CheckContext<'_>,
    account: usize,
    item: usize,
    claimant: usize,
    ruling: &Ruling,
) -> Vec<Evidence> {
    let (one, resource) = (&context.claimants[claimant], context.resource(account, item));
    let object =
        format!("{} {} {}", context.accounts[account].member.name, resource.kind.map_or("", Kind::as_str), resource.id);
    let mut lines = Vec::new();
    if ruling.verdict == Verdict::InUse
        && let Some(other) = user_beside(context, account, item, claimant)
    {
        lines.push(line("uses it and is not being deleted".to_owned(), context.claimants[other].described(), ""));
    }
    if ruling.codes.contains(&Code::CreatedBefore) {
        let times = (resource.created, one.fact.created);
        if let (Some(resource), Some(cluster)) = times {
            lines.push(line(
                format!("was created {resource}, before the cluster's object ({cluster})"),
                object.clone(),
                "created_at",
            ));
        }
    }
    if let Some(mark) = owner_mark(context, resource, one).filter(|_| ruling.codes.contains(&Code::OwnerMark)) {
        lines.push(line(format!("carries {mark}, the mark of another owner"), object, "tags"));
    }
    let slot = context.claim(account, item, claimant).and_then(|(_, slot)| slot);
    let is_provisioned = slot.is_some_and(|slot| slot.spec_entry == SpecEntry::Provision);
    if ruling.verdict == Verdict::Adopted && is_provisioned {
        let message = "has type Provision: the provider deletes this resource with the cluster".to_owned();
        lines.push(line(message, one.described(), "spec"));
    }
    lines
}

/// Who the tags name.
fn owner_evidence(context: &CheckContext<'_>, account: usize, ruling: &Ruling) -> Option<Evidence> {
    let uid = ruling.owner.as_deref()?;
    Some(match context.living(uid) {
        Some(claimant) => line(format!("has the uid {uid}"), context.claimants[claimant].described(), "metadata.uid"),
        None => {
            let members = &context.accounts[account].members.read;
            let lists = members.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            line(format!("no IBMPowerVSCluster has the uid {uid}"), format!("the lists of {lists}"), "metadata.uid")
        }
    })
}

fn held_line(claimant: &Claimant<'_>, slot: &Slot, held: &Held) -> Evidence {
    let created = match held.created {
        Some(true) => ", controllerCreated",
        Some(false) => ", not controllerCreated",
        None => "",
    };
    line(format!("holds the id {}{created}", held.id), claimant.described(), &format!("{}.id", slot.field))
}
