//! An IBMPowerVSCluster as the account sees it: its tags, what its user wants, and what was attached for it.
//!
//! Invariants: only both tags make a resource its own; what was attached counts for the resource it was attached to.

use std::collections::BTreeSet;

use super::context::Home;
use super::facts::{Attached, CloudResource, Pause, PowerVsCluster, UserTags};
use super::kind::Side;
use super::names::{ATTACHED_TAGS, POWERVS_CLUSTER, USER_TAGS};
use super::settings::Settings;
use super::tags::{Fault, Mark, TagScheme, Tags, folded};
use super::verdict::Code;
use trueup_core::world::{Cluster, Gap, Key};

/// An IBMPowerVSCluster, and where its resources are.
pub struct Claimant<'a> {
    pub site: &'a Cluster,
    pub key: &'a Key,
    pub fact: &'a PowerVsCluster,
    pub home: Home,
    pub pause: Pause,
    /// Its name as owner tags hold it.
    pub owner: String,
    /// Its uid as uuid tags hold it; nothing for an object without one.
    pub uid: Option<String>,
    /// The tags the user wants, folded and sorted; nothing where that is not known.
    pub wanted: Option<Vec<String>>,
    /// Tags that would be refused, sorted.
    pub faults: Vec<Fault>,
    pub moved: Moved,
}

/// Whether the object is younger than the cluster it describes, so that its creationTimestamp says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    Yes,
    No,
    /// A resource names an owner of which it is not known whether it exists.
    NotKnown(Gap),
}

impl<'a> Claimant<'a> {
    pub fn new(site: &'a Cluster, key: &'a Key, fact: &'a PowerVsCluster, pause: Pause, settings: &Settings) -> Self {
        let scheme = &settings.scheme;
        let (wanted, mut faults) = wanted(&fact.user_tags, scheme);
        faults.extend(scheme.owner_fault(key.name.as_str()));
        if fact.attached == Attached::NotKnown {
            faults.push(not_json(ATTACHED_TAGS));
        }
        faults.sort();
        faults.dedup();
        let owner = folded(key.name.as_str());
        let (home, uid) = (Home::Nowhere, fact.uid_text());
        Self { site, key, fact, home, pause, owner, uid, wanted, faults, moved: Moved::No }
    }

    pub fn namespace(&self) -> &str {
        self.key.namespace.as_ref().map_or("", |namespace| namespace.as_str())
    }

    pub fn name(&self) -> &'a str {
        self.key.name.as_str()
    }

    /// `mgmt IBMPowerVSCluster clusters/demo`.
    pub fn described(&self) -> String {
        format!("{} {} {}", self.site.name, POWERVS_CLUSTER.kind, self.key)
    }

    /// Whether its teardown is due: it is being deleted, and the provider would act on that.
    pub fn is_torn_down(&self) -> bool {
        self.fact.is_going() && self.pause == Pause::No && self.fact.owner.is_some()
    }

    pub fn is_owner_in(&self, scheme: &TagScheme, tags: &Tags) -> bool {
        scheme.says(tags, Mark::Owner(&self.owner))
    }

    pub fn is_uuid_in(&self, scheme: &TagScheme, tags: &Tags) -> bool {
        self.uid.as_deref().is_some_and(|uid| scheme.says(tags, Mark::Uuid(uid)))
    }

    /// Whether tags are both of its own.
    pub fn owns(&self, scheme: &TagScheme, tags: &Tags) -> bool {
        self.is_owner_in(scheme, tags) && self.is_uuid_in(scheme, tags)
    }

    /// Whether the tags of a gateway say that a connection of this side is its own.
    pub fn connects(&self, scheme: &TagScheme, tags: &Tags, side: Side) -> bool {
        let side = side.as_str();
        self.uid.as_deref().is_some_and(|uid| scheme.says(tags, Mark::Connection { uid, side }))
    }

    /// Everything a tag of ours could say of this cluster.
    pub fn own_marks(&self) -> Vec<Mark<'_>> {
        let uid = self.uid.as_deref();
        let connections =
            uid.into_iter().flat_map(|uid| Side::ALL.map(|side| Mark::Connection { uid, side: side.as_str() }));
        uid.map(Mark::Uuid).into_iter().chain(connections).chain([Mark::Owner(&self.owner)]).collect()
    }

    /// The tags that were attached to a resource for this cluster.
    pub fn remembered(&self, resource: &CloudResource, scheme: &TagScheme) -> BTreeSet<&str> {
        let tags: &[String] = match &self.fact.attached {
            Attached::PerResource(by_id) => by_id.get(&*resource.id).map_or(&[], Vec::as_slice),
            Attached::ForOwned(tags) if self.owns(scheme, &resource.tags) => tags,
            Attached::ForOwned(_) | Attached::NotKnown => &[],
        };
        tags.iter().map(String::as_str).filter(|tag| !scheme.is_reserved(tag)).collect()
    }

    /// Whether its user wants a tag on its resources.
    pub fn wants(&self, tag: &str) -> bool {
        self.wanted.iter().flatten().any(|one| one == tag)
    }
}

fn wanted(given: &UserTags, scheme: &TagScheme) -> (Option<Vec<String>>, Vec<Fault>) {
    let UserTags::Given(pairs) = given else { return (None, vec![not_json(USER_TAGS)]) };
    let (mut wanted, mut faults) = (Vec::new(), Vec::new());
    for (key, value) in pairs {
        match scheme.join(key, value) {
            Ok(tag) => wanted.push(tag),
            Err(fault) => faults.push(fault),
        }
    }
    wanted.sort();
    wanted.dedup();
    (Some(wanted), faults)
}

/// An annotation that can't be read stands where its tags would.
fn not_json(annotation: &str) -> Fault {
    Fault { tag: annotation.to_owned(), codes: [Code::NotJson].into() }
}
