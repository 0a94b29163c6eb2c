//! Decoding speed of HCP-like Secrets, and the size of a stored fact.
//!
//! `cargo bench --bench decode [-- OBJECTS]` prints objects/s on one core and resident bytes per stored object.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::process::Command;
use std::time::Instant;

use support::{Shape, hcp_secret_page, resident_bytes};
use trueup_core::decode::Digester;
use trueup_core::decode::{self, DataSort, Reader};
use trueup_core::world::{Content, Delta, Interner, ResourceVersion, World};

const PAGE: usize = 500;

/// The argument that makes this program measure one case and exit.
const CASE: &str = "--case";

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let objects = support::argument().unwrap_or(1_000_000);
    match words.iter().position(|word| word == CASE).map(|place| words[place + 1].as_str()) {
        Some("metadata") => run("metadata alone", Content::Metadata, Shape::Metadata, objects),
        Some(_) => run("metadata and one digested key", Content::Full, Shape::Whole, objects),
        // Each case is its own process: the second would reuse memory that the first has freed.
        None => ["whole", "metadata"].into_iter().for_each(|case| in_own_process(case, objects)),
    }
}

fn in_own_process(case: &str, objects: usize) {
    let program = std::env::current_exe().expect("this program has a path");
    let status = Command::new(program).args([&objects.to_string(), CASE, case]).status();
    assert!(status.is_ok_and(|status| status.success()), "the case {case} ran");
}

fn run(what: &str, content: Content, shape: Shape, objects: usize) {
    let interest = &support::secret_interest(content);
    let digester = Digester::new(&[7; 32]);
    let reader = Reader {
        digester: &digester,
        sort: DataSort::Secret,
        digested: interest.fact.digested_keys(),
        reduced: interest.fact.reduced_keys(),
        api_version: "v1",
        kind: "Secret",
    };
    let mut world = World::default();
    world.open(interest);
    let before = resident_bytes();
    let (mut pool, mut batch) = (Interner::default(), interest.fact.new_batch());
    let (mut spent, mut bytes) = (std::time::Duration::ZERO, 0);
    for page in 0..objects / PAGE {
        let body = hcp_secret_page(page * PAGE, PAGE, shape);
        bytes += body.len();
        let start = Instant::now();
        decode::list(reader, &body, &mut |raw| batch.push(raw, &mut pool).expect("the page is made of Secrets"))
            .expect("the page is a list");
        spent += start.elapsed();
    }
    let start = Instant::now();
    let version = ResourceVersion::parse("1");
    world.apply(&interest.id, interest.fact, Delta::Listed { facts: batch, version, at: support::now(), gap: None });
    let stored = start.elapsed();
    let per_second = objects as f64 / (spent + stored).as_secs_f64();
    let resident = resident_bytes().saturating_sub(before) as f64 / objects as f64;
    println!(
        "{what}: {objects} objects of {} bytes: decode {:.2} s, store {:.2} s, {per_second:.0} objects/s per core, {resident:.0} bytes resident each",
        bytes / objects,
        spent.as_secs_f64(),
        stored.as_secs_f64(),
    );
}
