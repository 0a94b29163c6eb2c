//! What proves that a resource is a cluster's, one line each.

use super::context::{By, CheckContext, Claim, Claimant, Leads};
use super::facts::CloudResource;
use super::kind::Kind;
use super::names::{OWNER_TAG, UUID_TAG};
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::Verdict;

/// The independent proofs, as a cluster sees them; without one, those of the owner the tags name.
pub fn proofs(context: &CheckContext<'_>, account: usize, item: usize, seen_from: Option<usize>) -> Vec<String> {
    let resource = context.resource(account, item);
    let claimant = seen_from.map(|claimant| &context.claimants[claimant]);
    let mut proofs = match resource.kind {
        Some(Kind::TgConnection) => connection_proofs(context, account, item, seen_from),
        Some(Kind::DhcpServer) => {
            let network = resource.network.as_deref().and_then(|id| context.accounts[account].find(Kind::Network, id));
            let speaker = network.or(context.accounts[account].parents[item]);
            speaker.map_or_else(Vec::new, |speaker| {
                let speaker = context.resource(account, speaker);
                let word = speaker.kind.map_or("", Kind::as_str);
                let tagged = tag_proofs(speaker, claimant);
                tagged.into_iter().map(|proof| format!("its {word}: {proof}")).collect()
            })
        }
        Some(_) | None => tag_proofs(resource, claimant),
    };
    if let (Some(claimant), Some(seen_from)) = (claimant, seen_from)
        && let Some((Claim { by: By::Status, .. }, Some(slot))) = context.claim(account, item, seen_from)
        && slot.is_created()
    {
        let object = claimant.described();
        proofs.push(format!("{object} holds its id in {}", slot.field));
        proofs.push(format!("{object} calls it controllerCreated in {}", slot.field));
    }
    proofs
}

/// The tags that say whose it is: those of the cluster, or of a dead owner whom they name alone.
fn tag_proofs(resource: &CloudResource, claimant: Option<&Claimant<'_>>) -> Vec<String> {
    let tags = &resource.tags;
    let ours: Vec<&str> = claimant.map_or_else(Vec::new, |one| {
        let both = [Some(one.owner_tag.as_str()), one.uuid_tag.as_deref()];
        both.into_iter().flatten().filter(|tag| tags.has(tag)).collect()
    });
    let owners = || tags.iter().filter(|tag| tag.starts_with(OWNER_TAG) || tag.starts_with(UUID_TAG));
    let is_dead_ones = ours.is_empty();
    let shown: Vec<&str> = if is_dead_ones { owners().collect() } else { ours };
    shown.into_iter().map(|tag| format!("the tag {tag}")).collect()
}

fn connection_proofs(context: &CheckContext<'_>, account: usize, item: usize, seen_from: Option<usize>) -> Vec<String> {
    let Some((claimant, seen_from)) = seen_from.map(|one| (&context.claimants[one], one)) else { return Vec::new() };
    let resource = context.resource(account, item);
    let mut proofs = Vec::new();
    if context.leads_to(account, item, seen_from) == Leads::Ours {
        let what = resource.side.map_or("network", |side| side.kind().as_str());
        proofs.push(format!("it leads to the {what} of {}", claimant.key));
    }
    let Some(gateway) = context.accounts[account].parents[item] else { return proofs };
    let gateway = context.resource(account, gateway);
    let tag = resource.side.and_then(|side| claimant.connection_tag(side));
    if let Some(tag) = tag.filter(|tag| gateway.tags.has(tag)) {
        proofs.push(format!("its gateway carries the tag {tag}"));
    }
    proofs.extend(tag_proofs(gateway, Some(claimant)).into_iter().filter_map(|proof| {
        let is_ours = gateway.tags.has(&claimant.owner_tag);
        is_ours.then(|| format!("its gateway carries {proof}"))
    }));
    proofs
}

/// How many proofs say that a subject is some cluster's.
pub fn count(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> u8 {
    let ResolvedSubject::Resource { account, item, seen_from } = *subject else { return 0 };
    match ruling.verdict {
        Verdict::Owned
        | Verdict::Locked
        | Verdict::Untagged
        | Verdict::HalfTagged
        | Verdict::StaleOwner
        | Verdict::Orphan => proofs(context, account, item, seen_from).len().try_into().unwrap_or(u8::MAX),
        Verdict::Unknown
        | Verdict::Reclaiming
        | Verdict::Deleting
        | Verdict::Gone
        | Verdict::TwoOwners
        | Verdict::Reference
        | Verdict::OtherOwner
        | Verdict::Foreign
        | Verdict::TagInvalid => 0,
    }
}
