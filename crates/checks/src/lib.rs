//! The checks. Each is one folder here and one line in [`registry`]; no other crate knows any of them by name.
//!
//! Invariants: a domain is pure. It reads a [`trueup_core::world::View`], and what it wants to see it declares as interests.

pub mod causes;
pub mod comparison;
mod contract;
mod duration;
mod evidence;
pub mod external_oidc;
pub mod hosted_oidc;
pub mod judgements;
pub mod kinds;
pub mod kubeconfig;
pub mod machineset_capacity;
mod managed_elsewhere;
mod nearest;
mod outline;
pub mod permissions;
pub mod powervs_tags;
mod present;
pub mod registry;
mod relations;
mod rules;
mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod workload;

pub use contract::{
    Check, DiscoveryProbe, GuestUse, KubeconfigProbe, Pass, Probe, RoleProbe, RuledSubject, Touched, TouchedNamespace,
};
pub use duration::{BadDuration, parse_duration};
pub use nearest::nearest;
pub use outline::{Cause, CauseForm, CauseObject, End, Expiry, Outline};
pub use present::{
    Cell, CheckDescription, Column, FleetCell, FleetRow, FleetTable, Form, FormInput, Panel, RowKnowledge, Side, Step,
};
pub use relations::{RelatedObject, Relation, RelationStanding, Relations};
pub use rules::{CheckRules, ContextCache, Ruled};
pub use settings::{SettingsProblem, SettingsTable};
pub use workload::Workload;
