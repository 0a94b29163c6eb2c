//! An action as a check proposes it: exactly what would be sent, why, and the gates the check itself shuts.
//!
//! Invariants: a draft is data. Nothing here sends; planning turns drafts into [`super::Action`]s by adding
//! the tier and the gates that need more than the domain knows.
//!
//! # What `change` holds
//!
//! `label`, `annotate`: `{"set": {key: value}, "remove": [key]}`.
//!
//! `tag`, `untag`, `re-own` of a cloud resource: `{"set": [tag], "remove": [tag]}`, both sorted; with user tags also
//! `remember`, the object that remembers what was attached, and its list for this resource afterwards.
//!
//! `update` and `create` of a Secret whose content comes from another one. The value passes through no plan: the
//! executor reads the source again, which must have the uid and version of [`ActionDraft::source`], and
//! takes the bytes from there.
//!
//! ```json
//! {
//!   "copy": {
//!     "source": { "cluster": "mgmt", "apiVersion": "v1", "kind": "Secret", "namespace": "default", "name": "demo-outputs-kubeconfig" },
//!     "keys": { "value": "kubeconfig" },
//!     "remove": ["token-file"]
//!   },
//!   "labels": { "cluster.x-k8s.io/cluster-name": "demo" },
//!   "type": "cluster.x-k8s.io/secret",
//!   "owner": { "apiVersion": "…", "kind": "…", "name": "…", "uid": "…", "controller": true }
//! }
//! ```
//!
//! - `copy.keys`: each key of the target's `data`, and the key of the source it is taken from. A source without the key,
//!   or with an empty one, is refused: nothing is written. Keys of the target that are not named stay as they are.
//! - `copy.remove`: keys of the target that would disagree with the new value; absent when there are none.
//! - `labels`: set beside those that are there; absent or empty when none has to change.
//! - `type`, `owner`: for `create` alone, where the object has nothing else in it. `owner` is its one owner reference.
//! - An `update` whose target already holds the source's bytes has nothing to do and sends nothing.
//!
//! `patch`: fields that are no secret, of a kind that holds none.
//!
//! ```json
//! {
//!   "patch": { "spec": { "type": "OIDC", "webhookTokenAuthenticator": null } },
//!   "export": [ { "apiVersion": "user.openshift.io/v1", "kind": "User" } ]
//! }
//! ```
//!
//! - `patch`: the very JSON merge patch that is sent, beside uid and version.
//! - `export`: kinds whose objects are all sealed first, together with the target; nothing is sent without that.

use serde::{Deserialize, Serialize};

use super::change::Change;
use super::finding::{CheckName, SubjectId};
use super::judged::JudgedFields;
use super::reference::{CloudRef, ObjectRef};
use crate::world::{ClusterName, CollectionId, ManagedBy, Resource, ResourceVersion, Uid};

named_enum! {
    /// What would be done.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verb {
        Create = "create",
        Apply = "apply",
        Update = "update",
        Label = "label",
        Annotate = "annotate",
        Patch = "patch",
        Delete = "delete",
        Tag = "tag",
        Untag = "untag",
        ReOwn = "re-own",
    }
}

impl Verb {
    /// The RBAC verbs a Kubernetes write of this kind needs; none for cloud verbs.
    pub fn rbac(self) -> &'static [&'static str] {
        match self {
            Self::Create => &["create"],
            Self::Apply => &["patch", "create"],
            // What is changed is read and sealed before.
            Self::Update | Self::Patch => &["patch", "get"],
            Self::Label | Self::Annotate => &["patch"],
            Self::Delete => &["delete", "get"],
            Self::Tag | Self::Untag | Self::ReOwn => &[],
        }
    }
}

