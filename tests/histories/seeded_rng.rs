//! SeededRng, from a seed.
//!
//! Invariants: the n-th draw of a seed is always the same; nothing here asks the machine.

/// A row of draws.
#[derive(Debug, Clone)]
pub struct SeededRng(u64);

impl SeededRng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64: one add and three mixes; neighbouring seeds give unrelated rows.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 when there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a count fits");
        usize::try_from(self.draw() % bound).expect("it is below a count")
    }

    /// Whether something that happens so often in a thousand cases happens now.
    pub fn permille(&mut self, often: u32) -> bool {
        often > 0 && self.draw() % 1000 < u64::from(often)
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let place = self.below(all.len());
        &all[place]
    }
}
