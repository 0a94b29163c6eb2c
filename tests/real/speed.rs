//! How many deletes a second: planned, judged again, sealed, journalled, sent, verified, by the real binary on a real
//! API server that shares the machine.
//!
//! `TRUEUP_BIN=target/release/trueup cargo test --test real -- --ignored --nocapture speed`; `TRUEUP_OBJECTS` says how
//! many (default 2,000). Only the binary is measured, so only it needs to be a release build.

use std::time::Instant;

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::desk::Desk;
use super::fleet::{copy, create, furnish_guest, furnish_management, host, inline_kubeconfig, start_two};
use crate::support::canaries::Canaries;
use crate::support::killed::said;
use crate::support::real::User;

const OBJECTS: usize = 2_000;

/// Objects that are made at once.
const MADE_AT_ONCE: usize = 32;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement, of use only with a release build"]
async fn verified_deletes_per_second() {
    let Some((mgmt, guest)) = start_two().await else {
        return;
    };
    let objects = std::env::var("TRUEUP_OBJECTS").map_or(OBJECTS, |text| text.parse().expect("a number"));
    let mut canaries = Canaries::default();
    let (at_mgmt, at_guest) = (mgmt.connect(User::Admin), guest.connect(User::Admin));
    furnish_guest(&at_guest, &guest, &mut canaries).await;
    furnish_management(&at_mgmt, &mgmt).await;
    host(&at_mgmt, "guest-a", &guest, &mut canaries).await;
    let made = futures::stream::iter(0..objects).map(|nth| {
        let object = copy("Secret", &format!("orphan-{nth:05}"), json!({"clientSecret": format!("value {nth}")}));
        create(&at_guest, object)
    });
    made.buffer_unordered(MADE_AT_ONCE).collect::<Vec<()>>().await;

    let desk = Desk::with(&inline_kubeconfig(&mgmt, "mgmt", "admin"));
    let (plan, _, _) = desk.plan("orphan-00000", &["--cluster", "guest-a"]);
    let args = ["apply", "$TMP/plan.json", "--expect", &plan.id, "--confirm-cluster", "guest-a", "--look-back", "0s"];
    let began = Instant::now();
    let applied = desk.run(&[&args[..], &["-o", "json", "--kubeconfig", "$TMP/kubeconfig"]].concat());
    let took = began.elapsed();
    let report: Value = serde_json::from_slice(&applied.stdout).unwrap_or_else(|_| panic!("{}", said(&applied)));
    let gone = report["summary"]["gone"].as_u64().unwrap_or_default();
    println!("{gone} verified deletes in {took:.2?}: {:.0} a second", gone as f64 / took.as_secs_f64());
    assert!(gone >= objects as u64, "{report}");
}