named_enum! {
    /// Why it would be done.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Reason {
        NoReferrer = "no-referrer",
        SourceRemoved = "source-removed",
        ClusterDeleted = "cluster-deleted",
        OidcAvailable = "oidc-available",
        OidcNotWanted = "oidc-not-wanted",
        NoOwner = "no-owner",
        Missing = "missing",
        Differs = "differs",
        Stale = "stale",
        NotLabelled = "not-labelled",
        NotTagged = "not-tagged",
        UserTag = "user-tag",
        Moved = "moved",
        TakeOver = "take-over",
    }
}

impl Reason {
    /// Whether deletes with this reason follow from one proven change of intent, so that the brake does not count them.
    pub fn is_one_intent(self) -> bool {
        match self {
            Self::ClusterDeleted | Self::OidcAvailable => true,
            Self::NoReferrer
            | Self::SourceRemoved
            | Self::OidcNotWanted
            | Self::NoOwner
            | Self::Missing
            | Self::Differs
            | Self::Stale
            | Self::NotLabelled
            | Self::NotTagged
            | Self::UserTag
            | Self::Moved
            | Self::TakeOver => false,
        }
    }
}

named_enum! {
    /// A rule that blocks an action.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum GateName {
        ReadOnly = "read-only",
        KillSwitch = "kill-switch",
        Freeze = "freeze",
        ExpiredPlan = "expired-plan",
        NotComplete = "not-complete",
        Identity = "identity",
        Ownership = "ownership",
        EmptySet = "empty-set",
        Brake = "brake",
        Fleet = "fleet",
        Clock = "clock",
        ManagedElsewhere = "managed-elsewhere",
        Access = "access",
        Policy = "policy",
        Backup = "backup",
        Insecure = "insecure",
        Settling = "settling",
        OperatorOwned = "operator-owned",
        Dependency = "dependency",
        InfraNotManaged = "infra-not-managed",
        Immutable = "immutable",
        Type = "type",
        Paused = "paused",
        Deleting = "deleting",
        /// The replica does not hold the Lease of the cluster's shard for long enough.
        Lease = "lease",
    }
}

/// A gate that is shut, with a reason a person understands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Blocked {
    pub gate: GateName,
    pub why: String,
}

/// The object an action would touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The cluster it is in. Of a cloud resource: the one whose object points at it, else the account.
    pub cluster: ClusterName,
    pub resource: Resource,
    pub namespace: Option<String>,
    pub name: String,
    /// Absent when the action creates the object.
    pub uid: Option<Uid>,
    pub version: Option<ResourceVersion>,
    /// A cloud resource, which is not an object of a cluster.
    pub cloud: Option<Box<CloudTarget>>,
}

impl Target {
    /// `openshift-config/x`, the name alone, or `demo-vpc (r006-1)`.
    pub fn place(&self) -> String {
        match (&self.cloud, &self.namespace) {
            (Some(cloud), _) => ObjectRef::from(cloud.reference.clone()).place(),
            (None, Some(namespace)) => format!("{namespace}/{}", self.name),
            (None, None) => self.name.clone(),
        }
    }
}

/// A cloud resource an action would touch, as it was judged. Clouds know no preconditions: the executor has to read the same
/// tags and the same state right before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudTarget {
    pub reference: CloudRef,
    pub tags: Vec<String>,
    pub state: String,
}

/// A secret source an action copies from: bound by uid and version, never by a digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceBinding {
    pub uid: Uid,
    pub version: ResourceVersion,
}

named_enum! {
    /// What would have to be true for the inverse to work.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Undo {
        RestoreFromBackup = "restore-from-backup",
        RemoveWhatWasAdded = "remove-what-was-added",
        DeleteWhatWasCreated = "delete-what-was-created",
        PutTagsBack = "put-tags-back",
        None = "none",
    }
}

/// Another draft that has to be done before this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    pub finding: SubjectId,
    /// Its place in that finding's remedy, from 0.
    pub order: usize,
}

/// How much is at stake by the nature of the change, before the cluster's class is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stake {
    /// Create, update, annotate: reversible.
    Reversible,
    /// A delete that a backup can bring back.
    DeleteWithBackup,
    /// Ownership marks, kinds that cascade, forced field ownership.
    Ownership,
    /// Who can log in to the cluster: the user may lose their own access.
    Login,
    /// Can't be undone, or a cloud resource.
    Irreversible,
}

