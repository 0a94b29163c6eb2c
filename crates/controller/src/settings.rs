//! What `[controller]` decides, as plain data.
//!
//! Invariants: a check without a mode proposes; a rule that applies without a person ends at T3, and above T1 it names
//! verdicts.
//! Elsewhere: reading the file (`config` of the program), what a rule covers (`auto`).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use trueup_core::engine::Tier;
use trueup_core::named_enum;
use trueup_core::world::RiskClass;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The longest a Proposal may be valid, whatever the configuration says.
pub const PROPOSAL_TTL_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// The brake counts the deletes of the last 24 hours in finished Proposals: they are kept at least that long.
pub const KEEP_MIN: Duration = DAY;
/// More shards than this are more Leases than a namespace should renew every two seconds.
pub const SHARDS_MAX: u32 = 256;
/// The highest tier that a rule may apply.
pub const AUTO_TIER_MAX: Tier = Tier::T3;
/// The check that changes who can log in: its actions are always approved by people.
pub const NEVER_AUTO: &str = "external-oidc";

/// The settings of `[controller]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerSettings {
    pub shards: NonZeroU32,
    /// How long a Proposal can be approved.
    pub proposal_ttl: Duration,
    pub four_eyes: FourEyes,
    /// Which clusters the fleet consists of.
    pub clusters: BTreeSet<ClusterScope>,
    /// How long finished Proposals are kept.
    pub keep: Duration,
    /// How many deletes rules may apply per hour in the whole fleet.
    pub auto_deletes_per_hour: u64,
    /// How long a verdict must hold before its delete is offered.
    pub settle: Duration,
    /// By check. A check that is not named proposes.
    pub modes: BTreeMap<String, CheckMode>,
}

/// From which tier two people have to approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FourEyes {
    Never,
    From(Tier),
}

named_enum! {
    /// A source of clusters.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ClusterScope {
        /// The cluster the controller runs in.
        Own = "self",
        /// The hosted clusters it finds there.
        Guests = "guests",
        /// Workload clusters of Cluster API.
        Workloads = "workloads",
        /// The inventory of ClusterProfiles.
        Profiles = "profiles",
    }
}

/// What the controller does with the findings of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckMode {
    Observe,
    Propose,
    /// Applies what the rule covers, and proposes the rest.
    Auto(AutoRule),
}

/// What is applied without a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoRule {
    /// The highest tier, at most [`AUTO_TIER_MAX`].
    pub tier: Tier,
    /// Only findings with these verdicts. Empty: any verdict, and then T1 only.
    pub verdicts: BTreeSet<String>,
    /// Only clusters of these classes. Empty: any class.
    pub classes: BTreeSet<RiskClass>,
}

impl ControllerSettings {
    /// The mode of a check.
    pub fn mode(&self, check: &str) -> &CheckMode {
        self.modes.get(check).unwrap_or(&CheckMode::Propose)
    }
}

/// The hash of a configuration file, as `sha256sum` prints it: what the journal names beside a rule.
pub fn config_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

impl FourEyes {
    /// How many people have to approve a tier.
    pub fn approvers(self, tier: Tier) -> usize {
        match self {
            Self::From(least) if tier >= least => 2,
            Self::From(_) | Self::Never => 1,
        }
    }
}

impl Default for ControllerSettings {
    fn default() -> Self {
        Self {
            shards: NonZeroU32::MIN.saturating_add(3),
            proposal_ttl: DAY,
            four_eyes: FourEyes::From(Tier::T3),
            clusters: [ClusterScope::Own, ClusterScope::Guests].into(),
            keep: 30 * DAY,
            auto_deletes_per_hour: 25,
            settle: Duration::from_secs(10 * 60),
            modes: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_eyes_count_from_their_tier() {
        let cases = [
            ("never", FourEyes::Never, Tier::T4, 1),
            ("below", FourEyes::From(Tier::T3), Tier::T2, 1),
            ("at", FourEyes::From(Tier::T3), Tier::T3, 2),
            ("above", FourEyes::From(Tier::T3), Tier::T4, 2),
        ];
        for (case, four_eyes, tier, expected) in cases {
            assert_eq!(four_eyes.approvers(tier), expected, "case: {case}");
        }
    }

    #[test]
    fn a_check_without_a_mode_proposes() {
        assert_eq!(ControllerSettings::default().mode("hosted-oidc"), &CheckMode::Propose);
    }
}
