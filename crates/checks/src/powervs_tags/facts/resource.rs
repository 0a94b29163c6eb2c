//! A resource of a cloud account.

use jiff::Timestamp;
use serde::Deserialize;

use super::super::kind::{Kind, Side};
use super::super::tags::Tags;
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// What is kept of a resource.
#[derive(Debug, PartialEq, Eq)]
pub struct CloudResource {
    /// Nothing for a kind no cluster is made of.
    pub kind: Option<Kind>,
    pub id: Box<str>,
    pub crn: Option<Box<str>>,
    pub name: Option<Box<str>>,
    pub state: Box<str>,
    pub created: Option<Timestamp>,
    pub tags: Tags,
    /// The VPC of a subnet, the workspace of a network, the gateway of a connection.
    pub parent: Option<Box<str>>,
    /// The network a DHCP server serves.
    pub network: Option<Box<str>>,
    /// Which end of its gateway a connection is, when it is one a cluster has.
    pub side: Option<Side>,
    /// The CRN of what a connection leads to.
    pub leads_to: Option<Box<str>>,
    pub lock: Lock,
}

/// Whether the cloud refuses to delete it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    Open,
    Locked,
}

/// What the state of a resource says of its future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    Stays,
    /// Deleted, and restorable for some days.
    Reclaiming,
    /// On its way out.
    Deleting,
}

impl CloudResource {
    pub fn course(&self) -> Course {
        let is_one_of = |words: &[&str]| words.iter().any(|word| self.state.eq_ignore_ascii_case(word));
        if is_one_of(&["pending_reclamation"]) {
            Course::Reclaiming
        } else if is_one_of(&["deleting", "delete_pending", "detaching", "pending_removal"]) {
            Course::Deleting
        } else {
            Course::Stays
        }
    }

    /// The account its CRN names: the seventh part, `a/<account>`.
    pub fn crn_account(&self) -> Option<String> {
        account_of_crn(self.crn.as_deref()?)
    }

    /// Whether an id some cluster holds means this: its own id, its CRN, or the instance its CRN names.
    pub fn is_called(&self, id: &str) -> bool {
        let is_its_crn = |crn: &str| crn == id || crn_ends(crn).contains(&id);
        *self.id == *id || self.crn.as_deref().is_some_and(is_its_crn) || crn_ends(id).contains(&&*self.id)
    }
}

/// The account a CRN names.
pub fn account_of_crn(crn: &str) -> Option<String> {
    let scope = crn.split(':').nth(6)?;
    let scope = scope.replace("%2F", "/").replace("%2f", "/");
    scope.strip_prefix("a/").filter(|account| !account.is_empty()).map(str::to_owned)
}

/// The ids a CRN ends in: its last part, or the instance where there is none.
pub fn crn_ends(crn: &str) -> Vec<&str> {
    let parts: Vec<&str> = crn.split(':').collect();
    let last = parts.get(9).copied().unwrap_or_default();
    let instance = parts.get(7).copied().unwrap_or_default();
    // A network's CRN names its workspace as the instance: that is not the network.
    let end = if last.is_empty() { instance } else { last };
    if end.is_empty() { Vec::new() } else { vec![end] }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Wire {
    crn: Option<String>,
    name: Option<String>,
    state: Option<String>,
    created_at: Option<String>,
    tags: Option<Vec<String>>,
    parent: Option<String>,
    network_type: Option<String>,
    network: Option<String>,
    network_id: Option<String>,
    locked: Option<bool>,
}

fn filled(text: Option<String>) -> Option<Box<str>> {
    text.filter(|text| !text.is_empty()).map(Into::into)
}

impl Fact for CloudResource {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(wire): Obj<Wire> = raw.field("resource")?;
        let (kind, id) = raw.meta.name.split_once('/').ok_or_else(|| raw.misfit("its name is not a kind and an id"))?;
        Ok(Self {
            kind: Kind::parse(kind),
            id: id.into(),
            crn: filled(wire.crn),
            name: filled(wire.name),
            state: wire.state.unwrap_or_default().into(),
            created: wire.created_at.and_then(|text| text.parse().ok()),
            tags: Tags::of(wire.tags.iter().flatten().map(String::as_str)),
            parent: filled(wire.parent),
            network: filled(wire.network),
            side: wire.network_type.as_deref().and_then(Side::of_network),
            leads_to: filled(wire.network_id),
            lock: if wire.locked.unwrap_or(false) { Lock::Locked } else { Lock::Open },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edge case 31: subnets carry a zone where others have a region; the account is at the same place.
    #[test]
    fn a_crn_names_its_account_and_its_end() {
        let cases = [
            ("crn:v1:bluemix:public:is:us-south:a/acc::vpc:r006-1", Some("acc"), vec!["r006-1"]),
            ("crn:v1:bluemix:public:is:us-south-1:a/acc::subnet:0717-1", Some("acc"), vec!["0717-1"]),
            ("crn:v1:bluemix:public:power-iaas:dal10:a/acc:ws-1::", Some("acc"), vec!["ws-1"]),
            ("crn:v1:staging:public:power-iaas:dal10:a%2Facc:ws-1:network:n-1", Some("acc"), vec!["n-1"]),
            ("crn:v1:bluemix:public:transit:us-south:a/acc::gateway:g-1", Some("acc"), vec!["g-1"]),
            ("crn:v1:bluemix:public:is:us-south:::vpc:r006-1", None, vec!["r006-1"]),
            ("no crn", None, vec![]),
        ];
        for (crn, account, ends) in cases {
            assert_eq!((account_of_crn(crn).as_deref(), crn_ends(crn)), (account, ends), "{crn}");
        }
    }
}