/// The journal entry whose deleted object an action restores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restores {
    pub plan: String,
    pub action: String,
}

/// An action as its check proposes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionDraft {
    pub domain: CheckName,
    /// The tombstone it restores. Every other action comes from its finding.
    pub restores: Option<Restores>,
    pub target: Target,
    /// What binds a target whose version its controllers move, in place of that version.
    pub judged: Option<JudgedFields>,
    pub source: Option<SourceBinding>,
    /// Whether it is ticked when the plan opens.
    pub selected: bool,
    pub reason: Reason,
    /// Independent proofs that the target is ours to touch, one line each.
    pub ownership: Vec<String>,
    pub stake: Stake,
    /// What a person reads: `- ` and `+ ` lines, secrets as lengths.
    pub diff: String,
    /// The write; [what plans hold of it](self#what-change-holds).
    ///
    /// Read from a session recording, it has its verb and no content: such a draft is shown and never planned.
    #[serde(with = "super::recorded_change")]
    pub change: Change,
    pub undo: Undo,
    /// What has to be done first, in this plan.
    pub depends_on: Vec<Dependency>,
    /// Collections the conclusion rests on: a delete needs all of them complete and fresh.
    #[serde(skip)]
    pub rests_on: Vec<CollectionId>,
    /// Gates the domain itself can judge.
    pub blocked_by: Vec<Blocked>,
    /// The name of the actions it belongs together with: `leaked/<uuid>`.
    pub group: Option<String>,
    /// The object whose annotation a change of tags also writes.
    pub memory: Option<MemoryTarget>,
    /// The other tool that manages the target.
    #[serde(skip)]
    pub managed_by: Option<ManagedBy>,
}

/// The object in which attached tags are remembered, for the access review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryTarget {
    pub cluster: ClusterName,
    pub resource: Resource,
    pub namespace: Option<String>,
}

impl ActionDraft {
    /// A selected, reversible write that rests on nothing and has no undo, for struct update syntax.
    pub fn new(domain: CheckName, target: Target, change: Change, reason: Reason) -> Self {
        Self {
            domain,
            restores: None,
            target,
            judged: None,
            source: None,
            selected: true,
            reason,
            ownership: Vec::new(),
            stake: Stake::Reversible,
            diff: String::new(),
            change,
            undo: Undo::None,
            depends_on: Vec::new(),
            rests_on: Vec::new(),
            blocked_by: Vec::new(),
            group: None,
            memory: None,
            managed_by: None,
        }
    }

    pub fn verb(&self) -> Verb {
        self.change.verb()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;

    /// Reads each word as a plan holds it, and says it again.
    fn said<T: DeserializeOwned>(words: &str, word: impl Fn(T) -> &'static str) -> String {
        let read = |text: &str| word(serde_json::from_value(text.into()).unwrap());
        words.split(' ').map(read).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_in_plans_and_on_screens_are_the_same() {
        let verbs = "create apply update label annotate patch delete tag untag re-own";
        let reasons = "no-referrer source-removed cluster-deleted oidc-available oidc-not-wanted no-owner missing \
                       differs stale not-labelled not-tagged user-tag moved take-over";
        let gates = "read-only kill-switch freeze expired-plan not-complete identity ownership empty-set brake fleet clock access \
                     policy backup insecure settling operator-owned dependency infra-not-managed immutable type paused \
                     deleting";
        let undos = "restore-from-backup remove-what-was-added delete-what-was-created put-tags-back none";
        assert_eq!(said(verbs, Verb::as_str), verbs);
        assert_eq!(Verb::ALL.map(Verb::as_str).join(" "), verbs);
        assert_eq!(said(reasons, Reason::as_str), reasons);
        assert_eq!(said(gates, GateName::as_str), gates);
        assert_eq!(said(undos, Undo::as_str), undos);
    }
}
