//! Requests per second of the simulated API on one core.
//!
//! `cargo run --release --example sim_speed [PUT]`; an argument selects the measurements that start with it.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example measures with the real clock and prints"
)]
#![expect(clippy::wildcard_enum_match_arm, reason = "any other answer fails the example")]

use std::time::Instant;

use http::Method;
use jiff::Timestamp;
use serde_json::json;
use trueup_sim::{Answer, Reply, Request, Server};

const ROUNDS: u32 = 200_000;

fn main() {
    let now = Timestamp::UNIX_EPOCH;
    let mut server = Server::new(1, now);
    let path = "/api/v1/namespaces/default/configmaps";
    for index in 0..10_000 {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": format!("c{index:05}"), "labels": { "app": "speed" } },
            "data": { "key": "value", "index": index.to_string() },
        });
        reply(&mut server, now, &Request::new(Method::POST, path, object.to_string()));
    }

    let get = Request::get(&format!("{path}/c00042"));
    report("GET", ROUNDS, || drop(reply(&mut server, now, &get)));

    let body = |round: u32| {
        let data = json!({ "key": "value", "index": round.to_string() });
        let metadata = json!({ "name": "c00042", "labels": { "app": "speed" } });
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data }).to_string()
    };
    let puts: Vec<Request> =
        (0..64).map(|round| Request::new(Method::PUT, &format!("{path}/c00042"), body(round))).collect();
    let mut turn = 0;
    report("PUT", ROUNDS, || {
        turn = (turn + 1) % puts.len();
        drop(reply(&mut server, now, &puts[turn]));
    });

    let list = Request::get(path);
    report("LIST of 10,000", 200, || drop(reply(&mut server, now, &list)));
    let page = Request::get(&format!("{path}?limit=500"));
    report("LIST page of 500", 2_000, || drop(reply(&mut server, now, &page)));
}

fn reply(server: &mut Server, now: Timestamp, request: &Request) -> Reply {
    match server.handle(now, request) {
        Answer::Reply(reply) if reply.status < 300 => reply,
        other => panic!("the request did not succeed: {other:?}"),
    }
}

fn report(what: &str, rounds: u32, mut work: impl FnMut()) {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    if !what.starts_with(&wanted) {
        return;
    }
    let began = Instant::now();
    (0..rounds).for_each(|_| work());
    let each = began.elapsed() / rounds;
    println!("{what}: {each:?} each, {:.0} a second", 1.0 / each.as_secs_f64());
}
