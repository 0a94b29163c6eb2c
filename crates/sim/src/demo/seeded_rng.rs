//! Seeded random numbers: the same seed and label give the same sequence.
//!
//! Invariants: two labels never share a sequence, so adding an object does not change the others.

/// A seeded generator (SplitMix64).
#[derive(Debug, Clone)]
pub struct SeededRng {
    state: u64,
}

/// Alphabet of client secrets and infrastructure ids; lower case, because object names use it as well.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

impl SeededRng {
    pub fn new(seed: u64, label: &str) -> Self {
        // FNV-1a over the label: its constants are those of the 64-bit variant.
        let hash = label
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Self { state: seed ^ hash }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 when the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next_u64().checked_rem(limit).unwrap_or(0)
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.next_u64().to_be_bytes()).flatten().take(length).collect()
    }

    pub fn letters(&mut self, length: usize) -> String {
        self.bytes(length).into_iter().map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_depends_on_seed_and_label_only() {
        let row = |seed, label| SeededRng::new(seed, label).letters(12);
        assert_eq!(row(7, "a"), row(7, "a"));
        assert_ne!(row(7, "a"), row(7, "b"));
        assert_ne!(row(7, "a"), row(8, "a"));
    }
}
