//! Byte mutations of corpus entries, as a strategy that shrinks.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// The most mutations of one input.
const MUTATIONS_MAX: usize = 6;
/// The most repetitions of a piece: enough to pass every limit on nesting.
const REPEATS_MAX: usize = 2_000;
/// The largest input: mutations past it are left out.
const BYTES_MAX: usize = 64 << 10;

/// Pieces that readers tend to get wrong.
const TOKENS: [&[u8]; 24] = [
    b"null",
    b"0.5",
    b"-1",
    b"1e999",
    b"-0",
    b"18446744073709551616",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"\"\"",
    b"[]",
    b"{}",
    b"[",
    b"{\"a\":",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xe2\x80\xae",
    b"\xcc\x81",
    b"\x1b[",
    b"\n",
    b"&a [*a,*a]",
    b"9999-12-31T23:59:59Z",
    b"=",
    b"%",
];

/// One change.
#[derive(Debug, Clone)]
enum Mutation {
    Flip {
        at: Index,
        bit: u8,
    },
    Set {
        at: Index,
        byte: u8,
    },
    Remove {
        at: Index,
        bytes: usize,
    },
    Repeat {
        at: Index,
        bytes: usize,
        times: usize,
    },
    Token {
        at: Index,
        token: Index,
    },
    /// Replaces the word at the place by a token.
    Replace {
        at: Index,
        token: Index,
    },
    Splice {
        at: Index,
        from: Index,
        bytes: usize,
    },
    Cut {
        at: Index,
    },
}

/// Inputs made of these seeds.
pub fn mutated(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let chosen = (any::<Index>(), any::<Index>(), vec(mutation(), 0..MUTATIONS_MAX));
    chosen.prop_map(move |(seed, other, mutations)| {
        let (mut bytes, other) = (seed.get(&seeds).clone(), other.get(&seeds));
        for mutation in &mutations {
            apply(&mut bytes, mutation, other);
        }
        bytes.truncate(BYTES_MAX);
        bytes
    })
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 0..8_u8).prop_map(|(at, bit)| Mutation::Flip { at, bit }),
        (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set { at, byte }),
        (at(), 1..64_usize).prop_map(|(at, bytes)| Mutation::Remove { at, bytes }),
        (at(), 1..16_usize, 1..REPEATS_MAX).prop_map(|(at, bytes, times)| Mutation::Repeat { at, bytes, times }),
        (at(), at()).prop_map(|(at, token)| Mutation::Token { at, token }),
        (at(), at()).prop_map(|(at, token)| Mutation::Replace { at, token }),
        (at(), at(), 1..256_usize).prop_map(|(at, from, bytes)| Mutation::Splice { at, from, bytes }),
        at().prop_map(|at| Mutation::Cut { at }),
    ]
}

fn apply(bytes: &mut Vec<u8>, mutation: &Mutation, other: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end_of = |at: usize, count: usize, length: usize| at.saturating_add(count).min(length);
    match mutation {
        Mutation::Flip { at, bit } => {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        Mutation::Set { at, byte } => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Mutation::Remove { at, bytes: count } => {
            let at = at.index(bytes.len());
            bytes.drain(at..end_of(at, *count, bytes.len()));
        }
        Mutation::Repeat { at, bytes: count, times } => {
            let at = at.index(bytes.len());
            let piece = bytes[at..end_of(at, *count, bytes.len())].repeat(*times);
            bytes.splice(at..at, piece);
        }
        Mutation::Token { at, token } => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, token.get(&TOKENS).iter().copied());
        }
        Mutation::Replace { at, token } => {
            let at = at.index(bytes.len());
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"\"._-:".contains(byte);
            let start = at - bytes[..at].iter().rev().take_while(|byte| is_word(byte)).count();
            let end = at + bytes[at..].iter().take_while(|byte| is_word(byte)).count();
            bytes.splice(start..end, token.get(&TOKENS).iter().copied());
        }
        Mutation::Splice { at, from, bytes: count } => {
            let at = at.index(bytes.len());
            let from = from.index(other.len().max(1)).min(other.len());
            bytes.splice(at..at, other[from..end_of(from, *count, other.len())].iter().copied());
        }
        Mutation::Cut { at } => bytes.truncate(at.index(bytes.len())),
    }
}
