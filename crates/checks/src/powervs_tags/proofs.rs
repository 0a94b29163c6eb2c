//! What proves that a resource is a cluster's, one line each.

use super::claimant::Claimant;
use super::connection::orphaned_by;
use super::context::{By, CheckContext, Claim, Leads};
use super::facts::CloudResource;
use super::judge::rule_resource;
use super::kind::Kind;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::tags::{Mark, TagScheme};
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
                let tagged = tag_proofs(context.scheme(), speaker, claimant);
                tagged.into_iter().map(|proof| format!("its {word}: {proof}")).collect()
            })
        }
        Some(_) | None => tag_proofs(context.scheme(), resource, claimant),
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
fn tag_proofs(scheme: &TagScheme, resource: &CloudResource, claimant: Option<&Claimant<'_>>) -> Vec<String> {
    let says = |mark: Mark<'_>| match (mark, claimant) {
        (Mark::Owner(name), Some(one)) => name == one.owner,
        (Mark::Uuid(uid), Some(one)) => Some(uid) == one.uid.as_deref(),
        (Mark::Connection { .. } | Mark::Other, _) | (Mark::Owner(_) | Mark::Uuid(_), None) => false,
    };
    let all = || resource.tags.iter().filter_map(|tag| Some((tag, scheme.read(tag)?)));
    let mut shown: Vec<&str> = all().filter(|(_, mark)| says(*mark)).map(|(tag, _)| tag).collect();
    // The name first, as people know the cluster.
    shown.sort_by_key(|tag| !matches!(scheme.read(tag), Some(Mark::Owner(_))));
    if shown.is_empty() {
        let is_owner = |mark: &Mark<'_>| matches!(mark, Mark::Owner(_) | Mark::Uuid(_));
        shown = all().filter(|(_, mark)| is_owner(mark)).map(|(tag, _)| tag).collect();
    }
    shown.into_iter().map(|tag| format!("the tag {tag}")).collect()
}

fn connection_proofs(context: &CheckContext<'_>, account: usize, item: usize, seen_from: Option<usize>) -> Vec<String> {
    let Some((claimant, seen_from)) = seen_from.map(|one| (&context.claimants[one], one)) else {
        return stray_proofs(context, account, item);
    };
    let (scheme, resource) = (context.scheme(), context.resource(account, item));
    let mut proofs = Vec::new();
    if context.leads_to(account, item, seen_from) == Leads::Ours {
        let what = resource.side.map_or("network", |side| side.kind().as_str());
        proofs.push(format!("it leads to the {what} of {}", claimant.key));
    }
    let Some(gateway) = context.accounts[account].parents[item] else { return proofs };
    let gateway = context.resource(account, gateway);
    if let (Some(side), Some(uid)) = (resource.side, claimant.uid.as_deref()) {
        let tags = scheme.spelled(&gateway.tags, &[Mark::Connection { uid, side: side.as_str() }]);
        proofs.extend(tags.into_iter().map(|tag| format!("its gateway carries the tag {tag}")));
    }
    if claimant.is_owner_in(scheme, &gateway.tags) {
        let tagged = tag_proofs(scheme, gateway, Some(claimant));
        proofs.extend(tagged.into_iter().map(|proof| format!("its gateway carries {proof}")));
    }
    proofs
}

/// What proves that a connection no cluster points at is a dead cluster's.
fn stray_proofs(context: &CheckContext<'_>, account: usize, item: usize) -> Vec<String> {
    let Ruling { owner: Some(uuid), .. } = rule_resource(context, account, item, None) else { return Vec::new() };
    let (scheme, resource) = (context.scheme(), context.resource(account, item));
    let mut proofs = Vec::new();
    if let Some(gateway) = context.accounts[account].parents[item] {
        let tags = &context.resource(account, gateway).tags;
        if orphaned_by(context, account, gateway).as_ref() == Some(&uuid) {
            let tagged = tag_proofs(scheme, context.resource(account, gateway), None);
            proofs.extend(tagged.into_iter().map(|proof| format!("its gateway carries {proof}")));
        }
        if let Some(side) = resource.side {
            let tags = scheme.spelled(tags, &[Mark::Connection { uid: &uuid, side: side.as_str() }]);
            proofs.extend(tags.into_iter().map(|tag| format!("its gateway carries the tag {tag}")));
        }
    }
    let end = context.accounts[account].ends[item];
    if end.and_then(|end| orphaned_by(context, account, end)).as_ref() == Some(&uuid) {
        proofs.push(format!("it leads to a resource with the uuid {uuid}"));
    }
    proofs
}

/// How many proofs say that a subject is some cluster's.
pub fn count(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> u8 {
    let ResolvedSubject::Resource { account, item, seen_from } = *subject else { return 0 };
    match ruling.verdict {
        Verdict::Owned
        | Verdict::Locked
        | Verdict::InUse
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
        | Verdict::Adopted
        | Verdict::NameTaken
        | Verdict::Foreign
        | Verdict::TagInvalid
        | Verdict::FinalizerOnly => 0,
    }
}
