//! Uids and generated names, from a seed.
//!
//! Invariants: the n-th value of a seed is always the same; two clusters with different seeds share none in practice.
//!
//! Elsewhere: randomness of the machine, which is never used.

/// The alphabet of kube-apiserver: no vowels, no characters that look alike.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

#[derive(Debug)]
pub struct Minter {
    state: u64,
}

impl Minter {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// SplitMix64: one add and three mixes; every seed gives a full period.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A uid in the form of a random UUID (version 4, variant 1).
    pub fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | (low >> 48) & 0x3fff,
            low & 0xffff_ffff_ffff
        )
    }

    /// A name that starts with `prefix`, truncated so that five characters fit into 63.
    pub fn name(&mut self, prefix: &str) -> String {
        let mut bits = self.next();
        let mut name: String = prefix.chars().take(58).collect();
        for _ in 0..5 {
            name.push(char::from(ALPHABET[(bits % 27) as usize]));
            bits /= 27;
        }
        name
    }
}
