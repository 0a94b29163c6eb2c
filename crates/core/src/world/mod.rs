//! The world: what is known of the fleet, and how well.
//!
//! Pure data. Facts are typed by the domains that project them; the world stores them without listing their types.
//! [`World::apply`] takes an observer's [`Delta`] in and says what changed, so that judgements can follow step by step.
//!
//! Elsewhere: IO, clocks (time is a value), and any opinion about what is right.

mod change;
mod clock;
mod cluster;
mod collection;
mod fact;
mod fact_index;
pub mod glob;
mod groups;
mod hosting;
mod ibm_resource;
mod ids;
mod interest;
mod known;
mod managed_by;
mod marks;
mod members;
mod meta;
mod object_edit;
mod raw;
pub mod shape;
mod tracked;
mod view;

pub use change::{Change, ChangeSet, What};
pub use clock::{CLOCK_SKEW_MAX, ClockSkew, TrustedNow};
pub use cluster::{Cluster, ClusterIdentity, ClusterSource, HostedBy, Kinds, Link, Provider, RiskClass, Served};
pub use collection::{AnyCollection, Applied, Collection, Delta, Standing, keys_bytes};
pub use fact::{Fact, FactBatch, FactKind, Interner};
pub use glob::Glob;
pub use groups::Groups;
pub use ibm_resource::IbmResourceKind;
pub use ids::{ClusterName, Key, Namespace, ObjectName, Resource, ResourceVersion, Uid};
pub use interest::{CollectionId, CollectionParts, Content, Interest, Scope, Selector};
pub use known::{AbsenceProof, Completeness, Gap, GapCause, Observation, Sighting};
pub use managed_by::{FieldPath, ManagedBy, ManagingTool, patched_paths};
pub use marks::{Mark, Marks, Writers};
pub use members::{Declaration, MemberRule, MemberSet, MissingMember, NotRead};
pub use meta::{DeletionState, Meta, Owners, Pairs, RESTORED_FROM, Restoration, find};
pub use object_edit::{EditedPart, KeyedEdit, ObjectEdit};
pub use raw::{
    DataEntry, Digest, Misfit, RawField, RawManagedEntry, RawManagedFields, RawMeta, RawObject, RawOwner, SecretBytes,
};
pub use shape::Obj;
pub use tracked::{FieldValue, TrackedField, Writer};
pub use view::{Reading, View, World};
