//! Feature gates: as the cluster lists them, and as a release has them when the cluster lists none.

use std::cmp::Ordering;

use serde::Deserialize;

use super::super::gates::{Gate, Gates};
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject, ResourceVersion};

/// `FeatureGate/cluster`: which gates are on, by release.
#[derive(Debug, PartialEq, Eq)]
pub struct FeatureGates {
    pub version: ResourceVersion,
    /// Sorted by release, oldest first.
    by_release: Box<[(Box<str>, Gates)]>,
}

impl FeatureGates {
    /// The gates that are on in this release, or in the newest that is listed; nothing when none is.
    pub fn enabled(&self, release: Option<&str>) -> Option<&Gates> {
        let listed = release.and_then(|release| self.by_release.iter().find(|(name, _)| **name == *release));
        listed.or(self.by_release.last()).map(|(_, enabled)| enabled)
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    feature_gates: Option<Vec<Obj<Details>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    version: Option<Box<str>>,
    enabled: Option<Vec<Obj<Named>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    name: Option<Box<str>>,
}

impl Fact for FeatureGates {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<Status> = raw.field("status")?;
        let names = |gates: Vec<Obj<Named>>| {
            Gates::of(gates.into_iter().filter_map(|Obj(gate)| Gate::parse(gate.name.as_deref()?)))
        };
        let mut by_release: Vec<(Box<str>, Gates)> = status
            .feature_gates
            .unwrap_or_default()
            .into_iter()
            .map(|Obj(details)| (details.version.unwrap_or_default(), names(details.enabled.unwrap_or_default())))
            .collect();
        by_release.sort_by(|(one, _), (other, _)| compare_releases(one, other));
        Ok(Self { version: ResourceVersion::parse(&raw.meta.resource_version), by_release: by_release.into() })
    }
}

/// `ClusterVersion/version`: the release the operators are of.
#[derive(Debug, PartialEq, Eq)]
pub struct Release {
    /// `4.20.3`; nothing when the object does not say.
    pub name: Option<Box<str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct VersionStatus {
    desired: Obj<Desired>,
    history: Option<Vec<Obj<Desired>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Desired {
    version: Option<Box<str>>,
}

impl Fact for Release {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let Obj(status): Obj<VersionStatus> = raw.field("status")?;
        let said = |version: Option<Box<str>>| version.filter(|text| !text.is_empty());
        let newest = status.history.unwrap_or_default().into_iter().next().and_then(|Obj(entry)| said(entry.version));
        Ok(Self { name: said(status.desired.0.version).or(newest) })
    }
}

/// `4.9.1` comes before `4.20.0`, and `4.20.0-rc.1` before `4.20.0`.
fn compare_releases(one: &str, other: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        let core = text.split(['-', '+']).next().unwrap_or_default();
        core.split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    let is_final = |text: &str| !text.contains('-');
    let by_number = numbers(one).cmp(&numbers(other));
    by_number.then_with(|| is_final(one).cmp(&is_final(other))).then_with(|| one.cmp(other))
}
