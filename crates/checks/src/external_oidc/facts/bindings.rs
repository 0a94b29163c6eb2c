//! Bindings of RBAC: which users and groups they name, and what they give them.

use std::sync::Arc;

use serde::Deserialize;

use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject};

/// A ClusterRoleBinding or RoleBinding. Service accounts are left out: no token of a provider becomes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Binding {
    /// `ClusterRole cluster-admin`.
    pub role: Arc<str>,
    pub named: Box<[Named]>,
}

/// A user or group that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    User(Arc<str>),
    Group(Arc<str>),
}

impl Named {
    pub fn name(&self) -> &str {
        match self {
            Self::User(name) | Self::Group(name) => name,
        }
    }

    /// `user jane`.
    pub fn message(&self) -> String {
        match self {
            Self::User(name) => format!("user {name}"),
            Self::Group(name) => format!("group {name}"),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    kind: Option<String>,
    name: Option<String>,
}

impl Fact for Binding {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let Obj(role): Obj<Reference> = raw.field("roleRef")?;
        let subjects: Vec<Obj<Reference>> = raw.field("subjects")?;
        let role = format!("{} {}", role.kind.unwrap_or_default(), role.name.unwrap_or_default());
        let mut named = |Obj(subject): Obj<Reference>| {
            let name = pool.text(&subject.name?);
            match subject.kind?.as_str() {
                "User" => Some(Named::User(name)),
                "Group" => Some(Named::Group(name)),
                _ => None,
            }
        };
        let named = subjects.into_iter().filter_map(&mut named).collect();
        Ok(Self { role: pool.text(&role), named })
    }
}
