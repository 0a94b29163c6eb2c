//! How fast HCP-like Secrets become facts, and what a stored fact weighs.
//!
//! `cargo bench --bench decode [-- OBJECTS]` prints objects/s on one core and resident bytes per stored object.

#[path = "support/mod.rs"]
mod support;

use std::time::Instant;

use support::{Shape, hcp_secret_page, resident_bytes};
use trueup::domains::Domain;
use trueup::domains::hosted_oidc::{HostedOidc, Settings};
use trueup::observe::Digester;
use trueup::observe::decode::{self, DataSort, Reader};
use trueup::world::{Content, Delta, Interest, Interner, ResourceVersion, World};

const PAGE: usize = 500;

fn main() {
    let objects = support::argument().unwrap_or(1_000_000);
    for (what, content) in [("metadata and one digested key", Content::Full), ("metadata alone", Content::Metadata)] {
        let interest = secret_interest(content);
        let shape = match content {
            Content::Full => Shape::Whole,
            Content::Metadata => Shape::Metadata,
        };
        run(what, &interest, shape, objects);
    }
}

/// The interest the product itself has in Secrets: of a guest (full) or of a control plane's namespace (metadata).
fn secret_interest(content: Content) -> Interest {
    let (world, now) = support::small_world();
    let interests = HostedOidc::new(Settings::default()).interests(world.view(now));
    let wanted = |interest: &Interest| interest.id.resource.kind == "Secret" && interest.id.content == content;
    interests.into_iter().find(wanted).expect("the check looks at Secrets both ways")
}

fn run(what: &str, interest: &Interest, shape: Shape, objects: usize) {
    let digester = Digester::new(&[7; 32]);
    let reader = Reader {
        digester: &digester,
        sort: DataSort::Secret,
        digested: interest.fact.digested_keys(),
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
