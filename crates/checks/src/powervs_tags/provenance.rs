//! Whether a resource without ownership tags was made for the cluster that holds its id: rule 9 of the reference.
//!
//! Invariants: a resource that is older than the cluster, or that others have marked, is never taken for the cluster's own
//! making; a doubt is reported with a code, and no such code is ticked.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::claimant::{Claimant, Moved};
use super::context::CheckContext;
use super::facts::CloudResource;
use super::judge::{is_owned, rule_resource};
use super::kind::Kind;
use super::tags::is_installer_mark;
use super::verdict::{Code, Verdict};
use trueup_core::world::Gap;

/// A provider makes resources after the object it makes them for; clocks and queues differ by less than this.
const CREATED_BEFORE_MIN: SignedDuration = SignedDuration::from_mins(10);

/// How a resource came to the cluster that holds its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provenance {
    /// It is older, or marked by another owner.
    Adopted(Code),
    /// The provider may have made it. Each code is a doubt.
    Made(BTreeSet<Code>),
    /// Whether it was moved is not known.
    NotKnown(Gap),
}

/// When a resource was created, compared with the cluster's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    Before,
    NotBefore,
    Unknown,
}

/// The codes that leave it to a person whether a resource is tagged.
pub const DOUBTS: [Code; 6] = [
    Code::CreatedBefore,
    Code::CreationUnknown,
    Code::FleetIncomplete,
    Code::Moved,
    Code::OwnerMark,
    Code::TaggedByOthers,
];

/// The tests of rule 9b.
pub fn provenance(context: &CheckContext<'_>, account: usize, item: usize, seen_from: usize) -> Provenance {
    let (resource, claimant) = (context.resource(account, item), &context.claimants[seen_from]);
    if owner_mark(context, resource, claimant).is_some() {
        return Provenance::Adopted(Code::OwnerMark);
    }
    let creation = creation(context, account, item, seen_from);
    let mut codes = BTreeSet::new();
    match (&claimant.moved, creation) {
        (Moved::No, Creation::Before) => return Provenance::Adopted(Code::CreatedBefore),
        (Moved::NotKnown(gap), Creation::Before) => return Provenance::NotKnown(gap.clone()),
        (Moved::Yes, _) => {
            codes.insert(Code::Moved);
        }
        (Moved::No | Moved::NotKnown(_), Creation::NotBefore | Creation::Unknown) => {}
    }
    if creation == Creation::Unknown {
        codes.insert(Code::CreationUnknown);
    }
    let (scheme, own) = (context.scheme(), claimant.own_marks());
    let remembered = claimant.remembered(resource, scheme);
    let is_known = |tag: &str| {
        claimant.wants(tag) || remembered.contains(tag) || scheme.read(tag).is_some_and(|mark| own.contains(&mark))
    };
    if !resource.tags.iter().all(is_known) {
        codes.insert(Code::TaggedByOthers);
    }
    Provenance::Made(codes)
}

/// The tag by which another owner has marked a resource.
pub fn owner_mark<'r>(
    context: &CheckContext<'_>,
    resource: &'r CloudResource,
    claimant: &Claimant<'_>,
) -> Option<&'r str> {
    let is_theirs =
        |tag: &str| context.settings.owner_tags.iter().any(|glob| glob.matches(tag)) && !claimant.wants(tag);
    resource.tags.iter().find(|tag| is_installer_mark(tag) || is_theirs(tag))
}

/// PowerVS networks have no creation time: their workspace answers for them.
pub fn creation(context: &CheckContext<'_>, account: usize, item: usize, seen_from: usize) -> Creation {
    let resource = context.resource(account, item);
    if resource.kind == Some(Kind::Network) {
        let is_ours = |workspace: usize| {
            let made = || {
                let ruling = rule_resource(context, account, workspace, Some(seen_from));
                ruling.verdict == Verdict::Untagged && ruling.codes.is_empty()
            };
            is_owned(context, account, workspace, seen_from) || made()
        };
        let passes = context.accounts[account].parents[item].is_some_and(is_ours);
        return if passes { Creation::NotBefore } else { Creation::Unknown };
    }
    match (resource.created, context.claimants[seen_from].fact.created) {
        (Some(resource), Some(object)) if object.duration_since(resource) > CREATED_BEFORE_MIN => Creation::Before,
        (Some(_), Some(_)) => Creation::NotBefore,
        (None, _) | (_, None) => Creation::Unknown,
    }
}
