//! The AWS accounts of the fleet, and what they say about a region.
//!
//! An account that is asked over the network is one cluster's, `aws:<cluster>`. What is wanted is passed by field
//! selectors, so that AWS is asked for the types in use alone, with the login the annotating process would have:
//!
//! ```text
//! instancetypes in the namespace us-east-1   credentials=own,types=m5.large+m6i.large
//! lookups in the namespace us-east-1         credentials=own
//! ```
//!
//! `credentials` is `secret/<namespace>/<name>` (the keys of a set's own Secret), or `own` (this machine's login, which
//! only looks types up). A folder's account is every cluster's, and is read whole.
//!
//! Invariants:
//! - a type is called not offered only by a complete list of its region, or because its name is no type's;
//! - what one account offers, a region offers: which account was asked makes no difference to a machine's size.

use std::collections::BTreeSet;

use super::facts::{Class, InstanceType, Lookup};
use super::names::{INSTANCE_TYPE, LOOKUP};
use super::verdict::Verdict;
use trueup_core::world::{
    Cluster, ClusterName, ClusterSource, CollectionId, Gap, GapCause, Key, Link, Observation, Provider, Reading, View,
};

/// An AWS account of the fleet.
#[derive(Clone, Copy)]
pub struct Account<'a> {
    pub member: &'a Cluster,
    /// The one region it is known in; empty where it answers for any.
    pub region: &'a str,
}

impl<'a> Account<'a> {
    pub fn all(view: View<'a>) -> Vec<Self> {
        view.accounts(Provider::Aws).filter_map(Self::of).collect()
    }

    pub fn is_one(cluster: &Cluster) -> bool {
        Account::of(cluster).is_some()
    }

    pub fn is_recorded(&self) -> bool {
        self.member.link == Link::Recorded
    }

    pub fn of(cluster: &'a Cluster) -> Option<Self> {
        match &cluster.source {
            ClusterSource::Cloud { provider: Provider::Aws, account, .. } => {
                Some(Self { member: cluster, region: account })
            }
            ClusterSource::Cloud { provider: Provider::Ibm, .. }
            | ClusterSource::Kubeconfig { .. }
            | ClusterSource::Hosted { .. }
            | ClusterSource::Snapshot
            | ClusterSource::Local => None,
        }
    }

    /// Whether it may answer a question.
    pub fn covers(&self, question: &Question) -> bool {
        let knows_region = self.region.is_empty() || self.region == question.region;
        knows_region && self.is_asked_for(&question.cluster)
    }

    /// Whether it may be asked about the machines of a cluster.
    pub fn is_asked_for(&self, cluster: &ClusterName) -> bool {
        self.is_recorded() || self.is_of(cluster)
    }

    /// Whether it is the one that is asked for this cluster.
    pub fn is_of(&self, cluster: &ClusterName) -> bool {
        self.member.name.as_str().strip_prefix(OWN_ACCOUNT) == Some(cluster.as_str())
    }
}

/// What the name of a live cluster's account begins with; the cluster's name follows.
const OWN_ACCOUNT: &str = "aws:";

/// The account that a live cluster's machines are looked up in.
pub fn account_of(cluster: &ClusterName) -> ClusterName {
    ClusterName::new(format!("{OWN_ACCOUNT}{cluster}"))
}

/// The cluster whose machines are looked up in a live account of this name.
pub fn cluster_of(account: &ClusterName) -> Option<ClusterName> {
    account.as_str().strip_prefix(OWN_ACCOUNT).map(ClusterName::new)
}

/// This machine's own login, as a question names it. Its failure says nothing about a set's credentials.
pub const OWN_LOGIN: &str = "own";
/// What an account calls it when there is none.
pub const OWN_LOGIN_NONE: &str = "own-login-none";

/// What is asked about one region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// Whose machines it is about.
    pub cluster: ClusterName,
    pub region: String,
    /// With whose login.
    pub login: String,
}

/// The collection that answers a question about these types.
pub fn catalogue_id(account: &Account<'_>, question: &Question, types: &BTreeSet<&str>) -> CollectionId {
    let id = CollectionId::namespaced(&account.member.name, INSTANCE_TYPE, &question.region);
    let names = types.iter().copied().collect::<Vec<_>>().join("+");
    if account.is_recorded() { id } else { id.with_fields(&format!("credentials={},types={names}", question.login)) }
}

/// The collection that says how asking went. A folder has none.
pub fn lookups_id(account: &Account<'_>, question: &Question) -> CollectionId {
    let id = CollectionId::namespaced(&account.member.name, LOOKUP, &question.region);
    id.with_fields(&format!("credentials={}", question.login))
}

/// Whether an account can be asked about a type: a name of another form is no type of AWS', and in a selector it could
/// say something else.
pub fn may_be_asked(instance_type: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !instance_type.is_empty() && instance_type.bytes().all(is_letter)
}

