//! Which shard a cluster belongs to.
//!
//! Invariants:
//! - every replica and version computes the same shard: the hash is SHA-256 over a fixed spelling;
//! - another number of shards moves only the clusters that belong to a new or removed shard (rendezvous hashing);
//! - a cluster whose identity is unknown belongs to no shard, and nothing is proposed or applied there.
//!
//! Elsewhere: who holds a shard (`lease`), writing under a Lease (`fence`).

use std::fmt;
use std::num::NonZeroU32;

use sha2::{Digest as _, Sha256};

use trueup_core::world::ClusterIdentity;

/// The number of a shard, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub u32);

/// Returns the shard of a cluster: the one with the highest weight for its identity.
pub fn shard_of(identity: &ClusterIdentity, shards: NonZeroU32) -> Option<ShardId> {
    if !identity.is_known() {
        return None;
    }
    let ClusterIdentity { kube_system_uid, ca_sha256, account } = identity;
    let spelled = format!("{kube_system_uid}\n{ca_sha256}\n{account}");
    // The last of equals wins in `max_by_key`; reversed, the lowest shard does.
    (0..shards.get()).rev().map(ShardId).max_by_key(|shard| weight(&spelled, *shard))
}

/// Returns the weight of a shard for a text. Different texts order the shards differently.
pub(crate) fn weight(text: &str, shard: ShardId) -> u64 {
    let digest = Sha256::digest(format!("{text}\n{}", shard.0));
    let (first, _) = digest.split_first_chunk::<8>().expect("SHA-256 has 32 bytes");
    u64::from_be_bytes(*first)
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn identity(uid: &str) -> ClusterIdentity {
        ClusterIdentity {
            kube_system_uid: uid.to_owned(),
            ca_sha256: "c0ffee".to_owned(),
            ..ClusterIdentity::default()
        }
    }

    fn shards(count: u32) -> NonZeroU32 {
        NonZeroU32::new(count).unwrap()
    }

    #[test]
    fn the_shard_of_an_identity_never_changes_between_versions() {
        let cases = [
            ("one shard", identity("a"), 1),
            ("four shards", identity("a"), 4),
            ("another cluster", identity("b"), 4),
            ("an account", ClusterIdentity::of_account("0123"), 12),
        ];
        let found: Vec<u32> = cases.iter().map(|(_, id, count)| shard_of(id, shards(*count)).unwrap().0).collect();
        assert_eq!(found, VECTORS, "another spelling would give one cluster to two replicas during an upgrade");
    }

    /// Computed once; see the test.
    const VECTORS: [u32; 4] = [0, 0, 3, 9];

    #[test]
    fn an_unknown_identity_belongs_to_no_shard() {
        let no_ca = ClusterIdentity { ca_sha256: String::new(), ..identity("a") };
        assert_eq!(shard_of(&no_ca, shards(4)), None);
        assert_eq!(shard_of(&ClusterIdentity::default(), shards(4)), None);
    }

    #[test]
    fn clusters_are_spread_over_all_shards() {
        let mut counts: BTreeMap<ShardId, usize> = BTreeMap::new();
        for index in 0..10_000 {
            *counts.entry(shard_of(&identity(&format!("uid-{index}")), shards(12)).unwrap()).or_default() += 1;
        }
        assert_eq!(counts.len(), 12);
        // 833 on average; a fair hash stays within 15 %.
        assert!(counts.values().all(|count| (708..=958).contains(count)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn one_more_shard_takes_clusters_and_moves_no_other(uid in "[a-f0-9]{1,36}", count in 1_u32..64) {
            let before = shard_of(&identity(&uid), shards(count)).unwrap();
            let after = shard_of(&identity(&uid), shards(count + 1)).unwrap();
            prop_assert!(after == before || after == ShardId(count));
        }
    }
}
