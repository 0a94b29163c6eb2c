//! The long answer: one line, expected beside actual, and evidence that names object and field.

use serde_json::{Map, Value, json};

use super::context::{By, CheckContext, Claim, Claimant, Leads};
use super::facts::{CloudResource, Held, Slot, UserTags};
use super::kind::Kind;
use super::messages::{fault_message, summary};
use super::remedy::actions;
use super::ruling::Ruling;
use super::settings::Settings;
use super::subjects::ResolvedSubject;
use super::tags::is_ours_by_prefix;
use crate::evidence::line;
use trueup_core::engine::{Evidence, Explanation};
use trueup_core::world::Uid;

pub fn explain(
    settings: Settings,
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    ruling: &Ruling,
) -> Explanation {
    Explanation {
        uid: object_uid(context, subject),
        created: found(context, subject).and_then(|resource| resource.created),
        summary: summary(context, subject, ruling),
        expected: expected(context, subject),
        actual: actual(context, subject),
        evidence: evidence(context, subject, ruling),
        remedy: actions(settings, context, subject, ruling),
    }
}

/// The uid of the object a subject is about, when it is about one of a cluster.
fn object_uid(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Option<Uid> {
    match subject {
        ResolvedSubject::Tag { claimant, .. } | ResolvedSubject::Unplaced { claimant } => {
            Some(context.claimants[*claimant].fact.uid.clone())
        }
        ResolvedSubject::Resource { .. }
        | ResolvedSubject::Missing { .. }
        | ResolvedSubject::Clusters { .. }
        | ResolvedSubject::Account { .. } => None,
    }
}

/// The resource a subject is about, when it is there.
fn found<'a>(context: &CheckContext<'a>, subject: &ResolvedSubject) -> Option<&'a CloudResource> {
    match subject {
        ResolvedSubject::Resource { account, item, .. } => Some(context.resource(*account, *item)),
        ResolvedSubject::Missing { .. }
        | ResolvedSubject::Tag { .. }
        | ResolvedSubject::Unplaced { .. }
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
        | ResolvedSubject::Unplaced { claimant } => Some(*claimant),
        ResolvedSubject::Clusters { .. } | ResolvedSubject::Account { .. } => None,
    };
    claimant.map(|claimant| &context.claimants[claimant])
}

/// The tags of a resource that is the cluster's, and what the user wants on it.
fn expected(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Value {
    let Some(claimant) = seen_from(context, subject) else { return json!({}) };
    let is_taggable = match subject {
        ResolvedSubject::Resource { account, item, .. } => {
            context.resource(*account, *item).kind.is_some_and(Kind::is_taggable)
        }
        ResolvedSubject::Missing { .. } => return json!({ "exists": true }),
        ResolvedSubject::Tag { .. }
        | ResolvedSubject::Unplaced { .. }
        | ResolvedSubject::Clusters { .. }
        | ResolvedSubject::Account { .. } => false,
    };
    let mut expected = Map::new();
    expected.insert("cluster".into(), json!(claimant.key.to_string()));
    if is_taggable {
        let mut tags: Vec<&str> = claimant.uuid_tag.as_deref().into_iter().collect();
        tags.push(&claimant.owner_tag);
        if let UserTags::Wanted(wanted) = &claimant.fact.user_tags {
            tags.extend(wanted.iter().map(String::as_str));
        }
        tags.sort_unstable();
        expected.insert("tags".into(), json!(tags));
    }
    Value::Object(expected)
}

fn actual(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Value {
    let Some(resource) = found(context, subject) else {
        return match subject {
            ResolvedSubject::Missing { .. } => json!({ "exists": false }),
            ResolvedSubject::Resource { .. }
            | ResolvedSubject::Tag { .. }
            | ResolvedSubject::Unplaced { .. }
            | ResolvedSubject::Clusters { .. }
            | ResolvedSubject::Account { .. } => json!({}),
        };
    };
    let mut actual = Map::new();
    actual.insert("id".into(), json!(&*resource.id));
    let texts = [
        ("name", resource.name.as_deref()),
        ("crn", resource.crn.as_deref()),
        ("parent", resource.parent.as_deref()),
        ("network", resource.network.as_deref()),
        ("leads_to", resource.leads_to.as_deref()),
        ("state", Some(&*resource.state).filter(|state| !state.is_empty())),
    ];
    actual.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), json!(text?)))));
    if resource.kind.is_some_and(Kind::is_taggable) {
        actual.insert("tags".into(), json!(resource.tags.iter().collect::<Vec<_>>()));
    }
    Value::Object(actual)
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
            lines.extend(owner_evidence(context, ruling));
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
            let fault = &claimant.fact.faults[*fault];
            lines.push(line(fault_message(fault), claimant.described(), ""));
        }
        ResolvedSubject::Unplaced { claimant } => {
            let claimant = &context.claimants[*claimant];
            let held = claimant.fact.slots.iter().filter_map(|slot| Some((slot, slot.held.as_ref()?)));
            lines.extend(held.map(|(slot, held)| held_line(claimant, slot, held)));
        }
        ResolvedSubject::Clusters { .. } | ResolvedSubject::Account { .. } => {}
    }
    lines.extend(gap.map(|gap| line(gap.message.clone(), "what is not known".to_owned(), "")));
    lines
}

fn resource_evidence(context: &CheckContext<'_>, account: usize, item: usize) -> Vec<Evidence> {
    let resource = context.resource(account, item);
    let kind = resource.kind.map_or("", Kind::as_str);
    let object = format!("{} {kind} {}", context.accounts[account].member.name, resource.id);
    let ours: Vec<&str> = resource.tags.iter().filter(|tag| is_ours_by_prefix(tag)).collect();
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

/// Who the tags name.
fn owner_evidence(context: &CheckContext<'_>, ruling: &Ruling) -> Option<Evidence> {
    let uid = ruling.owner.as_deref()?;
    Some(match context.living(uid) {
        Some(claimant) => line(format!("has the uid {uid}"), context.claimants[claimant].described(), "metadata.uid"),
        None => {
            let lists = context.fleet.iter().map(|id| id.cluster.to_string()).collect::<Vec<_>>().join(", ");
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
