//! How much approval an action asks for.
//!
//! Invariants: everything that is looked at can only raise a tier, never lower it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::action::{ActionDraft, Stake, Undo, Verb};
use crate::world::RiskClass;

/// The tier of an action. Plans hold it as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Tier {
    /// Nothing is written.
    T0,
    /// Reversible.
    T1,
    /// A delete that a backup can bring back.
    T2,
    /// A delete in a prod-class cluster, a kind that cascades, an ownership mark, a change of who can log in.
    T3,
    /// Can't be undone, or goes over the brake.
    T4,
}

/// A number that is not a tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a tier: tiers go from 0 to 4")]
pub struct NoSuchTier(pub i64);

/// Deleting one of these deletes what is in it.
const CASCADING_KINDS: [&str; 2] = ["Namespace", "CustomResourceDefinition"];

/// The tier an action has by its own nature and the class of its cluster.
pub fn tier(draft: &ActionDraft, class: RiskClass) -> Tier {
    let by_stake = match draft.stake {
        Stake::Reversible => Tier::T1,
        Stake::DeleteWithBackup => Tier::T2,
        Stake::Ownership | Stake::Login => Tier::T3,
        Stake::Irreversible => Tier::T4,
    };
    let by_undo = match draft.undo {
        Undo::None => Tier::T4,
        Undo::RestoreFromBackup | Undo::RemoveWhatWasAdded | Undo::DeleteWhatWasCreated | Undo::PutTagsBack => Tier::T1,
    };
    by_stake.max(by_undo).max(by_verb(draft, class))
}

fn by_verb(draft: &ActionDraft, class: RiskClass) -> Tier {
    match draft.verb() {
        Verb::Delete if CASCADING_KINDS.contains(&draft.target.resource.kind) => Tier::T3,
        Verb::Delete => match class {
            RiskClass::Prod => Tier::T3,
            RiskClass::Stage | RiskClass::Dev => Tier::T2,
        },
        Verb::ReOwn => Tier::T3,
        Verb::Create
        | Verb::Apply
        | Verb::Update
        | Verb::Label
        | Verb::Annotate
        | Verb::Patch
        | Verb::Tag
        | Verb::Untag => Tier::T1,
    }
}

impl From<Tier> for u8 {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::T0 => 0,
            Tier::T1 => 1,
            Tier::T2 => 2,
            Tier::T3 => 3,
            Tier::T4 => 4,
        }
    }
}

impl TryFrom<u8> for Tier {
    type Error = NoSuchTier;

    fn try_from(number: u8) -> Result<Self, NoSuchTier> {
        match number {
            0 => Ok(Self::T0),
            1 => Ok(Self::T1),
            2 => Ok(Self::T2),
            3 => Ok(Self::T3),
            4 => Ok(Self::T4),
            other => Err(NoSuchTier(other.into())),
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", u8::from(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::change::{Change, FieldChange, TagChange};
    use crate::engine::testing::{CRDS, SECRETS, delete, label};
    use RiskClass::{Dev, Prod, Stage};

    #[test]
    fn stake_class_verb_and_undo_each_raise_the_tier() {
        let delete = || delete("guest-a", "x");
        let label = || label("guest-a", "x");
        let patch = Change::Patch(FieldChange { patch: serde_json::Map::new(), export: Vec::new() });
        let cases = [
            ("a reversible label", label(), Prod, Tier::T1),
            ("an ownership mark", ActionDraft { stake: Stake::Ownership, ..label() }, Dev, Tier::T3),
            ("a change of logins", ActionDraft { change: patch, stake: Stake::Login, ..label() }, Dev, Tier::T3),
            (
                "handing an object to another owner",
                ActionDraft { change: Change::ReOwn(TagChange::default()), ..label() },
                Dev,
                Tier::T3,
            ),
            ("a write without undo", ActionDraft { undo: Undo::None, ..label() }, Dev, Tier::T4),
            ("a delete in dev", delete(), Dev, Tier::T2),
            ("a delete in stage", delete(), Stage, Tier::T2),
            ("a delete in prod", delete(), Prod, Tier::T3),
            (
                "a delete that calls itself reversible",
                ActionDraft { stake: Stake::Reversible, ..delete() },
                Dev,
                Tier::T2,
            ),
            ("a delete without undo", ActionDraft { undo: Undo::None, ..delete() }, Dev, Tier::T4),
            ("an irreversible delete", ActionDraft { stake: Stake::Irreversible, ..delete() }, Dev, Tier::T4),
        ];
        for (case, draft, class, expected) in cases {
            assert_eq!(tier(&draft, class), expected, "case: {case}");
        }
    }

    #[test]
    fn deleting_a_kind_that_cascades_is_tier_3_even_in_dev() {
        let mut draft = delete("guest-a", "x");
        draft.target.resource = CRDS;
        assert_eq!(tier(&draft, Dev), Tier::T3);
        draft.target.resource = SECRETS;
        assert_eq!(tier(&draft, Dev), Tier::T2);
    }
}