/// What the accounts say about one region.
pub struct Catalogue<'a> {
    region: String,
    pages: Vec<Page<'a>>,
}

/// What one account says.
struct Page<'a> {
    account: Account<'a>,
    types: Reading<'a, InstanceType>,
    lookups: Reading<'a, Lookup>,
}

/// What is known of a type in a region.
pub enum Offer<'a> {
    Offered {
        by: &'a Cluster,
        offered: &'a InstanceType,
    },
    /// A complete list of this account's does not have it.
    NotOffered {
        by: &'a Cluster,
    },
    /// No request was possible, or none was answered.
    Failed(Failure),
    /// The fleet has no account that knows the region.
    NoCatalogue,
    NotKnown(Gap),
}

/// A lookup that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub verdict: Verdict,
    pub by: String,
    /// AWS' own word for it; empty where there is none.
    pub code: String,
    pub message: String,
    /// What to do about it; may be empty.
    pub remedy: String,
    /// Who AWS said was asking; empty where it did not say.
    pub identity: String,
}

impl<'a> Catalogue<'a> {
    /// What the accounts answer to a question about these types.
    pub fn of(view: View<'a>, accounts: &[Account<'a>], question: &Question, types: &BTreeSet<&str>) -> Self {
        let page = |account: &Account<'a>| Page {
            account: *account,
            types: view.read(&catalogue_id(account, question, types)),
            lookups: view.read(&lookups_id(account, question)),
        };
        let pages = accounts.iter().filter(|account| account.covers(question)).map(page);
        // A folder's account without a region of its own knows those it lists types of.
        let knows = |page: &Page<'_>| {
            !page.account.is_recorded() || !page.account.region.is_empty() || page.types.iter().next().is_some()
        };
        Self { region: question.region.clone(), pages: pages.filter(knows).collect() }
    }

    /// What is known of a type here.
    pub fn find(&self, instance_type: &str) -> Offer<'a> {
        let key = Key::new(Some(&self.region), instance_type);
        let mut gaps = Vec::new();
        let mut without = None;
        for page in &self.pages {
            if !page.account.is_recorded() && !may_be_asked(instance_type) {
                without = without.or(Some(page.account.member));
                continue;
            }
            match page.types.get(&key) {
                Observation::Present(offered) => return Offer::Offered { by: page.account.member, offered },
                Observation::ProvenAbsent(_) => without = without.or(Some(page.account.member)),
                Observation::Unknown(gap) => gaps.push((page, gap)),
            }
        }
        let failure = self.pages.iter().find_map(Page::failure);
        match (without, failure, gaps.into_iter().next()) {
            // A complete list was answered, even if an earlier request failed.
            (Some(by), _, _) => Offer::NotOffered { by },
            (None, Some(failure), _) => Offer::Failed(failure),
            (None, None, Some((page, gap))) => page.failed(&gap).map_or(Offer::NotKnown(gap), Offer::Failed),
            (None, None, None) => Offer::NoCatalogue,
        }
    }

    /// Who AWS says is asking, as the accounts know it.
    pub fn identity(&self) -> Option<(&'a ClusterName, &'a str)> {
        self.pages.iter().find_map(|page| {
            let mut all = page.lookups.iter().map(|(_, lookup)| lookup.identity.as_ref());
            Some((&page.account.member.name, all.find(|identity| !identity.is_empty())?))
        })
    }
}

impl Page<'_> {
    /// What the last lookup says, when it failed.
    fn failure(&self) -> Option<Failure> {
        self.lookups.iter().find_map(|(_, lookup)| {
            let verdict = match lookup.class {
                Class::Fine => return None,
                Class::TokenUnreadable => Verdict::TokenUnreadable,
                Class::Denied => Verdict::Denied,
                Class::Transient => Verdict::Transient,
            };
            Some(Failure {
                verdict,
                by: self.account.member.name.to_string(),
                code: lookup.code.to_string(),
                message: lookup.message.to_string(),
                remedy: lookup.remedy.to_string(),
                identity: lookup.identity.to_string(),
            })
        })
    }

    /// What a failed list means. In a snapshot it means that the kind was left out.
    fn failed(&self, gap: &Gap) -> Option<Failure> {
        let verdict = match gap.cause {
            GapCause::Forbidden => Verdict::Denied,
            GapCause::Unauthorized => Verdict::TokenUnreadable,
            GapCause::Unreachable | GapCause::Silent => Verdict::Transient,
            GapCause::NotObserved
            | GapCause::Discovery
            | GapCause::CutShort
            | GapCause::Unreadable
            | GapCause::NotRecorded
            | GapCause::OverBudget => return None,
        };
        let by = self.account.member.name.to_string();
        let failure = Failure {
            verdict,
            by,
            code: String::new(),
            message: gap.message.to_string(),
            remedy: String::new(),
            identity: String::new(),
        };
        (!self.account.is_recorded()).then_some(failure)
    }
}
